/* SPDX-License-Identifier: BSD-3-Clause */
/* F3: what a program defines while it records. */
#ifndef HPCW_FORMAT_CLOG2_LOG_DEFINE_H
#define HPCW_FORMAT_CLOG2_LOG_DEFINE_H

#include "libwriter/format/clog2/log/recording.h"

/* Adds a communicator of this process. Call it under the lock. False: out of memory. */
bool hpcw_i_clog2_add_known(hpcw_clog2_log *log, const hpcw_clog2_comm_id *id, hpcw_clog2_comm_kind kind,
                            uint32_t rank);

#endif
