/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A load balancer of the simulated application. Before some phases it places the objects anew, by what they took in the phase
 * before, as vt does; between two of these phases no object moves.
 *
 *   - greedy: ranks with more than the mean load give their longest objects away. These are placed longest first, each on
 *     the rank with the least load. It knows everything.
 *   - tempered: after vt's TemperedLB. In some iterations, ranks with more than the mean load give objects to ranks with
 *     less. A rank knows the loads of a few others, which is what gossip leaves it with, as they were at the begin of the
 *     iteration. It chooses one at random, the less loaded the more likely, and gives it an object if that makes the larger of
 *     the two loads smaller. The best of all iterations stays, or if none is better, the placement before.
 */
#ifndef HPCW_GEN_MODEL_LOAD_BALANCE_H
#define HPCW_GEN_MODEL_LOAD_BALANCE_H

#include "gen/model/load/load.h"

/* A scenario multiplies the imbalance of some phase by at least this, if there is no balancer. */
#define MODEL_LOAD_LEAST_EFFECT 1.2

/* After model_load_init, and before any other use: doubles the factor of the scenario until that has its least effect, and
 * places the objects. The model is then read-only. HPCW_EINVAL for a scenario without enough effect, HPCW_ENOMEM; after a
 * failure the model is free. */
hpcw_status model_load_settle(struct model_load *m, hpcw_error *err);

#endif
