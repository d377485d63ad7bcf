/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>
#include <time.h>

#include "libwriter/base/mem.h"
#include "ui/cli/progress.h"
#include "ui/cli/text.h"

static void sleep_s(double seconds) {
    struct timespec t = {.tv_sec = (time_t)seconds};
    t.tv_nsec = (long)((seconds - (double)t.tv_sec) * 1e9);
    (void)nanosleep(&t, NULL);
}

static double now_s(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static size_t occurrences(const char *text, const char *what) {
    size_t n = 0;
    for (const char *p = strstr(text, what); p != NULL; p = strstr(p + 1, what)) {
        n++;
    }
    return n;
}

/* ---- drawings ---- */

static const struct ui_progress_state half = {
    .label = "linktest", .done = 50000000, .total = 100000000, .rate = 10e6, .elapsed_s = 5};

static void a_bar_gives_up_the_lesser_things_first(void **state) {
    (void)state;
    static const struct {
        unsigned width;
        const char *text;
    } rows[] = {
        {100,
         "[####################....................]  50%  50.0 MB of 100.0 MB  10.0 MB/s  5 s left  linktest"},
        {80, "[##########..........]  50%  50.0 MB of 100.0 MB  10.0 MB/s  5 s left  linktest"},
        {70, "[#####.....]  50%  50.0 MB of 100.0 MB  10.0 MB/s  5 s left  linktest"},
        {60, "[#####.....]  50%  50.0 MB of 100.0 MB  10.0 MB/s  5 s left"},
        {50, " 50%  50.0 MB of 100.0 MB  10.0 MB/s  5 s left"},
        {40, " 50%  50.0 MB of 100.0 MB  10.0 MB/s"},
        {30, " 50%  50.0 MB of 100.0 MB"},
        {20, " 50%  10.0 MB/s"},
        {5, " 50%"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[256];
        ui_progress_bar(text, sizeof text, rows[i].width, &half);
        assert_string_equal(text, rows[i].text);
    }
}

static void a_total_that_was_too_low_is_not_shown(void **state) {
    (void)state;
    const struct ui_progress_state beyond = {.done = 72100000, .total = 69600000, .rate = -1};
    char text[256];
    ui_progress_bar(text, sizeof text, 40, &beyond);
    assert_string_equal(text, "[############] 100%  72.1 MB of 72.1 MB");
    ui_progress_line(text, sizeof text, &beyond);
    assert_string_equal(text, "72.1 MB of 72.1 MB (100%)");
}

static void no_bar_is_wider_than_its_terminal(void **state) {
    (void)state;
    struct ui_progress_state s = half;
    static const char *const labels[] = {NULL, "", "sion", "a label of quite some length, \xc2\xb5 included"};
    static const uint64_t dones[] = {0, 1, 999999, UINT64_MAX};
    static const double rates[] = {-1, 0, 1e-9, 12345678, 1e19};
    for (unsigned width = 6; width <= 200; width++) {
        for (size_t l = 0; l < 4; l++) {
            for (size_t d = 0; d < 4; d++) {
                for (size_t r = 0; r < 5; r++) {
                    s.label = labels[l];
                    s.done = dones[d];
                    s.rate = rates[r];
                    s.total = 1000000;
                    char text[512];
                    ui_progress_bar(text, sizeof text, width, &s);
                    assert_in_range(ui_text_columns(text), 1, width - 1);
                }
            }
        }
    }
}

/* The rate of the last seconds is nearly 0 if a run of a benchmark takes long. */
static void a_long_run_does_not_lengthen_the_rest(void **state) {
    (void)state;
    char text[256];
    struct ui_progress_state s = half;
    s.share = true;
    s.rate = 1e-9;
    s.elapsed_s = 30;
    ui_progress_line(text, sizeof text, &s);
    assert_string_equal(text, "50%, 30 s left, linktest");
    ui_progress_bar(text, sizeof text, 80, &s);
    assert_non_null(strstr(text, "]  50%  30 s left  linktest"));
    s.done = 0;
    ui_progress_line(text, sizeof text, &s);
    assert_string_equal(text, "0%, linktest");
}

static void figures_at_the_ends(void **state) {
    (void)state;
    char text[256];
    struct ui_progress_state s = {.done = 0, .total = 1000, .rate = -1};
    ui_progress_line(text, sizeof text, &s);
    assert_string_equal(text, "0 B of 1.0 kB (0%)");
    s.done = 999;
    s.rate = 10;
    ui_progress_line(text, sizeof text, &s);
    /* 100 % is shown only when done */
    assert_string_equal(text, "999 B of 1.0 kB (99%), 10 B/s, 1 s left");
    s.done = 1000;
    ui_progress_line(text, sizeof text, &s);
    assert_string_equal(text, "1.0 kB of 1.0 kB (100%), 10 B/s");
    s.done = 1200; /* more is done than was estimated */
    ui_progress_line(text, sizeof text, &s);
    assert_string_equal(text, "1.2 kB of 1.2 kB (100%), 10 B/s");
    s.total = 0;
    s.label = "sion";
    ui_progress_line(text, sizeof text, &s);
    assert_string_equal(text, "1.2 kB, 10 B/s, sion");
    s = half;
    s.rate = 1000;
    ui_progress_line(text, sizeof text, &s);
    assert_string_equal(text, "50.0 MB of 100.0 MB (50%), 1.0 kB/s, 13 h 53 min left, linktest");
    s.share = true;
    s.elapsed_s = 50000;
    ui_progress_line(text, sizeof text, &s);
    assert_string_equal(text, "50%, 13 h 53 min left, linktest");
    ui_progress_bar(text, sizeof text, 60, &s);
    assert_string_equal(text, "[############............]  50%  13 h 53 min left  linktest");
}

/* ---- the thread ---- */

struct display {
    char *text;
    size_t size;
    FILE *stream;
    struct ui_progress *progress;
};

static void start(struct display *d, struct ui_progress_options options) {
    d->stream = open_memstream(&d->text, &d->size);
    assert_non_null(d->stream);
    options.stream = d->stream;
    hpcw_error err;
    assert_int_equal(ui_progress_start(&options, &d->progress, &err), HPCW_OK);
}

static void stop(struct display *d) {
    ui_progress_stop(d->progress);
    assert_int_equal(fclose(d->stream), 0);
}

static void *add_many(void *arg) {
    for (int i = 0; i < 200000; i++) {
        ui_progress_add(arg, 3);
    }
    return NULL;
}

static void no_byte_is_lost_between_threads(void **state) {
    (void)state;
    struct display d;
    start(&d, (struct ui_progress_options){
                  .mode = UI_PROGRESS_BAR, .total = 2400000, .interval_s = 0.001, .width = 80});
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, add_many, d.progress), 0);
    }
    for (int i = 0; i < 100; i++) {
        char label[UI_TEXT_SIZE];
        (void)snprintf(label, sizeof label, "file %d", i);
        ui_progress_label(d.progress, label);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_int_equal(ui_progress_done(d.progress), 2400000);
    stop(&d);
    free(d.text);
}

static void a_bar_is_drawn_in_place_and_cleared(void **state) {
    (void)state;
    struct display d;
    start(&d, (struct ui_progress_options){
                  .mode = UI_PROGRESS_BAR, .prefix = "hpcgen", .total = 100, .interval_s = 0.02, .width = 60});
    ui_progress_add(d.progress, 50);
    double begin = now_s();
    sleep_s(0.3);
    stop(&d);
    double took = now_s() - begin;
    size_t drawings = occurrences(d.text, "\rhpcgen: ");
    assert_in_range(drawings, 2, (size_t)(took / 0.02) + 1); /* never more often than asked for */
    assert_non_null(strstr(d.text, " 50%"));
    /* At the end, the line is cleared. */
    assert_int_equal(occurrences(d.text, "\n"), 0);
    assert_string_equal(d.text + d.size - 4, "\r\033[K");
    free(d.text);
}

static void lines_come_at_growing_distances(void **state) {
    (void)state;
    struct display d;
    start(&d, (struct ui_progress_options){.mode = UI_PROGRESS_AUTO, .total = 100, .interval_s = 0.05});
    ui_progress_add(d.progress, 10);
    double begin = now_s();
    sleep_s(1.0);
    stop(&d);
    double took = now_s() - begin;
    /* The k-th line cannot come before 0.05 * (1 + 1.5 + ... + 1.5^(k-1)); a constant interval would give 20. */
    size_t lines = occurrences(d.text, "\n"), most = 0;
    double at = 0.05, gap = 0.05;
    while (at <= took) {
        most++;
        gap *= 1.5;
        at += gap;
    }
    assert_in_range(lines, 2, most);
    assert_null(strchr(d.text, '\r'));
    assert_null(strchr(d.text, '\033'));
    assert_int_equal(strncmp(d.text, "10 B of 100 B (10%)", 19), 0);
    free(d.text);
}

static void a_short_run_prints_no_line_and_stops_at_once(void **state) {
    (void)state;
    struct display d;
    double begin = now_s();
    start(&d, (struct ui_progress_options){.total = 100});
    ui_progress_add(d.progress, 100);
    stop(&d);
    /* the end does not wait for the first line, which would come after 5 s */
    assert_true(now_s() - begin < 2);
    assert_int_equal(d.size, 0);
    free(d.text);
}

static void quiet_is_a_null_display(void **state) {
    (void)state;
    struct ui_progress *p = (struct ui_progress *)1;
    const struct ui_progress_options options = {.mode = UI_PROGRESS_QUIET, .total = 5};
    assert_int_equal(ui_progress_start(&options, &p, NULL), HPCW_OK);
    assert_null(p);
    ui_progress_add(p, 1);
    ui_progress_label(p, "x");
    assert_int_equal(ui_progress_done(p), 0);
    ui_progress_stop(p);
}

static _Bool no_memory(size_t size) {
    (void)size;
    return 0;
}

static void no_memory_is_reported(void **state) {
    (void)state;
    struct ui_progress *p = (struct ui_progress *)1;
    const struct ui_progress_options options = {.total = 5};
    hpcw_error err;
    hpcw_i_mem_gate = no_memory;
    hpcw_status status = ui_progress_start(&options, &p, &err);
    hpcw_i_mem_gate = NULL;
    assert_int_equal(status, HPCW_ENOMEM);
    assert_null(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bar_gives_up_the_lesser_things_first),
        cmocka_unit_test(a_total_that_was_too_low_is_not_shown),
        cmocka_unit_test(no_bar_is_wider_than_its_terminal),
        cmocka_unit_test(a_long_run_does_not_lengthen_the_rest),
        cmocka_unit_test(figures_at_the_ends),
        cmocka_unit_test(no_byte_is_lost_between_threads),
        cmocka_unit_test(a_bar_is_drawn_in_place_and_cleared),
        cmocka_unit_test(lines_come_at_growing_distances),
        cmocka_unit_test(a_short_run_prints_no_line_and_stops_at_once),
        cmocka_unit_test(quiet_is_a_null_display),
        cmocka_unit_test(no_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
