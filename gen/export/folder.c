/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/export/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "gen/export/text.h"
#include "libwriter/base/buf.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sink.h"
#include "libwriter/io/sys.h"

/* What to do with each file, and with each directory after all that is in it. An errno value, or 0. */
typedef int visit(void *context, const char *path, const struct stat *st);

/* ---- a walk through all files ---- */

static int walk(struct hpcw_i_buf *path, visit *each, void *context) {
    const size_t length = path->size;
    struct stat st;
    int e = 0;
    if (!hpcw_i_buf_append(path, "", 1)) {
        return ENOMEM;
    }
    DIR *d = opendir((const char *)path->data);
    const struct dirent *entry;
    e = d == NULL ? errno : 0;
    while (e == 0 && (errno = 0, entry = readdir(d)) != NULL) {
        path->size = length;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        if (!hpcw_i_buf_append(path, "/", 1) || !hpcw_i_buf_append_str(path, entry->d_name) ||
            !hpcw_i_buf_append(path, "", 1)) {
            e = ENOMEM;
        } else if (lstat((const char *)path->data, &st) != 0) {
            e = errno;
        } else if (S_ISDIR(st.st_mode)) {
            path->size--;
            e = walk(path, each, context);
        } else {
            e = each(context, (const char *)path->data, &st);
        }
    }
    e = e == 0 ? errno : e;
    if (d != NULL) {
        (void)closedir(d);
    }
    path->size = length;
    path->data[length] = '\0';
    if (e == 0 && lstat((const char *)path->data, &st) != 0) {
        e = errno;
    }
    return e == 0 ? each(context, (const char *)path->data, &st) : e;
}

static int walk_from(const char *path, visit *each, void *context) {
    struct hpcw_i_buf b = {0};
    int e = hpcw_i_buf_append_str(&b, path) ? walk(&b, each, context) : ENOMEM;
    hpcw_i_buf_free(&b);
    return e;
}

static int remove_one(void *context, const char *path, const struct stat *st) {
    (void)context;
    return S_ISDIR(st->st_mode) ? hpcw_i_sys_rmdir(path) : hpcw_i_sys_unlink(path);
}

static int add_size(void *context, const char *path, const struct stat *st) {
    uint64_t *bytes = context;
    (void)path;
    *bytes += S_ISREG(st->st_mode) ? (uint64_t)st->st_size : 0;
    return 0;
}

static int sync_one(void *context, const char *path, const struct stat *st) {
    int fd;
    (void)context;
    (void)st;
    int e = hpcw_i_sys_open(path, O_RDONLY, 0, &fd);
    if (e == 0) {
        e = hpcw_i_sys_fsync(fd);
        int c = hpcw_i_sys_close(fd);
        e = e != 0 ? e : c;
    }
    return e;
}

/* ---- the directory ---- */

/* ".hpcw-NUMBER-NAME.tmp" beside PATH, as file sinks name theirs. */
static char *temporary_name(const char *path) {
    const char *slash = strrchr(path, '/');
    const size_t parent = slash == NULL ? 0 : (size_t)(slash + 1 - path), size = strlen(path) + 32;
    char *name = hpcw_i_malloc(size);
    if (name != NULL) {
        memcpy(name, path, parent);
        (void)snprintf(name + parent, size - parent, ".hpcw-%016" PRIx64 "-%s.tmp", hpcw_i_sink_random(),
                       path + parent);
    }
    return name;
}

hpcw_status gen_folder_open(struct gen_folder *folder, const char *path, hpcw_error *err) {
    struct stat st;
    *folder = (struct gen_folder){.path = hpcw_i_strdup(path)};
    if (folder->path == NULL) {
        return gen_export_no_memory(err);
    }
    for (size_t n = strlen(path); n > 1 && folder->path[n - 1] == '/'; n--) {
        folder->path[n - 1] = '\0';
    }
    if (lstat(folder->path, &st) == 0) {
        return hpcw_i_fail(err, HPCW_EEXIST, "%s: expected no file or directory of this name, got one",
                           folder->path);
    }
    folder->temporary = temporary_name(folder->path);
    if (folder->temporary == NULL) {
        return gen_export_no_memory(err);
    }
    int e = hpcw_i_sys_mkdir(folder->temporary, 0777);
    if (e != 0) {
        hpcw_i_free(folder->temporary);
        folder->temporary = NULL;
        return hpcw_i_fail_sys(err, e, "%s: cannot create the directory", folder->path);
    }
    return HPCW_OK;
}

hpcw_status gen_folder_publish(struct gen_folder *folder, bool sync, uint64_t *bytes, hpcw_error *err) {
    *bytes = 0;
    int e = walk_from(folder->temporary, add_size, bytes);
    if (e == 0 && sync) {
        e = walk_from(folder->temporary, sync_one, NULL);
    }
    /* Over an empty directory that came meanwhile at most: the system refuses others. */
    e = e == 0 ? hpcw_i_sys_rename(folder->temporary, folder->path) : e;
    if (e == 0) {
        hpcw_i_free(folder->temporary);
        folder->temporary = NULL;
        e = sync ? hpcw_i_sys_fsync_directory_of(folder->path) : 0;
    }
    return e == 0 ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot finish the directory", folder->path);
}

void gen_folder_close(struct gen_folder *folder) {
    /* Some file systems skip names while others are removed. */
    for (int tries = 0; folder->temporary != NULL && tries < 4; tries++) {
        if (walk_from(folder->temporary, remove_one, NULL) == 0) {
            break;
        }
    }
    hpcw_i_free(folder->temporary);
    hpcw_i_free(folder->path);
    *folder = (struct gen_folder){0};
}
