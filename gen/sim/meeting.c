/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/sim/meeting.h"

#include <inttypes.h>
#include <string.h>

#include "gen/sim/private.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* ---- memory ---- */

hpcw_status sim_meetings_init(struct sim *sim, hpcw_error *err) {
    struct sim_meetings *m = &sim->meetings;
    m->levels = sim_plan_levels(sim->ranks);
    m->distance = hpcw_i_malloc((size_t)m->levels * sim->ranks + 1);
    m->scratch = hpcw_i_malloc(sim->ranks * sizeof *m->scratch);
    if (m->distance == NULL || m->scratch == NULL) {
        return hpcw_i_fail_memory(err, "simulator", sim->ranks, "ranks");
    }
    const struct model_machine *machine = sim->options.network->machine;
    for (uint32_t k = 0; k < m->levels; k++) {
        for (uint32_t r = 0; r < sim->ranks; r++) {
            const uint32_t below = (uint32_t)(((uint64_t)r + sim->ranks - ((uint64_t)1 << k)) % sim->ranks);
            const uint8_t distance = (uint8_t)model_machine_class(machine, below, r);
            m->distance[(size_t)k * sim->ranks + r] = distance;
            m->farthest = distance > m->farthest ? distance : m->farthest;
        }
    }
    return HPCW_OK;
}

static void free_all(struct sim_meeting *meeting) {
    while (meeting != NULL) {
        struct sim_meeting *next = meeting->next;
        hpcw_i_free(meeting->time_ns);
        hpcw_i_free(meeting->missing);
        hpcw_i_free(meeting);
        meeting = next;
    }
}

void sim_meetings_free(struct sim *sim) {
    struct sim_meetings *m = &sim->meetings;
    free_all(m->oldest);
    free_all(m->unused);
    hpcw_i_free(m->distance);
    hpcw_i_free(m->scratch);
}

static struct sim_meeting *new_meeting(struct sim *sim) {
    struct sim_meetings *m = &sim->meetings;
    struct sim_meeting *meeting = m->unused;
    if (meeting != NULL) {
        m->unused = meeting->next;
        return meeting;
    }
    meeting = hpcw_i_calloc(1, sizeof *meeting);
    if (meeting != NULL) {
        meeting->time_ns = hpcw_i_malloc(sim->ranks * sizeof *meeting->time_ns);
        meeting->missing = hpcw_i_malloc(sim->ranks);
    }
    if (meeting == NULL || meeting->time_ns == NULL || meeting->missing == NULL) {
        if (meeting != NULL) {
            meeting->next = NULL;
            free_all(meeting);
        }
        return NULL;
    }
    return meeting;
}

/* ---- trees: ranks are numbered from the root ---- */

static uint32_t rank_of(const struct sim *sim, const struct sim_meeting *g, uint32_t place) {
    return (uint32_t)(((uint64_t)place + g->root) % sim->ranks);
}

static uint32_t place_of(const struct sim *sim, const struct sim_meeting *g, uint32_t rank) {
    return (uint32_t)(((uint64_t)rank + sim->ranks - g->root) % sim->ranks);
}

static bool is_tree(const struct sim_meeting *g) {
    return g->plan.shape == SIM_SHAPE_UP || g->plan.shape == SIM_SHAPE_DOWN;
}

/* The children of a place are the place + 1, 2, 4 ... below this; its parent is the place without its lowest bit. */
static uint32_t reach_of(const struct sim *sim, uint32_t place) {
    return place == 0 ? (uint32_t)1 << sim->meetings.levels : place & (~place + 1);
}

static uint32_t children_of(const struct sim *sim, uint32_t place) {
    uint32_t children = 0;
    for (uint32_t m = reach_of(sim, place) >> 1; m > 0; m >>= 1) {
        children += m < sim->ranks - place;
    }
    return children;
}

/* Of the message between a place and its child. As neighbours are on a node, one rank of it talks to other nodes, and has the
 * node's cards alone. */
static struct sim_cost edge_cost(const struct sim *sim, const struct sim_meeting *g, uint32_t place,
                                 uint32_t child) {
    const struct model_network *net = sim->options.network;
    const uint32_t reach = reach_of(sim, child);
    const uint32_t below = reach < sim->ranks - child ? reach : sim->ranks - child;
    const enum model_class distance =
        model_machine_class(net->machine, rank_of(sim, g, place), rank_of(sim, g, child));
    return sim_cost_at(net, &sim->options.constants, distance, g->plan.gathers ? g->bytes * below : g->bytes,
                       1);
}

static uint64_t combine_ns(const struct sim *sim, uint64_t bytes) {
    return (uint64_t)(sim->options.constants.value[SIM_COMBINE] * (double)bytes + 0.5);
}

/* How long a rank is busy with one message: its processor, or its cards. */
static uint64_t busy_ns(const struct sim_cost *cost) {
    return cost->overhead_ns > cost->card_ns ? cost->overhead_ns : cost->card_ns;
}

/* ---- the end of a rank's call ---- */

static void leave(struct sim *sim, struct sim_meeting *g, uint32_t rank, uint64_t time_ns) {
    g->left++;
    sim_wake(sim, rank, time_ns);
}

static void later(uint64_t *time_ns, uint64_t other_ns) {
    *time_ns = *time_ns > other_ns ? *time_ns : other_ns;
}

/* A rank has the data of its parent. It sends them to its children, the farthest one first. */
static void pass_down(struct sim *sim, struct sim_meeting *g, uint32_t place) {
    const uint32_t rank = rank_of(sim, g, place);
    uint64_t time_ns = g->time_ns[rank];
    for (uint32_t m = reach_of(sim, place) >> 1; m > 0; m >>= 1) {
        if (m >= sim->ranks - place) {
            continue;
        }
        const uint32_t child = rank_of(sim, g, place + m);
        const struct sim_cost cost = edge_cost(sim, g, place, place + m);
        later(&g->time_ns[child], time_ns + sim_cost_total(&cost));
        time_ns += busy_ns(&cost);
        if (--g->missing[child] == 0) {
            pass_down(sim, g, place + m);
        }
    }
    leave(sim, g, rank, time_ns);
}

/* When a place has received the data of its children, one after the other, the nearest one first, and has combined them. */
static uint64_t received_ns(const struct sim *sim, const struct sim_meeting *g, uint32_t place) {
    uint64_t time_ns = g->time_ns[rank_of(sim, g, place)];
    uint64_t free_ns = 0;
    for (uint32_t m = 1; m < reach_of(sim, place) && m < sim->ranks - place; m <<= 1) {
        const struct sim_cost cost = edge_cost(sim, g, place, place + m);
        free_ns += cost.card_ns;
        later(&free_ns, g->time_ns[rank_of(sim, g, place + m)] + sim_cost_total(&cost));
    }
    later(&time_ns, free_ns);
    return time_ns + (g->plan.gathers ? 0 : children_of(sim, place) * combine_ns(sim, g->bytes));
}

/* A rank has the data of its children. It sends the result to its parent, which may now have all, too. */
static void pass_up(struct sim *sim, struct sim_meeting *g, uint32_t place) {
    for (;;) {
        const uint32_t rank = rank_of(sim, g, place);
        const uint64_t time_ns = g->time_ns[rank] = received_ns(sim, g, place);
        if (place == 0) {
            leave(sim, g, rank, time_ns);
            return;
        }
        const uint32_t parent = place & (place - 1);
        const struct sim_cost cost = edge_cost(sim, g, parent, place);
        leave(sim, g, rank, time_ns + busy_ns(&cost));
        if (--g->missing[rank_of(sim, g, parent)] > 0) {
            return;
        }
        place = parent;
    }
}

/* ---- rounds ---- */

/* A message while `sharing` ranks of the node send to others: the last one waits for the cards. */
static uint64_t message_ns(const struct sim *sim, enum model_class distance, uint64_t bytes, uint32_t sharing) {
    const struct model_network *net = sim->options.network;
    const struct sim_cost cost = sim_cost_at(net, &sim->options.constants, distance, bytes, sharing);
    const uint32_t nics = net->machine->params.nics;
    const bool waits = distance >= MODEL_SAME_SWITCH && sharing > nics;
    return sim_cost_total(&cost) + (waits ? cost.card_ns - cost.card_ns * nics / sharing : 0);
}

static void run_round(struct sim *sim, struct sim_meeting *g, const struct sim_round *round) {
    const uint8_t *distance = sim->meetings.distance + (size_t)round->level * sim->ranks;
    const uint32_t below = (uint32_t)1 << round->level;
    const uint64_t *time_ns = g->time_ns;
    uint64_t *next_ns = sim->meetings.scratch;
    const uint32_t node = sim_cost_sharing(sim->options.network);
    const uint32_t sharing = round->tree ? 1 : below < node ? below : node;
    uint64_t total_ns[MODEL_CLASSES];
    for (int c = 0; c < MODEL_CLASSES; c++) {
        total_ns[c] = message_ns(sim, (enum model_class)c, round->bytes, sharing) +
                      (round->combines ? combine_ns(sim, round->bytes) : 0);
    }
    for (uint32_t r = 0; r < sim->ranks; r++) {
        const uint64_t other_ns = time_ns[r < below ? r + (sim->ranks - below) : r - below];
        next_ns[r] = (other_ns > time_ns[r] ? other_ns : time_ns[r]) + total_ns[distance[r]];
    }
    sim->meetings.scratch = g->time_ns;
    g->time_ns = next_ns;
}

/* In a ring each rank gets all through the slowest hop, which only one rank of a node has. */
static uint64_t ring_ns(const struct sim *sim, const struct sim_meeting *g) {
    uint8_t farthest = 0;
    for (uint32_t r = 0; r < sim->ranks; r++) {
        farthest = sim->meetings.distance[r] > farthest ? sim->meetings.distance[r] : farthest;
    }
    return (sim->ranks - 1) * message_ns(sim, (enum model_class)farthest, g->plan.bytes, 1);
}

/* In pairs a rank has a message from each other one: those of its node, and those of others, when all ranks of the node use the
 * cards. */
static uint64_t pairs_ns(const struct sim *sim, const uint64_t message[2], uint32_t rank) {
    const uint32_t ppn = sim->options.network->machine->params.ppn;
    const uint32_t first = rank - rank % ppn;
    const uint32_t near = sim->ranks - first < ppn ? sim->ranks - first : ppn;
    return (near - 1) * message[0] + (sim->ranks - near) * message[1];
}

/* Nobody gets all before the last rank has come and has sent. */
static void run_steps(struct sim *sim, struct sim_meeting *g) {
    const bool ring = g->plan.shape == SIM_SHAPE_RING;
    const uint64_t steps_ns = ring && sim->ranks > 1 ? ring_ns(sim, g) : 0;
    const uint64_t message[2] = {message_ns(sim, MODEL_SAME_NODE, g->plan.bytes, 1),
                                 message_ns(sim, (enum model_class)sim->meetings.farthest, g->plan.bytes,
                                            sim_cost_sharing(sim->options.network))};
    uint64_t last_ns = 0;
    for (uint32_t r = 0; r < sim->ranks; r++) {
        later(&last_ns, g->time_ns[r]);
    }
    for (uint32_t r = 0; r < sim->ranks; r++) {
        g->time_ns[r] = last_ns + (ring ? steps_ns : pairs_ns(sim, message, r));
    }
}

static void run_all(struct sim *sim, struct sim_meeting *g) {
    for (uint32_t i = 0; i < g->plan.rounds; i++) {
        run_round(sim, g, &g->plan.round[i]);
    }
    if (g->plan.shape != SIM_SHAPE_ROUNDS) {
        run_steps(sim, g);
    }
    for (uint32_t r = sim->ranks; r-- > 0;) {
        leave(sim, g, r, g->time_ns[r] + sim->rank[r].write_ns);
    }
}

/* ---- the begin ---- */

static void begin(struct sim *sim, struct sim_meeting *g, uint32_t rank, enum sim_call call, uint32_t root,
                  uint64_t bytes) {
    g->call = call;
    g->root = root;
    g->bytes = bytes;
    g->first = rank;
    g->came = g->left = 0;
    g->next = NULL;
    sim_plan_make(&g->plan, &sim->options.constants, call, sim->ranks, bytes);
    memset(g->time_ns, 0, sim->ranks * sizeof *g->time_ns);
    for (uint32_t r = 0; is_tree(g) && r < sim->ranks; r++) {
        const uint32_t place = place_of(sim, g, r);
        g->missing[r] =
            (uint8_t)(g->plan.shape == SIM_SHAPE_UP ? 1 + children_of(sim, place) : 1 + (place > 0));
    }
}

/* The meeting of this rank's next collective call; NULL when memory runs out. */
static struct sim_meeting *find(struct sim *sim, uint32_t rank, enum sim_call call, uint32_t root,
                                uint64_t bytes) {
    struct sim_meetings *m = &sim->meetings;
    struct sim_meeting *g = m->oldest;
    for (uint32_t n = m->oldest_number; g != NULL && n != sim->rank[rank].meetings; n++) {
        g = g->next;
    }
    if (g != NULL) {
        return g;
    }
    g = new_meeting(sim);
    if (g == NULL) {
        return NULL;
    }
    begin(sim, g, rank, call, root, bytes);
    if (m->oldest == NULL) {
        m->oldest = g;
        m->oldest_number = sim->rank[rank].meetings;
    } else {
        m->newest->next = g;
    }
    m->newest = g;
    return g;
}

static void drop_old(struct sim *sim) {
    struct sim_meetings *m = &sim->meetings;
    while (m->oldest != NULL && m->oldest->left == sim->ranks) {
        struct sim_meeting *g = m->oldest;
        m->oldest = g->next;
        m->oldest_number++;
        g->next = m->unused;
        m->unused = g;
    }
}

static enum sim_answer refuse_other(struct sim *sim, const struct sim_meeting *g, enum sim_call call,
                                    uint32_t root, uint64_t bytes) {
    return sim_refuse(sim,
                      "%s: expected the collective call of rank %" PRIu32 ", %s with root %" PRIu32
                      " and %" PRIu64 " bytes, got root %" PRIu32 " and %" PRIu64 " bytes",
                      sim_call_name[call], g->first, sim_call_name[g->call], g->root, g->bytes, root, bytes);
}

/* The rank has come; whoever has all it waits for leaves. */
static void come(struct sim *sim, struct sim_meeting *g, uint32_t rank) {
    later(&g->time_ns[rank], sim_least_end_ns(sim, rank));
    g->came++;
    if (!is_tree(g)) {
        if (g->came == sim->ranks) {
            run_all(sim, g);
        }
    } else if (--g->missing[rank] == 0) {
        if (g->plan.shape == SIM_SHAPE_DOWN) {
            pass_down(sim, g, place_of(sim, g, rank));
        } else {
            pass_up(sim, g, place_of(sim, g, rank));
        }
    }
}

static enum sim_answer meet(struct sim *sim, uint32_t rank, enum sim_call call, uint32_t root, uint64_t bytes) {
    if (root == SIM_NONE) {
        return sim_refuse(sim, "%s: expected a root from 0 to %" PRIu32 ", got none", sim_call_name[call],
                          sim->ranks - 1);
    }
    if (root >= sim->ranks) {
        return sim_refuse(sim, "%s: expected a root from 0 to %" PRIu32 ", got %" PRIu32, sim_call_name[call],
                          sim->ranks - 1, root);
    }
    struct sim_meeting *g = find(sim, rank, call, root, bytes);
    if (g == NULL) {
        return sim_fail_memory(sim, "a collective call");
    }
    if (g->call != call || g->root != root || g->bytes != bytes) {
        return refuse_other(sim, g, call, root, bytes);
    }
    sim_begin_call(sim, rank, call);
    sim->rank[rank].root = root;
    sim->rank[rank].meetings++;
    const enum sim_answer answer = sim_block(sim, rank); /* `come` may wake it at once */
    come(sim, g, rank);
    drop_old(sim);
    return answer;
}

enum sim_answer sim_meet(struct sim *sim, uint32_t rank, enum sim_call call, uint32_t root, uint64_t bytes) {
    sim->rank[rank].write_ns = 0;
    sim->rank[rank].write_bytes = bytes;
    return meet(sim, rank, call, root, bytes);
}

enum sim_answer sim_checkpoint(struct sim *sim, uint32_t rank, uint64_t bytes, uint64_t write_ns) {
    struct sim_rank *r = &sim->rank[rank];
    if (r->checkpoints == sim->options.checkpoints) {
        return sim_refuse(sim, "checkpoint: expected %" PRIu32 " calls of a rank, got one more",
                          sim->options.checkpoints);
    }
    r->checkpoints++;
    r->write_ns = write_ns;
    r->write_bytes = bytes;
    return meet(sim, rank, SIM_CALL_CHECKPOINT, 0, 0);
}
