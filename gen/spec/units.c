/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/spec/units.h"

#include <string.h>

#include "libwriter/base/numfmt.h"
#include "libwriter/base/status.h"

bool gen_is_of_set(const char *path, const char *first) {
    size_t n = strlen(first);
    if (strncmp(path, first, n) != 0 || path[n] == '\0') {
        return strcmp(path, first) == 0;
    }
    size_t digits = strspn(path + n + 1, "0123456789");
    return path[n] == '.' && digits >= 6 && path[n + 1 + digits] == '\0';
}

struct gen_slice gen_share(const hpcw_comm *comm, uint64_t first, uint64_t last) {
    uint64_t n = last - first;
    uint64_t p = (uint64_t)hpcw_comm_process(comm);
    uint64_t processes = (uint64_t)hpcw_comm_size(comm);
    return (struct gen_slice){first + n * p / processes, first + n * (p + 1) / processes};
}

hpcw_status gen_partial_u64(const cJSON *object, const char *key, uint64_t *value, hpcw_error *err) {
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
    return hpcw_i_fail(err, HPCW_EFORMAT, "partial result: %s: expected a whole number, got %s", key,
                       item == NULL ? "none" : "something else");
}

hpcw_status gen_partial_words(const cJSON *object, const char *const *key, size_t count, uint64_t *word,
                              hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (size_t i = 0; s == HPCW_OK && i < count; i++) {
        s = gen_partial_u64(object, key[i], &word[i], err);
    }
    return s;
}

void gen_partial_put(struct hpcw_i_json *json, const char *key, uint64_t value) {
    /* Parsers store JSON numbers as doubles, so digits are printed as a string. */
    char digits[32];
    *hpcw_i_fmt_u64(digits, value) = '\0';
    hpcw_i_json_put_str(json, key, digits);
}

void gen_partial_put_words(struct hpcw_i_json *json, const char *const *key, size_t count,
                           const uint64_t *word) {
    for (size_t i = 0; i < count; i++) {
        gen_partial_put(json, key[i], word[i]);
    }
}
