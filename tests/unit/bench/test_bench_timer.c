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
};

/* The other process answers after a while, and is never the one that has waited long enough. */
static int gather(void *context, const void *mine, size_t size, void *all, const size_t *sizes, int root) {
    (void)mine, (void)size, (void)all, (void)sizes, (void)root;
    struct others *o = context;
    o->calls++;
    (void)nanosleep(&(struct timespec){.tv_nsec = o->wait_ns}, NULL);
    return 0;
}

static int broadcast(void *context, void *data, size_t size, int root) {
    (void)context, (void)data, (void)size, (void)root;
    return 0;
}

static int scatter(void *context, const void *all, const size_t *sizes, void *mine, size_t size, int root) {
    (void)context, (void)all, (void)sizes, (void)mine, (void)size, (void)root;
    return 0;
}

static unsigned calls_with(long wait_ns, bool crowded) {
    struct others o = {.wait_ns = wait_ns};
    struct bench_processes p = {.process = 1, .count = 2, .crowded = crowded};
    hpcw_comm_callbacks callbacks;
    hpcw_comm_callbacks_init(&callbacks);
    callbacks.gather = gather;
    callbacks.broadcast = broadcast;
    callbacks.scatter = scatter;
    assert_int_equal(hpcw_comm_from_callbacks(&callbacks, &o, 1, 2, &p.comm, NULL), HPCW_OK);
    bench_timer_settle(&p);
    hpcw_comm_free(p.comm);
    return o.calls;
}

/* Processes that share processors wait often, but not for long. */
static void waits_end_on_a_busy_machine(void **state) {
    (void)state;
    assert_int_equal(calls_with(0, false), 1);
    const unsigned slow = calls_with(20000000, true);
    print_message("%u waits of 20 ms\n", slow);
    assert_true(slow >= 2 && slow <= 5); /* 2: this process was not scheduled for 50 ms */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(waits_end_on_a_busy_machine)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
