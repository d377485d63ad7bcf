/* SPDX-License-Identifier: BSD-3-Clause */
/* F3: the comparison of clocks. */
#ifndef HPCW_FORMAT_CLOG2_LOG_SYNC_H
#define HPCW_FORMAT_CLOG2_LOG_SYNC_H

#include "libwriter/format/clog2/log/recording.h"

/* Collective. Compares this process's clock with that of process 0: when its local time was *at, that of process 0
 * was later by *offset. */
hpcw_status hpcw_i_clog2_sync(hpcw_clog2_log *log, int64_t *at, int64_t *offset, uint64_t *round_trip,
                              hpcw_error *err);

#endif
