/* SPDX-License-Identifier: BSD-3-Clause */
#include "libreader/vom/set/file_type.h"

#include <stdbool.h>
#include <string.h>

#include "libreader/source.h"
#include "libreader/vom/json/text.h"
#include "libwriter/base/status.h"

/* Returns whether a text begins with the given tokens, with any white space before each. */
static bool begins(const unsigned char *text, size_t size, const char *const *token, size_t tokens) {
    size_t at = 0;
    for (size_t i = 0; i < tokens; i++) {
        const size_t n = strlen(token[i]);
        while (at < size && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r')) {
            at++;
        }
        if (size - at < n || memcmp(text + at, token[i], n) != 0) {
            return false;
        }
        at += n;
    }
    return true;
}

static bool has(const unsigned char *text, size_t size, const char *key) {
    return memmem(text, size, key, strlen(key)) != NULL;
}

/* Returns whether a text without a type is a data file, by its first keys. vt wrote its first data files with the
 * type as the last key, far from the beginning. Other programs write no type. */
static bool is_untyped_data(const unsigned char *text, size_t size) {
    static const char *const phases[] = {"{", "\"phases\"", ":", "[", "{"}, *const metadata[] = {
                                                                                "{", "\"metadata\"", ":"};
    return (has(text, size, "\"communications\"") || has(text, size, "\"tasks\"")) &&
           (begins(text, size, phases, sizeof phases / sizeof phases[0]) ||
            (begins(text, size, metadata, sizeof metadata / sizeof metadata[0]) &&
             has(text, size, "\"phases\"")));
}

hpcw_status read_vom_file_type_of_source(const struct read_source *source, enum read_vom_file_type *type,
                                         hpcw_error *err) {
    static const char statistics[] = "LBStatsfile";
    static const char data[] = "LBDatafile";
    struct read_vom_text *text = NULL;
    const unsigned char *piece;
    size_t size;
    hpcw_error own;
    *type = READ_VOM_UNKNOWN_FILE;
    hpcw_status status = read_vom_text_new(source, &text, &own);
    if (status == HPCW_OK) {
        status = read_vom_text_next(text, &piece, &size, &own);
    }
    if (status == HPCW_OK && memmem(piece, size, statistics, sizeof statistics - 1) != NULL) {
        *type = READ_VOM_STATISTICS_FILE;
    } else if (status == HPCW_OK &&
               (memmem(piece, size, data, sizeof data - 1) != NULL || is_untyped_data(piece, size))) {
        *type = READ_VOM_DATA_FILE;
    }
    read_vom_text_free(text);
    return read_source_is_of_system(status, &own) ? hpcw_i_fail_as(err, &own) : HPCW_OK;
}

hpcw_status read_vom_file_type(const char *path, enum read_vom_file_type *type, hpcw_error *err) {
    struct read_source *source;
    hpcw_error own;
    *type = READ_VOM_UNKNOWN_FILE;
    hpcw_status status = read_source_open(path, &source, &own);
    if (status != HPCW_OK) {
        return read_source_is_of_system(status, &own) ? hpcw_i_fail_as(err, &own) : HPCW_OK;
    }
    status = read_vom_file_type_of_source(source, type, err);
    read_source_free(source);
    return status;
}
