/* SPDX-License-Identifier: BSD-3-Clause */
/* A recorded run replays the events that it received. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gen/spec/recording.h"

enum { RANKS = 300, MANY = 400000 };

/* Makes the i-th event, with values of all lengths. Times increase. */
static struct sim_event nth(uint32_t i) {
    const uint32_t x = i * UINT32_C(2654435761);
    const uint32_t shift = x >> 27;
    return (struct sim_event){
        .time_ns = i + (UINT64_C(1) << (i / (MANY / 50))),
        .rank = i % 3 == 0 ? x % RANKS : i / 3 % RANKS,
        .what = (x >> 8) % (SIM_MADE + 1) & 0xfU,
        .number = x >> 3 & 0x3f,
        .comm = x >> (i % 7 == 0 ? 12 : 31) & 0xfffffU,
        .peer = i % 5 == 0 ? 0 : x >> shift,
        .tag = i % 5 == 0 ? 0 : (int32_t)(x << shift >> shift),
        .bytes = i % 2 == 0 ? 0 : ((uint64_t)x << 32 | i) >> shift,
    };
}

struct listener {
    uint32_t events, passed, fails_at;
};

static hpcw_status hear(void *context, const struct sim_event *event, hpcw_error *err) {
    struct listener *l = context;
    const struct sim_event expected = nth(l->events);
    (void)err;
    if (l->events == l->fails_at) {
        return HPCW_ENOSPC;
    }
    assert_int_equal(event->time_ns, expected.time_ns);
    assert_int_equal(event->rank, expected.rank);
    assert_int_equal(event->what, expected.what);
    assert_int_equal(event->number, expected.number);
    assert_int_equal(event->comm, expected.comm);
    assert_int_equal(event->peer, expected.peer);
    assert_int_equal(event->tag, expected.tag);
    assert_int_equal(event->bytes, expected.bytes);
    l->events++;
    return HPCW_OK;
}

static hpcw_status hear_time(void *context, uint64_t time_ns, hpcw_error *err) {
    struct listener *l = context;
    (void)err;
    assert_int_equal(l->events % 1000, 0);
    assert_int_equal(time_ns, nth(l->events - 1).time_ns);
    l->passed++;
    return HPCW_OK;
}

static struct gen_recording *record(size_t most) {
    struct gen_recording *r;
    hpcw_error err;
    assert_int_equal(gen_recording_new(RANKS, most, &r, &err), HPCW_OK);
    for (uint32_t i = 0; i < MANY; i++) {
        const struct sim_event e = nth(i);
        assert_int_equal(gen_recording_event(r, &e, &err), HPCW_OK);
        if ((i + 1) % 1000 == 0) {
            assert_int_equal(gen_recording_passed(r, e.time_ns, &err), HPCW_OK);
        }
    }
    return r;
}

static void test_same_events(void **state) {
    struct listener l = {.fails_at = UINT32_MAX};
    hpcw_error err;
    (void)state;
    struct gen_recording *r = record(SIZE_MAX);
    assert_true(gen_recording_is_whole(r));
    assert_int_equal(gen_recording_play(r, &(struct sim_observer){&l, hear, hear_time}, &err), HPCW_OK);
    assert_int_equal(l.events, MANY);
    assert_int_equal(l.passed, MANY / 1000);
    assert_false(gen_recording_is_whole(r));
    gen_recording_free(r);
}

static void test_listener_fails(void **state) {
    struct listener l = {.fails_at = MANY / 2};
    hpcw_error err;
    (void)state;
    struct gen_recording *r = record(SIZE_MAX);
    assert_int_equal(gen_recording_play(r, &(struct sim_observer){&l, hear, NULL}, &err), HPCW_ENOSPC);
    assert_int_equal(l.events, MANY / 2);
    gen_recording_free(r);
}

static void test_too_long(void **state) {
    (void)state;
    struct gen_recording *r = record(3 << 20);
    assert_false(gen_recording_is_whole(r));
    gen_recording_free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_events),
        cmocka_unit_test(test_listener_fails),
        cmocka_unit_test(test_too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
