/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the log of a workload. One process simulates, sorts and writes; the others have nothing to do. */
#include <stdio.h>

#include "gen/format/clog2.h"
#include "gen/format/clog2_facts.h"
#include "gen/format/clog2_log.h"
#include "gen/spec/costs.h"
#include "libwriter/base/status.h"

struct clog2_run {
    const struct gen_write *w;
    struct gen_clog2_log *log;
    struct gen_clog2_facts *facts;
    struct gen_costs costs;
    uint64_t events;
};

static hpcw_status take_event(void *context, const struct sim_event *e, hpcw_error *err) {
    enum { PROGRESS_EVENTS = 1 << 16, RECORD_BYTES = 40 };
    struct clog2_run *run = context;
    if (++run->events % PROGRESS_EVENTS == 0) {
        run->w->progress(run->w->progress_context, (uint64_t)PROGRESS_EVENTS * RECORD_BYTES);
    }
    const hpcw_status s = gen_clog2_facts_event(run->facts, e, err);
    return s == HPCW_OK ? gen_clog2_log_event(run->log, e, err) : s;
}

static hpcw_status pass_time(void *context, uint64_t time_ns, hpcw_error *err) {
    const struct clog2_run *run = context;
    return gen_clog2_log_passed(run->log, time_ns, err);
}

/* Simulates the run and puts its events into a slice that covers the whole log. */
static hpcw_status fill_slice(struct clog2_run *run, hpcw_clog2_slice *slice, hpcw_error *err) {
    const struct gen_dataset *d = run->w->dataset;
    const struct sim_observer observer = {run, take_event, pass_time};
    hpcw_status s = hpcw_clog2_slice_place(slice, 0, err);
    s = s == HPCW_OK ? gen_clog2_log_new(d, slice, &run->log, err) : s;
    s = s == HPCW_OK ? gen_clog2_log_put_prologue(slice, d, err) : s;
    s = s == HPCW_OK ? gen_workload_run(d, &observer, &run->costs, err) : s;
    s = s == HPCW_OK ? gen_clog2_log_finish(run->log, err) : s;
    gen_clog2_log_free(run->log);
    run->log = NULL;
    return s == HPCW_OK ? hpcw_clog2_slice_end(slice, HPCW_CLOG2_LAST, err) : s;
}

static hpcw_status simulate(struct clog2_run *run, hpcw_clog2 *log, uint64_t *blocks, hpcw_error *err) {
    const struct gen_dataset *d = run->w->dataset;
    hpcw_clog2_slice *slice = NULL;
    *blocks = 0;
    hpcw_status s = gen_clog2_facts_new(d, &run->facts, err);
    s = s == HPCW_OK ? hpcw_clog2_slice_new(log, 0, &slice, err) : s;
    s = s == HPCW_OK ? fill_slice(run, slice, err) : s;
    if (s == HPCW_OK) {
        *blocks = hpcw_clog2_slice_blocks(slice);
    } else {
        /* Abandons the log before its slice is freed. Freeing an unfinished slice would be another failure. */
        hpcw_clog2_abandon(log, err);
    }
    hpcw_clog2_slice_free(slice);
    return s;
}

hpcw_status gen_clog2_write(const struct gen_write *w, struct hpcw_i_json *partial, hpcw_error *err) {
    struct clog2_run run = {.w = w};
    char path[4096 + GEN_UNIT_PATH];
    hpcw_clog2 *log;
    uint64_t blocks = 0;
    hpcw_clog2_options o = gen_clog2_log_options(w->dataset);
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
    s = hpcw_clog2_close(log, blocks, err); /* fails if the log was abandoned; err has the reason */
    hpcw_clog2_free(log);
    if (s == HPCW_OK && good && first) {
        s = gen_clog2_facts_put(run.facts, partial, err);
        gen_costs_put(&run.costs, partial);
    }
    gen_clog2_facts_free(run.facts);
    return s;
}
