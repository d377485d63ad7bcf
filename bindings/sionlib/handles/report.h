/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports of errors. SIONlib prints errors; this library calls a function of the program, see
 * sion_hpcw_on_error. */
#ifndef HPCW_BINDINGS_SIONLIB_HANDLES_REPORT_H
#define HPCW_BINDINGS_SIONLIB_HANDLES_REPORT_H

#include <hpcw/comm.h>

/* Reports an error that a check of this interface found. */
void sionlib_report(const char *format, ...) HPCW_PRINTF(1, 2);

/* Reports a call that this library does not support. The report goes to stderr if sion_hpcw_on_error was not
 * called. */
void sionlib_refuse(const char *format, ...) HPCW_PRINTF(1, 2);

/* Reports an error of hpcw. After a collective call only the process that failed reports. */
void sionlib_report_error(const hpcw_comm *comm, const hpcw_error *err);

#endif
