/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that the VOM format and its writer share. */
#ifndef HPCW_GEN_FORMAT_VOM_H
#define HPCW_GEN_FORMAT_VOM_H

#include <hpcw/vom.h>

#include "gen/format/format.h"
#include "gen/format/load_tally.h"

#define GEN_VOM_FOLDER "vom"

static inline bool gen_vom_is_compressed(const struct gen_dataset *d) {
    return d->vom_params.container != GEN_VOM_PLAIN_FILES;
}

/* Messages that vt sends before any task runs. In phase 0, each rank has an edge from the id 0, which is no object,
 * to the handler of each neighbour in a tree of all ranks (model_load_first_to). */
enum { GEN_VOM_FIRST_BYTES = 112, GEN_VOM_FIRST_MESSAGES = 2 };

/* The member `write` of the format. */
hpcw_status gen_vom_write(const struct gen_write *w, struct hpcw_i_json *partial, hpcw_error *err);

/* Puts the member "scenario" of truth.json: its kind, its effect, and the ranks that it overloads. */
hpcw_status gen_vom_put_scenario(const struct gen_dataset *d, const struct gen_load_tally *tally,
                                 struct hpcw_i_json *json, hpcw_error *err);

/* Computes how visible slow nodes are, from the unmigratable work of their ranks. The unit is local standard
 * deviations over all nodes with the full number of ranks (doc/truth.md, "Visibility"). Sets sd[node] for nodes
 * with slow[node]; all others become NaN. */
hpcw_status gen_vom_slow_nodes(const struct gen_dataset *d, const bool *slow, double *sd, hpcw_error *err);

#endif
