/* SPDX-License-Identifier: BSD-3-Clause */
/* F3: the timelines of a recording. */
#ifndef HPCW_FORMAT_CLOG2_LOG_TIMELINE_H
#define HPCW_FORMAT_CLOG2_LOG_TIMELINE_H

#include "libwriter/format/clog2/log/recording.h"

/* Ends recording: the last chunk of each timeline gets its length. */
void hpcw_i_clog2_timelines_stop(hpcw_clog2_log *log);

/* Frees all timelines with their chunks and buffers. */
void hpcw_i_clog2_timelines_free(hpcw_clog2_log *log);

#endif
