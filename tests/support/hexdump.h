/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The worked examples of the pages in doc/formats: reads the bytes of an example out of a page.
 *
 * An example is a fenced block whose opening line is three backticks, a kind, a space and the name of the file:
 *
 *     ```hex one_task.sion
 *     0000  73 69 6f 6e        | magic
 *     0004  00 * 4             | byte order
 *     ```
 *
 * A line of a block of the kind "hex" is OFFSET, BYTES and, after a bar, a note. OFFSET is the hexadecimal number
 * of bytes before the line: nothing is skipped, holes are written out. BYTES are items with spaces between them: two
 * lower-case hexadecimal digits, or two digits, a star and a decimal number of repetitions ("00 * 4096").
 * Empty lines mean nothing. Blocks with the same opening line continue each other, so that text can stand between
 * the parts of a file. A block of any other kind ("json NAME") is a text of one line, laid out for reading: the ends of
 * lines and the spaces that begin them do not count.
 */
#ifndef HPCW_TESTS_SUPPORT_HEXDUMP_H
#define HPCW_TESTS_SUPPORT_HEXDUMP_H

#include <stddef.h>

#include <hpcw/status.h>

/* The largest example; a typing error in a repetition must not use up memory. */
#define HEXDUMP_MOST_BYTES (1u << 20)

/*
 * The bytes of the example `block` ("hex one_task.sion") in the file `page`; to be freed by the caller. NULL on
 * failure, with page and line in `err`.
 */
unsigned char *hexdump_read(const char *page, const char *block, size_t *size, hpcw_error *err);

/* The line of the page that made byte `offset` of the example, for messages; 0 if there is none. */
unsigned hexdump_line(const char *page, const char *block, size_t offset);

#endif
