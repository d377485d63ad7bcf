/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a text file line by line. Memory: little more than the longest line, at least 128 KiB. */
#ifndef HPCW_GEN_DATASET_DIRECTORY_LINES_H
#define HPCW_GEN_DATASET_DIRECTORY_LINES_H

#include "libreader/source.h"
#include "libwriter/base/buf.h"

/* Zeroed: not open. */
struct gen_lines {
    struct read_source *source;
    struct hpcw_i_buf buf;
    size_t begin;    /* of the next line in `buf` */
    uint64_t at;     /* offset of what follows `buf` in the file */
    uint64_t number; /* of the last line, from 1 */
};

hpcw_status gen_lines_open(struct gen_lines *l, const char *path, hpcw_error *err);
void gen_lines_close(struct gen_lines *l);

/*
 * The next line, valid until the next call, with a NUL in place of its newline. *line is NULL at the end of the file.
 * HPCW_EFORMAT for a line of more than 256 MiB, without a newline, or with a NUL in it.
 */
hpcw_status gen_lines_next(struct gen_lines *l, char **line, hpcw_error *err);

#endif
