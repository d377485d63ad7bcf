/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads arbitrary bytes as a counter file. */
#include <stdlib.h>

#include "libreader/counter/counter.h"
#include "tests/fuzz/images.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct read_counter *reader;
    hpcw_error err = {.message = ""};
    hpcw_status s = read_counter_open_memory("input", data, size, &reader, &err);
    if (s == HPCW_OK) {
        s = read_counter_verify(reader, &err);
        read_counter_free(reader);
    }
    /* A refusal must say what is wrong. */
    if (s != HPCW_OK && (err.code != s || err.message[0] == '\0')) {
        abort();
    }
    return 0;
}
