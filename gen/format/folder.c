/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "gen/format/format.h"
#include "libwriter/base/status.h"
#include "libwriter/io/dir.h"

const char *gen_format_folder(const struct gen_format *format) {
    return format->folder != NULL ? format->folder : format->name;
}

hpcw_status gen_format_refuse_folder(const char *directory, const char *name, bool link, hpcw_error *err) {
    return hpcw_i_fail(err, HPCW_EEXIST,
                       "%s/%s: expected a directory, got %s: nothing is written through links there", directory,
                       name, link ? "a symbolic link" : "a file");
}

hpcw_status gen_format_make_folder(struct hpcw_i_dir *root, const char *directory, const char *name, bool sync,
                                   hpcw_error *err) {
    struct hpcw_i_entry entry = {.kind = HPCW_I_DIRECTORY};
    int e = hpcw_i_below_make(root, name, sync, NULL);
    e = e == EEXIST ? hpcw_i_below_look(root, name, &entry) : e;
    if (e == ELOOP || (e == 0 && entry.kind != HPCW_I_DIRECTORY)) {
        return gen_format_refuse_folder(directory, name, e == ELOOP || entry.kind == HPCW_I_LINK, err);
    }
    return e == 0 ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s/%s: cannot create the directory", directory, name);
}
