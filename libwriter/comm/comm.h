/* SPDX-License-Identifier: BSD-3-Clause */
/* A communicator and its calls. All calls are collective over the communicator unless marked otherwise. agree.h,
 * exchange.h and reduce.h have functions that combine several of these calls. Only comm_mpi.c includes mpi.h. That
 * file needs this header, but no symbol of the library. */
#ifndef HPCW_COMM_COMM_H
#define HPCW_COMM_COMM_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/comm.h>

/* Words to reduce: first `sums` words that are added, then `mins` minima and `maxs` maxima. One call reduces all
 * kinds, because on a large machine the number of collective calls matters more than their size. */
struct hpcw_i_words {
    uint32_t sums, mins, maxs;
    uint64_t *word; /* [sums + mins + maxs] in and out */
};

/* Reduces the `words` words of `in` into those of `inout`: first sums, then minima, then maxima. */
static inline void hpcw_i_words_combine(uint64_t *inout, const uint64_t *in, size_t sums, size_t mins,
                                        size_t words) {
    for (size_t i = 0; i < words; i++) {
        if (i < sums) {
            inout[i] += in[i];
        } else if (i < sums + mins) {
            inout[i] = in[i] < inout[i] ? in[i] : inout[i];
        } else {
            inout[i] = in[i] > inout[i] ? in[i] : inout[i];
        }
    }
}

/* Code of a lack of memory on any process, of all kinds of communicator. */
enum { HPCW_I_COMM_NO_MEMORY = INT_MIN };

/* The functions of a kind of communicator. They return 0, or a code for `text`. No function prints or aborts. A
 * communicator of one process needs none of the functions from allreduce to receive, and no `text`. */
struct hpcw_i_comm_ops {
    int (*allreduce)(hpcw_comm *comm, struct hpcw_i_words *words);
    /* Exclusive scan: each process gets the reduction over the processes below it. The result on process 0 is
     * undefined. */
    int (*exscan)(hpcw_comm *comm, struct hpcw_i_words *words);
    int (*bcast)(hpcw_comm *comm, void *data, size_t size, int root);
    int (*allgather)(hpcw_comm *comm, const void *mine, size_t size, void *all);
    /* Every process sends one number to each process: `send` [size], `receive` [size]. */
    int (*alltoall)(hpcw_comm *comm, const uint64_t *send, uint64_t *receive);
    /* Every process sends a message to each process. Lengths and offsets count 8-byte words. send_at NULL: each
     * message starts where the message before it ends. Received messages are always stored in this way. No offset
     * and no sum of lengths exceeds INT_MAX. `scratch`: [4 * size]. */
    int (*alltoallv)(hpcw_comm *comm, const uint64_t *send, const uint64_t *send_at, const uint64_t *send_words,
                     uint64_t *receive, const uint64_t *receive_words, int *scratch);
    /* Point-to-point messages, which are not collective; lengths count 8-byte words. `send`, `probe` and `receive`
     * are NULL if this communicator has collective calls only. */
    int (*send)(hpcw_comm *comm, const uint64_t *data, size_t words, int to);
    int (*probe)(hpcw_comm *comm, size_t *words, int from);
    int (*receive)(hpcw_comm *comm, uint64_t *data, size_t words, int from);
    /* Both split functions keep the order of processes. */
    int (*split)(hpcw_comm *comm, uint32_t colour, hpcw_comm **out);
    /* Makes a communicator of the processes on one host. NULL if this communicator has collective calls only. */
    int (*split_host)(hpcw_comm *comm, hpcw_comm **out);
    void (*text)(int code, char *text, size_t size); /* not collective */
    void (*free)(hpcw_comm *comm);
};

struct hpcw_comm {
    const struct hpcw_i_comm_ops *ops;
    int process;
    int size;
};

static inline bool hpcw_i_comm_has_messages(const hpcw_comm *comm) {
    return comm->ops->split_host != NULL;
}

/* Returns `comm`. If `comm` is NULL, returns the communicator of one process alone, which is static and need not be
 * freed. Not collective. */
hpcw_comm *hpcw_i_comm_or_self(hpcw_comm *comm);

/* The calls of struct hpcw_i_comm_ops. They report a failure as HPCW_ECOMM or HPCW_ENOMEM with a message in `err`. In
 * an exclusive scan, process 0 gets 0 for sums, UINT64_MAX for minima and 0 for maxima. */
hpcw_status hpcw_i_comm_allreduce(hpcw_comm *comm, struct hpcw_i_words *words, hpcw_error *err);
hpcw_status hpcw_i_comm_exscan(hpcw_comm *comm, struct hpcw_i_words *words, hpcw_error *err);
hpcw_status hpcw_i_comm_bcast(hpcw_comm *comm, void *data, size_t size, int root, hpcw_error *err);
hpcw_status hpcw_i_comm_allgather(hpcw_comm *comm, const void *mine, size_t size, void *all, hpcw_error *err);
hpcw_status hpcw_i_comm_alltoall(hpcw_comm *comm, const uint64_t *send, uint64_t *receive, hpcw_error *err);
hpcw_status hpcw_i_comm_alltoallv(hpcw_comm *comm, const uint64_t *send, const uint64_t *send_at,
                                  const uint64_t *send_words, uint64_t *receive, const uint64_t *receive_words,
                                  int *scratch, hpcw_error *err);
hpcw_status hpcw_i_comm_send(hpcw_comm *comm, const uint64_t *data, size_t words, int to, hpcw_error *err);
hpcw_status hpcw_i_comm_probe(hpcw_comm *comm, size_t *words, int from, hpcw_error *err);
hpcw_status hpcw_i_comm_receive(hpcw_comm *comm, uint64_t *data, size_t words, int from, hpcw_error *err);
hpcw_status hpcw_i_comm_split(hpcw_comm *comm, uint32_t colour, hpcw_comm **out, hpcw_error *err);
hpcw_status hpcw_i_comm_split_host(hpcw_comm *comm, hpcw_comm **out, hpcw_error *err);

#endif
