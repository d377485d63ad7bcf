/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/layout/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

hpcw_status bench_file_open(struct bench_file *f, const char *path, bool direct, hpcw_error *err) {
    f->fd = f->direct = -1;
    f->path = hpcw_i_strdup(path);
    if (f->path == NULL) {
        return hpcw_i_fail_memory(err, path, 0, NULL);
    }
    int e = hpcw_i_sys_open(path, O_RDWR | O_CREAT, 0666, &f->fd);
    if (e == EEXIST) {
        /* POSIX does not allow EEXIST here, but distributed file systems return it if another host creates the
         * file at the same time (MooseFS 3). */
        e = hpcw_i_sys_open(path, O_RDWR, 0, &f->fd);
    }
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s: cannot create", path);
    }
    if (direct) {
        e = hpcw_i_sys_open(path, O_RDWR | O_DIRECT, 0666, &f->direct);
    }
    return e == EINVAL ? hpcw_i_fail(err, HPCW_ENOTSUP, "%s: the file system has no O_DIRECT", path)
           : e != 0    ? hpcw_i_fail_sys(err, e, "%s: cannot open with O_DIRECT", path)
                       : HPCW_OK;
}

/* The pieces are one stream of bytes. Returns the bytes from `at` to the end of the piece that contains `at`. */
static struct hpcw_i_piece rest_of(const struct hpcw_i_piece *piece, size_t at) {
    for (; at >= piece->size; piece++) {
        at -= piece->size;
    }
    return (struct hpcw_i_piece){(const unsigned char *)piece->data + at, piece->size - at};
}

/* Copies the bytes [at, at + size) of the stream of pieces. */
static void gather(unsigned char *to, const struct hpcw_i_piece *piece, size_t at, size_t size) {
    while (size > 0) {
        struct hpcw_i_piece rest = rest_of(piece, at);
        size_t n = rest.size < size ? rest.size : size;
        memcpy(to, rest.data, n);
        to += n;
        at += n;
        size -= n;
    }
}

/* Writes less than a block through the page cache. */
static int write_edge(const struct bench_file *f, uint64_t offset, const struct hpcw_i_piece *piece, size_t at,
                      size_t size) {
    gather(f->bounce, piece, at, size);
    return hpcw_i_sys_pwrite(f->fd, f->bounce, size, offset + at);
}

static int write_direct(const struct bench_file *f, uint64_t offset, const struct hpcw_i_piece *piece,
                        size_t total) {
    size_t head = (size_t)((f->align - offset % f->align) % f->align);
    head = head < total ? head : total;
    size_t middle = (total - head) / f->align * f->align;
    int e = head > 0 ? write_edge(f, offset, piece, 0, head) : 0;
    for (size_t at = head; e == 0 && at < head + middle;) {
        size_t n = head + middle - at;
        struct hpcw_i_piece rest = rest_of(piece, at);
        if (rest.size < n || (uintptr_t)rest.data % f->align != 0) {
            n = n < f->bounce_size ? n : f->bounce_size;
            gather(f->bounce, piece, at, n);
            rest.data = f->bounce;
        }
        e = hpcw_i_sys_pwrite(f->direct, rest.data, n, offset + at);
        at += n;
    }
    size_t done = head + middle;
    return e != 0 || done == total ? e : write_edge(f, offset, piece, done, total - done);
}

hpcw_status bench_file_write_pieces(const struct bench_file *f, uint64_t offset,
                                    const struct hpcw_i_piece *piece, size_t pieces, size_t size,
                                    hpcw_error *err) {
    offset += f->shift;
    int e = f->direct >= 0 ? write_direct(f, offset, piece, size)
                           : hpcw_i_sys_pwritev(f->fd, piece, pieces, offset);
    return e == 0 ? HPCW_OK
                  : hpcw_i_fail_sys(err, e, "%s: cannot write %zu bytes at offset %" PRIu64, f->path, size,
                                    offset);
}

hpcw_status bench_file_write(const struct bench_file *f, uint64_t offset, const void *data, size_t size,
                             hpcw_error *err) {
    struct hpcw_i_piece piece = {data, size};
    return bench_file_write_pieces(f, offset, &piece, 1, size, err);
}

hpcw_status bench_file_allocate(const struct bench_file *f, uint64_t size, hpcw_error *err) {
    int e;
    do {
        /* posix_fallocate is not used, since it writes zeros if the file system cannot allocate. */
        e = fallocate(f->fd, 0, 0, (off_t)(size + f->shift)) == 0 ? 0 : errno;
    } while (e == EINTR);
    return e == 0            ? HPCW_OK
           : e == EOPNOTSUPP ? hpcw_i_fail(err, HPCW_ENOTSUP, "%s: the file system cannot preallocate", f->path)
                             : hpcw_i_fail_sys(err, e, "%s: cannot allocate %" PRIu64 " bytes", f->path, size);
}

hpcw_status bench_file_set_size(const struct bench_file *f, uint64_t size, hpcw_error *err) {
    int e = hpcw_i_sys_truncate(f->fd, size + f->shift);
    return e == 0 ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot set the size to %" PRIu64, f->path, size);
}

hpcw_status bench_file_sync(const struct bench_file *f, hpcw_error *err) {
    int e = hpcw_i_sys_fsync(f->fd);
    return e == 0 ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot write the data back to the disk", f->path);
}

hpcw_status bench_file_close(struct bench_file *f, hpcw_error *err) {
    if (f->path == NULL) {
        return HPCW_OK;
    }
    int e = f->direct >= 0 ? hpcw_i_sys_close(f->direct) : 0;
    int of_cached = f->fd >= 0 ? hpcw_i_sys_close(f->fd) : 0;
    e = e != 0 ? e : of_cached;
    hpcw_status s = e == 0 ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot close", f->path);
    hpcw_i_free(f->path);
    f->path = NULL;
    f->fd = f->direct = -1;
    return s;
}
