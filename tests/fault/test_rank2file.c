/* SPDX-License-Identifier: BSD-3-Clause */
/* Each system call and each allocation in the life of a checkpoint fails once. No reader sees an incomplete
 * checkpoint, and a restart reports the failure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <hpcw/hpcw.h>

#include "tests/support/faults.h"
#include "tests/support/files.h"
#include "tests/support/rank2file_cases.h"

static const struct rank2file_case *case_named(const char *name) {
    for (unsigned i = 0; i < rank2file_case_count; i++) {
        if (strcmp(rank2file_cases[i].name, name) == 0) {
            return &rank2file_cases[i];
        }
    }
    fail_msg("no case %s", name);
    return NULL;
}

static void index_path(const char *prefix, char *path, size_t size) {
    (void)snprintf(path, size, "%s/%s", prefix, HPCW_RANK2FILE_INDEX);
}

static void writing(const struct rank2file_case *c, enum fault fault, const char *want) {
    for (unsigned long n = 1;; n++) {
        char dir[256];
        char prefix[300];
        char path[400];
        hpcw_rank2file_options o;
        hpcw_error err = {.message = ""};
        scratch_make(dir, sizeof dir);
        (void)snprintf(prefix, sizeof prefix, "%s/run", dir);
        rank2file_case_options(c, &o);
        /* Flushing hundreds of small files to disk takes long. */
        o.durability = c->ranks < 4 && fault == FAULT_EIO ? HPCW_SYNC_FILE : HPCW_SYNC_NONE;
        int descriptors = count_descriptors();
        fault_arm(fault, n);
        hpcw_status s = rank2file_case_write(c, &o, prefix, NULL, c->ranks, NULL, &err);
        bool met = fault_disarm();
        assert_int_equal(count_descriptors(), descriptors);
        index_path(prefix, path, sizeof path);
        /* A failed close of a file that was only read is harmless, so the write may succeed. */
        if (s != HPCW_OK) {
            if (!met || fault_is_harmless(fault) || s != fault_status(fault) || !good_message(s, &err, "")) {
                fail_msg("%s, %s, call %lu: %s", c->name, fault_name(fault), n, err.message);
            }
            assert_int_not_equal(access(path, F_OK), 0);
            /* Writes the same checkpoint again, over the files that are left. */
            if (rank2file_case_write(c, &o, prefix, NULL, c->ranks, NULL, &err) != HPCW_OK) {
                fail_msg("%s, again after call %lu: %s", c->name, n, err.message);
            }
        }
        /* Files that could not be removed at the end stay until the next prune. */
        assert_int_equal(hpcw_rank2file_prune(prefix, NULL, 0, NULL, NULL, &err), HPCW_OK);
        assert_true(same_trees(want, prefix));
        scratch_remove(dir);
        if (!met) {
            assert_true(n > 1);
            return;
        }
    }
}

static void every_call_of_writing(void **state) {
    (void)state;
    /* The cases are small, since each call that fails takes one or two writes of a checkpoint. */
    static const struct rank2file_case cases[] = {
        {.name = "durable", .layout = HPCW_RANK2FILE_SCR_3, .ranks = 2},
        {.name = "several files",
         .layout = HPCW_RANK2FILE_SCR_1_2,
         .ranks = 4,
         .leaf_ranks = 3,
         .most_files = 2},
        {.name = "deep", .layout = HPCW_RANK2FILE_SHARED, .ranks = 5, .leaf_ranks = 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct rank2file_case *c = &cases[i];
        char dir[256];
        char want[300];
        hpcw_error err = {.message = ""};
        scratch_make(dir, sizeof dir);
        (void)snprintf(want, sizeof want, "%s/want", dir);
        assert_int_equal(rank2file_case_write(c, NULL, want, NULL, c->ranks, NULL, &err), HPCW_OK);
        for (int fault = 0; fault < FAULTS; fault++) {
            writing(c, (enum fault)fault, want);
        }
        scratch_remove(dir);
    }
}

static hpcw_status restart(const struct rank2file_case *c, const char *prefix, const uint32_t *all,
                           hpcw_error *err) {
    hpcw_rank2file_restart *r;
    hpcw_status s = hpcw_rank2file_restart_open(prefix, NULL, NULL, &r, err);
    if (s == HPCW_OK) {
        s = hpcw_rank2file_restart_load(r, c->ranks, all, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_rank2file_restart_check(r, true, err);
    }
    hpcw_rank2file_restart_free(r);
    return s;
}

static void every_call_of_restarting(void **state) {
    (void)state;
    const struct rank2file_case *c = case_named("shared");
    char dir[256];
    uint32_t all[RANK2FILE_MOST_RANKS];
    hpcw_error err = {.message = ""};
    scratch_make(dir, sizeof dir);
    for (uint32_t i = 0; i < c->ranks; i++) {
        all[i] = i;
    }
    assert_int_equal(rank2file_case_write(c, NULL, dir, NULL, c->ranks, NULL, &err), HPCW_OK);
    for (int fault = 0; fault < FAULTS; fault++) {
        for (unsigned long n = 1;; n++) {
            int descriptors = count_descriptors();
            fault_arm((enum fault)fault, n);
            hpcw_status s = restart(c, dir, all, &err);
            bool met = fault_disarm();
            assert_int_equal(count_descriptors(), descriptors);
            if (s != HPCW_OK && (!met || fault_is_harmless((enum fault)fault) ||
                                 s != fault_status((enum fault)fault) || !good_message(s, &err, ""))) {
                fail_msg("%s, call %lu: %s", fault_name((enum fault)fault), n, err.message);
            }
            if (!met) {
                assert_true(n > 1);
                break;
            }
        }
    }
    scratch_remove(dir);
}

/* ---- maintenance of datasets ---- */

static hpcw_status drop(const char *prefix, hpcw_error *err) {
    return hpcw_rank2file_drop(prefix, NULL, "scr.dataset.3", NULL, NULL, err);
}

static hpcw_status mark(const char *prefix, hpcw_error *err) {
    return hpcw_rank2file_mark_failed(prefix, NULL, "scr.dataset.3", err);
}

static hpcw_status make_current(const char *prefix, hpcw_error *err) {
    return hpcw_rank2file_make_current(prefix, NULL, "scr.dataset.2", err);
}

static hpcw_status prune(const char *prefix, hpcw_error *err) {
    hpcw_rank2file_tally tally;
    hpcw_status s = hpcw_rank2file_prune(prefix, NULL, 1, NULL, &tally, err);
    if (s == HPCW_OK && tally.skipped > 0) {
        *err = tally.why;
        s = err->code;
    }
    return s;
}

static hpcw_status reindex(const char *prefix, hpcw_error *err) {
    hpcw_rank2file_tally tally;
    hpcw_status s = hpcw_rank2file_reindex(prefix, NULL, &tally, err);
    if (s == HPCW_OK && tally.skipped > 0) {
        *err = tally.why;
        s = err->code;
    }
    return s;
}

static hpcw_status again(const char *prefix, hpcw_error *err) {
    const struct rank2file_case c = {.name = "again", .layout = HPCW_RANK2FILE_SCR_1_1, .ranks = 1};
    hpcw_rank2file_options o;
    rank2file_case_options(&c, &o);
    o.dataset.id = 3;
    o.replace = true;
    return rank2file_case_write(&c, &o, prefix, NULL, c.ranks, NULL, err);
}

/* Whatever fails, a sound dataset remains, and repeating the call succeeds. */
static void every_call_of_looking_after(void **state) {
    (void)state;
    static hpcw_status (*const calls[])(const char *prefix, hpcw_error *err) = {drop,  mark,    make_current,
                                                                                prune, reindex, again};
    static const enum fault faults[] = {FAULT_EIO, FAULT_NOMEM, FAULT_EINTR};
    const struct rank2file_case c = {.name = "kept", .layout = HPCW_RANK2FILE_SCR_1_1, .ranks = 1};
    for (size_t k = 0; k < sizeof calls / sizeof calls[0]; k++) {
        for (size_t f = 0; f < sizeof faults / sizeof faults[0]; f++) {
            enum fault fault = faults[f];
            for (unsigned long n = 1;; n += 1 + n / 6) {
                char dir[256];
                hpcw_rank2file_options o;
                hpcw_rank2file_restart *r;
                hpcw_error err = {.message = ""};
                scratch_make(dir, sizeof dir);
                rank2file_case_options(&c, &o);
                for (o.dataset.id = 1; o.dataset.id <= 3; o.dataset.id++) {
                    assert_int_equal(rank2file_case_write(&c, &o, dir, NULL, c.ranks, NULL, &err), HPCW_OK);
                }
                int descriptors = count_descriptors();
                fault_arm(fault, n);
                hpcw_status s = calls[k](dir, &err);
                bool met = fault_disarm();
                assert_int_equal(count_descriptors(), descriptors);
                if (s != HPCW_OK && (!met || fault_is_harmless(fault) || !good_message(s, &err, ""))) {
                    fail_msg("call %zu, %s, %lu: %s", k, fault_name(fault), n, err.message);
                }
                if (hpcw_rank2file_restart_open(dir, NULL, NULL, &r, &err) != HPCW_OK) {
                    fail_msg("call %zu, %s, %lu: %s", k, fault_name(fault), n, err.message);
                }
                hpcw_rank2file_restart_free(r);
                s = calls[k](dir, &err);
                if (s != HPCW_OK && !(calls[k] == drop && s == HPCW_ENOENT)) {
                    fail_msg("call %zu again after %s, %lu: %s", k, fault_name(fault), n, err.message);
                }
                scratch_remove(dir);
                if (!met) {
                    assert_true(n > 1);
                    break;
                }
            }
        }
    }
}

int main(void) {
    if (access("/dev/shm", W_OK) == 0) {
        (void)setenv("TMPDIR", "/dev/shm", 0); /* thousands of small files are synced */
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_of_writing),
        cmocka_unit_test(every_call_of_restarting),
        cmocka_unit_test(every_call_of_looking_after),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
