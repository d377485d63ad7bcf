/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/io/tree.h"

#include <errno.h>
#include <fcntl.h>

#include "libwriter/base/mem.h"

/* Most nested directories, each of which needs a descriptor during the walk. The usual limit is 1024. */
enum { DEEPEST = 256 };

struct tree_walk {
    hpcw_i_tree_visit *each;
    void *context;
    bool goes_on; /* whether to continue after a failure; the first one is returned */
    unsigned depth;
};

static int visit_directory(struct tree_walk *w, int at, const char *name);

static int visit_entry(struct tree_walk *w, int at, const char *name) {
    struct hpcw_i_entry entry;
    int e = hpcw_i_sys_look_at(at, name, &entry);
    if (e != 0 || entry.kind == HPCW_I_NOTHING) {
        return e; /* 0 without an entry: another process has removed the file */
    }
    if (w->goes_on && entry.kind == HPCW_I_DIRECTORY && hpcw_i_sys_is_mounted(at, name)) {
        return EBUSY; /* the same error as for removing a mount point */
    }
    int inside = entry.kind == HPCW_I_DIRECTORY ? visit_directory(w, at, name) : 0;
    e = inside == 0 || w->goes_on ? w->each(w->context, at, name, &entry) : 0;
    return inside != 0 ? inside : e;
}

static int visit_directory(struct tree_walk *w, int at, const char *name) {
    struct hpcw_i_listing *listing;
    const char *entry;
    if (w->depth == DEEPEST) {
        return EMFILE;
    }
    int e = hpcw_i_sys_list_at(at, name, &listing);
    if (e != 0) {
        return e;
    }
    w->depth++;
    for (bool more = true; more && (e == 0 || w->goes_on);) {
        int listed = hpcw_i_sys_list_next(listing, &entry);
        more = listed == 0 && entry != NULL;
        int one = more ? visit_entry(w, hpcw_i_sys_list_at_fd(listing), entry) : listed;
        e = e != 0 ? e : one;
    }
    w->depth--;
    hpcw_i_sys_list_free(listing);
    return e;
}

int hpcw_i_tree_walk(int at, const char *name, hpcw_i_tree_visit *each, void *context) {
    struct tree_walk w = {.each = each, .context = context};
    return visit_entry(&w, at, name);
}

/* ---- removal ---- */

static int remove_one(void *context, int at, const char *name, const struct hpcw_i_entry *entry) {
    (void)context;
    int e = hpcw_i_sys_unlink_at(at, name, entry->kind == HPCW_I_DIRECTORY ? AT_REMOVEDIR : 0);
    return e == ENOENT ? 0 : e;
}

/* Most rounds over a directory. Some file systems skip names when other names are removed; the next round finds the
 * skipped ones. */
enum { TRIES = 4 };

int hpcw_i_tree_clear(int at, const char *name) {
    int e = ENOTEMPTY;
    for (int n = 0; n < TRIES && e == ENOTEMPTY; n++) {
        struct tree_walk w = {.each = remove_one, .goes_on = true};
        e = visit_directory(&w, at, name);
    }
    return e;
}

int hpcw_i_tree_remove(int at, const char *name) {
    int e = ENOTEMPTY;
    for (int n = 0; n < TRIES && e == ENOTEMPTY; n++) {
        e = hpcw_i_tree_clear(at, name);
        int own = e == 0 || e == ENOTEMPTY ? hpcw_i_sys_unlink_at(at, name, AT_REMOVEDIR) : 0;
        e = own != 0 ? own : e;
    }
    return e;
}

/* ---- sync ---- */

static int sync_one(void *context, int at, const char *name, const struct hpcw_i_entry *entry) {
    (void)context;
    return entry->kind == HPCW_I_FILE || entry->kind == HPCW_I_DIRECTORY
               ? hpcw_i_sys_fsync_at(at, name, O_NOFOLLOW)
               : 0;
}

int hpcw_i_tree_sync(int at, const char *name) {
    return hpcw_i_tree_walk(at, name, sync_one, NULL);
}
