/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "libreader/clog2/private.h"
#include "libwriter/base/status.h"

hpcw_status read_clog2_wrong(const char *name, uint64_t offset, hpcw_error *err, const char *fmt, ...) {
    char text[512];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return hpcw_i_fail(err, HPCW_EFORMAT, "%s: at offset %" PRIu64 ": %s", name, offset, text);
}
