/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/export/rank2file.h"

#include <string.h>

#include <hpcw/rank2file.h>

#include "gen/export/text.h"
#include "gen/spec/stream.h"
#include "libreader/source.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/numfmt.h"
#include "libwriter/base/status.h"

struct map_export {
    const struct gen_export *what;
    struct gen_stream out;
    struct gen_exported done;
    const char *prefix; /* NULL: only a root */
};

static bool add(struct map_export *x, const char *text) {
    return hpcw_i_buf_append_str(&x->out.buf, text);
}

/* As the maps have it. */
static bool add_crc(struct map_export *x, uint32_t crc) {
    char digits[HPCW_I_FMT_ROOM];
    char *end = hpcw_i_fmt_hex(digits, crc, 8);
    return add(x, "0x") && hpcw_i_buf_append(&x->out.buf, digits, (size_t)(end - digits));
}

static hpcw_status put_file(struct map_export *x, const char *dataset, const hpcw_rank2file_found *f,
                            hpcw_error *err) {
    const char *path = f->name;
    if (x->prefix != NULL) {
        path = f->path + strlen(x->prefix);
        path += strspn(path, "/");
    }
    struct hpcw_i_buf *b = &x->out.buf;
    bool good = gen_export_quoted(b, dataset) && add(x, ",") && gen_export_u64(b, f->rank) && add(x, ",") &&
                gen_export_quoted(b, path) && add(x, ",") && (!f->has_size || gen_export_u64(b, f->size)) &&
                add(x, ",") && (!f->has_crc || add_crc(x, f->crc)) && add(x, "\n");
    x->done.count++;
    return good ? gen_stream_flush(&x->out, GEN_STREAM_PIECE, err) : gen_export_no_memory(err);
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
        s = hpcw_rank2file_restart_open(x->prefix, NULL, name, &r, err);
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

static hpcw_status run(const char *path, const struct gen_export *what, hpcw_sink *sink,
                       struct gen_exported *done, hpcw_error *err) {
    bool directory;
    struct map_export x = {.what = what, .out = {.sink = sink}, .done = {.items = "files"}};
    *done = x.done;
    if (what->first_rank > what->last_rank) {
        return hpcw_i_fail(err, HPCW_EINVAL, "export: expected a range of ranks, got %u to %u",
                           what->first_rank, what->last_rank);
    }
    if (!add(&x, "dataset,rank,file,bytes,crc32\n")) {
        return gen_export_no_memory(err);
    }
    hpcw_status s = read_source_is_directory(path, &directory, err);
    if (s == HPCW_OK) {
        x.prefix = directory ? path : NULL;
        s = directory ? put_prefix(&x, err) : put_root(&x, path, err);
    }
    s = s == HPCW_OK ? gen_stream_flush(&x.out, 0, err) : s;
    *done = x.done;
    done->bytes = x.out.at;
    hpcw_i_buf_free(&x.out.buf);
    return s;
}

const struct gen_exporter gen_export_rank2file = {.offer = {{GEN_EXPORT_CSV}, {"first-rank", "last-rank"}},
                                                  .run = run};
