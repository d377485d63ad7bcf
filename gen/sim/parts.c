/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/sim/parts.h"

#include <inttypes.h>
#include <string.h>

#include "gen/sim/private.h"
#include "libwriter/base/mem.h"

bool sim_parts_check(struct sim *sim, enum sim_call call, const struct sim_parts *parts, uint32_t size) {
    for (uint32_t i = 0; i < size; i += parts->bytes == NULL && size > 1 ? size - 1 : 1) {
        const uint64_t bytes = sim_part(parts, i);
        if (bytes > SIM_MOST_BYTES) {
            (void)sim_refuse(sim, "%s: expected parts of 0 to %d bytes, got %" PRId64 " for rank %" PRIu32,
                             sim_call_name[call], SIM_MOST_BYTES, (int64_t)bytes, i);
            return false;
        }
    }
    return true;
}

bool sim_parts_begin(struct sim_meeting *g) {
    g->parts.total = 0;
    g->parts.first = g->parts.step = 0;
    if (g->parts.bytes == NULL) {
        g->parts.bytes = hpcw_i_malloc(g->comm->size * sizeof *g->parts.bytes);
    }
    if (g->parts.bytes != NULL) {
        memset(g->parts.bytes, 0, g->comm->size * sizeof *g->parts.bytes);
    }
    return g->parts.bytes != NULL;
}

static struct sim_rank *rank_of(struct sim *sim, const struct sim_meeting *g, uint32_t place) {
    return &sim->rank[sim_comm_rank(g->comm, place)];
}

/* ---- to and from a root: one part after the other ---- */

static struct sim_cost cost_with_root(const struct sim *sim, const struct sim_meeting *g, uint32_t place,
                                      uint64_t bytes) {
    const struct model_network *net = sim->options.network;
    const enum model_class distance =
        model_machine_class(net->machine, sim_comm_rank(g->comm, g->root), sim_comm_rank(g->comm, place));
    return sim_cost_at(net, &sim->options.constants, distance, bytes, 1);
}

uint64_t sim_parts_send(struct sim *sim, struct sim_meeting *g, uint32_t place, const struct sim_parts *parts) {
    const uint64_t bytes = sim_part(parts, place);
    const struct sim_cost cost = cost_with_root(sim, g, place, bytes);
    const uint64_t come_ns = g->time_ns[place];
    struct sim_rank *r = rank_of(sim, g, place);
    r->write_bytes = bytes;
    r->read_bytes = 0;
    g->parts.total += bytes;
    g->parts.bytes[place] = cost.card_ns;
    g->time_ns[place] = come_ns + sim_cost_total(&cost);
    return come_ns + sim_cost_busy(&cost);
}

uint64_t sim_parts_receive(struct sim *sim, struct sim_meeting *g) {
    struct sim_rank *r = rank_of(sim, g, g->root);
    uint64_t free_ns = 0;
    for (uint32_t i = 0; i < g->comm->size; i++) {
        free_ns = i == g->root ? free_ns : sim_later_ns(free_ns + g->parts.bytes[i], g->time_ns[i]);
    }
    r->write_bytes = g->parts.root;
    r->read_bytes = g->parts.total + r->write_bytes;
    return sim_later_ns(g->time_ns[g->root], free_ns);
}

uint64_t sim_parts_scatter(struct sim *sim, struct sim_meeting *g, const struct sim_parts *parts) {
    struct sim_rank *root = rank_of(sim, g, g->root);
    uint64_t time_ns = g->time_ns[g->root];
    root->write_bytes = 0;
    root->read_bytes = sim_part(parts, g->root);
    for (uint32_t i = 0; i < g->comm->size; i++) {
        const uint64_t bytes = sim_part(parts, i);
        root->write_bytes += bytes;
        if (i != g->root) {
            const struct sim_cost cost = cost_with_root(sim, g, i, bytes);
            g->parts.bytes[i] = bytes;
            g->time_ns[i] = sim_later_ns(g->time_ns[i], time_ns + sim_cost_total(&cost));
            time_ns += sim_cost_busy(&cost);
        }
    }
    return time_ns;
}

/* ---- from all members to all members ---- */

/* Returns the bytes that a member sends: in an allgatherv its own part, in an alltoallv the parts for all
 * members. */
static uint64_t sent_by(struct sim_meeting *g, uint32_t place, const struct sim_parts *parts) {
    const uint64_t size = g->comm->size;
    if (g->call == SIM_CALL_ALLGATHERV) {
        return sim_part(parts, place);
    }
    if (parts->bytes == NULL) {
        g->parts.first += parts->first;
        g->parts.step += parts->step;
        return (uint64_t)((int64_t)size * parts->first + parts->step * (int64_t)(size * (size - 1) / 2));
    }
    uint64_t sum = 0;
    for (uint32_t i = 0; i < size; i++) {
        g->parts.bytes[i] += parts->bytes[i];
        sum += parts->bytes[i];
    }
    return sum;
}

void sim_parts_add(struct sim *sim, struct sim_meeting *g, uint32_t place, const struct sim_parts *parts) {
    struct sim_rank *r = rank_of(sim, g, place);
    r->write_bytes = sent_by(g, place, parts);
    g->parts.total += r->write_bytes;
}

static uint64_t received_by(const struct sim_meeting *g, uint32_t place) {
    return g->call == SIM_CALL_ALLGATHERV
               ? g->parts.total
               : g->parts.bytes[place] + (uint64_t)(g->parts.first + g->parts.step * (int64_t)place);
}

/* Returns the time of `messages` messages with `bytes` in total. */
static uint64_t messages_ns(const struct sim *sim, enum model_class distance, uint64_t messages, uint64_t bytes,
                            uint32_t users) {
    const struct model_network *net = sim->options.network;
    const struct sim_constants *c = &sim->options.constants;
    const uint64_t empty_ns = sim_cost_crowded(net, c, distance, 0, users);
    return messages == 0 ? 0 : (messages - 1) * empty_ns + sim_cost_crowded(net, c, distance, bytes, users);
}

/* Time of a ring: each member gets the others' parts through the slowest hop. */
static uint64_t ring_ns(const struct sim *sim, const struct sim_meeting *g, uint64_t bytes) {
    return messages_ns(sim, (enum model_class)g->comm->meetings.farthest, g->comm->size - 1, bytes,
                       sim_comm_users(sim, g->comm, 1));
}

/* Time of a pairwise exchange. A member's bytes are divided equally among all other members, of which near - 1
 * are on its node. */
static uint64_t pairs_ns(const struct sim *sim, const struct sim_meeting *g, uint64_t bytes, uint32_t near) {
    const uint64_t others = g->comm->size - 1;
    const enum model_class far = (enum model_class)g->comm->meetings.farthest;
    const uint64_t near_bytes = others == 0 ? 0 : (uint64_t)((double)bytes * (near - 1) / (double)others);
    return messages_ns(sim, MODEL_SAME_NODE, near - 1, near_bytes, 1) +
           messages_ns(sim, far, g->comm->size - near, bytes - near_bytes,
                       sim_cost_sharing(sim->options.network)) +
           sim_crowd_pairs_wait(sim, far, bytes - near_bytes);
}

void sim_parts_run(struct sim *sim, struct sim_meeting *g) {
    const struct sim_comm *comm = g->comm;
    uint64_t last_ns = 0;
    for (uint32_t i = 0; i < comm->size; i++) {
        last_ns = sim_later_ns(last_ns, g->time_ns[i]);
    }
    uint32_t near = 0;
    for (uint32_t first = 0; first < comm->size; first += near) {
        near = sim_comm_near(sim, comm, first);
        for (uint32_t i = first; i < first + near; i++) {
            const uint32_t place = sim_comm_nth(comm, i);
            struct sim_rank *r = rank_of(sim, g, place);
            r->read_bytes = received_by(g, place);
            g->time_ns[place] =
                last_ns + (g->call == SIM_CALL_ALLGATHERV
                               ? ring_ns(sim, g, r->read_bytes - r->write_bytes)
                               : pairs_ns(sim, g, sim_later_ns(r->write_bytes, r->read_bytes), near));
        }
    }
}
