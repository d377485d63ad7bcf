/* SPDX-License-Identifier: BSD-3-Clause */
/* results.csv: a row for each trial, those of the ceilings among them. Text of RFC 4180, lines end with CR and LF. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <hpcw/sink.h>

#include "bench/report/results.h"
#include "libwriter/base/buf.h"
#include "libwriter/base/numfmt.h"
#include "libwriter/base/status.h"

struct csv {
    struct hpcw_i_buf buf;
    bool failed;
    bool begun; /* there is a field in this line */
};

static void append(struct csv *c, const char *text, size_t size) {
    c->failed = c->failed || !hpcw_i_buf_append(&c->buf, text, size);
}

static void begin(struct csv *c) {
    if (c->begun) {
        append(c, ",", 1);
    }
    c->begun = true;
}

static void put_text(struct csv *c, const char *text) {
    begin(c);
    if (text[strcspn(text, ",\"\r\n")] == '\0') {
        append(c, text, strlen(text));
        return;
    }
    append(c, "\"", 1);
    for (const char *p = text; *p != '\0'; p++) {
        append(c, p, 1);
        if (*p == '"') {
            append(c, p, 1);
        }
    }
    append(c, "\"", 1);
}

static void put_u64(struct csv *c, uint64_t v) {
    char text[HPCW_I_FMT_ROOM];
    begin(c);
    append(c, text, (size_t)(hpcw_i_fmt_u64(text, v) - text));
}

static void put_seconds(struct csv *c, uint64_t ns) {
    char text[HPCW_I_FMT_ROOM];
    begin(c);
    append(c, text, (size_t)(hpcw_i_fmt_seconds(text, ns) - text));
}

static void put_f64(struct csv *c, double v) { /* nothing if it is not finite */
    char text[HPCW_I_FMT_ROOM];
    begin(c);
    append(c, text, (size_t)(hpcw_i_fmt_f64(text, v, HPCW_I_FLOAT_COMPACT) - text));
}

static void end_line(struct csv *c) {
    append(c, "\r\n", 2);
    c->begun = false;
}

static void put_head(struct csv *c) {
    static const char *const name[] = {
        "point",      "layout", "mode",  "side",  "block_bytes", "record_bytes",
        "rank_bytes", "ranks",  "files", "bytes", "repetition",  "order",
    };
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++) {
        put_text(c, name[i]);
    }
    for (size_t k = 0; k < BENCH_STEPS; k++) {
        char text[BENCH_NAME];
        (void)snprintf(text, sizeof text, "%s_first_s", bench_step_name[k]);
        put_text(c, text);
        (void)snprintf(text, sizeof text, "%s_last_s", bench_step_name[k]);
        put_text(c, text);
    }
    put_text(c, "total_s");
    put_text(c, "written_s");
    put_text(c, "others_processors");
    end_line(c);
}

static void put_trials(struct csv *c, const struct bench_point *p, const char *side,
                       const struct bench_trial *t, size_t n) {
    for (size_t i = 0; i < n; i++, t++) {
        put_text(c, p->id);
        put_text(c, bench_layout_name[p->layout]);
        put_text(c, bench_mode_name[p->mode]);
        put_text(c, side);
        put_u64(c, p->block_size);
        put_u64(c, p->record_size);
        put_u64(c, p->rank_size);
        put_u64(c, p->ranks);
        put_u64(c, p->files);
        put_u64(c, p->bytes);
        put_u64(c, t->repetition);
        put_u64(c, t->order);
        for (size_t k = 0; k < BENCH_STEPS; k++) {
            put_seconds(c, t->first_ns[k]);
            put_seconds(c, t->last_ns[k]);
        }
        put_seconds(c, t->total_ns);
        put_seconds(c, t->written_ns);
        put_f64(c, t->others);
        end_line(c);
    }
}

hpcw_status bench_results_write_csv(const struct bench_results *r, const char *path, hpcw_error *err) {
    struct csv c = {0};
    hpcw_sink *sink = NULL;
    put_head(&c);
    for (size_t i = 0; i < r->points; i++) {
        const struct bench_point *p = &r->point[i];
        put_trials(&c, p, "layout", p->trial, p->trials);
        put_trials(&c, p, "ceiling", p->ceiling, p->ceiling_trials);
    }
    hpcw_status s = c.failed ? hpcw_i_fail_memory(err, path, 0, NULL)
                             : hpcw_sink_open_file(path, HPCW_SYNC_NONE, &sink, err);
    if (s == HPCW_OK) {
        s = hpcw_sink_write_at(sink, 0, c.buf.data, c.buf.size, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_sink_publish(sink, err);
    }
    hpcw_sink_free(sink);
    hpcw_i_buf_free(&c.buf);
    return s;
}
