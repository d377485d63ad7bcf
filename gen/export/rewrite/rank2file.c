/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/export/rewrite/rank2file.h"

#include <fcntl.h>
#include <string.h>

#include <hpcw/rank2file.h>

#include "gen/export/folder.h"
#include "gen/export/text.h"
#include "libreader/source.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sys.h"

enum { PIECE = 1 << 20 };

struct map_rewrite {
    const char *from;
    char to[GEN_FOLDER_INSIDE];
    const hpcw_rank2file_listed *dataset;
    hpcw_rank2file_restart *reader;
    hpcw_rank2file *writer;
    unsigned char *piece;
    struct gen_rewritten done;
};

/* ---- one data file ---- */

static hpcw_status copy_bytes(const struct map_rewrite *x, const char *from, hpcw_rank2file_file *to,
                              hpcw_error *err) {
    size_t got = 0;
    int fd;
    int e = hpcw_i_sys_open(from, O_RDONLY | O_NONBLOCK, 0, &fd);
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s: cannot open for reading", from);
    }
    hpcw_status s = HPCW_OK;
    do {
        e = hpcw_i_sys_pread(fd, x->piece, PIECE, hpcw_rank2file_file_size(to), &got);
        s = e == 0 ? hpcw_rank2file_file_write(to, x->piece, got, err)
                   : hpcw_i_fail_sys(err, e, "%s: cannot read", from);
    } while (s == HPCW_OK && got == PIECE);
    (void)hpcw_i_sys_close(fd);
    return s;
}

/* Returns the path of a data file relative to the dataset's directory. */
static const char *name_of(const struct map_rewrite *x, const hpcw_rank2file_found *f) {
    const size_t n = strlen(x->dataset->name);
    const char *name = f->path + strlen(x->from);
    name += strspn(name, "/");
    return strncmp(name, x->dataset->name, n) == 0 && name[n] == '/' ? name + n + 1 : name;
}

static hpcw_status copy_file(struct map_rewrite *x, const hpcw_rank2file_found *f, hpcw_error *err) {
    hpcw_rank2file_file *file;
    hpcw_status s = hpcw_rank2file_create(x->writer, f->rank, name_of(x, f), &file, err);
    s = s == HPCW_OK ? copy_bytes(x, f->path, file, err) : s;
    const uint32_t crc = hpcw_rank2file_file_crc(file);
    if (s == HPCW_OK && f->has_crc && crc != f->crc) {
        s = hpcw_i_fail(err, HPCW_ECHECKSUM, "%s: rank %u: CRC-32: expected 0x%08x, got 0x%08x", f->path,
                        f->rank, f->crc, crc);
    }
    s = s == HPCW_OK ? hpcw_rank2file_file_close(file, err) : s;
    x->done.files++;
    x->done.bytes += hpcw_rank2file_file_size(file);
    hpcw_rank2file_file_free(file);
    return s;
}

/* ---- one dataset ---- */

static hpcw_status open_writer(struct map_rewrite *x, hpcw_rank2file_layout layout, hpcw_error *err) {
    hpcw_rank2file_options o;
    hpcw_rank2file_options_init(&o);
    o.layout = layout;
    o.dataset = *hpcw_rank2file_restart_dataset(x->reader);
    o.dataset.flushed = x->dataset->flushed;
    if (hpcw_rank2file_options_check(&o, NULL) != HPCW_OK) {
        o.dataset.name = NULL; /* SCR allows names that cannot be the name of a directory */
    }
    o.count = hpcw_rank2file_restart_ranks(x->reader);
    o.current = x->dataset->current;
    o.durability = HPCW_SYNC_NONE; /* the caller flushes all files together at the end if this is wanted */
    return hpcw_rank2file_open(x->to, NULL, &o, &x->writer, err);
}

/* Rewrites dataset `index` of the list. */
static hpcw_status rewrite_dataset(struct map_rewrite *x, const hpcw_rank2file_list *list, uint32_t index,
                                   hpcw_rank2file_layout layout, hpcw_error *err) {
    x->writer = NULL;
    hpcw_status s = hpcw_rank2file_restart_open_listed(list, index, NULL, &x->reader, err);
    s = s == HPCW_OK ? hpcw_rank2file_restart_load(x->reader, 0, NULL, err) : s;
    /* Sizes are checked before files are copied, since that is fast. In SCR 3, only the summary has sizes. */
    s = s == HPCW_OK ? hpcw_rank2file_restart_check(x->reader, false, err) : s;
    s = s == HPCW_OK ? open_writer(x, layout, err) : s;
    for (uint64_t i = 0; s == HPCW_OK && i < hpcw_rank2file_restart_files(x->reader); i++) {
        hpcw_rank2file_found f;
        s = hpcw_rank2file_restart_file(x->reader, i, &f, err);
        s = s == HPCW_OK ? copy_file(x, &f, err) : s;
    }
    s = s == HPCW_OK ? hpcw_rank2file_close(x->writer, err) : s;
    x->done.count++;
    hpcw_rank2file_free(x->writer);
    hpcw_rank2file_restart_free(x->reader);
    return s;
}

/* ---- all datasets ---- */

/* Rewrites the datasets in the reverse order of a restart. So the dataset with which a restart begins is the
 * last one, and becomes the current one. */
static hpcw_status rewrite_all(struct map_rewrite *x, const hpcw_rank2file_list *list,
                               hpcw_rank2file_layout layout, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (uint32_t i = hpcw_rank2file_list_count(list); s == HPCW_OK && i > 0; i--) {
        x->dataset = hpcw_rank2file_list_get(list, i - 1);
        if (x->dataset->complete && x->dataset->failed == NULL) {
            s = rewrite_dataset(x, list, i - 1, layout, err);
        } else {
            x->done.left_out++;
        }
    }
    if (s == HPCW_OK && x->done.count == 0) {
        s = hpcw_i_fail(err, HPCW_ENOENT, "%s: expected a complete dataset that did not fail, got none of %u",
                        x->from, hpcw_rank2file_list_count(list));
    }
    return s;
}

static hpcw_rank2file_layout layout_for(int form, hpcw_rank2file_layout old) {
    return form == GEN_REWRITE_SCR_1_1   ? HPCW_RANK2FILE_SCR_1_1
           : form == GEN_REWRITE_SCR_1_2 ? HPCW_RANK2FILE_SCR_1_2
           : form == GEN_REWRITE_SCR_3   ? HPCW_RANK2FILE_SCR_3
           : form == GEN_REWRITE_SHARED  ? HPCW_RANK2FILE_SHARED
                                         : old;
}

static hpcw_status run(const char *from, const char *to, const struct gen_rewrite *what,
                       struct gen_rewritten *done, hpcw_error *err) {
    struct map_rewrite x = {.from = from, .done = {.items = "datasets"}};
    struct gen_folder folder = {0};
    hpcw_rank2file_list *list = NULL;
    bool directory;
    uint64_t bytes;
    *done = x.done;
    hpcw_status s = read_source_is_directory(from, &directory, err);
    if (s == HPCW_OK && !directory) {
        s = hpcw_i_fail(err, HPCW_EINVAL, "%s: expected a prefix directory, got a file", from);
    }
    s = s == HPCW_OK ? hpcw_rank2file_list_open(from, NULL, &list, err) : s;
    s = s == HPCW_OK ? gen_folder_open(&folder, to, err) : s;
    s = s == HPCW_OK ? gen_folder_inside(&folder, x.to, err) : s;
    if (s == HPCW_OK) {
        x.piece = hpcw_i_malloc(PIECE);
        s = x.piece != NULL
                ? rewrite_all(&x, list, layout_for(what->form, hpcw_rank2file_list_layout(list)), err)
                : gen_export_no_memory(err);
        if (s != HPCW_OK) {
            gen_folder_name_failure(&folder, x.to, err);
        }
    }
    s = s == HPCW_OK ? gen_folder_publish(&folder, what->sync, &bytes, err) : s;
    *done = x.done;
    gen_folder_close(&folder);
    hpcw_rank2file_list_free(list);
    hpcw_i_free(x.piece);
    return s;
}

const struct gen_rewriter gen_rewrite_rank2file = {
    .offer.form = {GEN_REWRITE_SCR_1_1, GEN_REWRITE_SCR_1_2, GEN_REWRITE_SCR_3, GEN_REWRITE_SHARED},
    .run = run};
