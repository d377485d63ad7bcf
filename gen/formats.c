/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "base/numfmt.h"
#include "base/status.h"
#include "format.h"

/* In the order in which files are asked whose they are: LinkTest results are SION containers, too. */
const struct hpcw_i_format *const hpcw_i_format[] = {
    &hpcw_i_format_linktest, &hpcw_i_format_sion,      &hpcw_i_format_vom,
    &hpcw_i_format_clog2,    &hpcw_i_format_rank2file,
};
const size_t hpcw_i_format_count = sizeof hpcw_i_format / sizeof hpcw_i_format[0];

const char *hpcw_i_format_name(const void *list, size_t index) {
    (void)list;
    return index < hpcw_i_format_count ? hpcw_i_format[index]->name : NULL;
}

const char *hpcw_i_format_folder(const struct hpcw_i_format *format) {
    return format->folder != NULL ? format->folder : format->name;
}

size_t hpcw_i_format_of_path(const char *path) {
    size_t n = strcspn(path, "/");
    size_t f = 0;
    for (; f < hpcw_i_format_count; f++) {
        const char *folder = hpcw_i_format_folder(hpcw_i_format[f]);
        if (strncmp(path, folder, n) == 0 && folder[n] == '\0') {
            break;
        }
    }
    return f;
}

size_t hpcw_i_format_of_file(const char *path) {
    size_t i = 0;
    while (i < hpcw_i_format_count && !hpcw_i_format[i]->probe(path)) {
        i++;
    }
    return i;
}

bool hpcw_i_is_of_set(const char *path, const char *first) {
    size_t n = strlen(first);
    if (strncmp(path, first, n) != 0 || path[n] == '\0') {
        return strcmp(path, first) == 0;
    }
    size_t digits = strspn(path + n + 1, "0123456789");
    return path[n] == '.' && digits >= 6 && path[n + 1 + digits] == '\0';
}

void hpcw_i_waiting_name(const struct hpcw_i_format *format, uint64_t index, char name[HPCW_I_UNIT_PATH]) {
    (void)snprintf(name, HPCW_I_UNIT_PATH, ".hpcw/%s.unit%llu", format->name, (unsigned long long)index);
}

void hpcw_i_share(uint32_t first, uint32_t last, int processes, int p, uint32_t *begin, uint32_t *end) {
    uint64_t n = last - first;
    *begin = first + (uint32_t)(n * (uint64_t)p / (uint64_t)processes);
    *end = first + (uint32_t)(n * ((uint64_t)p + 1) / (uint64_t)processes);
}

hpcw_status hpcw_i_partial_u64(const cJSON *object, const char *key, uint64_t *value, hpcw_error *err) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    if (cJSON_IsString(item)) {
        return hpcw_i_parse_u64(key, item->valuestring, 0, UINT64_MAX, value, err);
    }
    if (cJSON_IsNumber(item) && item->valuedouble >= 0 && item->valuedouble <= 0x1p53) {
        *value = (uint64_t)item->valuedouble;
        if ((double)*value == item->valuedouble) {
            return HPCW_OK;
        }
    }
    return hpcw_i_fail(err, HPCW_EFORMAT, "partial result: %s: wanted a whole number, got %s", key,
                       item == NULL ? "nothing" : "something else");
}

void hpcw_i_partial_put(struct hpcw_i_json *json, const char *key, uint64_t value) {
    /* Parsers of JSON keep numbers as doubles. */
    char digits[32];
    *hpcw_i_fmt_u64(digits, value) = '\0';
    hpcw_i_json_put_str(json, key, digits);
}
