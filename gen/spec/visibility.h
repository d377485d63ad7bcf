/* SPDX-License-Identifier: BSD-3-Clause */
/* Visibility of a fault, for truth.json (doc/truth.md, "Visibility"). */
#ifndef HPCW_GEN_SPEC_VISIBILITY_H
#define HPCW_GEN_SPEC_VISIBILITY_H

#include <stdbool.h>
#include <stddef.h>

#include "libwriter/io/json.h"

enum { GEN_VISIBILITY_PEERS = 8 }; /* with fewer similar values, the visibility of a fault is unknown */

/* Adds an element to the open list "visibility". sd: distance in local standard deviations, rounded to three
 * digits; NaN: unknown. */
void gen_visibility_put(struct hpcw_i_json *json, const char *format, const char *file, double sd);

/* Adds a fault that no noise can hide to the open list "visibility". reader: pairs of a program's name and what
 * it does with the file, then NULL. reader may be NULL. */
void gen_visibility_put_certain(struct hpcw_i_json *json, const char *format, const char *file,
                                const char *const *reader);

/* Returns the median of at least one value. Sorts the values. */
double gen_visibility_median(double *value, size_t count);

/* Computes the median of values, and their standard deviation from the median absolute deviation. NaN: too few
 * values, or most are equal. Sorts the values. */
void gen_visibility_spread(double *value, size_t count, double *middle, double *sd);

/* Returns the distance of value[at] from the median of the other values, in standard deviations, which come
 * from their median absolute deviation. Values that are NaN are left out. Returns NaN if there are too few
 * values or most are equal. Sorts the values. */
double gen_visibility_sd(double *value, size_t count, size_t at);

/* As gen_visibility_sd, for many of the same values: gen_visibility_sort sorts them once, without those that are NaN,
 * and returns their number. x: one of the values, or NaN. */
size_t gen_visibility_sort(double *value, size_t count);
double gen_visibility_sd_of(const double *sorted, size_t count, double x);

#endif
