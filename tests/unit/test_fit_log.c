/* SPDX-License-Identifier: BSD-3-Clause */
/* What the fit learns from event logs of few ranks and calls, which the generator does not make. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include <hpcw/clog2.h>

#include "gen/fit/log.h"
#include "gen/fit/log_grid.h"
#include "libwriter/base/mem.h"
#include "tests/support/files.h"

enum { RANKS = 2, MOST_RECORDS = 2000 };

/* A log under construction. */
struct log {
    hpcw_clog2_record record[MOST_RECORDS];
    size_t count;
    double now;
};

/* MPI_Isend, MPI_Waitall and MPI_Gather. */
enum { ISEND = HPCW_CLOG2_USER_STATE, WAITALL, GATHER, STATES = 3 };

static void define(struct log *l) {
    static const char *const name[STATES] = {"MPI_Isend", "MPI_Waitall", "MPI_Gather"};
    for (int32_t i = 0; i < STATES; i++) {
        const int32_t state = ISEND + i;
        l->record[l->count++] = (hpcw_clog2_record){
            .kind = HPCW_CLOG2_STATE_DEF, .as.state = {state, 2 * state, 2 * state + 1, "blue", name[i], NULL}};
    }
}

static void event(struct log *l, int32_t rank, int32_t number) {
    l->record[l->count++] =
        (hpcw_clog2_record){.time = l->now, .rank = rank, .kind = HPCW_CLOG2_BARE, .as.event = number};
}

static void message(struct log *l, int32_t rank, int32_t what) {
    l->record[l->count++] = (hpcw_clog2_record){
        .time = l->now, .rank = rank, .kind = HPCW_CLOG2_MESSAGE, .as.message = {what, 0, 1 - rank, 7, 1000}};
}

/* Both ranks call something; a Isend sends, and a Waitall receives. */
static void call(struct log *l, int32_t state) {
    for (int32_t r = 0; r < RANKS; r++) {
        event(l, r, 2 * state);
    }
    for (int32_t r = 0; state != GATHER && r < RANKS; r++) {
        message(l, r, state == ISEND ? HPCW_CLOG2_SEND : HPCW_CLOG2_RECEIVE);
    }
    l->now += 1e-5;
    for (int32_t r = 0; r < RANKS; r++) {
        event(l, r, 2 * state + 1);
    }
}

/* Writes the log and fits it. */
static hpcw_status fit(const struct log *l, struct gen_fit_twin *twin, hpcw_error *err) {
    char dir[256];
    char path[300];
    hpcw_clog2_options options;
    struct gen_fit_facts facts = {0};
    scratch_make(dir, sizeof dir);
    (void)snprintf(path, sizeof path, "%s/app.clog2", dir);
    hpcw_clog2_options_init(&options);
    options.ranks = RANKS;
    options.states = STATES;
    assert_int_equal(hpcw_clog2_write(path, &options, l->record, l->count, NULL), HPCW_OK);
    assert_int_equal(gen_fit_twin_init(twin, NULL), HPCW_OK);
    hpcw_status s = gen_fit_log(path, &facts, twin, err);
    gen_fit_facts_free(&facts);
    scratch_remove(dir);
    return s;
}

static void has_remark(const struct gen_fit_twin *twin, const char *text) {
    bool has = false;
    for (size_t i = 0; i < twin->remarks; i++) {
        has = has || strstr(twin->remark[i], text) != NULL;
    }
    if (!has) {
        fail_msg("no remark on: %s", text);
    }
}

/* Not on the stack: both are large. */
struct fitted {
    struct log log;
    struct gen_fit_twin twin;
    hpcw_error err;
};

static struct fitted *begun(void) {
    struct fitted *f = hpcw_i_calloc(1, sizeof *f);
    assert_non_null(f);
    define(&f->log);
    return f;
}

/* A stencil that gathers its results at the end, and always computes as long. */
static void iterations_of_messages(void **state) {
    (void)state;
    struct fitted *f = begun();
    for (int i = 0; i < 30; i++) {
        f->log.now += 1e-3;
        call(&f->log, ISEND);
        call(&f->log, WAITALL);
    }
    call(&f->log, GATHER);
    assert_int_equal(fit(&f->log, &f->twin, &f->err), HPCW_OK);
    assert_int_equal(f->twin.dataset.load_params.phases, 30);
    assert_int_equal(f->twin.dataset.trace_params.exchanges, 1);
    assert_float_equal(f->twin.dataset.load_params.mean_last_ms, 1, 0.02);
    assert_float_equal(f->twin.dataset.load_params.edge_bytes_mean, 6.908, 0.02);
    has_remark(&f->twin, "the task times of a phase are all the same");
    hpcw_i_free(f);
}

static void one_message(void **state) {
    (void)state;
    struct fitted *f = begun();
    f->log.now += 1e-3;
    call(&f->log, ISEND);
    call(&f->log, WAITALL);
    assert_int_equal(fit(&f->log, &f->twin, &f->err), HPCW_OK);
    assert_int_equal(f->twin.dataset.load_params.phases, 1);
    has_remark(&f->twin, "the whole log is one iteration");
    hpcw_i_free(f);
}

/* No calls of MPI at all. */
static void nothing_recurs(void **state) {
    (void)state;
    struct fitted *f = begun();
    for (int i = 0; i < STATES; i++) {
        f->log.record[i].as.state.name = "Work";
    }
    for (int i = 0; i < 30; i++) {
        call(&f->log, GATHER);
    }
    assert_int_equal(fit(&f->log, &f->twin, &f->err), HPCW_EFORMAT);
    assert_non_null(strstr(f->err.message, "expected calls of MPI that recur on all ranks"));
    hpcw_i_free(f);
}

static void add_pair(struct hpcw_i_table *pair, uint32_t a, uint32_t b) {
    for (int back = 0; back < 2; back++) {
        uint64_t *times =
            hpcw_i_table_add(pair, back ? (const uint64_t[]){b, a} : (const uint64_t[]){a, b}, NULL);
        assert_non_null(times);
        *times = 10;
    }
}

/* Ranks in a row, in a ring, in a sheet and in a box. */
static void grids(void **state) {
    (void)state;
    static const struct gen_fit_log_grid usual = {2, false};
    static const struct {
        uint32_t ranks, side[3]; /* the last one changes fastest */
        struct gen_fit_log_grid grid;
    } rows[] = {
        {2, {2, 1, 1}, {2, false}},  {4, {4, 1, 1}, {1, false}}, {6, {6, 1, 1}, {1, true}},
        {12, {4, 3, 1}, {2, false}}, {12, {4, 3, 1}, {2, true}}, {24, {4, 3, 2}, {3, false}},
        {125, {5, 5, 5}, {3, true}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct hpcw_i_table pair = {.key_words = 2, .value_size = 8, .seed = 1};
        const uint32_t step[3] = {rows[i].side[1] * rows[i].side[2], rows[i].side[2], 1};
        for (uint32_t r = 0; r < rows[i].ranks; r++) {
            for (int d = 0; d < 3; d++) {
                const uint32_t side = rows[i].side[d];
                const uint32_t at = r / step[d] % side;
                if (at + 1 < side) {
                    add_pair(&pair, r, r + step[d]);
                } else if (rows[i].grid.periodic && side > 1) {
                    add_pair(&pair, r, r - at * step[d]);
                }
            }
        }
        const struct gen_fit_log_grid got = gen_fit_log_grid(&pair, rows[i].ranks, 10, usual);
        print_message("row %zu: %u dimensions, %s\n", i, got.dims, got.periodic ? "periodic" : "open");
        assert_int_equal(got.dims, rows[i].grid.dims);
        assert_int_equal(got.periodic, rows[i].grid.periodic);
        hpcw_i_table_free(&pair);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(iterations_of_messages),
        cmocka_unit_test(one_message),
        cmocka_unit_test(nothing_recurs),
        cmocka_unit_test(grids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
