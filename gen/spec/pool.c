/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/spec/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

enum { MOST_THREADS = 256 };

struct pool_run {
    const struct gen_pool_work *work;
    uint64_t end;
    uint64_t run;
    atomic_uint_fast64_t next;
    atomic_bool failed;
    pthread_mutex_t lock; /* guards the members status and why, and calls of work->end */
    hpcw_status status;
    uint64_t failed_index;
    hpcw_error error;
};

static void keep_failure(struct pool_run *s, hpcw_status status, uint64_t index, const hpcw_error *e) {
    (void)pthread_mutex_lock(&s->lock);
    if (s->status == HPCW_OK || index < s->failed_index) {
        s->status = status;
        s->failed_index = index;
        s->error = *e;
    }
    (void)pthread_mutex_unlock(&s->lock);
    atomic_store(&s->failed, true);
}

static void *work_on(void *shared) {
    struct pool_run *s = shared;
    hpcw_error e = {.message = ""};
    void *state = hpcw_i_calloc(1, s->work->state_size);
    hpcw_status status = state == NULL            ? hpcw_i_fail_memory(&e, s->work->name, 0, NULL)
                         : s->work->begin == NULL ? HPCW_OK
                                                  : s->work->begin(s->work->context, state, &e);
    if (status != HPCW_OK) {
        keep_failure(s, status, 0, &e);
    }
    while (status == HPCW_OK && !atomic_load_explicit(&s->failed, memory_order_relaxed)) {
        uint64_t from = atomic_fetch_add(&s->next, s->run);
        if (from >= s->end) {
            break;
        }
        uint64_t to = s->end - from < s->run ? s->end : from + s->run;
        for (uint64_t i = from; i < to && status == HPCW_OK; i++) {
            status = s->work->step(s->work->context, state, i, &e);
            if (status != HPCW_OK) {
                keep_failure(s, status, i, &e);
            }
        }
    }
    if (state != NULL && s->work->end != NULL) {
        (void)pthread_mutex_lock(&s->lock);
        s->work->end(s->work->context, state);
        (void)pthread_mutex_unlock(&s->lock);
    }
    hpcw_i_free(state);
    return NULL;
}

uint32_t gen_pool_threads(uint32_t jobs, uint64_t runs) {
    const uint32_t wanted = jobs > MOST_THREADS ? MOST_THREADS : jobs;
    return wanted > runs ? (uint32_t)runs : wanted;
}

hpcw_status gen_pool_run(uint32_t jobs, uint64_t first, uint64_t count, uint64_t run,
                         const struct gen_pool_work *work, hpcw_error *err) {
    struct pool_run s = {.work = work, .end = first + count, .run = run == 0 ? 1 : run};
    atomic_init(&s.next, first);
    atomic_init(&s.failed, false);
    (void)pthread_mutex_init(&s.lock, NULL);
    uint64_t runs = (count + s.run - 1) / s.run;
    pthread_t thread[MOST_THREADS];
    const uint32_t wanted = gen_pool_threads(jobs, runs);
    uint32_t started = 0;
    while (started + 1 < wanted && pthread_create(&thread[started], NULL, work_on, &s) == 0) {
        started++;
    }
    if (count > 0) {
        (void)work_on(&s);
    }
    for (uint32_t t = 0; t < started; t++) {
        (void)pthread_join(thread[t], NULL);
    }
    (void)pthread_mutex_destroy(&s.lock);
    if (s.status != HPCW_OK && err != NULL) {
        *err = s.error;
    }
    return s.status;
}

uint32_t gen_pool_processors(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) {
        return 1;
    }
    return (uint32_t)CPU_COUNT(&set);
}
