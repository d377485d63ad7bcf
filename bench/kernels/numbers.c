/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers as text, compared with libc's functions. Doubles get the fewest digits that read back to the same
 * value. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/kernels/kernels.h"
#include "bench/measure/random.h"
#include "libwriter/base/numfmt.h"

#define NUMBERS ((size_t)1 << 16) /* random numbers; they fit into the cache */
#define ROUNDS 64
#define ROOM 64 /* bytes of a number as text */

struct number_work {
    struct bench_common common;
    double value[NUMBERS];
    uint64_t whole[NUMBERS];
    size_t rounds;
    /* bytes of all texts, so that the compiler cannot remove the work */
    uint64_t check;
};

static hpcw_status number_setup(void *work, const void *parameter, struct bench_amount *amount,
                                hpcw_error *err) {
    (void)parameter;
    (void)err;
    struct number_work *w = work;
    w->rounds = bench_scaled(w->common.place, ROUNDS, 1);
    *amount = (struct bench_amount){.items = NUMBERS * w->rounds};
    return HPCW_OK;
}

#define NUMBER_KERNEL(name_, what_, sides, figures_)                                                           \
    {                                                                                                          \
        .name = name_, .what = what_, .needs = BENCH_ONE_PROCESS, .size = sizeof(struct number_work),          \
        .setup = number_setup, .subject = {BENCH_ROWS(sides), NULL}, BENCH_FIGURES(figures_),                  \
    }

/* ---- which numbers ---- */

enum number_kind { ANY_BITS, BELOW_ONE, WHOLE_NS, WHOLE };

static double number_of(enum number_kind kind, uint64_t r) {
    double v;
    switch (kind) {
    case ANY_BITS:
        /* Turn NaN and infinities into finite numbers. */
        r = (r >> 52 & 0x7ff) == 0x7ff ? r ^ UINT64_C(1) << 62 : r;
        memcpy(&v, &r, sizeof v);
        return v;
    case BELOW_ONE:
        return (double)(r >> 11) * 0x1p-53;
    case WHOLE_NS:
        return (double)(r % 10000000000) / 1e9;
    default:
        return (double)(r % 1000000);
    }
}

static hpcw_status number_prepare(void *work, uint64_t kind, hpcw_error *err) {
    (void)err;
    struct number_work *w = work;
    uint64_t random = 1;
    for (size_t i = 0; i < NUMBERS; i++) {
        w->value[i] = number_of((enum number_kind)kind, bench_random(&random));
    }
    return HPCW_OK;
}

/* ---- how ---- */

static hpcw_status shortest(void *work, hpcw_error *err) {
    (void)err;
    struct number_work *w = work;
    char text[ROOM];
    for (size_t round = 0; round < w->rounds; round++) {
        for (size_t i = 0; i < NUMBERS; i++) {
            w->check += (uint64_t)(hpcw_i_fmt_f64(text, w->value[i], HPCW_I_FLOAT_JSON) - text);
        }
    }
    return HPCW_OK;
}

static hpcw_status seventeen(void *work, hpcw_error *err) {
    (void)err;
    struct number_work *w = work;
    char text[ROOM];
    for (size_t round = 0; round < w->rounds; round++) {
        for (size_t i = 0; i < NUMBERS; i++) {
            w->check += (uint64_t)snprintf(text, sizeof text, "%.17g", w->value[i]);
        }
    }
    return HPCW_OK;
}

static hpcw_status print_and_parse(void *work, hpcw_error *err) {
    (void)err;
    struct number_work *w = work;
    char text[ROOM];
    for (size_t round = 0; round < w->rounds; round++) {
        for (size_t i = 0; i < NUMBERS; i++) {
            int digits = 15;
            do {
                w->check += (uint64_t)snprintf(text, sizeof text, "%.*g", digits, w->value[i]);
            } while (digits++ < 17 && strtod(text, NULL) != w->value[i]);
        }
    }
    return HPCW_OK;
}

#define FORMAT(run) {BENCH_PHASE("format", run)}, NULL, NULL

static const struct bench_side sides[] = {
    {"any bits", "any finite double", ANY_BITS, number_prepare, FORMAT(shortest)},
    {"below one", "uniform in [0, 1), all 53 bits", BELOW_ONE, number_prepare, FORMAT(shortest)},
    {"times", "whole nanoseconds below 10 s, in seconds", WHOLE_NS, number_prepare, FORMAT(shortest)},
    {"whole", "whole numbers below 10^6", WHOLE, number_prepare, FORMAT(shortest)},
    {"%.17g, below one", "snprintf with 17 digits", BELOW_ONE, number_prepare, FORMAT(seventeen)},
    {"print and parse, below one", "snprintf with 15 digits or more until strtod gives the same", BELOW_ONE,
     number_prepare, FORMAT(print_and_parse)},
};

static const struct bench_figure figures[] = {
    {"any bits, a number", BENCH_PER_ITEM, {1, 0}, {0, 0}, {0, 0}, {0, 0}, 40, false},
    {"below one, a number", BENCH_PER_ITEM, {2, 0}, {0, 0}, {0, 0}, {0, 0}, 40, false},
    {"times, a number", BENCH_PER_ITEM, {3, 0}, {0, 0}, {0, 0}, {0, 0}, 40, false},
    {"whole, a number", BENCH_PER_ITEM, {4, 0}, {0, 0}, {0, 0}, {0, 0}, 40, false},
    {"%.17g, a number", BENCH_PER_ITEM, {5, 0}, {0, 0}, {0, 0}, {0, 0}, 0, false},
    {"print and parse, a number", BENCH_PER_ITEM, {6, 0}, {0, 0}, {0, 0}, {0, 0}, 0, false},
};

const struct bench_kernel bench_doubles =
    NUMBER_KERNEL("doubles", "doubles as text, the fewest digits that read back", sides, figures);

/* ---- integers ---- */

static hpcw_status integer_prepare(void *work, uint64_t bits, hpcw_error *err) {
    (void)err;
    struct number_work *w = work;
    uint64_t random = 1;
    for (size_t i = 0; i < NUMBERS; i++) {
        w->whole[i] = bench_random(&random) >> (64 - bits);
    }
    return HPCW_OK;
}

static hpcw_status integers(void *work, hpcw_error *err) {
    (void)err;
    struct number_work *w = work;
    char text[HPCW_I_FMT_ROOM];
    for (size_t round = 0; round < w->rounds; round++) {
        for (size_t i = 0; i < NUMBERS; i++) {
            w->check += (uint64_t)(hpcw_i_fmt_u64(text, w->whole[i]) - text);
        }
    }
    return HPCW_OK;
}

static hpcw_status printed(void *work, hpcw_error *err) {
    (void)err;
    struct number_work *w = work;
    char text[ROOM];
    for (size_t round = 0; round < w->rounds; round++) {
        for (size_t i = 0; i < NUMBERS; i++) {
            w->check += (uint64_t)snprintf(text, sizeof text, "%" PRIu64, w->whole[i]);
        }
    }
    return HPCW_OK;
}

static const struct bench_side integer_sides[] = {
    {"64 bits", "this library", 64, integer_prepare, FORMAT(integers)},
    {"24 bits", "this library", 24, integer_prepare, FORMAT(integers)},
    {"4 bits", "this library", 4, integer_prepare, FORMAT(integers)},
    {"snprintf, 64 bits", "libc", 64, integer_prepare, FORMAT(printed)},
};

static const struct bench_figure integer_figures[] = {
    {"64 bits, a number", BENCH_PER_ITEM, {1, 0}, {0, 0}, {0, 0}, {0, 0}, 0, false},
    {"24 bits, a number", BENCH_PER_ITEM, {2, 0}, {0, 0}, {0, 0}, {0, 0}, 0, false},
    {"4 bits, a number", BENCH_PER_ITEM, {3, 0}, {0, 0}, {0, 0}, {0, 0}, 0, false},
    {"snprintf, a number", BENCH_PER_ITEM, {4, 0}, {0, 0}, {0, 0}, {0, 0}, 0, false},
};

const struct bench_kernel bench_integers =
    NUMBER_KERNEL("integers", "integers as text", integer_sides, integer_figures);
