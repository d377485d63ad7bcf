/* SPDX-License-Identifier: BSD-3-Clause */
/* Distribution of the times of a step, with a factor for each member: a rank of the step's role. */
#ifndef HPCW_GEN_FIT_LOG_PROGRAM_DRAWS_H
#define HPCW_GEN_FIT_LOG_PROGRAM_DRAWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libwriter/base/buf.h"

/* FIT_POINTS: most points of a distribution function. FIT_LEAST_VALUES: fewest values between two points, so
 * that no single value can be read off. */
enum { FIT_POINTS = 12, FIT_LEAST_VALUES = 5 };

/* Roles with more members get no factors, since the text would have a line for each factor. */
enum { FIT_MOST_MEMBERS = 256 };

struct fit_draws {
    struct fit_time {
        double value;    /* seconds; later divided by the known factors of the member and of the turn */
        uint32_t member; /* index of the rank in its role */
        uint32_t turn;   /* number of the turn of the main loop, from 1; 0: outside of the loop */
        uint32_t part;   /* number of the turn of an inner loop, as in struct fit_place */
        bool first;      /* true: this is the time before the first step of a turn */
    } * time;            /* [count] */
    size_t count, capacity;
    double sum;
    /* true: the times are divided by the course of the run and by luck */
    bool follows;
    /* mean time before the first turn of the main loop, seconds; only if `follows` */
    double first;
    /* [groups] course of this step alone, as in struct fit_course; NULL: the common course */
    double *course;

    /* The members below are filled by fit_draws_learn, fit_draws_members and fit_draws_compare. */
    /* [points] points of the distribution function. at: a time, seconds. share: share of shorter times. */
    double share[FIT_POINTS], at[FIT_POINTS];
    /* number of points; 0: all values are 0, or only `mean` is set */
    size_t points;
    double *factor; /* [members] factor of each member; NULL: all 1 */
    /* correlation between the times of two members when they execute the step */
    double shared;
    /* mean time of a minor step, seconds. All minor steps, whose times are short, share one distribution. */
    double mean;
};

/* Returns false when memory runs out. */
bool fit_draws_add(struct fit_draws *d, struct fit_time time);

/* Learns a factor for each member if the members differ by more than chance, and by more than `least` seconds
 * in total. Then divides the values by the factors. Returns false when memory runs out. */
bool fit_draws_members(struct fit_draws *d, uint32_t members, double least);

/* Learns the correlation between successive members: the n-th time of one and the n-th time of the next are a
 * pair. */
void fit_draws_compare(struct fit_draws *d, uint32_t members);

/* Learns the points of the distribution, then forgets the values. */
void fit_draws_learn(struct fit_draws *d);

/* Returns the mean of the learned distribution, without the factors of members and course. */
double fit_draws_mean(const struct fit_draws *d);
void fit_draws_free(struct fit_draws *d);

#endif
