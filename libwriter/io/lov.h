/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The layout of a Lustre file, as in its extended attribute "lustre.lov". Pure arithmetic, no I/O.
 *
 * Source of the fields: Lustre 2.x, lustre/include/uapi/linux/lustre/lustre_user.h, lov_user_md_v1 (32 bytes,
 * then 24 for each object), lov_user_md_v3 (48 bytes, with the name of a pool), lov_comp_md_v1 (composite: 32
 * bytes, then entries lov_comp_md_entry_v1 of 48 bytes, with offsets of a v1 or v3). Fields have the byte
 * order of the host; the other one is accepted, too, as in liblustreapi (llapi_layout_swab_lov_user_md).
 * Offset of each field, and its size if it is not 4 bytes:
 *
 *   v1, v3      0 magic, 4 pattern, 8 object id (16), 24 stripe size, 28 stripe count (2), 30 first target (2)
 *   composite   0 magic, 4 total size, 8 generation, 12 flags (2), 14 entries (2), 16 mirrors (2), 18 unused
 *   entry       0 id, 4 flags, 8 first byte (8), 16 end (8), 24 offset of v1 or v3, 28 its size, 32 others
 */
#ifndef HPCW_IO_LOV_H
#define HPCW_IO_LOV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HPCW_I_LOV_SET_SIZE = 32,   /* number of bytes that hpcw_i_lov_encode writes */
    HPCW_I_LOV_LARGEST = 65536, /* size of the largest attribute, bytes: XATTR_SIZE_MAX of Linux */
    /* stripe sizes are multiples of this number of bytes: LOV_MIN_STRIPE_SIZE */
    HPCW_I_LOV_STRIPE_UNIT = 65536,
    HPCW_I_LOV_MOST_STRIPES = 2000, /* most stripes of a file: LOV_MAX_STRIPE_COUNT */
};

/* A number of stripes that stands for all targets (LOV_ALL_STRIPES). Only the default of a directory has it. */
#define HPCW_I_LOV_ALL UINT32_C(0xffff)

/* The stripes of a file; for a composite layout, those of its first component. */
struct hpcw_i_lov {
    uint32_t stripes;      /* number of stripes; 0: the file system's default */
    uint64_t stripe_bytes; /* bytes of a stripe; 0: the default */
};

/*
 * Decodes the attribute of a layout. Reads no byte at or after `size`, whatever the fields say. Returns false and
 * clears *out if the layout contradicts the format, or is of a kind without stripes (foreign, joined).
 */
bool hpcw_i_lov_decode(const void *data, size_t size, struct hpcw_i_lov *out);

/* Makes the attribute that asks for a plain layout. `stripes` and `stripe_bytes` are the members of struct
 * hpcw_i_lov, which the caller has checked. */
void hpcw_i_lov_encode(uint32_t stripes, uint64_t stripe_bytes, unsigned char out[HPCW_I_LOV_SET_SIZE]);

#endif
