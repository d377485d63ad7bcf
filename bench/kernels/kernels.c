/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/kernels/kernels.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/measure/machine.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sys.h"

uint64_t bench_scaled(const struct bench_site *place, uint64_t full, uint64_t least) {
    double n = (double)full * place->scale;
    return n < (double)least ? least : (uint64_t)n;
}

/* Memory to touch before a run, as a multiple of the memory that the run uses. It is above 1, because the system
 * may give the run pages that were not touched. */
enum { WARM = 3 };

hpcw_status bench_fresh(const struct bench_common *common, unsigned files, uint64_t bytes, hpcw_error *err) {
    const struct bench_site *place = common->place;
    int e = 0;
    if (place->processes->process == 0) {
        for (size_t i = 0; i < BENCH_FILES; i++) {
            int u = (files >> i & 1) != 0 ? hpcw_i_sys_unlink(common->path[i]) : 0;
            e = u == ENOENT || e != 0 ? e : u;
        }
        int fd;
        int opened = hpcw_i_sys_open(place->directory, O_RDONLY | O_DIRECTORY, 0, &fd);
        if (opened == 0) {
            e = syncfs(fd) == 0 || e != 0 ? e : errno;
            (void)hpcw_i_sys_close(fd);
        }
        e = e != 0 ? e : opened;
    }
    bench_machine_trim();
    if (place->warm) {
        bench_machine_warm(WARM * bytes, (unsigned)place->processes->count);
    }
    return e == 0 ? HPCW_OK
                  : hpcw_i_fail_sys(err, e, "%s: cannot remove the files of the last run", place->directory);
}

void bench_remove(const struct bench_site *place, const char *path) {
    if (place->processes->process == 0 && path[0] != '\0') {
        bench_remove_tree(path);
    }
}

hpcw_status bench_plain_open_path(struct bench_common *common, const char *path, hpcw_error *err) {
    int e = hpcw_i_sys_open(path, O_RDWR | O_CREAT, 0666, &common->fd);
    return e == 0 ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot create", path);
}

hpcw_status bench_plain_open(void *work, hpcw_error *err) {
    struct bench_common *common = work;
    return bench_plain_open_path(common, common->path[1], err);
}

hpcw_status bench_plain_write(int fd, const void *data, size_t size, uint64_t offset, hpcw_error *err) {
    const char *p = data;
    while (size > 0) {
        ssize_t n = pwrite(fd, p, size, (off_t)offset);
        if (n <= 0 && errno != EINTR) {
            return hpcw_i_fail_sys(err, n < 0 ? errno : EIO,
                                   "plain loop: cannot write %zu bytes at offset %" PRIu64, size, offset);
        }
        if (n > 0) {
            p += n;
            size -= (size_t)n;
            offset += (uint64_t)n;
        }
    }
    return HPCW_OK;
}

hpcw_status bench_plain_pieces(int fd, const void *piece, uint64_t piece_size, uint64_t offset, uint64_t size,
                               hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (uint64_t at = 0; s == HPCW_OK && at < size; at += piece_size) {
        uint64_t n = size - at < piece_size ? size - at : piece_size;
        s = bench_plain_write(fd, piece, (size_t)n, offset + at, err);
    }
    return s;
}

hpcw_status bench_plain_close(void *work, hpcw_error *err) {
    struct bench_common *common = work;
    int e = common->fd >= 0 && close(common->fd) != 0 ? errno : 0;
    common->fd = -1;
    return e == 0 ? HPCW_OK : hpcw_i_fail_sys(err, e, "plain loop: cannot close its file");
}

hpcw_status bench_null_sink(void *context, const char *path, uint64_t tag, bool creates, hpcw_sink **out,
                            hpcw_error *err) {
    (void)context;
    (void)path;
    (void)tag;
    (void)creates;
    return hpcw_sink_open_null(out, err);
}

hpcw_status bench_same_bytes(const char *a, const char *b, uint64_t offset, uint64_t size, hpcw_error *err) {
    enum { PIECE = 1 << 20 };
    int fd[2] = {-1, -1};
    const char *path[2] = {a, b};
    unsigned char *piece = hpcw_i_malloc(2 * (size_t)PIECE);
    hpcw_status s = piece == NULL ? hpcw_i_fail_memory(err, NULL, 0, "two files") : HPCW_OK;
    for (int i = 0; s == HPCW_OK && i < 2; i++) {
        int e = hpcw_i_sys_open(path[i], O_RDONLY, 0, &fd[i]);
        s = e == 0 ? s : hpcw_i_fail_sys(err, e, "%s: cannot open", path[i]);
    }
    while (s == HPCW_OK && size > 0) {
        size_t n = size < PIECE ? (size_t)size : PIECE;
        uint64_t end = offset + n;
        for (int i = 0; s == HPCW_OK && i < 2; i++) {
            size_t got = 0;
            int e = hpcw_i_sys_pread(fd[i], piece + (size_t)i * PIECE, n, offset, &got);
            if (e != 0 || got < n) {
                s = e != 0 ? hpcw_i_fail_sys(err, e, "%s: cannot read", path[i])
                           : hpcw_i_fail(err, HPCW_ETRUNCATED, "%s: ends before offset %" PRIu64, path[i], end);
            }
        }
        if (s == HPCW_OK && memcmp(piece, piece + PIECE, n) != 0) {
            s = hpcw_i_fail(err, HPCW_ECHECKSUM, "%s and %s: differ between offsets %" PRIu64 " and %" PRIu64,
                            a, b, offset, end);
        }
        offset += n;
        size -= n;
    }
    for (int i = 0; i < 2; i++) {
        if (fd[i] >= 0) {
            (void)hpcw_i_sys_close(fd[i]);
        }
    }
    hpcw_i_free(piece);
    return s;
}

unsigned char *bench_source(size_t size, int process) {
    unsigned char *p = hpcw_i_malloc(size);
    for (size_t i = 0; p != NULL && i < size; i++) {
        p[i] = (unsigned char)((size_t)process * 31 + i * 7 + (i >> 8));
    }
    return p;
}

/* ---- hpcgen ---- */

hpcw_status bench_generator_run(void *generator, hpcw_error *err) {
    struct bench_generator *g = generator;
    const char *program = g->common.place->hpcgen;
    if (program == NULL) {
        return hpcw_i_fail(err, HPCW_ENOTSUP, "this build has no hpcgen; name one with --hpcgen FILE");
    }
    const char *argv[5 + sizeof g->argument / sizeof g->argument[0]] = {"hpcgen", "--no-checksums", "--quiet",
                                                                        "--out", g->common.path[0]};
    memcpy(argv + 5, g->argument, sizeof g->argument);
    pid_t pid;
    /* The cast removes const, which posix_spawn's prototype lacks. posix_spawn does not change the strings. */
    int e = posix_spawn(&pid, program, NULL, NULL, (char *const *)(uintptr_t)argv, environ);
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s: cannot start", program);
    }
    int status = 0;
    struct rusage usage;
    while (wait4(pid, &status, 0, &usage) < 0) {
        if (errno != EINTR) {
            return hpcw_i_fail_sys(err, errno, "%s: cannot wait for it", program);
        }
    }
    g->peak = (uint64_t)usage.ru_maxrss * 1024;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        return hpcw_i_fail(err, HPCW_EIO, "%s: %s %d", program,
                           WIFEXITED(status) ? "ended with status" : "ended by signal",
                           WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    }
    return HPCW_OK;
}

uint64_t bench_generator_peak(const void *generator) {
    return ((const struct bench_generator *)generator)->peak;
}

hpcw_status bench_generator_prepare(void *generator, uint64_t parameter, hpcw_error *err) {
    (void)parameter;
    struct bench_generator *g = generator;
    bench_remove(g->common.place, g->common.path[0]);
    return bench_fresh(&g->common, 2, g->bytes, err);
}
