/* SPDX-License-Identifier: BSD-3-Clause */
/* All rules of checkpoints and KVTree files: doc/formats/rank2file.md, "Rules". */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <hpcw/rank2file.h>

#include "libreader/rank2file/private.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sys.h"

/* False if the map is all that is left of a dataset. A file that cannot be looked at is one. */
static bool any_file(hpcw_rank2file_restart *r) {
    hpcw_rank2file_found f;
    struct hpcw_i_entry entry;
    for (uint64_t i = 0; i < hpcw_rank2file_restart_files(r); i++) {
        if (hpcw_rank2file_restart_file(r, i, &f, NULL) != HPCW_OK ||
            hpcw_i_sys_look(f.path, true, &entry) != 0 || entry.kind != HPCW_I_NOTHING) {
            return true;
        }
    }
    return false;
}

static hpcw_status load(hpcw_rank2file_restart *r, hpcw_error *err) {
    hpcw_status s = hpcw_rank2file_restart_load(r, 0, NULL, err);
    return s == HPCW_OK && any_file(r) ? hpcw_rank2file_restart_check(r, true, err) : s;
}

static hpcw_status check_sums(hpcw_rank2file_restart *r, const char *prefix, hpcw_error *err) {
    const hpcw_rank2file_dataset *d = hpcw_rank2file_restart_dataset(r);
    uint64_t files = hpcw_rank2file_restart_files(r);
    uint64_t size = 0;
    bool sized = true;
    hpcw_status s = HPCW_OK;
    for (uint64_t i = 0; s == HPCW_OK && i < files; i++) {
        hpcw_rank2file_found f;
        s = hpcw_rank2file_restart_file(r, i, &f, err);
        if (s == HPCW_OK) {
            sized = sized && f.has_size;
            size += f.size;
        }
    }
    if (s == HPCW_OK && (files != d->files || (sized && size != d->size))) {
        s = hpcw_i_fail(err, HPCW_EFORMAT,
                        "%s: dataset %s: summary: expected the map's %" PRIu64 " files and %" PRIu64
                        " bytes, got %" PRIu64 " and %" PRIu64,
                        prefix, d->name, files, size, d->files, d->size);
    }
    return s;
}

/* Both maps of a dataset must name the same files. */
static hpcw_status compare(hpcw_rank2file_restart *a, hpcw_rank2file_restart *b, const char *root,
                           hpcw_error *err) {
    uint64_t files = hpcw_rank2file_restart_files(a);
    bool same = files == hpcw_rank2file_restart_files(b);
    for (uint64_t i = 0; same && i < files; i++) {
        hpcw_rank2file_found f;
        hpcw_rank2file_found g;
        hpcw_status s = hpcw_rank2file_restart_file(a, i, &f, err);
        s = s == HPCW_OK ? hpcw_rank2file_restart_file(b, i, &g, err) : s;
        if (s != HPCW_OK) {
            return s;
        }
        size_t n = strlen(f.name);
        size_t m = strlen(g.name);
        same = f.rank == g.rank && m > n && strcmp(g.name + m - n, f.name) == 0 && f.size == g.size &&
               f.crc == g.crc;
    }
    return same ? HPCW_OK
                : hpcw_i_fail(err, HPCW_EFORMAT,
                              "%s: expected the files that the other map of the dataset has, got others", root);
}

/* Whether two nodes have the same children, in any order. */
static bool same_tree(const hpcw_kvtree *a, const hpcw_kvtree *b) {
    bool same = hpcw_kvtree_count(a) == hpcw_kvtree_count(b);
    for (const hpcw_kvtree *c = hpcw_kvtree_first(a); same && c != NULL; c = hpcw_kvtree_next(c)) {
        const hpcw_kvtree *d = hpcw_kvtree_get(b, hpcw_kvtree_key(c));
        same = d != NULL && same_tree(c, d);
    }
    return same;
}

/* Both summaries of a dataset must say the same. */
static hpcw_status verify_second_summary(const char *prefix, const hpcw_rank2file_dataset *d, hpcw_error *err) {
    char path[READ_RANK2FILE_MOST_PATH + 256];
    hpcw_kvtree *first = NULL;
    hpcw_kvtree *second = NULL;
    (void)snprintf(path, sizeof path, "%s/%s/.scr/summary.scr", prefix, d->name);
    hpcw_status s = hpcw_kvtree_read_file(path, &first, err);
    if (s == HPCW_OK) {
        (void)snprintf(path, sizeof path, "%s/.scr/scr.dataset.%" PRIu64 "/summary.scr", prefix, d->id);
        s = hpcw_kvtree_read_file(path, &second, err);
    }
    if (s == HPCW_OK && !same_tree(first, second)) {
        s = hpcw_i_fail(err, HPCW_EFORMAT,
                        "%s: expected the content of the dataset's other summary, got another", path);
    }
    hpcw_kvtree_free(first);
    hpcw_kvtree_free(second);
    return s;
}

static hpcw_status verify_second_map(const char *prefix, hpcw_rank2file_restart *first, hpcw_error *err) {
    char root[READ_RANK2FILE_MOST_PATH + 64];
    hpcw_rank2file_restart *r;
    (void)snprintf(root, sizeof root, "%s/.scr/scr.dataset.%" PRIu64 "/rank2file", prefix,
                   hpcw_rank2file_restart_dataset(first)->id);
    hpcw_status s = hpcw_rank2file_restart_open_root(root, NULL, &r, err);
    if (s == HPCW_OK) {
        s = hpcw_rank2file_restart_load(r, 0, NULL, err);
        s = s == HPCW_OK ? compare(first, r, root, err) : s;
        hpcw_rank2file_restart_free(r);
    }
    return s;
}

hpcw_status read_rank2file_verify_dataset(const char *prefix, const char *name, hpcw_error *err) {
    hpcw_rank2file_restart *r;
    hpcw_status s = hpcw_rank2file_restart_open(prefix, NULL, name, &r, err);
    if (s != HPCW_OK) {
        return s;
    }
    s = load(r, err);
    if (s == HPCW_OK) {
        s = check_sums(r, prefix, err);
    }
    if (s == HPCW_OK && hpcw_rank2file_restart_layout(r) == HPCW_RANK2FILE_SHARED) {
        s = verify_second_summary(prefix, hpcw_rank2file_restart_dataset(r), err);
        s = s == HPCW_OK ? verify_second_map(prefix, r, err) : s;
    }
    hpcw_rank2file_restart_free(r);
    return s;
}

/* doc/formats/rank2file.md#rank2file-21 */
static hpcw_status verify_current(const char *prefix, const hpcw_kvtree *index, hpcw_error *err) {
    const hpcw_kvtree *current = hpcw_kvtree_get(index, "CURRENT");
    const char *name = hpcw_kvtree_value(index, "CURRENT");
    if (current != NULL && (name == NULL || hpcw_kvtree_get(read_rank2file_datasets(index), name) == NULL)) {
        return hpcw_i_fail(err, HPCW_EFORMAT, "%s/%s: CURRENT: expected one dataset of the index, got %.200s",
                           prefix, HPCW_RANK2FILE_INDEX, name == NULL ? "none or several" : name);
    }
    return HPCW_OK;
}

static hpcw_status verify_prefix(const char *prefix, hpcw_error *err) {
    hpcw_kvtree *index;
    hpcw_status s = read_rank2file_index(prefix, &index, err);
    if (s == HPCW_OK) {
        s = verify_current(prefix, index, err);
        for (const hpcw_kvtree *n = hpcw_kvtree_first(read_rank2file_datasets(index));
             s == HPCW_OK && n != NULL; n = hpcw_kvtree_next(n)) {
            s = read_rank2file_verify_dataset(prefix, hpcw_kvtree_key(n), err);
        }
        hpcw_kvtree_free(index);
    }
    return s;
}

hpcw_status read_rank2file_verify(const char *path, hpcw_error *err) {
    char prefix[READ_RANK2FILE_MOST_PATH];
    hpcw_rank2file_restart *r;
    hpcw_kvtree *tree;
    enum read_rank2file_kind kind;
    hpcw_status s = read_rank2file_kind_of(path, &kind, prefix, err);
    if (s != HPCW_OK) {
        return s;
    }
    switch (kind) {
    case READ_RANK2FILE_PREFIX:
        return verify_prefix(prefix, err);
    case READ_RANK2FILE_ROOT:
        s = hpcw_rank2file_restart_open_root(path, NULL, &r, err);
        if (s == HPCW_OK) {
            s = load(r, err);
            hpcw_rank2file_restart_free(r);
        }
        return s;
    case READ_RANK2FILE_TREE:
        break;
    }
    s = hpcw_kvtree_read_file(path, &tree, err);
    if (s == HPCW_OK) {
        hpcw_kvtree_free(tree);
    }
    return s;
}
