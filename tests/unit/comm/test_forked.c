/* SPDX-License-Identifier: BSD-3-Clause */
/* A child of fork() uses its copy of a handle. While the parent lives, the child leaves the parent's files and
 * names unchanged. When the parent has ended, the child owns them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <hpcw/hpcw.h>
#include <hpcw/sion_read.h>

#include "tests/support/files.h"

enum { TASKS = 4 };

static char path[300];

static int set_up(void **state) {
    (void)scratch_set_up(state);
    (void)snprintf(path, sizeof path, "%s/file", scratch);
    return 0;
}

/* Calls tries(handle) in a child of fork(). Returns its result. */
static bool in_child(bool (*tries)(void *handle), void *handle) {
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        _exit(tries(handle) ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* A process opens a handle, forks and ends, as a daemon does. Returns the result of tries(handle) in its child. */
static bool in_daemon(void *(*opens)(void), bool (*tries)(void *handle)) {
    int result[2];
    char good = 0;
    assert_int_equal(pipe(result), 0);
    pid_t parent = fork();
    assert_true(parent >= 0);
    if (parent == 0) {
        void *handle = opens();
        parent = getpid();
        if (fork() != 0) {
            _exit(0);
        }
        while (getppid() == parent) {
            (void)usleep(1000);
        }
        good = (char)tries(handle);
        _exit(write(result[1], &good, 1) == 1 ? 0 : 1);
    }
    assert_int_equal(close(result[1]), 0);
    assert_int_equal(waitpid(parent, NULL, 0), parent);
    assert_int_equal(read(result[0], &good, 1), 1);
    assert_int_equal(close(result[0]), 0);
    return good != 0;
}

/* ---- sinks ---- */

static bool frees_sink(void *sink) {
    hpcw_sink_free(sink);
    return true;
}

static bool discards_sink(void *sink) {
    hpcw_sink_discard(sink);
    hpcw_sink_free(sink);
    return true;
}

static bool refuses_sink(void *sink) {
    return hpcw_sink_write_at(sink, 0, "the child", 9, NULL) == HPCW_ESTATE &&
           hpcw_sink_set_size(sink, 9, NULL) == HPCW_ESTATE && hpcw_sink_publish(sink, NULL) == HPCW_ESTATE;
}

static bool publishes_sink(void *sink) {
    bool good = hpcw_sink_write_at(sink, 0, "the child", 9, NULL) == HPCW_OK &&
                hpcw_sink_set_size(sink, 9, NULL) == HPCW_OK && hpcw_sink_publish(sink, NULL) == HPCW_OK;
    hpcw_sink_free(sink);
    return good;
}

static hpcw_sink *open_sink(uint64_t tag) {
    hpcw_sink *sink;
    hpcw_error err;
    hpcw_status s = tag == 0 ? hpcw_sink_open_file(path, HPCW_SYNC_NONE, &sink, &err)
                             : hpcw_sink_open_shared_file(path, tag, true, HPCW_SYNC_NONE, &sink, &err);
    assert_int_equal(s, HPCW_OK);
    assert_int_equal(hpcw_sink_write_at(sink, 0, "the parent", 10, &err), HPCW_OK);
    return sink;
}

static void *open_alone(void) {
    return open_sink(0);
}

static void *open_shared(void) {
    return open_sink(1);
}

static void assert_content(const char *want) {
    size_t size = 0;
    unsigned char *got = read_file(path, &size);
    assert_true(got != NULL && size == strlen(want) && memcmp(got, want, size) == 0);
    free(got);
    assert_int_equal(count_entries(scratch), 1);
}

static void sinks(void **state) {
    (void)state;
    for (uint64_t tag = 0; tag < 2; tag++) {
        hpcw_error err;
        hpcw_sink *sink = open_sink(tag);
        assert_true(in_child(discards_sink, sink));
        assert_true(in_child(frees_sink, sink));
        assert_true(in_child(refuses_sink, sink));
        if (hpcw_sink_publish(sink, &err) != HPCW_OK) {
            fail_msg("%s", err.message);
        }
        hpcw_sink_free(sink);
        assert_content("the parent");
        assert_true(in_daemon(tag == 0 ? open_alone : open_shared, publishes_sink));
        assert_content("the child");
    }
}

/* ---- containers ---- */

static hpcw_sion *open_container(uint32_t files, char letter) {
    hpcw_sion_options o;
    hpcw_sion *h;
    hpcw_error err;
    hpcw_sion_options_init(&o);
    o.count = TASKS;
    o.files = files;
    o.chunk_size = 100;
    o.fs_block_size = 512;
    o.durability = HPCW_SYNC_NONE;
    assert_int_equal(hpcw_sion_open(path, NULL, &o, &h, &err), HPCW_OK);
    for (uint32_t t = 0; t < TASKS; t++) {
        assert_int_equal(hpcw_sion_write(h, t, &letter, 1, &err), HPCW_OK);
    }
    return h;
}

static void *open_one(void) {
    return open_container(1, 'd');
}

static void *open_two(void) {
    return open_container(2, 'd');
}

static void close_container(hpcw_sion *h) {
    hpcw_error err;
    if (hpcw_sion_close(h, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    hpcw_sion_free(h);
}

static void assert_letters(const char *letters) {
    hpcw_sion_reader *r;
    hpcw_error err;
    if (hpcw_sion_reader_open(path, NULL, 0, NULL, &r, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    for (uint32_t t = 0; t < TASKS; t++) {
        char got[8] = "";
        size_t size;
        assert_int_equal(hpcw_sion_reader_read(r, t, got, sizeof got - 1, &size, &err), HPCW_OK);
        assert_string_equal(got, letters);
    }
    hpcw_sion_reader_free(r);
}

static bool frees_container(void *h) {
    hpcw_sion_free(h);
    return true;
}

static bool closes_container(void *h) {
    bool good = hpcw_sion_close(h, NULL) == HPCW_OK;
    hpcw_sion_free(h);
    return good;
}

static bool refuses_container(void *h) {
    bool good = hpcw_sion_close(h, NULL) == HPCW_ESTATE;
    hpcw_sion_free(h);
    return good;
}

static void containers(void **state) {
    (void)state;
    for (uint32_t files = 1; files <= 2; files++) {
        close_container(open_container(files, 'o'));
        hpcw_sion *h = open_container(files, 'n');
        assert_true(in_child(frees_container, h));
        assert_true(in_child(refuses_container, h));
        assert_letters("o");
        for (uint32_t t = 0; t < TASKS; t++) {
            assert_int_equal(hpcw_sion_write(h, t, "!", 1, NULL), HPCW_OK);
        }
        close_container(h);
        assert_letters("n!");
        assert_int_equal(count_entries(scratch), files);
        assert_true(in_daemon(files == 1 ? open_one : open_two, closes_container));
        assert_letters("d");
        assert_int_equal(count_entries(scratch), files);
    }
}

/* hpcw_sion_close fails in a daemon. hpcw_sion_free then still removes all files of the container. */
static bool fails_to_close(void *h) {
    bool good = mkdir(path, 0777) == 0 && hpcw_sion_close(h, NULL) != HPCW_OK;
    hpcw_sion_free(h);
    return good;
}

static void failed_close(void **state) {
    (void)state;
    assert_true(in_daemon(open_one, fails_to_close));
    assert_int_equal(count_entries(scratch), 1); /* only that directory is left */
}

/* ---- load data ---- */

static bool frees_loads(void *v) {
    hpcw_vom_free(v);
    return true;
}

static bool closes_loads(void *v) {
    hpcw_vom *set[1] = {v};
    bool good = hpcw_vom_close_set(set, 1, NULL, NULL) == HPCW_OK;
    hpcw_vom_free(v);
    return good;
}

static bool refuses_loads(void *v) {
    bool good = hpcw_vom_close(v, NULL) == HPCW_ESTATE;
    hpcw_vom_free(v);
    return good;
}

static void *open_loads(void) {
    hpcw_vom_options o;
    hpcw_vom *v;
    hpcw_error err;
    hpcw_vom_options_init(&o);
    o.durability = HPCW_SYNC_NONE;
    assert_int_equal(hpcw_vom_open(path, &o, &v, &err), HPCW_OK);
    assert_int_equal(hpcw_vom_begin_phase(v, 0, &err), HPCW_OK);
    assert_int_equal(hpcw_vom_end_phase(v, NULL, 0, &err), HPCW_OK);
    return v;
}

static void load_data(void **state) {
    (void)state;
    hpcw_error err;
    hpcw_vom *v = open_loads();
    assert_true(in_child(frees_loads, v));
    assert_true(in_child(refuses_loads, v));
    if (hpcw_vom_close(v, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    hpcw_vom_free(v);
    assert_int_equal(count_entries(scratch), 1);
    assert_int_equal(remove(path), 0);
    assert_true(in_daemon(open_loads, closes_loads));
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(count_entries(scratch), 1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, scratch_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(sinks), TEST(containers), TEST(failed_close), TEST(load_data)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
