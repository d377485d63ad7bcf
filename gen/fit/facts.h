/* SPDX-License-Identifier: BSD-3-Clause */
/* Named statistics of a data set, to be compared with those of another one. Each is computed over all ranks and
 * over two halves of the ranks. The difference of the halves shows the spread by chance. */
#ifndef HPCW_GEN_FIT_FACTS_H
#define HPCW_GEN_FIT_FACTS_H

#include <stddef.h>

#include <hpcw/status.h>

#include "gen/fit/sketch.h"

enum gen_fit_kind {
    GEN_FIT_MARGINAL,
    GEN_FIT_CORRELATION,
    GEN_FIT_SHARE,
    /* a number >= 0, compared as a ratio after one of `samples` things is added to both sides */
    GEN_FIT_FACTOR,
    /* compared as a ratio: alike if the relative difference is at most `allowed` */
    GEN_FIT_RATIO,
    GEN_FIT_AMOUNT, /* alike if they differ by at most `allowed` */
    GEN_FIT_MIX,    /* amounts by kind, compared by the total variation of their shares */
    GEN_FIT_MATRIX, /* amounts by pair, compared by their correlation */
    /* amounts by kind. Let A be the largest item of the twin, and B that of the real data. They are alike if in the
     * real data the amount of A is at most `allowed` below that of B. */
    GEN_FIT_LARGEST,
    /* turns of loops in each other, by depth; the value is that of one of them. Alike if both sides have a loop with
     * the value of one side. */
    GEN_FIT_NEST,
};

/* An amount, and the key of its kind or pair. */
struct gen_fit_part {
    uint64_t key;
    double amount;
};

struct gen_fit_fact {
    const char *format, *name, *unit; /* static texts */
    enum gen_fit_kind kind;
    struct gen_fit_sketch *half[2]; /* of a marginal; owned */
    /* value over all ranks and over each half, for kinds other than a marginal; NaN: unknown */
    double value, part[2];
    /* a correlation: number of independent samples; a factor: see GEN_FIT_FACTOR */
    double samples;
    double allowed;             /* tolerance, for the kinds that use it */
    struct gen_fit_part *piece; /* [pieces] of a mix or a matrix, in ascending order of keys; owned */
    size_t pieces;
};

struct gen_fit_facts {
    struct gen_fit_fact *item;
    size_t count, capacity;
};

/* Adds a fact. The list owns its sketches, even after a failure (HPCW_ENOMEM). A fact without samples or with an
 * unknown value is dropped. */
hpcw_status gen_fit_facts_add(struct gen_fit_facts *facts, const struct gen_fit_fact *fact, hpcw_error *err);
void gen_fit_facts_free(struct gen_fit_facts *facts);

#endif
