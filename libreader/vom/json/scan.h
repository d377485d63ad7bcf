/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to the VOM reader: splits a JSON text (RFC 8259), which comes in pieces, into tokens. */
#ifndef HPCW_LIBREADER_VOM_JSON_SCAN_H
#define HPCW_LIBREADER_VOM_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libwriter/base/buf.h"

/* Every string, number and key has fewer bytes than this in the text. */
#define READ_VOM_MOST_TOKEN ((size_t)1 << 20)

enum read_vom_scan_result {
    READ_VOM_SCAN_GOOD,
    READ_VOM_SCAN_STOPPED, /* the receiver of the tokens stopped the scan */
    READ_VOM_SCAN_BAD,     /* not JSON: `problem` at `problem_at` */
    READ_VOM_SCAN_CUT,     /* the text ended too early */
    READ_VOM_SCAN_HUGE,    /* a token of READ_VOM_MOST_TOKEN bytes */
    READ_VOM_SCAN_NO_MEMORY,
};

/* What the scan expects next. */
enum read_vom_scan_state {
    READ_VOM_SCAN_VALUE,
    READ_VOM_SCAN_VALUE_OR_END, /* an array has begun */
    READ_VOM_SCAN_KEY_OR_END,   /* an object has begun */
    READ_VOM_SCAN_KEY,
    READ_VOM_SCAN_COLON,
    READ_VOM_SCAN_NEXT, /* a value has ended */
    READ_VOM_SCAN_OVER  /* the text has ended */
};

/* Kind of a token that continues in the next piece. */
enum read_vom_scan_rest {
    READ_VOM_SCAN_NO_REST,
    READ_VOM_SCAN_STRING,
    READ_VOM_SCAN_NUMBER,
    READ_VOM_SCAN_WORD
};

/* State of a scan. A zeroed struct means the begin of a text. */
struct read_vom_scan {
    enum read_vom_scan_state state;
    uint32_t objects; /* bit i: level i is an object, not an array */
    unsigned depth;
    uint64_t token_at; /* offset of the current token */
    bool ascii;        /* the current string is ASCII so far */
    enum read_vom_scan_rest rest_of;
    bool escaped; /* the part of a string in `rest` ends with a backslash */
    /* begin of a token that continues in the next piece; of a string, only the part after its opening quotation
     * mark */
    struct hpcw_i_buf rest;
    struct hpcw_i_buf decoded;
    const char *problem;
    uint64_t problem_at;
};

struct read_vom_json;

/* Passes the tokens of a piece to read_vom_json_number and the other functions of private.h. Size 0 ends the text.
 * Call it again only after READ_VOM_SCAN_GOOD. */
enum read_vom_scan_result read_vom_scan(struct read_vom_json *json, const unsigned char *piece, size_t size);
void read_vom_scan_free(struct read_vom_scan *scan);

#endif
