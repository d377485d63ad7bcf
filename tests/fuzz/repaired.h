/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes stored trees from arbitrary bytes: corrects header, length and CRC, so that the content is reached. */
#ifndef HPCW_TESTS_FUZZ_REPAIRED_H
#define HPCW_TESTS_FUZZ_REPAIRED_H

#include <stdlib.h>
#include <string.h>

#include "libwriter/base/bytes.h"
#include "libwriter/base/crc32.h"

/* size: at least 28. The caller frees the result. */
static inline unsigned char *repaired(const unsigned char *data, size_t size) {
    static const unsigned char header[8] = {0x95, 0x1f, 0xc3, 0xf5, 0, 1, 0, 1};
    unsigned char *copy = malloc(size);
    if (copy == NULL) {
        abort();
    }
    memcpy(copy, data, size);
    memcpy(copy, header, sizeof header);
    hpcw_i_put_u64(copy + 8, size, true);
    hpcw_i_put_u32(copy + 16, 1, true);
    hpcw_i_put_u32(copy + size - 4, hpcw_i_crc32(0, copy, size - 4), true);
    return copy;
}

#endif
