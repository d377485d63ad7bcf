/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of a step: how they are distributed, and by what factor they are longer on one rank than on others. */
#ifndef HPCW_GEN_FIT_LOG_DRAWS_H
#define HPCW_GEN_FIT_LOG_DRAWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libwriter/base/buf.h"

/* Points of a distribution function, and the fewest values that stand behind what lies between two of them: no value leaves. */
enum { FIT_POINTS = 12, FIT_LEAST_VALUES = 5 };

/* Members that are told apart, at most: a text would have a line for each. */
enum { FIT_MOST_MEMBERS = 256 };

struct fit_draws {
    struct fit_time {
        double value;    /* seconds; later over what is known of member and turn */
        uint32_t member; /* of the role */
        uint32_t turn;   /* of the longest loop, from 1 on; 0: outside of it */
        uint32_t part;   /* of an inner loop, as in struct fit_place */
        bool first;      /* before the first step of the turn */
    } * time;            /* [count] */
    size_t count, capacity;
    double sum;
    bool follows;   /* the course of the run, and the luck of a rank in a turn */
    double first;   /* then: the time before the first turn, seconds */
    double *course; /* of this step alone, as in struct fit_course; NULL: it is that of all */

    /* fit_draws_learn fills in the rest. */
    double share[FIT_POINTS], at[FIT_POINTS]; /* [points] share of the values below, and the value */
    size_t points;                            /* 0: all values are 0 */
    double *factor;                           /* [members]; NULL: 1 */
    double shared;                            /* correlation of two members at the same time */
    double mean; /* of a step without points: its times are this, times those of all such steps */
};

/* False when memory runs out. */
bool fit_draws_add(struct fit_draws *d, struct fit_time time);

/* The factors of the members, if they differ by more than `least` seconds altogether, and by more than chance. The values are
 * then over these. False when memory runs out. */
bool fit_draws_members(struct fit_draws *d, uint32_t members, double least);

/* How much members have in common: the n-th times of each, in their order. */
void fit_draws_compare(struct fit_draws *d, uint32_t members);

/* The points. Forgets the values. */
void fit_draws_learn(struct fit_draws *d);
void fit_draws_free(struct fit_draws *d);

#endif
