/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of a step: their distribution, and a factor for each rank of the role. */
#ifndef HPCW_GEN_FIT_LOG_PROGRAM_DRAWS_H
#define HPCW_GEN_FIT_LOG_PROGRAM_DRAWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libwriter/base/buf.h"

/* FIT_POINTS: most points of a distribution function. FIT_LEAST_VALUES: fewest values between two points, so
 * that no single value can be read off. */
enum { FIT_POINTS = 12, FIT_LEAST_VALUES = 5 };

/* A role with more members gets no factors, since each needs a line of the text. */
enum { FIT_MOST_MEMBERS = 256 };

struct fit_draws {
    struct fit_time {
        double value;    /* seconds; later divided by the known factors of member and turn */
        uint32_t member; /* index of the rank in its role */
        uint32_t turn;   /* turn of the longest loop, from 1; 0: outside of it */
        uint32_t part;   /* turn of an inner loop, as in struct fit_place */
        bool first;      /* true: it precedes the first step of the turn */
    } * time;            /* [count] */
    size_t count, capacity;
    double sum;
    /* true: the times are divided by the course of the run and the luck of a rank in a turn */
    bool follows;
    double first; /* if it follows: the time before the first turn, seconds */
    /* course of this step alone, as in struct fit_course; NULL: the common course */
    double *course;

    /* The members below are filled by fit_draws_learn, fit_draws_members and fit_draws_compare. */
    double share[FIT_POINTS], at[FIT_POINTS]; /* [points] share of the values below, and the value */
    size_t points;                            /* 0: all values are 0 */
    double *factor;                           /* [members] factor of each member; NULL: all 1 */
    double shared;                            /* correlation of two members at the same time */
    /* of a step without points: factor of the common distribution of such steps */
    double mean;
};

/* Returns false when memory runs out. */
bool fit_draws_add(struct fit_draws *d, struct fit_time time);

/* Learns the factors of the members if they differ by more than chance and by more than `least` seconds in
 * total. Then divides the values by them. Returns false when memory runs out. */
bool fit_draws_members(struct fit_draws *d, uint32_t members, double least);

/* Learns the correlation between members from the n-th times of each, in the order they were added. */
void fit_draws_compare(struct fit_draws *d, uint32_t members);

/* Learns the points of the distribution, then forgets the values. */
void fit_draws_learn(struct fit_draws *d);

/* Returns the mean of the times that were learned, without factors and course. */
double fit_draws_mean(const struct fit_draws *d);
void fit_draws_free(struct fit_draws *d);

#endif
