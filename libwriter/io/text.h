/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads a text from its beginning: a file, also one of /proc, whose size is unknown; a character device; or a
 * pipe that another process writes, as in --config <(command). The functions return 0 or an errno value.
 */
#ifndef HPCW_IO_TEXT_H
#define HPCW_IO_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct hpcw_i_text {
    int fd;
    bool ended;
    size_t next, end; /* begin and end of the bytes in `piece` that are not yet returned */
    char piece[4096];
};

/* Opens a text without waiting for the writer of a pipe. EPIPE: the pipe has no writer. EISDIR, EINVAL: the
 * file is a directory or of another kind that is no text. After a failure there is nothing to close. */
int hpcw_i_text_open(const char *path, struct hpcw_i_text *text);

/* Reads `size` bytes; *got is smaller only at the end of the text. */
int hpcw_i_text_read(struct hpcw_i_text *text, char *data, size_t size, size_t *got);

/* Reads the next line with its newline, and appends a NUL. A line that does not fit comes in parts of size - 1
 * bytes. At the end of the text, `line` becomes "". */
int hpcw_i_text_line(struct hpcw_i_text *text, char *line, size_t size);

void hpcw_i_text_close(struct hpcw_i_text *text);

#endif
