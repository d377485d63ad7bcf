/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/support/vom_judge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libreader/vom/set/verify.h"

void accept_vom(const char *text, unsigned flags) {
    hpcw_error err = {0};
    if (read_vom_verify_memory("m", text, strlen(text), flags, &err) != HPCW_OK) {
        fail_msg("refused: %s", err.message);
    }
}

void refuse_vom_bytes(const void *data, size_t size, unsigned flags, hpcw_status status, const char *part) {
    hpcw_error err = {0};
    hpcw_status got = read_vom_verify_memory("m", data, size, flags, &err);
    if (got != status || strstr(err.message, part) == NULL || strncmp(err.message, "m: ", 3) != 0) {
        fail_msg("expected %s \"%s\", got %s \"%s\"", hpcw_status_name(status), part, hpcw_status_name(got),
                 err.message);
    }
    assert_int_equal(err.code, status);
}

void refuse_vom(const char *text, unsigned flags, hpcw_status status, const char *part) {
    refuse_vom_bytes(text, strlen(text), flags, status, part);
}

/* Expects a refusal with the message "m: PATH at offset N: ...". The file must have the text b->at at offset N. */
static void refuse_at(const char *text, unsigned flags, const struct vom_broken *b) {
    hpcw_error err = {0};
    char start[256];
    hpcw_status got = read_vom_verify_memory("m", text, strlen(text), flags, &err);
    (void)snprintf(start, sizeof start, "m: %s at offset ", b->path);
    size_t length = strlen(start);
    bool good = got == HPCW_EFORMAT && strncmp(err.message, start, length) == 0;
    char *end = err.message;
    size_t offset = good ? strtoul(err.message + length, &end, 10) : 0;
    good = good && offset < strlen(text) && strncmp(text + offset, b->at, strlen(b->at)) == 0;
    if (!good || end[0] != ':' || strstr(end, b->part) == NULL) {
        fail_msg("expected %s%s: %s, got %s \"%s\" (%.20s)", start, b->at, b->part, hpcw_status_name(got),
                 err.message, text + offset);
    }
}

void break_vom(const char *text, const struct vom_broken *broken, size_t count, unsigned flags) {
    accept_vom(text, flags);
    for (size_t i = 0; i < count; i++) {
        char *edited = vom_edit(text, broken[i].from, broken[i].to);
        if (broken[i].path == NULL) {
            refuse_vom(edited, flags, HPCW_EFORMAT, broken[i].part);
        } else {
            refuse_at(edited, flags, &broken[i]);
        }
        free(edited);
    }
}
