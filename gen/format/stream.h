/* SPDX-License-Identifier: BSD-3-Clause */
/* F4: text on its way to a sink, from the first byte on. Zeroed but for the sink: nothing yet. */
#ifndef HPCW_GEN_FORMAT_STREAM_H
#define HPCW_GEN_FORMAT_STREAM_H

#include <stdint.h>

#include <hpcw/sink.h>

#include "libwriter/base/buf.h"

struct gen_stream {
    hpcw_sink *sink;       /* the caller's */
    struct hpcw_i_buf buf; /* what comes next, appended by the caller */
    uint64_t at;           /* of the first byte of `buf` */
};

enum { GEN_STREAM_PIECE = 64 << 10 };

/* Hands on what is in `buf`, if that is `least` bytes or more, and not nothing. */
hpcw_status gen_stream_flush(struct gen_stream *s, size_t least, hpcw_error *err);

#endif
