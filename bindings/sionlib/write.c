/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes to the current task. */

#include "bindings/sionlib/handles/handle.h"

/* Multiplies size and nitems. Returns false after reporting an error. */
static bool bytes_of(size_t size, size_t nitems, const char *call, size_t *bytes) {
    if (size != 0 && nitems > SIZE_MAX / size) {
        sionlib_report("%s: expected at most %zu bytes, got %zu items of %zu", call, SIZE_MAX, nitems, size);
        return false;
    }
    *bytes = size * nitems;
    return true;
}

size_t sion_fwrite(const void *data, size_t size, size_t nitems, int sid) {
    size_t bytes;
    struct sionlib_handle *h = sionlib_writer_of(sid, "sion_fwrite");
    bool written = h != NULL && bytes_of(size, nitems, "sion_fwrite", &bytes) && sionlib_write(h, data, bytes);
    return written && size > 0 ? nitems : 0;
}

size_t sion_coll_fwrite(const void *data, size_t size, size_t nitems, int sid) {
    size_t bytes;
    struct sionlib_handle *h = sionlib_writer_of(sid, "sion_coll_fwrite");
    if (h == NULL || !bytes_of(size, nitems, "sion_coll_fwrite", &bytes)) {
        return h == NULL ? (size_t)-1 : 0;
    }
    if (h->merge != NULL) {
        /* as in SIONlib, the result is a number of bytes, not of items */
        return h->merge(h, data, bytes) ? bytes : 0;
    }
    return sionlib_write(h, data, bytes) && size > 0 ? nitems : 0;
}

int sion_ensure_free_space(int sid, sion_int64 bytes) {
    struct sionlib_handle *h = sionlib_writer_of(sid, "sion_ensure_free_space");
    if (h == NULL) {
        return SION_NOT_SUCCESS;
    }
    struct sionlib_task *t = sionlib_current(h);
    if (bytes <= t->chunk - t->at) {
        sionlib_look(t);
        return SION_SUCCESS;
    }
    hpcw_error err;
    if (!sionlib_reserve_blocks(t, 1)) {
        return SION_NOT_SUCCESS;
    }
    if (hpcw_sion_keep_together(h->writer, t->number, (size_t)bytes, &err) != HPCW_OK) {
        sionlib_report("%s", err.message);
        return SION_NOT_SUCCESS;
    }
    sionlib_next_block(t);
    return SION_SUCCESS;
}

int sion_flush(int sid) {
    struct sionlib_handle *h = sionlib_handle_of(sid, "sion_flush");
    if (h == NULL || h->count == 0 || sionlib_current(h)->at == 0) {
        return SION_NOT_SUCCESS;
    }
    sionlib_look(sionlib_current(h));
    return SION_SUCCESS;
}

/* Counts the bytes of a key-value record. Header and value may be split over chunks anywhere: doc/formats/sion.md,
 * "Key-value streams". */
static void count_bytes(struct sionlib_task *t, sion_int64 size) {
    while (size > 0) {
        sion_int64 n = t->chunk - t->at;
        if (n == 0) {
            sionlib_next_block(t);
            n = t->chunk;
        }
        n = size < n ? size : n;
        sionlib_count(t, n);
        size -= n;
    }
}

size_t sion_fwrite_key(const void *data, uint64_t key, size_t size, size_t nitems, int sid) {
    size_t bytes;
    struct sionlib_handle *h = sionlib_writer_of(sid, "sion_fwrite_key");
    if (h == NULL || !bytes_of(size, nitems, "sion_fwrite_key", &bytes)) {
        return 0;
    }
    struct sionlib_task *t = sionlib_current(h);
    hpcw_error err;
    if (!sionlib_reserve_for_record(
            h, t->chunk == 0 ? 1 : ((sion_int64)bytes + SIONLIB_RECORD_HEADER) / t->chunk + 2)) {
        return (size_t)-1;
    }
    if (hpcw_sion_write_key(h->writer, t->number, key, data, bytes, &err) != HPCW_OK) {
        sionlib_report("%s", err.message);
        return (size_t)-1;
    }
    count_bytes(t, SIONLIB_RECORD_HEADER);
    count_bytes(t, (sion_int64)bytes);
    return size > 0 ? nitems : 0;
}
