/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds which MPI a program has, and the tracing library for it. Nothing is loaded into this process. */
#ifndef HPCW_TRACE_FIND_H
#define HPCW_TRACE_FIND_H

#include <hpcw/status.h>

#include "trace/options.h"

enum trace_kind {
    TRACE_UNKNOWN, /* no executable of this machine: a script, or nothing that can be started */
    TRACE_STATIC,  /* it loads no library */
    TRACE_DYNAMIC
};

enum { TRACE_NAME = 64 };

/* The MPI libraries that something is linked with, itself or through others: "libmpi.so.40", "libmpich.so.12". */
struct trace_mpi {
    size_t count;
    char name[8][TRACE_NAME];
};

/* Sets *path to the file that execvp would start. HPCW_EIO: there is none. */
hpcw_status trace_find_program(const char *name, char path[TRACE_PATH], hpcw_error *err);

/* Returns the kind of a file, and sets *mpi to its MPI. If the loader cannot load one of its libraries, *mpi is empty
 * and `refusal` says why; otherwise `refusal` is "". */
enum trace_kind trace_look_at(const char *path, struct trace_mpi *mpi, char refusal[TRACE_PATH]);

/*
 * Sets *path to the library to preload into a program with `mpi`. It is `given`, or, if this is "", the first
 * library of this installation with the same MPI. For a program without MPI, it is the first of all. HPCW_EIO:
 * there is no library. HPCW_ENOTSUP: none has this MPI.
 */
hpcw_status trace_find_library(const char *program, const struct trace_mpi *mpi, const char *given,
                               char path[TRACE_PATH], hpcw_error *err);

#endif
