/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LinkTest results that the suites write again and again: every flag is in one of them. Each can be written by
 * any processes that own its tasks together.
 */
#ifndef HPCW_TESTS_SUPPORT_LINKTEST_CASES_H
#define HPCW_TESTS_SUPPORT_LINKTEST_CASES_H

#include <hpcw/linktest.h>

struct linktest_case {
    const char *name;            /* file name */
    hpcw_linktest_params params; /* everything but ownership */
    bool retest;                 /* the slowest connections are measured again */
    bool own_partners;           /* the caller says who met whom: the schedule in reverse order of the steps */
};

extern const struct linktest_case linktest_cases[];
extern const unsigned linktest_case_count;

/* What `rank` measured with its partner, and in the all-to-all test; many are equal. Picoseconds. */
uint64_t linktest_case_time(const struct linktest_case *c, uint64_t permutation, uint32_t rank,
                            uint32_t partner);
uint64_t linktest_case_all_to_all(uint64_t permutation, uint32_t rank);
uint64_t linktest_case_retest(uint64_t time_ps);

/* Where a rank runs, and when a permutation began and ended. */
void linktest_case_host(uint32_t rank, char *host, size_t size);
int32_t linktest_case_core(uint32_t rank);
void linktest_case_text(uint64_t permutation, bool end, char *text, size_t size);

/* Partners of a rank in the order in which its timings are stored: [steps]. */
void linktest_case_partners(const struct linktest_case *c, const hpcw_linktest_schedule *schedule,
                            uint32_t rank, uint32_t *partner);

/*
 * Writes the part of a case that this process owns: `count` tasks, `ranks` (NULL: the next ones), with the
 * changes to the parameters that `params` holds (NULL: none). Returns the first failure, and says in `*refuses`
 * whether the handle then refused all further work. `figures` [permutations] may be NULL.
 */
hpcw_status linktest_case_write(const struct linktest_case *c, const hpcw_linktest_params *params,
                                const char *path, hpcw_comm *comm, uint32_t count, const uint32_t *ranks,
                                hpcw_linktest_range *figures, bool *refuses, hpcw_error *err);

#endif
