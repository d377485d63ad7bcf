/* SPDX-License-Identifier: BSD-3-Clause */
/* Containers that several suites write: those that the real library's golden files have, and some of our own. The
 * tasks of each container can be divided among any processes. */
#ifndef HPCW_TESTS_SUPPORT_SION_CASES_H
#define HPCW_TESTS_SUPPORT_SION_CASES_H

#include <hpcw/sion.h>

struct sion_case {
    const char *name; /* file name */
    /* real file that must be reproduced byte for byte; NULL: none */
    const char *golden;
    uint32_t tasks;
    uint32_t files;            /* number of files of the set */
    bool by_parity;            /* one file per colour, with even and odd tasks apart */
    uint64_t chunk[8];         /* requested sizes; task t gets chunk[t % 8] */
    hpcw_sion_options options; /* all options except ownership, sizes and files */
    /* Writes the whole stream of a task. */
    hpcw_status (*write)(hpcw_sion *sion, uint32_t task, hpcw_error *err);
};

extern const struct sion_case sion_cases[];
extern const unsigned sion_case_count;

/* Returns byte k of the logical data of a task in every golden file. */
unsigned char golden_byte(uint32_t task, uint64_t k);

/* Returns options of a case for a process with `count` tasks. ranks: [count] numbers of the tasks; NULL:
 * consecutive tasks, in the order of the processes. sizes: [count]. */
hpcw_sion_options sion_case_options(const struct sion_case *c, uint32_t count, const uint32_t *ranks,
                                    const uint64_t *sizes);

#endif
