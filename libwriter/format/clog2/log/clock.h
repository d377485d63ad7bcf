/* SPDX-License-Identifier: BSD-3-Clause */
/* F3: the clock of a recording. */
#ifndef HPCW_FORMAT_CLOG2_LOG_CLOCK_H
#define HPCW_FORMAT_CLOG2_LOG_CLOCK_H

#include "libwriter/format/clog2/log/recording.h"

/* Chooses the clock. */
hpcw_status hpcw_i_clog2_clock_begin(hpcw_clog2_log *log, hpcw_error *err);

/* Collective. The processes of a host take over the zero and the tick of the first one. */
hpcw_status hpcw_i_clog2_clock_share(hpcw_clog2_log *log, hpcw_error *err);
uint64_t hpcw_i_clog2_clock_ticks(const hpcw_clog2_log *log);
uint64_t hpcw_i_clog2_system_ns(void);

#endif
