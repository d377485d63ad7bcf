/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits of processes that share processors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include <hpcw/comm.h>

#include "bench/measure/timer.h"

struct others {
    unsigned calls;
    long wait_ns;
    int result; /* of each call; not 0: the exchange fails */
};

/* The other process answers after a while, and is never the one that has waited long enough. */
static int gather(void *context, const void *mine, size_t size, void *all, const size_t *sizes, int root) {
    (void)mine, (void)size, (void)all, (void)sizes, (void)root;
    struct others *o = context;
    o->calls++;
    (void)nanosleep(&(struct timespec){.tv_nsec = o->wait_ns}, NULL);
    return o->result;
}

static int broadcast(void *context, void *data, size_t size, int root) {
    (void)context, (void)data, (void)size, (void)root;
    return 0;
}

static int scatter(void *context, const void *all, const size_t *sizes, void *mine, size_t size, int root) {
    (void)context, (void)all, (void)sizes, (void)mine, (void)size, (void)root;
    return 0;
}

static unsigned calls_with(struct others o, bool crowded, hpcw_status expected) {
    struct bench_processes p = {.process = 1, .count = 2, .crowded = crowded};
    hpcw_comm_callbacks callbacks;
    hpcw_comm_callbacks_init(&callbacks);
    callbacks.gather = gather;
    callbacks.broadcast = broadcast;
    callbacks.scatter = scatter;
    assert_int_equal(hpcw_comm_from_callbacks(&callbacks, &o, 1, 2, &p.comm, NULL), HPCW_OK);
    assert_int_equal(bench_timer_settle(&p, NULL), expected);
    hpcw_comm_free(p.comm);
    return o.calls;
}

/* Processes that share processors wait often, but not for long. */
static void waits_end_on_a_busy_machine(void **state) {
    (void)state;
    assert_int_equal(calls_with((struct others){0}, false, HPCW_OK), 1);
    const unsigned slow = calls_with((struct others){.wait_ns = 20000000}, true, HPCW_OK);
    print_message("%u waits of 20 ms\n", slow);
    assert_true(slow >= 2 && slow <= 5); /* 2: this process was not scheduled for 50 ms */
}

/* Processes that cannot wait for each other are not timed. */
static void a_failed_wait_is_reported(void **state) {
    (void)state;
    assert_int_equal(calls_with((struct others){.result = 1}, true, HPCW_ECOMM), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(waits_end_on_a_busy_machine),
                                       cmocka_unit_test(a_failed_wait_is_reported)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
