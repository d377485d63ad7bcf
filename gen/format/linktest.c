/* SPDX-License-Identifier: BSD-3-Clause */
/* linktest/pingpong_results_bin.sion: what LinkTest would have measured between all ranks. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <hpcw/linktest.h>

#include "gen/format/format.h"
#include "gen/format/pages.h"
#include "gen/format/pending.h"
#include "gen/report/report.h"
#include "gen/spec/pool.h"
#include "libreader/linktest/linktest.h"
#include "libwriter/base/checked.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/comm/exchange.h"

#define PATH "linktest/" HPCW_LINKTEST_FILE_NAME

/* Above this the 16 bytes per pair alone are 2^56. */
#define MOST_RANKS (1u << 26)

static hpcw_linktest_params params_of(const struct gen_dataset *d) {
    const struct model_linktest_params *m = &d->linktest_params;
    char host[MODEL_HOST_SIZE];
    hpcw_linktest_params p;
    hpcw_linktest_params_init(&p);
    p.tasks = d->ranks;
    p.mode = model_linktest_modes[m->mode];
    p.kernel = (hpcw_linktest_kernel)m->kernel;
    p.all_to_all = m->all_to_all;
    p.bisection = m->bisection;
    p.randomize_steps = m->randomize_steps;
    p.serial = m->serial;
    p.gpu_memory = m->gpu_memory;
    p.random_buffers = m->random_buffers;
    p.check_buffers = m->check_buffers;
    p.messages = m->messages;
    p.message_size = m->message_size;
    p.warmup_messages = m->warmup_messages;
    p.retests = m->retests;
    p.message_buffers = m->message_buffers;
    p.permutations = m->permutations;
    p.buffer_seed = m->buffer_seed != 0 ? m->buffer_seed : m->random_buffers ? d->seed : 0;
    p.task_seed = m->task_seed != 0 ? m->task_seed : m->permutations > 0 ? d->seed : 0;
    p.step_seed = m->step_seed != 0 ? m->step_seed : d->seed;
    p.files = d->linktest_files;
    p.fs_block_size = d->block_size;
    /* Names of a preset differ in their number only: the last node's is a longest one. */
    model_machine_host(&d->machine, d->machine.nodes - 1, host);
    p.max_host_size = strlen(host) + 1;
    return p;
}

static hpcw_status limits(const struct gen_dataset *d, hpcw_error *err) {
    if (d->ranks < 2 || d->ranks % 2 != 0) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "linktest: expected an even number of ranks of at least 2, got %u: take %u",
                           d->ranks, d->ranks < 2 ? 2 : d->ranks + 1);
    }
    if (d->ranks > MOST_RANKS) {
        return hpcw_i_fail(err, HPCW_ERANGE, "linktest: expected at most %u ranks, got %u", MOST_RANKS,
                           d->ranks);
    }
    if (d->linktest_files > d->ranks) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "linktest: expected at most one file per rank, got %u files for %u ranks",
                           d->linktest_files, d->ranks);
    }
    return HPCW_OK;
}

static uint64_t units(const struct gen_dataset *d) {
    return d->linktest_files;
}

static uint32_t first_of_file(const struct gen_dataset *d, uint64_t file) {
    return hpcw_sion_first_task_of_file(d->ranks, d->linktest_files, (uint32_t)file);
}

static hpcw_status unit(const struct gen_dataset *d, uint64_t index, struct gen_unit *u, hpcw_error *err) {
    hpcw_linktest_params p = params_of(d);
    hpcw_status s = hpcw_linktest_params_check(&p, err);
    if (s != HPCW_OK) {
        return s;
    }
    uint32_t tasks = first_of_file(d, index + 1) - first_of_file(d, index);
    uint64_t other = hpcw_linktest_stream_size(&p, 1, p.max_host_size);
    uint64_t first = index == 0 ? hpcw_linktest_stream_size(&p, 0, p.max_host_size) : other;
    uint64_t stride;
    if (!hpcw_i_mul_u64(hpcw_i_align_up(other, p.fs_block_size), tasks - 1, &stride) ||
        !hpcw_i_add_u64(stride, hpcw_i_align_up(first, p.fs_block_size), &stride)) {
        return hpcw_i_fail(err, HPCW_ERANGE, "linktest: %u streams of %" PRIu64 " bytes do not fit into a file",
                           tasks, other);
    }
    hpcw_sion_shape shape;
    uint64_t mapping = d->linktest_files > 1 && index == 0 ? d->ranks : UINT64_MAX;
    s = hpcw_sion_shape_of(tasks, p.fs_block_size, stride, 1, mapping, &shape, err);
    if (s != HPCW_OK) {
        return s;
    }
    if (index == 0) {
        (void)snprintf(u->path, sizeof u->path, PATH);
    } else {
        (void)snprintf(u->path, sizeof u->path, PATH ".%06u", (unsigned)index);
    }
    u->apparent = shape.file_size;
    struct gen_pages pages = {0, 0};
    gen_pages_add(&pages, 0, shape.meta1_size);
    uint64_t at = shape.data_start;
    for (uint32_t t = 0; t < tasks; t++) {
        uint64_t size = t == 0 ? first : other;
        gen_pages_add(&pages, at, size);
        at += hpcw_i_align_up(size, p.fs_block_size);
    }
    gen_pages_add(&pages, shape.meta2_start, shape.file_size - shape.meta2_start);
    u->allocated = pages.bytes;
    return HPCW_OK;
}

static uint64_t memory(const struct gen_dataset *d, uint32_t jobs) {
    hpcw_linktest_params p = params_of(d);
    uint64_t per_thread = (uint64_t)d->ranks * (8 + 4 + 16 + 4 + 12) + 16 * (uint64_t)d->machine.nodes;
    uint64_t task0 = (uint64_t)d->ranks * 100; /* state of tasks, outliers */
    return jobs * per_thread + task0 + 32 * (p.retests < d->ranks ? p.retests : d->ranks) + (8 << 20);
}

/* Ranks with a delayed message are listed in the partial results: objects of six members in cJSON's tree, seven nodes of
 * 80 bytes with six names and six values of 32. */
static uint64_t partial_memory(const struct gen_dataset *d) {
    double timings = (double)d->ranks * (double)(d->linktest_params.permutations + 1);
    double listed = 1 - exp(-timings * (double)d->linktest.tail_threshold * 0x1p-32);
    return (uint64_t)((double)d->ranks * listed * 944);
}

static double seconds(const struct gen_dataset *d) {
    return (double)d->ranks * (double)d->ranks * (double)(d->linktest_params.permutations + 1) * 10e-9;
}

/*
 * The simulated run needs as long as its slowest distance class takes for all messages in all steps. Known
 * before anything is measured, the same for all parts.
 */
static uint64_t seconds_per_permutation(const struct gen_dataset *d, const hpcw_linktest_params *p) {
    double slowest_ps = 0;
    for (int c = 0; c < MODEL_CLASSES; c++) {
        struct model_message_cost cost = model_machine_cost(&d->machine, (enum model_class)c, p->message_size);
        double t = cost.fixed_ps + cost.transfer_ps;
        slowest_ps = t > slowest_ps ? t : slowest_ps;
    }
    double all = slowest_ps * 1e-12 * 2 * (double)(p->messages + p->warmup_messages) * hpcw_linktest_steps(p);
    return 1 + (all < 1e9 ? (uint64_t)all : 1000000000);
}

static void times_of(const struct gen_dataset *d, const hpcw_linktest_params *p, uint64_t permutation,
                     char start[24], char end[24]) {
    uint64_t length = seconds_per_permutation(d, p);
    gen_dataset_time(d->params.start + permutation * length, start);
    gen_dataset_time(d->params.start + (permutation + 1) * length, end);
}

/* ---- writing ---- */

struct linktest_job {
    const struct gen_write *w;
    hpcw_linktest *lt;
    hpcw_linktest_schedule *schedule;
    uint32_t permutation;
    uint32_t steps;
    uint32_t begin;                        /* first own rank */
    struct model_truth_outliers *outliers; /* per own rank */
};

struct linktest_thread {
    struct model_linktest_scratch *scratch;
    uint32_t *partner;
    uint64_t *time_ps;
};

static void end_thread(void *context, void *state) {
    (void)context;
    struct linktest_thread *t = state;
    model_linktest_scratch_free(t->scratch);
    hpcw_i_free(t->partner);
    hpcw_i_free(t->time_ps);
    hpcw_i_free(t);
}

static hpcw_status begin_thread(void *context, void **state, hpcw_error *err) {
    const struct linktest_job *job = context;
    struct linktest_thread *t = hpcw_i_calloc(1, sizeof *t);
    if (t == NULL) {
        return hpcw_i_fail(err, HPCW_ENOMEM, "linktest: out of memory");
    }
    hpcw_status s = model_linktest_scratch_new(&job->w->dataset->linktest, &t->scratch, err);
    if (s == HPCW_OK) {
        t->partner = hpcw_i_malloc(job->steps * sizeof *t->partner);
        t->time_ps = hpcw_i_malloc(job->steps * sizeof *t->time_ps);
        if (t->partner == NULL || t->time_ps == NULL) {
            s = hpcw_i_fail(err, HPCW_ENOMEM, "linktest: out of memory for a row of %u timings", job->steps);
        }
    }
    if (s != HPCW_OK) {
        end_thread(context, t);
        return s;
    }
    *state = t;
    return HPCW_OK;
}

static hpcw_status write_rank(void *context, void *state, uint64_t index, hpcw_error *err) {
    const struct linktest_job *job = context;
    const struct gen_dataset *d = job->w->dataset;
    struct linktest_thread *t = state;
    uint32_t rank = (uint32_t)index;
    if (job->permutation == 0) {
        char host[MODEL_HOST_SIZE];
        model_machine_host(&d->machine, model_machine_node(&d->machine, rank), host);
        hpcw_status s =
            hpcw_linktest_task(job->lt, rank, host, (int32_t)model_machine_core(&d->machine, rank), err);
        if (s != HPCW_OK) {
            return s;
        }
    }
    hpcw_linktest_partners(job->schedule, rank, t->partner);
    model_linktest_row(&d->linktest, t->scratch, rank, job->permutation, 0, job->steps, t->partner, t->time_ps,
                       &job->outliers[rank - job->begin]);
    uint64_t all_to_all =
        d->linktest_params.all_to_all ? model_linktest_all_to_all(&d->linktest, rank, job->permutation) : 0;
    hpcw_status s = hpcw_linktest_timings(job->lt, rank, t->time_ps, t->partner, all_to_all, err);
    if (s == HPCW_OK) {
        job->w->progress(job->w->progress_context, 16 * (uint64_t)(d->ranks - 1));
    }
    return s;
}

/* ---- partials ---- */

static void put_range(struct hpcw_i_json *json, const char *key, const hpcw_linktest_range *r) {
    hpcw_i_json_key(json, key);
    hpcw_i_json_flat(json);
    hpcw_i_json_begin_object(json);
    gen_partial_put(json, "count", r->count);
    gen_partial_put(json, "min_ps", r->min_ps);
    gen_partial_put(json, "max_ps", r->max_ps);
    gen_partial_put(json, "sum_low", r->sum_low);
    gen_partial_put(json, "sum_high", r->sum_high);
    hpcw_i_json_end_object(json);
}

static hpcw_status get_range(const cJSON *object, const char *key, hpcw_linktest_range *r, hpcw_error *err) {
    const cJSON *o = cJSON_GetObjectItemCaseSensitive(object, key);
    const struct {
        const char *key;
        uint64_t *value;
    } field[] = {{"count", &r->count},
                 {"min_ps", &r->min_ps},
                 {"max_ps", &r->max_ps},
                 {"sum_low", &r->sum_low},
                 {"sum_high", &r->sum_high}};
    hpcw_status s = HPCW_OK;
    for (size_t i = 0; s == HPCW_OK && i < sizeof field / sizeof field[0]; i++) {
        s = gen_partial_u64(o, field[i].key, field[i].value, err);
    }
    return s;
}

static void put_slow(struct hpcw_i_json *json, const hpcw_linktest_slow *slow, size_t count) {
    hpcw_i_json_key(json, "slowest");
    hpcw_i_json_begin_array(json);
    for (size_t i = 0; i < count; i++) {
        hpcw_i_json_flat(json);
        hpcw_i_json_begin_object(json);
        gen_partial_put(json, "time_ps", slow[i].time_ps);
        gen_partial_put(json, "from", slow[i].from);
        gen_partial_put(json, "to", slow[i].to);
        hpcw_i_json_end_object(json);
    }
    hpcw_i_json_end_array(json);
}

/* Outliers of one process's ranks as words, for the process that writes the partial. */
enum { OUTLIER_WORDS = 6 };

static hpcw_status put_outliers(void *context, const uint64_t *word, size_t words, hpcw_error *err) {
    struct hpcw_i_json *json = context;
    static const char *const key[OUTLIER_WORDS] = {"rank",       "count",         "worst_ps",
                                                   "worst_step", "worst_partner", "worst_permutation"};
    (void)err;
    for (size_t i = 0; i + OUTLIER_WORDS <= words; i += OUTLIER_WORDS) {
        hpcw_i_json_flat(json);
        hpcw_i_json_begin_object(json);
        for (size_t k = 0; k < OUTLIER_WORDS; k++) {
            gen_partial_put(json, key[k], word[i + k]);
        }
        hpcw_i_json_end_object(json);
    }
    return HPCW_OK;
}

static hpcw_status collect_outliers(const struct linktest_job *job, uint32_t count, struct hpcw_i_json *partial,
                                    hpcw_error *err) {
    uint64_t *word = hpcw_i_malloc((size_t)count * OUTLIER_WORDS * sizeof *word);
    size_t words = 0;
    hpcw_status s =
        word == NULL ? hpcw_i_fail(err, HPCW_ENOMEM, "linktest: out of memory for outliers") : HPCW_OK;
    for (uint32_t i = 0; s == HPCW_OK && i < count; i++) {
        const struct model_truth_outliers *o = &job->outliers[i];
        if (o->count > 0) {
            const uint64_t w[OUTLIER_WORDS] = {job->begin + i, o->count,         o->worst_ps,
                                               o->worst_step,  o->worst_partner, o->worst_permutation};
            memcpy(word + words, w, sizeof w);
            words += OUTLIER_WORDS;
        }
    }
    if (partial != NULL) {
        hpcw_i_json_key(partial, "outliers");
        hpcw_i_json_begin_array(partial);
    }
    hpcw_error ignored;
    hpcw_status r =
        hpcw_i_comm_collect(job->w->comm, 0, word, words, put_outliers, partial, s == HPCW_OK ? err : &ignored);
    if (partial != NULL) {
        hpcw_i_json_end_array(partial);
    }
    hpcw_i_free(word);
    return s == HPCW_OK ? r : s;
}

/* Retests on the quiet machine: pure functions, whoever asks. */
static void retest(const struct gen_dataset *d, hpcw_linktest_slow *slow, size_t count, uint32_t permutation) {
    for (size_t i = 0; i < count; i++) {
        slow[i].retest_ps = model_linktest_retest(&d->linktest, slow[i].from, slow[i].to, permutation);
    }
}

static hpcw_status write_permutation(struct linktest_job *job, const hpcw_linktest_params *p, uint32_t count,
                                     hpcw_linktest_slow *slow, struct hpcw_i_json *partial, hpcw_error *err) {
    const struct gen_dataset *d = job->w->dataset;
    const struct gen_pool_work work = {
        .context = job, .begin = begin_thread, .step = write_rank, .end = end_thread};
    hpcw_status s = hpcw_linktest_schedule_new(p, job->permutation, &job->schedule, err);
    if (s == HPCW_OK) {
        /* Runs of 16 ranks keep what neighbours share; small ones share the end of the work among the threads.
         */
        s = gen_pool_run(job->w->jobs, job->begin, count, 16, &work, err);
    }
    if (s != HPCW_OK) {
        hpcw_linktest_abandon(job->lt, err);
    }
    size_t n = 0;
    s = hpcw_linktest_slowest(job->lt, slow, &n, err);
    char start[24];
    char end[24];
    times_of(d, p, job->permutation, start, end);
    if (s == HPCW_OK) {
        retest(d, slow, n, job->permutation);
        s = hpcw_linktest_end_permutation(job->lt, start, end, slow, err);
    }
    hpcw_linktest_schedule_free(job->schedule);
    job->schedule = NULL;
    if (s == HPCW_OK && partial != NULL) {
        hpcw_linktest_range times;
        hpcw_linktest_range all_to_all;
        s = hpcw_linktest_figures(job->lt, &times, &all_to_all, err);
        hpcw_i_json_begin_object(partial);
        put_range(partial, "times", &times);
        put_range(partial, "all_to_all", &all_to_all);
        put_slow(partial, slow, n);
        hpcw_i_json_end_object(partial);
    }
    return s;
}

static bool owns(const char *path) {
    return gen_is_of_set(path, PATH);
}

static bool is_pending(const struct gen_dataset *d, uint64_t begin, uint64_t end, uint64_t index) {
    return GEN_FIRST_IS_PENDING(begin, end, units(d), index);
}

static hpcw_status write_units(const struct gen_write *w, struct hpcw_i_json *partial, hpcw_error *err) {
    const struct gen_dataset *d = w->dataset;
    hpcw_linktest_params p = params_of(d);
    uint32_t begin;
    uint32_t end;
    gen_share(first_of_file(d, w->begin), first_of_file(d, w->end), hpcw_comm_size(w->comm),
              hpcw_comm_process(w->comm), &begin, &end);
    p.count = end - begin;
    p.durability = w->durability;
    if (w->begin > 0 || w->end < d->linktest_files) {
        p.set_first_file = (uint32_t)w->begin;
        p.set_files = (uint32_t)(w->end - w->begin);
        p.sink_source = gen_pending_source(w);
    }
    char path[4096 + GEN_UNIT_PATH];
    (void)snprintf(path, sizeof path, "%s/" PATH, w->directory);

    struct linktest_job job = {.w = w, .begin = begin, .steps = hpcw_linktest_steps(&p)};
    size_t wanted = p.retests < p.tasks ? (size_t)p.retests : p.tasks;
    hpcw_linktest_slow *slow = hpcw_i_calloc(wanted, sizeof *slow);
    job.outliers = hpcw_i_calloc(p.count, sizeof *job.outliers);
    hpcw_status s = slow == NULL || job.outliers == NULL
                        ? hpcw_i_fail(err, HPCW_ENOMEM, "linktest: out of memory for %u ranks", p.count)
                        : HPCW_OK;
    s = hpcw_i_agree(w->comm, s, NULL, err);
    if (s == HPCW_OK) {
        s = hpcw_linktest_open(path, w->comm, &p, &job.lt, err);
    }
    if (s != HPCW_OK) {
        goto done;
    }
    if (partial != NULL) {
        hpcw_i_json_key(partial, "permutations");
        hpcw_i_json_begin_array(partial);
    }
    for (uint64_t m = 0; s == HPCW_OK && m < hpcw_linktest_permutations(&p); m++) {
        job.permutation = (uint32_t)m;
        s = write_permutation(&job, &p, p.count, slow, partial, err);
    }
    if (partial != NULL) {
        hpcw_i_json_end_array(partial);
    }
    if (s == HPCW_OK) {
        s = collect_outliers(&job, p.count, partial, err);
        if (s != HPCW_OK) {
            hpcw_linktest_abandon(job.lt, err);
        }
        s = hpcw_linktest_close(job.lt, err);
    }
done:
    hpcw_linktest_free(job.lt);
    hpcw_i_free(job.outliers);
    hpcw_i_free(slow);
    return s;
}

/* ---- joining ---- */

static hpcw_status merge_slow(const cJSON *list, uint32_t ranks, struct hpcw_i_buf *all, hpcw_error *err) {
    const cJSON *item;
    cJSON_ArrayForEach(item, list) {
        uint64_t from = 0;
        uint64_t to = 0;
        hpcw_linktest_slow e = {0};
        hpcw_status s = gen_partial_u64(item, "time_ps", &e.time_ps, err);
        if (s == HPCW_OK) {
            s = gen_partial_u64(item, "from", &from, err);
        }
        if (s == HPCW_OK) {
            s = gen_partial_u64(item, "to", &to, err);
        }
        if (s == HPCW_OK && (from >= ranks || to >= ranks || from == to)) {
            s = hpcw_i_fail(err, HPCW_EFORMAT,
                            "partial results: slowest: expected two of the %u ranks, got %" PRIu64
                            " and %" PRIu64,
                            ranks, from, to);
        }
        if (s != HPCW_OK) {
            return s;
        }
        e.from = (uint32_t)from;
        e.to = (uint32_t)to;
        if (!hpcw_i_buf_append(all, &e, sizeof e)) {
            return hpcw_i_fail(err, HPCW_ENOMEM, "linktest: out of memory for slow connections");
        }
    }
    return HPCW_OK;
}

/* The summary of one permutation from all partials; the list of slow connections is allocated. */
static hpcw_status merge_permutation(const struct gen_dataset *d, const hpcw_linktest_params *p,
                                     const cJSON *const *partial, size_t count, uint64_t m,
                                     hpcw_linktest_summary *summary, hpcw_error *err) {
    const hpcw_linktest_range none = {.min_ps = UINT64_MAX};
    summary->times = summary->all_to_all = none;
    struct hpcw_i_buf all = {0};
    hpcw_status s = HPCW_OK;
    size_t wanted = p->retests < p->tasks ? (size_t)p->retests : p->tasks;
    size_t found = 0;
    for (size_t i = 0; s == HPCW_OK && i < count; i++) {
        const cJSON *list = cJSON_GetObjectItemCaseSensitive(partial[i], "permutations");
        const cJSON *one = cJSON_GetArrayItem(list, (int)m);
        hpcw_linktest_range r;
        s = get_range(one, "times", &r, err);
        if (s == HPCW_OK) {
            hpcw_linktest_range_merge(&summary->times, &r);
            found += r.count < wanted ? (size_t)r.count : wanted;
            s = get_range(one, "all_to_all", &r, err);
        }
        if (s == HPCW_OK) {
            hpcw_linktest_range_merge(&summary->all_to_all, &r);
            s = merge_slow(cJSON_GetObjectItemCaseSensitive(one, "slowest"), d->ranks, &all, err);
        }
        /* Every range knows as many as are wanted of all, if it has so many. */
        if (s == HPCW_OK && all.size != found * sizeof(hpcw_linktest_slow)) {
            s = hpcw_i_fail(err, HPCW_EFORMAT, "partial results: expected %zu slow connections, got %zu", found,
                            all.size / sizeof(hpcw_linktest_slow));
        }
    }
    uint64_t timings = (uint64_t)p->tasks * hpcw_linktest_steps(p);
    if (s == HPCW_OK &&
        (summary->times.count != timings || summary->all_to_all.count != (p->all_to_all ? p->tasks : 0))) {
        s = hpcw_i_fail(err, HPCW_EFORMAT, "partial results: expected %" PRIu64 " timings, got %" PRIu64,
                        timings, summary->times.count);
    }
    if (s != HPCW_OK) {
        hpcw_i_buf_free(&all);
        return s;
    }
    hpcw_linktest_slow *slow = (hpcw_linktest_slow *)(void *)all.data;
    hpcw_linktest_sort_slow(slow, found);
    retest(d, slow, wanted, (uint32_t)m);
    summary->slow = slow;
    return HPCW_OK;
}

static hpcw_status complete(const struct gen_write *w, const cJSON *const *partial, size_t count,
                            uint64_t *changed, hpcw_error *err) {
    *changed = 0;
    if (count < 2) {
        return HPCW_OK; /* one range wrote its summary itself */
    }
    if (!gen_pending_exists(w)) {
        *changed = 1; /* an earlier join came as far as this */
        return HPCW_OK;
    }
    const struct gen_dataset *d = w->dataset;
    hpcw_linktest_params p = params_of(d);
    p.durability = w->durability;
    size_t permutations = (size_t)hpcw_linktest_permutations(&p);
    hpcw_linktest_summary *summary = hpcw_i_calloc(permutations, sizeof *summary);
    char(*text)[2][24] = hpcw_i_calloc(permutations, sizeof *text);
    hpcw_status s =
        summary == NULL || text == NULL
            ? hpcw_i_fail(err, HPCW_ENOMEM, "linktest: out of memory for %zu summaries", permutations)
            : HPCW_OK;
    for (size_t m = 0; s == HPCW_OK && m < permutations; m++) {
        s = merge_permutation(d, &p, partial, count, m, &summary[m], err);
        times_of(d, &p, m, text[m][0], text[m][1]);
        summary[m].start = text[m][0];
        summary[m].end = text[m][1];
    }
    char path[4096 + GEN_UNIT_PATH];
    gen_pending_path(w, path, sizeof path);
    if (s == HPCW_OK) {
        char host[MODEL_HOST_SIZE];
        model_machine_host(&d->machine, 0, host);
        s = hpcw_linktest_complete(path, &p, strlen(host) + 1, summary, err);
    }
    if (s == HPCW_OK) {
        s = gen_pending_release(w, err);
        *changed = 1;
    }
    for (size_t m = 0; summary != NULL && m < permutations; m++) {
        hpcw_i_free((void *)(uintptr_t)summary[m].slow);
    }
    hpcw_i_free(summary);
    hpcw_i_free(text);
    return s;
}

static hpcw_status truth(const struct gen_dataset *d, const cJSON *const *partial, size_t count,
                         struct hpcw_i_json *json, hpcw_error *err) {
    (void)d;
    static const char *const key[] = {"rank",       "count",         "worst_ps",
                                      "worst_step", "worst_partner", "worst_permutation"};
    uint64_t events = 0;
    hpcw_status s = HPCW_OK;
    hpcw_i_json_key(json, "outliers");
    hpcw_i_json_begin_array(json);
    for (size_t i = 0; s == HPCW_OK && i < count; i++) {
        const cJSON *item;
        cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(partial[i], "outliers")) {
            hpcw_i_json_flat(json);
            hpcw_i_json_begin_object(json);
            for (size_t k = 0; s == HPCW_OK && k < sizeof key / sizeof key[0]; k++) {
                uint64_t v = 0;
                s = gen_partial_u64(item, key[k], &v, err);
                hpcw_i_json_put_u64(json, key[k], v);
                events += k == 1 ? v : 0;
            }
            hpcw_i_json_end_object(json);
            if (s != HPCW_OK) {
                break;
            }
        }
    }
    hpcw_i_json_end_array(json);
    hpcw_i_json_put_u64(json, "outlier_events", events);
    return s;
}

/* ---- reading ---- */

/* By the tag alone: a damaged result is to be called damaged, not a container of something else. */
static bool probe(const char *path) {
    struct read_sion *reader;
    struct read_sion_task task;
    char tag[8];
    if (!gen_format_sion.probe(path) || read_sion_open(path, &reader, NULL) != HPCW_OK) {
        return false;
    }
    bool is = read_sion_task(reader, 0, 0, &task, NULL) == HPCW_OK && task.rank == 0 &&
              read_sion_read(reader, &task, 0, tag, sizeof tag, NULL) == HPCW_OK &&
              memcmp(tag, "LinkTest", sizeof tag) == 0;
    read_sion_free(reader);
    return is;
}

static hpcw_status verify(const char *path, bool ours, uint64_t *files, hpcw_error *err) {
    struct read_linktest *reader;
    hpcw_status s = read_linktest_open(path, &reader, err);
    if (s == HPCW_OK) {
        s = read_linktest_verify(reader, ours ? READ_SION_STRICT : 0, err);
        *files = read_sion_files(read_linktest_sion(reader));
        read_linktest_free(reader);
    }
    return s;
}

static void put_summary(struct hpcw_i_json *json, const struct read_linktest_info *i,
                        const struct read_linktest_summary *m) {
    hpcw_i_json_put_str(json, "start", m->start);
    hpcw_i_json_put_str(json, "end", m->end);
    hpcw_i_json_put_f64(json, "min_s", m->min);
    hpcw_i_json_put_f64(json, "avg_s", m->avg);
    hpcw_i_json_put_f64(json, "max_s", m->max);
    if (i->flags[READ_LINKTEST_ALL_TO_ALL] != 0) {
        hpcw_i_json_put_f64(json, "all_to_all_min_s", m->all_to_all_min);
        hpcw_i_json_put_f64(json, "all_to_all_avg_s", m->all_to_all_avg);
        hpcw_i_json_put_f64(json, "all_to_all_max_s", m->all_to_all_max);
    }
}

static hpcw_status put_permutations(struct read_linktest *reader, const struct read_linktest_info *i,
                                    struct hpcw_i_json *json, hpcw_error *err) {
    enum { MOST_SHOWN = 16 };
    hpcw_status s = HPCW_OK;
    hpcw_i_json_key(json, "summaries");
    hpcw_i_json_begin_array(json);
    for (uint64_t m = 0; s == HPCW_OK && m < i->permutations; m++) {
        struct read_linktest_summary summary;
        struct read_linktest_slow slow[MOST_SHOWN];
        size_t shown = i->retests < MOST_SHOWN ? (size_t)i->retests : MOST_SHOWN;
        s = read_linktest_summary(reader, m, &summary, err);
        if (s == HPCW_OK) {
            s = read_linktest_slow(reader, m, 0, shown, slow, err);
        }
        if (s != HPCW_OK) {
            break;
        }
        hpcw_i_json_begin_object(json);
        put_summary(json, i, &summary);
        hpcw_i_json_key(json, "slowest");
        hpcw_i_json_begin_array(json);
        for (size_t k = 0; k < shown; k++) {
            hpcw_i_json_flat(json);
            hpcw_i_json_begin_object(json);
            hpcw_i_json_put_u64(json, "from", slow[k].from);
            hpcw_i_json_put_u64(json, "to", slow[k].to);
            hpcw_i_json_put_f64(json, "time_s", slow[k].original);
            hpcw_i_json_put_f64(json, "retest_s", slow[k].retest);
            hpcw_i_json_end_object(json);
        }
        hpcw_i_json_end_array(json);
        hpcw_i_json_end_object(json);
    }
    hpcw_i_json_end_array(json);
    return s;
}

static hpcw_status info(const char *path, struct hpcw_i_json *json, hpcw_error *err) {
    struct read_linktest *reader;
    hpcw_status s = read_linktest_open(path, &reader, err);
    if (s != HPCW_OK) {
        return s;
    }
    const struct read_linktest_info *i = read_linktest_info(reader);
    const struct {
        const char *key;
        enum read_linktest_flag flag;
    } flag[] = {
        {"all_to_all", READ_LINKTEST_ALL_TO_ALL},         {"bisection", READ_LINKTEST_BISECTION},
        {"random_steps", READ_LINKTEST_RANDOM_STEPS},     {"serial", READ_LINKTEST_SERIAL},
        {"parallel_sion", READ_LINKTEST_PARALLEL_SION},   {"gpu_memory", READ_LINKTEST_GPU_MEMORY},
        {"random_buffers", READ_LINKTEST_RANDOM_BUFFERS}, {"check_buffers", READ_LINKTEST_CHECK_BUFFERS},
    };
    char version[48];
    (void)snprintf(version, sizeof version, "%u.%u.%u", i->major, i->minor, i->patch);
    hpcw_i_json_put_str(json, "version", version);
    hpcw_i_json_put_str(json, "git_hash", i->git_hash);
    hpcw_i_json_put_str(json, "mode", i->mode);
    hpcw_i_json_put_str(json, "kernel",
                        i->flags[READ_LINKTEST_BIDIRECTIONAL] != 0    ? "bidirectional"
                        : i->flags[READ_LINKTEST_UNIDIRECTIONAL] != 0 ? "unidirectional"
                                                                      : "semidirectional");
    hpcw_i_json_put_u64(json, "tasks", i->tasks);
    hpcw_i_json_put_u64(json, "steps", i->steps);
    for (size_t k = 0; k < sizeof flag / sizeof flag[0]; k++) {
        hpcw_i_json_put_bool(json, flag[k].key, i->flags[flag[k].flag] != 0);
    }
    hpcw_i_json_put_u64(json, "messages", i->messages);
    hpcw_i_json_put_u64(json, "message_size", i->message_size);
    hpcw_i_json_put_u64(json, "warmup_messages", i->warmup_messages);
    hpcw_i_json_put_u64(json, "message_buffers", i->message_buffers);
    hpcw_i_json_put_u64(json, "retests", i->retests);
    hpcw_i_json_put_u64(json, "permutations", i->permutations);
    hpcw_i_json_put_u64(json, "buffer_seed", i->buffer_seed);
    hpcw_i_json_put_u64(json, "task_seed", i->task_seed);
    uint32_t hosts = 0;
    uint64_t payload = 0;
    s = read_linktest_totals(reader, &hosts, &payload, err);
    if (s == HPCW_OK) {
        hpcw_i_json_put_u64(json, "hosts", hosts);
        hpcw_i_json_put_u64(json, "payload_bytes", payload);
        s = put_permutations(reader, i, json, err);
    }
    if (s == HPCW_OK) {
        hpcw_i_json_key(json, "container");
        hpcw_i_json_begin_object(json);
        s = gen_format_sion_info(read_linktest_sion(reader), json, err);
        hpcw_i_json_end_object(json);
    }
    read_linktest_free(reader);
    return s;
}

const struct gen_format gen_format_linktest = {
    .name = "linktest",
    .version = "2.1.17",
    .help = "N x N communication timings as LinkTest writes them, in a SION container",
    .limits = limits,
    .container = true,
    .units = units,
    .unit = unit,
    .memory = memory,
    .partial_memory = partial_memory,
    .seconds = seconds,
    .owns = owns,
    .is_pending = is_pending,
    .write = write_units,
    .complete = complete,
    .truth = truth,
    .probe = probe,
    .verify = verify,
    .info = info,
    .report = gen_report_linktest,
};
