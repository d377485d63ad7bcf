/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over a run, by phase, for the load data: the work of objects and of handlers of each rank, and the bytes
 * and messages of each pair of ranks. */
#ifndef HPCW_GEN_SPEC_TRAFFIC_H
#define HPCW_GEN_SPEC_TRAFFIC_H

#include "gen/sim/sim.h"
#include "libwriter/base/table.h"

/* Everything that a rank sends to another one in a phase. */
struct gen_traffic_edge {
    uint32_t phase, from, to;
    uint64_t bytes, messages;
};

/* Memory: 24 bytes for each rank and phase; 16 bytes after the run. In addition, 90 bytes for each pair of
 * ranks and each phase in which it has messages; 40 bytes after the run. */
struct gen_traffic {
    uint32_t ranks, phases;
    uint64_t *handler_ns; /* [phases][ranks] */
    /* [phases][ranks] work of objects, including noise; NULL after the run */
    uint64_t *work_ns;
    /* [phases][ranks] work_ns divided by the load, for struct model_load */
    double *disturbed;
    /* [edges] sorted by phase, sender and receiver; valid after gen_traffic_sort */
    struct gen_traffic_edge *edge;
    size_t edges;
    uint32_t *phase; /* [ranks] current phase of the rank */
    struct hpcw_i_table sum;
};

/* HPCW_ENOMEM. */
hpcw_status gen_traffic_new(uint32_t ranks, uint32_t phases, struct gen_traffic **out, hpcw_error *err);
void gen_traffic_free(struct gen_traffic *traffic);

/* Adds an event of the run. A message counts in the phase of its sender; after the last phase, it counts in the
 * last phase. HPCW_ENOMEM. */
hpcw_status gen_traffic_add(struct gen_traffic *traffic, const struct sim_event *event, hpcw_error *err);

/* Sorts the edges. Call it after the last event. HPCW_ENOMEM. */
hpcw_status gen_traffic_sort(struct gen_traffic *traffic, hpcw_error *err);

/* Returns the edges of a sender in a phase; from = SIM_ANY: those of all senders. */
const struct gen_traffic_edge *gen_traffic_edges(const struct gen_traffic *traffic, uint32_t phase,
                                                 uint32_t from, size_t *count);

#endif
