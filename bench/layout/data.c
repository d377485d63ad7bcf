/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/layout/data.h"

#include <inttypes.h>
#include <string.h>

#include "bench/measure/random.h"
#include "libwriter/base/bytes.h"
#include "libwriter/base/checked.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* A stamp has 24 bits of rank and 40 bits of offset. The seed changes it, so that stamps of an earlier run are
 * invalid. */
enum { OFFSET_BITS = 40 };

uint64_t bench_data_period(uint64_t record) {
    return record >= BENCH_PIECE ? record : BENCH_PIECE / record * record;
}

hpcw_status bench_data_init(struct bench_data *d, uint64_t seed, uint64_t record, hpcw_error *err) {
    uint64_t capacity = bench_data_period(record);
    *d = (struct bench_data){.seed = seed};
    if (capacity < BENCH_PIECE) {
        capacity = BENCH_PIECE;
    }
    if (!hpcw_i_round_up_u64(capacity, BENCH_MEMORY_ALIGN, &capacity) || capacity > SIZE_MAX / 2) {
        return hpcw_i_fail(err, HPCW_ERANGE, "records of %" PRIu64 " bytes: too large for this machine",
                           record);
    }
    d->capacity = (size_t)capacity;
    d->source = hpcw_i_malloc_aligned(BENCH_MEMORY_ALIGN, d->capacity);
    d->other = hpcw_i_malloc_aligned(BENCH_MEMORY_ALIGN, d->capacity);
    if (d->source == NULL || d->other == NULL) {
        return hpcw_i_fail_memory(err, NULL, 2 * d->capacity, "bytes");
    }
    uint64_t state = seed;
    for (size_t i = 0; i < d->capacity; i += 8) {
        hpcw_i_put_u64(d->source + i, bench_random(&state), false);
    }
    memset(d->other, 0, d->capacity); /* touches its pages before anything is timed */
    return HPCW_OK;
}

void bench_data_free(struct bench_data *d) {
    hpcw_i_free(d->source);
    hpcw_i_free(d->other);
    *d = (struct bench_data){0};
}

static uint64_t turn_of(const struct bench_data *d) {
    uint64_t state = ~d->seed;
    return bench_random(&state);
}

void bench_data_stamp(struct bench_data *d, uint64_t rank, uint64_t at, size_t size) {
    uint64_t turn = turn_of(d);
    size_t i = 0;
    for (; i + 8 <= size; i += BENCH_STAMP_EVERY) {
        hpcw_i_put_u64(d->source + i, (rank << OFFSET_BITS | (at + i)) ^ turn, false);
    }
    if (i < size) { /* clears bytes of an earlier, longer piece */
        memset(d->source + i, 0, size - i);
    }
}

void bench_data_read_stamp(const struct bench_data *d, const unsigned char *bytes, uint64_t *rank,
                           uint64_t *at) {
    uint64_t word = hpcw_i_get_u64(bytes, false) ^ turn_of(d);
    *rank = word >> OFFSET_BITS;
    *at = word & ((UINT64_C(1) << OFFSET_BITS) - 1);
}
