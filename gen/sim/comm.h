/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators. Number 0 is the world; members of one make further ones in a collective call. A `place` is a rank in a
 * communicator, a `rank` one in the world.
 */
#ifndef HPCW_GEN_SIM_COMM_H
#define HPCW_GEN_SIM_COMM_H

#include "gen/sim/meeting.h"
#include "gen/sim/sim.h"

struct sim_comm {
    uint32_t size;
    uint32_t *rank;    /* [size] by place; NULL: the world, where both are equal */
    uint32_t *by_rank; /* [size] places, in the order of their ranks */
    uint32_t per_node; /* how many members a node has at most */
    uint32_t *met;     /* [size] collective calls that a member has begun */
    struct sim_meetings meetings;
};

/* The arguments of a split. */
struct sim_wish {
    uint32_t colour; /* those of one colour get one communicator; SIM_NONE: none */
    int32_t key;     /* places are in the order of keys, then of the places in the parent */
};

/* The world. HPCW_ENOMEM. */
hpcw_status sim_comms_init(struct sim *sim, hpcw_error *err);
void sim_comms_free(struct sim *sim);

/* Makes communicators by the members' wishes, `wish` of sim_rank, and fills in `made` there. Without memory, the run fails. */
void sim_comms_split(struct sim *sim, const struct sim_comm *parent);

/* How many ranks of a node use its cards when `talking` of its members do: those of other communicators are taken to do the same
 * at that time. */
uint32_t sim_comm_users(const struct sim *sim, const struct sim_comm *comm, uint32_t talking);

/* The place of the n-th member in the order of ranks, and how many from that one on are on its node. */
static inline uint32_t sim_comm_nth(const struct sim_comm *comm, uint32_t n) {
    return comm->by_rank == NULL ? n : comm->by_rank[n];
}
uint32_t sim_comm_near(const struct sim *sim, const struct sim_comm *comm, uint32_t n);

void sim_meeting_free(struct sim_meeting *meeting);

static inline uint32_t sim_comm_rank(const struct sim_comm *comm, uint32_t place) {
    return comm->rank == NULL ? place : comm->rank[place];
}

/* The place of a rank; SIM_NONE: it is no member. */
uint32_t sim_comm_place(const struct sim_comm *comm, uint32_t rank);

#endif
