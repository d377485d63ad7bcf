/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/comm/reduce.h"

#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"

enum {
    RADIX =
        8, /* a wide tree: where processes share processors, waiting for a turn takes longer than messages */
    MAX_CHILDREN = (RADIX - 1) * 11, /* 8^11 exceeds INT_MAX */
};

hpcw_status hpcw_i_comm_reduce_scan(hpcw_comm *comm, uint64_t *record, uint64_t *below, size_t words,
                                    void (*combine)(uint64_t *left, const uint64_t *right), hpcw_error *err) {
    uint64_t before[MAX_CHILDREN][HPCW_I_SCAN_WORDS]; /* from this process up to each child */
    uint64_t message[2 * HPCW_I_SCAN_WORDS];          /* down: the result of all, of those below the child */
    int child[MAX_CHILDREN];
    int children = 0;
    size_t bytes = words * sizeof *record;
    int64_t step = 1;
    if (words > HPCW_I_SCAN_WORDS) {
        return hpcw_i_fail(err, HPCW_EINTERNAL, "scan of %zu words", words);
    }
    /* Up: a process whose number, written in base RADIX, ends in zeros stands for all that share its other digits. */
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
    /* Down: the largest subtree first. */
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

/* Pairwise in a binomial tree, whose root broadcasts the result. */
hpcw_status hpcw_i_comm_reduce(hpcw_comm *comm, uint64_t *record, size_t words,
                               void (*combine)(void *context, uint64_t *left, const uint64_t *right),
                               void *context, hpcw_error *err) {
    if (comm->size == 1) {
        return HPCW_OK;
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
