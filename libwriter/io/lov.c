/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/io/lov.h"

#include "libwriter/base/bytes.h"

/* LOV_USER_MAGIC_x of lustre_user.h. */
#define MAGIC_V1 0x0BD10BD0u
#define MAGIC_V3 0x0BD30BD0u
#define MAGIC_SPECIFIC 0x0BD50BD0u /* a v3 layout with a list of targets (storage servers' disks) */
#define MAGIC_COMPOSITE 0x0BD60BD0u

enum {
    PATTERN_RAID0 = 1,
    PATTERN_MDT = 0x100,
    V1_SIZE = 32,
    V3_SIZE = 48,
    OBJECT_SIZE = 24,
    COMPOSITE_SIZE = 32,
    ENTRY_SIZE = 48,
};

static bool is_plain(uint32_t magic) {
    return magic == MAGIC_V1 || magic == MAGIC_V3 || magic == MAGIC_SPECIFIC;
}

static bool decode_plain(const unsigned char *p, size_t size, bool big, struct hpcw_i_lov *out) {
    size_t head = hpcw_i_get_u32(p, big) == MAGIC_V1 ? V1_SIZE : V3_SIZE;
    if (size < head) {
        return false;
    }
    *out = (struct hpcw_i_lov){hpcw_i_get_u16(p + 28, big), hpcw_i_get_u32(p + 24, big)};
    /* The default of a directory and an unwritten component list no objects. Other layouts list one object per
     * stripe. */
    const bool all = out->stripes == HPCW_I_LOV_ALL;
    const bool on_mdt = (hpcw_i_get_u32(p + 4, big) & PATTERN_MDT) != 0;
    const uint64_t objects = all || on_mdt ? 0 : out->stripes;
    return out->stripe_bytes % HPCW_I_LOV_STRIPE_UNIT == 0 &&
           (all || out->stripes <= HPCW_I_LOV_MOST_STRIPES) &&
           (size == head || size - head >= objects * OBJECT_SIZE);
}

static bool decode_composite(const unsigned char *p, size_t size, bool big, struct hpcw_i_lov *out) {
    if (size < COMPOSITE_SIZE) {
        return false;
    }
    const uint32_t all = hpcw_i_get_u32(p + 4, big), entries = hpcw_i_get_u16(p + 14, big);
    const size_t table = COMPOSITE_SIZE + (size_t)entries * ENTRY_SIZE;
    if (entries == 0 || all > size || table > all) {
        return false;
    }
    const unsigned char *entry = p + COMPOSITE_SIZE;
    const uint32_t at = hpcw_i_get_u32(entry + 24, big), length = hpcw_i_get_u32(entry + 28, big);
    return hpcw_i_get_u64(entry + 8, big) < hpcw_i_get_u64(entry + 16, big) && at >= table && at <= all &&
           length <= all - at && length >= V1_SIZE && is_plain(hpcw_i_get_u32(p + at, big)) &&
           decode_plain(p + at, length, big, out);
}

bool hpcw_i_lov_decode(const void *data, size_t size, struct hpcw_i_lov *out) {
    bool good = false;
    *out = (struct hpcw_i_lov){0};
    for (int big = 0; size >= 4 && !good && big < 2; big++) {
        const uint32_t magic = hpcw_i_get_u32(data, big);
        good = is_plain(magic) ? decode_plain(data, size, big, out)
                               : magic == MAGIC_COMPOSITE && decode_composite(data, size, big, out);
    }
    if (!good) {
        *out = (struct hpcw_i_lov){0};
    }
    return good;
}

void hpcw_i_lov_encode(uint32_t stripes, uint64_t stripe_bytes, unsigned char out[HPCW_I_LOV_SET_SIZE]) {
    memset(out, 0, HPCW_I_LOV_SET_SIZE);
    hpcw_i_put_u32(out, MAGIC_V1, HPCW_I_HOST_BIG);
    hpcw_i_put_u32(out + 4, PATTERN_RAID0, HPCW_I_HOST_BIG);
    hpcw_i_put_u32(out + 24, (uint32_t)stripe_bytes, HPCW_I_HOST_BIG);
    hpcw_i_put_u16(out + 28, (uint16_t)stripes, HPCW_I_HOST_BIG);
    hpcw_i_put_u16(out + 30, UINT16_MAX, HPCW_I_HOST_BIG); /* LOV_OFFSET_DEFAULT: the server chooses */
}
