/* SPDX-License-Identifier: BSD-3-Clause */
/* Small SION files in memory, assembled by hand from doc/formats/sion.md, without the writer or the reader under
 * test. To damage a file, a test changes struct sion_image_spec or the bytes. */
#ifndef HPCW_TESTS_SUPPORT_SION_IMAGE_H
#define HPCW_TESTS_SUPPORT_SION_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sion_image {
    unsigned char *data; /* heap */
    size_t size;
    /* The members up to `mapping` are offsets in the file. */
    size_t ranks, chunk_sizes; /* tables in META1 */
    size_t mark;               /* field maxchunks of META1 */
    size_t data_start, stride;
    size_t counts, sizes, mapping; /* in META2; the mapping follows the last row of sizes */
    uint32_t tasks;
};

struct sion_image_spec {
    bool big, data_big;
    /* format version. Version 2 has no file number and flags. In versions 2 and 3, chunks are rounded up to
     * blocks */
    int32_t format;
    uint32_t fs_block_size, tasks, files, file_number;
    uint64_t flag1;
    const char *prefix;
    const int64_t *ranks;        /* [tasks]; NULL: 0, 1, ... */
    const uint64_t *chunk_sizes; /* [tasks] as stored */
    uint32_t blocks;
    const int64_t *counts; /* [tasks] */
    const int64_t *sizes;  /* [blocks][tasks], including unused blocks */
    /* number of entries of the mapping; -1: no mapping; 0: four zero bytes, as the serial writer stores */
    int32_t mapping;
    const int32_t (*mapped)[2]; /* [mapping] file and task */
    /* [tasks] bytes of each stream; NULL: sion_image_byte of the rank */
    const void *const *streams;
};

/* Specifies a little-endian file of format 5 as the serial writer makes it. The caller sets the tables. */
struct sion_image_spec sion_image_defaults(void);

/* Makes the image. Aborts when memory runs out. */
struct sion_image sion_image_make(const struct sion_image_spec *spec);
struct sion_image sion_image_copy(const struct sion_image *image);
void sion_image_free(struct sion_image *image);

/* Returns byte k of a rank's stream, by the formula of the real tools' sample files. */
unsigned char sion_image_byte(int64_t rank, uint64_t k);

/* Stores and reads an integer of `size` 4 or 8 bytes at an offset, in the given byte order. */
void sion_image_put(struct sion_image *image, size_t offset, size_t size, bool big, uint64_t value);
uint64_t sion_image_get(const struct sion_image *image, size_t offset, size_t size, bool big);

/* Returns the offset of the stored size of a task in a block. */
size_t sion_image_size_at(const struct sion_image *image, uint32_t task, uint32_t block);

#endif
