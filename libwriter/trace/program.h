/* SPDX-License-Identifier: BSD-3-Clause */
/* The program that this library is loaded into: whether it is one of MPI, and of which. */
#ifndef HPCW_TRACE_PROGRAM_H
#define HPCW_TRACE_PROGRAM_H

/* The program has called MPI_Init, so its end needs no word. */
void hpcw_i_trace_program_begins(void);

/*
 * The program, or a library that it has opened, calls MPI for the first time, at `caller`. Returns a handle of
 * dlopen for that library if it was linked with another MPI than the wrapper, after a message; otherwise NULL. The
 * first library counts: a process has one MPI at most whose calls come to the wrapper.
 */
void *hpcw_i_trace_program_other_mpi(const void *caller);

/* Ends a process whose calls can go nowhere, with a message. */
_Noreturn void hpcw_i_trace_program_stop(void);

/* If the process ends from now on, other than by a signal, it prints this line, which the caller keeps. NULL:
 * nothing. */
void hpcw_i_trace_program_records(const char *line);

#endif
