/* SPDX-License-Identifier: BSD-3-Clause */
/* Counter files that several suites write. */
#ifndef HPCW_TESTS_SUPPORT_COUNTER_CASES_H
#define HPCW_TESTS_SUPPORT_COUNTER_CASES_H

#include <hpcw/counter.h>

/* Mixes large and small values, so that the sum wraps around. */
static inline uint64_t counter_case_value(uint32_t rank) {
    return rank % 3 == 0 ? UINT64_MAX - rank : 1000 * (uint64_t)rank;
}

/* Collective. Writes a whole file, in which this process owns options->count ranks. Returns the first failure. */
static inline hpcw_status counter_case_write(const char *path, hpcw_comm *comm,
                                             const hpcw_counter_options *options, hpcw_error *err) {
    hpcw_counter *c;
    hpcw_status s = hpcw_counter_open(path, comm, options, &c, err);
    if (s != HPCW_OK) {
        return s;
    }
    uint32_t first = hpcw_counter_first_rank(c);
    for (uint32_t rank = first; s == HPCW_OK && rank < first + options->count; rank++) {
        s = hpcw_counter_write(c, rank, counter_case_value(rank), err);
    }
    s = hpcw_counter_close(c, err);
    hpcw_counter_free(c);
    return s;
}

#endif
