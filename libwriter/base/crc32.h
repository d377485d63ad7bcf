/* SPDX-License-Identifier: BSD-3-Clause */
/* The CRC-32 of zlib and IEEE 802.3. Data may come in pieces; `crc` is 0 for the first piece. */
#ifndef HPCW_BASE_CRC32_H
#define HPCW_BASE_CRC32_H

#include <stddef.h>
#include <stdint.h>

#include <libdeflate.h>

static inline uint32_t hpcw_i_crc32(uint32_t crc, const void *data, size_t size) {
    /* libdeflate returns the start value for a NULL pointer, whatever the CRC so far. */
    return size == 0 ? crc : libdeflate_crc32(crc, data, size);
}

#endif
