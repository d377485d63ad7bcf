/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the MPI library of a program, and the tracing library for it. Nothing is loaded into this process. */
#ifndef HPCW_TRACE_FIND_H
#define HPCW_TRACE_FIND_H

#include <hpcw/status.h>

#include "trace/options.h"

enum trace_kind {
    TRACE_UNKNOWN, /* no executable of this machine: a script, or nothing that can be started */
    TRACE_STATIC,  /* a program that loads no library */
    TRACE_DYNAMIC
};

enum { TRACE_NAME = 64 };

/* The MPI libraries that a program or library loads, also through other libraries: "libmpi.so.40",
 * "libmpich.so.12". */
struct trace_mpi {
    size_t count;
    char name[8][TRACE_NAME];
};

/* Sets `path` to the file that execvp would start. HPCW_EIO: there is no such file. */
hpcw_status trace_find_program(const char *name, char path[TRACE_PATH], hpcw_error *err);

/* Finds the kind of a file, and the MPI libraries that it loads. If the loader cannot load a library of the file,
 * *mpi is empty and `refusal` says why; otherwise `refusal` is "". Fails for errors of the system, as *mpi is not
 * known then. */
hpcw_status trace_look_at(const char *path, enum trace_kind *kind, struct trace_mpi *mpi,
                          char refusal[TRACE_PATH], hpcw_error *err);

/*
 * Sets `path` to the tracing library to preload into a program with `mpi`. This is `given`; if `given` is "",
 * it is the first library of this installation with the same MPI, or for a program without MPI, the first
 * library. HPCW_EIO: there is no tracing library. HPCW_ENOTSUP: no tracing library has this MPI.
 */
hpcw_status trace_find_library(const char *program, const struct trace_mpi *mpi, const char *given,
                               char path[TRACE_PATH], hpcw_error *err);

#endif
