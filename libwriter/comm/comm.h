/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * F2: the collectives used here. All calls below are collective over the communicator unless said otherwise.
 * Only comm_mpi.c includes mpi.h; it needs this header and no symbol of the library.
 */
#ifndef HPCW_COMM_COMM_H
#define HPCW_COMM_COMM_H

#include <stddef.h>
#include <stdint.h>

#include <hpcw/comm.h>

/*
 * Words to reduce: `sums` words that are added, then `mins`, then `maxs`. One call carries all kinds, because
 * on a large machine the number of collectives counts and their size hardly.
 */
struct hpcw_i_words {
    uint32_t sums, mins, maxs;
    uint64_t *word; /* [sums + mins + maxs] in and out */
};

/* What a kind of communicator provides. Results: 0, or a code for `text`. No call prints or aborts. */
struct hpcw_i_comm_ops {
    int (*allreduce)(hpcw_comm *comm, struct hpcw_i_words *words);
    /* Exclusive scan over the processes below; process 0 gets 0, UINT64_MAX, 0 for sums, mins, maxs. */
    int (*exscan)(hpcw_comm *comm, struct hpcw_i_words *words);
    int (*bcast)(hpcw_comm *comm, void *data, size_t size, int root);
    int (*allgather)(hpcw_comm *comm, const void *mine, size_t size, void *all);
    /* Every process sends one count to each other process: `send` [size], `receive` [size]. */
    int (*alltoall)(hpcw_comm *comm, const uint64_t *send, uint64_t *receive);
    /* Lengths and offsets in 8-byte words; send_at NULL: one message behind the other, as those received always are.
     * No offset and no sum passes INT_MAX. `scratch`: [4 * size]. */
    int (*alltoallv)(hpcw_comm *comm, const uint64_t *send, const uint64_t *send_at, const uint64_t *send_words,
                     uint64_t *receive, const uint64_t *receive_words, int *scratch);
    /* Point to point, lengths in 8-byte words: not collective. */
    int (*send)(hpcw_comm *comm, const uint64_t *data, size_t words, int to);
    int (*probe)(hpcw_comm *comm, size_t *words, int from);
    int (*receive)(hpcw_comm *comm, uint64_t *data, size_t words, int from);
    /* Both keep the order of processes. */
    int (*split)(hpcw_comm *comm, uint32_t colour, hpcw_comm **out);
    int (*split_host)(hpcw_comm *comm, hpcw_comm **out); /* those of one host */
    void (*text)(int code, char *text, size_t size);     /* not collective */
    void (*free)(hpcw_comm *comm);
};

struct hpcw_comm {
    const struct hpcw_i_comm_ops *ops;
    int process;
    int size;
};

/* The communicator of one process alone, for callers that passed NULL. Static; need not be freed. */
hpcw_comm *hpcw_i_comm_or_self(hpcw_comm *comm);

/* The calls of the table, with the failure described in `err`. */
hpcw_status hpcw_i_comm_exscan(hpcw_comm *comm, struct hpcw_i_words *words, hpcw_error *err);
hpcw_status hpcw_i_comm_allreduce(hpcw_comm *comm, struct hpcw_i_words *words, hpcw_error *err);
hpcw_status hpcw_i_comm_bcast(hpcw_comm *comm, void *data, size_t size, int root, hpcw_error *err);
hpcw_status hpcw_i_comm_allgather(hpcw_comm *comm, const void *mine, size_t size, void *all, hpcw_error *err);
hpcw_status hpcw_i_comm_split(hpcw_comm *comm, uint32_t colour, hpcw_comm **out, hpcw_error *err);
hpcw_status hpcw_i_comm_split_host(hpcw_comm *comm, hpcw_comm **out, hpcw_error *err);

/*
 * Every process hands over messages for others and gets the ones for itself, ordered by sender. Three
 * collectives. `send` holds the messages in order of destination, send_words[size] their lengths in 8-byte
 * words.
 * `*receive` is allocated (hpcw_i_free), receive_words[size] filled. At most 16 GiB per process.
 */
hpcw_status hpcw_i_comm_exchange(hpcw_comm *comm, const uint64_t *send, const uint64_t *send_words,
                                 uint64_t **receive, uint64_t *receive_words, hpcw_error *err);

/* The same, again and again: message p begins at send + send_at[p], and messages may share words; what is received goes
 * to room->words, which grows where it must (hpcw_i_free). A zeroed room is an empty one. */
struct hpcw_i_room {
    uint64_t *words;
    size_t capacity;
};

hpcw_status hpcw_i_comm_exchange_at(hpcw_comm *comm, const uint64_t *send, const uint64_t *send_at,
                                    const uint64_t *send_words, struct hpcw_i_room *room,
                                    uint64_t *receive_words, hpcw_error *err);

/*
 * The same when all messages go to one process: no collective, and the root holds one message at a time, handed
 * to `take` in order of the senders (its own first). A process that
 * failed sends an empty message, so that nobody waits for it. Not an agreement: follow it with one.
 */
hpcw_status hpcw_i_comm_collect(hpcw_comm *comm, int root, const uint64_t *send, size_t words,
                                hpcw_status (*take)(void *context, const uint64_t *message, size_t words,
                                                    hpcw_error *err),
                                void *context, hpcw_error *err);

/*
 * A reduction and a scan in one, for records of at most HPCW_I_FOLD_WORDS words: combines those of all processes in
 * order. Of the result all learn the first `told` words, in `record`, and of the result of the processes below them the
 * first `scanned`, in `below` (process 0: left as it was). One wave up a tree and one down, no memory but the stack's.
 * Few words matter: beyond 30 in one message, told and scanned together, a wave takes three times as long with
 * Open MPI's shared memory.
 *
 * `merge` must be associative; it folds `right` into `left`. Its first `scanned` words must depend on the first
 * `scanned` words alone.
 */
enum { HPCW_I_FOLD_WORDS = 32 };

struct hpcw_i_fold {
    size_t words, told, scanned;
    void (*merge)(uint64_t *left, const uint64_t *right);
};

hpcw_status hpcw_i_comm_fold(hpcw_comm *comm, const struct hpcw_i_fold *fold, uint64_t *record, uint64_t *below,
                             hpcw_error *err);

/*
 * Combines a record of `words` 8-byte words of every process into one, pairwise in a binomial tree, lower
 * processes on the left, and leaves the result on all. `merge` must be associative; it folds `right` into
 * `left`.
 */
hpcw_status hpcw_i_comm_merge(hpcw_comm *comm, uint64_t *record, size_t words,
                              void (*merge)(void *context, uint64_t *left, const uint64_t *right),
                              void *context, hpcw_error *err);

#endif
