/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A synthetic twin of measured data. A format's reader sums up a data set in one pass; from the sums follow facts, which
 * can be compared with those of another data set, and parameters of the models, which make data that look alike.
 */
#ifndef HPCW_GEN_FIT_FIT_H
#define HPCW_GEN_FIT_FIT_H

#include "gen/fit/facts.h"
#include "gen/fit/twin.h"

/* Whether data of a format can be fitted. */
bool gen_fit_knows(enum gen_format_id format);

/* Adds what a file or directory of a format says to the facts, and to the twin if it is not NULL. gen_fit_knows(format) must
 * be true. A twin has one data set of each format. Checkpoints come after load data, whose objects decide their parameters.
 * Fails as the format's reader does. */
hpcw_status gen_fit_add(const char *path, enum gen_format_id format, struct gen_fit_facts *facts,
                        struct gen_fit_twin *twin, hpcw_error *err);

#endif
