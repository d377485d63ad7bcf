/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/base/shown.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Returns the number of bytes of the character at c; 0: a terminal may take the character for a command. Such
 * characters are ASCII controls, U+0080 to U+009F, and bytes that are not UTF-8. */
static size_t tame(const unsigned char *c) {
    const size_t size = *c < 0x80                 ? 1
                        : *c >= 0xc2 && *c < 0xe0 ? 2
                        : (*c & 0xf0) == 0xe0     ? 3
                        : (*c & 0xf8) == 0xf0     ? 4
                                                  : 0;
    for (size_t i = 1; i < size; i++) {
        if ((c[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    const bool control = *c < ' ' || *c == 0x7f || (*c == 0xc2 && c[1] < 0xa0);
    return control ? 0 : size;
}

void hpcw_i_shown(char *text) {
    for (unsigned char *c = (unsigned char *)text; *c != '\0';) {
        size_t size = tame(c);
        if (size == 0) {
            *c = '?';
        }
        c += size == 0 ? 1 : size;
    }
}

const char *hpcw_i_shown_word(char *room, size_t size, const char *path, const char *instead) {
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-";
    const bool quoted = path[0] == '\0' || path[strspn(path, plain)] != '\0';
    size_t n = 0;
    if (size < 8) { /* too small for a quoted path of a few bytes */
        return instead;
    }
    n += quoted ? (size_t)snprintf(room, size, "'") : 0;
    n += path[0] == '-' ? (size_t)snprintf(room + n, size - n, "./") : 0;
    for (const char *c = path; *c != '\0';) {
        size_t bytes = tame((const unsigned char *)c);
        /* 6 bytes: at most 4 for a character (a quoted quote), 1 for the closing quote, 1 for the NUL */
        if (bytes == 0 || n + 6 > size) {
            return instead;
        }
        if (*c == '\'') {
            memcpy(room + n, "'\\''", 4);
            n += 4;
        } else {
            memcpy(room + n, c, bytes);
            n += bytes;
        }
        c += bytes;
    }
    (void)snprintf(room + n, size - n, "%s", quoted ? "'" : "");
    return room;
}
