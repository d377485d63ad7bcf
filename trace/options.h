/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of hpcw-trace, as a table. */
#ifndef HPCW_TRACE_OPTIONS_H
#define HPCW_TRACE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "ui/cli/options.h"

enum { TRACE_PATH = 4096 };

/* Values for the environment variables of the tracing library. A variable stays as it is unless its option is
 * given. */
struct trace_options {
    char output[TRACE_PATH];    /* HPCW_TRACE_FILE */
    char directory[TRACE_PATH]; /* HPCW_TRACE_DIR */
    uint64_t memory;            /* HPCW_TRACE_MEMORY, bytes */
    /* a bit per class of calls, 0: not given; `also`: HPCW_TRACE_ALSO, `skip`: HPCW_TRACE_SKIP, `only` sets both */
    uint64_t only, also, skip;
    bool paused;   /* HPCW_TRACE=0 */
    uint32_t wait; /* HPCW_TRACE_WAIT, seconds; 0: not given */
    int clock;     /* HPCW_TRACE_CLOCK, an index of trace_clock */
    bool clocks;   /* HPCW_TRACE_CLOCKS=1 */
    char library[TRACE_PATH];
};

/* Words of --clock, NULL-terminated. */
extern const char *const trace_clock[];

/* The program for ui/cli. Its options are stored in a struct trace_options. */
extern const struct ui_program trace_program;

#endif
