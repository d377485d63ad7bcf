/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sequence of numbers as nested loops, as ScalaTrace (Noeth, Ratn, Mueller, Schulz, de Supinski: "ScalaTrace: Scalable Compression
 * and Replay of Communication Traces for High-Performance Computing", JPDC 69(8), 2009) folds it: what just happened twice is a
 * loop, and what happens after a loop and is as its body is one more turn of it. How often an inner loop turns may differ
 * from time to time.
 */
#ifndef HPCW_GEN_FIT_LOG_FOLD_H
#define HPCW_GEN_FIT_LOG_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

enum { FIT_LOOP = UINT32_MAX };

struct fit_node {
    uint32_t number; /* FIT_LOOP: a loop */
    uint32_t *child; /* [children] of a loop: nodes */
    uint32_t *turns; /* [times] of a loop: how often it turns each time that the program comes to it */
    size_t children, times, turn_capacity;
    uint64_t hash; /* of what it does, without numbers of turns */
    bool used;     /* in the tree: others have become a part of a loop */
    uint32_t site; /* of a number: places are counted in the order of the text */
    uint32_t *
        start; /* [versions] of a number: from its how many-th time on it is this number, the next one, and so on; from 0 on */
    size_t versions; /* 0: it is always the same */
};

struct fit_tree {
    struct fit_node *node;
    size_t nodes, node_capacity;
    uint32_t *top; /* [tops] nodes, one after the other */
    size_t tops, top_capacity;
    uint32_t sites;
};

/* Free also after a failure. HPCW_ENOMEM. */
hpcw_status fit_fold(const uint32_t *number, size_t count, struct fit_tree *tree, hpcw_error *err);
void fit_tree_free(struct fit_tree *tree);

/* Whether a node and all loops in it always turn as often. */
bool fit_tree_is_plain(const struct fit_tree *tree, uint32_t node);

/* Writes the turns of a loop that is plain one after the other. Changes the numbers of sites. False when
 * memory runs out. */
bool fit_tree_unroll(struct fit_tree *tree, uint32_t loop);
bool fit_turns_the_same(const struct fit_node *loop);

/* Where in the text a number is, and after the begin of which turn of a loop, or of the loops in which that is: from 1 on; 0:
 * outside of them. */
struct fit_place {
    uint32_t site, turn;
    uint32_t
        inner; /* the innermost loop, if it is another one and always turns as often, at most FIT_FEW times; FIT_LOOP: none */
    uint32_t part; /* which turn of that, from 0 on */
};
enum { FIT_FEW = 8 };

/* Fills place[count], `count` as it was folded. `loop`: a node, all of whose turns are counted; FIT_LOOP: none. HPCW_ENOMEM. */
hpcw_status fit_tree_places(const struct fit_tree *tree, uint32_t loop, struct fit_place *place, size_t count,
                            hpcw_error *err);

#endif
