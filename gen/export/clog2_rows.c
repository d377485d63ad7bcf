/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/export/clog2_rows.h"

#include <inttypes.h>
#include <stdio.h>

#include <hpcw/clog2_read.h>

#include "gen/export/log.h"
#include "gen/export/npz.h"
#include "gen/export/text.h"
#include "gen/spec/stream.h"
#include "libreader/clog2/clog2.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/numfmt.h"
#include "libwriter/base/status.h"

enum { ROWS = 4096, NAME_SIZE = 64 };

struct rows_export {
    const struct gen_export *what;
    struct gen_npz npz; /* for CSV, only `npz.out` is used */
    struct gen_stream *out;
    struct gen_exported done;
    uint64_t rows; /* number of rows of states, messages and events */
    hpcw_clog2_reader *reader;
    /* Columns of the rows that were read. States, messages and events share `begin` and `end`. */
    uint32_t definition[ROWS], rank[ROWS], depth[ROWS];
    int32_t thread[ROWS];
    uint32_t from[ROWS], to[ROWS];
    int32_t comm[ROWS], tag[ROWS], size[ROWS];
    double begin[ROWS], end[ROWS];
};

/* ---- reading ---- */

static hpcw_status select_rows(struct rows_export *x, hpcw_clog2_table table, hpcw_error *err) {
    const hpcw_clog2_window window = {x->what->from_s, x->what->to_s, x->what->first_rank, x->what->last_rank};
    return hpcw_clog2_reader_select(x->reader, table, &window, err);
}

static hpcw_status fill(struct rows_export *x, hpcw_clog2_table table, size_t *count, hpcw_error *err) {
    const hpcw_clog2_states states = {.definition = x->definition,
                                      .rank = x->rank,
                                      .thread = x->thread,
                                      .depth = x->depth,
                                      .from = x->begin,
                                      .to = x->end};
    const hpcw_clog2_messages messages = {.from = x->from,
                                          .to = x->to,
                                          .comm = x->comm,
                                          .tag = x->tag,
                                          .size = x->size,
                                          .sent = x->begin,
                                          .received = x->end};
    const hpcw_clog2_solos events = {
        .definition = x->definition, .rank = x->rank, .thread = x->thread, .time = x->begin};
    return table == HPCW_CLOG2_TABLE_STATES ? hpcw_clog2_reader_states(x->reader, &states, ROWS, count, err)
           : table == HPCW_CLOG2_TABLE_SOLOS
               ? hpcw_clog2_reader_solos(x->reader, &events, ROWS, count, err)
               : hpcw_clog2_reader_messages(x->reader, &messages, ROWS, count, err);
}

/* Copies the name of a state or event; if it is not defined, its number. */
static void name_of(const struct rows_export *x, uint32_t index, char name[NAME_SIZE]) {
    hpcw_clog2_definition d = {.name = ""};
    (void)hpcw_clog2_reader_definition(x->reader, index, &d);
    if (d.name[0] == '\0') {
        (void)snprintf(name, NAME_SIZE, "%s %" PRId32, d.state ? "state" : "event", d.number);
    } else {
        (void)snprintf(name, NAME_SIZE, "%s", d.name);
    }
}

/* Sets *warning if the log is damaged, which hpcw_clog2_reader does not report. */
static hpcw_status warn(const char *path, hpcw_error *warning, hpcw_error *err) {
    struct read_clog2 *reader;
    uint64_t cases[READ_CLOG2_RULES];
    const struct read_clog2_watch watch = {.by_rank = true, .no_messages = true, .cases = cases};
    hpcw_status s = read_clog2_open(path, &reader, err);
    s = s == HPCW_OK ? read_clog2_watch(reader, &watch, err) : s;
    if (s == HPCW_OK) {
        read_clog2_warn(reader, cases, warning);
    }
    read_clog2_free(reader);
    return s;
}

/* ---- CSV ---- */

static bool add(struct rows_export *x, const char *text) {
    return hpcw_i_buf_append_str(&x->out->buf, text);
}

static bool add_i32(struct rows_export *x, int32_t value) {
    return add(x, value < 0 ? ",-" : ",") &&
           gen_export_u64(&x->out->buf, (uint64_t)(value < 0 ? -(int64_t)value : value));
}

static bool add_times(struct rows_export *x, size_t i) {
    return add(x, ",") && gen_export_f64(&x->out->buf, x->begin[i]) && add(x, ",") &&
           gen_export_f64(&x->out->buf, x->end[i]);
}

static bool add_state(struct rows_export *x, size_t i) {
    char name[NAME_SIZE], clean[NAME_SIZE];
    name_of(x, x->definition[i], name);
    gen_export_clean(clean, name, sizeof clean);
    return gen_export_u64(&x->out->buf, x->rank[i]) && add_i32(x, x->thread[i]) && add(x, ",\"") &&
           add(x, clean) && add(x, "\"") && add_times(x, i) && add(x, ",") &&
           gen_export_u64(&x->out->buf, x->depth[i]) && add(x, "\n");
}

static bool add_message(struct rows_export *x, size_t i) {
    return gen_export_u64(&x->out->buf, x->from[i]) && add(x, ",") && gen_export_u64(&x->out->buf, x->to[i]) &&
           add_i32(x, x->tag[i]) && add_i32(x, x->size[i]) && add_times(x, i) && add(x, "\n");
}

static hpcw_status put_csv(struct rows_export *x, hpcw_error *err) {
    const bool states = x->what->form == GEN_EXPORT_STATES;
    const hpcw_clog2_table table = states ? HPCW_CLOG2_TABLE_STATES : HPCW_CLOG2_TABLE_MESSAGES;
    hpcw_status s = add(x, states ? "rank,thread,name,begin,end,depth\n" : "from,to,tag,bytes,sent,received\n")
                        ? select_rows(x, table, err)
                        : gen_export_no_memory(err);
    size_t count = 1;
    while (s == HPCW_OK && count > 0) {
        s = fill(x, table, &count, err);
        bool good = true;
        for (size_t i = 0; good && i < count; i++) {
            good = states ? add_state(x, i) : add_message(x, i);
        }
        s = s == HPCW_OK && !good ? gen_export_no_memory(err) : s;
        s = s == HPCW_OK ? gen_stream_flush(x->out, GEN_STREAM_PIECE, err) : s;
        x->done.count += count;
    }
    return s == HPCW_OK ? gen_stream_flush(x->out, 0, err) : s;
}

/* ---- NPZ ---- */

static hpcw_status count_rows(struct rows_export *x, hpcw_clog2_table table, uint64_t *rows, hpcw_error *err) {
    hpcw_status s = select_rows(x, table, err);
    size_t count = 1;
    *rows = 0;
    while (s == HPCW_OK && count > 0) {
        s = fill(x, table, &count, err);
        *rows += count;
    }
    return s;
}

static hpcw_status put_array(struct rows_export *x, const char *name, hpcw_clog2_table table,
                             const struct gen_npz_field *field, size_t fields, hpcw_error *err) {
    struct gen_npz_shape shape = {.dimensions = 1};
    size_t count = 1;
    hpcw_status s = count_rows(x, table, &shape.size[0], err);
    x->rows += shape.size[0];
    s = s == HPCW_OK ? gen_npz_begin(&x->npz, name, field, fields, &shape, err) : s;
    s = s == HPCW_OK ? select_rows(x, table, err) : s;
    while (s == HPCW_OK && count > 0) {
        s = fill(x, table, &count, err);
        s = s == HPCW_OK ? gen_npz_rows(&x->npz, field, fields, count, err) : s;
    }
    return s == HPCW_OK ? gen_npz_end(&x->npz, err) : s;
}

/* Writes the names of the definitions that rows of the selected table have. */
static hpcw_status put_names(struct rows_export *x, const char *array, hpcw_error *err) {
    char name[NAME_SIZE];
    const char *value = name;
    struct gen_npz_field field = {.type = GEN_NPZ_TEXT, .values = &value, .width = 1};
    struct gen_npz_shape shape = {.dimensions = 1};
    hpcw_clog2_definition d;
    for (; hpcw_clog2_reader_definition(x->reader, (uint32_t)shape.size[0], &d); shape.size[0]++) {
        name_of(x, (uint32_t)shape.size[0], name);
        const size_t width = gen_npz_width(name);
        field.width = width > field.width ? width : field.width;
    }
    hpcw_status s = gen_npz_begin(&x->npz, array, &field, 1, &shape, err);
    for (uint32_t i = 0; s == HPCW_OK && i < shape.size[0]; i++) {
        name_of(x, i, name);
        s = gen_npz_rows(&x->npz, &field, 1, 1, err);
    }
    return s == HPCW_OK ? gen_npz_end(&x->npz, err) : s;
}

static hpcw_status put_npz(struct rows_export *x, hpcw_error *err) {
    const struct gen_npz_field states[] = {
        {.name = "rank", .type = GEN_NPZ_U32, .values = x->rank},
        {.name = "thread", .type = GEN_NPZ_I32, .values = x->thread},
        {.name = "depth", .type = GEN_NPZ_U32, .values = x->depth},
        {.name = "name", .type = GEN_NPZ_U32, .values = x->definition},
        {.name = "begin", .type = GEN_NPZ_F64, .values = x->begin},
        {.name = "end", .type = GEN_NPZ_F64, .values = x->end},
    };
    const struct gen_npz_field messages[] = {
        {.name = "source", .type = GEN_NPZ_U32, .values = x->from},
        {.name = "dest", .type = GEN_NPZ_U32, .values = x->to},
        {.name = "comm", .type = GEN_NPZ_I32, .values = x->comm},
        {.name = "tag", .type = GEN_NPZ_I32, .values = x->tag},
        {.name = "size", .type = GEN_NPZ_I32, .values = x->size},
        {.name = "sent", .type = GEN_NPZ_F64, .values = x->begin},
        {.name = "received", .type = GEN_NPZ_F64, .values = x->end},
    };
    const struct gen_npz_field events[] = {
        {.name = "rank", .type = GEN_NPZ_U32, .values = x->rank},
        {.name = "thread", .type = GEN_NPZ_I32, .values = x->thread},
        {.name = "name", .type = GEN_NPZ_U32, .values = x->definition},
        {.name = "time", .type = GEN_NPZ_F64, .values = x->begin},
    };
    hpcw_status s =
        put_array(x, "states", HPCW_CLOG2_TABLE_STATES, states, sizeof states / sizeof states[0], err);
    s = s == HPCW_OK ? put_names(x, "names", err) : s;
    s = s == HPCW_OK ? put_array(x, "messages", HPCW_CLOG2_TABLE_MESSAGES, messages,
                                 sizeof messages / sizeof messages[0], err)
                     : s;
    s = s == HPCW_OK
            ? put_array(x, "events", HPCW_CLOG2_TABLE_SOLOS, events, sizeof events / sizeof events[0], err)
            : s;
    s = s == HPCW_OK ? put_names(x, "event_names", err) : s;
    return s == HPCW_OK ? gen_npz_close(&x->npz, err) : s;
}

hpcw_status gen_export_clog2_rows(const char *path, const struct gen_export *what, hpcw_sink *sink,
                                  struct gen_exported *done, hpcw_error *err) {
    struct rows_export *x = hpcw_i_calloc(1, sizeof *x);
    if (x == NULL) {
        return gen_export_no_memory(err);
    }
    x->what = what;
    x->out = &x->npz.out;
    x->out->sink = sink;
    const bool npz = what->form == GEN_EXPORT_NPZ;
    x->done.items = npz ? "arrays" : what->form == GEN_EXPORT_STATES ? "states" : "messages";
    hpcw_status s = gen_log_check(path, what, err);
    s = s == HPCW_OK ? hpcw_clog2_reader_open(path, &x->reader, err) : s;
    s = s != HPCW_OK ? s : npz ? put_npz(x, err) : put_csv(x, err);
    x->done.count = npz ? x->npz.arrays : x->done.count;
    x->done.empty = npz && x->rows == 0;
    x->done.bytes = x->out->at;
    s = s == HPCW_OK ? warn(path, &x->done.warning, err) : s;
    *done = x->done;
    hpcw_clog2_reader_free(x->reader);
    gen_npz_free(&x->npz);
    hpcw_i_free(x);
    return s;
}
