/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/support/rank2file_cases.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "libwriter/base/crc32.h"
#include "tests/support/files.h"

const struct rank2file_case rank2file_cases[] = {
    {"one rank", HPCW_RANK2FILE_SCR_1_1, 1, 0, 0, 0},
    {"four ranks", HPCW_RANK2FILE_SCR_1_1, 4, 0, 0, 0},
    {"several files", HPCW_RANK2FILE_SCR_1_2, 10, 4, 0, 3},
    {"no attributes", HPCW_RANK2FILE_SCR_3, 12, 5, 0, 2},
    {"shared", HPCW_RANK2FILE_SHARED, 13, 3, 0, 0},
    {"deep", HPCW_RANK2FILE_SHARED, 64, 2, 0, 2},
    {"by size", HPCW_RANK2FILE_SHARED, 33, 0, 700, 4},
};
const unsigned rank2file_case_count = sizeof rank2file_cases / sizeof rank2file_cases[0];

void rank2file_case_options(const struct rank2file_case *c, hpcw_rank2file_options *o) {
    hpcw_rank2file_options_init(o);
    o->layout = c->layout;
    o->dataset.id = 7;
    o->dataset.created_us = UINT64_C(1795199145702917);
    o->dataset.user = "user1";
    o->dataset.job_id = "5132";
    o->dataset.job_name = "simA";
    o->dataset.flushed = "2026-11-20T18:25:45";
    o->durability = HPCW_SYNC_NONE;
    if (c->leaf_ranks != 0) {
        o->leaf_ranks = c->leaf_ranks;
    }
    if (c->leaf_bytes != 0) {
        o->leaf_bytes = c->leaf_bytes;
    }
}

unsigned rank2file_case_files(const struct rank2file_case *c, uint32_t rank) {
    return c->most_files == 0 ? 1 : rank % (c->most_files + 1);
}

void rank2file_case_file(uint32_t rank, unsigned k, char *name, size_t size, uint64_t *bytes) {
    if (k % 2 == 0) {
        (void)snprintf(name, size, "rank_%u.%u.ckpt", rank, k);
    } else {
        (void)snprintf(name, size, "parts/%u/rank_%u", k, rank);
    }
    *bytes = rank == 2 ? 0 : 100 + 37 * (uint64_t)rank + k;
}

unsigned char rank2file_case_byte(uint32_t rank, unsigned k, uint64_t i) {
    return (unsigned char)(i * (2 * (uint64_t)rank + 3) + 17 * (uint64_t)rank + k);
}

enum { MOST_BYTES = 4096 };

static void fill(uint32_t rank, unsigned k, unsigned char *data, uint64_t bytes) {
    for (uint64_t i = 0; i < bytes; i++) {
        data[i] = rank2file_case_byte(rank, k, i);
    }
}

static hpcw_status written_by_library(hpcw_rank2file *w, uint32_t rank, const char *name,
                                      const unsigned char *data, uint64_t bytes, hpcw_error *err) {
    hpcw_rank2file_file *file;
    hpcw_status s = hpcw_rank2file_create(w, rank, name, &file, err);
    if (s == HPCW_OK) {
        s = hpcw_rank2file_file_write(file, data, (size_t)bytes / 3, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_rank2file_file_write(file, data + bytes / 3, (size_t)(bytes - bytes / 3), err);
    }
    if (s == HPCW_OK) {
        s = hpcw_rank2file_file_close(file, err);
    }
    hpcw_rank2file_file_free(file);
    return s;
}

/* Writes without the library, so that injected failures do not affect it. */
static hpcw_status written_here(hpcw_rank2file *w, const char *prefix, const char *dataset, uint32_t rank,
                                const char *name, const unsigned char *data, uint64_t bytes, hpcw_error *err) {
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s/%s", prefix, dataset, name);
    for (char *slash = path + strlen(prefix) + strlen(dataset) + 2; (slash = strchr(slash, '/')) != NULL;
         slash++) {
        *slash = '\0';
        (void)mkdir(path, 0777);
        *slash = '/';
    }
    FILE *f = fopen(path, "wb");
    if (f == NULL || fwrite(data, 1, (size_t)bytes, f) != bytes || fclose(f) != 0) {
        abort();
    }
    uint32_t crc = hpcw_i_crc32(0, data, (size_t)bytes);
    return hpcw_rank2file_add(w, rank, name, bytes, &crc, err);
}

hpcw_status rank2file_case_write(const struct rank2file_case *c, const hpcw_rank2file_options *given,
                                 const char *prefix, hpcw_comm *comm, uint32_t count, const uint32_t *ranks,
                                 hpcw_error *err) {
    static unsigned char data[MOST_BYTES];
    char dataset[HPCW_RANK2FILE_MAX_DATASET + 1];
    hpcw_rank2file_options o;
    if (given != NULL) {
        o = *given;
    } else {
        rank2file_case_options(c, &o);
    }
    o.count = count;
    o.ranks = ranks;
    hpcw_rank2file_dataset_name(&o, dataset);
    hpcw_rank2file *w;
    hpcw_status s = hpcw_rank2file_open(prefix, comm, &o, &w, err);
    if (s != HPCW_OK) {
        return s;
    }
    for (uint32_t i = 0; s == HPCW_OK && i < count; i++) {
        uint32_t rank = ranks == NULL ? hpcw_rank2file_first_rank(w) + i : ranks[i];
        unsigned files = rank2file_case_files(c, rank);
        for (unsigned k = 0; s == HPCW_OK && k < files; k++) {
            char name[64];
            uint64_t bytes;
            rank2file_case_file(rank, k, name, sizeof name, &bytes);
            fill(rank, k, data, bytes);
            s = k + 1 < files || files == 1 ? written_by_library(w, rank, name, data, bytes, err)
                                            : written_here(w, prefix, dataset, rank, name, data, bytes, err);
        }
    }
    if (s != HPCW_OK) {
        hpcw_rank2file_abandon(w, err);
    }
    s = hpcw_rank2file_close(w, err);
    hpcw_rank2file_free(w);
    return s;
}

static bool as_wanted(uint32_t rank, unsigned k, const hpcw_rank2file_found *f) {
    static unsigned char data[MOST_BYTES];
    char name[64];
    uint64_t bytes;
    rank2file_case_file(rank, k, name, sizeof name, &bytes);
    fill(rank, k, data, bytes);
    size_t n = strlen(name);
    size_t m = strlen(f->name);
    size_t p = strlen(f->path);
    bool good = f->rank == rank && m >= n && strcmp(f->name + m - n, name) == 0 && p > m &&
                strcmp(f->path + p - m, f->name) == 0 && f->has_size && f->size == bytes && f->has_crc &&
                f->crc == hpcw_i_crc32(0, data, (size_t)bytes);
    if (!good) {
        (void)fprintf(
            stderr, "rank %u, file %u: wanted %s with %llu bytes, got rank %u, %s with %llu, crc %08x\n", rank,
            k, name, (unsigned long long)bytes, f->rank, f->name, (unsigned long long)f->size, f->crc);
    }
    return good;
}

bool rank2file_case_loaded(const struct rank2file_case *c, hpcw_rank2file_restart *r, uint32_t count,
                           const uint32_t *ranks) {
    uint64_t next = 0;
    for (uint32_t i = 0; i < count; i++) {
        for (unsigned k = 0; k < rank2file_case_files(c, ranks[i]); k++) {
            hpcw_rank2file_found f;
            if (hpcw_rank2file_restart_file(r, next++, &f, NULL) != HPCW_OK || !as_wanted(ranks[i], k, &f)) {
                (void)fprintf(stderr, "%s: file %llu of %llu is not as wanted\n", c->name,
                              (unsigned long long)next - 1,
                              (unsigned long long)hpcw_rank2file_restart_files(r));
                return false;
            }
        }
    }
    return next == hpcw_rank2file_restart_files(r);
}

/* ---- trees ---- */

static bool all_there(const char *want, const char *got, bool content) {
    DIR *dir = opendir(want);
    struct dirent *entry;
    bool same = dir != NULL;
    while (same && (entry = readdir(dir)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        char a[1200];
        char b[1200];
        struct stat st;
        (void)snprintf(a, sizeof a, "%s/%s", want, entry->d_name);
        (void)snprintf(b, sizeof b, "%s/%s", got, entry->d_name);
        if (lstat(b, &st) != 0) {
            (void)fprintf(stderr, "%s is not there\n", b);
            same = false;
        } else if (S_ISDIR(st.st_mode)) {
            same = all_there(a, b, content);
        } else if (content) {
            size_t a_size = 0;
            size_t b_size = 0;
            unsigned char *a_data = read_file(a, &a_size);
            unsigned char *b_data = read_file(b, &b_size);
            same = a_data != NULL && b_data != NULL && same_bytes(b, a_data, a_size, b_data, b_size);
            free(a_data);
            free(b_data);
        }
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
    return same;
}

bool same_trees(const char *want, const char *got) {
    return all_there(want, got, true) && all_there(got, want, false);
}
