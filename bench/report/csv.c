/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes results.csv: a row for each trial of points and of ceilings. The text follows RFC 4180; lines end with
 * CR and LF. */
#include <stdio.h>
#include <string.h>

#include "bench/report/metadata.h"
#include "libwriter/base/buf.h"
#include "libwriter/base/numfmt.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sink.h"

struct csv {
    struct hpcw_i_buf buf;
    bool failed;
    bool head;
    bool begun; /* the current line has a field */
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

static void text_column(struct csv *c, const char *name, const char *text) {
    put_text(c, c->head ? name : text);
}

/* Writes a number as a field. Its text is [text, end). */
static void put_number(struct csv *c, const char *name, const char *text, const char *end) {
    if (c->head) {
        put_text(c, name);
    } else {
        begin(c);
        append(c, text, (size_t)(end - text));
    }
}

static void u64_column(struct csv *c, const char *name, uint64_t v) {
    char text[HPCW_I_FMT_ROOM];
    put_number(c, name, text, hpcw_i_fmt_u64(text, v));
}

static void seconds_column(struct csv *c, const char *name, uint64_t ns) {
    char text[HPCW_I_FMT_ROOM];
    put_number(c, name, text, hpcw_i_fmt_seconds(text, ns));
}

static void f64_column(struct csv *c, const char *name, double v) { /* empty if v is not finite */
    char text[HPCW_I_FMT_ROOM];
    put_number(c, name, text, hpcw_i_fmt_f64(text, v, HPCW_I_FLOAT_COMPACT));
}

/* Writes the fields of a line, or the names of the columns if c->head is set. */
static void put_line(struct csv *c, const struct bench_point *p, const char *side,
                     const struct bench_trial *t) {
    text_column(c, "point", p->id);
    text_column(c, "layout", bench_layout_name[p->layout]);
    text_column(c, "mode", bench_mode_name[p->mode]);
    text_column(c, "side", side);
    u64_column(c, "block_bytes", p->block_size);
    u64_column(c, "record_bytes", p->record_size);
    u64_column(c, "rank_bytes", p->rank_size);
    u64_column(c, "ranks", p->ranks);
    u64_column(c, "files", p->files);
    u64_column(c, "bytes", bench_results_bytes_of(p, t));
    u64_column(c, "repetition", t->repetition);
    u64_column(c, "order", t->order);
    for (size_t k = 0; k < BENCH_STEPS; k++) {
        const struct {
            const char *name;
            uint64_t ns;
        } of_processes[] = {{"first", t->first_ns[k]},
                            {"q25", t->quartile_ns[k][0]},
                            {"median", t->quartile_ns[k][1]},
                            {"q75", t->quartile_ns[k][2]},
                            {"last", t->last_ns[k]}};
        for (size_t i = 0; i < sizeof of_processes / sizeof of_processes[0]; i++) {
            char name[BENCH_NAME];
            (void)snprintf(name, sizeof name, "%s_%s_s", bench_step_name[k], of_processes[i].name);
            seconds_column(c, name, of_processes[i].ns);
        }
    }
    seconds_column(c, "total_s", t->total_ns);
    seconds_column(c, "written_s", t->written_ns);
    u64_column(c, "slowest_process", (uint64_t)t->slowest_process);
    text_column(c, "slowest_host", t->slowest_host);
    f64_column(c, "others_processors", t->others);
    seconds_column(c, "read_s", t->read_ns);
    u64_column(c, "read_disk_bytes", t->read_bytes);
    append(c, "\r\n", 2);
    c->begun = false;
}

static void put_trials(struct csv *c, const struct bench_point *p, const char *side,
                       const struct bench_trial *t, size_t n) {
    for (size_t i = 0; i < n; i++) {
        put_line(c, p, side, &t[i]);
    }
}

/* Writes the line of the operation `k` of a trial. */
static void put_metadata(struct csv *c, const struct bench_metadata *m, const struct bench_metadata_trial *t,
                         enum bench_operation k) {
    text_column(c, "layout", bench_layout_name[m->layout]);
    u64_column(c, "tasks", m->tasks);
    text_column(c, "operation", bench_operation_name[k]);
    u64_column(c, "repetition", t->repetition);
    seconds_column(c, "seconds", t->ns[k]);
    f64_column(c, "tasks_per_second", bench_metadata_rate_of(m, t, k));
    f64_column(c, "others_processors", t->others);
    append(c, "\r\n", 2);
    c->begun = false;
}

static void put_all_metadata(struct csv *c, const struct bench_results *r) {
    put_metadata(c, &(const struct bench_metadata){.tasks = 0},
                 &(const struct bench_metadata_trial){.others = 0}, BENCH_CREATE);
    c->head = false;
    for (size_t i = 0; i < r->metadatas; i++) {
        const struct bench_metadata *m = &r->metadata[i];
        for (size_t k = 0; k < m->trials * BENCH_OPERATIONS; k++) {
            put_metadata(c, m, &m->trial[k / BENCH_OPERATIONS], (enum bench_operation)(k % BENCH_OPERATIONS));
        }
    }
}

static void put_all_points(struct csv *c, const struct bench_results *r) {
    put_line(c, &(const struct bench_point){.files = 0}, "", &(const struct bench_trial){.order = 0});
    c->head = false;
    for (size_t i = 0; i < r->points; i++) {
        const struct bench_point *p = &r->point[i];
        put_trials(c, p, "layout", p->trial, p->trials);
        put_trials(c, p, "ceiling", p->ceiling, p->ceiling_trials);
    }
}

hpcw_status bench_results_write_csv(const struct bench_results *r, const hpcw_sink_source *source,
                                    const char *path, hpcw_error *err) {
    struct csv c = {.head = true};
    hpcw_sink *sink = NULL;
    if (r->metadatas > 0) {
        put_all_metadata(&c, r);
    } else {
        put_all_points(&c, r);
    }
    hpcw_status s = c.failed ? hpcw_i_fail_memory(err, path, 0, NULL)
                             : hpcw_i_sink_open(source, NULL, path, 0, true, HPCW_SYNC_NONE, &sink, err);
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
