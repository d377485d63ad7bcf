/* SPDX-License-Identifier: BSD-3-Clause */
/* Several threads write different tasks of one handle. The files have the bytes that one thread writes. The
 * thread sanitizer shows races. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hpcw/hpcw.h>

#include "tests/support/files.h"
#include "tests/support/linktest_cases.h"

enum { THREADS = 4, TASKS = 200, ROUNDS = 40 };

/* ---- containers ---- */

/* Distribution of the work over threads and in time. */
struct order {
    unsigned threads;
    bool task_by_task; /* all rounds of one task, then the next task; otherwise all tasks in turn */
    unsigned shifts;   /* number of periods: the tasks of a thread change with each */
};

struct job {
    hpcw_sion *sion;
    const struct order *order;
    unsigned number;
    unsigned shift;
    bool keys;
    hpcw_status status;
    hpcw_error err;
};

static unsigned char byte_of(uint32_t task, unsigned round, size_t k) {
    return (unsigned char)(task * 31 + round * 7 + k);
}

/* Writes small records, and some larger than a buffer. Every seventh record is reserved, and filled a round
 * later. */
static hpcw_status write_round(struct job *j, uint32_t t, unsigned round, uint64_t *place) {
    unsigned char data[700];
    size_t size = round % 10 == 9 ? 600 : 1 + (t * 13 + round * 5) % 90;
    for (size_t k = 0; k < size; k++) {
        data[k] = byte_of(t, round, k);
    }
    if (j->keys) {
        return hpcw_sion_write_key(j->sion, t, round, data, size, &j->err);
    }
    if (round % 7 == 3) {
        return hpcw_sion_reserve(j->sion, t, 50, place, &j->err);
    }
    hpcw_status s = hpcw_sion_write(j->sion, t, data, size, &j->err);
    if (s == HPCW_OK && round % 7 == 4) {
        s = hpcw_sion_fill(j->sion, t, *place, data, size < 50 ? size : 50, &j->err);
    }
    return s;
}

/* Writes the rounds of one period (shift) of this thread's tasks. */
static void *write_tasks(void *context) {
    struct job *j = context;
    static uint64_t place[TASKS]; /* places of reserved records, which another thread may fill */
    unsigned shifts = j->order->shifts;
    unsigned first = ROUNDS * j->shift / shifts;
    unsigned count = ROUNDS * (j->shift + 1) / shifts - first;
    uint32_t own = (TASKS - j->number + j->order->threads - 1) / j->order->threads;
    for (uint32_t n = 0; n < own * count && j->status == HPCW_OK; n++) {
        uint32_t nth = j->order->task_by_task ? n / count : n % own;
        unsigned round = first + (j->order->task_by_task ? n % count : n / own);
        uint32_t t = nth * j->order->threads + j->number;
        j->status = write_round(j, t, round, &place[t]);
        (void)hpcw_sion_stream_size(j->sion, t);
    }
    return NULL;
}

static hpcw_status write_container(const char *path, const struct order *order, uint64_t buffer_size,
                                   hpcw_sion_content content, hpcw_sink_source source, hpcw_error *err) {
    hpcw_sion_options o;
    hpcw_sion_options_init(&o);
    o.count = TASKS;
    o.chunk_size = 1000;
    o.fs_block_size = 512;
    o.files = 3;
    o.content = content;
    o.buffer_size = buffer_size;
    o.durability = HPCW_SYNC_NONE;
    o.sink_source = source;
    hpcw_sion *h;
    assert_int_equal(hpcw_sion_open(path, NULL, &o, &h, err), HPCW_OK);
    hpcw_status worst = HPCW_OK;
    for (unsigned shift = 0; shift < order->shifts; shift++) {
        static struct job job[THREADS];
        pthread_t thread[THREADS];
        for (unsigned i = 0; i < order->threads; i++) {
            unsigned number = (i + shift) % order->threads;
            job[i] =
                (struct job){h, order, number, shift, content == HPCW_SION_KEYVAL, HPCW_OK, {.message = ""}};
            assert_int_equal(pthread_create(&thread[i], NULL, write_tasks, &job[i]), 0);
        }
        for (unsigned i = 0; i < order->threads; i++) {
            assert_int_equal(pthread_join(thread[i], NULL), 0);
            worst = job[i].status != HPCW_OK ? job[i].status : worst;
        }
    }
    hpcw_status s = hpcw_sion_close(h, err);
    hpcw_sion_free(h);
    return s != HPCW_OK ? s : worst;
}

static void containers_do_not_show_the_threads(void **state) {
    (void)state;
    /* With 0 there are no buffers. With 600 bytes few tasks have a buffer at a time, with 16 KiB many. With 16
     * MiB each task has a small buffer and some have a large one in turn; with 128 MiB each has a large one. */
    static const uint64_t buffer_sizes[] = {0, 600, 1 << 14, 16 << 20, 128 << 20};
    static const struct order orders[] = {{1, false, 1},      {1, true, 1},        {THREADS, false, 1},
                                          {THREADS, true, 1}, {THREADS, false, 3}, {THREADS, true, 5}};
    char dir[2][256];
    char path[2][600];
    for (unsigned k = 0; k < 2; k++) {
        scratch_make(dir[k], sizeof dir[k]);
        (void)snprintf(path[k], sizeof path[k], "%s/x.sion", dir[k]);
    }
    for (int content = HPCW_SION_RECORDS; content <= HPCW_SION_KEYVAL; content++) {
        for (size_t i = 0; i < sizeof buffer_sizes / sizeof buffer_sizes[0] * 6; i++) {
            hpcw_error err = {.message = ""};
            unsigned k = i > 0; /* all containers are compared with the first */
            hpcw_status s = write_container(path[k], &orders[i % 6], buffer_sizes[i / 6],
                                            (hpcw_sion_content)content, (hpcw_sink_source){NULL, NULL}, &err);
            if (s != HPCW_OK) {
                fail_msg("%s", err.message);
            }
            for (unsigned f = 0; k > 0 && f < 3; f++) {
                size_t size[2] = {0, 0};
                unsigned char *data[2];
                for (unsigned side = 0; side < 2; side++) {
                    char name[640];
                    (void)snprintf(name, sizeof name, f == 0 ? "%s" : "%s.%06u", path[side], f);
                    data[side] = read_file(name, &size[side]);
                    assert_non_null(data[side]);
                }
                bool same = same_bytes(path[1], data[0], size[0], data[1], size[1]);
                free(data[0]);
                free(data[1]);
                assert_true(same);
            }
        }
    }
    scratch_remove(dir[0]);
    scratch_remove(dir[1]);
}

/* Space runs out for all threads at once. All threads report the same reason, and so does the close. */
static hpcw_status open_small(void *context, const char *path, uint64_t tag, bool creates, hpcw_sink **out,
                              hpcw_error *err) {
    (void)path;
    (void)tag;
    (void)creates;
    hpcw_sink *inner;
    hpcw_status s = hpcw_sink_open_null(&inner, err);
    if (s == HPCW_OK) {
        s = hpcw_sink_open_limited(inner, *(const uint64_t *)context, 0, out, err);
        if (s != HPCW_OK) {
            hpcw_sink_free(inner);
        }
    }
    return s;
}

static void one_failure_for_all_threads(void **state) {
    (void)state;
    for (uint64_t limit = 0; limit < 40000; limit += 7919) {
        for (uint64_t buffer_size = 0; buffer_size <= 4096; buffer_size += 2048) {
            hpcw_error err;
            static const struct order order = {THREADS, false, 1};
            hpcw_status s = write_container("x.sion", &order, buffer_size, HPCW_SION_STREAM,
                                            (hpcw_sink_source){open_small, &limit}, &err);
            assert_int_equal(s, HPCW_ENOSPC);
            assert_non_null(strstr(err.message, "no space"));
        }
    }
}

/* ---- results ---- */

struct share {
    const struct linktest_case *c;
    hpcw_linktest *lt;
    const hpcw_linktest_schedule *schedule; /* shared; read only */
    uint64_t permutation;
    unsigned number, threads;
    hpcw_status status;
};

static void *write_timings(void *context) {
    struct share *j = context;
    for (uint32_t r = j->number; r < j->c->params.tasks && j->status == HPCW_OK; r += j->threads) {
        uint64_t time[64];
        char host[32];
        for (uint32_t s = 0; s < hpcw_linktest_steps(&j->c->params); s++) {
            time[s] = linktest_case_time(j->c, j->permutation, r, hpcw_linktest_partner(j->schedule, r, s));
        }
        linktest_case_host(r, host, sizeof host);
        if (j->permutation == 0) {
            j->status = hpcw_linktest_task(j->lt, r, host, linktest_case_core(r), NULL);
        }
        if (j->status == HPCW_OK) {
            j->status =
                hpcw_linktest_timings(j->lt, r, time, NULL, linktest_case_all_to_all(j->permutation, r), NULL);
        }
    }
    return NULL;
}

static void write_result(const struct linktest_case *c, unsigned threads, const char *path) {
    hpcw_linktest_params p = c->params;
    p.count = p.tasks;
    p.files = 1;
    p.durability = HPCW_SYNC_NONE;
    hpcw_linktest *lt;
    assert_int_equal(hpcw_linktest_open(path, NULL, &p, &lt, NULL), HPCW_OK);
    for (uint64_t m = 0; m < hpcw_linktest_permutations(&p); m++) {
        struct share share[THREADS];
        pthread_t thread[THREADS];
        hpcw_linktest_schedule *schedule;
        assert_int_equal(hpcw_linktest_schedule_new(&p, m, &schedule, NULL), HPCW_OK);
        for (unsigned i = 0; i < threads; i++) {
            share[i] = (struct share){c, lt, schedule, m, i, threads, HPCW_OK};
            assert_int_equal(pthread_create(&thread[i], NULL, write_timings, &share[i]), 0);
        }
        for (unsigned i = 0; i < threads; i++) {
            assert_int_equal(pthread_join(thread[i], NULL), 0);
            assert_int_equal(share[i].status, HPCW_OK);
        }
        hpcw_linktest_schedule_free(schedule);
        char start[HPCW_LINKTEST_TIME_SIZE];
        char end[HPCW_LINKTEST_TIME_SIZE];
        linktest_case_text(m, false, start, sizeof start);
        linktest_case_text(m, true, end, sizeof end);
        assert_int_equal(hpcw_linktest_end_permutation(lt, start, end, NULL, NULL), HPCW_OK);
    }
    assert_int_equal(hpcw_linktest_close(lt, NULL), HPCW_OK);
    hpcw_linktest_free(lt);
}

static void results_do_not_show_the_threads(void **state) {
    (void)state;
    char dir[2][256];
    for (unsigned i = 0; i < linktest_case_count; i++) {
        size_t size[2] = {0, 0};
        unsigned char *data[2];
        for (unsigned k = 0; k < 2; k++) {
            char path[512];
            scratch_make(dir[k], sizeof dir[k]);
            (void)snprintf(path, sizeof path, "%s/x.sion", dir[k]);
            write_result(&linktest_cases[i], k == 0 ? 1 : THREADS, path);
            data[k] = read_file(path, &size[k]);
            assert_non_null(data[k]);
            scratch_remove(dir[k]);
        }
        bool same = same_bytes(linktest_cases[i].name, data[0], size[0], data[1], size[1]);
        free(data[0]);
        free(data[1]);
        assert_true(same);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(containers_do_not_show_the_threads),
        cmocka_unit_test(one_failure_for_all_threads),
        cmocka_unit_test(results_do_not_show_the_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
