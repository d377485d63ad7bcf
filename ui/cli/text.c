/* SPDX-License-Identifier: BSD-3-Clause */
#include "ui/cli/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "ui/param/param.h"

/* ---- numbers ---- */

char *ui_text_bytes(char text[UI_TEXT_SIZE], uint64_t bytes) {
    return ui_param_bytes_text(text, bytes, false);
}

char *ui_text_bytes_binary(char text[UI_TEXT_SIZE], uint64_t bytes) {
    return ui_param_bytes_text(text, bytes, true);
}

char *ui_text_size(char text[UI_TEXT_SIZE], uint64_t bytes) {
    return ui_param_size_text(text, bytes);
}

char *ui_text_rate(char text[UI_TEXT_SIZE], double bytes_per_second) {
    if (!(bytes_per_second >= 0) || bytes_per_second >= 1.8e19) {
        (void)snprintf(text, UI_TEXT_SIZE, "- B/s");
        return text;
    }
    char bytes[UI_TEXT_SIZE];
    ui_text_bytes(bytes, (uint64_t)(bytes_per_second + 0.5));
    (void)snprintf(text, UI_TEXT_SIZE, "%.20s/s", bytes);
    return text;
}

/* Prints a value below 1000 with three significant digits, and its unit. Returns false if the value rounds up to
 * 1000. */
static bool three_digits(char *text, double value, const char *unit) {
    int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    if (value >= 999.5) {
        return false;
    }
    (void)snprintf(text, UI_TEXT_SIZE, "%.*f %s", decimals, value, unit);
    return true;
}

char *ui_text_duration(char text[UI_TEXT_SIZE], double seconds) {
    if (!(seconds >= 0) || seconds > 1e15) {
        (void)snprintf(text, UI_TEXT_SIZE, "-");
        return text;
    }
    if (seconds == 0) {
        (void)snprintf(text, UI_TEXT_SIZE, "0 s");
        return text;
    }
    if (three_digits(text, seconds * 1e9, "ns") || three_digits(text, seconds * 1e6, "us") ||
        three_digits(text, seconds * 1e3, "ms")) {
        return text;
    }
    if (seconds < 59.95 && three_digits(text, seconds, "s")) {
        return text;
    }
    uint64_t s = (uint64_t)(seconds + 0.5);
    if (s < 3600) {
        (void)snprintf(text, UI_TEXT_SIZE, "%u min %02u s", (unsigned)(s / 60), (unsigned)(s % 60));
        return text;
    }
    uint64_t min = (uint64_t)(seconds / 60 + 0.5);
    if (min < (uint64_t)24 * 60) {
        (void)snprintf(text, UI_TEXT_SIZE, "%u h %02u min", (unsigned)(min / 60), (unsigned)(min % 60));
        return text;
    }
    uint64_t h = (uint64_t)(seconds / 3600 + 0.5);
    (void)snprintf(text, UI_TEXT_SIZE, "%" PRIu64 " d %02u h", h / 24, (unsigned)(h % 24));
    return text;
}

/* ---- terminals ---- */

bool ui_text_is_terminal(FILE *stream) {
    int fd = fileno(stream);
    const char *term = getenv("TERM");
    return fd >= 0 && isatty(fd) == 1 && term != NULL && term[0] != '\0' && strcmp(term, "dumb") != 0;
}

unsigned ui_text_width(FILE *stream) {
    enum { MIN = 20, DEFAULT = 80, MAX = 10000 };
    unsigned long width = 0;
    struct winsize size;
    int fd = fileno(stream);
    if (fd >= 0 && ioctl(fd, TIOCGWINSZ, &size) == 0) {
        width = size.ws_col;
    }
    if (width == 0) {
        const char *columns = getenv("COLUMNS");
        width = columns == NULL ? 0 : strtoul(columns, NULL, 10);
    }
    if (width == 0 || width > MAX) {
        width = DEFAULT;
    }
    return (unsigned)(width < MIN ? MIN : width);
}

/* ---- paragraphs ---- */

static size_t columns_of(const char *text, size_t bytes) {
    size_t n = 0;
    for (size_t i = 0; i < bytes; i++) {
        n += ((unsigned char)text[i] & 0xC0) != 0x80;
    }
    return n;
}

size_t ui_text_columns(const char *text) {
    return columns_of(text, strlen(text));
}

void ui_text_wrap(FILE *stream, const char *text, unsigned column, unsigned indent, unsigned width) {
    size_t at = column;
    bool first = true; /* the line has no word yet */
    for (const char *p = text; *p != '\0';) {
        if (*p == '\n') {
            (void)fprintf(stream, "\n");
            at = 0;
            first = true;
            p++;
            continue;
        }
        if (*p == ' ') {
            p++;
            continue;
        }
        size_t bytes = strcspn(p, " \n");
        size_t columns = columns_of(p, bytes);
        if (!first && at + 1 + columns > width) {
            (void)fprintf(stream, "\n");
            at = 0;
            first = true;
        }
        if (at < indent && first) {
            (void)fprintf(stream, "%*s", (int)(indent - at), "");
            at = indent;
        } else if (!first) {
            (void)fprintf(stream, " ");
            at++;
        }
        (void)fprintf(stream, "%.*s", (int)bytes, p);
        at += columns;
        first = false;
        p += bytes;
    }
    (void)fprintf(stream, "\n");
}

/* ---- misspelt names ---- */

const char *ui_text_name_in_array(const void *list, size_t index) {
    const char *const *names = list;
    return names[index];
}

enum { NEAREST_MAX = 63 };

static unsigned min_of(unsigned a, unsigned b) {
    return a < b ? a : b;
}

/* Optimal string alignment distance; both texts are at most NEAREST_MAX long. */
static unsigned distance(const char *a, const char *b) {
    unsigned rows[3][NEAREST_MAX + 1];
    size_t an = strlen(a), bn = strlen(b);
    for (size_t j = 0; j <= bn; j++) {
        rows[0][j] = (unsigned)j;
    }
    for (size_t i = 1; i <= an; i++) {
        unsigned *now = rows[i % 3], *before = rows[(i + 2) % 3], *before2 = rows[(i + 1) % 3];
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= bn; j++) {
            unsigned best = before[j - 1] + (a[i - 1] != b[j - 1]);
            best = min_of(best, before[j] + 1);
            best = min_of(best, now[j - 1] + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                best = min_of(best, before2[j - 2] + 1);
            }
            now[j] = best;
        }
    }
    return rows[an % 3][bn];
}

const char *ui_text_nearest(const char *word, ui_text_name *name, const void *list) {
    size_t length = strlen(word);
    if (length == 0 || length > NEAREST_MAX) {
        return NULL;
    }
    /* Largest number of errors in a misspelt name: a third of its letters, or one in a word of less than six
     * letters. */
    unsigned limit = (unsigned)(length < 6 ? 1 : length / 3);
    const char *best = NULL, *begins = NULL;
    size_t beginners = 0;
    for (size_t i = 0;; i++) {
        const char *candidate = name(list, i);
        if (candidate == NULL) {
            break;
        }
        if (strlen(candidate) > NEAREST_MAX) {
            continue;
        }
        if (length >= 2 && strncmp(candidate, word, length) == 0) {
            begins = candidate;
            beginners++;
        }
        unsigned d = distance(word, candidate);
        if (d <= limit && d < length) {
            best = candidate;
            limit = d == 0 ? 0 : d - 1;
            if (d == 0) {
                break;
            }
        }
    }
    return best != NULL ? best : beginners == 1 ? begins : NULL;
}

/* ---- tables ---- */

void ui_table_column(struct ui_table *table, const char *title, enum ui_align align) {
    if (table->column_count == UI_TABLE_COLUMNS || table->cell_count != 0) {
        table->failed = true;
        return;
    }
    table->columns[table->column_count].title = title;
    table->columns[table->column_count].align = align;
    table->column_count++;
}

void ui_table_cell(struct ui_table *table, const char *fmt, ...) {
    if (table->failed) {
        return;
    }
    char **cells = hpcw_i_grow(table->cells, &table->cell_capacity, table->cell_count + 1, sizeof(*cells));
    if (cells == NULL) {
        table->failed = true;
        return;
    }
    table->cells = cells;
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, fmt, args);
    char *cell = length < 0 ? NULL : hpcw_i_malloc((size_t)length + 1);
    if (cell == NULL) {
        table->failed = true;
    } else {
        (void)vsnprintf(cell, (size_t)length + 1, fmt, again);
        table->cells[table->cell_count++] = cell;
    }
    va_end(again);
    va_end(args);
}

/* Prints a row. Blanks are printed only before a text, so that no line ends with one. */
static void print_row(const struct ui_table *table, FILE *stream, const char *const *cells, const size_t *width,
                      size_t indent) {
    size_t blanks = indent;
    for (size_t c = 0; c < table->column_count; c++) {
        size_t pad = width[c] - ui_text_columns(cells[c]);
        bool right = table->columns[c].align == UI_RIGHT;
        blanks += right ? pad : 0;
        if (cells[c][0] != '\0') {
            (void)fprintf(stream, "%*s%s", (int)blanks, "", cells[c]);
            blanks = 0;
        }
        blanks += (right ? 0 : pad) + 2;
    }
    (void)fprintf(stream, "\n");
}

hpcw_status ui_table_print(const struct ui_table *table, FILE *stream, unsigned indent, hpcw_error *err) {
    size_t n = table->column_count;
    if (table->failed || n == 0) {
        return hpcw_i_fail(err, HPCW_ENOMEM,
                           "a table of %zu columns: out of memory for its cells, or more than %d columns", n,
                           UI_TABLE_COLUMNS);
    }
    if (table->cell_count % n != 0) {
        return hpcw_i_fail(err, HPCW_EINVAL, "a table of %zu columns: the last row has %zu cells", n,
                           table->cell_count % n);
    }
    size_t width[UI_TABLE_COLUMNS] = {0};
    const char *titles[UI_TABLE_COLUMNS];
    bool head = false;
    for (size_t c = 0; c < n; c++) {
        titles[c] = table->columns[c].title == NULL ? "" : table->columns[c].title;
        width[c] = ui_text_columns(titles[c]);
        head = head || width[c] > 0;
    }
    for (size_t i = 0; i < table->cell_count; i++) {
        size_t columns = ui_text_columns(table->cells[i]);
        if (columns > width[i % n]) {
            width[i % n] = columns;
        }
    }
    if (head) {
        print_row(table, stream, titles, width, indent);
        (void)fprintf(stream, "%*s", (int)indent, "");
        for (size_t c = 0; c < n; c++) {
            for (size_t k = 0; k < width[c]; k++) {
                (void)fputc('-', stream);
            }
            (void)fprintf(stream, "%s", c + 1 == n ? "\n" : "  ");
        }
    }
    for (size_t i = 0; i < table->cell_count; i += n) {
        print_row(table, stream, (const char *const *)&table->cells[i], width, indent);
    }
    return HPCW_OK;
}

void ui_table_free(struct ui_table *table) {
    for (size_t i = 0; i < table->cell_count; i++) {
        hpcw_i_free(table->cells[i]);
    }
    hpcw_i_free(table->cells);
    *table = (struct ui_table){0};
}
