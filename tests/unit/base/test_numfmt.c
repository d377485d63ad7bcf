/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares numbers as text with the C library's printf and strtod, which are exact. Compares the table of powers
 * with the test's own big integers. With HPCW_LONG_TESTS=1 in the environment, it tests 10^8 random doubles, not
 * 10^6, and every number of eight digits (a few minutes). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <ftw.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>

#include "libwriter/base/numfmt.h"
#include "libwriter/base/pow10.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static bool long_tests(void) {
    const char *value = getenv("HPCW_LONG_TESTS");
    return value != NULL && strcmp(value, "0") != 0 && value[0] != '\0';
}

static uint64_t splitmix64(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static double double_of(uint64_t bits) {
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static uint64_t bits_of(double v) {
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

/* ---- The table of powers --------------------------------------------------------------------------------- */

#define LIMBS 40 /* 40 limbs of 32 bits are 1280 bits, more than 10^324 or 2^(127 + 971) need. */

struct big {
    uint32_t limb[LIMBS]; /* lowest first */
};

static void big_times(struct big *b, uint32_t factor) {
    uint64_t carry = 0;
    for (size_t i = 0; i < LIMBS; i++) {
        carry += (uint64_t)b->limb[i] * factor;
        b->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    assert_true(carry == 0);
}

/* Divides and returns the remainder. */
static uint32_t big_over(struct big *b, uint32_t divisor) {
    uint64_t rest = 0;
    for (size_t i = LIMBS; i-- > 0;) {
        rest = rest << 32 | b->limb[i];
        b->limb[i] = (uint32_t)(rest / divisor);
        rest %= divisor;
    }
    return (uint32_t)rest;
}

static int big_bit(const struct big *b, int i) {
    return i < 0 ? 0 : (int)(b->limb[i / 32] >> i % 32 & 1);
}

static int big_length(const struct big *b) {
    int n = 32 * LIMBS;
    while (n > 0 && big_bit(b, n - 1) == 0) {
        n--;
    }
    return n;
}

/* Stores the highest 128 bits of b as {high, low}. Adds one if lower bits were lost. */
static void big_top(const struct big *b, bool inexact, uint64_t top[2]) {
    int length = big_length(b);
    top[0] = top[1] = 0;
    for (int i = 0; i < 128; i++) {
        top[i / 64] = top[i / 64] << 1 | (uint64_t)big_bit(b, length - 1 - i);
    }
    for (int i = 0; i < length - 128; i++) {
        inexact = inexact || big_bit(b, i) != 0;
    }
    if (inexact) {
        top[1]++;
        top[0] += top[1] == 0;
    }
}

static void powers_of_ten(void **state) {
    (void)state;
    uint64_t expected[2];
    struct big b = {{1}};
    for (int k = 0; k <= HPCW_I_POW10_MAX; k++) {
        big_top(&b, false, expected);
        assert_memory_equal(hpcw_i_pow10[k - HPCW_I_POW10_MIN], expected, sizeof expected);
        big_times(&b, 10);
    }
    /* Computes 2^1279 / 10^-k by repeated division by ten. Rounding down each time equals rounding down once. */
    b = (struct big){{0}};
    b.limb[LIMBS - 1] = UINT32_C(1) << 31;
    for (int k = -1; k >= HPCW_I_POW10_MIN; k--) {
        (void)big_over(&b, 10);
        assert_true(big_length(&b) > 128);
        big_top(&b, true, expected); /* inexact, since no power of two is a multiple of ten */
        assert_memory_equal(hpcw_i_pow10[k - HPCW_I_POW10_MIN], expected, sizeof expected);
    }
}

/* ---- Integers -------------------------------------------------------------------------------------------- */

static void check_u64(uint64_t v) {
    char got[HPCW_I_FMT_ROOM], expected[32];
    *hpcw_i_fmt_u64(got, v) = '\0';
    (void)snprintf(expected, sizeof expected, "%" PRIu64, v);
    if (strcmp(got, expected) != 0) {
        fail_msg("u64: expected %s, got %s", expected, got);
    }
}

static void check_i64(int64_t v) {
    char got[HPCW_I_FMT_ROOM], expected[32];
    *hpcw_i_fmt_i64(got, v) = '\0';
    (void)snprintf(expected, sizeof expected, "%" PRId64, v);
    assert_string_equal(got, expected);
}

static void integers(void **state) {
    (void)state;
    uint64_t limit = long_tests() ? 100000000 : 1000000;
    for (uint64_t v = 0; v <= limit; v++) {
        check_u64(v);
    }
    for (uint64_t p = 1;; p *= 10) {
        for (uint64_t digit = 1; digit <= 9; digit++) {
            check_u64(digit * p - 1);
            check_u64(digit * p);
            check_u64(digit * p + 1);
        }
        if (p > UINT64_MAX / 10) {
            break;
        }
    }
    uint64_t seed = 1;
    for (int i = 0; i < 200000; i++) {
        uint64_t r = splitmix64(&seed);
        check_u64(r >> r % 64);
        check_i64((int64_t)(splitmix64(&seed) >> r % 64));
        check_i64(-(int64_t)(splitmix64(&seed) >> r % 63 >> 1));
    }
    check_u64(UINT64_MAX);
    check_u64(9007199254740993);
    check_i64(INT64_MAX);
    check_i64(INT64_MIN);
    check_i64(-1);
    check_i64(0);
}

static void widths_and_hex(void **state) {
    (void)state;
    char got[HPCW_I_FMT_ROOM], expected[32];
    uint64_t seed = 2;
    for (int i = 0; i < 20000; i++) {
        uint64_t r = splitmix64(&seed);
        uint64_t v = i == 0 ? 0 : i == 1 ? UINT64_MAX : splitmix64(&seed) >> r % 64;
        int width = (int)(r >> 32) & 31;
        if (width <= 20) {
            *hpcw_i_fmt_u64_width(got, v, (unsigned)width) = '\0';
            (void)snprintf(expected, sizeof expected, "%0*" PRIu64, width, v);
            assert_string_equal(got, expected);
        }
        if (width <= 16) {
            *hpcw_i_fmt_hex(got, v, (unsigned)width) = '\0';
            (void)snprintf(expected, sizeof expected, "%0*" PRIx64, width, v);
            assert_string_equal(got, expected);
        }
    }
}

static void check_seconds(uint64_t time_ns) {
    char got[HPCW_I_FMT_ROOM], expected[32];
    *hpcw_i_fmt_seconds(got, time_ns) = '\0';
    int n = snprintf(expected, sizeof expected, "%" PRIu64 ".%09" PRIu64, time_ns / 1000000000,
                     time_ns % 1000000000);
    while (expected[n - 1] == '0' && expected[n - 2] != '.') {
        expected[--n] = '\0';
    }
    assert_string_equal(got, expected);
}

static void nanoseconds_as_seconds(void **state) {
    (void)state;
    char text[HPCW_I_FMT_ROOM];
    *hpcw_i_fmt_seconds(text, 1234567890) = '\0';
    assert_string_equal(text, "1.23456789");
    *hpcw_i_fmt_seconds(text, 0) = '\0';
    assert_string_equal(text, "0.0");
    *hpcw_i_fmt_seconds(text, UINT64_MAX) = '\0';
    assert_string_equal(text, "18446744073.709551615");
    for (uint64_t p = 1; p <= UINT64_MAX / 10; p *= 10) {
        check_seconds(p - 1);
        check_seconds(p);
        check_seconds(p + 1);
        check_seconds(9 * p);
    }
    uint64_t seed = 3;
    for (int i = 0; i < 100000; i++) {
        uint64_t r = splitmix64(&seed);
        check_seconds(r >> r % 64);
        check_seconds(r % 1000000 * 1000);
    }
}

/* ---- Doubles --------------------------------------------------------------------------------------------- */

/* Writes a number, given as text of printf's %e, in a style of the library: a slow reference. */
static void lay_out(const char *scientific, enum hpcw_i_float_style style, char *out) {
    char digits[32];
    int n = 0;
    const char *s = scientific;
    if (*s == '-') {
        *out++ = *s++;
    }
    for (; *s != 'e'; s++) {
        if (*s != '.') {
            digits[n++] = *s;
        }
    }
    int point = (int)strtol(s + 1, NULL, 10) + 1; /* position of the decimal point */
    bool json = style == HPCW_I_FLOAT_JSON;
    while (n > 1 && digits[n - 1] == '0') {
        n--;
    }
    if (digits[0] == '0') {
        strcpy(out, json ? "0.0" : "0");
    } else if (point > (json ? 15 : 21) || point <= (json ? -4 : -6)) {
        *out++ = digits[0];
        if (n > 1) {
            out += sprintf(out, ".%.*s", n - 1, digits + 1);
        }
        (void)sprintf(out, json ? "e%c%02d" : "e%c%d", point < 1 ? '-' : '+', abs(point - 1));
    } else if (point <= 0) {
        (void)sprintf(out, "0.%.*s%.*s", -point, "00000000", n, digits);
    } else if (point < n) {
        (void)sprintf(out, "%.*s.%.*s", point, digits, n - point, digits + point);
    } else {
        (void)sprintf(out, "%.*s%.*s%s", n, digits, point - n, "000000000000000000000", json ? ".0" : "");
    }
}

static int count_digits(const char *text) {
    const char *start = text + strspn(text, "-0.");
    int n = 0, zeros = 0;
    for (const char *s = start; *s != '\0' && *s != 'e'; s++) {
        if (*s != '.') {
            zeros = *s == '0' ? zeros + 1 : 0;
            n++;
        }
    }
    return n == zeros ? 1 : n - zeros;
}

/* Checks the text of a double: it fits the promised room, has the right form and reads back. It is the shortest
 * such text, and the nearest of those. */
static void check_double(double v) {
    char text[2][HPCW_I_FMT_ROOM + 8], expected[HPCW_I_FMT_ROOM], plain[32];
    for (int style = 0; style < 2; style++) {
        memset(text[style] + HPCW_I_FMT_ROOM, '#', 8);
        char *end = hpcw_i_fmt_f64(text[style], v, (enum hpcw_i_float_style)style);
        *end = '\0';
        if (end - text[style] > 25 || memcmp(text[style] + HPCW_I_FMT_ROOM, "########", 8) != 0) {
            fail_msg("%.17g: too many bytes written", v);
        }
        if (bits_of(strtod(text[style], NULL)) != bits_of(v)) {
            fail_msg("%.17g: %s does not read back", v, text[style]);
        }
    }
    int n = count_digits(text[0]);
    if (n > 1) {
        (void)snprintf(plain, sizeof plain, "%.*e", n - 2, v);
        if (strtod(plain, NULL) == v) {
            fail_msg("%.17g: %s is shorter than %s", v, plain, text[0]);
        }
    }
    (void)snprintf(plain, sizeof plain, "%.*e", n - 1, v);
    if (strtod(plain, NULL) != v) {
        /* Just below a power of two, doubles are denser. The nearest decimal may then round to another double,
         * while a farther one on the other side rounds back. */
        assert_true((bits_of(v) & ((UINT64_C(1) << 52) - 1)) == 0);
        return;
    }
    for (int style = 0; style < 2; style++) {
        lay_out(plain, (enum hpcw_i_float_style)style, expected);
        if (strcmp(text[style], expected) != 0) {
            fail_msg("%.17g: expected %s, got %s", v, expected, text[style]);
        }
    }
}

static void check_neighbours(double v) {
    uint64_t bits = bits_of(v);
    for (uint64_t b = bits > 3 ? bits - 3 : 0; b <= bits + 3; b++) {
        if (isfinite(double_of(b))) {
            check_double(double_of(b));
            check_double(-double_of(b));
        }
    }
}

static void double_layout(void **state) {
    (void)state;
    static const struct {
        double v;
        const char *json, *compact;
    } rows[] = {
        {0.0, "0.0", "0"},
        {-0.0, "-0.0", "-0"},
        {1, "1.0", "1"},
        {-160, "-160.0", "-160"},
        {16872, "16872.0", "16872"},
        {100000000000000, "100000000000000.0", "100000000000000"},
        {999999999999999, "999999999999999.0", "999999999999999"},
        {999999999999999.9, "999999999999999.9", "999999999999999.9"},
        {1e15, "1e+15", "1000000000000000"},
        {1234567890123456, "1.234567890123456e+15", "1234567890123456"},
        {9007199254740992, "9.007199254740992e+15", "9007199254740992"},
        {1e20, "1e+20", "100000000000000000000"},
        {123456789012345680000.0, "1.2345678901234568e+20", "123456789012345680000"},
        {1e21, "1e+21", "1e+21"},
        {1.5e21, "1.5e+21", "1.5e+21"},
        {0.1, "0.1", "0.1"},
        {0.001, "0.001", "0.001"},
        {0.0001, "0.0001", "0.0001"},
        {0.00012345, "0.00012345", "0.00012345"},
        {1e-5, "1e-05", "0.00001"},
        {1.1669999366858974e-06, "1.1669999366858974e-06", "0.0000011669999366858974"},
        {-1.1669999366858974e-06, "-1.1669999366858974e-06", "-0.0000011669999366858974"},
        {1e-6, "1e-06", "0.000001"},
        {1e-7, "1e-07", "1e-7"},
        {123456.789, "123456.789", "123456.789"},
        {2.5e-10, "2.5e-10", "2.5e-10"},
        {5e-324, "5e-324", "5e-324"},
        {1.7976931348623157e308, "1.7976931348623157e+308", "1.7976931348623157e+308"},
        {-2.2250738585072014e-308, "-2.2250738585072014e-308", "-2.2250738585072014e-308"},
    };
    char text[HPCW_I_FMT_ROOM];
    for (size_t i = 0; i < COUNT(rows); i++) {
        *hpcw_i_fmt_f64(text, rows[i].v, HPCW_I_FLOAT_JSON) = '\0';
        assert_string_equal(text, rows[i].json);
        *hpcw_i_fmt_f64(text, rows[i].v, HPCW_I_FLOAT_COMPACT) = '\0';
        assert_string_equal(text, rows[i].compact);
    }
    const double none[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    for (size_t i = 0; i < COUNT(none); i++) {
        assert_ptr_equal(hpcw_i_fmt_f64(text, none[i], HPCW_I_FLOAT_JSON), text);
        assert_ptr_equal(hpcw_i_fmt_f64(text, none[i], HPCW_I_FLOAT_COMPACT), text);
    }
}

static void double_boundaries(void **state) {
    (void)state;
    for (int e = -1074; e <= 1023; e++) {
        check_neighbours(ldexp(1, e));
    }
    for (int e = -324; e <= 308; e++) {
        char text[16];
        (void)snprintf(text, sizeof text, "1e%d", e);
        check_neighbours(strtod(text, NULL));
        text[0] = '5';
        check_neighbours(strtod(text, NULL));
    }
    check_neighbours(0);
    check_neighbours(1.7976931348623157e308);
    check_neighbours(2.2250738585072014e-308);
    check_neighbours(9007199254740992);
    for (int i = 0; i < 1000; i++) {
        check_neighbours(9007199254740992.0 + 2 * i);
        check_neighbours(4503599627370496.0 + 3 * i + 0.5);
        check_double(double_of((uint64_t)i));
    }
}

/* The exact value c * 2^q. */
struct binary {
    uint64_t c;
    int q;
};

static void double_hard_cases(void **state) {
    (void)state;
    /* V. Paxson, "A Program for Testing IEEE Decimal-Binary Conversion" (1991), tables 3 and 4: for each number
     * of digits, the doubles nearest to the middle of two decimals. */
    static const struct binary paxson[] = {
        {8511030020275656, -342}, {5201988407066741, -824},  {6406892948269899, 237},
        {8431154198732492, 72},   {6475049196144587, 99},    {8274307542972842, 726},
        {5381065484265332, -456}, {6761728585499734, -1057}, {7976538478610756, 376},
        {5982403858958067, 377},  {5536995190630837, 93},    {7225450889282194, 710},
        {7225450889282194, 709},  {8703372741147379, 117},   {8944262675275217, -1001},
        {7459803696087692, -707}, {6080469016670379, -381},  {8385515147034757, 721},
        {7514216811389786, -828}, {8397297803260511, -345},  {6733459239310543, 202},
        {8091450587292794, -473}, {6567258882077402, 952},   {6712731423444934, 535},
        {6712731423444934, 534},  {5298405411573037, -957},  {5137311167659507, -144},
        {6722280709661868, 363},  {5344436398034927, -169},  {8369123604277281, -853},
        {8995822108487663, -780}, {8942832835564782, -383},  {8942832835564782, -384},
        {8942832835564782, -385}, {6965949469487146, -249},  {6965949469487146, -250},
        {6965949469487146, -251}, {7487252720986826, 548},   {5592117679628511, 164},
        {8887055249355788, 665},  {6994187472632449, 690},   {8797576579012143, 588},
        {7363326733505337, 272},  {8549497411294502, -448},
    };
    /* Hard cases: a double, an end of its rounding interval or the next double, scaled by a power of ten, is very
     * near to an integer. Distances are from 2^-65.4 above (first) to 2^-59.6 below (last). */
    static const struct binary nearest[] = {
        {8887055249355788, 664},  {5592117679628511, 163},  {6685530990800801, -867}, {5592117679628511, 162},
        {8661224184674796, 97},   {6741767181485241, -725}, {5698163123138226, 585},  {5141745997613069, 89},
        {7994505726872011, 364},  {6685530990800801, -868}, {7730906791835134, -106}, {6080469016670379, -382},
        {6898586531774200, -548}, {6263141949645740, -564}, {5018617364841838, -805}, {6441135414609811, -300},
    };
    for (size_t i = 0; i < COUNT(paxson); i++) {
        check_neighbours(ldexp((double)paxson[i].c, paxson[i].q));
    }
    for (size_t i = 0; i < COUNT(nearest); i++) {
        check_neighbours(ldexp((double)nearest[i].c, nearest[i].q));
    }
    static const double others[] = {
        2.2250738585072011e-308,
        2.2250738585072012e-308,
        9.5367431640625e-7,
        2.98023223876953125e-8,
        5.764607523034235e39,
        1.152921504606847e40,
        2.305843009213694e40,
        2.109808898695963e16,
        4.940656e-318,
        1.18575755e-316,
        2.989102097996e-312,
        9.0608011534336e15,
        4.708356024711512e18,
        9.409340012568248e18,
        1.2345678,
        4.294967294,
        4.294967295,
        4.294967296,
        4.294967297,
        8.41e21,
        9.2234e18,
        1e23,
        9e-265,
        4.35,
        0.3,
        0.1 + 0.2,
        123456789.123456789,
        2e-44,
        1.8014398509481984e16,
        3.6028797018963968e16,
        5e-324,
        6.631236846766476e-316,
    };
    for (size_t i = 0; i < COUNT(others); i++) {
        check_neighbours(others[i]);
    }
}

static void double_random(void **state) {
    (void)state;
    uint64_t seed = 4;
    uint64_t count = long_tests() ? 100000000 : 1000000;
    uint64_t done = 0;
    while (done < count) {
        double v = double_of(splitmix64(&seed));
        if (isfinite(v)) {
            check_double(v);
            done++;
        }
    }
    if (count > 1000000) {
        print_message("%" PRIu64 " random doubles read back, none has a shorter form\n", done);
    }
    /* Typical values in files: fractions, times, counts, few digits. */
    for (uint64_t i = 0; i < count / 10; i++) {
        uint64_t r = splitmix64(&seed);
        check_double((double)(r >> 11) * 0x1p-53);
        check_double((double)(r % 10000000000) / 1e9);
        check_double((double)(r >> r % 64));
        check_double((double)(r % 100000) / 1000);
        check_double(double_of(r >> 12 >> r % 52)); /* subnormal */
    }
}

/* ---- What the real tools wrote --------------------------------------------------------------------------- */

static size_t golden_floats;

/* Checks that each float in a file of vt is spelled as this library spells it. */
static int check_golden_file(const char *path, const struct stat *status, int kind, struct FTW *level) {
    (void)status;
    (void)level;
    if (kind != FTW_F || strcmp(path + strlen(path) - 5, ".json") != 0 || strstr(path, "lbaf") != NULL) {
        return 0;
    }
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char token[64], got[HPCW_I_FMT_ROOM];
    size_t n = 0;
    bool quoted = false;
    for (int c; (c = fgetc(f)) != EOF;) {
        if (c == '"') {
            quoted = !quoted; /* no golden file has a quote in a string */
        }
        if (!quoted && strchr("0123456789+-.eE", c) != NULL && n + 1 < sizeof token) {
            token[n++] = (char)c;
            continue;
        }
        token[n] = '\0';
        if (strpbrk(token, "0123456789") != NULL && strpbrk(token, ".eE") != NULL) {
            *hpcw_i_fmt_f64(got, strtod(token, NULL), HPCW_I_FLOAT_JSON) = '\0';
            assert_string_equal(got, token);
            golden_floats++;
        }
        n = 0;
    }
    (void)fclose(f);
    return 0;
}

static void golden_files(void **state) {
    (void)state;
    const char *golden = getenv("HPCW_GOLDEN");
    if (golden == NULL) {
        skip();
    }
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/vom", golden);
    assert_int_equal(nftw(path, check_golden_file, 8, FTW_PHYS), 0);
    assert_true(golden_floats > 300);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(powers_of_ten),     cmocka_unit_test(integers),
        cmocka_unit_test(widths_and_hex),    cmocka_unit_test(nanoseconds_as_seconds),
        cmocka_unit_test(double_layout),     cmocka_unit_test(double_boundaries),
        cmocka_unit_test(double_hard_cases), cmocka_unit_test(double_random),
        cmocka_unit_test(golden_files),
    };
    return cmocka_run_group_tests_name("numfmt", tests, NULL, NULL);
}
