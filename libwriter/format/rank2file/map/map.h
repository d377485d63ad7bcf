/* SPDX-License-Identifier: BSD-3-Clause */
/* The nodes of one map (doc/formats/rank2file.md, "Map"). */
#ifndef HPCW_FORMAT_RANK2FILE_MAP_H
#define HPCW_FORMAT_RANK2FILE_MAP_H

#include "libwriter/base/buf.h"
#include "libwriter/format/rank2file/map/names.h"

/* ---- node.c: nodes as bytes, and the cuts between them ("Cuts"); arithmetic and memory only ---- */

/* Properties that all nodes of a map share. */
struct hpcw_i_r2f_style {
    enum hpcw_i_r2f_kind kind;
    uint64_t id;
    uint32_t ranks; /* number of ranks of the job */
    size_t before_size;
    char before[HPCW_RANK2FILE_MAX_DATASET + 2]; /* prefix of the names of data files */
};

/* Returns the bytes of a stored node without its ranks or children. */
uint64_t hpcw_i_r2f_fixed(const struct hpcw_i_r2f_style *style, uint32_t level);

/* Return the bytes that a rank adds to a leaf, or a child to an inner node. */
uint64_t hpcw_i_r2f_rank_size(const struct hpcw_i_r2f_style *style, uint32_t rank,
                              const hpcw_rank2file_entry *entry, size_t count);
uint64_t hpcw_i_r2f_child_size(const struct hpcw_i_r2f_style *style, uint32_t level, uint32_t reader);

/* Writes the start of a node of `size` bytes with `count` ranks or children. hpcw_i_kv_put_crc follows them. */
unsigned char *hpcw_i_r2f_put_head(const struct hpcw_i_r2f_style *style, unsigned char *p, uint64_t size,
                                   uint32_t level, uint32_t count);
unsigned char *hpcw_i_r2f_put_rank(const struct hpcw_i_r2f_style *style, unsigned char *p, uint32_t rank,
                                   const hpcw_rank2file_entry *entry, size_t count);
unsigned char *hpcw_i_r2f_put_child(const struct hpcw_i_r2f_style *style, unsigned char *p, uint32_t level,
                                    uint32_t reader);

/* Decides where one node ends and the next one begins. */
struct hpcw_i_r2f_cutter {
    uint64_t most_bytes, fixed;
    uint32_t most, least; /* largest and smallest number of items in a node: ranks or children */
    uint64_t bytes;       /* bytes of the current node; 0: no node yet */
    uint32_t items;
};

/* Takes the next item. Returns whether a new node begins with it. */
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
    uint32_t first, end; /* its ranks are [first, end) */
    uint32_t child,
        /* inner nodes: index of the first child, and the number of children; leaves: the number of entries */
        items;
    uint64_t size;
};

struct hpcw_rank2file_map {
    struct hpcw_i_r2f_style style;
    uint32_t most_items;
    uint64_t most_bytes;
    char dataset[HPCW_RANK2FILE_MAX_DATASET + 1];
    struct hpcw_i_buf nodes;  /* array of struct hpcw_i_r2f_node, level by level */
    uint32_t level_begin[40]; /* index of the first node of each level */
    uint32_t levels;          /* number of levels, which is the level of the root */
};

/* Makes an empty map. The caller has checked the options. */
void hpcw_i_r2f_map_init(hpcw_rank2file_map *map, const hpcw_rank2file_options *options, uint32_t which,
                         uint32_t ranks);

/* Returns a cutter for leaves. */
struct hpcw_i_r2f_cutter hpcw_i_r2f_leaf_cutter(const hpcw_rank2file_map *map);

/* Adds a node that begins at rank `first`; an inner node also begins at node `child`. Its end and size follow
 * later. */
hpcw_status hpcw_i_r2f_map_add(hpcw_rank2file_map *map, uint32_t first, uint32_t child, hpcw_error *err);

/* Adds all inner nodes. Call it after all leaves were added. */
hpcw_status hpcw_i_r2f_map_finish(hpcw_rank2file_map *map, hpcw_error *err);

struct hpcw_i_r2f_node *hpcw_i_r2f_map_at(const hpcw_rank2file_map *map, uint32_t index);

#endif
