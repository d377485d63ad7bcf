/* SPDX-License-Identifier: BSD-3-Clause */
/* F4: a loop over indices on several threads. Which thread does what never shows in a result. */
#ifndef HPCW_GEN_SPEC_POOL_H
#define HPCW_GEN_SPEC_POOL_H

#include <stdint.h>

#include <hpcw/status.h>

/* Work of one index; `state` is what `begin` made for the thread, or NULL. */
struct gen_pool_work {
    void *context;
    hpcw_status (*begin)(void *context, void **state,
                         hpcw_error *err); /* once per thread; NULL: nothing to do */
    hpcw_status (*step)(void *context, void *state, uint64_t index, hpcw_error *err);
    void (*end)(void *context,
                void *state); /* once per thread whose begin succeeded; never two at once; or NULL */
};

/*
 * Calls step for first .. first + count - 1, each index once, handed out in runs of `run` in ascending order,
 * on up to `jobs` threads of which the caller's is one. After a failure no new index is handed out; of several
 * failures the one of the lowest index is reported. A system that refuses a thread gets fewer.
 */
hpcw_status gen_pool_run(uint32_t jobs, uint64_t first, uint64_t count, uint64_t run,
                         const struct gen_pool_work *work, hpcw_error *err);

/* Processors that this process may use, at least 1. */
uint32_t gen_pool_processors(void);

#endif
