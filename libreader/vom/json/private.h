/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to the JSON parser of the VOM reader: its state. */
#ifndef HPCW_LIBREADER_VOM_JSON_PRIVATE_H
#define HPCW_LIBREADER_VOM_JSON_PRIVATE_H

#include "libreader/vom/json/json.h"
#include "libreader/vom/json/yajl.h"
#include "libwriter/base/buf.h"

/* An open object or array. */
struct read_vom_json_frame {
    const struct read_vom_spec *spec;  /* an OBJECT or ARRAY */
    const struct read_vom_spec *value; /* of the current key, or of the elements */
    const struct read_vom_key *key;    /* the current one */
    bool any_key;                      /* the current one is in `any_key` of the parser */
    unsigned next;                     /* index of the likely next key */
    uint32_t seen;                     /* keys so far */
    uint64_t count;
    uint64_t at; /* offset of its bracket */
};

struct read_vom_json {
    const char *name;
    struct read_vom_text *text;
    const struct read_vom_spec *top;
    struct read_vom_consumer consumer;
    bool ordered;

    struct read_vom_yajl *yajl;
    bool stopping;       /* the consumer called read_vom_json_stop */
    bool stopped, ended; /* how the last run ended */
    uint64_t stopped_at;
    uint64_t piece_at; /* offset of the current piece */
    size_t token;      /* bytes of the current token */
    bool about_frame;  /* the consumer gets the innermost frame, not a value in it */
    struct hpcw_i_buf any_key;
    /* An object or array that the schema takes as a value, while it arrives: `nested` has its key and a NUL, then its text.
     * nested_depth: of its frame, 0 if there is none. */
    struct hpcw_i_buf nested;
    size_t nested_key;
    unsigned nested_depth;
    unsigned depth;
    struct read_vom_json_frame frame[READ_VOM_DEPTH];
    uint32_t top_seen;

    hpcw_status status; /* of the callbacks */
    hpcw_error *err;
};

/* Where yajl's tokens go; their context is a struct read_vom_json. */
extern const yajl_callbacks read_vom_json_callbacks;

/* The offset of the current token. */
static inline uint64_t read_vom_json_token_at(const struct read_vom_json *json) {
    uint64_t end = json->piece_at + read_vom_yajl_consumed(json->yajl);
    return end >= json->token ? end - json->token : 0;
}

#endif
