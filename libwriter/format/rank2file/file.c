/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes data files through a buffer, and computes their CRC. A file whose write failed must be discarded
 * before its dataset can be finished. */
#include <stdio.h>
#include <string.h>

#include "libwriter/base/crc32.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/format/rank2file/handle.h"
#include "libwriter/io/dir.h"
#include "libwriter/io/sink.h"

/* Size of the buffer, bytes. Writes begin at multiples of this size, which suits any block size of file
 * systems. */
enum { BUFFER = 256 << 10 };

struct hpcw_rank2file_file {
    struct hpcw_i_r2f_begun begun;
    hpcw_sink *sink;
    char *path;
    char *name;            /* name in the map; NULL: the file belongs to no dataset */
    unsigned char *buffer; /* [BUFFER]; NULL until the first bytes are buffered */
    uint64_t size;         /* bytes of the file, including those in the buffer */
    uint32_t crc;
    uint32_t rank;
};

/* ---- open ---- */

/* Creates a file. `below` is the path relative to the prefix of dataset `w`. Without a dataset, `w`, `name` and
 * `below` are NULL. */
static hpcw_status new_file(const char *path, hpcw_rank2file *w, uint32_t rank, const char *name,
                            const char *below, hpcw_durability durability, hpcw_rank2file_file **out,
                            hpcw_error *err) {
    hpcw_rank2file_file *f = hpcw_i_calloc(1, sizeof *f);
    hpcw_status s = HPCW_OK;
    if (f != NULL) {
        f->rank = rank;
        f->begun.open = true;
        f->begun.path = f->path = hpcw_i_strdup(path);
        f->name = name == NULL ? NULL : hpcw_i_strdup(name);
    }
    if (f == NULL || f->path == NULL || (name != NULL && f->name == NULL)) {
        s = hpcw_i_fail_memory(err, path, 0, NULL);
    } else {
        s = w != NULL ? hpcw_i_r2f_sink(w, below, &f->sink, err)
                      : hpcw_sink_open_file(path, durability, &f->sink, err);
    }
    if (s != HPCW_OK) {
        hpcw_rank2file_file_free(f);
        f = NULL;
    } else if (w != NULL) {
        hpcw_i_r2f_begin_file(w, &f->begun);
    }
    *out = f;
    return s;
}

hpcw_status hpcw_rank2file_file_open(const char *path, hpcw_durability durability, hpcw_rank2file_file **file,
                                     hpcw_error *err) {
    if (path == NULL || file == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "rank2file: expected a path and a pointer for the file, got NULL");
    }
    return new_file(path, NULL, 0, NULL, NULL, durability, file, err);
}

/* Lists a file in the marker before the file is created: if the program dies, the listed files are removed. If an
 * older file has this name, a slash is appended to the name in the marker. Then the older file stays, and only
 * temporary files are removed. */
static hpcw_status note(hpcw_rank2file *w, const char *name, const char *below, hpcw_error *err) {
    char kept[HPCW_RANK2FILE_MAX_NAME + 2];
    struct hpcw_i_entry entry;
    if (w->place.dir == NULL) {
        return HPCW_OK;
    }
    int e = hpcw_i_below_look(w->place.dir, below, &entry);
    if (e != 0) {
        return hpcw_i_r2f_fail_below(&w->place, e, below, "cannot look for an older file", err);
    }
    if (entry.kind == HPCW_I_NOTHING) {
        return hpcw_i_r2f_note(w, name, err);
    }
    (void)snprintf(kept, sizeof kept, "%s/", name);
    return hpcw_i_r2f_note(w, kept, err);
}

hpcw_status hpcw_rank2file_create(hpcw_rank2file *w, uint32_t rank, const char *name,
                                  hpcw_rank2file_file **file, hpcw_error *err) {
    hpcw_error local;
    err = err == NULL ? &local : err;
    if (file == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "rank2file: expected a pointer for the file, got NULL");
    }
    *file = NULL;
    hpcw_status s = hpcw_i_r2f_check_file(w, rank, name, err);
    if (s != HPCW_OK) {
        return s;
    }
    char *below = hpcw_i_r2f_join(w->dataset, name);
    char *path = below == NULL ? NULL : hpcw_i_r2f_join(w->prefix, below);
    s = path == NULL ? hpcw_i_fail_memory(err, w->prefix, 0, NULL) : note(w, name, below, err);
    s = s == HPCW_OK ? hpcw_i_r2f_folders(w, name, err) : s;
    if (s == HPCW_OK) {
        s = new_file(path, w, rank, name, below, HPCW_SYNC_NONE, file, err);
    }
    hpcw_i_free(below);
    hpcw_i_free(path);
    if (s != HPCW_OK) {
        /* the dataset must not be finished without this file, even if the program ignores the error */
        hpcw_rank2file_abandon(w, err);
    }
    return s;
}

/* ---- write ---- */

static size_t buffered(const hpcw_rank2file_file *f) {
    return (size_t)(f->size % BUFFER);
}

/* Appends bytes. When the buffer is full, one call writes it with all further bytes up to a multiple of BUFFER.
 * The rest stays in the buffer. */
static hpcw_status append(hpcw_rank2file_file *f, const unsigned char *data, size_t size, hpcw_error *err) {
    size_t used = buffered(f);
    size_t out = size < BUFFER - used ? 0 : size - (used + size) % BUFFER;
    if (out < size && f->buffer == NULL) {
        f->buffer = hpcw_i_malloc(BUFFER);
        if (f->buffer == NULL) {
            return hpcw_i_fail_memory(err, f->path, BUFFER, "bytes of a buffer");
        }
    }
    if (out > 0) {
        const struct hpcw_i_piece piece[] = {{f->buffer, used}, {data, out}};
        hpcw_status s = hpcw_i_sink_write(f->sink, f->size - used, piece, 2, err);
        if (s != HPCW_OK) {
            return s;
        }
        used = 0;
    }
    if (out < size) {
        memcpy(f->buffer + used, data + out, size - out);
    }
    f->crc = hpcw_i_crc32(f->crc, data, size);
    f->size += size;
    return HPCW_OK;
}

static hpcw_status check_open(const hpcw_rank2file_file *f, hpcw_error *err) {
    return f->begun.open && f->begun.failure.code == HPCW_OK
               ? HPCW_OK
               : hpcw_i_fail(err, HPCW_ESTATE, "%s: it is closed or discarded, or an earlier call failed",
                             f->path);
}

/* Copies the failure that is recorded in `f` to `err`. The record prevents a close even if the caller ignores
 * the error. */
static hpcw_status report(const hpcw_rank2file_file *f, hpcw_status s, hpcw_error *err) {
    if (s != HPCW_OK && err != NULL) {
        *err = f->begun.failure;
    }
    return s;
}

hpcw_status hpcw_rank2file_file_write(hpcw_rank2file_file *f, const void *data, size_t size, hpcw_error *err) {
    if (f == NULL || (data == NULL && size > 0)) {
        return hpcw_i_fail(err, HPCW_EINVAL, "rank2file: expected an open file and data, got NULL");
    }
    hpcw_status s = check_open(f, err);
    if (s != HPCW_OK || size == 0) {
        return s;
    }
    return report(f, append(f, data, size, &f->begun.failure), err);
}

hpcw_status hpcw_rank2file_file_close(hpcw_rank2file_file *f, hpcw_error *err) {
    if (f == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "rank2file: expected an open file, got NULL");
    }
    hpcw_status s = check_open(f, err);
    if (s != HPCW_OK) {
        return s;
    }
    hpcw_error *failure = &f->begun.failure;
    size_t used = buffered(f);
    s = hpcw_sink_write_at(f->sink, f->size - used, f->buffer, used, failure);
    if (s == HPCW_OK) {
        s = hpcw_sink_publish(f->sink, failure);
    }
    if (s == HPCW_OK && f->begun.w != NULL) {
        const struct hpcw_i_r2f_file file = {
            .name = f->name, .size = f->size, .crc = f->crc, .flags = HPCW_I_R2F_HAS_SIZE | HPCW_I_R2F_HAS_CRC};
        /* the sink of a program need not be a file, so there may be nothing to check */
        bool look = f->begun.w->options.sink_source.open == NULL;
        s = hpcw_i_r2f_add(f->begun.w, f->rank, &file, look, failure);
    }
    f->begun.open = s != HPCW_OK;
    return report(f, s, err);
}

void hpcw_rank2file_discard(hpcw_rank2file_file *f) {
    if (f != NULL && f->begun.open) {
        hpcw_sink_discard(f->sink);
        hpcw_i_sink_withdraw(f->sink);
        f->begun.open = false;
    }
}

uint64_t hpcw_rank2file_file_size(const hpcw_rank2file_file *file) {
    return file == NULL ? 0 : file->size;
}

uint32_t hpcw_rank2file_file_crc(const hpcw_rank2file_file *file) {
    return file == NULL ? 0 : file->crc;
}

void hpcw_rank2file_file_free(hpcw_rank2file_file *f) {
    if (f != NULL) {
        hpcw_i_r2f_end_file(&f->begun);
        hpcw_sink_free(f->sink);
        hpcw_i_free(f->buffer);
        hpcw_i_free(f->path);
        hpcw_i_free(f->name);
        hpcw_i_free(f);
    }
}
