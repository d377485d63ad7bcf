/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/export/linktest.h"

#include <inttypes.h>
#include <math.h>

#include <hpcw/linktest_read.h>

#include "gen/export/npz.h"
#include "gen/export/text.h"
#include "gen/spec/stream.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/fields/linktest.h"

struct linktest_export {
    const struct gen_export *what;
    struct gen_npz npz; /* for CSV, only `npz.out` is used */
    struct gen_stream *out;
    hpcw_linktest_reader *reader;
    uint32_t tasks, steps;
    uint32_t first, end; /* first row, and last row + 1 */
    double *time;        /* [steps] */
    uint32_t *partner;   /* [steps] */
    double *row;         /* [tasks] */
};

static bool add(struct linktest_export *x, const char *text) {
    return hpcw_i_buf_append_str(&x->out->buf, text);
}

/* ---- headings ---- */

static struct gen_npz_shape shape_of(const struct linktest_export *x, unsigned dimensions) {
    return (struct gen_npz_shape){.dimensions = dimensions, .size = {x->end - x->first, x->tasks}};
}

static bool add_heading(struct linktest_export *x) {
    if (x->what->form == GEN_EXPORT_NPY) {
        const struct gen_npz_shape shape = shape_of(x, 2);
        return gen_npy_heading(&x->out->buf, &(struct gen_npz_field){.type = GEN_NPZ_F64}, 1, &shape);
    }
    bool good = add(x, "rank,host,core");
    for (uint32_t k = 0; good && x->what->form == GEN_EXPORT_CSV && k < x->tasks; k++) {
        good = add(x, ",") && gen_export_u64(&x->out->buf, k);
    }
    return good && add(x, "\n");
}

/* ---- rows ---- */

static hpcw_status take_row(struct linktest_export *x, uint32_t rank, hpcw_error *err) {
    hpcw_status s =
        hpcw_linktest_reader_row(x->reader, rank, x->what->permutation, x->time, x->partner, NULL, err);
    for (uint32_t k = 0; k < x->tasks; k++) {
        x->row[k] = NAN;
    }
    for (uint32_t k = 0; s == HPCW_OK && k < x->steps; k++) {
        x->row[x->partner[k]] = x->time[k];
    }
    return s;
}

static bool add_csv_row(struct linktest_export *x) {
    bool good = true;
    for (uint32_t k = 0; good && k < x->tasks; k++) {
        good = add(x, ",") && (isnan(x->row[k]) || gen_export_f64(&x->out->buf, x->row[k]));
    }
    return good;
}

static hpcw_status put_row(struct linktest_export *x, uint32_t rank, hpcw_error *err) {
    char host[HPCW_LINKTEST_READER_HOST_SIZE];
    int32_t core;
    const bool times = x->what->form != GEN_EXPORT_HOSTS, csv = x->what->form != GEN_EXPORT_NPY;
    const struct gen_npz_field field = {.type = GEN_NPZ_F64, .values = x->row};
    hpcw_status s = times ? take_row(x, rank, err) : HPCW_OK;
    if (s == HPCW_OK && csv) {
        s = hpcw_linktest_reader_host(x->reader, rank, host, &core, err);
    }
    if (s != HPCW_OK) {
        return s;
    }
    if (!csv) {
        return gen_npz_rows(&x->npz, &field, 1, x->tasks, err);
    }
    bool good = gen_export_u64(&x->out->buf, rank) && add(x, ",") && gen_export_quoted(&x->out->buf, host) &&
                add(x, ",") && gen_export_u64(&x->out->buf, (uint64_t)core) && (!times || add_csv_row(x)) &&
                add(x, "\n");
    return good ? gen_stream_flush(x->out, GEN_STREAM_PIECE, err) : gen_export_no_memory(err);
}

static hpcw_status put_rows(struct linktest_export *x, hpcw_error *err) {
    if (!add_heading(x)) {
        return gen_export_no_memory(err);
    }
    hpcw_status s = HPCW_OK;
    for (uint32_t r = x->first; s == HPCW_OK && r < x->end; r++) {
        s = put_row(x, r, err);
    }
    return s == HPCW_OK ? gen_stream_flush(x->out, 0, err) : s;
}

/* ---- NPZ ---- */

static hpcw_status put_seconds(struct linktest_export *x, hpcw_error *err) {
    const struct gen_npz_field field = {.type = GEN_NPZ_F64, .values = x->row};
    const struct gen_npz_shape shape = shape_of(x, 2);
    hpcw_status s = gen_npz_begin(&x->npz, "seconds", &field, 1, &shape, err);
    for (uint32_t r = x->first; s == HPCW_OK && r < x->end; r++) {
        s = take_row(x, r, err);
        s = s == HPCW_OK ? gen_npz_rows(&x->npz, &field, 1, x->tasks, err) : s;
    }
    return s == HPCW_OK ? gen_npz_end(&x->npz, err) : s;
}

/* Writes the array of host names or, if not `hosts`, that of cores. */
static hpcw_status put_places(struct linktest_export *x, bool hosts, hpcw_error *err) {
    char host[HPCW_LINKTEST_READER_HOST_SIZE];
    const char *name = host;
    int32_t core;
    struct gen_npz_field field = {
        .type = hosts ? GEN_NPZ_TEXT : GEN_NPZ_I32, .values = hosts ? (const void *)&name : &core, .width = 1};
    const struct gen_npz_shape shape = shape_of(x, 1);
    hpcw_status s = HPCW_OK;
    for (uint32_t r = x->first; s == HPCW_OK && hosts && r < x->end; r++) {
        s = hpcw_linktest_reader_host(x->reader, r, host, &core, err);
        const size_t width = s == HPCW_OK ? gen_npz_width(host) : 0;
        field.width = width > field.width ? width : field.width;
    }
    s = s == HPCW_OK ? gen_npz_begin(&x->npz, hosts ? "hosts" : "cores", &field, 1, &shape, err) : s;
    for (uint32_t r = x->first; s == HPCW_OK && r < x->end; r++) {
        s = hpcw_linktest_reader_host(x->reader, r, host, &core, err);
        s = s == HPCW_OK ? gen_npz_rows(&x->npz, &field, 1, 1, err) : s;
    }
    return s == HPCW_OK ? gen_npz_end(&x->npz, err) : s;
}

/* Writes the values of the header as an array of one row, without dimensions. */
static hpcw_status put_settings(struct linktest_export *x, hpcw_error *err) {
    enum { HEAD = 6 };
    const hpcw_linktest_info *i = hpcw_linktest_reader_info(x->reader);
    const size_t hash = gen_npz_width(i->git_hash), mode = gen_npz_width(i->mode);
    struct gen_npz_field field[HEAD + HPCW_I_LINKTEST_MOST_FIELDS] = {
        {.name = "tasks", .type = GEN_NPZ_U32, .values = &i->tasks},
        {.name = "steps", .type = GEN_NPZ_U32, .values = &i->steps},
        {.name = "version", .type = GEN_NPZ_U32, .values = i->version, .repeat = 3},
        {.name = "git_hash", .type = GEN_NPZ_TEXT, .values = &i->git_hash, .width = hash > 0 ? hash : 1},
        {.name = "mode", .type = GEN_NPZ_TEXT, .values = &i->mode, .width = mode > 0 ? mode : 1},
        {.name = "randomized", .type = GEN_NPZ_BOOL, .values = &i->randomized},
    };
    static const enum gen_npz_type type_of[] = {[HPCW_I_LINKTEST_BOOL] = GEN_NPZ_BOOL,
                                                [HPCW_I_LINKTEST_U8] = GEN_NPZ_U8,
                                                [HPCW_I_LINKTEST_U64] = GEN_NPZ_U64};
    const size_t fields = HEAD + hpcw_i_linktest_field_count;
    for (size_t k = HEAD; k < fields; k++) {
        const struct hpcw_i_linktest_field *f = &hpcw_i_linktest_fields[k - HEAD];
        field[k] = (struct gen_npz_field){
            .name = f->name, .type = type_of[f->type], .values = (const char *)i + f->info};
    }
    hpcw_status s = gen_npz_begin(&x->npz, "settings", field, fields, &(struct gen_npz_shape){0}, err);
    s = s == HPCW_OK ? gen_npz_rows(&x->npz, field, fields, 1, err) : s;
    return s == HPCW_OK ? gen_npz_end(&x->npz, err) : s;
}

static hpcw_status put_npz(struct linktest_export *x, hpcw_error *err) {
    hpcw_status s = put_seconds(x, err);
    s = s == HPCW_OK ? put_places(x, true, err) : s;
    s = s == HPCW_OK ? put_places(x, false, err) : s;
    s = s == HPCW_OK ? put_settings(x, err) : s;
    return s == HPCW_OK ? gen_npz_close(&x->npz, err) : s;
}

static hpcw_status begin(struct linktest_export *x, const char *path, hpcw_error *err) {
    const struct gen_export *what = x->what;
    const hpcw_linktest_info *info = hpcw_linktest_reader_info(x->reader);
    if (what->first_rank > what->last_rank || what->first_rank >= info->tasks) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected ranks of 0 to %" PRIu32 ", got %u to %u", path,
                           info->tasks - 1, what->first_rank, what->last_rank);
    }
    if (what->permutation >= info->permutations) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: --permutation: expected one below %" PRIu64 ", got %" PRIu64,
                           path, info->permutations, what->permutation);
    }
    x->tasks = info->tasks;
    x->steps = info->steps;
    x->first = what->first_rank;
    x->end = what->last_rank < info->tasks ? what->last_rank + 1 : info->tasks;
    x->time = hpcw_i_malloc(x->steps * sizeof *x->time);
    x->partner = hpcw_i_malloc(x->steps * sizeof *x->partner);
    x->row = hpcw_i_malloc(x->tasks * sizeof *x->row);
    return x->time == NULL || x->partner == NULL || x->row == NULL ? gen_export_no_memory(err) : HPCW_OK;
}

static hpcw_status run(const char *path, const struct gen_export *what, hpcw_sink *sink,
                       struct gen_exported *done, hpcw_error *err) {
    struct linktest_export x = {.what = what, .npz = {.out = {.sink = sink}}};
    const bool npz = what->form == GEN_EXPORT_NPZ;
    x.out = &x.npz.out;
    *done = (struct gen_exported){.items = npz ? "arrays" : "rows"};
    hpcw_status s = hpcw_linktest_reader_open(path, &x.reader, err);
    s = s == HPCW_OK ? begin(&x, path, err) : s;
    s = s != HPCW_OK ? s : npz ? put_npz(&x, err) : put_rows(&x, err);
    done->count = npz ? x.npz.arrays : x.end - x.first;
    done->bytes = x.out->at;
    gen_npz_free(&x.npz);
    hpcw_i_free(x.row);
    hpcw_i_free(x.partner);
    hpcw_i_free(x.time);
    hpcw_linktest_reader_free(x.reader);
    return s;
}

const struct gen_exporter gen_export_linktest = {
    .offer = {{GEN_EXPORT_CSV, GEN_EXPORT_NPY, GEN_EXPORT_HOSTS, GEN_EXPORT_NPZ},
              {"first-rank", "last-rank", "permutation"}},
    .run = run};
