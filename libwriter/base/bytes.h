/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes integers and doubles at any address, in either byte order. Compilers turn each call into one
 * move. */
#ifndef HPCW_BASE_BYTES_H
#define HPCW_BASE_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if !defined(__BYTE_ORDER__) ||                                                                                \
    (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ && __BYTE_ORDER__ != __ORDER_BIG_ENDIAN__)
#error "byte order of the host is not known"
#endif

#define HPCW_I_HOST_BIG (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

static inline uint16_t hpcw_i_order16(uint16_t v, bool big) {
    return big == HPCW_I_HOST_BIG ? v : __builtin_bswap16(v);
}
static inline uint32_t hpcw_i_order32(uint32_t v, bool big) {
    return big == HPCW_I_HOST_BIG ? v : __builtin_bswap32(v);
}
static inline uint64_t hpcw_i_order64(uint64_t v, bool big) {
    return big == HPCW_I_HOST_BIG ? v : __builtin_bswap64(v);
}

static inline void hpcw_i_put_u16(void *p, uint16_t v, bool big) {
    v = hpcw_i_order16(v, big);
    memcpy(p, &v, sizeof v);
}
static inline void hpcw_i_put_u32(void *p, uint32_t v, bool big) {
    v = hpcw_i_order32(v, big);
    memcpy(p, &v, sizeof v);
}
static inline void hpcw_i_put_u64(void *p, uint64_t v, bool big) {
    v = hpcw_i_order64(v, big);
    memcpy(p, &v, sizeof v);
}
static inline void hpcw_i_put_f64(void *p, double v, bool big) {
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    hpcw_i_put_u64(p, bits, big);
}

static inline uint16_t hpcw_i_get_u16(const void *p, bool big) {
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return hpcw_i_order16(v, big);
}
static inline uint32_t hpcw_i_get_u32(const void *p, bool big) {
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return hpcw_i_order32(v, big);
}
static inline uint64_t hpcw_i_get_u64(const void *p, bool big) {
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return hpcw_i_order64(v, big);
}
static inline double hpcw_i_get_f64(const void *p, bool big) {
    uint64_t bits = hpcw_i_get_u64(p, big);
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

#endif
