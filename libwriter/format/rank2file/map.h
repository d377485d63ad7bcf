/* SPDX-License-Identifier: BSD-3-Clause */
/* F3: the nodes of one map (doc/formats/rank2file.md, "Map"). */
#ifndef HPCW_FORMAT_RANK2FILE_MAP_H
#define HPCW_FORMAT_RANK2FILE_MAP_H

#include "libwriter/base/buf.h"
#include "libwriter/format/rank2file/node.h"

struct hpcw_i_r2f_node {
    uint32_t first, end; /* ranks */
    uint32_t child,
        items; /* inner nodes: index of the first child, and the number of children; leaves: the number of entries */
    uint64_t size;
};

struct hpcw_rank2file_map {
    struct hpcw_i_r2f_style style;
    uint32_t most_items;
    uint64_t most_bytes;
    char dataset[HPCW_RANK2FILE_MAX_DATASET + 1];
    struct hpcw_i_buf nodes;  /* of struct hpcw_i_r2f_node, level by level */
    uint32_t level_begin[40]; /* index of the first node of each level */
    uint32_t levels;          /* level of the root */
};

/* An empty map. The caller has checked the options. */
void hpcw_i_r2f_map_init(hpcw_rank2file_map *map, const hpcw_rank2file_options *options, uint32_t which,
                         uint32_t ranks);

/* The cuts of leaves. */
struct hpcw_i_r2f_cutter hpcw_i_r2f_leaf_cutter(const hpcw_rank2file_map *map);

/* Adds a node that begins at rank `first` and, if it is an inner one, at node `child`. Its end and size follow later. */
hpcw_status hpcw_i_r2f_map_add(hpcw_rank2file_map *map, uint32_t first, uint32_t child, hpcw_error *err);

/* Adds all inner nodes. All leaves must be there. */
hpcw_status hpcw_i_r2f_map_finish(hpcw_rank2file_map *map, hpcw_error *err);

struct hpcw_i_r2f_node *hpcw_i_r2f_map_at(const hpcw_rank2file_map *map, uint32_t index);

#endif
