/* SPDX-License-Identifier: BSD-3-Clause */
/* Removes from a dataset's directory what runs left in it, and nothing else. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gen/dataset/lease.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sink.h"
#include "libwriter/io/sys.h"

/* Directories of formats are not as deep; deeper files are not ours. */
enum { DEEPEST = 32 };

/* A walk that keeps only the path to where it is: directories have millions of files. */
struct directory_walk {
    const char *dir;
    bool data;
    unsigned depth;
    char path[GEN_DIRECTORY_PATH]; /* below `dir` */
};

static bool is_folder(int fd, const struct dirent *entry) {
    struct stat st;
    return entry->d_type == DT_DIR ||
           (entry->d_type == DT_UNKNOWN && fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISDIR(st.st_mode));
}

static hpcw_status cannot(const struct directory_walk *w, int e, const char *what, hpcw_error *err) {
    return hpcw_i_fail_sys(err, e, "%s%s%s: cannot %s", w->dir, *w->path == '\0' ? "" : "/", w->path, what);
}

/* `fd` is w->path, or negative with the reason in errno. Closes it. */
static hpcw_status sweep_folder(struct directory_walk *w, int fd, hpcw_error *err) {
    size_t length = strlen(w->path);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (d == NULL) {
        hpcw_status s = cannot(w, errno, "read the directory", err);
        if (fd >= 0) {
            (void)close(fd);
        }
        return s;
    }
    hpcw_status s = HPCW_OK;
    bool removed = false;
    while (s == HPCW_OK) {
        w->path[length] = '\0';
        errno = 0;
        const struct dirent *entry = readdir(d);
        if (entry == NULL && errno == 0 && removed) {
            /* Some file systems skip names while others are removed. */
            rewinddir(d);
            removed = false;
            continue;
        }
        if (entry == NULL) {
            s = errno == 0 ? HPCW_OK : cannot(w, errno, "read the directory", err);
            break;
        }
        const char *name = entry->d_name;
        size_t left = sizeof w->path - length;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
            (size_t)snprintf(w->path + length, left, "%s%s", length > 0 ? "/" : "", name) >= left) {
            continue; /* longer paths are not ours */
        }
        size_t f = gen_format_of_path(w->path);
        const struct gen_format *format = f < gen_format_count ? gen_format[f] : NULL;
        if (is_folder(fd, entry)) {
            if (format == NULL || w->depth == DEEPEST) {
                continue;
            }
            w->depth++;
            s = sweep_folder(w, openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), err);
            w->depth--;
            /* Fails if files of others are in it. */
            removed = (s == HPCW_OK && w->data && hpcw_i_sys_unlink_at(fd, name, AT_REMOVEDIR) == 0) || removed;
        } else if (hpcw_i_sink_is_temporary(name) || (w->data && format != NULL && format->owns(w->path))) {
            int e = hpcw_i_sys_unlink_at(fd, name, 0);
            removed = removed || e == 0;
            s = e == 0 || e == ENOENT ? HPCW_OK : cannot(w, e, "remove", err);
        }
    }
    w->path[length] = '\0';
    (void)closedir(d);
    return s;
}

/* Removes temporary files of killed runs; with `data` also the files of all formats, whatever the parameters, and
 * directories that are then empty. */
static hpcw_status sweep(const char *dir, bool data, hpcw_error *err) {
    struct directory_walk w = {.dir = dir, .data = data};
    return sweep_folder(&w, open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err);
}

/* All but the lease, which its owner gives up last. */
static hpcw_status remove_state(const char *dir, hpcw_error *err) {
    char state[GEN_DIRECTORY_PATH];
    gen_directory_path(dir, GEN_STATE_DIR, state);
    int fd = open(state, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (d == NULL) {
        int e = errno;
        if (fd >= 0) {
            (void)close(fd);
        }
        return e == ENOENT ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot open the directory", state);
    }
    /* The description first: without it the rest is not used. */
    (void)hpcw_i_sys_unlink_at(fd, strchr(GEN_PARAMETERS, '/') + 1, 0);
    hpcw_status s = HPCW_OK;
    struct dirent *entry;
    while (s == HPCW_OK && (entry = readdir(d)) != NULL) {
        const char *name = entry->d_name;
        int e = strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, GEN_LEASE) == 0
                    ? 0
                    : hpcw_i_sys_unlink_at(fd, name, 0);
        if (e != 0 && e != ENOENT) {
            s = hpcw_i_fail_sys(err, e, "%s/%s: cannot remove", state, name);
        }
    }
    (void)closedir(d);
    return s;
}

hpcw_status gen_directory_end(const char *dir, hpcw_error *err) {
    hpcw_status s = sweep(dir, false, err);
    return s == HPCW_OK ? remove_state(dir, err) : s;
}

hpcw_status gen_directory_remove(const char *dir, const char *name, hpcw_error *err) {
    char path[GEN_DIRECTORY_PATH];
    gen_directory_path(dir, name, path);
    int e = hpcw_i_sys_unlink(path);
    return e == 0 || e == ENOENT ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot remove", path);
}

hpcw_status gen_directory_remove_lists(const char *dir, hpcw_error *err) {
    static const char *const lists[] = {GEN_CHECKSUMS, GEN_MANIFEST, GEN_TRUTH};
    hpcw_status s = HPCW_OK;
    for (size_t i = 0; s == HPCW_OK && i < sizeof lists / sizeof lists[0]; i++) {
        s = gen_directory_remove(dir, lists[i], err);
    }
    return s;
}

hpcw_status gen_directory_clear(const char *dir, hpcw_error *err) {
    /* The lists first, so that no dataset with missing files looks finished. */
    hpcw_status s = gen_directory_remove_lists(dir, err);
    if (s == HPCW_OK) {
        s = sweep(dir, true, err);
    }
    return s == HPCW_OK ? remove_state(dir, err) : s;
}
