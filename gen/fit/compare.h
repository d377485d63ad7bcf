/* SPDX-License-Identifier: BSD-3-Clause */
/* How alike two data sets are: a row for each fact. */
#ifndef HPCW_GEN_FIT_COMPARE_H
#define HPCW_GEN_FIT_COMPARE_H

#include <stdbool.h>

#include "gen/fit/facts.h"

struct gen_fit_row {
    const struct gen_fit_fact *real, *twin; /* NULL: the data set does not have it */
    double value[2];                        /* of both; of a marginal, its median */
    double distance, allowed;
    bool alike;
};

/*
 * Fills row[real->count + twin->count], returns their number. Alike are marginals whose distribution functions differ by at
 * most the larger of 0.05 and twice what two halves of the real ranks differ by; correlations, by at most 0.1 or twice the
 * standard error of the difference; shares, by at most 0.05 or twice what the halves differ by. What only one of them has
 * is different.
 */
size_t gen_fit_compare(const struct gen_fit_facts *real, const struct gen_fit_facts *twin,
                       struct gen_fit_row *row);

/* Writes a page with the rows and, for each marginal, both distributions. */
hpcw_status gen_fit_compare_page(const char *path, const struct gen_fit_row *row, size_t count,
                                 hpcw_error *err);

#endif
