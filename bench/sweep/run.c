/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a point, or its ceiling (plain writes of the same bytes): writes the files, measures, removes them. */
#include <string.h>

#include "bench/layout/layout.h"
#include "bench/measure/machine.h"
#include "bench/measure/timer.h"
#include "bench/sweep/state.h"
#include "libwriter/comm/agree.h"

/* Removes the files of a run. Collective. */
static hpcw_status clear(struct bench_sweep_state *w, hpcw_error *err) {
    hpcw_error e;
    hpcw_status s =
        hpcw_i_agree(w->processes->comm, HPCW_OK, NULL, &e); /* no process uses the files any more */
    if (s == HPCW_OK && w->processes->process == 0) {
        s = bench_workdir_clear(w->directory, &e);
    }
    s = hpcw_i_agree(w->processes->comm, s, NULL, &e);
    if (s != HPCW_OK) {
        *err = e;
    }
    return s;
}

/* Touches as much memory as the page cache will take for the files. Without this, plain writes were up to seven
 * times as slow under a hypervisor. Touching more made runs less even. */
static void warm(const struct bench_sweep_state *w, const struct bench_point *p) {
    const uint64_t processes = (uint64_t)w->processes->count;
    bench_machine_warm(p->bytes / processes, (unsigned)w->processes->count / (unsigned)w->processes->hosts);
}

hpcw_status bench_sweep_run(struct bench_sweep_state *w, const struct bench_point *p, bool ceiling,
                            struct bench_trial *t, hpcw_error *err) {
    struct bench_shape shape = {.layout = p->layout,
                                .mode = p->mode,
                                .block_size = p->block_size,
                                .record_size = p->record_size,
                                .rank_size = p->rank_size,
                                .ranks = p->ranks,
                                .files = p->files,
                                .writers = w->o->writers,
                                .readers = w->o->readers,
                                .stonewall_ns = w->r->stonewall_ns,
                                .seed = w->o->seed};
    struct bench_work work;
    struct bench_sample sample;
    hpcw_status s = bench_work_init(&work, &shape, ceiling, w->processes, w->directory, &w->data, err);
    s = hpcw_i_agree(w->processes->comm, s, NULL, err);
    if (s == HPCW_OK) {
        warm(w, p);
        s = bench_timer_run(&bench_work_side, &work, w->processes, &sample, err);
    }
    if (s == HPCW_OK && !ceiling && w->o->verify) {
        s = bench_work_check(&work, err);
        s = hpcw_i_agree(w->processes->comm, s, NULL, err);
    }
    struct bench_sample reading = {0};
    if (s == HPCW_OK && !ceiling && w->o->read) {
        s = bench_timer_run(&bench_work_read_side, &work, w->processes, &reading, err);
    }
    bench_work_free(&work);
    hpcw_error e;
    s = bench_first_failure(s, clear(w, &e), err, &e);
    if (s == HPCW_OK) {
        *t = (struct bench_trial){.total_ns = sample.reached_ns[BENCH_CLOSE],
                                  .written_ns = sample.reached_ns[BENCH_WRITE],
                                  .read_ns = reading.total_ns,
                                  .read_bytes = reading.size_bytes,
                                  .others = sample.others};
        memcpy(t->first_ns, sample.first_ns, sizeof t->first_ns);
        memcpy(t->last_ns, sample.phase_ns, sizeof t->last_ns);
        memcpy(t->quartile_ns, sample.quartile_ns, sizeof t->quartile_ns);
        t->bytes = w->r->stonewall_ns == 0 ? 0 : sample.size_bytes;
        t->slowest_process = sample.slowest;
        if (w->processes->hosts > 1) {
            memcpy(t->slowest_host, w->processes->name[bench_processes_host(w->processes, sample.slowest)],
                   sizeof t->slowest_host);
        }
    }
    return s;
}
