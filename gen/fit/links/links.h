/* SPDX-License-Identifier: BSD-3-Clause */
/* Learns a twin, a synthetic copy of the measured data, from a LinkTest result. The header of the result has the
 * settings of the run; the host names give the ranks of each node. The network's topology is not recorded. So the
 * machine models are simulated for the measured pairs of ranks, and the model with the nearest distributions of
 * timings is taken. The times of this model are then scaled to the measured medians, within nodes and between
 * nodes. */
#ifndef HPCW_GEN_FIT_LINKS_LINKS_H
#define HPCW_GEN_FIT_LINKS_LINKS_H

#include "gen/fit/facts.h"
#include "gen/fit/twin.h"

/* Memory: 40 bytes for each rank and machine model, one row of the matrix, and 2 MiB. */
hpcw_status gen_fit_links(const char *path, struct gen_fit_facts *facts, struct gen_fit_twin *twin,
                          hpcw_error *err);

#endif
