/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares two data sets fact by fact. Each fact gives a row. */
#ifndef HPCW_GEN_FIT_COMPARE_H
#define HPCW_GEN_FIT_COMPARE_H

#include <hpcw/sink.h>

#include "gen/fit/facts.h"

enum gen_fit_verdict { GEN_FIT_DIFFERENT, GEN_FIT_ALIKE, GEN_FIT_UNKNOWN, GEN_FIT_VERDICTS };

struct gen_fit_row {
    const struct gen_fit_fact *real, *twin; /* NULL: this data set does not have the fact */
    /* values of the real data and of the twin; for a marginal, the medians */
    double value[2];
    double distance, allowed;
    enum gen_fit_verdict verdict;
};

/* Fills row[real->count + twin->count] and returns the number of rows. Two facts count as alike as follows:
 * - marginal: the distribution functions differ by at most max(0.05, twice the difference of those of
 * the two halves of the real ranks);
 * - correlation: the values differ by at most max(0.1, twice the standard error of the difference);
 * - share: the values differ by at most max(0.05, twice the difference between the halves of the real ranks);
 * - factor: the ratio is at most 2, or 2.7 for small counts.
 * A fact that only one side has is different. A fact is unknown if there are so few ranks that even a distance
 * of 1 would be allowed. */
size_t gen_fit_compare(const struct gen_fit_facts *real, const struct gen_fit_facts *twin,
                       struct gen_fit_row *row);

const char *gen_fit_verdict_name(enum gen_fit_verdict verdict);

/* Writes a page with the rows of a comparison, and a chart of the two distributions of each compared quantity.
 * name: names of the real data and of the twin. lacks: what a partial twin lacks; NULL: the twin is not partial.
 * Publishes and frees the sink. */
hpcw_status gen_fit_compare_page(hpcw_sink *sink, const char *const name[2], const char *lacks,
                                 const struct gen_fit_row *row, size_t count, hpcw_error *err);

#endif
