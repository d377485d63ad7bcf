/* SPDX-License-Identifier: BSD-3-Clause */
/* Corrects the volumes of the twin's edges, so that all edges together have the measured number of bytes. With the
 * learned distribution of ln(bytes) alone the sum can be wrong, since a few large volumes are most of it. */
#include <math.h>
#include <string.h>

#include "gen/fit/loads/loads.h"
#include "libwriter/base/detmath.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* Largest relative change of the standard deviation of ln(bytes). Two normal distributions whose deviations
 * differ by this much have the distance 0.045, and the comparison of "bytes of an edge" allows 0.05. */
#define MOST_CHANGE 0.2

enum { STEPS = 8 /* steps of the bisection: they leave a relative error of 1/1000 */ };

/* Returns the bytes of an edge over the whole run. The volume of an edge is constant for `period` phases. */
static double bytes_of(const struct model_load *m, uint32_t owner, uint32_t kind, double follows) {
    const uint32_t phases = m->params.phases;
    const uint32_t period = m->params.edge.phases == 0 ? phases : m->params.edge.phases;
    const struct model_load_flow flow = model_load_flow(m, owner, kind, follows);
    double bytes = 0;
    for (uint32_t first = 0; first < phases; first += period) {
        const uint32_t count = period < phases - first ? period : phases - first;
        bytes += (double)count * (double)model_load_volume(m, owner, kind, flow, first).bytes;
    }
    return bytes;
}

static double bytes_of_handlers(const struct model_load *m) {
    double bytes = 0;
    for (uint32_t r = 1; r < m->ranks; r++) {
        bytes += bytes_of(m, model_load_handler(r), MODEL_LOAD_UP, 0) +
                 bytes_of(m, model_load_handler(r), MODEL_LOAD_DOWN, 0);
    }
    return bytes;
}

/* Returns the bytes of all edges between objects. lasting: [objects] persistent part of the work of each
 * object. */
static double bytes_of_objects(const struct model_load *m, const double *lasting) {
    double bytes = 0;
    for (uint32_t o = 0; o < m->objects; o++) {
        struct model_load_edge from[MODEL_LOAD_MOST_KINDS];
        const uint32_t senders = model_load_exists(m, o) ? model_load_senders(m, o, from) : 0;
        for (uint32_t i = 0; i < senders; i++) {
            bytes += bytes_of(m, model_load_owner(from[i].kind, from[i].from, o),
                              model_load_shared(from[i].kind), lasting[o] + lasting[from[i].from]);
        }
    }
    return bytes;
}

static hpcw_status correct_handlers(const struct gen_fit_loads *l, struct model_load *m,
                                    struct gen_fit_twin *twin, hpcw_error *err) {
    const double got = bytes_of_handlers(m);
    return got > 0 ? gen_fit_learn(twin, "load.handler_bytes_mean",
                                   m->params.handler.bytes_mean + gen_fit_ln(l->edge.traffic.fixed_bytes / got),
                                   GEN_FIT_PER_EDGE, err)
                   : HPCW_OK;
}

static hpcw_status correct_objects(const struct gen_fit_loads *l, struct model_load *m,
                                   struct gen_fit_twin *twin, hpcw_error *err) {
    double *lasting = hpcw_i_malloc(m->objects * sizeof *lasting);
    if (lasting == NULL) {
        return hpcw_i_fail_memory(err, "fit", m->objects, "objects");
    }
    for (uint32_t o = 0; o < m->objects; o++) {
        lasting[o] = model_load_lasting(m, o);
    }
    double *sd = &m->params.edge.bytes_sd;
    double low = (1 - MOST_CHANGE) * *sd;
    double high = (1 + MOST_CHANGE) * *sd;
    for (int i = 0; i < STEPS; i++) {
        *sd = (low + high) / 2;
        *(bytes_of_objects(m, lasting) > l->edge.element_bytes ? &high : &low) = *sd;
    }
    hpcw_i_free(lasting);
    return gen_fit_learn(twin, "load.edge_bytes_sd", (low + high) / 2, GEN_FIT_PER_EDGE, err);
}

hpcw_status gen_fit_loads_correct_volumes(const struct gen_fit_loads *l, struct gen_fit_twin *twin,
                                          hpcw_error *err) {
    const struct model_load_params *p = &twin->dataset.load_params;
    struct model_machine machine;
    struct model_load load;
    hpcw_status s = model_machine_init(&machine, &twin->dataset.machine_params, l->ranks, twin->seed, err);
    if (s != HPCW_OK) {
        return s;
    }
    s = model_load_init(&load, p, &machine, err);
    if (s == HPCW_OK) {
        if (l->edge.traffic.fixed >= GEN_FIT_LEAST_VALUES) {
            s = correct_handlers(l, &load, twin, err);
        }
        if (s == HPCW_OK && p->comm == MODEL_COMM_STENCIL && p->edge.sizes == 0 && p->edge.bytes_sd > 0) {
            s = correct_objects(l, &load, twin, err);
        }
        model_load_free(&load);
    }
    model_machine_free(&machine);
    return s;
}
