/* SPDX-License-Identifier: BSD-3-Clause */
/* Nodes of KVTrees (nested keys), for the files that build, store and print such trees. */
#ifndef HPCW_FORMAT_KVTREE_NODE_H
#define HPCW_FORMAT_KVTREE_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include <hpcw/kvtree.h>

#include "libwriter/base/table.h"

/* Most children of a node without a table. A search compares the keys of all of them. */
enum { HPCW_I_KVTREE_FEW = 16 };

struct hpcw_kvtree {
    hpcw_kvtree *next, *previous; /* siblings */
    hpcw_kvtree *first, *last;
    struct hpcw_i_table *by_hash; /* children by the hash of their key; NULL: few children, or `collides` */
    uint32_t count;               /* number of children */
    uint16_t depth;               /* 0 for the root */
    bool collides;                /* whether two children had one hash: then every search compares keys */
    size_t key_size;
    char key[]; /* key with a NUL */
};

/* Returns the child with a key of `size` bytes, or NULL. */
hpcw_kvtree *hpcw_i_kvtree_find(const hpcw_kvtree *node, const char *key, size_t size);

/* Appends a child to the children of `node`. No child of `node` may have this key yet. */
hpcw_status hpcw_i_kvtree_append(hpcw_kvtree *node, const char *key, size_t size, hpcw_kvtree **child,
                                 hpcw_error *err);

/* Returns whether a node is a key with one value. */
static inline bool hpcw_i_kvtree_is_pair(const hpcw_kvtree *node) {
    return node->count == 1 && node->first->count == 0;
}

#endif
