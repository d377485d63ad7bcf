/* SPDX-License-Identifier: BSD-3-Clause */
/* A FILE for the bytes of the current task. The FILE has no buffer, so a program can alternate calls on the FILE
 * and on the handle. hpcw_sion and hpcw_sion_reader have buffers. */
#include <errno.h>
#include <inttypes.h>

#include "bindings/sionlib/handles/stream.h"

static ssize_t take(void *cookie, const char *data, size_t size) {
    struct sionlib_handle *h = cookie;
    struct sionlib_task *t = sionlib_current(h);
    sion_int64 counted = t->counted;
    /* stdio may write a record in pieces. If a piece went to the next block, the record would be in two chunks. */
    if (size > (size_t)(t->chunk - t->at)) {
        sionlib_report("fwrite: task %u: expected at most %" PRId64
                       " bytes, which are left of the chunk, got %zu",
                       t->rank, (int64_t)(t->chunk - t->at), size);
        errno = ENOSPC;
        return 0;
    }
    if (!sionlib_write(h, data, size)) {
        errno = EIO;
        return 0;
    }
    t->counted = counted; /* as in SIONlib, a write through the stream does not change `counted` */
    return (ssize_t)size;
}

static ssize_t give(void *cookie, char *data, size_t size) {
    struct sionlib_handle *h = cookie;
    size_t got;
    if (!sionlib_load_blocks(h, sionlib_current(h)) || !sionlib_read(h, data, size, &got)) {
        errno = EIO;
        return -1;
    }
    return (ssize_t)got;
}

/* Sets the position of a reader, an offset in the stream of the task. For a writer, only returns the position. */
static int move(void *cookie, off64_t *offset, int whence) {
    struct sionlib_handle *h = cookie;
    struct sionlib_task *t = sionlib_current(h);
    if (h->reader != NULL && !sionlib_load_blocks(h, t)) {
        errno = EIO;
        return -1;
    }
    off64_t end = 0;
    for (int b = 0; b < t->blocks; b++) {
        end += t->used[b];
    }
    off64_t now = (off64_t)sionlib_offset(t);
    off64_t to = *offset + (whence == SEEK_CUR ? now : whence == SEEK_END ? end : 0);
    if (to < 0 || to > end || (h->writer != NULL && to != now)) {
        errno = EINVAL;
        return -1;
    }
    if (to != now) {
        sionlib_move(t, (uint64_t)to);
    }
    *offset = to;
    return 0;
}

FILE *sionlib_stream(struct sionlib_handle *h) {
    if (h->stream == NULL) {
        cookie_io_functions_t functions = {
            .read = h->reader == NULL ? NULL : give,
            .write = h->writer == NULL ? NULL : take,
            .seek = move,
        };
        h->stream = fopencookie(h, h->writer != NULL ? "w" : "r", functions);
        if (h->stream == NULL) {
            sionlib_report("fopencookie: expected a stream, got none");
        } else {
            (void)setvbuf(h->stream, NULL, _IONBF, 0);
        }
    }
    return h->stream;
}
