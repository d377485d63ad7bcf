/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/support/files.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void scratch_make(char *path, size_t size) {
    const char *base = getenv("TMPDIR");
    (void)snprintf(path, size, "%s/hpcw-test-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(path) == NULL) {
        perror(path);
        abort();
    }
}

void scratch_remove(const char *path) {
    DIR *dir = opendir(path);
    struct dirent *entry;
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            char name[4096];
            (void)snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
            struct stat st;
            if (lstat(name, &st) == 0 && S_ISDIR(st.st_mode)) {
                scratch_remove(name);
            } else {
                (void)unlink(name);
            }
        }
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
    (void)rmdir(path);
}

char scratch[256];

int scratch_set_up(void **state) {
    (void)state;
    scratch_make(scratch, sizeof scratch);
    return 0;
}

int scratch_tear_down(void **state) {
    (void)state;
    scratch_remove(scratch);
    return 0;
}

int count_entries(const char *directory) {
    DIR *dir = opendir(directory);
    int n = 0;
    struct dirent *entry;
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
    return n;
}

unsigned char *read_file(const char *path, size_t *size) {
    FILE *f = fopen(path, "rb");
    if (f == NULL) {
        return NULL;
    }
    struct stat st;
    unsigned char *data = NULL;
    if (fstat(fileno(f), &st) == 0 && S_ISREG(st.st_mode)) {
        data = malloc((size_t)st.st_size + 1);
    }
    if (data != NULL) {
        *size = fread(data, 1, (size_t)st.st_size, f);
        if (*size != (size_t)st.st_size) {
            free(data);
            data = NULL;
        }
    }
    (void)fclose(f);
    return data;
}

bool same_bytes(const char *what, const unsigned char *want, size_t want_size, const unsigned char *got,
                size_t got_size) {
    size_t n = want_size < got_size ? want_size : got_size;
    for (size_t i = 0; i < n; i++) {
        if (want[i] != got[i]) {
            (void)fprintf(stderr, "%s: byte %zu: wanted %02x, got %02x\n", what, i, want[i], got[i]);
            return false;
        }
    }
    if (want_size != got_size) {
        (void)fprintf(stderr, "%s: wanted %zu bytes, got %zu\n", what, want_size, got_size);
        return false;
    }
    return true;
}

const char *golden_path(const char *name, char *path, size_t size) {
    const char *base = getenv("HPCW_GOLDEN");
    if (base == NULL || *base == '\0') {
        return NULL;
    }
    (void)snprintf(path, size, "%s/%s", base, name);
    return path;
}
