/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/measure/workdir.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/io/sys.h"
#include "libwriter/io/tree.h"

hpcw_status bench_workdir_make(const struct bench_processes *p, const char *parent, char path[BENCH_WORKDIR],
                               hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    path[0] = '\0';
    if (p->process == 0) {
        int n = snprintf(path, BENCH_WORKDIR, "%s/.hpcw-bench.%ld", parent, (long)getpid());
        if (n < 0 || n >= BENCH_WORKDIR) {
            s = hpcw_i_fail(err, HPCW_ERANGE, "%s: expected a path of fewer than %d bytes", parent,
                            BENCH_WORKDIR);
            path[0] = '\0';
        } else {
            int e = hpcw_i_sys_mkdir(path, 0700);
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
    hpcw_error ignored;
    (void)hpcw_i_agree(p->comm, HPCW_OK, NULL, &ignored);
    if (p->process == 0 && path[0] != '\0') {
        bench_remove_tree(path);
    }
}

hpcw_status bench_workdir_clear(const char *path, hpcw_error *err) {
    int fd;
    int e = hpcw_i_sys_open(path, O_RDONLY | O_DIRECTORY, 0, &fd);
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
    int fd;
    uint64_t length = 0;
    *data = NULL;
    int e = hpcw_i_sys_open(path, O_RDONLY | O_CLOEXEC, 0, &fd);
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s: cannot open for reading", path);
    }
    e = hpcw_i_sys_size(fd, &length);
    if (e == 0 && length <= most && (*data = hpcw_i_malloc((size_t)length + 1)) != NULL) {
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
