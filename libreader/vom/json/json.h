/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Private to the VOM reader: parses a JSON text against a schema, as a stream. The schema is a set of constant
 * tables. The parser puts a value where they say, or passes it to the consumer by their number for it (the "slot").
 */
#ifndef HPCW_LIBREADER_VOM_JSON_JSON_H
#define HPCW_LIBREADER_VOM_JSON_JSON_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "libreader/vom/json/text.h"

#define READ_VOM_DEPTH 32
/* Bytes of an object or array that the schema takes as a value. */
#define READ_VOM_MOST_NESTED ((size_t)4 << 20)

/* ---- The schema ------------------------------------------------------------------------------------------ */

enum read_vom_json_type {
    READ_VOM_T_COUNT,  /* an integer 0 .. most, digits only */
    READ_VOM_T_FLOAT,  /* a finite number >= 0 with a point or an exponent */
    READ_VOM_T_REAL,   /* the same, also negative */
    READ_VOM_T_TEXT,   /* a string */
    READ_VOM_T_WORD,   /* one of some strings */
    READ_VOM_T_FLAG,   /* true or false */
    READ_VOM_T_SCALAR, /* a 32-bit integer, a float or a string */
    READ_VOM_T_ANY,
    READ_VOM_T_OBJECT,
    READ_VOM_T_ARRAY,
};

/* The strings of a WORD, by their numbers; NULL: no such number. */
struct read_vom_words {
    const char *expected; /* what messages call them */
    unsigned count;
    const char *const *word;
};

/* Offsets are those in the context of the consumer. */
struct read_vom_spec {
    enum read_vom_json_type type;
    unsigned slot;
    uint64_t most;                      /* of a COUNT */
    const struct read_vom_words *words; /* of a WORD */
    /* of an OBJECT: at most 32 in byte order; NULL: any, with values of `element` */
    const struct read_vom_key *key;
    unsigned keys;
    const struct read_vom_spec *element; /* of an ARRAY */
    bool whole;                          /* of an OBJECT: the consumer may take it whole */
    size_t at;                           /* offset of where the value belongs */
    size_t size;    /* bytes of it if the parser puts it there: a COUNT, WORD, number or FLAG */
    size_t present; /* offset of a bool that the value sets; 0: none */
};

struct read_vom_key {
    const char *name;
    size_t size; /* of the name */
    bool required;
    struct read_vom_spec value;
};
#define READ_VOM_KEY(name) (name), sizeof(name) - 1
#define READ_VOM_KEYS(k) .key = (k), .keys = (unsigned)(sizeof(k) / sizeof(k)[0])
#define READ_VOM_AT(type, member) .at = offsetof(type, member)
#define READ_VOM_PUT(type, member) .at = offsetof(type, member), .size = sizeof(((type *)0)->member)

/* ---- The consumer ---------------------------------------------------------------------------------------- */

enum read_vom_value_type {
    READ_VOM_NULL,
    READ_VOM_BOOL,
    READ_VOM_INTEGER,
    READ_VOM_FLOAT,
    READ_VOM_STRING,
    READ_VOM_NESTED, /* an object or array */
};

struct read_vom_value {
    enum read_vom_value_type type;
    uint64_t count; /* of a COUNT; the number of a WORD */
    double number;  /* of a FLOAT or REAL, or of a number as SCALAR or ANY */
    bool flag;
    /* of numbers as in the text, of strings decoded, of others JSON without blanks; no NUL at the end */
    const char *text;
    size_t size;
    const char *key; /* if the object takes any key */
    size_t key_size;
};

/* Gets what has a slot. The parser stops at a result other than HPCW_OK. `count`: elements of an array, keys of an
 * object. */
struct read_vom_consumer {
    void *context;
    hpcw_status (*begin)(void *context, const struct read_vom_spec *spec, hpcw_error *err);
    hpcw_status (*value)(void *context, const struct read_vom_spec *spec, const struct read_vom_value *value,
                         hpcw_error *err);
    hpcw_status (*end)(void *context, const struct read_vom_spec *spec, uint64_t count, hpcw_error *err);
    /*
     * Between `begin` and `end` of a spec with `whole`: takes an object that obeys the schema, and returns its
     * end. NULL: it has an unusual spelling, is wrong or goes on in the next piece, so that it is parsed.
     * READ_VOM_PAD zeros follow the piece. May be NULL.
     */
    const unsigned char *(*whole)(void *context, const struct read_vom_spec *spec, const unsigned char *text);
};

/* ---- The parser ------------------------------------------------------------------------------------------ */

struct read_vom_json;

/*
 * Parses from the current offset of `text` on. All arguments but `out` are borrowed.
 */
enum {
    READ_VOM_JSON_ORDERED = 1, /* the keys of objects have to be in byte order */
    READ_VOM_JSON_LENIENT = 2, /* a FLOAT or REAL may be a whole number, a SCALAR anything */
};
hpcw_status read_vom_json_new(const char *name, struct read_vom_text *text, const struct read_vom_spec *top,
                              unsigned flags, const struct read_vom_consumer *consumer,
                              struct read_vom_json **out, hpcw_error *err);
void read_vom_json_free(struct read_vom_json *json);

/* Parses up to the end of the text, or up to where the consumer stopped it. */
hpcw_status read_vom_json_run(struct read_vom_json *json, hpcw_error *err);

/* Only in `begin` of an object: the run ends before it, as if it had not been read. */
void read_vom_json_stop(struct read_vom_json *json);

/* Whether the whole text was parsed. If not, the offset of the stop. */
bool read_vom_json_ended(const struct read_vom_json *json);
uint64_t read_vom_json_stopped_at(const struct read_vom_json *json);

/* The keys of the outermost object so far, as bits in the order of its table. */
uint32_t read_vom_json_seen(const struct read_vom_json *json);

/*
 * Goes on where another parser stopped: before an object of the array at `key` of the outermost object, of which
 * `elements` were read. Neither the array nor the outermost object has a slot. The text must be at that offset.
 */
hpcw_status read_vom_json_resume(struct read_vom_json *json, const char *key, uint64_t elements, uint32_t seen,
                                 hpcw_error *err);

/* The offset of what the consumer gets. */
uint64_t read_vom_json_at(const struct read_vom_json *json);

/* Fails with the file, and the path and offset of what the consumer gets. */
hpcw_status read_vom_json_wrong(const struct read_vom_json *json, hpcw_status code, hpcw_error *err,
                                const char *fmt, ...) HPCW_PRINTF(4, 5);
hpcw_status read_vom_json_vwrong(const struct read_vom_json *json, hpcw_status code, hpcw_error *err,
                                 const char *fmt, va_list args) HPCW_PRINTF(4, 0);

#endif
