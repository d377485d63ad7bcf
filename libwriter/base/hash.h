/* SPDX-License-Identifier: BSD-3-Clause */
/* The hash FNV-1a, to compare short texts. No output depends on it. */
#ifndef HPCW_BASE_HASH_H
#define HPCW_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HPCW_I_HASH_START UINT64_C(0xcbf29ce484222325)

/* Continues a hash. The first call starts with HPCW_I_HASH_START. */
static inline uint64_t hpcw_i_hash_bytes(uint64_t hash, const void *data, size_t size) {
    const unsigned char *byte = data;
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

static inline uint64_t hpcw_i_hash_text(const char *text) {
    uint64_t hash = HPCW_I_HASH_START;
    for (; *text != '\0'; text++) {
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    }
    return hash;
}

#endif
