/* SPDX-License-Identifier: BSD-3-Clause */
/* The program that this library is loaded into: whether it is one of MPI, and of which. */
#ifndef HPCW_TRACE_PROGRAM_H
#define HPCW_TRACE_PROGRAM_H

/* The program has called MPI_Init, so its end needs no word. */
void hpcw_i_trace_program_begins(void);

#endif
