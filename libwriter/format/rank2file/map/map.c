/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/format/rank2file/map/map.h"

#include <stdio.h>
#include <string.h>

#include "libwriter/base/crc32.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/numfmt.h"
#include "libwriter/base/status.h"
#include "libwriter/format/kvtree/pack.h"

void hpcw_i_r2f_map_init(hpcw_rank2file_map *map, const hpcw_rank2file_options *o, uint32_t which,
                         uint32_t ranks) {
    *map = (hpcw_rank2file_map){
        .style = {.kind = hpcw_i_r2f_kind_of(o->layout, which), .id = o->dataset.id, .ranks = ranks},
        .most_items = o->leaf_ranks,
        .most_bytes = o->leaf_bytes,
    };
    hpcw_rank2file_dataset_name(o, map->dataset);
    hpcw_i_r2f_before_names(map->style.kind, map->dataset, map->style.before);
    map->style.before_size = strlen(map->style.before);
}

struct hpcw_i_r2f_cutter hpcw_i_r2f_leaf_cutter(const hpcw_rank2file_map *map) {
    return (struct hpcw_i_r2f_cutter){
        .most_bytes = map->most_bytes,
        .fixed = hpcw_i_r2f_fixed(&map->style, 0),
        .most = map->most_items,
        .least = 1,
    };
}

struct hpcw_i_r2f_node *hpcw_i_r2f_map_at(const hpcw_rank2file_map *map, uint32_t index) {
    return (struct hpcw_i_r2f_node *)(void *)map->nodes.data + index;
}

uint32_t hpcw_rank2file_map_nodes(const hpcw_rank2file_map *map) {
    return map == NULL ? 0 : (uint32_t)(map->nodes.size / sizeof(struct hpcw_i_r2f_node));
}

hpcw_status hpcw_i_r2f_map_add(hpcw_rank2file_map *map, uint32_t first, uint32_t child, hpcw_error *err) {
    struct hpcw_i_r2f_node node = {.first = first, .child = child};
    return hpcw_i_buf_append(&map->nodes, &node, sizeof node)
               ? HPCW_OK
               : hpcw_i_fail_memory(err, "rank2file", 0, "the nodes of the map");
}

/* Adds the level above the nodes [begin, end), which are the last level so far. */
static hpcw_status add_level(hpcw_rank2file_map *map, uint32_t level, uint32_t begin, uint32_t end,
                             hpcw_error *err) {
    struct hpcw_i_r2f_cutter cutter = {
        .most_bytes = map->most_bytes,
        .fixed = hpcw_i_r2f_fixed(&map->style, level),
        .most = map->most_items,
        /* with one child per node, no level would be smaller than the one below it */
        .least = 2,
    };
    hpcw_status s = HPCW_OK;
    for (uint32_t i = begin; s == HPCW_OK && i < end; i++) {
        uint32_t first = hpcw_i_r2f_map_at(map, i)->first;
        if (hpcw_i_r2f_cut(&cutter, hpcw_i_r2f_child_size(&map->style, level - 1, first))) {
            s = hpcw_i_r2f_map_add(map, first, i, err);
        }
        if (s == HPCW_OK) {
            struct hpcw_i_r2f_node *node = hpcw_i_r2f_map_at(map, hpcw_rank2file_map_nodes(map) - 1);
            node->items = cutter.items;
            node->size = cutter.bytes;
            node->end = hpcw_i_r2f_map_at(map, i)->end;
        }
    }
    return s;
}

hpcw_status hpcw_i_r2f_map_finish(hpcw_rank2file_map *map, hpcw_error *err) {
    uint32_t begin = 0;
    uint32_t end = hpcw_rank2file_map_nodes(map);
    for (uint32_t i = 0; i < end; i++) {
        hpcw_i_r2f_map_at(map, i)->end = i + 1 < end ? hpcw_i_r2f_map_at(map, i + 1)->first : map->style.ranks;
    }
    hpcw_status s = HPCW_OK;
    do {
        map->level_begin[++map->levels] = end;
        s = add_level(map, map->levels, begin, end, err);
        begin = end;
        end = hpcw_rank2file_map_nodes(map);
    } while (s == HPCW_OK && end - begin > 1);
    return s;
}

/* ---- making a map from the files of all ranks ---- */

static hpcw_status check_entries(const hpcw_rank2file_map *map, uint32_t rank,
                                 const hpcw_rank2file_entry *entry, size_t count, hpcw_error *err) {
    if (count > UINT32_MAX) {
        return hpcw_i_fail(err, HPCW_ERANGE, "rank2file: rank %u: expected less than 2^32 files, got %zu", rank,
                           count);
    }
    for (size_t i = 0; i < count; i++) {
        size_t most = HPCW_RANK2FILE_MAX_NAME - strlen(map->dataset) - 1;
        const char *bad = hpcw_i_r2f_bad_name(entry[i].name, strlen(entry[i].name), most);
        if (bad != NULL) {
            return hpcw_i_fail(err, HPCW_EINVAL, "rank2file: rank %u, file %zu, name \"%.200s\": %s", rank, i,
                               entry[i].name, bad);
        }
    }
    return HPCW_OK;
}

static hpcw_status find_leaves(hpcw_rank2file_map *map, hpcw_rank2file_entries *entries, void *context,
                               hpcw_error *err) {
    struct hpcw_i_r2f_cutter cutter = hpcw_i_r2f_leaf_cutter(map);
    struct hpcw_i_r2f_node *leaf = NULL;
    hpcw_status s = HPCW_OK;
    for (uint32_t rank = 0; s == HPCW_OK && rank < map->style.ranks; rank++) {
        const hpcw_rank2file_entry *entry = NULL;
        size_t count = entries(context, rank, &entry);
        bool absent = count == HPCW_RANK2FILE_NO_ENTRY;
        s = absent ? HPCW_OK : check_entries(map, rank, entry, count, err);
        if (s != HPCW_OK) {
            break;
        }
        uint64_t size = absent ? 0 : hpcw_i_r2f_rank_size(&map->style, rank, entry, count);
        if (hpcw_i_r2f_cut(&cutter, size)) {
            s = hpcw_i_r2f_map_add(map, rank, 0, err);
            if (s != HPCW_OK) {
                break;
            }
            leaf = hpcw_i_r2f_map_at(map, hpcw_rank2file_map_nodes(map) - 1);
        }
        leaf->size = cutter.bytes;
        leaf->items += !absent;
        if (leaf->size > HPCW_KVTREE_MAX_SIZE) {
            s = hpcw_i_fail(err, HPCW_ERANGE,
                            "rank2file: rank %u: expected files that fit into a leaf of %u bytes", rank,
                            HPCW_KVTREE_MAX_SIZE);
        }
    }
    return s;
}

hpcw_status hpcw_rank2file_map_new(const hpcw_rank2file_options *options, uint32_t which, uint32_t ranks,
                                   hpcw_rank2file_entries *entries, void *context, hpcw_rank2file_map **out,
                                   hpcw_error *err) {
    if (out == NULL || entries == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "rank2file: expected entries and a pointer for the map, got NULL");
    }
    *out = NULL;
    hpcw_status s = hpcw_rank2file_options_check(options, err);
    if (s == HPCW_OK && (which >= hpcw_rank2file_layout_maps(options->layout) || ranks < 1 ||
                         ranks > HPCW_RANK2FILE_MAX_RANKS)) {
        s = hpcw_i_fail(err, HPCW_EINVAL, "rank2file: expected a map below %u of 1 to %u ranks, got %u and %u",
                        hpcw_rank2file_layout_maps(options->layout), HPCW_RANK2FILE_MAX_RANKS, which, ranks);
    }
    if (s != HPCW_OK) {
        return s;
    }
    hpcw_rank2file_map *map = hpcw_i_malloc(sizeof *map);
    if (map == NULL) {
        return hpcw_i_fail_memory(err, "rank2file", 0, "a map");
    }
    hpcw_i_r2f_map_init(map, options, which, ranks);
    s = find_leaves(map, entries, context, err);
    if (s == HPCW_OK) {
        s = hpcw_i_r2f_map_finish(map, err);
    }
    if (s != HPCW_OK) {
        hpcw_rank2file_map_free(map);
        map = NULL;
    }
    *out = map;
    return s;
}

void hpcw_rank2file_map_free(hpcw_rank2file_map *map) {
    if (map != NULL) {
        hpcw_i_buf_free(&map->nodes);
        hpcw_i_free(map);
    }
}

static uint32_t level_of(const hpcw_rank2file_map *map, uint32_t index) {
    uint32_t level = map->levels;
    while (index < map->level_begin[level]) {
        level--;
    }
    return level;
}

void hpcw_rank2file_map_node(const hpcw_rank2file_map *map, uint32_t index, hpcw_rank2file_node *node) {
    const struct hpcw_i_r2f_node *n = hpcw_i_r2f_map_at(map, index);
    char directory[HPCW_RANK2FILE_PATH];
    char name[HPCW_I_R2F_VALUE];
    *node =
        (hpcw_rank2file_node){.level = level_of(map, index), .first = n->first, .end = n->end, .size = n->size};
    hpcw_i_r2f_metadata(map->style.kind, map->style.id, map->dataset, directory);
    if (node->level == map->levels) {
        (void)snprintf(name, sizeof name, "%s", hpcw_i_r2f_root(map->style.kind));
    } else {
        hpcw_i_r2f_node(map->style.kind, node->level, n->first, name);
    }
    (void)snprintf(node->path, sizeof node->path, "%.*s/%s", HPCW_RANK2FILE_PATH - HPCW_I_R2F_VALUE - 1,
                   directory, name);
}

/* ---- bytes ---- */

/* Allocates memory for a node. The formatter may overwrite some bytes after the last number, see hpcw_i_fmt_u64. */
static unsigned char *room_for(uint64_t size, hpcw_error *err) {
    unsigned char *data = hpcw_i_malloc((size_t)size + HPCW_I_FMT_ROOM);
    if (data == NULL) {
        (void)hpcw_i_fail_memory(err, "rank2file", size, "bytes of a node");
    }
    return data;
}

/* Collects bytes for a sink in a buffer that is small enough for the processor's cache. */
struct stream {
    hpcw_sink *sink;
    unsigned char *buffer;
    size_t capacity, used;
    uint64_t at; /* offset in the sink at which the buffer will be written */
    uint32_t crc;
};

static hpcw_status flush(struct stream *t, hpcw_error *err) {
    t->crc = hpcw_i_crc32(t->crc, t->buffer, t->used);
    hpcw_status s = hpcw_sink_write_at(t->sink, t->at, t->buffer, t->used, err);
    t->at += t->used;
    t->used = 0;
    return s;
}

/* Makes space in the buffer for `size` bytes, and for HPCW_I_FMT_ROOM bytes after them, which the formatter may
 * overwrite. */
static hpcw_status make_room(struct stream *t, uint64_t size, hpcw_error *err) {
    size_t need = (size_t)size + HPCW_I_FMT_ROOM;
    if (need <= t->capacity - t->used) {
        return HPCW_OK;
    }
    hpcw_status s = flush(t, err);
    if (s == HPCW_OK && need > t->capacity) {
        hpcw_i_free(t->buffer);
        t->buffer = room_for(size, err);
        t->capacity = t->buffer == NULL ? 0 : need;
        s = t->buffer == NULL ? HPCW_ENOMEM : HPCW_OK;
    }
    return s;
}

static hpcw_status write_leaf(const struct hpcw_i_r2f_style *style, const struct hpcw_i_r2f_node *leaf,
                              hpcw_rank2file_entries *entries, void *context, hpcw_sink *sink,
                              hpcw_error *err) {
    enum { BUFFER = 64 << 10 };
    struct stream t = {.sink = sink, .buffer = room_for(BUFFER, err), .capacity = BUFFER + HPCW_I_FMT_ROOM};
    if (t.buffer == NULL) {
        return HPCW_ENOMEM;
    }
    t.used = (size_t)(hpcw_i_r2f_put_head(style, t.buffer, leaf->size, 0, leaf->items) - t.buffer);
    uint32_t items = 0;
    hpcw_status s = HPCW_OK;
    for (uint32_t rank = leaf->first; s == HPCW_OK && rank < leaf->end; rank++) {
        const hpcw_rank2file_entry *entry = NULL;
        size_t count = entries(context, rank, &entry);
        if (count == HPCW_RANK2FILE_NO_ENTRY) {
            continue;
        }
        uint64_t size = hpcw_i_r2f_rank_size(style, rank, entry, count);
        if (size > leaf->size) {
            /* the callback may return more files than when the map was made; they must not overrun the buffer */
            break;
        }
        s = make_room(&t, size, err);
        if (s == HPCW_OK) {
            unsigned char *p = t.buffer + t.used;
            t.used += (size_t)(hpcw_i_r2f_put_rank(style, p, rank, entry, count) - p);
            items++;
        }
    }
    if (s == HPCW_OK && (t.at + t.used != leaf->size - HPCW_I_KV_CRC || items != leaf->items)) {
        s = hpcw_i_fail(
            err, HPCW_ESTATE,
            "rank2file: ranks %u to %u: expected the same files as when the map was made, got others",
            leaf->first, leaf->end - 1);
    }
    if (s == HPCW_OK) {
        s = flush(&t, err);
    }
    if (s == HPCW_OK) {
        unsigned char crc[HPCW_I_KV_CRC];
        hpcw_i_put_u32(crc, t.crc, true);
        s = hpcw_sink_write_at(sink, t.at, crc, sizeof crc, err);
    }
    hpcw_i_free(t.buffer);
    return s;
}

static hpcw_status write_inner(const hpcw_rank2file_map *map, uint32_t level,
                               const struct hpcw_i_r2f_node *node, hpcw_sink *sink, hpcw_error *err) {
    unsigned char *data = room_for(node->size, err);
    if (data == NULL) {
        return HPCW_ENOMEM;
    }
    unsigned char *p = hpcw_i_r2f_put_head(&map->style, data, node->size, level, node->items);
    for (uint32_t i = 0; i < node->items; i++) {
        p = hpcw_i_r2f_put_child(&map->style, p, level - 1, hpcw_i_r2f_map_at(map, node->child + i)->first);
    }
    (void)hpcw_i_kv_put_crc(data, p);
    hpcw_status s = hpcw_sink_write_at(sink, 0, data, (size_t)node->size, err);
    hpcw_i_free(data);
    return s;
}

hpcw_status hpcw_rank2file_map_write(const hpcw_rank2file_map *map, uint32_t index,
                                     hpcw_rank2file_entries *entries, void *context, hpcw_sink *sink,
                                     hpcw_error *err) {
    if (map == NULL || index >= hpcw_rank2file_map_nodes(map)) {
        return hpcw_i_fail(err, HPCW_EINVAL, "rank2file: expected a node of the map, got %u of %u", index,
                           hpcw_rank2file_map_nodes(map));
    }
    const struct hpcw_i_r2f_node *node = hpcw_i_r2f_map_at(map, index);
    uint32_t level = level_of(map, index);
    if (level > 0) {
        return write_inner(map, level, node, sink, err);
    }
    return entries == NULL
               ? hpcw_i_fail(err, HPCW_EINVAL, "rank2file: expected the files of the ranks of a leaf, got NULL")
               : write_leaf(&map->style, node, entries, context, sink, err);
}
