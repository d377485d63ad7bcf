/* SPDX-License-Identifier: BSD-3-Clause */
/* What the VOM row and its writer share. */
#ifndef HPCW_GEN_FORMAT_VOM_H
#define HPCW_GEN_FORMAT_VOM_H

#include <hpcw/vom.h>

#include "gen/format/format.h"
#include "gen/format/load_tally.h"

#define GEN_VOM_FOLDER "vom"

static inline bool gen_vom_is_compressed(const struct gen_dataset *d) {
    return d->vom_params.container != GEN_VOM_PLAIN_FILES;
}

/* For `write` of the row. */
hpcw_status gen_vom_write(const struct gen_write *w, struct hpcw_i_json *partial, hpcw_error *err);

/* Adds the loads of a rank in a phase to a tally. The times of its objects go into time_ns[per_rank]; lasting[per_rank] is
 * kept from phase to phase. */
void gen_vom_tally_rank(const struct model_load *m, const struct model_load_cursor *at, double slowness,
                        double *lasting, uint64_t *time_ns, struct gen_load_tally *tally);

/* How visible it is that nodes are slow: by what their ranks do that cannot migrate, sd[nodes] in local standard
 * deviations of all nodes with all their ranks (doc/realism.md, "Visibility"). Only those with slow[node]. */
hpcw_status gen_vom_slow_nodes(const struct gen_dataset *d, const bool *slow, double *sd, hpcw_error *err);

#endif
