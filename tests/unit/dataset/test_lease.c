/* SPDX-License-Identifier: BSD-3-Clause */
/* A run that ends removes the directory that it made, and no other. A lease (a file that reserves the directory)
 * that cannot be examined does not count as lost. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "gen/dataset/directory/lease.h"
#include "gen/dataset/generate.h"
#include "tests/support/files.h"

struct place {
    char scratch[256], made[512], other[512];
    struct gen_dataset dataset;
    struct gen_run run;
    struct gen_lease lease;
};

static void place_make(struct place *p) {
    memset(p, 0, sizeof *p);
    scratch_make(p->scratch, sizeof p->scratch);
    (void)snprintf(p->made, sizeof p->made, "%s/made", p->scratch);
    (void)snprintf(p->other, sizeof p->other, "%s/other", p->scratch);
    hpcw_error err;
    assert_int_equal(gen_dataset_init(&p->dataset, "dfplus-hdr200", GEN_SCALE_TINY, &err), HPCW_OK);
    p->run = (struct gen_run){.dataset = &p->dataset, .directory = p->made, .parts = 1};
}

static void place_remove(struct place *p) {
    gen_dataset_free(&p->dataset);
    scratch_remove(p->scratch);
}

static void its_own_directory_goes(void **state) {
    (void)state;
    struct place p;
    place_make(&p);
    hpcw_error err;
    assert_int_equal(gen_lease_take(&p.run, "test", &p.lease, &err), HPCW_OK);
    gen_lease_end(&p.lease);
    assert_int_not_equal(access(p.made, F_OK), 0);
    place_remove(&p);
}

/* Somebody renames the directory and makes another one with its name. */
static void a_directory_of_its_name_stays(void **state) {
    (void)state;
    struct place p;
    place_make(&p);
    hpcw_error err;
    assert_int_equal(gen_lease_take(&p.run, "test", &p.lease, &err), HPCW_OK);
    assert_int_equal(rename(p.made, p.other), 0);
    assert_int_equal(mkdir(p.made, 0777), 0);
    gen_lease_end(&p.lease);
    assert_int_equal(access(p.made, F_OK), 0);
    place_remove(&p);
}

static void a_link_to_nowhere_is_named(void **state) {
    (void)state;
    struct place p;
    place_make(&p);
    hpcw_error err;
    assert_int_equal(symlink("other", p.made), 0);
    assert_int_equal(gen_lease_take(&p.run, "test", &p.lease, &err), HPCW_ENOENT);
    assert_non_null(strstr(err.message, "/made: expected a directory or none, got a symbolic link"));
    assert_int_equal(mkdir(p.other, 0777), 0);
    assert_int_equal(gen_lease_take(&p.run, "test", &p.lease, &err), HPCW_OK);
    gen_lease_end(&p.lease);
    assert_int_equal(access(p.other, F_OK), 0);
    place_remove(&p);
}

static int no_look(enum hpcw_i_sys_call call, size_t *size) {
    (void)size;
    return call == HPCW_I_SYS_STAT ? ENOMEM : 0;
}

static void an_unknown_lease_is_not_lost(void **state) {
    (void)state;
    struct place p;
    place_make(&p);
    struct gen_left left = {0};
    hpcw_error err;
    p.run.left = &left;
    assert_int_equal(gen_lease_take(&p.run, "test", &p.lease, &err), HPCW_OK);
    hpcw_i_sys_gate = no_look;
    assert_int_equal(gen_lease_check(&p.lease, &err), HPCW_ENOMEM);
    assert_non_null(strstr(err.message, "/made/.hpcw/lease: cannot look at the lease of this run: "));
    gen_lease_end(&p.lease);
    hpcw_i_sys_gate = NULL;
    assert_int_equal(left.lease.code, HPCW_ENOMEM);
    assert_non_null(strstr(left.lease.message, "/made/.hpcw/lease: cannot remove the lease of this run: "));

    /* The next run removes the lease. */
    left = (struct gen_left){0};
    assert_int_equal(gen_lease_take(&p.run, "test", &p.lease, &err), HPCW_OK);
    gen_lease_end(&p.lease);
    assert_int_equal(left.lease.code, HPCW_OK);
    char path[600];
    (void)snprintf(path, sizeof path, "%s/.hpcw/lease", p.made);
    assert_int_not_equal(access(path, F_OK), 0);
    place_remove(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_own_directory_goes),
        cmocka_unit_test(a_directory_of_its_name_stays),
        cmocka_unit_test(a_link_to_nowhere_is_named),
        cmocka_unit_test(an_unknown_lease_is_not_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
