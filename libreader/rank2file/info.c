/* SPDX-License-Identifier: BSD-3-Clause */
/* The content of checkpoints and KVTree files as JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <hpcw/rank2file.h>

#include "libreader/rank2file/private.h"
#include "libreader/source.h"
#include "libwriter/base/status.h"
#include "libwriter/io/json.h"

/*
 * MOST_SHOWN: a tree with more nodes is not shown.
 * MOST_LEVELS: levels of a tree that are shown. More levels could exceed the 64 levels that a JSON text may have.
 */
enum { MOST_SHOWN = 64 << 10, MOST_LEVELS = 48 };

/* Sums up the sizes of the files. *sized is false if a file has no size, as in maps of SCR 3. */
static hpcw_status sum_sizes(hpcw_rank2file_restart *r, uint64_t *sum, bool *sized, hpcw_error *err) {
    enum { ROWS = 256 };
    uint64_t size[ROWS];
    bool has_size[ROWS];
    const hpcw_rank2file_files columns = {.size = size, .has_size = has_size};
    const uint64_t files = hpcw_rank2file_restart_files(r);
    hpcw_status s = HPCW_OK;
    *sum = 0;
    *sized = true;
    for (uint64_t first = 0; s == HPCW_OK && first < files; first += ROWS) {
        const size_t count = files - first < ROWS ? (size_t)(files - first) : ROWS;
        s = hpcw_rank2file_restart_fill(r, first, count, &columns, err);
        for (size_t i = 0; s == HPCW_OK && i < count; i++) {
            *sum += size[i];
            *sized = *sized && has_size[i];
        }
    }
    return s;
}

/* Reads the maps and sums up the sizes of the files. */
static hpcw_status load_map(hpcw_rank2file_restart *r, uint64_t *size, bool *sized, hpcw_error *err) {
    hpcw_status s = hpcw_rank2file_restart_load(r, 0, NULL, err);
    return s == HPCW_OK ? sum_sizes(r, size, sized, err) : s;
}

static void put_map(hpcw_rank2file_restart *r, uint64_t size, bool sized, struct hpcw_i_json *json) {
    uint32_t leaves;
    uint32_t inner;
    uint32_t levels;
    hpcw_rank2file_restart_shape(r, &leaves, &inner, &levels);
    hpcw_i_json_put_str(json, "layout", hpcw_rank2file_layout_name(hpcw_rank2file_restart_layout(r)));
    hpcw_i_json_put_u64(json, "ranks", hpcw_rank2file_restart_ranks(r));
    hpcw_i_json_put_u64(json, "leaves", leaves);
    hpcw_i_json_put_u64(json, "inner_nodes", inner);
    hpcw_i_json_put_u64(json, "levels", levels);
    hpcw_i_json_put_u64(json, "files", hpcw_rank2file_restart_files(r));
    /* Maps of SCR 3 have no sizes: take the sum from the summary. */
    size = sized ? size : hpcw_rank2file_restart_dataset(r)->size;
    if (sized || size > 0) {
        hpcw_i_json_put_u64(json, "bytes", size);
    }
}

static void put_text(struct hpcw_i_json *json, const char *key, const char *text) {
    if (text != NULL) {
        hpcw_i_json_put_str(json, key, text);
    }
}

/* Adds a dataset. A damaged one is an object with what the index says and the reason, which is also stored in
 * `fault`. Fails if the system does. */
static hpcw_status put_dataset(const hpcw_rank2file_list *list, uint32_t index, struct hpcw_i_json *json,
                               hpcw_error *fault, hpcw_error *err) {
    const hpcw_rank2file_listed *listed = hpcw_rank2file_list_get(list, index);
    hpcw_rank2file_restart *r;
    uint64_t size;
    bool sized;
    hpcw_status s = hpcw_rank2file_restart_open_listed(list, index, NULL, &r, fault);
    s = s == HPCW_OK ? load_map(r, &size, &sized, fault) : s;
    if (read_source_is_of_system(s, fault)) {
        hpcw_rank2file_restart_free(r);
        return hpcw_i_fail_as(err, fault);
    }
    hpcw_i_json_flat_object(json);
    if (s == HPCW_OK) {
        const hpcw_rank2file_dataset *d = hpcw_rank2file_restart_dataset(r);
        hpcw_i_json_put_str(json, "name", d->name);
        hpcw_i_json_put_u64(json, "id", d->id);
        hpcw_i_json_put_u64(json, "checkpoint", d->checkpoint);
        hpcw_i_json_put_u64(json, "created_us", d->created_us);
        put_text(json, "user", d->user);
        put_text(json, "job_id", d->job_id);
        put_text(json, "job_name", d->job_name);
        put_map(r, size, sized, json);
    } else {
        hpcw_i_json_put_str(json, "name", listed->name);
        hpcw_i_json_put_u64(json, "id", listed->id);
        hpcw_i_json_put_str(json, "fault", fault->message);
    }
    hpcw_i_json_end_object(json);
    hpcw_rank2file_restart_free(r);
    return HPCW_OK;
}

static hpcw_status put_prefix(const char *prefix, struct hpcw_i_json *json, hpcw_error *err) {
    hpcw_kvtree *index;
    hpcw_rank2file_list *list;
    hpcw_status s = read_rank2file_index(prefix, &index, err);
    if (s != HPCW_OK) {
        return s;
    }
    s = read_rank2file_list(prefix, index, &list, err);
    hpcw_i_json_put_str(json, "kind", "prefix directory");
    put_text(json, "index_version", hpcw_kvtree_value(index, "VERSION"));
    put_text(json, "current", hpcw_kvtree_value(index, "CURRENT"));
    const uint32_t datasets = hpcw_rank2file_list_count(list);
    uint32_t faults = 0;
    hpcw_error fault, first = {0};
    hpcw_i_json_key_array(json, "datasets");
    for (uint32_t i = datasets; s == HPCW_OK && i > 0; i--) {
        fault.code = HPCW_OK;
        s = put_dataset(list, i - 1, json, &fault, err);
        if (fault.code != HPCW_OK && faults++ == 0) {
            first = fault;
        }
    }
    hpcw_i_json_end_array(json);
    if (faults > 0) {
        char warning[sizeof first.message + 64];
        (void)snprintf(warning, sizeof warning, "%" PRIu32 " of %" PRIu32 " datasets cannot be read: %s",
                       faults, datasets, first.message);
        hpcw_i_json_put_str(json, "warning", warning);
    }
    hpcw_rank2file_list_free(list);
    hpcw_kvtree_free(index);
    return s;
}

/* Writes the nodes below a node: a value as a string, any other node as an object. */
static void put_tree(const hpcw_kvtree *node, unsigned levels, struct hpcw_i_json *json) {
    hpcw_i_json_begin_object(json);
    for (const hpcw_kvtree *c = levels == 0 ? NULL : hpcw_kvtree_first(node); c != NULL;
         c = hpcw_kvtree_next(c)) {
        const char *value = hpcw_kvtree_value(node, hpcw_kvtree_key(c));
        hpcw_i_json_key(json, hpcw_kvtree_key(c));
        if (value != NULL) {
            hpcw_i_json_str(json, value);
        } else {
            put_tree(c, levels - 1, json);
        }
    }
    hpcw_i_json_end_object(json);
}

hpcw_status read_rank2file_info(const char *path, struct hpcw_i_json *json, hpcw_error *err) {
    char prefix[READ_RANK2FILE_MOST_PATH];
    hpcw_rank2file_restart *r;
    uint64_t bytes;
    bool sized;
    hpcw_kvtree *tree;
    enum read_rank2file_kind kind;
    hpcw_status s = read_rank2file_kind_of(path, &kind, prefix, err);
    if (s != HPCW_OK) {
        return s;
    }
    switch (kind) {
    case READ_RANK2FILE_PREFIX:
        return put_prefix(prefix, json, err);
    case READ_RANK2FILE_ROOT:
        s = hpcw_rank2file_restart_open_root(path, NULL, &r, err);
        if (s == HPCW_OK) {
            s = load_map(r, &bytes, &sized, err);
        }
        if (s == HPCW_OK) {
            hpcw_i_json_put_str(json, "kind", "map");
            put_map(r, bytes, sized, json);
        }
        hpcw_rank2file_restart_free(r);
        return s;
    case READ_RANK2FILE_TREE:
        break;
    }
    s = hpcw_kvtree_read_file(path, &tree, err);
    if (s == HPCW_OK) {
        uint64_t size = hpcw_kvtree_size(tree);
        hpcw_i_json_put_str(json, "kind", "tree");
        hpcw_i_json_put_u64(json, "stored_bytes", size);
        hpcw_i_json_put_u64(json, "keys_on_top", hpcw_kvtree_count(tree));
        if (size <= MOST_SHOWN) {
            hpcw_i_json_key(json, "tree");
            put_tree(tree, MOST_LEVELS, json);
        }
        hpcw_kvtree_free(tree);
    }
    return s;
}
