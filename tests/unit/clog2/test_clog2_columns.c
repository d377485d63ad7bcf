/* SPDX-License-Identifier: BSD-3-Clause */
/* <hpcw/clog2_read.h>, "Columns": rows have the values that the callbacks get, for any window and any number of
 * rows in a call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hpcw/clog2_read.h>

#include "libwriter/base/bytes.h"
#include "tests/support/clog2_cases.h"
#include "tests/support/files.h"

enum { RANKS = 3, STEPS = 40, MOST = 1000 };

static char path[300];

/* Writes the log of clog2_case_make as late.clog2, with the definitions moved to its end. */
static hpcw_status write_late(void) {
    struct clog2_case c;
    char late[300];
    (void)snprintf(late, sizeof late, "%s/late.clog2", scratch);
    clog2_case_make(&c, RANKS, STEPS);
    c.options.block_size = 4096;
    hpcw_clog2_record *moved = malloc(c.count * sizeof *moved);
    assert_non_null(moved);
    size_t kept = 0, late_ones = 0;
    for (size_t i = 0; i < c.count; i++) {
        const hpcw_clog2_kind kind = c.record[i].kind;
        if (kind == HPCW_CLOG2_STATE_DEF || kind == HPCW_CLOG2_EVENT_DEF) {
            moved[late_ones] = c.record[i];
            moved[late_ones++].time = c.record[c.count - 1].time;
        } else {
            c.record[kept++] = c.record[i];
        }
    }
    memcpy(c.record + kept, moved, late_ones * sizeof *moved);
    free(moved);
    assert_true(late_ones > 0);
    const hpcw_status s = clog2_case_write(&c, late, 0, NULL);
    clog2_case_free(&c);
    return s;
}

static int make(void **state) {
    struct clog2_case c;
    (void)scratch_set_up(state);
    (void)snprintf(path, sizeof path, "%s/app.clog2", scratch);
    clog2_case_make(&c, RANKS, STEPS);
    c.options.block_size = 4096;
    const hpcw_status s = clog2_case_write(&c, path, 0, NULL);
    clog2_case_free(&c);
    return s == HPCW_OK && write_late() == HPCW_OK ? 0 : -1;
}

static hpcw_clog2_reader *opened(const char *name) {
    hpcw_clog2_reader *r;
    hpcw_error err = {0};
    char file[600];
    (void)snprintf(file, sizeof file, "%s/%s", scratch, name);
    if (hpcw_clog2_reader_open(file, &r, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    return r;
}

/* ---- all rows of a window, in chunks ---- */

struct rows {
    size_t count;
    char name[MOST][40]; /* name of a state or a solo event, empty for messages */
    uint32_t rank[MOST], depth[MOST], to_rank[MOST];
    int32_t comm[MOST], thread[MOST], tag[MOST], size[MOST];
    double from[MOST], to[MOST];
    unsigned char cargo[MOST][HPCW_CLOG2_CARGO];
};

static hpcw_status fill(hpcw_clog2_reader *r, hpcw_clog2_table table, struct rows *all, uint32_t *definition,
                        size_t capacity, size_t *count, hpcw_error *err) {
    const size_t at = all->count;
    if (table == HPCW_CLOG2_TABLE_MESSAGES) {
        const hpcw_clog2_messages columns = {.from = all->rank + at,
                                             .to = all->to_rank + at,
                                             .comm = all->comm + at,
                                             .tag = all->tag + at,
                                             .size = all->size + at,
                                             .sent = all->from + at,
                                             .received = all->to + at};
        return hpcw_clog2_reader_messages(r, &columns, capacity, count, err);
    }
    if (table == HPCW_CLOG2_TABLE_SOLOS) {
        const hpcw_clog2_solos columns = {.definition = definition,
                                          .rank = all->rank + at,
                                          .thread = all->thread + at,
                                          .comm = all->comm + at,
                                          .time = all->from + at,
                                          .cargo = all->cargo[at]};
        return hpcw_clog2_reader_solos(r, &columns, capacity, count, err);
    }
    const hpcw_clog2_states columns = {.definition = definition,
                                       .rank = all->rank + at,
                                       .thread = all->thread + at,
                                       .comm = all->comm + at,
                                       .depth = all->depth + at,
                                       .from = all->from + at,
                                       .to = all->to + at,
                                       .cargo = all->cargo[at]};
    return hpcw_clog2_reader_states(r, &columns, capacity, count, err);
}

static void read_rows(hpcw_clog2_reader *r, hpcw_clog2_table table, const hpcw_clog2_window *window,
                      size_t capacity, struct rows *all) {
    uint32_t definition[MOST];
    size_t count = 1;
    memset(all, 0, sizeof *all);
    assert_int_equal(hpcw_clog2_reader_select(r, table, window, NULL), HPCW_OK);
    while (count > 0) {
        assert_true(all->count + capacity <= MOST);
        assert_int_equal(fill(r, table, all, definition, capacity, &count, NULL), HPCW_OK);
        assert_true(count <= capacity);
        for (size_t i = 0; table != HPCW_CLOG2_TABLE_MESSAGES && i < count; i++) {
            hpcw_clog2_definition d;
            assert_true(hpcw_clog2_reader_definition(r, definition[i], &d));
            assert_int_equal(d.state, table == HPCW_CLOG2_TABLE_STATES);
            (void)snprintf(all->name[all->count + i], sizeof all->name[0], "%s", d.name);
        }
        for (size_t i = 0; table == HPCW_CLOG2_TABLE_SOLOS && i < count; i++) {
            all->to[all->count + i] = all->from[all->count + i];
        }
        all->count += count;
    }
    assert_int_equal(fill(r, table, all, definition, 1, &count, NULL), HPCW_OK);
    assert_int_equal(count, 0);
}

static void assert_row(const struct rows *a, size_t i, const struct rows *b, size_t k) {
    assert_string_equal(a->name[i], b->name[k]);
    assert_true(a->rank[i] == b->rank[k] && a->to_rank[i] == b->to_rank[k] && a->depth[i] == b->depth[k]);
    assert_true(a->comm[i] == b->comm[k] && a->thread[i] == b->thread[k]);
    assert_true(a->tag[i] == b->tag[k] && a->size[i] == b->size[k]);
    assert_true(a->from[i] == b->from[k] && a->to[i] == b->to[k]);
    assert_memory_equal(a->cargo[i], b->cargo[k], HPCW_CLOG2_CARGO);
}

static const hpcw_clog2_table tables[] = {HPCW_CLOG2_TABLE_STATES, HPCW_CLOG2_TABLE_MESSAGES,
                                          HPCW_CLOG2_TABLE_SOLOS};

/* ---- rows compared with callbacks ---- */

static hpcw_status keep_state(void *context, const hpcw_clog2_stretch *s) {
    struct rows *all = context;
    const size_t i = all->count++;
    (void)snprintf(all->name[i], sizeof all->name[0], "%s", s->name);
    all->rank[i] = s->rank;
    all->comm[i] = s->comm;
    all->thread[i] = s->thread;
    all->from[i] = s->from;
    all->to[i] = s->to;
    if (s->cargo != NULL) {
        memcpy(all->cargo[i], s->cargo, HPCW_CLOG2_CARGO);
    }
    return HPCW_OK;
}

static hpcw_status keep_message(void *context, const hpcw_clog2_end *e) {
    struct rows *all = context;
    if (e->meets) {
        const size_t i = all->count++;
        all->rank[i] = e->send ? e->rank : e->peer;
        all->to_rank[i] = e->send ? e->peer : e->rank;
        all->tag[i] = e->tag;
        all->size[i] = e->size;
        all->from[i] = e->send ? e->time : e->other;
        all->to[i] = e->send ? e->other : e->time;
    }
    return HPCW_OK;
}

static void the_rows_are_those_of_the_callbacks(void **state) {
    (void)state;
    static struct rows seen, all;
    hpcw_clog2_reader *r = opened("app.clog2");
    seen.count = 0;
    const hpcw_clog2_watch states = {.context = &seen, .state = keep_state};
    assert_int_equal(hpcw_clog2_reader_watch(r, &states, NULL), HPCW_OK);
    assert_int_equal(seen.count, 2 * RANKS * STEPS);
    read_rows(r, HPCW_CLOG2_TABLE_STATES, NULL, 700, &all);
    assert_int_equal(all.count, seen.count);
    for (size_t i = 0; i < all.count; i++) {
        assert_row(&all, i, &seen, i);
    }
    memset(&seen, 0, sizeof seen);
    const hpcw_clog2_watch messages = {.context = &seen, .message = keep_message};
    assert_int_equal(hpcw_clog2_reader_watch(r, &messages, NULL), HPCW_OK);
    assert_int_equal(seen.count, RANKS * STEPS);
    read_rows(r, HPCW_CLOG2_TABLE_MESSAGES, NULL, 700, &all);
    assert_int_equal(all.count, seen.count);
    for (size_t i = 0; i < all.count; i++) {
        assert_row(&all, i, &seen, i);
    }
    hpcw_clog2_reader_free(r);
}

static void solo_events_are_those_of_the_records(void **state) {
    (void)state;
    static struct rows all;
    hpcw_clog2_reader *r = opened("app.clog2");
    read_rows(r, HPCW_CLOG2_TABLE_SOLOS, NULL, 500, &all);
    hpcw_clog2_record record;
    bool more = true;
    size_t i = 0;
    hpcw_clog2_reader_rewind(r);
    while (more) {
        assert_int_equal(hpcw_clog2_reader_next(r, &record, &more, NULL), HPCW_OK);
        const bool cargo = more && record.kind == HPCW_CLOG2_WITH_CARGO;
        const bool bare = more && record.kind == HPCW_CLOG2_BARE;
        if ((bare && record.as.event >= HPCW_CLOG2_USER_SOLO) ||
            (cargo && record.as.cargo.event >= HPCW_CLOG2_USER_SOLO)) {
            assert_true(i < all.count && all.from[i] == record.time && all.rank[i] == (uint32_t)record.rank);
            assert_true(all.thread[i] == record.thread && all.comm[i] == record.comm);
            assert_true(!cargo || memcmp(all.cargo[i], record.as.cargo.bytes, HPCW_CLOG2_CARGO) == 0);
            i++;
        }
    }
    assert_true(i > 0 && i == all.count);
    hpcw_clog2_reader_free(r);
}

static void chunks_of_any_size(void **state) {
    (void)state;
    static struct rows all, chunked;
    hpcw_clog2_reader *r = opened("app.clog2");
    for (size_t t = 0; t < 3; t++) {
        read_rows(r, tables[t], NULL, 700, &all);
        for (size_t capacity = 1; capacity <= 300; capacity = capacity * 3 + 1) {
            read_rows(r, tables[t], NULL, capacity, &chunked);
            assert_int_equal(chunked.count, all.count);
            for (size_t i = 0; i < all.count; i++) {
                assert_row(&chunked, i, &all, i);
            }
        }
    }
    hpcw_clog2_reader_free(r);
}

/* ---- windows ---- */

static bool is_in(const struct rows *all, size_t i, hpcw_clog2_table table, const hpcw_clog2_window *w) {
    const bool ranks = (all->rank[i] >= w->first_rank && all->rank[i] <= w->last_rank) ||
                       (table == HPCW_CLOG2_TABLE_MESSAGES && all->to_rank[i] >= w->first_rank &&
                        all->to_rank[i] <= w->last_rank);
    return ranks && all->from[i] < w->to && (all->to[i] > w->from || all->from[i] >= w->from);
}

static void windows_of_times_and_ranks(void **state) {
    (void)state;
    static struct rows all, part;
    hpcw_clog2_reader *r = opened("app.clog2");
    for (size_t t = 0; t < 3; t++) {
        read_rows(r, tables[t], NULL, 700, &all);
        const double begin = all.from[0], end = all.to[all.count - 1];
        for (int k = 0; k < 60; k++) {
            hpcw_clog2_window w;
            hpcw_clog2_window_init(&w);
            /* Some windows begin exactly where a state ends. */
            w.from = k % 3 == 0 ? all.to[(size_t)k % all.count] : begin + (end - begin) * k / 80;
            w.to = w.from + (end - begin) * (k % 7 + 1) / 40;
            w.first_rank = (uint32_t)k % RANKS;
            w.last_rank = k % 2 == 0 ? UINT32_MAX : w.first_rank;
            read_rows(r, tables[t], &w, 50, &part);
            size_t i = 0;
            for (size_t a = 0; a < all.count; a++) {
                if (is_in(&all, a, tables[t], &w)) {
                    assert_true(i < part.count);
                    assert_row(&part, i++, &all, a);
                }
            }
            assert_int_equal(i, part.count);
        }
    }
    hpcw_clog2_reader_free(r);
}

/* Damage after the window does not matter. Within the window, the rows before the damage are read first. */
static void no_more_is_read_than_the_window_needs(void **state) {
    (void)state;
    static struct rows all;
    uint32_t definition[MOST];
    size_t size, count = 1;
    unsigned char *data = read_file(path, &size);
    char damaged[300];
    assert_non_null(data);
    const size_t blocks = (size - 1024) / 4096;
    assert_true(blocks >= 4);
    data[1024 + 4096 * (blocks - 1) + 23] = 12;
    (void)snprintf(damaged, sizeof damaged, "%s/damaged.clog2", scratch);
    FILE *f = fopen(damaged, "wb");
    assert_true(f != NULL && fwrite(data, 1, size, f) == size && fclose(f) == 0);
    free(data);
    hpcw_clog2_reader *whole = opened("app.clog2"), *r = opened("damaged.clog2");
    read_rows(whole, HPCW_CLOG2_TABLE_STATES, NULL, 700, &all);
    const size_t states = all.count;
    hpcw_clog2_window w;
    hpcw_clog2_window_init(&w);
    w.to = all.from[states / 2];
    read_rows(r, HPCW_CLOG2_TABLE_STATES, &w, 30, &all);
    assert_true(all.count > 0 && all.count < states);

    hpcw_error err;
    hpcw_status s = HPCW_OK;
    assert_int_equal(hpcw_clog2_reader_select(r, HPCW_CLOG2_TABLE_STATES, NULL, NULL), HPCW_OK);
    memset(&all, 0, sizeof all);
    while (s == HPCW_OK) {
        s = fill(r, HPCW_CLOG2_TABLE_STATES, &all, definition, 10, &count, &err);
        all.count += count;
    }
    assert_true(all.count > states / 2 && all.count < states);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(s, HPCW_EFORMAT);
        assert_int_equal(count, 0);
        assert_non_null(strstr(err.message, "record type: expected 0 to 11, got 12"));
        err = (hpcw_error){0};
        s = fill(r, HPCW_CLOG2_TABLE_STATES, &all, definition, 10, &count, &err);
    }
    hpcw_clog2_reader_free(whole);
    hpcw_clog2_reader_free(r);
}

/* The time of the first record is out of range. The records after it have rows all the same. */
static void wrong_times_hide_no_rows(void **state) {
    (void)state;
    static struct rows expected, got;
    size_t size;
    unsigned char *data = read_file(path, &size);
    char damaged[300];
    assert_non_null(data);
    hpcw_i_put_f64(data + 1024, INFINITY, true);
    (void)snprintf(damaged, sizeof damaged, "%s/wrong_time.clog2", scratch);
    FILE *f = fopen(damaged, "wb");
    assert_true(f != NULL && fwrite(data, 1, size, f) == size && fclose(f) == 0);
    free(data);
    hpcw_clog2_reader *whole = opened("app.clog2"), *r = opened("wrong_time.clog2");
    for (int table = HPCW_CLOG2_TABLE_STATES; table <= HPCW_CLOG2_TABLE_SOLOS; table++) {
        read_rows(whole, (hpcw_clog2_table)table, NULL, 100, &expected);
        read_rows(r, (hpcw_clog2_table)table, NULL, 100, &got);
        assert_true(expected.count > 0 && got.count == expected.count);
    }
    hpcw_clog2_reader_free(whole);
    hpcw_clog2_reader_free(r);
}

/* ---- definitions at the end, depth ---- */

static void definitions_hold_wherever_they_stand(void **state) {
    (void)state;
    static struct rows all, late;
    hpcw_clog2_reader *r = opened("app.clog2"), *other = opened("late.clog2");
    for (size_t t = 0; t < 3; t++) {
        read_rows(r, tables[t], NULL, 700, &all);
        read_rows(other, tables[t], NULL, 5, &late);
        assert_int_equal(late.count, all.count);
        for (size_t i = 0; i < all.count; i++) {
            assert_true(t == 1 || all.name[i][0] != '\0');
            assert_row(&late, i, &all, i);
        }
    }
    static struct rows seen;
    const hpcw_clog2_watch states = {.context = &seen, .state = keep_state};
    assert_int_equal(hpcw_clog2_reader_watch(other, &states, NULL), HPCW_OK);
    for (size_t i = 0; i < seen.count; i++) {
        assert_true(seen.name[i][0] != '\0');
    }
    hpcw_clog2_reader_free(r);
    hpcw_clog2_reader_free(other);
}

/* States of one thread nest across communicators; states of another thread do not count. */
static void depth(void **state) {
    (void)state;
    static const struct {
        int32_t comm, thread, event;
    } events[] = {{0, 0, 600}, {0, 1, 600}, {1, 0, 602}, {1, 0, 603}, {0, 1, 601}, {0, 0, 601}};
    struct clog2_case c;
    char file[300];
    static struct rows all;
    (void)snprintf(file, sizeof file, "%s/events.clog2", scratch);
    clog2_case_make(&c, 1, 0);
    c.options.threads = 2;
    c.record = realloc(c.record, (c.count + 6) * sizeof *c.record);
    assert_non_null(c.record);
    for (size_t i = 0; i < 6; i++) {
        c.record[c.count++] = (hpcw_clog2_record){.time = (double)(1 + i),
                                                  .kind = HPCW_CLOG2_BARE,
                                                  .comm = events[i].comm,
                                                  .thread = events[i].thread,
                                                  .as.event = events[i].event};
    }
    assert_int_equal(clog2_case_write(&c, file, 0, NULL), HPCW_OK);
    clog2_case_free(&c);
    hpcw_clog2_reader *r = opened("events.clog2");
    read_rows(r, HPCW_CLOG2_TABLE_STATES, NULL, 2, &all);
    assert_int_equal(all.count, 3);
    assert_true(all.from[0] == 3 && all.depth[0] == 1);
    assert_true(all.from[1] == 2 && all.depth[1] == 0);
    assert_true(all.from[2] == 1 && all.depth[2] == 0);
    hpcw_clog2_reader_free(r);
}

/* Finds the first big-endian number `from` at the offset `at` or later, and replaces it by `to`. Returns its
 * offset. */
static size_t replace_number(unsigned char *data, size_t size, size_t at, int32_t from, int32_t to) {
    unsigned char old[4];
    hpcw_i_put_u32(old, (uint32_t)from, true);
    unsigned char *found = memmem(data + at, size - at, old, sizeof old);
    assert_non_null(found);
    hpcw_i_put_u32(found, (uint32_t)to, true);
    return (size_t)(found - data);
}

/* The begin event of a state gets another number later in the file. The reader must use the latest definition. */
static void events_that_change_hands(void **state) {
    (void)state;
    /* event number that is never announced, and that our writers do not use for definitions */
    enum { OTHER = 4999 };
    struct clog2_case c;
    char file[300];
    static struct rows all;
    size_t size;
    (void)snprintf(file, sizeof file, "%s/hands.clog2", scratch);
    clog2_case_make(&c, 1, 0);
    const int32_t start = HPCW_CLOG2_USER_EVENT + 2 * (int32_t)c.options.states++;
    const size_t before = c.count;
    c.record = realloc(c.record, (c.count + 5) * sizeof *c.record);
    assert_non_null(c.record);
    c.record[c.count++] = (hpcw_clog2_record){.time = 1,
                                              .kind = HPCW_CLOG2_STATE_DEF,
                                              .as.state = {.state = start / 2,
                                                           .start = start,
                                                           .end = start + 1,
                                                           .colour = "red",
                                                           .name = "borrows",
                                                           .format = ""}};
    while (c.count < before + 5) {
        c.record[c.count] = (hpcw_clog2_record){.time = (double)(1 + c.count - before),
                                                .kind = HPCW_CLOG2_BARE,
                                                .as.event = start + (int32_t)((c.count - before + 1) % 2)};
        c.count++;
    }
    assert_int_equal(clog2_case_write(&c, file, 0, NULL), HPCW_OK);
    clog2_case_free(&c);
    /* Gives the first of the two states another begin event, in its definition and at its use. */
    unsigned char *data = read_file(file, &size);
    assert_non_null(data);
    const size_t defined = replace_number(data, size, 1024, start, OTHER);
    (void)replace_number(data, size, defined, start, OTHER);
    FILE *f = fopen(file, "wb");
    assert_true(f != NULL && fwrite(data, 1, size, f) == size && fclose(f) == 0);
    free(data);
    hpcw_clog2_reader *r = opened("hands.clog2");
    read_rows(r, HPCW_CLOG2_TABLE_STATES, NULL, 9, &all);
    assert_int_equal(all.count, 2);
    assert_true(all.from[0] == 2 && all.to[0] == 3 && all.from[1] == 4 && all.to[1] == 5);
    assert_string_equal(all.name[0], "borrows");
    hpcw_clog2_reader_free(r);
}

/* ---- misuse ---- */

static hpcw_status select_in_callback(void *context, const hpcw_clog2_stretch *s) {
    (void)s;
    size_t count;
    assert_int_equal(hpcw_clog2_reader_select(context, HPCW_CLOG2_TABLE_STATES, NULL, NULL), HPCW_ESTATE);
    assert_int_equal(hpcw_clog2_reader_states(context, &(hpcw_clog2_states){0}, 1, &count, NULL), HPCW_ESTATE);
    return HPCW_OK;
}

static void refusals(void **state) {
    (void)state;
    hpcw_clog2_reader *r = opened("app.clog2");
    const hpcw_clog2_states states = {0};
    hpcw_clog2_definition d;
    hpcw_clog2_window w;
    size_t count = 7;
    hpcw_error err;
    assert_int_equal(hpcw_clog2_reader_select(NULL, HPCW_CLOG2_TABLE_STATES, NULL, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_clog2_reader_select(r, (hpcw_clog2_table)4, NULL, &err), HPCW_EINVAL);
    assert_non_null(strstr(err.message, "expected a table from 1 to 3, got 4"));
    hpcw_clog2_window_init(&w);
    w.to = NAN;
    assert_int_equal(hpcw_clog2_reader_select(r, HPCW_CLOG2_TABLE_STATES, &w, NULL), HPCW_EINVAL);
    hpcw_clog2_window_init(&w);
    w.from = w.to = 1;
    assert_int_equal(hpcw_clog2_reader_select(r, HPCW_CLOG2_TABLE_STATES, &w, NULL), HPCW_EINVAL);
    hpcw_clog2_window_init(&w);
    w.last_rank = 1;
    w.first_rank = 2;
    assert_int_equal(hpcw_clog2_reader_select(r, HPCW_CLOG2_TABLE_STATES, &w, NULL), HPCW_EINVAL);
    hpcw_clog2_window_init(NULL);

    /* A table is read only while it is selected: not before, not after another selection, and not after another
     * call. */
    assert_int_equal(hpcw_clog2_reader_states(r, &states, 1, &count, &err), HPCW_ESTATE);
    assert_int_equal(count, 0);
    assert_non_null(strstr(err.message, "expected table 1 to be selected, got none"));
    assert_false(hpcw_clog2_reader_definition(r, 0, &d));
    assert_int_equal(hpcw_clog2_reader_select(r, HPCW_CLOG2_TABLE_MESSAGES, NULL, NULL), HPCW_OK);
    assert_int_equal(hpcw_clog2_reader_states(r, &states, 1, &count, NULL), HPCW_ESTATE);
    assert_int_equal(hpcw_clog2_reader_solos(r, &(hpcw_clog2_solos){0}, 1, &count, NULL), HPCW_ESTATE);
    assert_int_equal(hpcw_clog2_reader_messages(r, &(hpcw_clog2_messages){0}, 1, &count, NULL), HPCW_OK);
    assert_int_equal(count, 1);
    hpcw_clog2_reader_rewind(r);
    assert_int_equal(hpcw_clog2_reader_messages(r, &(hpcw_clog2_messages){0}, 1, &count, NULL), HPCW_ESTATE);

    assert_int_equal(hpcw_clog2_reader_select(r, HPCW_CLOG2_TABLE_STATES, NULL, NULL), HPCW_OK);
    assert_int_equal(hpcw_clog2_reader_states(r, &states, 0, &count, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_clog2_reader_states(r, NULL, 1, &count, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_clog2_reader_states(r, &states, 1, NULL, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_clog2_reader_states(NULL, &states, 1, &count, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_clog2_reader_states(r, &states, 3, &count, NULL), HPCW_OK);
    assert_int_equal(count, 3);
    assert_true(hpcw_clog2_reader_definition(r, 0, &d));
    assert_false(hpcw_clog2_reader_definition(r, 1000, &d));
    assert_false(hpcw_clog2_reader_definition(NULL, 0, &d));
    assert_false(hpcw_clog2_reader_definition(r, 0, NULL));

    const hpcw_clog2_watch watch = {.context = r, .state = select_in_callback};
    assert_int_equal(hpcw_clog2_reader_watch(r, &watch, NULL), HPCW_OK);
    hpcw_clog2_reader_free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rows_are_those_of_the_callbacks),
        cmocka_unit_test(solo_events_are_those_of_the_records),
        cmocka_unit_test(chunks_of_any_size),
        cmocka_unit_test(windows_of_times_and_ranks),
        cmocka_unit_test(no_more_is_read_than_the_window_needs),
        cmocka_unit_test(wrong_times_hide_no_rows),
        cmocka_unit_test(definitions_hold_wherever_they_stand),
        cmocka_unit_test(depth),
        cmocka_unit_test(events_that_change_hands),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, make, scratch_tear_down);
}
