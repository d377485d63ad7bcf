/* SPDX-License-Identifier: BSD-3-Clause */
/* F6: what can be done with the results of earlier sweeps. */
#ifndef HPCW_BENCH_REPORT_COMMAND_H
#define HPCW_BENCH_REPORT_COMMAND_H

#include <hpcw/status.h>

/* Draws the results in a file as a page; `output` "": report.html in their directory. */
hpcw_status bench_report_command(const char *results, const char *output, hpcw_error *err);

#endif
