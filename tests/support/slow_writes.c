/* SPDX-License-Identifier: BSD-3-Clause */
/* To be preloaded: slows down writes and flushes by SLOW_PERCENT, in one layout of hpcw-bench. This layout has a
 * file for each rank, "data.NUMBER". The files of containers have the numbers 0 to 3, so only numbers from
 * SLOW_FROM on (default 4) are slowed down. hpcw-bench also writes files of these names without the library, in
 * larger pieces. So the first write of a slow file must have at most SLOW_MOST bytes (default 1 MiB). */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FILES = 65536 };
static bool slow[FILES]; /* by descriptor */

static unsigned long variable(const char *name, unsigned long otherwise) {
    const char *text = getenv(name);
    return text == NULL ? otherwise : strtoul(text, NULL, 10);
}

static bool of_one_rank(int fd) {
    char link[64], path[4096];
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    path[n < 0 ? 0 : n] = '\0';
    const char *slash = strrchr(path, '/');
    return slash != NULL && strncmp(slash, "/data.", 6) == 0 &&
           strtoul(slash + 6, NULL, 10) >= variable("SLOW_FROM", 4);
}

static double now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Delays a call that began at `begin` and ends now by SLOW_PERCENT of its time. Sleeps take longer than asked, so
 * `due` sums up the delays, and the function sleeps only for a millisecond or more. */
static void delay(double begin) {
    static double due;
    double end = now();
    due += (end - begin) * 0.01 * (double)variable("SLOW_PERCENT", 0);
    if (due > 1e-3) {
        const struct timespec t = {.tv_sec = (time_t)due, .tv_nsec = (long)(1e9 * (due - (double)(time_t)due))};
        (void)nanosleep(&t, NULL);
        due -= now() - end;
    }
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): the C library's names are reserved */
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset) {
    ssize_t (*next)(int, const void *, size_t, off64_t);
    void *found = dlsym(RTLD_NEXT, "pwrite64");
    memcpy(&next, &found, sizeof next);
    if (offset == 0 && fd >= 0 && fd < FILES) {
        slow[fd] = size <= variable("SLOW_MOST", 1 << 20) && of_one_rank(fd);
    }
    double begin = now();
    ssize_t r = next(fd, data, size, offset);
    if (r > 0 && fd < FILES && slow[fd]) {
        delay(begin);
    }
    return r;
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
int fsync(int fd) {
    int (*next)(int);
    void *found = dlsym(RTLD_NEXT, "fsync");
    memcpy(&next, &found, sizeof next);
    double begin = now();
    int r = next(fd);
    if (r == 0 && fd < FILES && slow[fd]) {
        delay(begin);
    }
    return r;
}

/* Forgets that the file of a descriptor is slow, since the descriptor may be reused for another file. */
int close(int fd) {
    int (*next)(int);
    void *found = dlsym(RTLD_NEXT, "close");
    memcpy(&next, &found, sizeof next);
    if (fd >= 0 && fd < FILES) {
        slow[fd] = false;
    }
    return next(fd);
}
