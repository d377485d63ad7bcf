/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/export/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gen/export/text.h"
#include "libwriter/base/buf.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/dir.h"
#include "libwriter/io/tree.h"

/* Returns the descriptor of the parent directory, for calls whose failures are ignored. Returns -1 if there is
 * none, so that these calls fail. */
static int parent_of(const struct gen_folder *folder) {
    int at;
    (void)hpcw_i_dir_fd(folder->parent, &at);
    return at;
}

/* ---- temporary names ---- */

enum {
    HOST_AT = 40,
    TRIES = 100
}; /* HOST_AT: lowest bit of the host in a writer's number. TRIES: attempts to find a free name. */

/* Returns a random number for a writer, with `host` in its upper bits. A number with host 0 is never taken for
 * that of a dead writer. */
static uint64_t new_number(uint64_t host) {
    return host << HOST_AT | (hpcw_i_sink_random() & (((uint64_t)1 << HOST_AT) - 1));
}

/* Returns the name of the lock file, ".hpcw-NUMBER-BASE.lock.tmp". The caller frees it. NULL: out of memory. */
static char *lock_name(const char *base, uint64_t number) {
    const size_t size = strlen(base) + sizeof ".lock";
    char *locked = hpcw_i_malloc(size), *name = NULL;
    if (locked != NULL) {
        (void)snprintf(locked, size, "%s.lock", base);
        name = hpcw_i_sink_temporary(locked, number);
    }
    hpcw_i_free(locked);
    return name;
}

static bool take_temporary(struct gen_folder *folder, uint64_t number) {
    folder->temporary = hpcw_i_sink_temporary(hpcw_i_sys_base_of(folder->path), number);
    return folder->temporary != NULL;
}

static void free_names(struct gen_folder *folder) {
    hpcw_i_free(folder->temporary);
    hpcw_i_free(folder->lock);
    folder->temporary = folder->lock = NULL;
}

/* ---- dead writers ---- */

/* Removes the lock file and the directory of the writer of this base name and number, if the writer is dead. */
static void remove_if_dead(int at, const char *base, uint64_t number) {
    struct hpcw_i_entry entry;
    char *lock = lock_name(base, number), *left = hpcw_i_sink_temporary(base, number);
    if (lock != NULL && left != NULL) {
        const int e = hpcw_i_sys_unlink_unowned(at, lock);
        /* A writer locks its lock file before it makes its directory. So a directory without a lock file
         * belongs to a dead writer. */
        if ((e == 0 || e == ENOENT) && hpcw_i_sys_look_at(at, left, &entry) == 0 &&
            entry.kind == HPCW_I_DIRECTORY && entry.owner == geteuid()) {
            (void)hpcw_i_tree_remove(at, left);
        }
    }
    hpcw_i_free(lock);
    hpcw_i_free(left);
}

/* Removes files and directories of dead writers of the same path on this host. Failures are ignored, since they
 * do not hinder this writer. */
static void remove_dead(const struct gen_folder *folder, uint64_t host) {
    struct hpcw_i_listing *listing;
    const char *name;
    if (host == 0 || hpcw_i_sys_list_at(parent_of(folder), ".", &listing) != 0) {
        return;
    }
    while (hpcw_i_sys_list_next(listing, &name) == 0 && name != NULL) {
        if (hpcw_i_sink_is_temporary(name)) {
            const uint64_t number = strtoull(name + strlen(".hpcw-"), NULL, 16);
            if (number >> HOST_AT == host) {
                remove_if_dead(hpcw_i_sys_list_at_fd(listing), hpcw_i_sys_base_of(folder->path), number);
            }
        }
    }
    hpcw_i_sys_list_free(listing);
}

/* ---- the directory ---- */

/* Creates and locks the lock file. Returns EAGAIN if another name must be tried: the name exists, or another writer
 * took the new file for that of a dead writer and has locked it. */
static int lock_file(struct gen_folder *folder) {
    const int at = parent_of(folder);
    int e = hpcw_i_sys_open_own(at, folder->lock, O_RDWR | O_CREAT | O_EXCL, true, &folder->fd);
    if (e != 0) {
        return e == EEXIST ? EAGAIN : e;
    }
    e = hpcw_i_sys_own(folder->fd);
    if (e != 0) {
        (void)(e == EAGAIN ? 0 : hpcw_i_sys_unlink_at(at, folder->lock, 0));
        hpcw_i_sys_drop(folder->fd);
    }
    return e;
}

/* Chooses the temporary name, and creates and locks its lock file. If the file system has no locks or no file
 * can be created, continues without a lock file; making the directory then reports why no file can be created.
 * Returns false if memory runs out. */
static bool take_name(struct gen_folder *folder, uint64_t host) {
    int e = EAGAIN;
    for (int n = 0; host != 0 && e == EAGAIN && n < TRIES; n++) {
        const uint64_t number = new_number(host);
        free_names(folder);
        folder->lock = lock_name(hpcw_i_sys_base_of(folder->path), number);
        if (folder->lock == NULL || !take_temporary(folder, number)) {
            free_names(folder);
            return false;
        }
        e = lock_file(folder);
    }
    if (e != 0) {
        free_names(folder);
        return take_temporary(folder, new_number(0));
    }
    return true;
}

static void drop_lock(struct gen_folder *folder) {
    if (folder->lock != NULL) {
        (void)hpcw_i_sys_unlink_at(parent_of(folder), folder->lock, 0);
        hpcw_i_sys_drop(folder->fd);
        hpcw_i_free(folder->lock);
        folder->lock = NULL;
    }
}

static bool is_same(const struct hpcw_i_file_id *a, const struct hpcw_i_file_id *b) {
    return a->device == b->device && a->inode == b->inode;
}

/* Returns the user who owns files that this process creates in the parent directory: the owner of the lock
 * file, since some file servers map root to another user. */
static unsigned owner_of(const struct gen_folder *folder) {
    struct hpcw_i_entry lock;
    struct hpcw_i_file_id id;
    const bool known = folder->lock != NULL && hpcw_i_sys_id(folder->fd, &id) == 0 &&
                       hpcw_i_sys_look_at(parent_of(folder), folder->lock, &lock) == 0 &&
                       is_same(&lock.id, &id);
    return known ? lock.owner : geteuid();
}

/* Checks that an open directory can be the one that was just made. Returns EEXIST if it is not empty, or
 * belongs to another user. */
static int check_new(const struct gen_folder *folder, int at) {
    struct hpcw_i_entry entry;
    struct hpcw_i_listing *listing;
    const char *name;
    int e = hpcw_i_sys_look_at(at, ".", &entry);
    e = e == 0 && entry.owner != owner_of(folder) ? EEXIST : e;
    e = e == 0 ? hpcw_i_sys_list_at(at, ".", &listing) : e;
    if (e == 0) {
        e = hpcw_i_sys_list_next(listing, &name);
        e = e == 0 && name != NULL ? EEXIST : e;
        hpcw_i_sys_list_free(listing);
    }
    return e;
}

/* Makes the directory and holds it open. Somebody may replace it by another directory meanwhile. Then nothing
 * is written into the other directory, which is removed only if it is empty. */
static int make_held(struct gen_folder *folder) {
    struct hpcw_i_dir *made = NULL;
    int at;
    int e = hpcw_i_dir_fd(folder->parent, &at);
    e = e == 0 ? hpcw_i_sys_mkdir_at(at, folder->temporary, 0777) : e;
    if (e != 0) {
        return e;
    }
    e = hpcw_i_below_hold_itself(folder->parent, folder->temporary, &made);
    e = e == 0 ? hpcw_i_dir_fd(made, &at) : e;
    e = e == 0 ? check_new(folder, at) : e;
    if (e != 0) {
        hpcw_i_dir_release(made);
        (void)hpcw_i_sys_unlink_at(parent_of(folder), folder->temporary, AT_REMOVEDIR);
        return e;
    }
    folder->below =
        (struct hpcw_i_sink_below){.root = made, .path = folder->path, .durability = HPCW_SYNC_NONE};
    return 0;
}

/* Sets *is to whether `name` in the parent directory is the directory that is held open. Returns 0 or an errno
 * value. */
static int is_named(const struct gen_folder *folder, const char *name, bool *is) {
    struct hpcw_i_file_id id;
    struct hpcw_i_entry entry = {.kind = HPCW_I_NOTHING};
    int at;
    int e = hpcw_i_dir_fd(folder->below.root, &at);
    e = e == 0 ? hpcw_i_sys_id(at, &id) : e;
    e = e == 0 ? hpcw_i_dir_fd(folder->parent, &at) : e;
    e = e == 0 ? hpcw_i_sys_look_at(at, name, &entry) : e;
    *is =
        e == 0 && entry.kind == HPCW_I_DIRECTORY && entry.id.device == id.device && entry.id.inode == id.inode;
    return e;
}

/* Checks that the parent directory exists and that the final name is free. Before that, removes files of dead
 * writers: a writer that dies after its rename leaves its lock file. */
static hpcw_status look_first(struct gen_folder *folder, uint64_t host, hpcw_error *err) {
    struct hpcw_i_entry entry;
    int at;
    int e = hpcw_i_dir_hold_of(folder->path, &folder->parent);
    if (e == 0) {
        remove_dead(folder, host);
        e = hpcw_i_dir_fd(folder->parent, &at);
    }
    e = e == 0 ? hpcw_i_sys_look_at(at, hpcw_i_sys_base_of(folder->path), &entry) : e;
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s: cannot create the directory", folder->path);
    }
    return entry.kind == HPCW_I_NOTHING
               ? HPCW_OK
               : hpcw_i_fail(err, HPCW_EEXIST, "%s: expected no file or directory of this name, got one",
                             folder->path);
}

hpcw_status gen_folder_open(struct gen_folder *folder, const char *path, hpcw_error *err) {
    const uint64_t host = hpcw_i_sys_host();
    *folder = (struct gen_folder){.path = hpcw_i_strdup(path)};
    if (folder->path == NULL) {
        return gen_export_no_memory(err);
    }
    for (size_t n = strlen(path); n > 1 && folder->path[n - 1] == '/'; n--) {
        folder->path[n - 1] = '\0';
    }
    hpcw_status s = look_first(folder, host, err);
    if (s != HPCW_OK) {
        return s;
    }
    if (!take_name(folder, host)) {
        return gen_export_no_memory(err);
    }
    int e = make_held(folder);
    if (e != 0) {
        hpcw_i_free(folder->temporary);
        folder->temporary = NULL;
        drop_lock(folder);
        return hpcw_i_fail_sys(err, e, "%s: cannot create the directory", folder->path);
    }
    return HPCW_OK;
}

hpcw_status gen_folder_inside(const struct gen_folder *folder, char path[GEN_FOLDER_INSIDE], hpcw_error *err) {
    struct hpcw_i_entry entry;
    struct hpcw_i_file_id id;
    int at;
    int e = hpcw_i_dir_fd(folder->below.root, &at);
    e = e == 0 ? hpcw_i_sys_id(at, &id) : e;
    if (e == 0) {
        (void)snprintf(path, GEN_FOLDER_INSIDE, "/proc/self/fd/%d", at);
        e = hpcw_i_sys_look(path, true, &entry);
    }
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s: cannot find the new directory", folder->path);
    }
    return entry.kind == HPCW_I_DIRECTORY && is_same(&entry.id, &id)
               ? HPCW_OK
               : hpcw_i_fail(err, HPCW_ENOTSUP,
                             "%s: expected the new directory under %s, got none there: mount /proc",
                             folder->path, path);
}

void gen_folder_name_failure(const struct gen_folder *folder, const char inside[GEN_FOLDER_INSIDE],
                             hpcw_error *err) {
    const hpcw_error old = *err;
    const char *at = old.message;
    struct hpcw_i_buf text = {0};
    bool whole = true;
    for (const char *found; whole && (found = strstr(at, inside)) != NULL;) {
        const char *rest = found + strlen(inside);
        /* A further digit means another path: "/fd/12" is not inside "/fd/1". */
        const bool other = *rest >= '0' && *rest <= '9';
        whole = hpcw_i_buf_append(&text, at, (size_t)(found - at)) &&
                hpcw_i_buf_append_str(&text, other ? inside : folder->path);
        at = rest;
    }
    if (whole && at != old.message && hpcw_i_buf_append(&text, at, strlen(at) + 1)) {
        (void)hpcw_i_fail(err, old.code, "%s", (const char *)text.data);
        err->sys_errno = old.sys_errno;
        err->process = old.process;
    }
    hpcw_i_buf_free(&text);
}

static int add_size(void *context, int at, const char *name, const struct hpcw_i_entry *entry) {
    uint64_t *bytes = context;
    (void)at;
    (void)name;
    *bytes += entry->kind == HPCW_I_FILE ? entry->size : 0;
    return 0;
}

hpcw_status gen_folder_publish(struct gen_folder *folder, bool sync, uint64_t *bytes, hpcw_error *err) {
    const char *base = hpcw_i_sys_base_of(folder->path);
    int at;
    *bytes = 0;
    int e = hpcw_i_dir_fd(folder->below.root, &at);
    e = e == 0 ? hpcw_i_tree_walk(at, ".", add_size, bytes) : e;
    if (e == 0 && sync) {
        e = hpcw_i_tree_sync(at, ".");
    }
    bool ours = true;
    e = e == 0 ? is_named(folder, folder->temporary, &ours) : e;
    e = e == 0 ? hpcw_i_dir_fd(folder->parent, &at) : e;
    if (e == 0 && ours) {
        /* If `path` exists by now, the rename replaces an empty directory, and fails otherwise. */
        e = hpcw_i_sys_rename_at(at, folder->temporary, base);
        if (e == 0) { /* the temporary name may have been another directory at the time of the rename */
            e = is_named(folder, base, &ours);
            if (e != 0) { /* the directory may have its final name: gen_folder_close must not remove it */
                hpcw_i_free(folder->temporary);
                folder->temporary = NULL;
            }
        }
    }
    if (e == 0 && !ours) {
        return hpcw_i_fail(
            err, HPCW_ENOENT,
            "%s: expected its directory under the temporary name %s, got another or none: somebody has "
            "moved it, so choose a place where nobody does",
            folder->path, folder->temporary);
    }
    if (e == 0) {
        hpcw_i_free(folder->temporary);
        folder->temporary = NULL;
        drop_lock(folder);
        e = sync ? hpcw_i_dir_sync(folder->parent) : 0;
    }
    return e == 0 ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot finish the directory", folder->path);
}

void gen_folder_close(struct gen_folder *folder) {
    int at;
    if (folder->temporary != NULL && folder->below.root != NULL &&
        hpcw_i_dir_fd(folder->below.root, &at) == 0) {
        (void)hpcw_i_tree_clear(at, ".");
        bool ours;
        if (is_named(folder, folder->temporary, &ours) == 0 && ours) {
            (void)hpcw_i_sys_unlink_at(parent_of(folder), folder->temporary, AT_REMOVEDIR);
        }
    }
    drop_lock(folder);
    hpcw_i_dir_release(folder->below.root);
    hpcw_i_dir_release(folder->parent);
    hpcw_i_free(folder->temporary);
    hpcw_i_free(folder->path);
    *folder = (struct gen_folder){0};
}
