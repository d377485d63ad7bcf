/* SPDX-License-Identifier: BSD-3-Clause */
/* How visible a fault is, for truth.json (doc/truth.md, "Visibility"). */
#ifndef HPCW_GEN_SPEC_VISIBILITY_H
#define HPCW_GEN_SPEC_VISIBILITY_H

#include <stdbool.h>
#include <stddef.h>

#include "libwriter/io/json.h"

enum { GEN_VISIBILITY_PEERS = 8 }; /* with fewer of them nobody can tell */

/* Adds an element to an open list "visibility". `sd`: local standard deviations, rounded to three digits; NaN: nobody can
 * tell. */
void gen_visibility_put(struct hpcw_i_json *json, const char *format, const char *file, double sd);

/* The same for what no noise can hide. `reader`: names of programs and what they do, pairs that end with NULL; may be
 * NULL. */
void gen_visibility_put_certain(struct hpcw_i_json *json, const char *format, const char *file,
                                const char *const *reader);

/* The median of at least one value. Sorts them. */
double gen_visibility_median(double *value, size_t count);

/* The median of values and their standard deviation, by their median distance from it; NaN for few of them, or if most are
 * equal. Sorts the values. */
void gen_visibility_spread(double *value, size_t count, double *middle, double *sd);

/*
 * How far value[at] is from the median of the others, in standard deviations of these, by their median distance from it.
 * NaN for few of them, or if most are equal. NaN among the values: not known. Sorts the values.
 */
double gen_visibility_sd(double *value, size_t count, size_t at);

#endif
