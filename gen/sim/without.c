/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/sim/without.h"

#include <string.h>

#include "gen/sim/private.h"
#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* ---- memory ---- */

hpcw_status sim_without_init(struct sim *sim, hpcw_error *err) {
    struct sim_without *w = &sim->without;
    const size_t clocks = sim->clocks = sim->options.clocks;
    if (clocks == 0) {
        return HPCW_OK;
    }
    for (uint32_t k = 0; k < clocks; k++) {
        w->repairs = w->repairs || sim->options.repair[k].what != MODEL_REPAIRS_NOTHING;
    }
    w->rank = hpcw_i_calloc(sim->ranks * clocks, sizeof *w->rank);
    w->half = hpcw_i_grow(NULL, &w->half_capacity, 1, clocks * sizeof *w->half);
    return w->rank != NULL && w->half != NULL ? HPCW_OK
                                              : hpcw_i_fail_memory(err, "simulator", sim->ranks, "ranks");
}

void sim_without_free(struct sim *sim) {
    hpcw_i_free(sim->without.rank);
    hpcw_i_free(sim->without.half);
    hpcw_i_free(sim->without.flight_ns);
}

static struct sim_without_rank *clocks_of(struct sim *sim, uint32_t rank) {
    return &sim->without.rank[(size_t)rank * sim->clocks];
}

uint32_t sim_without_keep(struct sim *sim, uint32_t half) {
    struct sim_without *w = &sim->without;
    const size_t bytes = sim->clocks * sizeof *w->half;
    struct sim_without_half *grown =
        half == SIM_NOTHING ? NULL : hpcw_i_grow(w->half, &w->half_capacity, half + (size_t)2, bytes);
    if (grown == NULL) {
        return SIM_NOTHING;
    }
    w->half = grown;
    memcpy(sim_without_times(sim, half), sim_without_times(sim, SIM_NOTHING), bytes);
    return half;
}

/* ---- messages ---- */

void sim_without_send(struct sim *sim, uint32_t rank, const struct sim_cost *cost, uint64_t wait_ns) {
    struct sim_without_rank *r = clocks_of(sim, rank);
    struct sim_without_half *h = sim_without_times(sim, SIM_NOTHING);
    const uint64_t clock_ns = sim->rank[rank].clock_ns;
    const uint64_t least_ns = sim_least_end_ns(sim, rank);
    for (uint32_t k = 0; k < sim->clocks; k++) {
        const uint64_t ready_ns = clock_ns - r[k].gain_ns + cost->overhead_ns;
        const uint64_t leaves_ns = sim_later_ns(ready_ns, r[k].out_free_ns);
        r[k].out_free_ns = leaves_ns + cost->card_ns + wait_ns;
        h[k] = (struct sim_without_half){leaves_ns + (cost->rendezvous ? 0 : wait_ns),
                                         sim_later_ns(least_ns - r[k].gain_ns, ready_ns)};
    }
}

void sim_without_receive(struct sim *sim, uint32_t rank) {
    const struct sim_without_rank *r = clocks_of(sim, rank);
    struct sim_without_half *h = sim_without_times(sim, SIM_NOTHING);
    for (uint32_t k = 0; k < sim->clocks; k++) {
        h[k].time_ns = sim->rank[rank].clock_ns - r[k].gain_ns;
    }
}

/* Returns the flight times of a message on the further clocks (times without a fault); NULL when memory
 * runs out. */
static const uint64_t *flights_of(struct sim *sim, uint32_t pair, const struct sim_cost *cost) {
    struct sim_without *w = &sim->without;
    const size_t row = 1 + (size_t)sim->clocks;
    if (pair >= w->pairs) {
        const uint32_t pairs = sim->match.pairs;
        uint64_t *grown = hpcw_i_grow(w->flight_ns, &w->flight_capacity, pairs, row * sizeof *grown);
        if (grown == NULL) {
            (void)sim_fail_memory(sim, "a message");
            return NULL;
        }
        w->flight_ns = grown;
        memset(grown + w->pairs * row, 0, (pairs - w->pairs) * row * sizeof *grown);
        w->pairs = pairs;
    }
    uint64_t *flight_ns = &w->flight_ns[pair * row];
    if (flight_ns[0] != cost->bytes + UINT64_C(1)) {
        const struct model_network *net = sim->options.network;
        const struct sim_pair *p = &sim->match.pair[pair];
        flight_ns[0] = cost->bytes + UINT64_C(1);
        for (uint32_t k = 0; k < sim->clocks; k++) {
            const struct model_repair *repair = &sim->options.repair[k];
            flight_ns[1 + k] =
                model_network_passes(net, p->from, p->to, repair)
                    ? sim_cost_repaired_ns(net, &sim->options.constants, p->from, p->to, cost->bytes, repair)
                    : cost->flight_ns;
        }
    }
    return flight_ns + 1;
}

void sim_without_join(struct sim *sim, const struct sim_half *s, uint32_t send, uint32_t receive) {
    const struct sim_cost *cost =
        &sim->match.pair[s->pair].cost; /* the pair's last computed cost is that of this message */
    const uint64_t *flights = sim->without.repairs ? flights_of(sim, s->pair, cost) : NULL;
    const uint64_t wait_ns = s->eager ? 0 : sim_crowd_wait(&sim->crowd, cost);
    struct sim_without_half *from = sim_without_times(sim, send);
    struct sim_without_half *to = sim_without_times(sim, receive);
    for (uint32_t k = 0; k < sim->clocks; k++) {
        const uint64_t flight_ns = (flights != NULL ? flights[k] : cost->flight_ns) + wait_ns;
        if (s->eager) {
            to[k].done_ns = from[k].time_ns + flight_ns;
        } else {
            const uint64_t start_ns = sim_later_ns(from[k].time_ns, to[k].time_ns + cost->latency_ns);
            to[k].done_ns = start_ns + flight_ns;
            from[k].done_ns = sim_later_ns(start_ns, to[k].done_ns - cost->latency_ns);
        }
    }
}

/* Ends the wait for a send or receive on all further clocks (times without a fault). now_ns: [clocks] times
 * at which the earlier waits of the call were over. */
static void end_half(struct sim *sim, uint32_t rank, const struct sim_half *h, uint32_t half,
                     uint64_t *now_ns) {
    struct sim_without_rank *r = clocks_of(sim, rank);
    const struct sim_without_half *times = sim_without_times(sim, half);
    for (uint32_t k = 0; k < sim->clocks; k++) {
        if (h->sends) {
            now_ns[k] = sim_later_ns(now_ns[k], times[k].done_ns);
        } else {
            r[k].in_free_ns = sim_later_ns(times[k].done_ns, r[k].in_free_ns + h->card_ns);
            now_ns[k] = sim_later_ns(now_ns[k], r[k].in_free_ns) + h->overhead_ns;
        }
    }
}

static void begin_wait(struct sim *sim, uint32_t rank, uint64_t *now_ns) {
    const uint64_t least_ns = sim_least_end_ns(sim, rank);
    for (uint32_t k = 0; k < sim->clocks; k++) {
        now_ns[k] = least_ns - clocks_of(sim, rank)[k].gain_ns;
    }
}

static void end_wait(struct sim *sim, uint32_t rank, const uint64_t *now_ns, uint64_t end_ns) {
    for (uint32_t k = 0; k < sim->clocks; k++) {
        clocks_of(sim, rank)[k].gain_ns = end_ns - now_ns[k];
    }
}

void sim_without_end(struct sim *sim, uint32_t rank, uint64_t end_ns) {
    const struct sim_waits *waits = &sim->rank[rank].waits;
    uint64_t now_ns[SIM_MOST_CLOCKS];
    begin_wait(sim, rank, now_ns);
    for (uint32_t i = waits->count; i-- > 0;) {
        end_half(sim, rank, &sim->match.half[waits->of[i]], waits->of[i], now_ns);
    }
    end_wait(sim, rank, now_ns, end_ns);
}

void sim_without_end_new(struct sim *sim, uint32_t rank, const struct sim_half *h, uint64_t end_ns) {
    uint64_t now_ns[SIM_MOST_CLOCKS];
    begin_wait(sim, rank, now_ns);
    end_half(sim, rank, h, SIM_NOTHING, now_ns);
    end_wait(sim, rank, now_ns, end_ns);
}

/* ---- meetings ---- */

void sim_without_come(struct sim *sim, struct sim_meeting *g, uint32_t place, uint64_t time_ns) {
    const struct sim_without_rank *r = clocks_of(sim, sim_comm_rank(g->comm, place));
    for (uint32_t k = 0; k < sim->clocks; k++) {
        g->other_ns[k][place] = sim_later_ns(g->other_ns[k][place], time_ns - r[k].gain_ns);
    }
}

void sim_without_leave(struct sim *sim, const struct sim_meeting *g, uint32_t place) {
    struct sim_without_rank *r = clocks_of(sim, sim_comm_rank(g->comm, place));
    for (uint32_t k = 0; k < sim->clocks; k++) {
        r[k].gain_ns = g->time_ns[place] - g->other_ns[k][place];
    }
}

/* ---- work, and the cost of faults ---- */

void sim_save(struct sim *sim, uint32_t rank, uint32_t clock, uint64_t saved_ns) {
    struct sim_without_rank *r = &clocks_of(sim, rank)[clock];
    r->gain_ns += saved_ns;
    r->saved_ns += saved_ns;
}

/* Inserts a rank into the list of the most affected ranks. The function is called for ranks in ascending order. */
static void rate(struct sim_price *price, struct sim_affected one) {
    uint32_t at = price->ranks;
    while (at > 0 && price->affected[at - 1].wait_ns < one.wait_ns) {
        at--;
    }
    if (at < SIM_MOST_AFFECTED) {
        price->ranks += price->ranks < SIM_MOST_AFFECTED;
        memmove(&price->affected[at + 1], &price->affected[at],
                (price->ranks - 1 - at) * sizeof *price->affected);
        price->affected[at] = one;
    }
}

struct sim_price sim_price_of(const struct sim *sim, uint32_t clock) {
    struct sim_price price = {.time_ns = 0};
    uint64_t end_ns = 0;
    for (uint32_t rank = 0; rank < sim->ranks; rank++) {
        const struct sim_without_rank *r = &sim->without.rank[(size_t)rank * sim->clocks + clock];
        end_ns = sim_later_ns(end_ns, sim->rank[rank].clock_ns - r->gain_ns);
        /* A rank either computes or waits. Without the fault, the rank ends earlier by gain_ns and computes
         * less by saved_ns. The difference is the time that it waits less. */
        if (r->gain_ns > r->saved_ns) {
            rate(&price, (struct sim_affected){rank, r->gain_ns - r->saved_ns});
        }
    }
    price.time_ns = sim_end_ns(sim) - end_ns;
    return price;
}
