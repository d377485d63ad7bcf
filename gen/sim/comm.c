/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/sim/comm.h"

#include <stdlib.h>

#include "gen/sim/private.h"
#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* ---- memory ---- */

void sim_meeting_free(struct sim_meeting *meeting) {
    for (uint64_t **other = meeting->other_ns; other != NULL && *other != NULL; other++) {
        hpcw_i_free(*other);
    }
    hpcw_i_free(meeting->other_ns);
    hpcw_i_free(meeting->time_ns);
    hpcw_i_free(meeting->missing);
    hpcw_i_free(meeting->parts.bytes);
    hpcw_i_free(meeting);
}

static void free_list(struct sim_meeting *meeting) {
    while (meeting != NULL) {
        struct sim_meeting *next = meeting->next;
        sim_meeting_free(meeting);
        meeting = next;
    }
}

static void free_comm(struct sim_comm *comm) {
    if (comm != NULL) {
        free_list(comm->meetings.oldest);
        free_list(comm->meetings.unused);
        hpcw_i_free(comm->meetings.distance);
        hpcw_i_free(comm->meetings.scratch);
        hpcw_i_free(comm->rank);
        hpcw_i_free(comm->by_rank);
        hpcw_i_free(comm->met);
        hpcw_i_free(comm);
    }
}

/* Adds a communicator. The caller fills in comm->rank and comm->by_rank, except for the world. Returns NULL
 * when memory runs out. */
static struct sim_comm *add_comm(struct sim *sim, uint32_t size) {
    struct sim_comm **grown =
        hpcw_i_grow(sim->comm, &sim->comm_capacity, sim->comms + (size_t)1, sizeof *grown);
    if (grown == NULL) {
        return NULL;
    }
    sim->comm = grown;
    struct sim_comm *comm = hpcw_i_calloc(1, sizeof *comm);
    if (comm == NULL) {
        return NULL;
    }
    comm->size = size;
    comm->met = hpcw_i_calloc(size, sizeof *comm->met);
    if (sim->comms > 0) {
        comm->rank = hpcw_i_malloc(size * sizeof *comm->rank);
        comm->by_rank = hpcw_i_malloc(size * sizeof *comm->by_rank);
    }
    if (comm->met == NULL || (sim->comms > 0 && (comm->rank == NULL || comm->by_rank == NULL))) {
        free_comm(comm);
        return NULL;
    }
    return sim->comm[sim->comms++] = comm;
}

/* Allocates what the collective calls of a communicator need. The list of its ranks must be filled. Returns
 * false when memory runs out. */
static bool init_meetings(const struct sim *sim, struct sim_comm *comm) {
    struct sim_meetings *m = &comm->meetings;
    m->levels = sim_plan_levels(comm->size);
    m->distance = hpcw_i_malloc((size_t)m->levels * comm->size + 1);
    m->scratch = hpcw_i_malloc(comm->size * sizeof *m->scratch);
    if (m->distance == NULL || m->scratch == NULL) {
        return false;
    }
    const struct model_machine *machine = sim->options.network->machine;
    for (uint32_t k = 0; k < m->levels; k++) {
        for (uint32_t i = 0; i < comm->size; i++) {
            const uint32_t below = (uint32_t)(((uint64_t)i + comm->size - ((uint64_t)1 << k)) % comm->size);
            const uint8_t distance =
                (uint8_t)model_machine_class(machine, sim_comm_rank(comm, below), sim_comm_rank(comm, i));
            m->distance[(size_t)k * comm->size + i] = distance;
            m->farthest = distance > m->farthest ? distance : m->farthest;
        }
    }
    return true;
}

hpcw_status sim_comms_init(struct sim *sim, hpcw_error *err) {
    struct sim_comm *world = add_comm(sim, sim->ranks);
    if (world == NULL || !init_meetings(sim, world)) {
        return hpcw_i_fail_memory(err, "simulator", sim->ranks, "ranks");
    }
    world->per_node = sim_cost_sharing(sim->options.network);
    return HPCW_OK;
}

void sim_comms_free(struct sim *sim) {
    for (uint32_t i = 0; i < sim->comms; i++) {
        free_comm(sim->comm[i]);
    }
    hpcw_i_free(sim->comm);
}

uint32_t sim_comm_place(const struct sim_comm *comm, uint32_t rank) {
    if (comm->rank == NULL) {
        return rank;
    }
    uint32_t low = 0;
    uint32_t high = comm->size;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (comm->rank[comm->by_rank[middle]] < rank) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < comm->size && comm->rank[comm->by_rank[low]] == rank ? comm->by_rank[low] : SIM_NONE;
}

uint32_t sim_comm_users(const struct sim *sim, const struct sim_comm *comm, uint32_t talking) {
    const uint32_t node = sim_cost_sharing(sim->options.network);
    const uint32_t here = talking < comm->per_node ? talking : comm->per_node;
    return (here * node + comm->per_node - 1) / comm->per_node;
}

static uint32_t nth_node(const struct sim *sim, const struct sim_comm *comm, uint32_t n) {
    return model_machine_node(sim->options.network->machine, sim_comm_rank(comm, sim_comm_nth(comm, n)));
}

uint32_t sim_comm_near(const struct sim *sim, const struct sim_comm *comm, uint32_t n) {
    uint32_t near = 1;
    while (n + near < comm->size && nth_node(sim, comm, n + near) == nth_node(sim, comm, n)) {
        near++;
    }
    return near;
}

/* ---- splits ---- */

struct sim_candidate {
    struct sim_wish wish;
    uint32_t place, rank;
};

static int by_wish(const void *a, const void *b) {
    const struct sim_candidate *x = a;
    const struct sim_candidate *y = b;
    return x->wish.colour != y->wish.colour ? (x->wish.colour < y->wish.colour ? -1 : 1)
           : x->wish.key != y->wish.key     ? (x->wish.key < y->wish.key ? -1 : 1)
                                            : (x->place < y->place ? -1 : x->place > y->place);
}

/* Compares by rank. Here `place` is the place in the new communicator. */
static int by_rank(const void *a, const void *b) {
    const struct sim_candidate *x = a;
    const struct sim_candidate *y = b;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Makes a communicator from its members in the order of their places. Sorts member[] by rank. */
static bool make_comm(struct sim *sim, struct sim_candidate *member, uint32_t size) {
    struct sim_comm *comm = add_comm(sim, size);
    if (comm == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < size; i++) {
        comm->rank[i] = member[i].rank;
        member[i].place = i;
        sim->rank[member[i].rank].made =
            (struct sim_made){sim->comms - 1, i, member[0].rank, sim->rank[member[0].rank].led};
    }
    sim->rank[member[0].rank].led++;
    qsort(member, size, sizeof *member, by_rank);
    uint32_t here = 0;
    for (uint32_t i = 0; i < size; i++) {
        const struct model_machine *machine = sim->options.network->machine;
        const bool same = i > 0 && model_machine_node(machine, member[i - 1].rank) ==
                                       model_machine_node(machine, member[i].rank);
        comm->by_rank[i] = member[i].place;
        here = same ? here + 1 : 1;
        comm->per_node = here > comm->per_node ? here : comm->per_node;
    }
    return init_meetings(sim, comm);
}

void sim_comms_split(struct sim *sim, const struct sim_comm *parent) {
    struct sim_candidate *member = hpcw_i_malloc(parent->size * sizeof *member);
    bool good = member != NULL;
    uint32_t members = 0;
    for (uint32_t i = 0; good && i < parent->size; i++) {
        const uint32_t rank = sim_comm_rank(parent, i);
        sim->rank[rank].made = (struct sim_made){.comm = SIM_NONE};
        if (sim->rank[rank].wish.colour != SIM_NONE) {
            member[members++] = (struct sim_candidate){sim->rank[rank].wish, i, rank};
        }
    }
    if (members > 0) {
        qsort(member, members, sizeof *member, by_wish);
    }
    uint32_t size = 0;
    for (uint32_t first = 0; good && first < members; first += size) {
        const uint32_t colour = member[first].wish.colour;
        for (size = 1; first + size < members && member[first + size].wish.colour == colour;) {
            size++;
        }
        good = make_comm(sim, &member[first], size);
    }
    hpcw_i_free(member);
    if (good && sim->comms > SIM_LAST_COMM && !sim->failed) {
        sim->failed = true;
        (void)hpcw_i_fail(&sim->failure, HPCW_EINVAL, "split: expected at most %d communicators, got more",
                          SIM_LAST_COMM);
    }
    if (!good) {
        (void)sim_fail_memory(sim, "a communicator");
    }
}
