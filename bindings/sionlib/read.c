/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads from the current task. */
#include <inttypes.h>

#include "bindings/sionlib/handles/handle.h"

int sion_feof(int sid) {
    struct sionlib_handle *h = sionlib_handle_of(sid, "sion_feof");
    if (h == NULL || h->count == 0 || (h->reader != NULL && sionlib_reader_of(sid, "sion_feof") == NULL)) {
        return SION_SIZE_NOT_VALID;
    }
    return sionlib_at_end(h);
}

static size_t read_items(void *data, size_t size, size_t nitems, int sid, const char *call) {
    struct sionlib_handle *h = sionlib_reader_of(sid, call);
    if (h == NULL || data == NULL) {
        if (h != NULL) {
            sionlib_report("%s: expected memory for what is read, got NULL", call);
        }
        return 0;
    }
    struct sionlib_task *t = sionlib_current(h);
    if (size == 0 || nitems == 0) {
        (void)sionlib_at_end(h);
        return 0;
    }
    sion_int64 left = sionlib_left(t);
    if (nitems > (size_t)t->chunk / size || left < 0 || (left > 0 && (size_t)left < size * nitems)) {
        sionlib_report("%s: task %u: expected %zu items of %zu bytes in what is left of the chunk, got %" PRId64
                       " bytes",
                       call, t->rank, nitems, size, (int64_t)left);
        return 0;
    }
    size_t got;
    return !sionlib_at_end(h) && sionlib_read(h, data, size * nitems, &got) ? got / size : 0;
}

size_t sion_fread(void *data, size_t size, size_t nitems, int sid) {
    return read_items(data, size, nitems, sid, "sion_fread");
}

size_t sion_coll_fread(void *data, size_t size, size_t nitems, int sid) {
    return read_items(data, size, nitems, sid, "sion_coll_fread");
}

sion_int64 sion_bytes_avail_in_chunk(int sid) {
    struct sionlib_handle *h = sionlib_handle_of(sid, "sion_bytes_avail_in_chunk");
    if (h == NULL || h->count == 0 || (h->reader != NULL && !sionlib_load_blocks(h, sionlib_current(h)))) {
        return SION_SIZE_NOT_VALID;
    }
    const struct sionlib_task *t = sionlib_current(h);
    return h->reader != NULL ? sionlib_left(t) : t->counted - t->at;
}

sion_int64 sion_bytes_avail_in_block(int sid) {
    return sion_bytes_avail_in_chunk(sid);
}
