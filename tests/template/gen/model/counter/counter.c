/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/model/counter/counter.h"

#include "libwriter/base/rng.h"
#include "libwriter/base/status.h"

#define FIELD(name) offsetof(struct model_counter_params, name)

const struct ui_param model_counter_param[] = {
    {.key = "counter.most",
     .type = UI_PARAM_U64,
     .offset = FIELD(most),
     .min = 1,
     .max = 0x1p53,
     .help = "largest value of a rank"},
    {.key = "counter.stuck_share",
     .type = UI_PARAM_F64,
     .offset = FIELD(stuck_share),
     .min = 0,
     .max = 1,
     .help = "share of the ranks whose value is stuck at 0"},
};
const size_t model_counter_param_count = sizeof model_counter_param / sizeof model_counter_param[0];

void model_counter_params_init(struct model_counter_params *params) {
    *params = (struct model_counter_params){.most = 1000000, .stuck_share = 0.01};
}

hpcw_status model_counter_init(struct model_counter *m, const struct model_counter_params *params,
                               uint32_t ranks, uint64_t seed, hpcw_error *err) {
    *m = (struct model_counter){.params = *params, .ranks = ranks, .seed = seed};
    return ranks >= 1 ? HPCW_OK
                      : hpcw_i_fail(err, HPCW_ERANGE, "ranks with a counter: expected at least 1, got 0");
}

bool model_counter_stuck(const struct model_counter *m, uint32_t rank) {
    uint32_t w[4];
    hpcw_i_draw(m->seed, HPCW_I_FOR_COUNTER, rank, 1, 0, w);
    return w[0] < hpcw_i_threshold(m->params.stuck_share);
}

uint64_t model_counter_value(const struct model_counter *m, uint32_t rank) {
    return model_counter_stuck(m, rank)
               ? 0
               : 1 + hpcw_i_below(m->params.most, m->seed, HPCW_I_FOR_COUNTER, rank, 0);
}
