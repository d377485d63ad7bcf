/* SPDX-License-Identifier: BSD-3-Clause */
/* Repairs with too few file descriptors. A file that cannot be opened for this reason does not count as damaged. A
 * file whose reads fail counts as damaged. A deep check without enough memory reports HPCW_ENOMEM. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "gen/cli/commands.h"
#include "gen/dataset/check.h"
#include "gen/dataset/directory/description.h"
#include "gen/dataset/directory/directory.h"
#include "gen/dataset/repair.h"
#include "libwriter/base/mem.h"
#include "libwriter/io/sys.h"
#include "tests/support/faults.h"
#include "tests/support/files.h"

#define LINKTEST (UINT64_C(1) << GEN_FORMAT_LINKTEST)
#define LOG (UINT64_C(1) << GEN_FORMAT_CLOG2)

static char dir[256];
static unsigned long opens, fails_at;

static int no_descriptor(enum hpcw_i_sys_call call, size_t *size) {
    (void)size;
    return call == HPCW_I_SYS_OPEN && ++opens == fails_at ? EMFILE : 0;
}

static int bad_disk(enum hpcw_i_sys_call call, size_t *size) {
    (void)size;
    return call == HPCW_I_SYS_OPEN && ++opens == fails_at ? EIO : 0;
}

struct fixture {
    struct gen_dataset dataset;
    struct gen_run run;
    char *manifest;
};

static void set_up(struct fixture *x, uint64_t formats) {
    struct gen_outcome outcome;
    hpcw_error err = {.message = ""};
    char path[300];
    assert_int_equal(gen_dataset_init(&x->dataset, "dfplus-hdr200", GEN_SCALE_TINY, NULL), HPCW_OK);
    x->dataset.ranks = 4;
    x->dataset.formats = formats;
    x->dataset.block_size = 4096;
    assert_int_equal(gen_dataset_build(&x->dataset, &err), HPCW_OK);
    scratch_make(dir, sizeof dir);
    x->run = (struct gen_run){.dataset = &x->dataset,
                              .directory = dir,
                              .comm = hpcw_i_comm_or_self(NULL),
                              .jobs = 1,
                              .parts = 1,
                              .checksums = true,
                              .durability = HPCW_SYNC_NONE};
    assert_int_equal(gen_generate(&x->run, &outcome, &err), HPCW_OK);
    (void)snprintf(path, sizeof path, "%s/" GEN_MANIFEST, dir);
    assert_int_equal(gen_directory_read(path, &x->manifest, &err), HPCW_OK);
}

static void tear_down(struct fixture *x) {
    hpcw_i_free(x->manifest);
    gen_dataset_free(&x->dataset);
    scratch_remove(dir);
}

static void too_few_descriptors(void **state) {
    (void)state;
    struct fixture x;
    struct gen_repair repair = {0};
    hpcw_error err = {.message = ""};
    set_up(&x, LINKTEST | LOG);
    bool met = true;
    for (fails_at = 1; met; fails_at++) {
        opens = 0;
        hpcw_i_sys_gate = no_descriptor;
        hpcw_status s = gen_repair_dataset(&x.run, x.manifest, &repair, &err);
        hpcw_i_sys_gate = NULL;
        met = opens >= fails_at;
        if (repair.repaired > 0) {
            fail_msg("open %lu: status %d, %d files replaced", fails_at, (int)s, (int)repair.repaired);
        }
    }
    assert_true(fails_at > 10);
    tear_down(&x);
}

/* The manifest cannot be opened for lack of descriptors. The message does not suggest options of hpcgen repair,
 * since none would help. */
static void too_few_for_the_manifest(void **state) {
    (void)state;
    struct fixture x;
    const struct gen_cli_options options = {.jobs = 1, .quiet = true, .checksums = true};
    set_up(&x, LINKTEST | LOG);
    for (fails_at = 1; fails_at <= 2;
         fails_at++) { /* the manifest is read twice before anything else is opened */
        hpcw_error err = {.message = ""};
        opens = 0;
        hpcw_i_sys_gate = no_descriptor;
        hpcw_status s = gen_cli_repair(&options, dir, &err);
        hpcw_i_sys_gate = NULL;
        assert_int_not_equal(s, HPCW_OK);
        assert_non_null(strstr(err.message, "/" GEN_MANIFEST ": cannot open for reading: Too many open files"));
        assert_null(strstr(err.message, "--ranks"));
    }
    tear_down(&x);
}

/* Captures what a repair prints on stderr, with a NUL. */
static void repair_aloud(char *said, size_t size) {
    const struct gen_cli_options options = {.jobs = 1, .checksums = true};
    hpcw_error err = {.message = ""};
    FILE *file = tmpfile();
    const int kept = dup(STDERR_FILENO);
    assert_non_null(file);
    assert_true(kept >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
    opens = 0;
    hpcw_i_sys_gate = bad_disk;
    hpcw_status s = gen_cli_repair(&options, dir, &err);
    hpcw_i_sys_gate = NULL;
    (void)dup2(kept, STDERR_FILENO);
    (void)close(kept);
    rewind(file);
    said[fread(said, 1, size - 1, file)] = '\0';
    (void)fclose(file);
    assert_true(s == HPCW_OK || s == HPCW_EIO);
}

static void bad_disks(void **state) {
    (void)state;
    struct fixture x;
    unsigned repaired = 0;
    set_up(&x, LINKTEST | LOG);
    bool met = true;
    for (fails_at = 1; met; fails_at++) {
        static const char word[] = "hpcgen: repaired ";
        char said[4096];
        repair_aloud(said, sizeof said);
        met = opens >= fails_at;
        const char *line = strstr(said, word);
        if (line == NULL) {
            continue;
        }
        char name[100];
        char reason[512];
        assert_int_equal(sscanf(line + strlen(word), "%99[^\n]", name), 1);
        (void)snprintf(reason, sizeof reason, "hpcgen: %s/%s: cannot open for reading: Input/output error\n%s",
                       dir, name, word);
        if (strncmp(said, reason, strlen(reason)) != 0) {
            fail_msg("open %lu: expected a reason first, got %s", fails_at, said);
        }
        repaired++;
    }
    assert_true(repaired > 2);
    tear_down(&x);
}

static void too_little_memory(void **state) {
    (void)state;
    struct fixture x;
    set_up(&x, LINKTEST); /* a whole run would make thousands of allocations */
    unsigned long n = 0;
    bool met = true;
    while (met) {
        struct gen_check check = {.directory = dir, .jobs = 1, .deep = true};
        hpcw_error err = {.message = ""};
        gen_faults_init(&check.faults);
        fault_arm(FAULT_NOMEM, ++n);
        const hpcw_status s = gen_check_dataset(&check, &err);
        met = fault_disarm();
        gen_faults_free(&check.faults);
        if (met && s != HPCW_OK && s != HPCW_ENOMEM) {
            fail_msg("allocation %lu: status %d, %s", n, (int)s, err.message);
        }
    }
    assert_true(n > 50);
    tear_down(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(too_few_descriptors),
                                       cmocka_unit_test(too_few_for_the_manifest), cmocka_unit_test(bad_disks),
                                       cmocka_unit_test(too_little_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
