/* SPDX-License-Identifier: BSD-3-Clause */
/* `hpcgen fit`: its sketches (histograms), correlations, tables of distributions, comparisons, and the
 * configuration that it prints. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gen/fit/compare.h"
#include "gen/fit/links/spread.h"
#include "gen/fit/pairs.h"
#include "gen/fit/shape.h"
#include "gen/fit/twin.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/rng.h"

/* Returns a normal draw. Each `purpose` has its own sequence. */
static double normal(uint32_t number, uint32_t purpose) {
    uint32_t w[4];
    hpcw_i_draw(17, HPCW_I_FOR_LOAD_OBJECT, number, purpose, 0, w);
    return hpcw_i_normal(w[0], w[1]);
}

static struct gen_fit_sketch *sketch_of(double median, double sigma, uint32_t count, uint32_t purpose) {
    struct gen_fit_sketch *s = gen_fit_sketch_new(1e-9);
    assert_non_null(s);
    for (uint32_t i = 0; i < count; i++) {
        gen_fit_sketch_add(s, median * exp(sigma * normal(i, purpose)));
    }
    return s;
}

static void near(double value, double expected, double error) {
    if (!(fabs(value - expected) <= error)) {
        fail_msg("expected %g within %g, got %g", expected, error, value);
    }
}

/* ---- sketches ---- */

static void quantiles(void **state) {
    (void)state;
    struct gen_fit_sketch *s = gen_fit_sketch_new(1e-9);
    for (int i = 1; i <= 1000; i++) {
        gen_fit_sketch_add(s, i);
    }
    for (int percent = 10; percent <= 90; percent += 10) {
        near(gen_fit_sketch_quantile(s, percent / 100.0), 10.0 * percent, 0.012 * 10 * percent);
    }
    /* Idle tasks have the load 0. They are the majority. */
    for (int i = 0; i < 1500; i++) {
        gen_fit_sketch_add(s, 0);
    }
    near(gen_fit_sketch_quantile(s, 0.5), 0, 0);
    near(gen_fit_sketch_quantile(s, 0.8), 500, 6);
    /* Values far below the range count as zero, far above it in the last bin. */
    gen_fit_sketch_add(s, 1e-30);
    gen_fit_sketch_add(s, 1e300);
    near(s->zeros, 1501, 0);
    near(s->bin[GEN_FIT_BINS - 1], 1, 0);
    hpcw_i_free(s);
}

static void sketches_add_up(void **state) {
    (void)state;
    struct gen_fit_sketch *a = sketch_of(1, 0.5, 1000, 0);
    struct gen_fit_sketch *b = sketch_of(3, 0.5, 1000, 0);
    struct gen_fit_sketch *sum = gen_fit_sketch_new(1e-9);
    gen_fit_sketch_merge(sum, a, 3);
    near(gen_fit_sketch_distance(sum, b), 0, 0); /* a shift by less than a bin counts as none */
    gen_fit_sketch_merge(sum, b, 1);
    near(sum->count, 2000, 0);
    near(gen_fit_sketch_quantile(sum, 0.5), 3, 0.1);
    hpcw_i_free(a);
    hpcw_i_free(b);
    hpcw_i_free(sum);
}

/* Two normal distributions whose means differ by d standard deviations have the distance 2 F(d / 2) - 1, with
 * the normal distribution function F. */
static void distances(void **state) {
    (void)state;
    struct gen_fit_sketch *a = sketch_of(1, 0.5, 20000, 0);
    struct gen_fit_sketch *same = sketch_of(1, 0.5, 20000, 1);
    struct gen_fit_sketch *other = sketch_of(exp(0.5), 0.5, 20000, 2);
    struct gen_fit_sketch *none = gen_fit_sketch_new(1e-9);
    near(gen_fit_sketch_distance(a, same), 0, 0.02);
    near(gen_fit_sketch_distance(a, other), 2 * gen_fit_normal_below(0.5) - 1, 0.03);
    near(gen_fit_sketch_distance(a, none), 1, 0);
    /* Constants in neighbouring bins are equal; distant ones are not. */
    struct gen_fit_sketch *constant[3];
    for (int i = 0; i < 3; i++) {
        constant[i] = gen_fit_sketch_new(1e-9);
        gen_fit_sketch_add(constant[i], i == 0 ? 1 : i == 1 ? 1.01 : 1.1);
    }
    near(gen_fit_sketch_distance(constant[0], constant[1]), 0, 0);
    near(gen_fit_sketch_distance(constant[0], constant[2]), 1, 0);
    for (int i = 0; i < 3; i++) {
        hpcw_i_free(constant[i]);
    }
    hpcw_i_free(a);
    hpcw_i_free(same);
    hpcw_i_free(other);
    hpcw_i_free(none);
}

static void correlations(void **state) {
    (void)state;
    struct gen_fit_pairs p = {0};
    struct gen_fit_pairs half[2] = {{0}};
    struct gen_fit_pairs constant = {0};
    for (uint32_t i = 0; i < 20000; i++) {
        const double x = normal(i, 0);
        const double y = 0.6 * x + 0.8 * normal(i, 1);
        gen_fit_pair(&p, x, y);
        gen_fit_pair(&half[i & 1], x, y);
        gen_fit_pair(&constant, x, -20.7);
    }
    near(gen_fit_correlation(&p), 0.6, 0.02);
    gen_fit_pairs_merge(&half[0], &half[1]);
    near(gen_fit_correlation(&half[0]), gen_fit_correlation(&p), 1e-9);
    assert_true(isnan(gen_fit_correlation(&constant)));
    assert_true(isnan(gen_fit_correlation(&(struct gen_fit_pairs){.n = 4, .xx = 1, .yy = 1})));
}

/* ---- links ---- */

/* The median absolute deviation of 0 to 100 s is 25 s, so values above 175 s are far out. */
static void timings_far_out(void **state) {
    (void)state;
    struct gen_fit_timing t[112];
    struct gen_fit_spread spread[GEN_FIT_PLACES];
    size_t count = 0;
    for (int i = 0; i <= 100; i++) {
        t[count++] = (struct gen_fit_timing){GEN_FIT_NEAR, (i * 37) % 101};
    }
    for (int i = 0; i < 8; i++) {
        t[count++] = (struct gen_fit_timing){GEN_FIT_FAR, 7};
    }
    for (int i = 0; i < 3; i++) { /* too few */
        t[count++] = (struct gen_fit_timing){GEN_FIT_IN_NODE, i};
    }
    gen_fit_spread_of(t, count, spread);
    near(spread[GEN_FIT_NEAR].median_s, 50, 0);
    near(spread[GEN_FIT_NEAR].deviation_s, 25, 0);
    near(spread[GEN_FIT_NEAR].far_out, 0, 0);
    near(spread[GEN_FIT_FAR].deviation_s, 0, 0);
    near(spread[GEN_FIT_IN_NODE].timings, 0, 0);
    near(gen_fit_mean_spread(spread), 0.5 * 101 / 109, 1e-12);
    for (size_t i = 0; i < 3; i++) { /* timings of GEN_FIT_NEAR, of which there were too few before */
        t[i] = (struct gen_fit_timing){GEN_FIT_NEAR, 150 + 50 * (double)i};
    }
    gen_fit_spread_of(t, count, spread);
    near(spread[GEN_FIT_NEAR].far_out, 2, 0);
    near(spread[GEN_FIT_NEAR].excess_s, 200 - spread[GEN_FIT_NEAR].median_s, 0);
    near(gen_fit_far_out(spread), 2.0 / 112, 1e-12);
}

/* Two factors are compared by their ratio, after 1 / samples is added to both. */
static void factors(void **state) {
    (void)state;
    static const struct {
        double real, twin;
        enum gen_fit_verdict verdict;
    } rows[] = {{0.125, 0, GEN_FIT_DIFFERENT}, {0.125, 0.1, GEN_FIT_ALIKE}, {0, 0, GEN_FIT_ALIKE},
                {0.01, 0, GEN_FIT_ALIKE},      {0.3, 0.6, GEN_FIT_ALIKE},   {0.3, 0.7, GEN_FIT_DIFFERENT},
                {0.7, 0.3, GEN_FIT_DIFFERENT}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct gen_fit_row row[2];
        struct gen_fit_fact side[2] = {
            {.format = "f", .name = "n", .kind = GEN_FIT_FACTOR, .value = rows[i].real, .samples = 100},
            {.format = "f", .name = "n", .kind = GEN_FIT_FACTOR, .value = rows[i].twin, .samples = 100}};
        const struct gen_fit_facts facts[2] = {{&side[0], 1, 1}, {&side[1], 1, 1}};
        assert_int_equal(gen_fit_compare(&facts[0], &facts[1], row), 1);
        if (row[0].verdict != rows[i].verdict) {
            fail_msg("%g and %g: %s", rows[i].real, rows[i].twin, gen_fit_verdict_name(row[0].verdict));
        }
    }
}

/* ---- shapes ---- */

static struct gen_fit_shape *shape_of(const struct model_load_tail *tail, uint32_t count) {
    struct gen_fit_shape *s = hpcw_i_calloc(1, sizeof *s);
    assert_non_null(s);
    for (uint32_t i = 0; i < count; i++) {
        const double z = model_load_bend(tail, normal(i, 0));
        gen_fit_shape_add(s, z, z, 1);
    }
    return s;
}

static void skews_are_found(void **state) {
    (void)state;
    static const double skews[] = {0, 0.3, 0.75};
    for (size_t i = 0; i < 3; i++) {
        struct model_load_tail tail;
        double distance;
        assert_int_equal(model_load_tail_init(&tail, skews[i], "k", "none", NULL), HPCW_OK);
        struct gen_fit_shape *s = shape_of(&tail, 50000);
        near(gen_fit_shape_skew(s, &distance), skews[i], 0.1);
        near(distance, 0, 0.015);
        hpcw_i_free(s);
    }
}

/* Draws values from a table, fits a second table to them, and draws from the second. Both draws have the same
 * distribution. */
static void tables_come_back(void **state) {
    (void)state;
    static const char two_kinds[] = "200 -90 -85 -80 -70 60 150 160 170 180";
    static const uint32_t counts[] = {200, 1000, 20000};
    for (size_t i = 0; i < 3; i++) {
        struct model_load_tail tail;
        struct model_load_tail again;
        char text[180];
        hpcw_error err;
        double distance;
        assert_int_equal(model_load_tail_init(&tail, 0, "k", two_kinds, &err), HPCW_OK);
        struct gen_fit_shape *s = shape_of(&tail, counts[i]);
        (void)gen_fit_shape_skew(s, &distance);
        assert_true(distance > 0.05);
        gen_fit_shape_table(s, s->count, text, sizeof text);
        if (model_load_tail_init(&again, 0, "k", text, &err) != HPCW_OK) {
            fail_msg("%s", err.message);
        }
        assert_true(again.knots >= 9);
        struct gen_fit_shape *made = shape_of(&again, 20000);
        double most = 0;
        double below[2] = {0};
        for (size_t c = 0; c < GEN_FIT_CELLS; c++) {
            below[0] += s->cell[c] / s->count;
            below[1] += made->cell[c] / made->count;
            most = fmax(most, c % 5 == 0 ? fabs(below[0] - below[1]) : 0);
        }
        near(most, 0, counts[i] < 1000 ? 0.12 : 0.06);
        hpcw_i_free(s);
        hpcw_i_free(made);
    }
}

/* A table is valid even if many equal values lie between two of its entries. */
static void tables_never_fall(void **state) {
    (void)state;
    for (int i = 0; i < 400; i++) {
        struct model_load_tail tail;
        struct gen_fit_shape *s = hpcw_i_calloc(1, sizeof *s);
        hpcw_error err;
        char text[180];
        assert_non_null(s);
        for (int k = 0; k < 1000; k++) {
            const double z = k % 3 == 0 ? 0.01 * i : -0.01 * i;
            gen_fit_shape_add(s, z - 0.001, z + 0.019, 1 + 0.1 * (k % 7));
        }
        gen_fit_shape_add(s, -5, 5, 10);
        gen_fit_shape_table(s, s->count, text, sizeof text);
        if (model_load_tail_init(&tail, 0, "k", text, &err) != HPCW_OK) {
            fail_msg("%s", err.message);
        }
        hpcw_i_free(s);
    }
}

/* Each entry of a table stands for at least 5 values, so a table does not show single values. */
static void tables_tell_nobody(void **state) {
    (void)state;
    for (uint32_t count = 200; count <= 50000; count += count / 2) {
        struct model_load_tail tail;
        char text[180];
        assert_int_equal(model_load_tail_init(&tail, 0, "k", "none", NULL), HPCW_OK);
        struct gen_fit_shape *s = shape_of(&tail, count);
        gen_fit_shape_table(s, s->count, text, sizeof text);
        assert_int_equal(model_load_tail_init(&tail, 0, "k", text, NULL), HPCW_OK);
        const double step = 2 * tail.reach / (tail.knots - 1);
        for (uint32_t k = 0; k < tail.knots; k++) {
            const double y = k * step - tail.reach;
            const double low = k == 0 ? 0 : gen_fit_normal_below(y - 0.5 * step);
            const double high = k + 1 == tail.knots ? 1 : gen_fit_normal_below(y + 0.5 * step);
            if ((high - low) * count < 4.9) { /* not 5, as the range of a table is rounded */
                fail_msg("%u values: value %u of %u stands for %g", count, k, tail.knots, (high - low) * count);
            }
        }
        hpcw_i_free(s);
    }
}

static void tables_are_checked(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",          "200",           "200 1 2",   "200 1 2 3 4", "0 1 2 3",   "501 1 2 3",        "200 1 2 1",
        "200 1 1 1", "200 1 2 three", "200,1,2,3", "200 1 2 3x",  "2e2 1 2 3", "200 1 2 99999999", " "};
    char many[512] = "200";
    for (int i = 0; i < MODEL_LOAD_KNOTS + 2; i++) {
        (void)snprintf(many + strlen(many), sizeof many - strlen(many), " %d", i);
    }
    struct model_load_tail tail;
    for (size_t i = 0; i <= sizeof bad / sizeof bad[0]; i++) {
        hpcw_error err = {.message = ""};
        const char *text = i < sizeof bad / sizeof bad[0] ? bad[i] : many;
        if (model_load_tail_init(&tail, 0, "load.time_table", text, &err) != HPCW_EINVAL ||
            strncmp(err.message, "load.time_table: expected none, or ", 35) != 0) {
            fail_msg("\"%s\": %s", text, err.message);
        }
    }
    /* Beyond the table, the curve continues with slope 1 at most. */
    assert_int_equal(model_load_tail_init(&tail, 0, "k", "100 -100 0 500", NULL), HPCW_OK);
    near(model_load_bend(&tail, 0.5), 2.5, 1e-12);
    near(model_load_bend(&tail, 1), 5, 1e-12);
    near(model_load_bend(&tail, 3), 7, 1e-12);
    near(model_load_bend(&tail, -3), -3, 1e-12);
}

/* Correlations are right for a skewed distribution, and for a table whose mean and variance are not 0 and 1. */
static void bent_correlations(void **state) {
    (void)state;
    static const char *const tables[] = {"none", "200 -90 -85 -80 -70 60 150 160 170 180"};
    for (int i = 0; i <= 21; i++) {
        struct model_load_tail tail;
        assert_int_equal(model_load_tail_init(&tail, 0.75, "k", tables[i / 11], NULL), HPCW_OK);
        const double c = i % 11 / 10.0;
        const double loads = gen_fit_correlation_of_loads(&tail, c);
        near(gen_fit_correlation_behind(&tail, loads), c, 1e-3);
        struct gen_fit_pairs p = {0};
        for (uint32_t k = 0; k < 20000; k++) {
            const double common = sqrt(c) * normal(k, 0);
            gen_fit_pair(&p, model_load_bend(&tail, common + sqrt(1 - c) * normal(k, 1)),
                         model_load_bend(&tail, common + sqrt(1 - c) * normal(k, 2)));
        }
        near(gen_fit_correlation(&p), loads, 0.02);
        struct gen_fit_pairs with_normal = {0};
        for (uint32_t k = 0; k < 20000; k++) {
            gen_fit_pair(&with_normal, normal(k, 0), model_load_bend(&tail, normal(k, 0)));
        }
        near(gen_fit_correlation(&with_normal), gen_fit_correlation_with_normal(&tail), 0.02);
    }
}

/* ---- the configuration ---- */

static void learned_values_are_rounded_and_in_range(void **state) {
    (void)state;
    static const struct {
        const char *key;
        double value;
        const char *text;
    } rows[] = {{"load.mean_first", 1.234567, "1.23"},  {"load.mean_first", 1e99, "1000000"},
                {"load.mean_first", 0, "0.000001"},     {"load.objects", 7.4, "7"},
                {"load.objects", 1e9, "4096"},          {"sion.mean_size", 123456, "123000"},
                {"rank2file.mean_size", 999, "999"},    {"load.persistence", -0.2, "0"},
                {"load.persistence", 0.98765, "0.988"}, {"load.edge_bytes_mean", 10.8475, "10.85"}};
    struct gen_fit_twin *t = hpcw_i_malloc(sizeof *t);
    assert_non_null(t);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char value[256];
        char usual[256];
        assert_int_equal(gen_fit_twin_init(t, NULL), HPCW_OK);
        assert_int_equal(gen_fit_learn(t, rows[i].key, rows[i].value, GEN_FIT_PER_RANK, NULL), HPCW_OK);
        gen_fit_learned_text(t, 0, value, usual, sizeof value);
        assert_string_equal(value, rows[i].text);
    }
    assert_int_equal(gen_fit_learn(t, "load.no_such", 1, GEN_FIT_PER_RANK, NULL), HPCW_EINTERNAL);
    hpcw_i_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles),
        cmocka_unit_test(sketches_add_up),
        cmocka_unit_test(distances),
        cmocka_unit_test(correlations),
        cmocka_unit_test(timings_far_out),
        cmocka_unit_test(factors),
        cmocka_unit_test(skews_are_found),
        cmocka_unit_test(tables_come_back),
        cmocka_unit_test(tables_never_fall),
        cmocka_unit_test(tables_tell_nobody),
        cmocka_unit_test(tables_are_checked),
        cmocka_unit_test(bent_correlations),
        cmocka_unit_test(learned_values_are_rounded_and_in_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
