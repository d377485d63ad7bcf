/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/export/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gen/export/text.h"
#include "libwriter/base/buf.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sink.h"
#include "libwriter/io/sys.h"

/* What to do with each file, and with each directory after all that is in it. An errno value, or 0. */
typedef int visit(void *context, const char *path, const struct stat *st);

/* ---- a walk through all files ---- */

static int walk(struct hpcw_i_buf *path, visit *each, void *context) {
    const size_t length = path->size;
    struct stat st;
    int e = 0;
    if (!hpcw_i_buf_append(path, "", 1)) {
        return ENOMEM;
    }
    DIR *d = opendir((const char *)path->data);
    const struct dirent *entry;
    e = d == NULL ? errno : 0;
    while (e == 0 && (errno = 0, entry = readdir(d)) != NULL) {
        path->size = length;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        if (!hpcw_i_buf_append(path, "/", 1) || !hpcw_i_buf_append_str(path, entry->d_name) ||
            !hpcw_i_buf_append(path, "", 1)) {
            e = ENOMEM;
        } else if (lstat((const char *)path->data, &st) != 0) {
            e = errno;
        } else if (S_ISDIR(st.st_mode)) {
            path->size--;
            e = walk(path, each, context);
        } else {
            e = each(context, (const char *)path->data, &st);
        }
    }
    e = e == 0 ? errno : e;
    if (d != NULL) {
        (void)closedir(d);
    }
    path->size = length;
    path->data[length] = '\0';
    if (e == 0 && lstat((const char *)path->data, &st) != 0) {
        e = errno;
    }
    return e == 0 ? each(context, (const char *)path->data, &st) : e;
}

static int walk_from(const char *path, visit *each, void *context) {
    struct hpcw_i_buf b = {0};
    int e = hpcw_i_buf_append_str(&b, path) ? walk(&b, each, context) : ENOMEM;
    hpcw_i_buf_free(&b);
    return e;
}

static int remove_one(void *context, const char *path, const struct stat *st) {
    (void)context;
    return S_ISDIR(st->st_mode) ? hpcw_i_sys_rmdir(path) : hpcw_i_sys_unlink(path);
}

static int add_size(void *context, const char *path, const struct stat *st) {
    uint64_t *bytes = context;
    (void)path;
    *bytes += S_ISREG(st->st_mode) ? (uint64_t)st->st_size : 0;
    return 0;
}

static int sync_one(void *context, const char *path, const struct stat *st) {
    int fd;
    (void)context;
    (void)st;
    int e = hpcw_i_sys_open(path, O_RDONLY, 0, &fd);
    if (e == 0) {
        e = hpcw_i_sys_fsync(fd);
        int c = hpcw_i_sys_close(fd);
        e = e != 0 ? e : c;
    }
    return e;
}

static void remove_tree(const char *path) {
    /* Some file systems skip names while others are removed. */
    for (int tries = 0; tries < 4 && walk_from(path, remove_one, NULL) != 0; tries++) {
    }
}

/* ---- its temporary names ---- */

enum { HOST_AT = 40, TRIES = 100 }; /* the bits of a number from there on are that of the host */

/* Without a host the number is one that nobody takes for that of a dead writer. */
static uint64_t new_number(uint64_t host) {
    return host << HOST_AT | (hpcw_i_sink_random() & (((uint64_t)1 << HOST_AT) - 1));
}

/* To be freed; NULL: out of memory. */
static char *temporary_name(const char *path, uint64_t number, const char *suffix) {
    const char *slash = strrchr(path, '/');
    const size_t parent = slash == NULL ? 0 : (size_t)(slash + 1 - path), size = strlen(path) + 48;
    char *name = hpcw_i_malloc(size);
    if (name != NULL) {
        memcpy(name, path, parent);
        (void)snprintf(name + parent, size - parent, ".hpcw-%016" PRIx64 "-%s%s", number, path + parent,
                       suffix);
    }
    return name;
}

static void free_names(struct gen_folder *folder) {
    hpcw_i_free(folder->temporary);
    hpcw_i_free(folder->lock);
    folder->temporary = folder->lock = NULL;
}

static bool take_names(struct gen_folder *folder, const char *path, uint64_t number) {
    folder->temporary = temporary_name(path, number, ".tmp");
    folder->lock = temporary_name(path, number, ".lock.tmp");
    if (folder->temporary == NULL || folder->lock == NULL) {
        free_names(folder);
    }
    return folder->temporary != NULL;
}

/* ---- dead writers ---- */

/* Removes what a writer of `path` with this number left, if there was one and it died. */
static void remove_if_dead(const char *path, uint64_t number) {
    struct gen_folder left = {0};
    struct stat st;
    if (take_names(&left, path, number)) {
        const int e = hpcw_i_sys_unlink_unowned(AT_FDCWD, left.lock);
        /* The lock is older than the directory: without it the writer is dead as well. */
        if ((e == 0 || e == ENOENT) && lstat(left.temporary, &st) == 0 && S_ISDIR(st.st_mode) &&
            st.st_uid == geteuid()) {
            remove_tree(left.temporary);
        }
    }
    free_names(&left);
}

static void remove_dead(const char *path, uint64_t host) {
    char *parent = hpcw_i_sys_directory_of(path);
    DIR *d = parent == NULL || host == 0 ? NULL : opendir(parent);
    for (const struct dirent *entry; d != NULL && (entry = readdir(d)) != NULL;) {
        if (hpcw_i_sink_is_temporary(entry->d_name)) {
            const uint64_t number = strtoull(entry->d_name + strlen(".hpcw-"), NULL, 16);
            if (number >> HOST_AT == host) {
                remove_if_dead(path, number);
            }
        }
    }
    if (d != NULL) {
        (void)closedir(d);
    }
    hpcw_i_free(parent);
}

/* ---- the directory ---- */

/* EAGAIN: with another name. Between its creation and its lock, another writer may take the file for that of a dead one,
 * and remove it. */
static int lock_file(struct gen_folder *folder) {
    int e = hpcw_i_sys_open(folder->lock, O_RDWR | O_CREAT | O_EXCL, 0666, &folder->fd);
    if (e != 0) {
        return e == EEXIST ? EAGAIN : e;
    }
    e = hpcw_i_sys_own(folder->fd);
    if (e != 0) {
        (void)(e == EAGAIN ? 0 : hpcw_i_sys_unlink(folder->lock));
        hpcw_i_sys_drop(folder->fd);
    }
    return e;
}

/* Without a lock where there are none; and where no file can be created, as the directory then says why. False: out of
 * memory. */
static bool take_name(struct gen_folder *folder, uint64_t host) {
    int e = EAGAIN;
    for (int n = 0; host != 0 && e == EAGAIN && n < TRIES; n++) {
        free_names(folder);
        if (!take_names(folder, folder->path, new_number(host))) {
            return false;
        }
        e = lock_file(folder);
    }
    if (e != 0) {
        free_names(folder);
        folder->temporary = temporary_name(folder->path, new_number(0), ".tmp");
    }
    return folder->temporary != NULL;
}

static void drop_lock(struct gen_folder *folder) {
    if (folder->lock != NULL) {
        (void)hpcw_i_sys_unlink(folder->lock);
        hpcw_i_sys_drop(folder->fd);
        hpcw_i_free(folder->lock);
        folder->lock = NULL;
    }
}

hpcw_status gen_folder_open(struct gen_folder *folder, const char *path, hpcw_error *err) {
    const uint64_t host = hpcw_i_sys_host();
    struct stat st;
    *folder = (struct gen_folder){.path = hpcw_i_strdup(path)};
    if (folder->path == NULL) {
        return gen_export_no_memory(err);
    }
    for (size_t n = strlen(path); n > 1 && folder->path[n - 1] == '/'; n--) {
        folder->path[n - 1] = '\0';
    }
    if (lstat(folder->path, &st) == 0) {
        return hpcw_i_fail(err, HPCW_EEXIST, "%s: expected no file or directory of this name, got one",
                           folder->path);
    }
    remove_dead(folder->path, host);
    if (!take_name(folder, host)) {
        return gen_export_no_memory(err);
    }
    int e = hpcw_i_sys_mkdir(folder->temporary, 0777);
    if (e != 0) {
        hpcw_i_free(folder->temporary);
        folder->temporary = NULL;
        drop_lock(folder);
        return hpcw_i_fail_sys(err, e, "%s: cannot create the directory", folder->path);
    }
    return HPCW_OK;
}

hpcw_status gen_folder_publish(struct gen_folder *folder, bool sync, uint64_t *bytes, hpcw_error *err) {
    *bytes = 0;
    int e = walk_from(folder->temporary, add_size, bytes);
    if (e == 0 && sync) {
        e = walk_from(folder->temporary, sync_one, NULL);
    }
    /* Over an empty directory that came meanwhile at most: the system refuses others. */
    e = e == 0 ? hpcw_i_sys_rename(folder->temporary, folder->path) : e;
    if (e == 0) {
        hpcw_i_free(folder->temporary);
        folder->temporary = NULL;
        drop_lock(folder);
        e = sync ? hpcw_i_sys_fsync_directory_of(folder->path) : 0;
    }
    return e == 0 ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot finish the directory", folder->path);
}

void gen_folder_close(struct gen_folder *folder) {
    if (folder->temporary != NULL) {
        remove_tree(folder->temporary);
    }
    drop_lock(folder);
    hpcw_i_free(folder->temporary);
    hpcw_i_free(folder->path);
    *folder = (struct gen_folder){0};
}
