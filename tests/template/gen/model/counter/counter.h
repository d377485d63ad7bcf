/* SPDX-License-Identifier: BSD-3-Clause */
/* A counter on each rank: uniform in 1 .. most, but 0 on ranks whose counter is stuck. Each value is a pure
 * function of (parameters, seed, rank). */
#ifndef HPCW_GEN_MODEL_COUNTER_COUNTER_H
#define HPCW_GEN_MODEL_COUNTER_COUNTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "ui/param/param.h"

/* Keys "counter.*". */
struct model_counter_params {
    uint64_t most;      /* largest value */
    double stuck_share; /* share of ranks with a stuck counter */
};

extern const struct ui_param model_counter_param[];
extern const size_t model_counter_param_count;
void model_counter_params_init(struct model_counter_params *params);

/* Read-only after init: may be shared by threads. Nothing to free. */
struct model_counter {
    struct model_counter_params params;
    uint32_t ranks;
    uint64_t seed;
};

/* HPCW_ERANGE: there are no ranks. */
hpcw_status model_counter_init(struct model_counter *m, const struct model_counter_params *params,
                               uint32_t ranks, uint64_t seed, hpcw_error *err);

bool model_counter_stuck(const struct model_counter *m, uint32_t rank);
uint64_t model_counter_value(const struct model_counter *m, uint32_t rank);

#endif
