/* SPDX-License-Identifier: BSD-3-Clause */
/* A file that is written buffered, with O_DIRECT or after preallocation. All measured writes go through these
 * functions, including those of the ceiling (plain large writes of the same bytes). */
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
    int direct;            /* descriptor of the same file with O_DIRECT; -1: not used */
    uint64_t shift;        /* bytes that are added to every file offset */
    uint32_t align;        /* alignment of offsets, sizes and memory for `direct` */
    unsigned char *bounce; /* [bounce_size] aligned copy of unaligned data; borrowed */
    size_t bounce_size;    /* a multiple of `align` */
};

/* Creates the file, or opens it if another process has created it. Sets the path and both descriptors; the caller
 * sets the shift. direct: use O_DIRECT; the caller must set align, bounce and bounce_size, too. */
hpcw_status bench_file_open(struct bench_file *f, const char *path, bool direct, hpcw_error *err);

/* Writes `size` bytes; bench_file_write_pieces takes them from several pieces. With O_DIRECT, whole aligned blocks
 * bypass the page cache; data not aligned in memory are copied to `bounce`. The partial blocks at both ends go
 * through the page cache. */
hpcw_status bench_file_write(const struct bench_file *f, uint64_t offset, const void *data, size_t size,
                             hpcw_error *err);
hpcw_status bench_file_write_pieces(const struct bench_file *f, uint64_t offset,
                                    const struct hpcw_i_piece *piece, size_t pieces, size_t size,
                                    hpcw_error *err);

/* Allocates blocks for the bytes [0, size), including the shift. HPCW_ENOTSUP: the file system cannot do it. */
hpcw_status bench_file_allocate(const struct bench_file *f, uint64_t size, hpcw_error *err);
hpcw_status bench_file_set_size(const struct bench_file *f, uint64_t size, hpcw_error *err);
hpcw_status bench_file_sync(const struct bench_file *f, hpcw_error *err);

/* Closes both descriptors, reports errors, and frees the path. A zeroed or closed file is allowed. */
hpcw_status bench_file_close(struct bench_file *f, hpcw_error *err);

#endif
