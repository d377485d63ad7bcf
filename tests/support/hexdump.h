/* SPDX-License-Identifier: BSD-3-Clause */
/* Worked examples of the pages in doc/formats: reads the bytes of an example from a page.
 *
 * An example is a fenced block. Its opening line is three backticks, a kind, a space and the name of the file:
 *
 *   ```hex one_task.sion
 *   0000  73 69 6f 6e        | magic
 *   0004  00 * 4             | byte order
 *   ```
 *
 * A line of a "hex" block has OFFSET, BYTES and, after a bar, a note. OFFSET is the hexadecimal number of bytes
 * before the line. Nothing is skipped, and holes are written out. BYTES are items separated by spaces: two
 * lower-case hexadecimal digits, or two digits, a star and a decimal number of repetitions ("00 * 4096"). Empty
 * lines are ignored. Blocks with the same opening line continue each other, so text can be between the parts of a
 * file. A "text" block has the lines of the file as they are, each with its line feed. A block of another kind ("json
 * NAME") is a text of one line, laid out for reading: line ends and leading spaces do not count. */
#ifndef HPCW_TESTS_SUPPORT_HEXDUMP_H
#define HPCW_TESTS_SUPPORT_HEXDUMP_H

#include <stddef.h>

#include <hpcw/status.h>

/* Limit of an example's size, so that a typing error in a repetition cannot use up memory. */
#define HEXDUMP_MOST_BYTES (1u << 20)

/* Returns the bytes of the example `block` ("hex one_task.sion") in the file `page`, to be freed by the caller.
 * Returns NULL on failure, with page and line in `err`. */
unsigned char *hexdump_read(const char *page, const char *block, size_t *size, hpcw_error *err);

/* Returns the line of the page that gives byte `offset` of the example, for messages; 0: none. */
unsigned hexdump_line(const char *page, const char *block, size_t offset);

#endif
