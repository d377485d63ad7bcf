/* SPDX-License-Identifier: BSD-3-Clause */
/* F4: a text file, line by line; in memory is not much more of it than the longest line, or 128 KiB. */
#ifndef HPCW_GEN_DATASET_LINES_H
#define HPCW_GEN_DATASET_LINES_H

#include "libreader/source.h"
#include "libwriter/base/buf.h"

/* Zeroed: not open. */
struct gen_lines {
    struct read_source *source;
    struct hpcw_i_buf buf;
    size_t begin;    /* of what is in `buf` and was not handed out */
    uint64_t at;     /* of the file, what comes behind `buf` */
    uint64_t number; /* of the last line, from 1 */
};

hpcw_status gen_lines_open(struct gen_lines *l, const char *path, hpcw_error *err);
void gen_lines_close(struct gen_lines *l);

/*
 * The next line, which must end with a newline, which becomes a NUL; it is good until the next call. *line is NULL at
 * the end of the file. HPCW_EFORMAT for a line of more than 256 MiB, a last one without an end or one with a NUL in it.
 */
hpcw_status gen_lines_next(struct gen_lines *l, char **line, hpcw_error *err);

#endif
