/* SPDX-License-Identifier: BSD-3-Clause */
/* F6: what the JSON files of both programs have in common. Each adds to an open object. */
#ifndef HPCW_BENCH_MEASURE_JSON_H
#define HPCW_BENCH_MEASURE_JSON_H

#include "bench/measure/machine.h"
#include "bench/measure/stats.h"
#include "libwriter/io/json.h"

/* Member "machine". */
void bench_json_machine(struct hpcw_i_json *j, const struct bench_machine *m);

/* Figures of one quantity, as members. */
void bench_json_stats(struct hpcw_i_json *j, const struct bench_stats *s);

/* null if it is not finite. */
void bench_json_number(struct hpcw_i_json *j, const char *key, double v);

/* null if it is empty. */
void bench_json_text(struct hpcw_i_json *j, const char *key, const char *text);

/* "2026-11-22T10:20:30Z": now. */
enum { BENCH_TIME = 32 };
void bench_json_now(char text[BENCH_TIME]);

#endif
