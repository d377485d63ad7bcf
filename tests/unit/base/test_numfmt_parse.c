/* SPDX-License-Identifier: BSD-3-Clause */
/* Parsing of numbers: what is accepted, what is refused, and with which message. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <locale.h>
#include <math.h>
#include <stdbool.h>

#include "libwriter/base/numfmt.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static uint64_t bits_of(double v) {
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static void parse_integers(void **state) {
    (void)state;
    hpcw_error err;
    uint64_t u = 7;
    assert_int_equal(hpcw_i_parse_u64("x", "0", 0, UINT64_MAX, &u, &err), HPCW_OK);
    assert_true(u == 0);
    assert_int_equal(hpcw_i_parse_u64("x", "18446744073709551615", 0, UINT64_MAX, &u, &err), HPCW_OK);
    assert_true(u == UINT64_MAX);
    assert_int_equal(hpcw_i_parse_u64("x", "9007199254740993", 0, UINT64_MAX, &u, NULL), HPCW_OK);
    assert_true(u == 9007199254740993);
    assert_int_equal(hpcw_i_parse_u64("x", "00010", 10, 10, &u, &err), HPCW_OK);
    assert_true(u == 10);

    static const char *const wrong[] = {"",     " 1", "1 ", "+1", "-1",    "1.0",      "1e3",
                                        "0x10", "1k", "-",  "a",  "1_000", "\xd9\xa1", "1\n"};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        assert_int_equal(hpcw_i_parse_u64("x", wrong[i], 0, UINT64_MAX, &u, &err), HPCW_EINVAL);
        assert_true(u == 10);
    }
    static const char *const large[] = {"18446744073709551616", "18446744073709551620", "184467440737095516150",
                                        "99999999999999999999999999999999999999"};
    for (size_t i = 0; i < COUNT(large); i++) {
        assert_int_equal(hpcw_i_parse_u64("x", large[i], 0, UINT64_MAX, &u, &err), HPCW_ERANGE);
    }
    assert_int_equal(hpcw_i_parse_u64("--ranks", "1", 2, 65536, &u, &err), HPCW_ERANGE);
    assert_int_equal(err.code, HPCW_ERANGE);
    assert_string_equal(err.message, "--ranks: expected a whole number from 2 to 65536, got \"1\"");
    assert_int_equal(hpcw_i_parse_u64("--ranks", "65537", 2, 65536, &u, NULL), HPCW_ERANGE);
    assert_true(u == 10);
}

static void parse_doubles(void **state) {
    (void)state;
    hpcw_error err;
    double v = 7;
    static const struct {
        const char *text;
        double v;
    } right[] = {
        {"0", 0},
        {"-0", -0.0},
        {"007.5", 7.5},
        {"1e3", 1000},
        {"1E+3", 1000},
        {"-1.5e-3", -0.0015},
        {"9007199254740993", 9007199254740992},
        {"9007199254740993.0000000000000000000000000000000000001", 9007199254740994.0},
        {"2.2250738585072011e-308", 2.2250738585072011e-308},
        {"1.7976931348623157e308", 1.7976931348623157e308},
        {"2.4703282292062327208e-324", 0},
        {"2.4703282292062327209e-324", 5e-324},
        {"1e-999", 0},
    };
    for (size_t i = 0; i < COUNT(right); i++) {
        assert_int_equal(hpcw_i_parse_f64("x", right[i].text, -INFINITY, INFINITY, &v, &err), HPCW_OK);
        assert_true(bits_of(v) == bits_of(right[i].v));
    }
    v = 7;
    static const char *const wrong[] = {
        "",      " 1",   "1 ",  "+1",   ".5",    "5.",    "1,5", "1e",   "1e+", "e5",       "-",  "inf", "nan",
        "0x1p3", "1e5x", "--1", "1..2", "1.5.2", "1e1.5", "INF", "-inf", "NaN", "infinity", "1f", "1_0", "\n1"};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        assert_int_equal(hpcw_i_parse_f64("x", wrong[i], -INFINITY, INFINITY, &v, &err), HPCW_EINVAL);
    }
    assert_int_equal(hpcw_i_parse_f64("x", "1e999", -INFINITY, INFINITY, &v, &err), HPCW_ERANGE);
    assert_int_equal(hpcw_i_parse_f64("x", "-1.7976931348623159e308", -INFINITY, INFINITY, &v, &err),
                     HPCW_ERANGE);
    assert_string_equal(err.message,
                        "x: expected a number from -infinity to infinity, got \"-1.7976931348623159e308\"");
    assert_int_equal(hpcw_i_parse_f64("noise", "1.5", 0, 1e-3, &v, &err), HPCW_ERANGE);
    assert_string_equal(err.message, "noise: expected a number from 0 to 0.001, got \"1.5\"");
    assert_int_equal(hpcw_i_parse_f64("noise", "-1e-300", 0, 1, &v, NULL), HPCW_ERANGE);
    assert_true(v == 7);

    /* A printed number reads back. */
    char text[HPCW_I_FMT_ROOM];
    uint64_t bits = 5;
    for (int i = 0; i < 20000; i++) {
        bits = bits * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        double drawn;
        memcpy(&drawn, &bits, sizeof drawn);
        if (isfinite(drawn)) {
            *hpcw_i_fmt_f64(text, drawn, HPCW_I_FLOAT_COMPACT) = '\0';
            assert_int_equal(hpcw_i_parse_f64("x", text, -INFINITY, INFINITY, &v, &err), HPCW_OK);
            assert_true(bits_of(v) == bits_of(drawn));
        }
    }

    char message[4096];
    memset(message, '9', sizeof message);
    message[sizeof message - 1] = '\0';
    assert_int_equal(hpcw_i_parse_f64("x", message, 0, 1, &v, &err), HPCW_ERANGE);
    assert_true(strlen(err.message) < 300);
}

/* A locale with a decimal comma. Not every machine has one. */
static void locale_with_comma(void **state) {
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8",  "de_DE",
                                        "fr_FR.UTF-8", "fr_FR.utf8",  "nl_NL.UTF-8",
                                        "pl_PL.UTF-8", "cs_CZ.UTF-8", "ru_RU.UTF-8"};
    bool found = false;
    for (size_t i = 0; i < COUNT(names) && !found; i++) {
        found = setlocale(LC_ALL, names[i]) != NULL && *localeconv()->decimal_point == ',';
    }
    if (!found) {
        (void)setlocale(LC_ALL, "C");
        skip();
    }
    char text[HPCW_I_FMT_ROOM];
    double v = 0;
    hpcw_error err;
    *hpcw_i_fmt_f64(text, 1234567.5, HPCW_I_FLOAT_JSON) = '\0';
    hpcw_status dot = hpcw_i_parse_f64("x", "1.5", 0, 2, &v, &err);
    hpcw_status comma = hpcw_i_parse_f64("x", "1,5", 0, 2, &v, &err);
    (void)setlocale(LC_ALL, "C");
    assert_string_equal(text, "1234567.5");
    assert_int_equal(dot, HPCW_OK);
    assert_true(v == 1.5);
    assert_int_equal(comma, HPCW_EINVAL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parse_integers),
        cmocka_unit_test(parse_doubles),
        cmocka_unit_test(locale_with_comma),
    };
    return cmocka_run_group_tests_name("numfmt_parse", tests, NULL, NULL);
}
