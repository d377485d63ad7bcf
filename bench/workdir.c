/* SPDX-License-Identifier: BSD-3-Clause */
#include "workdir.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/status.h"
#include "comm/agree.h"

hpcw_status bench_workdir_make(const struct bench_processes *p, const char *parent, char path[BENCH_WORKDIR],
                               hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    path[0] = '\0';
    if (p->process == 0) {
        int n = snprintf(path, BENCH_WORKDIR, "%s/.hpcw-bench.%ld", parent, (long)getpid());
        if (n < 0 || n >= BENCH_WORKDIR) {
            s = hpcw_i_fail(err, HPCW_ERANGE, "%s: wanted a path of fewer than %d bytes", parent,
                            BENCH_WORKDIR);
            path[0] = '\0';
        } else if (mkdir(path, 0700) != 0) {
            s = hpcw_i_fail_sys(err, errno, "%s: cannot make this directory", path);
            path[0] = '\0';
        }
    }
    s = hpcw_i_agree(p->comm, s, NULL, err);
    return s == HPCW_OK ? hpcw_i_comm_bcast(p->comm, path, BENCH_WORKDIR, 0, err) : s;
}

void bench_workdir_remove(const struct bench_processes *p, const char *path) {
    hpcw_error ignored;
    (void)hpcw_i_agree(p->comm, HPCW_OK, NULL, &ignored);
    if (p->process == 0 && path[0] != '\0') {
        bench_remove_tree(path);
    }
}

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *at) {
    (void)st;
    (void)kind;
    (void)at;
    (void)remove(path);
    return 0;
}

void bench_remove_tree(const char *path) {
    (void)nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}
