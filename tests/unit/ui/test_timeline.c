/* SPDX-License-Identifier: BSD-3-Clause */
/* ui/page/timeline: on all levels, a cell has the state that took most of its time, whatever the order of
 * states. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "libwriter/base/mem.h"
#include "ui/page/timeline.h"

enum { WORK, WAIT, SEND, STATES };

static unsigned at(const struct ui_timeline *t, uint32_t level, uint64_t rank, double time) {
    const struct ui_timeline_level *l = &t->level[level];
    const double column = (time - t->from) / (t->to - t->from) * l->columns;
    return l->state[(size_t)(rank / l->span) * l->columns + (size_t)column];
}

/* A cell of the first level is 1 s long. */
static void most_of_a_cell_wins(void **state) {
    (void)state;
    for (int order = 0; order < 2; order++) {
        struct ui_timeline t;
        assert_int_equal(ui_timeline_init(&t, 0, 1024, 2, STATES, NULL), HPCW_OK);
        assert_int_equal(t.level[0].columns, 1024);
        /* 0.4 s of one state beat twice 0.3 s of others. That is no majority, but the first level is exact. */
        for (int i = 0; i < 3; i++) {
            const int k = order == 0 ? i : 2 - i;
            const double from[] = {5, 5.4, 5.7}, to[] = {5.4, 5.7, 6};
            ui_timeline_add(&t, 1, (uint32_t)k, from[k], to[k]);
        }
        ui_timeline_add(&t, 0, SEND, -3, 1e6); /* this state is cut to the time of the chart */
        ui_timeline_add(&t, 2, SEND, 0, 1);    /* rank 2 does not exist */
        ui_timeline_finish(&t);
        assert_int_equal(at(&t, 0, 1, 5.5), WORK);
        assert_int_equal(at(&t, 0, 1, 4.5), UI_TIMELINE_NOTHING);
        assert_int_equal(at(&t, 0, 0, 1023.9), SEND);
        for (uint32_t k = 1; k < t.levels; k++) { /* finer cells have one state each */
            assert_int_equal(at(&t, k, 1, 5.1), WORK);
            assert_int_equal(at(&t, k, 1, 5.5), WAIT);
            assert_int_equal(at(&t, k, 1, 5.9), SEND);
            assert_int_equal(at(&t, k, 0, 0), SEND);
        }
        ui_timeline_free(&t);
    }
}

static void a_majority_wins_in_any_order(void **state) {
    (void)state;
    /* In a cell of the finest level, 5 of 9 ranks wait. */
    static const unsigned char states[][9] = {{WAIT, WAIT, WAIT, WAIT, WAIT, WORK, WORK, SEND, SEND},
                                              {WORK, WORK, SEND, SEND, WAIT, WAIT, WAIT, WAIT, WAIT},
                                              {WORK, WAIT, SEND, WAIT, WORK, WAIT, SEND, WAIT, WAIT}};
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        struct ui_timeline t;
        assert_int_equal(ui_timeline_init(&t, 0, 1, 9 * 4096, STATES, NULL), HPCW_OK);
        assert_int_equal(t.level[t.levels - 1].span, 9);
        for (uint64_t rank = 0; rank < 9; rank++) {
            ui_timeline_add(&t, rank, states[i][rank], 0, 1);
        }
        assert_int_equal(at(&t, t.levels - 1, 0, 0.5), WAIT);
        ui_timeline_free(&t);
    }
}

/* A page stays small: at most four characters for three cells, and a limited number of cells for any number of
 * ranks. */
static void cells_are_bounded(void **state) {
    (void)state;
    static const uint64_t ranks[] = {1, 2, 64, 127, 128, 4096, 4097, UINT64_C(1) << 30};
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++) {
        struct ui_timeline t;
        uint64_t cells = 0;
        assert_int_equal(ui_timeline_init(&t, 0, 1, ranks[i], STATES, NULL), HPCW_OK);
        for (uint32_t k = 0; k < t.levels; k++) {
            assert_true(t.level[k].rows * t.level[k].span >= ranks[i]);
            assert_true(k == 0 || t.level[k].columns > t.level[k - 1].columns);
            cells += (uint64_t)t.level[k].columns * t.level[k].rows;
        }
        assert_true(cells * 4 / 3 < UINT64_C(15000000));
        ui_timeline_free(&t);
    }
}

static bool no_memory(size_t size) {
    (void)size;
    return false;
}

static void no_memory_is_said(void **state) {
    (void)state;
    struct ui_timeline t;
    hpcw_i_mem_gate = no_memory;
    const hpcw_status s = ui_timeline_init(&t, 0, 1, 8, STATES, NULL);
    hpcw_i_mem_gate = NULL;
    assert_int_equal(s, HPCW_ENOMEM);
    ui_timeline_free(&t);
}

/* The vectors of RFC 4648. */
static void base64(void **state) {
    (void)state;
    static const char *const text[] = {"", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
    for (size_t n = 0; n <= 6; n++) {
        struct hpcw_i_buf out = {0};
        assert_true(ui_page_base64(&out, (const unsigned char *)"foobar", n));
        assert_true(hpcw_i_buf_append(&out, "", 1));
        assert_string_equal((const char *)out.data, text[n]);
        hpcw_i_buf_free(&out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(most_of_a_cell_wins),
        cmocka_unit_test(a_majority_wins_in_any_order),
        cmocka_unit_test(cells_are_bounded),
        cmocka_unit_test(no_memory_is_said),
        cmocka_unit_test(base64),
    };
    return cmocka_run_group_tests_name("timeline", tests, NULL, NULL);
}
