/* SPDX-License-Identifier: BSD-3-Clause */
/* A log does not depend on which process wrote which of its slices (parts). If a process cannot write its slice,
 * all processes fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/clog2_cases.h"
#include "tests/support/world.h"

enum { REFERENCE, TOGETHER, REFUSED, FOLDERS, MOST_SLICES = 64 };

static void path_in(int folder, char *path, size_t size) {
    (void)snprintf(path, size, "%s/%d/app.clog2", scratch, folder);
}

static hpcw_status null_sink(void *context, const char *path, uint64_t tag, bool creates, hpcw_sink **out,
                             hpcw_error *err) {
    (void)context;
    (void)path;
    (void)tag;
    (void)creates;
    return hpcw_sink_open_null(out, err);
}

/* Finds where the slices begin, from a log that is discarded. */
static uint32_t place_slices(const struct clog2_case *c, size_t step, uint64_t place[MOST_SLICES + 1]) {
    struct clog2_case nowhere = *c;
    hpcw_clog2 *log;
    uint32_t n = 0;
    nowhere.options.sink_source.open = null_sink;
    place[0] = 0;
    if (hpcw_clog2_open("nowhere", NULL, &nowhere.options, &log, NULL) != HPCW_OK) {
        return 0;
    }
    for (size_t from = 0; from < c->count; from += step, n++) {
        size_t to = c->count - from < step ? c->count : from + step;
        place[n + 1] = place[n];
        if (clog2_case_slice(c, log, from, to, true, place[n], &place[n + 1], NULL) != HPCW_OK) {
            n = 0;
            break;
        }
    }
    hpcw_clog2_free(log);
    return n;
}

static void slices_of_many_processes(void **state) {
    (void)state;
    struct clog2_case c;
    clog2_case_make(&c, 4, 16000);
    char want[512], path[512];
    path_in(REFERENCE, want, sizeof want);
    path_in(TOGETHER, path, sizeof path);
    hpcw_error err = {.message = ""};
    hpcw_status s = process == 0 ? clog2_case_write(&c, want, 0, &err) : HPCW_OK;
    assert_true(on_all(s == HPCW_OK));
    uint64_t place[MOST_SLICES + 1];
    uint32_t slices = place_slices(&c, HPCW_CLOG2_SEGMENT, place);
    assert_true(on_all(slices > 4));
    for (int backwards = 0; backwards < 2; backwards++) {
        hpcw_clog2 *log;
        uint64_t blocks = 0;
        s = hpcw_clog2_open(path, world, &c.options, &log, &err);
        assert_true(on_all(s == HPCW_OK));
        for (uint32_t i = 0; s == HPCW_OK && i < slices; i++) {
            uint32_t k = backwards ? slices - 1 - i : i;
            size_t from = (size_t)k * HPCW_CLOG2_SEGMENT;
            size_t to = k + 1 == slices ? c.count : from + HPCW_CLOG2_SEGMENT;
            if ((int)i % processes == process) {
                s = clog2_case_slice(&c, log, from, to, i % 2 == 0, place[k], &blocks, &err);
            }
        }
        assert_true(on_all(s == HPCW_OK));
        s = hpcw_clog2_close(log, blocks, &err);
        assert_true(on_all(s == HPCW_OK));
        hpcw_clog2_free(log);
        assert_true(same_file(want, path));
        assert_int_equal(entries_seen(scratch), FOLDERS);
    }
    clog2_case_free(&c);
}

static void failures_are_heard_by_all(void **state) {
    (void)state;
    struct clog2_case c;
    clog2_case_make(&c, 2, 1);
    char path[512], folder[512];
    path_in(REFUSED, path, sizeof path);
    (void)snprintf(folder, sizeof folder, "%s/%d", scratch, REFUSED);
    for (int culprit = 0; culprit < processes; culprit++) {
        bool me = process == culprit;
        hpcw_error err = {.message = ""};
        hpcw_clog2 *log;
        struct hpcw_clog2_options o = c.options;
        o.block_size = me ? 512 : 1024;
        hpcw_status s = hpcw_clog2_open(path, world, &o, &log, &err);
        assert_true(on_all(s == (processes > 1 ? HPCW_EMISMATCH : HPCW_OK)));
        assert_true(processes == 1 || same_verdict(s, &err));
        hpcw_clog2_free(log);
        o.block_size = me ? 3 : 1024;
        s = hpcw_clog2_open(path, world, &o, &log, &err);
        assert_true(on_all(s == HPCW_EINVAL));
        assert_true(same_verdict(s, &err));
        s = hpcw_clog2_open(path, world, &c.options, &log, &err);
        assert_true(on_all(s == HPCW_OK));
        hpcw_error reason = {.code = HPCW_ENOMEM, .message = "no memory for the model"};
        if (me) {
            hpcw_clog2_abandon(log, &reason);
        }
        s = hpcw_clog2_close(log, 1, &err);
        assert_true(on_all(s == HPCW_ENOMEM));
        assert_true(same_verdict(s, &err));
        assert_int_equal(err.process, culprit);
        hpcw_clog2_free(log);
        assert_int_equal(entries_seen(folder), 0);
    }
    clog2_case_free(&c);
}

int main(int argc, char **argv) {
    world_begin(&argc, &argv, FOLDERS);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_of_many_processes),
        cmocka_unit_test(failures_are_heard_by_all),
    };
    return world_end(cmocka_run_group_tests(tests, NULL, NULL));
}
