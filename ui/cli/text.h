/* SPDX-License-Identifier: BSD-3-Clause */
/* Text for people: sizes, durations, wrapped paragraphs, tables, terminals, misspelt names. */
#ifndef HPCW_UI_CLI_TEXT_H
#define HPCW_UI_CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <hpcw/status.h>

/* ---- numbers ---- */

/* Capacity for any text that the functions below make, with its NUL. Each returns its first argument. */
#define UI_TEXT_SIZE 32

/* "999 B", "285.3 MB", "17.2 GB": powers of 1000, one decimal, rounded half up and never to "1000.0 MB". */
char *ui_text_bytes(char text[UI_TEXT_SIZE], uint64_t bytes);

/* "272.1 MiB": powers of 1024. */
char *ui_text_bytes_binary(char text[UI_TEXT_SIZE], uint64_t bytes);

/* "4K", "16M", "4097": the shortest text that a size option reads as the same number. */
char *ui_text_size(char text[UI_TEXT_SIZE], uint64_t bytes);

/* "812.4 MB/s"; a negative or not finite rate is "- B/s". */
char *ui_text_rate(char text[UI_TEXT_SIZE], double bytes_per_second);

/* "12.3 us", "1.50 s", "2 min 05 s", "3 h 07 min", "2 d 03 h"; "-" for a negative or not finite number. */
char *ui_text_duration(char text[UI_TEXT_SIZE], double seconds);

/* ---- terminals ---- */

/* Returns whether a stream is a terminal with a movable cursor: TERM is set and not "dumb". */
bool ui_text_is_terminal(FILE *stream);

/* Returns the columns of the terminal of a stream, at least 20. If the stream is no terminal, returns the
 * environment variable COLUMNS, or 80 if it is not set. */
unsigned ui_text_width(FILE *stream);

/* ---- paragraphs ---- */

/*
 * Prints `text` broken at spaces so that no line is longer than `width` columns; every line but the first
 * starts with `indent` spaces. `column` is where the cursor stands before the first word. A longer word gets a
 * line of its own and is not cut. Line feeds in the text are kept. Ends with a line feed.
 */
void ui_text_wrap(FILE *stream, const char *text, unsigned column, unsigned indent, unsigned width);

/* Returns the columns of a UTF-8 text: one for each character. Wide characters do not occur in names and units. */
size_t ui_text_columns(const char *text);

/* ---- misspelt names ---- */

/* Returns the index-th name of a list, NULL after the last one. */
typedef const char *ui_text_name(const void *list, size_t index);

/* A ui_text_name for a NULL-terminated array: `list` is a const char *const *. */
const char *ui_text_name_in_array(const void *list, size_t index);

/*
 * Returns the name that `word` most likely stands for: the name with the fewest insertions, deletions, replacements
 * and swaps of neighbours. If no name is near, returns the name that begins with the word, if it is the only one.
 * Else NULL.
 */
const char *ui_text_nearest(const char *word, ui_text_name *name, const void *list);

/* ---- tables ---- */

enum ui_align { UI_LEFT, UI_RIGHT };

#define UI_TABLE_COLUMNS 16

/* Rows of aligned cells. A zeroed struct is an empty table. A failure is kept until ui_table_print reports it. */
struct ui_table {
    struct {
        const char *title;
        enum ui_align align;
    } columns[UI_TABLE_COLUMNS];
    size_t column_count;
    char **cells; /* row by row */
    size_t cell_count, cell_capacity;
    bool failed;
};

/* Appends a column, before the first cell. The title is borrowed. The head is omitted if no column has a title. */
void ui_table_column(struct ui_table *table, const char *title, enum ui_align align);

/* Fills the next cell; cells fill rows from the left. */
void ui_table_cell(struct ui_table *table, const char *fmt, ...) HPCW_PRINTF(2, 3);

/*
 * Prints the head, a rule and the rows. Lines are indented by `indent` spaces, and columns are two spaces apart.
 * HPCW_ENOMEM if memory ran out for a cell, HPCW_EINVAL if the last row is not complete.
 */
HPCW_MUST_CHECK hpcw_status ui_table_print(const struct ui_table *table, FILE *stream, unsigned indent,
                                           hpcw_error *err);

void ui_table_free(struct ui_table *table);

#endif
