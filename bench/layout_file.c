/* SPDX-License-Identifier: BSD-3-Clause */
#include "layout_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "io/sys.h"

hpcw_status bench_file_open(struct bench_file *f, const char *path, bool direct, hpcw_error *err) {
    f->fd = f->direct = -1;
    f->path = hpcw_i_strdup(path);
    if (f->path == NULL) {
        return hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory", path);
    }
    int e = hpcw_i_sys_open(path, O_RDWR | O_CREAT, 0666, &f->fd);
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

/* Bytes [at, at + size) of two pieces that follow each other, copied together. */
static void gather(unsigned char *to, const unsigned char *a, size_t a_size, const unsigned char *b, size_t at,
                   size_t size) {
    size_t of_a = at >= a_size ? 0 : size < a_size - at ? size : a_size - at;
    if (of_a > 0) {
        memcpy(to, a + at, of_a);
    }
    if (size > of_a) {
        memcpy(to + of_a, b + (at + of_a - a_size), size - of_a);
    }
}

/* The same range of the two pieces through the page cache. */
static int write_edge(const struct bench_file *f, uint64_t offset, const unsigned char *a, size_t a_size,
                      const unsigned char *b, size_t at, size_t size) {
    size_t of_a = at >= a_size ? 0 : size < a_size - at ? size : a_size - at;
    const unsigned char *of_b = size > of_a ? b + (at + of_a - a_size) : NULL;
    return hpcw_i_sys_pwrite2(f->fd, of_a > 0 ? a + at : NULL, of_a, of_b, size - of_a, offset + at);
}

static int write_direct(const struct bench_file *f, uint64_t offset, const unsigned char *a, size_t a_size,
                        const unsigned char *b, size_t b_size) {
    size_t total = a_size + b_size;
    size_t head = (size_t)((f->align - offset % f->align) % f->align);
    head = head < total ? head : total;
    size_t middle = (total - head) / f->align * f->align;
    int e = head > 0 ? write_edge(f, offset, a, a_size, b, 0, head) : 0;
    for (size_t at = head; e == 0 && at < head + middle;) {
        size_t n = head + middle - at;
        bool whole = at >= a_size || n <= a_size - at; /* in one of the two */
        const unsigned char *p = !whole ? NULL : at >= a_size ? b + (at - a_size) : a + at;
        if (p == NULL || (uintptr_t)p % f->align != 0) {
            n = n < f->bounce_size ? n : f->bounce_size;
            gather(f->bounce, a, a_size, b, at, n);
            p = f->bounce;
        }
        e = hpcw_i_sys_pwrite(f->direct, p, n, offset + at);
        at += n;
    }
    size_t done = head + middle;
    return e != 0 || done == total ? e : write_edge(f, offset, a, a_size, b, done, total - done);
}

hpcw_status bench_file_write(const struct bench_file *f, uint64_t offset, const void *a, size_t a_size,
                             const void *b, size_t b_size, hpcw_error *err) {
    offset += f->shift;
    int e = f->direct >= 0 ? write_direct(f, offset, a, a_size, b, b_size)
                           : hpcw_i_sys_pwrite2(f->fd, a, a_size, b, b_size, offset);
    return e == 0 ? HPCW_OK
                  : hpcw_i_fail_sys(err, e, "%s: cannot write %zu bytes at offset %llu", f->path,
                                    a_size + b_size, (unsigned long long)offset);
}

hpcw_status bench_file_allocate(const struct bench_file *f, uint64_t size, hpcw_error *err) {
    int e;
    do {
        /* Not posix_fallocate, which writes zeros where the file system cannot. */
        e = fallocate(f->fd, 0, 0, (off_t)(size + f->shift)) == 0 ? 0 : errno;
    } while (e == EINTR);
    return e == 0 ? HPCW_OK
           : e == EOPNOTSUPP
               ? hpcw_i_fail(err, HPCW_ENOTSUP, "%s: the file system cannot allocate in advance", f->path)
               : hpcw_i_fail_sys(err, e, "%s: cannot allocate %llu bytes", f->path, (unsigned long long)size);
}

hpcw_status bench_file_set_size(const struct bench_file *f, uint64_t size, hpcw_error *err) {
    int e = hpcw_i_sys_truncate(f->fd, size + f->shift);
    return e == 0
               ? HPCW_OK
               : hpcw_i_fail_sys(err, e, "%s: cannot set the size to %llu", f->path, (unsigned long long)size);
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
