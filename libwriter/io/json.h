/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A JSON text that is written value by value: without a tree, without an allocation per value, in constant memory.
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
 * Only the last call needs a check: the first failure stays, later calls do nothing, and hpcw_i_json_finish
 * reports it. Errors:
 *
 *   HPCW_ESTATE  wrong order: a value without a key in an object, a key elsewhere, an end that fits no begin, a
 *                second value at the top, more than 64 levels, an unfinished text
 *   HPCW_EINVAL  values that JSON does not have: NaN, infinities, text that is not UTF-8 (unless it is to be
 *                replaced)
 *   HPCW_ENOMEM  no memory for the buffer, or for a growing hpcw_i_buf
 *   others       come from the sink
 *
 * Keys are not compared: an object that names one twice is the caller's mistake.
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
    /* write two spaces a level and a newline at the end; otherwise one line without white space */
    bool indent;
    /* write U+00A0 and above as \u escapes, as control characters always are; otherwise as UTF-8 */
    bool ascii;
    /* replace bad UTF-8 by U+FFFD, one for each maximal piece that cannot be continued; otherwise refuse it */
    bool replace_bad_utf8;
    size_t buffer_size; /* bytes, for sinks; 0: 512 KiB; less than 64 KiB count as 64 KiB */
};

/* What may come next. The states in which a value may come are first, so that one comparison is enough. */
enum hpcw_i_json_state {
    HPCW_I_JSON_TOP,     /* the one value of the text */
    HPCW_I_JSON_ELEMENT, /* an element of an array */
    HPCW_I_JSON_MEMBER,  /* the value that belongs to the key just written */
    HPCW_I_JSON_KEY,     /* a key of an object */
    HPCW_I_JSON_DONE,    /* nothing: the value at the top is complete */
    HPCW_I_JSON_BROKEN,  /* nothing: a call failed, or the text is finished */
};

/* A zeroed struct was never opened. All members are private. */
struct hpcw_i_json {
    char *p;     /* where the next byte goes */
    char *start; /* start of the buffer, or of the text in `buf` */
    char *end;
    uint64_t kinds; /* a bit for each open level, the innermost is the lowest bit: 1 object, 0 array */
    int depth;
    int flat_depth;        /* the level that is written on one line; 0: none */
    unsigned char state;   /* what may come now: HPCW_I_JSON_... */
    unsigned char outside; /* the state after a finished value */
    unsigned char comma;   /* 1: this level has an entry already */
    uint64_t written;      /* bytes passed on that lie before `start` */
    hpcw_sink *sink;
    struct hpcw_i_buf *buf;
    size_t buf_before; /* bytes in `buf` when it was opened */
    /* Kept apart from `state`: a compiler may test neighbours with one wide load, which waits for the narrow store
     * just before it. */
    bool indent, ascii, replace_bad_utf8, flat_next;
    hpcw_status status;
    hpcw_error error;
};

/* Starts a text that goes to `sink` in sequence from its begin on, in pieces that end at multiples of 4096.
 * The sink is borrowed until finish or free, which neither publish nor free it. `options` may be NULL, which means
 * all zero. */
void hpcw_i_json_open_sink(struct hpcw_i_json *j, hpcw_sink *sink, const struct hpcw_i_json_options *options);

/* Starts a text that is appended to `buf`. No other code may touch `buf` until finish or free. After a failure it
 * has the bytes that it had before. */
void hpcw_i_json_open_buf(struct hpcw_i_json *j, struct hpcw_i_buf *buf,
                          const struct hpcw_i_json_options *options);

/* Ends the text, passes on what is still buffered, and frees. Returns the first failure of all calls. */
hpcw_status hpcw_i_json_finish(struct hpcw_i_json *j, hpcw_error *err) HPCW_MUST_CHECK;

/* Frees without finishing. Does nothing after finish or for a zeroed struct. */
void hpcw_i_json_free(struct hpcw_i_json *j);

/* Returns whether these bytes are UTF-8. Callers use it that must know before a string is refused. */
bool hpcw_i_json_is_utf8(const char *text, size_t size);

/* Returns whether a text is JSON in UTF-8 with at most `levels` of nesting. Such a text may be passed to
 * hpcw_i_json_text. Numbers must fit in a double and have at most 256 characters. Keys are not compared. */
bool hpcw_i_json_is_text(const char *text, unsigned levels);

/* Returns the first failure so far, HPCW_OK if there was none. Long loops use it to stop early. */
static inline hpcw_status hpcw_i_json_status(const struct hpcw_i_json *j) {
    return j->status;
}

/* Returns the length of the text so far, in bytes; after finish, the length of all of it. */
static inline uint64_t hpcw_i_json_size(const struct hpcw_i_json *j) {
    return j->written + (uint64_t)(j->p - j->start);
}

/* ---- Structure ------------------------------------------------------------------------------------------- */

void hpcw_i_json_begin_object(struct hpcw_i_json *j);
void hpcw_i_json_end_object(struct hpcw_i_json *j);
void hpcw_i_json_begin_array(struct hpcw_i_json *j);
void hpcw_i_json_end_array(struct hpcw_i_json *j);

/* In an indented text, puts the next object or array on one line with all that it contains. So each record is a
 * line. */
void hpcw_i_json_flat(struct hpcw_i_json *j);

void hpcw_i_json_key_n(struct hpcw_i_json *j, const char *key, size_t size);
static inline void hpcw_i_json_key(struct hpcw_i_json *j, const char *key) {
    hpcw_i_json_key_n(j, key, strlen(key));
}

/* Starts an object that is written on one line. */
static inline void hpcw_i_json_flat_object(struct hpcw_i_json *j) {
    hpcw_i_json_flat(j);
    hpcw_i_json_begin_object(j);
}

/* ---- Values ---------------------------------------------------------------------------------------------- */

void hpcw_i_json_u64(struct hpcw_i_json *j, uint64_t v);
void hpcw_i_json_i64(struct hpcw_i_json *j, int64_t v);
void hpcw_i_json_f64(struct hpcw_i_json *j, double v);             /* HPCW_I_FLOAT_JSON of base/numfmt.h */
void hpcw_i_json_seconds(struct hpcw_i_json *j, uint64_t time_ns); /* exact: 1500000000 is written as 1.5 */
void hpcw_i_json_bool(struct hpcw_i_json *j, bool v);
/* writes a value that is JSON already, without its blanks */
void hpcw_i_json_text(struct hpcw_i_json *j, const char *text);
void hpcw_i_json_null(struct hpcw_i_json *j);

void hpcw_i_json_str_n(struct hpcw_i_json *j, const char *text, size_t size);
static inline void hpcw_i_json_str(struct hpcw_i_json *j, const char *text) {
    hpcw_i_json_str_n(j, text, strlen(text));
}

/* Writes a value that is already JSON, for records by the million. The first call returns room for one value of at
 * most `size` bytes, size <= HPCW_I_JSON_RESERVE; NULL after a failure. The next call must be hpcw_i_json_commit
 * with the end of the value, which must lie after its start. What is written in between is not checked. */
char *hpcw_i_json_reserve(struct hpcw_i_json *j, size_t size);
void hpcw_i_json_commit(struct hpcw_i_json *j, char *last);

/* ---- Members: a key and a value, or the start of its object or array --------------------------------------- */

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
