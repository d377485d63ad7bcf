/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "libreader/linktest/private.h"
#include "libwriter/base/status.h"

hpcw_status read_linktest_wrong(const struct read_linktest *r, const struct read_sion_task *task,
                                uint64_t offset, hpcw_error *err, const char *fmt, ...) {
    char text[512];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return hpcw_i_fail(err, HPCW_EFORMAT, "%s: stream of rank %" PRId64 " at offset %" PRIu64 ": %s", r->name,
                       task == NULL ? 0 : task->rank, offset, text);
}
