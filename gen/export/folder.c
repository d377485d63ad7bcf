/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/export/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gen/export/text.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/dir.h"
#include "libwriter/io/sink.h"
#include "libwriter/io/tree.h"

static const char *base_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* The descriptor of the parent; -1, with which all calls fail, if it is lost. */
static int parent_of(const struct gen_folder *folder) {
    int at;
    (void)hpcw_i_dir_fd(folder->parent, &at);
    return at;
}

/* ---- its temporary names ---- */

enum { HOST_AT = 40, TRIES = 100 }; /* the bits of a number from there on are that of the host */

/* Without a host the number is one that nobody takes for that of a dead writer. */
static uint64_t new_number(uint64_t host) {
    return host << HOST_AT | (hpcw_i_sink_random() & (((uint64_t)1 << HOST_AT) - 1));
}

/* The name of the lock's file is that of a directory "BASE.lock". To be freed; NULL: out of memory. */
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

/* A path beside the final one. To be freed; NULL: out of memory. */
static char *path_beside(const char *path, const char *name) {
    const size_t parent = (size_t)(base_of(path) - path), size = parent + strlen(name) + 1;
    char *made = hpcw_i_malloc(size);
    if (made != NULL) {
        memcpy(made, path, parent);
        memcpy(made + parent, name, size - parent);
    }
    return made;
}

static bool take_temporary(struct gen_folder *folder, uint64_t number) {
    char *name = hpcw_i_sink_temporary(base_of(folder->path), number);
    folder->temporary = name == NULL ? NULL : path_beside(folder->path, name);
    hpcw_i_free(name);
    return folder->temporary != NULL;
}

static void free_names(struct gen_folder *folder) {
    hpcw_i_free(folder->temporary);
    hpcw_i_free(folder->lock);
    folder->temporary = folder->lock = NULL;
}

/* ---- dead writers ---- */

/* Removes what a writer of this name and number left, if there was one and it died. */
static void remove_if_dead(int at, const char *base, uint64_t number) {
    struct hpcw_i_entry entry;
    char *lock = lock_name(base, number), *left = hpcw_i_sink_temporary(base, number);
    if (lock != NULL && left != NULL) {
        const int e = hpcw_i_sys_unlink_unowned(at, lock);
        /* The lock is older than the directory: without it the writer is dead as well. */
        if ((e == 0 || e == ENOENT) && hpcw_i_sys_look_at(at, left, &entry) == 0 &&
            entry.kind == HPCW_I_DIRECTORY && entry.owner == geteuid()) {
            (void)hpcw_i_tree_remove(at, left);
        }
    }
    hpcw_i_free(lock);
    hpcw_i_free(left);
}

/* What is left of others is no reason to fail. */
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
                remove_if_dead(hpcw_i_sys_list_at_fd(listing), base_of(folder->path), number);
            }
        }
    }
    hpcw_i_sys_list_free(listing);
}

/* ---- the directory ---- */

/* EAGAIN: with another name. Between its creation and its lock, another writer may take the file for that of a dead one,
 * and remove it. */
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

/* Without a lock where there are none; and where no file can be created, as the directory then says why. False: out of
 * memory. */
static bool take_name(struct gen_folder *folder, uint64_t host) {
    int e = EAGAIN;
    for (int n = 0; host != 0 && e == EAGAIN && n < TRIES; n++) {
        const uint64_t number = new_number(host);
        free_names(folder);
        folder->lock = lock_name(base_of(folder->path), number);
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

/* The parent is there, and nothing has the final name. Removes what dead writers left: one that died when the directory had
 * its name left a lock. */
static hpcw_status look_first(struct gen_folder *folder, uint64_t host, hpcw_error *err) {
    struct hpcw_i_entry entry;
    int e = hpcw_i_dir_hold_of(folder->path, &folder->parent);
    if (e == 0) {
        remove_dead(folder, host);
    }
    e = e == 0 ? hpcw_i_sys_look_at(parent_of(folder), base_of(folder->path), &entry) : e;
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
    int e = hpcw_i_sys_mkdir_at(parent_of(folder), base_of(folder->temporary), 0777);
    if (e != 0) {
        hpcw_i_free(folder->temporary);
        folder->temporary = NULL;
        drop_lock(folder);
        return hpcw_i_fail_sys(err, e, "%s: cannot create the directory", folder->path);
    }
    return HPCW_OK;
}

static int add_size(void *context, int at, const char *name, const struct hpcw_i_entry *entry) {
    uint64_t *bytes = context;
    (void)at;
    (void)name;
    *bytes += entry->kind == HPCW_I_FILE ? entry->size : 0;
    return 0;
}

hpcw_status gen_folder_publish(struct gen_folder *folder, bool sync, uint64_t *bytes, hpcw_error *err) {
    const int at = parent_of(folder);
    const char *name = base_of(folder->temporary);
    *bytes = 0;
    int e = hpcw_i_tree_walk(at, name, add_size, bytes);
    if (e == 0 && sync) {
        e = hpcw_i_tree_sync(at, name);
    }
    /* Over an empty directory that came meanwhile at most: the system refuses others. */
    e = e == 0 ? hpcw_i_sys_rename_at(at, name, base_of(folder->path)) : e;
    if (e == 0) {
        hpcw_i_free(folder->temporary);
        folder->temporary = NULL;
        drop_lock(folder);
        e = sync ? hpcw_i_dir_sync(folder->parent) : 0;
    }
    return e == 0 ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot finish the directory", folder->path);
}

void gen_folder_close(struct gen_folder *folder) {
    if (folder->temporary != NULL) {
        (void)hpcw_i_tree_remove(parent_of(folder), base_of(folder->temporary));
    }
    drop_lock(folder);
    hpcw_i_dir_release(folder->parent);
    hpcw_i_free(folder->temporary);
    hpcw_i_free(folder->path);
    *folder = (struct gen_folder){0};
}
