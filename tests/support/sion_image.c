/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/support/sion_image.h"

#include <stdlib.h>
#include <string.h>

struct sion_image_spec sion_image_defaults(void) {
    return (struct sion_image_spec){
        .format = 5,
        .fs_block_size = 512,
        .files = 1,
        .file_number = 1,
        .flag1 = UINT64_C(50) << 32,
        .prefix = "image.sion",
        .blocks = 1,
        .mapping = 0,
    };
}

unsigned char sion_image_byte(int64_t rank, uint64_t k) {
    return (unsigned char)((uint64_t)(31 * rank) + 7 * k + k / 256);
}

static void put(unsigned char *to, size_t size, bool big, uint64_t value) {
    for (size_t i = 0; i < size; i++) {
        to[big ? size - 1 - i : i] = (unsigned char)(value >> 8 * i);
    }
}

void sion_image_put(struct sion_image *image, size_t offset, size_t size, bool big, uint64_t value) {
    put(image->data + offset, size, big, value);
}

uint64_t sion_image_get(const struct sion_image *image, size_t offset, size_t size, bool big) {
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++) {
        value |= (uint64_t)image->data[offset + (big ? size - 1 - i : i)] << 8 * i;
    }
    return value;
}

size_t sion_image_size_at(const struct sion_image *image, uint32_t task, uint32_t block) {
    return image->sizes + 8 * ((size_t)block * image->tasks + task);
}

static size_t round_up(size_t x, size_t m) {
    return (x + m - 1) / m * m;
}

static size_t layout_chunk(const struct sion_image_spec *spec, uint32_t task) {
    size_t chunk = (size_t)spec->chunk_sizes[task];
    return spec->format <= 3 ? round_up(chunk, spec->fs_block_size) : chunk;
}

static void fill_header(struct sion_image *image, const struct sion_image_spec *spec) {
    bool big = spec->big, old = spec->format == 2;
    unsigned char *h = image->data;
    memcpy(h, "sion", 4);
    h[4] = h[7] = big;
    h[5] = h[6] = spec->data_big;
    put(h + 8, 4, big, 1007);
    put(h + 12, 4, big, 6);
    put(h + 16, 4, big, (uint32_t)spec->format);
    put(h + 20, 4, big, spec->fs_block_size);
    put(h + 24, 4, big, spec->tasks);
    put(h + 28, 4, big, spec->files);
    if (!old) {
        put(h + 32, 4, big, spec->file_number);
        put(h + 36, 8, big, spec->flag1);
    }
    memcpy(h + (old ? 32 : 52), spec->prefix, strlen(spec->prefix));
    for (uint32_t t = 0; t < spec->tasks; t++) {
        put(h + image->ranks + 8 * (size_t)t, 8, big, (uint64_t)(spec->ranks != NULL ? spec->ranks[t] : t));
        put(h + image->chunk_sizes + 8 * (size_t)t, 8, big, spec->chunk_sizes[t]);
    }
    put(h + image->mark, 4, big, spec->blocks);
    put(h + image->mark + 4, 8, big, image->counts);
}

static void fill_chunks(struct sion_image *image, const struct sion_image_spec *spec) {
    size_t start = image->data_start;
    for (uint32_t t = 0; t < spec->tasks; t++) {
        int64_t rank = spec->ranks != NULL ? spec->ranks[t] : t;
        uint64_t k = 0;
        for (uint32_t b = 0; b < spec->counts[t]; b++) {
            unsigned char *to = image->data + start + b * image->stride;
            for (int64_t i = 0; i < spec->sizes[(size_t)b * spec->tasks + t]; i++, k++) {
                to[i] = spec->streams != NULL ? ((const unsigned char *)spec->streams[t])[k]
                                              : sion_image_byte(rank, k);
            }
        }
        start += layout_chunk(spec, t);
    }
}

static void fill_tables(struct sion_image *image, const struct sion_image_spec *spec) {
    bool big = spec->big;
    for (uint32_t t = 0; t < spec->tasks; t++) {
        put(image->data + image->counts + 8 * (size_t)t, 8, big, (uint64_t)spec->counts[t]);
        for (uint32_t b = 0; b < spec->blocks; b++) {
            put(image->data + sion_image_size_at(image, t, b), 8, big,
                (uint64_t)spec->sizes[(size_t)b * spec->tasks + t]);
        }
    }
    if (spec->mapping >= 0) {
        put(image->data + image->mapping, 4, big, (uint32_t)spec->mapping);
    }
    for (int32_t g = 0; g < spec->mapping; g++) {
        put(image->data + image->mapping + 4 + 8 * (size_t)g, 4, big, (uint32_t)spec->mapped[g][0]);
        put(image->data + image->mapping + 8 + 8 * (size_t)g, 4, big, (uint32_t)spec->mapped[g][1]);
    }
}

struct sion_image sion_image_make(const struct sion_image_spec *spec) {
    struct sion_image image = {.tasks = spec->tasks};
    size_t n = spec->tasks;
    image.ranks = spec->format == 2 ? 1056 : 1076;
    image.chunk_sizes = image.ranks + 8 * n;
    image.mark = image.ranks + 16 * n;
    image.data_start = round_up(image.mark + 12, spec->fs_block_size);
    for (uint32_t t = 0; t < n; t++) {
        image.stride += layout_chunk(spec, t);
    }
    image.counts = image.data_start + spec->blocks * image.stride;
    image.sizes = image.counts + 8 * n;
    image.mapping = image.sizes + 8 * n * spec->blocks;
    image.size = image.mapping + (spec->mapping < 0 ? 0 : 4 + 8 * (size_t)spec->mapping);
    image.data = calloc(1, image.size);
    if (image.data == NULL) {
        abort();
    }
    fill_header(&image, spec);
    fill_chunks(&image, spec);
    fill_tables(&image, spec);
    return image;
}

struct sion_image sion_image_copy(const struct sion_image *image) {
    struct sion_image copy = *image;
    copy.data = malloc(image->size);
    if (copy.data == NULL) {
        abort();
    }
    memcpy(copy.data, image->data, image->size);
    return copy;
}

void sion_image_free(struct sion_image *image) {
    free(image->data);
    image->data = NULL;
}
