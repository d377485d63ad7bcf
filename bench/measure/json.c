/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/measure/json.h"

#include <math.h>
#include <time.h>

void bench_json_machine(struct hpcw_i_json *j, const struct bench_machine *m) {
    hpcw_i_json_key(j, "machine");
    hpcw_i_json_begin_object(j);
    hpcw_i_json_put_str(j, "system", m->system);
    hpcw_i_json_put_str(j, "processor", m->processor);
    hpcw_i_json_put_u64(j, "processors", m->processors);
    hpcw_i_json_put_u64(j, "memory_bytes", m->memory);
    hpcw_i_json_put_str(j, "compiler", m->compiler);
    hpcw_i_json_put_str(j, "build", m->build);
    hpcw_i_json_end_object(j);
}

void bench_json_stats(struct hpcw_i_json *j, const struct bench_stats *s) {
    hpcw_i_json_put_f64(j, "median", s->median);
    hpcw_i_json_put_f64(j, "mean", s->mean);
    hpcw_i_json_put_f64(j, "sd", s->sd);
    hpcw_i_json_put_f64(j, "min", s->min);
    hpcw_i_json_put_f64(j, "q25", s->q25);
    hpcw_i_json_put_f64(j, "q75", s->q75);
    hpcw_i_json_put_f64(j, "max", s->max);
    hpcw_i_json_put_f64(j, "ci_low", s->ci_low);
    hpcw_i_json_put_f64(j, "ci_high", s->ci_high);
    hpcw_i_json_put_f64(j, "ci_coverage", s->ci_coverage);
}

void bench_json_number(struct hpcw_i_json *j, const char *key, double v) {
    hpcw_i_json_key(j, key);
    if (isfinite(v)) {
        hpcw_i_json_f64(j, v);
    } else {
        hpcw_i_json_null(j);
    }
}

void bench_json_text(struct hpcw_i_json *j, const char *key, const char *text) {
    hpcw_i_json_key(j, key);
    if (text[0] == '\0') {
        hpcw_i_json_null(j);
    } else {
        hpcw_i_json_str(j, text);
    }
}

void bench_json_now(char text[BENCH_TIME]) {
    time_t now = time(NULL);
    struct tm tm;
    text[0] = '\0';
    if (gmtime_r(&now, &tm) != NULL) {
        (void)strftime(text, BENCH_TIME, "%Y-%m-%dT%H:%M:%SZ", &tm);
    }
}
