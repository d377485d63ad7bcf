/* SPDX-License-Identifier: BSD-3-Clause */
/* The arguments of the fillers of each instruction set. Private to the particle model. */
#ifndef HPCW_GEN_MODEL_PARTICLES_RUN_H
#define HPCW_GEN_MODEL_PARTICLES_RUN_H

#include <stdint.h>

#include "gen/model/particles/particles.h"

/* Positions are on a grid of 2^21 points per dimension of a subdomain: three coordinates take 63 bits. */
enum { MODEL_POSITION_BITS = 21 };

struct model_particles_run {
    unsigned char *out;
    uint32_t rank, first, count;
    uint64_t seed;
    double corner[3], step[3]; /* position = corner + step * grid point */
    double flow[3];            /* velocity = flow + thermal_scale * centred sum of halves */
    double thermal_scale;
    double phi, phi_scale; /* phi = phi + phi_scale * squared distance from the centre in grid points */
};

model_particles_fill_fn model_particles_fill_scalar;
model_particles_fill_fn model_particles_fill_avx2;

#endif
