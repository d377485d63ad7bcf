/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

int (*hpcw_i_sys_gate)(enum hpcw_i_sys_call call, size_t *size);

static int gate(enum hpcw_i_sys_call call, size_t *size) {
    return hpcw_i_sys_gate == NULL ? 0 : hpcw_i_sys_gate(call, size);
}

int hpcw_i_sys_open(const char *path, int flags, mode_t mode, int *fd) {
    *fd = -1;
    for (;;) {
        int e = gate(HPCW_I_SYS_OPEN, NULL);
        if (e == 0) {
            *fd = open(path, flags | O_CLOEXEC, mode);
            if (*fd >= 0) {
                return 0;
            }
            e = errno;
        }
        if (e != EINTR) {
            return e;
        }
    }
}

int hpcw_i_sys_close(int fd) {
    int e = gate(HPCW_I_SYS_CLOSE, NULL);
    /* The descriptor is gone whatever close answers, so it is closed even where a failure is injected. */
    int r = close(fd) == 0 ? 0 : errno;
    e = e != 0 ? e : r;
    return e == EINTR ? 0 : e; /* not an error of the file: Linux never retries a close */
}

int hpcw_i_sys_pwrite(int fd, const void *data, size_t size, uint64_t offset) {
    return hpcw_i_sys_pwrite2(fd, data, size, NULL, 0, offset);
}

int hpcw_i_sys_pwrite2(int fd, const void *a, size_t a_size, const void *b, size_t b_size, uint64_t offset) {
    while (a_size > 0 || b_size > 0) {
        size_t limit = a_size + b_size;
        int e = gate(HPCW_I_SYS_PWRITE, &limit);
        if (e != 0) {
            if (e == EINTR) {
                continue;
            }
            return e;
        }
        size_t of_a = limit < a_size ? limit : a_size;
        size_t of_b = limit - of_a;
        ssize_t n;
        if (of_a > 0 && of_b > 0) {
            struct iovec iov[2] = {{(void *)(uintptr_t)a, of_a}, {(void *)(uintptr_t)b, of_b}};
            n = pwritev(fd, iov, 2, (off_t)offset);
        } else {
            n = of_a > 0 ? pwrite(fd, a, of_a, (off_t)offset) : pwrite(fd, b, of_b, (off_t)offset);
        }
        if (n < 0) {
            if (errno == EINTR) {
                continue;
            }
            return errno;
        }
        if (n == 0) {
            return EIO; /* a regular file never takes nothing; anything else would loop for ever */
        }
        size_t done = (size_t)n;
        offset += done;
        size_t from_a = done < a_size ? done : a_size;
        a = a == NULL ? NULL : (const char *)a + from_a;
        a_size -= from_a;
        if (done > from_a) {
            b = (const char *)b + (done - from_a);
            b_size -= done - from_a;
        }
    }
    return 0;
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
    for (;;) {
        int e = gate(HPCW_I_SYS_TRUNCATE, NULL);
        if (e == 0) {
            e = ftruncate(fd, (off_t)size) == 0 ? 0 : errno;
        }
        if (e != EINTR) {
            return e;
        }
    }
}

static int change_storage(enum hpcw_i_sys_call call, int fd, int mode, uint64_t offset, uint64_t size) {
    for (;;) {
        int e = gate(call, NULL);
        if (e == 0) {
            e = fallocate(fd, mode, (off_t)offset, (off_t)size) == 0 ? 0 : errno;
        }
        if (e != EINTR) {
            return e;
        }
    }
}

int hpcw_i_sys_allocate(int fd, uint64_t offset, uint64_t size) {
    return change_storage(HPCW_I_SYS_ALLOCATE, fd, 0, offset, size);
}

int hpcw_i_sys_punch(int fd, uint64_t offset, uint64_t size) {
    return change_storage(HPCW_I_SYS_PUNCH, fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, size);
}

int hpcw_i_sys_file_system(int fd, struct statfs *fs) {
    while (fstatfs(fd, fs) != 0) {
        if (errno != EINTR) {
            return errno;
        }
    }
    uint64_t block = fs->f_bsize > 0 ? (uint64_t)fs->f_bsize : 1, bytes = fs->f_bavail * block;
    size_t free = bytes < SIZE_MAX ? (size_t)bytes : SIZE_MAX, seems = free;
    int e = gate(HPCW_I_SYS_SPACE, &seems);
    if (seems < free) {
        fs->f_bavail = seems / block;
    }
    return e;
}

int hpcw_i_sys_size(int fd, uint64_t *size) {
    struct stat st;
    int e = gate(HPCW_I_SYS_STAT, NULL);
    e = e == EINTR ? 0 : e; /* the call itself is never interrupted */
    if (e == 0 && fstat(fd, &st) != 0) {
        e = errno;
    }
    if (e == 0 && !S_ISREG(st.st_mode)) {
        e = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
    }
    *size = e == 0 ? (uint64_t)st.st_size : 0;
    return e;
}

int hpcw_i_sys_fsync(int fd) {
    for (;;) {
        int e = gate(HPCW_I_SYS_FSYNC, NULL);
        if (e == 0) {
            e = fsync(fd) == 0 ? 0 : errno;
        }
        if (e != EINTR) {
            return e;
        }
    }
}

int hpcw_i_sys_fsync_directory_of(const char *path) {
    const char *slash = strrchr(path, '/');
    char *dir = slash == NULL ? hpcw_i_strdup(".") : hpcw_i_strdup(path);
    if (dir == NULL) {
        return ENOMEM;
    }
    if (slash != NULL) {
        dir[slash == path ? 1 : slash - path] = '\0';
    }
    int fd;
    int e = hpcw_i_sys_open(dir, O_RDONLY | O_DIRECTORY, 0, &fd);
    if (e == 0) {
        e = hpcw_i_sys_fsync(fd);
        int c = hpcw_i_sys_close(fd);
        e = e != 0 ? e : c;
    }
    hpcw_i_free(dir);
    return e;
}

int hpcw_i_sys_rename(const char *from, const char *to) {
    int e = gate(HPCW_I_SYS_RENAME, NULL);
    return e != 0 ? e : rename(from, to) == 0 ? 0 : errno;
}

int hpcw_i_sys_unlink(const char *path) {
    int e = gate(HPCW_I_SYS_UNLINK, NULL);
    return e != 0 ? e : unlink(path) == 0 ? 0 : errno;
}

int hpcw_i_sys_mkdir(const char *path, mode_t mode) {
    int e;
    do {
        e = gate(HPCW_I_SYS_MKDIR, NULL);
        e = e != 0 ? e : mkdir(path, mode) == 0 ? 0 : errno;
    } while (e == EINTR);
    return e;
}
