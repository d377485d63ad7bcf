/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/sim/meeting.h"

#include <inttypes.h>
#include <string.h>

#include "gen/sim/parts.h"
#include "gen/sim/private.h"
#include "libwriter/base/mem.h"

/* Bytes that members of a split exchange: colour and key. */
enum { WISH_BYTES = 8 };

/* ---- memory ---- */

/* Allocates the members' times on the further clocks: times without a fault. Returns false when memory runs out. */
static bool add_clocks(struct sim_meeting *g, uint32_t clocks) {
    g->other_ns = hpcw_i_calloc(clocks + (size_t)1, sizeof *g->other_ns);
    bool good = g->other_ns != NULL;
    for (uint32_t k = 0; good && k < clocks; k++) {
        g->other_ns[k] = hpcw_i_malloc(g->comm->size * sizeof **g->other_ns);
        good = g->other_ns[k] != NULL;
    }
    return good;
}

static struct sim_meeting *new_meeting(const struct sim *sim, struct sim_comm *comm) {
    struct sim_meeting *meeting = comm->meetings.unused;
    if (meeting != NULL) {
        comm->meetings.unused = meeting->next;
        return meeting;
    }
    meeting = hpcw_i_calloc(1, sizeof *meeting);
    if (meeting != NULL) {
        meeting->comm = comm;
        meeting->time_ns = hpcw_i_malloc(comm->size * sizeof *meeting->time_ns);
        meeting->missing = hpcw_i_malloc(comm->size);
    }
    if (meeting != NULL && (meeting->time_ns == NULL || meeting->missing == NULL ||
                            (sim_has_clocks(sim) && !add_clocks(meeting, sim->clocks)))) {
        sim_meeting_free(meeting);
        meeting = NULL;
    }
    return meeting;
}

/* ---- trees: a slot is the place of a member, counted from the place of the root ---- */

static uint32_t place_in(const struct sim_meeting *g, uint32_t slot) {
    return (uint32_t)(((uint64_t)slot + g->root) % g->comm->size);
}

static uint32_t slot_of(const struct sim_meeting *g, uint32_t place) {
    return (uint32_t)(((uint64_t)place + g->comm->size - g->root) % g->comm->size);
}

static bool is_tree(const struct sim_meeting *g) {
    return g->plan.shape == SIM_SHAPE_UP || g->plan.shape == SIM_SHAPE_DOWN;
}

/* Returns the limit for the distance of a slot's children, which are slot + 1, slot + 2, slot + 4 ... below
 * slot + limit. The parent of a slot is the slot without its lowest set bit. */
static uint32_t reach_of(const struct sim_meeting *g, uint32_t slot) {
    return slot == 0 ? (uint32_t)1 << g->comm->meetings.levels : slot & (~slot + 1);
}

static uint32_t children_of(const struct sim_meeting *g, uint32_t slot) {
    uint32_t children = 0;
    for (uint32_t m = reach_of(g, slot) >> 1; m > 0; m >>= 1) {
        children += m < g->comm->size - slot;
    }
    return children;
}

/* Cost of the message between a slot and its child. Only one member of a node sends to other nodes, since
 * neighbouring slots share a node. */
static struct sim_cost edge_cost(const struct sim *sim, const struct sim_meeting *g, uint32_t slot,
                                 uint32_t child) {
    const struct model_network *net = sim->options.network;
    const uint32_t reach = reach_of(g, child);
    const uint32_t below = reach < g->comm->size - child ? reach : g->comm->size - child;
    const enum model_class distance = model_machine_class(
        net->machine, sim_comm_rank(g->comm, place_in(g, slot)), sim_comm_rank(g->comm, place_in(g, child)));
    return sim_cost_at(net, &sim->options.constants, distance, g->plan.gathers ? g->bytes * below : g->bytes,
                       sim_comm_users(sim, g->comm, 1));
}

static uint64_t combine_ns(const struct sim *sim, uint64_t bytes) {
    return (uint64_t)(sim->options.constants.value[SIM_COMBINE] * (double)bytes + 0.5);
}

/* ---- times on the main clock and on further clocks (times without a fault) ---- */

static void later(uint64_t *time_ns, uint64_t other_ns) {
    *time_ns = *time_ns > other_ns ? *time_ns : other_ns;
}

static uint64_t *times_on(const struct sim_meeting *g, uint32_t clock) {
    return clock == 0 ? g->time_ns : g->other_ns[clock - 1];
}

/* A step of a collective call. It reads and changes g->time_ns. */
typedef void meeting_step(struct sim *sim, struct sim_meeting *g, const struct sim_parts *parts);

static void take_step(struct sim *sim, struct sim_meeting *g, const struct sim_parts *parts,
                      meeting_step *step) {
    step(sim, g, parts);
    for (uint32_t k = 0; k < sim->clocks; k++) {
        uint64_t *main_ns = g->time_ns;
        g->time_ns = g->other_ns[k];
        step(sim, g, parts);
        g->other_ns[k] = g->time_ns;
        g->time_ns = main_ns;
    }
}

/* ---- the end of a member's call ---- */

static void leave(struct sim *sim, struct sim_meeting *g, uint32_t place, uint64_t time_ns) {
    const uint32_t rank = sim_comm_rank(g->comm, place);
    g->left++;
    if (sim_has_clocks(sim)) {
        sim_without_leave(sim, g, place);
    }
    if (g->call == SIM_CALL_SPLIT || g->call == SIM_CALL_DUP) {
        sim_tell_made(sim, rank, time_ns);
    }
    if (g->call == SIM_CALL_CHECKPOINT) {
        sim_tell_barrier(sim, rank, SIM_RETURNS, time_ns);
        sim_files_checkpoint(sim, rank, time_ns, sim->rank[rank].write_bytes);
    } else {
        sim_wake(sim, rank, sim_disturb(sim, rank, time_ns));
    }
}

/* Sends data that a slot has got from its parent on to the slot's children, the farthest first. */
static void pass_down(struct sim *sim, struct sim_meeting *g, uint32_t slot) {
    const uint32_t place = place_in(g, slot);
    uint64_t busy_ns = 0;
    for (uint32_t m = reach_of(g, slot) >> 1; m > 0; m >>= 1) {
        if (m >= g->comm->size - slot) {
            continue;
        }
        const uint32_t child = place_in(g, slot + m);
        const struct sim_cost cost = edge_cost(sim, g, slot, slot + m);
        for (uint32_t k = 0; k <= sim->clocks; k++) {
            uint64_t *time_ns = times_on(g, k);
            later(&time_ns[child], time_ns[place] + busy_ns + sim_cost_total(&cost));
        }
        busy_ns += sim_cost_busy(&cost);
        if (--g->missing[child] == 0) {
            pass_down(sim, g, slot + m);
        }
    }
    leave(sim, g, place, g->time_ns[place] + busy_ns);
}

/* Receives the data of a slot's children, the nearest first, and combines them. */
static void receive_up(const struct sim *sim, struct sim_meeting *g, uint32_t slot) {
    uint64_t free_ns[1 + SIM_MOST_CLOCKS] = {0};
    for (uint32_t m = 1; m < reach_of(g, slot) && m < g->comm->size - slot; m <<= 1) {
        const uint32_t child = place_in(g, slot + m);
        const struct sim_cost cost = edge_cost(sim, g, slot, slot + m);
        for (uint32_t k = 0; k <= sim->clocks; k++) {
            free_ns[k] += cost.card_ns;
            later(&free_ns[k], times_on(g, k)[child] + sim_cost_total(&cost));
        }
    }
    for (uint32_t k = 0; k <= sim->clocks; k++) {
        uint64_t *time_ns = &times_on(g, k)[place_in(g, slot)];
        later(time_ns, free_ns[k]);
        *time_ns += g->plan.gathers ? 0 : children_of(g, slot) * combine_ns(sim, g->bytes);
    }
}

/* Sends the data of a slot to its parent, once the slot has those of its children. Goes on with the parent if
 * the parent is complete, too. */
static void pass_up(struct sim *sim, struct sim_meeting *g, uint32_t slot) {
    for (;;) {
        const uint32_t place = place_in(g, slot);
        receive_up(sim, g, slot);
        if (slot == 0) {
            leave(sim, g, place, g->time_ns[place]);
            return;
        }
        const uint32_t parent = slot & (slot - 1);
        const struct sim_cost cost = edge_cost(sim, g, parent, slot);
        leave(sim, g, place, g->time_ns[place] + sim_cost_busy(&cost));
        if (--g->missing[place_in(g, parent)] > 0) {
            return;
        }
        slot = parent;
    }
}

/* ---- rounds ---- */

static void run_round(struct sim *sim, struct sim_meeting *g, const struct sim_round *round) {
    struct sim_meetings *m = &g->comm->meetings;
    const uint32_t size = g->comm->size;
    const uint8_t *distance = m->distance + (size_t)round->level * size;
    const uint32_t below = (uint32_t)1 << round->level;
    const uint64_t *time_ns = g->time_ns;
    uint64_t *next_ns = m->scratch;
    const uint32_t users = sim_comm_users(sim, g->comm, round->tree ? 1 : below);
    uint64_t total_ns[MODEL_CLASSES];
    for (int c = 0; c < MODEL_CLASSES; c++) {
        total_ns[c] = sim_cost_crowded(sim->options.network, &sim->options.constants, (enum model_class)c,
                                       round->bytes, users) +
                      (round->combines ? combine_ns(sim, round->bytes) : 0);
    }
    for (uint32_t i = 0; i < size; i++) {
        const uint64_t other_ns = time_ns[i < below ? i + (size - below) : i - below];
        next_ns[i] = (other_ns > time_ns[i] ? other_ns : time_ns[i]) + total_ns[distance[i]];
    }
    m->scratch = g->time_ns;
    g->time_ns = next_ns;
}

/* Time of a ring. Each member receives all data over the slowest hop, for which only one member of a node uses
 * the network cards. */
static uint64_t ring_ns(const struct sim *sim, const struct sim_meeting *g) {
    uint8_t farthest = 0;
    for (uint32_t i = 0; i < g->comm->size; i++) {
        farthest = g->comm->meetings.distance[i] > farthest ? g->comm->meetings.distance[i] : farthest;
    }
    return (g->comm->size - 1) * sim_cost_crowded(sim->options.network, &sim->options.constants,
                                                  (enum model_class)farthest, g->plan.bytes,
                                                  sim_comm_users(sim, g->comm, 1));
}

/* Time of a pairwise exchange: a member receives a message from each other member. message: time of a message
 * on the node, and between nodes while all ranks of the node use the cards. near: number of members on the node. */
static uint64_t pairs_ns(const struct sim_comm *comm, const uint64_t message[2], uint32_t near) {
    return (near - 1) * message[0] + (comm->size - near) * message[1];
}

/* Runs a collective call that no member leaves before the last one has arrived and has sent. */
static void run_steps(struct sim *sim, struct sim_meeting *g) {
    const struct sim_comm *comm = g->comm;
    const bool ring = g->plan.shape == SIM_SHAPE_RING;
    const uint64_t steps_ns = ring && comm->size > 1 ? ring_ns(sim, g) : 0;
    const uint64_t message[2] = {
        sim_cost_crowded(sim->options.network, &sim->options.constants, MODEL_SAME_NODE, g->plan.bytes, 1),
        sim_cost_crowded(sim->options.network, &sim->options.constants,
                         (enum model_class)comm->meetings.farthest, g->plan.bytes,
                         sim_cost_sharing(sim->options.network)) +
            sim_crowd_pairs_wait(sim, (enum model_class)comm->meetings.farthest, g->plan.bytes)};
    uint64_t last_ns = 0;
    for (uint32_t i = 0; i < comm->size; i++) {
        later(&last_ns, g->time_ns[i]);
    }
    uint32_t near = 0;
    for (uint32_t first = 0; first < comm->size; first += near) {
        near = sim_comm_near(sim, comm, first);
        for (uint32_t i = first; i < first + near; i++) {
            g->time_ns[sim_comm_nth(comm, i)] = last_ns + (ring ? steps_ns : pairs_ns(comm, message, near));
        }
    }
}

static void run_plan(struct sim *sim, struct sim_meeting *g, const struct sim_parts *parts) {
    (void)parts;
    for (uint32_t i = 0; i < g->plan.rounds; i++) {
        run_round(sim, g, &g->plan.round[i]);
    }
    if (g->plan.shape == SIM_SHAPE_PARTS) {
        sim_parts_run(sim, g);
    } else if (g->plan.shape != SIM_SHAPE_ROUNDS) {
        run_steps(sim, g);
    }
}

static void run_all(struct sim *sim, struct sim_meeting *g) {
    take_step(sim, g, NULL, run_plan);
    if (g->call == SIM_CALL_SPLIT || g->call == SIM_CALL_DUP) {
        sim_comms_split(sim, g->comm);
    }
    for (uint32_t i = g->comm->size; i-- > 0;) {
        leave(sim, g, i, g->time_ns[i]);
    }
}

/* ---- the begin of a collective call ---- */

static void begin(struct sim *sim, struct sim_meeting *g, uint32_t place, enum sim_call call, uint32_t root,
                  uint64_t bytes) {
    const uint32_t size = g->comm->size;
    g->call = call;
    g->root = root;
    g->bytes = bytes;
    g->first = place;
    g->came = g->left = 0;
    g->next = NULL;
    sim_plan_make(&g->plan, &sim->options.constants, call, size, bytes);
    for (uint32_t k = 0; k <= sim->clocks; k++) {
        memset(times_on(g, k), 0, size * sizeof *g->time_ns);
    }
    if (g->plan.shape == SIM_SHAPE_PARTS) {
        memset(g->missing, 1, size);
    }
    for (uint32_t i = 0; is_tree(g) && i < size; i++) {
        const uint32_t slot = slot_of(g, i);
        g->missing[i] = (uint8_t)(g->plan.shape == SIM_SHAPE_UP ? 1 + children_of(g, slot) : 1 + (slot > 0));
    }
}

/* Returns the object of a member's next collective call, or NULL when memory runs out. */
static struct sim_meeting *find(struct sim *sim, struct sim_comm *comm, uint32_t place, enum sim_call call,
                                uint32_t root, uint64_t bytes) {
    struct sim_meetings *m = &comm->meetings;
    struct sim_meeting *g = m->oldest;
    for (uint32_t n = m->oldest_number; g != NULL && n != comm->met[place]; n++) {
        g = g->next;
    }
    if (g != NULL) {
        return g;
    }
    g = new_meeting(sim, comm);
    if (g == NULL) {
        return NULL;
    }
    begin(sim, g, place, call, root, bytes);
    if (g->plan.shape == SIM_SHAPE_PARTS && !sim_parts_begin(g)) {
        sim_meeting_free(g);
        return NULL;
    }
    if (m->oldest == NULL) {
        m->oldest = g;
        m->oldest_number = comm->met[place];
    } else {
        m->newest->next = g;
    }
    m->newest = g;
    return g;
}

static void drop_old(struct sim_comm *comm) {
    struct sim_meetings *m = &comm->meetings;
    while (m->oldest != NULL && m->oldest->left == comm->size) {
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
                      " and %" PRIu64 " bytes, got %s with root %" PRIu32 " and %" PRIu64 " bytes",
                      sim_call_name[call], sim_comm_rank(g->comm, g->first), sim_call_name[g->call], g->root,
                      g->bytes, sim_call_name[call], root, bytes);
}

/* ---- parts of different sizes ---- */

static void receive_parts(struct sim *sim, struct sim_meeting *g, const struct sim_parts *parts) {
    (void)parts;
    g->time_ns[g->root] = sim_parts_receive(sim, g);
}

static void scatter_parts(struct sim *sim, struct sim_meeting *g, const struct sim_parts *parts) {
    g->time_ns[g->root] = sim_parts_scatter(sim, g, parts);
}

/* Handles a member's arrival at a gatherv. Only the root waits, until all members have arrived. */
static void come_to_gather(struct sim *sim, struct sim_meeting *g, uint32_t place,
                           const struct sim_parts *parts) {
    if (place == g->root) {
        g->parts.root = sim_part(parts, place);
    } else {
        const uint64_t come_ns = g->time_ns[place];
        const uint64_t end_ns = sim_parts_send(sim, g, place, parts);
        for (uint32_t k = 0; k < sim->clocks; k++) {
            g->other_ns[k][place] += g->time_ns[place] - come_ns;
        }
        leave(sim, g, place, end_ns);
    }
    if (g->came == g->comm->size) {
        take_step(sim, g, parts, receive_parts);
        leave(sim, g, g->root, g->time_ns[g->root]);
    }
}

static void leave_scatter(struct sim *sim, struct sim_meeting *g, uint32_t place) {
    struct sim_rank *r = &sim->rank[sim_comm_rank(g->comm, place)];
    r->write_bytes = 0;
    r->read_bytes = g->parts.bytes[place];
    leave(sim, g, place, g->time_ns[place]);
}

/* Handles a member's arrival at a scatterv. All members wait for the root, and the root waits for nobody. */
static void come_to_scatter(struct sim *sim, struct sim_meeting *g, uint32_t place,
                            const struct sim_parts *parts) {
    const uint32_t size = g->comm->size;
    if (place == g->root) {
        take_step(sim, g, parts, scatter_parts);
    }
    g->missing[place] = 0;
    for (uint32_t i = 0; place == g->root && i < size; i++) {
        if (i != place && g->missing[i] == 0) {
            leave_scatter(sim, g, i);
        }
    }
    if (place == g->root) {
        leave(sim, g, place, g->time_ns[place]);
    } else if (g->missing[g->root] == 0) {
        leave_scatter(sim, g, place);
    }
}

static void come_with_parts(struct sim *sim, struct sim_meeting *g, uint32_t place,
                            const struct sim_parts *parts) {
    if (g->call == SIM_CALL_GATHERV) {
        come_to_gather(sim, g, place, parts);
        return;
    }
    if (g->call == SIM_CALL_SCATTERV) {
        come_to_scatter(sim, g, place, parts);
        return;
    }
    sim_parts_add(sim, g, place, parts);
    if (g->came == g->comm->size) {
        run_all(sim, g);
    }
}

/* Handles a member's arrival at a meeting (collective call). Ends the calls of all members whose data are then
 * complete. */
static void come(struct sim *sim, struct sim_meeting *g, uint32_t place, const struct sim_parts *parts) {
    const uint64_t come_ns = sim_least_end_ns(sim, sim_comm_rank(g->comm, place));
    later(&g->time_ns[place], come_ns);
    if (sim_has_clocks(sim)) {
        sim_without_come(sim, g, place, come_ns);
    }
    g->came++;
    if (parts != NULL) {
        come_with_parts(sim, g, place, parts);
    } else if (!is_tree(g)) {
        if (g->came == g->comm->size) {
            run_all(sim, g);
        }
    } else if (--g->missing[place] == 0) {
        if (g->plan.shape == SIM_SHAPE_DOWN) {
            pass_down(sim, g, slot_of(g, place));
        } else {
            pass_up(sim, g, slot_of(g, place));
        }
    }
}

static enum sim_answer meet(struct sim *sim, uint32_t rank, uint32_t number, enum sim_call call, uint32_t root,
                            uint64_t bytes, const struct sim_parts *parts) {
    struct sim_comm *comm = sim->comm[number];
    if (root == SIM_NONE) {
        return sim_refuse(sim, "%s: expected a root from 0 to %" PRIu32 ", got none", sim_call_name[call],
                          comm->size - 1);
    }
    if (root >= comm->size) {
        return sim_refuse(sim, "%s: expected a root from 0 to %" PRIu32 ", got %" PRIu32, sim_call_name[call],
                          comm->size - 1, root);
    }
    if (parts != NULL && !sim_parts_check(sim, call, parts, comm->size)) {
        return SIM_REFUSED;
    }
    const uint32_t place = sim_comm_place(comm, rank);
    struct sim_meeting *g = find(sim, comm, place, call, root, bytes);
    if (g == NULL) {
        return sim_fail_memory(sim, "a collective call");
    }
    if (g->call != call || g->root != root || g->bytes != bytes) {
        return refuse_other(sim, g, call, root, bytes);
    }
    sim_begin_call(sim, rank, number, call);
    if (call == SIM_CALL_CHECKPOINT) {
        sim_tell_barrier(sim, rank, SIM_BEGINS, sim->rank[rank].clock_ns);
    }
    sim->rank[rank].root = root;
    comm->met[place]++;
    const enum sim_answer answer = sim_block(sim, rank); /* `come` may wake the rank at once */
    come(sim, g, place, parts);
    drop_old(comm);
    return answer;
}

enum sim_answer sim_meet(struct sim *sim, uint32_t rank, uint32_t comm, enum sim_call call, uint32_t root,
                         uint64_t bytes) {
    sim->rank[rank].write_bytes = bytes;
    return meet(sim, rank, comm, call, root, bytes, NULL);
}

enum sim_answer sim_meet_parts(struct sim *sim, uint32_t rank, uint32_t comm, enum sim_call call, uint32_t root,
                               const struct sim_parts *parts) {
    return meet(sim, rank, comm, call, root, 0, parts);
}

enum sim_answer sim_split(struct sim *sim, uint32_t rank, uint32_t comm, enum sim_call call, uint32_t colour,
                          int32_t key) {
    struct sim_rank *r = &sim->rank[rank];
    if (r->comms == SIM_MOST_COMMS) {
        return sim_refuse(sim, "%s: expected at most %d communicators of a rank, got one more",
                          sim_call_name[call], SIM_MOST_COMMS);
    }
    r->comms++;
    r->wish = (struct sim_wish){colour, key};
    return sim_meet(sim, rank, comm, call, 0, WISH_BYTES);
}

enum sim_answer sim_checkpoint(struct sim *sim, uint32_t rank, uint64_t bytes) {
    struct sim_rank *r = &sim->rank[rank];
    if (r->checkpoints == sim->options.checkpoints) {
        return sim_refuse(sim, "checkpoint: expected %" PRIu32 " calls of a rank, got one more",
                          sim->options.checkpoints);
    }
    r->checkpoints++;
    r->write_bytes = bytes;
    return meet(sim, rank, SIM_WORLD, SIM_CALL_CHECKPOINT, 0, 0, NULL);
}
