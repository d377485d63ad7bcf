/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/io/lov.h"

#include <inttypes.h>
#include <stdbool.h>

#include "libwriter/base/bytes.h"
#include "libwriter/base/status.h"

/* LOV_USER_MAGIC_x of lustre_user.h. */
#define MAGIC_V1 0x0BD10BD0u
#define MAGIC_JOIN 0x0BD20BD0u
#define MAGIC_V3 0x0BD30BD0u
#define MAGIC_SPECIFIC 0x0BD50BD0u /* a v3 layout that names its targets */
#define MAGIC_COMPOSITE 0x0BD60BD0u
#define MAGIC_FOREIGN 0x0BD70BD0u

enum {
    PATTERN_RAID0 = 1,
    PATTERN_MDT = 0x100,
    V1_SIZE = 32,
    V3_SIZE = 48,
    OBJECT_SIZE = 24,
    COMPOSITE_SIZE = 32,
    ENTRY_SIZE = 48,
};

static hpcw_status too_short(const char *name, const char *what, uint64_t expected, uint64_t got,
                             hpcw_error *err) {
    return hpcw_i_fail(err, HPCW_ETRUNCATED,
                       "%s: %s of the Lustre layout: expected %" PRIu64 " bytes, got %" PRIu64, name, what,
                       expected, got);
}

static bool is_plain(uint32_t magic) {
    return magic == MAGIC_V1 || magic == MAGIC_V3 || magic == MAGIC_SPECIFIC;
}

static hpcw_status decode_plain(const char *name, const unsigned char *p, size_t size, bool big,
                                struct hpcw_i_lov *out, hpcw_error *err) {
    size_t head = hpcw_i_get_u32(p, big) == MAGIC_V1 ? V1_SIZE : V3_SIZE;
    if (size < head) {
        return too_short(name, "stripes", head, size, err);
    }
    out->pattern = hpcw_i_get_u32(p + 4, big);
    out->stripe_bytes = hpcw_i_get_u32(p + 24, big);
    out->stripes = hpcw_i_get_u16(p + 28, big);
    if (out->stripe_bytes % HPCW_I_LOV_STRIPE_UNIT != 0) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: stripe size of the Lustre layout: expected a multiple of %d, got %" PRIu64,
                           name, HPCW_I_LOV_STRIPE_UNIT, out->stripe_bytes);
    }
    if (out->stripes > HPCW_I_LOV_MOST_STRIPES && out->stripes != HPCW_I_LOV_ALL) {
        return hpcw_i_fail(err, HPCW_EFORMAT, "%s: stripes of the Lustre layout: expected at most %d, got %u",
                           name, HPCW_I_LOV_MOST_STRIPES, out->stripes);
    }
    /* A default and an unwritten component have no objects. All others list all their objects. */
    uint64_t objects = out->stripes == HPCW_I_LOV_ALL || (out->pattern & PATTERN_MDT) != 0 ? 0 : out->stripes;
    if (size > head && size - head < objects * OBJECT_SIZE) {
        return too_short(name, "objects", objects * OBJECT_SIZE, size - head, err);
    }
    return HPCW_OK;
}

static hpcw_status decode_composite(const char *name, const unsigned char *p, size_t size, bool big,
                                    struct hpcw_i_lov *out, hpcw_error *err) {
    if (size < COMPOSITE_SIZE) {
        return too_short(name, "head", COMPOSITE_SIZE, size, err);
    }
    uint32_t all = hpcw_i_get_u32(p + 4, big);
    uint32_t entries = hpcw_i_get_u16(p + 14, big);
    size_t table = COMPOSITE_SIZE + (size_t)entries * ENTRY_SIZE;
    if (entries == 0) {
        return hpcw_i_fail(err, HPCW_EFORMAT, "%s: components of the Lustre layout: expected at least 1, got 0",
                           name);
    }
    if (all > size || table > all) {
        return too_short(name, "components", all > size ? all : table, all > size ? size : all, err);
    }
    const unsigned char *entry = p + COMPOSITE_SIZE;
    uint64_t begin = hpcw_i_get_u64(entry + 8, big);
    uint64_t end = hpcw_i_get_u64(entry + 16, big);
    uint32_t at = hpcw_i_get_u32(entry + 24, big);
    uint32_t length = hpcw_i_get_u32(entry + 28, big);
    if (begin >= end) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: first component of the Lustre layout: expected an end after %" PRIu64
                           ", got %" PRIu64,
                           name, begin, end);
    }
    if (at < table || at > all || length > all - at || length < V1_SIZE) {
        return hpcw_i_fail(
            err, HPCW_EFORMAT,
            "%s: first component of the Lustre layout: expected it within bytes %zu to %u, got %u bytes "
            "at %u",
            name, table, all, length, at);
    }
    if (!is_plain(hpcw_i_get_u32(p + at, big))) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: first component of the Lustre layout: expected a plain one, got magic 0x%08x",
                           name, hpcw_i_get_u32(p + at, big));
    }
    hpcw_status s = decode_plain(name, p + at, length, big, out, err);
    out->components = entries;
    out->extent_end = end;
    return s;
}

static hpcw_status decode(const char *name, const unsigned char *p, size_t size, struct hpcw_i_lov *out,
                          hpcw_error *err) {
    if (size < 4) {
        return too_short(name, "magic", 4, size, err);
    }
    for (int big = 0; big < 2; big++) {
        uint32_t magic = hpcw_i_get_u32(p, big);
        if (is_plain(magic)) {
            return decode_plain(name, p, size, big, out, err);
        }
        if (magic == MAGIC_COMPOSITE) {
            return decode_composite(name, p, size, big, out, err);
        }
        if (magic == MAGIC_FOREIGN || magic == MAGIC_JOIN) {
            return hpcw_i_fail(err, HPCW_ENOTSUP, "%s: expected a Lustre layout with stripes, got a %s one",
                               name, magic == MAGIC_JOIN ? "joined" : "foreign");
        }
    }
    return hpcw_i_fail(err, HPCW_EFORMAT, "%s: expected a Lustre layout, got magic 0x%08x", name,
                       hpcw_i_get_u32(p, HPCW_I_HOST_BIG));
}

hpcw_status hpcw_i_lov_decode(const char *name, const void *data, size_t size, struct hpcw_i_lov *out,
                              hpcw_error *err) {
    struct hpcw_i_lov l = {.components = 1, .extent_end = UINT64_MAX};
    hpcw_status s = decode(name, data, size, &l, err);
    *out = s == HPCW_OK ? l : (struct hpcw_i_lov){0};
    return s;
}

void hpcw_i_lov_encode(uint32_t stripes, uint64_t stripe_bytes, unsigned char out[HPCW_I_LOV_SET_SIZE]) {
    memset(out, 0, HPCW_I_LOV_SET_SIZE);
    hpcw_i_put_u32(out, MAGIC_V1, HPCW_I_HOST_BIG);
    hpcw_i_put_u32(out + 4, PATTERN_RAID0, HPCW_I_HOST_BIG);
    hpcw_i_put_u32(out + 24, (uint32_t)stripe_bytes, HPCW_I_HOST_BIG);
    hpcw_i_put_u16(out + 28, (uint16_t)stripes, HPCW_I_HOST_BIG);
    hpcw_i_put_u16(out + 30, UINT16_MAX, HPCW_I_HOST_BIG); /* LOV_OFFSET_DEFAULT: the server chooses */
}
