/* SPDX-License-Identifier: BSD-3-Clause */
/* Offset and path of the value at which the parser is, and failures whose messages have both. */
#include <inttypes.h>
#include <stdio.h>

#include "libreader/vom/json/private.h"
#include "libwriter/base/status.h"

uint64_t read_vom_json_at(const struct read_vom_json *json) {
    return json->about_frame && json->depth > 0 ? json->frame[json->depth - 1].at : json->scan.token_at;
}

static size_t put(char *path, size_t used, size_t size, const char *fmt, ...) HPCW_PRINTF(4, 5);
static size_t put(char *path, size_t used, size_t size, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    int n = used < size ? vsnprintf(path + used, size - used, fmt, args) : 0;
    va_end(args);
    return n > 0 ? used + (size_t)n : used;
}

/* Writes a path like "phases[2].tasks[17].entity.home", or "the text" for the outermost value. */
static void path_of(const struct read_vom_json *j, char *path, size_t size) {
    size_t used = 0;
    for (unsigned d = 0; d < j->depth; d++) {
        const struct read_vom_json_frame *f = &j->frame[d];
        bool last = d + 1 == j->depth;
        if (last && j->about_frame) {
            break;
        }
        if (f->spec->type == READ_VOM_T_ARRAY) {
            used = f->count > 0 ? put(path, used, size, "[%" PRIu64 "]", f->count - 1) : used;
        } else if (f->key != NULL) {
            used = put(path, used, size, "%s%s", used > 0 ? "." : "", f->key->name);
        } else if (f->any_key) {
            used = put(path, used, size, "%s%.40s", used > 0 ? "." : "",
                       last ? (const char *)j->any_key.data : "(nested)");
        }
    }
    if (used == 0) {
        (void)put(path, 0, size, "the text");
    }
}

hpcw_status read_vom_json_vwrong(const struct read_vom_json *json, hpcw_status code, hpcw_error *err,
                                 const char *fmt, va_list args) {
    char path[256];
    char what[640];
    path_of(json, path, sizeof path);
    (void)vsnprintf(what, sizeof what, fmt, args);
    return hpcw_i_fail(err, code, "%s: %s at offset %" PRIu64 ": %s", json->name, path, read_vom_json_at(json),
                       what);
}

hpcw_status read_vom_json_wrong(const struct read_vom_json *json, hpcw_status code, hpcw_error *err,
                                const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    hpcw_status status = read_vom_json_vwrong(json, code, err, fmt, args);
    va_end(args);
    return status;
}
