/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/io/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "libwriter/base/hash.h"
#include "libwriter/base/mem.h"
#include "libwriter/io/sys_gate.h"

enum { ALL_PERMISSIONS = 07777 };

#ifdef HPCW_I_TEST_GATES
int (*hpcw_i_sys_gate)(enum hpcw_i_sys_call call, size_t *size);
#endif

int hpcw_i_sys_close(int fd) {
    int e = gate(HPCW_I_SYS_CLOSE, NULL);
    /* Call close even if a test makes this call fail: otherwise the descriptor would stay open. */
    int r = close(fd) == 0 ? 0 : errno;
    e = e != 0 ? e : r;
    return e == EINTR ? 0 : e; /* EINTR is no error of the file: on Linux the descriptor is closed */
}

uint64_t hpcw_i_sys_largest_file(void) {
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? (uint64_t)limit.rlim_cur
                                                                                   : UINT64_MAX;
}

/* Returns EFBIG if a file may not grow to `end`. The kernel would also send SIGXFSZ, which ends a program that
 * does not expect it. */
static int within_limit(uint64_t end) {
    return end > hpcw_i_sys_largest_file() ? EFBIG : 0;
}

/* Makes up to `count` copies of `fd` and closes them again. *got becomes the number of copies that could be
 * made. */
static int try_to_open(int fd, int *copy, uint32_t count, uint32_t *got) {
    int e = 0;
    for (*got = 0; e == 0 && *got < count;) {
        copy[*got] = fcntl(fd, F_DUPFD_CLOEXEC, 0);
        e = copy[*got] < 0 ? errno : 0;
        *got += e == 0;
    }
    for (uint32_t i = 0; i < *got; i++) {
        (void)close(copy[i]);
    }
    return e;
}

int hpcw_i_sys_can_open(int fd, uint32_t count, uint64_t *limit, uint64_t *least) {
    struct rlimit l;
    uint32_t got;
    int *copy = hpcw_i_malloc(count * sizeof *copy);
    int e = copy == NULL ? ENOMEM : try_to_open(fd, copy, count, &got);
    /* Raise the limit and try again. Descriptors above the old limit may be in use, so one round may not be
     * enough. */
    while (e == EMFILE && getrlimit(RLIMIT_NOFILE, &l) == 0) {
        *limit = l.rlim_cur;
        *least = l.rlim_cur + (count - got);
        const bool more = l.rlim_cur < l.rlim_max;
        l.rlim_cur = l.rlim_max < *least ? l.rlim_max : (rlim_t)*least;
        if (!more || setrlimit(RLIMIT_NOFILE, &l) != 0) {
            break;
        }
        e = try_to_open(fd, copy, count, &got);
    }
    hpcw_i_free(copy);
    return e;
}

int hpcw_i_sys_pwrite(int fd, const void *data, size_t size, uint64_t offset) {
    struct hpcw_i_piece piece = {data, size};
    return hpcw_i_sys_pwritev(fd, &piece, 1, offset);
}

/* Fills `iov` with the next `limit` bytes of the pieces. The first `from` bytes of piece[0] are written
 * already. Returns the number of entries in `iov`. */
static int next_bytes(const struct hpcw_i_piece *piece, size_t from, size_t limit, struct iovec *iov) {
    int n = 0;
    for (; limit > 0; n++, from = 0) {
        size_t size = piece[n].size - from < limit ? piece[n].size - from : limit;
        iov[n] = (struct iovec){(void *)((uintptr_t)piece[n].data + from), size};
        limit -= size;
    }
    return n;
}

int hpcw_i_sys_pwritev(int fd, const struct hpcw_i_piece *piece, size_t pieces, uint64_t offset) {
    struct iovec iov[HPCW_I_SYS_PIECES];
    for (size_t from = 0;;) {
        for (; pieces > 0 && from >= piece->size; piece++, pieces--) {
            from -= piece->size;
        }
        if (pieces == 0) {
            return 0;
        }
        size_t limit = piece->size - from;
        for (size_t k = 1; k < pieces && k < HPCW_I_SYS_PIECES; k++) {
            limit += piece[k].size;
        }
        int e = gate(HPCW_I_SYS_PWRITE, &limit);
        e = e != 0 ? e : within_limit(offset + limit);
        if (e == EINTR) {
            continue;
        }
        if (e != 0) {
            return e;
        }
        int n = next_bytes(piece, from, limit, iov);
        ssize_t done = n == 1 ? pwrite(fd, iov->iov_base, iov->iov_len, (off_t)offset)
                              : pwritev(fd, iov, n, (off_t)offset);
        if (done < 0) {
            if (errno == EINTR) {
                continue;
            }
            return errno;
        }
        if (done == 0) {
            return EIO; /* a write to a regular file never returns 0; this check avoids an endless loop */
        }
        offset += (size_t)done;
        from += (size_t)done;
    }
}

int hpcw_i_sys_pread(int fd, void *data, size_t size, uint64_t offset, size_t *got) {
    *got = 0;
    while (*got < size) {
        size_t limit = size - *got;
        int e = gate(HPCW_I_SYS_PREAD, &limit);
        ssize_t n = -1;
        if (e == 0) {
            n = pread(fd, (char *)data + *got, limit, (off_t)(offset + *got));
            e = n < 0 ? errno : 0;
        }
        if (e == EINTR) {
            continue;
        }
        if (e != 0) {
            return e;
        }
        if (n == 0) {
            break;
        }
        *got += (size_t)n;
    }
    return 0;
}

int hpcw_i_sys_truncate(int fd, uint64_t size) {
    struct stat st;
    int e;
    do {
        e = gate(HPCW_I_SYS_TRUNCATE, NULL);
        if (e == 0 && within_limit(size) != 0 && fstat(fd, &st) == 0 && (uint64_t)st.st_size < size) {
            e = EFBIG; /* the limit only counts for a file that grows */
        }
        e = e != 0 ? e : ftruncate(fd, (off_t)size) == 0 ? 0 : errno;
    } while (e == EINTR);
    return e;
}

/* Gets the size of a regular file from `st`. `e` is the result of the stat call. */
static int size_of_regular(int e, const struct stat *st, uint64_t *size) {
    if (e == 0 && !S_ISREG(st->st_mode)) {
        e = S_ISDIR(st->st_mode) ? EISDIR : EINVAL;
    }
    *size = e == 0 ? (uint64_t)st->st_size : 0;
    return e;
}

int hpcw_i_sys_size(int fd, uint64_t *size) {
    struct stat st = {0};
    int e = gate(HPCW_I_SYS_STAT, NULL);
    e = e == EINTR ? 0 : e; /* the kernel never interrupts this call; only a test does */
    return size_of_regular(e != 0 ? e : fstat(fd, &st) == 0 ? 0 : errno, &st, size);
}

int hpcw_i_sys_fsync(int fd) {
    int e;
    do {
        e = gate(HPCW_I_SYS_FSYNC, NULL);
        e = e != 0 ? e : fsync(fd) == 0 ? 0 : errno;
    } while (e == EINTR);
    return e;
}

/* ---- allocation and mappings ---- */

int hpcw_i_sys_allocate(int fd, uint64_t offset, uint64_t size) {
    int e;
    do {
        e = gate(HPCW_I_SYS_ALLOCATE, NULL);
        e = e != 0 ? e : within_limit(offset + size);
        /* Not posix_fallocate, which writes to each block if the file system cannot allocate. */
        e = e != 0 ? e : fallocate(fd, 0, (off_t)offset, (off_t)size) == 0 ? 0 : errno;
    } while (e == EINTR);
    if (e != 0) {
        /* On a full disk, some file systems keep the part that they allocated before the failure. Release it. */
        (void)fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)size);
    }
    return e;
}

int hpcw_i_sys_map(int fd, uint64_t offset, size_t size, void **out) {
    int e = gate(HPCW_I_SYS_MAP, NULL);
    e = e == EINTR ? 0 : e; /* the kernel never interrupts this call; only a test does */
    void *p = e != 0 ? MAP_FAILED : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
    *out = p == MAP_FAILED ? NULL : p;
    return e != 0 ? e : p == MAP_FAILED ? errno : 0;
}

void hpcw_i_sys_unmap(void *p, size_t size) {
    (void)munmap(p, size);
}

int hpcw_i_sys_populate(void *p, size_t size) {
#ifdef MADV_POPULATE_WRITE
    /* MADV_POPULATE_READ maps many pages at once. MADV_POPULATE_WRITE then makes them writable and tells the
     * file system. */
    int e = madvise(p, size, MADV_POPULATE_READ) == 0 && madvise(p, size, MADV_POPULATE_WRITE) == 0 ? 0 : errno;
    /* Linux before 5.14 does not know these calls. Then the first store to each page maps it. */
    return e == EINVAL ? 0 : e;
#else
    (void)p;
    (void)size;
    return 0;
#endif
}

/* ---- identity and permissions of files ---- */

int hpcw_i_sys_id(int fd, struct hpcw_i_file_id *id) {
    struct stat st;
    int e = gate(HPCW_I_SYS_STAT, NULL);
    e = e == EINTR ? 0 : e; /* the kernel never interrupts this call; only a test does */
    e = e != 0 ? e : fstat(fd, &st) == 0 ? 0 : errno;
    *id = (struct hpcw_i_file_id){0};
    if (e == 0) {
        *id = (struct hpcw_i_file_id){(uint64_t)st.st_dev, (uint64_t)st.st_ino};
    }
    return e;
}

int hpcw_i_sys_expect(int fd, const struct hpcw_i_file_id *id) {
    struct stat st;
    return fstat(fd, &st) != 0                                                     ? errno
           : (uint64_t)st.st_dev == id->device && (uint64_t)st.st_ino == id->inode ? 0
                                                                                   : EBADF;
}

bool hpcw_i_sys_is_still(int fd, const struct hpcw_i_file_id *id) {
    return hpcw_i_sys_expect(fd, id) == 0;
}

/* Copies the access list of file `name`, if it has one, to `fd`. Returns false if it has one that cannot be
 * copied. */
static bool take_list(int fd, int at, const char *name) {
    static const char list[] = "system.posix_acl_access";
    char value[4096]; /* bytes; more than file systems allow for a list */
    int older = openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    ssize_t size = older < 0 ? -1 : fgetxattr(older, list, value, sizeof value);
    bool none = size < 0 && older >= 0 && (errno == ENODATA || errno == ENOTSUP);
    if (older >= 0) {
        (void)close(older);
    }
    return none || (size >= 0 && fsetxattr(fd, list, value, (size_t)size, 0) == 0);
}

void hpcw_i_sys_take_access(int fd, int at, const char *name, unsigned mode, unsigned group) {
    struct stat st;
    if (fstat(fd, &st) != 0) {
        return;
    }
    bool same = st.st_gid == group || fchown(fd, (uid_t)-1, group) == 0;
    same = take_list(fd, at, name) && same;
    /* If the group or the access list could not be copied, the group gets no permissions: they were meant for
     * other users. The set-user-ID bit is always dropped, as the new file has other content. */
    mode &= same ? 0777 : 0707;
    if ((st.st_mode & ALL_PERMISSIONS) != mode) {
        (void)fchmod(fd, mode);
    }
}

int hpcw_i_sys_give(int fd, unsigned owner) {
    struct stat st;
    int e = fstat(fd, &st) == 0 ? 0 : errno;
    if (e == 0 && st.st_uid != owner) {
        e = gate(HPCW_I_SYS_GIVE, NULL);
        e = e != 0 ? e : fchown(fd, owner, (gid_t)-1) == 0 ? 0 : errno;
        e = geteuid() != 0 ? 0 : e; /* an error only for root, as other users may not give files away */
    }
    return e;
}

void hpcw_i_sys_share(int fd, int at) {
    struct stat st;
    if (gate(HPCW_I_SYS_STAT, NULL) == 0 && fstat(at, &st) == 0 && fchown(fd, (uid_t)-1, st.st_gid) == 0) {
        const mode_t may_write = st.st_mode & (S_IWUSR | S_IWGRP | S_IWOTH);
        (void)fchmod(fd, may_write | (st.st_mode & may_write << 1));
    }
}

/* ---- locks of writers ---- */

/* Makes a lock call for `size` bytes from `byte` on. `size` 0: up to the last possible byte. */
static int lock_call(int fd, int command, struct flock *lock, uint64_t byte, int size,
                     enum hpcw_i_sys_call call) {
    *lock = (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)byte, .l_len = size};
    int e;
    do {
        e = gate(call, NULL);
        e = e != 0 ? e : fcntl(fd, command, lock) == 0 ? 0 : errno;
    } while (e == EINTR);
    return e == EACCES ? EAGAIN : e; /* POSIX allows both codes for a lock that is held */
}

int hpcw_i_sys_lock(int fd, uint64_t byte) {
    struct flock lock;
    return lock_call(fd, F_OFD_SETLK, &lock, byte, 1, HPCW_I_SYS_LOCK);
}

int hpcw_i_sys_unlock(int fd) {
    struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET}; /* l_len 0: up to the last possible byte */
    int e;
    do {
        e = gate(HPCW_I_SYS_LOCK, NULL);
        e = e != 0 ? e : fcntl(fd, F_OFD_SETLK, &lock) == 0 ? 0 : errno;
    } while (e == EINTR);
    return e;
}

int hpcw_i_sys_locked(int fd, bool *held) {
    struct flock lock;
    int e = lock_call(fd, F_OFD_GETLK, &lock, 0, 0, HPCW_I_SYS_LOCK);
    *held = e == 0 && lock.l_type != F_UNLCK;
    return e;
}

int hpcw_i_sys_own(int fd) {
    /* Lock a byte beyond the end of every file, as some file systems refuse writes of other processes to locked
     * bytes. */
    struct flock lock;
    struct stat st;
    int e = lock_call(fd, F_OFD_SETLK, &lock, INT64_MAX - 1, 1, HPCW_I_SYS_OWN);
    return e != 0 ? e : fstat(fd, &st) != 0 ? errno : st.st_nlink == 0 ? EAGAIN : 0;
}

int hpcw_i_sys_copy(int fd, int *copy) {
    int e = gate(HPCW_I_SYS_OWN, NULL);
    *copy = e != 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
    return e != 0 ? e : *copy >= 0 ? 0 : errno;
}

int hpcw_i_sys_show(int fd) {
    int copy;
    return hpcw_i_sys_copy(fd, &copy) == 0 ? hpcw_i_sys_close(copy) : 0;
}

void hpcw_i_sys_drop(int fd) {
    (void)close(fd);
}

uint64_t hpcw_i_sys_host(void) {
    char id[64] = "";
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, id, sizeof id - 1);
    if (fd >= 0) {
        (void)close(fd);
    }
    return n < 32 ? 0 : hpcw_i_hash_text(id) >> 40;
}
