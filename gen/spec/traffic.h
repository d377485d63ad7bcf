/* SPDX-License-Identifier: BSD-3-Clause */
/* Totals of a run for load data, by phase: the work of the ranks' objects and handlers, and the bytes and
 * messages of pairs of ranks. */
#ifndef HPCW_GEN_SPEC_TRAFFIC_H
#define HPCW_GEN_SPEC_TRAFFIC_H

#include "gen/sim/sim.h"
#include "libwriter/base/table.h"

/* Everything that a rank sends to another one in a phase. */
struct gen_traffic_edge {
    uint32_t phase, from, to;
    uint64_t bytes, messages;
};

/* Memory: 24 bytes for each rank and phase, 16 after the run. Each pair of ranks takes 90 bytes for each phase
 * in which it has messages, 40 after the run. */
struct gen_traffic {
    uint32_t ranks, phases;
    uint64_t *handler_ns; /* [phases][ranks] */
    /* [phases][ranks] work of objects, including noise; NULL after the run */
    uint64_t *work_ns;
    /* [phases][ranks] that work divided by the load, for struct model_load */
    double *disturbed;
    /* [edges] by phase, sender and receiver; valid after gen_traffic_sort */
    struct gen_traffic_edge *edge;
    size_t edges;
    uint32_t *phase; /* [ranks] current phase of the rank */
    struct hpcw_i_table sum;
};

/* HPCW_ENOMEM. */
hpcw_status gen_traffic_new(uint32_t ranks, uint32_t phases, struct gen_traffic **out, hpcw_error *err);
void gen_traffic_free(struct gen_traffic *traffic);

/* Adds an event of the run. A message counts in its sender's phase; a message after the last phase counts in the
 * last phase. HPCW_ENOMEM. */
hpcw_status gen_traffic_add(struct gen_traffic *traffic, const struct sim_event *event, hpcw_error *err);

/* Call it after the last event. HPCW_ENOMEM. */
hpcw_status gen_traffic_sort(struct gen_traffic *traffic, hpcw_error *err);

/* Returns the edges of a sender in a phase; with `from` = SIM_ANY those of all senders. */
const struct gen_traffic_edge *gen_traffic_edges(const struct gen_traffic *traffic, uint32_t phase,
                                                 uint32_t from, size_t *count);

#endif
