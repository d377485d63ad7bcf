/* SPDX-License-Identifier: BSD-3-Clause */
/* System calls with a path or a name. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libwriter/base/mem.h"
#include "libwriter/io/sys_gate.h"

/* ---- open ---- */

int hpcw_i_sys_open_at(int at, const char *name, int flags, mode_t mode, int *fd) {
    int e;
    *fd = -1;
    do {
        e = gate(HPCW_I_SYS_OPEN, NULL);
        if (e == 0) {
            *fd = openat(at, name, flags | O_CLOEXEC, mode);
            e = *fd >= 0 ? 0 : errno;
        }
    } while (e == EINTR);
    return e;
}

int hpcw_i_sys_open(const char *path, int flags, mode_t mode, int *fd) {
    return hpcw_i_sys_open_at(AT_FDCWD, path, flags, mode, fd);
}

int hpcw_i_sys_open_own(int at, const char *name, int flags, bool own, int *fd) {
    struct stat st;
    /* A user who may read a file can lock it, and so keep its writer from locking it. So a file that is created
     * as `own` gets no permissions for other users. */
    int e = hpcw_i_sys_open_at(at, name, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, own ? 0600 : 0666, fd);
    if (e != 0) {
        /* ENXIO, ENODEV and EISDIR: the name is that of a FIFO, a socket, a device or a directory */
        return e == ENXIO || e == ENODEV || e == EISDIR ? EEXIST : e;
    }
    do {
        e = gate(HPCW_I_SYS_STAT, NULL);
        e = e != 0 ? e : fstat(*fd, &st) == 0 ? 0 : errno;
    } while (e == EINTR);
    e = e == 0 && (!S_ISREG(st.st_mode) || (own && st.st_uid != geteuid())) ? EEXIST : e;
    if (e != 0) {
        /* This call created the file. Nobody else could lock it, as it has no permissions for other users. So
         * it may be removed. */
        if (own && (flags & O_CREAT) != 0) {
            (void)unlinkat(at, name, 0);
        }
        (void)close(*fd);
        *fd = -1;
    }
    return e;
}

/* ---- look ---- */

/* Fills in `entry` from `st`. `e` is the result of the stat call. */
static int describe(int e, const struct stat *st, struct hpcw_i_entry *entry) {
    *entry = (struct hpcw_i_entry){.kind = HPCW_I_NOTHING};
    if (e == 0) {
        *entry = (struct hpcw_i_entry){
            .kind = S_ISREG(st->st_mode)   ? HPCW_I_FILE
                    : S_ISDIR(st->st_mode) ? HPCW_I_DIRECTORY
                    : S_ISLNK(st->st_mode) ? HPCW_I_LINK
                                           : HPCW_I_SPECIAL,
            .mode = st->st_mode & 07777,
            .owner = st->st_uid,
            .group = st->st_gid,
            .size = (uint64_t)st->st_size,
            .freed = st->st_nlink > 1 ? 0 : (uint64_t)st->st_blocks * 512,
            .only_name = st->st_nlink == 1,
            .id = {(uint64_t)st->st_dev, (uint64_t)st->st_ino},
        };
    }
    return e == ENOENT || e == ENOTDIR ? 0 : e;
}

static int look(int at, const char *name, int flags, struct hpcw_i_entry *entry) {
    struct stat st;
    int e;
    do {
        e = gate(HPCW_I_SYS_STAT, NULL);
        e = e != 0 ? e : fstatat(at, name, &st, flags) == 0 ? 0 : errno;
    } while (e == EINTR);
    return describe(e, &st, entry);
}

int hpcw_i_sys_look_at(int at, const char *name, struct hpcw_i_entry *entry) {
    return look(at, name, AT_SYMLINK_NOFOLLOW, entry);
}

int hpcw_i_sys_look(const char *path, bool follow, struct hpcw_i_entry *entry) {
    return look(AT_FDCWD, path, follow ? 0 : AT_SYMLINK_NOFOLLOW, entry);
}

bool hpcw_i_sys_is_mounted(int at, const char *name) {
    struct stat in, it;
#ifdef STATX_ATTR_MOUNT_ROOT
    struct statx x;
    if (statx(at, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_TYPE, &x) == 0 &&
        (x.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) != 0) {
        return (x.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
    }
#endif
    return fstatat(at, ".", &in, 0) == 0 && fstatat(at, name, &it, AT_SYMLINK_NOFOLLOW) == 0 &&
           in.st_dev != it.st_dev;
}

/* Returns whether a file is immutable or append-only. Not even root can rename such a file. */
static bool is_fixed(int at, const char *name) {
#ifdef STATX_ATTR_IMMUTABLE
    struct statx x;
    return statx(at, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_TYPE, &x) == 0 &&
           (x.stx_attributes & (STATX_ATTR_IMMUTABLE | STATX_ATTR_APPEND)) != 0;
#else
    (void)at;
    (void)name;
    return false;
#endif
}

int hpcw_i_sys_may_change_at(int at, const char *name) {
    struct stat directory, file;
    int e;
    do {
        e = gate(HPCW_I_SYS_STAT, NULL);
        if (e == 0 &&
            (faccessat(at, ".", W_OK | X_OK, AT_EACCESS) != 0 || fstatat(at, ".", &directory, 0) != 0)) {
            e = errno;
        }
    } while (e == EINTR);
    /* In a directory with the sticky bit, such as /tmp, only the owner of a file may rename or remove it. */
    const uid_t user = geteuid();
    if (e == 0 && (directory.st_mode & S_ISVTX) != 0 && user != 0 && directory.st_uid != user &&
        fstatat(at, name, &file, AT_SYMLINK_NOFOLLOW) == 0 && file.st_uid != user) {
        e = EPERM;
    }
    e = e == 0 && (is_fixed(at, ".") || is_fixed(at, name)) ? EPERM : e;
    return e == 0 && hpcw_i_sys_is_mounted(at, name) ? EBUSY : e;
}

int hpcw_i_sys_read_link_at(int at, const char *name, char *text, size_t size) {
    ssize_t n = readlinkat(at, name, text, size);
    if (n < 0) {
        return errno;
    }
    if ((size_t)n >= size) {
        return ENAMETOOLONG;
    }
    text[n] = '\0';
    return 0;
}

int hpcw_i_sys_size_at(int at, const char *name, uint64_t *size) {
    struct hpcw_i_entry entry;
    int e = look(at, name, 0, &entry);
    *size = e == 0 && entry.kind == HPCW_I_FILE ? entry.size : 0;
    return e != 0                           ? e
           : entry.kind == HPCW_I_FILE      ? 0
           : entry.kind == HPCW_I_NOTHING   ? ENOENT
           : entry.kind == HPCW_I_DIRECTORY ? EISDIR
                                            : ENXIO;
}

int hpcw_i_sys_open_file_at(int at, const char *name, int *fd, uint64_t *size) {
    *size = 0;
    int e = hpcw_i_sys_open_at(at, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, fd);
    if (e != 0) {
        /* Find out whether the name is that of a socket or the like, or the system failed. */
        uint64_t unused;
        int found = e == ENXIO || e == ENODEV ? hpcw_i_sys_size_at(at, name, &unused) : 0;
        return found != 0 ? found : e == ENXIO ? EIO : e;
    }
    struct stat st;
    do {
        e = gate(HPCW_I_SYS_STAT, NULL);
        e = e != 0 ? e : fstat(*fd, &st) == 0 ? 0 : errno;
    } while (e == EINTR);
    if (e == 0 && S_ISREG(st.st_mode)) {
        *size = (uint64_t)st.st_size;
        return 0;
    }
    (void)close(*fd);
    *fd = -1;
    return e != 0 ? e : S_ISDIR(st.st_mode) ? EISDIR : ENXIO;
}

const char *hpcw_i_sys_no_file(int e) {
    return e == EISDIR  ? "a directory"
           : e == ENXIO ? "a FIFO, a socket or a device"
           : e == ELOOP ? "symbolic links that lead to no file"
                        : NULL;
}

int hpcw_i_sys_size_of(const char *path, uint64_t *size) {
    return hpcw_i_sys_size_at(AT_FDCWD, path, size);
}

bool hpcw_i_sys_is_at(int at, const char *name, const struct hpcw_i_file_id *id) {
    struct stat st;
    return fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && (uint64_t)st.st_dev == id->device &&
           (uint64_t)st.st_ino == id->inode;
}

int hpcw_i_sys_mark_at(int at, const char *name, struct hpcw_i_mark *mark) {
    struct stat st;
    *mark = (struct hpcw_i_mark){0};
    if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        return errno == ENOENT ? 0 : errno;
    }
    mark->device = (uint64_t)st.st_dev;
    mark->inode = (uint64_t)st.st_ino;
#ifdef STATX_BTIME
    struct statx x;
    if (statx(at, name, AT_SYMLINK_NOFOLLOW, STATX_INO | STATX_BTIME, &x) == 0 &&
        (x.stx_mask & STATX_BTIME) != 0 && x.stx_ino == mark->inode) {
        mark->birth_ns = (uint64_t)x.stx_btime.tv_sec * 1000000000 + x.stx_btime.tv_nsec;
    }
#endif
    return 0;
}

/* ---- paths ---- */

const char *hpcw_i_sys_base_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

char *hpcw_i_sys_directory_of(const char *path) {
    const char *slash = strrchr(path, '/');
    char *dir = hpcw_i_strdup(slash == NULL ? "." : path);
    if (dir != NULL && slash != NULL) {
        dir[slash == path ? 1 : slash - path] = '\0';
    }
    return dir;
}

char *hpcw_i_sys_real_path(const char *path) {
    char *made = realpath(path, NULL);
    char *copy = made == NULL ? NULL : hpcw_i_strdup(made);
    free(made);
    return copy;
}

/* ---- change ---- */

int hpcw_i_sys_fsync_at(int at, const char *name, int flags) {
    int fd;
    int e = hpcw_i_sys_open_at(at, name, O_RDONLY | O_NONBLOCK | flags, 0, &fd);
    if (e == 0) {
        e = hpcw_i_sys_fsync(fd);
        int c = hpcw_i_sys_close(fd);
        e = e != 0 ? e : c;
    }
    return e;
}

int hpcw_i_sys_fsync_directory_of(const char *path) {
    char *dir = hpcw_i_sys_directory_of(path);
    if (dir == NULL) {
        return ENOMEM;
    }
    int e = hpcw_i_sys_fsync_at(AT_FDCWD, dir, O_DIRECTORY);
    hpcw_i_free(dir);
    return e;
}

int hpcw_i_sys_rename_between(int from_at, const char *from, int to_at, const char *to) {
    int e;
    do {
        e = gate(HPCW_I_SYS_RENAME, NULL);
        e = e != 0 ? e : renameat(from_at, from, to_at, to) == 0 ? 0 : errno;
    } while (e == EINTR);
    return e;
}

int hpcw_i_sys_rename_at(int at, const char *from, const char *to) {
    return hpcw_i_sys_rename_between(at, from, at, to);
}

int hpcw_i_sys_rename(const char *from, const char *to) {
    return hpcw_i_sys_rename_at(AT_FDCWD, from, to);
}

/* Renames a file, and fails with EEXIST if `to` exists. musl has no function for this system call. */
static long rename_new(int at, const char *from, const char *to) {
    enum { NO_REPLACE = 1 }; /* RENAME_NOREPLACE of linux/fs.h */
    return syscall(SYS_renameat2, at, from, at, to, NO_REPLACE);
}

int hpcw_i_sys_rename_new_at(int at, const char *from, const char *to) {
    int e;
    do {
        e = gate(HPCW_I_SYS_RENAME, NULL);
        e = e != 0 ? e : rename_new(at, from, to) == 0 ? 0 : errno;
        if (e == EINVAL || e == ENOSYS) {
            /* NFS and Lustre do not support the flag, but hard links, which also fail with EEXIST. */
            e = linkat(at, from, at, to, 0) == 0 ? 0 : errno;
            if (e == 0) {
                (void)hpcw_i_sys_unlink_at(at, from, 0);
            }
        }
    } while (e == EINTR);
    return e;
}

int hpcw_i_sys_unlink_at(int at, const char *name, int flags) {
    int e;
    do {
        e = gate(flags == AT_REMOVEDIR ? HPCW_I_SYS_RMDIR : HPCW_I_SYS_UNLINK, NULL);
        e = e != 0 ? e : unlinkat(at, name, flags) == 0 ? 0 : errno;
    } while (e == EINTR);
    return e;
}

int hpcw_i_sys_unlink(const char *path) {
    return hpcw_i_sys_unlink_at(AT_FDCWD, path, 0);
}

int hpcw_i_sys_rmdir(const char *path) {
    return hpcw_i_sys_unlink_at(AT_FDCWD, path, AT_REMOVEDIR);
}

int hpcw_i_sys_mkdir_at(int at, const char *name, mode_t mode) {
    int e;
    do {
        e = gate(HPCW_I_SYS_MKDIR, NULL);
        e = e != 0 ? e : mkdirat(at, name, mode) == 0 ? 0 : errno;
    } while (e == EINTR);
    return e;
}

int hpcw_i_sys_mkdir(const char *path, mode_t mode) {
    return hpcw_i_sys_mkdir_at(AT_FDCWD, path, mode);
}

int hpcw_i_sys_own_directory(int at, int *fd) {
    int e = hpcw_i_sys_open_at(at, ".", O_RDONLY | O_DIRECTORY, 0, fd);
    e = e != 0 ? e : gate(HPCW_I_SYS_OWN, NULL);
    e = e != 0 ? e : flock(*fd, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
    if (e != 0 && *fd >= 0) {
        hpcw_i_sys_drop(*fd);
        *fd = -1;
    }
    return e;
}

int hpcw_i_sys_unlink_unowned(int at, const char *name) {
    int fd = openat(at, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    int e = fd < 0 ? errno : hpcw_i_sys_own(fd);
    if (e == 0) {
        /* Only the holder of a writer's lock removes or renames the locked file, and this process now holds the
         * lock. So if `name` still is the locked file, it stays so until the lock is released. */
        struct stat mine, named;
        e = fstat(fd, &mine) != 0 || fstatat(at, name, &named, AT_SYMLINK_NOFOLLOW) != 0 ? errno : 0;
        e = e == ENOENT ? EAGAIN : e; /* the writer has just removed or renamed the file */
        if (e == 0 && S_ISREG(mine.st_mode) && mine.st_dev == named.st_dev && mine.st_ino == named.st_ino) {
            e = unlinkat(at, name, 0) == 0 ? 0 : errno;
        } else if (e == 0) {
            e = EAGAIN;
        }
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return e;
}

/* ---- list ---- */

struct hpcw_i_listing {
    DIR *dir;
    const struct dirent *entry; /* the entry that hpcw_i_sys_list_next returned last */
};

static int list_at(int at, const char *name, int flags, struct hpcw_i_listing **out) {
    struct hpcw_i_listing *listing = hpcw_i_calloc(1, sizeof *listing);
    int fd = -1;
    *out = NULL;
    int e = listing == NULL ? ENOMEM : hpcw_i_sys_open_at(at, name, O_RDONLY | O_DIRECTORY | flags, 0, &fd);
    if (e == 0) {
        listing->dir = fdopendir(fd);
        e = listing->dir == NULL ? errno : 0;
    }
    if (e != 0) {
        if (fd >= 0) {
            (void)close(fd);
        }
        hpcw_i_free(listing);
        return e;
    }
    *out = listing;
    return 0;
}

int hpcw_i_sys_list(const char *path, struct hpcw_i_listing **out) {
    return list_at(AT_FDCWD, path, 0, out);
}

int hpcw_i_sys_list_at(int at, const char *name, struct hpcw_i_listing **out) {
    struct hpcw_i_entry entry;
    int e = list_at(at, name, O_NOFOLLOW, out);
    return e == ENOTDIR && hpcw_i_sys_look_at(at, name, &entry) == 0 && entry.kind == HPCW_I_LINK ? ELOOP : e;
}

int hpcw_i_sys_list_next(struct hpcw_i_listing *listing, const char **name) {
    *name = NULL;
    int e = gate(HPCW_I_SYS_LIST, NULL);
    if (e != 0 && e != EINTR) { /* the kernel never interrupts this call; only a test does */
        return e;
    }
    do {
        errno = 0;
        listing->entry = readdir(listing->dir);
    } while (listing->entry != NULL &&
             (strcmp(listing->entry->d_name, ".") == 0 || strcmp(listing->entry->d_name, "..") == 0));
    if (listing->entry == NULL) {
        return errno;
    }
    *name = listing->entry->d_name;
    return 0;
}

int hpcw_i_sys_list_is_directory(const struct hpcw_i_listing *listing, bool *is) {
    struct hpcw_i_entry entry = {.kind = HPCW_I_DIRECTORY};
    const unsigned char type = listing->entry->d_type;
    int e = type == DT_UNKNOWN ? hpcw_i_sys_look_at(dirfd(listing->dir), listing->entry->d_name, &entry) : 0;
    *is = e == 0 && entry.kind == HPCW_I_DIRECTORY && (type == DT_UNKNOWN || type == DT_DIR);
    return e;
}

void hpcw_i_sys_list_rewind(struct hpcw_i_listing *listing) {
    rewinddir(listing->dir);
}

int hpcw_i_sys_list_at_fd(const struct hpcw_i_listing *listing) {
    return dirfd(listing->dir);
}

void hpcw_i_sys_list_free(struct hpcw_i_listing *listing) {
    if (listing != NULL) {
        (void)closedir(listing->dir);
        hpcw_i_free(listing);
    }
}
