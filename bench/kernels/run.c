/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/kernels/run.h"

#include <stdio.h>

#include "bench/kernels/report.h"
#include "bench/kernels/table.h"
#include "bench/measure/machine.h"
#include "bench/measure/timer.h"
#include "bench/measure/workdir.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"

/* Measures one kernel, or says in the result why it is skipped. */
static hpcw_status measure(const struct bench_kernel *k, const struct bench_site *place, size_t repeat,
                           struct bench_result *r, hpcw_error *err) {
    *r = (struct bench_result){.name = k->name,
                               .what = k->what,
                               .item = k->item,
                               .subject = &k->subject,
                               .figure = k->figure,
                               .figures = k->figures};
    int processes = place->processes->count;
    if (k->needs == BENCH_ONE_PROCESS && processes > 1) {
        (void)snprintf(r->skipped, sizeof r->skipped, "one process does this: hpcw-kernels --only %s", k->name);
        return HPCW_OK;
    }
    if (k->needs == BENCH_SEVERAL_PROCESSES && processes == 1) {
        (void)snprintf(r->skipped, sizeof r->skipped,
                       "needs several processes: mpirun -n 2 hpcw-kernels --only %s", k->name);
        return HPCW_OK;
    }
    void *work = NULL;
    hpcw_status s = k->setup(place, k->parameter, &work, &r->amount, err);
    s = hpcw_i_agree(place->processes->comm, s, NULL, err);
    if (s == HPCW_ENOTSUP) {
        (void)snprintf(r->skipped, sizeof r->skipped, "%s", err->message);
        s = HPCW_OK;
    } else if (s == HPCW_OK) {
        s = bench_timer_measure(&k->subject, work, place->processes, repeat, &r->samples, err);
    }
    k->teardown(work);
    return s;
}

hpcw_status bench_kernels_run(const struct bench_kernels_options *o, const struct bench_processes *processes,
                              hpcw_error *err) {
    struct bench_run run = {.processes = processes, .repeat = o->repeat, .scale = o->scale, .warm = o->warm};
    char directory[BENCH_WORKDIR] = "";
    size_t kernels = 0;
    size_t done = 0;
    while (bench_kernel[kernels] != NULL) {
        kernels++;
    }
    bool speaks = processes->process == 0;
    struct bench_result *results = hpcw_i_calloc(kernels, sizeof *results);
    hpcw_status s = results == NULL ? hpcw_i_fail_memory(err, NULL, kernels, "results") : HPCW_OK;
    if (s == HPCW_OK) {
        s = bench_machine_describe(&run.machine, o->dir, err);
    }
    s = hpcw_i_agree(processes->comm, s, NULL, err);
    if (s == HPCW_OK) {
        s = bench_workdir_make(processes, o->dir, directory, err);
    }
    if (s != HPCW_OK) {
        goto done;
    }
    struct bench_site place = {.processes = processes,
                               .directory = directory,
                               .block_size = run.machine.block_size,
                               .hpcgen = o->hpcgen[0] == '\0' ? NULL : o->hpcgen,
                               .scale = o->scale,
                               .warm = o->warm};
    if (speaks && !o->quiet) {
        s = bench_report_head(stdout, &run, err);
        (void)fflush(stdout);
    }
    s = hpcw_i_agree(processes->comm, s, NULL, err);
    for (size_t i = 0; s == HPCW_OK && i < kernels; i++) {
        if (o->only != 0 && (o->only >> i & 1) == 0) {
            continue;
        }
        s = measure(bench_kernel[i], &place, o->repeat, &results[done], err);
        if (s == HPCW_OK && speaks && !o->quiet) {
            s = bench_report_result(stdout, &results[done], err);
            (void)fflush(stdout);
        }
        done++;
        s = hpcw_i_agree(processes->comm, s, NULL, err);
    }
    /* What was measured before a failure or ^C is kept; only process 0 writes reports. */
    if (speaks && o->json[0] != '\0') {
        hpcw_error e;
        size_t complete = s == HPCW_OK ? done : done - (done > 0);
        hpcw_status r = bench_report_json(o->json, &run, results, complete, &e);
        if (s == HPCW_OK && r != HPCW_OK) {
            s = r;
            *err = e;
        }
    }
    s = hpcw_i_agree(processes->comm, s, NULL, err);
done:
    bench_workdir_remove(processes, directory);
    for (size_t i = 0; i < done; i++) {
        bench_samples_free(&results[i].samples);
    }
    hpcw_i_free(results);
    return s;
}
