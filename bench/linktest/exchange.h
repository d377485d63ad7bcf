/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exchanges messages between two processes and measures their time. No call returns an error of MPI. Such an error
 * ends the program on all processes, because the partner waits for a message that will not come.
 */
#ifndef HPCW_BENCH_LINKTEST_EXCHANGE_H
#define HPCW_BENCH_LINKTEST_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mpi.h>

#include <hpcw/linktest.h>

struct bench_exchange {
    MPI_Comm comm; /* communicator of these messages only; MPI_COMM_NULL: none */
    hpcw_linktest_kernel kernel;
    uint64_t warmup, messages;
    int size;                         /* bytes of a message */
    unsigned char *sent, *received;   /* [room for the largest message] */
    uint64_t *block, *block_received; /* [processes] buffers of the all-to-all; NULL: it is not measured */
};

/* Allocates buffers for messages of at most `largest` bytes, and creates a communicator. Collective; each process
 * returns its own status. Call bench_exchange_free also after a failure. */
hpcw_status bench_exchange_new(struct bench_exchange *x, uint64_t largest, bool all_to_all, hpcw_error *err);
void bench_exchange_free(struct bench_exchange *x);

/* Exchanges messages with `partner`, which must make the same call. `leads` is true only on the process that sends
 * first. On this process, returns the time of a message, picoseconds, at least 1. */
uint64_t bench_exchange_pair(const struct bench_exchange *x, int partner, bool leads);

/* Returns the picoseconds of an all-to-all on this process. Collective. */
uint64_t bench_exchange_all(const struct bench_exchange *x);

#endif
