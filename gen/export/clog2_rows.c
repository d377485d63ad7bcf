/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/export/clog2_rows.h"

#include <inttypes.h>
#include <stdio.h>

#include <hpcw/clog2_read.h>

#include "gen/export/text.h"
#include "gen/spec/stream.h"
#include "libreader/clog2/clog2.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/numfmt.h"
#include "libwriter/base/status.h"

enum { ROWS = 4096, NAME_SIZE = 64 };

struct rows_export {
    const struct gen_export *what;
    struct gen_stream out;
    struct gen_exported done;
    hpcw_clog2_reader *reader;
    /* Columns of states, then of messages, which share those of times. */
    uint32_t definition[ROWS], rank[ROWS], depth[ROWS];
    int32_t thread[ROWS];
    uint32_t from[ROWS], to[ROWS];
    int32_t tag[ROWS], size[ROWS];
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
    const hpcw_clog2_messages messages = {
        .from = x->from, .to = x->to, .tag = x->tag, .size = x->size, .sent = x->begin, .received = x->end};
    return table == HPCW_CLOG2_TABLE_STATES
               ? hpcw_clog2_reader_states(x->reader, &states, ROWS, count, err)
               : hpcw_clog2_reader_messages(x->reader, &messages, ROWS, count, err);
}

/* The name of a state; its number for one that is not defined. */
static void name_of(const struct rows_export *x, uint32_t index, char name[NAME_SIZE]) {
    hpcw_clog2_definition d = {.name = ""};
    (void)hpcw_clog2_reader_definition(x->reader, index, &d);
    if (d.name[0] == '\0') {
        (void)snprintf(name, NAME_SIZE, "state %" PRId32, d.number);
    } else {
        (void)snprintf(name, NAME_SIZE, "%s", d.name);
    }
}

/* The rows do not tell whether the log is damaged. */
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
    return hpcw_i_buf_append_str(&x->out.buf, text);
}

/* A comma and a number. */
static bool add_i32(struct rows_export *x, int32_t value) {
    return add(x, value < 0 ? ",-" : ",") &&
           gen_export_u64(&x->out.buf, (uint64_t)(value < 0 ? -(int64_t)value : value));
}

static bool add_times(struct rows_export *x, size_t i) {
    return add(x, ",") && gen_export_f64(&x->out.buf, x->begin[i]) && add(x, ",") &&
           gen_export_f64(&x->out.buf, x->end[i]);
}

static bool add_state(struct rows_export *x, size_t i) {
    char name[NAME_SIZE], clean[NAME_SIZE];
    name_of(x, x->definition[i], name);
    gen_export_clean(clean, name, sizeof clean);
    return gen_export_u64(&x->out.buf, x->rank[i]) && add_i32(x, x->thread[i]) && add(x, ",\"") &&
           add(x, clean) && add(x, "\"") && add_times(x, i) && add(x, ",") &&
           gen_export_u64(&x->out.buf, x->depth[i]) && add(x, "\n");
}

static bool add_message(struct rows_export *x, size_t i) {
    return gen_export_u64(&x->out.buf, x->from[i]) && add(x, ",") && gen_export_u64(&x->out.buf, x->to[i]) &&
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
        s = s == HPCW_OK ? gen_stream_flush(&x->out, GEN_STREAM_PIECE, err) : s;
        x->done.count += count;
    }
    s = s == HPCW_OK ? gen_stream_flush(&x->out, 0, err) : s;
    x->done.bytes = x->out.at;
    return s;
}

hpcw_status gen_export_clog2_rows(const char *path, const struct gen_export *what, hpcw_sink *sink,
                                  struct gen_exported *done, hpcw_error *err) {
    struct rows_export *x = hpcw_i_calloc(1, sizeof *x);
    if (x == NULL) {
        return gen_export_no_memory(err);
    }
    x->what = what;
    x->out.sink = sink;
    x->done.items = what->form == GEN_EXPORT_STATES ? "states" : "messages";
    hpcw_status s = hpcw_clog2_reader_open(path, &x->reader, err);
    s = s == HPCW_OK ? put_csv(x, err) : s;
    s = s == HPCW_OK && !what->measure ? warn(path, &x->done.warning, err) : s;
    *done = x->done;
    hpcw_clog2_reader_free(x->reader);
    hpcw_i_buf_free(&x->out.buf);
    hpcw_i_free(x);
    return s;
}
