/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/comm/reduce.h"

#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/comm/exchange.h"

enum {
    /* radix of the tree: a node has RADIX - 1 children on each level. A wide tree has few levels: if several
     * processes share a processor, waiting for a turn on it takes longer than receiving messages. */
    RADIX = 8,
    /* most children of a process: a tree has at most 11 levels, because 8^11 exceeds INT_MAX */
    MAX_CHILDREN = (RADIX - 1) * 11,
};

/* For communicators without point-to-point messages: gathers all records on all processes. */
static hpcw_status reduce_scan_of_all(hpcw_comm *comm, uint64_t *record, uint64_t *below, size_t words,
                                      void (*combine)(uint64_t *left, const uint64_t *right), hpcw_error *err) {
    size_t bytes = words * sizeof *record;
    uint64_t *all = hpcw_i_malloc((size_t)comm->size * bytes);
    hpcw_status s = all == NULL ? hpcw_i_fail_memory(err, NULL, (uint64_t)comm->size, "records") : HPCW_OK;
    s = hpcw_i_agree(comm, s, NULL, err);
    if (s == HPCW_OK) {
        s = hpcw_i_comm_allgather(comm, record, bytes, all, err);
    }
    for (int p = 0; s == HPCW_OK && p < comm->size; p++) {
        if (p == comm->process && p > 0) {
            memcpy(below, all, bytes);
        }
        if (p > 0) {
            combine(all, all + (size_t)p * words);
        }
    }
    if (s == HPCW_OK) {
        memcpy(record, all, bytes);
    }
    hpcw_i_free(all);
    return s;
}

hpcw_status hpcw_i_comm_reduce_scan(hpcw_comm *comm, uint64_t *record, uint64_t *below, size_t words,
                                    void (*combine)(uint64_t *left, const uint64_t *right), hpcw_error *err) {
    /* [child] reduction over the processes from this process up to, but without, the child */
    uint64_t before[MAX_CHILDREN][HPCW_I_SCAN_WORDS];
    /*
     * message to a child: first the result of all processes, then the reduction over the processes below the child
     */
    uint64_t message[2 * HPCW_I_SCAN_WORDS];
    int child[MAX_CHILDREN];
    int children = 0;
    size_t bytes = words * sizeof *record;
    int64_t step = 1;
    if (words > HPCW_I_SCAN_WORDS) {
        return hpcw_i_fail(err, HPCW_EINTERNAL, "scan of %zu words", words);
    }
    if (!hpcw_i_comm_has_messages(comm) && comm->size > 1) {
        return reduce_scan_of_all(comm, record, below, words, combine, err);
    }
    /* Up the tree: write the numbers of processes in base RADIX. A process whose number ends in k zeros gets the
     * reduction over the processes that differ from it in these k digits only. */
    for (; step < comm->size && comm->process % (step * RADIX) == 0; step *= RADIX) {
        for (int64_t c = comm->process + step; c < comm->process + step * RADIX && c < comm->size; c += step) {
            hpcw_status s = hpcw_i_comm_receive(comm, message, words, (int)c, err);
            if (s != HPCW_OK) {
                return s;
            }
            memcpy(before[children], record, bytes);
            child[children++] = (int)c;
            combine(record, message);
        }
    }
    if (comm->process > 0) {
        int parent = (int)(comm->process - comm->process % (step * RADIX));
        hpcw_status s = hpcw_i_comm_send(comm, record, words, parent, err);
        s = s == HPCW_OK ? hpcw_i_comm_receive(comm, message, 2 * words, parent, err) : s;
        if (s != HPCW_OK) {
            return s;
        }
        memcpy(record, message, bytes);
        memcpy(below, message + words, bytes);
    }
    /* Down the tree: send to the child with the largest subtree first. */
    memcpy(message, record, bytes);
    while (children-- > 0) {
        if (comm->process == 0) {
            memcpy(message + words, before[children], bytes);
        } else {
            memcpy(message + words, below, bytes);
            combine(message + words, before[children]);
        }
        hpcw_status s = hpcw_i_comm_send(comm, message, 2 * words, child[children], err);
        if (s != HPCW_OK) {
            return s;
        }
    }
    return HPCW_OK;
}

struct reduction {
    uint64_t *record;
    void (*combine)(void *context, uint64_t *left, const uint64_t *right);
    void *context;
    bool begun;
};

static hpcw_status add_record(void *context, const uint64_t *message, size_t words, hpcw_error *err) {
    struct reduction *r = context;
    (void)words;
    (void)err;
    if (r->begun) { /* the first record is that of process 0 itself, and already in `record` */
        r->combine(r->context, r->record, message);
    }
    r->begun = true;
    return HPCW_OK;
}

/* Combines pairwise in a binomial tree, whose root broadcasts the result. */
hpcw_status hpcw_i_comm_reduce(hpcw_comm *comm, uint64_t *record, size_t words,
                               void (*combine)(void *context, uint64_t *left, const uint64_t *right),
                               void *context, hpcw_error *err) {
    if (comm->size == 1) {
        return HPCW_OK;
    }
    if (!hpcw_i_comm_has_messages(comm)) {
        struct reduction r = {.record = record, .combine = combine, .context = context};
        hpcw_status c = hpcw_i_comm_collect(comm, 0, record, words, add_record, &r, err);
        c = hpcw_i_agree(comm, c, NULL, err);
        return c == HPCW_OK ? hpcw_i_comm_bcast(comm, record, words * sizeof *record, 0, err) : c;
    }
    uint64_t *other = hpcw_i_malloc(words * sizeof *other);
    hpcw_status s = other == NULL ? hpcw_i_fail_memory(err, NULL, words, "words") : HPCW_OK;
    s = hpcw_i_agree(comm, s, NULL, err);
    for (int step = 1; s == HPCW_OK && step < comm->size; step *= 2) {
        if (comm->process % (2 * step) == step) {
            s = hpcw_i_comm_send(comm, record, words, comm->process - step, err);
            break;
        }
        if (comm->process + step < comm->size) {
            s = hpcw_i_comm_receive(comm, other, words, comm->process + step, err);
            if (s == HPCW_OK) {
                combine(context, record, other);
            }
        }
    }
    hpcw_i_free(other);
    return s == HPCW_OK ? hpcw_i_comm_bcast(comm, record, words * sizeof *record, 0, err) : s;
}
