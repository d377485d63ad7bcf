/* SPDX-License-Identifier: BSD-3-Clause */
#include "libreader/vom/json/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "libreader/vom/json/private.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

hpcw_status read_vom_json_new(const char *name, struct read_vom_text *text, const struct read_vom_spec *top,
                              unsigned flags, const struct read_vom_consumer *consumer,
                              struct read_vom_json **out, hpcw_error *err) {
    *out = NULL;
    struct read_vom_json *j = hpcw_i_calloc(1, sizeof *j);
    if (j != NULL) {
        j->name = name;
        j->text = text;
        j->top = top;
        j->ordered = (flags & READ_VOM_JSON_ORDERED) != 0;
        j->lenient = (flags & READ_VOM_JSON_LENIENT) != 0;
        j->consumer = *consumer;
    }
    if (j == NULL) {
        return hpcw_i_fail_memory(err, name, 0, NULL);
    }
    *out = j;
    return HPCW_OK;
}

void read_vom_json_free(struct read_vom_json *json) {
    if (json != NULL) {
        read_vom_scan_free(&json->scan);
        hpcw_i_buf_free(&json->any_key);
        hpcw_i_buf_free(&json->nested);
        hpcw_i_free(json);
    }
}

void read_vom_json_stop(struct read_vom_json *json) {
    json->stopping = true;
}

bool read_vom_json_ended(const struct read_vom_json *json) {
    return json->ended;
}

uint64_t read_vom_json_stopped_at(const struct read_vom_json *json) {
    return json->stopped_at;
}

uint32_t read_vom_json_seen(const struct read_vom_json *json) {
    return json->depth > 0 ? json->frame[0].seen : json->top_seen;
}

static hpcw_status feed(struct read_vom_json *j, const unsigned char *piece, size_t size) {
    j->status = HPCW_OK;
    const enum read_vom_scan_result r = read_vom_scan(j, piece, size);
    switch (r) {
    case READ_VOM_SCAN_GOOD:
        return HPCW_OK;
    case READ_VOM_SCAN_STOPPED:
        return j->status;
    case READ_VOM_SCAN_BAD:
    case READ_VOM_SCAN_CUT:
        return hpcw_i_fail(j->err, r == READ_VOM_SCAN_CUT ? HPCW_ETRUNCATED : HPCW_EFORMAT,
                           "%s: expected JSON, got at offset %" PRIu64 ": %s", j->name, j->scan.problem_at,
                           j->scan.problem);
    case READ_VOM_SCAN_HUGE:
        return hpcw_i_fail(
            j->err, HPCW_ERANGE,
            "%s: expected strings, numbers and keys of less than 1 MiB, got a longer one that reaches "
            "offset %" PRIu64,
            j->name, j->piece_at + size);
    default:
        return hpcw_i_fail_memory(j->err, j->name, 0, NULL);
    }
}

hpcw_status read_vom_json_run(struct read_vom_json *json, hpcw_error *err) {
    struct read_vom_json *j = json;
    j->err = err;
    hpcw_status status = HPCW_OK;
    while (status == HPCW_OK && !j->stopped && !j->ended) {
        const unsigned char *piece;
        size_t size;
        j->piece_at = read_vom_text_offset(j->text);
        status = read_vom_text_next(j->text, &piece, &size, err);
        if (status == HPCW_OK) {
            status = feed(j, piece, size);
            j->ended = size == 0;
        }
    }
    return status;
}

hpcw_status read_vom_json_resume(struct read_vom_json *json, const char *key, uint64_t elements, uint32_t seen,
                                 hpcw_error *err) {
    struct read_vom_json *j = json;
    char before[64];
    int size = snprintf(before, sizeof before, "{\"%s\":[", key);
    j->err = err;
    hpcw_status status = feed(j, (const unsigned char *)before, (size_t)size);
    j->frame[0].seen = seen;
    j->frame[1].count = elements;
    return status;
}
