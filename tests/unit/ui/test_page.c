/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libwriter/base/mem.h"
#include "libwriter/io/sys.h"
#include "tests/support/files.h"
#include "tests/support/html.h"
#include "ui/page/timeline.h"

/* Hostile text from outside. */
static const char hostile[] = "</script><script>alert(1)</script><!-- & \"quoted\" 'too' \x01 ]]> <b>";
static const char not_utf8[] = "\xff\xfe broken";

static char path[300];

static int make_scratch(void **state) {
    (void)scratch_set_up(state);
    (void)snprintf(path, sizeof path, "%s/page.html", scratch);
    return 0;
}

static void put_charts(struct ui_page *page) {
    static const struct ui_page_point point[] = {{1e3, 0.1, 0.05, 0.2, hostile, true},
                                                 {1e6, 2.5e9, NAN, NAN, NULL, false},
                                                 {2e6, NAN, NAN, NAN, NULL, false}};
    const struct ui_page_series series[] = {{hostile, 0, true, false, point, 3},
                                            {not_utf8, 11, false, true, point, 1}};
    const struct ui_page_mark mark[] = {{true, 4096, hostile}};
    ui_page_xy(page, &(struct ui_page_xy){.title = hostile,
                                          .caption = not_utf8,
                                          .origin = UI_PAGE_MEASURED,
                                          .x = {.label = hostile, .unit = UI_PAGE_BYTES, .log = true},
                                          .y = {.label = "y", .unit = UI_PAGE_RATE},
                                          .series = series,
                                          .count = 2,
                                          .mark = mark,
                                          .marks = 1});
    const double value[] = {1.5, NAN};
    const bool doubtful[] = {true, false};
    const char *const category[] = {hostile, "b"};
    const struct ui_page_bar bar[] = {{hostile, 1, hostile, false, value, value, value, doubtful},
                                      {"other", 2, NULL, true, value, NULL, NULL, NULL}};
    ui_page_bars(page, &(struct ui_page_bars){.title = "bars",
                                              .caption = hostile,
                                              .origin = UI_PAGE_COUNTED,
                                              .category_label = hostile,
                                              .label = hostile,
                                              .unit = UI_PAGE_SECONDS,
                                              .category = category,
                                              .categories = 2,
                                              .bar = bar,
                                              .count = 2});
}

static void put_heat(struct ui_page *page) {
    struct ui_raster r;
    bool (*gate)(size_t) = hpcw_i_mem_gate;
    hpcw_i_mem_gate = NULL; /* the test's own memory may not fail */
    assert_int_equal(ui_raster_init(&r, 40, 20, 30, UI_REDUCE_MAX, NULL), HPCW_OK);
    hpcw_i_mem_gate = gate;
    for (uint64_t i = 0; i < 800; i++) {
        ui_raster_add(&r, i % 40, i / 40, i == 5 ? 1.25e-3 : 1e-6);
    }
    const struct ui_page_area area[] = {{0, 3, 1, 2, hostile}};
    ui_page_heat(page, &(struct ui_page_heat){.title = hostile,
                                              .caption = hostile,
                                              .origin = UI_PAGE_READ,
                                              .x = {hostile, UI_PAGE_COUNT, -0.5, 39.5, true},
                                              .y = {"time", UI_PAGE_SECONDS, 0, 2, false},
                                              .label = hostile,
                                              .unit = UI_PAGE_SECONDS,
                                              .raster = &r,
                                              .area = area,
                                              .areas = 1});
    ui_raster_free(&r);
}

static void put_timeline(struct ui_page *page) {
    static const char *const name[] = {hostile, "computing"};
    static const unsigned colour[] = {0, 12};
    static const struct ui_page_script script = {0, 2, 0.5, 1.5};
    const struct ui_page_place place = {hostile, 2, 0.25, 0.75};
    struct ui_timeline t;
    struct ui_raster r;
    bool (*gate)(size_t) = hpcw_i_mem_gate;
    hpcw_i_mem_gate = NULL; /* the test's own memory may not fail */
    assert_int_equal(ui_timeline_init(&t, 0, 2, 3, 2, NULL), HPCW_OK);
    assert_int_equal(ui_raster_init(&r, 4, 3, 4, UI_REDUCE_SUM, NULL), HPCW_OK);
    hpcw_i_mem_gate = gate;
    ui_timeline_add(&t, 2, 1, 0.25, 0.75);
    ui_timeline_finish(&t);
    ui_raster_add(&r, 1, 2, 0.5);
    const struct ui_page_layer layer = {hostile, UI_PAGE_SECONDS, &r};
    const struct ui_page_area area = {0, 3, 1, 2, hostile};
    ui_page_timeline(page, &(struct ui_page_timeline){.title = hostile,
                                                      .caption = hostile,
                                                      .origin = UI_PAGE_READ,
                                                      .timeline = &t,
                                                      .name = name,
                                                      .colour = colour,
                                                      .from = 0.5,
                                                      .to = 1,
                                                      .layer = &layer,
                                                      .layers = 1,
                                                      .place = &place,
                                                      .places = 1,
                                                      .area = &area,
                                                      .areas = 1,
                                                      .folder = hostile,
                                                      .script = &script,
                                                      .scripts = 1,
                                                      .event_name = name,
                                                      .event_names = 1});
    ui_raster_free(&r);
    ui_timeline_free(&t);
    ui_page_finding(page);
    ui_page_link_place(page, 2, 0.25, 0.75, hostile);
    ui_page_end(page);
}

static hpcw_status put_page(hpcw_error *err) {
    struct ui_page *page;
    hpcw_status s = ui_page_open(NULL, path, hostile, &page, err);
    if (s != HPCW_OK) {
        return s;
    }
    ui_page_heading(page, hostile);
    ui_page_begin(page, UI_PAGE_FACTS);
    ui_page_fact(page, hostile);
    ui_page_text(page, "%s%s", hostile, not_utf8);
    ui_page_number(page, UI_PAGE_BYTES, 4096);
    ui_page_number(page, UI_PAGE_RATE, INFINITY);
    ui_page_end(page);
    ui_page_end(page);
    ui_page_begin(page, UI_PAGE_LIST);
    ui_page_begin(page, UI_PAGE_ITEM);
    ui_page_link(page, "row-1", hostile);
    ui_page_end(page);
    ui_page_end(page);
    put_charts(page);
    ui_page_heading(page, "second");
    put_heat(page);
    put_timeline(page);
    ui_page_table(page, hostile, UI_PAGE_MEASURED, false);
    ui_page_columns(page, (const char *const[]){hostile, "b", NULL});
    ui_page_row(page, "row-1", true);
    ui_page_text_cell(page, "%s", hostile);
    ui_page_number_cell(page, UI_PAGE_SHARE, 0.25);
    ui_page_end(page);
    ui_page_end(page);
    s = ui_page_finish(page, err);
    ui_page_free(page);
    return s;
}

static bool has_number(const struct html_page *page, double v) {
    for (size_t i = 0; i < page->numbers; i++) {
        if (page->number[i] == v) {
            return true;
        }
    }
    return false;
}

static void whatever_the_text_the_page_is_sound(void **state) {
    (void)state;
    hpcw_error err = {.message = ""};
    assert_int_equal(put_page(&err), HPCW_OK);
    size_t size;
    char *text = (char *)read_file(path, &size);
    assert_non_null(text);
    struct html_page page;
    assert_null(strstr(text, "\"-0\"")); /* a label of the axis from -0.5 on is 0, not -0 */
    assert_true(html_read(text, size, &page));
    assert_int_equal(page.figures, 4);
    assert_int_equal(page.tables, 5);
    /* Values are stored exactly as given, and values of cells as multiples of a unit. */
    const double want[] = {4096, 0.25, 1e3, 2.5e9, 0.05, 1.5, 1000, 1.25e6, 1e-9};
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        assert_true(has_number(&page, want[i]));
    }
    assert_null(strstr(text, "alert(1)</script>"));
    assert_null(strstr(text, "<b>"));
    html_free(&page);
    free(text);
    assert_int_equal(count_entries(scratch), 1);
}

static void elements_must_match(void **state) {
    (void)state;
    struct ui_page *page;
    assert_int_equal(ui_page_open(NULL, path, "t", &page, NULL), HPCW_OK);
    ui_page_end(page);
    assert_int_equal(ui_page_finish(page, NULL), HPCW_ESTATE);
    ui_page_free(page);
    assert_int_equal(ui_page_open(NULL, path, "t", &page, NULL), HPCW_OK);
    ui_page_begin(page, UI_PAGE_PARAGRAPH);
    hpcw_error err = {.message = ""};
    assert_int_equal(ui_page_finish(page, &err), HPCW_ESTATE);
    assert_string_equal(err.message, "report: an element was not ended");
    ui_page_free(page);
    ui_page_free(NULL);
    assert_int_equal(count_entries(scratch), 0);
}

static uint64_t left;
static bool reached;
static bool no_memory(size_t size) {
    (void)size;
    reached = reached || left == 0;
    return left-- != 0;
}
static int no_space(enum hpcw_i_sys_call call, size_t *size) {
    (void)size;
    return call == HPCW_I_SYS_PWRITE && left-- == 0 ? 28 : 0;
}

/* The n-th allocation or write fails, until none does. */
static void failures_leave_no_page(void **state) {
    (void)state;
    for (uint64_t n = 0; n < 2000; n++) {
        hpcw_error err = {.message = ""};
        left = n;
        reached = false;
        hpcw_i_mem_gate = no_memory;
        hpcw_status s = put_page(&err);
        hpcw_i_mem_gate = NULL;
        if (!reached) {
            assert_int_equal(s, HPCW_OK);
            return;
        }
        assert_int_equal(s, HPCW_ENOMEM);
        assert_int_equal(count_entries(scratch), 0);
    }
    fail();
}

static void a_full_disk_is_said(void **state) {
    (void)state;
    for (uint64_t n = 0; n < 100; n++) {
        hpcw_error err = {.message = ""};
        left = n;
        hpcw_i_sys_gate = no_space;
        hpcw_status s = put_page(&err);
        hpcw_i_sys_gate = NULL;
        if (s == HPCW_OK) {
            assert_true(n > 1);
            return;
        }
        assert_int_equal(s, HPCW_ENOSPC);
        assert_int_equal(count_entries(scratch), 0);
    }
    fail();
}

int main(void) {
    hpcw_error err = {.message = ""};
    if (ui_page_available(&err) != HPCW_OK) {
        (void)fprintf(stderr, "%s\n", err.message);
        return 77;
    }
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_scratch, scratch_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(whatever_the_text_the_page_is_sound),
        TEST(elements_must_match),
        TEST(failures_leave_no_page),
        TEST(a_full_disk_is_said),
    };
    return cmocka_run_group_tests_name("page", tests, NULL, NULL);
}
