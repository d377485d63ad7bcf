/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/measure/workdir.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/io/sys.h"
#include "libwriter/io/tree.h"

#define WORKDIR ".hpcw-bench."
#define OWNER ".owner"

/* Returns whether `name` is that of a lock file: ".hpcw-bench.PID.owner". */
static bool is_owner(const char *name) {
    const size_t start = sizeof WORKDIR - 1;
    const size_t digits = strncmp(name, WORKDIR, start) == 0 ? strspn(name + start, "0123456789") : 0;
    return digits > 0 && strcmp(name + start + digits, OWNER) == 0;
}

/* Removes a data directory and then its lock file `owner`, unless a running program holds the lock. Programs on
 * other hosts see the lock, too. */
static void remove_leftover(const char *parent, const char *owner) {
    char path[BENCH_PATH];
    int fd;
    int n = snprintf(path, sizeof path, "%s/%s", parent, owner);
    if (n < 0 || (size_t)n >= sizeof path ||
        hpcw_i_sys_open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0, &fd) != 0) {
        return;
    }
    if (hpcw_i_sys_own(fd) == 0) {
        char data[BENCH_PATH];
        (void)snprintf(data, sizeof data, "%.*s", n - (int)(sizeof OWNER - 1), path);
        int e = hpcw_i_tree_remove(AT_FDCWD, data);
        e = e == ENOENT ? 0 : e;
        e = e == 0 ? hpcw_i_sys_unlink(path) : e;
        (void)fprintf(stderr,
                      e == 0 ? "hpcw-bench: %s: removed: a run that was killed left it\n"
                             : "hpcw-bench: %s: a run that was killed left it, and it cannot be removed\n",
                      data);
    }
    (void)hpcw_i_sys_close(fd);
}

static void remove_leftovers(const char *parent) {
    struct hpcw_i_listing *listing;
    const char *name;
    if (hpcw_i_sys_list(parent, &listing) != 0) {
        return;
    }
    while (hpcw_i_sys_list_next(listing, &name) == 0 && name != NULL) {
        if (is_owner(name)) {
            remove_leftover(parent, name);
        }
    }
    hpcw_i_sys_list_free(listing);
}

/* Creates and locks a lock file, which stays open. On a file system without locks, *fd becomes -1, and there is no
 * file. EAGAIN: another run takes the new file for that of a killed run, and removes it. */
static int make_lock(const char *owner, int *fd) {
    int e = hpcw_i_sys_open(owner, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600, fd);
    const int own = e == 0 ? hpcw_i_sys_own(*fd) : 0;
    if (own != 0) {
        (void)hpcw_i_sys_close(*fd);
        (void)(own == EAGAIN ? 0 : hpcw_i_sys_unlink(owner));
    }
    *fd = e != 0 || own != 0 ? -1 : *fd;
    return own == EAGAIN ? EAGAIN : e;
}

/* Another run needs moments to remove a lock file, as there is no data yet. LONGEST_MS is far above that. */
enum { STEP_MS = 10, LONGEST_MS = 5000 };

/* Makes the data directory and its lock file. The lock file stays open, so this program holds the lock until it
 * ends. File systems without locks get no lock file, and no later run removes the directory of a killed run. */
static int make_owned(const char *path) {
    char owner[BENCH_WORKDIR + sizeof OWNER];
    int fd;
    (void)snprintf(owner, sizeof owner, "%s%s", path, OWNER);
    int e = make_lock(owner, &fd);
    /* The other run would also remove the data directory, so that is made after the lock. */
    for (int ms = 0; ms < LONGEST_MS && (e == EAGAIN || (ms > 0 && e == EEXIST)); ms += STEP_MS) {
        (void)nanosleep(&(struct timespec){.tv_nsec = STEP_MS * 1000000}, NULL);
        e = make_lock(owner, &fd);
    }
    e = e != 0 ? e : hpcw_i_sys_mkdir(path, 0700);
    if (e != 0 && fd >= 0) {
        (void)hpcw_i_sys_unlink(owner);
    }
    return e;
}

hpcw_status bench_workdir_make(const struct bench_processes *p, const char *parent, char path[BENCH_WORKDIR],
                               hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    path[0] = '\0';
    if (p->process == 0) {
        int n = snprintf(path, BENCH_WORKDIR, "%s/" WORKDIR "%ld", parent, (long)getpid());
        if (n < 0 || n >= BENCH_WORKDIR) {
            s = hpcw_i_fail(err, HPCW_ERANGE, "%s: expected a path of fewer than %d bytes", parent,
                            BENCH_WORKDIR);
            path[0] = '\0';
        } else {
            remove_leftovers(parent);
            int e = make_owned(path);
            s = e == 0 ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot make this directory", path);
            path[e == 0 ? strlen(path) : 0] = '\0';
        }
    }
    s = hpcw_i_agree(p->comm, s, NULL, err);
    s = s == HPCW_OK ? hpcw_i_comm_bcast(p->comm, path, BENCH_WORKDIR, 0, err) : s;
    struct hpcw_i_entry entry = {.kind = HPCW_I_DIRECTORY};
    int e = s == HPCW_OK ? hpcw_i_sys_look(path, true, &entry) : 0;
    s = e == 0 ? s : hpcw_i_fail_sys(err, e, "%s: cannot look at it", path);
    if (s == HPCW_OK && entry.kind != HPCW_I_DIRECTORY) {
        s = hpcw_i_fail(
            err, HPCW_EMISMATCH,
            "%s: expected the same directory on all processes, got one without %s of process 0: use "
            "an absolute path on a file system that all hosts share",
            parent, strrchr(path, '/') + 1);
    }
    return hpcw_i_agree(p->comm, s, NULL, err);
}

void bench_workdir_remove(const struct bench_processes *p, const char *path) {
    hpcw_error why;
    (void)hpcw_i_agree(p->comm, HPCW_OK, NULL, &why);
    if (p->process == 0 && path[0] != '\0') {
        char owner[BENCH_WORKDIR + sizeof OWNER];
        (void)snprintf(owner, sizeof owner, "%s%s", path, OWNER);
        const int e = hpcw_i_tree_remove(AT_FDCWD, path);
        if (e == 0 || e == ENOENT) {
            (void)hpcw_i_sys_unlink(owner);
        } else {
            (void)hpcw_i_fail_sys(&why, e, "%s: cannot remove the data, which the next run does", path);
            (void)fprintf(stderr, "hpcw-bench: %s\n", why.message);
        }
    }
}

hpcw_status bench_workdir_clear(const char *path, hpcw_error *err) {
    int fd;
    int e = hpcw_i_sys_open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0, &fd);
    if (e == 0) {
        e = hpcw_i_tree_clear(fd, ".");
        int synced = hpcw_i_sys_fsync(fd);
        e = e != 0 || synced == EINVAL ? e : synced; /* EINVAL: the file system does not support it */
        (void)hpcw_i_sys_close(fd);
    }
    return e == 0 ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot remove the data of a run", path);
}

void bench_remove_tree(const char *path) {
    (void)hpcw_i_tree_remove(AT_FDCWD, path);
}

hpcw_status bench_read_file(const char *path, uint64_t most, unsigned char **data, size_t *size,
                            hpcw_error *err) {
    return bench_read_file_at(AT_FDCWD, path, path, most, data, size, err);
}

hpcw_status bench_read_file_at(int at, const char *name, const char *path, uint64_t most, unsigned char **data,
                               size_t *size, hpcw_error *err) {
    int fd;
    uint64_t length = 0;
    *data = NULL;
    int e = hpcw_i_sys_open_file_at(at, name, &fd, &length);
    if (e != 0) {
        const char *other = hpcw_i_sys_no_file(e);
        return other != NULL
                   ? hpcw_i_fail(err, HPCW_EFORMAT, "%s: expected a regular file, got %s", path, other)
                   : hpcw_i_fail_sys(err, e, "%s: cannot open for reading", path);
    }
    if (length <= most && (*data = hpcw_i_malloc((size_t)length + 1)) != NULL) {
        e = hpcw_i_sys_pread(fd, *data, (size_t)length, 0, size);
    }
    (void)hpcw_i_sys_close(fd);
    return e != 0 ? hpcw_i_fail_sys(err, e, "%s: cannot read", path)
           : length > most
               ? hpcw_i_fail(err, HPCW_EFORMAT, "%s: expected at most %" PRIu64 " bytes, got %" PRIu64, path,
                             most, length)
           : *data == NULL ? hpcw_i_fail_memory(err, path, length, "bytes")
                           : HPCW_OK;
}
