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

size_t gen_format_of_path(const char *path) {
    size_t n = strcspn(path, "/");
    size_t f = 0;
    for (; f < gen_format_count; f++) {
        const char *folder = gen_format_folder(gen_format[f]);
        if (strncmp(path, folder, n) == 0 && folder[n] == '\0') {
            break;
        }
    }
    return f;
}

size_t gen_format_of_file(const char *path) {
    size_t i = 0;
    while (i < gen_format_count && !gen_format[i]->probe(path)) {
        i++;
    }
    return i;
}
