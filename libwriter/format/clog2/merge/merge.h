/* SPDX-License-Identifier: BSD-3-Clause */
/* Merges the streams of all processes into one file. */
#ifndef HPCW_FORMAT_CLOG2_MERGE_MERGE_H
#define HPCW_FORMAT_CLOG2_MERGE_MERGE_H

#include "libwriter/format/clog2/merge/stream.h"

/* Merges the streams of all processes. *blocks becomes the number of blocks that this process wrote. One process
 * may fail alone; it must then pass its failure to hpcw_clog2_abandon. Collective. */
hpcw_status hpcw_i_clog2_merge(hpcw_clog2 *file, hpcw_comm *comm, struct hpcw_i_clog2_stream *stream,
                               uint64_t *blocks, hpcw_error *err);

/* Merges over at least two processes, each of which merges and writes a part of the records. */
hpcw_status hpcw_i_clog2_merge_partitioned(hpcw_clog2 *file, hpcw_comm *comm,
                                           struct hpcw_i_clog2_stream *stream, uint64_t *blocks,
                                           hpcw_error *err);

/* Merges a single stream. Not collective. */
hpcw_status hpcw_i_clog2_merge_alone(hpcw_clog2 *file, struct hpcw_i_clog2_stream *stream, uint64_t *blocks,
                                     hpcw_error *err);

#endif
