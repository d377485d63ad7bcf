/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of a container do not depend on how small writes are buffered. All buffer sizes, orders of tasks,
 * and threads that pass tasks to each other give the file of an unbuffered writer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>
#include <semaphore.h>

#include <hpcw/sion.h>

#include "libwriter/io/sys.h"
#include "tests/support/files.h"
#include "tests/support/random.h"

enum order { TASK_AFTER_TASK, IN_TURN, FEW_IN_TURN, AT_RANDOM, ORDERS };

/* Each task writes `records` records of random sizes up to `largest`. */
struct stream {
    uint32_t tasks;
    uint32_t records;
    size_t largest;
    uint64_t chunk;
};

/* Random bytes. Each record is a part of them, chosen by record_of. */
static unsigned char pool[1 << 18];

static size_t record_of(const struct stream *s, uint32_t task, uint32_t k, size_t *at) {
    uint64_t seed = (uint64_t)task << 32 | k;
    size_t size = (size_t)random_below(&seed, s->largest + 1);
    *at = (size_t)random_below(&seed, sizeof pool - s->largest);
    return size;
}

static void write_record(hpcw_sion *h, const struct stream *s, uint32_t task, uint32_t k) {
    hpcw_error err;
    size_t at;
    size_t size = record_of(s, task, k, &at);
    if (hpcw_sion_write(h, task, pool + at, size, &err) != HPCW_OK) {
        (void)fprintf(stderr, "task %u record %u: %s\n", task, k, err.message);
        abort(); /* threads call this, too, and must not use cmocka's asserts */
    }
}

/* Checks the stream size of a task after `records` records, while other threads may take its buffer. */
static void check_stream_size(hpcw_sion *h, const struct stream *s, uint32_t task, uint32_t records) {
    uint64_t want = 0;
    for (uint32_t k = 0; k < records; k++) {
        size_t at;
        want += record_of(s, task, k, &at);
    }
    uint64_t got = hpcw_sion_stream_size(h, task);
    if (got != want) {
        (void)fprintf(stderr, "task %u: expected %llu bytes, got %llu\n", task, (unsigned long long)want,
                      (unsigned long long)got);
        abort();
    }
}

static hpcw_sion *open_stream(const char *path, const struct stream *s, uint64_t buffer_size,
                              hpcw_sion_content content) {
    hpcw_sion_options o;
    hpcw_sion_options_init(&o);
    o.count = s->tasks;
    o.chunk_size = s->chunk;
    o.content = content;
    o.fs_block_size = 512;
    o.buffer_size = buffer_size;
    o.durability = HPCW_SYNC_NONE;
    hpcw_sion *h;
    hpcw_error err;
    (void)remove(path); /* ext4 is slow if the new file replaces another one */
    if (hpcw_sion_open(path, NULL, &o, &h, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    return h;
}

static void close_stream(hpcw_sion *h) {
    hpcw_error err;
    if (hpcw_sion_close(h, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    hpcw_sion_free(h);
}

/* Writes every record once, with tasks in the given order. The records of a task are in order. */
static void write_in_order(hpcw_sion *h, const struct stream *s, enum order order) {
    enum { FEW = 5 };
    uint32_t *next = calloc(s->tasks, sizeof *next);
    uint64_t seed = 7;
    assert_non_null(next);
    switch (order) {
    case TASK_AFTER_TASK:
        for (uint32_t t = 0; t < s->tasks; t++) {
            for (uint32_t k = 0; k < s->records; k++) {
                write_record(h, s, t, k);
            }
        }
        break;
    case IN_TURN:
        for (uint32_t k = 0; k < s->records; k++) {
            for (uint32_t t = 0; t < s->tasks; t++) {
                write_record(h, s, t, k);
            }
        }
        break;
    case FEW_IN_TURN:
        for (uint32_t first = 0; first < s->tasks; first += FEW) {
            for (uint32_t k = 0; k < s->records; k++) {
                for (uint32_t t = first; t < s->tasks && t < first + FEW; t++) {
                    write_record(h, s, t, k);
                }
            }
        }
        break;
    default:
        for (uint64_t left = (uint64_t)s->tasks * s->records; left > 0; left--) {
            uint32_t t = (uint32_t)random_below(&seed, s->tasks);
            while (next[t] == s->records) {
                t = t + 1 == s->tasks ? 0 : t + 1;
            }
            write_record(h, s, t, next[t]++);
        }
        break;
    }
    free(next);
}

static void compare(const char *what, const char *want_path, const char *got_path) {
    size_t want_size, got_size;
    unsigned char *want = read_file(want_path, &want_size);
    unsigned char *got = read_file(got_path, &got_size);
    assert_non_null(want);
    assert_non_null(got);
    /* The files contain their names, which have the same length. */
    static const char name[] = "want.sion";
    for (size_t i = 0; i + sizeof name <= 1088 && i + sizeof name <= got_size; i++) {
        if (memcmp(got + i, "have.sion", sizeof name) == 0) {
            memcpy(got + i, name, sizeof name);
        }
    }
    bool same = same_bytes(what, want, want_size, got, got_size);
    free(want);
    free(got);
    assert_true(same);
}

static void paths(char want[512], char have[512]) {
    (void)snprintf(want, 512, "%s/want.sion", scratch);
    (void)snprintf(have, 512, "%s/have.sion", scratch);
}

static const uint64_t budgets[] = {512, 5000, 100000, (uint64_t)16 << 20, (uint64_t)64 << 20};

static void every_way_of_buffering_gives_the_same_bytes(void **state) {
    (void)state;
    static const struct stream streams[] = {
        {3, 150, 3000, 20000}, /* buffers of the largest size; many blocks */
        {300, 20, 900, 3000},  /* hot slots */
        /* some records are larger than a buffer; some writes bypass the buffers */
        {270, 3, 40000, 40448},
        {2000, 5, 200, 512}, /* chunks of one file system block */
    };
    char want[512], have[512];
    paths(want, have);
    for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++) {
        const struct stream s = streams[i];
        for (int content = HPCW_SION_RECORDS; content <= HPCW_SION_STREAM; content++) {
            hpcw_sion *h = open_stream(want, &s, 0, (hpcw_sion_content)content);
            write_in_order(h, &s, TASK_AFTER_TASK);
            close_stream(h);
            for (size_t b = 0; b < sizeof budgets / sizeof budgets[0]; b++) {
                for (int order = 0; order < ORDERS; order++) {
                    char what[80];
                    (void)snprintf(what, sizeof what, "stream %zu, content %d, budget %llu, order %d", i,
                                   content, (unsigned long long)budgets[b], order);
                    h = open_stream(have, &s, budgets[b], (hpcw_sion_content)content);
                    write_in_order(h, &s, (enum order)order);
                    close_stream(h);
                    compare(what, want, have);
                }
            }
        }
    }
}

/* ---- threads ---- */

enum { THREADS = 4 };

/* In round r, thread n writes the tasks t with (t + r) % THREADS == n. So each task moves from thread to
 * thread. */
struct team {
    hpcw_sion *h;
    const struct stream *s;
    bool in_turn;
    pthread_barrier_t round;
};

struct member {
    struct team *team;
    uint32_t number;
};

static void *work(void *context) {
    struct member *m = context;
    const struct stream *s = m->team->s;
    uint32_t rounds = 6;
    for (uint32_t r = 0; r < rounds; r++) {
        uint32_t begin = s->records * r / rounds;
        uint32_t end = s->records * (r + 1) / rounds;
        if (m->team->in_turn) {
            for (uint32_t k = begin; k < end; k++) {
                for (uint32_t t = 0; t < s->tasks; t++) {
                    if ((t + r) % THREADS == m->number) {
                        write_record(m->team->h, s, t, k);
                    }
                }
            }
        } else {
            for (uint32_t t = 0; t < s->tasks; t++) {
                for (uint32_t k = begin; k < end && (t + r) % THREADS == m->number; k++) {
                    write_record(m->team->h, s, t, k);
                    check_stream_size(m->team->h, s, t, k + 1);
                }
            }
        }
        (void)pthread_barrier_wait(&m->team->round);
    }
    return NULL;
}

static void threads_may_hand_tasks_to_each_other(void **state) {
    (void)state;
    static const struct stream streams[] = {{3, 150, 3000, 20000}, {300, 24, 900, 3000}, {2000, 6, 200, 512}};
    char want[512], have[512];
    paths(want, have);
    for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++) {
        const struct stream *s = &streams[i];
        hpcw_sion *h = open_stream(want, s, 0, HPCW_SION_RECORDS);
        write_in_order(h, s, TASK_AFTER_TASK);
        close_stream(h);
        for (size_t b = 0; b < sizeof budgets / sizeof budgets[0]; b++) {
            for (int in_turn = 0; in_turn < 2; in_turn++) {
                struct team team = {.s = s, .in_turn = in_turn != 0};
                struct member member[THREADS];
                pthread_t thread[THREADS];
                team.h = open_stream(have, s, budgets[b], HPCW_SION_RECORDS);
                assert_int_equal(pthread_barrier_init(&team.round, NULL, THREADS), 0);
                for (uint32_t n = 0; n < THREADS; n++) {
                    member[n] = (struct member){&team, n};
                    assert_int_equal(pthread_create(&thread[n], NULL, work, &member[n]), 0);
                }
                for (uint32_t n = 0; n < THREADS; n++) {
                    assert_int_equal(pthread_join(thread[n], NULL), 0);
                }
                (void)pthread_barrier_destroy(&team.round);
                close_stream(team.h);
                char what[80];
                (void)snprintf(what, sizeof what, "threads, stream %zu, budget %llu, in turn %d", i,
                               (unsigned long long)budgets[b], in_turn);
                compare(what, want, have);
            }
        }
    }
}

/* One thread begins the tasks, and another ends them. The first is at most LEAD tasks ahead, and may have fewer
 * hot slots (shared buffers). */
enum { LEAD = 4 };

struct pipeline {
    hpcw_sion *h;
    const struct stream *s;
    sem_t begun, room;
};

static void *begin_tasks(void *context) {
    struct pipeline *p = context;
    for (uint32_t t = 0; t < p->s->tasks; t++) {
        (void)sem_wait(&p->room);
        for (uint32_t k = 0; k < p->s->records / 2; k++) {
            write_record(p->h, p->s, t, k);
        }
        (void)sem_post(&p->begun);
    }
    return NULL;
}

static void *end_tasks(void *context) {
    struct pipeline *p = context;
    for (uint32_t t = 0; t < p->s->tasks; t++) {
        (void)sem_wait(&p->begun);
        for (uint32_t k = p->s->records / 2; k < p->s->records; k++) {
            write_record(p->h, p->s, t, k);
        }
        (void)sem_post(&p->room);
    }
    return NULL;
}

static void a_thread_may_end_what_another_began(void **state) {
    (void)state;
    static const struct stream s = {200, 24, 900, 3000};
    char want[512], have[512];
    paths(want, have);
    hpcw_sion *h = open_stream(want, &s, 0, HPCW_SION_RECORDS);
    write_in_order(h, &s, TASK_AFTER_TASK);
    close_stream(h);
    for (int round = 0; round < 20; round++) {
        struct pipeline p = {.s = &s};
        pthread_t thread[2];
        p.h = open_stream(have, &s, (uint64_t)16 << 20, HPCW_SION_RECORDS);
        assert_int_equal(sem_init(&p.begun, 0, 0), 0);
        assert_int_equal(sem_init(&p.room, 0, LEAD), 0);
        assert_int_equal(pthread_create(&thread[0], NULL, begin_tasks, &p), 0);
        assert_int_equal(pthread_create(&thread[1], NULL, end_tasks, &p), 0);
        assert_int_equal(pthread_join(thread[0], NULL), 0);
        assert_int_equal(pthread_join(thread[1], NULL), 0);
        (void)sem_destroy(&p.begun);
        (void)sem_destroy(&p.room);
        close_stream(p.h);
        compare("pipeline", want, have);
    }
}

/* ---- reserved pieces and buffers ---- */

static void reserved_pieces_keep_their_place_among_buffered_ones(void **state) {
    (void)state;
    static const struct stream s = {300, 0, 900, 7000};
    char want[512], have[512];
    paths(want, have);
    for (int pass = 0; pass < 2; pass++) {
        hpcw_sion *h =
            open_stream(pass == 0 ? want : have, &s, pass == 0 ? 0 : (uint64_t)64 << 20, HPCW_SION_RECORDS);
        hpcw_error err;
        uint64_t *place = calloc(s.tasks, sizeof *place);
        assert_non_null(place);
        for (uint32_t t = 0; t < s.tasks; t++) {
            write_record(h, &s, t, 0);
            assert_int_equal(hpcw_sion_reserve(h, t, 100, &place[t], &err), HPCW_OK);
            write_record(h, &s, t, 1);
            /* Task t / 2 has lost its hot slot (shared buffer). */
            write_record(h, &s, t / 2, t + 2);
        }
        for (uint32_t t = s.tasks; t-- > 0;) {
            assert_int_equal(hpcw_sion_fill(h, t, place[t], pool + t, 100, &err), HPCW_OK);
        }
        free(place);
        close_stream(h);
    }
    compare("reserved", want, have);
}

static int pieces;

static int count_pieces(enum hpcw_i_sys_call call, size_t *size) {
    pieces += call == HPCW_I_SYS_PWRITE && *size >= 2048 && *size <= 16384;
    return 0;
}

/* Chunks of 64 000 bytes begin at multiples of 4096, and buffers have 16 KiB. Writes end at multiples of 16
 * KiB, so a chunk has a short write at either end. */
static void pieces_end_at_multiples_of_the_slot(void **state) {
    (void)state;
    char want[512];
    char have[512];
    paths(want, have);
    enum { TASKS = 256, RECORDS = 1000, RECORD = 64 };
    hpcw_sion_options o;
    hpcw_sion_options_init(&o);
    o.count = TASKS;
    o.chunk_size = RECORDS * RECORD;
    o.fs_block_size = 4096;
    o.buffer_size = TASKS * 16384;
    o.durability = HPCW_SYNC_NONE;
    hpcw_sion *h;
    pieces = 0;
    hpcw_i_sys_gate = count_pieces;
    assert_int_equal(hpcw_sion_open(have, NULL, &o, &h, NULL), HPCW_OK);
    for (uint32_t r = 0; r < RECORDS; r++) {
        for (uint32_t t = 0; t < TASKS; t++) {
            unsigned char record[RECORD];
            memset(record, (int)(r + t), sizeof record);
            assert_int_equal(hpcw_sion_write(h, t, record, sizeof record, NULL), HPCW_OK);
        }
    }
    close_stream(h);
    hpcw_i_sys_gate = NULL;
    /* Up to 20 further writes: META2, and partly filled buffers, which the library took from the first tasks and
 * gave to later ones. */
    int least = TASKS * 5;
    if (pieces < least || pieces > least + 20) {
        print_error("expected %d pieces, got %d\n", least, pieces);
    }
    assert_true(pieces >= least && pieces <= least + 20);
}

int main(void) {
    uint64_t seed = 1;
    for (size_t i = 0; i < sizeof pool; i++) {
        pool[i] = (unsigned char)random_word(&seed);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_of_buffering_gives_the_same_bytes),
        cmocka_unit_test(threads_may_hand_tasks_to_each_other),
        cmocka_unit_test(a_thread_may_end_what_another_began),
        cmocka_unit_test(reserved_pieces_keep_their_place_among_buffered_ones),
        cmocka_unit_test(pieces_end_at_multiples_of_the_slot),
    };
    return cmocka_run_group_tests(tests, scratch_set_up, scratch_tear_down);
}
