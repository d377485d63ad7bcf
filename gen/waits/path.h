/* SPDX-License-Identifier: BSD-3-Clause */
/* The critical path of a log, found from its waits. */
#ifndef HPCW_GEN_WAITS_PATH_H
#define HPCW_GEN_WAITS_PATH_H

#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "gen/export/log.h"
#include "gen/waits/states.h"
#include "gen/waits/waits.h"

struct waits_path_wait {
    uint64_t from_ns, to_ns;
    uint32_t rank, cause;
};

/* Follows the critical path backwards from the end of `last_rank`. Writes its length on each rank to
 * states->w->rank, and its shares in states to states->w->share. Reads the log once, clears the open states,
 * and sorts the waits by rank.
 *
 * Returns HPCW_OK, HPCW_ENOMEM, or the errors of gen_log_run. */
hpcw_status waits_path_find(struct waits_states *states, struct gen_log *log, struct waits_path_wait *wait,
                            size_t waits, uint32_t last_rank, hpcw_error *err);

#endif
