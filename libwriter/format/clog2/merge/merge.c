/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/format/clog2/merge/merge.h"

#include "libwriter/comm/comm.h"
#include "libwriter/format/clog2/file/file.h"

hpcw_status hpcw_i_clog2_merge_alone(hpcw_clog2 *file, struct hpcw_i_clog2_stream *stream, uint64_t *blocks,
                                     hpcw_error *err) {
    hpcw_clog2_slice *slice = NULL;
    hpcw_status s = hpcw_clog2_slice_new(file, 0, &slice, err);
    if (s == HPCW_OK) {
        s = hpcw_clog2_slice_place(slice, 0, err);
    }
    double time;
    uint32_t size;
    while (s == HPCW_OK && hpcw_i_clog2_stream_peek(stream, &time, &size)) {
        unsigned char *space;
        size_t room, most, used, count;
        s = hpcw_i_clog2_slice_space(slice, size, time, &space, &room, &most, err);
        if (s == HPCW_OK) {
            s = hpcw_i_clog2_stream_fill(stream, space, room, most, &used, &count, err);
            hpcw_i_clog2_slice_took(slice, used, count);
        }
    }
    if (s == HPCW_OK) {
        s = hpcw_clog2_slice_end(slice, HPCW_CLOG2_LAST, err);
    }
    *blocks = hpcw_clog2_slice_blocks(slice);
    hpcw_clog2_slice_free(slice);
    return s;
}

hpcw_status hpcw_i_clog2_merge(hpcw_clog2 *file, hpcw_comm *comm, struct hpcw_i_clog2_stream *stream,
                               uint64_t *blocks, hpcw_error *err) {
    *blocks = 0;
    return comm->size == 1 ? hpcw_i_clog2_merge_alone(file, stream, blocks, err)
                           : hpcw_i_clog2_merge_partitioned(file, comm, stream, blocks, err);
}
