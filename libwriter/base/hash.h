/* SPDX-License-Identifier: BSD-3-Clause */
/* F0: FNV-1a, for telling short texts apart. Not for data, and nothing that is written depends on it. */
#ifndef HPCW_BASE_HASH_H
#define HPCW_BASE_HASH_H

#include <stdint.h>

static inline uint64_t hpcw_i_hash_text(const char *text) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *text != '\0'; text++) {
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    }
    return hash;
}

#endif
