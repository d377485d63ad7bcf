/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "bindings/sionlib/handles/mode.h"
#include "bindings/sionlib/handles/report.h"
#include <sion.h>

/* A word of the mode, with or without a value: "collsize=4". */
struct word {
    const char *key, *value;
    size_t key_size, value_size;
};

static struct word word_at(const char *text, size_t size) {
    const char *equals = memchr(text, '=', size);
    struct word w = {.key = text, .key_size = size, .value = text + size};
    if (equals != NULL) {
        w.key_size = (size_t)(equals - text);
        w.value = equals + 1;
        w.value_size = size - w.key_size - 1;
    }
    return w;
}

static bool is(const char *text, size_t size, const char *word) {
    return strlen(word) == size && memcmp(text, word, size) == 0;
}

void sionlib_mode_of(const char *text, struct sionlib_mode *mode) {
    *mode = (struct sionlib_mode){.collector_size = -1, .data = sionlib_machine_endian()};
    for (const char *p = text; *p != '\0';) {
        size_t size = strcspn(p, ",");
        struct word w = word_at(p, size);
        const char *key = w.key;
        size_t n = w.key_size;
        if (is(key, n, "w") || is(key, n, "wb") || is(key, n, "bw")) {
            mode->write = true;
        } else if (is(key, n, "r") || is(key, n, "rb") || is(key, n, "br")) {
            mode->read = true;
        } else if (is(key, n, "keyval")) {
            mode->keys = w.value_size == 0 || is(w.value, w.value_size, "inline") ||
                         is(w.value, w.value_size, "default");
        } else if (is(key, n, "collective")) {
            mode->collective = true;
        } else if (is(key, n, "cmerge") || is(key, n, "collectivemerge")) {
            mode->merge = true;
        } else if (is(key, n, "collsize")) {
            mode->collector_size = (int)strtol(w.value, NULL, 10);
        } else if (is(key, n, "buddy")) {
            mode->buddy = true;
        } else if (is(key, n, "endianness")) {
            mode->data = is(w.value, w.value_size, "big") ? HPCW_SION_BIG : HPCW_SION_LITTLE;
        }
        p += size + (p[size] == ',');
    }
}

bool sionlib_mode_check(const struct sionlib_mode *mode, const char *path) {
    if (mode->buddy) {
        sionlib_refuse("%s: not opened: hpcw has no buddy checkpointing, expected a mode without buddy", path);
    }
    return !mode->buddy;
}

void sionlib_mode_options(const struct sionlib_mode *mode, const char *path, int fs_block_size,
                          hpcw_sion_options *options) {
    hpcw_sion_options_init(options);
    /* SIONlib stores the path as the program passed it. */
    options->name = strlen(path) <= HPCW_SION_MAX_STORED_NAME ? path : NULL;
    options->content = mode->keys ? HPCW_SION_KEYVAL : HPCW_SION_RECORDS;
    options->endian = sionlib_machine_endian();
    options->data_endian = mode->data;
    options->fs_block_size = (uint32_t)fs_block_size;
    /* As in SIONlib, the system decides when the data reaches the disk. */
    options->durability = HPCW_SYNC_NONE;
    if (mode->collective) {
        options->layout = HPCW_SION_PACKED;
        options->tasks_per_group = mode->collector_size > 0 ? (uint32_t)mode->collector_size : 0;
    }
}

int sionlib_block_size(const char *path) {
    uint32_t size;
    /* On failure, return SIONlib's default. The open that follows then reports the error. */
    return hpcw_sion_block_size(path, &size, NULL) == HPCW_OK ? (int)size : SION_DEFAULT_FSBLOCKSIZE;
}
