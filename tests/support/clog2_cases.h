/* SPDX-License-Identifier: BSD-3-Clause */
/* A made-up program's log for the tests of writers: all its records, in order. */
#ifndef HPCW_TESTS_SUPPORT_CLOG2_CASES_H
#define HPCW_TESTS_SUPPORT_CLOG2_CASES_H

#include <hpcw/clog2.h>

struct clog2_case {
    hpcw_clog2_options options;
    hpcw_clog2_record *record;
    size_t count, room;
    double time; /* of the next record, in clog2_case_add */
};

/* `ranks` that compute, exchange in a ring and report, `steps` times; every kind of record is there. The case must not
 * move. Free it with clog2_case_free. */
void clog2_case_make(struct clog2_case *c, uint32_t ranks, uint32_t steps);
void clog2_case_free(struct clog2_case *c);

/* Records [from, to), as slice of an open log. `place`: known before its records are. */
hpcw_status clog2_case_slice(const struct clog2_case *c, hpcw_clog2 *log, size_t from, size_t to, bool place,
                             uint64_t first_block, uint64_t *blocks, hpcw_error *err);

/* The whole log, in slices of `segments` segments each (0: one slice), by one process. */
hpcw_status clog2_case_write(const struct clog2_case *c, const char *path, size_t segments, hpcw_error *err);

#endif
