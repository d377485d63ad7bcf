/* SPDX-License-Identifier: BSD-3-Clause */
#include "libreader/rank2file/rank2file.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hpcw/rank2file.h>

#include "libreader/source.h"
#include "libwriter/base/status.h"
#include "libwriter/io/json.h"

enum { MOST_PATH = 4096 + 256, MOST_SHOWN = 64 << 10, MOST_LEVELS = 48 };

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

/* What a path stands for. */
enum what { A_PREFIX, A_ROOT, A_TREE };

static bool ends_in(const char *path, const char *name) {
    size_t n = strlen(path);
    size_t m = strlen(name);
    return n >= m && strcmp(path + n - m, name) == 0 && (n == m || path[n - m - 1] == '/');
}

/* `prefix`: the directory of the job, if it is one. */
static enum what kind_of(const char *path, char prefix[MOST_PATH]) {
    if (is_directory(path) || ends_in(path, HPCW_RANK2FILE_INDEX)) {
        (void)snprintf(prefix, MOST_PATH, "%s", path);
        if (!is_directory(path)) {
            size_t n = strlen(prefix) - strlen(HPCW_RANK2FILE_INDEX);
            (void)snprintf(prefix + n, MOST_PATH - n, "%s", n == 0 ? "." : "");
            if (n > 1) {
                prefix[n - 1] = '\0';
            }
        }
        return A_PREFIX;
    }
    return ends_in(path, "rank2file") || ends_in(path, "rank2file.scr") ? A_ROOT : A_TREE;
}

bool read_rank2file_probe(const char *path) {
    char index[MOST_PATH];
    if (!is_directory(path)) {
        return has_magic(path);
    }
    int n = snprintf(index, sizeof index, "%s/%s", path, HPCW_RANK2FILE_INDEX);
    return n > 0 && (size_t)n < sizeof index && access(index, F_OK) == 0;
}

/* ---- verify ---- */

/* Maps may be there without any of the files. */
static bool any_file(hpcw_rank2file_restart *r) {
    hpcw_rank2file_found f;
    for (uint64_t i = 0; i < hpcw_rank2file_restart_files(r); i++) {
        if (hpcw_rank2file_restart_file(r, i, &f, NULL) != HPCW_OK || access(f.path, F_OK) == 0) {
            return true;
        }
    }
    return false;
}

static hpcw_status load(hpcw_rank2file_restart *r, bool content, hpcw_error *err) {
    hpcw_status s = hpcw_rank2file_restart_load(r, 0, NULL, err);
    return s == HPCW_OK && any_file(r) ? hpcw_rank2file_restart_check(r, content, err) : s;
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
        s = hpcw_i_fail(
            err, HPCW_EFORMAT,
            "%s: dataset %s: summary: expected the map's %llu files and %llu bytes, got %llu and %llu", prefix,
            d->name, (unsigned long long)files, (unsigned long long)size, (unsigned long long)d->files,
            (unsigned long long)d->size);
    }
    return s;
}

/* Both maps must name the same files. */
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

static hpcw_status verify_second_map(const char *prefix, hpcw_rank2file_restart *first, hpcw_error *err) {
    char root[MOST_PATH + 64];
    hpcw_rank2file_restart *r;
    (void)snprintf(root, sizeof root, "%s/.scr/scr.dataset.%llu/rank2file", prefix,
                   (unsigned long long)hpcw_rank2file_restart_dataset(first)->id);
    hpcw_status s = hpcw_rank2file_restart_open_root(root, NULL, &r, err);
    if (s == HPCW_OK) {
        s = hpcw_rank2file_restart_load(r, 0, NULL, err);
        s = s == HPCW_OK ? compare(first, r, root, err) : s;
        hpcw_rank2file_restart_free(r);
    }
    return s;
}

/* NULL: the one that a job would restart from. */
static hpcw_status verify_dataset(const char *prefix, const char *name, hpcw_error *err) {
    hpcw_rank2file_restart *r;
    hpcw_status s = hpcw_rank2file_restart_open(prefix, NULL, name, &r, err);
    if (s != HPCW_OK || name == NULL) {
        hpcw_rank2file_restart_free(r);
        return s;
    }
    s = load(r, true, err);
    if (s == HPCW_OK) {
        s = check_sums(r, prefix, err);
    }
    if (s == HPCW_OK && hpcw_rank2file_restart_layout(r) == HPCW_RANK2FILE_SHARED) {
        s = verify_second_map(prefix, r, err);
    }
    hpcw_rank2file_restart_free(r);
    return s;
}

static hpcw_status read_index(const char *prefix, hpcw_kvtree **index, hpcw_error *err) {
    char path[MOST_PATH + 32];
    (void)snprintf(path, sizeof path, "%s/%s", prefix, HPCW_RANK2FILE_INDEX);
    return hpcw_kvtree_read_file(path, index, err);
}

static const hpcw_kvtree *datasets_of(const hpcw_kvtree *index) {
    const hpcw_kvtree *names = hpcw_kvtree_get(index, "DIR");
    return names != NULL ? names : hpcw_kvtree_get(index, "NAME");
}

static hpcw_status verify_prefix(const char *prefix, hpcw_error *err) {
    hpcw_kvtree *index;
    hpcw_status s = read_index(prefix, &index, err);
    if (s == HPCW_OK) {
        s = verify_dataset(prefix, NULL, err);
        for (const hpcw_kvtree *n = hpcw_kvtree_first(datasets_of(index)); s == HPCW_OK && n != NULL;
             n = hpcw_kvtree_next(n)) {
            s = verify_dataset(prefix, hpcw_kvtree_key(n), err);
        }
        hpcw_kvtree_free(index);
    }
    return s;
}

hpcw_status read_rank2file_verify(const char *path, bool ours, hpcw_error *err) {
    (void)ours; /* there is one degree of strictness */
    char prefix[MOST_PATH];
    hpcw_rank2file_restart *r;
    hpcw_kvtree *tree;
    hpcw_status s;
    switch (kind_of(path, prefix)) {
    case A_PREFIX:
        return verify_prefix(prefix, err);
    case A_ROOT:
        s = hpcw_rank2file_restart_open_root(path, NULL, &r, err);
        if (s == HPCW_OK) {
            s = load(r, true, err);
            hpcw_rank2file_restart_free(r);
        }
        return s;
    case A_TREE:
        break;
    }
    s = hpcw_kvtree_read_file(path, &tree, err);
    if (s == HPCW_OK) {
        hpcw_kvtree_free(tree);
    }
    return s;
}

/* ---- a tour of all datasets ---- */

hpcw_status read_rank2file_tour(const char *prefix, read_rank2file_tell *tell, void *context, hpcw_error *err) {
    hpcw_kvtree *index;
    hpcw_status s = read_index(prefix, &index, err);
    if (s != HPCW_OK) {
        return s;
    }
    for (const hpcw_kvtree *n = hpcw_kvtree_first(datasets_of(index)); s == HPCW_OK && n != NULL;
         n = hpcw_kvtree_next(n)) {
        hpcw_rank2file_restart *r;
        hpcw_error why = {.message = ""};
        bool good = hpcw_rank2file_restart_open(prefix, NULL, hpcw_kvtree_key(n), &r, &why) == HPCW_OK &&
                    hpcw_rank2file_restart_load(r, 0, NULL, &why) == HPCW_OK;
        s = tell(context, hpcw_kvtree_key(n), good ? r : NULL, &why, err);
        hpcw_rank2file_restart_free(r);
    }
    hpcw_kvtree_free(index);
    return s;
}

/* ---- info ---- */

static hpcw_status put_map(hpcw_rank2file_restart *r, struct hpcw_i_json *json, hpcw_error *err) {
    uint32_t leaves;
    uint32_t inner;
    uint32_t levels;
    uint64_t size = 0;
    hpcw_status s = hpcw_rank2file_restart_load(r, 0, NULL, err);
    for (uint64_t i = 0; s == HPCW_OK && i < hpcw_rank2file_restart_files(r); i++) {
        hpcw_rank2file_found f;
        s = hpcw_rank2file_restart_file(r, i, &f, err);
        size += s == HPCW_OK ? f.size : 0;
    }
    if (s == HPCW_OK) {
        hpcw_rank2file_restart_shape(r, &leaves, &inner, &levels);
        hpcw_i_json_put_str(json, "layout", hpcw_rank2file_layout_name(hpcw_rank2file_restart_layout(r)));
        hpcw_i_json_put_u64(json, "ranks", hpcw_rank2file_restart_ranks(r));
        hpcw_i_json_put_u64(json, "leaves", leaves);
        hpcw_i_json_put_u64(json, "inner_nodes", inner);
        hpcw_i_json_put_u64(json, "levels", levels);
        hpcw_i_json_put_u64(json, "files", hpcw_rank2file_restart_files(r));
        hpcw_i_json_put_u64(json, "bytes", size);
    }
    return s;
}

static void put_text(struct hpcw_i_json *json, const char *key, const char *text) {
    if (text != NULL) {
        hpcw_i_json_put_str(json, key, text);
    }
}

static hpcw_status put_dataset(const char *prefix, const char *name, struct hpcw_i_json *json,
                               hpcw_error *err) {
    hpcw_rank2file_restart *r;
    hpcw_status s = hpcw_rank2file_restart_open(prefix, NULL, name, &r, err);
    if (s != HPCW_OK) {
        return s;
    }
    const hpcw_rank2file_dataset *d = hpcw_rank2file_restart_dataset(r);
    hpcw_i_json_flat(json);
    hpcw_i_json_begin_object(json);
    hpcw_i_json_put_str(json, "name", d->name);
    hpcw_i_json_put_u64(json, "id", d->id);
    hpcw_i_json_put_u64(json, "checkpoint", d->checkpoint);
    hpcw_i_json_put_u64(json, "created_us", d->created_us);
    put_text(json, "user", d->user);
    put_text(json, "job_id", d->job_id);
    put_text(json, "job_name", d->job_name);
    s = put_map(r, json, err);
    hpcw_i_json_end_object(json);
    hpcw_rank2file_restart_free(r);
    return s;
}

static hpcw_status put_prefix(const char *prefix, struct hpcw_i_json *json, hpcw_error *err) {
    hpcw_kvtree *index;
    hpcw_status s = read_index(prefix, &index, err);
    if (s != HPCW_OK) {
        return s;
    }
    hpcw_i_json_put_str(json, "kind", "prefix directory");
    put_text(json, "index_version", hpcw_kvtree_value(index, "VERSION"));
    put_text(json, "current", hpcw_kvtree_value(index, "CURRENT"));
    hpcw_i_json_key(json, "datasets");
    hpcw_i_json_begin_array(json);
    for (const hpcw_kvtree *n = hpcw_kvtree_first(datasets_of(index)); s == HPCW_OK && n != NULL;
         n = hpcw_kvtree_next(n)) {
        s = put_dataset(prefix, hpcw_kvtree_key(n), json, err);
    }
    hpcw_i_json_end_array(json);
    hpcw_kvtree_free(index);
    return s;
}

/* Values as strings, everything else as objects, as far down as JSON goes here. */
static void put_tree(const hpcw_kvtree *node, unsigned levels, struct hpcw_i_json *json) {
    hpcw_i_json_begin_object(json);
    for (const hpcw_kvtree *c = levels == 0 ? NULL : hpcw_kvtree_first(node); c != NULL;
         c = hpcw_kvtree_next(c)) {
        const char *value = hpcw_kvtree_value(node, hpcw_kvtree_key(c));
        hpcw_i_json_key_n(json, hpcw_kvtree_key(c), strlen(hpcw_kvtree_key(c)));
        if (value != NULL) {
            hpcw_i_json_str(json, value);
        } else {
            put_tree(c, levels - 1, json);
        }
    }
    hpcw_i_json_end_object(json);
}

hpcw_status read_rank2file_info(const char *path, struct hpcw_i_json *json, hpcw_error *err) {
    char prefix[MOST_PATH];
    hpcw_rank2file_restart *r;
    hpcw_kvtree *tree;
    hpcw_status s;
    switch (kind_of(path, prefix)) {
    case A_PREFIX:
        return put_prefix(prefix, json, err);
    case A_ROOT:
        s = hpcw_rank2file_restart_open_root(path, NULL, &r, err);
        if (s == HPCW_OK) {
            hpcw_i_json_put_str(json, "kind", "map");
            s = put_map(r, json, err);
            hpcw_rank2file_restart_free(r);
        }
        return s;
    case A_TREE:
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
