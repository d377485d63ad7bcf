/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/io/sink.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "libwriter/base/checked.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

static hpcw_status usable(const hpcw_sink *sink, hpcw_error *err) {
    if (sink == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "sink: expected a sink, got NULL");
    }
    if (sink->finished) {
        return hpcw_i_fail(err, HPCW_ESTATE, "sink: it was published, detached or discarded before");
    }
    return HPCW_OK;
}

hpcw_status hpcw_i_sink_write(hpcw_sink *sink, uint64_t offset, const struct hpcw_i_piece *piece, size_t pieces,
                              hpcw_error *err) {
    hpcw_status s = usable(sink, err);
    if (s != HPCW_OK) {
        return s;
    }
    size_t size = 0;
    bool fits = true;
    for (size_t k = 0; k < pieces; k++) {
        if (piece[k].data == NULL && piece[k].size > 0) {
            return hpcw_i_fail(err, HPCW_EINVAL, "sink: expected %zu bytes of data, got NULL", piece[k].size);
        }
        fits = fits && hpcw_i_add_size(size, piece[k].size, &size);
    }
    const uint64_t top = INT64_MAX;
    if (!fits || offset > top || size > top - offset) {
        return hpcw_i_fail(err, HPCW_ERANGE,
                           "sink: %s%zu bytes at offset %" PRIu64 " pass the largest file offset",
                           fits ? "" : "more than ", fits ? size : SIZE_MAX, offset);
    }
    return size == 0 || sink->ops->write == NULL ? HPCW_OK
                                                 : sink->ops->write(sink, offset, piece, pieces, size, err);
}

hpcw_status hpcw_sink_write_at(hpcw_sink *sink, uint64_t offset, const void *data, size_t size,
                               hpcw_error *err) {
    struct hpcw_i_piece piece = {data, size};
    return hpcw_i_sink_write(sink, offset, &piece, 1, err);
}

hpcw_status hpcw_sink_set_size(hpcw_sink *sink, uint64_t size, hpcw_error *err) {
    hpcw_status s = usable(sink, err);
    if (s != HPCW_OK) {
        return s;
    }
    if (size > INT64_MAX) {
        return hpcw_i_fail(err, HPCW_ERANGE, "sink: size %" PRIu64 " passes the largest file offset", size);
    }
    if (sink->ops->set_size != NULL) {
        return sink->ops->set_size(sink, size, err);
    }
    return sink->inner != NULL ? hpcw_sink_set_size(sink->inner, size, err) : HPCW_OK;
}

typedef hpcw_status sink_call(hpcw_sink *sink, hpcw_error *err);

/* Calls `own`, the sink's function. If `own` is NULL, makes `call`, the same call on the inner sink. */
static hpcw_status run(hpcw_sink *sink, sink_call *own, sink_call *call, hpcw_error *err) {
    if (own != NULL) {
        return own(sink, err);
    }
    return sink->inner != NULL ? call(sink->inner, err) : HPCW_OK;
}

hpcw_status hpcw_sink_sync(hpcw_sink *sink, hpcw_error *err) {
    hpcw_status s = usable(sink, err);
    return s == HPCW_OK ? run(sink, sink->ops->sync, hpcw_sink_sync, err) : s;
}

hpcw_status hpcw_i_sink_settle(hpcw_sink *sink, hpcw_error *err) {
    hpcw_status s = usable(sink, err);
    return s == HPCW_OK ? run(sink, sink->ops->settle, hpcw_i_sink_settle, err) : s;
}

hpcw_status hpcw_sink_publish(hpcw_sink *sink, hpcw_error *err) {
    hpcw_status s = usable(sink, err);
    if (s == HPCW_OK) {
        s = run(sink, sink->ops->publish, hpcw_sink_publish, err);
        sink->finished = true;
        sink->named = sink->inner != NULL ? sink->inner->named : sink->named;
    }
    return s;
}

hpcw_status hpcw_sink_detach(hpcw_sink *sink, hpcw_error *err) {
    hpcw_status s = usable(sink, err);
    if (s == HPCW_OK && (sink->ops->detach != NULL || sink->inner != NULL)) {
        s = run(sink, sink->ops->detach, hpcw_sink_detach, err);
        sink->finished = true;
    }
    return s;
}

void hpcw_sink_discard(hpcw_sink *sink) {
    if (sink != NULL && !sink->finished) {
        if (sink->ops->discard != NULL) {
            sink->ops->discard(sink);
        }
        hpcw_sink_discard(sink->inner);
        sink->finished = true;
    }
}

void hpcw_i_sink_withdraw(hpcw_sink *sink) {
    for (; sink != NULL; sink = sink->inner) {
        if (sink->ops->withdraw != NULL) {
            sink->ops->withdraw(sink);
        }
    }
}

void hpcw_sink_free(hpcw_sink *sink) {
    if (sink != NULL) {
        hpcw_sink_free(sink->inner);
        if (sink->ops->free != NULL) {
            sink->ops->free(sink);
        } else {
            hpcw_i_free(sink);
        }
    }
}

uint64_t hpcw_i_sink_random(void) {
    uint64_t tag = 0;
    if (getrandom(&tag, sizeof tag, GRND_NONBLOCK) != (ssize_t)sizeof tag) {
        struct timespec now;
        (void)clock_gettime(CLOCK_REALTIME, &now);
        tag = ((uint64_t)now.tv_sec << 30 ^ (uint64_t)now.tv_nsec) * UINT64_C(0x9e3779b97f4a7c15) ^
              (uint64_t)getpid();
    }
    return tag == 0 ? 1 : tag; /* a caller takes 0 for "no tag" */
}
