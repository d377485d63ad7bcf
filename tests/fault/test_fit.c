/* SPDX-License-Identifier: BSD-3-Clause */
/* A fit without enough memory says so: it never learns something else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gen/dataset/generate.h"
#include "gen/fit/loads/loads.h"
#include "gen/format/format.h"
#include "tests/support/faults.h"
#include "tests/support/files.h"

static char dir[256];

static void make_loads(void) {
    struct gen_dataset d;
    struct gen_outcome outcome;
    hpcw_error err;
    assert_int_equal(gen_dataset_init(&d, "dfplus-hdr200", GEN_SCALE_TINY, NULL), HPCW_OK);
    d.ranks = 4;
    d.formats = UINT64_C(1) << GEN_FORMAT_VOM;
    d.load_params.phases = 2;
    d.load_params.setup = false;
    scratch_make(dir, sizeof dir);
    struct gen_run run = {.dataset = &d,
                          .directory = dir,
                          .comm = hpcw_i_comm_or_self(NULL),
                          .jobs = 1,
                          .parts = 1,
                          .durability = HPCW_SYNC_NONE};
    if (gen_dataset_build(&d, &err) != HPCW_OK || gen_generate(&run, &outcome, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    gen_dataset_free(&d);
}

/* The configuration that a fit gives, while allocation `n` fails; 0: none does. */
static hpcw_status fit(unsigned long n, struct hpcw_i_buf *text, bool *met, hpcw_error *err) {
    static struct gen_fit_twin twin;
    struct gen_fit_facts facts = {0};
    char path[300];
    (void)snprintf(path, sizeof path, "%s/vom", dir);
    fault_arm(FAULT_NOMEM, n);
    hpcw_status s = gen_fit_twin_init(&twin, err);
    s = s == HPCW_OK ? gen_fit_vom(path, &facts, &twin, err) : s;
    s = s == HPCW_OK ? gen_fit_twin_print(&twin, text, err) : s;
    *met = fault_disarm();
    gen_fit_facts_free(&facts);
    return s;
}

static void too_little_memory(void **state) {
    (void)state;
    enum { MOST = 300 }; /* after these, one seed after another needs what the first did */
    struct hpcw_i_buf sound = {0};
    hpcw_error err = {.message = ""};
    bool met;
    unsigned long n = 0;
    make_loads();
    assert_int_equal(fit(0, &sound, &met, &err), HPCW_OK);
    do {
        struct hpcw_i_buf text = {0};
        const hpcw_status s = fit(++n, &text, &met, &err);
        if (s != HPCW_OK && s != HPCW_ENOMEM) {
            fail_msg("allocation %lu: status %d, %s", n, (int)s, err.message);
        }
        if (s == HPCW_OK && (text.size != sound.size || memcmp(text.data, sound.data, sound.size) != 0)) {
            fail_msg("allocation %lu: another configuration: %.*s", n, (int)text.size, (const char *)text.data);
        }
        hpcw_i_buf_free(&text);
    } while (n < MOST);
    assert_true(met);
    hpcw_i_buf_free(&sound);
    scratch_remove(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(too_little_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
