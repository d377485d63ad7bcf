/* SPDX-License-Identifier: BSD-3-Clause */
/* One file being written in one of the modes. Everything that is measured goes through here, the ceiling too. */
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
    uint32_t align;        /* of offsets, sizes and memory for `direct` */
    unsigned char *bounce; /* [bounce_size] aligned; borrowed */
    size_t bounce_size;    /* a multiple of `align` */
};

/*
 * Creates the file, or opens what another process has created. `direct`: with O_DIRECT; then align, bounce and
 * bounce_size must be set. Any other field is set here.
 */
hpcw_status bench_file_open(struct bench_file *f, const char *path, bool direct, hpcw_error *err);

/*
 * The second writes pieces that follow each other in the file, of `size` bytes together. With O_DIRECT the whole aligned
 * blocks among them go that way, from `bounce` where they do not lie aligned in memory; what is left at both ends goes
 * through the page cache.
 */
hpcw_status bench_file_write(const struct bench_file *f, uint64_t offset, const void *data, size_t size,
                             hpcw_error *err);
hpcw_status bench_file_write_pieces(const struct bench_file *f, uint64_t offset,
                                    const struct hpcw_i_piece *piece, size_t pieces, size_t size,
                                    hpcw_error *err);

/* Blocks for bytes [0, size), the shift included. HPCW_ENOTSUP: the file system cannot. */
hpcw_status bench_file_allocate(const struct bench_file *f, uint64_t size, hpcw_error *err);
hpcw_status bench_file_set_size(const struct bench_file *f, uint64_t size, hpcw_error *err);
hpcw_status bench_file_sync(const struct bench_file *f, hpcw_error *err);

/* Closes what is open, and reports; frees. Harmless on a file that is not open, if zeroed or once opened. */
hpcw_status bench_file_close(struct bench_file *f, hpcw_error *err);

#endif
