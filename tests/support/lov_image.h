/* SPDX-License-Identifier: BSD-3-Clause */
/* Layouts of Lustre files, assembled by hand from the description in io/lov.h. */
#ifndef HPCW_TESTS_SUPPORT_LOV_IMAGE_H
#define HPCW_TESTS_SUPPORT_LOV_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "libwriter/base/bytes.h"

enum { LOV_IMAGE = 512 };

/* Makes a plain layout with `objects` empty objects after it. Returns its size. */
static inline size_t lov_plain(unsigned char *p, bool v3, uint32_t pattern, uint32_t bytes, uint16_t stripes,
                               uint16_t objects, bool big) {
    size_t head = v3 ? 48 : 32;
    memset(p, 0, head + 24 * (size_t)objects);
    hpcw_i_put_u32(p, v3 ? 0x0BD30BD0 : 0x0BD10BD0, big);
    hpcw_i_put_u32(p + 4, pattern, big);
    hpcw_i_put_u32(p + 24, bytes, big);
    hpcw_i_put_u16(p + 28, stripes, big);
    if (v3) {
        memcpy(p + 32, "flash", 5);
    }
    return head + 24 * (size_t)objects;
}

/* Makes a layout of two components: up to 1 MiB on one target, the rest on eight. Returns at most LOV_IMAGE
 * bytes. */
static inline size_t lov_composite(unsigned char *p, bool big) {
    memset(p, 0, LOV_IMAGE);
    size_t at = 32 + 2 * 48;
    size_t first = lov_plain(p + at, false, 1, 1 << 20, 1, 1, big);
    size_t second = lov_plain(p + at + first, true, 1, 4 << 20, 8, 0, big);
    for (size_t i = 0; i < 2; i++) {
        unsigned char *entry = p + 32 + i * 48;
        hpcw_i_put_u32(entry, (uint32_t)i + 1, big);
        hpcw_i_put_u64(entry + 8, i == 0 ? 0 : 1 << 20, big);
        hpcw_i_put_u64(entry + 16, i == 0 ? 1 << 20 : UINT64_MAX, big);
        hpcw_i_put_u32(entry + 24, (uint32_t)(i == 0 ? at : at + first), big);
        hpcw_i_put_u32(entry + 28, (uint32_t)(i == 0 ? first : second), big);
    }
    hpcw_i_put_u32(p, 0x0BD60BD0, big);
    hpcw_i_put_u32(p + 4, (uint32_t)(at + first + second), big);
    hpcw_i_put_u16(p + 14, 2, big);
    return at + first + second;
}

#endif
