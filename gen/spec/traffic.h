/* SPDX-License-Identifier: BSD-3-Clause */
/* What a run comes to in load data: the work of the ranks' objects and handlers, and the bytes and messages of pairs of ranks, by phase. */
#ifndef HPCW_GEN_SPEC_TRAFFIC_H
#define HPCW_GEN_SPEC_TRAFFIC_H

#include "gen/sim/sim.h"
#include "libwriter/base/table.h"

/* All that a rank sends to another one in a phase. */
struct gen_traffic_edge {
    uint32_t phase, from, to;
    uint64_t bytes, messages;
};

/* Memory: 24 bytes of each rank and phase, 16 after the run. And of each pair of ranks in each phase in which it has messages, 90
 * until the run ends, then 40. */
struct gen_traffic {
    uint32_t ranks, phases;
    uint64_t *handler_ns;          /* [phases][ranks] */
    uint64_t *work_ns;             /* [phases][ranks] of objects, noise included; NULL after the run */
    double *disturbed;             /* [phases][ranks] by their loads, for struct model_load */
    struct gen_traffic_edge *edge; /* [edges] by phase, sender and receiver; after gen_traffic_sort */
    size_t edges;
    uint32_t *phase; /* [ranks] which one the rank is in */
    struct hpcw_i_table sum;
};

/* HPCW_ENOMEM. */
hpcw_status gen_traffic_new(uint32_t ranks, uint32_t phases, struct gen_traffic **out, hpcw_error *err);
void gen_traffic_free(struct gen_traffic *traffic);

/* Adds an event of the run. A message counts in its sender's phase, one after the last phase in that. HPCW_ENOMEM. */
hpcw_status gen_traffic_add(struct gen_traffic *traffic, const struct sim_event *event, hpcw_error *err);

/* After the last event. HPCW_ENOMEM. */
hpcw_status gen_traffic_sort(struct gen_traffic *traffic, hpcw_error *err);

/* The edges of a sender in a phase; those of all senders with `from` = SIM_ANY. */
const struct gen_traffic_edge *gen_traffic_edges(const struct gen_traffic *traffic, uint32_t phase,
                                                 uint32_t from, size_t *count);

#endif
