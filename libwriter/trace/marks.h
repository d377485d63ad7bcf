/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds out whether all processes of a job have the wrapper. A launcher can start several programs as one job,
 * and set LD_PRELOAD for only some of them. A collective call of the wrapper would meet a call of the program
 * on processes without the wrapper, and the job would hang or get wrong data. So each process first makes a
 * mark in a directory. One process counts the marks and writes the result, the verdict, which all read.
 */
#ifndef HPCW_TRACE_MARKS_H
#define HPCW_TRACE_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libwriter/format/clog2/log/recording.h"

/* The result of counting the marks, which all processes with the wrapper get. */
struct hpcw_i_trace_verdict {
    bool all; /* whether all processes have the wrapper */
    /* how to record without collective calls, if some processes have no wrapper */
    struct hpcw_i_clog2_apart apart;
    char path[4096]; /* path of the log */
};

/*
 * Makes the mark of this process, waits for the verdict, and removes the mark. Process 0 writes the verdict when
 * all processes have marks, or after `wait_s`. If process 0 has no wrapper, another process does so after twice
 * that time.
 *
 * @param log      path of the log. Marks are in /tmp if the job is on one host. Otherwise they are beside the log
 *                 if its path is absolute, else in the working directory
 * @param verdict  out: the same on all processes with the wrapper, except for apart.rank
 * @param missing  out [size]: the ranks without a mark, on the process that wrote the verdict; "" on all others
 * @return false: no verdict can be read or written
 */
bool hpcw_i_trace_marks_meet(const char *log, uint32_t rank, uint32_t ranks, unsigned wait_s,
                             struct hpcw_i_trace_verdict *verdict, char *missing, size_t size);

#endif
