/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints the summary of `hpcgen info`: rounded numbers with units, several members in a line, arrays as tables
 * of a few rows. All of it fits on one screen. The input is JSON that struct hpcw_i_json wrote, without blanks
 * between members.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "gen/cli/common/common.h"
#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "ui/cli/text.h"

enum {
    WIDTH = 80,
    LINES = 24, /* lines of a terminal, one of which the next prompt of the shell takes */
    ROWS = 10,  /* most rows of a table */
    INNER_ROWS = 3,
    TABLE_FRAME = 4, /* lines of a table besides its rows: name, head, rule, number of rows that are left out */
    LEAST_CELL = 12, /* columns that a long text in a table keeps when it is cut */
    TEXT = 128,      /* most bytes of a value with its NUL; longer ones are cut */
    PAIRS = 64,      /* most members of an object that are shown */
    COLUMNS = 32,    /* more than the members of any row of a table */
};

/* ---- members ---- */

const char *gen_cli_end_of_scalar(const char *p) {
    if (*p != '"') {
        return p + strcspn(p, ",]}");
    }
    for (p++; *p != '"'; p++) {
        p += *p == '\\';
    }
    return p + 1;
}

/* A member of an object, or an element of an array; the key of an element is "". */
struct summary_member {
    char key[48];
    const char *value, *end;
};

static const char *end_of_value(const char *p) {
    unsigned depth = 0;
    if (*p != '{' && *p != '[') {
        return gen_cli_end_of_scalar(p);
    }
    do {
        depth += *p == '{' || *p == '[';
        depth -= *p == '}' || *p == ']';
        p = *p == '"' ? gen_cli_end_of_scalar(p) : p + 1;
    } while (depth > 0);
    return p;
}

/* Gets the next member. At first *p must be at the opening bracket; each call moves it to the end of a member.
 * False: there is no further member. */
static bool next_member(const char **p, bool in_object, struct summary_member *m) {
    if (**p == '}' || **p == ']' || (*p)[1] == '}' || (*p)[1] == ']') {
        return false;
    }
    m->value = *p + 1; /* after the bracket or the comma */
    m->key[0] = '\0';
    if (in_object) {
        const char *end = gen_cli_end_of_scalar(m->value);
        (void)snprintf(m->key, sizeof m->key, "%.*s", (int)(end - m->value) - 2, m->value + 1);
        m->value = end + 1;
    }
    *p = m->end = end_of_value(m->value);
    return true;
}

static bool is_scalar(const struct summary_member *m) {
    return *m->value != '{' && *m->value != '[';
}

static bool find(const char *object, const char *key, struct summary_member *m) {
    const char *p = object;
    bool found = false;
    while (!found && next_member(&p, true, m)) {
        found = strcmp(m->key, key) == 0;
    }
    return found;
}

/* ---- values ---- */

static bool ends_with(const char *key, const char *end) {
    const size_t n = strlen(key), size = strlen(end);
    return n >= size && strcmp(key + n - size, end) == 0;
}

static bool is_size(const char *key) {
    static const char *const ends[] = {"bytes", "_size", "_stride", "est_stream"};
    bool is = false;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        is = is || ends_with(key, ends[i]);
    }
    return is;
}

/* Shows bytes as "1.5 KiB (1536)". Sizes below 1000 bytes, and those in tables, get no exact number in
 * parentheses. */
static void show_size(char text[TEXT], double bytes, bool in_table) {
    char rounded[UI_TEXT_SIZE];
    (void)ui_text_bytes(rounded, (uint64_t)bytes);
    (void)snprintf(text, TEXT, bytes < 1000 || in_table ? "%s" : "%s (%.0f)", rounded, bytes);
}

static void show_date(char text[TEXT], double microseconds) {
    const time_t seconds = (time_t)(microseconds / 1e6);
    struct tm utc;
    if (gmtime_r(&seconds, &utc) == NULL || strftime(text, TEXT, "%Y-%m-%d %H:%M UTC", &utc) == 0) {
        text[0] = '\0';
    }
}

static void show(char text[TEXT], const char *key, const char *value, bool in_table) {
    const int size = (int)(gen_cli_end_of_scalar(value) - value);
    const bool is_text = *value == '"', is_number = !is_text && strchr("tfn", *value) == NULL;
    const double number = is_number ? strtod(value, NULL) : 0;
    char rounded[UI_TEXT_SIZE];
    if (is_number && number >= 0 && number < 1.8e19 && is_size(key)) {
        show_size(text, number, in_table);
    } else if (is_number && strcmp(key, "created_us") == 0) {
        show_date(text, number);
    } else if (is_number && (ends_with(key, "_s") || strcmp(key, "seconds") == 0)) {
        (void)snprintf(text, TEXT, "%s%s", number < 0 ? "-" : "", ui_text_duration(rounded, fabs(number)));
    } else if (is_number && memchr(value, '.', (size_t)size) != NULL) {
        (void)snprintf(text, TEXT, "%.4g", number);
    } else {
        (void)snprintf(text, TEXT, "%.*s", size - 2 * is_text, *value == 'n' ? "-" : value + is_text);
    }
}

/* ---- tables ---- */

struct summary_column {
    struct summary_member m; /* key of the column, and its value in the first row */
    const char *within;      /* key of the member inside `m` that is shown; NULL: `m` itself is shown */
    char title[64];
    size_t width;
};

/* Returns whether tables leave this member out, as people seldom need it. */
static bool is_hidden(const char *key) {
    static const char *const hidden[] = {"state",      "colour",      "format", "communications",
                                         "checkpoint", "user",        "job_id", "job_name",
                                         "leaves",     "inner_nodes", "levels", "fault"};
    bool is = false;
    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++) {
        is = is || strcmp(key, hidden[i]) == 0;
    }
    return is;
}

static void cell_text(const char *row, const struct summary_column *c, char text[TEXT]) {
    struct summary_member m, inner;
    text[0] = '\0';
    if (find(row, c->m.key, &m)) {
        if (c->within == NULL) {
            show(text, m.key, m.value, true);
        } else if (find(m.value, c->within, &inner)) {
            show(text, inner.key, inner.value, true);
        }
    }
}

static void add_column(struct summary_column column[COLUMNS], size_t *count, const struct summary_member *m,
                       const char *within, const char *const *row, size_t rows) {
    struct summary_column *c = &column[*count];
    char text[TEXT];
    if (*count == COLUMNS) {
        return;
    }
    *c = (struct summary_column){.m = *m, .within = within};
    (void)snprintf(c->title, sizeof c->title, within == NULL ? "%s" : "%s.%s", m->key, within);
    c->width = strlen(c->title);
    for (size_t i = 0; i < rows; i++) {
        cell_text(row[i], c, text);
        const size_t columns = ui_text_columns(text);
        c->width = columns > c->width ? columns : c->width;
    }
    *count += 1;
}

static bool is_text(const struct summary_column *c) {
    return c->within == NULL && *c->m.value == '"';
}

/* Shortens the longest texts until the columns fit on a line. Returns how many columns fit. */
static size_t fit_columns(struct summary_column *column, size_t count) {
    for (;;) {
        struct summary_column *longest = NULL;
        size_t width = 0, fitting = 0;
        for (size_t i = 0; i < count; i++) {
            struct summary_column *c = &column[i];
            width += c->width + 2;
            fitting += width <= WIDTH && i < UI_TABLE_COLUMNS;
            if (is_text(c) && c->width > LEAST_CELL && c->width > strlen(c->title) &&
                (longest == NULL || c->width > longest->width)) {
                longest = c;
            }
        }
        if (width <= WIDTH || longest == NULL) {
            return fitting;
        }
        longest->width--;
    }
}

/* Cuts a text to at most `columns` columns. A text that was cut ends in dots. */
static void shorten(char text[TEXT], size_t columns) {
    if (ui_text_columns(text) > columns) {
        char *end = text;
        for (size_t i = 0; i + strlen("...") < columns; i++) {
            do {
                end++;
            } while (((unsigned char)*end & 0xc0) == 0x80);
        }
        memcpy(end, "...", sizeof "...");
    }
}

static hpcw_status print_rows(FILE *to, const char *const *row, size_t rows, hpcw_error *err) {
    struct summary_column column[COLUMNS];
    struct ui_table table = {0};
    struct summary_member m;
    char text[TEXT];
    size_t columns = 0;
    for (const char *p = row[0]; next_member(&p, true, &m);) {
        if (is_scalar(&m) && !is_hidden(m.key)) {
            add_column(column, &columns, &m, NULL, row, rows);
        } else if (strcmp(m.key, "Rank_load") == 0) {
            add_column(column, &columns, &m, "max", row, rows);
            add_column(column, &columns, &m, "imb", row, rows);
        }
    }
    const size_t shown = fit_columns(column, columns);
    for (size_t c = 0; c < shown; c++) {
        ui_table_column(&table, column[c].title, is_text(&column[c]) ? UI_LEFT : UI_RIGHT);
    }
    for (size_t i = 0; i < rows; i++) {
        for (size_t c = 0; c < shown; c++) {
            cell_text(row[i], &column[c], text);
            shorten(text, column[c].width);
            ui_table_cell(&table, "%s", text);
        }
    }
    hpcw_status s = shown == 0 ? HPCW_OK : ui_table_print(&table, to, 2, err);
    ui_table_free(&table);
    if (shown < columns) {
        char names[COLUMNS * sizeof column->title];
        size_t used = 0;
        for (size_t c = shown; c < columns; c++) {
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", c == shown ? "" : ", ",
                                     column[c].title);
        }
        (void)fprintf(to, "  columns that --all shows: ");
        ui_text_wrap(to, names, (unsigned)strlen("  columns that --all shows: "), 2, WIDTH);
    }
    return s;
}

static double sort_key(const char *row) {
    struct summary_member m;
    return find(row, "seconds", &m) ? strtod(m.value, NULL) : 0;
}

/* Sorts rows by falling "seconds". Rows without this member, or with equal ones, keep their order. */
static int by_seconds(const void *a, const void *b) {
    const char *const *x = a, *const *y = b;
    const double dx = sort_key(*x), dy = sort_key(*y);
    return dx != dy ? (dx < dy) - (dx > dy) : (*x > *y) - (*x < *y);
}

struct summary_screen {
    FILE *to; /* writes to `text` */
    char *text;
    size_t size;
};

/* Returns how many rows of a table fit on the rest of the screen. */
static size_t rows_left(const struct summary_screen *screen) {
    size_t lines = TABLE_FRAME;
    (void)fflush(screen->to);
    for (size_t i = 0; i < screen->size; i++) {
        lines += screen->text[i] == '\n';
    }
    return lines + INNER_ROWS > LINES - 2 ? INNER_ROWS : LINES - 2 - lines;
}

static hpcw_status print_object(struct summary_screen *screen, const char *key, const char *object,
                                unsigned depth, hpcw_error *err);

static hpcw_status print_array(struct summary_screen *screen, const struct summary_member *array,
                               unsigned depth, hpcw_error *err) {
    FILE *to = screen->to;
    const char **row = NULL;
    size_t rows = 0, capacity = 0;
    struct summary_member m;
    char text[TEXT];
    hpcw_status s = HPCW_OK;
    for (const char *p = array->value; s == HPCW_OK && next_member(&p, false, &m); rows++) {
        const char **grown = hpcw_i_grow(row, &capacity, rows + 1, sizeof *grown);
        if (grown == NULL) {
            s = hpcw_i_fail_memory(err, array->key, rows + 1, "rows");
            break;
        }
        row = grown;
        row[rows] = m.value;
    }
    if (s == HPCW_OK && rows > 0) {
        const size_t left = rows_left(screen), most = left < ROWS ? left : ROWS;
        const size_t limit = depth == 0 ? most : INNER_ROWS, shown = rows < limit ? rows : limit;
        (void)fprintf(to, "%s:\n", array->key);
        if (*row[0] == '{') {
            qsort(row, rows, sizeof *row, by_seconds);
            s = print_rows(to, row, shown, err);
        }
        for (size_t i = 0; i < shown && strchr("{[", *row[0]) == NULL; i++) {
            show(text, "", row[i], true);
            (void)fprintf(to, "  %s\n", text);
        }
        if (rows > shown) {
            (void)fprintf(to, "  ... and %zu more; --all shows them\n", rows - shown);
        }
        /* A table of one row leaves space to print the arrays in this row, too. */
        for (const char *p = row[0];
             s == HPCW_OK && rows == 1 && *row[0] == '{' && next_member(&p, true, &m);) {
            s = *m.value == '[' ? print_array(screen, &m, depth + 1, err) : HPCW_OK;
        }
    }
    hpcw_i_free(row);
    return s;
}

/* ---- members beside each other ---- */

struct summary_pair {
    char name[48], value[TEXT];
};

/* Prints names with their values in as many columns as fit. The order is down each column. */
static void print_pairs(FILE *to, const struct summary_pair *pair, size_t count) {
    enum { MOST = 3 };
    size_t name[MOST], value[MOST], rows = count, columns = MOST;
    for (; columns > 0; columns--) {
        size_t width = 0;
        rows = (count + columns - 1) / columns;
        for (size_t c = 0; c < columns; c++) {
            name[c] = value[c] = 0;
            for (size_t i = c * rows; i < count && i < (c + 1) * rows; i++) {
                const size_t n = ui_text_columns(pair[i].name), v = ui_text_columns(pair[i].value);
                name[c] = n > name[c] ? n : name[c];
                value[c] = v > value[c] ? v : value[c];
            }
            width += name[c] + value[c] + 4;
        }
        if (width <= WIDTH || columns == 1) {
            break;
        }
    }
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < columns && c * rows + r < count; c++) {
            const struct summary_pair *p = &pair[c * rows + r];
            const bool last = c + 1 == columns || (c + 1) * rows + r >= count;
            const size_t blanks = last ? 0 : value[c] - ui_text_columns(p->value) + 2;
            (void)fprintf(to, "%s%-*s  %s%*s", c == 0 ? "  " : "", (int)name[c], p->name, p->value, (int)blanks,
                          "");
        }
        (void)fprintf(to, "\n");
    }
}

/* Prints an object: first its strings and numbers and the flags that are true, then the arrays and objects in
 * it. */
static hpcw_status print_object(struct summary_screen *screen, const char *key, const char *object,
                                unsigned depth, hpcw_error *err) {
    FILE *to = screen->to;
    enum { LONG = 32 }; /* a value with this many columns or more gets a line of its own */
    struct summary_pair pair[PAIRS];
    size_t pairs = 0;
    struct summary_member m;
    hpcw_status s = HPCW_OK;
    for (const char *p = object; next_member(&p, true, &m);) {
        const bool named = depth == 0 && (strcmp(m.key, "file") == 0 || strcmp(m.key, "format") == 0);
        char text[TEXT];
        /* Kinds of faults that the run does not have are not shown. */
        const bool absent =
            strcmp(key, "injected") == 0 && (*m.value == '0' || strncmp(m.value, "\"none\"", 6) == 0);
        if (!is_scalar(&m) || *m.value == 'f' || named || absent) {
            continue;
        }
        show(text, m.key, m.value, false);
        if (ui_text_columns(text) >= LONG) {
            (void)fprintf(to, "%s%s: %.*s\n", strcmp(m.key, "warning") == 0 ? "" : "  ", m.key,
                          (int)(m.end - m.value) - 2 * (*m.value == '"'), m.value + (*m.value == '"'));
        } else if (pairs < PAIRS) {
            (void)snprintf(pair[pairs].name, sizeof pair[pairs].name, "%s", m.key);
            memcpy(pair[pairs++].value, text, sizeof text);
        }
    }
    if (pairs > 0) {
        print_pairs(to, pair, pairs);
    } else if (depth > 0) {
        (void)fprintf(to, "  nothing\n");
    }
    for (const char *p = object; s == HPCW_OK && next_member(&p, true, &m);) {
        if (*m.value == '[') {
            s = print_array(screen, &m, depth, err);
        } else if (*m.value == '{') {
            (void)fprintf(to, "%s:\n", m.key);
            s = print_object(screen, m.key, m.value, depth + 1, err);
        }
    }
    return s;
}

/* ---- the screen ---- */

/* Prints the text. On a terminal, lines beyond one screen are left out; a pipe or file gets all lines. */
static void print_screen(const char *text, FILE *to) {
    size_t lines = 0;
    const char *cut = text;
    for (const char *p = text; *p != '\0'; p++) {
        lines += *p == '\n';
        cut = *p == '\n' && lines == LINES - 2 ? p + 1 : cut;
    }
    if (lines < LINES || isatty(fileno(to)) != 1) {
        (void)fputs(text, to);
    } else {
        (void)fprintf(to, "%.*s... and %zu more lines; --all and --json have everything\n", (int)(cut - text),
                      text, lines - (LINES - 2));
    }
}

hpcw_status gen_cli_print_summary(const char *json, FILE *to, hpcw_error *err) {
    struct summary_member file, format;
    struct summary_screen screen = {0};
    screen.to = open_memstream(&screen.text, &screen.size);
    if (screen.to == NULL) {
        return hpcw_i_fail_memory(err, "summary", 0, NULL);
    }
    if (find(json, "file", &file) && find(json, "format", &format)) {
        (void)fprintf(screen.to, "%.*s: %.*s\n", (int)(file.end - file.value) - 2, file.value + 1,
                      (int)(format.end - format.value) - 2, format.value + 1);
    }
    hpcw_status s = print_object(&screen, "", json, 0, err);
    if (fclose(screen.to) != 0 && s == HPCW_OK) {
        s = hpcw_i_fail_memory(err, "summary", 0, NULL);
    }
    if (s == HPCW_OK) {
        print_screen(screen.text, to);
    }
    free(screen.text);
    return s;
}
