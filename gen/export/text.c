/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/export/text.h"

#include <string.h>

#include "libwriter/base/numfmt.h"
#include "libwriter/base/status.h"

bool gen_export_u64(struct hpcw_i_buf *b, uint64_t value) {
    char digits[HPCW_I_FMT_ROOM];
    char *end = hpcw_i_fmt_u64(digits, value);
    return hpcw_i_buf_append(b, digits, (size_t)(end - digits));
}

bool gen_export_f64(struct hpcw_i_buf *b, double value) {
    char digits[HPCW_I_FMT_ROOM];
    char *end = hpcw_i_fmt_f64(digits, value, HPCW_I_FLOAT_JSON);
    return hpcw_i_buf_append(b, digits, (size_t)(end - digits));
}

bool gen_export_quoted(struct hpcw_i_buf *b, const char *text) {
    bool good = hpcw_i_buf_append(b, "\"", 1);
    for (const char *end; good && (end = strchr(text, '"')) != NULL; text = end + 1) {
        good = hpcw_i_buf_append(b, text, (size_t)(end - text)) && hpcw_i_buf_append(b, "\"\"", 2);
    }
    return good && hpcw_i_buf_append_str(b, text) && hpcw_i_buf_append(b, "\"", 1);
}

void gen_export_clean(char *clean, const char *text, size_t size) {
    size_t n = 0;
    for (; n + 1 < size && text[n] != '\0'; n++) {
        const unsigned char c = (unsigned char)text[n];
        clean[n] = c < 32 || c > 126 || c == '"' || c == '\\' ? '_' : (char)c;
    }
    clean[n] = '\0';
}

hpcw_status gen_export_no_memory(hpcw_error *err) {
    return hpcw_i_fail_memory(err, "export", 0, NULL);
}
