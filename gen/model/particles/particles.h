/* SPDX-License-Identifier: BSD-3-Clause */
/* Task-local particle data as in the checkpoints of a cosmology code. Records have 38 bytes in the order of
 * HACC-IO: xx yy zz vx vy vz phi as f32, pid as i64, mask as u16; little-endian, no padding. The box has one
 * subdomain per rank. The number of particles of a rank is log-normal and follows the work of the simulated
 * application on the rank. The density is continuous between subdomains, with clumps inside. Every particle is a
 * pure function of (parameters, number of ranks, seed, rank, index). */
#ifndef HPCW_GEN_MODEL_PARTICLES_PARTICLES_H
#define HPCW_GEN_MODEL_PARTICLES_PARTICLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "ui/param/param.h"

#define MODEL_PARTICLE_SIZE 38u

/* Keys "sion.*". */
struct model_particles_params {
    uint64_t mean_size;     /* bytes per rank */
    double sigma;           /* standard deviation of ln(bytes of a rank) */
    double follows;         /* share of the variance of ln(bytes) that follows the rank's work */
    uint32_t min_particles; /* per rank */
    double clumps;          /* standard deviation of the density in a subdomain, divided by the mean */
    double box;             /* side of the simulated volume, Mpc/h */
    /* standard deviation of each component of a subdomain's bulk velocity, km/s */
    double flow;
    /* standard deviation of each component of particle velocities around the bulk velocity, km/s */
    double thermal;
    double potential; /* scale of phi, (km/s)^2 */
};

extern const struct ui_param model_particles_param[];
extern const size_t model_particles_param_count;
void model_particles_params_init(struct model_particles_params *params);

/* Read-only after init, so threads may share a model. There is nothing to free. */
struct model_particles {
    struct model_particles_params params;
    uint32_t ranks;
    uint64_t seed;
    /* [ranks] work of each rank that the sizes follow, with mean 0 and variance 1; NULL: the sizes follow
     * nothing */
    const double *field;
    uint32_t dims[3]; /* subdomains in x, y, z; z changes fastest with the rank */
};

/* Initialises the model and borrows `field`. HPCW_ERANGE: no ranks, or a rank could have 2^32 particles or
 * more. */
hpcw_status model_particles_init(struct model_particles *model, const struct model_particles_params *params,
                                 uint32_t ranks, uint64_t seed, const double *field, hpcw_error *err);

uint32_t model_particles_count(const struct model_particles *model, uint32_t rank);

/* Layout of a rank's particles in a SION container. A chunk has `chunk_size` bytes, a multiple of `alignment`.
 * It holds `per_chunk` whole particles, the last chunk possibly fewer. The number of blocks is drawn for each
 * rank from 2 to 4. Alignment can lower it: to 1 if all particles fit into one alignment unit. */
struct model_particles_layout {
    uint64_t chunk_size;
    uint32_t per_chunk, blocks;
};
struct model_particles_layout model_particles_layout(const struct model_particles *model, uint32_t rank,
                                                     uint64_t alignment);

/* Stores the particles first .. first + count - 1 of a rank in out[count * MODEL_PARTICLE_SIZE], which may have
 * any alignment. */
void model_particles_fill(const struct model_particles *model, uint32_t rank, uint32_t first, uint32_t count,
                          unsigned char *out);

#endif
