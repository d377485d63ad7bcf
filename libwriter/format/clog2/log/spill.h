/* SPDX-License-Identifier: BSD-3-Clause */
/* F3: chunks that go to the local file of a process while it records. */
#ifndef HPCW_FORMAT_CLOG2_LOG_SPILL_H
#define HPCW_FORMAT_CLOG2_LOG_SPILL_H

#include "libwriter/format/clog2/log/recording.h"

/* Under the lock. Wakes or starts the helper thread if it must write a chunk. */
void hpcw_i_clog2_spill_wake(hpcw_clog2_log *log);

/* Under the lock. Whether a buffer may become free, so that it makes sense to wait for `changed`. */
bool hpcw_i_clog2_spill_may_wait(const hpcw_clog2_log *log);

/* Ends the helper thread. Chunks that it has not written stay in memory. */
void hpcw_i_clog2_spill_stop(hpcw_clog2_log *log);

#endif
