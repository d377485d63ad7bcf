/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to the VOM reader: parses a JSON text against a schema, as a stream. The schema is a set of constant
 * tables. For each value it has one of two entries: the offset where the parser stores the value, or a number (the
 * "slot") under which the consumer gets the value. */
#ifndef HPCW_LIBREADER_VOM_JSON_JSON_H
#define HPCW_LIBREADER_VOM_JSON_JSON_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "libreader/vom/json/text.h"

#define READ_VOM_DEPTH 32
/* Most bytes of an object or array that the schema takes as one value. */
#define READ_VOM_MOST_NESTED ((size_t)4 << 20)

/* ---- The schema ------------------------------------------------------------------------------------------ */

enum read_vom_json_type {
    READ_VOM_T_COUNT,  /* an integer 0 .. most, digits only */
    READ_VOM_T_FLOAT,  /* a finite number >= 0 with a point or an exponent */
    READ_VOM_T_REAL,   /* the same as FLOAT, but also negative */
    READ_VOM_T_TEXT,   /* a string */
    READ_VOM_T_WORD,   /* a string out of a list */
    READ_VOM_T_FLAG,   /* true or false */
    READ_VOM_T_SCALAR, /* a 32-bit integer, a float or a string */
    READ_VOM_T_ANY,
    READ_VOM_T_OBJECT,
    READ_VOM_T_ARRAY,
};

/* The strings that a WORD may have: word[n] is string n, or NULL if no string has the number n. */
struct read_vom_words {
    const char *expected; /* description of the strings for messages */
    unsigned count;
    const char *const *word;
};

/*
 * The schema of a value. The offsets `at` and `present` are those of members of the struct that the consumer fills.
 */
struct read_vom_spec {
    enum read_vom_json_type type;
    unsigned slot;
    uint64_t most;                      /* COUNT: largest value */
    const struct read_vom_words *words; /* WORD: the strings that are allowed */
    /* OBJECT: the keys that are allowed, at most 32, in byte order; NULL: any key, with values of the schema
     * `element` */
    const struct read_vom_key *key;
    unsigned keys;
    const struct read_vom_spec *element; /* ARRAY: schema of the elements */
    bool whole; /* OBJECT: the consumer may read the object in one step, see `whole` of the consumer */
    size_t at;  /* offset where the value is stored */
    /* bytes of the stored value, which is a COUNT, WORD, number or FLAG; 0: the parser does not store it */
    size_t size;
    size_t present; /* offset of a bool that becomes true if the value is present; 0: none */
};

struct read_vom_key {
    const char *name;
    size_t size; /* bytes of the name */
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
    READ_VOM_NESTED, /* an object or array that is passed on as one value */
};

struct read_vom_value {
    enum read_vom_value_type type;
    uint64_t count; /* value of a COUNT; number of a WORD */
    double number;  /* value of a FLOAT or REAL, or of a SCALAR or ANY that is a number */
    bool flag;
    /* number: as in the text; string: decoded; other values: JSON without blanks. No NUL at the end */
    const char *text;
    size_t size;
    const char *key; /* the key, if the object accepts any key */
    size_t key_size;
};

/* Receives the values that have a slot. The parser stops if a function returns another status than HPCW_OK. `count`
 * is the number of elements of an array, or of keys of an object. */
struct read_vom_consumer {
    void *context;
    hpcw_status (*begin)(void *context, const struct read_vom_spec *spec, hpcw_error *err);
    hpcw_status (*value)(void *context, const struct read_vom_spec *spec, const struct read_vom_value *value,
                         hpcw_error *err);
    hpcw_status (*end)(void *context, const struct read_vom_spec *spec, uint64_t count, hpcw_error *err);
    /*
     * Reads an object in one step, if its schema has `whole`; called between `begin` and `end` of the object.
     * Returns the end of the object's text if the object obeys the schema. Returns NULL if the object is spelled
     * unusually, is wrong, or continues in the next piece; then the parser reads it token by token. READ_VOM_PAD
     * zeros follow the piece. May be NULL.
     */
    const unsigned char *(*whole)(void *context, const struct read_vom_spec *spec, const unsigned char *text);
};

/* ---- The parser ------------------------------------------------------------------------------------------ */

struct read_vom_json;

/*
 * Makes a parser that starts at the current offset of `text`. All arguments but `out` are borrowed. The flags are:
 */
enum {
    READ_VOM_JSON_ORDERED = 1, /* keys of objects must be in byte order */
    READ_VOM_JSON_LENIENT = 2, /* a FLOAT or REAL may be a whole number, a SCALAR may be any value */
};
hpcw_status read_vom_json_new(const char *name, struct read_vom_text *text, const struct read_vom_spec *top,
                              unsigned flags, const struct read_vom_consumer *consumer,
                              struct read_vom_json **out, hpcw_error *err);
void read_vom_json_free(struct read_vom_json *json);

/* Parses to the end of the text, or until the consumer calls read_vom_json_stop. */
hpcw_status read_vom_json_run(struct read_vom_json *json, hpcw_error *err);

/* Stops the run before an object. Only the callback `begin` of this object may call it. The object counts as not
 * read. */
void read_vom_json_stop(struct read_vom_json *json);

/* Returns whether the whole text was parsed. If not, read_vom_json_stopped_at returns the offset where the parser
 * stopped. */
bool read_vom_json_ended(const struct read_vom_json *json);
uint64_t read_vom_json_stopped_at(const struct read_vom_json *json);

/* Returns the keys of the outermost object that were read so far: bit i is key i of its table. */
uint32_t read_vom_json_seen(const struct read_vom_json *json);

/* Continues where another parser stopped: in the array at key `key` of the outermost object, before element number
 * `elements`. `seen` are the keys of the outermost object that were read before, as bits. Neither the array nor the
 * outermost object may have a slot. The text must be at the offset where the other parser stopped. */
hpcw_status read_vom_json_resume(struct read_vom_json *json, const char *key, uint64_t elements, uint32_t seen,
                                 hpcw_error *err);

/* Returns the offset of the value that the consumer is getting. */
uint64_t read_vom_json_at(const struct read_vom_json *json);

/* Fails with a message that has the file, and the path and offset of the value that the consumer is getting. */
hpcw_status read_vom_json_wrong(const struct read_vom_json *json, hpcw_status code, hpcw_error *err,
                                const char *fmt, ...) HPCW_PRINTF(4, 5);
hpcw_status read_vom_json_vwrong(const struct read_vom_json *json, hpcw_status code, hpcw_error *err,
                                 const char *fmt, va_list args) HPCW_PRINTF(4, 0);

#endif
