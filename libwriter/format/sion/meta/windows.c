/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the tables of any container. A SION file's tables have one column per task: ranks and chunk sizes in
 * META1, block counts and sizes in META2, and the mapping. A process knows the columns of its own tasks. Writing
 * column by column would mean very many writes of 8 bytes. So the tables are divided into windows of a few MiB.
 * Every process sends the rectangles that it knows to the owner of the window, and the owner writes the window in
 * one piece. This takes one exchange for any number of blocks. Unused parts stay holes and read as zero
 * (doc/formats/sion.md, "Tables at the end").
 */
#include <string.h>

#include "libwriter/base/bytes.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/comm/exchange.h"
#include "libwriter/format/sion/meta/meta.h"

#define WINDOW_WORDS ((uint64_t)512 * 1024)

enum table_kind { TABLE_META1, TABLE_META2, TABLE_MAPPING, TABLE_KINDS };

/* A table of 8-byte words. It is divided into windows: each has whole rows if a row fits into a window, otherwise a
 * part of one row. */
struct table {
    enum table_kind kind;
    uint32_t file;
    uint64_t at; /* offset in the file */
    uint64_t columns;
    uint64_t rows;
    uint64_t window_rows;
    uint64_t window_columns; /* columns of a window; == columns if window_rows > 1 */
    uint64_t across;         /* number of windows side by side */
    uint64_t windows;
    uint64_t first; /* number of the table's first window, counted over all tables */
};

static struct table table_of(const struct hpcw_sion *h, enum table_kind kind, uint32_t file, uint64_t blocks,
                             const hpcw_sion_shape *shape) {
    struct table t = {.kind = kind, .file = file, .columns = h->placement.file[file].tasks};
    uint64_t entries = hpcw_i_sion_mapping_of(h, file);
    switch (kind) {
    case TABLE_META1:
        t.at = HPCW_I_SION_TABLES_AT;
        t.rows = 2;
        break;
    case TABLE_META2:
        t.at = shape->meta2_start;
        t.rows = 1 + blocks;
        break;
    default:
        t.columns = entries == HPCW_I_SION_NO_MAPPING ? 0 : entries;
        t.at = hpcw_i_sion_mapping_at(shape, t.columns) + HPCW_I_SION_MAPPING_HEADER;
        t.rows = t.columns == 0 ? 0 : 1;
        break;
    }
    if (t.rows == 0) {
        return t;
    }
    t.window_columns = t.columns < WINDOW_WORDS ? t.columns : WINDOW_WORDS;
    t.across = (t.columns + t.window_columns - 1) / t.window_columns;
    t.window_rows = t.across > 1 ? 1 : WINDOW_WORDS / t.columns;
    t.window_rows = t.window_rows > t.rows ? t.rows : t.window_rows;
    t.windows = t.across * ((t.rows + t.window_rows - 1) / t.window_rows);
    return t;
}

struct window {
    uint64_t row, rows;
    uint64_t column, columns;
};

static struct window window_of(const struct table *t, uint64_t index) {
    struct window w = {.row = index / t->across * t->window_rows,
                       .column = index % t->across * t->window_columns};
    w.rows = t->rows - w.row < t->window_rows ? t->rows - w.row : t->window_rows;
    w.columns = t->columns - w.column < t->window_columns ? t->columns - w.column : t->window_columns;
    return w;
}

/*
 * Returns whether every process can compute all entries of the mapping. It can if files are given by count; the
 * functions below then take a rank as `i`. With colours, or if ranks are not task numbers, only the owner of a task
 * knows its entry; `i` then counts the own tasks by ascending rank.
 */
static bool mapping_is_known(const struct hpcw_sion *h) {
    return h->placement.column == NULL && h->global == NULL;
}

/* Returns the i-th own task by ascending rank, for a mapping whose entries only the owners know. */
static uint32_t mapped_task(const struct hpcw_sion *h, uint32_t i) {
    return h->by_global != NULL ? h->by_global[i] : i;
}

/* Returns the number of rows that this process knows in the column of own task i. */
static uint64_t height_of(const struct hpcw_sion *h, const struct table *t, uint32_t i) {
    return t->kind == TABLE_META2 && hpcw_i_sion_unused(h) == 0 ? 2 + (uint64_t)h->task[i].block : t->rows;
}

static uint64_t column_of(const struct hpcw_sion *h, const struct table *t, uint32_t i) {
    if (t->kind != TABLE_MAPPING) {
        return hpcw_i_sion_column(h, i);
    }
    return mapping_is_known(h) ? i : hpcw_i_sion_global(h, mapped_task(h, i));
}

/* Returns the word at a row of an own task, in the file's byte order. */
static uint64_t word_of(const struct hpcw_sion *h, const struct table *t, uint64_t row, uint32_t i) {
    const struct hpcw_i_sion_task *task = &h->task[i];
    bool big = h->options.endian == HPCW_SION_BIG;
    switch (t->kind) {
    case TABLE_META1:
        return hpcw_i_order64(row == 0 ? hpcw_i_sion_global(h, i) : task->chunk, big);
    case TABLE_META2:
        if (row > task->block + (uint64_t)1) {
            return hpcw_i_sion_unused(h);
        }
        return hpcw_i_order64(row == 0                           ? (uint64_t)task->block + 1
                              : row - 1 == (uint64_t)task->block ? task->used
                                                                 : task->earlier->used[row - 1],
                              big);
    default:
        if (mapping_is_known(h)) {
            uint32_t file = hpcw_i_sion_file_of_task(&h->division, i);
            return hpcw_i_sion_mapping_entry(h, file, i - hpcw_i_sion_first_task(&h->division, file));
        }
        i = mapped_task(h, i);
        return hpcw_i_sion_mapping_entry(h, hpcw_i_sion_part_of(h, i)->file, hpcw_i_sion_column(h, i));
    }
}

/* --------------------------------------------------------------------------------------------------------------
 *  Assembly and write of a window
 * ----------------------------------------------------------------------------------------------------------- */

struct assembly {
    const struct table *table;
    struct window window;
    uint64_t *word;                    /* [window.rows * window.columns] in the file's byte order */
    uint64_t touched_from, touched_to; /* words [from, to) are not empty */
};

static void assembly_start(struct assembly *a, const struct table *t, uint64_t index, uint64_t *word) {
    *a = (struct assembly){.table = t, .window = window_of(t, index), .word = word, .touched_from = UINT64_MAX};
    memset(word, 0, (size_t)(a->window.rows * a->window.columns) * sizeof *word);
}

static uint64_t *assembly_row(struct assembly *a, uint64_t row, uint64_t column, uint64_t columns) {
    uint64_t at = (row - a->window.row) * a->window.columns + (column - a->window.column);
    a->touched_from = at < a->touched_from ? at : a->touched_from;
    a->touched_to = at + columns > a->touched_to ? at + columns : a->touched_to;
    return a->word + at;
}

static hpcw_status assembly_write(struct hpcw_sion *h, const struct assembly *a, hpcw_error *err) {
    if (a->touched_to == 0) {
        return HPCW_OK;
    }
    hpcw_sink *sink;
    hpcw_status s = hpcw_i_sion_sink_of_file(h, a->table->file, &sink, err);
    if (s != HPCW_OK) {
        return s;
    }
    uint64_t first = a->window.row * a->table->columns + a->window.column + a->touched_from;
    return hpcw_sink_write_at(sink, a->table->at + 8 * first, a->word + a->touched_from,
                              (size_t)(8 * (a->touched_to - a->touched_from)), err);
}

/* --------------------------------------------------------------------------------------------------------------
 *  The part of a window that this process knows, as rectangles of neighbouring columns with equal numbers of
 *  rows
 * ----------------------------------------------------------------------------------------------------------- */

struct piece {
    uint64_t row, rows;
    uint64_t column;
    uint32_t task; /* own task of the first column */
    uint32_t columns;
};

/* Returns the first own task of [begin, end) whose column is at least `column`. Columns ascend with the tasks. */
static uint32_t first_at(const struct hpcw_sion *h, const struct table *t, uint32_t begin, uint32_t end,
                         uint64_t column) {
    while (begin < end) {
        uint32_t middle = begin + (end - begin) / 2;
        if (column_of(h, t, middle) < column) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    return begin;
}

/* Gets the next piece of window `w`, from own task *i on. False at the end. */
static bool next_piece(const struct hpcw_sion *h, const struct table *t, const struct window *w, uint32_t *i,
                       uint32_t end, struct piece *p) {
    while (*i < end && column_of(h, t, *i) < w->column + w->columns && height_of(h, t, *i) <= w->row) {
        (*i)++;
    }
    if (*i >= end || column_of(h, t, *i) >= w->column + w->columns) {
        return false;
    }
    uint64_t height = height_of(h, t, *i);
    uint64_t bottom = height < w->row + w->rows ? height : w->row + w->rows;
    *p = (struct piece){.row = w->row, .rows = bottom - w->row, .column = column_of(h, t, *i), .task = *i};
    do {
        (*i)++;
        p->columns++;
    } while (*i < end && p->column + p->columns < w->column + w->columns &&
             column_of(h, t, *i) == p->column + p->columns && height_of(h, t, *i) == height);
    return true;
}

static void piece_row(const struct hpcw_sion *h, const struct table *t, const struct piece *p, uint64_t row,
                      uint64_t *out) {
    for (uint32_t c = 0; c < p->columns; c++) {
        out[c] = word_of(h, t, row, p->task + c);
    }
}

/* --------------------------------------------------------------------------------------------------------------
 *  All tables of all files, their windows numbered in one series
 * ----------------------------------------------------------------------------------------------------------- */

struct plan {
    struct hpcw_sion *h;
    struct table *table; /* [tables] */
    size_t tables;
    const struct hpcw_i_sion_extent *extent;
};

/* Returns the process that writes a window. The windows of a table are spread over the processes with tasks in the
 * file. */
static int owner_of(const struct plan *plan, size_t table, uint64_t index) {
    const struct table *t = &plan->table[table];
    uint64_t low = plan->extent->lowest[t->file];
    uint64_t span = plan->extent->highest[t->file] - low + 1;
    return (int)(low + index * span / t->windows);
}

/* Gets the own tasks that have columns in a table. */
static void tasks_in(const struct plan *plan, const struct table *t, uint32_t *begin, uint32_t *end) {
    const struct hpcw_sion *h = plan->h;
    *begin = *end = 0;
    if (t->kind == TABLE_MAPPING && mapping_is_known(h)) {
        /* Divide the mapping among the processes with tasks in the file. */
        uint64_t me = (uint64_t)h->comm->process;
        uint64_t low = plan->extent->lowest[t->file];
        uint64_t span = plan->extent->highest[t->file] - low + 1;
        if (me >= low && me < low + span) {
            *begin = (uint32_t)(h->tasks * (me - low) / span);
            *end = (uint32_t)(h->tasks * (me - low + 1) / span);
        }
        return;
    }
    if (t->kind == TABLE_MAPPING) {
        *end = h->options.count; /* the mapping lists all tasks of the set */
        return;
    }
    for (uint32_t p = 0; p < h->parts; p++) {
        if (h->part[p].file == t->file) {
            *begin = h->part[p].begin;
            *end = h->part[p].end;
        }
    }
}

static uint64_t highest_of(const struct hpcw_sion *h, const struct table *t, uint32_t begin, uint32_t end) {
    uint64_t highest = 0;
    for (uint32_t i = begin; i < end; i++) {
        uint64_t height = height_of(h, t, i);
        highest = height > highest ? height : highest;
    }
    return highest;
}

/* A window of which this process knows a part, and the own tasks that may have columns there. */
struct visit {
    size_t table;
    uint64_t window;
    uint32_t begin, end;
};

/* Calls `step` for each window of which this process knows a part, in the order of their numbers, until `step`
 * fails. */
static hpcw_status visit_own_windows(const struct plan *plan,
                                     hpcw_status (*step)(const struct plan *plan, const struct visit *visit,
                                                         void *context, hpcw_error *err),
                                     void *context, hpcw_error *err) {
    for (size_t k = 0; k < plan->tables; k++) {
        const struct table *t = &plan->table[k];
        struct visit v = {.table = k};
        tasks_in(plan, t, &v.begin, &v.end);
        if (v.begin == v.end || t->rows == 0) {
            continue;
        }
        uint64_t highest = highest_of(plan->h, t, v.begin, v.end);
        uint64_t windows = (highest + t->window_rows - 1) / t->window_rows * t->across;
        for (v.window = 0; v.window < windows; v.window++) {
            hpcw_status s = step(plan, &v, context, err);
            if (s != HPCW_OK) {
                return s;
            }
        }
    }
    return HPCW_OK;
}

/* Words before each piece of a message: window number, row, number of rows, column, number of columns. The values
 * of the piece follow. */
enum { PIECE_HEADER = 5 };

/* ---- one process ---- */

static hpcw_status write_window(const struct plan *plan, const struct visit *v, void *word, hpcw_error *err) {
    struct hpcw_sion *h = plan->h;
    const struct table *t = &plan->table[v->table];
    struct assembly a;
    assembly_start(&a, t, v->window, word);
    uint32_t i = first_at(h, t, v->begin, v->end, a.window.column);
    struct piece p;
    while (next_piece(h, t, &a.window, &i, v->end, &p)) {
        for (uint64_t row = p.row; row < p.row + p.rows; row++) {
            piece_row(h, t, &p, row, assembly_row(&a, row, p.column, p.columns));
        }
    }
    return assembly_write(h, &a, err);
}

/* ---- several processes ---- */

/* Messages to send. A first pass counts their lengths, a second one fills them. */
struct outbox {
    uint64_t *words; /* [processes] length of each message */
    uint64_t total;
    uint64_t *message; /* NULL in the first pass */
    uint64_t *at;      /* [processes] offset of the next piece */
};

static hpcw_status post_window(const struct plan *plan, const struct visit *v, void *context, hpcw_error *err) {
    (void)err;
    struct outbox *box = context;
    const struct hpcw_sion *h = plan->h;
    const struct table *t = &plan->table[v->table];
    int owner = owner_of(plan, v->table, v->window);
    struct window window = window_of(t, v->window);
    uint32_t i = first_at(h, t, v->begin, v->end, window.column);
    struct piece p;
    while (next_piece(h, t, &window, &i, v->end, &p)) {
        uint64_t size = PIECE_HEADER + p.rows * p.columns;
        if (box->message == NULL) {
            box->words[owner] += size;
            box->total += size;
            continue;
        }
        uint64_t *q = box->message + box->at[owner];
        box->at[owner] += size;
        *q++ = t->first + v->window;
        *q++ = p.row;
        *q++ = p.rows;
        *q++ = p.column;
        *q++ = p.columns;
        for (uint64_t row = p.row; row < p.row + p.rows; row++, q += p.columns) {
            piece_row(h, t, &p, row, q);
        }
    }
    return HPCW_OK;
}

/* Puts one piece of a message into its window. Returns the piece's length in words. */
static uint64_t put_piece(struct assembly *a, const uint64_t *piece) {
    uint64_t row = piece[1];
    uint64_t rows = piece[2];
    uint64_t column = piece[3];
    uint64_t columns = piece[4];
    for (uint64_t r = 0; r < rows; r++) {
        memcpy(assembly_row(a, row + r, column, columns), piece + PIECE_HEADER + r * columns,
               (size_t)columns * sizeof *piece);
    }
    return PIECE_HEADER + rows * columns;
}

/* Writes the windows that this process owns. The pieces of one sender come in the order of their windows. */
static hpcw_status write_owned(const struct plan *plan, const uint64_t *in, const uint64_t *in_words,
                               uint64_t *word, uint64_t *cursor, hpcw_error *err) {
    struct hpcw_sion *h = plan->h;
    int size = h->comm->size;
    uint64_t at = 0;
    for (int p = 0; p < size; p++) {
        cursor[p] = at;
        at += in_words[p];
    }
    hpcw_status s = HPCW_OK;
    for (size_t k = 0; k < plan->tables; k++) {
        for (uint64_t w = 0; s == HPCW_OK && w < plan->table[k].windows; w++) {
            if (owner_of(plan, k, w) != h->comm->process) {
                continue;
            }
            struct assembly a;
            assembly_start(&a, &plan->table[k], w, word);
            uint64_t end = 0;
            for (int p = 0; p < size; p++) {
                end += in_words[p];
                while (cursor[p] < end && in[cursor[p]] == plan->table[k].first + w) {
                    cursor[p] += put_piece(&a, in + cursor[p]);
                }
            }
            s = assembly_write(h, &a, err);
        }
    }
    return s;
}

static hpcw_status write_together(const struct plan *plan, bool *agreed, hpcw_error *err) {
    struct hpcw_sion *h = plan->h;
    int size = h->comm->size;
    /* words sent, words received, positions in messages; each for all processes */
    uint64_t *words = hpcw_i_calloc((size_t)size, 3 * sizeof *words);
    uint64_t *message = NULL;
    uint64_t *in = NULL;
    uint64_t *word = NULL;
    hpcw_status s = HPCW_OK;
    struct outbox box = {.words = words};
    if (words != NULL) {
        /* the first pass only counts, which cannot fail */
        (void)visit_own_windows(plan, post_window, &box, err);
        message = hpcw_i_malloc((size_t)box.total * sizeof *message);
        word = hpcw_i_malloc((size_t)WINDOW_WORDS * sizeof *word);
    }
    if (words == NULL || message == NULL || word == NULL) {
        s = hpcw_i_fail_memory(err, h->path, 0, "its metadata");
    } else {
        box.message = message;
        box.at = words + 2 * (size_t)size;
        for (int p = 1; p < size; p++) {
            box.at[p] = box.at[p - 1] + words[p - 1];
        }
        s = visit_own_windows(plan, post_window, &box, err);
    }
    s = hpcw_i_agree(h->comm, s, NULL, err);
    if (s == HPCW_OK) {
        s = hpcw_i_comm_exchange(h->comm, message, words, &in, words + size, err);
    }
    *agreed = s != HPCW_OK;
    if (s == HPCW_OK) {
        s = write_owned(plan, in, words + size, word, words + 2 * (size_t)size, err);
    }
    hpcw_i_free(words);
    hpcw_i_free(message);
    hpcw_i_free(in);
    hpcw_i_free(word);
    return s;
}

hpcw_status hpcw_i_sion_write_windows(struct hpcw_sion *h, const struct hpcw_i_sion_extent *extent,
                                      bool *agreed, hpcw_error *err) {
    *agreed = false;
    struct plan plan = {.h = h, .extent = extent};
    struct table few_tables[TABLE_KINDS];
    size_t most = TABLE_KINDS * (size_t)h->placement.files;
    bool few = h->placement.files == 1; /* one file: avoids an allocation and the agreement on its failure */
    plan.table = few ? few_tables : hpcw_i_malloc(most * sizeof *plan.table);
    uint64_t *word = NULL;
    hpcw_status s = HPCW_OK;
    if (plan.table == NULL) {
        s = hpcw_i_fail_memory(err, h->path, h->placement.files, "files");
    }
    if (!few) {
        s = hpcw_i_agree(h->comm, s, NULL, err);
        *agreed = s != HPCW_OK;
    }
    if (s != HPCW_OK) {
        goto done;
    }
    uint64_t windows = 0;
    uint64_t words = 0;
    for (uint32_t f = 0; f < h->placement.files; f++) {
        if (extent->blocks[f] == 0) {
            continue; /* a file of another run */
        }
        hpcw_sion_shape shape = hpcw_i_sion_shape_of_file(h, f, extent->blocks[f]);
        for (int kind = 0; kind < TABLE_KINDS; kind++) {
            struct table t = table_of(h, (enum table_kind)kind, f, extent->blocks[f], &shape);
            t.first = windows;
            plan.table[plan.tables++] = t;
            windows += t.windows;
            words += t.columns * t.rows;
        }
    }
    if (h->comm->size == 1) {
        uint64_t most_words = words < WINDOW_WORDS ? words : WINDOW_WORDS;
        word = hpcw_i_malloc((size_t)most_words * sizeof *word);
        s = word == NULL ? hpcw_i_fail_memory(err, h->path, 0, "its metadata")
                         : visit_own_windows(&plan, write_window, word, err);
    } else {
        s = write_together(&plan, agreed, err);
    }
done:
    hpcw_i_free(word);
    if (!few) {
        hpcw_i_free(plan.table);
    }
    return s;
}
