/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffered output of text to a sink, from offset 0 on. To start, zero everything except the sink. */
#ifndef HPCW_GEN_SPEC_STREAM_H
#define HPCW_GEN_SPEC_STREAM_H

#include <stdint.h>

#include <hpcw/sink.h>

#include "libwriter/base/buf.h"

struct gen_stream {
    hpcw_sink *sink;       /* borrowed from the caller */
    struct hpcw_i_buf buf; /* text that is not written yet; the caller appends to it */
    uint64_t at;           /* offset of `buf` in the sink */
};

enum { GEN_STREAM_PIECE = 64 << 10 };

/* Writes `buf` to the sink if it is not empty and has at least `least` bytes. */
hpcw_status gen_stream_flush(struct gen_stream *s, size_t least, hpcw_error *err);

#endif
