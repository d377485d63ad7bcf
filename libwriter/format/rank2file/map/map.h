/* SPDX-License-Identifier: BSD-3-Clause */
/* The nodes of one map (doc/formats/rank2file.md, "Map"). */
#ifndef HPCW_FORMAT_RANK2FILE_MAP_H
#define HPCW_FORMAT_RANK2FILE_MAP_H

#include "libwriter/base/buf.h"
#include "libwriter/format/rank2file/map/names.h"

/* ---- node.c: nodes as bytes, and where to cut ranks into nodes (doc/formats/rank2file.md, "Cuts") ---- */

/* Properties that all nodes of a map share. */
struct hpcw_i_r2f_style {
    enum hpcw_i_r2f_kind kind;
    uint64_t id;
    uint32_t ranks; /* number of ranks of the job */
    size_t before_size;
    /* first part of all names of data files in the map: "" or "DATASET/" */
    char before[HPCW_RANK2FILE_MAX_DATASET + 2];
};

/* Returns the size of a stored node without its ranks or children, bytes. */
uint64_t hpcw_i_r2f_fixed(const struct hpcw_i_r2f_style *style, uint32_t level);

/* Returns the number of bytes that a rank adds to a leaf. */
uint64_t hpcw_i_r2f_rank_size(const struct hpcw_i_r2f_style *style, uint32_t rank,
                              const hpcw_rank2file_entry *entry, size_t count);
/* Returns the number of bytes that a child adds to an inner node. */
uint64_t hpcw_i_r2f_child_size(const struct hpcw_i_r2f_style *style, uint32_t level, uint32_t reader);

/* Write a node of `size` bytes. hpcw_i_r2f_put_head writes its first bytes, up to its `count` ranks or children.
 * The caller then writes these and the CRC (hpcw_i_kv_put_crc). */
unsigned char *hpcw_i_r2f_put_head(const struct hpcw_i_r2f_style *style, unsigned char *p, uint64_t size,
                                   uint32_t level, uint32_t count);
unsigned char *hpcw_i_r2f_put_rank(const struct hpcw_i_r2f_style *style, unsigned char *p, uint32_t rank,
                                   const hpcw_rank2file_entry *entry, size_t count);
unsigned char *hpcw_i_r2f_put_child(const struct hpcw_i_r2f_style *style, unsigned char *p, uint32_t level,
                                    uint32_t reader);

/* Decides which consecutive items (ranks of a leaf or children of an inner node) go into one node. */
struct hpcw_i_r2f_cutter {
    uint64_t most_bytes, fixed;
    uint32_t most, least; /* largest and smallest number of items in a node */
    uint64_t bytes;       /* bytes of the current node; 0: no node yet */
    uint32_t items;
};

/* Adds an item of `size` bytes. Returns whether the item is the first one of a new node. */
static inline bool hpcw_i_r2f_cut(struct hpcw_i_r2f_cutter *c, uint64_t size) {
    bool fits =
        c->items > 0 && c->items < c->most &&
        (c->items < c->least || size <= c->most_bytes - (c->bytes < c->most_bytes ? c->bytes : c->most_bytes));
    if (!fits) {
        c->bytes = c->fixed;
        c->items = 0;
    }
    c->bytes += size;
    c->items++;
    return !fits;
}

/* ---- map.c ---- */

struct hpcw_i_r2f_node {
    uint32_t first, end; /* ranks in the node: from `first` to `end` - 1 */
    /* `child`: index of an inner node's first child
     * `items`: number of an inner node's children, or of a leaf's ranks */
    uint32_t child, items;
    uint64_t size;
};

struct hpcw_rank2file_map {
    struct hpcw_i_r2f_style style;
    uint32_t most_items;
    uint64_t most_bytes;
    char dataset[HPCW_RANK2FILE_MAX_DATASET + 1];
    struct hpcw_i_buf nodes;  /* array of struct hpcw_i_r2f_node, level by level */
    uint32_t level_begin[40]; /* index of the first node of each level */
    uint32_t levels;          /* level of the root; leaves have level 0 */
};

/* Makes an empty map. The caller has checked the options. */
void hpcw_i_r2f_map_init(hpcw_rank2file_map *map, const hpcw_rank2file_options *options, uint32_t which,
                         uint32_t ranks);

/* Returns a cutter (see struct hpcw_i_r2f_cutter) for leaves. */
struct hpcw_i_r2f_cutter hpcw_i_r2f_leaf_cutter(const hpcw_rank2file_map *map);

/* Adds a node whose first rank is `first`; of an inner node, `child` is the index of its first child. The
 * node's end and size are set later. */
hpcw_status hpcw_i_r2f_map_add(hpcw_rank2file_map *map, uint32_t first, uint32_t child, hpcw_error *err);

/* Adds all inner nodes. Call this after all leaves were added. */
hpcw_status hpcw_i_r2f_map_finish(hpcw_rank2file_map *map, hpcw_error *err);

struct hpcw_i_r2f_node *hpcw_i_r2f_map_at(const hpcw_rank2file_map *map, uint32_t index);

#endif
