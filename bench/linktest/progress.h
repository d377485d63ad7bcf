/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress of hpcw-linktest: a line on stderr now and then, between two measurements. The display of ui/cli has
 * a thread, which would take a processor from a process that measures.
 */
#ifndef HPCW_BENCH_LINKTEST_PROGRESS_H
#define HPCW_BENCH_LINKTEST_PROGRESS_H

#include <stdint.h>

struct bench_progress {
    uint64_t done, total; /* measurements; total 0: nothing is shown */
    uint64_t begin_ns, next_ns;
};

void bench_progress_begin(struct bench_progress *p, uint64_t total);

/* Call it at the begin of each measurement. Prints the progress if a line is due. */
void bench_progress_next(struct bench_progress *p);

#endif
