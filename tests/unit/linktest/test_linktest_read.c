/* SPDX-License-Identifier: BSD-3-Clause */
/* <hpcw/linktest_read.h> reads results assembled by hand, and refuses damaged ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "libreader/linktest/public.h"
#include "tests/support/linktest_image.h"
#include "tests/support/linktest_judge.h"

static hpcw_linktest_reader *opened(const struct linktest_image *image) {
    struct read_linktest *r;
    hpcw_linktest_reader *reader = NULL;
    hpcw_error err = {0};
    if (open_linktest(image, &r, &err) != HPCW_OK || read_linktest_publish(r, &reader, &err) != HPCW_OK) {
        fail_msg("not opened: %s", err.message);
    }
    return reader;
}

static void check_rows(hpcw_linktest_reader *reader, const struct linktest_image *image, uint64_t permutation) {
    const hpcw_linktest_info *info = hpcw_linktest_reader_info(reader);
    double time[LINKTEST_IMAGE_TASKS], again[LINKTEST_IMAGE_TASKS], all_to_all;
    uint32_t partner[LINKTEST_IMAGE_TASKS], mark = 4711;
    for (uint32_t rank = 0; rank < info->tasks; rank++) {
        /* A row has one value per step, also in the bisection test. Nothing is written after it. */
        time[info->steps] = -1;
        partner[info->steps] = mark;
        assert_int_equal(hpcw_linktest_reader_row(reader, rank, permutation, time, partner, &all_to_all, NULL),
                         HPCW_OK);
        assert_true(time[info->steps] == -1 && partner[info->steps] == mark);
        for (uint32_t s = 0; s < info->steps; s++) {
            assert_int_equal(partner[s], linktest_image_partner(&image->spec, rank, s, permutation));
            assert_true(time[s] == linktest_image_time(rank, partner[s], permutation));
        }
        assert_true((all_to_all > 0) == info->all_to_all);
        assert_int_equal(hpcw_linktest_reader_row(reader, rank, permutation, again, NULL, NULL, NULL), HPCW_OK);
        assert_memory_equal(again, time, info->steps * sizeof *time);
    }
}

/* Reads the rows from rank 1 on. A row has the times to all partners of its task, and NaN elsewhere. */
static void check_matrix(hpcw_linktest_reader *reader, const struct linktest_image *image,
                         uint64_t permutation) {
    const uint32_t tasks = hpcw_linktest_reader_info(reader)->tasks;
    double got[LINKTEST_IMAGE_TASKS * LINKTEST_IMAGE_TASKS];
    assert_int_equal(hpcw_linktest_reader_matrix(reader, permutation, 1, tasks - 1, got, NULL), HPCW_OK);
    for (uint32_t rank = 1; rank < tasks; rank++) {
        double expected[LINKTEST_IMAGE_TASKS];
        for (uint32_t k = 0; k < tasks; k++) {
            expected[k] = NAN;
        }
        for (uint32_t s = 0; s < hpcw_linktest_reader_info(reader)->steps; s++) {
            const uint32_t partner = linktest_image_partner(&image->spec, rank, s, permutation);
            expected[partner] = linktest_image_time(rank, partner, permutation);
        }
        for (uint32_t k = 0; k < tasks; k++) {
            const double time = got[(rank - 1) * tasks + k];
            assert_true(time == expected[k] || (isnan(time) && isnan(expected[k])));
        }
    }
}

static void every_kind_of_result(void **state) {
    (void)state;
    for (unsigned i = 0; i < LINKTEST_SPECS; i++) {
        const struct linktest_image_spec *spec = linktest_specs[i];
        struct linktest_image image = linktest_image_make(spec);
        hpcw_linktest_reader *reader = opened(&image);
        const hpcw_linktest_info *info = hpcw_linktest_reader_info(reader);
        struct read_linktest *below;
        assert_int_equal(open_linktest(&image, &below, NULL), HPCW_OK);
        for (uint32_t rank = 0; rank < info->tasks; rank++) {
            char host[HPCW_LINKTEST_READER_HOST_SIZE], expected[READ_LINKTEST_MOST_HOST];
            int32_t core, expected_core;
            assert_int_equal(hpcw_linktest_reader_host(reader, rank, host, &core, NULL), HPCW_OK);
            assert_int_equal(read_linktest_host(below, rank, expected, &expected_core, NULL), HPCW_OK);
            assert_string_equal(host, expected);
            assert_int_equal(core, expected_core);
        }
        for (uint64_t p = 0; p < info->permutations; p++) {
            check_rows(reader, &image, p);
            check_matrix(reader, &image, p);
            hpcw_linktest_totals totals;
            struct read_linktest_summary summary;
            assert_int_equal(hpcw_linktest_reader_totals(reader, p, &totals, NULL), HPCW_OK);
            assert_int_equal(read_linktest_summary(below, p, &summary, NULL), HPCW_OK);
            assert_string_equal(totals.start, summary.start);
            assert_string_equal(totals.end, summary.end);
            assert_true(totals.min_s == summary.min && totals.avg_s == summary.avg &&
                        totals.max_s == summary.max && totals.all_to_all_min_s == summary.all_to_all_min &&
                        totals.all_to_all_avg_s == summary.all_to_all_avg &&
                        totals.all_to_all_max_s == summary.all_to_all_max);
            hpcw_linktest_connection slow[LINKTEST_IMAGE_TASKS];
            assert_int_equal(hpcw_linktest_reader_slowest(reader, p, 0, (size_t)info->retests, slow, NULL),
                             HPCW_OK);
            for (uint64_t k = 0; k < info->retests; k++) {
                assert_true(slow[k].time_s == linktest_image_time(slow[k].from, slow[k].to, p));
            }
        }
        read_linktest_free(below);
        hpcw_linktest_reader_free(reader);
        linktest_image_free(&image);
    }
}

/* The reader refuses a row with damage that verify would report. */
static void damaged_rows(void **state) {
    (void)state;
    struct linktest_image image = linktest_image_make(&linktest_plain);
    uint32_t tasks = linktest_plain.tasks;
    size_t at = linktest_image_data(&image, 3, 0);
    double time[LINKTEST_IMAGE_TASKS];
    uint32_t partner[LINKTEST_IMAGE_TASKS];
    hpcw_error err;
    const struct {
        size_t offset;
        uint64_t value;
        const char *text;
    } cases[] = {
        {at, 0, "timing: expected a finite number > 0, got 0"},
        {at + 8, linktest_image_bits(-1.5), "timing: expected a finite number > 0, got -1.5"},
        {at + 16, linktest_image_bits(INFINITY), "timing: expected a finite number > 0, got inf"},
        {at + 8 * (tasks - 1), 3, "partner: expected another rank below 6, got 3"},
        {at + 8 * tasks, 6, "partner: expected another rank below 6, got 6"},
        {at + 8 * tasks, UINT64_MAX, "partner: expected another rank below 6, got 18446744073709551615"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t before = linktest_image_get(&image, 3, cases[i].offset);
        linktest_image_put(&image, 3, cases[i].offset, cases[i].value);
        hpcw_linktest_reader *reader = opened(&image);
        assert_int_equal(hpcw_linktest_reader_row(reader, 2, 0, time, partner, NULL, &err), HPCW_OK);
        assert_int_equal(hpcw_linktest_reader_row(reader, 3, 0, time, partner, NULL, &err), HPCW_EFORMAT);
        assert_non_null(strstr(err.message, cases[i].text));
        hpcw_linktest_reader_free(reader);
        linktest_image_put(&image, 3, cases[i].offset, before);
    }
    linktest_image_free(&image);
}

/* The reader refuses a damaged slow list. A list has four arrays: retested times, original times, ranks,
 * partners. */
static void damaged_lists(void **state) {
    (void)state;
    struct linktest_image image = linktest_image_make(&linktest_plain);
    size_t d = (size_t)linktest_plain.retests, list = image.summary + 32 + 24;
    static const char
        entry[] = "slow list of permutation 0, entry 0: expected times > 0 and two of 6 ranks",
        order[] = "slow list of permutation 0, entry 1: expected at most 9.0949470177292824e-13, slowest first";
    const struct {
        size_t offset;
        uint64_t value;
        const char *text;
    } cases[] = {
        {list, linktest_image_bits(NAN), entry},
        {list, linktest_image_bits(-1), entry},
        {list + 8 * d, linktest_image_bits(NAN), entry},
        {list + 8 * d, linktest_image_bits(0x1p-40), order},
        {list + 16 * d, linktest_plain.tasks, entry},
        {list + 24 * d, UINT64_MAX, entry},
        {list + 24 * d, linktest_image_get(&image, 0, list + 16 * d), entry},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t before = linktest_image_get(&image, 0, cases[i].offset);
        linktest_image_put(&image, 0, cases[i].offset, cases[i].value);
        hpcw_linktest_reader *reader = opened(&image);
        hpcw_linktest_connection slow[3];
        hpcw_error err;
        assert_int_equal(hpcw_linktest_reader_slowest(reader, 0, 0, 2, slow, &err), HPCW_EFORMAT);
        assert_non_null(strstr(err.message, cases[i].text));
        assert_int_equal(hpcw_linktest_reader_slowest(reader, 0, 1, 1, slow, &err), HPCW_EFORMAT);
        assert_int_equal(hpcw_linktest_reader_slowest(reader, 0, 2, d - 2, slow, &err), HPCW_OK);
        hpcw_linktest_reader_free(reader);
        linktest_image_put(&image, 0, cases[i].offset, before);
    }
    linktest_image_free(&image);
}

/* The reader refuses a damaged summary. A summary has a start time, three figures, and an end time. */
static void damaged_summaries(void **state) {
    (void)state;
    struct linktest_image image = linktest_image_make(&linktest_plain);
    size_t end = image.summary + image.summary_size - 32;
    const struct {
        size_t offset;
        uint64_t value;
        const char *text;
    } cases[] = {
        {image.summary, 0, "expected texts and zeros, 32 bytes each, got \"\" and \"20"},
        {end + 24, 1, "expected texts and zeros"},
        {image.summary + 32, linktest_image_bits(NAN), "summary of permutation 0: expected finite numbers > 0"},
        {image.summary + 40, linktest_image_bits(INFINITY), "expected finite numbers > 0, got inf"},
        {image.summary + 48, 0, "expected finite numbers > 0, got 0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t before = linktest_image_get(&image, 0, cases[i].offset);
        linktest_image_put(&image, 0, cases[i].offset, cases[i].value);
        hpcw_linktest_reader *reader = opened(&image);
        hpcw_linktest_totals totals;
        hpcw_error err;
        assert_int_equal(hpcw_linktest_reader_totals(reader, 0, &totals, &err), HPCW_EFORMAT);
        assert_non_null(strstr(err.message, cases[i].text));
        hpcw_linktest_reader_free(reader);
        linktest_image_put(&image, 0, cases[i].offset, before);
    }
    linktest_image_free(&image);
}

/* The reader refuses a damaged host name or core number. The bytes are: length, name with NUL ("node01"), core. */
static void damaged_hosts(void **state) {
    (void)state;
    for (unsigned k = 0; k < 3; k++) {
        struct linktest_image image = linktest_image_make(&linktest_plain);
        size_t core_at = linktest_image_data(&image, 1, 0) - 4;
        *linktest_image_byte(&image, 1, k < 2 ? 4 + k : core_at + 3) = k == 0 ? '\n' : k == 1 ? 0xe9 : 0x80;
        static const char *const text[] = {"host name: expected printable ASCII, got 0a",
                                           "host name: expected printable ASCII, got e9",
                                           "core number: expected >= 0, got -"};
        hpcw_linktest_reader *reader = opened(&image);
        char host[HPCW_LINKTEST_READER_HOST_SIZE];
        int32_t core;
        hpcw_error err;
        assert_int_equal(hpcw_linktest_reader_host(reader, 0, host, &core, &err), HPCW_OK);
        assert_int_equal(hpcw_linktest_reader_host(reader, 1, host, &core, &err), HPCW_EFORMAT);
        assert_non_null(strstr(err.message, text[k]));
        hpcw_linktest_reader_free(reader);
        linktest_image_free(&image);
    }
}

static void bad_arguments(void **state) {
    (void)state;
    struct linktest_image image = linktest_image_make(&linktest_plain);
    hpcw_linktest_reader *reader = opened(&image), *none = reader;
    char host[HPCW_LINKTEST_READER_HOST_SIZE];
    int32_t core;
    hpcw_linktest_totals totals;
    double time[36];
    hpcw_linktest_connection slow[5];
    assert_int_equal(hpcw_linktest_reader_open(NULL, &none, NULL), HPCW_EINVAL);
    assert_null(none);
    assert_int_equal(hpcw_linktest_reader_open("x.sion", NULL, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_linktest_reader_open("/nowhere/x.sion", &none, NULL), HPCW_ENOENT);
    assert_int_equal(hpcw_linktest_reader_host(reader, 6, host, &core, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_linktest_reader_host(reader, 0, NULL, &core, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_linktest_reader_host(NULL, 0, host, &core, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_linktest_reader_row(reader, 6, 0, NULL, NULL, NULL, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_linktest_reader_row(reader, 0, 1, NULL, NULL, NULL, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_linktest_reader_matrix(reader, 0, 0, 6, NULL, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_linktest_reader_matrix(reader, 1, 0, 6, time, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_linktest_reader_matrix(reader, 0, 1, 6, time, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_linktest_reader_totals(reader, 1, &totals, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_linktest_reader_totals(reader, 0, NULL, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_linktest_reader_slowest(reader, 0, 3, 2, slow, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_linktest_reader_slowest(reader, 0, UINT64_MAX, 2, slow, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_linktest_reader_slowest(reader, 0, 4, 0, NULL, NULL), HPCW_OK);
    assert_null(hpcw_linktest_reader_info(NULL));
    hpcw_linktest_reader_free(reader);
    hpcw_linktest_reader_free(NULL);
    linktest_image_free(&image);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_result), cmocka_unit_test(damaged_rows),
        cmocka_unit_test(damaged_lists),        cmocka_unit_test(damaged_summaries),
        cmocka_unit_test(damaged_hosts),        cmocka_unit_test(bad_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
