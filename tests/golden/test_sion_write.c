/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls that made the real library's files give the same bytes with our library. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hpcw/hpcw.h>

#include "tests/support/files.h"
#include "tests/support/sion_cases.h"

static void write_case(const struct sion_case *c, const char *path) {
    uint64_t sizes[64];
    hpcw_error err;
    hpcw_sion *h;
    for (uint32_t t = 0; t < c->tasks; t++) {
        sizes[t] = c->chunk[t % 8];
    }
    hpcw_sion_options o = sion_case_options(c, c->tasks, NULL, sizes);
    if (hpcw_sion_open(path, NULL, &o, &h, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    for (uint32_t t = c->tasks; t-- > 0;) { /* the order of writes must not matter */
        if (c->write(h, t, &err) != HPCW_OK) {
            fail_msg("%s", err.message);
        }
    }
    if (hpcw_sion_close(h, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    hpcw_sion_free(h);
}

static void golden_files(void **state) {
    (void)state;
    char dir[256];
    char path[512];
    if (golden_path("", path, sizeof path) == NULL) {
        skip();
    }
    scratch_make(dir, sizeof dir);
    unsigned compared = 0;
    bool same = true;
    for (unsigned i = 0; i < sion_case_count; i++) {
        const struct sion_case *c = &sion_cases[i];
        if (c->golden == NULL || c->by_parity) {
            continue; /* a file per colour needs several processes: tests/mpi/test_sion.c */
        }
        (void)snprintf(path, sizeof path, "%s/%s", dir, c->name);
        write_case(c, path);
        for (uint32_t f = 0; f < c->files; f++) {
            char name[128];
            char golden[512];
            char suffix[16] = "";
            if (f > 0) {
                (void)snprintf(suffix, sizeof suffix, ".%06u", f);
            }
            (void)snprintf(name, sizeof name, "sion/%s%s", c->golden, suffix);
            (void)snprintf(path, sizeof path, "%s/%s%s", dir, c->name, suffix);
            size_t want_size;
            size_t got_size;
            unsigned char *want = read_file(golden_path(name, golden, sizeof golden), &want_size);
            unsigned char *got = read_file(path, &got_size);
            assert_non_null(want);
            assert_non_null(got);
            same = same_bytes(name, want, want_size, got, got_size) && same;
            free(want);
            free(got);
            compared++;
        }
    }
    scratch_remove(dir);
    assert_true(same);
    assert_int_equal(compared, 15);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(golden_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
