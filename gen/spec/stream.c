/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/spec/stream.h"

hpcw_status gen_stream_flush(struct gen_stream *s, size_t least, hpcw_error *err) {
    if (s->buf.size < least || s->buf.size == 0) {
        return HPCW_OK;
    }
    hpcw_status status = hpcw_sink_write_at(s->sink, s->at, s->buf.data, s->buf.size, err);
    s->at += s->buf.size;
    s->buf.size = 0;
    return status;
}
