/* SPDX-License-Identifier: BSD-3-Clause */
/* Small LinkTest 2.1.17 results in memory, put together by hand from doc/formats/linktest.md. */
#ifndef HPCW_TESTS_SUPPORT_LINKTEST_IMAGE_H
#define HPCW_TESTS_SUPPORT_LINKTEST_IMAGE_H

#include "tests/support/sion_image.h"

#define LINKTEST_IMAGE_TASKS 32u
#define LINKTEST_IMAGE_HEADER 156u /* file header with mode "mpi" */

struct linktest_image_spec {
    uint32_t tasks; /* even, <= LINKTEST_IMAGE_TASKS */
    bool big, bisection, all_to_all;
    uint64_t randomized, retests;
    uint32_t fs_block_size;
    bool two_files; /* even ranks in the first, odd ones in the second */
};

struct linktest_image {
    struct linktest_image_spec spec;
    uint32_t files;
    struct sion_image file[2];
    size_t start[LINKTEST_IMAGE_TASKS]; /* of the rank's stream in its file */
    size_t size[LINKTEST_IMAGE_TASKS];  /* of the stream */
    /* Offsets in the stream of rank 0. */
    size_t host, summary, summary_size, data_size;
};

struct linktest_image linktest_image_make(const struct linktest_image_spec *spec);
struct linktest_image linktest_image_copy(const struct linktest_image *image);
void linktest_image_free(struct linktest_image *image);

/* What the image says: seconds that `rank` measures with `partner`, and whom it meets in a step. */
double linktest_image_time(uint32_t rank, uint32_t partner, uint64_t permutation);
uint32_t linktest_image_partner(const struct linktest_image_spec *spec, uint32_t rank, uint32_t step,
                                uint64_t permutation);

/* Offset in the rank's stream of its data in a permutation. */
size_t linktest_image_data(const struct linktest_image *image, uint32_t rank, uint64_t permutation);

/* A byte of a stream. */
unsigned char *linktest_image_byte(struct linktest_image *image, uint32_t rank, size_t offset);

#endif
