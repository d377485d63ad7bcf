/* SPDX-License-Identifier: BSD-3-Clause */
/* Matches messages and receives. A posted send or receive is called a half. It is kept until its counterpart
 * exists and both ranks have waited for their halves. The halves of two ranks match in the order of the calls,
 * by tag and communicator, as in MPI. */
#ifndef HPCW_GEN_SIM_MATCH_H
#define HPCW_GEN_SIM_MATCH_H

#include "gen/sim/mail.h"
#include "gen/sim/timing/cost.h"
#include "libwriter/base/table.h"

#define SIM_NOTHING UINT32_MAX /* index that means: no send or receive, or no pair */

/* A half (send or receive) and a pair (messages from one rank to another) each fill one aligned cache line,
 * since waiting for their memory dominates a run. So a half has a copy of those values of its pair that the end
 * of a wait needs. */
struct sim_half {
    uint64_t time_ns; /* send: when the message leaves; receive: when the receive was posted */
    /* matched or eager send: when the send completes; matched receive: when its message has arrived */
    uint64_t done_ns;
    union {
        uint64_t envelope_ns; /* message: when the receiver can see it */
        /* matched receive: how long the message keeps the rank's share of the network cards busy */
        uint64_t card_ns;
    };
    union {
        uint32_t number;      /* message: number of the sender's call, modulo 2^32 */
        uint32_t overhead_ns; /* matched receive: processor time of the message */
    };
    /* bytes of a message or matched receive, at most SIM_MOST_BYTES */
    uint32_t bytes;
    uint32_t owner; /* rank that posted this send or receive */
    uint32_t other; /* rank at the other end of the message */
    uint32_t pair;
    uint32_t next;   /* next unmatched send or receive of the pair, or next unused entry */
    uint32_t serial; /* use count of this entry; references with an older count are outdated */
    int32_t tag;
    uint32_t comm : 20;
    bool sends : 1, eager : 1;
    bool matched : 1;
    bool held : 1;   /* a request for which the rank has not waited yet */
    bool waited : 1; /* the rank is waiting for this send or receive */
};

struct sim_queue {
    uint32_t first, last; /* SIM_NOTHING: empty */
};

/* Messages from one rank to another. */
struct sim_pair {
    uint64_t envelope_ns; /* time at which the receiver can see the last message */
    struct sim_cost cost; /* cost of a message of the last size */
    /* unmatched messages and receives, in the order of the calls */
    struct sim_queue message, receive;
    uint32_t from, to;
};

/* An entry of a rank's partners: another rank, and the number of the sim_pair of the messages to it. A zeroed
 * list is empty. */
struct sim_partner {
    uint32_t rank, pair;
};
struct sim_partners {
    struct sim_partner *list; /* [count] sorted by rank */
    size_t capacity;
    uint32_t count;
    /* guess for the next search: the entry after the last one found, since programs repeat their order */
    uint32_t next;
};

/* Returns the position of a rank in the list, or where it would be inserted. */
uint32_t sim_partners_search(const struct sim_partners *partners, uint32_t rank);

/* Returns the pair with a rank, or SIM_NOTHING if the rank is not in the list. */
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

/* Adds a rank that is not in the list. Returns false when memory runs out. */
bool sim_partners_add(struct sim_partners *partners, uint32_t rank, uint32_t pair);

struct sim_match {
    struct sim_half *half;
    size_t capacity;
    /* count: entries of `half` ever used; unused: first entry of the list of unused ones */
    uint32_t count, unused;
    uint32_t most; /* largest number of entries of `half` in use */
    struct sim_pair *pair;
    size_t pair_capacity;
    /* [pairs] next pair with the same receiver; SIM_NOTHING: none */
    uint32_t *next_in;
    size_t next_in_capacity;
    uint32_t pairs;
    struct hpcw_i_table number; /* table of the pairs by their two ranks */
    struct sim_mail mail;
};

void sim_match_init(struct sim_match *m, uint32_t most);
void sim_match_free(struct sim_match *m);

/* Returns the number of the pair of two ranks, which is added if it is new. SIM_NOTHING: no memory. */
uint32_t sim_match_pair(struct sim_match *m, uint32_t from, uint32_t to);

/* Makes room for a send or receive. Returns false when memory runs out or there are too many. The array m->half
 * may move. */
bool sim_match_grow(struct sim_match *m);

/* Stores a send or receive and returns its number, or SIM_NOTHING if sim_match_grow fails. */
static inline uint32_t sim_match_add(struct sim_match *m, const struct sim_half *half) {
    if (m->unused == SIM_NOTHING && !sim_match_grow(m)) {
        return SIM_NOTHING;
    }
    const uint32_t number = m->unused;
    struct sim_half *h = &m->half[number];
    const uint32_t serial = h->serial;
    m->unused = h->next;
    *h = *half;
    h->serial = serial;
    return number;
}

static inline void sim_match_drop(struct sim_match *m, uint32_t half) {
    m->half[half].serial++;
    m->half[half].next = m->unused;
    m->unused = half;
}

/* Removes the first send or receive with this tag and communicator from a queue. Returns SIM_NOTHING if the
 * queue has none. */
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
