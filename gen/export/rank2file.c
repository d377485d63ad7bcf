/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/export/rank2file.h"

#include <string.h>

#include <hpcw/rank2file.h>

#include "gen/export/npz.h"
#include "gen/export/text.h"
#include "gen/spec/stream.h"
#include "libreader/source.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/numfmt.h"
#include "libwriter/base/status.h"

struct map_export {
    const struct gen_export *what;
    struct gen_npz npz; /* for CSV, only `npz.out` is used */
    struct gen_stream *out;
    struct gen_exported done;
    const char *prefix; /* prefix directory; NULL: the input is the root of one map */
    /* First pass for NPZ, which finds the number of rows, `files`, and the widths of texts. */
    bool counts;
    uint64_t files;
    size_t dataset_width, path_width;
};

static bool add(struct map_export *x, const char *text) {
    return hpcw_i_buf_append_str(&x->out->buf, text);
}

/* Formats a CRC-32 as the maps do. */
static bool add_crc(struct map_export *x, uint32_t crc) {
    char digits[HPCW_I_FMT_ROOM];
    char *end = hpcw_i_fmt_hex(digits, crc, 8);
    return add(x, "0x") && hpcw_i_buf_append(&x->out->buf, digits, (size_t)(end - digits));
}

enum { FIELDS = 7 };

static void describe(const struct map_export *x, const char *const *dataset, const char *const *path,
                     const hpcw_rank2file_found *f, struct gen_npz_field field[FIELDS]) {
    const struct gen_npz_field all[FIELDS] = {
        {.name = "dataset", .type = GEN_NPZ_TEXT, .values = dataset, .width = x->dataset_width},
        {.name = "rank", .type = GEN_NPZ_U32, .values = &f->rank},
        {.name = "path", .type = GEN_NPZ_TEXT, .values = path, .width = x->path_width},
        {.name = "size", .type = GEN_NPZ_U64, .values = &f->size},
        {.name = "crc", .type = GEN_NPZ_U32, .values = &f->crc},
        {.name = "has_size", .type = GEN_NPZ_BOOL, .values = &f->has_size},
        {.name = "has_crc", .type = GEN_NPZ_BOOL, .values = &f->has_crc},
    };
    memcpy(field, all, sizeof all);
}

static hpcw_status put_row(struct map_export *x, const char *dataset, const char *path,
                           const hpcw_rank2file_found *f, hpcw_error *err) {
    struct gen_npz_field field[FIELDS];
    if (x->counts) {
        const size_t dataset_width = gen_npz_width(dataset), path_width = gen_npz_width(path);
        x->files++;
        x->dataset_width = dataset_width > x->dataset_width ? dataset_width : x->dataset_width;
        x->path_width = path_width > x->path_width ? path_width : x->path_width;
        return HPCW_OK;
    }
    describe(x, &dataset, &path, f, field);
    return gen_npz_rows(&x->npz, field, FIELDS, 1, err);
}

static hpcw_status put_file(struct map_export *x, const char *dataset, const hpcw_rank2file_found *f,
                            hpcw_error *err) {
    const char *path = f->name;
    if (x->prefix != NULL) {
        path = f->path + strlen(x->prefix);
        path += strspn(path, "/");
    }
    if (x->what->form == GEN_EXPORT_NPZ) {
        return put_row(x, dataset, path, f, err);
    }
    struct hpcw_i_buf *b = &x->out->buf;
    bool good = gen_export_quoted(b, dataset) && add(x, ",") && gen_export_u64(b, f->rank) && add(x, ",") &&
                gen_export_quoted(b, path) && add(x, ",") && (!f->has_size || gen_export_u64(b, f->size)) &&
                add(x, ",") && (!f->has_crc || add_crc(x, f->crc)) && add(x, "\n");
    x->done.count++;
    return good ? gen_stream_flush(x->out, GEN_STREAM_PIECE, err) : gen_export_no_memory(err);
}

static hpcw_status put_map(struct map_export *x, const char *dataset, hpcw_rank2file_restart *r,
                           hpcw_error *err) {
    hpcw_status s = hpcw_rank2file_restart_load(r, 0, NULL, err);
    for (uint64_t i = 0; s == HPCW_OK && i < hpcw_rank2file_restart_files(r); i++) {
        hpcw_rank2file_found f;
        s = hpcw_rank2file_restart_file(r, i, &f, err);
        if (s == HPCW_OK && f.rank >= x->what->first_rank && f.rank <= x->what->last_rank) {
            s = put_file(x, dataset, &f, err);
        }
    }
    return s;
}

static hpcw_status put_prefix(struct map_export *x, hpcw_error *err) {
    hpcw_rank2file_list *list;
    hpcw_status s = hpcw_rank2file_list_open(x->prefix, NULL, &list, err);
    for (uint32_t i = 0; s == HPCW_OK && i < hpcw_rank2file_list_count(list); i++) {
        const char *name = hpcw_rank2file_list_get(list, i)->name;
        hpcw_rank2file_restart *r;
        s = hpcw_rank2file_restart_open_listed(list, i, NULL, &r, err);
        s = s == HPCW_OK ? put_map(x, name, r, err) : s;
        hpcw_rank2file_restart_free(r);
    }
    hpcw_rank2file_list_free(list);
    return s;
}

static hpcw_status put_root(struct map_export *x, const char *path, hpcw_error *err) {
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    hpcw_rank2file_restart *r;
    if (strcmp(name, "rank2file") != 0 && strcmp(name, "rank2file.scr") != 0) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "%s: expected a prefix directory or the root of a map, rank2file or rank2file.scr, "
                           "got another file",
                           path);
    }
    hpcw_status s = hpcw_rank2file_restart_open_root(path, NULL, &r, err);
    s = s == HPCW_OK ? put_map(x, "", r, err) : s;
    hpcw_rank2file_restart_free(r);
    return s;
}

static hpcw_status put_all(struct map_export *x, const char *path, hpcw_error *err) {
    return x->prefix != NULL ? put_prefix(x, err) : put_root(x, path, err);
}

static hpcw_status put_csv(struct map_export *x, const char *path, hpcw_error *err) {
    hpcw_status s =
        add(x, "dataset,rank,file,bytes,crc32\n") ? put_all(x, path, err) : gen_export_no_memory(err);
    return s == HPCW_OK ? gen_stream_flush(x->out, 0, err) : s;
}

static hpcw_status put_npz(struct map_export *x, const char *path, hpcw_error *err) {
    struct gen_npz_field field[FIELDS];
    const hpcw_rank2file_found none = {0};
    x->counts = true;
    x->dataset_width = x->path_width = 1;
    hpcw_status s = put_all(x, path, err);
    x->counts = false;
    describe(x, NULL, NULL, &none, field);
    const struct gen_npz_shape shape = {.dimensions = 1, .size = {x->files}};
    s = s == HPCW_OK ? gen_npz_begin(&x->npz, "files", field, FIELDS, &shape, err) : s;
    s = s == HPCW_OK ? put_all(x, path, err) : s;
    s = s == HPCW_OK ? gen_npz_end(&x->npz, err) : s;
    s = s == HPCW_OK ? gen_npz_close(&x->npz, err) : s;
    x->done.count = x->npz.arrays;
    x->done.empty = x->files == 0;
    return s;
}

static hpcw_status run(const char *path, const struct gen_export *what, hpcw_sink *sink,
                       struct gen_exported *done, hpcw_error *err) {
    bool directory;
    const bool npz = what->form == GEN_EXPORT_NPZ;
    struct map_export x = {
        .what = what, .npz = {.out = {.sink = sink}}, .done = {.items = npz ? "arrays" : "files"}};
    x.out = &x.npz.out;
    *done = x.done;
    if (what->first_rank > what->last_rank) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: window of ranks: expected last >= first, got %u to %u", path,
                           what->first_rank, what->last_rank);
    }
    hpcw_status s = read_source_is_directory(path, &directory, err);
    if (s == HPCW_OK) {
        x.prefix = directory ? path : NULL;
        s = npz ? put_npz(&x, path, err) : put_csv(&x, path, err);
    }
    *done = x.done;
    done->bytes = x.out->at;
    gen_npz_free(&x.npz);
    return s;
}

const struct gen_exporter gen_export_rank2file = {
    .offer = {{GEN_EXPORT_CSV, GEN_EXPORT_NPZ}, {"first-rank", "last-rank"}}, .run = run};
