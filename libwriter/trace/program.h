/* SPDX-License-Identifier: BSD-3-Clause */
/* The program that this library is loaded into: whether it is one of MPI, and of which. */
#ifndef HPCW_TRACE_PROGRAM_H
#define HPCW_TRACE_PROGRAM_H

/* The program has called MPI_Init, so its end needs no word. */
void hpcw_i_trace_program_begins(void);

/* If the process ends from now on, other than by a signal, it prints this line, which the caller keeps. NULL: nothing. */
void hpcw_i_trace_program_records(const char *line);

#endif
