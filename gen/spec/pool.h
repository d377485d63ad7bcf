/* SPDX-License-Identifier: BSD-3-Clause */
/* Loop over indices on several threads. */
#ifndef HPCW_GEN_SPEC_POOL_H
#define HPCW_GEN_SPEC_POOL_H

#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

/* state: of a thread; zeroed at first. */
struct gen_pool_work {
    const char *name; /* name of an index in messages */
    void *context;
    size_t state_size;
    hpcw_status (*begin)(void *context, void *state, hpcw_error *err); /* called once per thread; or NULL */
    hpcw_status (*step)(void *context, void *state, uint64_t index, hpcw_error *err);
    void (*end)(void *context,
                /* called once per thread, also if begin failed; never two at once; or NULL */
                void *state);
};

/* Calls `step` once for each of the indices first .. first + count - 1. Up to `jobs` threads, including the
 * caller's, take runs of `run` indices in ascending order. After a failure no thread takes another run; the
 * failure with the lowest index is returned. If the system refuses threads, fewer do the work. */
hpcw_status gen_pool_run(uint32_t jobs, uint64_t first, uint64_t count, uint64_t run,
                         const struct gen_pool_work *work, hpcw_error *err);

/* Returns the most threads that a call with this many runs uses. */
uint32_t gen_pool_threads(uint32_t jobs, uint64_t runs);

/* Returns the number of processors that this process may use, at least 1. */
uint32_t gen_pool_processors(void);

#endif
