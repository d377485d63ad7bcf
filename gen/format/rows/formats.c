/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "gen/format/format.h"
#include "libwriter/base/status.h"
#include "libwriter/io/dir.h"
#include "libwriter/io/sink_set.h"

const char *gen_format_name(const void *list, size_t index) {
    (void)list;
    return index < gen_format_count ? gen_format[index]->name : NULL;
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

/* If a file is missing, it may be the first file of a set whose writer died while it renamed the files. Then
 * the set is finished now. */
static hpcw_status finish_set(const char *path, hpcw_error *err) {
    struct hpcw_i_dir *dir = NULL;
    struct hpcw_i_entry entry;
    int e = hpcw_i_sys_look(path, true, &entry);
    hpcw_status s = e == 0 ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot look at it", path);
    if (s == HPCW_OK && entry.kind == HPCW_I_NOTHING && hpcw_i_dir_hold_of(path, &dir) == 0) {
        s = hpcw_i_set_finish(dir, path, err);
        hpcw_i_dir_release(dir);
    }
    return s;
}

hpcw_status gen_format_of_file(const char *path, size_t *f, hpcw_error *err) {
    hpcw_status s = finish_set(path, err);
    bool is = false;
    size_t i = 0;
    while (s == HPCW_OK && i < gen_format_count && (s = gen_format[i]->probe(path, &is, err)) == HPCW_OK &&
           !is) {
        i++;
    }
    *f = s == HPCW_OK ? i : gen_format_count;
    return s;
}
