/* SPDX-License-Identifier: BSD-3-Clause */
/* A whole sweep, from its options to its results. */
#include "bench/sweep/sweep.h"

#include <stdio.h>

#include "bench/measure/timer.h"
#include "bench/sweep/state.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"

static hpcw_status measure(struct bench_sweep_state *w, const char *directory, hpcw_error *err) {
    uint64_t largest = 1;
    for (size_t i = 0; i < w->o->records.count; i++) {
        largest = w->o->records.at[i] > largest ? w->o->records.at[i] : largest;
    }
    if (w->o->per_rank != 0 && largest > w->o->per_rank) {
        largest = w->o->per_rank;
    }
    hpcw_status s = bench_data_init(&w->data, w->o->seed, largest, err);
    s = hpcw_i_agree(w->processes->comm, s, NULL, err);
    if (s == HPCW_OK) {
        s = bench_sweep_settle_in(w, directory, err);
    }
    if (s == HPCW_OK) {
        if (w->processes->process == 0) {
            bench_sweep_try_direct(w, w->no_direct);
        }
        s = hpcw_i_comm_bcast(w->processes->comm, w->no_direct, sizeof w->no_direct, 0, err);
    }
    if (s == HPCW_OK) {
        s = bench_sweep_limit_sizes(w, err);
    }
    if (s == HPCW_OK) {
        s = bench_sweep_plan(w->o, w->no_direct, w->bytes, w->r, &w->planned, err);
        s = hpcw_i_agree(w->processes->comm, s, NULL, err);
    }
    if (s == HPCW_OK) {
        s = bench_sweep_allocate(w, err);
    }
    if (s == HPCW_OK && w->o->resume) {
        s = bench_sweep_resume(w, err);
    }
    char small[BENCH_REASON];
    if (s == HPCW_OK && w->processes->process == 0 && !w->o->quiet && bench_sweep_is_small(w, small)) {
        (void)fprintf(stderr, "hpcw-bench: %s\n", small);
    }
    if (s == HPCW_OK && !w->resumed) {
        s = hpcw_i_agree(w->processes->comm, bench_sweep_room(w, w->directory, &w->r->point[0], err), NULL,
                         err);
        s = s == HPCW_OK ? bench_sweep_probe(w, err) : s;
    }
    if (s == HPCW_OK) {
        s = bench_sweep_rounds(w, err);
    }
    return s;
}

/* Fails if the sweep has points but has measured none of them. */
static hpcw_status expect_some(const struct bench_results *r, const char *directory, hpcw_error *err) {
    for (size_t i = 0; i < r->points; i++) {
        if (r->point[i].fate == BENCH_MEASURED) {
            return HPCW_OK;
        }
    }
    return r->points == 0 ? HPCW_OK
                          : hpcw_i_fail(err, HPCW_ENOTSUP, "%s: nothing was measured: %s: %s", directory,
                                        r->point[0].id, r->point[0].reason);
}

hpcw_status bench_sweep(const struct bench_options *options, const char *directory, const char *command,
                        const struct bench_processes *processes, bool *failed, hpcw_error *err) {
    struct bench_results results = {0};
    struct bench_options own = *options; /* all processes use the options of process 0 */
    struct bench_sweep_state w = {
        .o = &own, .processes = processes, .r = &results, .output.lock = -1, .begin_ns = bench_timer_now()};
    *failed = false;
    hpcw_status s = hpcw_i_comm_bcast(processes->comm, &own, sizeof own, 0, err);
    w.random = own.seed;
    if (s == HPCW_OK) {
        s = bench_sweep_describe(&w, directory, command, err);
        s = hpcw_i_agree(processes->comm, s, NULL, err);
    }
    if (s == HPCW_OK && own.resume && own.output[0] == '\0') {
        s = hpcw_i_fail(err, HPCW_EINVAL,
                        "--resume: expected --out DIR, where the interrupted sweep has its results");
    }
    if (s == HPCW_OK && own.dry_run) {
        s = bench_sweep_dry_run(&w, directory, err);
        goto done;
    }
    if (s == HPCW_OK && processes->process == 0) {
        s = bench_output_make(&own, &results, &w.output, err);
    }
    s = hpcw_i_agree(processes->comm, s, NULL, err);
    if (s != HPCW_OK) {
        goto done;
    }
    if (own.metadata) {
        s = bench_sweep_settle_in(&w, directory, err);
        s = s == HPCW_OK ? bench_sweep_metadata(&own, w.directory, w.begin_ns, processes, &results, err) : s;
    } else {
        s = measure(&w, directory, err);
    }
    bench_workdir_remove(processes, w.directory);
    int signal = bench_sweep_signalled(&w);
    char why[sizeof results.stopped] = "";
    if (signal != 0) {
        (void)snprintf(why, sizeof why, "interrupted (signal %d)", signal);
    }
    if (s == HPCW_OK) {
        s = bench_sweep_conclude(&w, why, err);
    }
    for (size_t i = 0; i < results.points; i++) {
        *failed = *failed || results.point[i].fate == BENCH_FAILED;
    }
    for (size_t i = 0; i < results.metadatas; i++) {
        *failed = *failed || results.metadata[i].reason[0] != '\0';
    }
    if (s == HPCW_OK && processes->process == 0) {
        s = bench_output_write(&results, &w.output, err);
        s = s == HPCW_OK ? bench_output_draw(&results, &w.output, err) : s;
        if (s == HPCW_OK && !own.quiet && !bench_output_is_there(&w.output)) {
            (void)fprintf(
                stderr,
                "hpcw-bench: %s: this directory was renamed during the sweep, and has the results under "
                "its new name\n",
                w.output.path);
        }
        if (s == HPCW_OK && own.json) {
            s = bench_results_write_json(&results, NULL, NULL, err);
        } else if (s == HPCW_OK && !own.quiet) {
            (void)printf("results: %s\n\n", w.output.path);
            s = bench_output_print(&results, stdout, err);
        }
        if (s == HPCW_OK && signal != 0 && !own.metadata && !own.quiet) {
            const struct bench_runs runs = bench_results_runs(&results);
            char go_on[BENCH_RESUME];
            (void)fprintf(stderr, "hpcw-bench: interrupted after %zu of %zu runs; %s\n", runs.made,
                          runs.planned, bench_results_resume(&results, w.output.path, go_on));
        }
        s = s == HPCW_OK && signal == 0 && !*failed ? expect_some(&results, directory, err) : s;
    }
    s = hpcw_i_agree(processes->comm, s, NULL, err);
done:
    bench_output_close(&w.output, s != HPCW_OK);
    bench_data_free(&w.data);
    hpcw_i_free(w.planned);
    bench_results_free(&results);
    return s;
}
