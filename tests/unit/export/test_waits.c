/* SPDX-License-Identifier: BSD-3-Clause */
/* gen/waits: each wait of small logs has the expected seconds, and the critical path adds up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/export/clog2.h"
#include "gen/waits/waits.h"
#include "libwriter/base/mem.h"
#include "tests/support/files.h"
#include "tests/support/happens.h"
#include "tests/support/random.h"

static char path[300];

static int make(void **state) {
    (void)scratch_set_up(state);
    (void)snprintf(path, sizeof path, "%s/app.clog2", scratch);
    return 0;
}

static struct gen_waits waits_of(uint32_t ranks, const struct happens *h, size_t count) {
    struct gen_waits w;
    hpcw_error err = {0};
    write_log(path, ranks, h, count);
    if (gen_waits_read(path, &w, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    assert_int_equal(w.ranks, ranks);
    uint64_t path_ns = 0;
    for (size_t i = 0; i < w.shares; i++) {
        path_ns += w.share[i].time_ns;
    }
    assert_int_equal(path_ns, w.end_ns - w.begin_ns);
    return w;
}
#define WAITS_OF(ranks, log) waits_of(ranks, log, sizeof(log) / sizeof(log)[0])

static uint64_t told_ns;
static void add_told(void *context, const struct gen_waits_wait *wait) {
    const struct gen_waits *w = context;
    assert_true(wait->from_ns < wait->to_ns && wait->call < w->names && wait->cause_call < w->names);
    assert_true(wait->rank < w->ranks && wait->cause_rank < w->ranks);
    told_ns += wait->to_ns - wait->from_ns;
}

/* ---- expectations ---- */

static uint64_t ns(double seconds) {
    return (uint64_t)(seconds * 1e9 + 0.5);
}

static void expect_wait(const struct gen_waits *w, enum gen_waits_kind kind, uint32_t rank, uint64_t count,
                        double seconds) {
    assert_int_equal(w->rank[rank].kind[kind].count, count);
    assert_int_equal(w->rank[rank].kind[kind].time_ns, ns(seconds));
}

/* Checks all waits of all ranks. */
static void expect_waits(const struct gen_waits *w, uint64_t count, double seconds) {
    struct gen_waits_sum by_rank = {0}, by_pair = {0};
    uint64_t caused_ns = 0;
    for (uint32_t r = 0; r < w->ranks; r++) {
        for (int kind = 0; kind < GEN_WAITS_KINDS; kind++) {
            by_rank.count += w->rank[r].kind[kind].count;
            by_rank.time_ns += w->rank[r].kind[kind].time_ns;
        }
        caused_ns += w->rank[r].caused_ns;
    }
    for (size_t i = 0; i < w->pairs; i++) {
        by_pair.count += w->pair[i].sum.count;
        by_pair.time_ns += w->pair[i].sum.time_ns;
    }
    assert_int_equal(by_rank.count, count);
    assert_int_equal(by_pair.count, count);
    assert_int_equal(by_rank.time_ns, ns(seconds));
    assert_int_equal(by_pair.time_ns, ns(seconds));
    assert_int_equal(caused_ns, ns(seconds));
    /* gen_waits_watch reports each wait once. */
    struct gen_waits again;
    told_ns = 0;
    assert_int_equal(gen_waits_watch(path, add_told, &again, &again, NULL), HPCW_OK);
    gen_waits_free(&again);
    assert_int_equal(told_ns, ns(seconds));
}

static void expect_pair(const struct gen_waits *w, size_t i, enum gen_waits_kind kind, int call, int cause,
                        double seconds) {
    assert_true(i < w->pairs);
    assert_int_equal(w->pair[i].kind, kind);
    assert_string_equal(w->name[w->pair[i].call], state_name[call]);
    assert_string_equal(w->name[w->pair[i].cause], state_name[cause]);
    assert_int_equal(w->pair[i].sum.time_ns, ns(seconds));
}

/* Checks how long the critical path is in a state of a rank, s. state -1: in no state. */
static void expect_path(const struct gen_waits *w, uint32_t rank, int state, double seconds) {
    uint64_t time_ns = 0;
    for (size_t i = 0; i < w->shares; i++) {
        const struct gen_waits_share *s = &w->share[i];
        if (s->rank == rank && strcmp(w->name[s->state], state < 0 ? "" : state_name[state]) == 0) {
            time_ns += s->time_ns;
        }
    }
    assert_int_equal(time_ns, ns(seconds));
}

/* ---- messages ---- */

static void late_sender(void **state) {
    (void)state;
    static const struct happens log[] = {
        BEGIN(0, 0, COMPUTE), END(4, 0, COMPUTE), BEGIN(4, 0, SEND), SENT(4, 0, 1),     END(5, 0, SEND),
        BEGIN(0, 1, COMPUTE), END(1, 1, COMPUTE), BEGIN(1, 1, RECV), RECEIVED(6, 1, 0), END(6, 1, RECV),
    };
    struct gen_waits w = WAITS_OF(2, log);
    expect_waits(&w, 1, 3);
    expect_wait(&w, GEN_WAITS_LATE_SENDER, 1, 1, 3);
    expect_pair(&w, 0, GEN_WAITS_LATE_SENDER, RECV, SEND, 3);
    assert_int_equal(w.rank[0].caused_ns, ns(3));
    expect_path(&w, 0, COMPUTE, 4);
    expect_path(&w, 1, RECV, 2);
    assert_int_equal(w.rank[0].path_ns, ns(4));
    assert_int_equal(w.messages, 1);
    assert_int_equal(w.unmatched, 0);
    gen_waits_free(&w);
}

/* A receive whose message has already arrived does not wait. */
static void early_sender(void **state) {
    (void)state;
    static const struct happens log[] = {
        BEGIN(1, 0, SEND), SENT(1, 0, 1),     END(2, 0, SEND),
        BEGIN(3, 1, RECV), RECEIVED(4, 1, 0), END(4, 1, RECV),
    };
    struct gen_waits w = WAITS_OF(2, log);
    expect_waits(&w, 0, 0);
    expect_path(&w, 1, RECV, 1);
    expect_path(&w, 1, -1, 2); /* before its receive, rank 1 is in no state */
    gen_waits_free(&w);
}

/* A call that completes several receives waits once, for the last send. */
static void late_sender_of_several(void **state) {
    (void)state;
    static const struct happens log[] = {
        BEGIN(3, 0, ISEND), SENT(3, 0, 2),        END(3.5, 0, ISEND), BEGIN(5, 1, SEND), SENT(5, 1, 2),
        END(6, 1, SEND),    BEGIN(1, 2, WAITALL), RECEIVED(7, 2, 1),  RECEIVED(7, 2, 0), END(7, 2, WAITALL),
    };
    struct gen_waits w = WAITS_OF(3, log);
    expect_waits(&w, 1, 4);
    expect_wait(&w, GEN_WAITS_LATE_SENDER, 2, 1, 4);
    expect_pair(&w, 0, GEN_WAITS_LATE_SENDER, WAITALL, SEND, 4);
    expect_path(&w, 2, WAITALL, 2);
    expect_path(&w, 1, -1, 4);
    gen_waits_free(&w);
}

/* The waits of a rank for another rank are one row. The longest row is first. */
static void ranks_that_wait(void **state) {
    (void)state;
    static const struct happens log[] = {
        BEGIN(1, 0, SEND),   SENT(1, 0, 1),     END(1.5, 0, SEND), BEGIN(5, 2, SEND),   SENT(5, 2, 1),
        END(5.5, 2, SEND),   BEGIN(6, 0, SEND), SENT(6, 0, 1),     END(6.5, 0, SEND),   BEGIN(0, 1, RECV),
        RECEIVED(2, 1, 0),   END(2, 1, RECV),   BEGIN(2, 1, RECV), RECEIVED(5.5, 1, 2), END(5.5, 1, RECV),
        BEGIN(5.5, 1, RECV), RECEIVED(7, 1, 0), END(7, 1, RECV),
    };
    struct gen_waits w = WAITS_OF(3, log);
    expect_waits(&w, 3, 4.5);
    assert_int_equal(w.betweens, 2);
    for (uint32_t i = 0; i < 2; i++) {
        const struct gen_waits_ranks *between = &w.between[i];
        assert_int_equal(between->rank, 1);
        assert_int_equal(between->cause, i == 0 ? 2 : 0);
        assert_int_equal(between->sum.count, i == 0 ? 1 : 2);
        assert_int_equal(between->sum.time_ns, ns(i == 0 ? 3 : 1.5));
    }
    gen_waits_free(&w);
}

/* A send waits for a late receive, whichever call ends first. */
static void late_receiver(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        const struct happens log[] = {
            BEGIN(1, 0, SEND),    SENT(1, 0, 1),      END(i == 0 ? 6 : 8, 0, SEND),
            BEGIN(0, 1, COMPUTE), END(4, 1, COMPUTE), BEGIN(4, 1, RECV),
            RECEIVED(7, 1, 0),    END(7, 1, RECV),
        };
        struct gen_waits w = WAITS_OF(2, log);
        expect_waits(&w, 1, 3);
        expect_wait(&w, GEN_WAITS_LATE_RECEIVER, 0, 1, 3);
        expect_pair(&w, 0, GEN_WAITS_LATE_RECEIVER, SEND, RECV, 3);
        expect_path(&w, 1, COMPUTE, 4);
        expect_path(&w, 1, RECV, i == 0 ? 3 : 0);
        expect_path(&w, 0, SEND, i == 0 ? 0 : 4);
        gen_waits_free(&w);
    }
}

/* MPI_Irecv posts a receive. A call that completes several receives completes those posted first. */
static void late_post(void **state) {
    (void)state;
    static const struct happens log[] = {
        BEGIN(1, 0, SEND),    SENT(1, 0, 2),      END(7, 0, SEND),    BEGIN(2, 1, SEND),  SENT(2, 1, 2),
        END(7, 1, SEND),      BEGIN(3, 2, IRECV), END(3.5, 2, IRECV), BEGIN(4, 2, IRECV), END(4.5, 2, IRECV),
        BEGIN(6, 2, WAITALL), RECEIVED(7, 2, 0),  RECEIVED(7, 2, 1),  END(7, 2, WAITALL),
    };
    struct gen_waits w = WAITS_OF(3, log);
    expect_waits(&w, 2, 4);
    expect_wait(&w, GEN_WAITS_LATE_RECEIVER, 0, 1, 2);
    expect_wait(&w, GEN_WAITS_LATE_RECEIVER, 1, 1, 2);
    assert_int_equal(w.rank[2].caused_ns, ns(4));
    gen_waits_free(&w);
}

/* A persistent receive has no MPI_Irecv in the log, so an MPI_Waitall that completes it is matched with the next
 * MPI_Irecv. This shifts the later matches by one. The message of rank 1 is received by the MPI_Irecv at time 3,
 * but its wait is computed with the MPI_Irecv at time 6, and is too long. */
static void persistent_receive(void **state) {
    (void)state;
    static const struct happens log[] = {
        BEGIN(0, 0, SEND),  SENT(0, 0, 2),        END(0.5, 0, SEND),  BEGIN(0.5, 2, WAITALL),
        RECEIVED(1, 2, 0),  END(1, 2, WAITALL),   BEGIN(2, 1, SEND),  SENT(2, 1, 2),
        END(8, 1, SEND),    BEGIN(3, 2, IRECV),   END(3.5, 2, IRECV), BEGIN(6, 2, IRECV),
        END(6.5, 2, IRECV), BEGIN(7, 2, WAITALL), RECEIVED(8, 2, 1),  END(8, 2, WAITALL),
    };
    struct gen_waits w = WAITS_OF(3, log);
    expect_waits(&w, 1, 4);
    expect_wait(&w, GEN_WAITS_LATE_RECEIVER, 1, 1, 4);
    gen_waits_free(&w);
}

/* MPI_Waitall completes a send of MPI_Isend, and waits for the receive of this message, whichever call ends
 * first. */
static void late_receiver_of_started(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        const struct happens log[] = {
            BEGIN(0, 1, COMPUTE), BEGIN(1, 0, ISEND), SENT(1, 0, 1),      END(1.5, 0, ISEND),
            BEGIN(2, 0, WAITALL), END(5, 1, COMPUTE), BEGIN(5, 1, IRECV), END(5.5, 1, IRECV),
            BEGIN(6, 1, WAITALL), RECEIVED(7, 1, 0),  END(7, 1, WAITALL), END(i == 0 ? 6.5 : 8, 0, WAITALL),
        };
        struct gen_waits w = WAITS_OF(2, log);
        expect_waits(&w, 1, 3);
        expect_wait(&w, GEN_WAITS_LATE_RECEIVER, 0, 1, 3);
        expect_pair(&w, 0, GEN_WAITS_LATE_RECEIVER, WAITALL, WAITALL, 3);
        assert_int_equal(w.rank[1].caused_ns, ns(3));
        gen_waits_free(&w);
    }
}

/* MPI_Waitall first waits for a late sender. It then completes two sends, and waits once, for the receive that
 * is posted last. */
static void late_receivers_of_several(void **state) {
    (void)state;
    static const struct happens log[] = {
        BEGIN(1, 0, ISEND),  SENT(1, 0, 1),        END(1.2, 0, ISEND),  BEGIN(1.4, 0, ISEND), SENT(1.4, 0, 2),
        END(1.6, 0, ISEND),  BEGIN(2, 0, WAITALL), BEGIN(3, 1, SEND),   SENT(3, 1, 0),        END(3.5, 1, SEND),
        RECEIVED(3.6, 0, 1), BEGIN(5, 1, RECV),    RECEIVED(5.5, 1, 0), END(5.5, 1, RECV),    BEGIN(7, 2, RECV),
        END(8, 0, WAITALL),  RECEIVED(9, 2, 0),    END(9, 2, RECV),
    };
    struct gen_waits w = WAITS_OF(3, log);
    expect_waits(&w, 2, 5);
    expect_wait(&w, GEN_WAITS_LATE_SENDER, 0, 1, 1);
    expect_wait(&w, GEN_WAITS_LATE_RECEIVER, 0, 1, 4);
    assert_int_equal(w.rank[2].caused_ns, ns(4));
    gen_waits_free(&w);
}

/* The log ends before one of the messages is received. The wait for the other one is found all the same. */
static void started_and_never_received(void **state) {
    (void)state;
    static const struct happens log[] = {
        BEGIN(1, 0, ISEND),  SENT(1, 0, 1),      END(1.2, 0, ISEND),   BEGIN(1.4, 0, ISEND),
        SENT(1.4, 0, 2),     END(1.6, 0, ISEND), BEGIN(2, 0, WAITALL), BEGIN(5, 1, RECV),
        RECEIVED(5.5, 1, 0), END(5.5, 1, RECV),  END(8, 0, WAITALL),
    };
    struct gen_waits w = WAITS_OF(3, log);
    expect_waits(&w, 1, 3);
    expect_wait(&w, GEN_WAITS_LATE_RECEIVER, 0, 1, 3);
    assert_int_equal(w.unmatched, 1);
    gen_waits_free(&w);
}

/* An eager send is completed before its receive is posted. No later call waits for that receive. */
static void no_late_receiver_of_started(void **state) {
    (void)state;
    static const struct happens log[] = {
        BEGIN(1, 0, ISEND),   SENT(1, 0, 1),     END(1.5, 0, ISEND), BEGIN(2, 0, WAITALL), END(3, 0, WAITALL),
        BEGIN(4, 0, WAITALL), BEGIN(6, 1, RECV), RECEIVED(7, 1, 0),  END(7, 1, RECV),      END(9, 0, WAITALL),
    };
    struct gen_waits w = WAITS_OF(2, log);
    expect_waits(&w, 0, 0);
    gen_waits_free(&w);
}

/* MPI_Wait either receives a message or completes the oldest send. */
static void started_one_by_one(void **state) {
    (void)state;
    static const struct happens log[] = {
        BEGIN(1, 0, ISEND),  SENT(1, 0, 1),       END(1.2, 0, ISEND), BEGIN(1.4, 0, ISEND), SENT(1.4, 0, 2),
        END(1.6, 0, ISEND),  BEGIN(1.8, 3, SEND), SENT(1.8, 3, 0),    END(1.9, 3, SEND),    BEGIN(2, 0, WAIT),
        BEGIN(2.5, 1, RECV), RECEIVED(2.8, 0, 3), END(2.8, 0, WAIT),  BEGIN(3, 0, WAIT),    RECEIVED(3.5, 1, 0),
        END(3.5, 1, RECV),   END(3.5, 0, WAIT),   BEGIN(4, 0, WAIT),  BEGIN(7, 2, RECV),    RECEIVED(8, 2, 0),
        END(8, 2, RECV),     END(8, 0, WAIT),
    };
    struct gen_waits w = WAITS_OF(4, log);
    expect_waits(&w, 1, 3);
    expect_wait(&w, GEN_WAITS_LATE_RECEIVER, 0, 1, 3);
    assert_int_equal(w.rank[2].caused_ns, ns(3));
    gen_waits_free(&w);
}

/* MPI_Sendrecv waits for a late sender, and then for a late receiver, whichever call ends first. */
static void exchange_with_two(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        const struct happens log[] = {
            BEGIN(1, 0, SENDRECV),
            SENT(1, 0, 2),
            BEGIN(3, 1, SEND),
            SENT(3, 1, 0),
            RECEIVED(4, 0, 1),
            END(4, 1, SEND),
            END(i == 0 ? 7 : 9, 0, SENDRECV),
            BEGIN(6, 2, RECV),
            RECEIVED(8, 2, 0),
            END(8, 2, RECV),
        };
        struct gen_waits w = WAITS_OF(3, log);
        expect_waits(&w, 2, 5);
        expect_wait(&w, GEN_WAITS_LATE_SENDER, 0, 1, 2);
        expect_wait(&w, GEN_WAITS_LATE_RECEIVER, 0, 1, 3);
        gen_waits_free(&w);
    }
}

/* An eager send does not wait. A call that completes receives does not show when they were posted. MPI_Isend
 * never waits. */
static void no_late_receiver(void **state) {
    (void)state;
    static const struct {
        int send, receive;
        double sent;
    } other[] = {{SEND, RECV, 2}, {SEND, RECV, 4}, {SEND, WAITALL, 6}, {ISEND, RECV, 6}, {SENDRECV, RECV, 4}};
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++) {
        const struct happens log[] = {
            BEGIN(1, 0, other[i].send),    SENT(1, 0, 1),     END(other[i].sent, 0, other[i].send),
            BEGIN(4, 1, other[i].receive), RECEIVED(7, 1, 0), END(7, 1, other[i].receive),
        };
        struct gen_waits w = WAITS_OF(2, log);
        expect_waits(&w, 0, 0);
        assert_int_equal(w.messages, 1);
        gen_waits_free(&w);
    }
}

/* Both ranks send and receive in one call. The earlier rank waits once for the later rank. */
static void exchange(void **state) {
    (void)state;
    static const struct happens log[] = {
        BEGIN(1, 0, SENDRECV), SENT(1, 0, 1), RECEIVED(6, 0, 1), END(6, 0, SENDRECV),
        BEGIN(5, 1, SENDRECV), SENT(5, 1, 0), RECEIVED(7, 1, 0), END(7, 1, SENDRECV),
    };
    struct gen_waits w = WAITS_OF(2, log);
    expect_waits(&w, 1, 4);
    expect_wait(&w, GEN_WAITS_LATE_SENDER, 0, 1, 4);
    gen_waits_free(&w);
}

/* Counts a text in the log's export for Chrome. */
static unsigned in_export(const char *text) {
    const struct gen_export what = {.form = GEN_EXPORT_CHROME, .to_s = 1e9, .last_rank = UINT32_MAX};
    struct gen_exported done;
    hpcw_sink *sink;
    hpcw_error err = {0};
    assert_int_equal(hpcw_sink_open_memory(&sink, &err), HPCW_OK);
    if (gen_export_clog2.run(path, &what, sink, &done, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    size_t size;
    const char *bytes = hpcw_sink_memory_data(sink, &size);
    unsigned count = 0;
    for (const char *at = bytes; (at = memmem(at, size - (size_t)(at - bytes), text, strlen(text))) != NULL;
         at++) {
        count++;
    }
    hpcw_sink_free(sink);
    return count;
}

/* Messages of two communicators may have the same tag, and need not arrive in the order they were sent. */
static void messages_of_communicators(void **state) {
    (void)state;
    static const struct happens log[] = {
        BEGIN(1, 0, ISEND),     SENT(1, 0, 1),      END(1.5, 0, ISEND), BEGIN(3, 0, ISEND),
        SENT_ON(3, 0, 1, PAIR), END(3.5, 0, ISEND), BEGIN(2, 1, RECV),  RECEIVED_ON(4, 1, 0, PAIR),
        END(4, 1, RECV),        BEGIN(5, 1, RECV),  RECEIVED(6, 1, 0),  END(6, 1, RECV),
    };
    struct gen_waits w = WAITS_OF(2, log);
    assert_int_equal(w.messages, 2);
    expect_waits(&w, 1, 1);
    expect_wait(&w, GEN_WAITS_LATE_SENDER, 1, 1, 1);
    gen_waits_free(&w);
    assert_int_equal(in_export("\"id\":\"1\""), 2);
    assert_int_equal(in_export("\"id\":\"2\""), 2);
}

/* ---- collective calls ---- */

static void collective(void **state) {
    (void)state;
    static const struct happens log[] = {
        BEGIN(1, 0, BARRIER), END(6, 0, BARRIER), BEGIN(2, 1, BARRIER), END(6, 1, BARRIER),
        BEGIN(0, 2, COMPUTE), END(5, 2, COMPUTE), BEGIN(5, 2, BARRIER), END(6, 2, BARRIER),
    };
    struct gen_waits w = WAITS_OF(3, log);
    expect_waits(&w, 2, 7);
    expect_wait(&w, GEN_WAITS_COLLECTIVE, 0, 1, 4);
    expect_wait(&w, GEN_WAITS_COLLECTIVE, 1, 1, 3);
    expect_pair(&w, 0, GEN_WAITS_COLLECTIVE, BARRIER, BARRIER, 7);
    assert_int_equal(w.rank[2].caused_ns, ns(7));
    assert_int_equal(w.collectives, 1);
    expect_path(&w, 2, COMPUTE, 5);
    expect_path(&w, 0, BARRIER, 1);
    gen_waits_free(&w);
}

/* A call that makes a communicator waits for all ranks of the old communicator. */
static void a_new_communicator(void **state) {
    (void)state;
    static const struct happens log[] = {
        BEGIN(1, 0, CART),
        END(5, 0, CART),
        BEGIN(4, 1, CART),
        END(5, 1, CART),
    };
    struct gen_waits w = WAITS_OF(2, log);
    expect_waits(&w, 1, 3);
    expect_wait(&w, GEN_WAITS_COLLECTIVE, 0, 1, 3);
    expect_pair(&w, 0, GEN_WAITS_COLLECTIVE, CART, CART, 3);
    gen_waits_free(&w);
}

/* A rank that leaves before the last one enters has not waited for it. */
static void leaves_early(void **state) {
    (void)state;
    static const struct happens log[] = {
        BEGIN(1, 0, BCAST), END(1.5, 0, BCAST), BEGIN(3, 1, BCAST),
        END(5, 1, BCAST),   BEGIN(4, 2, BCAST), END(4.5, 2, BCAST),
    };
    struct gen_waits w = WAITS_OF(3, log);
    expect_waits(&w, 1, 1);
    expect_wait(&w, GEN_WAITS_COLLECTIVE, 1, 1, 1);
    assert_int_equal(w.incomplete, 0);
    gen_waits_free(&w);
}

/* Calls of one communicator do not wait for those of another. */
static void communicators(void **state) {
    (void)state;
    static const struct happens log[] = {
        BEGIN_ON(1, 0, BARRIER, PAIR), END_ON(4, 0, BARRIER, PAIR),
        BEGIN_ON(3, 1, BARRIER, PAIR), END_ON(4, 1, BARRIER, PAIR),
        BEGIN(5, 0, BARRIER),          END(9, 0, BARRIER),
        BEGIN(5, 1, BARRIER),          END(9, 1, BARRIER),
        BEGIN(8, 2, BARRIER),          END(9, 2, BARRIER),
    };
    struct gen_waits w = WAITS_OF(3, log);
    expect_waits(&w, 3, 2 + 3 + 3);
    expect_wait(&w, GEN_WAITS_COLLECTIVE, 0, 2, 2 + 3);
    expect_wait(&w, GEN_WAITS_COLLECTIVE, 1, 1, 3);
    assert_int_equal(w.collectives, 2);
    gen_waits_free(&w);
}

/* ---- the critical path ---- */

static void chain(void **state) {
    (void)state;
    static const struct happens log[] = {
        BEGIN(0, 0, COMPUTE), END(5, 0, COMPUTE), BEGIN(5, 0, SEND), SENT(5, 0, 1),
        END(5.5, 0, SEND),    BEGIN(1, 1, RECV),  RECEIVED(6, 1, 0), END(6, 1, RECV),
        BEGIN(6, 1, COMPUTE), END(8, 1, COMPUTE), BEGIN(8, 1, SEND), SENT(8, 1, 2),
        END(8.5, 1, SEND),    BEGIN(1, 2, RECV),  RECEIVED(9, 2, 1), END(9, 2, RECV),
    };
    struct gen_waits w = WAITS_OF(3, log);
    expect_waits(&w, 2, 4 + 7);
    expect_wait(&w, GEN_WAITS_LATE_SENDER, 1, 1, 4);
    expect_wait(&w, GEN_WAITS_LATE_SENDER, 2, 1, 7);
    expect_path(&w, 0, COMPUTE, 5);
    expect_path(&w, 1, RECV, 1);
    expect_path(&w, 1, COMPUTE, 2);
    expect_path(&w, 2, RECV, 1);
    assert_int_equal(w.share[0].time_ns, ns(5)); /* the longest comes first */
    gen_waits_free(&w);
}

/* Of nested states, the innermost gets the time. */
static void nested(void **state) {
    (void)state;
    static const struct happens log[] = {
        BEGIN(0, 0, COMPUTE), BEGIN(2, 0, SEND), SENT(2, 0, 1),     END(3, 0, SEND),
        END(4, 0, COMPUTE),   BEGIN(2, 1, RECV), RECEIVED(3, 1, 0), END(3, 1, RECV),
    };
    struct gen_waits w = WAITS_OF(2, log);
    expect_waits(&w, 0, 0);
    expect_path(&w, 0, COMPUTE, 3);
    expect_path(&w, 0, SEND, 1);
    gen_waits_free(&w);
}

/* ---- incomplete logs ---- */

static void incomplete(void **state) {
    (void)state;
    static const struct happens log[] = {
        BEGIN(1, 0, SEND), SENT(1, 0, 1),   END(2, 0, SEND),   BEGIN(3, 0, BARRIER), END(9, 0, BARRIER),
        RECEIVED(1, 1, 2), END(2, 1, RECV), BEGIN(3, 1, RECV), BEGIN(1, 2, COMPUTE),
    };
    struct gen_waits w = WAITS_OF(3, log);
    expect_waits(&w, 0, 0);
    assert_int_equal(w.messages, 0);
    assert_int_equal(w.unmatched, 2);
    assert_int_equal(w.collectives, 0);
    assert_int_equal(w.incomplete, 1);
    gen_waits_free(&w);
}

/* For any events, also at equal times, the search for the critical path ends. waits_of checks its length. */
static void random_logs(void **state) {
    (void)state;
    enum { LOGS = 300, HAPPEN = 200, RANKS = 3, SECONDS = 8 };
    uint64_t random = 1;
    uint64_t waits = 0;
    for (int i = 0; i < LOGS; i++) {
        struct happens log[HAPPEN + 2] = {BEGIN(0, 0, COMPUTE), END(SECONDS, 0, COMPUTE)};
        for (int k = 0; k < HAPPEN; k++) {
            log[2 + k] = (struct happens){
                .second = (double)random_below(&random, SECONDS),
                .rank = (int32_t)random_below(&random, RANKS),
                .what = "BBEEsf"[random_below(&random, 6)],
                .state = (int32_t)random_below(&random, STATES),
                .peer = (int32_t)random_below(&random, RANKS),
            };
        }
        struct gen_waits w = WAITS_OF(RANKS, log);
        for (size_t k = 0; k < w.pairs; k++) {
            waits += w.pair[k].sum.count;
        }
        gen_waits_free(&w);
    }
    assert_true(waits > LOGS);
}

static void backward(void **state) {
    (void)state;
    static const struct happens log[] = {
        BEGIN(1, 1, RECV), RECEIVED(2, 1, 0), END(2, 1, RECV),
        BEGIN(3, 0, SEND), SENT(3, 0, 1),     END(4, 0, SEND),
    };
    struct gen_waits w = WAITS_OF(2, log);
    expect_waits(&w, 0, 0);
    assert_int_equal(w.backward, 1);
    assert_int_equal(w.messages, 0);
    assert_int_equal(w.unmatched, 0);
    gen_waits_free(&w);
}

static bool is_zero(const struct gen_waits *w) {
    return w->ranks == 0 && w->name == NULL && w->names == 0 && w->rank == NULL && w->pair == NULL &&
           w->pairs == 0 && w->share == NULL && w->shares == 0 && w->messages == 0 && w->collectives == 0;
}

static void refused(void **state) {
    (void)state;
    struct gen_waits w;
    hpcw_error err = {0};
    memset(&w, 1, sizeof w);
    assert_int_equal(gen_waits_read("/nowhere/app.clog2", &w, &err), HPCW_ENOENT);
    assert_true(is_zero(&w));
    write_log(path, 2, NULL, 0);
    memset(&w, 1, sizeof w);
    assert_int_equal(gen_waits_read(path, &w, &err), HPCW_EFORMAT);
    assert_non_null(strstr(err.message, "app.clog2: expected states, got none: no waits to find"));
    assert_true(is_zero(&w));
}

static void truncated(void **state) {
    (void)state;
    static const struct happens log[] = {BEGIN(1, 0, COMPUTE), END(6, 0, COMPUTE)};
    write_log(path, 2, log, sizeof log / sizeof log[0]);
    size_t size;
    unsigned char *bytes = read_file(path, &size);
    assert_non_null(bytes);
    for (size_t cut = 0; cut < size; cut += 997) {
        struct gen_waits w;
        FILE *f = fopen(path, "wb");
        assert_non_null(f);
        assert_int_equal(fwrite(bytes, 1, cut, f), cut);
        assert_int_equal(fclose(f), 0);
        assert_int_not_equal(gen_waits_read(path, &w, NULL), HPCW_OK);
        assert_true(is_zero(&w));
    }
    free(bytes);
}

static unsigned left;
static bool some(size_t size) {
    (void)size;
    return left-- > 0;
}

static void memory_runs_out(void **state) {
    (void)state;
    static const struct happens log[] = {
        BEGIN(1, 0, BARRIER), END(6, 0, BARRIER), BEGIN(5, 1, BARRIER), END(6, 1, BARRIER), BEGIN(6, 0, SEND),
        SENT(6, 0, 1),        END(9, 0, SEND),    BEGIN(8, 1, RECV),    RECEIVED(9, 1, 0),  END(9, 1, RECV),
    };
    write_log(path, 2, log, sizeof log / sizeof log[0]);
    hpcw_status s = HPCW_ENOMEM;
    unsigned failures = 0;
    for (unsigned n = 0; s != HPCW_OK; n++) {
        struct gen_waits w;
        left = n;
        hpcw_i_mem_gate = some;
        s = gen_waits_read(path, &w, NULL);
        hpcw_i_mem_gate = NULL;
        assert_true(s == HPCW_OK || s == HPCW_ENOMEM);
        assert_true(s == HPCW_OK || is_zero(&w));
        failures += s != HPCW_OK;
        if (s == HPCW_OK) {
            expect_waits(&w, 2, 4 + 2);
            gen_waits_free(&w);
        }
    }
    assert_true(failures > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(late_sender),
        cmocka_unit_test(early_sender),
        cmocka_unit_test(late_sender_of_several),
        cmocka_unit_test(ranks_that_wait),
        cmocka_unit_test(late_receiver),
        cmocka_unit_test(late_post),
        cmocka_unit_test(persistent_receive),
        cmocka_unit_test(late_receiver_of_started),
        cmocka_unit_test(late_receivers_of_several),
        cmocka_unit_test(started_and_never_received),
        cmocka_unit_test(no_late_receiver_of_started),
        cmocka_unit_test(started_one_by_one),
        cmocka_unit_test(exchange_with_two),
        cmocka_unit_test(no_late_receiver),
        cmocka_unit_test(exchange),
        cmocka_unit_test(messages_of_communicators),
        cmocka_unit_test(collective),
        cmocka_unit_test(a_new_communicator),
        cmocka_unit_test(leaves_early),
        cmocka_unit_test(communicators),
        cmocka_unit_test(chain),
        cmocka_unit_test(nested),
        cmocka_unit_test(incomplete),
        cmocka_unit_test(random_logs),
        cmocka_unit_test(backward),
        cmocka_unit_test(refused),
        cmocka_unit_test(truncated),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, make, scratch_tear_down);
}
