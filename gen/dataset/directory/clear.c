/* SPDX-License-Identifier: BSD-3-Clause */
/* Removes files that runs left in a dataset's directory, and nothing else. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "gen/dataset/directory/lease.h"
#include "libwriter/base/status.h"
#include "libwriter/io/dir.h"
#include "libwriter/io/sink.h"

/* Deepest level that is searched. Directories of formats have fewer levels. */
enum { DEEPEST = 32 };

/* A directory walk that stores only its current path, since directories can have millions of files. */
struct directory_walk {
    const char *dir;
    uint64_t formats; /* a bit for each format whose directory is searched */
    unsigned depth;
    char path[GEN_DIRECTORY_PATH]; /* below `dir` */
};

static hpcw_status cannot(const struct directory_walk *w, int e, const char *what, hpcw_error *err) {
    return hpcw_i_fail_sys(err, e, "%s%s%s: cannot %s", w->dir, *w->path == '\0' ? "" : "/", w->path, what);
}

static hpcw_status sweep_folder(struct directory_walk *w, int at, const char *name, hpcw_error *err);

/* Removes an entry of a directory if it is a temporary file; searches it if it is a directory of a format.
 * w->path: path of the entry. */
static hpcw_status sweep_entry(struct directory_walk *w, const struct hpcw_i_listing *listing, const char *name,
                               bool *removed, hpcw_error *err) {
    const int at = hpcw_i_sys_list_at_fd(listing);
    const size_t f = gen_format_of_path(w->path);
    bool is_folder;
    int e = hpcw_i_sys_list_is_directory(listing, &is_folder);
    if (e != 0) {
        return cannot(w, e, "look at it", err);
    }
    if (is_folder) {
        if (f == gen_format_count || (w->formats >> f & 1) == 0 || w->depth == DEEPEST) {
            return HPCW_OK;
        }
        w->depth++;
        hpcw_status s = sweep_folder(w, at, name, err);
        w->depth--;
        return s;
    }
    if (hpcw_i_sink_is_temporary(name)) {
        e = hpcw_i_sys_unlink_at(at, name, 0);
        *removed = *removed || e == 0;
    }
    return e == 0 || e == ENOENT ? HPCW_OK : cannot(w, e, "remove", err);
}

/* Removes temporary files from the directory `name`, which is in the directory `at` and has the path w->path.
 * Follows no symbolic link. */
static hpcw_status sweep_folder(struct directory_walk *w, int at, const char *name, hpcw_error *err) {
    const size_t length = strlen(w->path);
    struct hpcw_i_listing *listing;
    int e = hpcw_i_sys_list_at(at, name, &listing);
    if (e != 0) {
        return cannot(w, e, "read the directory", err);
    }
    hpcw_status s = HPCW_OK;
    bool removed = false;
    for (bool more = true; s == HPCW_OK && more;) {
        const char *entry;
        w->path[length] = '\0';
        e = hpcw_i_sys_list_next(listing, &entry);
        if (e != 0) {
            s = cannot(w, e, "read the directory", err);
        } else if (entry == NULL) {
            /* If files were removed, the directory is read again, since some file systems skip names while
             * files are removed. */
            more = removed;
            removed = false;
            hpcw_i_sys_list_rewind(listing);
        } else {
            const size_t left = sizeof w->path - length;
            const bool fits =
                (size_t)snprintf(w->path + length, left, "%s%s", length > 0 ? "/" : "", entry) < left;
            s = fits ? sweep_entry(w, listing, entry, &removed, err)
                     : HPCW_OK; /* runs write no files with longer paths */
        }
    }
    w->path[length] = '\0';
    hpcw_i_sys_list_free(listing);
    return s;
}

hpcw_status gen_directory_sweep(const struct gen_run *run, uint64_t formats, hpcw_error *err) {
    struct directory_walk w = {.dir = run->directory, .formats = formats};
    int at;
    int e = hpcw_i_dir_fd(run->below.root, &at);
    return e == 0 ? sweep_folder(&w, at, ".", err) : cannot(&w, e, "read the directory", err);
}

/* Removes one entry of .hpcw. Entries that no run wrote stay and are counted in `left`. The lease stays, too:
 * its run removes it last. */
static hpcw_status remove_entry(const struct gen_run *run, const struct hpcw_i_listing *listing,
                                const char *name, struct gen_left *left, hpcw_error *err) {
    bool is_folder;
    int e = hpcw_i_sys_list_is_directory(listing, &is_folder);
    if (e == 0 && (is_folder || !gen_directory_is_state(name))) {
        if (left != NULL && left->count++ == 0) {
            (void)snprintf(left->name, sizeof left->name, "%s", name);
        }
        return HPCW_OK;
    }
    if (e == 0 && strcmp(name, GEN_LEASE) != 0) {
        e = hpcw_i_sys_unlink_at(hpcw_i_sys_list_at_fd(listing), name, 0);
    }
    return e == 0 || e == ENOENT
               ? HPCW_OK
               : hpcw_i_fail_sys(err, e, "%s/" GEN_STATE_DIR "/%s: cannot remove", run->directory, name);
}

hpcw_status gen_directory_remove_state(const struct gen_run *run, struct gen_left *left, hpcw_error *err) {
    struct hpcw_i_listing *listing;
    const char *name;
    int at;
    int e = hpcw_i_dir_fd(run->below.root, &at);
    e = e == 0 ? hpcw_i_sys_list_at(at, GEN_STATE_DIR, &listing) : e;
    if (e != 0) {
        return e == ENOENT
                   ? HPCW_OK
                   : hpcw_i_fail_sys(err, e, "%s/" GEN_STATE_DIR ": cannot open the directory", run->directory);
    }
    if (left != NULL) {
        *left = (struct gen_left){0};
    }
    /* The description is removed first: without it, other state in .hpcw is ignored. */
    (void)hpcw_i_sys_unlink_at(hpcw_i_sys_list_at_fd(listing), strchr(GEN_PARAMETERS, '/') + 1, 0);
    hpcw_status s = HPCW_OK;
    while (s == HPCW_OK && (e = hpcw_i_sys_list_next(listing, &name)) == 0 && name != NULL) {
        s = remove_entry(run, listing, name, left, err);
    }
    hpcw_i_sys_list_free(listing);
    return e == 0 ? s
                  : hpcw_i_fail_sys(err, e, "%s/" GEN_STATE_DIR ": cannot read the directory", run->directory);
}

hpcw_status gen_directory_end(const struct gen_run *run, hpcw_error *err) {
    hpcw_status s = gen_directory_sweep(run, run->dataset->formats, err);
    return s == HPCW_OK ? gen_directory_remove_state(run, run->left, err) : s;
}

hpcw_status gen_directory_remove(const struct gen_run *run, const char *name, hpcw_error *err) {
    int e = hpcw_i_below_unlink(run->below.root, name);
    return e == 0 || e == ENOENT ? HPCW_OK
                                 : hpcw_i_fail_sys(err, e, "%s/%s: cannot remove", run->directory, name);
}

hpcw_status gen_directory_remove_lists(const struct gen_run *run, hpcw_error *err) {
    static const char *const lists[] = {GEN_CHECKSUMS, GEN_MANIFEST, GEN_TRUTH};
    hpcw_status s = HPCW_OK;
    for (size_t i = 0; s == HPCW_OK && i < sizeof lists / sizeof lists[0]; i++) {
        s = gen_directory_remove(run, lists[i], err);
    }
    return s;
}
