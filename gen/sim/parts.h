/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective calls with parts of different sizes: MPI_Gatherv and the like. */
#ifndef HPCW_GEN_SIM_PARTS_H
#define HPCW_GEN_SIM_PARTS_H

#include "gen/sim/comm.h"

/* Returns the bytes of the part of a place. */
static inline uint64_t sim_part(const struct sim_parts *parts, uint32_t place) {
    return parts->bytes != NULL ? parts->bytes[place] : (uint64_t)(parts->first + parts->step * (int64_t)place);
}

/* Checks parts for a communicator of this size. If they are impossible, refuses the call and returns false. */
bool sim_parts_check(struct sim *sim, enum sim_call call, const struct sim_parts *parts, uint32_t size);

/* Begins a meeting of these calls. Returns false when memory runs out. */
bool sim_parts_begin(struct sim_meeting *g);

/* gatherv: a member other than the root sends its part. Returns when it leaves. Its time in the meeting becomes
 * the arrival of the part. */
uint64_t sim_parts_send(struct sim *sim, struct sim_meeting *g, uint32_t place, const struct sim_parts *parts);
/* gatherv: call it when all have sent. Returns when the root leaves. */
uint64_t sim_parts_receive(struct sim *sim, struct sim_meeting *g);

/* scatterv: the root sends all parts. The times of the others become the arrivals of their parts. Returns when
 * the root leaves. */
uint64_t sim_parts_scatter(struct sim *sim, struct sim_meeting *g, const struct sim_parts *parts);

/* allgatherv, alltoallv: a member arrives. When all have arrived, their times become the ends of their calls. */
void sim_parts_add(struct sim *sim, struct sim_meeting *g, uint32_t place, const struct sim_parts *parts);
void sim_parts_run(struct sim *sim, struct sim_meeting *g);

#endif
