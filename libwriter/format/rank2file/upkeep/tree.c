/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/format/rank2file/upkeep/tree.h"

#include <errno.h>
#include <string.h>

#include "libwriter/base/buf.h"
#include "libwriter/io/dir.h"

struct dataset_walk {
    hpcw_i_r2f_visit *visit;
    void *context;
    /* path of the current entry below the walked directory; that of a directory ends in '/' */
    struct hpcw_i_buf path;
};

static int walk(struct dataset_walk *w, int at, const char *name);

/* Visits entry `name` of the directory `at`. The first `size` bytes of w->path are the directory's path. */
static int visit_entry(struct dataset_walk *w, int at, const char *name, size_t size) {
    struct hpcw_i_entry entry;
    int e = hpcw_i_sys_look_at(at, name, &entry);
    if (e != 0 || entry.kind == HPCW_I_NOTHING) {
        return e;
    }
    bool directory = entry.kind == HPCW_I_DIRECTORY && !hpcw_i_sys_is_mounted(at, name);
    w->path.size = size;
    if (!hpcw_i_buf_append_str(&w->path, name) || !hpcw_i_buf_append(&w->path, "/", directory ? 1 : 0)) {
        return ENOMEM;
    }
    e = directory ? walk(w, at, name) : 0;
    e = e == 0 && !hpcw_i_buf_append(&w->path, "", 1) ? ENOMEM : e;
    return e == 0 ? w->visit(w->context, (const char *)w->path.data) : e;
}

static int walk(struct dataset_walk *w, int at, const char *name) {
    struct hpcw_i_listing *listing;
    const size_t size = w->path.size;
    const char *entry;
    int e = hpcw_i_sys_list_at(at, name, &listing);
    if (e != 0) {
        return e == ENOENT ? 0 : e;
    }
    while ((e = hpcw_i_sys_list_next(listing, &entry)) == 0 && entry != NULL) {
        e = visit_entry(w, hpcw_i_sys_list_at_fd(listing), entry, size);
        if (e != 0) {
            break;
        }
    }
    hpcw_i_sys_list_free(listing);
    w->path.size = size;
    return e;
}

int hpcw_i_r2f_tree_walk(struct hpcw_i_dir *root, const char *name, hpcw_i_r2f_visit *visit, void *context) {
    struct dataset_walk w = {.visit = visit, .context = context};
    struct hpcw_i_dir *parent;
    const char *slash = strrchr(name, '/');
    int at;
    int e = hpcw_i_below_hold(root, name, &parent);
    e = e == 0 ? hpcw_i_dir_fd(parent, &at) : e;
    e = e == 0 ? walk(&w, at, slash == NULL ? name : slash + 1) : e;
    hpcw_i_dir_release(parent);
    hpcw_i_buf_free(&w.path);
    return e == ENOENT || e == ENOTDIR ? 0 : e;
}
