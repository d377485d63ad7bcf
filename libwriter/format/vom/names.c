/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the names of files and of the directory (doc/formats/vom.md, "Set of files"), and creates the directory. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <hpcw/vom.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/format/vom/check.h"
#include "libwriter/format/vom/handle.h"
#include "libwriter/io/sys.h"

/* Returns whether the base name is <stem>.<rank>.<rest> with a stem that is not empty, because vt-tv looks for the
 * rank after the first dot. */
static bool rank_is_found(const char *name, const char *rank) {
    const char *base = hpcw_i_sys_base_of(name);
    const char *dot = strchr(base, '.');
    size_t digits = strlen(rank);
    return dot != NULL && dot > base && strncmp(dot + 1, rank, digits) == 0 && dot[1 + digits] == '.';
}

hpcw_status hpcw_vom_file_name(char *name, size_t size, const char *pattern, uint32_t rank, bool compressed,
                               hpcw_error *err) {
    if (name == NULL || size == 0) {
        return hpcw_i_fail(err, HPCW_EINVAL, "vom: expected space for a file name, got none");
    }
    name[0] = '\0';
    pattern = pattern == NULL ? "data.%p.json" : pattern;
    if (rank >= HPCW_VOM_MAX_RANKS) {
        return hpcw_i_fail(err, HPCW_ERANGE, "vom: expected a rank of 0 to 32767, got %u", rank);
    }
    char digits[16];
    (void)snprintf(digits, sizeof digits, "%u", rank);
    const char *place = strstr(pattern, "%p");
    size_t before = place == NULL ? strlen(pattern) : (size_t)(place - pattern);
    const char *after = place == NULL ? "" : place + 2;
    const char *suffix = compressed && !hpcw_i_vom_is_br(after) ? ".br" : "";
    size_t need = before + strlen(digits) + strlen(after) + strlen(suffix) + 1;
    if (need > size) {
        return hpcw_i_fail(err, HPCW_ERANGE,
                           "vom: file name from \"%.256s\": expected space for %zu bytes, got %zu", pattern,
                           need, size);
    }
    memcpy(name, pattern, before);
    (void)snprintf(name + before, size - before, "%s%s%s", digits, after, suffix);
    if (!rank_is_found(name, digits)) {
        name[0] = '\0';
        return hpcw_i_fail(
            err, HPCW_EINVAL,
            "vom: expected a file name of the form stem.%%p.json without a dot in the stem, got \"%.256s\"",
            pattern);
    }
    return HPCW_OK;
}

char *hpcw_i_vom_set_path(const char *path) {
    char *made = hpcw_i_strdup(path);
    if (made != NULL) {
        char *slash = strrchr(made, '/');
        char *dot = strchr(slash == NULL ? made : slash, '.');
        size_t digits = dot == NULL ? 0 : strspn(dot + 1, "0123456789");
        if (digits > 0 && dot[1 + digits] == '.') {
            memmove(dot, dot + 1 + digits, strlen(dot + 1 + digits) + 1);
        }
        if (hpcw_i_vom_is_br(made)) {
            made[strlen(made) - strlen(".br")] = '\0';
        }
    }
    return made;
}

static hpcw_status make_directory(const char *path, hpcw_error *err) {
    if (path == NULL || *path == '\0') {
        return hpcw_i_fail(err, HPCW_EINVAL, "vom: expected the path of a directory, got \"%s\"",
                           path == NULL ? "NULL" : path);
    }
    int e = hpcw_i_sys_mkdir(path, 0700);
    if (e != 0 && e != EEXIST) {
        return hpcw_i_fail_sys(err, e, "%s: cannot make the directory", path);
    }
    struct hpcw_i_entry entry = {.kind = HPCW_I_DIRECTORY};
    e = e == EEXIST ? hpcw_i_sys_look(path, true, &entry) : 0;
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s: cannot look at it", path);
    }
    return entry.kind == HPCW_I_DIRECTORY
               ? HPCW_OK
               : hpcw_i_fail(err, HPCW_EEXIST, "%s: expected a directory, got something else of this name",
                             path);
}

hpcw_status hpcw_vom_make_directory(const char *path, hpcw_comm *comm, hpcw_error *err) {
    comm = hpcw_i_comm_or_self(comm);
    const struct hpcw_i_same same = {.name = "path", .text = path, .words = "NULL"};
    hpcw_status s = hpcw_i_agree_same(comm, HPCW_OK, path == NULL ? "vom" : path, &same, 1, NULL, err);
    if (s == HPCW_OK) {
        s = comm->process == 0 ? make_directory(path, err) : HPCW_OK;
        s = hpcw_i_agree(comm, s, NULL, err);
    }
    return s;
}
