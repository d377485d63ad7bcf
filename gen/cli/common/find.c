/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the file or directory of a format in a dataset. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "gen/cli/common/common.h"
#include "gen/dataset/directory/directory.h"
#include "gen/format/format.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sys.h"

enum { NAME = 256 };

/* Sets *is to whether a path is a file or directory of format `f`. */
static hpcw_status is_of(const char *path, size_t f, bool *is, hpcw_error *err) {
    size_t found;
    hpcw_status s = gen_format_of_file(path, &found, err);
    *is = s == HPCW_OK && found == f;
    return s;
}

/* Finds the file of format `f` in a directory; of several, the one whose name sorts first. `path` becomes ""
 * if there is none. */
static hpcw_status first_file(const char *folder, size_t f, char path[GEN_DIRECTORY_PATH], hpcw_error *err) {
    struct hpcw_i_listing *listing;
    const char *name;
    char first[NAME] = "";
    path[0] = '\0';
    int e = hpcw_i_sys_list(folder, &listing);
    if (e != 0) {
        return e == ENOENT || e == ENOTDIR ? HPCW_OK
                                           : hpcw_i_fail_sys(err, e, "%s: cannot read the directory", folder);
    }
    hpcw_status s = HPCW_OK;
    while (s == HPCW_OK && (e = hpcw_i_sys_list_next(listing, &name)) == 0 && name != NULL) {
        bool is = false;
        if (name[0] != '.' && (first[0] == '\0' || strcmp(name, first) < 0)) {
            gen_directory_path(folder, name, path);
            s = is_of(path, f, &is, err);
        }
        if (is) {
            (void)snprintf(first, sizeof first, "%s", name);
        }
    }
    hpcw_i_sys_list_free(listing);
    gen_directory_path(folder, first, path);
    path[first[0] == '\0' ? 0 : strlen(path)] = '\0';
    return e == 0 ? s : hpcw_i_fail_sys(err, e, "%s: cannot read the directory", folder);
}

hpcw_status gen_cli_find(const char *dir, size_t f, char *path, hpcw_error *err) {
    char folder[GEN_DIRECTORY_PATH];
    bool is;
    gen_directory_path(dir, gen_format_folder(gen_format[f]), folder);
    if (gen_format[f]->folder == NULL) {
        return first_file(folder, f, path, err);
    }
    hpcw_status s = is_of(folder, f, &is, err);
    (void)snprintf(path, GEN_DIRECTORY_PATH, "%s", is ? folder : "");
    return s;
}
