/* SPDX-License-Identifier: BSD-3-Clause */
/* A prefix directory that is held open. */
#include "libwriter/format/rank2file/prefix/prefix.h"

#include <errno.h>
#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/dir.h"
#include "libwriter/io/sys.h"

hpcw_status hpcw_i_r2f_hold(const char *path, struct hpcw_i_r2f_prefix *p, hpcw_error *err) {
    *p = (struct hpcw_i_r2f_prefix){.path = path};
    int e = hpcw_i_dir_hold(path, &p->dir);
    return e == 0 ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot open the directory", path);
}

/* Finds the shortest beginning of a path that is a symbolic link. Returns its length in bytes; 0: there is none. */
static int find_link(struct hpcw_i_dir *dir, const char *name) {
    char *part = hpcw_i_strdup(name);
    int size = 0;
    for (size_t n = 0; part != NULL && size == 0 && name[n] != '\0';) {
        struct hpcw_i_entry entry;
        n += strcspn(name + n + 1, "/") + 1;
        part[n] = '\0';
        if (hpcw_i_below_look(dir, part, &entry) == 0 && entry.kind == HPCW_I_LINK) {
            size = (int)n;
        }
        part[n] = name[n];
    }
    hpcw_i_free(part);
    return size;
}

hpcw_status hpcw_i_r2f_fail_below(const struct hpcw_i_r2f_prefix *p, int e, const char *name, const char *what,
                                  hpcw_error *err) {
    int link = e == ELOOP ? find_link(p->dir, name) : 0;
    return e == ENOMEM ? hpcw_i_fail_memory(err, p->path, 0, NULL)
           : link > 0  ? hpcw_i_fail(err, HPCW_EACCES,
                                     "%s/%.*s: expected no symbolic link, got one: below the prefix nothing is "
                                      "written or removed through links",
                                     p->path, link, name)
                       : hpcw_i_fail_sys(err, e, "%s/%s: %s", p->path, name, what);
}

hpcw_status hpcw_i_r2f_make_directory(const struct hpcw_i_r2f_prefix *p, const char *name, bool sync,
                                      bool *made, hpcw_error *err) {
    int e = hpcw_i_below_make(p->dir, name, sync, made);
    return e == 0 || e == EEXIST ? HPCW_OK
                                 : hpcw_i_r2f_fail_below(p, e, name, "cannot make the directory", err);
}
