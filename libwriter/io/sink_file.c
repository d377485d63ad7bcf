/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libwriter/base/hash.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sink.h"
#include "libwriter/io/sys.h"

struct file_sink {
    hpcw_sink base;
    int fd; /* -1 once closed */
    hpcw_durability durability;
    bool shared;
    bool gone; /* there is no temporary file: renamed, removed, or never created */
    struct hpcw_i_file_id id;
    char *path;
    char *temporary;
};

static struct file_sink *file_of(hpcw_sink *sink) {
    return (struct file_sink *)sink;
}

static hpcw_status file_write(hpcw_sink *sink, uint64_t offset, const struct hpcw_i_piece *piece, size_t pieces,
                              size_t size, hpcw_error *err) {
    struct file_sink *f = file_of(sink);
    int e = hpcw_i_sys_pwritev(f->fd, piece, pieces, offset);
    return e == 0 ? HPCW_OK
                  : hpcw_i_fail_sys(err, e, "%s: cannot write %zu bytes at offset %" PRIu64, f->path, size,
                                    offset);
}

static hpcw_status file_set_size(hpcw_sink *sink, uint64_t size, hpcw_error *err) {
    struct file_sink *f = file_of(sink);
    int e = hpcw_i_sys_truncate(f->fd, size);
    return e == 0 ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot set the size to %" PRIu64, f->path, size);
}

static hpcw_status file_sync(hpcw_sink *sink, hpcw_error *err) {
    struct file_sink *f = file_of(sink);
    int e = hpcw_i_sys_fsync(f->fd);
    return e == 0 ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot write the data back to the disk", f->path);
}

static hpcw_status file_detach(hpcw_sink *sink, hpcw_error *err) {
    struct file_sink *f = file_of(sink);
    hpcw_status s = f->durability >= HPCW_SYNC_FILE ? file_sync(sink, err) : HPCW_OK;
    int e = hpcw_i_sys_close(f->fd);
    f->fd = -1;
    if (s == HPCW_OK && e != 0) {
        s = hpcw_i_fail_sys(err, e, "%s: cannot close", f->path);
    }
    return s;
}

static void remove_temporary(struct file_sink *f) {
    if (f->fd >= 0) {
        (void)hpcw_i_sys_close(f->fd);
        f->fd = -1;
    }
    if (!f->gone) {
        (void)hpcw_i_sys_unlink(f->temporary);
        f->gone = true;
    }
}

static void file_discard(hpcw_sink *sink) {
    remove_temporary(file_of(sink));
}

static void file_withdraw(hpcw_sink *sink) {
    struct file_sink *f = file_of(sink);
    if (sink->named) {
        /* Not a file that another run published since. */
        bool own;
        if (hpcw_i_sys_is(f->path, &f->id, &own) != 0 || own) {
            (void)hpcw_i_sys_unlink(f->path);
        }
        sink->named = false;
    }
}

static hpcw_status file_publish(hpcw_sink *sink, hpcw_error *err) {
    struct file_sink *f = file_of(sink);
    int unknown = hpcw_i_sys_id(f->fd, &f->id);
    hpcw_status s = unknown == 0 ? file_detach(sink, err)
                                 : hpcw_i_fail_sys(err, unknown, "%s: cannot get its identity", f->path);
    if (s == HPCW_OK) {
        int e = hpcw_i_sys_rename(f->temporary, f->path);
        if (e != 0) {
            s = hpcw_i_fail_sys(err, e, "%s: cannot rename the finished file to this name", f->path);
        } else {
            f->gone = sink->named = true;
        }
    }
    if (s != HPCW_OK) {
        remove_temporary(f);
        return s;
    }
    if (f->durability >= HPCW_SYNC_DIRECTORY) {
        /* The file is complete and has its name, and an older one is gone: to remove it would only lose more. */
        int e = hpcw_i_sys_fsync_directory_of(f->path);
        if (e != 0) {
            s = hpcw_i_fail_sys(err, e, "%s: is complete, but its directory cannot be written back to the disk",
                                f->path);
        }
    }
    return s;
}

static void file_free(hpcw_sink *sink) {
    struct file_sink *f = file_of(sink);
    if (!f->shared) {
        remove_temporary(f);
    } else if (f->fd >= 0) {
        (void)hpcw_i_sys_close(f->fd);
    }
    hpcw_i_free(f->temporary);
    hpcw_i_free(f->path);
    hpcw_i_free(f);
}

static const struct hpcw_i_sink_ops file_ops = {
    .write = file_write,
    .set_size = file_set_size,
    .sync = file_sync,
    .publish = file_publish,
    .detach = file_detach,
    .withdraw = file_withdraw,
    .discard = file_discard,
    .free = file_free,
};

/* The temporary name is short and of fixed length, so that every legal final name has one. */
static char *temporary_name(const char *path, uint64_t tag) {
    const char *slash = strrchr(path, '/');
    size_t dir = slash == NULL ? 0 : (size_t)(slash - path) + 1;
    uint64_t hash = hpcw_i_hash_text(path + dir); /* members of a set share the tag, not the name */
    size_t size = dir + 64;
    char *name = hpcw_i_malloc(size);
    if (name != NULL) {
        memcpy(name, path, dir);
        (void)snprintf(name + dir, size - dir, ".hpcw-%016" PRIx64 "-%016" PRIx64 ".tmp", tag, hash);
    }
    return name;
}

bool hpcw_i_sink_is_temporary(const char *name) {
    static const char form[] = ".hpcw-0000000000000000-0000000000000000.tmp";
    size_t i = 0;
    while (name[i] != '\0' && (name[i] == form[i] || (form[i] == '0' && name[i] >= 'a' && name[i] <= 'f') ||
                               (form[i] == '0' && name[i] >= '1' && name[i] <= '9'))) {
        i++;
    }
    return name[i] == '\0' && form[i] == '\0';
}

static hpcw_status check_target(const char *path, hpcw_error *err) {
    const char *slash = path == NULL ? NULL : strrchr(path, '/');
    const char *base = slash == NULL ? path : slash + 1;
    if (path == NULL || *base == '\0') {
        return hpcw_i_fail(err, HPCW_EINVAL, "file sink: path: expected the path of a file, got \"%s\"",
                           path == NULL ? "NULL" : path);
    }
    struct stat st;
    if (stat(path, &st) != 0) {
        /* The rename at the end would fail as well. */
        int e = errno;
        return e == ENOENT ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot look for an older file", path);
    }
    if (!S_ISREG(st.st_mode)) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected a regular file to replace, got a %s", path,
                           S_ISDIR(st.st_mode) ? "directory" : "special file");
    }
    return HPCW_OK;
}

static hpcw_status open_file(const char *path, uint64_t tag, hpcw_durability durability, hpcw_sink **out,
                             hpcw_error *err) {
    if (out == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "file sink: handle: expected a pointer, got NULL");
    }
    *out = NULL;
    hpcw_status s = check_target(path, err);
    if (s != HPCW_OK) {
        return s;
    }
    struct file_sink *f = hpcw_i_calloc(1, sizeof *f);
    if (f == NULL) {
        return hpcw_i_fail_memory(err, path, 0, NULL);
    }
    f->base.ops = &file_ops;
    f->fd = -1;
    f->durability = durability;
    f->shared = tag != 0;
    f->path = hpcw_i_strdup(path);
    int e = f->path == NULL ? ENOMEM : 0;
    for (int attempt = 0; e == 0 && attempt < 16; attempt++) {
        hpcw_i_free(f->temporary);
        f->temporary = temporary_name(path, f->shared ? tag : hpcw_i_sink_fresh_tag());
        if (f->temporary == NULL) {
            e = ENOMEM;
            break;
        }
        e = hpcw_i_sys_open(f->temporary, O_RDWR | O_CREAT | (f->shared ? 0 : O_EXCL), 0666, &f->fd);
        if (e != EEXIST) {
            break;
        }
        e = attempt < 15 ? 0 : EEXIST;
    }
    if (e != 0) {
        f->gone = true; /* nothing was created by us */
        s = hpcw_i_fail_sys(err, e, "%s: cannot create", path);
        file_free(&f->base);
        return s;
    }
    *out = &f->base;
    return HPCW_OK;
}

hpcw_status hpcw_sink_open_file(const char *path, hpcw_durability durability, hpcw_sink **out,
                                hpcw_error *err) {
    return open_file(path, 0, durability, out, err);
}

hpcw_status hpcw_sink_open_shared_file(const char *path, uint64_t tag, hpcw_durability durability,
                                       hpcw_sink **out, hpcw_error *err) {
    if (tag == 0) {
        if (out != NULL) {
            *out = NULL;
        }
        return hpcw_i_fail(err, HPCW_EINVAL, "shared file sink: expected a tag other than 0, got 0");
    }
    return open_file(path, tag, durability, out, err);
}

hpcw_status hpcw_i_sink_open(const hpcw_sink_source *source, const char *path, uint64_t tag,
                             hpcw_durability durability, hpcw_sink **out, hpcw_error *err) {
    return source->open != NULL ? source->open(source->context, path, tag, out, err)
                                : open_file(path, tag, durability, out, err);
}
