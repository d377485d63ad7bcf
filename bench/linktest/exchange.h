/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exchanges the messages of a pair and takes their time. No call returns an error. An error of MPI ends the program
 * on all processes, because the partner waits for a message that will not come.
 */
#ifndef HPCW_BENCH_LINKTEST_EXCHANGE_H
#define HPCW_BENCH_LINKTEST_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mpi.h>

#include <hpcw/linktest.h>

struct bench_exchange {
    MPI_Comm comm; /* own communicator; MPI_COMM_NULL: none */
    hpcw_linktest_kernel kernel;
    uint64_t warmup, messages;
    int size;                         /* bytes of a message */
    unsigned char *sent, *received;   /* [room for the largest message] */
    uint64_t *block, *block_received; /* [processes] of an all-to-all; NULL: none is measured */
};

/* Makes memory for messages of at most `largest` bytes, and a communicator. Collective; each process returns its
 * own status. Free it in any case. */
hpcw_status bench_exchange_new(struct bench_exchange *x, uint64_t largest, bool all_to_all, hpcw_error *err);
void bench_exchange_free(struct bench_exchange *x);

/* Exchanges messages; both processes of a pair call it, and one leads. Returns the picoseconds of a message on the
 * process that leads, at least 1. */
uint64_t bench_exchange_pair(const struct bench_exchange *x, int partner, bool leads);

/* Returns the picoseconds of an all-to-all on this process. Collective. */
uint64_t bench_exchange_all(const struct bench_exchange *x);

#endif
