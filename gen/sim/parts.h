/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective calls whose members have parts of different sizes: MPI_Gatherv and the like. */
#ifndef HPCW_GEN_SIM_PARTS_H
#define HPCW_GEN_SIM_PARTS_H

#include "gen/sim/comm.h"

/* The bytes of the part of a place. */
static inline uint64_t sim_part(const struct sim_parts *parts, uint32_t place) {
    return parts->bytes != NULL ? parts->bytes[place] : (uint64_t)(parts->first + parts->step * (int64_t)place);
}

/* Why the parts of a communicator cannot be: refuses the call. */
bool sim_parts_check(struct sim *sim, enum sim_call call, const struct sim_parts *parts, uint32_t size);

/* A meeting of these calls begins. False when memory runs out. */
bool sim_parts_begin(struct sim_meeting *g);

/* gatherv: a member that is not the root sends its part. Returns when it leaves; its time is that of the part's arrival, then. */
uint64_t sim_parts_send(struct sim *sim, struct sim_meeting *g, uint32_t place, const struct sim_parts *parts);
/* All have: when the root leaves. */
uint64_t sim_parts_receive(struct sim *sim, struct sim_meeting *g);

/* scatterv: the root sends all parts, whose arrivals are the others' times, then. Returns when it leaves. */
uint64_t sim_parts_scatter(struct sim *sim, struct sim_meeting *g, const struct sim_parts *parts);

/* allgatherv, alltoallv: a member has come. When all have, their times are those of their ends. */
void sim_parts_add(struct sim *sim, struct sim_meeting *g, uint32_t place, const struct sim_parts *parts);
void sim_parts_run(struct sim *sim, struct sim_meeting *g);

#endif
