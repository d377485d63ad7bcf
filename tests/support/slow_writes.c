/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded: the writes of one layout of hpcw-bench are slower. A write of at most SLOW_MOST bytes (1 MiB) to a file
 * "data.NUMBER" belongs to a file for each rank, since the plain loop writes larger pieces. It takes SLOW_PS picoseconds
 * more for each byte: a thousand make a second of a gigabyte.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static unsigned long variable(const char *name, unsigned long otherwise) {
    const char *text = getenv(name);
    return text == NULL ? otherwise : strtoul(text, NULL, 10);
}

static int of_one_rank(int fd) {
    char link[64], path[4096];
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    path[n < 0 ? 0 : n] = '\0';
    const char *slash = strrchr(path, '/');
    return slash != NULL && strncmp(slash, "/data.", 6) == 0;
}

static double now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Sleeps last longer than they should: only what is due in all is slept, by the millisecond. */
static void delay(double seconds) {
    static double due;
    due += seconds;
    if (due > 1e-3) {
        double begin = now();
        const struct timespec t = {.tv_sec = (time_t)due, .tv_nsec = (long)(1e9 * (due - (double)(time_t)due))};
        (void)nanosleep(&t, NULL);
        due -= now() - begin;
    }
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): those of the C library are reserved */
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset) {
    ssize_t (*next)(int, const void *, size_t, off64_t);
    void *found = dlsym(RTLD_NEXT, "pwrite64");
    memcpy(&next, &found, sizeof next);
    ssize_t r = next(fd, data, size, offset);
    int e = errno;
    if (r > 0 && size <= variable("SLOW_MOST", 1 << 20) && of_one_rank(fd)) {
        delay((double)r * (double)variable("SLOW_PS", 0) * 1e-12);
    }
    errno = e;
    return r;
}
