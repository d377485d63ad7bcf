/* SPDX-License-Identifier: BSD-3-Clause */
/* What the environment of process 0 asks for. */
#ifndef HPCW_TRACE_CONFIG_H
#define HPCW_TRACE_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include <hpcw/clog2_log.h>

/* What a call is about; HPCW_TRACE_SKIP leaves classes out. */
enum hpcw_i_trace_class {
    HPCW_I_CLASS_MESSAGE,
    HPCW_I_CLASS_COLLECTIVE,
    HPCW_I_CLASS_COMMUNICATOR,
    HPCW_I_CLASS_TOPOLOGY,
    HPCW_I_CLASS_GROUP,
    HPCW_I_CLASS_DATATYPE,
    HPCW_I_CLASS_ATTRIBUTE,
    HPCW_I_CLASS_ENVIRONMENT,
    HPCW_I_CLASS_FILE,
    HPCW_I_CLASS_WINDOW,
    HPCW_I_CLASS_SPAWN,
    HPCW_I_CLASSES
};

/* The same bytes on all processes; no pointers. */
struct hpcw_i_trace_config {
    char path[4096];   /* of the log */
    uint64_t memory;   /* bytes; 0: the library's default */
    int clock;         /* an hpcw_clog2_clock */
    uint32_t skip;     /* one bit for each class */
    bool on;           /* at the start */
    bool clocks;       /* say at the end what was found out about them */
    char refused[256]; /* what could not be understood, "" if all could; the default was taken */
};

/* `child`: this program was started by another MPI program, which has the plain name. */
void hpcw_i_trace_config_read(struct hpcw_i_trace_config *config, bool child);

#endif
