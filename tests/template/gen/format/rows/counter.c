/* SPDX-License-Identifier: BSD-3-Clause */
/* counter/values.counter: number of events on each rank. */
#include <stdio.h>
#include <string.h>

#include <hpcw/counter.h>

#include "gen/export/export.h"
#include "gen/export/npz.h"
#include "gen/export/text.h"
#include "gen/format/format.h"
#include "gen/model/counter/counter.h"
#include "gen/report/report.h"
#include "gen/spec/stream.h"
#include "libreader/counter/counter.h"
#include "libwriter/base/checked.h"
#include "libwriter/base/status.h"

#define PATH "counter/values.counter"

/* ---- plan ---- */

static hpcw_status limits(const struct gen_dataset *d, hpcw_error *err) {
    return d->ranks >= 1 && d->ranks <= HPCW_COUNTER_MAX_RANKS
               ? HPCW_OK
               : hpcw_i_fail(err, HPCW_EINVAL, "counter: expected 1 to %u ranks, got %u",
                             HPCW_COUNTER_MAX_RANKS, d->ranks);
}

/* The model is small enough to be made on demand. Larger models are members of struct gen_dataset. */
static struct model_counter model_of(const struct gen_dataset *d) {
    struct model_counter_params params;
    model_counter_params_init(&params);
    struct model_counter m;
    (void)model_counter_init(&m, &params, d->ranks, d->seed, NULL); /* `limits` has checked the ranks */
    return m;
}

static uint64_t units(const struct gen_dataset *d) {
    (void)d;
    return 1;
}

static hpcw_status unit(const struct gen_dataset *d, uint64_t index, struct gen_unit *u, hpcw_error *err) {
    (void)index;
    (void)err;
    (void)snprintf(u->path, sizeof u->path, PATH);
    u->apparent = hpcw_counter_file_size(d->ranks);
    u->allocated = hpcw_i_align_up(u->apparent, 4096);
    return HPCW_OK;
}

static uint64_t memory(const struct gen_dataset *d, uint32_t jobs) {
    (void)jobs;
    return d->ranks + (1 << 20);
}

static double seconds(const struct gen_dataset *d) {
    return d->ranks * 1e-6; /* a system call per rank */
}

static bool owns(const char *path) {
    return strcmp(path, PATH) == 0;
}

/* ---- write ---- */

/* Each process writes its share of the ranks. Using `jobs` threads would not pay here. */
static hpcw_status write_units(const struct gen_write *w, struct hpcw_i_json *partial, hpcw_error *err) {
    (void)partial; /* injected faults follow from the parameters */
    const struct model_counter m = model_of(w->dataset);
    const struct gen_slice own = gen_share(w->comm, 0, w->dataset->ranks);
    char path[4096 + GEN_UNIT_PATH];
    (void)snprintf(path, sizeof path, "%s/" PATH, w->directory);
    hpcw_counter_options o;
    hpcw_counter_options_init(&o);
    o.count = (uint32_t)(own.end - own.begin);
    o.durability = w->durability;
    o.sink_source = w->outputs;
    hpcw_counter *c;
    hpcw_status s = hpcw_counter_open(path, w->comm, &o, &c, err);
    if (s != HPCW_OK) {
        return s;
    }
    for (uint32_t rank = (uint32_t)own.begin; s == HPCW_OK && rank < own.end; rank++) {
        s = hpcw_counter_write(c, rank, model_counter_value(&m, rank), err);
        w->progress(w->progress_context, sizeof(uint64_t));
    }
    if (s != HPCW_OK) {
        hpcw_counter_abandon(c, err);
    }
    s = hpcw_counter_close(c, err);
    hpcw_counter_free(c);
    return s;
}

static hpcw_status truth(const struct gen_dataset *d, const cJSON *const *partial, size_t count, uint32_t jobs,
                         struct hpcw_i_json *json, hpcw_error *err) {
    (void)partial;
    (void)count;
    (void)jobs;
    (void)err;
    const struct model_counter m = model_of(d);
    hpcw_i_json_key(json, "stuck_ranks");
    hpcw_i_json_flat(json);
    hpcw_i_json_begin_array(json);
    for (uint32_t rank = 0; rank < d->ranks; rank++) {
        if (model_counter_stuck(&m, rank)) {
            hpcw_i_json_u64(json, rank);
        }
    }
    hpcw_i_json_end_array(json);
    return HPCW_OK;
}

/* ---- read ---- */

static hpcw_status verify(const char *path, bool ours, uint64_t *files, hpcw_error *err) {
    (void)ours; /* files of other programs follow the same rules */
    struct read_counter *reader;
    hpcw_status s = read_counter_open(path, &reader, err);
    if (s == HPCW_OK) {
        *files = 1;
        s = read_counter_verify(reader, err);
        read_counter_free(reader);
    }
    return s;
}

static hpcw_status info(const char *path, struct hpcw_i_json *json, hpcw_error *err) {
    struct read_counter *reader;
    hpcw_status s = read_counter_open(path, &reader, err);
    if (s == HPCW_OK) {
        const struct read_counter_info *i = read_counter_info(reader);
        hpcw_i_json_put_u64(json, "ranks", i->ranks);
        hpcw_i_json_put_str(json, "unit", i->unit);
        hpcw_i_json_put_u64(json, "sum", i->sum);
        read_counter_free(reader);
    }
    return s;
}

/* A format with more to draw has its sections in gen/report/NAME.c. */
static hpcw_status report(const struct gen_report *r, hpcw_error *err) {
    struct read_counter *reader;
    struct gen_by_rank curve = {0};
    hpcw_status s = read_counter_open(r->path, &reader, err);
    if (s != HPCW_OK) {
        return s;
    }
    const struct read_counter_info *i = read_counter_info(reader);
    s = gen_by_rank_init(&curve, i->ranks, err);
    for (uint32_t rank = 0; s == HPCW_OK && rank < i->ranks; rank++) {
        uint64_t value;
        s = read_counter_values(reader, rank, 1, &value, err);
        gen_by_rank_add(&curve, rank, s == HPCW_OK ? (double)value : 0);
    }
    if (s == HPCW_OK) {
        ui_page_heading(r->page, "Counter");
        ui_page_begin(r->page, UI_PAGE_FACTS);
        gen_report_fact(r->page, "Ranks", UI_PAGE_COUNT, i->ranks);
        gen_report_fact(r->page, "Sum", UI_PAGE_COUNT, (double)i->sum);
        ui_page_end(r->page);
        s = gen_by_rank_draw(&curve, r->page, "Value of every rank", "", i->unit, UI_PAGE_COUNT, err);
    }
    gen_by_rank_free(&curve);
    read_counter_free(reader);
    return s;
}

/* ---- export ---- */

static bool put_line(struct hpcw_i_buf *b, uint32_t rank, uint64_t value) {
    return gen_export_u64(b, rank) && hpcw_i_buf_append_str(b, ",") && gen_export_u64(b, value) &&
           hpcw_i_buf_append_str(b, "\n");
}

static hpcw_status put_csv(struct read_counter *reader, const struct gen_export *what, hpcw_sink *sink,
                           struct gen_exported *done, hpcw_error *err) {
    struct gen_stream out = {.sink = sink};
    const uint32_t ranks = read_counter_info(reader)->ranks;
    hpcw_status s = HPCW_OK;
    bool good = hpcw_i_buf_append_str(&out.buf, "rank,value\n");
    done->items = "ranks";
    for (uint32_t rank = what->first_rank; s == HPCW_OK && rank < ranks && rank <= what->last_rank; rank++) {
        uint64_t value;
        s = read_counter_values(reader, rank, 1, &value, err);
        good = good && (s != HPCW_OK || put_line(&out.buf, rank, value));
        s = s == HPCW_OK && good ? gen_stream_flush(&out, GEN_STREAM_PIECE, err) : s;
        done->count++;
    }
    s = s == HPCW_OK && good ? gen_stream_flush(&out, 0, err) : s;
    s = s == HPCW_OK && !good ? gen_export_no_memory(err) : s;
    done->bytes = out.at;
    hpcw_i_buf_free(&out.buf);
    return s;
}

/* Writes the values as an array of an npz file. */
static hpcw_status put_npz(struct read_counter *reader, const struct gen_export *what, hpcw_sink *sink,
                           struct gen_exported *done, hpcw_error *err) {
    struct gen_npz npz = {.out = {.sink = sink}};
    const uint32_t ranks = read_counter_info(reader)->ranks, begin = what->first_rank;
    const uint32_t end = what->last_rank < ranks ? what->last_rank + 1 : ranks;
    const struct gen_npz_shape shape = {.dimensions = 1, .size = {end > begin ? end - begin : 0}};
    uint64_t value;
    const struct gen_npz_field field = {.type = GEN_NPZ_U64, .values = &value};
    hpcw_status s = gen_npz_begin(&npz, "values", &field, 1, &shape, err);
    for (uint32_t rank = begin; s == HPCW_OK && rank < end; rank++) {
        s = read_counter_values(reader, rank, 1, &value, err);
        s = s == HPCW_OK ? gen_npz_rows(&npz, &field, 1, 1, err) : s;
    }
    s = s == HPCW_OK ? gen_npz_end(&npz, err) : s;
    s = s == HPCW_OK ? gen_npz_close(&npz, err) : s;
    *done = (struct gen_exported){.items = "arrays", .count = npz.arrays, .bytes = npz.out.at};
    gen_npz_free(&npz);
    return s;
}

/* A larger exporter is in gen/export/NAME.c. */
static hpcw_status export(const char *path, const struct gen_export *what, hpcw_sink *sink,
                          struct gen_exported *done, hpcw_error *err) {
    struct read_counter *reader;
    *done = (struct gen_exported){0};
    hpcw_status s = read_counter_open(path, &reader, err);
    if (s == HPCW_OK) {
        s = what->form == GEN_EXPORT_NPZ ? put_npz(reader, what, sink, done, err)
                                         : put_csv(reader, what, sink, done, err);
        read_counter_free(reader);
    }
    return s;
}

static const struct gen_exporter exporter = {
    .offer = {{GEN_EXPORT_CSV, GEN_EXPORT_NPZ}, {"first-rank", "last-rank"}},
    .run = export,
};

static const struct gen_injected injected[] = {{"stuck_ranks", "counter.stuck_ranks"}, {NULL, NULL}};

const struct gen_format gen_format_counter = {
    .name = "counter",
    .version = "1",
    .help = "one integer per rank",
    .limits = limits,
    .units = units,
    .unit = unit,
    .memory = memory,
    .seconds = seconds,
    .owns = owns,
    .write = write_units,
    .truth = truth,
    .injected = injected,
    .probe = read_counter_probe,
    .verify = verify,
    .info = info,
    .report = report,
    .export = &exporter,
    .noun = "counter file",
    /* The commands rewrite and fit refuse a format whose row has no .rewrite and .fit. */
};
