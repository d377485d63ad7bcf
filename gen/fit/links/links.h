/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is learned from a LinkTest result. The settings of the run are in its header, the ranks of a node follow from host
 * names. How nodes are connected is not known: of the simulated machines that one is taken whose timings, computed for
 * the same pairs, have the distributions that are nearest to the measured ones. Then its times are scaled to the measured
 * medians, within nodes and between them.
 */
#ifndef HPCW_GEN_FIT_LINKS_LINKS_H
#define HPCW_GEN_FIT_LINKS_LINKS_H

#include "gen/fit/facts.h"
#include "gen/fit/twin.h"

/* Memory: 40 bytes per rank and machine, one row of the matrix, and 2 MiB. */
hpcw_status gen_fit_links(const char *path, struct gen_fit_facts *facts, struct gen_fit_twin *twin,
                          hpcw_error *err);

#endif
