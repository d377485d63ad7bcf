/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments of the particle fillers of all instruction sets. Private to the particle model. */
#ifndef HPCW_GEN_MODEL_PARTICLES_RUN_H
#define HPCW_GEN_MODEL_PARTICLES_RUN_H

#include <stdint.h>

#include "gen/model/particles/particles.h"

/* A position is drawn as a quantile of the particles along each dimension of a subdomain. A quantile has 21
 * bits, so that three of them take 63 bits. A table maps quantiles to positions, with linear interpolation. */
enum { MODEL_POSITION_BITS = 21, MODEL_PLACE_BITS = 6, MODEL_PLACES = 1 << MODEL_PLACE_BITS };

struct model_particles_run {
    unsigned char *out;
    uint32_t rank, first, count;
    uint64_t seed;
    double corner[3], side[3]; /* position = corner + side * place */
    double place[3][MODEL_PLACES + 1];
    /* velocity = flow + thermal_scale * halves() of two random words */
    double flow[3];
    double thermal_scale;
    /* potential: phi + phi_scale * squared distance from the centre, in units of the side */
    double phi, phi_scale;
};

model_particles_fill_fn model_particles_fill_scalar;
model_particles_fill_fn model_particles_fill_avx2;

#endif
