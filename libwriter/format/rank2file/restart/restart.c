/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens a dataset. Process 0 finds the dataset and reads the inner nodes of its map. The other processes only
 * get the list of leaves. */
#include "libwriter/format/rank2file/restart/restart.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/format/kvtree/pack.h"
#include "libwriter/format/rank2file/map/decode.h"
#include "libwriter/io/sys.h"

/* ---- nodes ---- */

/* Gets the number in the file name of a node of this level. False if `file` is not exactly such a name
 * (doc/formats/rank2file.md#rank2file-14). */
static bool number_of(const hpcw_rank2file_restart *r, uint32_t level, const char *file, uint64_t *number) {
    char value[HPCW_I_R2F_VALUE];
    const char *dot = strrchr(file, '.');
    size_t n = strlen(file);
    if (r->known.kind != HPCW_I_R2F_3 && n > 4) {
        /* Look before the last dot, which belongs to ".scr". */
        for (dot = dot == NULL ? file : dot - 1; dot > file && *dot != '.'; dot--) {
        }
    }
    uint32_t v = 0;
    for (const char *c = dot == NULL ? "" : dot + 1; *c >= '0' && *c <= '9' && v < UINT32_MAX / 10; c++) {
        v = 10 * v + (uint32_t)(*c - '0');
    }
    *number = v;
    (void)hpcw_i_r2f_value(r->known.kind, r->known.id, level, v, value);
    return strcmp(file, value) == 0;
}

static hpcw_status add_leaf(struct hpcw_i_buf *leaves, const struct hpcw_i_r2f_child *child, uint64_t number,
                            hpcw_error *err) {
    struct hpcw_i_r2f_leaf leaf = {.first = child->reader, .number = number, .offset = child->offset};
    return hpcw_i_buf_append(leaves, &leaf, sizeof leaf)
               ? HPCW_OK
               : hpcw_i_fail_memory(err, "rank2file", 0, "the list of leaves");
}

static hpcw_status walk(hpcw_rank2file_restart *r, const char *path, uint32_t level, uint32_t first,
                        uint32_t end, struct hpcw_i_buf *leaves, hpcw_error *err);

/* Reads a child of a node of level `level`. The child has ranks from child->reader to `end` - 1. */
static hpcw_status walk_child(hpcw_rank2file_restart *r, const char *path, uint32_t level,
                              const struct hpcw_i_r2f_child *child, uint32_t end, struct hpcw_i_buf *leaves,
                              hpcw_error *err) {
    uint64_t number = 0;
    if (!number_of(r, level - 1, child->file, &number)) {
        char value[HPCW_I_R2F_VALUE];
        (void)hpcw_i_r2f_value(r->known.kind, r->known.id, level - 1, child->reader, value);
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: offset %" PRIu64 ": FILE of rank %u: expected %s or the like, got \"%.100s\"",
                           path, child->at, child->reader, value, child->file);
    }
    if (level == 1) {
        return add_leaf(leaves, child, number, err);
    }
    if (child->offset != 0) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: offset %" PRIu64 ": OFFSET of rank %u: expected 0, got %" PRIu64, path,
                           child->at, child->reader, child->offset);
    }
    char *below = NULL;
    hpcw_status s = hpcw_i_r2f_node_path(r, level - 1, number, &below, err);
    if (s == HPCW_OK) {
        s = walk(r, below, level - 1, child->reader, end, leaves, err);
    }
    hpcw_i_free(below);
    return s;
}

/* Checks an inner node: doc/formats/rank2file.md#rank2file-8, rank2file-11 and rank2file-12. */
static hpcw_status check_inner(hpcw_rank2file_restart *r, const char *path, uint32_t level, uint32_t first,
                               const struct hpcw_i_r2f_inner *inner, hpcw_error *err) {
    const struct hpcw_i_r2f_child *child = (const struct hpcw_i_r2f_child *)(const void *)inner->child.data;
    bool root = level == 0;
    if (inner->level == 0 || (!root && inner->level != level)) {
        return hpcw_i_fail(err, HPCW_EFORMAT, "%s: LEVEL: expected %u%s, got %u", path, root ? 1 : level,
                           root ? " or more" : "", (unsigned)inner->level);
    }
    if (root ? inner->ranks == 0 : inner->ranks != 0 && inner->ranks != r->known.ranks) {
        return hpcw_i_fail(err, HPCW_EFORMAT, "%s: RANKS: expected %s, got %u", path,
                           root ? "at least 1" : "those of the root", (unsigned)inner->ranks);
    }
    if (inner->child.size == 0 || child[0].reader != first) {
        return hpcw_i_fail(err, HPCW_EFORMAT, "%s: RANK: expected rank %u as the first reader, got %s", path,
                           first, inner->child.size == 0 ? "none" : "another");
    }
    return HPCW_OK;
}

/* Reads a node and all nodes below it. `level` is the level that the node must have; 0: it is the root, which
 * may have any. */
static hpcw_status walk(hpcw_rank2file_restart *r, const char *path, uint32_t level, uint32_t first,
                        uint32_t end, struct hpcw_i_buf *leaves, hpcw_error *err) {
    unsigned char *data = NULL;
    uint64_t stored = 0;
    uint64_t left = 0;
    struct hpcw_i_kv_cursor c;
    struct hpcw_i_r2f_inner inner = {0};
    const char *name;
    int at;
    hpcw_status s = hpcw_i_r2f_where(r, path, &at, &name, err);
    if (s == HPCW_OK) {
        s = hpcw_i_kv_load_at(at, name, path, 0, &data, &stored, &left, err);
    }
    if (s == HPCW_OK && left > 0) {
        s = hpcw_i_fail(err, HPCW_EFORMAT,
                        "%s: offset %" PRIu64 ": expected the end of the file, got %" PRIu64 " more bytes",
                        path, stored, left);
    }
    if (s == HPCW_OK) {
        s = hpcw_i_kv_open(&c, path, 0, data, stored, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_i_r2f_get_inner(&c, &inner, err);
    }
    if (s == HPCW_OK) {
        s = check_inner(r, path, level, first, &inner, err);
    }
    if (s == HPCW_OK) {
        r->known.inner++;
        if (level == 0) {
            r->known.ranks = end = (uint32_t)inner.ranks;
            r->known.levels = (uint32_t)inner.level;
        }
    }
    const struct hpcw_i_r2f_child *child = (const struct hpcw_i_r2f_child *)(const void *)inner.child.data;
    size_t count = inner.child.size / sizeof *child;
    for (size_t i = 0; s == HPCW_OK && i < count; i++) {
        if (child[i].reader >= end) {
            s = hpcw_i_fail(err, HPCW_EFORMAT, "%s: offset %" PRIu64 ": rank: expected one of %u to %u, got %u",
                            path, child[i].at, first, end - 1, child[i].reader);
        } else {
            s = walk_child(r, path, (uint32_t)inner.level, &child[i], i + 1 < count ? child[i + 1].reader : end,
                           leaves, err);
        }
    }
    hpcw_i_buf_free(&inner.child);
    hpcw_i_free(data);
    return s;
}

/* ---- open ---- */

/* Checks that the leaves are large enough for the map's ranks, as a wrong number of ranks would make the
 * loading allocate too much memory. */
static hpcw_status check_claims(const hpcw_rank2file_restart *r, hpcw_error *err) {
    /* smallest size of a rank in a leaf, bytes: a digit, a NUL and a number of children */
    enum { LEAST = 2 + HPCW_I_KV_COUNT };
    const struct hpcw_i_r2f_known *k = &r->known;
    hpcw_status s = HPCW_OK;
    for (uint32_t i = 0; s == HPCW_OK && i < k->leaves; i++) {
        const uint64_t end = i + 1 < k->leaves ? r->leaf[i + 1].first : k->ranks;
        const uint64_t least = (end - r->leaf[i].first) * LEAST;
        uint64_t size = 0;
        char *path = NULL;
        const char *name = NULL;
        int at;
        s = hpcw_i_r2f_node_path(r, 0, r->leaf[i].number, &path, err);
        s = s == HPCW_OK ? hpcw_i_r2f_where(r, path, &at, &name, err) : s;
        if (s == HPCW_OK) {
            int e = hpcw_i_sys_size_at(at, name, &size);
            s = e == 0 ? HPCW_OK : hpcw_i_kv_fail_open(err, e, path);
        }
        if (s == HPCW_OK && (size < r->leaf[i].offset || size - r->leaf[i].offset < least)) {
            s = hpcw_i_fail(err, HPCW_ETRUNCATED,
                            "%s: expected at least %" PRIu64 " bytes at offset %" PRIu64
                            " for the ranks %" PRIu64 " to %" PRIu64 ", got a file of %" PRIu64,
                            path, least, r->leaf[i].offset, r->leaf[i].first, end - 1, size);
        }
        hpcw_i_free(path);
    }
    return s;
}

static hpcw_status read_map(hpcw_rank2file_restart *r, hpcw_error *err) {
    struct hpcw_i_buf leaves = {0};
    char *root = hpcw_i_r2f_join(r->metadata, hpcw_i_r2f_root(r->known.kind));
    hpcw_status s =
        root == NULL ? hpcw_i_fail_memory(err, r->metadata, 0, NULL) : walk(r, root, 0, 0, 0, &leaves, err);
    hpcw_i_free(root);
    if (s != HPCW_OK) {
        hpcw_i_buf_free(&leaves);
        return s;
    }
    r->leaf = (struct hpcw_i_r2f_leaf *)(void *)leaves.data;
    r->known.leaves = (uint32_t)(leaves.size / sizeof *r->leaf);
    return check_claims(r, err);
}

/* Broadcasts the facts that process 0 found, and the list of leaves. Collective. */
static hpcw_status share(hpcw_rank2file_restart *r, const char *prefix, hpcw_error *err) {
    const struct hpcw_i_r2f_known *k = &r->known;
    hpcw_status s = hpcw_i_comm_bcast(r->comm, &r->known, sizeof r->known, 0, err);
    r->dataset.id = k->id;
    if (s == HPCW_OK && r->comm->process > 0) {
        r->leaf = hpcw_i_malloc(k->leaves * sizeof *r->leaf);
        if (prefix != NULL) {
            char directory[HPCW_RANK2FILE_PATH];
            hpcw_i_r2f_metadata(k->kind, k->id, k->name, directory);
            r->metadata = hpcw_i_r2f_join(prefix, directory);
        }
        if (r->leaf == NULL || r->metadata == NULL) {
            s = hpcw_i_fail_memory(err, "rank2file", k->leaves, "leaves");
        }
    }
    if (s == HPCW_OK && r->base == NULL) {
        r->base = k->kind == HPCW_I_R2F_1_1 ? hpcw_i_r2f_join(prefix, k->name) : hpcw_i_strdup(prefix);
        s = r->base == NULL ? hpcw_i_fail_memory(err, prefix, 0, NULL) : HPCW_OK;
    }
    s = hpcw_i_agree(r->comm, s, NULL, err);
    return s == HPCW_OK ? hpcw_i_comm_bcast(r->comm, r->leaf, k->leaves * sizeof *r->leaf, 0, err) : s;
}

/* Broadcasts the summary. Collective. */
static hpcw_status share_summary(hpcw_rank2file_restart *r, hpcw_error *err) {
    hpcw_status s = hpcw_i_r2f_share_tree(r->comm, "the summary", &r->summary, err);
    if (s == HPCW_OK && r->comm->process > 0 && r->summary != NULL) {
        s = hpcw_i_r2f_take_summary(r, "the summary", err);
    }
    return hpcw_i_agree(r->comm, s, NULL, err);
}

/* Finishes an open. `s` is the status of the work of process 0. Takes over `r`, and frees it after a failure.
 * Collective. */
static hpcw_status settle(hpcw_rank2file_restart *r, hpcw_comm *comm, const char *prefix, const char *path,
                          hpcw_status s, hpcw_rank2file_restart **out, hpcw_error *err) {
    s = hpcw_i_agree(comm, s, NULL, err);
    if (s == HPCW_OK) {
        s = share(r, prefix, err);
    }
    if (s == HPCW_OK) {
        s = share_summary(r, err);
    }
    if (s != HPCW_OK) {
        if (path != NULL) {
            hpcw_i_fail_about(err, path);
        }
        hpcw_rank2file_restart_free(r);
        r = NULL;
    }
    if (out != NULL) {
        *out = r;
    }
    return s;
}

static hpcw_status check_arguments(const char *path, hpcw_rank2file_restart **out, hpcw_error *err) {
    return out != NULL && path != NULL && *path != '\0'
               ? HPCW_OK
               : hpcw_i_fail(err, HPCW_EINVAL,
                             "rank2file: expected a path and a pointer for the handle, got %s",
                             out == NULL || path == NULL ? "NULL" : "an empty path");
}

/* Makes a handle. `p` is a prefix that is held open; NULL: files are opened by their paths. */
static hpcw_status new_restart(const char *path, const struct hpcw_i_r2f_prefix *p, hpcw_comm *comm,
                               hpcw_rank2file_restart **out, hpcw_rank2file_restart **made, hpcw_error *err) {
    *made = NULL;
    hpcw_status s = check_arguments(path, out, err);
    if (s != HPCW_OK) {
        return s;
    }
    *made = hpcw_i_calloc(1, sizeof **made);
    if (*made == NULL) {
        return hpcw_i_fail_memory(err, path, 0, NULL);
    }
    (*made)->comm = comm;
    (*made)->dir = p == NULL ? NULL : p->dir;
    (*made)->skip = p == NULL ? 0 : strlen(p->path) + 1;
    return HPCW_OK;
}

hpcw_status hpcw_i_r2f_open_known(const struct hpcw_i_r2f_prefix *p, hpcw_comm *comm,
                                  const struct hpcw_i_r2f_known *known, hpcw_status s,
                                  hpcw_rank2file_restart **out, hpcw_error *err) {
    const char *prefix = p->path;
    hpcw_rank2file_restart *r = NULL;
    if (s == HPCW_OK) {
        s = new_restart(prefix, p, comm, out, &r, err);
    }
    if (s == HPCW_OK && comm->process == 0) {
        r->known = *known;
        s = hpcw_i_r2f_read_summary(r, prefix, err);
        if (s == HPCW_OK) {
            s = read_map(r, err);
        }
    }
    return settle(r, comm, prefix, prefix, s, out, err);
}

static hpcw_status open_named(const char *prefix, hpcw_comm *comm, const char *dataset,
                              hpcw_rank2file_restart **out, hpcw_error *err) {
    const struct hpcw_i_r2f_prefix p = {.path = prefix};
    struct hpcw_i_r2f_known known = {.id = 0};
    struct hpcw_i_r2f_entry entry;
    hpcw_kvtree *index = NULL;
    hpcw_status s = comm->process == 0 ? hpcw_i_r2f_find_dataset(&p, dataset, &index, &entry, err) : HPCW_OK;
    if (s == HPCW_OK && comm->process == 0) {
        s = hpcw_i_r2f_know_entry(prefix, &entry, &known, err);
    }
    hpcw_kvtree_free(index);
    return hpcw_i_r2f_open_known(&p, comm, &known, s, out, err);
}

static hpcw_status open_entry(const char *prefix, hpcw_comm *comm, const struct hpcw_i_r2f_entry *entry,
                              hpcw_rank2file_restart **out, hpcw_error *err) {
    const struct hpcw_i_r2f_prefix p = {.path = prefix};
    struct hpcw_i_r2f_known known;
    hpcw_status s = hpcw_i_r2f_know_entry(prefix, entry, &known, err);
    return hpcw_i_r2f_open_known(&p, comm, &known, s, out, err);
}

bool hpcw_i_r2f_is_damage(hpcw_status s) {
    return s == HPCW_ENOENT || (s <= HPCW_EFORMAT && s >= HPCW_ECHECKSUM);
}

hpcw_status hpcw_i_r2f_check_all(hpcw_rank2file_restart *r, hpcw_error *err) {
    hpcw_status s = hpcw_rank2file_restart_load(r, 0, NULL, err);
    if (s == HPCW_OK) {
        s = hpcw_rank2file_restart_check(r, false, err);
        hpcw_i_r2f_unload(r);
    }
    return s;
}

/* Tries to open one dataset of the list. Collective. */
static hpcw_status try(const char *prefix, hpcw_comm *comm, const hpcw_rank2file_listed *d,
                       hpcw_rank2file_restart **out, hpcw_error *err) {
    if (d->failed != NULL) {
        return hpcw_i_fail(err, HPCW_EFORMAT, "%s: dataset %s: expected one that did not fail, got FAILED = %s",
                           prefix, d->name, d->failed);
    }
    hpcw_status s = open_entry(prefix, comm, hpcw_i_r2f_entry_of(d), out, err);
    if (s == HPCW_OK) {
        s = hpcw_i_r2f_check_all(*out, err);
        if (s != HPCW_OK) {
            hpcw_rank2file_restart_free(*out);
            *out = NULL;
        }
    }
    return s;
}

/* Fails because no dataset could be opened. The error code is that of the first dataset. The message has the
 * reasons of as many datasets as fit. */
static hpcw_status refuse(const char *prefix, const hpcw_rank2file_skipped *skipped, uint32_t skips,
                          hpcw_error *err) {
    if (skips == 0) {
        return hpcw_i_fail(err, HPCW_ENOENT, "%s/%s: expected a complete dataset, got none", prefix,
                           HPCW_RANK2FILE_INDEX);
    }
    char why[HPCW_ERROR_MESSAGE_SIZE] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < skips && used < sizeof why; i++) {
        int n = snprintf(why + used, sizeof why - used, "%s%s", i == 0 ? "" : "; ", skipped[i].why.message);
        used += n > 0 ? (size_t)n : 0;
    }
    int process = skipped[0].why.process;
    int sys_errno = skipped[0].why.sys_errno;
    hpcw_status s = hpcw_i_fail(err, skipped[0].why.code, "%s: expected a sound dataset, got %u damaged: %s",
                                prefix, skips, why);
    err->process = process;
    err->sys_errno = sys_errno;
    return s;
}

/* Opens the first dataset of the list that is not damaged. Collective. */
static hpcw_status open_newest(const char *prefix, hpcw_comm *comm, hpcw_rank2file_restart **out,
                               hpcw_error *err) {
    hpcw_rank2file_list *list = NULL;
    hpcw_rank2file_skipped *skipped = NULL;
    uint32_t skips = 0;
    hpcw_status s = hpcw_rank2file_list_open(prefix, comm, &list, err);
    if (s != HPCW_OK) {
        return s;
    }
    uint32_t count = hpcw_rank2file_list_count(list);
    skipped = hpcw_i_calloc((size_t)count + 1, sizeof *skipped);
    s = skipped == NULL ? hpcw_i_fail_memory(err, prefix, count, "datasets") : HPCW_OK;
    s = hpcw_i_agree(comm, s, NULL, err);
    const char *current = hpcw_rank2file_list_current(list);
    if (s == HPCW_OK && current != NULL && (count == 0 || !hpcw_rank2file_list_get(list, 0)->current)) {
        hpcw_rank2file_skipped *k = &skipped[skips++];
        k->name = current;
        (void)hpcw_i_fail(&k->why, HPCW_EFORMAT, "%s/%s: CURRENT: expected a dataset of the index, got %.200s",
                          prefix, HPCW_RANK2FILE_INDEX, k->name);
    }
    for (uint32_t i = 0; s == HPCW_OK && i < count && *out == NULL; i++) {
        hpcw_rank2file_skipped *k = &skipped[skips];
        s = try(prefix, comm, hpcw_rank2file_list_get(list, i), out, &k->why);
        if (hpcw_i_r2f_is_damage(s)) {
            k->name = hpcw_rank2file_list_get(list, i)->name;
            skips++;
            s = HPCW_OK;
        } else if (s != HPCW_OK) {
            *err = k->why;
        }
    }
    if (s == HPCW_OK && *out == NULL) {
        s = refuse(prefix, skipped, skips, err);
    }
    if (s == HPCW_OK) {
        (*out)->list = list;
        (*out)->skipped = skipped;
        (*out)->skips = skips;
        return s;
    }
    hpcw_i_free(skipped);
    hpcw_rank2file_list_free(list);
    return s;
}

hpcw_status hpcw_rank2file_restart_open(const char *prefix, hpcw_comm *comm, const char *dataset,
                                        hpcw_rank2file_restart **out, hpcw_error *err) {
    hpcw_error local;
    err = err == NULL ? &local : err;
    comm = hpcw_i_comm_or_self(comm);
    hpcw_status s = check_arguments(prefix, out, err);
    const struct hpcw_i_same same[] = {
        {.name = "prefix", .text = prefix},
        {.name = "dataset", .text = dataset == NULL ? "NULL" : dataset},
    };
    s = hpcw_i_agree_same(comm, s, prefix, same, 2, NULL, err);
    if (out != NULL) {
        *out = NULL;
    }
    if (s == HPCW_OK) {
        s = dataset != NULL ? open_named(prefix, comm, dataset, out, err) : open_newest(prefix, comm, out, err);
    }
    return s;
}

hpcw_status hpcw_rank2file_restart_open_listed(const hpcw_rank2file_list *list, uint32_t index, hpcw_comm *comm,
                                               hpcw_rank2file_restart **out, hpcw_error *err) {
    hpcw_error local;
    err = err == NULL ? &local : err;
    comm = hpcw_i_comm_or_self(comm);
    const hpcw_rank2file_listed *listed = hpcw_rank2file_list_get(list, index);
    hpcw_status s =
        listed != NULL && out != NULL
            ? HPCW_OK
            : hpcw_i_fail(err, HPCW_EINVAL, "rank2file: expected %s, got %s",
                          listed == NULL ? "a list and one of its datasets" : "a pointer for the handle",
                          listed == NULL ? "none" : "NULL");
    const char *prefix = listed == NULL ? NULL : hpcw_i_r2f_list_prefix(list);
    const struct hpcw_i_same same[] = {
        {.name = "prefix", .text = prefix},
        {.name = "dataset", .text = listed == NULL ? NULL : listed->name},
    };
    s = hpcw_i_agree_same(comm, s, prefix, same, 2, NULL, err);
    if (out != NULL) {
        *out = NULL;
    }
    return s == HPCW_OK ? open_entry(prefix, comm, hpcw_i_r2f_entry_of(listed), out, err) : s;
}

uint32_t hpcw_rank2file_restart_skips(const hpcw_rank2file_restart *r) {
    return r == NULL ? 0 : r->skips;
}

const hpcw_rank2file_skipped *hpcw_rank2file_restart_skipped(const hpcw_rank2file_restart *r, uint32_t index) {
    return r == NULL || index >= r->skips ? NULL : &r->skipped[index];
}

/* Returns the kind of the map whose root has this path. *id becomes the dataset's id in the path; 0: the path
 * has no id. */
static enum hpcw_i_r2f_kind kind_of_root(const char *root, uint64_t *id) {
    static const char before[] = "scr.dataset.";
    const char *slash = strrchr(root, '/');
    const char *name = slash == NULL ? root : slash + 1;
    const char *directory = root;
    *id = 0;
    for (const char *p = root; slash != NULL && p < slash; p++) {
        directory = *p == '/' ? p + 1 : directory;
    }
    if (slash != NULL && strncmp(directory, before, sizeof before - 1) == 0) {
        for (const char *p = directory + sizeof before - 1; *p >= '0' && *p <= '9' && *id < INT32_MAX; p++) {
            *id = 10 * *id + (uint64_t)(*p - '0');
        }
    }
    if (strcmp(name, hpcw_i_r2f_root(HPCW_I_R2F_3)) == 0) {
        return HPCW_I_R2F_3;
    }
    return *id > 0 ? HPCW_I_R2F_1_2 : HPCW_I_R2F_1_1;
}

static hpcw_status open_root(const struct hpcw_i_r2f_prefix *p, const char *root, hpcw_comm *comm,
                             hpcw_rank2file_restart **out, hpcw_error *err) {
    hpcw_rank2file_restart *r;
    hpcw_status s = new_restart(root, p, comm, out, &r, err);
    if (s == HPCW_OK) {
        r->known.kind = kind_of_root(root, &r->known.id);
        /* In a layout with one map, the numbers of hpcw_rank2file_layout and hpcw_i_r2f_kind are equal. */
        r->known.layout = (hpcw_rank2file_layout)r->known.kind;
        r->metadata = hpcw_i_sys_directory_of(root);
        r->base = r->metadata == NULL
                      ? NULL
                      : hpcw_i_r2f_join(r->metadata, r->known.kind == HPCW_I_R2F_1_1 ? ".." : "../..");
        if (r->metadata == NULL || r->base == NULL) {
            s = hpcw_i_fail_memory(err, root, 0, NULL);
        }
    }
    if (s == HPCW_OK && comm->process == 0) {
        s = read_map(r, err);
    }
    return settle(r, comm, NULL, root, s, out, err);
}

hpcw_status hpcw_rank2file_restart_open_root(const char *root, hpcw_comm *comm, hpcw_rank2file_restart **out,
                                             hpcw_error *err) {
    hpcw_error local;
    return open_root(NULL, root, hpcw_i_comm_or_self(comm), out, err == NULL ? &local : err);
}

hpcw_status hpcw_i_r2f_open_root(const struct hpcw_i_r2f_prefix *p, const char *root,
                                 hpcw_rank2file_restart **out, hpcw_error *err) {
    char *path = hpcw_i_r2f_join(p->path, root);
    hpcw_status s = path == NULL ? hpcw_i_fail_memory(err, p->path, 0, NULL)
                                 : open_root(p, path, hpcw_i_comm_or_self(NULL), out, err);
    hpcw_i_free(path);
    return s;
}

void hpcw_rank2file_restart_free(hpcw_rank2file_restart *r) {
    if (r != NULL) {
        hpcw_kvtree_free(r->summary);
        hpcw_rank2file_list_free(r->list);
        hpcw_i_free(r->skipped);
        hpcw_i_free(r->metadata);
        hpcw_i_free(r->base);
        hpcw_i_free(r->leaf);
        hpcw_i_free(r->words);
        hpcw_i_buf_free(&r->places);
        hpcw_i_buf_free(&r->path);
        hpcw_i_free(r);
    }
}

uint32_t hpcw_rank2file_restart_ranks(const hpcw_rank2file_restart *r) {
    return r == NULL ? 0 : r->known.ranks;
}

const hpcw_rank2file_dataset *hpcw_rank2file_restart_dataset(const hpcw_rank2file_restart *r) {
    return r == NULL ? NULL : &r->dataset;
}

hpcw_rank2file_layout hpcw_rank2file_restart_layout(const hpcw_rank2file_restart *r) {
    return r == NULL ? HPCW_RANK2FILE_SCR_1_1 : r->known.layout;
}

void hpcw_rank2file_restart_shape(const hpcw_rank2file_restart *r, uint32_t *leaves, uint32_t *inner,
                                  uint32_t *levels) {
    *leaves = r == NULL ? 0 : r->known.leaves;
    *inner = r == NULL ? 0 : r->known.inner;
    *levels = r == NULL ? 0 : r->known.levels;
}
