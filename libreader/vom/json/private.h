/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to the JSON parser of the VOM reader: the state of the parser. */
#ifndef HPCW_LIBREADER_VOM_JSON_PRIVATE_H
#define HPCW_LIBREADER_VOM_JSON_PRIVATE_H

#include "libreader/vom/json/json.h"
#include "libreader/vom/json/scan.h"
#include "libwriter/base/buf.h"

/* An open object or array. */
struct read_vom_json_frame {
    const struct read_vom_spec *spec;  /* schema of the OBJECT or ARRAY */
    const struct read_vom_spec *value; /* schema of the value of the current key, or of the elements */
    const struct read_vom_key *key;    /* the current key */
    bool any_key;                      /* the current key is in `any_key` of the parser */
    unsigned next;                     /* index of the key that is likely to come next */
    uint32_t seen;                     /* keys of the object that were read so far, as bits */
    uint64_t count;
    uint64_t at; /* offset of the opening bracket */
};

struct read_vom_json {
    const char *name;
    struct read_vom_text *text;
    const struct read_vom_spec *top;
    struct read_vom_consumer consumer;
    bool ordered, lenient; /* READ_VOM_JSON_ORDERED, READ_VOM_JSON_LENIENT */

    struct read_vom_scan scan;
    bool stopping;       /* the consumer called read_vom_json_stop */
    bool stopped, ended; /* results of the last run */
    uint64_t stopped_at;
    uint64_t piece_at; /* offset of the current piece */
    bool about_frame;  /* the consumer is getting the innermost object or array itself, not a value in it */
    struct hpcw_i_buf any_key;
    /* The part read so far of an object or array that is passed on as one value. `nested`: the key with a NUL,
     * then the text. nested_depth: depth of the frame of this object or array; 0: no such value is open. */
    struct hpcw_i_buf nested;
    size_t nested_key;
    unsigned nested_depth;
    unsigned depth;
    struct read_vom_json_frame frame[READ_VOM_DEPTH];
    uint32_t top_seen;

    hpcw_status status; /* first failure of a callback */
    hpcw_error *err;
};

/* The scan calls one of these functions for each token of the text, in order. Strings and keys are decoded. The
 * scan stops if a function returns false. */
bool read_vom_json_null(struct read_vom_json *json);
bool read_vom_json_flag(struct read_vom_json *json, bool flag);
bool read_vom_json_number(struct read_vom_json *json, const char *text, size_t size);
bool read_vom_json_string(struct read_vom_json *json, const unsigned char *text, size_t size);
bool read_vom_json_key(struct read_vom_json *json, const unsigned char *text, size_t size);
bool read_vom_json_begin(struct read_vom_json *json, bool object);
/* If `text` begins with a key that the schema allows here, and a colon, takes both and returns their number of
 * bytes. Otherwise returns 0. */
size_t read_vom_json_next_key(struct read_vom_json *json, const unsigned char *text, size_t size);
bool read_vom_json_end(struct read_vom_json *json);
/* Call this after read_vom_json_begin. If the consumer reads the object at `text` in one step, returns the end of
 * the object, otherwise NULL. */
const unsigned char *read_vom_json_whole(struct read_vom_json *json, const unsigned char *text);

#endif
