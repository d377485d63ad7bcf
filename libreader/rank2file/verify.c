/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks all rules of checkpoints and KVTree files: doc/formats/rank2file.md, "Rules". */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <hpcw/rank2file.h>

#include "libreader/rank2file/private.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sys.h"

/* Returns whether any data file of the dataset exists. A file that cannot be examined counts as existing. */
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

static hpcw_status verify_dataset(const hpcw_rank2file_list *list, uint32_t index, hpcw_error *err) {
    hpcw_rank2file_restart *r;
    hpcw_status s = hpcw_rank2file_restart_open_listed(list, index, NULL, &r, err);
    if (s != HPCW_OK) {
        return s;
    }
    s = hpcw_rank2file_restart_load(r, 0, NULL, err);
    const bool files = s == HPCW_OK && any_file(r);
    hpcw_rank2file_restart_free(r);
    return s == HPCW_OK ? hpcw_rank2file_check_listed(list, index, files, err) : s;
}

/* Checks CURRENT in the index: doc/formats/rank2file.md#rank2file-21. */
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
    hpcw_rank2file_list *list = NULL;
    hpcw_status s = read_rank2file_index(prefix, &index, err);
    s = s == HPCW_OK ? verify_current(prefix, index, err) : s;
    s = s == HPCW_OK ? read_rank2file_list(prefix, index, &list, err) : s;
    for (uint32_t i = hpcw_rank2file_list_count(list); s == HPCW_OK && i > 0; i--) {
        s = verify_dataset(list, i - 1, err);
    }
    hpcw_rank2file_list_free(list);
    hpcw_kvtree_free(index);
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
