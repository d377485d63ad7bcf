/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/kernels/generator.h"

#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libwriter/base/status.h"

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
    /* POSIX's type; the strings are not changed. */
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
