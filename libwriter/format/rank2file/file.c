/* SPDX-License-Identifier: BSD-3-Clause */
/* Data files: bytes to a sink, and their CRC. */
#include <string.h>

#include "libwriter/base/crc32.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/format/rank2file/handle.h"

/* A piece is still in the cache when the kernel copies it. */
enum { PIECE = 128 << 10 };

struct hpcw_rank2file_file {
    hpcw_sink *sink;
    char *path; /* for messages */
    uint64_t size;
    uint32_t crc;
    bool broken;
    hpcw_rank2file *w; /* NULL: a separate file */
    uint32_t rank;
    char *name;
};

static hpcw_status new_file(const char *path, hpcw_rank2file *w, uint32_t rank, const char *name,
                            hpcw_durability durability, hpcw_rank2file_file **out, hpcw_error *err) {
    hpcw_rank2file_file *f = hpcw_i_calloc(1, sizeof *f);
    hpcw_status s = HPCW_OK;
    if (f != NULL) {
        f->w = w;
        f->rank = rank;
        f->path = hpcw_i_strdup(path);
        f->name = name == NULL ? NULL : hpcw_i_strdup(name);
    }
    if (f == NULL || f->path == NULL || (name != NULL && f->name == NULL)) {
        s = hpcw_i_fail_memory(err, path, 0, NULL);
    } else {
        s = w != NULL ? hpcw_i_r2f_sink(w, path, &f->sink, err)
                      : hpcw_sink_open_file(path, durability, &f->sink, err);
    }
    if (s != HPCW_OK) {
        hpcw_rank2file_file_free(f);
        f = NULL;
    }
    *out = f;
    return s;
}

hpcw_status hpcw_rank2file_file_open(const char *path, hpcw_durability durability, hpcw_rank2file_file **file,
                                     hpcw_error *err) {
    if (path == NULL || file == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "rank2file: expected a path and a pointer for the file, got NULL");
    }
    return new_file(path, NULL, 0, NULL, durability, file, err);
}

hpcw_status hpcw_rank2file_create(hpcw_rank2file *w, uint32_t rank, const char *name,
                                  hpcw_rank2file_file **file, hpcw_error *err) {
    if (file == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "rank2file: expected a pointer for the file, got NULL");
    }
    *file = NULL;
    hpcw_status s = hpcw_i_r2f_check_file(w, rank, name, err);
    if (s != HPCW_OK) {
        return s;
    }
    char *directory = hpcw_i_r2f_join(w->prefix, w->dataset);
    char *path = directory == NULL ? NULL : hpcw_i_r2f_join(directory, name);
    s = path == NULL ? hpcw_i_fail_memory(err, w->prefix, 0, NULL) : hpcw_i_r2f_folders(directory, name, err);
    if (s == HPCW_OK) {
        s = new_file(path, w, rank, name, HPCW_SYNC_NONE, file, err);
    }
    hpcw_i_free(directory);
    hpcw_i_free(path);
    return s;
}

hpcw_status hpcw_rank2file_file_write(hpcw_rank2file_file *f, const void *data, size_t size, hpcw_error *err) {
    if (f == NULL || (data == NULL && size > 0)) {
        return hpcw_i_fail(err, HPCW_EINVAL, "rank2file: expected an open file and data, got NULL");
    }
    if (f->broken) {
        return hpcw_i_fail(err, HPCW_ESTATE, "%s: it is closed, or an earlier call failed", f->path);
    }
    hpcw_status s = HPCW_OK;
    for (size_t done = 0; s == HPCW_OK && done < size;) {
        size_t n = size - done < PIECE ? size - done : PIECE;
        const unsigned char *piece = (const unsigned char *)data + done;
        f->crc = hpcw_i_crc32(f->crc, piece, n);
        s = hpcw_sink_write_at(f->sink, f->size, piece, n, err);
        f->size += n;
        done += n;
    }
    f->broken = s != HPCW_OK;
    return s;
}

hpcw_status hpcw_rank2file_file_close(hpcw_rank2file_file *f, hpcw_error *err) {
    if (f == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "rank2file: expected an open file, got NULL");
    }
    if (f->broken) {
        return hpcw_i_fail(err, HPCW_ESTATE, "%s: it is closed, or an earlier call failed", f->path);
    }
    f->broken = true;
    hpcw_status s = hpcw_sink_publish(f->sink, err);
    return s == HPCW_OK && f->w != NULL ? hpcw_rank2file_add(f->w, f->rank, f->name, f->size, &f->crc, err) : s;
}

uint64_t hpcw_rank2file_file_size(const hpcw_rank2file_file *file) {
    return file == NULL ? 0 : file->size;
}

uint32_t hpcw_rank2file_file_crc(const hpcw_rank2file_file *file) {
    return file == NULL ? 0 : file->crc;
}

void hpcw_rank2file_file_free(hpcw_rank2file_file *f) {
    if (f != NULL) {
        hpcw_sink_free(f->sink);
        hpcw_i_free(f->path);
        hpcw_i_free(f->name);
        hpcw_i_free(f);
    }
}
