/* SPDX-License-Identifier: BSD-3-Clause */
/* The locks on a prefix directory, in which SCR keeps checkpoints. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "libwriter/base/hash.h"
#include "libwriter/base/status.h"
#include "libwriter/format/rank2file/prefix/marker.h"
#include "libwriter/io/dir.h"
#include "libwriter/io/sys.h"

/* Byte 0 of the lock file stands for the index, byte N for dataset N. Bytes above all ids stand for names. */
enum { INDEX_BYTE = 0 };

static uint64_t byte_of_name(const char *name) {
    const uint64_t names = UINT64_C(1) << 62;
    return names | (hpcw_i_hash_text(name) & (names - 1));
}

/* Returns whether an error means that the kernel or the file system does not support locks. */
static bool is_unsupported(int e) {
    return e == ENOSYS || e == EOPNOTSUPP || e == EINVAL || e == ENOLCK;
}

/* Opens the lock file, or creates it. All users who may write in the directory may lock the file, whatever the
 * umask of its creator. The file may belong to another user, as a group may share the directory. */
static int open_or_create(struct hpcw_i_dir *prefix, int *fd) {
    struct hpcw_i_dir *directory = NULL;
    int at;
    int e = hpcw_i_below_open(prefix, HPCW_I_R2F_LOCK, O_RDWR, false, fd);
    if (e != ENOENT) {
        return e;
    }
    e = hpcw_i_below_open(prefix, HPCW_I_R2F_LOCK, O_RDWR | O_CREAT | O_EXCL, false, fd);
    if (e == EEXIST) { /* Another process created the file first. Programs with this library never remove it. */
        return hpcw_i_below_open(prefix, HPCW_I_R2F_LOCK, O_RDWR, false, fd);
    }
    if (e == 0 && hpcw_i_below_hold(prefix, HPCW_I_R2F_LOCK, &directory) == 0 &&
        hpcw_i_dir_fd(directory, &at) == 0) {
        hpcw_i_sys_share(*fd, at);
    }
    hpcw_i_dir_release(directory);
    return e;
}

/* Opens the lock file. A lock file without read and write permission is an error: others may hold locks on it,
 * and writing without a lock could destroy their data. */
static hpcw_status open_lock(const struct hpcw_i_r2f_prefix *p, int *fd, hpcw_error *err) {
    *fd = -1;
    int e = open_or_create(p->dir, fd);
    return e == 0 ? HPCW_OK
           : e == EACCES
               ? hpcw_i_r2f_fail_below(p, e, HPCW_I_R2F_LOCK,
                                       "cannot open the lock: expected the right to read and write it, as all "
                                       "have who share the prefix (its owner can chmod it)",
                                       err)
           : e == EEXIST
               ? hpcw_i_r2f_fail_below(p, e, HPCW_I_R2F_LOCK,
                                       "cannot open the lock: expected a regular file, got something else", err)
               : hpcw_i_r2f_fail_below(p, e, HPCW_I_R2F_LOCK, "cannot open the lock", err);
}

hpcw_status hpcw_i_r2f_lock_is_named(const struct hpcw_i_r2f_prefix *p, int fd, bool *named, hpcw_error *err) {
    struct hpcw_i_file_id id;
    struct hpcw_i_entry entry = {.kind = HPCW_I_NOTHING};
    int e = hpcw_i_sys_id(fd, &id);
    e = e == 0 ? hpcw_i_below_look(p->dir, HPCW_I_R2F_LOCK, &entry) : e;
    *named =
        e == 0 && entry.kind != HPCW_I_NOTHING && entry.id.device == id.device && entry.id.inode == id.inode;
    return e == 0 ? HPCW_OK : hpcw_i_r2f_fail_below(p, e, HPCW_I_R2F_LOCK, "cannot look at the lock", err);
}

/* Takes a lock on the file that has the name of the lock file when this returns: others find only that file.
 * HPCW_EIO: somebody keeps removing the file. */
static hpcw_status lock(const struct hpcw_i_r2f_prefix *p, int (*take)(int fd, const void *what),
                        const void *what, int *fd, int *e, hpcw_error *err) {
    /* enough even if programs that clean up remove the lock file a few times */
    enum { TRIES = 100 };
    for (int i = 0; i < TRIES; i++) {
        hpcw_status s = open_lock(p, fd, err);
        *e = s == HPCW_OK ? take(*fd, what) : 0;
        bool named = false;
        if (s == HPCW_OK && *e == 0) {
            s = hpcw_i_r2f_lock_is_named(p, *fd, &named, err);
        }
        if (s != HPCW_OK || *e != 0 || named) {
            return s;
        }
        hpcw_i_r2f_unlock(*fd);
        *fd = -1;
    }
    return hpcw_i_fail(err, HPCW_EIO, "%s/%s: expected a lock file that stays, got one that somebody removes",
                       p->path, HPCW_I_R2F_LOCK);
}

/* Closes the lock file after a failure. *locked (may be NULL) says whether the lock was taken. A file system
 * without locks is no failure. */
static hpcw_status settle(hpcw_status s, int e, int *fd, bool *locked) {
    if (locked != NULL) {
        *locked = s == HPCW_OK && e == 0;
    }
    if (s != HPCW_OK) {
        hpcw_i_r2f_unlock(*fd);
        *fd = -1;
    }
    return s;
}

static int take_index(int fd, const void *what) {
    /* A program holds this lock while it reads and writes one small file. A program that holds it for a minute was
     * stopped, and a collective call must not hang. */
    enum { LONGEST_MS = 60000, STEP_MS = 2 };
    const struct timespec step = {.tv_nsec = STEP_MS * 1000000L};
    (void)what;
    int e = hpcw_i_sys_lock(fd, INDEX_BYTE);
    for (int ms = 0; e == EAGAIN && ms < LONGEST_MS; ms += STEP_MS) {
        (void)nanosleep(&step, NULL);
        e = hpcw_i_sys_lock(fd, INDEX_BYTE);
    }
    return e;
}

hpcw_status hpcw_i_r2f_lock_index(const struct hpcw_i_r2f_prefix *p, int *fd, bool *locked, hpcw_error *err) {
    int e;
    hpcw_status s = lock(p, take_index, NULL, fd, &e, err);
    if (s == HPCW_OK && e != 0 && !is_unsupported(e)) {
        s = hpcw_i_r2f_fail_below(p, e, HPCW_I_R2F_LOCK, "cannot lock the index", err);
    }
    return settle(s, e, fd, locked);
}

struct bytes {
    uint64_t id;
    const char *name;
};

static int take_dataset(int fd, const void *what) {
    const struct bytes *b = what;
    int e = hpcw_i_sys_lock(fd, b->id);
    return e == 0 ? hpcw_i_sys_lock(fd, byte_of_name(b->name)) : e;
}

hpcw_status hpcw_i_r2f_lock_again(const struct hpcw_i_r2f_prefix *p, uint64_t id, const char *name, int *fd,
                                  bool *locked, hpcw_error *err) {
    int e;
    hpcw_status s = lock(p, take_dataset, &(struct bytes){id, name}, fd, &e, err);
    if (s == HPCW_OK && e == EAGAIN) {
        s = hpcw_i_fail(err, HPCW_EEXIST, "%s: dataset %s with id %" PRIu64 ": another program is writing it",
                        p->path, name, id);
    } else if (s == HPCW_OK && e != 0 && !is_unsupported(e)) {
        s = hpcw_i_r2f_fail_below(p, e, HPCW_I_R2F_LOCK, "cannot lock a dataset", err);
    }
    return settle(s, e, fd, locked);
}

hpcw_status hpcw_i_r2f_lock_dataset(const struct hpcw_i_r2f_prefix *p, uint64_t id, const char *name, int *fd,
                                    bool *locked, hpcw_error *err) {
    hpcw_status s = hpcw_i_r2f_lock_again(p, id, name, fd, locked, err);
    if (s == HPCW_OK && hpcw_i_r2f_marker_is_held(p, id)) {
        s = hpcw_i_fail(err, HPCW_EEXIST,
                        "%s: dataset %s with id %" PRIu64 ": another program is writing it, without %s, which "
                        "somebody removed",
                        p->path, name, id, HPCW_I_R2F_LOCK);
    }
    return s == HPCW_OK ? s : settle(s, 0, fd, locked);
}

void hpcw_i_r2f_unlock(int fd) {
    if (fd >= 0) {
        /* fails if the file system has no locks; then there is nothing to release */
        (void)hpcw_i_sys_unlock(fd);
        (void)hpcw_i_sys_close(fd);
    }
}
