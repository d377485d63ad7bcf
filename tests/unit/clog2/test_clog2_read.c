/* SPDX-License-Identifier: BSD-3-Clause */
/* <hpcw/clog2_read.h>: records that were read can be written again, and states and messages are those of the
 * program. */
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

enum { RANKS = 3, STEPS = 400, TAGS = 10000 };

static char path[300];

static int make(void **state) {
    struct clog2_case c;
    (void)scratch_set_up(state);
    (void)snprintf(path, sizeof path, "%s/app.clog2", scratch);
    clog2_case_make(&c, RANKS, STEPS);
    c.options.block_size = 4096;
    hpcw_status s = clog2_case_write(&c, path, 0, NULL);
    clog2_case_free(&c);
    return s == HPCW_OK ? 0 : -1;
}

static hpcw_clog2_reader *opened(void) {
    hpcw_clog2_reader *r;
    hpcw_error err = {0};
    if (hpcw_clog2_reader_open(path, &r, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    return r;
}

static void comm_of(void *context, uint32_t index, hpcw_clog2_comm_entry *entry) {
    assert_true(hpcw_clog2_reader_comm(context, index, entry));
}

/* Copies every record of a log into another log. Both files must be the same. */
static void what_is_read_can_be_written(void **state) {
    (void)state;
    hpcw_clog2_reader *r = opened();
    const hpcw_clog2_info *info = hpcw_clog2_reader_info(r);
    assert_int_equal(info->ranks, RANKS);
    assert_int_equal(info->block_size, 4096);
    assert_true(info->blocks > 10);
    hpcw_clog2_options o;
    hpcw_clog2_options_init(&o);
    o.ranks = info->ranks;
    o.threads = info->threads;
    o.states = info->states;
    o.solos = info->solos;
    o.known_solos = info->known_solos;
    o.block_size = info->block_size;
    o.comms = info->comms;
    o.comm_of = comm_of;
    o.comm_context = r;
    char copy[300];
    (void)snprintf(copy, sizeof copy, "%s/copy.clog2", scratch);
    hpcw_clog2 *log;
    hpcw_clog2_slice *slice;
    hpcw_error err = {0};
    assert_int_equal(hpcw_clog2_open(copy, NULL, &o, &log, &err), HPCW_OK);
    assert_int_equal(hpcw_clog2_slice_new(log, 0, &slice, &err), HPCW_OK);
    assert_int_equal(hpcw_clog2_slice_place(slice, 0, &err), HPCW_OK);
    unsigned kinds = 0;
    for (bool more = true; more;) {
        hpcw_clog2_record record;
        assert_int_equal(hpcw_clog2_reader_next(r, &record, &more, &err), HPCW_OK);
        kinds |= more ? 1u << record.kind : 0;
        if (more && hpcw_clog2_slice_put(slice, &record, 1, &err) != HPCW_OK) {
            fail_msg("%s", err.message);
        }
    }
    assert_int_equal(kinds, 1u << 2 | 1u << 3 | 1u << 4 | 1u << 5 | 1u << 6 | 1u << 7 | 1u << 9 | 1u << 11);
    assert_int_equal(hpcw_clog2_slice_end(slice, HPCW_CLOG2_LAST, &err), HPCW_OK);
    assert_int_equal(hpcw_clog2_close(log, hpcw_clog2_slice_blocks(slice), &err), HPCW_OK);
    hpcw_clog2_slice_free(slice);
    hpcw_clog2_free(log);
    hpcw_clog2_reader_free(r);
    size_t size, got_size;
    unsigned char *original = read_file(path, &size), *got = read_file(copy, &got_size);
    assert_true(original != NULL && got != NULL && same_bytes(copy, original, size, got, got_size));
    free(original);
    free(got);
}

/* ---- states and messages ---- */

struct seen {
    unsigned sends, receives, computes, exchanges;
    /* sums of the stretches (states without nested ones) and of the outermost states, s */
    double stretches, states;
    double compute;
};

static hpcw_status take_stretch(void *context, const hpcw_clog2_stretch *s) {
    struct seen *seen = context;
    assert_true(s->from < s->to && s->rank < RANKS && s->cargo == NULL);
    seen->stretches += s->to - s->from;
    return HPCW_OK;
}

static hpcw_status take_state(void *context, const hpcw_clog2_stretch *s) {
    struct seen *seen = context;
    assert_true(s->from < s->to && s->rank < RANKS);
    if (s->state == 300) {
        assert_string_equal(s->name, "Compute");
        assert_null(s->cargo);
        seen->computes++;
        seen->compute += s->to - s->from;
    } else if (s->state == 301) {
        assert_string_equal(s->name, "Exchange");
        assert_int_equal(hpcw_i_get_u32(s->cargo, true), seen->exchanges++ / RANKS);
    }
    seen->states += s->to - s->from;
    return HPCW_OK;
}

static hpcw_status take_end(void *context, const hpcw_clog2_end *e) {
    struct seen *seen = context;
    unsigned *count = e->send ? &seen->sends : &seen->receives;
    unsigned rank = *count % RANKS, step = *count / RANKS;
    ++*count;
    assert_int_equal(e->rank, rank);
    assert_int_equal(e->peer, e->send ? (rank + 1) % RANKS : (rank + RANKS - 1) % RANKS);
    assert_int_equal(e->tag, step % 10);
    assert_int_equal(e->size, 1000 + step);
    assert_true(e->meets == !e->send && (e->meets ? e->other < e->time : e->other == 0));
    return HPCW_OK;
}

struct sums {
    const struct seen *seen;
    unsigned shares, flows;
    uint64_t messages, bytes;
    double seconds;
};

static hpcw_status take_share(void *context, const hpcw_clog2_share *s) {
    struct sums *sums = context;
    assert_int_equal(s->rank, sums->shares % RANKS);
    assert_int_equal(s->count, s->state ? STEPS : STEPS / RANKS + (s->rank < STEPS % RANKS));
    assert_true(s->state == (s->number < 5000) && (s->seconds > 0) == s->state);
    assert_string_equal(s->name, s->number == 300 ? "Compute" : s->number == 301 ? "Exchange" : "Residual");
    sums->seconds += s->seconds;
    sums->shares++;
    return HPCW_OK;
}

static hpcw_status take_flow(void *context, const hpcw_clog2_flow *f) {
    struct sums *sums = context;
    assert_int_equal(f->from, sums->flows);
    assert_int_equal(f->to, (f->from + 1) % RANKS);
    assert_int_equal(f->count, STEPS);
    sums->flows++;
    sums->messages += f->count;
    sums->bytes += f->bytes;
    return HPCW_OK;
}

static void states_messages_and_their_profile(void **state) {
    (void)state;
    hpcw_clog2_reader *r = opened();
    struct seen seen = {0};
    const hpcw_clog2_watch watch = {&seen, take_stretch, take_state, take_end};
    for (unsigned turn = 1; turn <= 2; turn++) { /* each call reads from the first record on */
        seen = (struct seen){0};
        assert_int_equal(hpcw_clog2_reader_watch(r, &watch, NULL), HPCW_OK);
        assert_true(seen.sends == RANKS * STEPS && seen.receives == RANKS * STEPS);
        assert_true(seen.computes == RANKS * STEPS && seen.exchanges == RANKS * STEPS);
        /* No state is nested here. */
        assert_true(seen.stretches > 0 && fabs(seen.stretches - seen.states) <= 1e-9 * seen.states);
    }
    assert_int_equal(hpcw_clog2_reader_watch(r, &(hpcw_clog2_watch){0}, NULL), HPCW_OK);
    struct sums sums = {.seen = &seen};
    const hpcw_clog2_profile profile = {&sums, take_share, take_flow};
    assert_int_equal(hpcw_clog2_reader_profile(r, &profile, NULL), HPCW_OK);
    assert_int_equal(sums.shares, 3 * RANKS);
    assert_int_equal(sums.flows, RANKS);
    assert_int_equal(sums.messages, RANKS * STEPS);
    assert_true(fabs(sums.seconds - seen.states) <= 1e-9 * seen.states);
    assert_int_equal(sums.bytes, (uint64_t)RANKS * (STEPS * 1000 + STEPS * (STEPS - 1) / 2));
    assert_int_equal(hpcw_clog2_reader_profile(r, &(hpcw_clog2_profile){0}, NULL), HPCW_OK);

    /* hpcw_clog2_reader_rewind goes back to the first record. */
    hpcw_clog2_record record;
    bool more = true;
    assert_int_equal(hpcw_clog2_reader_next(r, &record, &more, NULL), HPCW_OK);
    assert_false(more);
    hpcw_clog2_reader_rewind(r);
    assert_int_equal(hpcw_clog2_reader_next(r, &record, &more, NULL), HPCW_OK);
    assert_true(more && record.kind == HPCW_CLOG2_TIME_SHIFT && record.as.shift == 0);
    hpcw_clog2_reader_free(r);
}

/* ---- timelines ---- */

enum { PIECES = 16 };

struct pieces {
    unsigned count;
    hpcw_clog2_stretch piece[PIECES];
};

static hpcw_status keep_stretch(void *context, const hpcw_clog2_stretch *s) {
    struct pieces *pieces = context;
    assert_true(pieces->count < PIECES);
    pieces->piece[pieces->count++] = *s;
    return HPCW_OK;
}

struct event {
    int32_t comm, thread, event;
};

/* Reads a log of one rank with an event each second: with a callback for stretches, and with one for states. */
static void watch_events(const struct event *events, size_t count, struct pieces *stretches,
                         struct pieces *states) {
    struct clog2_case c;
    char other[300];
    (void)snprintf(other, sizeof other, "%s/events.clog2", scratch);
    clog2_case_make(&c, 1, 0);
    c.options.threads = 2;
    c.record = realloc(c.record, (c.count + count) * sizeof *c.record);
    assert_non_null(c.record);
    for (size_t i = 0; i < count; i++) {
        c.record[c.count++] = (hpcw_clog2_record){.time = (double)(1 + i),
                                                  .kind = HPCW_CLOG2_BARE,
                                                  .comm = events[i].comm,
                                                  .thread = events[i].thread,
                                                  .as.event = events[i].event};
    }
    assert_int_equal(clog2_case_write(&c, other, 0, NULL), HPCW_OK);
    clog2_case_free(&c);
    hpcw_clog2_reader *r;
    *stretches = *states = (struct pieces){0};
    assert_int_equal(hpcw_clog2_reader_open(other, &r, NULL), HPCW_OK);
    hpcw_clog2_watch watch = {.context = stretches, .stretch = keep_stretch};
    assert_int_equal(hpcw_clog2_reader_watch(r, &watch, NULL), HPCW_OK);
    watch = (hpcw_clog2_watch){.context = states, .state = keep_stretch};
    assert_int_equal(hpcw_clog2_reader_watch(r, &watch, NULL), HPCW_OK);
    hpcw_clog2_reader_free(r);
}

static bool is_piece(const hpcw_clog2_stretch *s, const struct event *e, double from, double to) {
    return s->state == e->event / 2 && s->rank == 0 && s->comm == e->comm && s->thread == e->thread &&
           s->from == from && s->to == to;
}

/* Two threads of a rank, and a second communicator, are in the same state at the same time. */
static void timelines_of_a_rank_overlap(void **state) {
    (void)state;
    static const struct event events[] = {{0, 0, 600}, {0, 1, 600}, {1, 0, 600},
                                          {0, 0, 601}, {0, 1, 601}, {1, 0, 601}};
    struct pieces stretches, states;
    watch_events(events, 6, &stretches, &states);
    assert_true(stretches.count == 3 && states.count == 3);
    for (size_t i = 0; i < 3; i++) {
        assert_true(is_piece(&stretches.piece[i], &events[i], (double)(1 + i), (double)(4 + i)));
        assert_true(is_piece(&states.piece[i], &events[i], (double)(1 + i), (double)(4 + i)));
    }
}

/* A nested state cuts the outer state of the same timeline into two stretches. The outer state stays one state. */
static void nested_states(void **state) {
    (void)state;
    static const struct event events[] = {{0, 1, 600}, {0, 1, 602}, {0, 1, 603}, {0, 1, 601}};
    struct pieces stretches, states;
    watch_events(events, 4, &stretches, &states);
    assert_true(stretches.count == 3 && states.count == 2);
    assert_true(is_piece(&stretches.piece[0], &events[0], 1, 2));
    assert_true(is_piece(&stretches.piece[1], &events[1], 2, 3));
    assert_true(is_piece(&stretches.piece[2], &events[0], 3, 4));
    assert_true(is_piece(&states.piece[0], &events[1], 2, 3));
    assert_true(is_piece(&states.piece[1], &events[0], 1, 4));
}

/* States end in the order of their begins. More are open than fit into the fixed array of a timeline. */
static void many_states_at_a_time(void **state) {
    (void)state;
    enum { OPEN = 6 };
    static const struct event events[] = {{0, 0, 600}, {0, 0, 602}, {0, 0, 600}, {0, 0, 602},
                                          {0, 0, 600}, {0, 0, 602}, {0, 0, 601}, {0, 0, 603},
                                          {0, 0, 601}, {0, 0, 603}, {0, 0, 601}, {0, 0, 603}};
    struct pieces stretches, states;
    watch_events(events, 2 * OPEN, &stretches, &states);
    assert_true(stretches.count == 2 * OPEN - 1 && states.count == OPEN);
    for (size_t i = 0; i < OPEN; i++) {
        assert_true(is_piece(&states.piece[i], &events[i], (double)(1 + i), (double)(1 + OPEN + i)));
    }
}

/* ---- messages ---- */

static hpcw_status count_meetings(void *context, const hpcw_clog2_end *e) {
    unsigned *meetings = context;
    assert_true(e->meets == !e->send);
    if (e->meets) {
        assert_true(e->other == (*meetings < TAGS ? e->time - 1 : 1));
        ++*meetings;
    }
    return HPCW_OK;
}

/* One message is received late. Meanwhile there are messages of TAGS other tags, and the reader forgets some. */
static void messages_of_many_tags(void **state) {
    (void)state;
    struct clog2_case c;
    char other[300];
    (void)snprintf(other, sizeof other, "%s/tags.clog2", scratch);
    clog2_case_make(&c, 1, 0);
    c.record = realloc(c.record, (c.count + 2 * TAGS + 2) * sizeof *c.record);
    assert_non_null(c.record);
    for (int32_t i = 0; i < 2 * TAGS + 2; i++) {
        const bool waits = i == 0 || i == 2 * TAGS + 1;
        c.record[c.count++] = (hpcw_clog2_record){
            .time = (double)(1 + i),
            .kind = HPCW_CLOG2_MESSAGE,
            .as.message = {.event = (waits ? i == 0 : i % 2 == 1) ? HPCW_CLOG2_SEND : HPCW_CLOG2_RECEIVE,
                           .tag = waits ? TAGS : (i - 1) / 2}};
    }
    assert_int_equal(clog2_case_write(&c, other, 0, NULL), HPCW_OK);
    clog2_case_free(&c);
    hpcw_clog2_reader *r;
    unsigned meetings = 0;
    assert_int_equal(hpcw_clog2_reader_open(other, &r, NULL), HPCW_OK);
    assert_int_equal(
        hpcw_clog2_reader_watch(r, &(hpcw_clog2_watch){.context = &meetings, .message = count_meetings}, NULL),
        HPCW_OK);
    assert_int_equal(meetings, TAGS + 1);
    hpcw_clog2_reader_free(r);
}

/* ---- callbacks ---- */

/* Context of a callback that fails at its call `last`. All other calls of the reader within a callback are
 * refused or do nothing. */
struct stopping {
    hpcw_clog2_reader *reader;
    unsigned calls, last;
};

static hpcw_status stop_later(struct stopping *s) {
    hpcw_clog2_record record;
    bool more;
    hpcw_error err;
    assert_int_equal(hpcw_clog2_reader_next(s->reader, &record, &more, &err), HPCW_ESTATE);
    assert_non_null(strstr(err.message, "expected a call outside of callbacks"));
    assert_int_equal(hpcw_clog2_reader_watch(s->reader, &(hpcw_clog2_watch){0}, NULL), HPCW_ESTATE);
    assert_int_equal(hpcw_clog2_reader_profile(s->reader, &(hpcw_clog2_profile){0}, NULL), HPCW_ESTATE);
    hpcw_clog2_reader_rewind(s->reader);
    assert_non_null(hpcw_clog2_reader_info(s->reader));
    assert_true(s->calls < s->last);
    return ++s->calls == s->last ? HPCW_ENOSPC : HPCW_OK;
}

static hpcw_status stop_stretch(void *context, const hpcw_clog2_stretch *s) {
    (void)s;
    return stop_later(context);
}

static hpcw_status stop_end(void *context, const hpcw_clog2_end *e) {
    (void)e;
    return stop_later(context);
}

static hpcw_status stop_share(void *context, const hpcw_clog2_share *s) {
    (void)s;
    return stop_later(context);
}

static hpcw_status stop_flow(void *context, const hpcw_clog2_flow *f) {
    (void)f;
    return stop_later(context);
}

static void callbacks_end_a_run(void **state) {
    (void)state;
    hpcw_clog2_reader *r = opened();
    struct stopping s = {.reader = r};
    const hpcw_clog2_watch watches[] = {{.context = &s, .stretch = stop_stretch},
                                        {.context = &s, .state = stop_stretch},
                                        {.context = &s, .message = stop_end},
                                        {&s, stop_stretch, stop_stretch, stop_end}};
    const hpcw_clog2_profile profiles[] = {
        {.context = &s, .share = stop_share}, {.context = &s, .flow = stop_flow}, {&s, stop_share, stop_flow}};
    hpcw_error err;
    for (size_t i = 0; i < 7; i++) {
        for (s.last = 1; s.last <= 3; s.last++) {
            s.calls = 0;
            err.code = HPCW_OK;
            assert_int_equal(i < 4 ? hpcw_clog2_reader_watch(r, &watches[i], &err)
                                   : hpcw_clog2_reader_profile(r, &profiles[i - 4], &err),
                             HPCW_ENOSPC);
            assert_int_equal(err.code, HPCW_ENOSPC);
            assert_non_null(strstr(err.message, "callback: expected HPCW_OK, got HPCW_ENOSPC"));
            assert_int_equal(s.calls, s.last);
        }
    }
    hpcw_clog2_record record;
    bool more;
    assert_int_equal(hpcw_clog2_reader_next(r, &record, &more, NULL), HPCW_OK);
    hpcw_clog2_reader_free(r);
}

static void refusals(void **state) {
    (void)state;
    hpcw_clog2_reader *r = opened(), *none = r;
    hpcw_clog2_record record;
    hpcw_clog2_comm_entry entry;
    bool more = true;
    hpcw_error err;
    assert_int_equal(hpcw_clog2_reader_open(NULL, &none, NULL), HPCW_EINVAL);
    assert_null(none);
    assert_int_equal(hpcw_clog2_reader_open(path, NULL, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_clog2_reader_open("/nowhere/app.clog2", &none, NULL), HPCW_ENOENT);
    assert_int_equal(hpcw_clog2_reader_next(NULL, &record, &more, NULL), HPCW_EINVAL);
    assert_false(more);
    assert_int_equal(hpcw_clog2_reader_next(r, NULL, &more, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_clog2_reader_next(r, &record, NULL, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_clog2_reader_watch(r, NULL, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_clog2_reader_profile(r, NULL, NULL), HPCW_EINVAL);
    assert_false(hpcw_clog2_reader_comm(r, hpcw_clog2_reader_info(r)->comms, &entry));
    assert_null(hpcw_clog2_reader_info(NULL));
    hpcw_clog2_reader_rewind(NULL);
    hpcw_clog2_reader_free(NULL);
    hpcw_clog2_reader_free(r);

    /* An unknown kind of record at the start of the second block: later blocks are not read. */
    char damaged[300];
    size_t size;
    unsigned char *data = read_file(path, &size);
    assert_non_null(data);
    data[1024 + 4096 + 23] = 12;
    (void)snprintf(damaged, sizeof damaged, "%s/damaged.clog2", scratch);
    FILE *f = fopen(damaged, "wb");
    assert_true(f != NULL && fwrite(data, 1, size, f) == size && fclose(f) == 0);
    free(data);
    assert_int_equal(hpcw_clog2_reader_open(damaged, &r, &err), HPCW_OK);
    hpcw_status s = HPCW_OK;
    for (more = true; more && s == HPCW_OK;) {
        s = hpcw_clog2_reader_next(r, &record, &more, &err);
    }
    for (int again = 0; again < 2; again++) {
        assert_int_equal(s, HPCW_EFORMAT);
        assert_non_null(strstr(err.message, "record type: expected 0 to 11, got 12"));
        err = (hpcw_error){0};
        s = hpcw_clog2_reader_next(r, &record, &more, &err);
        assert_false(more);
    }
    hpcw_clog2_reader_rewind(r);
    assert_int_equal(hpcw_clog2_reader_next(r, &record, &more, &err), HPCW_OK);
    assert_true(more);
    hpcw_clog2_reader_free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_read_can_be_written), cmocka_unit_test(states_messages_and_their_profile),
        cmocka_unit_test(timelines_of_a_rank_overlap), cmocka_unit_test(nested_states),
        cmocka_unit_test(many_states_at_a_time),       cmocka_unit_test(messages_of_many_tags),
        cmocka_unit_test(callbacks_end_a_run),         cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, make, scratch_tear_down);
}
