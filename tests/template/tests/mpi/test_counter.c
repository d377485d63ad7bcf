/* SPDX-License-Identifier: BSD-3-Clause */
/* A file does not depend on how many processes wrote it, and an error on one process is reported by all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/support/counter_cases.h"
#include "tests/support/files.h"
#include "tests/support/world.h"

static void path_of(const char *name, char path[300]) {
    (void)snprintf(path, 300, "%s/0/%s", scratch, name);
}

static hpcw_counter_options options(uint32_t count) {
    hpcw_counter_options o;
    hpcw_counter_options_init(&o);
    o.count = count;
    return o;
}

static void same_bytes_for_any_processes(void **state) {
    (void)state;
    static const uint32_t all[] = {1, 3, 100}; /* includes fewer ranks than processes */
    char want[300], got[300];
    path_of("one", want);
    path_of("many", got);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        hpcw_error err = {.message = ""};
        hpcw_status s = HPCW_OK;
        if (process == 0) {
            const hpcw_counter_options o = options(all[i]);
            s = counter_case_write(want, NULL, &o, &err);
        }
        assert_true(on_all(s == HPCW_OK));
        uint32_t ranks[100];
        const hpcw_counter_options o = options(own_tasks(BLOCKS, all[i], ranks));
        s = counter_case_write(got, world, &o, &err);
        if (s != HPCW_OK) {
            print_error("process %d: %s\n", process, err.message);
        }
        assert_true(on_all(s == HPCW_OK));
        assert_true(same_file(want, got));
    }
    assert_int_equal(entries_seen(scratch), 1);
    char folder[300];
    path_of("", folder);
    assert_int_equal(entries_seen(folder), 2);
    empty_directory(folder);
}

/* Checks that writing a file fails with status `want` on all processes, and leaves no file. */
static void assert_refused(const char *name, const hpcw_counter_options *o, hpcw_status want) {
    char path[300], folder[300];
    hpcw_error err = {.message = ""};
    path_of(name, path);
    path_of("", folder);
    hpcw_status s = counter_case_write(path, world, o, &err);
    if (s != want) {
        print_error("process %d: expected %d, got %d: %s\n", process, (int)want, (int)s, err.message);
    }
    assert_true(on_all(s == want));
    assert_true(same_verdict(s, &err));
    assert_int_equal(entries_seen(folder), 0);
}

static void refused_by_all(void **state) {
    (void)state;
    for (int odd = 0; odd < processes; odd++) {
        bool mine = process == odd;
        hpcw_counter_options o = options(2);
        o.unit = mine ? "a unit that is too long" : "events";
        assert_refused("a", &o, HPCW_EINVAL);
        if (processes > 1) {
            o = options(2);
            o.unit = mine ? "messages" : "events";
            assert_refused("a", &o, HPCW_EMISMATCH);
            o = options(2);
            o.durability = mine ? HPCW_SYNC_NONE : HPCW_SYNC_FILE;
            assert_refused("a", &o, HPCW_EMISMATCH);
            o = options(2);
            assert_refused(mine ? "b" : "a", &o, HPCW_EMISMATCH);
        }
    }
}

/* One process does not write the value of its rank. */
static void missing_value(void **state) {
    (void)state;
    char path[300], folder[300];
    path_of("a", path);
    path_of("", folder);
    for (int odd = 0; odd < processes; odd++) {
        hpcw_counter *c;
        hpcw_error err = {.message = ""};
        const hpcw_counter_options o = options(1);
        hpcw_status s = hpcw_counter_open(path, world, &o, &c, &err);
        assert_true(on_all(s == HPCW_OK));
        s = process == odd ? HPCW_OK : hpcw_counter_write(c, hpcw_counter_first_rank(c), 1, &err);
        assert_true(on_all(s == HPCW_OK));
        s = hpcw_counter_close(c, &err);
        assert_true(on_all(s == HPCW_ESTATE && err.process == odd));
        assert_true(same_verdict(s, &err));
        hpcw_counter_free(c);
        assert_int_equal(entries_seen(folder), 0);
    }
}

int main(int argc, char **argv) {
    world_begin(&argc, &argv, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bytes_for_any_processes),
        cmocka_unit_test(refused_by_all),
        cmocka_unit_test(missing_value),
    };
    return world_end(cmocka_run_group_tests(tests, NULL, NULL));
}
