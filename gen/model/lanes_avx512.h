/* SPDX-License-Identifier: BSD-3-Clause */
/* Lane operations eight by eight: AVX-512 F and DQ. */
#ifndef HPCW_GEN_LANES_AVX512_H
#define HPCW_GEN_LANES_AVX512_H

#include <immintrin.h>
#include <stdint.h>

/* Lanes in a vector; vectors whose random numbers are made side by side. */
enum { LANES = 8, AT_ONCE = 2 };

typedef __m512i vu;
typedef __m512d vd;

static inline vu u_set(uint64_t x) {
    return _mm512_set1_epi64((long long)x);
}
static inline vu u_lane_numbers(void) {
    return _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
}
static inline vu u_load32(const uint32_t *p) {
    return _mm512_cvtepu32_epi64(_mm256_loadu_si256((const __m256i *)p));
}
static inline void u_store32(uint32_t *p, vu x) {
    _mm256_storeu_si256((__m256i *)p, _mm512_cvtepi64_epi32(x));
}
static inline void u_store(uint64_t *p, vu x) {
    _mm512_storeu_si512(p, x);
}
static inline vu u_mul32(vu a, vu b) {
    return _mm512_mul_epu32(a, b);
}
static inline vu u_xor3(vu a, vu b, vu c) {
    return _mm512_ternarylogic_epi64(a, b, c, 0x96);
}
static inline vu u_and(vu a, vu b) {
    return _mm512_and_si512(a, b);
}
static inline vu u_or(vu a, vu b) {
    return _mm512_or_si512(a, b);
}
static inline vu u_add(vu a, vu b) {
    return _mm512_add_epi64(a, b);
}
static inline vu u_sub(vu a, vu b) {
    return _mm512_sub_epi64(a, b);
}
static inline vu u_min32(vu a, vu b) {
    return _mm512_min_epu32(a, b);
}
static inline vu u_max32(vu a, vu b) {
    return _mm512_max_epu32(a, b);
}
/* The high half in the low one; the high one keeps rubbish. A shuffle: shifts share ports with products. */
static inline vu u_high(vu a) {
    return _mm512_shuffle_epi32(a, _MM_PERM_DDBB);
}
static inline vu u_right(vu a, uint32_t bits) {
    return _mm512_srl_epi64(a, _mm_cvtsi32_si128((int)bits));
}
static inline vu u_left(vu a, uint32_t bits) {
    return _mm512_sll_epi64(a, _mm_cvtsi32_si128((int)bits));
}
static inline vu u_join(vu low, vu high) {
    return _mm512_mask_blend_epi32(0xaaaa, low, _mm512_slli_epi64(high, 32));
}
static inline unsigned u_less(vu a, vu b) {
    return _mm512_cmplt_epu64_mask(a, b);
}
static inline unsigned u_differ(vu a, vu b) {
    return _mm512_cmpneq_epu64_mask(a, b);
}
static inline vd u_as_d(vu a) {
    return _mm512_castsi512_pd(a);
}
static inline vu d_as_u(vd a) {
    return _mm512_castpd_si512(a);
}
static inline vd d_set(double x) {
    return _mm512_set1_pd(x);
}
static inline vd d_load(const double *p) {
    return _mm512_loadu_pd(p);
}
static inline void d_store(double *p, vd x) {
    _mm512_storeu_pd(p, x);
}
/* Single loads: the gather instruction takes twice the time (Zen 5). */
static inline vd d_gather(const double *table, vu index) {
    uint32_t i[LANES];
    u_store32(i, index);
    __m128d d01 = _mm_loadh_pd(_mm_load_sd(table + i[0]), table + i[1]);
    __m128d d23 = _mm_loadh_pd(_mm_load_sd(table + i[2]), table + i[3]);
    __m128d d45 = _mm_loadh_pd(_mm_load_sd(table + i[4]), table + i[5]);
    __m128d d67 = _mm_loadh_pd(_mm_load_sd(table + i[6]), table + i[7]);
    return _mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_set_m128d(d23, d01)), _mm256_set_m128d(d67, d45),
                              1);
}
static inline vd d_add(vd a, vd b) {
    return _mm512_add_pd(a, b);
}
static inline vd d_sub(vd a, vd b) {
    return _mm512_sub_pd(a, b);
}
static inline vd d_mul(vd a, vd b) {
    return _mm512_mul_pd(a, b);
}
static inline vd d_div(vd a, vd b) {
    return _mm512_div_pd(a, b);
}
static inline vd d_min(vd a, vd b) {
    return _mm512_min_pd(a, b);
}
static inline vd d_max(vd a, vd b) {
    return _mm512_max_pd(a, b);
}
static inline void d_store_f32(float *p, vd x) {
    _mm256_storeu_ps(p, _mm512_cvtpd_ps(x));
}

#endif
