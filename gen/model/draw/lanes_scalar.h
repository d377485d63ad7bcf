/* SPDX-License-Identifier: BSD-3-Clause */
/* Lane operations for any processor, one lane a vector. */
#ifndef HPCW_GEN_MODEL_DRAW_LANES_SCALAR_H
#define HPCW_GEN_MODEL_DRAW_LANES_SCALAR_H

#include <stdint.h>
#include <string.h>

/* LANES: lanes of a vector. AT_ONCE: vectors whose random numbers are computed side by side. */
enum { LANES = 1, AT_ONCE = 1 };

typedef uint64_t vu;
typedef double vd;

static inline vu u_set(uint64_t x) {
    return x;
}
static inline vu u_load32(const uint32_t *p) {
    return *p;
}
static inline void u_store32(uint32_t *p, vu x) {
    *p = (uint32_t)x;
}
static inline void u_store(uint64_t *p, vu x) {
    *p = x;
}
static inline vu u_mul32(vu a, vu b) {
    return (uint64_t)(uint32_t)a * (uint32_t)b;
}
static inline vu u_xor3(vu a, vu b, vu c) {
    return a ^ b ^ c;
}
static inline vu u_and(vu a, vu b) {
    return a & b;
}
static inline vu u_or(vu a, vu b) {
    return a | b;
}
static inline vu u_add(vu a, vu b) {
    return a + b;
}
static inline vu u_sub(vu a, vu b) {
    return a - b;
}
static inline vu u_min32(vu a, vu b) {
    return a < b ? a : b;
}
static inline vu u_max32(vu a, vu b) {
    return a > b ? a : b;
}
/* Moves the high half to the low half. */
static inline vu u_high(vu a) {
    return a >> 32;
}
static inline vu u_right(vu a, uint32_t bits) {
    return a >> bits;
}
static inline vu u_left(vu a, uint32_t bits) {
    return a << bits;
}
/* Puts the low half of `high` above the low half of `low`. */
static inline vu u_join(vu low, vu high) {
    return (uint32_t)low | high << 32;
}
static inline unsigned u_less(vu a, vu b) {
    return a < b;
}
static inline unsigned u_differ(vu a, vu b) {
    return a != b;
}
static inline vd u_as_d(vu a) {
    vd d;
    memcpy(&d, &a, sizeof d);
    return d;
}
static inline vu d_as_u(vd a) {
    vu u;
    memcpy(&u, &a, sizeof u);
    return u;
}
static inline vd d_set(double x) {
    return x;
}
static inline vd d_load(const double *p) {
    return *p;
}
static inline void d_store(double *p, vd x) {
    *p = x;
}
static inline vd d_gather(const double *table, vu index) {
    return table[index];
}
static inline vu u_gather(const uint32_t *table, vu index) {
    return table[index];
}
static inline vd d_add(vd a, vd b) {
    return a + b;
}
static inline vd d_sub(vd a, vd b) {
    return a - b;
}
static inline vd d_mul(vd a, vd b) {
    return a * b;
}
static inline vd d_min(vd a, vd b) {
    return a < b ? a : b;
}
static inline vd d_max(vd a, vd b) {
    return a > b ? a : b;
}

#endif
