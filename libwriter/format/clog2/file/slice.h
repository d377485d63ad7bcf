/* SPDX-License-Identifier: BSD-3-Clause */
/* F3: slices whose records are encoded already. */
#ifndef HPCW_FORMAT_CLOG2_FILE_SLICE_H
#define HPCW_FORMAT_CLOG2_FILE_SLICE_H

#include <hpcw/clog2.h>

/* Free bytes for the next records, as hpcw_i_clog2_blocks_space. */
hpcw_status hpcw_i_clog2_slice_space(hpcw_clog2_slice *slice, uint32_t size, double time, unsigned char **space,
                                     size_t *room, size_t *most, hpcw_error *err);
void hpcw_i_clog2_slice_took(hpcw_clog2_slice *slice, size_t bytes, size_t records);

#endif
