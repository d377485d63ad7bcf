/* SPDX-License-Identifier: BSD-3-Clause */
#include "ui/param/param.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "libwriter/base/checked.h"
#include "libwriter/base/numfmt.h"
#include "libwriter/base/status.h"
#include "libwriter/io/json.h"

static const char size_suffixes[] = "KMGT"; /* powers of 1024 */

/* A limit of the table as an integer; 2^64 and above mean the largest there is. */
static uint64_t whole(double limit) {
    return limit <= 0 ? 0 : limit >= 0x1p64 ? UINT64_MAX : (uint64_t)limit;
}

static bool set_bool(const char *text, bool *value) {
    static const struct {
        const char *word;
        bool value;
    } words[] = {{"true", true},   {"yes", true}, {"on", true},   {"1", true},
                 {"false", false}, {"no", false}, {"off", false}, {"0", false}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(text, words[i].word) == 0) {
            *value = words[i].value;
            return true;
        }
    }
    return false;
}

static hpcw_status set_size(const struct ui_param *param, const char *text, uint64_t *value, hpcw_error *err) {
    char digits[32];
    size_t length = strlen(text);
    unsigned shift = 0;
    for (unsigned i = 0; length > 0 && size_suffixes[i] != '\0'; i++) {
        if (text[length - 1] == size_suffixes[i] || text[length - 1] == size_suffixes[i] + ('a' - 'A')) {
            shift = 10 * (i + 1);
            length--;
            break;
        }
    }
    if (length == 0 || length >= sizeof digits || strspn(text, "0123456789") != length) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "%s: expected a number of bytes such as 4096, 4K, 2M or 1G, got \"%.200s\"",
                           param->key, text);
    }
    memcpy(digits, text, length);
    digits[length] = '\0';
    uint64_t count, bytes, min = whole(param->min), max = whole(param->max);
    hpcw_status status = hpcw_i_parse_u64(param->key, digits, 0, UINT64_MAX, &count, err);
    if (status != HPCW_OK) {
        return status;
    }
    if (!hpcw_i_mul_u64(count, (uint64_t)1 << shift, &bytes) || bytes < min || bytes > max) {
        return hpcw_i_fail(err, HPCW_ERANGE, "%s: expected %" PRIu64 " to %" PRIu64 " bytes, got \"%.200s\"",
                           param->key, min, max, text);
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

hpcw_status ui_param_set(const struct ui_param *param, void *owner, const char *text, hpcw_error *err) {
    char *field = (char *)owner + param->offset;
    hpcw_status status = HPCW_OK;
    switch (param->type) {
    case UI_PARAM_BOOL: {
        bool v;
        if (!set_bool(text, &v)) {
            return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected true or false, got \"%.200s\"", param->key,
                               text);
        }
        memcpy(field, &v, sizeof v);
        break;
    }
    case UI_PARAM_U32: {
        uint64_t v = 0, max = whole(param->max);
        status =
            hpcw_i_parse_u64(param->key, text, whole(param->min), max < UINT32_MAX ? max : UINT32_MAX, &v, err);
        if (status == HPCW_OK) {
            memcpy(field, &(uint32_t){(uint32_t)v}, sizeof(uint32_t));
        }
        break;
    }
    case UI_PARAM_U64: {
        uint64_t v = 0;
        status = hpcw_i_parse_u64(param->key, text, whole(param->min), whole(param->max), &v, err);
        if (status == HPCW_OK) {
            memcpy(field, &v, sizeof v);
        }
        break;
    }
    case UI_PARAM_SIZE: {
        uint64_t v = 0;
        status = set_size(param, text, &v, err);
        if (status == HPCW_OK) {
            memcpy(field, &v, sizeof v);
        }
        break;
    }
    case UI_PARAM_F64: {
        double v = 0;
        status = hpcw_i_parse_f64(param->key, text, param->min, param->max, &v, err);
        if (status == HPCW_OK) {
            memcpy(field, &v, sizeof v);
        }
        break;
    }
    case UI_PARAM_CHOICE: {
        int v;
        status = set_choice(param, text, &v, err);
        if (status == HPCW_OK) {
            memcpy(field, &v, sizeof v);
        }
        break;
    }
    case UI_PARAM_STRING: {
        size_t length = strlen(text);
        if (length >= param->size) {
            return hpcw_i_fail(err, HPCW_ERANGE, "%s: expected at most %zu characters, got %zu", param->key,
                               param->size - 1, length);
        }
        memcpy(field, text, length + 1);
        break;
    }
    }
    return status;
}

/* Keeps what fits, with a NUL. */
static void put_text(char *text, size_t size, const char *from, size_t length) {
    if (size == 0) {
        return;
    }
    length = length < size ? length : size - 1;
    memcpy(text, from, length);
    text[length] = '\0';
}

void ui_param_get(const struct ui_param *param, const void *owner, char *text, size_t size) {
    const char *field = (const char *)owner + param->offset;
    char number[HPCW_I_FMT_ROOM + 1], *end;
    uint64_t u = 0;
    switch (param->type) {
    case UI_PARAM_BOOL: {
        bool v;
        memcpy(&v, field, sizeof v);
        put_text(text, size, v ? "true" : "false", v ? 4 : 5);
        return;
    }
    case UI_PARAM_CHOICE: {
        int v;
        memcpy(&v, field, sizeof v);
        put_text(text, size, param->choices[v], strlen(param->choices[v]));
        return;
    }
    case UI_PARAM_STRING:
        put_text(text, size, field, strlen(field));
        return;
    case UI_PARAM_F64: {
        double v = 0;
        memcpy(&v, field, sizeof v);
        end = hpcw_i_fmt_f64(number, v, HPCW_I_FLOAT_COMPACT);
        break;
    }
    case UI_PARAM_U32: {
        uint32_t v;
        memcpy(&v, field, sizeof v);
        end = hpcw_i_fmt_u64(number, v);
        break;
    }
    case UI_PARAM_U64:
        memcpy(&u, field, sizeof u);
        end = hpcw_i_fmt_u64(number, u);
        break;
    case UI_PARAM_SIZE:
    default: {
        memcpy(&u, field, sizeof u);
        unsigned suffix = 0;
        while (u != 0 && u % 1024 == 0 && size_suffixes[suffix] != '\0') {
            u /= 1024;
            suffix++;
        }
        end = hpcw_i_fmt_u64(number, u);
        if (suffix > 0) {
            *end++ = size_suffixes[suffix - 1];
        }
        break;
    }
    }
    put_text(text, size, number, (size_t)(end - number));
}

void ui_param_json(const struct ui_param *param, const void *owner, struct hpcw_i_json *json) {
    const char *field = (const char *)owner + param->offset;
    switch (param->type) {
    case UI_PARAM_BOOL: {
        bool v;
        memcpy(&v, field, sizeof v);
        hpcw_i_json_put_bool(json, param->key, v);
        break;
    }
    case UI_PARAM_U32: {
        uint32_t v;
        memcpy(&v, field, sizeof v);
        hpcw_i_json_put_u64(json, param->key, v);
        break;
    }
    case UI_PARAM_U64:
    case UI_PARAM_SIZE: {
        uint64_t v = 0;
        memcpy(&v, field, sizeof v);
        hpcw_i_json_put_u64(json, param->key, v);
        break;
    }
    case UI_PARAM_F64: {
        double v = 0;
        memcpy(&v, field, sizeof v);
        hpcw_i_json_put_f64(json, param->key, v);
        break;
    }
    case UI_PARAM_CHOICE: {
        int v;
        memcpy(&v, field, sizeof v);
        hpcw_i_json_put_str(json, param->key, param->choices[v]);
        break;
    }
    case UI_PARAM_STRING:
        hpcw_i_json_put_str(json, param->key, field);
        break;
    }
}
