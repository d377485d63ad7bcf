/* SPDX-License-Identifier: BSD-3-Clause */
/* Folds a sequence of numbers to nested loops, as ScalaTrace does (Noeth, Ratn, Mueller, Schulz, de Supinski:
 * "ScalaTrace: Scalable Compression and Replay of Communication Traces for High-Performance Computing", JPDC
 * 69(8), 2009). A sequence that occurs twice in a row becomes a loop. If the sequence after a loop equals the
 * loop's body, the loop gets one more turn. An inner loop may have another number of turns each time that it is
 * entered. */
#ifndef HPCW_GEN_FIT_LOG_PROGRAM_FOLD_H
#define HPCW_GEN_FIT_LOG_PROGRAM_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

enum { FIT_LOOP = UINT32_MAX };

struct fit_node {
    uint32_t number; /* number of the step; FIT_LOOP: the node is a loop */
    uint32_t *child; /* [children] nodes in the body of a loop */
    /* [times] number of turns of a loop, for each time that the program enters the loop */
    uint32_t *turns;
    size_t children, times, turn_capacity;
    uint64_t hash; /* hash of the node's content, without numbers of turns */
    bool used;     /* true: the node is part of the tree; false: it was merged into another node */
    uint32_t site; /* index of the node's line in the text, for a node that is no loop */
    /* [versions] for a step whose messages change: version i has the number `number + i`, and is used from the
     * start[i]-th execution of the step on, counted from 0 */
    uint32_t *start;
    size_t versions; /* 0: the step has the same number at each execution */
};

struct fit_tree {
    struct fit_node *node;
    size_t nodes, node_capacity;
    uint32_t *top; /* [tops] nodes that are in no loop, in order */
    size_t tops, top_capacity;
    uint32_t sites;
};

/* Folds a sequence of `count` numbers. Free *tree also after a failure. HPCW_ENOMEM. */
hpcw_status fit_fold(const uint32_t *number, size_t count, struct fit_tree *tree, hpcw_error *err);
void fit_tree_free(struct fit_tree *tree);

/* Returns whether all loops in a node have a constant number of turns. */
bool fit_tree_is_plain(const struct fit_tree *tree, uint32_t node);

/* Replaces a loop by its body, once for each turn. Needs fit_tree_is_plain. Renumbers the sites (lines of the
 * text). Returns false when memory runs out. */
bool fit_tree_unroll(struct fit_tree *tree, uint32_t loop);
bool fit_turns_the_same(const struct fit_node *loop);

/* Position of a step in the text. site: index of its line. turn: turn of the given loop, from 1, also in loops
 * inside it; 0: outside of the loop. */
struct fit_place {
    uint32_t site, turn;
    /* innermost loop around the step, if that is not the given loop and has a constant number of at most
     * FIT_FEW turns; FIT_LOOP: otherwise */
    uint32_t inner;
    uint32_t part; /* number of the turn of `inner`, from 0 */
};
enum { FIT_FEW = 8 };

/* Fills place[count] with the position of each number that fit_fold took. loop: loop whose turns are counted;
 * FIT_LOOP: none. HPCW_ENOMEM. */
hpcw_status fit_tree_places(const struct fit_tree *tree, uint32_t loop, struct fit_place *place, size_t count,
                            hpcw_error *err);

#endif
