/* SPDX-License-Identifier: BSD-3-Clause */
/* Edges of the load model between ranks: what the objects and the handler of a rank send to those of another
 * rank in a phase. */
#ifndef HPCW_GEN_SPEC_EDGES_H
#define HPCW_GEN_SPEC_EDGES_H

#include "gen/model/load/whole.h"
#include "gen/sim/lua/program.h"

struct gen_edges;

/* Memory: 32 bytes for each edge between objects, and 32 for each pair of ranks in the phases in use.
 * HPCW_ENOMEM. */
hpcw_status gen_edges_new(const struct model_load *m, struct gen_edges **out, hpcw_error *err);
void gen_edges_free(struct gen_edges *edges);

/* Adds a phase, the one after the last added or phase 0. rank: [objects] rank of each object, as in model_load_whole. HPCW_ENOMEM. */
hpcw_status gen_edges_add(struct gen_edges *edges, uint32_t phase, const uint32_t *rank, hpcw_error *err);

/* Returns what a rank sends and receives in a phase that was added, sorted by the other rank. A rank must ask
 * for each phase once, in order. The result is valid until the rank asks for a later phase. A phase is dropped
 * when all ranks have asked for the next one. */
void gen_edges_of(struct gen_edges *edges, uint32_t rank, uint32_t phase, struct sim_lua_edges *of);

#endif
