/* SPDX-License-Identifier: BSD-3-Clause */
/* Named statistics of a data set, for the comparison with another data set. Each statistic is computed over all
 * ranks and over two halves of the ranks. The difference of the halves shows the spread by chance. */
#ifndef HPCW_GEN_FIT_FACTS_H
#define HPCW_GEN_FIT_FACTS_H

#include <stddef.h>

#include <hpcw/status.h>

#include "gen/fit/sketch.h"

enum gen_fit_kind {
    GEN_FIT_MARGINAL,
    GEN_FIT_CORRELATION,
    GEN_FIT_SHARE,
    /* value >= 0; compared as a ratio, after 1 / samples is added to both values */
    GEN_FIT_FACTOR,
    /* compared as a ratio: alike if the relative difference of the values is at most `allowed` */
    GEN_FIT_RATIO,
    GEN_FIT_AMOUNT, /* compared as a difference: alike if the values differ by at most `allowed` */
    /* amounts of several kinds, compared by the total variation distance of the kinds' shares */
    GEN_FIT_MIX,
    GEN_FIT_MATRIX, /* amounts of pairs of ranks, compared by the correlation of the amounts */
    /* amounts of several kinds. Alike if, in the real data, the amount of the twin's largest kind is at most
     * `allowed` below the largest amount. */
    GEN_FIT_LARGEST,
    /* numbers of turns of nested loops, by depth; `value` is the number of turns of the main loop. Alike if the
     * main loop of one side is also a loop of the other side. */
    GEN_FIT_NEST,
};

/* An amount, and the key of the kind or pair that has this amount. */
struct gen_fit_part {
    uint64_t key;
    double amount;
};

struct gen_fit_fact {
    const char *format, *name, *unit; /* static texts */
    enum gen_fit_kind kind;
    struct gen_fit_sketch *half[2]; /* distribution over each half of the ranks, for a marginal; owned */
    /* value over all ranks and over each half of the ranks; NaN: unknown; unused for a marginal */
    double value, part[2];
    /* number of independent samples behind a correlation; for a factor: see GEN_FIT_FACTOR */
    double samples;
    double allowed;             /* tolerance of the kinds whose comment names it */
    struct gen_fit_part *piece; /* [pieces] amounts of a mix or a matrix, in ascending order of keys; owned */
    size_t pieces;
};

struct gen_fit_facts {
    struct gen_fit_fact *item;
    size_t count, capacity;
};

/* Adds a fact. The list owns the distributions (sketches) of the fact, even after a failure (HPCW_ENOMEM). A fact
 * without samples or with an unknown value is dropped. */
hpcw_status gen_fit_facts_add(struct gen_fit_facts *facts, const struct gen_fit_fact *fact, hpcw_error *err);
void gen_fit_facts_free(struct gen_fit_facts *facts);

#endif
