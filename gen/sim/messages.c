/* SPDX-License-Identifier: BSD-3-Clause */
/* Point-to-point calls: sends, receives, and waits for them. */
#include <inttypes.h>

#include "gen/sim/private.h"
#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"

static struct sim_half *half_of(struct sim *sim, uint32_t half) {
    return &sim->match.half[half];
}

static struct sim_pair *pair_of(struct sim *sim, uint32_t pair) {
    return &sim->match.pair[pair];
}

/* Returns the cost of a message between two ranks. The previous cost is reused if it was for the same size. */
static const struct sim_cost *cost_of(struct sim *sim, uint32_t pair, uint64_t bytes) {
    struct sim_pair *p = pair_of(sim, pair);
    if (p->cost.bytes != bytes) {
        p->cost = sim_cost_between(sim->options.network, &sim->options.constants, p->from, p->to, bytes);
    }
    return &p->cost;
}

/* Finds the pair of two ranks and adds it to `partners`. A new pair is also added to its receiver's list.
 * Returns SIM_NOTHING when memory runs out. */
static uint32_t find_pair(struct sim *sim, uint32_t from, uint32_t to, struct sim_partners *partners,
                          uint32_t partner) {
    const uint32_t known = sim->match.pairs;
    const uint32_t pair = sim_match_pair(&sim->match, from, to);
    if (pair != SIM_NOTHING && pair == known) {
        sim->match.next_in[pair] = sim->rank[to].first_in;
        sim->rank[to].first_in = pair;
        pair_of(sim, pair)->cost = sim_cost_between(sim->options.network, &sim->options.constants, from, to, 0);
    }
    return pair != SIM_NOTHING && sim_partners_add(partners, partner, pair) ? pair : SIM_NOTHING;
}

/* GCC 12 takes a function that does nothing but prefetch for one without an effect, and drops its calls. */
#define FETCHES static inline __attribute__((always_inline))

/* Fetches the memory of a stored send or receive. */
FETCHES void fetch_half(const struct sim *sim, uint32_t half) {
    __builtin_prefetch(&sim->match.half[half], 1);
    if (sim_has_clocks(sim)) {
        hpcw_i_fetch(sim_without_times(sim, half), sim->clocks * sizeof(struct sim_without_half));
    }
}

/* Fetches the memory for the next requests of a rank. Programs repeat the order of their partners, so the next
 * pairs are known. For the next pair, the send or receive that it may match is fetched. For the pair after it, the
 * pair itself is fetched. */
FETCHES void fetch_message(const struct sim *sim, const struct sim_partners *partners, bool sends) {
    const uint32_t next = partners->next;
    if (next + 1 < partners->count) {
        __builtin_prefetch(&sim->match.pair[partners->list[next + 1].pair], 1);
    }
    if (next < partners->count) {
        const struct sim_pair *pair = &sim->match.pair[partners->list[next].pair];
        const uint32_t half = sends ? pair->receive.first : pair->message.first;
        if (half != SIM_NOTHING) {
            fetch_half(sim, half);
        }
    }
}

static uint32_t pair_to(struct sim *sim, uint32_t rank, uint32_t to) {
    struct sim_partners *partners = &sim->rank[rank].to;
    const uint32_t pair = sim_partners_find(partners, to);
    return pair != SIM_NOTHING ? pair : find_pair(sim, rank, to, partners, to);
}

static uint32_t pair_from(struct sim *sim, uint32_t rank, uint32_t from) {
    struct sim_partners *partners = &sim->rank[rank].from;
    const uint32_t pair = sim_partners_find(partners, from);
    return pair != SIM_NOTHING ? pair : find_pair(sim, from, rank, partners, from);
}

/* Returns the rank of a place in a communicator. In the world, which most messages use, both are equal. */
static uint32_t rank_of(const struct sim *sim, uint32_t comm, uint32_t place) {
    return comm == SIM_WORLD ? place : sim_comm_rank(sim->comm[comm], place);
}

/* ---- the end of a wait ---- */

/* Returns the time at which a rank continues after the wait for a completed send or receive. now_ns: earliest such
 * time. */
static uint64_t end_of(struct sim *sim, uint32_t rank, const struct sim_half *half, uint64_t now_ns) {
    if (half->sends) {
        return sim_later_ns(now_ns, half->done_ns);
    }
    /* Received data also share the network cards, in the order in which the rank waits for them. */
    struct sim_rank *r = &sim->rank[rank];
    r->in_free_ns = sim_later_ns(half->done_ns, r->in_free_ns + half->card_ns);
    return sim_later_ns(now_ns, r->in_free_ns) + half->overhead_ns;
}

/* As end_of, for a call that waits only for its own send or receive, which is not stored. */
static uint64_t end_of_new(struct sim *sim, uint32_t rank, const struct sim_half *half) {
    const uint64_t end_ns = end_of(sim, rank, half, sim_least_end_ns(sim, rank));
    if (sim_has_clocks(sim)) {
        sim_without_end_new(sim, rank, half, end_ns);
    }
    return end_ns;
}

static void tell_receive(struct sim *sim, uint32_t rank, const struct sim_half *half, uint64_t time_ns) {
    sim->rank[rank].received = (struct sim_received){
        .bytes = half->bytes,
        .from = half->comm == SIM_WORLD ? half->other : sim_comm_place(sim->comm[half->comm], half->other),
        .tag = half->tag};
    if (sim->observed) {
        sim_tell(sim, &(struct sim_event){.time_ns = time_ns,
                                          .rank = rank,
                                          .what = SIM_RECEIVED,
                                          .comm = half->comm,
                                          .peer = half->other,
                                          .tag = half->tag,
                                          .bytes = half->bytes});
    }
}

/* Releases a send or receive for which the rank has waited. */
static void release(struct sim *sim, uint32_t rank, uint32_t half) {
    struct sim_half *h = half_of(sim, half);
    sim->rank[rank].requests.held -= h->held;
    if (h->matched) {
        sim_match_drop(&sim->match, half);
    } else {
        h->held = h->waited = false; /* an eager send: its receiver releases it */
    }
}

/* Fetches the memory of the sends and receives that a rank waits for. The rank posted them long ago. */
FETCHES void fetch_waits(const struct sim *sim, const struct sim_waits *waits) {
    for (uint32_t i = waits->count; i-- > 0;) {
        fetch_half(sim, waits->of[i]);
    }
}

/* Completes the sends and receives that a rank waits for, in the order of its requests. Returns the time at which
 * the rank's call ends. At that time the program and the observer learn of the messages. */
static uint64_t finish_wait(struct sim *sim, uint32_t rank) {
    struct sim_waits *waits = &sim->rank[rank].waits;
    uint64_t now_ns = sim_least_end_ns(sim, rank);
    fetch_waits(sim, waits);
    for (uint32_t i = waits->count; i-- > 0;) {
        now_ns = end_of(sim, rank, half_of(sim, waits->of[i]), now_ns);
    }
    if (sim_has_clocks(sim)) {
        sim_without_end(sim, rank, now_ns);
    }
    now_ns = sim_disturb(sim, rank, now_ns);
    for (uint32_t i = waits->count; i-- > 0;) {
        const uint32_t half = waits->of[i];
        if (!half_of(sim, half)->sends) {
            tell_receive(sim, rank, half_of(sim, half), now_ns);
        }
        release(sim, rank, half);
    }
    waits->count = 0;
    return now_ns;
}

/* Adds a send or receive to those that a rank waits for. If memory runs out, the run has failed. */
static struct sim_half *add_wait(struct sim *sim, uint32_t rank, uint32_t half) {
    struct sim_waits *waits = &sim->rank[rank].waits;
    struct sim_half *h = half_of(sim, half);
    h->waited = true;
    if (waits->count == waits->capacity) {
        uint32_t *grown = hpcw_i_grow(waits->of, &waits->capacity, waits->count + (size_t)1, sizeof *grown);
        if (grown == NULL) {
            (void)sim_fail_memory(sim, "a wait");
            return h;
        }
        waits->of = grown;
    }
    waits->of[waits->count++] = half;
    return h;
}

/* Returns whether the completion time of a send or receive is known. */
static bool has_end(const struct sim_half *half) {
    return half->matched || half->eager;
}

static void wait_for(struct sim *sim, uint32_t rank, uint32_t half) {
    sim->rank[rank].missing += !has_end(add_wait(sim, rank, half));
}

static enum sim_answer wait_or_go_on(struct sim *sim, uint32_t rank) {
    return sim->failed                   ? SIM_WAITS
           : sim->rank[rank].missing > 0 ? sim_block(sim, rank)
                                         : sim_return(sim, rank, finish_wait(sim, rank));
}

/* ---- timed calls ---- */

/* Ends the rank's call with the request that completes first. If several requests were complete when the call
 * began, takes the first of them in the order of the call. */
void sim_serve_request(struct sim *sim, uint32_t rank) {
    struct sim_rank *r = &sim->rank[rank];
    uint64_t first_ns = UINT64_MAX;
    uint32_t first = SIM_NOTHING;
    for (uint32_t i = r->waits.count; i-- > 0;) {
        struct sim_half *h = half_of(sim, r->waits.of[i]);
        const uint64_t time_ns = sim_later_ns(r->clock_ns, h->done_ns);
        h->waited = false;
        if (has_end(h) && time_ns < first_ns) {
            first_ns = time_ns;
            first = r->waits.of[i];
            r->requests.completed = r->waits.count - 1 - i;
        }
    }
    r->timed = SIM_NOT_TIMED;
    r->waits.of[0] = first;
    r->waits.count = 1;
    const uint64_t end_ns = finish_wait(sim, rank);
    sim_wake(sim, rank, end_ns);
}

/* ---- matched sends and receives ---- */

/* Marks a send or receive as matched. Resumes its rank if the rank waits for nothing else. */
static void settle(struct sim *sim, uint32_t half) {
    struct sim_half *h = half_of(sim, half);
    const uint32_t rank = h->owner;
    const bool counts = h->waited && !h->eager;
    h->matched = true;
    if (h->eager && !h->waited && !h->held) {
        sim_match_drop(&sim->match, half); /* a send that nobody waits for */
    }
    if (counts && sim->rank[rank].timed == SIM_ANY_REQUEST) {
        sim_may_end(sim, rank, h->done_ns);
    } else if (counts && --sim->rank[rank].missing == 0 && sim->rank[rank].state == SIM_RANK_WAITS) {
        sim_wake(sim, rank, finish_wait(sim, rank));
    }
}

/* Matches a message and a receive, and computes when both complete. */
static void join(struct sim *sim, struct sim_half *s, struct sim_half *r) {
    const struct sim_cost *cost = cost_of(sim, s->pair, s->bytes);
    const uint64_t flight_ns = cost->flight_ns + (s->eager ? 0 : sim_crowd_wait(&sim->crowd, cost));
    r->bytes = s->bytes;
    r->card_ns = cost->card_ns;
    r->overhead_ns = cost->overhead_ns;
    if (s->eager) {
        r->done_ns = s->time_ns + flight_ns;
    } else {
        /* Rendezvous: the data leave once the sender knows that the receive is posted. The sender is free when all
         * data have left. */
        const uint64_t start_ns = sim_later_ns(s->time_ns, r->time_ns + cost->latency_ns);
        r->done_ns = start_ns + flight_ns;
        s->done_ns = sim_later_ns(start_ns, r->done_ns - cost->latency_ns);
    }
}

static struct sim_half new_receive(struct sim *sim, uint32_t rank, uint32_t from, uint32_t pair, uint32_t comm,
                                   int32_t tag) {
    if (sim_has_clocks(sim)) {
        sim_without_receive(sim, rank);
    }
    return (struct sim_half){.time_ns = sim->rank[rank].clock_ns,
                             .owner = rank,
                             .other = from,
                             .pair = pair,
                             .comm = comm & SIM_LAST_COMM,
                             .tag = tag};
}

/* ---- receives from any source ---- */

/* Adds an unreceived message to the mail of a rank that receives from any source. */
static void deliver(struct sim *sim, uint32_t rank, uint32_t half) {
    const struct sim_rank *r = &sim->rank[rank];
    const struct sim_half *h = half_of(sim, half);
    if (!sim_mail_add(sim, half)) {
        (void)sim_fail_memory(sim, "a message");
    } else if (r->timed == SIM_ANY_MESSAGE && r->any_tag == h->tag && r->comm == h->comm) {
        sim_may_end(sim, rank, h->envelope_ns);
    }
}

/* Makes the mail of a rank collect all messages to the rank, including those sent before. */
static void open_mail(struct sim *sim, uint32_t rank) {
    sim->rank[rank].receives_any = sim->any_source = true;
    for (uint32_t p = sim->rank[rank].first_in; p != SIM_NOTHING; p = sim->match.next_in[p]) {
        for (uint32_t h = pair_of(sim, p)->message.first; h != SIM_NOTHING; h = half_of(sim, h)->next) {
            deliver(sim, rank, h);
        }
    }
}

static enum sim_answer receive_any(struct sim *sim, uint32_t rank, int32_t tag) {
    struct sim_rank *r = &sim->rank[rank];
    if (!r->receives_any) {
        open_mail(sim, rank);
    }
    r->timed = SIM_ANY_MESSAGE;
    r->any_tag = tag;
    const uint32_t half = sim_mail_first(sim, rank, r->comm, tag);
    if (half != SIM_NOTHING) {
        sim_may_end(sim, rank, half_of(sim, half)->envelope_ns);
    }
    return sim_block(sim, rank);
}

void sim_serve_message(struct sim *sim, uint32_t rank) {
    struct sim_rank *r = &sim->rank[rank];
    uint32_t send = sim_mail_first(sim, rank, r->comm, r->any_tag);
    const struct sim_half *s = half_of(sim, send);
    const uint32_t pair = s->pair;
    struct sim_half receive = new_receive(sim, rank, s->owner, pair, s->comm, s->tag);
    /* The earliest message in the mail is also the first one with this tag from its sender. */
    send = sim_match_take(&sim->match, &pair_of(sim, pair)->message, receive.comm, receive.tag);
    join(sim, half_of(sim, send), &receive);
    if (sim_has_clocks(sim)) {
        sim_without_join(sim, half_of(sim, send), send, SIM_NOTHING);
    }
    settle(sim, send);
    r->timed = SIM_NOT_TIMED;
    const uint64_t end_ns = sim_disturb(sim, rank, end_of_new(sim, rank, &receive));
    tell_receive(sim, rank, &receive, end_ns);
    sim_wake(sim, rank, end_ns);
}

/* ---- sends and receives ---- */

/* Creates a message, which leaves when the network cards are free. */
static struct sim_half new_send(struct sim *sim, uint32_t rank, uint32_t pair, uint32_t comm, uint64_t bytes,
                                int32_t tag) {
    struct sim_rank *r = &sim->rank[rank];
    struct sim_pair *p = pair_of(sim, pair);
    const struct sim_cost *cost = cost_of(sim, pair, bytes);
    const uint64_t ready_ns = r->clock_ns + cost->overhead_ns;
    const uint64_t leaves_ns = sim_later_ns(ready_ns, r->out_free_ns);
    const uint64_t wait_ns = sim_crowd_wait(&sim->crowd, cost);
    /* The request of a rendezvous does not wait for crowded links. The data that follow it do. */
    const uint64_t time_ns = leaves_ns + (cost->rendezvous ? 0 : wait_ns);
    const uint64_t known_ns = time_ns + (cost->rendezvous ? cost->latency_ns : cost->flight_ns);
    r->out_free_ns = leaves_ns + cost->card_ns + wait_ns;
    sim_crowd_count(&sim->crowd, rank, r->phase, cost, leaves_ns, wait_ns);
    p->envelope_ns = sim_later_ns(p->envelope_ns, known_ns);
    if (sim_has_clocks(sim)) {
        sim_without_send(sim, rank, cost, wait_ns);
    }
    if (sim->observed) {
        sim_tell(sim, &(struct sim_event){.time_ns = r->clock_ns,
                                          .rank = rank,
                                          .what = SIM_SENT,
                                          .comm = comm & SIM_LAST_COMM,
                                          .peer = p->to,
                                          .tag = tag,
                                          .bytes = bytes});
    }
    return (struct sim_half){.time_ns = time_ns,
                             .done_ns = sim_later_ns(sim_least_end_ns(sim, rank), ready_ns),
                             .envelope_ns = p->envelope_ns,
                             .number = r->calls,
                             .bytes = (uint32_t)bytes,
                             .owner = rank,
                             .other = p->to,
                             .pair = pair,
                             .comm = comm & SIM_LAST_COMM,
                             .tag = tag,
                             .sends = true,
                             .eager = !cost->rendezvous};
}

/* Matches a new message with a posted receive, which completes the message. Returns false if there is no
 * receive. */
static bool finds_receive(struct sim *sim, struct sim_half *send) {
    const uint32_t receive =
        sim_match_take(&sim->match, &pair_of(sim, send->pair)->receive, send->comm, send->tag);
    if (receive == SIM_NOTHING) {
        return false;
    }
    join(sim, send, half_of(sim, receive));
    if (sim_has_clocks(sim)) {
        sim_without_join(sim, send, SIM_NOTHING, receive);
    }
    send->matched = true;
    settle(sim, receive);
    return true;
}

/* Matches a new receive with a message. Returns false if there is no message. */
static bool finds_message(struct sim *sim, struct sim_half *receive) {
    const uint32_t send =
        sim_match_take(&sim->match, &pair_of(sim, receive->pair)->message, receive->comm, receive->tag);
    if (send == SIM_NOTHING) {
        return false;
    }
    join(sim, half_of(sim, send), receive);
    if (sim_has_clocks(sim)) {
        sim_without_join(sim, half_of(sim, send), send, SIM_NOTHING);
    }
    receive->matched = true;
    settle(sim, send);
    return true;
}

/* Stores a send or receive that is unmatched or that its rank waits for. SIM_NOTHING: see refuse_half. */
static uint32_t keep(struct sim *sim, const struct sim_half *half) {
    const uint32_t kept = sim_match_add(&sim->match, half);
    if (kept != SIM_NOTHING && !half->matched) {
        struct sim_pair *pair = pair_of(sim, half->pair);
        sim_match_append(&sim->match, half->sends ? &pair->message : &pair->receive, kept);
        if (half->sends && sim->any_source && sim->rank[half->other].receives_any) {
            deliver(sim, half->other, kept);
        }
    }
    return sim_has_clocks(sim) ? sim_without_keep(sim, kept) : kept;
}

/* Sends a message for an isend or a sendrecv. Returns the number of the stored send. */
static uint32_t post_send(struct sim *sim, uint32_t rank, uint32_t comm, uint32_t to, uint64_t bytes,
                          int32_t tag, bool held) {
    const uint32_t pair = pair_to(sim, rank, rank_of(sim, comm, to));
    if (pair == SIM_NOTHING) {
        return pair;
    }
    if (held) {
        fetch_message(sim, &sim->rank[rank].to, true);
    }
    struct sim_half send = new_send(sim, rank, pair, comm, bytes, tag);
    send.held = held;
    (void)finds_receive(sim, &send);
    return keep(sim, &send);
}

static uint32_t post_receive(struct sim *sim, uint32_t rank, uint32_t comm, uint32_t from, int32_t tag,
                             bool held) {
    const uint32_t sender = rank_of(sim, comm, from);
    const uint32_t pair = pair_from(sim, rank, sender);
    if (pair == SIM_NOTHING) {
        return pair;
    }
    if (held) {
        fetch_message(sim, &sim->rank[rank].from, false);
    }
    struct sim_half receive = new_receive(sim, rank, sender, pair, comm, tag);
    receive.held = held;
    (void)finds_message(sim, &receive);
    return keep(sim, &receive);
}

/* ---- checks of a program's arguments ---- */

static bool is_partner(struct sim *sim, enum sim_call call, uint32_t comm, uint32_t partner, uint64_t bytes,
                       int32_t tag) {
    const uint32_t size = comm == SIM_WORLD ? sim->ranks : sim->comm[comm]->size;
    if (partner >= size && partner != SIM_NONE) {
        (void)sim_refuse(sim, "%s: expected a rank from 0 to %" PRIu32 " or none, got %" PRIu32,
                         sim_call_name[call], size - 1, partner);
    } else if (bytes > SIM_MOST_BYTES) {
        (void)sim_refuse(sim, "%s: expected 0 to %d bytes, got %" PRIu64, sim_call_name[call], SIM_MOST_BYTES,
                         bytes);
    } else if (tag < 0) {
        (void)sim_refuse(sim, "%s: expected a tag of at least 0, got %" PRId32, sim_call_name[call], tag);
    } else {
        return true;
    }
    return false;
}

/* Refuses a call whose send or receive could not be stored: there are too many, or no memory. */
static enum sim_answer refuse_half(struct sim *sim, enum sim_call call) {
    const struct sim_match *m = &sim->match;
    return m->count == m->most && m->unused == SIM_NOTHING
               ? sim_refuse(sim,
                            "%s: expected at most %" PRIu32 " sends and receives under way at once, got more",
                            sim_call_name[call], m->most)
               : sim_fail_memory(sim, "a message");
}

static enum sim_answer end_at_once(struct sim *sim, uint32_t rank) {
    return sim_end_call(sim, rank, sim_least_end_ns(sim, rank));
}

enum sim_answer sim_send(struct sim *sim, uint32_t rank, uint32_t comm, uint32_t to, uint64_t bytes,
                         int32_t tag) {
    if (!is_partner(sim, SIM_CALL_SEND, comm, to, bytes, tag)) {
        return SIM_REFUSED;
    }
    sim_begin_call(sim, rank, comm, SIM_CALL_SEND);
    if (to == SIM_NONE) {
        return end_at_once(sim, rank);
    }
    const uint32_t pair = pair_to(sim, rank, rank_of(sim, comm, to));
    if (pair == SIM_NOTHING) {
        return sim_fail_memory(sim, "a message");
    }
    struct sim_half send = new_send(sim, rank, pair, comm, bytes, tag);
    if (finds_receive(sim, &send)) {
        return sim_end_call(sim, rank, end_of_new(sim, rank, &send));
    }
    const uint32_t half = keep(sim, &send);
    if (half == SIM_NOTHING) {
        return refuse_half(sim, SIM_CALL_SEND);
    }
    if (send.eager) {
        return sim_end_call(sim, rank, send.done_ns);
    }
    wait_for(sim, rank, half);
    return sim_block(sim, rank);
}

enum sim_answer sim_recv(struct sim *sim, uint32_t rank, uint32_t comm, uint32_t from, int32_t tag) {
    if (from != SIM_ANY && !is_partner(sim, SIM_CALL_RECV, comm, from, 0, tag)) {
        return SIM_REFUSED;
    }
    sim_begin_call(sim, rank, comm, SIM_CALL_RECV);
    sim->rank[rank].received = (struct sim_received){.from = SIM_NONE};
    if (from == SIM_NONE) {
        return end_at_once(sim, rank);
    }
    if (from == SIM_ANY) {
        return receive_any(sim, rank, tag);
    }
    const uint32_t sender = rank_of(sim, comm, from);
    const uint32_t pair = pair_from(sim, rank, sender);
    if (pair == SIM_NOTHING) {
        return sim_fail_memory(sim, "a message");
    }
    struct sim_half receive = new_receive(sim, rank, sender, pair, comm, tag);
    if (finds_message(sim, &receive)) {
        const uint64_t end_ns = sim_disturb(sim, rank, end_of_new(sim, rank, &receive));
        tell_receive(sim, rank, &receive, end_ns);
        return sim_return(sim, rank, end_ns);
    }
    const uint32_t half = keep(sim, &receive);
    if (half == SIM_NOTHING) {
        return refuse_half(sim, SIM_CALL_RECV);
    }
    wait_for(sim, rank, half);
    return sim_block(sim, rank);
}

enum sim_answer sim_sendrecv(struct sim *sim, uint32_t rank, uint32_t comm, uint32_t to, uint64_t bytes,
                             uint32_t from, int32_t tag) {
    if (!is_partner(sim, SIM_CALL_SENDRECV, comm, to, bytes, tag) ||
        !is_partner(sim, SIM_CALL_SENDRECV, comm, from, 0, tag)) {
        return SIM_REFUSED;
    }
    sim_begin_call(sim, rank, comm, SIM_CALL_SENDRECV);
    sim->rank[rank].received = (struct sim_received){.from = SIM_NONE};
    const uint32_t receive = from == SIM_NONE ? SIM_NOTHING : post_receive(sim, rank, comm, from, tag, false);
    if (from != SIM_NONE && receive == SIM_NOTHING) {
        return refuse_half(sim, SIM_CALL_SENDRECV);
    }
    if (from != SIM_NONE) {
        wait_for(sim, rank, receive);
    }
    const uint32_t send = to == SIM_NONE ? SIM_NOTHING : post_send(sim, rank, comm, to, bytes, tag, false);
    if (to != SIM_NONE && send == SIM_NOTHING) {
        return refuse_half(sim, SIM_CALL_SENDRECV);
    }
    if (to != SIM_NONE) {
        wait_for(sim, rank, send);
    }
    return wait_or_go_on(sim, rank);
}

static bool is_held(struct sim *sim, sim_request request) {
    const struct sim_half *h = half_of(sim, (uint32_t)request);
    return h->serial == request >> 32 && h->held && !h->waited;
}

/* Removes the requests for which the rank has waited. */
static void clear_requests(struct sim *sim, struct sim_rank *r) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < r->requests.posted; i++) {
        if (is_held(sim, r->requests.of[i])) {
            r->requests.of[kept++] = r->requests.of[i];
        }
    }
    r->requests.posted = kept;
}

/* Adds a stored send or receive to the requests of a rank. Returns false when memory runs out. */
static bool hold(struct sim *sim, uint32_t rank, uint32_t half, sim_request *request) {
    struct sim_rank *r = &sim->rank[rank];
    if (r->requests.posted == r->requests.capacity) {
        clear_requests(sim, r);
        sim_request *grown = hpcw_i_grow(r->requests.of, &r->requests.capacity,
                                         2 * (size_t)r->requests.posted + 1, sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        r->requests.of = grown;
    }
    r->requests.held++;
    *request = r->requests.of[r->requests.posted++] = (uint64_t)half_of(sim, half)->serial << 32 | half;
    return true;
}

/* The request of a message to or from SIM_NONE. It is always complete. */
#define NO_REQUEST UINT64_MAX

enum sim_answer sim_isend(struct sim *sim, uint32_t rank, uint32_t comm, uint32_t to, uint64_t bytes,
                          int32_t tag, sim_request *request) {
    if (!is_partner(sim, SIM_CALL_ISEND, comm, to, bytes, tag)) {
        return SIM_REFUSED;
    }
    sim_begin_call(sim, rank, comm, SIM_CALL_ISEND);
    *request = NO_REQUEST;
    if (to == SIM_NONE) {
        return end_at_once(sim, rank);
    }
    const uint32_t half = post_send(sim, rank, comm, to, bytes, tag, true);
    if (half == SIM_NOTHING) {
        return refuse_half(sim, SIM_CALL_ISEND);
    }
    if (!hold(sim, rank, half, request)) {
        return sim_fail_memory(sim, "requests");
    }
    const uint64_t posted_ns =
        sim->rank[rank].clock_ns + pair_of(sim, half_of(sim, half)->pair)->cost.overhead_ns;
    return sim_end_call(sim, rank, sim_later_ns(sim_least_end_ns(sim, rank), posted_ns));
}

enum sim_answer sim_irecv(struct sim *sim, uint32_t rank, uint32_t comm, uint32_t from, int32_t tag,
                          sim_request *request) {
    if (!is_partner(sim, SIM_CALL_IRECV, comm, from, 0, tag)) {
        return SIM_REFUSED;
    }
    sim_begin_call(sim, rank, comm, SIM_CALL_IRECV);
    *request = NO_REQUEST;
    if (from == SIM_NONE) {
        return end_at_once(sim, rank);
    }
    const uint32_t half = post_receive(sim, rank, comm, from, tag, true);
    if (half == SIM_NOTHING) {
        return refuse_half(sim, SIM_CALL_IRECV);
    }
    if (!hold(sim, rank, half, request)) {
        return sim_fail_memory(sim, "requests");
    }
    return end_at_once(sim, rank);
}

/* Returns the send or receive of a request for which the rank may wait; SIM_NOTHING: none. */
static uint32_t half_of_request(struct sim *sim, uint32_t rank, enum sim_call call, sim_request request) {
    const uint32_t half = (uint32_t)request;
    if (half < sim->match.count && is_held(sim, request) && half_of(sim, half)->owner == rank) {
        return half;
    }
    (void)sim_refuse(sim, "%s: expected a request of this rank that it has not waited for, got another",
                     sim_call_name[call]);
    return SIM_NOTHING;
}

static enum sim_answer wait_for_all(struct sim *sim, uint32_t rank, enum sim_call call) {
    sim_begin_call(sim, rank, SIM_WORLD, call);
    sim->rank[rank].received = (struct sim_received){.from = SIM_NONE};
    return wait_or_go_on(sim, rank);
}

enum sim_answer sim_wait(struct sim *sim, uint32_t rank, enum sim_call call, const sim_request *request,
                         uint32_t count) {
    for (uint32_t i = count; i-- > 0;) {
        if (request[i] == NO_REQUEST) {
            continue;
        }
        const uint32_t half = half_of_request(sim, rank, call, request[i]);
        if (half == SIM_NOTHING) {
            return SIM_REFUSED;
        }
        wait_for(sim, rank, half);
    }
    return wait_for_all(sim, rank, call);
}

enum sim_answer sim_waitall(struct sim *sim, uint32_t rank) {
    struct sim_rank *r = &sim->rank[rank];
    for (; r->requests.posted > 0; r->requests.posted--) {
        if (is_held(sim, r->requests.of[r->requests.posted - 1])) {
            wait_for(sim, rank, (uint32_t)r->requests.of[r->requests.posted - 1]);
        }
    }
    return wait_for_all(sim, rank, SIM_CALL_WAITALL);
}

enum sim_answer sim_waitany(struct sim *sim, uint32_t rank, const sim_request *request, uint32_t count) {
    struct sim_rank *r = &sim->rank[rank];
    if (count == 0) {
        return sim_refuse(sim, "waitany: expected at least one request, got none");
    }
    for (r->requests.completed = 0; r->requests.completed < count; r->requests.completed++) {
        if (request[r->requests.completed] == NO_REQUEST) {
            sim_begin_call(sim, rank, SIM_WORLD, SIM_CALL_WAITANY);
            r->received = (struct sim_received){.from = SIM_NONE};
            return end_at_once(sim, rank);
        }
    }
    uint64_t first_ns = UINT64_MAX;
    for (uint32_t i = count; i-- > 0;) {
        const uint32_t half = half_of_request(sim, rank, SIM_CALL_WAITANY, request[i]);
        if (half == SIM_NOTHING) {
            return SIM_REFUSED;
        }
        const struct sim_half *h = add_wait(sim, rank, half);
        first_ns = has_end(h) && h->done_ns < first_ns ? h->done_ns : first_ns;
    }
    sim_begin_call(sim, rank, SIM_WORLD, SIM_CALL_WAITANY);
    r->received = (struct sim_received){.from = SIM_NONE};
    r->timed = SIM_ANY_REQUEST;
    if (first_ns < UINT64_MAX) {
        sim_may_end(sim, rank, first_ns);
    }
    return sim_block(sim, rank);
}

uint32_t sim_waited(const struct sim *sim, uint32_t rank) {
    return sim->rank[rank].requests.completed;
}

struct sim_received sim_received(const struct sim *sim, uint32_t rank) {
    return sim->rank[rank].received;
}
