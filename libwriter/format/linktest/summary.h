/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The summary of all timings, in task 0's stream. Times are whole picoseconds and sums are exact integers, so that
 * parts can be merged in any grouping with the same result.
 */
#ifndef HPCW_FORMAT_LINKTEST_SUMMARY_H
#define HPCW_FORMAT_LINKTEST_SUMMARY_H

#include "libwriter/format/linktest/params.h"

/* Limit of a time. Times below it are converted to a double exactly, by one OR and one subtraction. */
#define HPCW_I_LINKTEST_TIME_LIMIT (UINT64_C(1) << 52)

/* The slowest connections, as a heap. The fastest of them is entry 0. */
struct hpcw_i_linktest_slowest {
    hpcw_linktest_slow *entry; /* [wanted] */
    size_t count;
    size_t wanted;
};

void hpcw_i_linktest_range_clear(hpcw_linktest_range *r);
void hpcw_i_linktest_range_add(hpcw_linktest_range *r, uint64_t time_ps);

/* Return a time in seconds, or the mean of a range: the double nearest to the exact value. */
double hpcw_i_linktest_seconds(uint64_t time_ps);
double hpcw_i_linktest_mean_seconds(const hpcw_linktest_range *r);

/* Keeps a connection if it is among the slowest. Slower connections come first in the order; equally slow ones are
 * ordered by measuring task, then by partner. */
void hpcw_i_linktest_slowest_add(struct hpcw_i_linktest_slowest *s, const hpcw_linktest_slow *entry);

/* Encodes a row of `count` timings as doubles (little-endian, at any address), and computes their range in the
 * same pass. Returns the index of the first timing that the format does not allow (0, or too large), or `count`
 * if all are allowed. */
size_t hpcw_i_linktest_encode_times(const uint64_t *time_ps, size_t count, unsigned char *out,
                                    hpcw_linktest_range *range);

/* Encodes the summary as hpcw_i_linktest_summary_size bytes. `slow` has the retested connections, sorted, with
 * their retests. */
void hpcw_i_linktest_encode_summary(const hpcw_linktest_params *p, const char *start, const char *end,
                                    const hpcw_linktest_range *times, const hpcw_linktest_range *all_to_all,
                                    const hpcw_linktest_slow *slow, unsigned char *out);

#endif
