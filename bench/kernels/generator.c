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

hpcw_status bench_run_generate(void *run, hpcw_error *err) {
    struct bench_run *r = run;
    const char *program = r->place->hpcgen;
    if (program == NULL) {
        return hpcw_i_fail(err, HPCW_ENOTSUP, "hpcgen is not beside this program; name it with --hpcgen PATH");
    }
    const char *argv[MOST_ARGUMENTS] = {"hpcgen", "--no-checksums", "--quiet", "--out", r->dataset};
    size_t count = 5;
    for (size_t i = 0; r->arguments[i] != NULL; i++) {
        assert(count + 1 < MOST_ARGUMENTS);
        argv[count++] = r->arguments[i];
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
    r->peak = (uint64_t)usage.ru_maxrss * 1024;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        return hpcw_i_fail(err, HPCW_EIO, "%s: %s %d", program,
                           WIFEXITED(status) ? "ended with status" : "ended by signal",
                           WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    }
    return HPCW_OK;
}

uint64_t bench_run_peak(const void *run) {
    return ((const struct bench_run *)run)->peak;
}

hpcw_status bench_run_begin(struct bench_run *run, const struct bench_site *place, hpcw_error *err) {
    run->place = place;
    run->fd = -1;
    hpcw_status s = bench_path(run->dataset, place, "dataset", err);
    s = s == HPCW_OK ? bench_path(run->plain, place, "dataset.plain", err) : s;
    return s == HPCW_OK ? bench_run_generate(run, err) : s;
}

void bench_run_end(struct bench_run *run) {
    hpcw_error ignored;
    if (run->place != NULL) {
        (void)bench_plain_close(&run->fd, &ignored);
        bench_remove_tree(run->dataset);
        bench_remove(run->place, run->plain);
    }
}

hpcw_status bench_run_prepare(void *run, uint64_t parameter, hpcw_error *err) {
    (void)parameter;
    struct bench_run *r = run;
    bench_remove_tree(r->dataset);
    const char *paths[] = {r->plain};
    return bench_fresh(r->place, paths, 1, r->bytes, err);
}

hpcw_status bench_run_open(void *run, hpcw_error *err) {
    struct bench_run *r = run;
    return bench_plain_open(r->plain, &r->fd, err);
}

hpcw_status bench_run_close(void *run, hpcw_error *err) {
    return bench_plain_close(&((struct bench_run *)run)->fd, err);
}
