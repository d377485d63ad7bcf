/* SPDX-License-Identifier: BSD-3-Clause */
/* F3: what the close needs of the data path. */
#ifndef HPCW_FORMAT_SION_DATA_DATA_H
#define HPCW_FORMAT_SION_DATA_DATA_H

#include "libwriter/format/sion/handle/handle.h"

/* Writes out all buffers. */
hpcw_status hpcw_i_sion_flush_all(struct hpcw_sion *h, hpcw_error *err);

#endif
