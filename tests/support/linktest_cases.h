/* SPDX-License-Identifier: BSD-3-Clause */
/* LinkTest results that several suites write. Together they use every flag. Each can be written by any processes
 * that together own its tasks. */
#ifndef HPCW_TESTS_SUPPORT_LINKTEST_CASES_H
#define HPCW_TESTS_SUPPORT_LINKTEST_CASES_H

#include <hpcw/linktest.h>

struct linktest_case {
    const char *name;            /* file name */
    hpcw_linktest_params params; /* all parameters except ownership */
    bool retest;                 /* retest the slowest connections */
    /* the caller names the partners: the schedule with its steps in reverse order */
    bool own_partners;
};

extern const struct linktest_case linktest_cases[];
extern const unsigned linktest_case_count;

/* Times that `rank` measures with its partner, and in the all-to-all test, in picoseconds. Many are equal. */
uint64_t linktest_case_time(const struct linktest_case *c, uint64_t permutation, uint32_t rank,
                            uint32_t partner);
uint64_t linktest_case_all_to_all(uint64_t permutation, uint32_t rank);
uint64_t linktest_case_retest(uint64_t time_ps);

/* Host of a rank; begin and end of a permutation. */
void linktest_case_host(uint32_t rank, char *host, size_t size);
int32_t linktest_case_core(uint32_t rank);
void linktest_case_text(uint64_t permutation, bool end, char *text, size_t size);

/* [steps] partners of a rank in the order in which its timings are stored. */
void linktest_case_partners(const struct linktest_case *c, const hpcw_linktest_schedule *schedule,
                            uint32_t rank, uint32_t *partner);

/* Writes this process's part of a case: `count` tasks. ranks: their numbers; NULL: the next ones. params: changed
 * parameters; NULL: none. Returns the first failure. *refuses: whether the handle then refused all further calls.
 * figures: [permutations], or NULL. */
hpcw_status linktest_case_write(const struct linktest_case *c, const hpcw_linktest_params *params,
                                const char *path, hpcw_comm *comm, uint32_t count, const uint32_t *ranks,
                                hpcw_linktest_range *figures, bool *refuses, hpcw_error *err);

#endif
