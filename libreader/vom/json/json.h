/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * F4, private to the VOM reader: a JSON text against a schema, as a stream. The schema is a set of constant
 * tables; what is in the text comes out as values with the number ("slot") that the tables give them.
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

/* ---- The schema ------------------------------------------------------------------------------------------ */

enum read_vom_json_type {
    READ_VOM_T_COUNT,  /* an integer 0 .. most: digits alone */
    READ_VOM_T_FLOAT,  /* a finite number >= 0 with a point or an exponent */
    READ_VOM_T_REAL,   /* the same, also negative */
    READ_VOM_T_TEXT,   /* a string */
    READ_VOM_T_FLAG,   /* true or false */
    READ_VOM_T_SCALAR, /* a 32-bit integer, a float or a string */
    READ_VOM_T_ANY,
    READ_VOM_T_OBJECT,
    READ_VOM_T_ARRAY,
};

struct read_vom_spec {
    enum read_vom_json_type type;
    unsigned slot;
    uint64_t most;                        /* of a COUNT */
    const struct read_vom_object *object; /* of an OBJECT */
    const struct read_vom_spec *element;  /* of an ARRAY */
};

struct read_vom_key {
    const char *name;
    size_t size; /* of the name */
    bool required;
    struct read_vom_spec value;
};
#define READ_VOM_KEY(name) (name), sizeof(name) - 1

/* Keys in byte order, at most 32; or any keys at all, with values of one kind. */
struct read_vom_object {
    const struct read_vom_key *key;
    unsigned keys;
    const struct read_vom_spec *any;
};

/* ---- What comes out -------------------------------------------------------------------------------------- */

struct read_vom_value {
    enum {
        READ_VOM_V_NULL,
        READ_VOM_V_FLAG,
        READ_VOM_V_INTEGER,
        READ_VOM_V_FLOAT,
        READ_VOM_V_TEXT,
        READ_VOM_V_NESTED
    } kind;
    uint64_t count; /* of a COUNT */
    double number;  /* of a FLOAT or REAL, and of any number where SCALAR or ANY stands */
    bool flag;
    const char *text; /* of numbers, as it stands there, and of strings; not NUL-terminated */
    size_t size;
    const char *key; /* where the object takes any key */
    size_t key_size;
};

/* A result other than HPCW_OK ends the parse. `count`: elements of an array, keys of an object. */
struct read_vom_consumer {
    void *context;
    hpcw_status (*begin)(void *context, unsigned slot, hpcw_error *err);
    hpcw_status (*value)(void *context, unsigned slot, const struct read_vom_value *value, hpcw_error *err);
    hpcw_status (*end)(void *context, unsigned slot, uint64_t count, hpcw_error *err);
};

/* ---- The parser ------------------------------------------------------------------------------------------ */

struct read_vom_json;

/*
 * All but `out` is borrowed. `ordered`: the keys of objects have to be in byte order. The text comes from
 * where `text` stands.
 */
hpcw_status read_vom_json_new(const char *name, struct read_vom_text *text, const struct read_vom_spec *top,
                              bool ordered, const struct read_vom_consumer *consumer,
                              struct read_vom_json **out, hpcw_error *err);
void read_vom_json_free(struct read_vom_json *json);

/* Parses up to the end of the text, or up to where the consumer stopped it. */
hpcw_status read_vom_json_run(struct read_vom_json *json, hpcw_error *err);

/* From inside `begin` of an object: the run ends in front of it, as if the object had not been there. */
void read_vom_json_stop(struct read_vom_json *json);

/* Whether the whole text was parsed; else where the stop was. */
bool read_vom_json_ended(const struct read_vom_json *json);
uint64_t read_vom_json_stopped_at(const struct read_vom_json *json);

/* Which keys of the outermost object were seen; bits in the order of its table. */
uint32_t read_vom_json_seen(const struct read_vom_json *json);

/*
 * Goes on where another parser was stopped in front of an object, in the array at `key` of the outermost
 * object, which has had `elements` so far. The text must stand there.
 */
hpcw_status read_vom_json_resume(struct read_vom_json *json, const char *key, uint64_t elements, uint32_t seen,
                                 hpcw_error *err);

/* Offset of what the consumer is being told. */
uint64_t read_vom_json_at(const struct read_vom_json *json);

/* Fails with file, path and offset of what the consumer is being told. */
hpcw_status read_vom_json_wrong(const struct read_vom_json *json, hpcw_status code, hpcw_error *err,
                                const char *fmt, ...) HPCW_PRINTF(4, 5);
hpcw_status read_vom_json_vwrong(const struct read_vom_json *json, hpcw_status code, hpcw_error *err,
                                 const char *fmt, va_list args) HPCW_PRINTF(4, 0);

#endif
