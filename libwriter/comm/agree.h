/* SPDX-License-Identifier: BSD-3-Clause */
/* F2: one verdict on all processes. Used at the edges of phases (open, layout, finish), never per write. */
#ifndef HPCW_COMM_AGREE_H
#define HPCW_COMM_AGREE_H

#include "libwriter/comm/comm.h"

/*
 * Collective. Every process brings its own status, with its message in `*err` if it failed. All return the
 * status of the process that failed first (lowest number), with that process's message and number in `*err`. If
 * nobody failed, HPCW_OK. `err` may be NULL.
 *
 * `words`, which may be NULL, travel in the same reduction; they are reduced only if the result is HPCW_OK.
 */
hpcw_status hpcw_i_agree(hpcw_comm *comm, hpcw_status mine, struct hpcw_i_words *words, hpcw_error *err);

/*
 * Collective. The second half of an agreement, where all know already that `process` failed: it brings its status and
 * its message, and all return that status with that message.
 */
hpcw_status hpcw_i_tell(hpcw_comm *comm, int process, hpcw_status mine, hpcw_error *err);

#endif
