/* SPDX-License-Identifier: BSD-3-Clause */
/* F6: what can be done with the results of sweeps that are over. */
#ifndef HPCW_BENCH_REPORT_COMMAND_H
#define HPCW_BENCH_REPORT_COMMAND_H

#include <hpcw/status.h>

/* Draws the results in a file as a page; `output` "": report.html beside them. */
hpcw_status bench_report_command(const char *results, const char *output, hpcw_error *err);

#endif
