/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes timings in parallel, and joins the partial results of several ranges. */
#include "gen/format/linktest.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gen/format/pending.h"
#include "gen/spec/pool.h"
#include "gen/spec/visibility.h"
#include "libwriter/base/buf.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/comm/exchange.h"
#include "libwriter/fields/linktest.h"

/* Stands for the program that made this dataset; it is not a commit of LinkTest. */
static const char git_hash[] = "5d1c0be94f27a6380e9b7c42d8a1f5360b94e7d2";

hpcw_linktest_params gen_linktest_params(const struct gen_dataset *d) {
    const struct model_linktest_params *m = &d->linktest_params;
    char host[MODEL_HOST_SIZE];
    hpcw_linktest_params p = m->run;
    p.tasks = d->ranks;
    p.git_hash = git_hash;
    p.mode = hpcw_i_linktest_modes[m->mode];
    p.kernel = (hpcw_linktest_kernel)m->kernel;
    if (p.buffer_seed == 0 && p.random_buffers) {
        p.buffer_seed = d->seed;
    }
    if (p.task_seed == 0 && p.permutations > 0) {
        p.task_seed = d->seed;
    }
    p.step_seed = p.step_seed != 0 ? p.step_seed : d->seed;
    p.files = d->linktest_files;
    p.fs_block_size = d->block_size;
    /* Names of a preset differ only in their number, so the last node's name is the longest. */
    model_machine_host(&d->machine, d->machine.nodes - 1, host);
    p.max_host_size = strlen(host) + 1;
    return p;
}

/* Formats begin and end of a permutation that starts `elapsed_s` after the begin of the run. */
static void times_of(const struct gen_dataset *d, double elapsed_s, double seconds, char start[24],
                     char end[24]) {
    const double most = 1e12; /* beyond the year 9999 */
    double until = elapsed_s + seconds;
    gen_dataset_time(gen_dataset_start(d) + (uint64_t)(elapsed_s < most ? elapsed_s : most), start);
    gen_dataset_time(gen_dataset_start(d) + (uint64_t)(until < most ? until : most), end);
}

static double seconds_of(const struct gen_dataset *d, const uint64_t *slowest, const hpcw_linktest_range *times,
                         const hpcw_linktest_range *all_to_all, const hpcw_linktest_slow *slow, size_t count) {
    double retests_ps = 0;
    for (size_t i = 0; i < count; i++) {
        retests_ps += (double)slow[i].retest_ps;
    }
    double sum_ps = (double)times->sum_high * 0x1p64 + (double)times->sum_low;
    return model_linktest_seconds(&d->linktest, slowest, sum_ps, retests_ps,
                                  d->linktest_params.run.all_to_all ? all_to_all->max_ps : 0);
}

/* ---- one rank ---- */

struct linktest_job {
    const struct gen_write *w;
    hpcw_linktest *lt;
    hpcw_linktest_schedule *schedule;
    uint32_t permutation;
    uint32_t steps;
    uint32_t begin;                        /* first rank of this process */
    struct model_truth_outliers *outliers; /* [own ranks] */
    double elapsed_s;                      /* total time of the previous permutations */

    /* [steps] slowest timing of each step of this permutation: over this process and, after reduce_permutation,
     * over all processes. word: see reduce_permutation. */
    uint64_t *slowest; /* [steps] */
    uint64_t *word;    /* [SUM_WORDS + 1 + steps] */
    hpcw_linktest_range times, all_to_all;
};

enum { SUM_WORDS = 4 };

struct linktest_thread {
    struct model_linktest_scratch *scratch;
    uint32_t *partner;
    uint64_t *time_ps, *slowest;
    hpcw_linktest_range times, all_to_all;
};

/* Adds a timing, or the time of an alltoall, to a range of times. */
static void add_time(hpcw_linktest_range *r, uint64_t ps) {
    const hpcw_linktest_range one = {1, ps, ps, ps, 0};
    hpcw_linktest_range_merge(r, &one);
}

static void end_thread(void *context, void *state) {
    struct linktest_job *job = context;
    struct linktest_thread *t = state;
    for (uint32_t s = 0; t->slowest != NULL && s < job->steps; s++) {
        job->slowest[s] = t->slowest[s] > job->slowest[s] ? t->slowest[s] : job->slowest[s];
    }
    hpcw_linktest_range_merge(&job->times, &t->times);
    hpcw_linktest_range_merge(&job->all_to_all, &t->all_to_all);
    hpcw_i_free(t->slowest);
    model_linktest_scratch_free(t->scratch);
    hpcw_i_free(t->partner);
    hpcw_i_free(t->time_ps);
}

static hpcw_status begin_thread(void *context, void *state, hpcw_error *err) {
    const struct linktest_job *job = context;
    struct linktest_thread *t = state;
    hpcw_status s = model_linktest_scratch_new(&job->w->dataset->linktest, &t->scratch, err);
    if (s != HPCW_OK) {
        return s;
    }
    t->partner = hpcw_i_malloc(job->steps * sizeof *t->partner);
    t->time_ps = hpcw_i_malloc(job->steps * sizeof *t->time_ps);
    t->slowest = hpcw_i_calloc(job->steps, sizeof *t->slowest);
    t->times = t->all_to_all = (hpcw_linktest_range){.min_ps = UINT64_MAX};
    return t->partner != NULL && t->time_ps != NULL && t->slowest != NULL
               ? HPCW_OK
               : hpcw_i_fail_memory(err, "linktest", job->steps, "timings");
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
                       t->slowest, &job->outliers[rank - job->begin]);
    if (d->linktest_params.run.serial) {
        for (uint32_t s = 0; s < job->steps; s++) {
            add_time(&t->times, t->time_ps[s]);
        }
    }
    uint64_t all_to_all =
        d->linktest_params.run.all_to_all ? model_linktest_all_to_all(&d->linktest, rank, job->permutation) : 0;
    add_time(&t->all_to_all, all_to_all);
    hpcw_status s = hpcw_linktest_timings(job->lt, rank, t->time_ps, t->partner, all_to_all, err);
    if (s == HPCW_OK) {
        job->w->progress(job->w->progress_context, 16 * (uint64_t)(d->ranks - 1));
    }
    return s;
}

/* ---- partial results ---- */

enum { RANGE_WORDS = 5, SLOW_WORDS = 3 };
static const char *const range_key[RANGE_WORDS] = {"count", "min_ps", "max_ps", "sum_low", "sum_high"};
static const char *const slow_key[SLOW_WORDS] = {"time_ps", "from", "to"};

static void put_range(struct hpcw_i_json *json, const char *key, const hpcw_linktest_range *r) {
    const uint64_t word[RANGE_WORDS] = {r->count, r->min_ps, r->max_ps, r->sum_low, r->sum_high};
    hpcw_i_json_key_object(json, key);
    gen_partial_put_words(json, range_key, RANGE_WORDS, word);
    hpcw_i_json_end_object(json);
}

static hpcw_status get_range(const cJSON *object, const char *key, hpcw_linktest_range *r, hpcw_error *err) {
    uint64_t w[RANGE_WORDS] = {0};
    hpcw_status s =
        gen_partial_words(cJSON_GetObjectItemCaseSensitive(object, key), range_key, RANGE_WORDS, w, err);
    *r = (hpcw_linktest_range){w[0], w[1], w[2], w[3], w[4]};
    return s;
}

static void put_slow(struct hpcw_i_json *json, const hpcw_linktest_slow *slow, size_t count) {
    hpcw_i_json_key_array(json, "slowest");
    for (size_t i = 0; i < count; i++) {
        const uint64_t word[SLOW_WORDS] = {slow[i].time_ps, slow[i].from, slow[i].to};
        hpcw_i_json_flat_object(json);
        gen_partial_put_words(json, slow_key, SLOW_WORDS, word);
        hpcw_i_json_end_object(json);
    }
    hpcw_i_json_end_array(json);
}

/* The slowest timings of all steps form one text. Each takes 13 hexadecimal digits. */
enum { STEP_DIGITS = 13 };

static hpcw_status put_slowest(struct hpcw_i_json *json, const uint64_t *slowest, uint32_t steps,
                               hpcw_error *err) {
    static const char digits[] = "0123456789abcdef";
    char *text = hpcw_i_malloc((size_t)steps * STEP_DIGITS + 1);
    if (text == NULL) {
        return hpcw_i_fail_memory(err, "linktest", steps, "steps");
    }
    for (uint32_t s = 0; s < steps; s++) {
        for (int k = 0; k < STEP_DIGITS; k++) {
            text[(size_t)s * STEP_DIGITS + (size_t)k] = digits[slowest[s] >> 4 * (STEP_DIGITS - 1 - k) & 15];
        }
    }
    text[(size_t)steps * STEP_DIGITS] = '\0';
    hpcw_i_json_put_str(json, "slowest_by_step", text);
    hpcw_i_free(text);
    return HPCW_OK;
}

/* Keeps the larger timing of each step. */
static hpcw_status merge_slowest(const cJSON *object, uint64_t *slowest, uint32_t steps, hpcw_error *err) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, "slowest_by_step");
    const char *text = cJSON_IsString(item) ? item->valuestring : "";
    const size_t length = (size_t)steps * STEP_DIGITS;
    if (strlen(text) != length || strspn(text, "0123456789abcdef") != length) {
        return hpcw_i_fail(
            err, HPCW_EFORMAT,
            "partial results: slowest_by_step: expected %zu hexadecimal digits, got %zu characters", length,
            strlen(text));
    }
    for (uint32_t s = 0; s < steps; s++) {
        uint64_t ps = 0;
        for (int k = 0; k < STEP_DIGITS; k++) {
            char c = text[(size_t)s * STEP_DIGITS + (size_t)k];
            ps = ps << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
        }
        slowest[s] = ps > slowest[s] ? ps : slowest[s];
    }
    return HPCW_OK;
}

/* Words of an outlier sent to the process that writes the partial result: these keys, then the visibility in
 * thousandths. In the partial result, visibility is a number with three decimals; null: unknown. */
enum { OUTLIER_KEYS = 6, OUTLIER_WORDS };
static const char *const outlier_key[OUTLIER_KEYS] = {"rank",       "count",         "worst_ps",
                                                      "worst_step", "worst_partner", "worst_permutation"};

static hpcw_status put_outliers(void *context, const uint64_t *word, size_t words, hpcw_error *err) {
    struct hpcw_i_json *json = context;
    (void)err;
    for (size_t i = 0; i + OUTLIER_WORDS <= words; i += OUTLIER_WORDS) {
        hpcw_i_json_flat_object(json);
        gen_partial_put_words(json, outlier_key, OUTLIER_KEYS, word + i);
        hpcw_i_json_key(json, "visibility");
        if (word[i + OUTLIER_KEYS] == 0) {
            hpcw_i_json_null(json);
        } else {
            hpcw_i_json_f64(json, (double)word[i + OUTLIER_KEYS] / 1e3);
        }
        hpcw_i_json_end_object(json);
    }
    return HPCW_OK;
}

static hpcw_status collect_outliers(const struct linktest_job *job, uint32_t count, struct hpcw_i_json *partial,
                                    hpcw_error *err) {
    size_t listed = 0;
    for (uint32_t i = 0; i < count; i++) {
        for (int k = 0; k < MODEL_TRUTH_DELAYS; k++) {
            listed += job->outliers[i].worst[k].ps > 0;
        }
    }
    uint64_t *word = hpcw_i_malloc((size_t)listed * OUTLIER_WORDS * sizeof *word + 1);
    size_t words = 0;
    hpcw_status s = word == NULL ? hpcw_i_fail_memory(err, "linktest", 0, "outliers") : HPCW_OK;
    for (uint32_t i = 0; s == HPCW_OK && i < count; i++) {
        const struct model_truth_outliers *o = &job->outliers[i];
        for (int k = 0; k < MODEL_TRUTH_DELAYS && o->worst[k].ps > 0; k++) {
            const struct model_truth_delay *e = &o->worst[k];
            const uint64_t w[OUTLIER_WORDS] = {job->begin + i, o->count,       e->ps,        e->step,
                                               e->partner,     e->permutation, e->visibility};
            memcpy(word + words, w, sizeof w);
            words += OUTLIER_WORDS;
        }
    }
    if (partial != NULL) {
        hpcw_i_json_key_array(partial, "outliers");
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

/* ---- all ranks ---- */

static void retest(const struct gen_dataset *d, hpcw_linktest_slow *slow, size_t count, uint32_t permutation) {
    for (size_t i = 0; i < count; i++) {
        slow[i].retest_ps = model_linktest_retest(&d->linktest, slow[i].from, slow[i].to, permutation);
    }
}

/* Reduces the slowest timings and the sum of this permutation over all processes of the range. */
static hpcw_status reduce_permutation(struct linktest_job *job, hpcw_error *err) {
    uint64_t *sum = job->word, *most = job->word + SUM_WORDS;
    /* Sums are split into half words, so that the sum over all processes cannot overflow. */
    for (int k = 0; k < SUM_WORDS; k++) {
        sum[k] = (k < 2 ? job->times.sum_low : job->times.sum_high) >> 32 * (k % 2) & UINT32_MAX;
    }
    most[0] = job->all_to_all.max_ps;
    memcpy(most + 1, job->slowest, job->steps * sizeof *job->slowest);
    struct hpcw_i_words words = {.sums = SUM_WORDS, .maxs = job->steps + 1, .word = job->word};
    hpcw_status s = hpcw_i_comm_allreduce(job->w->comm, &words, err);
    if (s == HPCW_OK) {
        uint64_t carry = 0, limb[SUM_WORDS];
        for (int k = 0; k < SUM_WORDS; k++) {
            carry += sum[k];
            limb[k] = carry & UINT32_MAX;
            carry >>= 32;
        }
        job->times.sum_low = limb[1] << 32 | limb[0];
        job->times.sum_high = limb[3] << 32 | limb[2];
        job->all_to_all.max_ps = most[0];
        memcpy(job->slowest, most + 1, job->steps * sizeof *job->slowest);
    }
    return s;
}

static hpcw_status write_permutation(struct linktest_job *job, const hpcw_linktest_params *p, uint32_t count,
                                     hpcw_linktest_slow *slow, struct hpcw_i_json *partial, hpcw_error *err) {
    const struct gen_dataset *d = job->w->dataset;
    const struct gen_pool_work work = {.name = "linktest",
                                       .context = job,
                                       .state_size = sizeof(struct linktest_thread),
                                       .begin = begin_thread,
                                       .step = write_rank,
                                       .end = end_thread};
    memset(job->slowest, 0, job->steps * sizeof *job->slowest);
    job->times = job->all_to_all = (hpcw_linktest_range){.min_ps = UINT64_MAX};
    hpcw_status s = hpcw_linktest_schedule_new(p, job->permutation, &job->schedule, err);
    if (s == HPCW_OK) {
        /* A thread takes 16 ranks at a time, since neighbouring ranks share tables. With more ranks at a time,
         * threads would have nothing to do at the end. */
        s = gen_pool_run(job->w->jobs, job->begin, count, 16, &work, err);
    }
    if (s != HPCW_OK) {
        hpcw_linktest_abandon(job->lt, err);
    }
    size_t n = 0;
    s = hpcw_linktest_slowest(job->lt, slow, &n, err);
    if (s == HPCW_OK) {
        s = reduce_permutation(job, err);
    }
    if (s == HPCW_OK) {
        char start[24];
        char end[24];
        retest(d, slow, n, job->permutation);
        double seconds = seconds_of(d, job->slowest, &job->times, &job->all_to_all, slow, n);
        times_of(d, job->elapsed_s, seconds, start, end);
        job->elapsed_s += seconds;
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
        if (s == HPCW_OK && p->set_files > 0) {
            s = put_slowest(partial, job->slowest, job->steps, err);
        }
        hpcw_i_json_end_object(partial);
    }
    return s;
}

hpcw_status gen_linktest_write(const struct gen_write *w, struct hpcw_i_json *partial, hpcw_error *err) {
    const struct gen_dataset *d = w->dataset;
    hpcw_linktest_params p = gen_linktest_params(d);
    struct gen_slice own =
        gen_share(w->comm, gen_linktest_first_task(d, w->begin), gen_linktest_first_task(d, w->end));
    p.count = (uint32_t)(own.end - own.begin);
    p.durability = w->durability;
    if (w->begin > 0 || w->end < d->linktest_files) {
        p.set_first_file = (uint32_t)w->begin;
        p.set_files = (uint32_t)(w->end - w->begin);
    }
    p.sink_source = gen_set_source(w);
    char path[4096 + GEN_UNIT_PATH];
    (void)snprintf(path, sizeof path, "%s/" GEN_LINKTEST_FILE, w->directory);

    struct linktest_job job = {.w = w, .begin = (uint32_t)own.begin, .steps = hpcw_linktest_steps(&p)};
    size_t most = p.retests < p.tasks ? (size_t)p.retests : p.tasks;
    hpcw_linktest_slow *slow = hpcw_i_calloc(most, sizeof *slow);
    job.outliers = hpcw_i_calloc(p.count, sizeof *job.outliers);
    job.slowest = hpcw_i_calloc(job.steps, sizeof *job.slowest);
    job.word = hpcw_i_calloc(job.steps + SUM_WORDS + 1u, sizeof *job.word);
    hpcw_status s = slow == NULL || job.outliers == NULL || job.slowest == NULL || job.word == NULL
                        ? hpcw_i_fail_memory(err, "linktest", p.count, "ranks")
                        : HPCW_OK;
    s = hpcw_i_agree(w->comm, s, NULL, err);
    if (s == HPCW_OK) {
        s = hpcw_linktest_open(path, w->comm, &p, &job.lt, err);
    }
    if (s != HPCW_OK) {
        goto done;
    }
    if (partial != NULL) {
        hpcw_i_json_key_array(partial, "permutations");
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
    hpcw_i_free(job.slowest);
    hpcw_i_free(job.word);
    hpcw_i_free(slow);
    return s;
}

/* ---- joining ---- */

static hpcw_status merge_slow(const cJSON *list, uint32_t ranks, struct hpcw_i_buf *all, hpcw_error *err) {
    const cJSON *item;
    cJSON_ArrayForEach(item, list) {
        uint64_t w[SLOW_WORDS];
        hpcw_status s = gen_partial_words(item, slow_key, SLOW_WORDS, w, err);
        if (s == HPCW_OK && (w[1] >= ranks || w[2] >= ranks || w[1] == w[2])) {
            s = hpcw_i_fail(err, HPCW_EFORMAT,
                            "partial results: slowest: expected two of the %u ranks, got %" PRIu64
                            " and %" PRIu64,
                            ranks, w[1], w[2]);
        }
        if (s != HPCW_OK) {
            return s;
        }
        const hpcw_linktest_slow e = {.time_ps = w[0], .from = (uint32_t)w[1], .to = (uint32_t)w[2]};
        if (!hpcw_i_buf_append(all, &e, sizeof e)) {
            return hpcw_i_fail_memory(err, "linktest", 0, "slow connections");
        }
    }
    return HPCW_OK;
}

/* Merges the summaries of one permutation from all partials. Also merges the slowest timing of each step; the
 * caller has zeroed `slowest`. The caller frees summary->slow. */
static hpcw_status merge_permutation(const struct gen_dataset *d, const hpcw_linktest_params *p,
                                     const cJSON *const *partial, size_t count, uint64_t m, uint64_t *slowest,
                                     hpcw_linktest_summary *summary, hpcw_error *err) {
    const hpcw_linktest_range none = {.min_ps = UINT64_MAX};
    summary->times = summary->all_to_all = none;
    struct hpcw_i_buf all = {0};
    hpcw_status s = HPCW_OK;
    size_t most = p->retests < p->tasks ? (size_t)p->retests : p->tasks;
    size_t found = 0;
    for (size_t i = 0; s == HPCW_OK && i < count; i++) {
        const cJSON *list = cJSON_GetObjectItemCaseSensitive(partial[i], "permutations");
        const cJSON *one = cJSON_GetArrayItem(list, (int)m);
        hpcw_linktest_range r;
        s = get_range(one, "times", &r, err);
        if (s == HPCW_OK) {
            hpcw_linktest_range_merge(&summary->times, &r);
            found += r.count < most ? (size_t)r.count : most;
            s = get_range(one, "all_to_all", &r, err);
        }
        if (s == HPCW_OK) {
            hpcw_linktest_range_merge(&summary->all_to_all, &r);
            s = merge_slow(cJSON_GetObjectItemCaseSensitive(one, "slowest"), d->ranks, &all, err);
        }
        s = s == HPCW_OK ? merge_slowest(one, slowest, d->linktest.steps, err) : s;
        /* Each range lists its slowest connections: as many as the summary needs, or all if it has fewer. */
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
    retest(d, slow, most, (uint32_t)m);
    summary->slow = slow;
    return HPCW_OK;
}

hpcw_status gen_linktest_complete(const struct gen_write *w, const cJSON *const *partial, size_t count,
                                  uint64_t *changed, hpcw_error *err) {
    *changed = 0;
    if (count < 2) {
        return HPCW_OK; /* a range that is the whole set writes its own summary */
    }
    bool exists;
    hpcw_status s = gen_pending_look(w, &exists, err);
    if (s != HPCW_OK || !exists) {
        *changed = s == HPCW_OK; /* an earlier join gave the file its final name */
        return s;
    }
    const struct gen_dataset *d = w->dataset;
    hpcw_linktest_params p = gen_linktest_params(d);
    p.durability = w->durability;
    size_t permutations = (size_t)hpcw_linktest_permutations(&p);
    hpcw_linktest_summary *summary = hpcw_i_calloc(permutations, sizeof *summary);
    char(*text)[2][24] = hpcw_i_calloc(permutations, sizeof *text);
    uint64_t *slowest = hpcw_i_calloc(d->linktest.steps, sizeof *slowest);
    double elapsed_s = 0;
    s = summary == NULL || text == NULL || slowest == NULL
            ? hpcw_i_fail_memory(err, "linktest", permutations, "summaries")
            : HPCW_OK;
    for (size_t m = 0; s == HPCW_OK && m < permutations; m++) {
        memset(slowest, 0, d->linktest.steps * sizeof *slowest);
        s = merge_permutation(d, &p, partial, count, m, slowest, &summary[m], err);
        if (s != HPCW_OK) {
            break;
        }
        double seconds = seconds_of(d, slowest, &summary[m].times, &summary[m].all_to_all, summary[m].slow,
                                    p.retests < p.tasks ? (size_t)p.retests : p.tasks);
        times_of(d, elapsed_s, seconds, text[m][0], text[m][1]);
        elapsed_s += seconds;
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
    hpcw_i_free(slowest);
    return s;
}

hpcw_status gen_linktest_truth(const struct gen_dataset *d, const cJSON *const *partial, size_t count,
                               uint32_t jobs, struct hpcw_i_json *json, hpcw_error *err) {
    (void)d;
    (void)jobs;
    uint64_t events = 0;
    uint64_t before = UINT64_MAX; /* rank */
    hpcw_status s = HPCW_OK;
    hpcw_i_json_key_array(json, "outliers");
    for (size_t i = 0; s == HPCW_OK && i < count; i++) {
        const cJSON *item;
        cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(partial[i], "outliers")) {
            uint64_t word[OUTLIER_KEYS];
            s = gen_partial_words(item, outlier_key, OUTLIER_KEYS, word, err);
            /* An item of a range's partial result has one visibility, an item of truth.json has a list of them. */
            const cJSON *seen = cJSON_GetObjectItemCaseSensitive(item, "visibility");
            const cJSON *sd = cJSON_IsArray(seen)
                                  ? cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(seen, 0), "sd")
                                  : seen;
            if (s == HPCW_OK && !cJSON_IsNumber(sd) && !cJSON_IsNull(sd)) {
                s = hpcw_i_fail(err, HPCW_EFORMAT, "partial result: visibility: expected a number or null");
            }
            if (s != HPCW_OK) {
                break;
            }
            hpcw_i_json_flat_object(json);
            hpcw_i_json_put_str(json, "kind", "outlier");
            for (size_t k = 0; k < OUTLIER_KEYS; k++) {
                hpcw_i_json_put_u64(json, outlier_key[k], word[k]);
            }
            hpcw_i_json_key_array(json, "visibility");
            gen_visibility_put(json, "linktest", GEN_LINKTEST_FILE, cJSON_IsNull(sd) ? NAN : sd->valuedouble);
            hpcw_i_json_end_array(json);
            hpcw_i_json_end_object(json);
            /* Every entry of a rank has the same `count`, so it is added once. */
            events += word[0] != before ? word[1] : 0;
            before = word[0];
        }
    }
    hpcw_i_json_end_array(json);
    hpcw_i_json_put_u64(json, "outlier_events", events);
    return s;
}
