/* SPDX-License-Identifier: BSD-3-Clause */
/* Metadata rates of task-local files and of one container, by the number of tasks. They are part of struct
 * bench_results. */
#ifndef HPCW_BENCH_REPORT_METADATA_H
#define HPCW_BENCH_REPORT_METADATA_H

#include <stdio.h>

#include "bench/report/results.h"
#include "ui/page/page.h"

extern const char *const bench_operation_name[BENCH_OPERATIONS];

/* bench_metadata_rate computes the rates of a row from its trials. bench_metadata_conclude computes the rates
 * of all rows, and the verdict. HPCW_ENOMEM. */
hpcw_status bench_metadata_rate(struct bench_metadata *m, hpcw_error *err);
hpcw_status bench_metadata_conclude(struct bench_results *r, hpcw_error *err);

/* Returns the tasks per second of one trial. */
double bench_metadata_rate_of(const struct bench_metadata *m, const struct bench_metadata_trial *t,
                              enum bench_operation k);

hpcw_status bench_metadata_print(const struct bench_results *r, FILE *stream, hpcw_error *err);

/* Draws a chart of all rates, and a table. */
hpcw_status bench_metadata_draw(const struct bench_results *r, struct ui_page *page, hpcw_error *err);

void bench_metadata_free(struct bench_results *r);

#endif
