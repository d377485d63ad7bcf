/* SPDX-License-Identifier: BSD-3-Clause */
/* The settings of the wrapper, from the environment variables of process 0. */
#ifndef HPCW_TRACE_CONFIG_H
#define HPCW_TRACE_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include <hpcw/clog2_log.h>

/* Classes of calls. HPCW_TRACE_ALSO adds classes to the recorded ones, and HPCW_TRACE_SKIP takes classes away. */
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
    HPCW_I_CLASS_INFO,
    HPCW_I_CLASSES
};

/* Names of the classes in options and variables. */
extern const char *const hpcw_i_trace_class_name[HPCW_I_CLASSES];

/* The settings. Process 0 broadcasts these bytes, so they contain no pointers. */
struct hpcw_i_trace_config {
    char path[4096]; /* path of the log */
    /* directory of local files, which hold records during the run; "": the default of each process */
    char directory[4096];
    uint64_t memory;    /* memory for records, bytes; 0: the default of hpcw_clog2_log_open */
    int clock;          /* a value of hpcw_clog2_clock */
    uint32_t wait;      /* seconds to wait for the marks of other processes (marks.h) */
    uint32_t skip;      /* bit c is set if calls of class c are not recorded */
    bool on;            /* whether recording is on from the start */
    bool named;         /* whether HPCW_TRACE_FILE names the log */
    bool clocks;        /* whether to print the offsets of the clocks at the end */
    char refused[2048]; /* a message with its NUL for each bad value; "" after the last */
};

/* Reads the settings. `child`: another MPI program has started this one (MPI_Comm_spawn), so the log's name
 * gets a number. */
void hpcw_i_trace_config_read(struct hpcw_i_trace_config *config, bool child);

#endif
