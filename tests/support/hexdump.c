/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/support/hexdump.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/files.h"

/* State of parsing the bytes of one example from a page. */
struct example {
    const char *page;
    unsigned line;
    unsigned char *data; /* [HEXDUMP_MOST_BYTES] */
    size_t size;
    size_t watched; /* offset in the example, for which the parser stores the line in watched_line */
    unsigned watched_line;
    hpcw_error *err;
};

__attribute__((format(printf, 2, 3))) static bool wrong(struct example *e, const char *format, ...) {
    char what[256];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (e->err != NULL) {
        e->err->code = HPCW_EFORMAT;
        (void)snprintf(e->err->message, sizeof e->err->message, "%s:%u: %s", e->page, e->line, what);
    }
    return false;
}

static bool append(struct example *e, unsigned char byte, size_t count) {
    if (count > HEXDUMP_MOST_BYTES - e->size) {
        return wrong(e, "expected an example of at most %u bytes", HEXDUMP_MOST_BYTES);
    }
    if (e->watched - e->size < count) {
        e->watched_line = e->line;
    }
    memset(e->data + e->size, byte, count);
    e->size += count;
    return true;
}

static int digit(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Parses one item, "6d" or "00 * 4096", at *text. */
static bool parse_item(struct example *e, const char **text) {
    const char *p = *text;
    int high = digit(p[0]), low = high < 0 ? -1 : digit(p[1]);
    if (low < 0 || (p[2] != '\0' && p[2] != ' ')) {
        return wrong(e, "expected two hexadecimal digits and a space, got \"%.8s\"", p);
    }
    p += 2;
    size_t count = 1;
    const char *star = p + strspn(p, " ");
    if (*star == '*') {
        char *end;
        p = star + 1 + strspn(star + 1, " ");
        count = *p >= '1' && *p <= '9' ? strtoul(p, &end, 10) : 0;
        if (count == 0 || (*end != '\0' && *end != ' ')) {
            return wrong(e, "expected a number of repetitions, got \"%.8s\"", p);
        }
        p = end;
    }
    *text = p + strspn(p, " ");
    return append(e, (unsigned char)(high << 4 | low), count);
}

static bool parse_line(struct example *e, char *line) {
    char *note = strchr(line, '|');
    if (note != NULL) {
        *note = '\0';
    }
    const char *p = line + strspn(line, " ");
    if (*p == '\0' && note == NULL) {
        return true;
    }
    size_t offset = 0, digits = 0;
    for (; digit(p[digits]) >= 0 && digits < 8; digits++) {
        offset = offset << 4 | (size_t)digit(p[digits]);
    }
    if (digits < 3 || p[digits] != ' ') {
        return wrong(e, "expected an offset of 3 to 8 hexadecimal digits, got \"%.8s\"", p);
    }
    if (offset != e->size) {
        return wrong(e, "offset: expected %04zx, got %04zx", e->size, offset);
    }
    p += digits + strspn(p + digits, " ");
    if (*p == '\0') {
        return wrong(e, "expected bytes after the offset");
    }
    while (*p != '\0') {
        if (!parse_item(e, &p)) {
            return false;
        }
    }
    return true;
}

static bool take_bytes(struct example *e, const char *line) {
    for (; *line != '\0'; line++) {
        if (!append(e, (unsigned char)*line, 1)) {
            return false;
        }
    }
    return true;
}

static bool parse_page(struct example *e, char *text, const char *block) {
    const bool hex = strncmp(block, "hex ", 4) == 0, lines = strncmp(block, "text ", 5) == 0;
    bool inside = false, wanted = false, found = false;
    for (char *next; *text != '\0'; text = next) {
        char *end = strchr(text, '\n');
        if (end == NULL) {
            return wrong(e, "expected a newline at the end of the page");
        }
        *end = '\0';
        next = end + 1;
        e->line++;
        if (strncmp(text, "```", 3) == 0) {
            inside = !inside;
            wanted = inside && strcmp(text + 3, block) == 0;
            found = found || wanted;
        } else if (wanted && !(hex     ? parse_line(e, text)
                               : lines ? take_bytes(e, text) && append(e, '\n', 1)
                                       : take_bytes(e, text + strspn(text, " ")))) {
            return false;
        }
    }
    if (inside) {
        return wrong(e, "expected ``` after the last block");
    }
    return found || wrong(e, "expected a block ```%s", block);
}

static unsigned char *read_example(struct example *e, const char *block, size_t *size) {
    size_t length = 0;
    char *text = (char *)read_file(e->page, &length);
    e->data = malloc(HEXDUMP_MOST_BYTES);
    bool good = false;
    if (text == NULL || e->data == NULL) {
        (void)wrong(e, "cannot be read");
    } else {
        text[length] = '\0';
        good = parse_page(e, text, block);
    }
    free(text);
    if (!good) {
        free(e->data);
        return NULL;
    }
    *size = e->size;
    return e->data;
}

unsigned char *hexdump_read(const char *page, const char *block, size_t *size, hpcw_error *err) {
    struct example e = {.page = page, .watched = SIZE_MAX, .err = err};
    return read_example(&e, block, size);
}

unsigned hexdump_line(const char *page, const char *block, size_t offset) {
    struct example e = {.page = page, .watched = offset};
    size_t size;
    free(read_example(&e, block, &size));
    return e.watched_line;
}
