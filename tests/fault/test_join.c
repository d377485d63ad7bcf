/* SPDX-License-Identifier: BSD-3-Clause */
/* Concurrent joins of one dataset. A join succeeds as soon as the dataset is complete, even if another join has
 * completed it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "gen/dataset/directory/description.h"
#include "gen/dataset/directory/lease.h"
#include "gen/dataset/generate.h"
#include "libwriter/io/sys.h"
#include "tests/support/faults.h"
#include "tests/support/files.h"

static char dir[256];
static struct gen_dataset dataset;
static struct gen_run run;

/* Makes two parts that are not joined yet. */
static void make_parts(void) {
    struct gen_outcome outcome;
    hpcw_error err = {.message = ""};
    assert_int_equal(gen_dataset_init(&dataset, "dfplus-hdr200", GEN_SCALE_TINY, NULL), HPCW_OK);
    dataset.ranks = 4;
    dataset.formats = (uint64_t)1 << GEN_FORMAT_LINKTEST | (uint64_t)1 << GEN_FORMAT_CLOG2;
    dataset.block_size = 4096;
    dataset.linktest_files = 2;
    assert_int_equal(gen_dataset_build(&dataset, &err), HPCW_OK);
    scratch_make(dir, sizeof dir);
    run = (struct gen_run){.dataset = &dataset,
                           .directory = dir,
                           .comm = hpcw_i_comm_or_self(NULL),
                           .jobs = 1,
                           .parts = 2,
                           .checksums = true,
                           .durability = HPCW_SYNC_NONE};
    for (run.part = 0; run.part < 2; run.part++) {
        assert_int_equal(gen_generate(&run, &outcome, &err), HPCW_OK);
    }
    run.part = 0;
    run.parts = 1;
}

static void remove_parts(void) {
    gen_dataset_free(&dataset);
    scratch_remove(dir);
}

static bool has_state(void) {
    char path[300];
    struct stat st;
    (void)snprintf(path, sizeof path, "%s/" GEN_STATE_DIR, dir);
    return lstat(path, &st) == 0;
}

static void join(hpcw_status expected, bool already, const char *message) {
    struct gen_run again = run;
    struct gen_outcome outcome;
    hpcw_error err = {.message = ""};
    hpcw_status s = gen_join(&again, &outcome, &err);
    if (s != expected || strstr(err.message, message) == NULL) {
        fail_msg("status %d, expected %d: %s", s, expected, err.message);
    }
    assert_int_equal(outcome.complete, s == HPCW_OK);
    assert_int_equal(outcome.already, already);
}

/* A second join has read the description of the dataset before the first join finishes and removes it. The second
 * one succeeds and reports that the dataset was already complete. */
static void joined_meanwhile(void **state) {
    (void)state;
    make_parts();
    join(HPCW_OK, false, "");
    join(HPCW_OK, true, "");
    assert_false(has_state());
    remove_parts();
}

static unsigned left;

/* Runs another join when the tested join makes its state directory. This is the first system call for a lease. */
static int join_first(enum hpcw_i_sys_call call, size_t *size) {
    (void)size;
    if (call == HPCW_I_SYS_MKDIR && left > 0) {
        left--;
        join(HPCW_OK, false, "");
    }
    return 0;
}

static void joined_before_lease(void **state) {
    (void)state;
    make_parts();
    left = 1;
    hpcw_i_sys_gate = join_first;
    join(HPCW_OK, true, "");
    hpcw_i_sys_gate = NULL;
    assert_int_equal(left, 0);
    assert_false(has_state());
    remove_parts();
}

/* Another run holds the lease: before the dataset is complete, and afterwards. */
static void others_lease(void **state) {
    (void)state;
    struct gen_lease lease = {.fd = -1};
    struct gen_run other;
    hpcw_error err = {.message = ""};
    make_parts();
    other = run;
    assert_int_equal(gen_lease_take(&other, "join", &lease, &err), HPCW_OK);
    join(HPCW_EEXIST, false, "(join, 4 ranks");
    assert_int_equal(gen_dataset_fingerprint(&dataset, other.fingerprint, &err), HPCW_OK);
    assert_int_equal(gen_finish(&other, &lease, &err), HPCW_OK);
    join(HPCW_OK, true, "");
    assert_true(has_state());
    gen_lease_end(&lease);
    assert_false(has_state());
    remove_parts();
}

/* Each system call for a lease fails once. If the lease is not taken, no file of it remains. */
static void refused_lease(void **state) {
    (void)state;
    struct gen_lease lease;
    hpcw_error err;
    bool met = true;
    scratch_make(dir, sizeof dir);
    for (unsigned long n = 1; met; n++) {
        struct gen_run again = {.directory = dir, .dataset = &dataset, .parts = 1};
        fault_arm(FAULT_EIO, n);
        hpcw_status s = gen_lease_take(&again, "join", &lease, &err);
        met = fault_disarm();
        assert_true(met || s == HPCW_OK);
        if (s == HPCW_OK) {
            gen_lease_end(&lease);
        }
        if (has_state()) {
            fail_msg("call %lu fails: %s: something is left", n, s == HPCW_OK ? "taken" : err.message);
        }
    }
    scratch_remove(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joined_meanwhile),
        cmocka_unit_test(joined_before_lease),
        cmocka_unit_test(others_lease),
        cmocka_unit_test(refused_lease),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
