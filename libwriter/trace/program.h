/* SPDX-License-Identifier: BSD-3-Clause */
/* The program that this library is loaded into: whether it uses MPI, and which one. */
#ifndef HPCW_TRACE_PROGRAM_H
#define HPCW_TRACE_PROGRAM_H

/* The program has called MPI_Init, so that no message is needed at its end. */
void hpcw_i_trace_program_begins(void);

/*
 * Checks the first call of MPI from the program or a library that it has opened. `caller` is an address there. If
 * the library was linked with another MPI than the wrapper, prints a message and returns a handle of dlopen for
 * it; otherwise returns NULL. The first library decides: a process has at most one MPI whose calls come to the
 * wrapper.
 */
void *hpcw_i_trace_program_other_mpi(const void *caller);

/* Ends a process whose calls cannot be passed on, with a message. */
_Noreturn void hpcw_i_trace_program_stop(void);

/* Sets the line that is printed if the process ends from now on, except by a signal. The caller keeps the line.
 * NULL: nothing is printed. */
void hpcw_i_trace_program_records(const char *line);

#endif
