/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/format/clog2/file/text.h"

#include <string.h>

#include "libwriter/base/status.h"

hpcw_status hpcw_i_clog2_text_check(const char *what, const char *text, size_t room, hpcw_error *err) {
    if (text == NULL || text[0] == '\0') {
        return hpcw_i_fail(err, HPCW_EINVAL, "clog2: %s: expected a text, got %s", what,
                           text == NULL ? "NULL" : "an empty one");
    }
    size_t length = strnlen(text, room);
    if (length == room) {
        return hpcw_i_fail(err, HPCW_ERANGE, "clog2: %s: expected at most %zu bytes, got \"%.60s\"", what,
                           room - 1, text);
    }
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)text[i] < ' ' || text[i] == 127) {
            return hpcw_i_fail(err, HPCW_EINVAL,
                               "clog2: %s: expected no control characters, got one (%d) at byte %zu", what,
                               text[i], i);
        }
    }
    return HPCW_OK;
}
