/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/kernels/generator.h"

#include <assert.h>
#include <errno.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/measure/workdir.h"
#include "libwriter/base/status.h"

enum { MOST_ARGUMENTS = 32 };

hpcw_status bench_generator_run(void *generator, hpcw_error *err) {
    struct bench_generator *g = generator;
    const char *program = g->place->hpcgen;
    if (program == NULL) {
        return hpcw_i_fail(err, HPCW_ENOTSUP, "this build has no hpcgen; name one with --hpcgen FILE");
    }
    const char *argv[MOST_ARGUMENTS] = {"hpcgen", "--no-checksums", "--quiet", "--out", g->dataset};
    size_t count = 5;
    for (size_t i = 0; g->arguments[i] != NULL; i++) {
        assert(count + 1 < MOST_ARGUMENTS);
        argv[count++] = g->arguments[i];
    }
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

hpcw_status bench_generator_begin(struct bench_generator *generator, const struct bench_site *place,
                                  hpcw_error *err) {
    generator->place = place;
    generator->fd = -1;
    hpcw_status s = bench_path(generator->dataset, place, "dataset", err);
    s = s == HPCW_OK ? bench_path(generator->plain, place, "dataset.plain", err) : s;
    return s == HPCW_OK ? bench_generator_run(generator, err) : s;
}

void bench_generator_end(struct bench_generator *generator) {
    hpcw_error ignored;
    if (generator->place != NULL) {
        (void)bench_plain_close(&generator->fd, &ignored);
        bench_remove_tree(generator->dataset);
        bench_remove(generator->place, generator->plain);
    }
}

hpcw_status bench_generator_prepare(void *generator, uint64_t parameter, hpcw_error *err) {
    (void)parameter;
    struct bench_generator *g = generator;
    bench_remove_tree(g->dataset);
    const char *paths[] = {g->plain};
    return bench_fresh(g->place, paths, 1, g->bytes, err);
}

hpcw_status bench_generator_open(void *generator, hpcw_error *err) {
    struct bench_generator *g = generator;
    return bench_plain_open(g->plain, &g->fd, err);
}

hpcw_status bench_generator_close(void *generator, hpcw_error *err) {
    return bench_plain_close(&((struct bench_generator *)generator)->fd, err);
}
