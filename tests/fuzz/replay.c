/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a fuzz target without libFuzzer: on the files of a folder, then on altered copies of them. The alterations
 * are the same in every run.
 *
 * Usage: replay_NAME FOLDER [ROUNDS] */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/images.h"
#include "tests/support/files.h"

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Returns a number at which sizes and counts are likely to go wrong. */
static uint64_t odd_number(uint64_t *state) {
    static const uint64_t numbers[] = {0,          1,          2,         0x7fffffff,        0x80000000,
                                       0xffffffff, UINT64_MAX, INT64_MAX, UINT64_C(1) << 63, UINT64_C(1) << 32};
    uint64_t r = next_random(state);
    return r % 4 == 0 ? r >> 40 : numbers[(r >> 8) % (sizeof numbers / sizeof numbers[0])];
}

/* Makes one to four changes of a bit, a number or the length. The copy has exactly its size, so that reads beyond
 * it are detected. */
static void run_altered(const unsigned char *seed, size_t size, uint64_t *state) {
    size_t cut = next_random(state) % 8 == 0 ? next_random(state) % (size + 1) : size;
    unsigned char *copy = malloc(cut > 0 ? cut : 1);
    if (copy == NULL) {
        abort();
    }
    memcpy(copy, seed, cut);
    for (uint64_t changes = next_random(state) % 4; changes < 4 && cut > 0; changes++) {
        size_t at = next_random(state) % cut;
        if (next_random(state) % 2 == 0) {
            copy[at] ^= (unsigned char)(1u << next_random(state) % 8);
            continue;
        }
        uint64_t number = odd_number(state);
        bool big = next_random(state) % 2 == 0;
        size_t width = next_random(state) % 2 == 0 ? 4 : 8;
        if (cut - at >= width && width == 4) {
            hpcw_i_put_u32(copy + at, (uint32_t)number, big);
        } else if (cut - at >= width) {
            hpcw_i_put_u64(copy + at, number, big);
        }
    }
    (void)LLVMFuzzerTestOneInput(copy, cut);
    free(copy);
}

int main(int argc, char **argv) {
    unsigned long rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 2000;
    DIR *dir = argc > 1 ? opendir(argv[1]) : NULL;
    if (dir == NULL) {
        (void)fprintf(stderr, "usage: replay FOLDER [ROUNDS]\n");
        return 2;
    }
    unsigned files = 0;
    struct dirent *entry;
    while ((entry = readdir(dir)) != NULL) {
        char path[4096];
        size_t size = 0;
        (void)snprintf(path, sizeof path, "%s/%s", argv[1], entry->d_name);
        unsigned char *seed = entry->d_name[0] == '.' ? NULL : read_file(path, &size);
        if (seed == NULL) {
            continue;
        }
        files++;
        (void)LLVMFuzzerTestOneInput(seed, size);
        uint64_t state = UINT64_C(0x9e3779b97f4a7c15);
        for (unsigned long i = 0; i < rounds; i++) {
            run_altered(seed, size, &state);
        }
        free(seed);
    }
    (void)closedir(dir);
    (void)printf("%u files, %lu altered copies of each\n", files, rounds);
    return files > 0 ? 0 : 1;
}
