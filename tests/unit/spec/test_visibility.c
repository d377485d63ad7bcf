/* SPDX-License-Identifier: BSD-3-Clause */
/* Visibility of a fault: values computed by hand, and cases in which it is unknown. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gen/format/format.h"
#include "gen/format/vom.h"
#include "gen/spec/dataset.h"
#include "gen/spec/visibility.h"
#include "libwriter/base/buf.h"
#include "libwriter/base/mem.h"

static void test_by_hand(void **state) {
    (void)state;
    /* The peers are 1 .. 9: median 5, distances 0 1 1 2 2 3 3 4 4 with the median 2. */
    double value[] = {9, 1, 8, 2, 100, 7, 3, 6, 4, 5};
    const double sd = gen_visibility_sd(value, 10, 4);
    assert_true(fabs(sd - 95 / (1.4826 * 2)) < 1e-12);
}

static void test_a_second_fault_among_the_peers_changes_little(void **state) {
    (void)state;
    double value[] = {1e9, 1, 8, 2, 100, 7, 3, 6, 4, 5};
    assert_true(fabs(gen_visibility_sd(value, 10, 4) - 95 / (1.4826 * 2)) < 1e-12);
}

static void test_nobody_can_tell(void **state) {
    (void)state;
    double few[] = {1, 2, 3, 4, 5, 6, 7, 100};
    double equal[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 100};
    double unknown[] = {1, 2, 3, 4, 5, 6, 7, 8, NAN, 100};
    double itself[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, NAN};
    assert_true(isnan(gen_visibility_sd(few, 8, 7)));
    assert_true(isnan(gen_visibility_sd(equal, 10, 9)));
    assert_true(gen_visibility_sd(unknown, 10, 9) > 5);
    assert_true(isnan(gen_visibility_sd(itself, 10, 9)));
}

/* The definition: the other values are sorted for each of the values. */
static double sd_of(const double *value, size_t count, size_t at) {
    double others[64];
    double middle, sd;
    size_t peers = 0;
    for (size_t i = 0; i < count; i++) {
        if (i != at && !isnan(value[i])) {
            others[peers++] = value[i];
        }
    }
    gen_visibility_spread(others, peers, &middle, &sd);
    return fabs(value[at] - middle) / sd;
}

/* All values of a set, sorted once, have the same distances to the bit. Many are equal in every second set. */
static void test_sorted_once(void **state) {
    (void)state;
    uint64_t x = 1;
    for (size_t set = 0; set < 2000; set++) {
        double value[64], sorted[64];
        const size_t count = 1 + set % 64;
        for (size_t i = 0; i < count; i++) {
            x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
            value[i] = set % 2 == 0 ? (double)(x >> 33) / 1e9 : (double)(x >> 60);
            value[i] = x >> 33 & 16 ? -value[i] : value[i];
            value[i] = set % 3 == 0 && i % 7 == 0 ? NAN : value[i];
        }
        memcpy(sorted, value, sizeof sorted);
        const size_t known = gen_visibility_sort(sorted, count);
        for (size_t i = 0; i < count; i++) {
            const double expected = sd_of(value, count, i);
            const double sd = gen_visibility_sd_of(sorted, known, value[i]);
            assert_true(isnan(expected) ? isnan(sd) : sd == expected);
        }
    }
}

static size_t ranks;         /* number of values of a sort that is counted, or one less; 0: none */
static unsigned long sorted; /* such sorts */

/* Takes the place of libc's function, in this program only. Sorts by insertion. */
void qsort(void *base, size_t nmemb, size_t size, int (*compar)(const void *, const void *)) {
    unsigned char item[64];
    unsigned char *at = base;
    assert_true(size <= sizeof item);
    sorted += ranks > 0 && (nmemb == ranks || nmemb + 1 == ranks);
    for (size_t i = 1; i < nmemb; i++) {
        size_t k = i;
        memcpy(item, at + i * size, size);
        for (; k > 0 && compar(at + (k - 1) * size, item) > 0; k--) {
            memcpy(at + k * size, at + (k - 1) * size, size);
        }
        memcpy(at + k * size, item, size);
    }
}

/* The loads of all ranks are sorted once for each phase of a scenario, however many ranks it overloads. */
static void test_a_scenario_sorts_once_a_phase(void **state) {
    (void)state;
    struct gen_dataset d;
    struct hpcw_i_buf buf = {0};
    struct hpcw_i_json json;
    assert_int_equal(gen_dataset_init(&d, "dfplus-hdr200", GEN_SCALE_TINY, NULL), HPCW_OK);
    d.ranks = 256;
    for (size_t f = 0; f < gen_format_count; f++) {
        d.formats |= (uint64_t)(strcmp(gen_format[f]->name, "vom") == 0) << f;
    }
    d.load_params.scenario.kind = MODEL_SCENARIO_HOTSPOT;
    assert_int_equal(gen_dataset_build(&d, NULL), HPCW_OK);
    const uint32_t phases = d.load.params.phases;
    struct gen_load_tally *tally = calloc(phases, sizeof *tally);
    assert_non_null(tally);
    assert_int_equal(gen_tally_phases(&d.load, 1, tally, NULL), HPCW_OK);
    hpcw_i_json_open_buf(&json, &buf, NULL);
    hpcw_i_json_begin_object(&json);
    ranks = d.ranks;
    assert_int_equal(gen_vom_put_scenario(&d, tally, &json, NULL), HPCW_OK);
    ranks = 0;
    hpcw_i_json_end_object(&json);
    assert_int_equal(hpcw_i_json_finish(&json, NULL), HPCW_OK);
    assert_true(hpcw_i_buf_append(&buf, "", 1));
    uint32_t overloaded = 0;
    for (const char *p = (const char *)buf.data; (p = strstr(p, "\"overloaded\"")) != NULL; p++) {
        overloaded++;
    }
    assert_true(overloaded > phases);
    assert_in_range(sorted, 1, phases);
    hpcw_i_buf_free(&buf);
    free(tally);
    gen_dataset_free(&d);
}

static void test_elements(void **state) {
    (void)state;
    struct hpcw_i_buf buf = {0};
    struct hpcw_i_json json;
    hpcw_i_json_open_buf(&json, &buf, NULL);
    hpcw_i_json_begin_array(&json);
    gen_visibility_put(&json, "vom", "vom/data.0.json", 12.345);
    gen_visibility_put(&json, "vom", "vom/data.1.json", NAN);
    gen_visibility_put_certain(&json, "rank2file", "scr/a",
                               (const char *const[]){"SCR 3.1.0", "accepts", NULL});
    hpcw_i_json_end_array(&json);
    assert_int_equal(hpcw_i_json_finish(&json, NULL), HPCW_OK);
    static const char expected[] = "[{\"format\":\"vom\",\"file\":\"vom/data.0.json\",\"sd\":12.3},"
                                   "{\"format\":\"vom\",\"file\":\"vom/data.1.json\",\"sd\":null},"
                                   "{\"format\":\"rank2file\",\"file\":\"scr/a\",\"certain\":true,"
                                   "\"readers\":{\"SCR 3.1.0\":\"accepts\"}}]";
    assert_int_equal(buf.size, sizeof expected - 1);
    assert_memory_equal(buf.data, expected, buf.size);
    hpcw_i_buf_free(&buf);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_a_second_fault_among_the_peers_changes_little),
        cmocka_unit_test(test_nobody_can_tell),
        cmocka_unit_test(test_sorted_once),
        cmocka_unit_test(test_a_scenario_sorts_once_a_phase),
        cmocka_unit_test(test_elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
