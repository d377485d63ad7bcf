/* SPDX-License-Identifier: BSD-3-Clause */
/* Lane operations for AVX2, four lanes a vector. */
#ifndef HPCW_GEN_MODEL_DRAW_LANES_AVX2_H
#define HPCW_GEN_MODEL_DRAW_LANES_AVX2_H

#include <immintrin.h>
#include <stdint.h>

/* LANES: lanes of a vector. AT_ONCE: vectors whose random numbers are computed side by side. */
enum { LANES = 4, AT_ONCE = 2 };

typedef __m256i vu;
typedef __m256d vd;

static inline vu u_set(uint64_t x) {
    return _mm256_set1_epi64x((long long)x);
}
static inline vu u_load32(const uint32_t *p) {
    return _mm256_cvtepu32_epi64(_mm_loadu_si128((const __m128i *)p));
}
static inline void u_store32(uint32_t *p, vu x) {
    __m256i low = _mm256_permutevar8x32_epi32(x, _mm256_set_epi32(7, 5, 3, 1, 6, 4, 2, 0));
    _mm_storeu_si128((__m128i *)p, _mm256_castsi256_si128(low));
}
static inline void u_store(uint64_t *p, vu x) {
    _mm256_storeu_si256((__m256i *)p, x);
}
static inline vu u_mul32(vu a, vu b) {
    return _mm256_mul_epu32(a, b);
}
static inline vu u_xor3(vu a, vu b, vu c) {
    return _mm256_xor_si256(a, _mm256_xor_si256(b, c));
}
static inline vu u_and(vu a, vu b) {
    return _mm256_and_si256(a, b);
}
static inline vu u_or(vu a, vu b) {
    return _mm256_or_si256(a, b);
}
static inline vu u_add(vu a, vu b) {
    return _mm256_add_epi64(a, b);
}
static inline vu u_sub(vu a, vu b) {
    return _mm256_sub_epi64(a, b);
}
static inline vu u_min32(vu a, vu b) {
    return _mm256_min_epu32(a, b);
}
static inline vu u_max32(vu a, vu b) {
    return _mm256_max_epu32(a, b);
}
/* Moves the high half of each lane to the low half; the new high half is undefined. A shuffle is faster here,
 * since shifts share execution ports with multiplications. */
static inline vu u_high(vu a) {
    return _mm256_shuffle_epi32(a, 0xf5);
}
static inline vu u_right(vu a, uint32_t bits) {
    return _mm256_srl_epi64(a, _mm_cvtsi32_si128((int)bits));
}
static inline vu u_left(vu a, uint32_t bits) {
    return _mm256_sll_epi64(a, _mm_cvtsi32_si128((int)bits));
}
static inline vu u_join(vu low, vu high) {
    return _mm256_blend_epi32(low, _mm256_slli_epi64(high, 32), 0xaa);
}
/* Both arguments must be below 2^63, since the comparison is signed. */
static inline unsigned u_less(vu a, vu b) {
    return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(b, a)));
}
static inline unsigned u_differ(vu a, vu b) {
    return 0xfu ^ (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(a, b)));
}
static inline vd u_as_d(vu a) {
    return _mm256_castsi256_pd(a);
}
static inline vu d_as_u(vd a) {
    return _mm256_castpd_si256(a);
}
static inline vd d_set(double x) {
    return _mm256_set1_pd(x);
}
static inline vd d_load(const double *p) {
    return _mm256_loadu_pd(p);
}
static inline void d_store(double *p, vd x) {
    _mm256_storeu_pd(p, x);
}
/* Uses single loads: the gather instruction takes twice as long (Zen 5). */
static inline vd d_gather(const double *table, vu index) {
    uint32_t i[LANES];
    u_store32(i, index);
    __m128d d01 = _mm_loadh_pd(_mm_load_sd(table + i[0]), table + i[1]);
    __m128d d23 = _mm_loadh_pd(_mm_load_sd(table + i[2]), table + i[3]);
    return _mm256_set_m128d(d23, d01);
}
static inline vu u_gather(const uint32_t *table, vu index) {
    uint32_t i[LANES];
    u_store32(i, index);
    return _mm256_set_epi64x(table[i[3]], table[i[2]], table[i[1]], table[i[0]]);
}
static inline vd d_add(vd a, vd b) {
    return _mm256_add_pd(a, b);
}
static inline vd d_sub(vd a, vd b) {
    return _mm256_sub_pd(a, b);
}
static inline vd d_mul(vd a, vd b) {
    return _mm256_mul_pd(a, b);
}
static inline vd d_min(vd a, vd b) {
    return _mm256_min_pd(a, b);
}
static inline vd d_max(vd a, vd b) {
    return _mm256_max_pd(a, b);
}

#endif
