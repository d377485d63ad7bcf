/* SPDX-License-Identifier: BSD-3-Clause */
/* Load balancer of the simulated application. Before some phases it places all objects anew by their times in the
 * previous phase, as vt does. In between, no object moves.
 *
 *  - greedy: ranks above the mean load give away their longest objects. These are placed longest first, each on
 *    the rank with the least load. It knows all loads.
 *  - tempered: follows vt's TemperedLB. In several iterations, ranks above the mean load give objects to ranks
 *    below. A rank knows the loads of only a few others, as gossip would tell it, from the begin of the iteration.
 *    It picks one at random, weighted by how far that is below the mean. It gives an object if that lowers the
 *    larger of the two loads. The best of all iterations is kept, or the previous placement if none is better. */
#ifndef HPCW_GEN_MODEL_LOAD_BALANCE_H
#define HPCW_GEN_MODEL_LOAD_BALANCE_H

#include "gen/model/load/load.h"

/* Least factor by which a scenario must raise the imbalance of some phase, without a balancer. */
#define MODEL_LOAD_LEAST_EFFECT 1.2

/* Call it after model_load_init and before any other use. Doubles the factor of the scenario until it has its
 * least effect, then places the objects. Afterwards the model is read-only. HPCW_EINVAL: a scenario has too
 * little effect. HPCW_ENOMEM. After a failure the model has been freed. */
hpcw_status model_load_settle(struct model_load *m, hpcw_error *err);

#endif
