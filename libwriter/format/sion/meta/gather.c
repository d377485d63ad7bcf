/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of a single file whose tables are small. Every process sends one message with its status and the bytes
 * that its tasks used. The leader writes all tables, commits and names the file, and sends the result to the
 * others. So there is one wave of messages to the leader and one back.
 *
 * Most blocks of a task have the same number of bytes. So the numbers are sent as runs: a value and how often it
 * occurs. Consecutive equal rows of the table are written from a few rows in memory with few calls. So a close
 * takes the same time for one block and for thousands, except for the write itself.
 */
#include <string.h>

#include "libwriter/base/buf.h"
#include "libwriter/base/bytes.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/comm/exchange.h"
#include "libwriter/format/sion/meta/meta.h"
#include "libwriter/io/sink.h"

enum {
    MOST_WORDS = 1 << 19, /* most words of all tables: one process writes while others wait */
    /* words of the buffer for rows, the slab: fits in the cache, and is small enough for malloc to reuse */
    SLAB = 1 << 12,
    PATTERN = 1 << 10, /* words of equal rows that are kept in memory and written repeatedly */
    PIECES = HPCW_I_SYS_PIECES,
    TILE_ROWS = 32,      /* number of rows that are filled at a time, column by column */
    SHORTEST_REPEAT = 4, /* number of equal values from which on they are sent as a run */
    MESSAGE_HEADER = 2,  /* words before the tasks: state, number of tasks */
    TASK_HEADER = 2,     /* words before a task's runs: chunk size, number of blocks */
    /* most words of packed runs in addition to their values; a run of equal values has at most as many in all */
    RUN_OVERHEAD = 4,
};

enum message_state { READY, FAILED, TOO_LARGE };

/* Results that the leader broadcasts instead of the number of a failed process. */
#define DONE UINT64_MAX
#define TABLES_TOO_LARGE (UINT64_MAX - 1)

static bool is_too_large(const struct hpcw_sion *h) {
    uint64_t blocks = 0;
    for (uint32_t i = 0; i < h->options.count; i++) {
        blocks = h->task[i].block + (uint64_t)1 > blocks ? h->task[i].block + (uint64_t)1 : blocks;
    }
    /* Rows of the tables: ranks, chunk sizes, block counts, `blocks` rows of sizes, and the mapping if there is
     * one. */
    return (blocks + 4) * h->tasks > MOST_WORDS;
}

/* --------------------------------------------------------------------------------------------------------------
 *  Runs of values. Equal values: the word 2 * length, and the value. Other values: the word 2 * length + 1, and
 *  the values.
 * ----------------------------------------------------------------------------------------------------------- */

static size_t repeats(const uint64_t *value, size_t n) {
    size_t k = 1;
    while (k < n && value[k] == value[0]) {
        k++;
    }
    return k;
}

/* Packs n values into at most n + RUN_OVERHEAD words. Returns the end of these words. */
static uint64_t *pack_runs(uint64_t *out, const uint64_t *value, size_t n, bool big) {
    for (size_t i = 0; i < n;) {
        size_t same = repeats(value + i, n - i);
        if (same >= SHORTEST_REPEAT) {
            *out++ = 2 * (uint64_t)same;
            *out++ = hpcw_i_order64(value[i], big);
            i += same;
            continue;
        }
        uint64_t *header = out++;
        size_t begin = i;
        while (i < n && same < SHORTEST_REPEAT) {
            for (size_t end = i + same; i < end; i++) {
                *out++ = hpcw_i_order64(value[i], big);
            }
            same = i < n ? repeats(value + i, n - i) : 0;
        }
        *header = 2 * (uint64_t)(i - begin) + 1;
    }
    return out;
}

/* Packs the used bytes of a task's blocks. The last blocks are known to have equal values (`alike`), which are not
 * read one by one. */
static uint64_t *pack_task(uint64_t *out, const struct hpcw_i_sion_task *t, bool big) {
    if (t->block > 0) {
        const uint64_t *used = t->earlier->used;
        size_t alike = (size_t)t->earlier->alike;
        size_t before = t->block - alike;
        out = pack_runs(out, used, before, big);
        if (alike < SHORTEST_REPEAT) {
            out = pack_runs(out, used + before, alike, big);
        } else {
            *out++ = 2 * (uint64_t)alike;
            *out++ = hpcw_i_order64(used[before], big);
        }
    }
    return pack_runs(out, &t->used, 1, big);
}

/* Packs the message of this process. NULL: out of memory. */
static uint64_t *pack_tasks(const struct hpcw_sion *h, size_t *words) {
    bool big = h->options.endian == HPCW_SION_BIG;
    size_t most = MESSAGE_HEADER;
    for (uint32_t i = 0; i < h->options.count; i++) {
        const struct hpcw_i_sion_task *t = &h->task[i];
        size_t alike = t->block > 0 ? (size_t)t->earlier->alike : 0;
        most += TASK_HEADER + (t->block - alike) + (size_t)3 * RUN_OVERHEAD;
    }
    uint64_t *message = hpcw_i_malloc(most * sizeof *message);
    if (message == NULL) {
        return NULL;
    }
    message[0] = READY;
    message[1] = h->options.count;
    uint64_t *out = message + MESSAGE_HEADER;
    for (uint32_t i = 0; i < h->options.count; i++) {
        const struct hpcw_i_sion_task *t = &h->task[i];
        *out++ = hpcw_i_order64(t->chunk, big);
        *out++ = t->block + (uint64_t)1;
        out = pack_task(out, t, big);
    }
    *words = (size_t)(out - message);
    return message;
}

/* One column of the table with the sizes of blocks, read from the top. Words are in the file's byte order. */
struct column {
    const uint64_t *next; /* next run, or next value of the current run */
    uint64_t blocks_left; /* blocks of the task after the current run */
    uint64_t left;        /* rows left in the current run; the last run has the value `unused` and no end */
    uint64_t value;       /* value of the current run, if all its values are equal */
    uint64_t unused;      /* word for a block that the task does not use */
    bool repeats;
};

static void next_run(struct column *c) {
    if (c->blocks_left == 0) {
        c->left = UINT64_MAX;
        c->value = c->unused;
        c->repeats = true;
        return;
    }
    uint64_t header = *c->next++;
    c->left = header / 2;
    c->blocks_left -= c->left;
    c->repeats = header % 2 == 0;
    if (c->repeats) {
        c->value = *c->next++;
    }
}

/* Fills `rows` rows of a column. Neighbouring rows are `stride` words apart. */
static void fill_column(struct column *c, uint64_t *word, size_t rows, size_t stride) {
    while (rows > 0) {
        if (c->left == 0) {
            next_run(c);
        }
        size_t n = c->left < rows ? (size_t)c->left : rows;
        for (size_t r = 0; r < n; r++, word += stride) {
            *word = c->repeats ? c->value : c->next[r];
        }
        c->next += c->repeats ? 0 : n;
        c->left -= n;
        rows -= n;
    }
}

/* Returns the number of rows, including the next one, in which no column changes. */
static uint64_t rows_alike(struct column *c, size_t columns) {
    uint64_t alike = UINT64_MAX;
    for (size_t k = 0; k < columns && alike > 1; k++) {
        if (c[k].left == 0) {
            next_run(&c[k]);
        }
        uint64_t n = c[k].repeats ? c[k].left : 1;
        alike = n < alike ? n : alike;
    }
    return alike;
}

/* --------------------------------------------------------------------------------------------------------------
 *  The leader
 * ----------------------------------------------------------------------------------------------------------- */

struct gathered {
    struct hpcw_sion *h;
    struct hpcw_i_buf words; /* the words after the headers of all messages, in the order of the tasks */
    int from;                /* sender of the next message */
    bool large;
    uint64_t failed; /* lowest process that failed, or DONE */
};

static hpcw_status take_message(void *context, const uint64_t *message, size_t words, hpcw_error *err) {
    struct gathered *g = context;
    /* The leader takes its own message first. */
    int leader = g->h->leader;
    int sender = g->from == 0 ? leader : g->from - 1 < leader ? g->from - 1 : g->from;
    g->from++;
    g->large = g->large || message[0] == TOO_LARGE;
    if (message[0] == FAILED && (uint64_t)sender < g->failed) {
        g->failed = (uint64_t)sender;
    }
    size_t n = words - MESSAGE_HEADER;
    if (message[0] != READY || n == 0 || g->large || g->failed != DONE) {
        return HPCW_OK;
    }
    return hpcw_i_buf_append(&g->words, message + MESSAGE_HEADER, n * sizeof *message)
               ? HPCW_OK
               : hpcw_i_fail_memory(err, g->h->path, 0, "its metadata");
}

/* The tables of the file, made from the messages of all processes. */
struct tables {
    uint32_t columns;
    uint64_t blocks;
    struct column *column; /* [columns] sizes of blocks */
    uint64_t *chunk;       /* [columns] chunk sizes, in the byte order of the file */
    uint64_t *count;       /* [columns] block counts, in the byte order of the file */
    unsigned char *buffer; /* memory for META1, the mapping, or rows of META2 */
    size_t room;           /* words of the buffer for rows of META2 */
};

static hpcw_status tables_new(struct tables *t, const struct gathered *g, hpcw_error *err) {
    const struct hpcw_sion *h = g->h;
    bool big = h->options.endian == HPCW_SION_BIG;
    size_t n = h->tasks;
    size_t meta1 = (size_t)hpcw_i_sion_meta1_size(h->tasks);
    *t = (struct tables){.columns = h->tasks};
    t->column = hpcw_i_malloc(n * sizeof *t->column);
    t->chunk = hpcw_i_malloc(2 * n * sizeof *t->chunk);
    if (t->column == NULL || t->chunk == NULL) {
        return hpcw_i_fail_memory(err, h->path, 0, "its metadata");
    }
    t->count = t->chunk + n;
    const uint64_t *word = (const uint64_t *)(const void *)g->words.data;
    for (size_t k = 0; k < n; k++) {
        t->chunk[k] = word[0];
        uint64_t blocks = word[1];
        t->count[k] = hpcw_i_order64(blocks, big);
        t->blocks = blocks > t->blocks ? blocks : t->blocks;
        word += TASK_HEADER;
        t->column[k] = (struct column){.next = word, .blocks_left = blocks, .unused = hpcw_i_sion_unused(h)};
        while (blocks > 0) {
            uint64_t length = word[0] / 2;
            word += word[0] % 2 == 0 ? 2 : 1 + length;
            blocks -= length;
        }
    }
    t->room = n < SLAB ? SLAB : n;
    /* The mapping and a single row always fit, because META1 is longer than both. */
    size_t rows = t->room * sizeof(uint64_t);
    t->buffer = hpcw_i_malloc(meta1 > rows ? meta1 : rows);
    return t->buffer == NULL ? hpcw_i_fail_memory(err, h->path, 0, "its metadata") : HPCW_OK;
}

static void tables_free(struct tables *t) {
    hpcw_i_free(t->column);
    hpcw_i_free(t->chunk);
    hpcw_i_free(t->buffer);
}

/*
 * Writes rows of META2 to the sink. The first failure sticks: later calls do nothing, and `status` reports it at
 * the end.
 */
struct rows {
    struct column *column;
    size_t width;  /* number of columns, and words of a row */
    uint64_t left; /* number of rows still to come */
    uint64_t *slab;
    size_t room, used; /* words of the slab, and how many of them are in use */
    struct hpcw_i_piece piece[PIECES];
    size_t pieces;
    hpcw_sink *sink;
    uint64_t at; /* offset of the first collected piece in the file */
    hpcw_status status;
    hpcw_error *err;
};

/* Writes the collected pieces. The rows stay in the slab, so later pieces may use them again. */
static void flush_rows(struct rows *r) {
    if (r->status == HPCW_OK) {
        r->status = hpcw_i_sink_write(r->sink, r->at, r->piece, r->pieces, r->err);
    }
    for (size_t k = 0; k < r->pieces; k++) {
        r->at += r->piece[k].size;
    }
    r->pieces = 0;
}

/* Returns space in the slab for n rows, which must fit into an empty slab. */
static uint64_t *make_room(struct rows *r, size_t n) {
    if (n * r->width > r->room - r->used) {
        r->used = 0;
        flush_rows(r);
    }
    uint64_t *word = r->slab + r->used;
    r->used += n * r->width;
    return word;
}

static void append_rows(struct rows *r, const uint64_t *word, size_t n) {
    size_t size = n * r->width * sizeof *word;
    struct hpcw_i_piece *last = r->pieces == 0 ? NULL : &r->piece[r->pieces - 1];
    if (last != NULL && (const char *)last->data + last->size == (const char *)word) {
        last->size += size;
        return;
    }
    if (r->pieces == PIECES) {
        flush_rows(r);
    }
    r->piece[r->pieces++] = (struct hpcw_i_piece){word, size};
}

/* Appends `alike` equal rows. Only a few of them are in memory. */
static void repeat_rows(struct rows *r, uint64_t alike) {
    size_t width = r->width;
    size_t n = width < PATTERN ? PATTERN / width : 1;
    n = n < alike ? n : (size_t)alike;
    uint64_t *word = make_room(r, n);
    for (size_t k = 0; k < width; k++) {
        word[k] = r->column[k].value;
        r->column[k].left -= alike;
    }
    for (size_t done = 1; done < n;) { /* each turn doubles the number of rows */
        size_t more = done < n - done ? done : n - done;
        memcpy(word + done * width, word, more * width * sizeof *word);
        done += more;
    }
    r->left -= alike;
    for (; alike > 0; alike -= n) {
        n = n < alike ? n : (size_t)alike;
        append_rows(r, word, n);
    }
}

/* Fills the next rows column by column, a few rows at a time. */
static void fill_tile(struct rows *r) {
    size_t free = (r->room - r->used) / r->width;
    /* If no rows are free, make_room empties the slab. */
    size_t n = free == 0 ? r->room / r->width : free;
    n = n < TILE_ROWS ? n : TILE_ROWS;
    n = n < r->left ? n : (size_t)r->left;
    uint64_t *word = make_room(r, n);
    for (size_t k = 0; k < r->width; k++) {
        fill_column(&r->column[k], word + k, n, r->width);
    }
    r->left -= n;
    append_rows(r, word, n);
}

static hpcw_status write_meta2(const struct tables *t, hpcw_sink *sink, uint64_t at, hpcw_error *err) {
    struct rows r = {.column = t->column,
                     .width = t->columns,
                     .left = t->blocks,
                     .slab = (uint64_t *)(void *)t->buffer,
                     .room = t->room,
                     .sink = sink,
                     .at = at,
                     .err = err};
    uint64_t *counts = make_room(&r, 1);
    memcpy(counts, t->count, r.width * sizeof *counts);
    append_rows(&r, counts, 1);
    while (r.status == HPCW_OK && r.left > 0) {
        uint64_t alike = rows_alike(r.column, r.width);
        if (alike > 1) {
            repeat_rows(&r, alike);
        } else {
            fill_tile(&r);
        }
    }
    flush_rows(&r);
    return r.status;
}

static hpcw_status write_mapping(const struct tables *t, const struct hpcw_sion *h, hpcw_sink *sink,
                                 uint64_t at, uint64_t entries, hpcw_error *err) {
    hpcw_i_put_u32(t->buffer, (uint32_t)entries, h->options.endian == HPCW_SION_BIG);
    unsigned char *entry = t->buffer + HPCW_I_SION_MAPPING_HEADER;
    for (uint32_t k = 0; k < entries; k++, entry += HPCW_I_SION_MAPPING_ENTRY) {
        uint64_t word = hpcw_i_sion_mapping_entry(h, 0, k);
        memcpy(entry, &word, sizeof word);
    }
    return hpcw_sink_write_at(sink, at, t->buffer, (size_t)(entry - t->buffer), err);
}

/* Writes META1, as the last write of all: the commit mark is at its end. */
static hpcw_status write_meta1(const struct tables *t, const struct hpcw_sion *h, hpcw_sink *sink,
                               const hpcw_sion_shape *shape, hpcw_error *err) {
    bool big = h->options.endian == HPCW_SION_BIG;
    size_t n = t->columns;
    hpcw_i_sion_encode_head(h, 0, t->buffer);
    unsigned char *p = t->buffer + HPCW_I_SION_TABLES_AT;
    for (size_t k = 0; k < n; k++) {
        hpcw_i_put_u64(p + 8 * k, k, big);
    }
    memcpy(p + 8 * n, t->chunk, 8 * n);
    hpcw_i_sion_encode_commit(h, t->blocks, shape->meta2_start, t->buffer + hpcw_i_sion_commit_at(h->tasks));
    return hpcw_sink_write_at(sink, 0, t->buffer, (size_t)shape->meta1_size, err);
}

static hpcw_status write_tables(const struct gathered *g, hpcw_error *err) {
    struct hpcw_sion *h = g->h;
    hpcw_sink *sink = h->part[0].sink;
    struct tables t;
    hpcw_sion_shape shape = {0};
    hpcw_status s = tables_new(&t, g, err);
    if (s == HPCW_OK) {
        s = hpcw_i_sion_check_limits(h, &t.blocks, err);
    }
    uint64_t entries = hpcw_i_sion_mapping_of(h, 0);
    if (s == HPCW_OK) {
        shape = hpcw_i_sion_shape_of_file(h, 0, t.blocks);
        s = write_meta2(&t, sink, shape.meta2_start, err);
    }
    if (s == HPCW_OK && entries != HPCW_I_SION_NO_MAPPING) {
        s = write_mapping(&t, h, sink, hpcw_i_sion_mapping_at(&shape, entries), entries, err);
    }
    if (s == HPCW_OK) {
        s = write_meta1(&t, h, sink, &shape, err);
    }
    tables_free(&t);
    return s == HPCW_OK ? hpcw_sink_publish(sink, err) : s;
}

/* --------------------------------------------------------------------------------------------------------------
 *  All together
 * ----------------------------------------------------------------------------------------------------------- */

bool hpcw_i_sion_has_leader(const struct hpcw_sion *h) {
    return h->comm->size > 1 && h->placement.files == 1 && h->placement.in_order &&
           h->placement.column == NULL && h->global == NULL;
}

hpcw_status hpcw_i_sion_gather_meta(struct hpcw_sion *h, hpcw_status s, bool *large, hpcw_error *err) {
    bool leads = h->comm->process == h->leader;
    uint64_t header[MESSAGE_HEADER] = {READY, 0};
    uint64_t *message = header;
    size_t words = MESSAGE_HEADER;
    if (s == HPCW_OK && is_too_large(h)) {
        header[0] = TOO_LARGE;
    } else if (s == HPCW_OK && h->options.count > 0) {
        message = pack_tasks(h, &words);
        if (message == NULL) {
            s = hpcw_i_fail_memory(err, h->path, 0, "its metadata");
        } else if (!leads) {
            s = hpcw_sink_detach(h->part[0].sink, err); /* reports late errors of earlier writes */
        }
    }
    if (s != HPCW_OK) {
        header[0] = FAILED;
    }
    bool whole = header[0] == READY && message != NULL;
    struct gathered g = {.h = h, .failed = DONE};
    hpcw_error ignored;
    hpcw_status r =
        hpcw_i_comm_collect(h->comm, h->leader, whole ? message : header, whole ? words : MESSAGE_HEADER,
                            take_message, &g, s == HPCW_OK ? err : &ignored);
    s = s == HPCW_OK ? r : s;
    if (message != header) {
        hpcw_i_free(message);
    }
    uint64_t verdict = g.failed;
    if (leads && s == HPCW_OK && verdict == DONE) {
        verdict = g.large ? TABLES_TOO_LARGE : DONE;
        s = g.large ? HPCW_OK : write_tables(&g, err);
    }
    if (leads && s != HPCW_OK && (uint64_t)h->leader < verdict) {
        verdict = (uint64_t)h->leader;
    }
    hpcw_i_buf_free(&g.words);
    r = hpcw_i_comm_bcast(h->comm, &verdict, sizeof verdict, h->leader, s == HPCW_OK ? err : &ignored);
    if (r != HPCW_OK) {
        return s == HPCW_OK ? r : s;
    }
    *large = verdict == TABLES_TOO_LARGE;
    return verdict < TABLES_TOO_LARGE ? hpcw_i_share_failure(h->comm, (int)verdict, s, err) : s;
}
