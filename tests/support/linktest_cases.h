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
    /* the caller passes the partners to the writer: those of the schedule, with the steps in reverse order */
    bool own_partners;
};

extern const struct linktest_case linktest_cases[];
extern const unsigned linktest_case_count;

/* Timings of a case, picoseconds: of `rank` with its partner, in the all-to-all test, and when retested. Many
 * timings are equal. */
uint64_t linktest_case_time(const struct linktest_case *c, uint64_t permutation, uint32_t rank,
                            uint32_t partner);
uint64_t linktest_case_all_to_all(uint64_t permutation, uint32_t rank);
uint64_t linktest_case_retest(uint64_t time_ps);

/* Host name of a rank, core of a rank, and times of the begin and end of a permutation as texts. */
void linktest_case_host(uint32_t rank, char *host, size_t size);
int32_t linktest_case_core(uint32_t rank);
void linktest_case_text(uint64_t permutation, bool end, char *text, size_t size);

/* [steps] partners of a rank in the order in which its timings are stored. */
void linktest_case_partners(const struct linktest_case *c, const hpcw_linktest_schedule *schedule,
                            uint32_t rank, uint32_t *partner);

/* Writes this process's part of a case: `count` tasks. ranks: [count] numbers of the tasks; NULL: consecutive
 * tasks, in the order of the processes. params: changed parameters; NULL: those of the case. Returns the first
 * failure. *refuses: whether the handle refused all further calls after it. figures: [permutations], or NULL. */
hpcw_status linktest_case_write(const struct linktest_case *c, const hpcw_linktest_params *params,
                                const char *path, hpcw_comm *comm, uint32_t count, const uint32_t *ranks,
                                hpcw_linktest_range *figures, bool *refuses, hpcw_error *err);

#endif
