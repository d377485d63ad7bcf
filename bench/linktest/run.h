/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures one result: all pairs in all permutations, with messages of one size. */
#ifndef HPCW_BENCH_LINKTEST_RUN_H
#define HPCW_BENCH_LINKTEST_RUN_H

#include <stddef.h>
#include <stdint.h>

#include "bench/linktest/exchange.h"
#include "bench/linktest/hosts.h"
#include "bench/linktest/options.h"
#include "bench/linktest/progress.h"
#include "bench/measure/json.h"
#include "bench/measure/processes.h"

struct bench_linktest {
    const struct bench_linktest_options *options;
    const struct bench_processes *processes;
    struct bench_hosts hosts;
    hpcw_linktest_params params; /* parameters of the result; message_size changes */
    struct bench_exchange exchange;
    struct bench_progress progress; /* shown by process 0 */
    uint64_t *time_ps;              /* [steps] measured times of this process, ps */
    hpcw_linktest_slow *slow;       /* [slow_count] slowest connections of the last permutation */
    uint64_t *again_ps;             /* [slow_count] times of the retest of `slow`, ps */
    size_t slow_count;
    char last[BENCH_TIME];  /* time of day that was last written to a result */
    uint64_t shown;         /* number of permutations that were printed */
    struct bench_json json; /* process 0: the output with the option --json */
};

/* Commit of the tree that this program was built from; "": none. */
extern const char bench_linktest_git_hash[];

/* Allocates the memory of a run, once for all message sizes. Collective. Call bench_linktest_free also after a
 * failure. */
hpcw_status bench_linktest_prepare(struct bench_linktest *l, const struct bench_linktest_options *options,
                                   const struct bench_processes *processes, hpcw_error *err);
void bench_linktest_free(struct bench_linktest *l);

/* Measures with messages of `size` bytes, shows each permutation, and writes the result. Collective. */
hpcw_status bench_linktest_measure(struct bench_linktest *l, uint64_t size, const char *path, hpcw_error *err);

/* Process 0 prints the last permutation of the result `path`, with the slowest connections l->slow, as rows of a
 * table, or adds it to l->json. With --quiet, prints no table. */
void bench_linktest_show(struct bench_linktest *l, const char *path, const hpcw_linktest_range *times,
                         const hpcw_linktest_range *all_to_all);

/* Process 0 begins and ends the JSON document l->json. */
hpcw_status bench_linktest_begin_json(struct bench_linktest *l, hpcw_error *err);
hpcw_status bench_linktest_end_json(struct bench_linktest *l, hpcw_status s, hpcw_error *err);

#endif
