/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks whether a text is JSON (RFC 8259). */
#include <float.h>
#include <string.h>

#include "libwriter/base/numfmt.h"
#include "libwriter/io/json.h"

enum { MOST_NUMBER = 256 }; /* most characters of a number: several times what the longest double needs */

static const char *blanks(const char *p) {
    return p + strspn(p, " \t\n\r");
}

static const char *digits(const char *p) {
    size_t n = strspn(p, "0123456789");
    return n > 0 ? p + n : NULL;
}

/* Returns the value of the four digits of an escape \uXXXX, UINT32_MAX if they are not hexadecimal. */
static uint32_t unit(const char *p) {
    uint32_t v = 0;
    for (int i = 0; i < 4; i++) {
        const char *hex = "0123456789abcdef0123456789ABCDEF", *at = p[i] == '\0' ? NULL : strchr(hex, p[i]);
        if (at == NULL) {
            return UINT32_MAX;
        }
        v = v << 4 | ((uint32_t)(at - hex) & 15);
    }
    return v;
}

/* Each of the following functions parses what its name says. It returns the end, or NULL if `p` has something
 * else. */

static const char *string(const char *p) {
    if (*p++ != '"') {
        return NULL;
    }
    for (; *p != '"'; p++) {
        if ((unsigned char)*p < 0x20) {
            return NULL; /* a control character, or the NUL at the end of the text */
        }
        if (*p != '\\') {
            continue;
        }
        p++;
        if (*p == 'u') {
            uint32_t v = unit(p + 1);
            p += v == UINT32_MAX ? 0 : 4;
            if (v >= 0xd800 && v < 0xdc00 && p[1] == '\\' && p[2] == 'u') {
                uint32_t low = unit(p + 3);
                v = low >= 0xdc00 && low < 0xe000 ? 0 : UINT32_MAX;
                p += v == 0 ? 6 : 0;
            }
            if (v == UINT32_MAX || (v >= 0xd800 && v < 0xe000)) {
                return NULL;
            }
        } else if (*p == '\0' || strchr("\"\\/bfnrt", *p) == NULL) {
            return NULL;
        }
    }
    return p + 1;
}

static const char *number(const char *p) {
    const char *first = p;
    char copy[MOST_NUMBER + 1];
    double v;
    p += *p == '-';
    p = *p == '0' ? p + 1 : digits(p);
    if (p != NULL && *p == '.') {
        p = digits(p + 1);
    }
    if (p != NULL && (*p == 'e' || *p == 'E')) {
        p += p[1] == '+' || p[1] == '-' ? 2 : 1;
        p = digits(p);
    }
    if (p == NULL || p - first > MOST_NUMBER) {
        return NULL;
    }
    memcpy(copy, first, (size_t)(p - first));
    copy[p - first] = '\0';
    return hpcw_i_parse_f64("number", copy, -DBL_MAX, DBL_MAX, &v, NULL) == HPCW_OK ? p : NULL;
}

static const char *scalar(const char *p) {
    static const char *const words[] = {"true", "false", "null"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strncmp(p, words[i], strlen(words[i])) == 0) {
            return p + strlen(words[i]);
        }
    }
    return *p == '"' ? string(p) : number(p);
}

/* Parses a key, the colon after it and white space. Returns the end, or NULL. */
static const char *key(const char *p) {
    p = string(p);
    p = p == NULL ? NULL : blanks(p);
    return p != NULL && *p == ':' ? blanks(p + 1) : NULL;
}

bool hpcw_i_json_is_text(const char *text, unsigned levels) {
    char closing[HPCW_I_JSON_DEPTH];
    unsigned depth = 0;
    const char *p = blanks(text);
    do {
        /* A value begins here. */
        if (*p == '{' || *p == '[') {
            if (depth == levels || depth == HPCW_I_JSON_DEPTH) {
                return false;
            }
            closing[depth++] = *p == '{' ? '}' : ']';
            p = blanks(p + 1);
            if (*p != closing[depth - 1]) {
                p = closing[depth - 1] == '}' ? key(p) : p;
                continue;
            }
        } else {
            p = scalar(p);
        }
        /* Here p is after a scalar, or at the closing bracket of an empty object or array. */
        p = p == NULL ? NULL : blanks(p);
        while (p != NULL && depth > 0 && *p == closing[depth - 1]) {
            depth--;
            p = blanks(p + 1);
        }
        if (p == NULL || depth == 0) {
            break;
        }
        p = *p == ',' ? blanks(p + 1) : NULL;
        p = p != NULL && closing[depth - 1] == '}' ? key(p) : p;
    } while (p != NULL);
    return p != NULL && depth == 0 && *p == '\0' && hpcw_i_json_is_utf8(text, strlen(text));
}
