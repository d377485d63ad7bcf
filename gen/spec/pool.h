/* SPDX-License-Identifier: BSD-3-Clause */
/* Loop over indices on several threads. */
#ifndef HPCW_GEN_SPEC_POOL_H
#define HPCW_GEN_SPEC_POOL_H

#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

/* Callbacks of a loop. state: memory of a thread, state_size bytes; zeroed at first. */
struct gen_pool_work {
    const char *name; /* how error messages name a step of the loop, for instance the name of the format */
    void *context;
    size_t state_size;
    /* called once by each thread; may be NULL */
    hpcw_status (*begin)(void *context, void *state, hpcw_error *err);
    hpcw_status (*step)(void *context, void *state, uint64_t index, hpcw_error *err);
    /* called once by each thread, even if `begin` failed, but never by two threads at once; may be NULL */
    void (*end)(void *context, void *state);
};

/* Calls `step` once for each of the indices first .. first + count - 1. Up to `jobs` threads, including the
 * caller's, take blocks of `run` indices, in ascending order. After a failure, no thread takes further indices;
 * the failure with the lowest index is returned. If the system refuses to create a thread, fewer threads do the
 * work. */
hpcw_status gen_pool_run(uint32_t jobs, uint64_t first, uint64_t count, uint64_t run,
                         const struct gen_pool_work *work, hpcw_error *err);

/* Returns the largest number of threads that gen_pool_run uses. runs: number of blocks of indices. */
uint32_t gen_pool_threads(uint32_t jobs, uint64_t runs);

/* Returns the number of processors that this process may use, at least 1. */
uint32_t gen_pool_processors(void);

#endif
