/* SPDX-License-Identifier: BSD-3-Clause */
/* The critical path of a log whose waits are known. */
#ifndef HPCW_GEN_WAITS_PATH_H
#define HPCW_GEN_WAITS_PATH_H

#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "gen/export/log.h"
#include "gen/waits/states.h"
#include "gen/waits/waits.h"

/* A wait of `rank` for the rank `cause`. */
struct waits_path_wait {
    uint64_t from_ns, to_ns;
    uint32_t rank, cause;
};

/* Follows the path backwards from the end of `last_rank`. Puts its length on each rank into states->w->rank, and its
 * shares into states->w->share. Reads the log once and clears the open states. Sorts the waits by rank.
 *
 * HPCW_OK; HPCW_ENOMEM; as gen_log_run fails. */
hpcw_status waits_path_find(struct waits_states *states, struct gen_log *log, struct waits_path_wait *wait,
                            size_t waits, uint32_t last_rank, hpcw_error *err);

#endif
