/* SPDX-License-Identifier: BSD-3-Clause */
/* A repair without enough descriptors: a file that it cannot open is not damaged. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "gen/dataset/description.h"
#include "gen/dataset/directory.h"
#include "gen/dataset/repair.h"
#include "libwriter/base/mem.h"
#include "libwriter/io/sys.h"
#include "tests/support/files.h"

static char dir[256];
static unsigned long opens, fails_at;

static int no_descriptor(enum hpcw_i_sys_call call, size_t *size) {
    (void)size;
    return call == HPCW_I_SYS_OPEN && ++opens == fails_at ? EMFILE : 0;
}

static void too_few_descriptors(void **state) {
    (void)state;
    struct gen_dataset dataset;
    struct gen_outcome outcome;
    struct gen_repair repair = {0};
    hpcw_error err = {.message = ""};
    char path[300];
    char *manifest;
    assert_int_equal(gen_dataset_init(&dataset, "dfplus-hdr200", GEN_SCALE_TINY, NULL), HPCW_OK);
    dataset.ranks = 4;
    dataset.formats = (uint64_t)1 << GEN_FORMAT_LINKTEST | (uint64_t)1 << GEN_FORMAT_CLOG2;
    dataset.block_size = 4096;
    assert_int_equal(gen_dataset_build(&dataset, &err), HPCW_OK);
    scratch_make(dir, sizeof dir);
    struct gen_run run = {.dataset = &dataset,
                          .directory = dir,
                          .comm = hpcw_i_comm_or_self(NULL),
                          .jobs = 1,
                          .parts = 1,
                          .checksums = true,
                          .durability = HPCW_SYNC_NONE};
    assert_int_equal(gen_generate(&run, &outcome, &err), HPCW_OK);
    (void)snprintf(path, sizeof path, "%s/" GEN_MANIFEST, dir);
    assert_int_equal(gen_directory_read(path, &manifest, &err), HPCW_OK);
    bool met = true;
    for (fails_at = 1; met; fails_at++) {
        opens = 0;
        hpcw_i_sys_gate = no_descriptor;
        hpcw_status s = gen_repair_dataset(&run, manifest, &repair, &err);
        hpcw_i_sys_gate = NULL;
        met = opens >= fails_at;
        if (repair.repaired > 0) {
            fail_msg("open %lu: status %d, %d files replaced", fails_at, (int)s, (int)repair.repaired);
        }
    }
    assert_true(fails_at > 10);
    hpcw_i_free(manifest);
    gen_dataset_free(&dataset);
    scratch_remove(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(too_few_descriptors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
