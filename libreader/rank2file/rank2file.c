/* SPDX-License-Identifier: BSD-3-Clause */
#include "libreader/rank2file/rank2file.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hpcw/rank2file.h>

#include "libreader/rank2file/private.h"
#include "libreader/source.h"

static bool is_directory(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool has_magic(const char *path) {
    static const unsigned char magic[4] = {0x95, 0x1f, 0xc3, 0xf5};
    unsigned char got[4];
    struct read_source *source;
    bool is = read_source_open(path, &source, NULL) == HPCW_OK;
    if (is) {
        is = read_source_size(source) >= sizeof got &&
             read_source_read(source, 0, got, sizeof got, "magic", NULL) == HPCW_OK &&
             memcmp(got, magic, sizeof got) == 0;
        read_source_free(source);
    }
    return is;
}

static bool ends_in(const char *path, const char *name) {
    size_t n = strlen(path);
    size_t m = strlen(name);
    return n >= m && strcmp(path + n - m, name) == 0 && (n == m || path[n - m - 1] == '/');
}

enum read_rank2file_kind read_rank2file_kind_of(const char *path, char prefix[READ_RANK2FILE_MOST_PATH]) {
    if (is_directory(path) || ends_in(path, HPCW_RANK2FILE_INDEX)) {
        (void)snprintf(prefix, READ_RANK2FILE_MOST_PATH, "%s", path);
        if (!is_directory(path)) {
            size_t n = strlen(prefix) - strlen(HPCW_RANK2FILE_INDEX);
            (void)snprintf(prefix + n, READ_RANK2FILE_MOST_PATH - n, "%s", n == 0 ? "." : "");
            if (n > 1) {
                prefix[n - 1] = '\0';
            }
        }
        return READ_RANK2FILE_PREFIX;
    }
    return ends_in(path, "rank2file") || ends_in(path, "rank2file.scr") ? READ_RANK2FILE_ROOT
                                                                        : READ_RANK2FILE_TREE;
}

bool read_rank2file_probe(const char *path) {
    char index[READ_RANK2FILE_MOST_PATH];
    if (!is_directory(path)) {
        return has_magic(path);
    }
    int n = snprintf(index, sizeof index, "%s/%s", path, HPCW_RANK2FILE_INDEX);
    return n > 0 && (size_t)n < sizeof index && access(index, F_OK) == 0;
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

hpcw_status read_rank2file_tour(const char *prefix, read_rank2file_dataset *dataset, void *context,
                                hpcw_error *err) {
    hpcw_kvtree *index;
    hpcw_status s = read_rank2file_index(prefix, &index, err);
    if (s != HPCW_OK) {
        return s;
    }
    for (const hpcw_kvtree *n = hpcw_kvtree_first(read_rank2file_datasets(index)); s == HPCW_OK && n != NULL;
         n = hpcw_kvtree_next(n)) {
        hpcw_rank2file_restart *r;
        hpcw_error why = {.message = ""};
        bool good = hpcw_rank2file_restart_open(prefix, NULL, hpcw_kvtree_key(n), &r, &why) == HPCW_OK &&
                    hpcw_rank2file_restart_load(r, 0, NULL, &why) == HPCW_OK;
        s = dataset(context, hpcw_kvtree_key(n), good ? r : NULL, &why, err);
        hpcw_rank2file_restart_free(r);
    }
    hpcw_kvtree_free(index);
    return s;
}
