/* SPDX-License-Identifier: BSD-3-Clause */
/* The common parts of all fuzz targets. An input may have several files. Then its first byte modulo 3 is the number
 * of files minus 1. Each file except the last has its length in front: four bytes, little-endian, limited to the
 * remaining bytes. The last file is the rest. */
#ifndef HPCW_TESTS_FUZZ_IMAGES_H
#define HPCW_TESTS_FUZZ_IMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "libreader/sion/sion.h"
#include "libwriter/base/bytes.h"

#define FUZZ_IMAGES 3u

/* Aborts if a reader broke a promise of its header. Such a bug counts like undefined behaviour or a leak. */
static inline void demand(bool good) {
    if (!good) {
        abort();
    }
}

static inline uint32_t fuzz_split(const uint8_t *data, size_t size, struct read_sion_image *images) {
    if (size == 0) {
        return 0;
    }
    uint32_t count = 1 + data[0] % FUZZ_IMAGES;
    data++;
    size--;
    for (uint32_t i = 0; i < count; i++) {
        size_t part = size;
        if (i + 1 < count && size >= 4) {
            part = hpcw_i_get_u32(data, false);
            data += 4;
            size -= 4;
            part = part < size ? part : size;
        }
        images[i] = (struct read_sion_image){data, part};
        data += part;
        size -= part;
    }
    return count;
}

/* Called by libFuzzer and by our own main. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
