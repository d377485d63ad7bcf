/* SPDX-License-Identifier: BSD-3-Clause */
/* Load balancer of the simulated application. Before some phases it places all objects anew by their times in the
 * previous phase, as vt does. Between these phases, objects do not move.
 *
 *  - greedy: ranks above the mean load give away their longest objects. These objects are placed longest first,
 *    each on the rank with the least load. The algorithm knows the loads of all ranks.
 *  - tempered: follows vt's TemperedLB. In several iterations, ranks above the mean load give objects to ranks
 *    below. As with gossip messages, a rank knows the loads of only a few others, as of the begin of the iteration.
 *    For each object it picks one of these at random, weighted by the difference to the mean load. It gives the
 *    object if the larger load of the two ranks then falls. The best placement of all iterations is kept, or the
 *    previous placement if no iteration is better. */
#ifndef HPCW_GEN_MODEL_LOAD_BALANCE_H
#define HPCW_GEN_MODEL_LOAD_BALANCE_H

#include "gen/model/load/load.h"

/* Least factor by which a scenario must raise the imbalance of some phase of a run without a balancer. */
#define MODEL_LOAD_LEAST_EFFECT 1.2

/* Completes a model after model_load_init. Doubles the scenario's factor until the imbalance rises by
 * MODEL_LOAD_LEAST_EFFECT, then places the objects. Afterwards the model is read-only. HPCW_EINVAL: the
 * scenario has too little effect. HPCW_ENOMEM. After a failure the model has been freed. */
hpcw_status model_load_settle(struct model_load *m, hpcw_error *err);

#endif
