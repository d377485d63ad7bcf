/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/model/load/system.h"

#include "libwriter/base/rng.h"

/* Frequency and daemons of a host stay as they are for some phases, as many as its number says [A]. */
enum { LEAST_WINDOW = 5, WINDOWS = 8 };

/* The shortest preemption, how much longer the longest one is, and the mean: a Pareto distribution with exponent 1, cut.
 * ln(100) / 0.99 is 4.65. */
static const double preempted_ns = 250e3, reach = 0.99;
static const double mean_preempted_ns = 250e3 * 4.65;

static double length_of(uint32_t word) {
    return preempted_ns / (1 - reach * (word * 0x1p-32));
}

/* 0 or more: half of the values are below 1, and 1 in 100 above 30. */
static double late(uint32_t word) {
    const double u = word * 0x1p-32;
    return 1.04 * u / (1.02 - u);
}

/* In this phase, what preemptions add to the mean load of a rank, as a share of it. */
static double preempted(const struct model_load *m, uint32_t phase, uint32_t whether, uint32_t how_long) {
    const double mean_ns = m->phase[phase].mean_ns * model_load_mean_objects(m);
    const double expected = m->params.preemptions * 1e-9 * mean_ns;
    const double count = (double)(uint64_t)(expected + whether * 0x1p-32);
    return count < 1 ? 0 : ((count - 1) * mean_preempted_ns + length_of(how_long)) / mean_ns;
}

/* What the system adds to the times of a rank, as shares of them: by what it runs in between, and in other ways. */
struct added {
    double between, otherwise;
};

static struct added added_to(const struct model_load *m, uint32_t rank, uint32_t phase) {
    const struct model_load_params *p = &m->params;
    const uint32_t node = model_machine_node(m->machine, rank);
    const uint32_t window = LEAST_WINDOW + node * 5 % WINDOWS;
    uint32_t w[4], host[4], start[4];
    hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_SYSTEM, rank, phase, 0, w);
    /* Windows of the hosts do not begin at the same time. */
    hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_SYSTEM, node, (phase + node * 3 % window) / window, 1, host);
    struct added a = {p->jitter * late(w[0]) + preempted(m, phase, w[1], w[2]), p->jitter * late(host[0])};
    if (phase < 16) { /* less than a thousandth is left of it after that */
        double left = p->warm_up;
        hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_SYSTEM, rank, 0, 2, start);
        for (uint32_t k = 0; k < phase; k++) {
            left *= 0.5 * (start[1] * 0x1p-32);
        }
        a.otherwise += left * (0.5 + start[0] * 0x1p-32);
    }
    return a;
}

double model_load_slowness(const struct model_load *m, uint32_t rank, uint32_t phase) {
    const struct added a = added_to(m, rank, phase);
    return (1 + a.between + a.otherwise) *
           model_machine_slowness(m->machine, model_machine_node(m->machine, rank));
}

double model_load_taken(const struct model_load *m, uint32_t rank, uint32_t phase) {
    const struct added a = added_to(m, rank, phase);
    return a.between / (1 + a.between + a.otherwise);
}

uint64_t model_load_absence(const struct model_load *m, uint32_t word) {
    const double share = m->params.preemptions * 1e-9 * mean_preempted_ns;
    const uint64_t threshold = hpcw_i_threshold(share < 0.9 ? share : 0.9);
    return word < threshold ? (uint64_t)length_of((uint32_t)(((uint64_t)word << 32) / threshold)) : 0;
}
