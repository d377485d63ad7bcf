/* SPDX-License-Identifier: BSD-3-Clause */
/* Test data: random bytes, which nothing can compress, with a stamp of rank and offset in each 4 KiB. So storage
 * cannot deduplicate blocks, and misplaced data are detected.
 *
 * A rank's data are pieces of `period` bytes, a whole number of records. All pieces have the same random bytes
 * with other stamps, so making them costs almost nothing compared with writing. */
#ifndef HPCW_BENCH_LAYOUT_DATA_H
#define HPCW_BENCH_LAYOUT_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

enum {
    /* bytes per write of the ceiling (plain large writes); records up to this size share a piece */
    BENCH_PIECE = 4 << 20,
    BENCH_STAMP_EVERY = 4096,
    BENCH_MEMORY_ALIGN = 4096
};

struct bench_data {
    uint64_t seed;
    size_t capacity;       /* bytes of each buffer */
    unsigned char *source; /* data to write; aligned to BENCH_MEMORY_ALIGN */
    unsigned char *other;  /* buffer for reading back and for O_DIRECT; as large as `source` */
};

/* Allocates memory for records of at most `record` bytes. HPCW_ENOMEM. Call bench_data_free also after a
 * failure. */
hpcw_status bench_data_init(struct bench_data *d, uint64_t seed, uint64_t record, hpcw_error *err);
void bench_data_free(struct bench_data *d);

/* Returns the size of a piece for records of `record` bytes. */
uint64_t bench_data_period(uint64_t record);

/* Fills d->source with the bytes [at, at + size) of a rank. `at` must be the begin of a piece. */
void bench_data_stamp(struct bench_data *d, uint64_t rank, uint64_t at, size_t size);

/* Decodes the rank and offset of a stamp. Both are arbitrary if `bytes` are not a stamp. */
void bench_data_read_stamp(const struct bench_data *d, const unsigned char *bytes, uint64_t *rank,
                           uint64_t *at);

#endif
