/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds out whether the program into which the wrapper is loaded uses MPI, and which one. */
#ifndef HPCW_TRACE_PROGRAM_H
#define HPCW_TRACE_PROGRAM_H

/* Tells that the program has called MPI_Init of the wrapper, so that no missing call is reported at the end. */
void hpcw_i_trace_program_begins(void);

/*
 * Checks the first call of MPI. `caller` is an address in the program, or in a library that it opened. If that
 * library was linked with another MPI than the wrapper, prints a message and returns a handle of dlopen for
 * it; otherwise returns NULL. The first call decides, as a process has at most one MPI whose calls come to the
 * wrapper.
 */
void *hpcw_i_trace_program_other_mpi(const void *caller);

/* Ends the process with a message, as its calls cannot be passed on to another MPI. */
_Noreturn void hpcw_i_trace_program_stop(void);

/* Sets the line that is printed if the process ends, except by a signal. NULL: nothing is printed. The line
 * must exist until then. */
void hpcw_i_trace_program_records(const char *line);

#endif
