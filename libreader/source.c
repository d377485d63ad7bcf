/* SPDX-License-Identifier: BSD-3-Clause */
#include "libreader/source.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sink.h"
#include "libwriter/io/sys.h"

struct read_source {
    char *name;
    const unsigned char *memory; /* NULL for a file */
    int fd;                      /* -1 for memory */
    uint64_t size;
};

static hpcw_status new_source(const char *name, struct read_source **out, hpcw_error *err) {
    *out = NULL;
    struct read_source *s = hpcw_i_calloc(1, sizeof *s);
    char *copy = hpcw_i_strdup(name);
    if (s == NULL || copy == NULL) {
        hpcw_i_free(s);
        hpcw_i_free(copy);
        return hpcw_i_fail_memory(err, name, 0, NULL);
    }
    s->name = copy;
    s->fd = -1;
    *out = s;
    return HPCW_OK;
}

/* Checks that s->fd is a regular file, and stores its size. */
static hpcw_status begin(struct read_source *s, hpcw_error *err) {
    int e = hpcw_i_sys_size(s->fd, &s->size);
    if (e == EISDIR || e == EINVAL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected a regular file, got %s", s->name,
                           e == EISDIR ? "a directory" : "something else");
    }
    return e == 0 ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot ask for its size", s->name);
}

/* Opens a file relative to a directory. If `original` is a descriptor (>= 0), copies the descriptor instead. */
static hpcw_status open_source(int directory, const char *name, int original, struct read_source **out,
                               hpcw_error *err) {
    struct read_source *s;
    hpcw_status status = new_source(name, &s, err);
    *out = NULL;
    if (status != HPCW_OK) {
        return status;
    }
    int e = 0;
    if (original >= 0) {
        s->fd = fcntl(original, F_DUPFD_CLOEXEC, 0);
        e = s->fd < 0 ? errno : 0;
    } else {
        /* Without O_NONBLOCK, opening a pipe would wait for a writer. */
        e = hpcw_i_sys_open_at(directory, name, O_RDONLY | O_NONBLOCK, 0, &s->fd);
    }
    status = e != 0 ? hpcw_i_fail_sys(err, e, "%s: cannot open for reading", name) : begin(s, err);
    if (status != HPCW_OK) {
        read_source_free(s);
        return status;
    }
    *out = s;
    return HPCW_OK;
}

hpcw_status read_source_open(const char *path, struct read_source **out, hpcw_error *err) {
    return open_source(AT_FDCWD, path, -1, out, err);
}

hpcw_status read_source_open_at(int directory, const char *path, struct read_source **out, hpcw_error *err) {
    return open_source(directory, path, -1, out, err);
}

hpcw_status read_source_open_descriptor(const char *name, int fd, struct read_source **out, hpcw_error *err) {
    return open_source(AT_FDCWD, name, fd, out, err);
}

hpcw_status read_source_open_memory(const char *name, const void *data, size_t size, struct read_source **out,
                                    hpcw_error *err) {
    /* An empty block of memory may have the address NULL, but a source with memory NULL is a file. */
    static const unsigned char nothing[1];
    hpcw_status status = new_source(name, out, err);
    if (status == HPCW_OK) {
        (*out)->memory = size == 0 ? nothing : data;
        (*out)->size = size;
    }
    return status;
}

void read_source_free(struct read_source *source) {
    if (source == NULL) {
        return;
    }
    if (source->fd >= 0) {
        (void)close(source->fd);
    }
    hpcw_i_free(source->name);
    hpcw_i_free(source);
}

hpcw_status read_source_check(const struct read_source *source, int directory, const char *path,
                              hpcw_error *err) {
    struct hpcw_i_file_id first = {0}, now = {0};
    int fd;
    int e = hpcw_i_sys_open_at(directory, path, O_RDONLY | O_NONBLOCK, 0, &fd);
    const bool none = e == ENOENT || e == ENOTDIR;
    if (e == 0) {
        e = hpcw_i_sys_id(fd, &now);
        e = e == 0 ? hpcw_i_sys_id(source->fd, &first) : e;
        hpcw_i_sys_drop(fd);
    }
    if (e != 0 && !none) {
        return hpcw_i_fail_sys(err, e, "%s: cannot look at it again", path);
    }
    return !none && now.device == first.device && now.inode == first.inode
               ? HPCW_OK
               : hpcw_i_fail(err, HPCW_EIO,
                             "%s: expected the same file in all opens, got another or none: somebody replaced "
                             "or removed it; read it again",
                             path);
}

hpcw_status read_source_is_directory(const char *path, bool *is, hpcw_error *err) {
    struct hpcw_i_entry entry;
    int e = hpcw_i_sys_look(path, true, &entry);
    *is = e == 0 && entry.kind == HPCW_I_DIRECTORY;
    return e == 0 ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot look at it", path);
}

bool read_source_is_unfinished(const char *path) {
    return hpcw_i_sink_is_temporary(hpcw_i_sys_base_of(path));
}

bool read_source_is_of_system(hpcw_status status, const hpcw_error *why) {
    return status != HPCW_OK && status != HPCW_ENOENT &&
           (status == HPCW_ENOMEM || status == HPCW_EIO || status == HPCW_EACCES || why->sys_errno != 0);
}

hpcw_status read_source_begins_with(const char *path, const void *bytes, size_t size, bool *does,
                                    hpcw_error *err) {
    struct read_source *source;
    unsigned char got[16];
    hpcw_error why;
    assert(size <= sizeof got);
    *does = false;
    hpcw_status s = read_source_open(path, &source, &why);
    if (s == HPCW_OK) {
        s = read_source_read(source, 0, got, size, "its first bytes", &why);
        *does = s == HPCW_OK && memcmp(got, bytes, size) == 0;
        read_source_free(source);
    }
    return read_source_is_of_system(s, &why) ? hpcw_i_fail_as(err, &why) : HPCW_OK;
}

const char *read_source_name(const struct read_source *source) {
    return source->name;
}

uint64_t read_source_size(const struct read_source *source) {
    return source->size;
}

hpcw_status read_source_read(const struct read_source *source, uint64_t offset, void *data, size_t size,
                             const char *what, hpcw_error *err) {
    if (offset > source->size || size > source->size - offset) {
        return hpcw_i_fail(err, HPCW_ETRUNCATED,
                           "%s: %s at offset %" PRIu64 " needs %zu bytes, but the file ends at %" PRIu64,
                           source->name, what, offset, size, source->size);
    }
    if (size == 0) {
        return HPCW_OK;
    }
    if (source->memory != NULL) {
        memcpy(data, source->memory + offset, size);
        return HPCW_OK;
    }
    size_t got = 0;
    int e = hpcw_i_sys_pread(source->fd, data, size, offset, &got);
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s: reading %s at offset %" PRIu64, source->name, what, offset + got);
    }
    if (got < size) {
        return hpcw_i_fail(err, HPCW_ETRUNCATED,
                           "%s: %s at offset %" PRIu64 ": the file became shorter while it was read",
                           source->name, what, offset + got);
    }
    return HPCW_OK;
}

hpcw_status read_source_data(const struct read_source *source, uint64_t offset, uint64_t *begin, uint64_t *end,
                             hpcw_error *err) {
    *begin = offset < source->size ? offset : source->size;
    *end = source->size;
#if defined(SEEK_DATA) && defined(SEEK_HOLE)
    if (source->memory != NULL || *begin == *end) {
        return HPCW_OK;
    }
    off_t data = lseek(source->fd, (off_t)offset, SEEK_DATA);
    if (data < 0 && errno == ENXIO) {
        *begin = source->size;
        return HPCW_OK;
    }
    if (data < 0 && (errno == EINVAL || errno == EOPNOTSUPP || errno == ENOSYS)) {
        return HPCW_OK; /* the file system does not report holes */
    }
    off_t hole = data < 0 ? data : lseek(source->fd, data, SEEK_HOLE);
    if (hole < 0 && errno == ENXIO) {
        return HPCW_OK; /* the file became shorter; the read reports it */
    }
    if (hole < 0) {
        return hpcw_i_fail_sys(err, errno, "%s: looking for data after offset %" PRIu64, source->name, offset);
    }
    if ((uint64_t)data < source->size) {
        *begin = (uint64_t)data;
        *end = (uint64_t)hole < source->size ? (uint64_t)hole : source->size;
    } else {
        *begin = source->size;
    }
#else
    (void)err;
#endif
    return HPCW_OK;
}
