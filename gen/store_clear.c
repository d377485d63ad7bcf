/* SPDX-License-Identifier: BSD-3-Clause */
/* Taking things out of a dataset's directory: what runs left behind, and nothing that is not ours. */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <dirent.h>

#include "base/status.h"
#include "io/sink.h"
#include "store.h"

static hpcw_status sweep_entry(FTS *walk, FTSENT *entry, const char *dir, bool data, hpcw_error *err) {
    /* The walk puts no second slash behind a directory that ends in one. */
    const char *path = entry->fts_path + strlen(dir);
    path += *path == '/';
    size_t f = entry->fts_level == 0 ? hpcw_i_format_count : hpcw_i_format_of_path(path);
    const struct hpcw_i_format *format = f < hpcw_i_format_count ? hpcw_i_format[f] : NULL;
    switch (entry->fts_info) {
    case FTS_D:
        if (entry->fts_level > 0 && format == NULL) {
            (void)fts_set(walk, entry, FTS_SKIP);
        }
        return HPCW_OK;
    case FTS_DP:
        /* Not empty: then somebody keeps something else in it. */
        if (data && entry->fts_level > 0 && format != NULL) {
            (void)rmdir(entry->fts_accpath);
        }
        return HPCW_OK;
    case FTS_DNR:
    case FTS_ERR:
        return hpcw_i_fail_sys(err, entry->fts_errno, "%s: cannot look into it", entry->fts_path);
    default:
        if (!hpcw_i_sink_is_temporary(entry->fts_name) && !(data && format != NULL && format->owns(path))) {
            return HPCW_OK;
        }
        return unlink(entry->fts_accpath) == 0 || errno == ENOENT
                   ? HPCW_OK
                   : hpcw_i_fail_sys(err, errno, "%s: cannot remove", entry->fts_path);
    }
}

/* Removes the temporaries of runs that were killed; with `data` also the files of all formats, whatever the
 * parameters they were made with, and folders that are empty then. */
static hpcw_status sweep(const char *dir, bool data, hpcw_error *err) {
    char *roots[] = {(char *)(uintptr_t)dir, NULL};
    FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
    if (walk == NULL) {
        return hpcw_i_fail_sys(err, errno, "%s: cannot look into it", dir);
    }
    hpcw_status s = HPCW_OK;
    FTSENT *entry;
    while (s == HPCW_OK && (entry = fts_read(walk)) != NULL) {
        s = sweep_entry(walk, entry, dir, data, err);
    }
    (void)fts_close(walk);
    return s;
}

static hpcw_status remove_state(const char *dir, hpcw_error *err) {
    char state[HPCW_I_STORE_PATH];
    hpcw_i_store_path(dir, HPCW_I_STATE_DIR, state);
    int fd = open(state, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (d == NULL) {
        int e = errno;
        if (fd >= 0) {
            (void)close(fd);
        }
        return e == ENOENT ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot open the directory", state);
    }
    /* The description first: without it the rest means nothing. */
    (void)unlinkat(fd, strchr(HPCW_I_PARAMETERS, '/') + 1, 0);
    hpcw_status s = HPCW_OK;
    struct dirent *entry;
    while (s == HPCW_OK && (entry = readdir(d)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            unlinkat(fd, entry->d_name, 0) != 0 && errno != ENOENT) {
            s = hpcw_i_fail_sys(err, errno, "%s/%s: cannot remove", state, entry->d_name);
        }
    }
    (void)closedir(d);
    if (s == HPCW_OK && rmdir(state) != 0 && errno != ENOENT) {
        s = hpcw_i_fail_sys(err, errno, "%s: cannot remove", state);
    }
    return s;
}

hpcw_status hpcw_i_store_end(const char *dir, hpcw_error *err) {
    hpcw_status s = sweep(dir, false, err);
    return s == HPCW_OK ? remove_state(dir, err) : s;
}

hpcw_status hpcw_i_store_remove(const char *dir, const char *name, hpcw_error *err) {
    char path[HPCW_I_STORE_PATH];
    hpcw_i_store_path(dir, name, path);
    return unlink(path) == 0 || errno == ENOENT ? HPCW_OK
                                                : hpcw_i_fail_sys(err, errno, "%s: cannot remove", path);
}

hpcw_status hpcw_i_store_remove_lists(const char *dir, hpcw_error *err) {
    static const char *const lists[] = {HPCW_I_CHECKSUMS, HPCW_I_MANIFEST, HPCW_I_TRUTH};
    hpcw_status s = HPCW_OK;
    for (size_t i = 0; s == HPCW_OK && i < sizeof lists / sizeof lists[0]; i++) {
        s = hpcw_i_store_remove(dir, lists[i], err);
    }
    return s;
}

hpcw_status hpcw_i_store_clear(const char *dir, hpcw_error *err) {
    /* The lists first: nothing looks finished while its files go. */
    hpcw_status s = hpcw_i_store_remove_lists(dir, err);
    if (s == HPCW_OK) {
        s = sweep(dir, true, err);
    }
    return s == HPCW_OK ? remove_state(dir, err) : s;
}
