/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds out whether all processes of a job have the wrapper. Launchers can start several programs as one job, and
 * set LD_PRELOAD for only some of them. A process without the wrapper would take a collective call of the wrapper
 * for the next one of the program. Then the job hangs, or the program receives data that was not meant for it. So
 * the processes first meet outside MPI, in a directory.
 */
#ifndef HPCW_TRACE_MARKS_H
#define HPCW_TRACE_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libwriter/format/clog2/log/recording.h"

/* The decision that all processes share. */
struct hpcw_i_trace_verdict {
    bool all;                        /* all processes have the wrapper */
    struct hpcw_i_clog2_apart apart; /* how the processes with the wrapper record, if some have none */
    char path[4096];                 /* path of the log */
};

/*
 * Makes the mark of this process, and waits until one process has given the verdict whether all have a mark. That
 * happens at the latest after `wait_s` of process 0, or after twice this time if process 0 has no wrapper. Then
 * removes the mark.
 *
 * @param log      path of the log. If the job is on several hosts, the marks are beside the log if its path is
 *                 absolute, else in the working directory. If the job is on one host, they are in /tmp
 * @param verdict  out: the same on all processes that have the wrapper, except for the rank
 * @param missing  out [size]: the ranks without a mark, if this process has given the verdict; "" on all others
 * @return false: no verdict can be read or written
 */
bool hpcw_i_trace_marks_meet(const char *log, uint32_t rank, uint32_t ranks, unsigned wait_s,
                             struct hpcw_i_trace_verdict *verdict, char *missing, size_t size);

#endif
