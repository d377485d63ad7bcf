/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/log/program/fold.h"

#include <stdbool.h>
#include <string.h>

#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/base/table.h"

/* LONGEST: most nodes in the body of a loop; longer repetitions are not found. HOPELESS: the search for loops stops
 * at this many nodes outside of loops, since the text would be too long anyway. */
enum { LONGEST = 1024, HOPELESS = 8192 };

/* base of the polynomial hash of a sequence; any odd number is possible */
#define BASE UINT64_C(0x9E3779B97F4A7C15)

struct folding {
    struct fit_tree *tree;
    uint64_t *prefix; /* [tops + 1] hashes of the prefixes of the top nodes */
    size_t prefix_capacity;
    uint64_t power[LONGEST + 1];
    bool failed; /* memory ran out */
};

static uint64_t window_hash(const struct folding *f, size_t first, size_t last) {
    return f->prefix[last] - f->prefix[first] * f->power[last - first];
}

static uint32_t new_node(struct folding *f, struct fit_node node) {
    struct fit_tree *t = f->tree;
    struct fit_node *grown = hpcw_i_grow(t->node, &t->node_capacity, t->nodes + 1, sizeof *grown);
    if (grown == NULL) {
        f->failed = true;
        return 0;
    }
    t->node = grown;
    t->node[t->nodes] = node;
    return (uint32_t)t->nodes++;
}

static void push(struct folding *f, uint32_t node) {
    struct fit_tree *t = f->tree;
    uint32_t *top = hpcw_i_grow(t->top, &t->top_capacity, t->tops + 1, sizeof *top);
    t->top = top != NULL ? top : t->top;
    uint64_t *prefix = hpcw_i_grow(f->prefix, &f->prefix_capacity, t->tops + 2, sizeof *prefix);
    f->prefix = prefix != NULL ? prefix : f->prefix;
    if (top == NULL || prefix == NULL) {
        f->failed = true;
        return;
    }
    t->top[t->tops] = node;
    f->prefix[t->tops + 1] = f->prefix[t->tops] * BASE + t->node[node].hash;
    t->tops++;
}

static void add_turns(struct folding *f, struct fit_node *loop, const uint32_t *turns, size_t count) {
    uint32_t *grown = hpcw_i_grow(loop->turns, &loop->turn_capacity, loop->times + count, sizeof *grown);
    if (grown == NULL) {
        f->failed = true;
        return;
    }
    loop->turns = grown;
    memcpy(loop->turns + loop->times, turns, count * sizeof *turns);
    loop->times += count;
}

/* Merges the node `from` into the node `to`, which equals it. Appends the numbers of turns of loops in `from`
 * to those of the same loops in `to`. */
static void join(struct folding *f, uint32_t to, uint32_t from) {
    struct fit_node *node = f->tree->node;
    if (node[to].number != FIT_LOOP) {
        return;
    }
    add_turns(f, &node[to], node[from].turns, node[from].times);
    for (size_t i = 0; !f->failed && i < node[to].children; i++) {
        join(f, node[to].child[i], node[from].child[i]);
    }
}

/* If the last `width` nodes repeat the body of the loop before them, adds a turn to that loop. The loop may
 * also be the last node in the body of another loop. Returns whether a turn was added. */
static bool turn(struct folding *f, size_t width) {
    struct fit_tree *t = f->tree;
    if (t->tops < width + 1) {
        return false;
    }
    const size_t first = t->tops - width;
    /* A loop has the hash of its body, mixed once more. */
    const uint64_t hash = hpcw_i_table_mix(window_hash(f, first, t->tops));
    struct fit_node *loop = &t->node[t->top[first - 1]];
    while (loop->number == FIT_LOOP && (loop->children != width || loop->hash != hash)) {
        loop = &t->node[loop->child[loop->children - 1]];
    }
    if (loop->number != FIT_LOOP) {
        return false;
    }
    loop->turns[loop->times - 1]++;
    for (size_t i = 0; !f->failed && i < width; i++) {
        join(f, loop->child[i], t->top[first + i]);
    }
    t->tops = first;
    return true;
}

/* If the last `width` nodes equal the `width` nodes before, replaces all of them by a loop of two turns.
 * Returns whether it did. */
static bool twice(struct folding *f, size_t width) {
    struct fit_tree *t = f->tree;
    if (t->tops < 2 * width) {
        return false;
    }
    const size_t first = t->tops - 2 * width, second = t->tops - width;
    const uint64_t hash = window_hash(f, second, t->tops);
    if (window_hash(f, first, second) != hash) {
        return false;
    }
    static const uint32_t two = 2;
    struct fit_node loop = {.number = FIT_LOOP, .children = width, .hash = hpcw_i_table_mix(hash)};
    loop.child = hpcw_i_malloc(width * sizeof *loop.child);
    f->failed = loop.child == NULL;
    if (!f->failed) {
        memcpy(loop.child, t->top + first, width * sizeof *loop.child);
        add_turns(f, &loop, &two, 1);
    }
    for (size_t i = 0; !f->failed && i < width; i++) {
        join(f, loop.child[i], t->top[second + i]);
    }
    const uint32_t node = f->failed ? 0 : new_node(f, loop);
    if (f->failed) {
        hpcw_i_free(loop.child);
        hpcw_i_free(loop.turns);
        return false;
    }
    t->tops = first;
    push(f, node);
    return true;
}

/* Folds the shortest repetition at the end of the list. Returns whether there is one. */
static bool shorten(struct folding *f) {
    const size_t most = f->tree->tops < LONGEST ? f->tree->tops : LONGEST;
    for (size_t width = 1; !f->failed && width <= most; width++) {
        if (turn(f, width) || twice(f, width)) {
            return true;
        }
    }
    return false;
}

static void count_sites(struct fit_tree *t, const uint32_t *node, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct fit_node *n = &t->node[node[i]];
        n->used = true;
        if (n->number == FIT_LOOP) {
            count_sites(t, n->child, n->children);
        } else {
            n->site = t->sites++;
        }
    }
}

static void count_all(struct fit_tree *t) {
    t->sites = 0;
    for (size_t i = 0; i < t->nodes; i++) {
        t->node[i].used = false;
    }
    count_sites(t, t->top, t->tops);
}

hpcw_status fit_fold(const uint32_t *number, size_t count, struct fit_tree *tree, hpcw_error *err) {
    struct folding *f = hpcw_i_calloc(1, sizeof *f);
    *tree = (struct fit_tree){0};
    if (f == NULL) {
        return hpcw_i_fail_memory(err, "fit", count, "steps");
    }
    f->tree = tree;
    f->power[0] = 1;
    for (size_t i = 1; i <= LONGEST; i++) {
        f->power[i] = f->power[i - 1] * BASE;
    }
    f->prefix = hpcw_i_grow(NULL, &f->prefix_capacity, 1, sizeof *f->prefix);
    f->failed = f->prefix == NULL;
    if (!f->failed) {
        f->prefix[0] = 0;
    }
    for (size_t i = 0; !f->failed && i < count; i++) {
        const uint32_t node = new_node(
            f, (struct fit_node){.number = number[i], .hash = hpcw_i_table_mix(number[i] + UINT64_C(1))});
        if (!f->failed) {
            push(f, node);
        }
        while (!f->failed && tree->tops < HOPELESS && shorten(f)) {
        }
    }
    const bool failed = f->failed;
    hpcw_i_free(f->prefix);
    hpcw_i_free(f);
    count_all(tree);
    return failed ? hpcw_i_fail_memory(err, "fit", count, "steps") : HPCW_OK;
}

void fit_tree_free(struct fit_tree *t) {
    for (size_t i = 0; i < t->nodes; i++) {
        hpcw_i_free(t->node[i].child);
        hpcw_i_free(t->node[i].turns);
        hpcw_i_free(t->node[i].start);
    }
    hpcw_i_free(t->node);
    hpcw_i_free(t->top);
    *t = (struct fit_tree){0};
}

/* ---- unrolling ---- */

bool fit_turns_the_same(const struct fit_node *loop) {
    for (size_t i = 1; i < loop->times; i++) {
        if (loop->turns[i] != loop->turns[0]) {
            return false;
        }
    }
    return true;
}

bool fit_tree_is_plain(const struct fit_tree *t, uint32_t node) {
    const struct fit_node *n = &t->node[node];
    bool plain = n->number != FIT_LOOP || fit_turns_the_same(n);
    for (size_t i = 0; plain && n->number == FIT_LOOP && i < n->children; i++) {
        plain = fit_tree_is_plain(t, n->child[i]);
    }
    return plain;
}

/* Copies a node with everything in it. All loops in it must have a constant number of turns. Returns FIT_LOOP
 * when memory runs out. */
static uint32_t copy_node(struct fit_tree *t, uint32_t from) {
    struct fit_node node = t->node[from];
    struct fit_node *grown = hpcw_i_grow(t->node, &t->node_capacity, t->nodes + 1, sizeof *grown);
    if (grown == NULL) {
        return FIT_LOOP;
    }
    t->node = grown;
    const uint32_t index = (uint32_t)t->nodes++;
    const uint32_t *child = node.child;
    if (node.number == FIT_LOOP) {
        const uint32_t turns = node.turns[0];
        node.child = hpcw_i_malloc(node.children * sizeof *node.child);
        node.turns = hpcw_i_malloc(sizeof *node.turns);
        node.turn_capacity = node.times = 1;
        if (node.child == NULL || node.turns == NULL) {
            node.children = 0;
            t->node[index] = node;
            return FIT_LOOP;
        }
        node.turns[0] = turns;
    }
    t->node[index] = node;
    for (size_t i = 0; node.number == FIT_LOOP && i < node.children; i++) {
        node.child[i] = copy_node(t, child[i]);
        if (node.child[i] == FIT_LOOP) {
            t->node[index].children = i;
            return FIT_LOOP;
        }
    }
    return index;
}

/* Returns a list of nodes with the loop at index `at` unrolled, or NULL when memory runs out. */
static uint32_t *without(struct fit_tree *t, const uint32_t *list, size_t count, size_t at, size_t *new_count) {
    const struct fit_node loop = t->node[list[at]];
    const size_t body = loop.children, turns = loop.turns[0];
    *new_count = count - 1 + body * turns;
    uint32_t *new_list = hpcw_i_malloc(*new_count * sizeof *new_list);
    if (new_list == NULL) {
        return NULL;
    }
    memcpy(new_list, list, at * sizeof *list);
    for (size_t k = 0; k < turns; k++) {
        for (size_t i = 0; i < body; i++) {
            const uint32_t node = k == 0 ? loop.child[i] : copy_node(t, loop.child[i]);
            if (node == FIT_LOOP) {
                hpcw_i_free(new_list);
                return NULL;
            }
            new_list[at + k * body + i] = node;
        }
    }
    memcpy(new_list + at + body * turns, list + at + 1, (count - at - 1) * sizeof *list);
    return new_list;
}

static size_t find_in(const uint32_t *list, size_t count, uint32_t node) {
    size_t i = 0;
    while (i < count && list[i] != node) {
        i++;
    }
    return i;
}

bool fit_tree_unroll(struct fit_tree *t, uint32_t loop) {
    size_t count;
    size_t at = find_in(t->top, t->tops, loop);
    if (at < t->tops) {
        uint32_t *top = without(t, t->top, t->tops, at, &count);
        if (top == NULL) {
            return false;
        }
        hpcw_i_free(t->top);
        t->top = top;
        t->tops = t->top_capacity = count;
    }
    for (size_t n = 0, nodes = t->nodes; n < nodes; n++) {
        at = t->node[n].number == FIT_LOOP ? find_in(t->node[n].child, t->node[n].children, loop) : SIZE_MAX;
        if (at < t->node[n].children) {
            uint32_t *child = without(t, t->node[n].child, t->node[n].children, at, &count);
            if (child == NULL) {
                return false;
            }
            hpcw_i_free(t->node[n].child);
            t->node[n].child = child;
            t->node[n].children = count;
            break;
        }
    }
    count_all(t);
    return true;
}

/* ---- walking ---- */

struct fit_walk {
    const struct fit_tree *tree;
    size_t *time; /* [nodes] number of times that the walk has entered each loop */
    struct fit_place *place;
    size_t at, count;
    /* loop: the loop whose turns are counted. turn: current turn. turns: turns so far. */
    uint32_t loop, turn, turns;
};

static void walk(struct fit_walk *w, const uint32_t *node, size_t count, uint32_t inner, uint32_t part) {
    for (size_t i = 0; i < count; i++) {
        w->turn = node == w->tree->top ? 0 : w->turn;
        const struct fit_node *n = &w->tree->node[node[i]];
        if (n->number != FIT_LOOP) {
            if (w->at < w->count) {
                w->place[w->at++] = (struct fit_place){n->site, w->turn, inner, part};
            }
            continue;
        }
        const bool few = node[i] != w->loop && fit_turns_the_same(n) && n->turns[0] <= FIT_FEW;
        const uint32_t turns = n->turns[w->time[node[i]]];
        w->time[node[i]] += w->time[node[i]] + 1 < n->times;
        for (uint32_t k = 0; k < turns; k++) {
            if (node[i] == w->loop) {
                w->turn = ++w->turns;
            }
            walk(w, n->child, n->children, few ? node[i] : FIT_LOOP, k);
        }
    }
}

hpcw_status fit_tree_places(const struct fit_tree *tree, uint32_t loop, struct fit_place *place, size_t count,
                            hpcw_error *err) {
    struct fit_walk w = {.tree = tree, .place = place, .count = count, .loop = loop};
    w.time = hpcw_i_calloc(tree->nodes + 1, sizeof *w.time);
    if (w.time == NULL) {
        return hpcw_i_fail_memory(err, "fit", tree->nodes, "loops");
    }
    walk(&w, tree->top, tree->tops, FIT_LOOP, 0);
    hpcw_i_free(w.time);
    return HPCW_OK;
}
