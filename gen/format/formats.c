/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "gen/format/format.h"

/* In the order in which files are asked whose they are: LinkTest results are SION containers, too. */
const struct hpcw_i_format *const hpcw_i_format[] = {
    [HPCW_I_FORMAT_LINKTEST] = &hpcw_i_format_linktest,
    [HPCW_I_FORMAT_SION] = &hpcw_i_format_sion,
    [HPCW_I_FORMAT_VOM] = &hpcw_i_format_vom,
    [HPCW_I_FORMAT_CLOG2] = &hpcw_i_format_clog2,
    [HPCW_I_FORMAT_RANK2FILE] = &hpcw_i_format_rank2file,
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
