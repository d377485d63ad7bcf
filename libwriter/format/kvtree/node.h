/* SPDX-License-Identifier: BSD-3-Clause */
/* Nodes of KVTrees (nested keys), for the files that build, store and print such trees. */
#ifndef HPCW_FORMAT_KVTREE_NODE_H
#define HPCW_FORMAT_KVTREE_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include <hpcw/kvtree.h>

struct hpcw_kvtree {
    hpcw_kvtree *next; /* next sibling */
    hpcw_kvtree *first, *last;
    uint32_t count; /* number of children */
    uint32_t depth; /* 0 for the root */
    size_t key_size;
    char key[]; /* key with a NUL */
};

/* Appends a child to the children of `node`. No child of `node` may have this key yet. */
hpcw_status hpcw_i_kvtree_append(hpcw_kvtree *node, const char *key, size_t size, hpcw_kvtree **child,
                                 hpcw_error *err);

/* Returns whether a node is a key with one value. */
static inline bool hpcw_i_kvtree_is_pair(const hpcw_kvtree *node) {
    return node->count == 1 && node->first->count == 0;
}

#endif
