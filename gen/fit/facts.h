/* SPDX-License-Identifier: BSD-3-Clause */
/* The statistics of a data set by name, for a comparison with those of another one. Each is known of all ranks, and of two
 * halves of them, whose difference says what chance does. */
#ifndef HPCW_GEN_FIT_FACTS_H
#define HPCW_GEN_FIT_FACTS_H

#include <stddef.h>

#include <hpcw/status.h>

#include "gen/fit/sketch.h"

enum gen_fit_kind {
    GEN_FIT_MARGINAL,
    GEN_FIT_CORRELATION,
    GEN_FIT_SHARE,
    GEN_FIT_FACTOR, /* a number > 0, or 0, of which the ratio counts: one of `samples` things is added to both sides */
    GEN_FIT_RATIO,  /* alike if the other one differs by at most the share `allowed` */
    GEN_FIT_AMOUNT, /* by at most `allowed` */
    GEN_FIT_MIX,    /* amounts of several kinds: alike by the total variation of their shares */
    GEN_FIT_MATRIX, /* amounts of pairs: alike by their correlation */
    GEN_FIT_LARGEST, /* amounts: alike if the largest one of the twin is, in the real data, at most `allowed` below the largest */
};

/* An amount of a kind or a pair, which the key tells from others. */
struct gen_fit_part {
    uint64_t key;
    double amount;
};

struct gen_fit_fact {
    const char *format, *name, *unit; /* static texts */
    enum gen_fit_kind kind;
    struct gen_fit_sketch *half[2]; /* of a marginal; owned */
    double value, part[2];          /* of the others, and that of each half; NaN: not known */
    double samples;                 /* independent ones, of a correlation; see GEN_FIT_FACTOR */
    double allowed;                 /* where the kind says so */
    struct gen_fit_part *piece;     /* [pieces] of a mix or a matrix, by ascending keys; owned */
    size_t pieces;
};

struct gen_fit_facts {
    struct gen_fit_fact *item;
    size_t count, capacity;
};

/* Adds a fact; its sketches belong to the list, also after a failure (HPCW_ENOMEM). One whose sketches are empty, or whose
 * value is not known, is left out. */
hpcw_status gen_fit_facts_add(struct gen_fit_facts *facts, const struct gen_fit_fact *fact, hpcw_error *err);
void gen_fit_facts_free(struct gen_fit_facts *facts);

#endif
