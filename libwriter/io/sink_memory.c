/* SPDX-License-Identifier: BSD-3-Clause */
/* Sinks that are no files: memory, null, and one that limits the size of another sink. */
#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "libwriter/base/buf.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sink.h"

static hpcw_status new_sink(size_t size, const struct hpcw_i_sink_ops *ops, hpcw_sink **out, hpcw_error *err) {
    if (out == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "sink: handle: expected a pointer, got NULL");
    }
    *out = hpcw_i_calloc(1, size);
    if (*out == NULL) {
        return hpcw_i_fail_memory(err, "sink", 0, NULL);
    }
    (*out)->ops = ops;
    return HPCW_OK;
}

/* ---- memory ---- */

struct memory_sink {
    hpcw_sink base;
    struct hpcw_i_buf buf;
};

static hpcw_status memory_set_size(hpcw_sink *sink, uint64_t size, hpcw_error *err) {
    struct memory_sink *m = (struct memory_sink *)sink;
    if (size > m->buf.size) {
        if (size > SIZE_MAX || !hpcw_i_buf_reserve(&m->buf, (size_t)size - m->buf.size)) {
            return hpcw_i_fail_memory(err, "memory sink", size, "bytes");
        }
        memset(m->buf.data + m->buf.size, 0, (size_t)size - m->buf.size);
    }
    m->buf.size = (size_t)size;
    return HPCW_OK;
}

static hpcw_status memory_write(hpcw_sink *sink, uint64_t offset, const struct hpcw_i_piece *piece,
                                size_t pieces, size_t size, hpcw_error *err) {
    struct memory_sink *m = (struct memory_sink *)sink;
    uint64_t end = offset + size;
    if (end > m->buf.size) {
        hpcw_status s = memory_set_size(sink, end, err);
        if (s != HPCW_OK) {
            return s;
        }
    }
    for (size_t k = 0; k < pieces; k++) {
        if (piece[k].size > 0) {
            memcpy(m->buf.data + offset, piece[k].data, piece[k].size);
            offset += piece[k].size;
        }
    }
    return HPCW_OK;
}

static void memory_discard(hpcw_sink *sink) {
    hpcw_i_buf_free(&((struct memory_sink *)sink)->buf);
}

static void memory_free(hpcw_sink *sink) {
    memory_discard(sink);
    hpcw_i_free(sink);
}

static const struct hpcw_i_sink_ops memory_ops = {
    .write = memory_write,
    .set_size = memory_set_size,
    .discard = memory_discard,
    .free = memory_free,
};

hpcw_status hpcw_sink_open_memory(hpcw_sink **out, hpcw_error *err) {
    return new_sink(sizeof(struct memory_sink), &memory_ops, out, err);
}

const void *hpcw_sink_memory_data(const hpcw_sink *sink, size_t *size) {
    const struct memory_sink *m =
        sink != NULL && sink->ops == &memory_ops ? (const struct memory_sink *)sink : NULL;
    if (size != NULL) {
        *size = m == NULL ? 0 : m->buf.size;
    }
    return m == NULL ? NULL : m->buf.data;
}

/* ---- null ---- */

static const struct hpcw_i_sink_ops null_ops = {.write = NULL};

hpcw_status hpcw_sink_open_null(hpcw_sink **out, hpcw_error *err) {
    return new_sink(sizeof(hpcw_sink), &null_ops, out, err);
}

/* ---- limited ---- */

struct limited_sink {
    hpcw_sink base;
    uint64_t left;
    size_t max_call;
    pthread_mutex_t lock; /* protects `left`, as several threads may write */
};

static hpcw_status limited_piece(struct limited_sink *l, uint64_t offset, const char *data, size_t size,
                                 hpcw_error *err) {
    while (size > 0) {
        size_t n = l->max_call != 0 && size > l->max_call ? l->max_call : size;
        (void)pthread_mutex_lock(&l->lock);
        n = n > l->left ? (size_t)l->left : n;
        l->left -= n;
        (void)pthread_mutex_unlock(&l->lock);
        if (n == 0) {
            return hpcw_i_fail(err, HPCW_ENOSPC, "limited sink: no space for %zu bytes at offset %" PRIu64,
                               size, offset);
        }
        hpcw_status s = hpcw_sink_write_at(l->base.inner, offset, data, n, err);
        if (s != HPCW_OK) {
            return s;
        }
        offset += n;
        data += n;
        size -= n;
    }
    return HPCW_OK;
}

static hpcw_status limited_write(hpcw_sink *sink, uint64_t offset, const struct hpcw_i_piece *piece,
                                 size_t pieces, size_t size, hpcw_error *err) {
    (void)size;
    hpcw_status s = HPCW_OK;
    for (size_t k = 0; s == HPCW_OK && k < pieces; k++) {
        s = limited_piece((struct limited_sink *)sink, offset, piece[k].data, piece[k].size, err);
        offset += piece[k].size;
    }
    return s;
}

static void limited_free(hpcw_sink *sink) {
    (void)pthread_mutex_destroy(&((struct limited_sink *)sink)->lock);
    hpcw_i_free(sink);
}

static const struct hpcw_i_sink_ops limited_ops = {.write = limited_write, .free = limited_free};

hpcw_status hpcw_sink_open_limited(hpcw_sink *inner, uint64_t max_total, size_t max_call, hpcw_sink **out,
                                   hpcw_error *err) {
    if (inner == NULL) {
        if (out != NULL) {
            *out = NULL;
        }
        return hpcw_i_fail(err, HPCW_EINVAL, "limited sink: inner sink: expected a sink, got NULL");
    }
    hpcw_status s = new_sink(sizeof(struct limited_sink), &limited_ops, out, err);
    if (s != HPCW_OK) {
        return s;
    }
    struct limited_sink *l = (struct limited_sink *)*out;
    if (pthread_mutex_init(&l->lock, NULL) != 0) {
        hpcw_i_free(l);
        *out = NULL;
        return hpcw_i_fail_memory(err, "limited sink", 0, "a lock");
    }
    l->base.inner = inner;
    l->left = max_total;
    l->max_call = max_call;
    return HPCW_OK;
}
