/* SPDX-License-Identifier: BSD-3-Clause */
/* If an allocation fails, a fit fails or gives the same result as with enough memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hpcw/clog2.h>

#include "gen/dataset/generate.h"
#include "gen/fit/loads/loads.h"
#include "gen/fit/log/text/text.h"
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
    d.load_params.setup.own = false;
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

/* Returns the configuration from a fit in which allocation `n` fails; 0: none fails. */
static hpcw_status fit(unsigned long n, struct hpcw_i_buf *text, bool *met, hpcw_error *err) {
    static struct gen_fit_twin twin;
    struct gen_fit_facts facts = {0};
    char path[300];
    (void)snprintf(path, sizeof path, "%s/vom", dir);
    fault_arm(FAULT_NOMEM, n);
    hpcw_status s = gen_fit_twin_init(&twin, err);
    s = s == HPCW_OK ? gen_fit_vom(path, &facts, &twin, err) : s;
    s = s == HPCW_OK ? gen_fit_twin_print(&twin, "", text, err) : s;
    *met = fault_disarm();
    gen_fit_facts_free(&facts);
    return s;
}

static void too_little_memory(void **state) {
    (void)state;
    enum { MOST = 300 }; /* later allocations are for other seeds and repeat those of the first seed */
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

/* Makes a log of two ranks that exchange messages of three sizes and call a collective. */
static void make_log(char *path, size_t size) {
    hpcw_clog2_options o;
    hpcw_clog2_options_init(&o);
    o.ranks = 2;
    o.states = 3;
    hpcw_clog2_record record[200];
    size_t n = 0;
    static const char *const name[] = {"MPI_Send", "MPI_Recv", "MPI_Barrier"};
    for (int i = 0; i < 3; i++) {
        const int32_t state = HPCW_CLOG2_USER_STATE + i;
        record[n++] = (hpcw_clog2_record){
            .kind = HPCW_CLOG2_STATE_DEF,
            .as.state = {
                .state = state, .start = 2 * state, .end = 2 * state + 1, .colour = "red", .name = name[i]}};
    }
    double time = 0.001;
    for (int turn = 0; turn < 9; turn++) {
        for (int call = 0; call < 2; call++) {
            for (int part = 0; part < 3; part++) {
                for (int32_t rank = 0; rank < 2; rank++) {
                    const int kind = call == 1 ? 2 : rank;
                    const int32_t event = 2 * (HPCW_CLOG2_USER_STATE + kind) + (part == 2);
                    time += 0.0001;
                    if (part != 1) {
                        record[n++] = (hpcw_clog2_record){
                            .time = time, .rank = rank, .kind = HPCW_CLOG2_BARE, .as.event = event};
                    } else if (call == 0) {
                        record[n++] =
                            (hpcw_clog2_record){.time = time,
                                                .rank = rank,
                                                .kind = HPCW_CLOG2_MESSAGE,
                                                .as.message = {rank == 0 ? HPCW_CLOG2_SEND : HPCW_CLOG2_RECEIVE,
                                                               0, 1 - rank, 0, 8 << turn % 3}};
                    }
                }
            }
        }
    }
    (void)snprintf(path, size, "%s/two.clog2", dir);
    hpcw_error err;
    if (hpcw_clog2_write(path, &o, record, n, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
}

static hpcw_status fit_log(const char *path, unsigned long n, struct hpcw_i_buf *text, bool *met,
                           hpcw_error *err) {
    struct fit_program program;
    size_t lines;
    fault_arm(FAULT_NOMEM, n);
    hpcw_status s = fit_program_read(path, &program, err);
    s = s == HPCW_OK ? fit_program_fold(&program, 0, err) : s;
    s = s == HPCW_OK ? fit_program_fold(&program, 4, err) : s;
    s = s == HPCW_OK ? fit_text_write(&program, NULL, text, &lines, err) : s;
    *met = fault_disarm();
    fit_program_free(&program);
    return s;
}

static void too_little_memory_for_a_log(void **state) {
    (void)state;
    struct hpcw_i_buf sound = {0};
    hpcw_error err = {.message = ""};
    char path[300];
    bool met;
    unsigned long n = 0;
    scratch_make(dir, sizeof dir);
    make_log(path, sizeof path);
    if (fit_log(path, 0, &sound, &met, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    do {
        struct hpcw_i_buf text = {0};
        const hpcw_status s = fit_log(path, ++n, &text, &met, &err);
        if (s != HPCW_OK && s != HPCW_ENOMEM) {
            fail_msg("allocation %lu: status %d, %s", n, (int)s, err.message);
        }
        if (s == HPCW_OK && (text.size != sound.size || memcmp(text.data, sound.data, sound.size) != 0)) {
            fail_msg("allocation %lu: another text: %.*s", n, (int)text.size, (const char *)text.data);
        }
        hpcw_i_buf_free(&text);
    } while (met);
    hpcw_i_buf_free(&sound);
    scratch_remove(dir);
}

/* A small log that claims many ranks must not allocate memory for them. */
static void many_ranks(void **state) {
    static const char key[] = "max_comm_world_size=", claimed[] = "999999999";
    enum { PREAMBLE = 1024 };
    (void)state;
    char path[300], preamble[PREAMBLE];
    scratch_make(dir, sizeof dir);
    make_log(path, sizeof path);
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fread(preamble, 1, PREAMBLE, file), PREAMBLE);
    char *at = preamble;
    while (memcmp(at, key, sizeof key) != 0) {
        at++;
    }
    at += sizeof key; /* the key and its NUL precede the number "2" */
    memmove(at + strlen(claimed), at + 1, (size_t)(preamble + PREAMBLE - at) - strlen(claimed));
    memcpy(at, claimed, strlen(claimed));
    assert_int_equal(fseek(file, 0, SEEK_SET), 0);
    assert_int_equal(fwrite(preamble, 1, PREAMBLE, file), PREAMBLE);
    assert_int_equal(fclose(file), 0);
    struct fit_program program;
    hpcw_error err;
    assert_int_equal(fit_program_read(path, &program, &err), HPCW_EFORMAT);
    assert_non_null(strstr(err.message, "expected records of each rank, got 999999999 ranks in "));
    fit_program_free(&program);
    scratch_remove(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(too_little_memory),
                                       cmocka_unit_test(too_little_memory_for_a_log),
                                       cmocka_unit_test(many_ranks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
