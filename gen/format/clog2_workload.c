/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the log of a workload: one process simulates, sorts and writes; the others have nothing to do. */
#include <stdio.h>

#include "gen/format/clog2.h"
#include "gen/format/workload_log.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* The compute time of a rank in its current phase, the time that it lost to noise, and its messages. */
struct clog2_rank {
    uint64_t compute_ns, lost_ns;
    uint32_t phase, messages;
};

/* A phase in truth.json. */
struct clog2_phase {
    uint64_t end_ns; /* when its last rank ends it */
    uint64_t compute_ns, slowest_ns, slowest_rank, messages;
    uint64_t lost_ns, most_lost_ns, most_lost_rank; /* to noise, of all ranks and of the one that lost most */
};
static const char *const phase_name[] = {"end_ns",   "compute_ns", "slowest_ns",   "slowest_rank",
                                         "messages", "lost_ns",    "most_lost_ns", "most_lost_rank"};
enum { PHASE_WORDS = sizeof phase_name / sizeof phase_name[0] };

struct clog2_run {
    const struct gen_write *w;
    struct gen_workload_log *log;
    struct clog2_rank *rank;   /* [ranks] */
    struct clog2_phase *phase; /* [phases] */
    uint64_t events;
};

/* ---- facts ---- */

static void end_phase(struct clog2_run *run, const struct sim_event *e) {
    struct clog2_rank *r = &run->rank[e->rank];
    struct clog2_phase *p = &run->phase[e->bytes];
    /* Of equally slow ranks the lowest one: ranks end phases in any order. */
    if (r->compute_ns > p->slowest_ns || (r->compute_ns == p->slowest_ns && e->rank < p->slowest_rank)) {
        p->slowest_ns = r->compute_ns;
        p->slowest_rank = e->rank;
    }
    p->end_ns = e->time_ns > p->end_ns ? e->time_ns : p->end_ns;
    p->compute_ns += r->compute_ns;
    if (r->lost_ns > p->most_lost_ns || (r->lost_ns == p->most_lost_ns && e->rank < p->most_lost_rank)) {
        p->most_lost_ns = r->lost_ns;
        p->most_lost_rank = e->rank;
    }
    p->lost_ns += r->lost_ns;
    p->messages += r->messages;
    *r = (struct clog2_rank){0};
}

static hpcw_status take_event(void *context, const struct sim_event *e, hpcw_error *err) {
    enum { PROGRESS_EVENTS = 1 << 16, RECORD_BYTES = 40 };
    struct clog2_run *run = context;
    switch ((enum sim_what)e->what) {
    case SIM_COMPUTES:
        run->rank[e->rank].compute_ns += e->bytes;
        break;
    case SIM_LOSES:
        run->rank[e->rank].lost_ns += e->bytes;
        break;
    case SIM_SENT:
        run->rank[e->rank].messages++;
        break;
    case SIM_PHASE:
        end_phase(run, e);
        break;
    default:
        break;
    }
    if (++run->events % PROGRESS_EVENTS == 0) {
        run->w->progress(run->w->progress_context, (uint64_t)PROGRESS_EVENTS * RECORD_BYTES);
    }
    return gen_workload_log_event(run->log, e, err);
}

static hpcw_status pass_time(void *context, uint64_t time_ns, hpcw_error *err) {
    const struct clog2_run *run = context;
    return gen_workload_log_passed(run->log, time_ns, err);
}

static void put_facts(const struct clog2_run *run, struct hpcw_i_json *partial) {
    const struct gen_dataset *d = run->w->dataset;
    hpcw_i_json_key_array(partial, "phases");
    for (uint32_t k = 0; k < d->load.params.phases; k++) {
        const struct clog2_phase *p = &run->phase[k];
        const uint64_t word[PHASE_WORDS] = {p->end_ns,   p->compute_ns, p->slowest_ns,   p->slowest_rank,
                                            p->messages, p->lost_ns,    p->most_lost_ns, p->most_lost_rank};
        hpcw_i_json_begin_object(partial);
        gen_partial_put_words(partial, phase_name, PHASE_WORDS, word);
        hpcw_i_json_end_object(partial);
    }
    hpcw_i_json_end_array(partial);
}

hpcw_status gen_clog2_workload_truth(const struct gen_dataset *d, const cJSON *const *partial, size_t count,
                                     struct hpcw_i_json *json, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    hpcw_i_json_put_str(json, "workload", d->workload->name);
    hpcw_i_json_key_array(json, "phases");
    for (size_t i = 0; i < count; i++) {
        const cJSON *item;
        uint64_t number = 0;
        cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(partial[i], "phases")) {
            uint64_t word[PHASE_WORDS] = {0};
            s = s == HPCW_OK ? gen_partial_words(item, phase_name, PHASE_WORDS, word, err) : s;
            hpcw_i_json_begin_object(json);
            hpcw_i_json_put_u64(json, "phase", number++);
            for (size_t k = 0; k < PHASE_WORDS; k++) {
                hpcw_i_json_put_u64(json, phase_name[k], word[k]);
            }
            hpcw_i_json_end_object(json);
        }
    }
    hpcw_i_json_end_array(json);
    return s;
}

/* ---- the file ---- */

/* Simulates into a slice that is the whole log. */
static hpcw_status fill_slice(struct clog2_run *run, hpcw_clog2_slice *slice, hpcw_error *err) {
    const struct gen_dataset *d = run->w->dataset;
    uint64_t end_ns;
    const struct sim_observer observer = {run, take_event, pass_time};
    hpcw_status s = hpcw_clog2_slice_place(slice, 0, err);
    s = s == HPCW_OK ? gen_workload_log_new(d, slice, &run->log, err) : s;
    s = s == HPCW_OK ? gen_workload_log_put_prologue(slice, d, err) : s;
    s = s == HPCW_OK ? gen_workload_run(d, &observer, &end_ns, err) : s;
    s = s == HPCW_OK ? gen_workload_log_finish(run->log, err) : s;
    gen_workload_log_free(run->log);
    run->log = NULL;
    return s == HPCW_OK ? hpcw_clog2_slice_end(slice, HPCW_CLOG2_LAST, err) : s;
}

static hpcw_status simulate(struct clog2_run *run, hpcw_clog2 *log, uint64_t *blocks, hpcw_error *err) {
    const struct gen_dataset *d = run->w->dataset;
    hpcw_clog2_slice *slice = NULL;
    *blocks = 0;
    run->rank = hpcw_i_calloc(d->ranks, sizeof *run->rank);
    run->phase = hpcw_i_calloc(d->load.params.phases, sizeof *run->phase);
    hpcw_status s = run->rank == NULL || run->phase == NULL
                        ? hpcw_i_fail_memory(err, "clog2", d->ranks, "ranks")
                        : hpcw_clog2_slice_new(log, 0, &slice, err);
    s = s == HPCW_OK ? fill_slice(run, slice, err) : s;
    if (s == HPCW_OK) {
        *blocks = hpcw_clog2_slice_blocks(slice);
    } else {
        /* Before the slice is freed, which is a failure of its own if it has not ended. */
        hpcw_clog2_abandon(log, err);
    }
    hpcw_clog2_slice_free(slice);
    return s;
}

hpcw_status gen_clog2_workload_write(const struct gen_write *w, struct hpcw_i_json *partial, hpcw_error *err) {
    struct clog2_run run = {.w = w};
    char path[4096 + GEN_UNIT_PATH];
    hpcw_clog2 *log;
    uint64_t blocks = 0;
    hpcw_clog2_options o = gen_workload_log_options(w->dataset);
    o.durability = w->durability;
    o.sink_source = w->outputs;
    (void)snprintf(path, sizeof path, "%s/" GEN_CLOG2_PATH, w->directory);
    hpcw_status s = hpcw_clog2_open(path, w->comm, &o, &log, err);
    if (s != HPCW_OK) {
        return s;
    }
    hpcw_error why;
    const bool first = hpcw_comm_process(w->comm) == 0;
    const bool good = !first || simulate(&run, log, &blocks, &why) == HPCW_OK;
    s = hpcw_clog2_close(log, blocks, err); /* of an abandoned log: why it was */
    hpcw_clog2_free(log);
    if (s == HPCW_OK && good && first) {
        put_facts(&run, partial);
    }
    hpcw_i_free(run.rank);
    hpcw_i_free(run.phase);
    return s;
}
