/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective calls of a log: the time of the last member, and how often times are compared to find it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "gen/fit/log/program/meetings.h"

enum { CALLS = 3 };

static unsigned long compared;

/* Takes the place of libm's function, in this program only. Some compilers do not call it; then nothing is
 * counted. */
double fmax(double a, double b) {
    compared++;
    return a < b ? b : a;
}

/* A log of `ranks` ranks with three calls of all of them. Rank r begins call k at second 1000 k + r. */
struct made {
    struct fit_history h;
    struct fit_comm world;
    struct fit_steps *steps; /* [ranks] */
};

static void make(struct made *m, uint32_t ranks) {
    m->world = (struct fit_comm){.size = ranks};
    m->h = (struct fit_history){.path = "log", .ranks = ranks, .comm = &m->world, .comms = 1};
    m->h.rank = calloc(ranks, sizeof *m->h.rank);
    m->steps = calloc(ranks, sizeof *m->steps);
    assert_true(m->h.rank != NULL && m->steps != NULL);
    for (uint32_t r = 0; r < ranks; r++) {
        struct fit_steps *s = &m->steps[r];
        m->h.rank[r].call = calloc(CALLS, sizeof *m->h.rank[r].call);
        s->step = calloc(CALLS, sizeof *s->step);
        s->item = calloc(CALLS, sizeof *s->item);
        assert_true(m->h.rank[r].call != NULL && s->step != NULL && s->item != NULL);
        m->h.rank[r].calls = s->count = s->items = CALLS;
        for (uint32_t k = 0; k < CALLS; k++) {
            m->h.rank[r].call[k].begin = 1000 * k + r;
            s->step[k] =
                (struct fit_step){.verb = FIT_MEET, .call = SIM_CALL_ALLREDUCE, .first = k, .call_index = k};
            s->item[k].peer = FIT_NOBODY;
        }
    }
}

static void release(struct made *m) {
    for (uint32_t r = 0; r < m->h.ranks; r++) {
        free(m->h.rank[r].call);
        free(m->steps[r].step);
        free(m->steps[r].item);
    }
    free(m->h.rank);
    free(m->steps);
}

/* The number of comparisons grows with the ranks, although each rank asks when the last one came. */
static void last_member_is_found_once(void **state) {
    (void)state;
    for (uint32_t ranks = 64; ranks <= 256; ranks *= 2) {
        struct made m;
        struct fit_meetings *meetings;
        make(&m, ranks);
        compared = 0;
        assert_int_equal(fit_meetings_find(&m.h, m.steps, &meetings, NULL), HPCW_OK);
        assert_int_equal(meetings->calls, CALLS);
        assert_int_equal(meetings->size, ranks);
        for (uint32_t k = 0; k < CALLS; k++) {
            for (uint32_t r = 0; r < ranks; r++) {
                assert_true(fit_meetings_wait(meetings, k, r, SIM_CALL_ALLREDUCE) == 1000 * k + ranks - 1);
            }
        }
        assert_in_range(compared, 0, CALLS * ranks);
        /* In a tree, a leaf waits for itself alone, and the root for all. */
        assert_true(fit_meetings_wait(meetings, 1, 1, SIM_CALL_REDUCE) == 1001);
        assert_true(fit_meetings_wait(meetings, 1, 0, SIM_CALL_REDUCE) == 1000 + ranks - 1);
        assert_true(fit_meetings_wait(meetings, 1, 0, SIM_CALL_BCAST) == 1000);
        fit_meetings_free(meetings, m.h.comms);
        release(&m);
    }
}

static void members_with_fewer_calls_are_refused(void **state) {
    (void)state;
    struct made m;
    struct fit_meetings *meetings;
    hpcw_error err = {.message = ""};
    make(&m, 4);
    m.steps[2].count = 2;
    assert_int_equal(fit_meetings_find(&m.h, m.steps, &meetings, &err), HPCW_EINVAL);
    assert_string_equal(err.message,
                        "log: expected as many collective calls of each rank of a communicator, got 2 of "
                        "rank 2 beside 3: it is not whole");
    fit_meetings_free(meetings, m.h.comms);
    release(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(last_member_is_found_once),
        cmocka_unit_test(members_with_fewer_calls_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
