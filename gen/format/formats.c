/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "gen/format/format.h"

const char *gen_format_name(const void *list, size_t index) {
    (void)list;
    return index < gen_format_count ? gen_format[index]->name : NULL;
}

const char *gen_format_folder(const struct gen_format *format) {
    return format->folder != NULL ? format->folder : format->name;
}

static bool is_in(const char *path, const char *folder) {
    size_t n = strcspn(path, "/");
    return folder != NULL && strncmp(path, folder, n) == 0 && folder[n] == '\0';
}

size_t gen_format_of_path(const char *path) {
    size_t f = 0;
    while (f < gen_format_count && !is_in(path, gen_format_folder(gen_format[f])) &&
           !is_in(path, gen_format[f]->beside)) {
        f++;
    }
    return f;
}

bool gen_format_is_beside(const char *path) {
    size_t f = gen_format_of_path(path);
    return f < gen_format_count && is_in(path, gen_format[f]->beside);
}

hpcw_status gen_format_of_file(const char *path, size_t *f, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    bool is = false;
    size_t i = 0;
    while (i < gen_format_count && (s = gen_format[i]->probe(path, &is, err)) == HPCW_OK && !is) {
        i++;
    }
    *f = s == HPCW_OK ? i : gen_format_count;
    return s;
}
