/* SPDX-License-Identifier: BSD-3-Clause */
/* How alike two data sets are: a row for each fact. */
#ifndef HPCW_GEN_FIT_COMPARE_H
#define HPCW_GEN_FIT_COMPARE_H

#include <hpcw/sink.h>

#include "gen/fit/facts.h"

enum gen_fit_verdict { GEN_FIT_DIFFERENT, GEN_FIT_ALIKE, GEN_FIT_UNKNOWN, GEN_FIT_VERDICTS };

struct gen_fit_row {
    const struct gen_fit_fact *real, *twin; /* NULL: the data set does not have it */
    double value[2];                        /* of both; of a marginal, its median */
    double distance, allowed;
    enum gen_fit_verdict verdict;
};

/*
 * Fills row[real->count + twin->count], returns their number. Alike are marginals whose distribution functions differ by at
 * most the larger of 0.05 and twice what two halves of the real ranks differ by; correlations, by at most 0.1 or twice the
 * standard error of the difference; shares, by at most 0.05 or twice what the halves differ by; factors, by at most 2, of few
 * counts 2.7. What only one of them has
 * is different. If a distance of 1 would be allowed, nothing is known: there are too few ranks.
 */
size_t gen_fit_compare(const struct gen_fit_facts *real, const struct gen_fit_facts *twin,
                       struct gen_fit_row *row);

const char *gen_fit_verdict_name(enum gen_fit_verdict verdict);

/* Writes a page with the rows and, for each marginal, both distributions. Publishes and frees the sink. */
hpcw_status gen_fit_compare_page(hpcw_sink *sink, const char *lacks, const struct gen_fit_row *row,
                                 size_t count, hpcw_error *err);

#endif
