/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/support/linktest_image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double linktest_image_time(uint32_t rank, uint32_t partner, uint64_t permutation) {
    /* Gives different times for all pairs and directions of such small files. */
    uint64_t mixed = (rank * UINT64_C(7919) + partner * UINT64_C(104729) + permutation * UINT64_C(15485863));
    return (double)(1000000 + mixed % 1000003) / 1e12;
}

uint32_t linktest_image_partner(const struct linktest_image_spec *spec, uint32_t rank, uint32_t step,
                                uint64_t permutation) {
    uint32_t n = spec->tasks, half = n / 2;
    if (spec->bisection) {
        if (step >= half) {
            return rank;
        }
        return rank < half ? half + (rank + step) % half : (rank - half + half - step) % half;
    }
    /* The circle method on ranks rotated by one for each permutation. */
    uint32_t turn = (uint32_t)(permutation % n), r = (rank + n - turn) % n, m = n - 1, l = step + 1, met;
    if (r == 0) {
        met = (m - l % m) % m + 1;
    } else {
        uint32_t x = r - 1, y = (3 * m - 2 * l - x) % m;
        met = y == x ? 0 : y + 1;
    }
    return (met + turn) % n;
}

enum { MOST_HEADER = 1024 }; /* upper limit for the size of a file header */

struct writer {
    unsigned char *to;
    size_t at;
    bool big;
};

static void put_bytes(struct writer *w, const void *data, size_t size) {
    memcpy(w->to + w->at, data, size);
    w->at += size;
}

static void put_int(struct writer *w, size_t size, uint64_t value) {
    for (size_t i = 0; i < size; i++) {
        w->to[w->at + (w->big ? size - 1 - i : i)] = (unsigned char)(value >> 8 * i);
    }
    w->at += size;
}

static void put_double(struct writer *w, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_int(w, 8, bits);
}

static void put_header(struct writer *w, const struct linktest_image_spec *spec) {
    put_bytes(w, "LinkTest", 8);
    put_int(w, 4, 2);
    put_int(w, 4, 1);
    put_int(w, 4, 17);
    put_bytes(w, "c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00", 41);
    put_int(w, 4, 4);
    put_bytes(w, "mpi", 4);
    put_int(w, 1, spec->all_to_all);
    put_int(w, 2, 0);
    put_int(w, 1, spec->bisection);
    put_bytes(w, "\0\0\0\1\0\0\0\0\0", 9);
    const uint64_t numbers[8] = {
        100, 8, 3, spec->retests, 1, 0, spec->randomized, spec->randomized > 0 ? 5 : 0};
    for (size_t i = 0; i < 8; i++) {
        put_int(w, 8, numbers[i]);
    }
    put_bytes(w, "END_HEADER", 10);
}

struct timing {
    double seconds;
    uint32_t from, to;
};

static int slowest_first(const void *a, const void *b) {
    double x = ((const struct timing *)a)->seconds, y = ((const struct timing *)b)->seconds;
    return (x < y) - (x > y);
}

static double all_to_all(uint32_t rank) {
    return (rank + 1) / 1e6;
}

static void put_summary(struct writer *w, const struct linktest_image_spec *spec, uint64_t permutation) {
    struct timing timings[LINKTEST_IMAGE_TASKS * LINKTEST_IMAGE_TASKS];
    uint32_t n = spec->tasks, steps = spec->bisection ? n / 2 : n - 1;
    size_t count = 0;
    double sum = 0;
    for (uint32_t r = 0; r < n; r++) {
        for (uint32_t s = 0; s < steps; s++, count++) {
            uint32_t q = linktest_image_partner(spec, r, s, permutation);
            timings[count] = (struct timing){linktest_image_time(r, q, permutation), r, q};
            sum += timings[count].seconds;
        }
    }
    qsort(timings, count, sizeof timings[0], slowest_first);
    char text[33] = {0};
    (void)snprintf(text, sizeof text, "2024-05-01T10:%02u:00Z", (unsigned)(permutation % 60));
    put_bytes(w, text, 32);
    put_double(w, timings[count - 1].seconds);
    put_double(w, sum / (double)count);
    put_double(w, timings[0].seconds);
    if (spec->all_to_all) {
        put_double(w, all_to_all(0));
        put_double(w, (n + 1) / 2e6);
        put_double(w, all_to_all(n - 1));
    }
    for (int array = 0; array < 4; array++) {
        for (size_t i = 0; i < spec->retests; i++) {
            if (array < 2) {
                put_double(w, timings[i].seconds * (array == 0 ? 0.5 : 1));
            } else {
                put_int(w, 8, array == 2 ? timings[i].from : timings[i].to);
            }
        }
    }
    (void)snprintf(text, sizeof text, "2024-05-01T10:%02u:30Z", (unsigned)(permutation % 60));
    put_bytes(w, text, 32);
}

static void put_stream(struct writer *w, const struct linktest_image_spec *spec, uint32_t rank) {
    if (rank == 0) {
        put_header(w, spec);
    }
    char host[16];
    int h = snprintf(host, sizeof host, "node%02u", (unsigned)(rank / 2)) + 1;
    put_int(w, 4, (uint64_t)h);
    put_bytes(w, host, (size_t)h);
    put_int(w, 4, rank % 2);
    uint32_t n = spec->tasks, steps = spec->bisection ? n / 2 : n - 1;
    for (uint64_t p = 0; p < (spec->randomized > 0 ? spec->randomized : 1); p++) {
        if (rank == 0) {
            put_summary(w, spec, p);
        }
        for (uint32_t s = 0; s < n - 1; s++) {
            put_double(w,
                       s < steps ? linktest_image_time(rank, linktest_image_partner(spec, rank, s, p), p) : 0);
        }
        for (uint32_t s = 0; s < n - 1; s++) {
            put_int(w, 8, linktest_image_partner(spec, rank, s, p));
        }
        if (spec->all_to_all) {
            put_double(w, all_to_all(rank));
        }
    }
    put_bytes(w, "END_BLOCK", 9);
}

struct linktest_image linktest_image_make(const struct linktest_image_spec *spec) {
    struct linktest_image image = {.spec = *spec, .files = spec->two_files ? 2 : 1};
    uint32_t n = spec->tasks;
    size_t f = spec->all_to_all ? 8 : 0;
    unsigned char header[MOST_HEADER];
    struct writer measure = {header, 0, spec->big};
    put_header(&measure, spec);
    image.host = measure.at;
    image.summary = image.host + 8 + sizeof "node00";
    image.summary_size = 88 + 3 * f + 32 * (size_t)spec->retests;
    image.data_size = 16 * (size_t)(n - 1) + f;

    unsigned char *streams[LINKTEST_IMAGE_TASKS];
    int32_t mapped[LINKTEST_IMAGE_TASKS][2];
    size_t most = image.summary + (image.summary_size + image.data_size) * (spec->randomized + 1) + 9;
    for (uint32_t r = 0; r < n; r++) {
        streams[r] = malloc(most);
        if (streams[r] == NULL) {
            abort();
        }
        struct writer w = {streams[r], 0, spec->big};
        put_stream(&w, spec, r);
        image.size[r] = w.at;
        mapped[r][0] = spec->two_files ? (int32_t)(r % 2) : 0;
        mapped[r][1] = (int32_t)(spec->two_files ? r / 2 : r);
    }
    for (uint32_t k = 0; k < image.files; k++) {
        int64_t ranks[LINKTEST_IMAGE_TASKS], counts[LINKTEST_IMAGE_TASKS], sizes[LINKTEST_IMAGE_TASKS];
        uint64_t chunks[LINKTEST_IMAGE_TASKS];
        const void *own[LINKTEST_IMAGE_TASKS];
        struct sion_image_spec sion = sion_image_defaults();
        sion.big = sion.data_big = spec->big;
        sion.fs_block_size = spec->fs_block_size;
        sion.files = image.files;
        sion.file_number = k;
        sion.mapping = image.files > 1 && k == 0 ? (int32_t)n : -1;
        sion.mapped = (const int32_t(*)[2])mapped;
        for (uint32_t r = k; r < n; r += image.files) {
            uint32_t t = sion.tasks++;
            ranks[t] = r;
            counts[t] = 1;
            sizes[t] = (int64_t)image.size[r];
            chunks[t] = (image.size[r] + spec->fs_block_size - 1) / spec->fs_block_size * spec->fs_block_size;
            own[t] = streams[r];
        }
        sion.ranks = ranks;
        sion.chunk_sizes = chunks;
        sion.counts = counts;
        sion.sizes = sizes;
        sion.streams = own;
        image.file[k] = sion_image_make(&sion);
        size_t start = image.file[k].data_start;
        for (uint32_t t = 0; t < sion.tasks; t++) {
            image.start[ranks[t]] = start;
            start += (size_t)chunks[t];
        }
    }
    for (uint32_t r = 0; r < n; r++) {
        free(streams[r]);
    }
    return image;
}

struct linktest_image linktest_image_copy(const struct linktest_image *image) {
    struct linktest_image copy = *image;
    for (uint32_t k = 0; k < image->files; k++) {
        copy.file[k] = sion_image_copy(&image->file[k]);
    }
    return copy;
}

void linktest_image_free(struct linktest_image *image) {
    for (uint32_t k = 0; k < image->files; k++) {
        sion_image_free(&image->file[k]);
    }
}

size_t linktest_image_data(const struct linktest_image *image, uint32_t rank, uint64_t permutation) {
    if (rank != 0) {
        return 8 + sizeof "node00" + (size_t)permutation * image->data_size;
    }
    return image->summary + (size_t)permutation * (image->summary_size + image->data_size) +
           image->summary_size;
}

unsigned char *linktest_image_byte(struct linktest_image *image, uint32_t rank, size_t offset) {
    return image->file[rank % image->files].data + image->start[rank] + offset;
}
