/* SPDX-License-Identifier: BSD-3-Clause */
/* Removes the files of a list, and counts the files that are left. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/format/rank2file/upkeep/removal.h"
#include "libwriter/format/rank2file/upkeep/tree.h"
#include "libwriter/io/dir.h"
#include "libwriter/io/sink.h"
#include "libwriter/io/sys.h"

/* ---- do it ---- */

/* The directories of the names in a list, each with the directories above it. */
struct directories {
    char **item;
    size_t count, capacity;
    const char *last; /* name whose directories were added last */
    size_t last_size;
};

static void directories_free(struct directories *d) {
    for (size_t i = 0; i < d->count; i++) {
        hpcw_i_free(d->item[i]);
    }
    hpcw_i_free(d->item);
}

/* Returns the length of a name up to its last slash, bytes. */
static size_t directory_size(const char *name) {
    const char *slash = strrchr(name, '/');
    return slash == NULL ? 0 : (size_t)(slash - name);
}

static int add_directory(struct directories *d, const char *name, size_t size) {
    char **grown = hpcw_i_grow((void *)d->item, &d->capacity, d->count + 1, sizeof *grown);
    char *copy = grown == NULL ? NULL : hpcw_i_malloc(size + 1);
    if (grown != NULL) {
        d->item = grown;
    }
    if (copy == NULL) {
        return ENOMEM;
    }
    memcpy(copy, name, size);
    copy[size] = '\0';
    d->item[d->count++] = copy;
    return 0;
}

/* Adds the directory that is the first `size` bytes of a name, and the directories above it. Stops at a
 * directory that the last call added. */
static int add_directories(struct directories *d, const char *name, size_t size) {
    const size_t all = size;
    int e = 0;
    while (e == 0 && size > 0 &&
           (d->last_size < size || memcmp(d->last, name, size) != 0 ||
            (d->last_size > size && d->last[size] != '/'))) {
        e = add_directory(d, name, size);
        while (size > 0 && name[--size] != '/') {
        }
    }
    d->last = name;
    d->last_size = all;
    return e;
}

static int compare_texts_descending(const void *a, const void *b) {
    return strcmp(*(char *const *)b, *(char *const *)a);
}

/* Finds all directories of the names in a list, each once, inner ones before outer ones. */
static int find_directories(const struct hpcw_i_r2f_removal *r, struct directories *d) {
    int e = 0;
    *d = (struct directories){.item = NULL};
    for (const char *name = hpcw_i_r2f_next_name(&r->names, NULL); e == 0 && name != NULL;
         name = hpcw_i_r2f_next_name(&r->names, name)) {
        e = add_directories(d, name, directory_size(name));
    }
    if (e == 0 && d->count > 1) {
        qsort((void *)d->item, d->count, sizeof *d->item, compare_texts_descending);
        size_t kept = 1;
        for (size_t i = 1; i < d->count; i++) {
            if (strcmp(d->item[i], d->item[kept - 1]) != 0) {
                d->item[kept++] = d->item[i];
            } else {
                hpcw_i_free(d->item[i]);
            }
        }
        d->count = kept;
    }
    return e;
}

/* Opens a directory below the prefix and holds it. */
static int hold(const struct hpcw_i_r2f_removal *r, const char *directory, struct hpcw_i_dir **out) {
    char *inside = hpcw_i_r2f_join(directory, "x");
    *out = NULL;
    int e = inside == NULL ? ENOMEM : hpcw_i_below_hold(r->p.dir, inside, out);
    hpcw_i_free(inside);
    return e;
}

hpcw_status hpcw_i_r2f_removal_check(const struct hpcw_i_r2f_removal *r, hpcw_error *err) {
    struct directories d;
    hpcw_status s = HPCW_OK;
    int e = find_directories(r, &d);
    if (e != 0) {
        s = hpcw_i_fail_memory(err, r->p.path, 0, NULL);
    }
    for (size_t i = 0; s == HPCW_OK && i < d.count; i++) {
        struct hpcw_i_dir *directory;
        e = hold(r, d.item[i], &directory);
        hpcw_i_dir_release(directory);
        s = e == 0 || e == ENOENT || e == ENOTDIR
                ? HPCW_OK
                : hpcw_i_r2f_fail_below(&r->p, e, d.item[i], "cannot find out what is to be removed", err);
    }
    directories_free(&d);
    return s;
}

hpcw_status hpcw_i_r2f_removal_tell(const struct hpcw_i_r2f_removal *r, const hpcw_rank2file_removal *how,
                                    hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (const char *name = hpcw_i_r2f_next_name(&r->names, NULL); s == HPCW_OK && name != NULL;
         name = hpcw_i_r2f_next_name(&r->names, name)) {
        struct hpcw_i_entry entry = {.kind = HPCW_I_NOTHING};
        int e = hpcw_i_r2f_is_folder(name) ? 0 : hpcw_i_below_look(r->p.dir, name, &entry);
        char *path = e == 0 ? hpcw_i_r2f_join(r->p.path, name) : NULL;
        if (path == NULL) {
            s = hpcw_i_r2f_fail_below(&r->p, e == 0 ? ENOMEM : e, name, "cannot look at the file", err);
        } else if (entry.kind != HPCW_I_NOTHING && entry.kind != HPCW_I_DIRECTORY) {
            how->told(how->context, path);
        }
        hpcw_i_free(path);
    }
    return s;
}

/* The held directory of the last removed file. It is used again, as names of one directory follow each other. */
struct parent {
    struct hpcw_i_dir *dir;
    const char *name; /* a name in the directory; the directory is its first `size` bytes */
    size_t size;
};

static int find_parent(const struct hpcw_i_r2f_removal *r, const char *name, struct parent *parent) {
    size_t size = directory_size(name);
    if (parent->dir != NULL && parent->size == size && memcmp(parent->name, name, size) == 0) {
        return 0;
    }
    hpcw_i_dir_release(parent->dir);
    *parent = (struct parent){.name = name, .size = size};
    return hpcw_i_below_hold(r->p.dir, name, &parent->dir);
}

/* Removes a file. A temporary file of a living writer stays. */
static int remove_file(const struct hpcw_i_r2f_removal *r, const char *name, struct parent *parent) {
    const char *base = hpcw_i_sys_base_of(name);
    int at;
    int e = find_parent(r, name, parent);
    e = e == 0 ? hpcw_i_dir_fd(parent->dir, &at) : e;
    if (e == 0 && hpcw_i_r2f_is_temporary(name)) {
        e = hpcw_i_sys_unlink_unowned(at, base);
        e = e == EAGAIN ? 0 : e;
    } else if (e == 0) {
        e = hpcw_i_sys_unlink_at(at, base, 0);
    }
    /* If the name is that of a directory, the dataset's file is gone. */
    return e == ENOENT || e == ENOTDIR || e == EISDIR ? 0 : e;
}

/* Removes a directory if it is empty. *stays becomes whether the directory still exists. */
static int remove_directory(const struct hpcw_i_r2f_removal *r, const char *name, bool *stays) {
    int e = strcmp(name, ".scr") == 0 ? ENOTEMPTY : hpcw_i_below_rmdir(r->p.dir, name);
    *stays = e != 0 && e != ENOENT && e != ENOTDIR;
    /* It is no failure if the directory is not empty, in use, or may not be removed. */
    return *stays && e != ENOTEMPTY && e != EEXIST && e != EACCES && e != EPERM && e != EBUSY ? e : 0;
}

static int sync_directory(const struct hpcw_i_r2f_removal *r, const char *name) {
    struct hpcw_i_dir *directory;
    int e = hold(r, name, &directory);
    e = e == 0 ? hpcw_i_dir_sync(directory) : e;
    hpcw_i_dir_release(directory);
    return e;
}

hpcw_status hpcw_i_r2f_removal_do(const struct hpcw_i_r2f_removal *r, bool sync, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    struct directories d;
    struct parent parent = {.dir = NULL};
    int e = find_directories(r, &d);
    if (e != 0) {
        s = hpcw_i_fail_memory(err, r->p.path, 0, NULL);
    }
    for (const char *name = e == 0 ? hpcw_i_r2f_next_name(&r->names, NULL) : NULL; name != NULL;
         name = hpcw_i_r2f_next_name(&r->names, name)) {
        e = hpcw_i_r2f_is_folder(name) ? 0 : remove_file(r, name, &parent);
        s = s == HPCW_OK && e != 0 ? hpcw_i_r2f_fail_below(&r->p, e, name, "cannot remove the file", err) : s;
    }
    hpcw_i_dir_release(parent.dir);
    for (size_t i = 0; s == HPCW_OK && i < d.count; i++) {
        bool stays;
        e = remove_directory(r, d.item[i], &stays);
        e = e == 0 && stays && sync ? sync_directory(r, d.item[i]) : e;
        s = e == 0 ? HPCW_OK
                   : hpcw_i_r2f_fail_below(&r->p, e, d.item[i], "cannot remove the dataset's directory", err);
    }
    e = s == HPCW_OK && sync && d.count > 0 ? hpcw_i_dir_sync(r->p.dir) : 0;
    directories_free(&d);
    return e == 0 ? s : hpcw_i_fail_sys(err, e, "%s: cannot write the directory back to the disk", r->p.path);
}

/* ---- files that are left ---- */

static int count_file(void *context, const char *name) {
    *(uint64_t *)context += !hpcw_i_r2f_is_folder(name);
    return 0;
}

/* Visits the files of a dataset: those in the directory of its data, and those in a separate directory of its
 * metadata. */
static hpcw_status walk_dataset(const struct hpcw_i_r2f_prefix *p, const struct hpcw_i_r2f_dataset *d,
                                hpcw_i_r2f_visit *visit, void *context, hpcw_error *err) {
    int e = hpcw_i_r2f_is_directory_name(d->name) ? hpcw_i_r2f_tree_walk(p->dir, d->name, visit, context) : 0;
    const char *where = d->name;
    char metadata[HPCW_RANK2FILE_PATH];
    for (uint32_t m = 0; e == 0 && m < hpcw_rank2file_layout_maps(d->layout); m++) {
        enum hpcw_i_r2f_kind kind = hpcw_i_r2f_kind_of(d->layout, m);
        if (kind != HPCW_I_R2F_1_1) {
            hpcw_i_r2f_metadata(kind, d->id, d->name, metadata);
            e = hpcw_i_r2f_tree_walk(p->dir, where = metadata, visit, context);
        }
    }
    return e == 0 ? HPCW_OK : hpcw_i_r2f_fail_below(p, e, where, "cannot look for what is left", err);
}

hpcw_status hpcw_i_r2f_count_left(const struct hpcw_i_r2f_prefix *p, const struct hpcw_i_r2f_dataset *d,
                                  uint64_t *left, hpcw_error *err) {
    return walk_dataset(p, d, count_file, left, err);
}

static int look_for_temporary(void *context, const char *name) {
    *(bool *)context = *(bool *)context || (hpcw_i_r2f_is_temporary(name));
    return 0;
}

hpcw_status hpcw_i_r2f_has_temporary(const struct hpcw_i_r2f_prefix *p, const struct hpcw_i_r2f_dataset *d,
                                     bool *has, hpcw_error *err) {
    *has = false;
    return walk_dataset(p, d, look_for_temporary, has, err);
}
