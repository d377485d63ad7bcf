/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/io/json.h"

#include <assert.h>
#include <inttypes.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/numfmt.h"
#include "libwriter/base/status.h"

#define BUFFER_SIZE ((size_t)512 << 10)
#define BUFFER_LEAST ((size_t)64 << 10)

/* Most bytes before a value: a comma, a newline and the indentation of the deepest level, or a colon and a
 * space after a key. */
#define SEPARATOR (2 + 2 * HPCW_I_JSON_DEPTH)
/* Most bytes that one step of put_string writes: 8 bytes, two quotes, and what hpcw_i_fmt_hex may overwrite
 * after its digits. */
#define STEP (2 + 8 + HPCW_I_FMT_ROOM)

enum {
    TOP = HPCW_I_JSON_TOP,
    ELEMENT = HPCW_I_JSON_ELEMENT,
    MEMBER = HPCW_I_JSON_MEMBER,
    KEY = HPCW_I_JSON_KEY,
    DONE = HPCW_I_JSON_DONE,
    BROKEN = HPCW_I_JSON_BROKEN,
};

static const char *const expected[] = {
    [TOP] = "the first value",       [ELEMENT] = "a value or the end of an array",
    [MEMBER] = "the value of a key", [KEY] = "a key or the end of an object",
    [DONE] = "the end of the text",
};

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define FAST inline __attribute__((always_inline))
#define COLD __attribute__((cold, noinline))

/* ---- Failures -------------------------------------------------------------------------------------------- */

/* Records the first failure and sets the state to BROKEN. Later calls in that state come here, too, and change
 * nothing. */
static COLD void broken(struct hpcw_i_json *j, hpcw_status code, const char *got) {
    if (j->status == HPCW_OK) {
        j->status =
            hpcw_i_fail(&j->error, code, "JSON text, level %d, byte %" PRIu64 ": expected %s, got %s", j->depth,
                        hpcw_i_json_size(j), j->state == BROKEN ? "an open text" : expected[j->state], got);
    }
    j->state = BROKEN;
}

static COLD void broken_memory(struct hpcw_i_json *j) {
    j->status = hpcw_i_fail_memory(&j->error, "JSON text", 0, NULL);
    j->state = BROKEN;
}

/* ---- Output ------------------------------------------------------------------------------------------------ */

/* Writes the first `size` bytes of the buffer to the sink. */
static bool write_out(struct hpcw_i_json *j, size_t size) {
    j->status = hpcw_sink_write_at(j->sink, j->written, j->start, size, &j->error);
    if (j->status != HPCW_OK) {
        j->state = BROKEN;
        return false;
    }
    size_t rest = (size_t)(j->p - j->start) - size;
    memmove(j->start, j->start + size, rest);
    j->p = j->start + rest;
    j->written += size;
    return true;
}

/* Makes space for `need` bytes at j->p; `need` is far below the smallest size of the buffer. Returns false
 * after a failure. */
static COLD bool make_room(struct hpcw_i_json *j, size_t need) {
    size_t used = (size_t)(j->p - j->start);
    if (j->sink != NULL) {
        /* Write whole pages of the file only, so that no page is written twice. */
        return write_out(j, used - (j->written + used) % 4096);
    }
    if (j->buf == NULL) {
        broken(j, HPCW_ESTATE, "a value for a text that was never opened");
        return false;
    }
    j->buf->size = j->buf_before + used;
    if (!hpcw_i_buf_reserve(j->buf, need)) {
        broken_memory(j);
        return false;
    }
    j->start = (char *)j->buf->data + j->buf_before;
    j->p = j->start + used;
    j->end = (char *)j->buf->data + j->buf->capacity;
    return true;
}

static inline bool room(struct hpcw_i_json *j, size_t need) {
    return LIKELY((size_t)(j->end - j->p) >= need) || make_room(j, need);
}

static void open_text(struct hpcw_i_json *j, const struct hpcw_i_json_options *options) {
    *j = (struct hpcw_i_json){.state = TOP, .outside = DONE};
    if (options != NULL) {
        j->indent = options->indent;
        j->ascii = options->ascii;
        j->replace_bad_utf8 = options->replace_bad_utf8;
    }
}

void hpcw_i_json_open_sink(struct hpcw_i_json *j, hpcw_sink *sink, const struct hpcw_i_json_options *options) {
    assert(sink != NULL);
    open_text(j, options);
    size_t size = options != NULL && options->buffer_size != 0 ? options->buffer_size : BUFFER_SIZE;
    if (size < BUFFER_LEAST) {
        size = BUFFER_LEAST;
    }
    j->sink = sink;
    j->start = hpcw_i_malloc(size);
    if (j->start == NULL) {
        broken_memory(j);
        return;
    }
    j->p = j->start;
    j->end = j->start + size;
}

void hpcw_i_json_open_buf(struct hpcw_i_json *j, struct hpcw_i_buf *buf,
                          const struct hpcw_i_json_options *options) {
    open_text(j, options);
    j->buf = buf;
    j->buf_before = buf->size;
}

hpcw_status hpcw_i_json_finish(struct hpcw_i_json *j, hpcw_error *err) {
    if (j->state != DONE) {
        broken(j, HPCW_ESTATE, "the end of the text");
    }
    if (j->status == HPCW_OK && j->indent && room(j, 1)) {
        *j->p++ = '\n';
    }
    if (j->status == HPCW_OK && j->sink != NULL && j->p > j->start) {
        (void)write_out(j, (size_t)(j->p - j->start));
    }
    hpcw_status status = j->status;
    if (status == HPCW_OK && j->buf != NULL) {
        size_t size = (size_t)(j->p - j->start);
        j->written += size;
        j->buf_before += size;
    }
    if (status != HPCW_OK && err != NULL) {
        *err = j->error;
    }
    hpcw_i_json_free(j);
    return status;
}

void hpcw_i_json_free(struct hpcw_i_json *j) {
    if (j->sink != NULL) {
        hpcw_i_free(j->start);
    } else if (j->buf != NULL) {
        j->buf->size = j->buf_before;
    }
    j->sink = NULL;
    j->buf = NULL;
    j->start = j->p = j->end = NULL;
    j->state = BROKEN;
}

/* ---- Structure ------------------------------------------------------------------------------------------- */

static COLD char *new_line(const struct hpcw_i_json *j, char *p, int depth) {
    if (j->flat_depth != 0) {
        *p = ' ';
        return p + j->comma;
    }
    *p++ = '\n';
    memset(p, ' ', 2 * (size_t)depth);
    return p + 2 * (size_t)depth;
}

/* Writes the separator before an element or a key. */
static inline char *separate(const struct hpcw_i_json *j, char *p) {
    *p = ',';
    p += j->comma;
    return j->indent ? new_line(j, p, j->depth) : p;
}

/* Returns where the next value is to be written, with space for `size` bytes. Returns NULL after a failure, or
 * if no value may follow here. */
static FAST char *open_value(struct hpcw_i_json *j, size_t size) {
    if (!LIKELY(j->state <= MEMBER)) {
        broken(j, HPCW_ESTATE, "a value");
        return NULL;
    }
    if (!room(j, size + SEPARATOR)) {
        return NULL;
    }
    return j->state == ELEMENT ? separate(j, j->p) : j->p;
}

static FAST void close_value(struct hpcw_i_json *j, char *p) {
    j->p = p;
    j->state = j->outside;
    j->comma = 1;
}

static inline unsigned char inside(const struct hpcw_i_json *j) {
    return j->depth == 0 ? DONE : (j->kinds & 1) != 0 ? KEY : ELEMENT;
}

static FAST void begin(struct hpcw_i_json *j, bool object) {
    char *p = open_value(j, 1);
    if (p == NULL) {
        return;
    }
    if (j->depth == HPCW_I_JSON_DEPTH) {
        broken(j, HPCW_ESTATE, "an object or array nested too deep");
        return;
    }
    *p = object ? '{' : '[';
    j->p = p + 1;
    j->depth++;
    j->kinds = j->kinds << 1 | object;
    j->state = j->outside = inside(j);
    j->comma = 0;
    if (j->flat_next) {
        j->flat_next = false;
        j->flat_depth = j->flat_depth != 0 ? j->flat_depth : j->depth;
    }
}

static FAST void end(struct hpcw_i_json *j, bool object) {
    if (!LIKELY(j->state == (object ? KEY : ELEMENT))) {
        broken(j, HPCW_ESTATE, object ? "the end of an object" : "the end of an array");
        return;
    }
    if (!room(j, 1 + SEPARATOR)) {
        return;
    }
    char *p = j->p;
    if (j->indent && j->comma != 0 && j->flat_depth == 0) {
        p = new_line(j, p, j->depth - 1);
    }
    *p = object ? '}' : ']';
    j->flat_depth = j->flat_depth == j->depth ? 0 : j->flat_depth;
    j->depth--;
    j->kinds >>= 1;
    j->outside = inside(j);
    close_value(j, p + 1);
}

void hpcw_i_json_begin_object(struct hpcw_i_json *j) {
    begin(j, true);
}
void hpcw_i_json_end_object(struct hpcw_i_json *j) {
    end(j, true);
}
void hpcw_i_json_begin_array(struct hpcw_i_json *j) {
    begin(j, false);
}
void hpcw_i_json_end_array(struct hpcw_i_json *j) {
    end(j, false);
}
void hpcw_i_json_flat(struct hpcw_i_json *j) {
    j->flat_next = true;
}

/* ---- Strings --------------------------------------------------------------------------------------------- */

#define BAD UINT32_MAX

/* Decodes the UTF-8 sequence at `s` to a code point, BAD if it is invalid. Returns its length in bytes, or the
 * length of the longest valid beginning of an invalid sequence, at least 1 (Unicode 15, table 3-7). */
static size_t decode_utf8(const unsigned char *s, size_t n, uint32_t *code) {
    unsigned char c = s[0];
    *code = c;
    if (c < 0x80) {
        return 1;
    }
    size_t more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
    uint32_t v = c & (0x3fU >> more);
    *code = BAD;
    if (c < 0xc2 || c > 0xf4) {
        return 1;
    }
    for (size_t i = 1; i <= more; i++) {
        /* The range of the second byte excludes overlong forms, surrogates and code points above U+10FFFF. */
        unsigned least = i > 1 ? 0x80 : c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
        unsigned most = i > 1 ? 0xbf : c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
        if (i >= n || s[i] < least || s[i] > most) {
            return i;
        }
        v = v << 6 | (s[i] & 0x3fU);
    }
    *code = v;
    return more + 1;
}

bool hpcw_i_json_is_utf8(const char *text, size_t size) {
    uint32_t code = 0;
    for (size_t i = 0; i < size && code != BAD;) {
        i += decode_utf8((const unsigned char *)text + i, size - i, &code);
    }
    return code != BAD;
}

static char *put_u_escape(char *p, uint32_t unit) {
    p[0] = '\\';
    p[1] = 'u';
    return hpcw_i_fmt_hex(p + 2, unit, 4);
}

/* Returns the letter of a code point's two-character escape, as 'n' for a line feed; 0: it has none. */
static char escape_letter(uint32_t code) {
    switch (code) {
    case '"':
    case '\\':
        return (char)code;
    case '\b':
        return 'b';
    case '\f':
        return 'f';
    case '\n':
        return 'n';
    case '\r':
        return 'r';
    case '\t':
        return 't';
    default:
        return 0;
    }
}

/* Writes one character at j->p, escaped where needed. Returns its number of bytes in `s`; 0 after a failure. */
static COLD size_t put_character(struct hpcw_i_json *j, const char *s, size_t n) {
    uint32_t code;
    size_t taken = decode_utf8((const unsigned char *)s, n, &code);
    size_t bytes = taken;
    if (code == BAD) {
        if (!j->replace_bad_utf8) {
            broken(j, HPCW_EINVAL, "a string that is not UTF-8");
            return 0;
        }
        code = 0xfffd;
        s = "\xef\xbf\xbd";
        bytes = 3;
    }

    char *p = j->p;
    char letter = escape_letter(code);
    if (letter != 0) {
        p[0] = '\\';
        p[1] = letter;
        p += 2;
    } else if (code < 0x20 ||
               /* also DEL and C1 control characters, which terminals obey */
               (code >= 0x7f && code < (j->ascii ? 0x10000 : 0xa0))) {
        p = put_u_escape(p, code);
    } else if (code >= 0x10000 && j->ascii) {
        p = put_u_escape(p, 0xd800 + ((code - 0x10000) >> 10));
        p = put_u_escape(p, 0xdc00 + (code & 0x3ff));
    } else {
        memcpy(p, s, bytes);
        p += bytes;
    }
    j->p = p;
    return taken;
}

/* Returns whether a byte stands for itself in a string: it is ASCII and needs no escape. */
static inline bool is_plain(unsigned char c) {
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* Writes the string `s` with its quotes from `p` on. Returns the end of what was written; NULL after a failure. */
static inline char *put_string(struct hpcw_i_json *j, char *p, const char *s, size_t n) {
    *p++ = '"';
    while (n > 0) {
        if (!LIKELY(j->end - p >= STEP + SEPARATOR)) {
            j->p = p;
            if (!make_room(j, STEP + SEPARATOR)) {
                return NULL;
            }
            p = j->p;
        }
        size_t taken = 1;
        if (LIKELY(is_plain((unsigned char)*s))) {
            *p++ = *s;
        } else {
            j->p = p;
            taken = put_character(j, s, n);
            if (taken == 0) {
                return NULL;
            }
            p = j->p;
        }
        s += taken;
        n -= taken;
    }
    *p++ = '"';
    return p;
}

void hpcw_i_json_key_n(struct hpcw_i_json *j, const char *key, size_t size) {
    if (!LIKELY(j->state == KEY)) {
        broken(j, HPCW_ESTATE, "a key");
        return;
    }
    if (!room(j, STEP + SEPARATOR)) {
        return;
    }
    char *p = put_string(j, separate(j, j->p), key, size);
    if (p == NULL) {
        return;
    }
    *p++ = ':';
    *p = ' ';
    j->p = p + j->indent;
    j->state = MEMBER;
}

void hpcw_i_json_str_n(struct hpcw_i_json *j, const char *text, size_t size) {
    char *p = open_value(j, STEP);
    if (p != NULL && (p = put_string(j, p, text, size)) != NULL) {
        close_value(j, p);
    }
}

/* ---- Other values ---------------------------------------------------------------------------------------- */

void hpcw_i_json_u64(struct hpcw_i_json *j, uint64_t v) {
    char *p = open_value(j, HPCW_I_FMT_ROOM);
    if (p != NULL) {
        close_value(j, hpcw_i_fmt_u64(p, v));
    }
}

void hpcw_i_json_i64(struct hpcw_i_json *j, int64_t v) {
    char *p = open_value(j, HPCW_I_FMT_ROOM);
    if (p != NULL) {
        close_value(j, hpcw_i_fmt_i64(p, v));
    }
}

void hpcw_i_json_f64(struct hpcw_i_json *j, double v) {
    char *p = open_value(j, HPCW_I_FMT_ROOM);
    if (p == NULL) {
        return;
    }
    char *last = hpcw_i_fmt_f64(p, v, HPCW_I_FLOAT_JSON);
    if (last == p) {
        broken(j, HPCW_EINVAL, "NaN or an infinity");
        return;
    }
    close_value(j, last);
}

void hpcw_i_json_seconds(struct hpcw_i_json *j, uint64_t time_ns) {
    char *p = open_value(j, HPCW_I_FMT_ROOM);
    if (p != NULL) {
        close_value(j, hpcw_i_fmt_seconds(p, time_ns));
    }
}

void hpcw_i_json_bool(struct hpcw_i_json *j, bool v) {
    char *p = open_value(j, 8);
    if (p != NULL) {
        memcpy(p, v ? "true " : "false", 5);
        close_value(j, p + 5 - v);
    }
}

void hpcw_i_json_null(struct hpcw_i_json *j) {
    char *p = open_value(j, 8);
    if (p != NULL) {
        memcpy(p, "null", 4);
        close_value(j, p + 4);
    }
}

void hpcw_i_json_text(struct hpcw_i_json *j, const char *text) {
    char *p = open_value(j, 2);
    bool string = false;
    for (; p != NULL && *text != '\0'; text++) {
        if (!string && (*text == ' ' || *text == '\t' || *text == '\n' || *text == '\r')) {
            continue;
        }
        if (j->end - p < 2 + SEPARATOR) {
            j->p = p;
            p = make_room(j, 2 + SEPARATOR) ? j->p : NULL;
        }
        if (p != NULL) {
            *p++ = *text;
            string = string != (*text == '"');
            if (*text == '\\') {
                *p++ = *++text; /* copy the escaped character unseen, as it may be a quote */
            }
        }
    }
    if (p != NULL) {
        close_value(j, p);
    }
}

char *hpcw_i_json_reserve(struct hpcw_i_json *j, size_t size) {
    if (size > HPCW_I_JSON_RESERVE) {
        broken(j, HPCW_ESTATE, "a reservation beyond the limit");
        return NULL;
    }
    return open_value(j, size);
}

void hpcw_i_json_commit(struct hpcw_i_json *j, char *last) {
    if (!LIKELY(j->state <= MEMBER)) {
        broken(j, HPCW_ESTATE, "a value");
        return;
    }
    close_value(j, last);
}
