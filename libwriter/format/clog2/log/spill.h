/* SPDX-License-Identifier: BSD-3-Clause */
/* F3: chunks that go to the local file of a process while it records. */
#ifndef HPCW_FORMAT_CLOG2_LOG_SPILL_H
#define HPCW_FORMAT_CLOG2_LOG_SPILL_H

#include "libwriter/format/clog2/log/recording.h"

/* Under the lock: wakes the helper thread, or starts it, if there is a chunk that it must write. */
void hpcw_i_clog2_spill_wake(hpcw_clog2_log *log);

/* Under the lock: whether a chunk may become free, so that waiting for `changed` makes sense. */
bool hpcw_i_clog2_spill_may_wait(const hpcw_clog2_log *log);

/* Ends the helper thread. What it did not write stays in memory. */
void hpcw_i_clog2_spill_stop(hpcw_clog2_log *log);

#endif
