/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads a text from its beginning. It may be a file, also one of /proc, which does not know its size; a character
 * device; or a pipe that somebody writes into, as in --config <(command). Results are 0 or an errno value.
 */
#ifndef HPCW_IO_TEXT_H
#define HPCW_IO_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct hpcw_i_text {
    int fd;
    bool ended;
    size_t next, end; /* bounds of the bytes in `piece` that are not taken yet */
    char piece[4096];
};

/* Opens a text without waiting for a writer. EPIPE: it is a pipe without a writer. EISDIR, EINVAL: it is not a
 * text. After a failure there is nothing to close. */
int hpcw_i_text_open(const char *path, struct hpcw_i_text *text);

/* Reads up to `size` bytes, fewer only at the end. */
int hpcw_i_text_read(struct hpcw_i_text *text, char *data, size_t size, size_t *got);

/* Reads the next line with its newline, and adds a NUL. A long line comes in parts of size - 1 bytes. At the end
 * of the text, `line` is "". */
int hpcw_i_text_line(struct hpcw_i_text *text, char *line, size_t size);

void hpcw_i_text_close(struct hpcw_i_text *text);

#endif
