/* SPDX-License-Identifier: BSD-3-Clause */
/* Log of an invented program for the tests of writers: all its records, in order. */
#ifndef HPCW_TESTS_SUPPORT_CLOG2_CASES_H
#define HPCW_TESTS_SUPPORT_CLOG2_CASES_H

#include <hpcw/clog2.h>

struct clog2_case {
    hpcw_clog2_options options;
    hpcw_clog2_record *record;
    size_t count, room;
    double time; /* time of the next record, for clog2_case_add */
};

/* Makes a log in which `ranks` ranks compute, exchange in a ring and report, `steps` times. It has every kind of
 * record. The case must not be moved. Free it with clog2_case_free. */
void clog2_case_make(struct clog2_case *c, uint32_t ranks, uint32_t steps);
void clog2_case_free(struct clog2_case *c);

/* Writes the records [from, to) as a slice of an open log, which begins at block `first_block`. place: this block
 * is set before the records are written, otherwise afterwards. Adds the slice's blocks to *blocks. */
hpcw_status clog2_case_slice(const struct clog2_case *c, hpcw_clog2 *log, size_t from, size_t to, bool place,
                             uint64_t first_block, uint64_t *blocks, hpcw_error *err);

/* Writes the whole log from one process, in slices of `segments` times HPCW_CLOG2_SEGMENT records; 0: one slice. */
hpcw_status clog2_case_write(const struct clog2_case *c, const char *path, size_t segments, hpcw_error *err);

#endif
