/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages and receives that look for each other. Each is a half of a transfer, and is kept until both halves are there
 * and both ranks have waited for theirs. The halves of two ranks match in the order of the calls, by tag and communicator, as
 * MPI has it.
 */
#ifndef HPCW_GEN_SIM_MATCH_H
#define HPCW_GEN_SIM_MATCH_H

#include "gen/sim/timing/cost.h"
#include "libwriter/base/table.h"

#define SIM_NOTHING UINT32_MAX /* no half, no pair */

/* Halves and pairs are as long as a line of the cache, and begin with one: a run waits for them most of all. So a half has what
 * the end of a wait needs of its pair. */
struct sim_half {
    uint64_t time_ns; /* a send: when the message leaves; a receive: when it was posted */
    uint64_t
        done_ns; /* if matched or sent eagerly: a send: when it is over; a receive: when the message is there */
    union {
        uint64_t envelope_ns; /* of a message: when the receiver can know of it */
        uint64_t card_ns;     /* of a matched receive: how long the rank's share of the cards is busy */
    };
    union {
        uint32_t number;      /* of a message: of the sender's call, in a circle */
        uint32_t overhead_ns; /* of a matched receive: processor time */
    };
    uint32_t bytes; /* of a message, and of a matched receive; at most SIM_MOST_BYTES */
    uint32_t owner; /* the rank whose half it is */
    uint32_t other; /* the other rank */
    uint32_t pair;
    uint32_t next;      /* of the pair's halves that look for another one */
    uint32_t wait_next; /* of those that the rank waits for */
    uint32_t serial;    /* which use of this memory */
    int32_t tag;
    uint32_t comm : 20;
    bool sends : 1, eager : 1;
    bool matched : 1;
    bool held : 1;   /* a request that the rank has not waited for */
    bool waited : 1; /* the rank waits for it */
};

struct sim_queue {
    uint32_t first, last; /* SIM_NOTHING: empty */
};

/* All that goes from one rank to another. */
struct sim_pair {
    uint64_t envelope_ns;              /* of the last message */
    struct sim_cost cost;              /* of the last size */
    struct sim_queue message, receive; /* without another half, in the order of the calls */
    uint32_t from, to;
};

/* The ranks that a rank sends to, or receives from, and their pairs. Zeroed: none. */
struct sim_partner {
    uint32_t rank, pair;
};
struct sim_partners {
    struct sim_partner *list; /* [count] by rank */
    size_t capacity;
    uint32_t count;
    uint32_t next; /* after the one that was looked for last: programs have an order, and keep to it */
};

/* Where a rank is in the list, or where it would be. */
uint32_t sim_partners_search(const struct sim_partners *partners, uint32_t rank);

/* The pair with a rank; SIM_NOTHING: it is not in the list. */
static inline uint32_t sim_partners_find(struct sim_partners *partners, uint32_t rank) {
    const uint32_t guess = partners->next < partners->count ? partners->next : 0;
    const bool right = guess < partners->count && partners->list[guess].rank == rank;
    const uint32_t at = right ? guess : sim_partners_search(partners, rank);
    if (at == partners->count || partners->list[at].rank != rank) {
        return SIM_NOTHING;
    }
    partners->next = at + 1;
    return partners->list[at].pair;
}

/* Adds one that is not in the list. False when memory runs out. */
bool sim_partners_add(struct sim_partners *partners, uint32_t rank, uint32_t pair);

struct sim_match {
    struct sim_half *half;
    size_t capacity;
    uint32_t count, unused; /* halves in use once; the first free one */
    uint32_t most;          /* that there may be at once */
    struct sim_pair *pair;
    size_t pair_capacity;
    uint32_t *next_in; /* [pairs] another pair of the same receiver; SIM_NOTHING: none */
    size_t next_in_capacity;
    uint32_t pairs;
    struct hpcw_i_table number; /* of a pair, by both ranks */
};

void sim_match_init(struct sim_match *m, uint32_t most);
void sim_match_free(struct sim_match *m);

/* Number of the pair, or SIM_NOTHING when memory runs out. */
uint32_t sim_match_pair(struct sim_match *m, uint32_t from, uint32_t to);

/* Makes room for a half; false when memory runs out or there are too many. Halves move. */
bool sim_match_grow(struct sim_match *m);

/* Adds a half that nobody looks for yet, or SIM_NOTHING as sim_match_grow. */
static inline uint32_t sim_match_add(struct sim_match *m, const struct sim_half *half) {
    if (m->unused == SIM_NOTHING && !sim_match_grow(m)) {
        return SIM_NOTHING;
    }
    const uint32_t number = m->unused;
    struct sim_half *h = &m->half[number];
    const uint32_t serial = h->serial;
    m->unused = h->next;
    if (h->next != SIM_NOTHING) {
        __builtin_prefetch(&m->half[h->next]); /* of the next call */
    }
    *h = *half;
    h->serial = serial;
    return number;
}

static inline void sim_match_drop(struct sim_match *m, uint32_t half) {
    m->half[half].serial++;
    m->half[half].next = m->unused;
    m->unused = half;
}

/* Takes the first half with a tag in a communicator out of a queue; SIM_NOTHING: there is none. */
static inline uint32_t sim_match_take(struct sim_match *m, struct sim_queue *queue, uint32_t comm,
                                      int32_t tag) {
    uint32_t before = SIM_NOTHING;
    uint32_t at = queue->first;
    while (at != SIM_NOTHING && (m->half[at].tag != tag || m->half[at].comm != comm)) {
        before = at;
        at = m->half[at].next;
    }
    if (at == SIM_NOTHING) {
        return at;
    }
    const uint32_t next = m->half[at].next;
    if (before == SIM_NOTHING) {
        queue->first = next;
    } else {
        m->half[before].next = next;
    }
    queue->last = queue->last == at ? before : queue->last;
    return at;
}

static inline void sim_match_append(struct sim_match *m, struct sim_queue *queue, uint32_t half) {
    m->half[half].next = SIM_NOTHING;
    if (queue->first == SIM_NOTHING) {
        queue->first = half;
    } else {
        m->half[queue->last].next = half;
    }
    queue->last = half;
}

#endif
