/* SPDX-License-Identifier: BSD-3-Clause */
/* Worked example of doc/formats/rank2file.md: the map of three ranks, as a root and two leaves. */
#include <stdio.h>
#include <string.h>

#include <hpcw/rank2file.h>

#include "libreader/rank2file/rank2file.h"
#include "tests/docs/example.h"

/* Rank 0 has one file, rank 1 has two, rank 2 has none. */
static size_t files_of(void *context, uint32_t rank, const hpcw_rank2file_entry **entry) {
    static const hpcw_rank2file_entry first[] = {{"rank_0.ckpt", 524294, 0x6697d4ef, true}};
    static const hpcw_rank2file_entry second[] = {{"rank_1.a", 7, 0x28eeb9e, true}, {"rank_1.b", 0, 0, true}};
    (void)context;
    *entry = rank == 0 ? first : second;
    return rank < 2 ? rank + 1 : 0;
}

/* Writes the map file of a node of the tree into `directory`. The file name is the last part of the node's path. */
static hpcw_status write_node(const hpcw_rank2file_map *map, uint32_t index, const char *directory,
                              hpcw_error *err) {
    char path[1024];
    hpcw_rank2file_node node;
    hpcw_sink *sink = NULL;
    hpcw_rank2file_map_node(map, index, &node);
    (void)snprintf(path, sizeof path, "%s%s", directory, strrchr(node.path, '/'));
    hpcw_status s = hpcw_sink_open_file(path, HPCW_SYNC_NONE, &sink, err);
    if (s == HPCW_OK) {
        s = hpcw_rank2file_map_write(map, index, files_of, NULL, sink, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_sink_publish(sink, err);
    }
    hpcw_sink_free(sink);
    return s;
}

static hpcw_status write_map(const char *directory, hpcw_error *err) {
    hpcw_rank2file_options o;
    hpcw_rank2file_map *map;
    hpcw_rank2file_options_init(&o);
    o.dataset.id = 1;
    o.leaf_ranks = 2;
    hpcw_status s = hpcw_rank2file_map_new(&o, 0, 3, files_of, NULL, &map, err);
    if (s == HPCW_OK) {
        for (uint32_t i = 0; s == HPCW_OK && i < hpcw_rank2file_map_nodes(map); i++) {
            s = write_node(map, i, directory, err);
        }
        hpcw_rank2file_map_free(map);
    }
    return s;
}

/* Verifies a map file: the root with all leaves below it, or a leaf as a map of its own. */
static hpcw_status verify_node(const char *path, hpcw_error *err) {
    return read_rank2file_verify(path, err);
}

const struct docs_example docs_rank2file[] = {
    {"rank2file.md", "hex rank2file.scr", write_map, verify_node},
    {"rank2file.md", "hex rank2file.0.0.scr", write_map, verify_node},
    {"rank2file.md", "hex rank2file.0.2.scr", write_map, verify_node},
    {NULL, NULL, NULL, NULL},
};
