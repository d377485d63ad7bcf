/* SPDX-License-Identifier: BSD-3-Clause */
/* Arithmetic on sizes that come from outside. Each function returns false on overflow, and then leaves `*r`
 * undefined. */
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

/*
 * Rounds x up to a multiple of m > 0. m need not be a power of two, because block sizes of files may be any number.
 */
static inline bool hpcw_i_round_up_u64(uint64_t x, uint64_t m, uint64_t *r) {
    uint64_t over = x % m;
    return over == 0 ? (*r = x, true) : hpcw_i_add_u64(x, m - over, r);
}

/* Rounds x up to a multiple of m, for a caller that knows that there is no overflow. */
static inline uint64_t hpcw_i_align_up(uint64_t x, uint64_t m) {
    uint64_t over = x % m;
    return over == 0 ? x : x + (m - over);
}

#endif
