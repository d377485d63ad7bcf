/* SPDX-License-Identifier: BSD-3-Clause */
/* Small LinkTest 2.1.17 results in memory, assembled by hand from doc/formats/linktest.md. */
#ifndef HPCW_TESTS_SUPPORT_LINKTEST_IMAGE_H
#define HPCW_TESTS_SUPPORT_LINKTEST_IMAGE_H

#include "tests/support/sion_image.h"

#define LINKTEST_IMAGE_TASKS 32u

struct linktest_image_spec {
    uint32_t tasks; /* an even number <= LINKTEST_IMAGE_TASKS */
    bool big, bisection, all_to_all;
    uint64_t randomized, retests;
    uint32_t fs_block_size;
    bool two_files; /* even ranks are in the first file, odd ranks in the second */
};

struct linktest_image {
    struct linktest_image_spec spec;
    uint32_t files;
    struct sion_image file[2];
    size_t start[LINKTEST_IMAGE_TASKS]; /* begin of each rank's stream in its file */
    size_t size[LINKTEST_IMAGE_TASKS];  /* size of each rank's stream */
    /* Offsets in the stream of rank 0. */
    size_t host, summary, summary_size, data_size;
};

struct linktest_image linktest_image_make(const struct linktest_image_spec *spec);
struct linktest_image linktest_image_copy(const struct linktest_image *image);
void linktest_image_free(struct linktest_image *image);

/* Content of the image: seconds that `rank` measures with `partner`, and its partner in a step. */
double linktest_image_time(uint32_t rank, uint32_t partner, uint64_t permutation);
uint32_t linktest_image_partner(const struct linktest_image_spec *spec, uint32_t rank, uint32_t step,
                                uint64_t permutation);

/* Offset of a permutation's data in the rank's stream. */
size_t linktest_image_data(const struct linktest_image *image, uint32_t rank, uint64_t permutation);

/* Returns the address of a byte of a stream. */
unsigned char *linktest_image_byte(struct linktest_image *image, uint32_t rank, size_t offset);

#endif
