/* SPDX-License-Identifier: BSD-3-Clause */
/* The LinkTest reader with results assembled by hand: damaged summaries, rows and schedules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "libreader/linktest/linktest.h"
#include "tests/support/linktest_image.h"
#include "tests/support/linktest_judge.h"

#define STRICT READ_SION_STRICT
#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static void damaged_times(void **state) {
    (void)state;
    struct linktest_image image = linktest_image_make(&linktest_rich);
    size_t unit = image.summary_size + image.data_size;
    for (uint64_t p = 0; p < linktest_rich.randomized; p++) {
        size_t start = image.summary + (size_t)p * unit, end = start + image.summary_size - 32;
        unsigned char *s = linktest_image_byte(&image, 0, start), *e = linktest_image_byte(&image, 0, end);
        s[14] = '5'; /* start after end */
        refuse_linktest(&image, 0, HPCW_EFORMAT, "end time of permutation");
        s[14] = '0';
        e[11] = '0'; /* end before start */
        refuse_linktest(&image, 0, HPCW_EFORMAT, "end time of permutation");
        e[11] = '1';
        e[25] = 'x';
        refuse_linktest(&image, 0, HPCW_EFORMAT, "and zeros, 32 bytes");
        e[25] = 0;
        s[4] = '.';
        accept_linktest(&image, 0);
        refuse_linktest(&image, STRICT, HPCW_EFORMAT, "start time of permutation");
        s[4] = '-';
        s[5] = '1';
        s[6] = '3'; /* a thirteenth month */
        refuse_linktest(&image, STRICT, HPCW_EFORMAT, "start time of permutation");
        s[5] = '0';
        s[6] = '5';
        memset(s, 'x', 32);
        refuse_linktest(&image, 0, HPCW_EFORMAT, "start time of permutation");
        memset(s, 0, 32);
        refuse_linktest(&image, 0, HPCW_EFORMAT, "start time of permutation");
        memcpy(s, "2024-05-01T10:00:00Z", 20);
        s[15] = (unsigned char)('0' + p);
        accept_linktest(&image, STRICT);
    }
    /* The second permutation starts before the first one ends. */
    memcpy(linktest_image_byte(&image, 0, image.summary + unit), "2024-05-01T10:00:29Z", 20);
    refuse_linktest(&image, 0, HPCW_EFORMAT,
                    "start time of permutation 1: expected none before 2024-05-01T10:00:30Z");
    linktest_image_free(&image);
}

/* Changes each number of the summaries: by one unit in the last place, and more. */
static void damaged_summaries(void **state) {
    (void)state;
    struct linktest_image image = linktest_image_make(&linktest_rich);
    for (uint64_t p = 0; p < linktest_rich.randomized; p++) {
        size_t at = image.summary + (size_t)p * (image.summary_size + image.data_size) + 32;
        for (size_t i = 0; i < 6; i++) {
            uint64_t before = linktest_image_get(&image, 0, at + 8 * i);
            double value;
            memcpy(&value, &before, sizeof value);
            bool average = i % 3 == 1;
            const uint64_t wrong[] = {average ? linktest_image_bits(value * (1 + 2e-9)) : before + 1,
                                      average ? linktest_image_bits(value * (1 - 2e-9)) : before - 1,
                                      0,
                                      linktest_image_bits(NAN),
                                      linktest_image_bits(INFINITY),
                                      linktest_image_bits(-value),
                                      UINT64_MAX};
            for (size_t k = 0; k < COUNT(wrong); k++) {
                linktest_image_put(&image, 0, at + 8 * i, wrong[k]);
                refuse_linktest(&image, 0, HPCW_EFORMAT, i < 3 ? ": timing " : ": all-to-all ");
            }
            linktest_image_put(&image, 0, at + 8 * i,
                               average ? linktest_image_bits(value * (1 + 1e-10)) : before);
            accept_linktest(&image, STRICT);
            linktest_image_put(&image, 0, at + 8 * i, before);
        }
    }
    linktest_image_free(&image);
}

static void damaged_slow_lists(void **state) {
    (void)state;
    struct linktest_image image = linktest_image_make(&linktest_rich);
    size_t d = (size_t)linktest_rich.retests;
    for (uint64_t p = 0; p < linktest_rich.randomized; p++) {
        size_t at = image.summary + (size_t)p * (image.summary_size + image.data_size) + 56 + 24;
        for (size_t i = 0; i < d; i++) {
            size_t retest = at + 8 * i, original = retest + 8 * d, from = original + 8 * d, to = from + 8 * d;
            uint64_t retest_bits = linktest_image_get(&image, 0, retest),
                     original_bits = linktest_image_get(&image, 0, original);
            uint64_t from_rank = linktest_image_get(&image, 0, from),
                     to_rank = linktest_image_get(&image, 0, to);
            const uint64_t no_times[] = {0, linktest_image_bits(NAN), linktest_image_bits(INFINITY),
                                         linktest_image_bits(-1), UINT64_C(1) << 63};
            for (size_t k = 0; k < COUNT(no_times); k++) {
                linktest_image_put(&image, 0, retest, no_times[k]);
                refuse_linktest(&image, 0, HPCW_EFORMAT, "slow list of permutation");
                linktest_image_put(&image, 0, retest, retest_bits);
                linktest_image_put(&image, 0, original, no_times[k]);
                refuse_linktest(&image, 0, HPCW_EFORMAT, "slow list of permutation");
                linktest_image_put(&image, 0, original, original_bits);
            }
            linktest_image_put(&image, 0, retest, retest_bits + 1); /* any retested time is valid */
            accept_linktest(&image, STRICT);
            linktest_image_put(&image, 0, retest, retest_bits);
            for (int step = -1; step <= 1; step += 2) {
                linktest_image_put(&image, 0, original, original_bits + (uint64_t)step);
                refuse_linktest(&image, 0, HPCW_EFORMAT, "slow list of permutation");
            }
            linktest_image_put(&image, 0, original, original_bits);
            for (uint64_t rank = 0; rank < 9; rank++) {
                linktest_image_put(&image, 0, from, rank);
                hpcw_error err = {0};
                assert_int_equal(judge_linktest(&image, 0, &err), rank == from_rank ? HPCW_OK : HPCW_EFORMAT);
                linktest_image_put(&image, 0, from, from_rank);
                linktest_image_put(&image, 0, to, rank);
                assert_int_equal(judge_linktest(&image, 0, &err), rank == to_rank ? HPCW_OK : HPCW_EFORMAT);
                linktest_image_put(&image, 0, to, to_rank);
            }
        }
        /* Replaces the last entry of the slow list by a faster connection that exists. */
        size_t last = at + 8 * (d - 1);
        uint64_t original = linktest_image_get(&image, 0, last + 8 * d),
                 from = linktest_image_get(&image, 0, last + 16 * d);
        uint64_t to = linktest_image_get(&image, 0, last + 24 * d);
        uint32_t r = 3, q = linktest_image_partner(&linktest_rich, r, 0, p);
        double time = linktest_image_time(r, q, p);
        if (linktest_image_bits(time) < original) {
            linktest_image_put(&image, 0, last + 8 * d, linktest_image_bits(time));
            linktest_image_put(&image, 0, last + 16 * d, r);
            linktest_image_put(&image, 0, last + 24 * d, q);
            refuse_linktest(&image, 0, HPCW_EFORMAT, "timings above its last entry");
            linktest_image_put(&image, 0, last + 8 * d, original);
            linktest_image_put(&image, 0, last + 16 * d, from);
            linktest_image_put(&image, 0, last + 24 * d, to);
        }
        /* Swaps two neighbouring entries of the slow list, which are then in the wrong order. */
        for (int back = 0; back < 2; back++) {
            for (size_t k = 0; k < 4; k++) {
                uint64_t first = linktest_image_get(&image, 0, at + 8 * k * d),
                         second = linktest_image_get(&image, 0, at + 8 + 8 * k * d);
                linktest_image_put(&image, 0, at + 8 * k * d, second);
                linktest_image_put(&image, 0, at + 8 + 8 * k * d, first);
            }
            if (back == 0) {
                refuse_linktest(&image, 0, HPCW_EFORMAT, "slowest first");
            }
        }
        /* The same connection twice. */
        for (size_t k = 1; k < 4; k++) {
            linktest_image_put(&image, 0, last + 8 * k * d,
                               linktest_image_get(&image, 0, last - 8 + 8 * k * d));
        }
        refuse_linktest(&image, 0, HPCW_EFORMAT, "twice");
        linktest_image_put(&image, 0, last + 8 * d, original);
        linktest_image_put(&image, 0, last + 16 * d, from);
        linktest_image_put(&image, 0, last + 24 * d, to);
        accept_linktest(&image, STRICT);
    }
    linktest_image_free(&image);
}

static void damaged_rows(void **state) {
    (void)state;
    for (size_t i = 0; i < LINKTEST_SPECS; i++) {
        const struct linktest_image_spec *spec = linktest_specs[i];
        struct linktest_image image = linktest_image_make(spec);
        uint32_t n = spec->tasks, steps = spec->bisection ? n / 2 : n - 1;
        for (uint64_t p = 0; p < (spec->randomized > 0 ? spec->randomized : 1); p++) {
            for (uint32_t r = 0; r < n; r++) {
                size_t at = linktest_image_data(&image, r, p), partners = at + 8 * (size_t)(n - 1);
                for (uint32_t s = 0; s < n - 1; s++) {
                    bool used = s < steps;
                    unsigned flags = used ? 0 : STRICT;
                    const uint64_t no_times[] = {0,
                                                 linktest_image_bits(NAN),
                                                 linktest_image_bits(INFINITY),
                                                 linktest_image_bits(-1e-6),
                                                 UINT64_MAX,
                                                 linktest_image_bits(-0.0)};
                    uint64_t before = linktest_image_get(&image, r, at + 8 * s);
                    for (size_t k = used ? 0 : 1; k < COUNT(no_times); k++) {
                        linktest_image_put(&image, r, at + 8 * s, no_times[k]);
                        refuse_linktest(&image, flags, HPCW_EFORMAT,
                                        used ? ": expected a finite number > 0, got" : "unused slot");
                    }
                    linktest_image_put(&image, r, at + 8 * s, before);
                    /* Tries every other partner, including the rank itself and ranks that do not exist. */
                    uint64_t met = linktest_image_get(&image, r, partners + 8 * s);
                    for (uint64_t q = 0; q <= n + 1; q++) {
                        linktest_image_put(&image, r, partners + 8 * s, q == n + 1 ? UINT64_MAX : q);
                        if (q != met) {
                            refuse_linktest(&image, flags, HPCW_EFORMAT, "");
                        }
                    }
                    linktest_image_put(&image, r, partners + 8 * s, met);
                }
                if (spec->all_to_all) {
                    size_t where = at + 16 * (size_t)(n - 1);
                    uint64_t before = linktest_image_get(&image, r, where);
                    linktest_image_put(&image, r, where, 0);
                    refuse_linktest(&image, 0, HPCW_EFORMAT, "all-to-all time of permutation");
                    linktest_image_put(&image, r, where, before);
                }
            }
        }
        accept_linktest(&image, STRICT);
        linktest_image_free(&image);
    }
}

/* Rows that are valid alone but contradict each other: two steps of one task are swapped. */
static void partners_that_disagree(void **state) {
    (void)state;
    const struct linktest_image_spec *const specs[] = {&linktest_plain, &linktest_rich, &linktest_halves,
                                                       &linktest_spread};
    for (size_t i = 0; i < COUNT(specs); i++) {
        struct linktest_image image = linktest_image_make(specs[i]);
        uint32_t n = specs[i]->tasks, steps = specs[i]->bisection ? n / 2 : n - 1;
        for (uint32_t r = 0; r < n; r++) {
            size_t at = linktest_image_data(&image, r, 0);
            for (uint32_t s = 1; s < steps; s++) {
                /* The timings are swapped as well, so only the schedule is wrong. */
                for (size_t array = 0; array < 2; array++) {
                    size_t a = at + 8 * (array * (n - 1)), b = a + 8 * s;
                    uint64_t first = linktest_image_get(&image, r, a), other = linktest_image_get(&image, r, b);
                    linktest_image_put(&image, r, a, other);
                    linktest_image_put(&image, r, b, first);
                }
                refuse_linktest(&image, 0, HPCW_EFORMAT, "expected pairs that name each other");
                for (size_t array = 0; array < 2; array++) {
                    size_t a = at + 8 * (array * (n - 1)), b = a + 8 * s;
                    uint64_t first = linktest_image_get(&image, r, a), other = linktest_image_get(&image, r, b);
                    linktest_image_put(&image, r, a, other);
                    linktest_image_put(&image, r, b, first);
                }
            }
        }
        accept_linktest(&image, STRICT);
        linktest_image_free(&image);
    }
}

/* With the same two steps swapped on all tasks, the schedule is valid. */
static void any_order_of_steps(void **state) {
    (void)state;
    struct linktest_image image = linktest_image_make(&linktest_plain);
    for (uint32_t r = 0; r < 6; r++) {
        for (size_t array = 0; array < 2; array++) {
            size_t a = linktest_image_data(&image, r, 0) + 40 * array, b = a + 16;
            uint64_t first = linktest_image_get(&image, r, a), other = linktest_image_get(&image, r, b);
            linktest_image_put(&image, r, a, other);
            linktest_image_put(&image, r, b, first);
        }
    }
    accept_linktest(&image, STRICT);
    linktest_image_free(&image);
}

/* Flips every bit of every stream. A change may be accepted only where no other value depends on it. */
static void flipped_bits(void **state) {
    (void)state;
    struct linktest_image image = linktest_image_make(&linktest_plain);
    size_t retests = image.summary + 56, free_bytes = 0;
    for (uint32_t r = 0; r < linktest_plain.tasks; r++) {
        for (size_t at = 0; at < image.size[r]; at++) {
            unsigned char *byte = linktest_image_byte(&image, r, at);
            for (int bit = 0; bit < 8; bit++) {
                *byte ^= (unsigned char)(1 << bit);
                hpcw_error err = {0};
                hpcw_status status = judge_linktest(&image, STRICT, &err);
                *byte ^= (unsigned char)(1 << bit);
                if (status != HPCW_OK) {
                    assert_true(status == HPCW_EFORMAT || status == HPCW_ERANGE);
                    continue;
                }
                free_bytes++;
                size_t head = r == 0 ? image.host : 0;
                bool name_or_core = at >= head + 4 && at < head + 15;
                bool hash = r == 0 && at >= 20 && at < 60;
                bool flags = r == 0 && at >= 70 && at < 82;
                /* Byte 130, the number of permutations, may be 1 instead of 0: tasks are then renumbered. */
                bool numbers = r == 0 && ((at >= 82 && at < 106) || (at == 130 && bit == 0));
                bool retest = r == 0 && at >= retests && at < retests + 8 * linktest_plain.retests;
                bool times = r == 0 && ((at >= image.summary && at < image.summary + 20) ||
                                        (at >= image.summary + image.summary_size - 32 &&
                                         at < image.summary + image.summary_size - 12));
                /* The average is checked with a tolerance, so the last bits of a timing below the average may
                 * change. */
                bool average = r == 0 && at >= image.summary + 40 && at < image.summary + 48;
                size_t data = linktest_image_data(&image, r, 0);
                bool timing = at >= data && at < data + 8 * (linktest_plain.tasks - 1);
                if (!name_or_core && !hash && !flags && !numbers && !retest && !times && !average && !timing) {
                    fail_msg("bit %d of byte %zu of rank %u: a change is accepted: expected a rule for it in "
                             "the reader, or its place in the list above this message",
                             bit, at, (unsigned)r);
                }
            }
        }
    }
    assert_true(free_bytes > 0);
    linktest_image_free(&image);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_times),          cmocka_unit_test(damaged_summaries),
        cmocka_unit_test(damaged_slow_lists),     cmocka_unit_test(damaged_rows),
        cmocka_unit_test(partners_that_disagree), cmocka_unit_test(any_order_of_steps),
        cmocka_unit_test(flipped_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
