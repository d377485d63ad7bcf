/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that need no handle. */
#include <stdbool.h>
#include <string.h>

#include "bindings/sionlib/handles/mode.h"

#include <sion.h>

int sion_get_endianness(void) {
    return sionlib_machine_endian() == HPCW_SION_BIG;
}

void sion_swap(void *target, void *source, int size, int n, int do_swap) {
    unsigned char *to = target;
    const unsigned char *from = source;
    if (size <= 0 || n <= 0) {
        return;
    }
    size_t item = (size_t)size;
    size_t bytes = item * (size_t)n;
    if (to != from) {
        memcpy(to, from, bytes);
    }
    for (size_t at = 0; do_swap && at < bytes; at += item) {
        for (size_t i = 0; i < item / 2; i++) {
            unsigned char byte = to[at + i];
            to[at + i] = to[at + item - 1 - i];
            to[at + item - 1 - i] = byte;
        }
    }
}

int sion_get_version(int *main_version, int *sub_version, int *patch_level, int *fileformat_version) {
    *main_version = SION_MAIN_VERSION;
    *sub_version = SION_SUB_VERSION;
    *patch_level = SION_VERSION_PATCHLEVEL;
    *fileformat_version = SION_FILEFORMAT_VERSION;
    return SION_SUCCESS;
}

int sion_is_thread_safe(void) {
    return SION_SUCCESS;
}

char *sion_keyval_type_to_str(int type) {
    static const char *const names[] = {"SION_KEYVAL_NONE", "SION_KEYVAL_INLINE", "SION_KEYVAL_META",
                                        "SION_KEYVAL_HASH", "SION_KEYVAL_UNKNOWN"};
    bool known = type >= SION_KEYVAL_NONE && type <= SION_KEYVAL_UNKNOWN;
    /* SIONlib declares the result without const, though the text is constant. */
    return (char *)(uintptr_t)(known ? names[type - SION_KEYVAL_NONE] : "unknown");
}
