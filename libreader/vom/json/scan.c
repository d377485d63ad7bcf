/* SPDX-License-Identifier: BSD-3-Clause */
#include "libreader/vom/json/scan.h"

#include <string.h>

#include "libreader/vom/json/private.h"

void read_vom_scan_free(struct read_vom_scan *s) {
    hpcw_i_buf_free(&s->rest);
    hpcw_i_buf_free(&s->decoded);
}

/* The piece of text that is being scanned. */
struct scan_piece {
    const unsigned char *begin, *at, *end;
};

static uint64_t offset_of(const struct read_vom_json *j, const struct scan_piece *p,
                          const unsigned char *where) {
    return j->piece_at + (uint64_t)(where - p->begin);
}

static enum read_vom_scan_result bad(struct read_vom_json *j, uint64_t at, const char *problem) {
    j->scan.problem = problem;
    j->scan.problem_at = at;
    return READ_VOM_SCAN_BAD;
}

static enum read_vom_scan_result told(bool goes_on) {
    return goes_on ? READ_VOM_SCAN_GOOD : READ_VOM_SCAN_STOPPED;
}

/* ---- strings --------------------------------------------------------------------------------------------- */

/* Counts the bytes from `text` on that stand for themselves in a string: ASCII except control characters, quotation
 * mark and backslash. */
static size_t count_plain(const unsigned char *text, size_t size) {
    size_t i = 0;
    while (i < size && text[i] >= 0x20 && text[i] < 0x80 && text[i] != '"' && text[i] != '\\') {
        i++;
    }
    return i;
}

static int hex_digit(unsigned char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Reads the four digits of an escape such as \u00e4. `text` points behind the letter u. */
static bool read_hex(const unsigned char *text, size_t size, uint32_t *number) {
    *number = 0;
    for (size_t i = 0; i < 4; i++) {
        const int digit = i < size ? hex_digit(text[i]) : -1;
        if (digit < 0) {
            return false;
        }
        *number = *number << 4 | (uint32_t)digit;
    }
    return true;
}

/* Writes a character in UTF-8. Half of a surrogate pair becomes bytes that are not valid UTF-8. */
static size_t encode(uint32_t c, unsigned char out[4]) {
    if (c < 0x80) {
        out[0] = (unsigned char)c;
        return 1;
    }
    const size_t size = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = size; i-- > 1; c >>= 6) {
        out[i] = (unsigned char)(0x80 | (c & 0x3f));
    }
    out[0] = (unsigned char)(0xf00 >> size | c);
    return size;
}

/* Reads the character of an escape, and returns the number of bytes that the escape takes; 0: not an escape. `text`
 * points behind the backslash. */
static size_t read_escape(const unsigned char *text, size_t size, uint32_t *c) {
    static const char letters[] = "\"\\/bfnrt";
    static const char characters[] = "\"\\/\b\f\n\r\t";
    const char *letter = size > 0 && text[0] != '\0' ? strchr(letters, text[0]) : NULL;
    if (letter != NULL) {
        *c = (unsigned char)characters[letter - letters];
        return 1;
    }
    if (size == 0 || text[0] != 'u' || !read_hex(text + 1, size - 1, c)) {
        return 0;
    }
    uint32_t low;
    const bool pair = *c >= 0xd800 && *c < 0xdc00 && size > 6 && text[5] == '\\' && text[6] == 'u' &&
                      read_hex(text + 7, size - 7, &low) && low >= 0xdc00 && low < 0xe000;
    if (pair) {
        *c = 0x10000 + ((*c - 0xd800) << 10) + (low - 0xdc00);
    }
    return pair ? 11 : 5;
}

/* Decodes a string with escapes or with characters outside of ASCII. */
static enum read_vom_scan_result decode(struct read_vom_json *j, const unsigned char *text, size_t size) {
    struct read_vom_scan *s = &j->scan;
    s->decoded.size = 0;
    if (!hpcw_i_buf_reserve(&s->decoded, size + 1)) { /* decoding never makes a string longer */
        return READ_VOM_SCAN_NO_MEMORY;
    }
    unsigned char *out = s->decoded.data;
    for (size_t i = 0; i < size;) {
        if (text[i] != '\\') {
            *out++ = text[i++];
            continue;
        }
        uint32_t c;
        const size_t taken = read_escape(text + i + 1, size - i - 1, &c);
        if (taken == 0) {
            return bad(j, s->token_at, "a string with another escape than those of JSON");
        }
        out += encode(c, out);
        i += 1 + taken;
    }
    s->decoded.size = (size_t)(out - s->decoded.data);
    return READ_VOM_SCAN_GOOD;
}

/* Passes on a whole string, without its quotation marks. `plain`: the text needs no decoding. */
static enum read_vom_scan_result pass_string(struct read_vom_json *j, const unsigned char *text, size_t size,
                                             bool plain) {
    struct read_vom_scan *s = &j->scan;
    s->ascii = plain;
    if (size >= READ_VOM_MOST_TOKEN) {
        return READ_VOM_SCAN_HUGE;
    }
    if (!plain) {
        const enum read_vom_scan_result r = decode(j, text, size);
        if (r != READ_VOM_SCAN_GOOD) {
            return r;
        }
        text = s->decoded.data;
        size = s->decoded.size;
    }
    const bool key = s->state == READ_VOM_SCAN_KEY;
    s->state = key ? READ_VOM_SCAN_COLON : s->depth == 0 ? READ_VOM_SCAN_OVER : READ_VOM_SCAN_NEXT;
    return told(key ? read_vom_json_key(j, text, size) : read_vom_json_string(j, text, size));
}

/* ---- numbers and words ----------------------------------------------------------------------------------- */

static size_t count_digits(const unsigned char *text, size_t size) {
    size_t i = 0;
    while (i < size && (unsigned char)(text[i] - '0') <= 9) {
        i++;
    }
    return i;
}

static bool is_number(const unsigned char *text, size_t size) {
    const unsigned char *end = text + size;
    text += text[0] == '-';
    size_t digits = count_digits(text, (size_t)(end - text));
    if (digits == 0 || (text[0] == '0' && digits > 1)) {
        return false;
    }
    text += digits;
    if (text < end && *text == '.') {
        digits = count_digits(text + 1, (size_t)(end - text) - 1);
        text += 1 + digits;
    }
    if (digits > 0 && text < end && (*text == 'e' || *text == 'E')) {
        text++;
        text += text < end && (*text == '+' || *text == '-');
        digits = count_digits(text, (size_t)(end - text));
        text += digits;
    }
    return digits > 0 && text == end;
}

static enum read_vom_scan_result pass_number(struct read_vom_json *j, const unsigned char *text, size_t size) {
    struct read_vom_scan *s = &j->scan;
    if (size >= READ_VOM_MOST_TOKEN) {
        return READ_VOM_SCAN_HUGE;
    }
    if (!is_number(text, size)) {
        return bad(j, s->token_at, "a number in another form than JSON's");
    }
    s->state = s->depth == 0 ? READ_VOM_SCAN_OVER : READ_VOM_SCAN_NEXT;
    return told(read_vom_json_number(j, (const char *)text, size));
}

static enum read_vom_scan_result pass_word(struct read_vom_json *j, const unsigned char *text, size_t size) {
    static const char *const words[] = {"null", "true", "false"};
    struct read_vom_scan *s = &j->scan;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (size == strlen(words[i]) && memcmp(text, words[i], size) == 0) {
            s->state = s->depth == 0 ? READ_VOM_SCAN_OVER : READ_VOM_SCAN_NEXT;
            return told(i == 0 ? read_vom_json_null(j) : read_vom_json_flag(j, i == 1));
        }
    }
    return bad(j, s->token_at, "a name that is none of null, true and false");
}

/* ---- tokens that end in another piece -------------------------------------------------------------------- */

static enum read_vom_scan_result keep_rest(struct read_vom_scan *s, enum read_vom_scan_rest of,
                                           const unsigned char *from, const unsigned char *to) {
    s->rest_of = of;
    if (s->rest.size + (size_t)(to - from) >= READ_VOM_MOST_TOKEN) {
        return READ_VOM_SCAN_HUGE;
    }
    return hpcw_i_buf_append(&s->rest, from, (size_t)(to - from)) ? READ_VOM_SCAN_GOOD
                                                                  : READ_VOM_SCAN_NO_MEMORY;
}

static bool in_word(unsigned char c) {
    return c >= 'a' && c <= 'z';
}

/* Returns the end of a number or a word. */
static const unsigned char *run_end(const unsigned char *at, const unsigned char *end, bool number) {
    while (at < end && (number ? (*at >= '0' && *at <= '9') || *at == '.' || *at == '-' || *at == '+' ||
                                     *at == 'e' || *at == 'E'
                               : in_word(*at))) {
        at++;
    }
    return at;
}

/* Returns the position of the quotation mark that ends a string, or `end` if the string continues in the next
 * piece. NULL: the string has a control character. */
static const unsigned char *string_end(const unsigned char *at, const unsigned char *end, bool *escaped) {
    for (; at < end; at++) {
        if (*escaped) {
            *escaped = false;
        } else if (*at == '"') {
            return at;
        } else if (*at == '\\') {
            *escaped = true;
        }
        if (*at < 0x20) {
            return NULL;
        }
    }
    return at;
}

static const char control_character[] = "a string with a control character";

/* Continues a string that began in an earlier piece. */
static enum read_vom_scan_result string_on(struct read_vom_json *j, struct scan_piece *p) {
    struct read_vom_scan *s = &j->scan;
    const unsigned char *to = string_end(p->at, p->end, &s->escaped);
    if (to == NULL) {
        return bad(j, s->token_at, control_character);
    }
    const enum read_vom_scan_result r = keep_rest(s, READ_VOM_SCAN_STRING, p->at, to);
    p->at = to;
    if (r != READ_VOM_SCAN_GOOD || to == p->end) {
        return r;
    }
    p->at++;
    s->rest_of = READ_VOM_SCAN_NO_REST;
    return pass_string(j, s->rest.data, s->rest.size, count_plain(s->rest.data, s->rest.size) == s->rest.size);
}

/* Passes on a number or a word that began in an earlier piece and is complete now. */
static enum read_vom_scan_result pass_rest(struct read_vom_json *j) {
    struct read_vom_scan *s = &j->scan;
    const bool number = s->rest_of == READ_VOM_SCAN_NUMBER;
    s->rest_of = READ_VOM_SCAN_NO_REST;
    return number ? pass_number(j, s->rest.data, s->rest.size) : pass_word(j, s->rest.data, s->rest.size);
}

static enum read_vom_scan_result go_on(struct read_vom_json *j, struct scan_piece *p) {
    struct read_vom_scan *s = &j->scan;
    if (s->rest_of == READ_VOM_SCAN_STRING) {
        return string_on(j, p);
    }
    const unsigned char *to = run_end(p->at, p->end, s->rest_of == READ_VOM_SCAN_NUMBER);
    const enum read_vom_scan_result r = keep_rest(s, s->rest_of, p->at, to);
    p->at = to;
    return r != READ_VOM_SCAN_GOOD || to == p->end ? r : pass_rest(j);
}

/* ---- tokens ---------------------------------------------------------------------------------------------- */

static enum read_vom_scan_result take_string(struct read_vom_json *j, struct scan_piece *p) {
    struct read_vom_scan *s = &j->scan;
    const unsigned char *text = p->at + 1;
    const unsigned char *to = text + count_plain(text, (size_t)(p->end - text));
    const bool plain = to < p->end && *to == '"';
    if (!plain) {
        s->escaped = false;
        to = string_end(to, p->end, &s->escaped);
    }
    if (to == NULL) {
        return bad(j, s->token_at, control_character);
    }
    if (to == p->end) {
        p->at = to;
        s->rest.size = 0;
        return keep_rest(s, READ_VOM_SCAN_STRING, text, to);
    }
    p->at = to + 1;
    return pass_string(j, text, (size_t)(to - text), plain);
}

static enum read_vom_scan_result take_run(struct read_vom_json *j, struct scan_piece *p, bool number) {
    const unsigned char *text = p->at;
    p->at = run_end(text, p->end, number);
    const size_t size = (size_t)(p->at - text);
    if (p->at == p->end) {
        j->scan.rest.size = 0;
        return keep_rest(&j->scan, number ? READ_VOM_SCAN_NUMBER : READ_VOM_SCAN_WORD, text, p->at);
    }
    return number ? pass_number(j, text, size) : pass_word(j, text, size);
}

static enum read_vom_scan_result begin(struct read_vom_json *j, bool object) {
    struct read_vom_scan *s = &j->scan;
    /* fails if there are more levels than `objects` has bits */
    const bool goes_on = read_vom_json_begin(j, object);
    if (goes_on) {
        s->objects = (s->objects & ~(UINT32_C(1) << s->depth)) | (uint32_t)object << s->depth;
        s->depth++;
        s->state = object ? READ_VOM_SCAN_KEY_OR_END : READ_VOM_SCAN_VALUE_OR_END;
    }
    return told(goes_on);
}
_Static_assert(READ_VOM_DEPTH <= 32, "a bit for each level");

static enum read_vom_scan_result finish(struct read_vom_json *j) {
    struct read_vom_scan *s = &j->scan;
    s->depth--;
    s->state = s->depth == 0 ? READ_VOM_SCAN_OVER : READ_VOM_SCAN_NEXT;
    return told(read_vom_json_end(j));
}

static enum read_vom_scan_result take_object(struct read_vom_json *j, struct scan_piece *p) {
    enum read_vom_scan_result r = begin(j, true);
    const unsigned char *end = r == READ_VOM_SCAN_GOOD ? read_vom_json_whole(j, p->at) : NULL;
    p->at = end != NULL ? end : p->at + 1;
    return end != NULL ? finish(j) : r;
}

static enum read_vom_scan_result take_value(struct read_vom_json *j, struct scan_piece *p) {
    const unsigned char c = *p->at;
    if (c == '"') {
        return take_string(j, p);
    }
    if (c == '-' || (c >= '0' && c <= '9')) {
        return take_run(j, p, true);
    }
    if (c == '[') {
        p->at++;
        return begin(j, false);
    }
    if (c == '{') {
        return take_object(j, p);
    }
    return in_word(c) ? take_run(j, p, false) : bad(j, j->scan.token_at, "something else than a value");
}

static bool in_object(const struct read_vom_scan *s) {
    return (s->objects >> (s->depth - 1) & 1) != 0;
}

static enum read_vom_scan_result take_next(struct read_vom_json *j, struct scan_piece *p) {
    struct read_vom_scan *s = &j->scan;
    const unsigned char c = *p->at++;
    if (c == ',') {
        s->state = in_object(s) ? READ_VOM_SCAN_KEY : READ_VOM_SCAN_VALUE;
        return READ_VOM_SCAN_GOOD;
    }
    return c == (in_object(s) ? '}' : ']')
               ? finish(j)
               : bad(j, s->token_at, "something else than a comma or the end of the list");
}

static enum read_vom_scan_result take_key(struct read_vom_json *j, struct scan_piece *p) {
    const size_t known = read_vom_json_next_key(j, p->at, (size_t)(p->end - p->at));
    if (known > 0) {
        p->at += known;
        j->scan.state = READ_VOM_SCAN_VALUE;
        return READ_VOM_SCAN_GOOD;
    }
    return *p->at == '"' ? take_string(j, p) : bad(j, j->scan.token_at, "something else than a key");
}

static enum read_vom_scan_result take(struct read_vom_json *j, struct scan_piece *p) {
    struct read_vom_scan *s = &j->scan;
    const unsigned char c = *p->at;
    s->token_at = offset_of(j, p, p->at);
    switch (s->state) {
    case READ_VOM_SCAN_NEXT:
        return take_next(j, p);
    case READ_VOM_SCAN_COLON:
        p->at++;
        s->state = READ_VOM_SCAN_VALUE;
        return c == ':' ? READ_VOM_SCAN_GOOD : bad(j, s->token_at, "something else than a colon");
    case READ_VOM_SCAN_OVER:
        return bad(j, s->token_at, "something after the end of the text");
    case READ_VOM_SCAN_KEY_OR_END:
    case READ_VOM_SCAN_VALUE_OR_END:
        if (c == (s->state == READ_VOM_SCAN_KEY_OR_END ? '}' : ']')) {
            p->at++;
            return finish(j);
        }
        s->state = s->state == READ_VOM_SCAN_KEY_OR_END ? READ_VOM_SCAN_KEY : READ_VOM_SCAN_VALUE;
        return READ_VOM_SCAN_GOOD;
    case READ_VOM_SCAN_KEY:
        return take_key(j, p);
    default:
        return take_value(j, p);
    }
}

static enum read_vom_scan_result end_text(struct read_vom_json *j) {
    struct read_vom_scan *s = &j->scan;
    enum read_vom_scan_result r = READ_VOM_SCAN_GOOD;
    if (s->rest_of == READ_VOM_SCAN_NUMBER || s->rest_of == READ_VOM_SCAN_WORD) {
        r = pass_rest(j);
    }
    if (r == READ_VOM_SCAN_GOOD && s->state != READ_VOM_SCAN_OVER) {
        (void)bad(j, j->piece_at, "the end of the text");
        r = READ_VOM_SCAN_CUT;
    }
    return r;
}

static bool is_blank(unsigned char c) {
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

enum read_vom_scan_result read_vom_scan(struct read_vom_json *j, const unsigned char *piece, size_t size) {
    struct scan_piece p = {piece, piece, piece + size};
    enum read_vom_scan_result r = READ_VOM_SCAN_GOOD;
    if (size == 0) {
        return end_text(j);
    }
    if (j->scan.rest_of != READ_VOM_SCAN_NO_REST) {
        r = go_on(j, &p);
    }
    while (r == READ_VOM_SCAN_GOOD && p.at < p.end) {
        if (is_blank(*p.at)) {
            p.at++;
        } else {
            r = take(j, &p);
        }
    }
    return r;
}
