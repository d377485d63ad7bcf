/* SPDX-License-Identifier: BSD-3-Clause */
/* How evenly distant senders are spread: the only parameter of loads that takes a simulation. */
#include <math.h>

#include "gen/fit/loads/loads.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/rng.h"
#include "libwriter/base/status.h"

/* Objects above which the number of channels stays the default: the simulation would take longer than the fit. */
enum { MOST_OBJECTS = 1 << 18 };

/* Any number of channels must be nearer than none by this distance of distribution functions, which chance makes. */
#define CHANCE 0.02

/* Adds the senders of an object, as means of ranks. */
static void count_senders(const struct model_load *m, struct gen_fit_sketch *senders) {
    for (uint32_t r = 0; r < m->ranks; r++) {
        double count = 0;
        double sum = 0;
        for (uint32_t slot = 0; slot < m->per_rank; slot++) {
            struct model_load_edge edge[MODEL_LOAD_MOST_KINDS];
            const uint32_t object = r * m->per_rank + slot;
            if (model_load_exists(m, object)) {
                count++;
                sum += model_load_senders(m, object, edge);
            }
        }
        gen_fit_sketch_add(senders, sum / count);
    }
}

/* How far the numbers of senders in the twin are from the measured ones. The seed is none that data have. */
static hpcw_status distance_of_senders(const struct gen_fit_loads *l, const struct gen_fit_twin *twin,
                                       const struct gen_fit_sketch *measured, double *distance,
                                       hpcw_error *err) {
    struct model_machine machine;
    struct model_load load;
    hpcw_status s =
        model_machine_init(&machine, &twin->dataset.machine_params, l->ranks, hpcw_i_numbered_seed(1, 0), err);
    if (s != HPCW_OK) {
        return s;
    }
    struct gen_fit_sketch *made = gen_fit_sketch_new(measured->least);
    s = made != NULL ? model_load_init(&load, &twin->dataset.load_params, &machine, err)
                     : hpcw_i_fail_memory(err, NULL, l->ranks, "ranks");
    if (s == HPCW_OK) {
        count_senders(&load, made);
        *distance = gen_fit_sketch_distance(measured, made);
        model_load_free(&load);
    }
    hpcw_i_free(made);
    model_machine_free(&machine);
    return s;
}

hpcw_status gen_fit_loads_learn_channels(const struct gen_fit_loads *l, struct gen_fit_twin *twin,
                                         hpcw_error *err) {
    struct model_load_params *p = &twin->dataset.load_params;
    const uint64_t objects = (uint64_t)l->ranks * p->objects * p->collections;
    uint32_t best = 0;
    double least = INFINITY;
    if (p->comm != MODEL_COMM_STENCIL || p->far_edges == 0 || objects > MOST_OBJECTS) {
        return HPCW_OK;
    }
    struct gen_fit_sketch *measured = gen_fit_sketch_new(l->senders[0]->least);
    if (measured == NULL) {
        return hpcw_i_fail_memory(err, NULL, 1, "sketches");
    }
    gen_fit_sketch_merge(measured, l->senders[0], 1);
    gen_fit_sketch_merge(measured, l->senders[1], 1);
    hpcw_status s = HPCW_OK;
    for (uint32_t channels = 0; s == HPCW_OK && channels <= 8; channels += channels == 0 ? 2 : 1) {
        double distance = 0;
        p->far_channels = channels;
        s = distance_of_senders(l, twin, measured, &distance, err);
        if (s == HPCW_OK && distance < least - (best == 0 ? CHANCE : 0)) {
            best = channels;
            least = distance;
        }
    }
    hpcw_i_free(measured);
    return s == HPCW_OK ? gen_fit_learn(twin, "load.far_channels", best, GEN_FIT_PER_OBJECT, err) : s;
}
