/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/format/kvtree/node.h"

#include <string.h>

#include "libwriter/base/hash.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/numfmt.h"
#include "libwriter/base/status.h"

static hpcw_kvtree *new_node(const char *key, size_t size, uint16_t depth) {
    hpcw_kvtree *node = hpcw_i_malloc(sizeof *node + size + 1);
    if (node != NULL) {
        *node = (hpcw_kvtree){.depth = depth, .key_size = size};
        memcpy(node->key, key, size);
        node->key[size] = '\0';
    }
    return node;
}

hpcw_status hpcw_kvtree_new(hpcw_kvtree **out, hpcw_error *err) {
    if (out == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "kvtree: expected a pointer for the tree, got NULL");
    }
    *out = new_node("", 0, 0);
    return *out != NULL ? HPCW_OK : hpcw_i_fail_memory(err, "kvtree", 0, NULL);
}

static void free_table(hpcw_kvtree *node) {
    if (node->by_hash != NULL) {
        hpcw_i_table_free(node->by_hash);
        hpcw_i_free(node->by_hash);
        node->by_hash = NULL;
    }
}

void hpcw_kvtree_free(hpcw_kvtree *root) {
    while (root != NULL) {
        hpcw_kvtree *next = root->next;
        hpcw_kvtree_free(root->first);
        free_table(root);
        hpcw_i_free(root);
        root = next;
    }
}

/* ---- search ---- */

/* The start of the hash is random, as keys come from files. */
static uint64_t hash_of(const struct hpcw_i_table *t, const char *key, size_t size) {
    return hpcw_i_hash_bytes(HPCW_I_HASH_START ^ t->seed, key, size);
}

/* Adds a child to the table of `node`. False: out of memory. */
static bool add_to_table(hpcw_kvtree *node, hpcw_kvtree *child) {
    const uint64_t hash = hash_of(node->by_hash, child->key, child->key_size);
    bool fresh;
    void *value = hpcw_i_table_add(node->by_hash, &hash, &fresh);
    if (value != NULL && fresh) {
        memcpy(value, &child, sizeof child);
    } else if (value != NULL) {
        node->collides = true;
        free_table(node);
    }
    return value != NULL;
}

/* Makes the table of `node`, which gets too many children to compare all keys. False: out of memory. */
static bool make_table(hpcw_kvtree *node) {
    struct hpcw_i_table *t = hpcw_i_calloc(1, sizeof *t);
    if (t == NULL) {
        return false;
    }
    *t = (struct hpcw_i_table){
        .key_words = 1, .value_size = sizeof(hpcw_kvtree *), .seed = hpcw_i_table_random()};
    node->by_hash = t;
    for (hpcw_kvtree *c = node->first; node->by_hash != NULL && c != NULL; c = c->next) {
        if (!add_to_table(node, c)) {
            free_table(node);
            return false;
        }
    }
    return true;
}

hpcw_kvtree *hpcw_i_kvtree_find(const hpcw_kvtree *node, const char *key, size_t size) {
    hpcw_kvtree *c = node->first;
    if (node->by_hash != NULL) {
        const uint64_t hash = hash_of(node->by_hash, key, size);
        const void *value = hpcw_i_table_find(node->by_hash, &hash);
        if (value == NULL) {
            return NULL;
        }
        memcpy(&c, value, sizeof c);
        return c->key_size == size && memcmp(c->key, key, size) == 0 ? c : NULL;
    }
    while (c != NULL && (c->key_size != size || memcmp(c->key, key, size) != 0)) {
        c = c->next;
    }
    return c;
}

/* ---- changes ---- */

hpcw_status hpcw_i_kvtree_append(hpcw_kvtree *node, const char *key, size_t size, hpcw_kvtree **child,
                                 hpcw_error *err) {
    if (node->depth >= HPCW_KVTREE_MAX_DEPTH) {
        return hpcw_i_fail(err, HPCW_ERANGE, "kvtree: key \"%.100s\": expected at most %u levels, got one more",
                           key, HPCW_KVTREE_MAX_DEPTH);
    }
    hpcw_kvtree *made = new_node(key, size, (uint16_t)(node->depth + 1));
    bool ok = made != NULL;
    if (ok && node->by_hash == NULL && !node->collides && node->count >= HPCW_I_KVTREE_FEW) {
        ok = make_table(node);
    }
    if (!ok || (node->by_hash != NULL && !add_to_table(node, made))) {
        hpcw_i_free(made);
        return hpcw_i_fail_memory(err, "kvtree", 0, "a key");
    }
    made->previous = node->last;
    if (node->last == NULL) {
        node->first = made;
    } else {
        node->last->next = made;
    }
    node->last = made;
    node->count++;
    if (child != NULL) {
        *child = made;
    }
    return HPCW_OK;
}

hpcw_status hpcw_kvtree_add(hpcw_kvtree *node, const char *key, hpcw_kvtree **child, hpcw_error *err) {
    if (child != NULL) {
        *child = NULL;
    }
    if (node == NULL || key == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "kvtree: expected a node and a key, got NULL");
    }
    hpcw_kvtree *found = hpcw_kvtree_get(node, key);
    if (found == NULL) {
        return hpcw_i_kvtree_append(node, key, strlen(key), child, err);
    }
    if (child != NULL) {
        *child = found;
    }
    return HPCW_OK;
}

static void clear(hpcw_kvtree *node) {
    hpcw_kvtree_free(node->first);
    free_table(node);
    node->first = node->last = NULL;
    node->count = 0;
}

hpcw_status hpcw_kvtree_set(hpcw_kvtree *node, const char *key, const char *value, hpcw_error *err) {
    if (value == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "kvtree: expected a value, got NULL");
    }
    hpcw_kvtree *child;
    hpcw_status s = hpcw_kvtree_add(node, key, &child, err);
    if (s == HPCW_OK) {
        clear(child);
        s = hpcw_kvtree_add(child, value, NULL, err);
    }
    return s;
}

hpcw_status hpcw_kvtree_set_u64(hpcw_kvtree *node, const char *key, uint64_t value, hpcw_error *err) {
    char text[HPCW_I_FMT_ROOM + 1];
    *hpcw_i_fmt_u64(text, value) = '\0';
    return hpcw_kvtree_set(node, key, text, err);
}

hpcw_status hpcw_kvtree_merge(hpcw_kvtree *node, const hpcw_kvtree *from, hpcw_error *err) {
    if (node == NULL || from == NULL || node == from) {
        return hpcw_i_fail(err, HPCW_EINVAL, "kvtree: expected two nodes, got %s",
                           node == from ? "one" : "NULL");
    }
    hpcw_status s = HPCW_OK;
    for (const hpcw_kvtree *c = from->first; s == HPCW_OK && c != NULL; c = c->next) {
        hpcw_kvtree *child;
        s = hpcw_kvtree_add(node, c->key, &child, err);
        if (s == HPCW_OK) {
            s = hpcw_kvtree_merge(child, c, err);
        }
    }
    return s;
}

void hpcw_kvtree_remove(hpcw_kvtree *node, const char *key) {
    hpcw_kvtree *child = hpcw_kvtree_get(node, key);
    if (child == NULL) {
        return;
    }
    if (node->by_hash != NULL) {
        const uint64_t hash = hash_of(node->by_hash, child->key, child->key_size);
        hpcw_i_table_remove(node->by_hash, hpcw_i_table_find(node->by_hash, &hash));
    }
    *(child->previous == NULL ? &node->first : &child->previous->next) = child->next;
    *(child->next == NULL ? &node->last : &child->next->previous) = child->previous;
    node->count--;
    child->next = NULL;
    hpcw_kvtree_free(child);
}

hpcw_kvtree *hpcw_kvtree_get(const hpcw_kvtree *node, const char *key) {
    return node == NULL || key == NULL ? NULL : hpcw_i_kvtree_find(node, key, strlen(key));
}

const char *hpcw_kvtree_value(const hpcw_kvtree *node, const char *key) {
    const hpcw_kvtree *c = hpcw_kvtree_get(node, key);
    return c != NULL && hpcw_i_kvtree_is_pair(c) ? c->first->key : NULL;
}

hpcw_status hpcw_kvtree_value_u64(const hpcw_kvtree *node, const char *key, uint64_t *value, hpcw_error *err) {
    const char *text = hpcw_kvtree_value(node, key);
    if (value == NULL || text == NULL) {
        return hpcw_i_fail(err, HPCW_EFORMAT, "%s: expected one value, got %s", key == NULL ? "kvtree" : key,
                           value == NULL ? "no pointer for it" : "none");
    }
    return hpcw_i_parse_u64(key, text, 0, UINT64_MAX, value, err) == HPCW_OK
               ? HPCW_OK
               : hpcw_i_fail(err, HPCW_EFORMAT, "%s: expected a decimal number below 2^64, got \"%.64s\"", key,
                             text);
}

size_t hpcw_kvtree_count(const hpcw_kvtree *node) {
    return node == NULL ? 0 : node->count;
}

hpcw_kvtree *hpcw_kvtree_first(const hpcw_kvtree *node) {
    return node == NULL ? NULL : node->first;
}

hpcw_kvtree *hpcw_kvtree_next(const hpcw_kvtree *child) {
    return child == NULL ? NULL : child->next;
}

const char *hpcw_kvtree_key(const hpcw_kvtree *child) {
    return child == NULL ? "" : child->key;
}
