/* SPDX-License-Identifier: BSD-3-Clause */
/* To be preloaded: makes every file system look like Lustre. Layouts that are set are appended to the file named
 * by FAKE_LUSTRE_LOG. A line has path, number of stripes, stripe size, and whether the directory was empty. */
#include <dirent.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/xattr.h>

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): the C library's names are reserved */
int statfs64(const char *path, struct statfs64 *fs) {
    int (*next)(const char *, struct statfs64 *);
    void *found = dlsym(RTLD_NEXT, "statfs64");
    memcpy(&next, &found, sizeof next);
    int r = next(path, fs);
    fs->f_type = 0x0BD00BD0;
    return r;
}

static int entries(const char *path) {
    DIR *d = opendir(path);
    int n = 0;
    while (d != NULL && readdir(d) != NULL) {
        n++;
    }
    if (d != NULL) {
        (void)closedir(d);
    }
    return n;
}

int setxattr(const char *path, const char *name, const void *value, size_t size, int flags) {
    const char *log = getenv("FAKE_LUSTRE_LOG");
    FILE *f = log == NULL ? NULL : fopen(log, "a");
    uint32_t bytes;
    uint16_t count;
    (void)flags;
    if (f == NULL || strcmp(name, "lustre.lov") != 0 || size != 32) {
        abort();
    }
    memcpy(&bytes, (const char *)value + 24, sizeof bytes);
    memcpy(&count, (const char *)value + 28, sizeof count);
    (void)fprintf(f, "%s %u %u %s\n", path, count, bytes, entries(path) <= 2 ? "empty" : "full");
    return fclose(f);
}
