/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a text file line by line. Memory: slightly more than the longest line, at least 128 KiB. */
#ifndef HPCW_GEN_DATASET_DIRECTORY_LINES_H
#define HPCW_GEN_DATASET_DIRECTORY_LINES_H

#include "libreader/source.h"
#include "libwriter/base/buf.h"

/* A zeroed struct is not open. */
struct gen_lines {
    struct read_source *source;
    struct hpcw_i_buf buf;
    size_t begin;    /* begin of the next line in `buf` */
    uint64_t at;     /* file offset of the byte after `buf` */
    uint64_t number; /* number of the last line, from 1 */
};

hpcw_status gen_lines_open(struct gen_lines *l, const char *path, hpcw_error *err);
void gen_lines_close(struct gen_lines *l);

/* Reads the next line. It has a NUL in place of its newline and is valid until the next call. *line is NULL at
 * the end of the file. HPCW_EFORMAT: the line has more than 256 MiB, no newline, or a NUL. */
hpcw_status gen_lines_next(struct gen_lines *l, char **line, hpcw_error *err);

#endif
