/* SPDX-License-Identifier: BSD-3-Clause */
#include "generator.h"

#include <assert.h>
#include <errno.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/status.h"

enum { MOST_ARGUMENTS = 32 };

hpcw_status bench_generate(const struct bench_place *place, const char *dataset, const char *const *arguments,
                           uint64_t *peak, hpcw_error *err) {
    if (place->hpcgen == NULL) {
        return hpcw_i_fail(err, HPCW_ENOTSUP, "hpcgen is not beside this program; name it with --hpcgen PATH");
    }
    const char *argv[MOST_ARGUMENTS] = {"hpcgen", "--no-checksums", "--quiet", "--out", dataset};
    size_t count = 5;
    for (size_t i = 0; arguments[i] != NULL; i++) {
        assert(count + 1 < MOST_ARGUMENTS);
        argv[count++] = arguments[i];
    }
    pid_t pid;
    /* POSIX's type; the strings are not changed. */
    int e = posix_spawn(&pid, place->hpcgen, NULL, NULL, (char *const *)(uintptr_t)argv, environ);
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s: cannot start", place->hpcgen);
    }
    int status = 0;
    struct rusage usage;
    while (wait4(pid, &status, 0, &usage) < 0) {
        if (errno != EINTR) {
            return hpcw_i_fail_sys(err, errno, "%s: cannot wait for it", place->hpcgen);
        }
    }
    *peak = (uint64_t)usage.ru_maxrss * 1024;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        return hpcw_i_fail(err, HPCW_EIO, "%s: %s %d", place->hpcgen,
                           WIFEXITED(status) ? "ended with status" : "ended by signal",
                           WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    }
    return HPCW_OK;
}
