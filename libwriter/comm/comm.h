/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A communicator and its calls. All of them are collective over the communicator unless marked otherwise. Calls
 * built of several of these: agree.h, exchange.h, reduce.h. Only comm_mpi.c includes mpi.h; it needs this header
 * and no symbol of the library.
 */
#ifndef HPCW_COMM_COMM_H
#define HPCW_COMM_COMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/comm.h>

/*
 * Words to reduce: `sums` words that are added, followed by `mins` and `maxs` words. One call carries all kinds,
 * because on a large machine the number of collectives matters more than their size.
 */
struct hpcw_i_words {
    uint32_t sums, mins, maxs;
    uint64_t *word; /* [sums + mins + maxs] in and out */
};

/* Reduces `in` into `inout`, of `words` words: sums first, minima, maxima. */
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

/* What a kind of communicator provides. Results: 0, or a code for `text`. No call prints or aborts. One process
 * alone needs none down to alltoallv. */
struct hpcw_i_comm_ops {
    int (*allreduce)(hpcw_comm *comm, struct hpcw_i_words *words);
    /* Exclusive scan: each process gets the reduction over the processes below it; process 0 gets anything. */
    int (*exscan)(hpcw_comm *comm, struct hpcw_i_words *words);
    int (*bcast)(hpcw_comm *comm, void *data, size_t size, int root);
    int (*allgather)(hpcw_comm *comm, const void *mine, size_t size, void *all);
    /* Every process sends one count to each process: `send` [size], `receive` [size]. */
    int (*alltoall)(hpcw_comm *comm, const uint64_t *send, uint64_t *receive);
    /* Lengths and offsets in 8-byte words. send_at NULL: each message starts where the one before it ends, as those
     * received always do. No offset and no sum exceeds INT_MAX. `scratch`: [4 * size]. */
    int (*alltoallv)(hpcw_comm *comm, const uint64_t *send, const uint64_t *send_at, const uint64_t *send_words,
                     uint64_t *receive, const uint64_t *receive_words, int *scratch);
    /* Messages of `words` 8-byte words to `root`, which gets sizes[p] words of process p, one message after the
     * other. Only for communicators without `send`; `all` and `sizes` are NULL on the others. */
    int (*gather)(hpcw_comm *comm, const uint64_t *mine, size_t words, uint64_t *all, const uint64_t *sizes,
                  int root);
    /*
     * Point to point, lengths in 8-byte words: not collective. NULL: this communicator has collective calls alone.
     */
    int (*send)(hpcw_comm *comm, const uint64_t *data, size_t words, int to);
    int (*probe)(hpcw_comm *comm, size_t *words, int from);
    int (*receive)(hpcw_comm *comm, uint64_t *data, size_t words, int from);
    /* Both keep the order of processes. */
    int (*split)(hpcw_comm *comm, uint32_t colour, hpcw_comm **out);
    int (*split_host)(hpcw_comm *comm, hpcw_comm **out); /* the processes of one host; NULL like `send` */
    void (*text)(int code, char *text, size_t size);     /* not collective */
    void (*free)(hpcw_comm *comm);
};

struct hpcw_comm {
    const struct hpcw_i_comm_ops *ops;
    int process;
    int size;
};

/* Whether there are messages between two processes. */
static inline bool hpcw_i_comm_has_messages(const hpcw_comm *comm) {
    return comm->ops->send != NULL;
}

/*
 * The communicator of one process alone, for callers that passed NULL. Static; need not be freed. Not collective.
 */
hpcw_comm *hpcw_i_comm_or_self(hpcw_comm *comm);

/* The calls of the table; a failure is HPCW_ECOMM with a message in `err`. Of an exclusive scan process 0 gets 0,
 * UINT64_MAX and 0 for sums, mins and maxs. */
hpcw_status hpcw_i_comm_allreduce(hpcw_comm *comm, struct hpcw_i_words *words, hpcw_error *err);
hpcw_status hpcw_i_comm_exscan(hpcw_comm *comm, struct hpcw_i_words *words, hpcw_error *err);
hpcw_status hpcw_i_comm_bcast(hpcw_comm *comm, void *data, size_t size, int root, hpcw_error *err);
hpcw_status hpcw_i_comm_allgather(hpcw_comm *comm, const void *mine, size_t size, void *all, hpcw_error *err);
hpcw_status hpcw_i_comm_alltoall(hpcw_comm *comm, const uint64_t *send, uint64_t *receive, hpcw_error *err);
hpcw_status hpcw_i_comm_alltoallv(hpcw_comm *comm, const uint64_t *send, const uint64_t *send_at,
                                  const uint64_t *send_words, uint64_t *receive, const uint64_t *receive_words,
                                  int *scratch, hpcw_error *err);
hpcw_status hpcw_i_comm_gather(hpcw_comm *comm, const uint64_t *mine, size_t words, uint64_t *all,
                               const uint64_t *sizes, int root, hpcw_error *err);
hpcw_status hpcw_i_comm_send(hpcw_comm *comm, const uint64_t *data, size_t words, int to, hpcw_error *err);
hpcw_status hpcw_i_comm_probe(hpcw_comm *comm, size_t *words, int from, hpcw_error *err);
hpcw_status hpcw_i_comm_receive(hpcw_comm *comm, uint64_t *data, size_t words, int from, hpcw_error *err);
hpcw_status hpcw_i_comm_split(hpcw_comm *comm, uint32_t colour, hpcw_comm **out, hpcw_error *err);
hpcw_status hpcw_i_comm_split_host(hpcw_comm *comm, hpcw_comm **out, hpcw_error *err);

#endif
