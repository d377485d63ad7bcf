/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads a text from its beginning: of a file, also one of /proc, which does not know its size, of a character
 * device, and of a pipe that somebody writes into, as in --config <(command). Results are 0 or an errno value.
 */
#ifndef HPCW_IO_TEXT_H
#define HPCW_IO_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct hpcw_i_text {
    int fd;
    bool ended;
    size_t next, end; /* of the bytes in `piece` that are not taken yet */
    char piece[4096];
};

/* Never waits for a writer: EPIPE says that a pipe has none. EISDIR, EINVAL: it is no text. After a failure there
 * is nothing to close. */
int hpcw_i_text_open(const char *path, struct hpcw_i_text *text);

/* Up to `size` bytes, fewer only at the end. */
int hpcw_i_text_read(struct hpcw_i_text *text, char *data, size_t size, size_t *got);

/* The next line with its newline and a NUL, or the first size - 1 bytes of what is left of it; "" at the end. */
int hpcw_i_text_line(struct hpcw_i_text *text, char *line, size_t size);

void hpcw_i_text_close(struct hpcw_i_text *text);

#endif
