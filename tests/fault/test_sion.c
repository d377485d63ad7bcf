/* SPDX-License-Identifier: BSD-3-Clause */
/* Each system call and each allocation in the life of a container fails once. Expected after each failure: the
 * right status, a message with the path, no file with the container's name, no temporary file, an unchanged older
 * file, no open descriptor, and a handle that only returns HPCW_ESTATE. The address sanitizer shows leaks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hpcw/hpcw.h>

#include "tests/support/faults.h"
#include "tests/support/files.h"
#include "tests/support/sion_cases.h"

struct scenario {
    const char *name; /* name of a case */
    uint64_t buffer_size;
    hpcw_durability durability;
    bool placed; /* six tasks in two files, placed by placed_tasks and placed_ranks */
};

static const uint32_t placed_tasks[2] = {1, 5}, placed_ranks[6] = {5, 3, 4, 0, 2, 1};

static const struct scenario scenarios[] = {
    {"four_tasks_serial.sion", 0, HPCW_SYNC_NONE, false},
    {"multi8of2.sion", 1 << 16, HPCW_SYNC_NONE, false},
    {"one_task.sion", 1 << 16, HPCW_SYNC_DIRECTORY, false},
    {"mapped6of2.sion", 0, HPCW_SYNC_DIRECTORY, false},
    {"keyval.sion", 600, HPCW_SYNC_NONE, false},
    {"many_blocks.sion", 4096, HPCW_SYNC_NONE, false},
    {"packed.sion", 1 << 14, HPCW_SYNC_NONE, false},
    {"uneven_set.sion", 700, HPCW_SYNC_NONE, false},
    {"mapped6of2.sion", 0, HPCW_SYNC_NONE, true},
};

static const struct sion_case *case_of(const struct scenario *sc) {
    for (unsigned i = 0; i < sion_case_count; i++) {
        if (strcmp(sion_cases[i].name, sc->name) == 0) {
            return &sion_cases[i];
        }
    }
    fail_msg("no case %s", sc->name);
    return NULL;
}

static void name_of(char *name, size_t size, const char *dir, const struct sion_case *c, uint32_t file) {
    char suffix[16] = "";
    if (file > 0) {
        (void)snprintf(suffix, sizeof suffix, ".%06u", file);
    }
    (void)snprintf(name, size, "%s/%s%s", dir, c->name, suffix);
}

/* A failed handle refuses all calls and stays as it is. */
static void assert_refuses_all(hpcw_sion *h) {
    hpcw_error err;
    uint64_t offset;
    assert_int_equal(hpcw_sion_write(h, 0, "", 0, &err), HPCW_ESTATE);
    assert_int_equal(hpcw_sion_write_key(h, 0, 1, "", 0, &err), HPCW_ESTATE);
    assert_int_equal(hpcw_sion_reserve(h, 0, 0, &offset, &err), HPCW_ESTATE);
    assert_int_equal(hpcw_sion_fill(h, 0, 0, "", 1, NULL), HPCW_ESTATE);
    assert_int_equal(err.code, HPCW_ESTATE);
}

/* Runs the whole life of a container. Returns the first failure. */
static hpcw_status live(const struct scenario *sc, const char *path, hpcw_error *err) {
    const struct sion_case *c = case_of(sc);
    uint64_t sizes[64];
    for (uint32_t t = 0; t < c->tasks; t++) {
        sizes[t] = c->chunk[t % 8];
    }
    hpcw_sion_options o = sion_case_options(c, c->tasks, NULL, sizes);
    o.buffer_size = sc->buffer_size;
    o.durability = sc->durability;
    o.file_tasks = sc->placed ? placed_tasks : NULL;
    o.global_ranks = sc->placed ? placed_ranks : NULL;
    hpcw_sion *h = (hpcw_sion *)&o; /* the open must set it to NULL */
    hpcw_status s = hpcw_sion_open(path, NULL, &o, &h, err);
    if (s != HPCW_OK) {
        assert_null(h);
        return s;
    }
    for (uint32_t t = 0; s == HPCW_OK && t < c->tasks; t++) {
        s = c->write(h, t, err);
    }
    if (s != HPCW_OK) {
        assert_refuses_all(h);
        hpcw_error again;
        assert_int_equal(hpcw_sion_close(h, &again), s);
        assert_string_equal(again.message, err->message);
    } else {
        s = hpcw_sion_close(h, err);
    }
    assert_refuses_all(h);
    assert_int_equal(hpcw_sion_close(h, NULL), HPCW_ESTATE);
    hpcw_sion_free(h);
    return s;
}

static void make_older(const struct sion_case *c, const char *dir) {
    for (uint32_t f = 0; f < c->files; f++) {
        char name[512];
        name_of(name, sizeof name, dir, c, f);
        FILE *file = fopen(name, "wb");
        assert_non_null(file);
        assert_true(fprintf(file, "older %u", f) > 0);
        assert_int_equal(fclose(file), 0);
    }
}

static bool is_older(const struct sion_case *c, const char *dir, uint32_t file) {
    char name[512];
    char want[32];
    size_t size = 0;
    name_of(name, sizeof name, dir, c, file);
    int n = snprintf(want, sizeof want, "older %u", file);
    unsigned char *got = read_file(name, &size);
    bool same = got != NULL && size == (size_t)n && memcmp(got, want, size) == 0;
    free(got);
    return same;
}

/* Checks that the directory is as before. */
static void assert_nothing_left(const struct sion_case *c, const char *dir, bool older) {
    assert_int_equal(count_entries(dir), older ? (int)c->files : 0);
    for (uint32_t f = 0; older && f < c->files; f++) {
        assert_true(is_older(c, dir, f));
    }
}

static void assert_same_files(const struct sion_case *c, const char *want_dir, const char *dir) {
    assert_int_equal(count_entries(dir), (int)c->files);
    for (uint32_t f = 0; f < c->files; f++) {
        char name[512];
        size_t want_size = 0;
        size_t got_size = 0;
        name_of(name, sizeof name, want_dir, c, f);
        unsigned char *want = read_file(name, &want_size);
        name_of(name, sizeof name, dir, c, f);
        unsigned char *got = read_file(name, &got_size);
        assert_non_null(want);
        assert_non_null(got);
        bool same = same_bytes(name, want, want_size, got, got_size);
        free(want);
        free(got);
        assert_true(same);
    }
}

/* Repeats the run with the n-th call failing until a run meets no failure. */
static void fail_each_call(const struct scenario *sc, enum fault fault, bool older, const char *want_dir) {
    const struct sion_case *c = case_of(sc);
    for (unsigned long n = 1;; n++) {
        char dir[256];
        char path[512];
        scratch_make(dir, sizeof dir);
        name_of(path, sizeof path, dir, c, 0);
        if (older) {
            make_older(c, dir);
        }
        hpcw_error err = {.message = ""};
        int descriptors = count_descriptors();
        fault_arm(fault, n);
        hpcw_status s = live(sc, path, &err);
        bool met = fault_disarm();
        assert_int_equal(count_descriptors(), descriptors);
        if (met && !fault_is_harmless(fault)) {
            if (s != fault_status(fault) || !good_message(s, &err, path)) {
                fail_msg("%s, %s, call %lu: status %d", sc->name, fault_name(fault), n, (int)s);
            }
            if (is_finished_by_next_open(&err, path) || is_late_failure(&err, path)) {
                assert_same_files(c, want_dir, dir);
            } else {
                assert_nothing_left(c, dir, older);
            }
        } else {
            if (s != HPCW_OK) {
                fail_msg("%s, %s, call %lu: %s", sc->name, fault_name(fault), n, err.message);
            }
            assert_same_files(c, want_dir, dir);
        }
        scratch_remove(dir);
        if (!met) {
            assert_true(n > 1);
            return;
        }
    }
}

static void every_call_fails_once(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        char want_dir[256];
        char path[512];
        hpcw_error err = {.message = ""};
        scratch_make(want_dir, sizeof want_dir);
        name_of(path, sizeof path, want_dir, case_of(&scenarios[i]), 0);
        assert_int_equal(live(&scenarios[i], path, &err), HPCW_OK);
        fail_each_call(&scenarios[i], FAULT_EIO, i % 2 == 0, want_dir);
        fail_each_call(&scenarios[i], FAULT_NOMEM, i % 2 != 0, want_dir);
        for (int fault = 0; i < 2 && fault < FAULTS; fault++) {
            fail_each_call(&scenarios[i], (enum fault)fault, i % 2 != 0, want_dir);
        }
        scratch_remove(want_dir);
    }
}

/* A record is lost for lack of memory. The container must not be finished without it, also if the program ignores
 * the failure. */
static void lost_records(void **state) {
    (void)state;
    char dir[256];
    char path[512];
    bool met = true;
    scratch_make(dir, sizeof dir);
    (void)snprintf(path, sizeof path, "%s/x.sion", dir);
    for (unsigned long n = 1; met; n++) {
        hpcw_sion_options o;
        hpcw_sion_options_init(&o);
        o.chunk_size = 70;
        o.fs_block_size = 1;
        o.durability = HPCW_SYNC_NONE;
        hpcw_sion *h;
        hpcw_error err;
        assert_int_equal(hpcw_sion_open(path, NULL, &o, &h, &err), HPCW_OK);
        fault_arm(FAULT_NOMEM, n);
        for (unsigned r = 0; r < 300; r++) {
            (void)!hpcw_sion_write(h, 0, "record of 40 bytes......................", 40, NULL);
        }
        met = fault_disarm();
        hpcw_status s = hpcw_sion_close(h, &err);
        assert_int_equal(s, met ? HPCW_ENOMEM : HPCW_OK);
        assert_true(s == HPCW_OK || good_message(s, &err, path));
        hpcw_sion_free(h);
        assert_int_equal(count_entries(dir), met ? 0 : 1);
    }
    scratch_remove(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_fails_once),
        cmocka_unit_test(lost_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
