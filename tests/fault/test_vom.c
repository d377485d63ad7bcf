/* SPDX-License-Identifier: BSD-3-Clause */
/* Each system call and each allocation in the life of a file, a set of files and a statistics file fails once.
 * test_sion.c lists what is checked. */
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

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define RECORDS 1200 /* their text is larger than the writer's buffer */
#define SET 3

/* Durability of single files. Hundreds of runs with failing allocations need no flush to disk. */
static hpcw_durability durability;

/* Writes two phases in which each element receives from the next one. */
static hpcw_status tell(hpcw_vom *v, uint32_t rank, uint32_t records, hpcw_error *err) {
    static const hpcw_vom_value value = {.key = "shared_id", .integer = 3};
    hpcw_status s = HPCW_OK;
    for (uint64_t phase = 0; phase < 2 && s == HPCW_OK; phase++) {
        s = hpcw_vom_begin_phase(v, phase, err);
        for (uint64_t i = 0; i < records && s == HPCW_OK; i++) {
            uint64_t next = (i + 1) % records;
            hpcw_vom_edge edge = {.category = HPCW_VOM_SEND_RECV,
                                  .from = hpcw_vom_element(rank, next, 7, &next, 1),
                                  .to = hpcw_vom_element(rank, i, 7, &i, 1),
                                  .bytes = 100,
                                  .messages = 1};
            s = hpcw_vom_edge_add(v, &edge, err);
        }
        for (uint64_t i = 0; i < records && s == HPCW_OK; i++) {
            hpcw_vom_task task = {.entity = hpcw_vom_element(rank, i, 7, &i, 1),
                                  .time_s = 0.1,
                                  .values = &value,
                                  .value_count = i % 2};
            s = hpcw_vom_task_add(v, &task, err);
        }
        s = s == HPCW_OK ? hpcw_vom_end_phase(v, NULL, 0, err) : s;
    }
    return s;
}

static hpcw_status live_file(const char *dir, const char *name, bool check, hpcw_error *err) {
    char path[512];
    static const hpcw_vom_range skipped = {2, 4};
    static const hpcw_vom_range identical = {5, 5};
    hpcw_vom_options o;
    hpcw_vom *v;
    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    hpcw_vom_options_init(&o);
    o.check = check;
    o.durability = durability;
    o.skipped = &skipped;
    o.skipped_count = 1;
    o.identical = &identical;
    o.identical_count = 1;
    hpcw_status s = hpcw_vom_open(path, &o, &v, err);
    if (s != HPCW_OK) {
        assert_null(v);
        return s;
    }
    s = tell(v, 0, RECORDS, err);
    if (s == HPCW_OK) {
        s = hpcw_vom_close(v, err);
        assert_int_equal(hpcw_vom_close(v, NULL), HPCW_ESTATE);
    }
    hpcw_vom_free(v);
    return s;
}

static hpcw_status live_plain(const char *dir, hpcw_error *err) {
    return live_file(dir, "data.0.json", true, err);
}

static hpcw_status live_compressed(const char *dir, hpcw_error *err) {
    return live_file(dir, "data.0.json.br", false, err);
}

/* Writes a set: all files or none. If a rename fails after others succeeded, the next open of the set completes
 * it. */
static hpcw_status live_set(const char *dir, hpcw_error *err) {
    hpcw_vom *v[SET] = {NULL};
    hpcw_status s = hpcw_vom_make_directory(dir, NULL, err);
    for (uint32_t rank = 0; rank < SET && s == HPCW_OK; rank++) {
        char pattern[300];
        char path[512];
        hpcw_vom_options o;
        hpcw_vom_options_init(&o);
        o.rank = rank;
        o.ranks = SET;
        o.durability = HPCW_SYNC_DIRECTORY;
        (void)snprintf(pattern, sizeof pattern, "%s/data.%%p.json", dir);
        s = hpcw_vom_file_name(path, sizeof path, pattern, rank, rank == 1, err);
        s = s == HPCW_OK ? hpcw_vom_open(path, &o, &v[rank], err) : s;
        s = s == HPCW_OK ? tell(v[rank], rank, 10, err) : s;
    }
    if (s == HPCW_OK) {
        s = hpcw_vom_close_set(v, SET, NULL, err);
    }
    for (uint32_t rank = 0; rank < SET; rank++) {
        hpcw_vom_free(v[rank]);
    }
    return s;
}

static hpcw_status live_statistics(const char *dir, hpcw_error *err) {
    char path[512];
    hpcw_vom_stats *stats;
    hpcw_vom_balance b = {.has_strategy_loads = true};
    (void)snprintf(path, sizeof path, "%s/stats.json.br", dir);
    hpcw_status s = hpcw_vom_stats_open(path, NULL, &stats, err);
    for (uint64_t phase = 0; phase < 700 && s == HPCW_OK; phase++) {
        s = hpcw_vom_stats_phase(stats, phase, &phase, &b, &b, err);
    }
    s = s == HPCW_OK ? hpcw_vom_stats_close(stats, err) : s;
    hpcw_vom_stats_free(stats);
    return s;
}

static const struct life {
    const char *name;
    hpcw_status (*live)(const char *dir, hpcw_error *err);
    int files;
    const char *file[SET];
} lives[] = {
    {"plain", live_plain, 1, {"data.0.json"}},
    {"compressed", live_compressed, 1, {"data.0.json.br"}},
    {"set", live_set, SET, {"data.0.json", "data.1.json.br", "data.2.json"}},
    {"statistics", live_statistics, 1, {"stats.json.br"}},
};

static void assert_same_files(const struct life *life, const char *want_dir, const char *dir) {
    assert_int_equal(count_entries(dir), life->files);
    for (int i = 0; i < life->files; i++) {
        char path[512];
        size_t want_size = 0;
        size_t size = 0;
        (void)snprintf(path, sizeof path, "%s/%s", want_dir, life->file[i]);
        unsigned char *want = read_file(path, &want_size);
        (void)snprintf(path, sizeof path, "%s/%s", dir, life->file[i]);
        unsigned char *got = read_file(path, &size);
        assert_true(want != NULL && got != NULL);
        assert_true(same_bytes(life->file[i], want, want_size, got, size));
        free(want);
        free(got);
    }
}

static void fail_each_call(const struct life *life, enum fault fault, const char *want_dir) {
    for (unsigned long n = 1;; n++) {
        char dir[256];
        scratch_make(dir, sizeof dir);
        hpcw_error err = {.message = ""};
        int descriptors = count_descriptors();
        fault_arm(fault, n);
        hpcw_status s = life->live(dir, &err);
        bool met = fault_disarm();
        assert_int_equal(count_descriptors(), descriptors);
        if (met && !fault_is_harmless(fault)) {
            if (s != fault_status(fault) || !good_message(s, &err, dir)) {
                fail_msg("%s, %s, call %lu: status %d", life->name, fault_name(fault), n, (int)s);
            }
            char set[300];
            (void)snprintf(set, sizeof set, "%s/data.json", dir);
            if (is_finished_by_next_open(&err, set)) {
                assert_same_files(life, want_dir, dir);
            } else {
                assert_int_equal(count_entries(dir), 0);
            }
        } else {
            if (s != HPCW_OK) {
                fail_msg("%s, %s, call %lu: %s", life->name, fault_name(fault), n, err.message);
            }
            assert_same_files(life, want_dir, dir);
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
    for (size_t i = 0; i < COUNT(lives); i++) {
        char want_dir[256];
        hpcw_error err;
        scratch_make(want_dir, sizeof want_dir);
        assert_int_equal(lives[i].live(want_dir, &err), HPCW_OK);
        for (int fault = 0; fault < FAULTS; fault++) {
            durability = fault == FAULT_NOMEM ? HPCW_SYNC_NONE : HPCW_SYNC_FILE;
            fail_each_call(&lives[i], (enum fault)fault, want_dir);
        }
        scratch_remove(want_dir);
    }
}

/* A record is lost for lack of memory. The file must not be finished without it, also if the program ignores the
 * failure. */
static void lost_records(void **state) {
    (void)state;
    char dir[256];
    char path[512];
    bool met = true;
    scratch_make(dir, sizeof dir);
    (void)snprintf(path, sizeof path, "%s/data.0.json", dir);
    for (unsigned long n = 1; met; n++) {
        hpcw_vom_options o;
        hpcw_vom *v = NULL;
        hpcw_error err;
        hpcw_vom_options_init(&o);
        o.check = true;
        o.durability = HPCW_SYNC_NONE;
        assert_int_equal(hpcw_vom_open(path, &o, &v, &err), HPCW_OK);
        fault_arm(FAULT_NOMEM, n);
        hpcw_status s = tell(v, 0, 200, NULL);
        met = fault_disarm();
        assert_int_equal(s, met ? HPCW_ENOMEM : HPCW_OK);
        if (met) {
            assert_int_equal(hpcw_vom_begin_phase(v, 7, NULL), HPCW_ESTATE);
            assert_int_equal(hpcw_vom_close_set(&v, 1, NULL, &err), HPCW_ESTATE);
            assert_non_null(strstr(err.message, "out of memory for its"));
        }
        hpcw_vom_free(v);
        assert_int_equal(count_entries(dir), 0);
    }
    scratch_remove(dir);
}

/* One file of a set is broken. The others do not get their names, and the earlier set stays. */
static void a_broken_file_among_others(void **state) {
    (void)state;
    char dir[256];
    char path[512];
    hpcw_error err;
    hpcw_vom *v[SET] = {NULL};
    scratch_make(dir, sizeof dir);
    assert_int_equal(live_set(dir, &err), HPCW_OK);
    for (uint32_t rank = 0; rank < SET; rank++) {
        hpcw_vom_options o;
        hpcw_vom_options_init(&o);
        o.rank = rank;
        o.ranks = SET;
        (void)snprintf(path, sizeof path, "%s/%s", dir, lives[2].file[rank]);
        assert_int_equal(hpcw_vom_open(path, &o, &v[rank], &err), HPCW_OK);
    }
    assert_int_equal(hpcw_vom_begin_phase(v[2], 0, &err), HPCW_OK); /* this phase is never ended */
    assert_int_equal(hpcw_vom_close_set(v, SET, NULL, &err), HPCW_ESTATE);
    assert_non_null(strstr(err.message, "data.2.json: expected the end of phase 0"));
    for (uint32_t rank = 0; rank < SET; rank++) {
        hpcw_vom_free(v[rank]);
    }
    char want_dir[256];
    scratch_make(want_dir, sizeof want_dir);
    assert_int_equal(live_set(want_dir, &err), HPCW_OK);
    assert_same_files(&lives[2], want_dir, dir);
    scratch_remove(want_dir);
    scratch_remove(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_fails_once),
        cmocka_unit_test(lost_records),
        cmocka_unit_test(a_broken_file_among_others),
    };
    return cmocka_run_group_tests_name("fault_vom", tests, NULL, NULL);
}
