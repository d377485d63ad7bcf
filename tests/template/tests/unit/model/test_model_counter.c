/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <string.h>

#include "gen/model/counter/counter.h"

static struct model_counter made(uint64_t most, double stuck_share, uint64_t seed) {
    const struct model_counter_params p = {.most = most, .stuck_share = stuck_share};
    struct model_counter m;
    assert_int_equal(model_counter_init(&m, &p, 10000, seed, NULL), HPCW_OK);
    return m;
}

/* A seed must always give the same file, so these values never change. */
static void known_values(void **state) {
    (void)state;
    static const uint64_t known[4] = {921489, 607275, 116064, 22275};
    const struct model_counter m = made(1000000, 0.01, 1);
    uint64_t got[4];
    for (uint32_t rank = 0; rank < 4; rank++) {
        got[rank] = model_counter_value(&m, rank);
    }
    if (memcmp(got, known, sizeof got) != 0) {
        fail_msg("got {%" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 "}", got[0], got[1], got[2], got[3]);
    }
}

static void values_follow_the_parameters(void **state) {
    (void)state;
    const struct model_counter m = made(6, 0.25, 7);
    unsigned seen[7] = {0};
    for (uint32_t rank = 0; rank < m.ranks; rank++) {
        uint64_t value = model_counter_value(&m, rank);
        assert_in_range(value, 0, 6);
        assert_int_equal(value == 0, model_counter_stuck(&m, rank));
        seen[value]++;
    }
    assert_in_range(seen[0], 2300, 2700);
    for (unsigned value = 1; value <= 6; value++) {
        assert_in_range(seen[value], 1100, 1400);
    }
}

static void no_ranks(void **state) {
    (void)state;
    struct model_counter_params p;
    struct model_counter m;
    model_counter_params_init(&p);
    assert_int_equal(model_counter_init(&m, &p, 0, 1, NULL), HPCW_ERANGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_values),
        cmocka_unit_test(values_follow_the_parameters),
        cmocka_unit_test(no_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
