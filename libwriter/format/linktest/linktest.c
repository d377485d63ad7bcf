/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The result file. Task r's stream: [file header, task 0 only] [chunk header] { [summary, task 0 only] [data] } x
 * permutations, END_BLOCK (doc/formats/linktest.md, "Stream"). Every stream lies in one chunk. A summary precedes
 * the data in the stream but is known later. So the bytes of the summary are reserved when the data of task 0 are
 * written, and are filled in at the end of the permutation.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "libwriter/base/array.h"
#include "libwriter/base/bytes.h"
#include "libwriter/base/hash.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/comm/reduce.h"
#include "libwriter/format/linktest/summary.h"

struct task_state {
    uint32_t stored; /* number of permutations with timings */
    bool named;      /* hpcw_linktest_task was called */
};

/* Buffers for the data of one task. Each working thread has one. */
struct scratch {
    struct scratch *next;
    unsigned char *data; /* memory behind `partner` */
    uint32_t partner[];  /* [tasks] */
};

struct hpcw_linktest {
    hpcw_comm *comm;
    char *path; /* for messages */
    hpcw_linktest_params params;
    char hash[HPCW_LINKTEST_HASH_SIZE];
    uint32_t *ranks;
    hpcw_sion *sion;
    struct task_state *task; /* [count] */
    uint64_t permutation;    /* number of the current permutation */
    hpcw_linktest_schedule *schedule;
    uint64_t summary_at; /* offset of the current summary in task 0's stream */
    char last_end[HPCW_LINKTEST_TIME_SIZE];

    pthread_mutex_t lock; /* protects the fields below */
    struct scratch *free_scratch;
    hpcw_linktest_range times;
    hpcw_linktest_range all_to_all;
    hpcw_linktest_range last_times; /* times of the last permutation that ended, over all processes */
    hpcw_linktest_range last_all_to_all;
    /* slowest connections of the current permutation: of this process, or of all processes if `merged` */
    struct hpcw_i_linktest_slowest slowest;
    /* connections with less time than this, in ps, are not among the slowest; so most rows need no lock */
    atomic_uint_fast64_t threshold;
    bool merged;
    bool closed;
    bool broken;          /* a collective call failed because a resource was missing; same on all processes */
    hpcw_error abandoned; /* first failure, which the next collective call reports; code HPCW_OK: none */
};

static uint32_t index_of(const hpcw_linktest *lt, uint32_t rank) {
    if (lt->ranks != NULL) {
        return hpcw_i_find_ascending(lt->ranks, lt->params.count, rank);
    }
    uint32_t i = rank - hpcw_sion_first_rank(lt->sion);
    return i < lt->params.count ? i : UINT32_MAX;
}

static bool owns_summary(const hpcw_linktest *lt) {
    return lt->params.count > 0 && hpcw_sion_first_rank(lt->sion) == 0;
}

/* --------------------------------------------------------------------------------------------------------------
 *  Open and free
 * ----------------------------------------------------------------------------------------------------------- */

/* Returns the size of a stream. Every process knows all sizes, so the container needs no communication for the
 * offsets. */
static uint64_t chunk_of(void *context, uint32_t rank) {
    const hpcw_linktest_params *p = context;
    return hpcw_linktest_stream_size(p, rank, p->max_host_size);
}

static hpcw_status begin_permutation(hpcw_linktest *lt, hpcw_error *err) {
    hpcw_i_linktest_range_clear(&lt->times);
    hpcw_i_linktest_range_clear(&lt->all_to_all);
    lt->slowest.count = 0;
    lt->merged = false;
    atomic_store(&lt->threshold, 0);
    hpcw_linktest_schedule_free(lt->schedule);
    lt->schedule = NULL;
    return lt->permutation < hpcw_linktest_permutations(&lt->params)
               ? hpcw_linktest_schedule_new(&lt->params, lt->permutation, &lt->schedule, err)
               : HPCW_OK;
}

/* Copies the borrowed arrays and texts. The caller has checked the parameters. */
static hpcw_status prepare(hpcw_linktest *lt, const char *path, const hpcw_linktest_params *p,
                           hpcw_error *err) {
    lt->params = *p;
    lt->params.ranks = lt->ranks = p->ranks == NULL ? NULL : hpcw_i_malloc(p->count * sizeof *lt->ranks);
    lt->params.mode = hpcw_i_linktest_mode(p->mode);
    if (p->git_hash != NULL) {
        lt->params.git_hash = strcpy(lt->hash, p->git_hash); /* the length was checked before */
    }
    lt->path = hpcw_i_strdup(path);
    lt->task = hpcw_i_calloc(p->count, sizeof *lt->task);
    lt->slowest.wanted = (size_t)hpcw_i_linktest_retests(p);
    lt->slowest.entry = hpcw_i_calloc(lt->slowest.wanted, sizeof *lt->slowest.entry);
    if (lt->path == NULL || (p->ranks != NULL && lt->ranks == NULL) || lt->task == NULL ||
        lt->slowest.entry == NULL) {
        return hpcw_i_fail_memory(err, path, p->count, "tasks");
    }
    if (p->ranks != NULL) {
        memcpy(lt->ranks, p->ranks, p->count * sizeof *lt->ranks);
    }
    hpcw_status s = begin_permutation(lt, err);
    if (s != HPCW_OK) {
        hpcw_i_fail_about(err, path);
    }
    return s;
}

/* Compares path and parameters across processes, except those that the container compares. `p` may be NULL after a
 * failure. */
static hpcw_status agree_on_params(hpcw_comm *comm, const char *path, const hpcw_linktest_params *p,
                                   hpcw_status s, hpcw_error *err) {
    const hpcw_linktest_params none = {0};
    p = p == NULL ? &none : p;
    const struct hpcw_i_same others[] = {
        {.name = "path", .text = path},
        {.name = "tasks", .number = p->tasks},
        {.name = "git_hash", .text = p->git_hash, .words = "none"},
        {.name = "mode", .text = p->mode, .words = "none"},
        {.name = "kernel", .number = p->kernel, .words = "semidirectional unidirectional bidirectional"},
        {.name = "step_seed", .number = p->step_seed},
        {.name = "max_host_size", .number = p->max_host_size},
        {.name = "set_first_file", .number = p->set_first_file},
        {.name = "set_files", .number = p->set_files},
        {.name = "sink_source", .number = p->sink_source.open != NULL, .words = "files own"},
    };
    struct hpcw_i_same same[sizeof others / sizeof others[0] + HPCW_I_LINKTEST_MOST_FIELDS];
    size_t count = sizeof others / sizeof others[0];
    memcpy(same, others, sizeof others);
    for (size_t i = 0; i < hpcw_i_linktest_field_count; i++) {
        const struct hpcw_i_linktest_field *f = &hpcw_i_linktest_fields[i];
        if (f->params != HPCW_I_LINKTEST_DERIVED) {
            same[count++] = (struct hpcw_i_same){.name = f->name,
                                                 .number = hpcw_i_linktest_given(f, p),
                                                 .words = hpcw_i_linktest_is_byte(f) ? "no yes" : NULL};
        }
    }
    return hpcw_i_agree_same(comm, s, path, same, count, NULL, err);
}

hpcw_status hpcw_linktest_open(const char *path, hpcw_comm *comm, const hpcw_linktest_params *params,
                               hpcw_linktest **out, hpcw_error *err) {
    hpcw_error local;
    err = err == NULL ? &local : err;
    comm = hpcw_i_comm_or_self(comm);
    hpcw_linktest *lt = NULL;
    hpcw_status s = hpcw_linktest_params_check(params, err);
    if (s == HPCW_OK && (path == NULL || out == NULL)) {
        s = hpcw_i_fail(err, HPCW_EINVAL, "linktest: expected a path and a pointer for the handle, got NULL");
    }
    if (out != NULL) {
        *out = NULL;
    }
    if (s == HPCW_OK) {
        lt = hpcw_i_calloc(1, sizeof *lt);
        if (lt == NULL) {
            s = hpcw_i_fail_memory(err, path, 0, NULL);
        } else {
            (void)pthread_mutex_init(&lt->lock, NULL);
            lt->comm = comm;
            s = prepare(lt, path, params, err);
        }
    }
    s = agree_on_params(comm, path, params, s, err);
    if (s == HPCW_OK) {
        hpcw_sion_options o;
        hpcw_sion_options_init(&o);
        o.count = lt->params.count;
        o.ranks = lt->ranks;
        o.size_of = chunk_of;
        o.size_context = &lt->params;
        o.layout = lt->params.layout;
        o.fs_block_size = lt->params.fs_block_size;
        o.files = lt->params.files;
        o.durability = lt->params.durability;
        o.sink_source = lt->params.sink_source;
        if (lt->params.set_files != 0) {
            o.set_tasks = lt->params.tasks;
            o.set_first_file = lt->params.set_first_file;
            o.set_files = lt->params.set_files;
        }
        s = hpcw_sion_open(path, comm, &o, &lt->sion, err);
    }
    if (s == HPCW_OK && hpcw_sion_tasks(lt->sion) != lt->params.tasks) {
        s = hpcw_i_fail(err, HPCW_EMISMATCH, "%s: expected %u tasks on all processes together, got %u", path,
                        lt->params.tasks, hpcw_sion_tasks(lt->sion));
    }
    if (s != HPCW_OK) {
        hpcw_linktest_free(lt);
        return s;
    }
    *out = lt;
    return HPCW_OK;
}

void hpcw_linktest_free(hpcw_linktest *lt) {
    if (lt == NULL) {
        return;
    }
    hpcw_sion_free(lt->sion);
    hpcw_linktest_schedule_free(lt->schedule);
    while (lt->free_scratch != NULL) {
        struct scratch *next = lt->free_scratch->next;
        hpcw_i_free(lt->free_scratch);
        lt->free_scratch = next;
    }
    hpcw_i_free(lt->slowest.entry);
    hpcw_i_free(lt->task);
    hpcw_i_free(lt->ranks);
    hpcw_i_free(lt->path);
    (void)pthread_mutex_destroy(&lt->lock);
    hpcw_i_free(lt);
}

uint32_t hpcw_linktest_first_rank(const hpcw_linktest *lt) {
    return lt == NULL ? 0 : hpcw_sion_first_rank(lt->sion);
}

/* --------------------------------------------------------------------------------------------------------------
 *  Tasks and timings
 * ----------------------------------------------------------------------------------------------------------- */

void hpcw_linktest_abandon(hpcw_linktest *lt, const hpcw_error *reason) {
    if (lt != NULL && lt->abandoned.code == HPCW_OK) {
        lt->abandoned = hpcw_i_reason_to_abandon(reason);
    }
}

static hpcw_status usable(const hpcw_linktest *lt, hpcw_error *err) {
    if (lt == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "linktest: expected an open file, got NULL");
    }
    if (lt->broken) {
        return hpcw_i_fail(err, HPCW_ESTATE, "%s: the result is broken by an earlier failure", lt->path);
    }
    if (lt->closed || lt->permutation == hpcw_linktest_permutations(&lt->params)) {
        return hpcw_i_fail(err, HPCW_ESTATE, "%s: all permutations have ended", lt->path);
    }
    return HPCW_OK;
}

/* Notes that a stream can no longer be finished. The next collective call reports the reason. */
static void remember(hpcw_linktest *lt, hpcw_status s, const hpcw_error *reason) {
    if (s <= HPCW_ENOMEM && s != HPCW_EINTERNAL) {
        (void)pthread_mutex_lock(&lt->lock);
        hpcw_linktest_abandon(lt, reason);
        (void)pthread_mutex_unlock(&lt->lock);
    }
}

static hpcw_status enter(hpcw_linktest *lt, uint32_t rank, uint32_t *i, hpcw_error *err) {
    hpcw_status s = usable(lt, err);
    if (s != HPCW_OK) {
        return s;
    }
    *i = index_of(lt, rank);
    return *i == UINT32_MAX
               ? hpcw_i_fail(err, HPCW_EINVAL, "%s: expected a task of this process, got %u", lt->path, rank)
               : HPCW_OK;
}

hpcw_status hpcw_linktest_task(hpcw_linktest *lt, uint32_t rank, const char *host, int32_t core,
                               hpcw_error *err) {
    hpcw_error local;
    err = err == NULL ? &local : err;
    uint32_t i = 0;
    hpcw_status s = enter(lt, rank, &i, err);
    if (s != HPCW_OK) {
        return s;
    }
    size_t size = host == NULL ? 0 : strlen(host) + 1;
    if (size < 2 || core < 0) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "%s: task %u: expected a host name and a core >= 0, got \"%s\" and %d", lt->path,
                           rank, host == NULL ? "NULL" : host, (int)core);
    }
    for (const char *c = host; *c != '\0'; c++) {
        if (*c <= ' ' || *c > '~') {
            return hpcw_i_fail(err, HPCW_EINVAL,
                               "%s: task %u: expected a host name in printable ASCII, got \"%s\"", lt->path,
                               rank, host);
        }
    }
    if (size > lt->params.max_host_size) {
        return hpcw_i_fail(err, HPCW_ERANGE,
                           "%s: task %u: expected a host name of at most %zu bytes, got \"%s\"", lt->path, rank,
                           lt->params.max_host_size - 1, host);
    }
    if (lt->task[i].named) {
        return hpcw_i_fail(err, HPCW_ESTATE, "%s: task %u: its host was given before", lt->path, rank);
    }
    unsigned char head[HPCW_I_LINKTEST_MOST_HEADER + HPCW_I_LINKTEST_CHUNK + HPCW_LINKTEST_MAX_HOST + 1];
    unsigned char *q = head;
    if (rank == 0) {
        hpcw_i_linktest_encode_header(&lt->params, q);
        q += hpcw_i_linktest_header_size(&lt->params);
    }
    hpcw_i_put_u32(q, (uint32_t)size, false);
    memcpy(q + 4, host, size);
    hpcw_i_put_u32(q + 4 + size, (uint32_t)core, false);
    q += HPCW_I_LINKTEST_CHUNK + size;
    s = hpcw_sion_write(lt->sion, rank, head, (size_t)(q - head), err);
    lt->task[i].named = s == HPCW_OK;
    remember(lt, s, err);
    return s;
}

static struct scratch *take_scratch(hpcw_linktest *lt) {
    (void)pthread_mutex_lock(&lt->lock);
    struct scratch *s = lt->free_scratch;
    if (s != NULL) {
        lt->free_scratch = s->next;
    }
    (void)pthread_mutex_unlock(&lt->lock);
    if (s != NULL) {
        return s;
    }
    size_t partners = lt->params.tasks * sizeof s->partner[0];
    size_t data = (size_t)hpcw_i_linktest_data_size(&lt->params) + HPCW_I_LINKTEST_END;
    s = hpcw_i_malloc(sizeof *s + partners + data);
    if (s != NULL) {
        s->data = (unsigned char *)s->partner + partners;
    }
    return s;
}

static void give_scratch(hpcw_linktest *lt, struct scratch *s) {
    (void)pthread_mutex_lock(&lt->lock);
    s->next = lt->free_scratch;
    lt->free_scratch = s;
    (void)pthread_mutex_unlock(&lt->lock);
}

/* Adds the connections of one task to the list of slowest connections. The caller holds the lock. */
static void collect_slowest(hpcw_linktest *lt, uint32_t rank, const uint64_t *time_ps, const uint32_t *partner,
                            uint32_t steps) {
    struct hpcw_i_linktest_slowest *slowest = &lt->slowest;
    uint64_t least = slowest->count < slowest->wanted ? 0 : slowest->entry[0].time_ps;
    for (uint32_t s = 0; s < steps; s++) {
        if (time_ps[s] >= least) {
            hpcw_linktest_slow e = {time_ps[s], time_ps[s], rank, partner[s]};
            hpcw_i_linktest_slowest_add(slowest, &e);
            least = slowest->count < slowest->wanted ? 0 : slowest->entry[0].time_ps;
        }
    }
    atomic_store_explicit(&lt->threshold, least, memory_order_relaxed);
}

/* Encodes partners as 64-bit numbers. Slots without a partner hold time 0 and the task itself. */
static hpcw_status encode_partners(const hpcw_linktest *lt, uint32_t rank, const uint32_t *partner,
                                   uint32_t steps, unsigned char *out, hpcw_error *err) {
    const hpcw_linktest_params *p = &lt->params;
    uint32_t out_of_range = 0;
    for (uint32_t s = 0; s < steps; s++) {
        out_of_range |= partner[s] >= p->tasks || partner[s] == rank;
        hpcw_i_put_u64(out + 8 * (size_t)s, partner[s], false);
    }
    for (uint32_t s = steps; s < p->tasks - 1; s++) {
        hpcw_i_put_u64(out + 8 * (size_t)s, rank, false);
    }
    for (uint32_t s = 0; out_of_range && s < steps; s++) {
        if (partner[s] >= p->tasks || partner[s] == rank) {
            return hpcw_i_fail(err, HPCW_EINVAL, "%s: task %u, step %u: expected another task below %u, got %u",
                               lt->path, rank, s, p->tasks, partner[s]);
        }
    }
    return HPCW_OK;
}

hpcw_status hpcw_linktest_timings(hpcw_linktest *lt, uint32_t rank, const uint64_t *time_ps,
                                  const uint32_t *partner, uint64_t all_to_all_ps, hpcw_error *err) {
    hpcw_error local;
    err = err == NULL ? &local : err;
    uint32_t i = 0;
    hpcw_status s = enter(lt, rank, &i, err);
    if (s != HPCW_OK) {
        return s;
    }
    const hpcw_linktest_params *p = &lt->params;
    struct task_state *task = &lt->task[i];
    if (!task->named || task->stored != lt->permutation) {
        return hpcw_i_fail(err, HPCW_ESTATE, "%s: task %u: %s", lt->path, rank,
                           task->named ? "its timings of this permutation were stored before"
                                       : "its host is not known yet");
    }
    if (time_ps == NULL ||
        (p->all_to_all && (all_to_all_ps == 0 || all_to_all_ps >= HPCW_I_LINKTEST_TIME_LIMIT))) {
        return hpcw_i_fail(
            err, HPCW_EINVAL,
            "%s: task %u: expected timings, and an all-to-all time of 1 to 2^52 - 1 ps, got %s and %" PRIu64,
            lt->path, rank, time_ps == NULL ? "NULL" : "timings", all_to_all_ps);
    }
    struct scratch *scratch = take_scratch(lt);
    if (scratch == NULL) {
        return hpcw_i_fail_memory(err, lt->path, lt->params.tasks, "timings");
    }
    uint32_t steps = hpcw_linktest_steps(p);
    uint32_t slots = p->tasks - 1;
    if (partner == NULL) {
        hpcw_linktest_partners(lt->schedule, rank, scratch->partner);
        partner = scratch->partner;
    }
    unsigned char *q = scratch->data;
    hpcw_linktest_range times;
    hpcw_i_linktest_range_clear(&times);
    size_t bad = hpcw_i_linktest_encode_times(time_ps, steps, q, &times);
    if (bad < steps) {
        s = hpcw_i_fail(err, HPCW_EINVAL,
                        "%s: task %u, step %zu: expected a time of 1 to 2^52 - 1 ps, got %" PRIu64, lt->path,
                        rank, bad, time_ps[bad]);
        goto done;
    }
    memset(q + 8 * (size_t)steps, 0, 8 * (size_t)(slots - steps));
    q += 8 * (size_t)slots;
    s = encode_partners(lt, rank, partner, steps, q, err);
    if (s != HPCW_OK) {
        goto done;
    }
    q += 8 * (size_t)slots;
    if (p->all_to_all) {
        hpcw_i_put_f64(q, hpcw_i_linktest_seconds(all_to_all_ps), false);
        q += 8;
    }
    if (lt->permutation + 1 == hpcw_linktest_permutations(p)) {
        memcpy(q, "END_BLOCK", HPCW_I_LINKTEST_END);
        q += HPCW_I_LINKTEST_END;
    }
    if (rank == 0) {
        s = hpcw_sion_reserve(lt->sion, 0, (size_t)hpcw_i_linktest_summary_size(p), &lt->summary_at, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_sion_write(lt->sion, rank, scratch->data, (size_t)(q - scratch->data), err);
    }
    if (s != HPCW_OK) {
        remember(lt, s, err);
        goto done;
    }
    task->stored++;
    bool slow = times.max_ps >= atomic_load_explicit(&lt->threshold, memory_order_relaxed);
    (void)pthread_mutex_lock(&lt->lock);
    hpcw_linktest_range_merge(&lt->times, &times);
    if (p->all_to_all) {
        hpcw_i_linktest_range_add(&lt->all_to_all, all_to_all_ps);
    }
    if (slow && lt->slowest.wanted > 0) {
        collect_slowest(lt, rank, time_ps, partner, steps);
    }
    (void)pthread_mutex_unlock(&lt->lock);
done:
    give_scratch(lt, scratch);
    return s;
}

/* --------------------------------------------------------------------------------------------------------------
 *  Summaries
 * ----------------------------------------------------------------------------------------------------------- */

/* Words of a list of connections: first their number, then SLOW_WORDS for each connection. */
enum { SLOW_WORDS = 2 };

static void slowest_to_words(const struct hpcw_i_linktest_slowest *s, uint64_t *record) {
    record[0] = s->count;
    for (size_t i = 0; i < s->count; i++) {
        record[1 + SLOW_WORDS * i] = s->entry[i].time_ps;
        record[2 + SLOW_WORDS * i] = (uint64_t)s->entry[i].from << 32 | s->entry[i].to;
    }
}

static void merge_slowest(void *context, uint64_t *left, const uint64_t *right) {
    hpcw_linktest *lt = context;
    struct hpcw_i_linktest_slowest *s = &lt->slowest;
    s->count = 0;
    const uint64_t *side[2] = {left, right};
    for (int k = 0; k < 2; k++) {
        for (uint64_t i = 0; i < side[k][0]; i++) {
            const uint64_t *w = side[k] + 1 + SLOW_WORDS * i;
            hpcw_linktest_slow e = {w[0], w[0], (uint32_t)(w[1] >> 32), (uint32_t)w[1]};
            hpcw_i_linktest_slowest_add(s, &e);
        }
    }
    slowest_to_words(s, left);
}

/* Checks that all tasks of this process have timings in this permutation. */
static hpcw_status check_complete(const hpcw_linktest *lt, hpcw_error *err) {
    if (lt->abandoned.code != HPCW_OK) {
        *err = lt->abandoned;
        return err->code;
    }
    for (uint32_t i = 0; i < lt->params.count; i++) {
        if (lt->task[i].stored != lt->permutation + 1) {
            uint32_t rank = lt->ranks != NULL ? lt->ranks[i] : hpcw_sion_first_rank(lt->sion) + i;
            return hpcw_i_fail(err, HPCW_ESTATE,
                               "%s: expected the timings of all tasks in permutation %" PRIu64
                               ", task %u has none",
                               lt->path, lt->permutation, rank);
        }
    }
    return HPCW_OK;
}

/* Ends a collective call. A call with wrong arguments leaves the handle unchanged. Any other failure makes the
 * handle unusable on all processes. */
static hpcw_status settle(hpcw_linktest *lt, hpcw_status s, hpcw_error *err) {
    if (s != HPCW_OK) {
        hpcw_i_fail_about(err, lt->path);
        lt->broken = lt->broken || s <= HPCW_ENOMEM;
    }
    return s;
}

/* Merges the slowest connections of all processes, sorted. All processes get the result. */
static hpcw_status merge_all(hpcw_linktest *lt, hpcw_error *err) {
    if (lt->merged) {
        return HPCW_OK;
    }
    size_t words = 1 + SLOW_WORDS * lt->slowest.wanted;
    uint64_t *record = hpcw_i_malloc(words * sizeof *record);
    hpcw_status s = check_complete(lt, err);
    if (s == HPCW_OK && record == NULL) {
        s = hpcw_i_fail_memory(err, lt->path, lt->slowest.wanted, "slow connections");
    }
    s = hpcw_i_agree(lt->comm, s, NULL, err);
    if (s == HPCW_OK) {
        slowest_to_words(&lt->slowest, record);
        s = hpcw_i_comm_reduce(lt->comm, record, words, merge_slowest, lt, err);
        if (s == HPCW_OK) {
            merge_slowest(lt, record, &(const uint64_t){0});
            hpcw_linktest_sort_slow(lt->slowest.entry, lt->slowest.count);
            lt->merged = true;
        }
    }
    hpcw_i_free(record);
    return settle(lt, s, err);
}

hpcw_status hpcw_linktest_slowest(hpcw_linktest *lt, hpcw_linktest_slow *slow, size_t *count, hpcw_error *err) {
    hpcw_error local;
    err = err == NULL ? &local : err;
    hpcw_status s = usable(lt, err);
    if (s != HPCW_OK) {
        return s; /* all processes have the same status here */
    }
    if (count == NULL || (slow == NULL && lt->slowest.wanted > 0)) {
        s = hpcw_i_fail(err, HPCW_EINVAL, "%s: expected an array for the slow connections, got NULL", lt->path);
    }
    s = hpcw_i_agree(lt->comm, s, NULL, err);
    if (s == HPCW_OK) {
        s = merge_all(lt, err);
    }
    if (s == HPCW_OK) {
        *count = lt->slowest.count;
        if (lt->slowest.count > 0) {
            memcpy(slow, lt->slowest.entry, lt->slowest.count * sizeof *slow);
        }
    }
    return s;
}

static hpcw_status check_texts(const hpcw_linktest *lt, const char *start, const char *end, hpcw_error *err) {
    if (start == NULL || end == NULL || strlen(start) >= HPCW_LINKTEST_TIME_SIZE ||
        strlen(end) >= HPCW_LINKTEST_TIME_SIZE || strcmp(end, start) < 0 || strcmp(start, lt->last_end) < 0) {
        return hpcw_i_fail(
            err, HPCW_EINVAL,
            "%s: times: expected start and end in order, not before \"%s\", of at most %d characters, got "
            "\"%s\" and \"%s\"",
            lt->path, lt->last_end, HPCW_LINKTEST_TIME_SIZE - 1, start == NULL ? "NULL" : start,
            end == NULL ? "NULL" : end);
    }
    return HPCW_OK;
}

static hpcw_status write_summary(hpcw_linktest *lt, const char *start, const char *end,
                                 const hpcw_linktest_slow *slow, hpcw_error *err) {
    size_t size = (size_t)hpcw_i_linktest_summary_size(&lt->params);
    unsigned char *data = hpcw_i_malloc(size);
    if (data == NULL) {
        return hpcw_i_fail_memory(err, lt->path, 0, "the summary");
    }
    hpcw_i_linktest_encode_summary(&lt->params, start, end, &lt->times, &lt->all_to_all,
                                   slow != NULL ? slow : lt->slowest.entry, data);
    hpcw_status s = hpcw_sion_fill(lt->sion, 0, lt->summary_at, data, size, err);
    hpcw_i_free(data);
    return s;
}

/* Words of a range that processes add up: the number of times; the two halves of sum_low, 32 bits each; sum_high.
 * No number of processes makes one of these words overflow. */
enum { RANGE_SUMS = 4 };

static void range_to_words(const hpcw_linktest_range *r, uint64_t *sum) {
    sum[0] = r->count;
    sum[1] = r->sum_low & UINT32_MAX;
    sum[2] = r->sum_low >> 32;
    sum[3] = r->sum_high;
}

static void words_to_range(const uint64_t *sum, uint64_t min, uint64_t max, hpcw_linktest_range *r) {
    uint64_t middle = sum[2] + (sum[1] >> 32);
    *r = (hpcw_linktest_range){
        .count = sum[0],
        .min_ps = min,
        .max_ps = max,
        .sum_low = middle << 32 | (sum[1] & UINT32_MAX),
        .sum_high = sum[3] + (middle >> 32),
    };
}

hpcw_status hpcw_linktest_end_permutation(hpcw_linktest *lt, const char *start, const char *end,
                                          const hpcw_linktest_slow *slow, hpcw_error *err) {
    hpcw_error local;
    err = err == NULL ? &local : err;
    hpcw_status s = usable(lt, err);
    if (s != HPCW_OK) {
        return s; /* all processes have the same status here */
    }
    s = merge_all(lt, err);
    if (s != HPCW_OK) {
        return s;
    }
    uint64_t word[2 * RANGE_SUMS + 4];
    range_to_words(&lt->times, word);
    range_to_words(&lt->all_to_all, word + RANGE_SUMS);
    word[2 * RANGE_SUMS] = lt->times.min_ps;
    word[2 * RANGE_SUMS + 1] = lt->all_to_all.min_ps;
    word[2 * RANGE_SUMS + 2] = lt->times.max_ps;
    word[2 * RANGE_SUMS + 3] = lt->all_to_all.max_ps;
    struct hpcw_i_words words = {.sums = 2 * RANGE_SUMS, .mins = 2, .maxs = 2, .word = word};
    s = hpcw_i_agree(lt->comm, check_texts(lt, start, end, err), &words, err);
    if (s != HPCW_OK) {
        return s;
    }
    words_to_range(word, word[2 * RANGE_SUMS], word[2 * RANGE_SUMS + 2], &lt->times);
    words_to_range(word + RANGE_SUMS, word[2 * RANGE_SUMS + 1], word[2 * RANGE_SUMS + 3], &lt->all_to_all);
    if (lt->params.set_files == 0 && owns_summary(lt)) {
        s = write_summary(lt, start, end, slow, err);
    }
    lt->last_times = lt->times;
    lt->last_all_to_all = lt->all_to_all;
    memcpy(lt->last_end, end, strlen(end) + 1);
    lt->permutation++;
    if (s == HPCW_OK) {
        s = begin_permutation(lt, err);
    }
    return settle(lt, hpcw_i_agree(lt->comm, s, NULL, err), err);
}

hpcw_status hpcw_linktest_figures(const hpcw_linktest *lt, hpcw_linktest_range *times,
                                  hpcw_linktest_range *all_to_all, hpcw_error *err) {
    if (lt == NULL || lt->permutation == 0) {
        return hpcw_i_fail(err, lt == NULL ? HPCW_EINVAL : HPCW_ESTATE,
                           "linktest: expected an ended permutation, got %s", lt == NULL ? "NULL" : "none");
    }
    if (times != NULL) {
        *times = lt->last_times;
    }
    if (all_to_all != NULL) {
        *all_to_all = lt->last_all_to_all;
    }
    return HPCW_OK;
}

hpcw_status hpcw_linktest_close(hpcw_linktest *lt, hpcw_error *err) {
    hpcw_error local;
    err = err == NULL ? &local : err;
    if (lt == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "linktest: expected an open file, got NULL");
    }
    uint64_t wanted = hpcw_linktest_permutations(&lt->params);
    if (lt->broken) {
        return hpcw_i_fail(err, HPCW_ESTATE, "%s: the result is broken by an earlier failure", lt->path);
    }
    if (lt->closed || lt->permutation != wanted) {
        return hpcw_i_fail(err, HPCW_ESTATE,
                           "%s: expected %" PRIu64 " ended permutations and one close, got %" PRIu64 "%s",
                           lt->path, wanted, lt->permutation, lt->closed ? " and a second close" : "");
    }
    lt->closed = true;
    return hpcw_sion_close(lt->sion, err);
}
