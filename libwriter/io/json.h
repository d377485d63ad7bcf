/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes a JSON text value by value, without a tree, without an allocation per value, in constant memory.
 *
 *     struct hpcw_i_json j;
 *     hpcw_i_json_open_sink(&j, sink, NULL);
 *     hpcw_i_json_begin_object(&j);
 *     hpcw_i_json_put_u64(&j, "seed", 42);
 *     hpcw_i_json_key(&j, "ranks");
 *     hpcw_i_json_begin_array(&j);
 *     hpcw_i_json_u64(&j, 0);
 *     hpcw_i_json_end_array(&j);
 *     hpcw_i_json_end_object(&j);
 *     status = hpcw_i_json_finish(&j, err);
 *
 * Only the last call needs a check: after a failure the other calls do nothing, and hpcw_i_json_finish reports the
 * first failure. Errors:
 *
 *   HPCW_ESTATE  wrong order: a value without a key in an object, a key elsewhere, an end without its begin, a
 *                second value at the top, more than 64 levels, an unfinished text
 *   HPCW_EINVAL  values that JSON does not have: NaN, infinities, text that is not UTF-8 (unless it is to be
 *                replaced)
 *   HPCW_ENOMEM  no memory for the buffer, or for a growing hpcw_i_buf
 *   others       errors of the sink
 *
 * Keys are not compared: the caller must not write one key twice into an object.
 */
#ifndef HPCW_IO_JSON_H
#define HPCW_IO_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <hpcw/sink.h>
#include <hpcw/status.h>

#include "libwriter/base/buf.h"

#define HPCW_I_JSON_DEPTH 64
#define HPCW_I_JSON_RESERVE 16384

struct hpcw_i_json_options {
    /* indent by two spaces a level and end with a newline; otherwise write one line without white space */
    bool indent;
    /* write code points from U+00A0 on as \u escapes, otherwise as UTF-8; control characters are always escaped */
    bool ascii;
    /* replace each invalid UTF-8 sequence by U+FFFD, otherwise fail */
    bool replace_bad_utf8;
    size_t buffer_size; /* size of the buffer for a sink, bytes; 0: 512 KiB; at least 64 KiB are used */
};

/* What may follow in the text. The states in which a value may follow come first, so that one comparison tests
 * them. */
enum hpcw_i_json_state {
    HPCW_I_JSON_TOP,     /* the text's one value */
    HPCW_I_JSON_ELEMENT, /* an element of an array */
    HPCW_I_JSON_MEMBER,  /* the value of the key just written */
    HPCW_I_JSON_KEY,     /* a key of an object */
    HPCW_I_JSON_DONE,    /* nothing: the text's value is complete */
    HPCW_I_JSON_BROKEN,  /* nothing: a call failed, or the text is finished */
};

/* A text that is being written. All members are private. A zeroed struct was never opened. */
struct hpcw_i_json {
    char *p;     /* position of the next byte in the buffer */
    char *start; /* start of the own buffer, or of the text in `buf` */
    char *end;
    uint64_t kinds; /* one bit per open level, the innermost lowest; 1: object, 0: array */
    int depth;
    int flat_depth;        /* outermost level that is written on one line; 0: none */
    unsigned char state;   /* one of enum hpcw_i_json_state */
    unsigned char outside; /* value of `state` after the next complete value */
    unsigned char comma;   /* 1 if the current level has an element or key already, 0 otherwise */
    uint64_t written;      /* bytes of the text before `start`, which the sink has */
    hpcw_sink *sink;
    struct hpcw_i_buf *buf;
    size_t buf_before; /* bytes that `buf` had before this text */
    /* These members are not beside `state`: a compiler may load both at once, and such a wide load waits for a
     * narrow store to `state` just before. */
    bool indent, ascii, replace_bad_utf8, flat_next;
    hpcw_status status;
    hpcw_error error;
};

/* Starts a text in a sink. Writes to the sink begin at offset 0, follow each other, and end at multiples of
 * 4096 except for the last. The sink is borrowed until hpcw_i_json_finish or _free, and neither published nor
 * freed. `options` NULL: all zero. */
void hpcw_i_json_open_sink(struct hpcw_i_json *j, hpcw_sink *sink, const struct hpcw_i_json_options *options);

/* Starts a text at the end of `buf`. No other code may change `buf` until hpcw_i_json_finish or _free. After a
 * failure `buf` has its old bytes only. */
void hpcw_i_json_open_buf(struct hpcw_i_json *j, struct hpcw_i_buf *buf,
                          const struct hpcw_i_json_options *options);

/* Ends the text, writes the rest of the buffer and frees memory. Returns the first failure of all calls on this
 * text. */
hpcw_status hpcw_i_json_finish(struct hpcw_i_json *j, hpcw_error *err) HPCW_MUST_CHECK;

/* Frees memory without finishing the text. Does nothing after hpcw_i_json_finish, or for a zeroed struct. */
void hpcw_i_json_free(struct hpcw_i_json *j);

/* Returns whether bytes are valid UTF-8, for callers that must know before hpcw_i_json_str would fail. */
bool hpcw_i_json_is_utf8(const char *text, size_t size);

/* Returns whether a text is JSON in UTF-8 with at most `levels` of nesting, as hpcw_i_json_text needs it.
 * Numbers must fit in a double and have at most 256 characters. Keys are not compared. */
bool hpcw_i_json_is_text(const char *text, unsigned levels);

/* Returns the first failure so far, or HPCW_OK. Long loops test it to stop early. */
static inline hpcw_status hpcw_i_json_status(const struct hpcw_i_json *j) {
    return j->status;
}

/* Returns the length of the text so far, in bytes. */
static inline uint64_t hpcw_i_json_size(const struct hpcw_i_json *j) {
    return j->written + (uint64_t)(j->p - j->start);
}

/* ---- Structure ------------------------------------------------------------------------------------------- */

void hpcw_i_json_begin_object(struct hpcw_i_json *j);
void hpcw_i_json_end_object(struct hpcw_i_json *j);
void hpcw_i_json_begin_array(struct hpcw_i_json *j);
void hpcw_i_json_end_array(struct hpcw_i_json *j);

/* In an indented text, writes the next object or array on one line with all its content, so that each record is
 * a line. */
void hpcw_i_json_flat(struct hpcw_i_json *j);

void hpcw_i_json_key_n(struct hpcw_i_json *j, const char *key, size_t size);
static inline void hpcw_i_json_key(struct hpcw_i_json *j, const char *key) {
    hpcw_i_json_key_n(j, key, strlen(key));
}

static inline void hpcw_i_json_flat_object(struct hpcw_i_json *j) {
    hpcw_i_json_flat(j);
    hpcw_i_json_begin_object(j);
}

/* ---- Values ---------------------------------------------------------------------------------------------- */

void hpcw_i_json_u64(struct hpcw_i_json *j, uint64_t v);
void hpcw_i_json_i64(struct hpcw_i_json *j, int64_t v);
void hpcw_i_json_f64(struct hpcw_i_json *j, double v); /* formatted as HPCW_I_FLOAT_JSON of base/numfmt.h */
/* nanoseconds, written exactly in seconds: 1500000000 as 1.5 */
void hpcw_i_json_seconds(struct hpcw_i_json *j, uint64_t time_ns);
void hpcw_i_json_bool(struct hpcw_i_json *j, bool v);
/* writes a value that is JSON text already, without the white space in it */
void hpcw_i_json_text(struct hpcw_i_json *j, const char *text);
void hpcw_i_json_null(struct hpcw_i_json *j);

void hpcw_i_json_str_n(struct hpcw_i_json *j, const char *text, size_t size);
static inline void hpcw_i_json_str(struct hpcw_i_json *j, const char *text) {
    hpcw_i_json_str_n(j, text, strlen(text));
}

/* Writes a value that is JSON text already, for millions of records. hpcw_i_json_reserve returns memory for one
 * value of at most `size` bytes, size <= HPCW_I_JSON_RESERVE; NULL after a failure. The next call must be
 * hpcw_i_json_commit with the end of the value, which is not empty. The value is not checked. */
char *hpcw_i_json_reserve(struct hpcw_i_json *j, size_t size);
void hpcw_i_json_commit(struct hpcw_i_json *j, char *last);

/* ---- Members: a key with a value, or a key with the begin of an object or array ---------------------------- */

static inline void hpcw_i_json_key_object(struct hpcw_i_json *j, const char *key) {
    hpcw_i_json_key(j, key);
    hpcw_i_json_begin_object(j);
}

static inline void hpcw_i_json_key_array(struct hpcw_i_json *j, const char *key) {
    hpcw_i_json_key(j, key);
    hpcw_i_json_begin_array(j);
}

static inline void hpcw_i_json_put_u64(struct hpcw_i_json *j, const char *key, uint64_t v) {
    hpcw_i_json_key(j, key);
    hpcw_i_json_u64(j, v);
}

static inline void hpcw_i_json_put_i64(struct hpcw_i_json *j, const char *key, int64_t v) {
    hpcw_i_json_key(j, key);
    hpcw_i_json_i64(j, v);
}

static inline void hpcw_i_json_put_f64(struct hpcw_i_json *j, const char *key, double v) {
    hpcw_i_json_key(j, key);
    hpcw_i_json_f64(j, v);
}

static inline void hpcw_i_json_put_seconds(struct hpcw_i_json *j, const char *key, uint64_t time_ns) {
    hpcw_i_json_key(j, key);
    hpcw_i_json_seconds(j, time_ns);
}

static inline void hpcw_i_json_put_bool(struct hpcw_i_json *j, const char *key, bool v) {
    hpcw_i_json_key(j, key);
    hpcw_i_json_bool(j, v);
}

static inline void hpcw_i_json_put_str(struct hpcw_i_json *j, const char *key, const char *text) {
    hpcw_i_json_key(j, key);
    hpcw_i_json_str(j, text);
}

#endif
