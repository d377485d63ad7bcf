/* SPDX-License-Identifier: BSD-3-Clause */
/* A file that is written in one of the modes. All measured writes go through it, including those of the ceiling. */
#ifndef HPCW_BENCH_LAYOUT_FILE_H
#define HPCW_BENCH_LAYOUT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "libwriter/io/sys.h"

struct bench_file {
    char *path;
    int fd;                /* -1: not open */
    int direct;            /* the same file without the page cache; -1: mode buffered */
    uint64_t shift;        /* added to every offset */
    uint32_t align;        /* alignment of offsets, sizes and memory for `direct` */
    unsigned char *bounce; /* [bounce_size] aligned; borrowed */
    size_t bounce_size;    /* a multiple of `align` */
};

/* Creates the file, or opens it if another process has created it. direct: use O_DIRECT; align, bounce and
 * bounce_size must be set. All other fields are set here. */
hpcw_status bench_file_open(struct bench_file *f, const char *path, bool direct, hpcw_error *err);

/* The second function writes pieces that are contiguous in the file and have `size` bytes in total. With
 * O_DIRECT, whole aligned blocks bypass the page cache; data not aligned in memory are copied to `bounce`. The
 * rest at both ends goes through the page cache. */
hpcw_status bench_file_write(const struct bench_file *f, uint64_t offset, const void *data, size_t size,
                             hpcw_error *err);
hpcw_status bench_file_write_pieces(const struct bench_file *f, uint64_t offset,
                                    const struct hpcw_i_piece *piece, size_t pieces, size_t size,
                                    hpcw_error *err);

/* Allocates blocks for the bytes [0, size), including the shift. HPCW_ENOTSUP: the file system cannot do it. */
hpcw_status bench_file_allocate(const struct bench_file *f, uint64_t size, hpcw_error *err);
hpcw_status bench_file_set_size(const struct bench_file *f, uint64_t size, hpcw_error *err);
hpcw_status bench_file_sync(const struct bench_file *f, hpcw_error *err);

/* Closes what is open, reports errors, and frees. A zeroed or closed file is allowed. */
hpcw_status bench_file_close(struct bench_file *f, hpcw_error *err);

#endif
