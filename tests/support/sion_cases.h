/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Containers that the suites write again and again: the calls that made the files of the real library, and
 * some of our own. Each can be written by any process that owns any of its tasks.
 */
#ifndef HPCW_TESTS_SUPPORT_SION_CASES_H
#define HPCW_TESTS_SUPPORT_SION_CASES_H

#include <hpcw/sion.h>

struct sion_case {
    const char *name;   /* file name */
    const char *golden; /* the real file that must come out byte for byte; NULL: there is none */
    uint32_t tasks;
    uint32_t files;            /* members of the set */
    bool by_parity;            /* one file per colour, even and odd tasks apart */
    uint64_t chunk[8];         /* requested, task t gets chunk[t % 8] */
    hpcw_sion_options options; /* everything but ownership, sizes, files */
    /* Writes the whole stream of one task. */
    hpcw_status (*write)(hpcw_sion *sion, uint32_t task, hpcw_error *err);
};

extern const struct sion_case sion_cases[];
extern const unsigned sion_case_count;

/* Byte k of the logical data of task g in every golden file. */
unsigned char golden_byte(uint32_t task, uint64_t k);

/* Options of a case for a process that owns `count` tasks, `ranks` (NULL: the next ones); `sizes` [count]. */
hpcw_sion_options sion_case_options(const struct sion_case *c, uint32_t count, const uint32_t *ranks,
                                    const uint64_t *sizes);

#endif
