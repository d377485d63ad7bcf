/* SPDX-License-Identifier: BSD-3-Clause */
#include "ui/param/param.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "libwriter/base/buf.h"
#include "libwriter/base/checked.h"
#include "libwriter/base/numfmt.h"
#include "libwriter/base/status.h"
#include "libwriter/io/json.h"

static const char size_suffixes[] = "KMGT";

/* Returns a limit of the table as an integer; UINT64_MAX for limits from 2^64 on. */
static uint64_t whole(double limit) {
    return limit <= 0 ? 0 : limit >= 0x1p64 ? UINT64_MAX : (uint64_t)limit;
}

static hpcw_status set_bool(const struct ui_param *param, const char *text, bool *value, hpcw_error *err) {
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on", "0", "1"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(text, words[i]) == 0) {
            *value = i % 2 != 0;
            return HPCW_OK;
        }
    }
    return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected true or false, got \"%.200s\"", param->key, text);
}

static bool is_letter(char c, char capital) {
    return c == capital || c == capital + ('a' - 'A');
}

/* Returns the factor of a suffix. K and KiB are 1024, KB is 1000, and so on; B and "" are 1. 0: no such suffix. */
static uint64_t factor_of(const char *suffix) {
    uint64_t binary = 1, decimal = 1;
    for (size_t i = 0; size_suffixes[i] != '\0'; i++) {
        binary *= 1024;
        decimal *= 1000;
        if (is_letter(suffix[0], size_suffixes[i])) {
            const bool has_i = is_letter(suffix[1], 'I');
            const char *end = suffix + 1 + has_i;
            return *end == '\0' && !has_i                     ? binary
                   : is_letter(end[0], 'B') && end[1] == '\0' ? (has_i ? binary : decimal)
                                                              : 0;
        }
    }
    return suffix[0] == '\0' || (is_letter(suffix[0], 'B') && suffix[1] == '\0');
}

static hpcw_status set_size(const struct ui_param *param, const char *text, uint64_t *value, hpcw_error *err) {
    const char *unit = param->unit == NULL ? "bytes" : param->unit;
    char digits[32];
    const size_t length = strspn(text, "0123456789");
    const uint64_t factor = factor_of(text + length + (text[length] == ' '));
    if (length == 0 || length >= sizeof digits || factor == 0) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "%s: expected a number of %s such as 4096, 4K, 16MiB or 16 MB, got \"%.200s\"",
                           param->key, unit, text);
    }
    memcpy(digits, text, length);
    digits[length] = '\0';
    uint64_t count, bytes, min = whole(param->min), max = whole(param->max);
    if (hpcw_i_parse_u64(param->key, digits, 0, UINT64_MAX, &count, NULL) != HPCW_OK ||
        !hpcw_i_mul_u64(count, factor, &bytes) || bytes < min || bytes > max) {
        return hpcw_i_fail(err, HPCW_ERANGE, "%s: expected %" PRIu64 " to %" PRIu64 " %s, got \"%.200s\"",
                           param->key, min, max, unit, text);
    }
    *value = bytes;
    return HPCW_OK;
}

static hpcw_status set_choice(const struct ui_param *param, const char *text, int *value, hpcw_error *err) {
    char names[512] = "";
    size_t used = 0;
    for (int i = 0; param->choices[i] != NULL; i++) {
        if (strcmp(text, param->choices[i]) == 0) {
            *value = i;
            return HPCW_OK;
        }
        int n = snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "", param->choices[i]);
        used += n > 0 && (size_t)n < sizeof names - used ? (size_t)n : 0;
    }
    return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected one of %s, got \"%.200s\"", param->key, names, text);
}

static hpcw_status set_string(const struct ui_param *param, const char *text, char *value, hpcw_error *err) {
    size_t length = strlen(text);
    if (length >= param->size) {
        return hpcw_i_fail(err, HPCW_ERANGE, "%s: expected at most %zu characters, got %zu", param->key,
                           param->size - 1, length);
    }
    memcpy(value, text, length + 1);
    return HPCW_OK;
}

static hpcw_status set_u32(const struct ui_param *param, const char *text, uint32_t *value, hpcw_error *err) {
    uint64_t v;
    uint64_t max = whole(param->max);
    hpcw_status status =
        hpcw_i_parse_u64(param->key, text, whole(param->min), max < UINT32_MAX ? max : UINT32_MAX, &v, err);
    if (status == HPCW_OK) {
        *value = (uint32_t)v;
    }
    return status;
}

hpcw_status ui_param_set(const struct ui_param *param, void *owner, const char *text, hpcw_error *err) {
    void *field = (char *)owner + param->offset;
    switch (param->type) {
    case UI_PARAM_BOOL:
        return set_bool(param, text, field, err);
    case UI_PARAM_U32:
        return set_u32(param, text, field, err);
    case UI_PARAM_U64:
        return hpcw_i_parse_u64(param->key, text, whole(param->min), whole(param->max), field, err);
    case UI_PARAM_SIZE:
        return set_size(param, text, field, err);
    case UI_PARAM_F64:
        return hpcw_i_parse_f64(param->key, text, param->min, param->max, field, err);
    case UI_PARAM_CHOICE:
        return set_choice(param, text, field, err);
    case UI_PARAM_STRING:
        return set_string(param, text, field, err);
    }
    return HPCW_OK;
}

char *ui_param_size_text(char text[UI_PARAM_SIZE_TEXT], uint64_t bytes) {
    static const char *const suffixes[] = {"", "K", "M", "G", "T"};
    size_t i = 0;
    while (i + 1 < sizeof suffixes / sizeof suffixes[0] && bytes != 0 && bytes % 1024 == 0) {
        bytes /= 1024;
        i++;
    }
    (void)snprintf(text, UI_PARAM_SIZE_TEXT, "%" PRIu64 "%s", bytes, suffixes[i]);
    return text;
}

char *ui_param_bytes_text(char text[UI_PARAM_SIZE_TEXT], uint64_t bytes, bool binary) {
    static const char *const decimals[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB", NULL};
    static const char *const binaries[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", NULL};
    const char *const *units = binary ? binaries : decimals;
    const uint64_t base = binary ? 1024 : 1000;
    uint64_t unit = 1;
    size_t u = 0;
    while (bytes / unit >= base) {
        unit *= base;
        u++;
    }
    if (u == 0) {
        (void)snprintf(text, UI_PARAM_SIZE_TEXT, "%" PRIu64 " B", bytes);
        return text;
    }
    /* Compute tenths in integers, since a double cannot represent every 64-bit size. unit <= 2^60, so no product
     * overflows. */
    uint64_t tenths = bytes / unit * 10 + (bytes % unit * 10 + unit / 2) / unit;
    if (tenths >= base * 10 && units[u + 1] != NULL) {
        tenths = 10;
        u++;
    }
    (void)snprintf(text, UI_PARAM_SIZE_TEXT, "%" PRIu64 ".%" PRIu64 " %s", tenths / 10, tenths % 10, units[u]);
    return text;
}

void ui_param_get(const struct ui_param *param, const void *owner, char *text, size_t size) {
    const void *field = (const char *)owner + param->offset;
    char number[HPCW_I_FMT_ROOM + 1];
    const char *from = number;
    switch (param->type) {
    case UI_PARAM_BOOL:
        from = *(const bool *)field ? "true" : "false";
        break;
    case UI_PARAM_CHOICE:
        from = param->choices[*(const int *)field];
        break;
    case UI_PARAM_STRING:
        from = field;
        break;
    case UI_PARAM_F64:
        *hpcw_i_fmt_f64(number, *(const double *)field, HPCW_I_FLOAT_COMPACT) = '\0';
        break;
    case UI_PARAM_U32:
        *hpcw_i_fmt_u64(number, *(const uint32_t *)field) = '\0';
        break;
    case UI_PARAM_U64:
        *hpcw_i_fmt_u64(number, *(const uint64_t *)field) = '\0';
        break;
    case UI_PARAM_SIZE:
        (void)ui_param_size_text(number, *(const uint64_t *)field);
        break;
    }
    (void)snprintf(text, size, "%s", from);
}

/* Bytes of the longest line that ui_param_line writes. 198 would be legal, but shorter lines are easier to read. */
enum { WIDTH = 120 };

bool ui_param_line(const char *name, const char *value, struct hpcw_i_buf *buf) {
    const bool can_break = strpbrk(value, "=;#[") == NULL && strstr(value, "  ") == NULL;
    bool ok = hpcw_i_buf_append_str(buf, name) && hpcw_i_buf_append_str(buf, " =");
    size_t column = strlen(name) + 2;
    for (const char *word = value; ok && *word != '\0';) {
        const size_t length = strcspn(word, " ");
        const bool breaks = can_break && column + 1 + length > WIDTH && word != value;
        ok = hpcw_i_buf_append_str(buf, breaks ? "\n    " : " ") && hpcw_i_buf_append(buf, word, length);
        column = (breaks ? 4 : column + 1) + length;
        word += length + (word[length] == ' ');
    }
    return ok && hpcw_i_buf_append_str(buf, "\n");
}

void ui_param_json(const struct ui_param *param, const void *owner, struct hpcw_i_json *json) {
    const void *field = (const char *)owner + param->offset;
    switch (param->type) {
    case UI_PARAM_BOOL:
        hpcw_i_json_put_bool(json, param->key, *(const bool *)field);
        break;
    case UI_PARAM_U32:
        hpcw_i_json_put_u64(json, param->key, *(const uint32_t *)field);
        break;
    case UI_PARAM_U64:
    case UI_PARAM_SIZE:
        hpcw_i_json_put_u64(json, param->key, *(const uint64_t *)field);
        break;
    case UI_PARAM_F64:
        hpcw_i_json_put_f64(json, param->key, *(const double *)field);
        break;
    case UI_PARAM_CHOICE:
        hpcw_i_json_put_str(json, param->key, param->choices[*(const int *)field]);
        break;
    case UI_PARAM_STRING:
        hpcw_i_json_put_str(json, param->key, field);
        break;
    }
}
