/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is written. Random bytes, which nothing can compress, with a stamp of rank and offset in each 4 KiB: storage
 * cannot deduplicate blocks, and data in the wrong place are found.
 *
 * A rank's data come in pieces of `period` bytes, a whole number of records; all pieces are the same random bytes
 * with other stamps, so that they cost almost nothing compared with writing.
 */
#ifndef HPCW_BENCH_LAYOUT_DATA_H
#define HPCW_BENCH_LAYOUT_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

enum {
    BENCH_PIECE = 4 << 20, /* of the plain loop; records up to this size share a piece */
    BENCH_STAMP_EVERY = 4096,
    BENCH_MEMORY_ALIGN = 4096
};

struct bench_data {
    uint64_t seed;
    size_t capacity;       /* bytes of each buffer */
    unsigned char *source; /* aligned to BENCH_MEMORY_ALIGN */
    unsigned char *other;  /* the same size; for reading back, and for O_DIRECT */
};

/* Memory for records of at most `record` bytes. HPCW_ENOMEM. Free it in any case. */
hpcw_status bench_data_init(struct bench_data *d, uint64_t seed, uint64_t record, hpcw_error *err);
void bench_data_free(struct bench_data *d);

/* Bytes of a piece made of such records. */
uint64_t bench_data_period(uint64_t record);

/* Makes d->source the `size` bytes of rank `rank` from its byte `at` on, which begins a piece. */
void bench_data_stamp(struct bench_data *d, uint64_t rank, uint64_t at, size_t size);

/* The rank and offset of a stamp; any values if it is not one. */
void bench_data_read_stamp(const struct bench_data *d, const unsigned char *bytes, uint64_t *rank,
                           uint64_t *at);

#endif
