/* SPDX-License-Identifier: BSD-3-Clause */
/* hpcw-linktest, the command. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench/linktest/options.h"
#include "bench/linktest/run.h"
#include "bench/measure/program.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "ui/cli/text.h"

static hpcw_status check(const struct bench_linktest_options *o, const struct bench_processes *processes,
                         hpcw_error *err) {
    int count = processes->count;
    if (o->bidirectional && o->unidirectional) {
        return hpcw_i_fail(err, HPCW_EINVAL, "expected --bidirectional or --unidirectional, got both");
    }
    if (count == 1) {
        return hpcw_i_fail(err, HPCW_EINVAL, "expected at least 2 processes, got 1: start it with mpiexec");
    }
    if (count % 2 != 0) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "expected an even number of processes, as all are in pairs in each step, got %d: "
                           "start %d or %d",
                           count, count - 1, count + 1);
    }
    for (size_t i = 1; i < o->sizes.count; i++) {
        for (size_t k = 0; k < i; k++) {
            if (o->sizes.at[i] == o->sizes.at[k]) {
                char size[UI_TEXT_SIZE];
                return hpcw_i_fail(err, HPCW_EINVAL, "--size-messages: expected different sizes, got %s twice",
                                   ui_text_size(size, o->sizes.at[i]));
            }
        }
    }
    return HPCW_OK;
}

/* Makes the name of a result. With several sizes, links.sion becomes links.64K.sion. */
static hpcw_status name(char path[BENCH_PATH], const struct bench_linktest_options *o, uint64_t size,
                        hpcw_error *err) {
    char text[UI_TEXT_SIZE];
    const char *slash = strrchr(o->output, '/');
    const char *file = slash == NULL ? o->output : slash + 1;
    const char *dot = strrchr(file, '.');
    size_t stem = dot == NULL || dot == file ? strlen(o->output) : (size_t)(dot - o->output);
    int n = o->sizes.count == 1 ? snprintf(path, BENCH_PATH, "%s", o->output)
                                : snprintf(path, BENCH_PATH, "%.*s.%s%s", (int)stem, o->output,
                                           ui_text_size(text, size), o->output + stem);
    if (n < 0 || n >= BENCH_PATH) {
        return hpcw_i_fail(err, HPCW_ERANGE, "--output: expected at most %d characters, got %d", BENCH_PATH - 1,
                           n);
    }
    return HPCW_OK;
}

static uint64_t measurements(const struct bench_linktest *l) {
    const hpcw_linktest_params *p = &l->params;
    uint64_t of_steps = (uint64_t)hpcw_linktest_steps(p) * (p->serial ? p->tasks / 2 : 1);
    return l->options->sizes.count * hpcw_linktest_permutations(p) *
           (of_steps + p->all_to_all + (uint64_t)l->slow_count);
}

static hpcw_status run(struct bench_call *call, hpcw_error *err) {
    const struct bench_linktest_options *o = call->options;
    struct bench_linktest l;
    /* Compares only the number of sizes between processes. hpcw_linktest_open compares the other options. */
    struct hpcw_i_same same = {.name = "number of sizes", .number = o->sizes.count};
    hpcw_status s = check(o, &call->processes, err);
    s = hpcw_i_agree_same(call->processes.comm, s, "command line", &same, 1, NULL, err);
    if (s != HPCW_OK) {
        return s;
    }
    s = bench_linktest_prepare(&l, o, &call->processes, err);
    if (s == HPCW_OK && call->processes.process == 0 && !o->quiet) {
        bench_progress_begin(&l.progress, measurements(&l));
    }
    const bool json = s == HPCW_OK && o->json && call->processes.process == 0;
    if (json) {
        s = bench_linktest_begin_json(&l, err);
    }
    s = hpcw_i_agree(call->processes.comm, s, NULL, err);
    for (size_t i = 0; s == HPCW_OK && i < o->sizes.count; i++) {
        char path[BENCH_PATH];
        s = hpcw_i_agree(call->processes.comm, name(path, o, o->sizes.at[i], err), NULL, err);
        s = s == HPCW_OK ? bench_linktest_measure(&l, o->sizes.at[i], path, err) : s;
    }
    if (json) {
        s = bench_linktest_end_json(&l, s, err);
    }
    bench_linktest_free(&l);
    return s;
}

int main(int argc, char **argv) {
    static const struct bench_command_row row[] = {{run, true}};
    static struct bench_linktest_options o;
    return bench_program_run(argc, argv, &bench_linktest_program, &o, row);
}
