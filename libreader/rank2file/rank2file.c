/* SPDX-License-Identifier: BSD-3-Clause */
#include "libreader/rank2file/rank2file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <hpcw/rank2file.h>

#include "libreader/rank2file/private.h"
#include "libreader/source.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sys.h"

static bool ends_in(const char *path, const char *name) {
    size_t n = strlen(path);
    size_t m = strlen(name);
    return n >= m && strcmp(path + n - m, name) == 0 && (n == m || path[n - m - 1] == '/');
}

hpcw_status read_rank2file_kind_of(const char *path, enum read_rank2file_kind *kind,
                                   char prefix[READ_RANK2FILE_MOST_PATH], hpcw_error *err) {
    bool directory;
    hpcw_status s = read_source_is_directory(path, &directory, err);
    *kind = ends_in(path, "rank2file") || ends_in(path, "rank2file.scr") ? READ_RANK2FILE_ROOT
                                                                         : READ_RANK2FILE_TREE;
    if (directory || ends_in(path, HPCW_RANK2FILE_INDEX)) {
        (void)snprintf(prefix, READ_RANK2FILE_MOST_PATH, "%s", path);
        if (!directory) {
            size_t n = strlen(prefix) - strlen(HPCW_RANK2FILE_INDEX);
            (void)snprintf(prefix + n, READ_RANK2FILE_MOST_PATH - n, "%s", n == 0 ? "." : "");
            if (n > 1) {
                prefix[n - 1] = '\0';
            }
        }
        *kind = READ_RANK2FILE_PREFIX;
    }
    return s;
}

hpcw_status read_rank2file_probe(const char *path, bool *is, hpcw_error *err) {
    static const unsigned char magic[4] = {0x95, 0x1f, 0xc3, 0xf5};
    char index[READ_RANK2FILE_MOST_PATH];
    struct hpcw_i_entry entry;
    *is = false;
    int e = hpcw_i_sys_look(path, true, &entry);
    if (e == 0 && entry.kind != HPCW_I_DIRECTORY) {
        return read_source_begins_with(path, magic, sizeof magic, is, err);
    }
    int n = snprintf(index, sizeof index, "%s/%s", path, HPCW_RANK2FILE_INDEX);
    if (e == 0) {
        e = n < 0 || (size_t)n >= sizeof index ? ENAMETOOLONG : hpcw_i_sys_look(index, true, &entry);
    }
    *is = e == 0 && entry.kind == HPCW_I_FILE;
    return e == 0 ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot look at it", path);
}

hpcw_status read_rank2file_index(const char *prefix, hpcw_kvtree **index, hpcw_error *err) {
    char path[READ_RANK2FILE_MOST_PATH + 32];
    (void)snprintf(path, sizeof path, "%s/%s", prefix, HPCW_RANK2FILE_INDEX);
    return hpcw_kvtree_read_file(path, index, err);
}

const hpcw_kvtree *read_rank2file_datasets(const hpcw_kvtree *index) {
    const hpcw_kvtree *names = hpcw_kvtree_get(index, "DIR");
    return names != NULL ? names : hpcw_kvtree_get(index, "NAME");
}

hpcw_status read_rank2file_list(const char *prefix, const hpcw_kvtree *index, hpcw_rank2file_list **list,
                                hpcw_error *err) {
    *list = NULL;
    return hpcw_kvtree_count(read_rank2file_datasets(index)) == 0
               ? HPCW_OK
               : hpcw_rank2file_list_open(prefix, NULL, list, err);
}

hpcw_status read_rank2file_tour(const char *prefix, read_rank2file_dataset *dataset, void *context,
                                hpcw_error *err) {
    hpcw_kvtree *index;
    hpcw_rank2file_list *list = NULL;
    hpcw_status s = read_rank2file_index(prefix, &index, err);
    s = s == HPCW_OK ? read_rank2file_list(prefix, index, &list, err) : s;
    for (uint32_t i = hpcw_rank2file_list_count(list); s == HPCW_OK && i > 0; i--) {
        const char *name = hpcw_rank2file_list_get(list, i - 1)->name;
        hpcw_rank2file_restart *r;
        hpcw_error why = {.message = ""};
        hpcw_status read = hpcw_rank2file_restart_open_listed(list, i - 1, NULL, &r, &why);
        read = read == HPCW_OK ? hpcw_rank2file_restart_load(r, 0, NULL, &why) : read;
        s = read_source_is_of_system(read, &why)
                ? hpcw_i_fail_as(err, &why)
                : dataset(context, name, read == HPCW_OK ? r : NULL, &why, err);
        hpcw_rank2file_restart_free(r);
    }
    hpcw_rank2file_list_free(list);
    hpcw_kvtree_free(index);
    return s;
}
