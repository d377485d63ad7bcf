/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the results of the library's collectives with plain loops over all processes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hpcw/clog2_log.h>
#include <hpcw/sion.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/comm/exchange.h"
#include "libwriter/comm/reduce.h"
#include "tests/support/faults.h"
#include "tests/support/random.h"
#include "tests/support/world.h"

/* Word i of process p, computable on all processes. */
static uint64_t word_of(int p, uint64_t i) {
    uint64_t state = (uint64_t)p * 1000 + i;
    return random_word(&state) >> (i % 5 * 13);
}

enum { MOST_WORDS = 5100 };

/* The linker replaces malloc() and calloc() by these functions, also in the library's communicator of MPI. */
static bool no_memory;
/* NOLINTBEGIN(bugprone-reserved-identifier): the linker gives these names */
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size) {
    return no_memory ? NULL : __real_malloc(size);
}
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size) {
    return no_memory ? NULL : __real_calloc(count, size);
}
/* NOLINTEND(bugprone-reserved-identifier) */

/* Expected result of a reduction over the processes [0, end): `sums` sums, `mins` minima and `maxs` maxima. */
static void reduce_by_hand(int end, uint32_t sums, uint32_t mins, uint32_t maxs, uint64_t *word) {
    for (uint32_t i = 0; i < sums + mins + maxs; i++) {
        word[i] = i >= sums && i < sums + mins ? UINT64_MAX : 0;
        for (int p = 0; p < end; p++) {
            uint64_t w = word_of(p, i);
            if (i < sums) {
                word[i] += w;
            } else if (i < sums + mins) {
                word[i] = w < word[i] ? w : word[i];
            } else {
                word[i] = w > word[i] ? w : word[i];
            }
        }
    }
}

static void reductions(void **state) {
    (void)state;
    static const uint32_t shapes[][3] = {{1, 0, 0},       {0, 1, 0},         {0, 0, 1},  {3, 2, 4},
                                         {0, 0, 0},       {32, 0, 0},        {33, 1, 1}, {100, 50, 50},
                                         {1020, 7, 2100}, {3000, 1100, 1000}};
    bool good = true;
    /* A process without memory takes part: if it did not, the others would wait for it. */
    no_memory = process == processes - 1 && !world_of_callbacks();
    for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
        const uint32_t *n = shapes[k];
        size_t bytes = (n[0] + n[1] + n[2]) * sizeof(uint64_t);
        uint64_t mine[MOST_WORDS];
        uint64_t want[MOST_WORDS];
        for (int scan = 0; scan < 2; scan++) {
            for (uint32_t i = 0; i < n[0] + n[1] + n[2]; i++) {
                mine[i] = word_of(process, i);
            }
            struct hpcw_i_words words = {n[0], n[1], n[2], mine};
            hpcw_status s =
                scan ? hpcw_i_comm_exscan(world, &words, NULL) : hpcw_i_comm_allreduce(world, &words, NULL);
            reduce_by_hand(scan ? process : processes, n[0], n[1], n[2], want);
            good = good && s == HPCW_OK && memcmp(mine, want, bytes) == 0;
        }
    }
    no_memory = false;
    assert_true(on_all(good));
}

static void broadcast_and_gather(void **state) {
    (void)state;
    bool good = true;
    for (int root = 0; root < processes; root++) {
        uint64_t mine[3] = {word_of(process, 0), word_of(process, 1), word_of(process, 2)};
        good = good && hpcw_i_comm_bcast(world, mine, sizeof mine, root, NULL) == HPCW_OK;
        good = good && mine[0] == word_of(root, 0) && mine[2] == word_of(root, 2);
    }
    unsigned char mine[5];
    unsigned char *all = malloc(sizeof mine * (size_t)processes);
    memset(mine, process + 1, sizeof mine);
    good = good && all != NULL && hpcw_i_comm_allgather(world, mine, sizeof mine, all, NULL) == HPCW_OK;
    for (size_t i = 0; good && i < sizeof mine * (size_t)processes; i++) {
        good = all[i] == i / sizeof mine + 1;
    }
    free(all);
    assert_true(on_all(good));
    assert_int_equal(hpcw_comm_process(world), process);
    assert_int_equal(hpcw_comm_size(world), processes);
}

/* Number of words from process a to process b in a round; often 0. */
static uint64_t length_of(unsigned round, int a, int b) {
    uint64_t state = round * 100u + (unsigned)a * 10u + (unsigned)b;
    uint64_t kind = random_below(&state, 4);
    return kind == 0 ? 0 : random_below(&state, kind == 1 ? 3 : kind == 2 ? 100 : 40000);
}

static uint64_t payload(unsigned round, int a, int b, uint64_t i) {
    return ((uint64_t)round << 48) + ((uint64_t)a << 40) + ((uint64_t)b << 32) + i;
}

static uint64_t *messages_from(unsigned round, int a, int only, uint64_t *words) {
    uint64_t total = 0;
    for (int b = 0; b < processes; b++) {
        words[b] = only < 0 || b == only ? length_of(round, a, b) : 0;
        total += words[b];
    }
    uint64_t *out = malloc((total + 1) * sizeof *out);
    uint64_t at = 0;
    for (int b = 0; out != NULL && b < processes; b++) {
        for (uint64_t i = 0; i < words[b]; i++) {
            out[at++] = payload(round, a, b, i);
        }
    }
    return out;
}

static void exchange(void **state) {
    (void)state;
    bool good = true;
    uint64_t *words = calloc((size_t)processes, 2 * sizeof *words);
    for (unsigned round = 0; round < 40; round++) {
        uint64_t *out = messages_from(round, process, -1, words);
        uint64_t *in = NULL;
        good = good && hpcw_i_comm_exchange(world, out, words, &in, words + processes, NULL) == HPCW_OK;
        uint64_t at = 0;
        for (int a = 0; good && a < processes; a++) {
            good = words[processes + a] == length_of(round, a, process);
            for (uint64_t i = 0; good && i < words[processes + a]; i++) {
                good = in[at++] == payload(round, a, process, i);
            }
        }
        hpcw_i_free(in);
        free(out);
    }
    free(words);
    assert_true(on_all(good));
}

/* The messages to several processes overlap in the sender's memory: process b gets the words from b on. They are
 * received into memory that grows and is reused. */
static void exchange_of_parts(void **state) {
    (void)state;
    enum { MOST = 1000 };
    bool good = true;
    struct hpcw_i_inbox room = {0};
    uint64_t *words = calloc((size_t)processes, 3 * sizeof *words), *at = words + 2 * processes;
    uint64_t *out = calloc(MOST + (size_t)processes, sizeof *out);
    for (uint64_t i = 0; i < MOST + (uint64_t)processes; i++) {
        out[i] = payload(0, process, 0, i);
    }
    static const uint64_t lengths[] = {1, 9, 3, 10, 0, MOST};
    for (size_t n = 0; n < sizeof lengths / sizeof lengths[0]; n++) {
        uint64_t length = lengths[n];
        for (int b = 0; b < processes; b++) {
            words[b] = length;
            at[b] = (uint64_t)b;
        }
        good = good &&
               hpcw_i_comm_exchange_at(world, out, at, words, &room, words + processes, NULL) == HPCW_OK &&
               room.capacity >= length * (uint64_t)processes;
        for (int a = 0; good && a < processes; a++) {
            good = words[processes + a] == length;
            for (uint64_t i = 0; good && i < length; i++) {
                good = room.words[(uint64_t)a * length + i] == payload(0, a, 0, (uint64_t)process + i);
            }
        }
    }
    hpcw_i_free(room.words);
    free(out);
    free(words);
    assert_true(on_all(good));
}

/* One process has no memory. All learn of it, and none waits. */
static void exchange_without_memory(void **state) {
    (void)state;
    uint64_t *words = calloc((size_t)processes, 2 * sizeof *words);
    for (int culprit = 0; culprit < processes; culprit++) {
        for (unsigned long n = 1; n <= 2; n++) {
            uint64_t *out = messages_from(7, process, -1, words);
            uint64_t *in = (uint64_t *)words; /* the call must set it to NULL */
            hpcw_error err = {.message = ""};
            fault_arm(FAULT_NOMEM, process == culprit ? n : 0);
            hpcw_status s = hpcw_i_comm_exchange(world, out, words, &in, words + processes, &err);
            bool met = fault_disarm();
            bool good = s == HPCW_ENOMEM && in == NULL && met == (process == culprit) && err.process == culprit;
            free(out);
            assert_true(on_all(good));
            assert_true(same_verdict(s, &err));
        }
    }
    free(words);
}

/* ---- collect ---- */

struct collected {
    unsigned round;
    int root, from;
    bool good;
    int fail_at; /* index of the message to refuse; -1: none */
};

static int sender_of(const struct collected *c) {
    return c->from == 0 ? c->root : c->from - 1 < c->root ? c->from - 1 : c->from;
}

static hpcw_status take(void *context, const uint64_t *message, size_t words, hpcw_error *err) {
    struct collected *c = context;
    int a = sender_of(c);
    c->good = c->good && words == length_of(c->round, a, c->root);
    for (size_t i = 0; c->good && i < words; i++) {
        c->good = message[i] == payload(c->round, a, c->root, i);
    }
    return c->from++ == c->fail_at ? hpcw_i_fail(err, HPCW_EFORMAT, "no more") : HPCW_OK;
}

static void collect(void **state) {
    (void)state;
    bool good = true;
    uint64_t *words = calloc((size_t)processes, sizeof *words);
    for (unsigned round = 0; round < 40; round++) {
        int root = (int)(round % (unsigned)processes);
        uint64_t *out = messages_from(round, process, root, words);
        struct collected c = {round, root, 0, true, round % 4 == 3 ? (int)(round / 4) % processes : -1};
        hpcw_error err = {.message = ""};
        hpcw_status s = hpcw_i_comm_collect(world, root, out, words[root], take, &c, &err);
        hpcw_status want = process == root && c.fail_at >= 0 ? HPCW_EFORMAT : HPCW_OK;
        good = good && c.good && s == want;
        good = good && (process != root || c.from == (c.fail_at >= 0 ? c.fail_at + 1 : processes));
        free(out);
    }
    free(words);
    assert_true(on_all(good));
}

static hpcw_status count_message(void *context, const uint64_t *message, size_t words, hpcw_error *err) {
    (void)message;
    (void)words;
    (void)err;
    ++*(int *)context;
    return HPCW_OK;
}

static void collect_without_memory(void **state) {
    (void)state;
    if (world_of_callbacks()) {
        skip(); /* with a communicator of callbacks, the root gets all messages at once, or none */
    }
    bool good = true;
    for (int root = 0; root < processes; root++) {
        for (unsigned large = 0; large < 2; large++) {
            size_t n = large ? 300000 : 10; /* lengths that MPI sends by rendezvous and eagerly */
            uint64_t *out = calloc(n, sizeof *out);
            for (unsigned again = 0; again < 2; again++) {
                int taken = 0;
                hpcw_error err = {.message = ""};
                fault_arm(FAULT_NOMEM, process == root && again == 0 ? 1 : 0);
                hpcw_status s = hpcw_i_comm_collect(world, root, out, n, count_message, &taken, &err);
                bool met = fault_disarm();
                good = good && met == (process == root && again == 0 && processes > 1);
                good = good && s == (met ? HPCW_ENOMEM : HPCW_OK);
                good = good && taken == (process != root ? 0 : met ? 1 : processes);
            }
            free(out);
        }
    }
    assert_true(on_all(good));
}

/* ---- reduce, agree, split ---- */

/* Appends the words of `right` to `left`. The operation is not commutative, so the result shows the order of the
 * processes. */
static void append(void *context, uint64_t *left, const uint64_t *right) {
    (void)context;
    for (uint64_t i = 0; i < right[0]; i++) {
        left[1 + left[0]++] = right[1 + i];
    }
}

static void reduces_records(void **state) {
    (void)state;
    enum { WORDS = 200 };
    uint64_t record[WORDS] = {0};
    record[0] = (uint64_t)process % 3; /* some processes have no words */
    for (uint64_t i = 0; i < record[0]; i++) {
        record[1 + i] = (uint64_t)process * 10 + i;
    }
    bool good = hpcw_i_comm_reduce(world, record, WORDS, append, NULL, NULL) == HPCW_OK;
    uint64_t at = 0;
    for (int p = 0; p < processes; p++) {
        for (uint64_t i = 0; i < (uint64_t)p % 3; i++) {
            good = good && record[1 + at++] == (uint64_t)p * 10 + i;
        }
    }
    assert_true(on_all(good && record[0] == at));
    for (int culprit = 0; culprit < processes && processes > 1; culprit++) {
        hpcw_error err = {.message = ""};
        fault_arm(FAULT_NOMEM, process == culprit ? 1 : 0);
        hpcw_status s = hpcw_i_comm_reduce(world, record, WORDS, append, NULL, &err);
        (void)fault_disarm();
        assert_true(on_all(s == HPCW_ENOMEM));
        assert_true(same_verdict(s, &err));
    }
}

static void agreement(void **state) {
    (void)state;
    for (int last = 0; last < processes; last++) {
        /* Processes `first` .. `last` fail, each with its own status and message. All processes must get those of
         * process `first`. */
        for (int first = 0; first <= last; first++) {
            bool fails = process >= first && process <= last;
            uint64_t word[3] = {1, (uint64_t)process, (uint64_t)process};
            struct hpcw_i_words words = {1, 1, 1, word};
            hpcw_error err = {.message = "as before"};
            hpcw_status mine = fails ? (hpcw_status)(-20 - process % 4) : HPCW_OK;
            if (fails) {
                (void)hpcw_i_fail(&err, mine, "process %d", process);
            }
            hpcw_status s = hpcw_i_agree(world, mine, &words, &err);
            char want[32];
            (void)snprintf(want, sizeof want, "process %d", first);
            bool good = s == (hpcw_status)(-20 - first % 4) && strcmp(err.message, want) == 0;
            good = good && (processes == 1 || err.process == first);
            good = good && word[1] == (uint64_t)process; /* after a failure no word is reduced */
            assert_true(on_all(good));
            /* Odd processes pass err = &err, even ones NULL. */
            s = hpcw_i_agree(world, mine, NULL, process % 2 == 0 ? NULL : &err);
            assert_true(on_all(s == (hpcw_status)(-20 - first % 4)));
        }
    }
    uint64_t word[64];
    for (uint32_t i = 0; i < 64; i++) {
        word[i] = word_of(process, i);
    }
    struct hpcw_i_words words = {20, 21, 23, word};
    hpcw_error err = {.message = "as before"};
    hpcw_status s = hpcw_i_agree(world, HPCW_OK, &words, &err);
    uint64_t want[64];
    reduce_by_hand(processes, 20, 21, 23, want);
    assert_true(on_all(s == HPCW_OK && memcmp(word, want, sizeof want) == 0));
    assert_true(on_all(strcmp(err.message, "as before") == 0));
}

static void splitting(void **state) {
    (void)state;
    hpcw_comm *part = NULL;
    uint32_t colour = process % 2 == 0 ? 7 : UINT32_MAX;
    hpcw_status s = hpcw_i_comm_split(world, colour, &part, NULL);
    assert_true(on_all(s == HPCW_OK));
    int want = (processes + 1 - process % 2) / 2;
    bool good = hpcw_comm_size(part) == want && hpcw_comm_process(part) == process / 2;
    uint64_t word = (uint64_t)process;
    struct hpcw_i_words words = {.sums = 1, .word = &word};
    good = good && hpcw_i_comm_allreduce(part, &words, NULL) == HPCW_OK;
    uint64_t sum = 0;
    for (int p = process % 2; p < processes; p += 2) {
        sum += (uint64_t)p;
    }
    good = good && word == sum;
    hpcw_comm_free(part);
    assert_true(on_all(good));
}

static void constructors(void **state) {
    (void)state;
    hpcw_comm *comm = (hpcw_comm *)&state;
    hpcw_error err;
    assert_true(on_all(hpcw_comm_from_mpi(MPI_COMM_NULL, &comm, &err) == HPCW_EINVAL && comm == NULL));
    assert_true(
        on_all(hpcw_comm_from_mpi(MPI_COMM_WORLD, NULL, &err) == HPCW_EINVAL && err.code == HPCW_EINVAL));
    assert_true(on_all(hpcw_comm_from_mpi(MPI_COMM_WORLD, &comm, &err) == HPCW_OK));
    MPI_Errhandler handler;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
    assert_true(on_all(handler == MPI_ERRORS_ARE_FATAL)); /* the caller's communicator is unchanged */
    hpcw_comm_free(comm);
}

/* ---- Callbacks ---- */

/* Simulates a failing program: each call returns `fails` if it is not 0. */
static int fails;

static int failing_broadcast(void *context, void *data, size_t size, int root) {
    return fails != 0 ? fails : MPI_Bcast(data, (int)size, MPI_BYTE, root, *(MPI_Comm *)context);
}

static int failing_gather(void *context, const void *mine, size_t size, void *all, const size_t *sizes,
                          int root) {
    (void)sizes; /* all processes pass the same size */
    return fails != 0
               ? fails
               : MPI_Gather(mine, (int)size, MPI_BYTE, all, (int)size, MPI_BYTE, root, *(MPI_Comm *)context);
}

static int failing_scatter(void *context, const void *all, const size_t *sizes, void *mine, size_t size,
                           int root) {
    (void)sizes;
    return fails != 0
               ? fails
               : MPI_Scatter(all, (int)size, MPI_BYTE, mine, (int)size, MPI_BYTE, root, *(MPI_Comm *)context);
}

static void callbacks(void **state) {
    (void)state;
    MPI_Comm mpi = MPI_COMM_WORLD;
    hpcw_comm *comm = (hpcw_comm *)&state;
    hpcw_error err;
    hpcw_comm_callbacks calls;
    hpcw_comm_callbacks_init(&calls);
    calls.broadcast = failing_broadcast;
    calls.gather = failing_gather;
    assert_true(on_all(hpcw_comm_from_callbacks(&calls, &mpi, 0, 1, &comm, &err) == HPCW_EINVAL &&
                       comm == NULL && strstr(err.message, "scatter") != NULL));
    calls.scatter = failing_scatter;
    assert_true(on_all(hpcw_comm_from_callbacks(&calls, &mpi, 1, 1, &comm, &err) == HPCW_EINVAL));
    assert_true(on_all(hpcw_comm_from_callbacks(&calls, &mpi, -1, 2, &comm, &err) == HPCW_EINVAL));
    assert_true(on_all(hpcw_comm_from_callbacks(&calls, &mpi, 0, 0, &comm, &err) == HPCW_EINVAL));
    assert_true(on_all(hpcw_comm_from_callbacks(&calls, &mpi, 0, 1, NULL, &err) == HPCW_EINVAL));
    assert_true(on_all(hpcw_comm_from_callbacks(NULL, &mpi, 0, 1, &comm, &err) == HPCW_EINVAL));
    assert_true(on_all(hpcw_comm_from_callbacks(&calls, &mpi, process, processes, &comm, &err) == HPCW_OK));

    /* A function that needs a callback that is NULL fails on all processes. */
    hpcw_sion *sion;
    hpcw_sion_options options;
    hpcw_sion_options_init(&options);
    options.files = 0;
    assert_true(on_all(hpcw_sion_open("colours.sion", comm, &options, &sion, &err) == HPCW_ECOMM &&
                       strstr(err.message, "expected callback split, got NULL") != NULL));
    hpcw_clog2_log *log;
    hpcw_status s = hpcw_clog2_log_open("log.clog2", comm, NULL, &log, &err);
    assert_true(on_all(s == HPCW_EINVAL && strstr(err.message, "messages between two processes") != NULL));

    /* A failing callback is an error of the library's call. */
    uint64_t word = 1;
    struct hpcw_i_words words = {.sums = 1, .word = &word};
    assert_true(on_all(hpcw_i_comm_allreduce(comm, &words, &err) == HPCW_OK && word == (uint64_t)processes));
    fails = 17;
    s = hpcw_i_comm_allreduce(comm, &words, &err);
    bool good = processes == 1 || (s == HPCW_ECOMM && strstr(err.message, "callback returned 17") != NULL);
    fails = 0;
    assert_true(on_all(good));
    hpcw_comm_free(comm);
}

static void splitting_without_memory(void **state) {
    (void)state;
    hpcw_comm *part = NULL;
    hpcw_error err = {.message = ""};
    no_memory = process == processes - 1;
    hpcw_status s = hpcw_i_comm_split(world, 0, &part, &err);
    no_memory = false;
    assert_true(on_all(s == HPCW_ENOMEM && part == NULL && strstr(err.message, "out of memory") != NULL));
}

int main(int argc, char **argv) {
    world_begin(&argc, &argv, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reductions),
        cmocka_unit_test(broadcast_and_gather),
        cmocka_unit_test(exchange),
        cmocka_unit_test(exchange_of_parts),
        cmocka_unit_test(exchange_without_memory),
        cmocka_unit_test(collect),
        cmocka_unit_test(collect_without_memory),
        cmocka_unit_test(reduces_records),
        cmocka_unit_test(agreement),
        cmocka_unit_test(splitting),
        cmocka_unit_test(splitting_without_memory),
        cmocka_unit_test(constructors),
        cmocka_unit_test(callbacks),
    };
    return world_end(cmocka_run_group_tests(tests, NULL, NULL));
}
