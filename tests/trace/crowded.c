/* SPDX-License-Identifier: BSD-3-Clause */
/* Has more requests and communicators at once than the wrapper's tables hold without another allocation; then lets
 * allocations fail. Every message must still arrive. The wrapper is linked to this program, so that the program
 * can make its allocations fail.
 *
 * Usage: crowded [many|refused|each]: no allocation fails, all fail, each fails in its turn */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libwriter/base/mem.h"
#include "tests/support/faults.h"

enum {
    /* requests at one time; the wrapper's table holds at most 24576 without another allocation */
    CROWD = 40000,
    PERSISTENT = 3000, /* persistent requests */
    COMMS = 400,       /* communicators at one time */
    COMM_TURNS = 2000, /* communicators one after the other */
    /* requests of one MPI_Waitall; more than the wrapper's array on the stack holds */
    BATCH = 100,
    MOST_FAULTS = 20000 /* allocations that fail, one by one */
};

static int process, processes, wrong;

static void expect(bool good, const char *what, int number) {
    if (!good && wrong++ < 5) {
        (void)fprintf(stderr, "process %d: %s, number %d\n", process, what, number);
    }
}

static void *memory(size_t size) {
    void *p = calloc(1, size);
    if (p == NULL) {
        (void)fprintf(stderr, "the test itself is out of memory\n");
        exit(1);
    }
    return p;
}

static int next(void) {
    return (process + 1) % processes;
}

static int before(void) {
    return (process + processes - 1) % processes;
}

/* Posts `n` receives of messages that serve() sends. */
static void post(MPI_Comm comm, MPI_Request *request, int *in, int n, int tag) {
    for (int i = 0; i < n; i++) {
        in[i] = -1;
        MPI_Irecv(&in[i], 1, MPI_INT, before(), tag, comm, &request[i]);
    }
}

static void serve(MPI_Comm comm, int n, int tag) {
    for (int i = 0; i < n; i++) {
        int out = 7 * i + tag;
        MPI_Send(&out, 1, MPI_INT, next(), tag, comm);
    }
}

static void check(const int *in, int n, int tag) {
    for (int i = 0; i < n; i++) {
        expect(in[i] == 7 * i + tag, "a wrong number was received", i);
    }
}

static void wait_for_some(MPI_Request *request, int n) {
    int *index = memory((size_t)n * sizeof *index);
    for (int left = n, some; left > 0; left -= some) {
        MPI_Waitsome(n, request, &some, index, MPI_STATUSES_IGNORE);
        if (some == MPI_UNDEFINED) {
            expect(false, "requests are gone", left);
            break;
        }
    }
    free(index);
}

static void persistent(int n, int tag) {
    MPI_Request *request = memory(2 * (size_t)n * sizeof *request);
    int *in = memory((size_t)n * sizeof *in), *out = memory((size_t)n * sizeof *out);
    for (int i = 0; i < n; i++) {
        MPI_Recv_init(&in[i], 1, MPI_INT, before(), tag, MPI_COMM_WORLD, &request[i]);
        MPI_Send_init(&out[i], 1, MPI_INT, next(), tag, MPI_COMM_WORLD, &request[n + i]);
    }
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < n; i++) {
            out[i] = 7 * i + tag;
            in[i] = -1;
        }
        MPI_Startall(2 * n, request);
        MPI_Waitall(2 * n, request, MPI_STATUSES_IGNORE);
        check(in, n, tag);
    }
    for (int i = 0; i < 2 * n; i++) {
        MPI_Request_free(&request[i]);
    }
    free(request);
    free(in);
    free(out);
}

/* Sends a message around the ring of a communicator. */
static void use(MPI_Comm comm, int number) {
    int out = number, in = -1;
    MPI_Sendrecv(&out, 1, MPI_INT, next(), 5, &in, 1, MPI_INT, before(), 5, comm, MPI_STATUS_IGNORE);
    expect(in == number, "a wrong number was received on a communicator", number);
}

static void communicators(int at_once, int turns) {
    MPI_Comm *comm = memory((size_t)at_once * sizeof *comm);
    for (int i = 0; i < at_once; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
        use(comm[i], i);
    }
    for (int i = 0; i < turns; i++) {
        MPI_Comm one;
        MPI_Comm_split(comm[i % at_once], 0, process, &one);
        use(one, i);
        MPI_Comm_free(&one);
    }
    MPI_Request request;
    MPI_Comm later;
    MPI_Comm_idup(comm[0], &later, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    use(later, 0);
    MPI_Comm_free(&later);
    for (int i = 0; i < at_once; i++) {
        MPI_Comm_free(&comm[i]);
    }
    free(comm);
}

/* Uses some requests, persistent requests and communicators. */
static void a_bit(void) {
    MPI_Request request[BATCH];
    int in[BATCH];
    post(MPI_COMM_WORLD, request, in, BATCH, 11);
    serve(MPI_COMM_WORLD, BATCH, 11);
    /* The static analyser does not see that the requests were posted in a loop of another function. */
    MPI_Waitall(BATCH, request, MPI_STATUSES_IGNORE); /* NOLINT(clang-analyzer-optin.mpi.MPI-Checker) */
    check(in, BATCH, 11);
    post(MPI_COMM_WORLD, request, in, BATCH, 12);
    serve(MPI_COMM_WORLD, BATCH, 12);
    wait_for_some(request, BATCH);
    check(in, BATCH, 12);
    persistent(BATCH, 13);
    communicators(2, 2);
}

/* Makes one allocation after the other fail: first on all processes, then only on the last one. */
static void fail_each(void) {
    for (int alone = 0; alone < (processes > 1 ? 2 : 1); alone++) {
        int met = 1;
        for (unsigned long n = 1; met && n < MOST_FAULTS; n++) {
            if (!alone || process == processes - 1) {
                fault_arm(FAULT_NOMEM, n);
            }
            a_bit();
            met = fault_disarm();
            MPI_Allreduce(MPI_IN_PLACE, &met, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        }
        expect(!met, "some allocation still failed", alone);
    }
}

static _Bool refuse(size_t size) {
    (void)size;
    return 0;
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "many";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    MPI_Request *request = memory(CROWD * sizeof *request);
    int *in = memory(CROWD * sizeof *in);
    MPI_Comm apart; /* for the CROWD requests: MPI searches all requests of a communicator for each message */
    MPI_Comm_dup(MPI_COMM_WORLD, &apart);
    hpcw_i_mem_gate = strcmp(how, "refused") == 0 ? refuse : NULL;
    post(apart, request, in, CROWD, 1);
    if (strcmp(how, "each") == 0) {
        fail_each(); /* while the wrapper's table of requests is full */
    } else {
        persistent(PERSISTENT, 2);
        communicators(COMMS, COMM_TURNS);
        a_bit();
    }
    serve(apart, CROWD / 2, 1);
    MPI_Waitall(CROWD / 2, request, MPI_STATUSES_IGNORE);
    serve(apart, CROWD / 2, 1);
    MPI_Waitall(CROWD / 2, request + CROWD / 2, MPI_STATUSES_IGNORE);
    check(in, CROWD / 2, 1);
    check(in + CROWD / 2, CROWD / 2, 1);
    hpcw_i_mem_gate = NULL;
    MPI_Comm_free(&apart);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (process == 0) {
        (void)printf("%d wrong\n", wrong);
    }
    free(request);
    free(in);
    MPI_Finalize();
    return wrong > 0;
}
