/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective calls with parts of different sizes: MPI_Gatherv and the like. */
#ifndef HPCW_GEN_SIM_PARTS_H
#define HPCW_GEN_SIM_PARTS_H

#include "gen/sim/comm.h"

/* Returns the bytes of the part for a place in the communicator. */
static inline uint64_t sim_part(const struct sim_parts *parts, uint32_t place) {
    return parts->bytes != NULL ? parts->bytes[place] : (uint64_t)(parts->first + parts->step * (int64_t)place);
}

/* Checks the parts of a call on a communicator of `size` members. Refuses the call and returns false if a part
 * has an impossible size. */
bool sim_parts_check(struct sim *sim, enum sim_call call, const struct sim_parts *parts, uint32_t size);

/* Prepares a collective call with parts. Returns false when memory runs out. */
bool sim_parts_begin(struct sim_meeting *g);

/* gatherv: sends the part of a member other than the root. Returns the time at which the member leaves. g->time_ns
 * of the member becomes the time at which the part arrives. */
uint64_t sim_parts_send(struct sim *sim, struct sim_meeting *g, uint32_t place, const struct sim_parts *parts);
/* gatherv: returns the time at which the root leaves, after all members have sent. */
uint64_t sim_parts_receive(struct sim *sim, struct sim_meeting *g);

/* scatterv: sends all parts of the root. Returns the time at which the root leaves. g->time_ns of the other members
 * become the times at which their parts arrive. */
uint64_t sim_parts_scatter(struct sim *sim, struct sim_meeting *g, const struct sim_parts *parts);

/* allgatherv, alltoallv: sim_parts_add handles a member's arrival. After all arrivals, sim_parts_run sets
 * g->time_ns to the ends of the calls. */
void sim_parts_add(struct sim *sim, struct sim_meeting *g, uint32_t place, const struct sim_parts *parts);
void sim_parts_run(struct sim *sim, struct sim_meeting *g);

#endif
