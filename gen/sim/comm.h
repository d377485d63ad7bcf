/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators. Number 0 is the world. Members of a communicator create others by a collective call. A `place`
 * is a rank in a communicator; a `rank` is a rank in the world. */
#ifndef HPCW_GEN_SIM_COMM_H
#define HPCW_GEN_SIM_COMM_H

#include "gen/sim/meeting.h"
#include "gen/sim/sim.h"

struct sim_comm {
    uint32_t size;
    /* [size] rank of each place; NULL: the world, in which rank and place are equal */
    uint32_t *rank;
    uint32_t *by_rank; /* [size] places in ascending order of rank */
    uint32_t per_node; /* largest number of members on a node */
    uint32_t *met;     /* [size] number of collective calls that each member has begun */
    struct sim_meetings meetings;
};

/* Arguments of a member in a split. */
struct sim_wish {
    uint32_t colour; /* members with the same colour get one communicator; SIM_NONE: the member gets none */
    int32_t key;     /* members are ordered by key, then by their place in the parent communicator */
};

/* Creates the world. HPCW_ENOMEM. */
hpcw_status sim_comms_init(struct sim *sim, hpcw_error *err);
void sim_comms_free(struct sim *sim);

/* Makes the communicators of a split. The members of `parent` have their arguments in sim_rank.wish and get the
 * result in sim_rank.made. When memory runs out, the run fails. */
void sim_comms_split(struct sim *sim, const struct sim_comm *parent);

/* Returns how many ranks of a node use its network cards at the same time. talking: number of the communicator's
 * members on the node that do. Ranks in other communicators are assumed to do the same. */
uint32_t sim_comm_users(const struct sim *sim, const struct sim_comm *comm, uint32_t talking);

/* sim_comm_nth returns the place of the n-th member in the order of ranks. sim_comm_near returns how many
 * members from the n-th on are on the same node as the n-th. */
static inline uint32_t sim_comm_nth(const struct sim_comm *comm, uint32_t n) {
    return comm->by_rank == NULL ? n : comm->by_rank[n];
}
uint32_t sim_comm_near(const struct sim *sim, const struct sim_comm *comm, uint32_t n);

void sim_meeting_free(struct sim_meeting *meeting);

static inline uint32_t sim_comm_rank(const struct sim_comm *comm, uint32_t place) {
    return comm->rank == NULL ? place : comm->rank[place];
}

/* Returns the place of a rank in a communicator, or SIM_NONE if the rank is not a member. */
uint32_t sim_comm_place(const struct sim_comm *comm, uint32_t rank);

#endif
