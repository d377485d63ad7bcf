/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/linktest/exchange.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "bench/measure/timer.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

enum {
    MESSAGE = 1, /* tags */
    RECEIPT = 2,
    PAGE = 4096,
    WINDOW = 64, /* non-blocking messages that are in flight at once */
    /* Total size of the receive buffers that are posted at once, bytes. They fit into a cache. Larger messages
     * share one buffer. */
    POSTED = 65536,
};

/* ---- memory ---- */

/* Ends all processes. MPI calls it instead of returning an error, since the others would wait for messages of this
 * process. */
static void on_error(MPI_Comm *comm, int *code, ...) {
    char text[MPI_MAX_ERROR_STRING] = "unknown error";
    int process = 0, length = 0;
    (void)MPI_Comm_rank(*comm, &process);
    (void)MPI_Error_string(*code, text, &length);
    text[strcspn(text, "\n")] = '\0';
    (void)fprintf(stderr, "hpcw-linktest: process %d: MPI fails: %s\n", process, text);
    /* MPICH's launcher drops output that it has not forwarded when a process aborts. */
    (void)nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    (void)MPI_Abort(MPI_COMM_WORLD, 1);
}

hpcw_status bench_exchange_new(struct bench_exchange *x, uint64_t largest, bool all_to_all, hpcw_error *err) {
    int processes = 0;
    MPI_Errhandler handler;
    *x = (struct bench_exchange){.comm = MPI_COMM_NULL};
    if (MPI_Comm_dup(MPI_COMM_WORLD, &x->comm) != MPI_SUCCESS ||
        MPI_Comm_create_errhandler(on_error, &handler) != MPI_SUCCESS) {
        return hpcw_i_fail(err, HPCW_ECOMM, "MPI makes no communicator");
    }
    (void)MPI_Comm_set_errhandler(x->comm, handler);
    (void)MPI_Errhandler_free(&handler);
    (void)MPI_Comm_size(x->comm, &processes);

    size_t room = ((size_t)largest + POSTED) / PAGE * PAGE;
    x->sent = hpcw_i_malloc_aligned(PAGE, room);
    x->received = hpcw_i_malloc_aligned(PAGE, room);
    if (x->sent == NULL || x->received == NULL) {
        return hpcw_i_fail_memory(err, "messages", 2 * room, "bytes");
    }
    if (all_to_all) {
        x->block = hpcw_i_calloc((size_t)processes, sizeof *x->block);
        x->block_received = hpcw_i_calloc((size_t)processes, sizeof *x->block_received);
        if (x->block == NULL || x->block_received == NULL) {
            return hpcw_i_fail_memory(err, "blocks of an all-to-all", (uint64_t)processes, "processes");
        }
    }
    /* Write to all pages: the system maps pages that were never written to one page of zeros, which would stay in
     * the cache. */
    memset(x->sent, 1, room);
    memset(x->received, 2, room);
    return HPCW_OK;
}

void bench_exchange_free(struct bench_exchange *x) {
    if (x->comm != MPI_COMM_NULL) {
        (void)MPI_Comm_free(&x->comm);
    }
    hpcw_i_free(x->sent);
    hpcw_i_free(x->received);
    hpcw_i_free(x->block);
    hpcw_i_free(x->block_received);
    *x = (struct bench_exchange){.comm = MPI_COMM_NULL};
}

/* ---- kernels: this process and its partner exchange `count` messages ---- */

static void send(const struct bench_exchange *x, int to) {
    (void)MPI_Send(x->sent, x->size, MPI_BYTE, to, MESSAGE, x->comm);
}

static void receive(const struct bench_exchange *x, int from) {
    (void)MPI_Recv(x->received, x->size, MPI_BYTE, from, MESSAGE, x->comm, MPI_STATUS_IGNORE);
}

static void ping_pong(const struct bench_exchange *x, uint64_t count, int partner, bool leads) {
    for (uint64_t i = 0; i < count; i++) {
        if (leads) {
            send(x, partner);
        }
        receive(x, partner);
        if (!leads) {
            send(x, partner);
        }
    }
}

/* Both processes send at the same time. A repetition has two such exchanges, as a ping-pong has two messages. */
static void both_ways(const struct bench_exchange *x, uint64_t count, int partner, bool leads) {
    (void)leads;
    for (uint64_t i = 0; i < 2 * count; i++) {
        (void)MPI_Sendrecv(x->sent, x->size, MPI_BYTE, partner, MESSAGE, x->received, x->size, MPI_BYTE,
                           partner, MESSAGE, x->comm, MPI_STATUS_IGNORE);
    }
}

/* The analyser does not see the requests of a loop.
 * NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker) */
static void send_all(const struct bench_exchange *x, uint64_t count, int to) {
    MPI_Request under_way[WINDOW];
    for (uint64_t i = 0; i < count;) {
        int n = 0;
        for (; n < WINDOW && i < count; n++, i++) {
            (void)MPI_Isend(x->sent, x->size, MPI_BYTE, to, MESSAGE, x->comm, &under_way[n]);
        }
        (void)MPI_Waitall(n, under_way, MPI_STATUSES_IGNORE);
    }
}

static void receive_all(const struct bench_exchange *x, uint64_t count, int from) {
    MPI_Request posted[WINDOW];
    int most = x->size <= POSTED / WINDOW ? WINDOW : x->size < POSTED ? POSTED / x->size : 1;
    for (uint64_t i = 0; i < count;) {
        int n = 0;
        for (; n < most && i < count; n++, i++) {
            (void)MPI_Irecv(x->received + (size_t)n * (size_t)x->size, x->size, MPI_BYTE, from, MESSAGE,
                            x->comm, &posted[n]);
        }
        (void)MPI_Waitall(n, posted, MPI_STATUSES_IGNORE);
    }
}

/* NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker) */

/* All messages go one way, and one receipt comes back. */
static void one_way(const struct bench_exchange *x, uint64_t count, int partner, bool leads) {
    if (leads) {
        send_all(x, count, partner);
        (void)MPI_Recv(x->received, 0, MPI_BYTE, partner, RECEIPT, x->comm, MPI_STATUS_IGNORE);
    } else {
        receive_all(x, count, partner);
        (void)MPI_Send(x->sent, 0, MPI_BYTE, partner, RECEIPT, x->comm);
    }
}

/* ---- their time ---- */

static uint64_t mean_ps(uint64_t elapsed_ns, uint64_t count) {
    uint64_t time_ps = (elapsed_ns * 1000 + count / 2) / count;
    return time_ps > 0 ? time_ps : 1;
}

uint64_t bench_exchange_pair(const struct bench_exchange *x, int partner, bool leads) {
    static const struct {
        void (*run)(const struct bench_exchange *x, uint64_t count, int partner, bool leads);
        unsigned ways; /* messages per repetition that are sent one after the other */
    } kernel[] = {
        [HPCW_LINKTEST_SEMIDIRECTIONAL] = {ping_pong, 2},
        [HPCW_LINKTEST_BIDIRECTIONAL] = {both_ways, 2},
        [HPCW_LINKTEST_UNIDIRECTIONAL] = {one_way, 1},
    };
    kernel[x->kernel].run(x, x->warmup, partner, leads);
    uint64_t start_ns = bench_timer_now();
    kernel[x->kernel].run(x, x->messages, partner, leads);
    return mean_ps(bench_timer_now() - start_ns, kernel[x->kernel].ways * x->messages);
}

static void all_to_all(const struct bench_exchange *x, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        (void)MPI_Alltoall(x->block, 1, MPI_UINT64_T, x->block_received, 1, MPI_UINT64_T, x->comm);
    }
}

uint64_t bench_exchange_all(const struct bench_exchange *x) {
    all_to_all(x, x->warmup);
    uint64_t start_ns = bench_timer_now();
    all_to_all(x, x->messages);
    return mean_ps(bench_timer_now() - start_ns, x->messages);
}
