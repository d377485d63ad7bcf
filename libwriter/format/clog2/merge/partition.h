/* SPDX-License-Identifier: BSD-3-Clause */
/* F3: merges the streams of all processes into one file; each process merges and writes its share. */
#ifndef HPCW_FORMAT_CLOG2_MERGE_PARTITION_H
#define HPCW_FORMAT_CLOG2_MERGE_PARTITION_H

#include "libwriter/format/clog2/merge/stream.h"

/* Collective over at least two processes. As hpcw_i_clog2_merge. */
hpcw_status hpcw_i_clog2_merge_partitioned(hpcw_clog2 *file, hpcw_comm *comm,
                                           struct hpcw_i_clog2_stream *stream, uint64_t *blocks,
                                           hpcw_error *err);

#endif
