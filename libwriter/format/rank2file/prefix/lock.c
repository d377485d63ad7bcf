/* SPDX-License-Identifier: BSD-3-Clause */
/* A prefix that is held, and the locks in it. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "libwriter/base/hash.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/format/rank2file/prefix/prefix.h"
#include "libwriter/io/dir.h"
#include "libwriter/io/sys.h"

/* ---- the prefix ---- */

hpcw_status hpcw_i_r2f_hold(const char *path, struct hpcw_i_r2f_prefix *p, hpcw_error *err) {
    *p = (struct hpcw_i_r2f_prefix){.path = path};
    int e = hpcw_i_dir_hold(path, &p->dir);
    return e == 0 ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot open the directory", path);
}

/* Bytes of the shortest part of a name, from its begin on, that is a symbolic link; 0: none. */
static int find_link(struct hpcw_i_dir *dir, const char *name) {
    char *part = hpcw_i_strdup(name);
    int size = 0;
    for (size_t n = 0; part != NULL && size == 0 && name[n] != '\0';) {
        struct hpcw_i_entry entry;
        n += strcspn(name + n + 1, "/") + 1;
        part[n] = '\0';
        if (hpcw_i_below_look(dir, part, &entry) == 0 && entry.kind == HPCW_I_LINK) {
            size = (int)n;
        }
        part[n] = name[n];
    }
    hpcw_i_free(part);
    return size;
}

hpcw_status hpcw_i_r2f_fail_below(const struct hpcw_i_r2f_prefix *p, int e, const char *name, const char *what,
                                  hpcw_error *err) {
    int link = e == ELOOP ? find_link(p->dir, name) : 0;
    return e == ENOMEM ? hpcw_i_fail_memory(err, p->path, 0, NULL)
           : link > 0  ? hpcw_i_fail(err, HPCW_EACCES,
                                     "%s/%.*s: expected no symbolic link, got one: below the prefix nothing is "
                                      "written or removed through links",
                                     p->path, link, name)
                       : hpcw_i_fail_sys(err, e, "%s/%s: %s", p->path, name, what);
}

hpcw_status hpcw_i_r2f_make_directory(const struct hpcw_i_r2f_prefix *p, const char *name, bool sync,
                                      bool *made, hpcw_error *err) {
    int e = hpcw_i_below_make(p->dir, name, sync, made);
    return e == 0 || e == EEXIST ? HPCW_OK
                                 : hpcw_i_r2f_fail_below(p, e, name, "cannot make the directory", err);
}

/* ---- locks ---- */

/* Byte 0 of the lock file is the index, byte N dataset N; names lie above all ids. */
enum { INDEX_BYTE = 0 };

static uint64_t byte_of_name(const char *name) {
    const uint64_t names = UINT64_C(1) << 62;
    return names | (hpcw_i_hash_text(name) & (names - 1));
}

/* What kernels and file systems answer that have no such locks. */
static bool is_unsupported(int e) {
    return e == ENOSYS || e == EOPNOTSUPP || e == EINVAL || e == ENOLCK;
}

/* Whoever creates the file lets all others lock it who may write in the directory, whatever the umask. It may be another
 * user's: a group shares it. */
static int open_or_create(struct hpcw_i_dir *prefix, int *fd) {
    struct hpcw_i_dir *directory = NULL;
    int at;
    int e = hpcw_i_below_open(prefix, HPCW_I_R2F_LOCK, O_RDWR, false, fd);
    if (e != ENOENT) {
        return e;
    }
    e = hpcw_i_below_open(prefix, HPCW_I_R2F_LOCK, O_RDWR | O_CREAT | O_EXCL, false, fd);
    if (e == EEXIST) { /* another one was faster; it is never removed */
        return hpcw_i_below_open(prefix, HPCW_I_R2F_LOCK, O_RDWR, false, fd);
    }
    if (e == 0 && hpcw_i_below_hold(prefix, HPCW_I_R2F_LOCK, &directory) == 0 &&
        hpcw_i_dir_fd(directory, &at) == 0) {
        hpcw_i_sys_share(*fd, at);
    }
    hpcw_i_dir_release(directory);
    return e;
}

/* A lock that may not be opened is not "no lock here": others hold it, and this program would destroy what they write. */
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

hpcw_status hpcw_i_r2f_lock_index(const struct hpcw_i_r2f_prefix *p, int *fd, bool *locked, hpcw_error *err) {
    /* A holder reads and writes one small file. Longer means that it is stopped, and a collective must not hang. */
    enum { LONGEST_MS = 60000, STEP_MS = 2 };
    int e = 0;
    hpcw_status s = open_lock(p, fd, err);
    if (s == HPCW_OK) {
        const struct timespec step = {.tv_nsec = STEP_MS * 1000000L};
        e = hpcw_i_sys_lock(*fd, INDEX_BYTE);
        for (int ms = 0; e == EAGAIN && ms < LONGEST_MS; ms += STEP_MS) {
            (void)nanosleep(&step, NULL);
            e = hpcw_i_sys_lock(*fd, INDEX_BYTE);
        }
        if (e != 0 && !is_unsupported(e)) {
            s = hpcw_i_r2f_fail_below(p, e, HPCW_I_R2F_LOCK, "cannot lock the index", err);
        }
    }
    if (locked != NULL) {
        *locked = s == HPCW_OK && e == 0;
    }
    if (s != HPCW_OK) {
        hpcw_i_r2f_unlock(*fd);
        *fd = -1;
    }
    return s;
}

hpcw_status hpcw_i_r2f_lock_dataset(const struct hpcw_i_r2f_prefix *p, uint64_t id, const char *name, int *fd,
                                    bool *locked, hpcw_error *err) {
    int e = 0;
    hpcw_status s = open_lock(p, fd, err);
    if (s == HPCW_OK) {
        e = hpcw_i_sys_lock(*fd, id);
        e = e == 0 ? hpcw_i_sys_lock(*fd, byte_of_name(name)) : e;
        if (e == EAGAIN) {
            s = hpcw_i_fail(err, HPCW_EEXIST,
                            "%s: dataset %s with id %" PRIu64 ": another program is writing it", p->path, name,
                            id);
        } else if (e != 0 && !is_unsupported(e)) {
            s = hpcw_i_r2f_fail_below(p, e, HPCW_I_R2F_LOCK, "cannot lock a dataset", err);
        }
    }
    if (locked != NULL) {
        *locked = s == HPCW_OK && e == 0;
    }
    if (s != HPCW_OK) {
        hpcw_i_r2f_unlock(*fd);
        *fd = -1;
    }
    return s;
}

void hpcw_i_r2f_unlock(int fd) {
    if (fd >= 0) {
        (void)hpcw_i_sys_unlock(fd); /* without locks it fails, and there is nothing to release */
        (void)hpcw_i_sys_close(fd);
    }
}
