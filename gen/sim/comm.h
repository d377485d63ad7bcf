/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators. Number 0 is the world. Members of a communicator create others by a collective call. A `place`
 * is a rank in a communicator; a `rank` is a rank in the world. */
#ifndef HPCW_GEN_SIM_COMM_H
#define HPCW_GEN_SIM_COMM_H

#include "gen/sim/meeting.h"
#include "gen/sim/sim.h"

struct sim_comm {
    uint32_t size;
    /* [size] ranks by place; NULL: the world, where both are equal */
    uint32_t *rank;
    uint32_t *by_rank; /* [size] places in ascending order of rank */
    uint32_t per_node; /* most members on a node */
    uint32_t *met;     /* [size] number of collective calls that each member has begun */
    struct sim_meetings meetings;
};

/* Arguments of a member in a split. */
struct sim_wish {
    uint32_t colour; /* members of one colour share a communicator; SIM_NONE: none */
    int32_t key;     /* places are in the order of keys, then of places in the parent */
};

/* Creates the world. HPCW_ENOMEM. */
hpcw_status sim_comms_init(struct sim *sim, hpcw_error *err);
void sim_comms_free(struct sim *sim);

/* Makes communicators from the members' `wish` in sim_rank, and sets their `made`. When memory runs out, the run
 * fails. */
void sim_comms_split(struct sim *sim, const struct sim_comm *parent);

/* Returns how many ranks of a node use its cards while `talking` of the communicator's members on it do. Ranks
 * of other communicators are assumed to do the same at that time. */
uint32_t sim_comm_users(const struct sim *sim, const struct sim_comm *comm, uint32_t talking);

/* Returns the place of the n-th member by rank. The other function returns how many members from that one on are
 * on its node. */
static inline uint32_t sim_comm_nth(const struct sim_comm *comm, uint32_t n) {
    return comm->by_rank == NULL ? n : comm->by_rank[n];
}
uint32_t sim_comm_near(const struct sim *sim, const struct sim_comm *comm, uint32_t n);

void sim_meeting_free(struct sim_meeting *meeting);

static inline uint32_t sim_comm_rank(const struct sim_comm *comm, uint32_t place) {
    return comm->rank == NULL ? place : comm->rank[place];
}

/* Returns the place of a rank, or SIM_NONE if it is not a member. */
uint32_t sim_comm_place(const struct sim_comm *comm, uint32_t rank);

#endif
