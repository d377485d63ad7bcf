/* SPDX-License-Identifier: BSD-3-Clause */
/* F3: the streams of all processes into one file. */
#ifndef HPCW_FORMAT_CLOG2_MERGE_MERGE_H
#define HPCW_FORMAT_CLOG2_MERGE_MERGE_H

#include "libwriter/format/clog2/merge/stream.h"

/*
 * Collective. Every process brings its stream. *blocks: how many this process wrote. The status is that of this process
 * alone: give a failure to hpcw_clog2_abandon.
 */
hpcw_status hpcw_i_clog2_merge(hpcw_clog2 *file, hpcw_comm *comm, struct hpcw_i_clog2_stream *stream,
                               uint64_t *blocks, hpcw_error *err);

/* The same for a stream that is all there is. */
hpcw_status hpcw_i_clog2_merge_alone(hpcw_clog2 *file, struct hpcw_i_clog2_stream *stream, uint64_t *blocks,
                                     hpcw_error *err);

#endif
