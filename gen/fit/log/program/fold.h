/* SPDX-License-Identifier: BSD-3-Clause */
/* Folds a sequence of numbers to nested loops, as ScalaTrace does (Noeth, Ratn, Mueller, Schulz, de Supinski:
 * "ScalaTrace: Scalable Compression and Replay of Communication Traces for High-Performance Computing", JPDC
 * 69(8), 2009). A sequence that occurs twice in a row becomes a loop. A sequence after a loop that equals its
 * body becomes one more turn. An inner loop may have another number of turns each time. */
#ifndef HPCW_GEN_FIT_LOG_PROGRAM_FOLD_H
#define HPCW_GEN_FIT_LOG_PROGRAM_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

enum { FIT_LOOP = UINT32_MAX };

struct fit_node {
    uint32_t number; /* FIT_LOOP: the node is a loop */
    uint32_t *child; /* [children] nodes in the body of a loop */
    /* [times] of a loop: number of turns each time that the program enters it */
    uint32_t *turns;
    size_t children, times, turn_capacity;
    uint64_t hash; /* hash of the content, without numbers of turns */
    bool used;     /* part of the tree; false: merged into another node */
    uint32_t site; /* of a number: index of its place in the text */
    /* [versions] of a number: version i has the number `number + i` and holds from the start[i]-th visit on,
     * counted from 0 */
    uint32_t *start;
    size_t versions; /* 0: the number never changes */
};

struct fit_tree {
    struct fit_node *node;
    size_t nodes, node_capacity;
    uint32_t *top; /* [tops] nodes of the outermost level, in order */
    size_t tops, top_capacity;
    uint32_t sites;
};

/* Folds `count` numbers. Free the tree also after a failure. HPCW_ENOMEM. */
hpcw_status fit_fold(const uint32_t *number, size_t count, struct fit_tree *tree, hpcw_error *err);
void fit_tree_free(struct fit_tree *tree);

/* Returns whether all loops in a node have a constant number of turns. */
bool fit_tree_is_plain(const struct fit_tree *tree, uint32_t node);

/* Unrolls a plain loop: its turns follow each other. Renumbers the sites. Returns false when memory runs out. */
bool fit_tree_unroll(struct fit_tree *tree, uint32_t loop);
bool fit_turns_the_same(const struct fit_node *loop);

/* Position of a number in the text. turn: turn of the given loop, or of the loops that contain it, from 1; 0:
 * outside of them. */
struct fit_place {
    uint32_t site, turn;
    /* the innermost loop if it is another one and has a constant number of at most FIT_FEW turns; FIT_LOOP:
     * none */
    uint32_t inner;
    uint32_t part; /* turn of `inner`, from 0 */
};
enum { FIT_FEW = 8 };

/* Fills place[count], with the `count` of fit_fold. loop: the node whose turns are counted; FIT_LOOP: none.
 * HPCW_ENOMEM. */
hpcw_status fit_tree_places(const struct fit_tree *tree, uint32_t loop, struct fit_place *place, size_t count,
                            hpcw_error *err);

#endif
