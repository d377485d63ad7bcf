/* SPDX-License-Identifier: BSD-3-Clause */
/* Failures with the position of the record that is being read. */
#include <stdarg.h>

#include "libreader/vom/private.h"
#include "libwriter/base/status.h"

hpcw_status read_vom_wrong(const struct read_vom *reader, hpcw_error *err, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    hpcw_status status = read_vom_json_vwrong(reader->json, HPCW_EFORMAT, err, fmt, args);
    va_end(args);
    return status;
}

uint64_t read_vom_at(const struct read_vom *reader) {
    return read_vom_json_at(reader->json);
}

void read_vom_mended(struct read_vom *r, const char *why) {
    if (r->mended++ == 0) {
        (void)hpcw_i_fail(&r->first_mended, HPCW_EFORMAT, "%s", why);
    }
}
