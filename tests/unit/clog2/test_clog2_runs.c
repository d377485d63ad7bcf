/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the merge of sorted runs of records with a plain sort. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libwriter/format/clog2/merge/runs.h"
#include "tests/support/faults.h"
#include "tests/support/random.h"

enum { MOST_RUNS = 40, RECORDS = 3000, SPARE = 64 };

struct record {
    uint64_t time;
    uint32_t run, number; /* number of the run, and position in it */
    const unsigned char *bytes;
};

struct input {
    unsigned char *data[MOST_RUNS];
    size_t size[MOST_RUNS];
    struct record *record; /* [records] all records in the order of the merge */
    size_t records, bytes, runs;
};

/* Distribution of times over the runs. */
enum pattern { MIXED, TURNS, TIES, SAME, PATTERNS };

static double step_of(enum pattern pattern, uint64_t *state, uint32_t run, uint32_t number) {
    switch (pattern) {
    case MIXED:
        return 1 + (double)random_below(state, 1000);
    case TURNS: /* for 500 records, the merge alternates between two runs */
        return number % 500 == 0 ? 1e6 * (double)(1 + (run / 2 + random_below(state, 2)) % 5) : 1;
    case TIES:
        return (double)random_below(state, 2);
    case SAME:
    default:
        return 0;
    }
}

static int by_order(const void *a_, const void *b_) {
    const struct record *a = a_, *b = b_;
    if (a->time != b->time) {
        return a->time < b->time ? -1 : 1;
    }
    if (a->run != b->run) {
        return a->run < b->run ? -1 : 1;
    }
    return (a->number > b->number) - (a->number < b->number);
}

static void make_input(struct input *in, uint64_t *state, size_t runs, enum pattern pattern) {
    static const unsigned char kinds[] = {HPCW_CLOG2_BARE,    HPCW_CLOG2_BARE,       HPCW_CLOG2_BARE,
                                          HPCW_CLOG2_MESSAGE, HPCW_CLOG2_WITH_CARGO, HPCW_CLOG2_STATE_DEF};
    *in = (struct input){.runs = runs};
    in->record = calloc(runs * RECORDS, sizeof *in->record);
    assert_non_null(in->record);
    for (uint32_t i = 0; i < runs; i++) {
        size_t count = random_below(state, 5) == 0 ? 0 : 1 + (size_t)random_below(state, RECORDS);
        in->data[i] = malloc((count + 1) * HPCW_I_CLOG2_MAX_RECORD);
        assert_non_null(in->data[i]);
        double time = 1 + (double)random_below(state, 3);
        for (uint32_t k = 0; k < count; k++) {
            unsigned char *p = in->data[i] + in->size[i];
            int32_t kind = kinds[random_below(state, sizeof kinds)];
            uint32_t size = hpcw_i_clog2_size(kind);
            time += step_of(pattern, state, i, k);
            memset(p, (int)(random_word(state) & 255), size);
            hpcw_i_clog2_put_head(p, time, (int32_t)i, (int32_t)k, 0, kind);
            in->record[in->records++] = (struct record){hpcw_i_clog2_time_at(p), i, k, p};
            in->size[i] += size;
            in->bytes += size;
        }
    }
    qsort(in->record, in->records, sizeof *in->record, by_order);
}

static void free_input(struct input *in) {
    for (size_t i = 0; i < in->runs; i++) {
        free(in->data[i]);
    }
    free(in->record);
}

/* Skips some records and merges the others, in portions that end when memory is full or the records end. */
static void check_merge(const struct input *in, struct hpcw_i_clog2_runs *runs, uint64_t *state) {
    for (size_t i = 0; i < in->runs; i++) {
        hpcw_i_clog2_runs_set(runs, i, in->data[i], in->data[i] + in->size[i]);
    }
    hpcw_i_clog2_runs_begin(runs);
    size_t at = in->records == 0 ? 0 : (size_t)random_below(state, in->records + 1);
    hpcw_i_clog2_runs_skip(runs, at);
    unsigned char *room = malloc(in->bytes + SPARE);
    assert_non_null(room);
    while (at < in->records) {
        assert_true(hpcw_i_clog2_runs_time(runs) == in->record[at].time);
        assert_int_equal(hpcw_i_clog2_runs_size(runs), hpcw_i_clog2_size_at(in->record[at].bytes));
        size_t most = 1 + (size_t)random_below(state, 1500);
        most = most < in->records - at ? most : in->records - at;
        size_t size = (size_t)random_below(state, random_below(state, 2) == 0 ? 200 : in->bytes + 1);
        memset(room, 0xee, size + SPARE);
        size_t number = most, used = hpcw_i_clog2_runs_take(runs, room, size, &number), check = 0;
        assert_true(number <= most && used <= size);
        for (size_t k = 0; k < number; k++, at++) {
            uint32_t bytes = hpcw_i_clog2_size_at(in->record[at].bytes);
            assert_memory_equal(room + check, in->record[at].bytes, bytes);
            check += bytes;
        }
        assert_int_equal(used, check);
        /* A merge ends at its record limit or before a record that does not fit, and writes nothing beyond its
         * memory. */
        assert_true(number == most || used + hpcw_i_clog2_size_at(in->record[at].bytes) > size);
        for (size_t k = 0; k < SPARE; k++) {
            assert_int_equal(room[size + k], 0xee);
        }
    }
    assert_true(hpcw_i_clog2_runs_time(runs) == HPCW_I_CLOG2_NEVER);
    free(room);
}

static void runs_come_in_order(void **unused) {
    (void)unused;
    static const size_t counts[] = {1, 2, 3, 5, 8, 17, MOST_RUNS};
    uint64_t state = 2;
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        struct hpcw_i_clog2_runs runs;
        assert_true(hpcw_i_clog2_runs_make(&runs, counts[c]));
        for (enum pattern pattern = MIXED; pattern < PATTERNS; pattern++) {
            struct input in;
            make_input(&in, &state, counts[c], pattern);
            check_merge(&in, &runs, &state);
            free_input(&in);
        }
        hpcw_i_clog2_runs_free(&runs);
    }
}

static void no_memory_is_told(void **unused) {
    (void)unused;
    bool failed = true;
    unsigned long n = 0;
    while (failed) {
        struct hpcw_i_clog2_runs runs;
        fault_arm(FAULT_NOMEM, ++n);
        bool made = hpcw_i_clog2_runs_make(&runs, 8);
        failed = fault_disarm();
        assert_true(made == !failed);
        hpcw_i_clog2_runs_free(&runs);
    }
    assert_true(n > 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_come_in_order),
        cmocka_unit_test(no_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
