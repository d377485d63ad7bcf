/* SPDX-License-Identifier: BSD-3-Clause */
/* A communicator of one process: collectives copy, and an agreement returns the process's own status. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/comm/exchange.h"
#include "libwriter/comm/reduce.h"

static hpcw_comm *self;

static void one_process(void **state) {
    (void)state;
    hpcw_comm *made = NULL;
    hpcw_error err;
    assert_int_equal(hpcw_comm_self(&made, &err), HPCW_OK);
    assert_int_equal(hpcw_comm_process(made), 0);
    assert_int_equal(hpcw_comm_size(made), 1);
    hpcw_comm_free(made);
    hpcw_comm_free(NULL);
    assert_int_equal(hpcw_comm_process(NULL), 0);
    assert_int_equal(hpcw_comm_size(NULL), 1);
    assert_int_equal(hpcw_comm_self(NULL, &err), HPCW_EINVAL);
    assert_non_null(strstr(err.message, "NULL"));
    assert_ptr_equal(hpcw_i_comm_or_self(NULL), self);
    assert_ptr_equal(hpcw_i_comm_or_self(made), made);
}

static void collectives_are_copies(void **state) {
    (void)state;
    uint64_t word[4] = {7, 8, 9, 10};
    struct hpcw_i_words words = {1, 1, 2, word};
    assert_int_equal(hpcw_i_comm_allreduce(self, &words, NULL), HPCW_OK);
    assert_true(word[0] == 7 && word[1] == 8 && word[2] == 9 && word[3] == 10);
    assert_int_equal(hpcw_i_comm_exscan(self, &words, NULL), HPCW_OK);
    assert_true(word[0] == 0 && word[1] == UINT64_MAX && word[2] == 0 && word[3] == 0);

    char text[6] = "hello";
    char all[6] = "";
    assert_int_equal(hpcw_i_comm_bcast(self, text, sizeof text, 0, NULL), HPCW_OK);
    assert_int_equal(hpcw_i_comm_allgather(self, text, sizeof text, all, NULL), HPCW_OK);
    assert_string_equal(all, "hello");

    const uint64_t send[3] = {1, 2, 3};
    for (uint64_t n = 0; n <= 3; n++) {
        uint64_t *got = NULL;
        uint64_t got_words = 99;
        assert_int_equal(hpcw_i_comm_exchange(self, send, &n, &got, &got_words, NULL), HPCW_OK);
        assert_true(got_words == n && got != NULL);
        assert_int_equal(memcmp(got, send, n * sizeof *got), 0);
        hpcw_i_free(got);
    }
    hpcw_comm *part = NULL;
    assert_int_equal(hpcw_i_comm_split(self, 5, &part, NULL), HPCW_OK);
    assert_int_equal(hpcw_comm_size(part), 1);
}

static hpcw_status take_sum(void *context, const uint64_t *message, size_t words, hpcw_error *err) {
    uint64_t *sum = context;
    for (size_t i = 0; i < words; i++) {
        *sum += message[i];
    }
    return *sum == 0 ? hpcw_i_fail(err, HPCW_ERANGE, "nothing") : HPCW_OK;
}

static void collect_and_merge(void **state) {
    (void)state;
    uint64_t record[2] = {4, 5};
    uint64_t sum = 0;
    hpcw_error err;
    assert_int_equal(hpcw_i_comm_collect(self, 0, record, 2, take_sum, &sum, &err), HPCW_OK);
    assert_true(sum == 9);
    sum = 0;
    assert_int_equal(hpcw_i_comm_collect(self, 0, NULL, 0, take_sum, &sum, &err), HPCW_ERANGE);
    assert_string_equal(err.message, "nothing");
    assert_int_equal(hpcw_i_comm_reduce(self, record, 2, NULL, NULL, &err), HPCW_OK);
    assert_true(record[0] == 4 && record[1] == 5);
}

static void an_agreement_with_oneself(void **state) {
    (void)state;
    uint64_t word[2] = {1, 2};
    struct hpcw_i_words words = {.sums = 2, .word = word};
    hpcw_error err;
    assert_int_equal(hpcw_i_agree(self, HPCW_OK, &words, &err), HPCW_OK);
    assert_true(word[0] == 1 && word[1] == 2);
    hpcw_status s = hpcw_i_fail(&err, HPCW_ENOENT, "gone");
    assert_int_equal(hpcw_i_agree(self, s, &words, &err), HPCW_ENOENT);
    assert_string_equal(err.message, "gone");
    assert_int_equal(hpcw_i_agree(self, HPCW_ENOENT, NULL, NULL), HPCW_ENOENT);
}

int main(void) {
    self = hpcw_i_comm_or_self(NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_process),
        cmocka_unit_test(collectives_are_copies),
        cmocka_unit_test(collect_and_merge),
        cmocka_unit_test(an_agreement_with_oneself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
