/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The messages of a pair, and their time. No call returns an error: MPI's errors end the program on all processes, because
 * the partner waits for a message that will not come.
 */
#ifndef HPCW_BENCH_LINKTEST_EXCHANGE_H
#define HPCW_BENCH_LINKTEST_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mpi.h>

#include <hpcw/linktest.h>

struct bench_exchange {
    MPI_Comm comm; /* of its own, MPI_COMM_NULL: none */
    hpcw_linktest_kernel kernel;
    uint64_t warmup, messages;
    int size;                         /* bytes of a message */
    unsigned char *sent, *received;   /* [room for the largest message] */
    uint64_t *block, *block_received; /* [processes] of an all-to-all; NULL: none is measured */
};

/* Memory for messages of at most `largest` bytes, filled, and a communicator. Collective; the status of each process is its
 * own. To be freed in any case. */
hpcw_status bench_exchange_new(struct bench_exchange *x, uint64_t largest, bool all_to_all, hpcw_error *err);
void bench_exchange_free(struct bench_exchange *x);

/* Both processes of a pair call it, and one of them leads. Picoseconds of a message, at least 1, as the one that leads
 * sees them. */
uint64_t bench_exchange_pair(const struct bench_exchange *x, int partner, bool leads);

/* Picoseconds of an all-to-all, as this process sees them. Collective. */
uint64_t bench_exchange_all(const struct bench_exchange *x);

#endif
