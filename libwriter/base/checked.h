/* SPDX-License-Identifier: BSD-3-Clause */
/* Arithmetic on sizes that come from outside. Each returns false on overflow and leaves `*r` undefined. */
#ifndef HPCW_BASE_CHECKED_H
#define HPCW_BASE_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool hpcw_i_add_u64(uint64_t a, uint64_t b, uint64_t *r) {
    return !__builtin_add_overflow(a, b, r);
}

static inline bool hpcw_i_mul_u64(uint64_t a, uint64_t b, uint64_t *r) {
    return !__builtin_mul_overflow(a, b, r);
}

static inline bool hpcw_i_add_size(size_t a, size_t b, size_t *r) {
    return !__builtin_add_overflow(a, b, r);
}

static inline bool hpcw_i_mul_size(size_t a, size_t b, size_t *r) {
    return !__builtin_mul_overflow(a, b, r);
}

/* Rounds x up to a multiple of m. m > 0 need not be a power of two, as block sizes may not be. */
static inline bool hpcw_i_round_up_u64(uint64_t x, uint64_t m, uint64_t *r) {
    uint64_t over = x % m;
    return over == 0 ? (*r = x, true) : hpcw_i_add_u64(x, m - over, r);
}

/* Does the same for a caller that knows that it cannot overflow. */
static inline uint64_t hpcw_i_align_up(uint64_t x, uint64_t m) {
    uint64_t over = x % m;
    return over == 0 ? x : x + (m - over);
}

#endif
