/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/model/particles/particles.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "gen/model/draw/grid.h"
#include "libwriter/base/bytes.h"
#include "libwriter/base/checked.h"
#include "libwriter/base/detmath.h"
#include "libwriter/base/rng.h"
#include "libwriter/base/status.h"

#define PARAM(name, kind, field, ...)                                                                          \
    UI_PARAM(struct model_particles_params, "sion." name, kind, field, __VA_ARGS__)

const struct ui_param model_particles_param[] = {
    PARAM("mean_size", SIZE, mean_size, MODEL_PARTICLE_SIZE, 0x1p36, "bytes",
          "mean size of a rank's particles"),
    PARAM("sigma", F64, sigma, 0, 2, NULL,
          "spread of sizes: standard deviation of ln(size); 0 for grid codes, 0.5 for adaptive ones"),
    PARAM("follows", F64, follows, 0, 1, NULL,
          "share of the variance of ln(size) that follows the work of the rank [A]"),
    PARAM("min_particles", U32, min_particles, 1, 0x1p31, NULL, "smallest number of particles of a rank"),
    PARAM("clumps", F64, clumps, 0, 0.45, NULL,
          "standard deviation of the density within a subdomain, as a share of its mean [A]"),
    PARAM("box", F64, box, 1e-3, 1e6, "Mpc/h", "side of the simulated volume"),
    PARAM("flow", F64, flow, 0, 1e5, "km/s",
          "standard deviation of each component of a subdomain's bulk velocity"),
    PARAM("thermal", F64, thermal, 0, 1e5, "km/s",
          "standard deviation of each component of particle velocities around the bulk velocity"),
    PARAM("potential", F64, potential, 0, 1e9, "km^2/s^2", "scale of the gravitational potential"),
};
const size_t model_particles_param_count = sizeof model_particles_param / sizeof model_particles_param[0];

void model_particles_params_init(struct model_particles_params *params) {
    *params = (struct model_particles_params){
        /* With 4 KiB blocks, 4096 ranks take 206 MB: the last block of a rank is half empty on average. */
        .mean_size = 47 * 1024, .sigma = 0.5, .follows = 0.8, .clumps = 0.4,
        .min_particles = 128,   .box = 256,   .flow = 300,    .thermal = 100,
        .potential = 1e5,
    };
}

/* Limit of the sum of draws that a rank's size follows. Larger sums do not occur in practice. */
#define MOST_Z (1.5 * HPCW_I_NORMAL_MAX)

/* Returns a size relative to the mean size. With normal draws z, the mean of the result is 1 for every sigma. */
static double relative_size(const struct model_particles_params *p, double z) {
    return hpcw_i_exp(p->sigma * z - 0.5 * p->sigma * p->sigma);
}

hpcw_status model_particles_init(struct model_particles *model, const struct model_particles_params *params,
                                 uint32_t ranks, uint64_t seed, const double *field, hpcw_error *err) {
    memset(model, 0, sizeof *model);
    if (ranks < 1) {
        return hpcw_i_fail(err, HPCW_ERANGE, "sion: ranks: expected at least 1, got 0");
    }
    double largest = (double)params->mean_size / MODEL_PARTICLE_SIZE * relative_size(params, MOST_Z);
    if (largest >= 0x1p32 - 1) {
        return hpcw_i_fail(
            err, HPCW_ERANGE,
            "sion.mean_size and sion.sigma: expected less than 2^32 particles on every rank, got "
            "parameters that allow %.3g",
            largest);
    }
    model->params = *params;
    model->ranks = ranks;
    model->seed = seed;
    model->field = field;
    model_grid_shape(ranks, 3, model->dims);
    return HPCW_OK;
}

uint32_t model_particles_count(const struct model_particles *model, uint32_t rank) {
    uint32_t w[4];
    hpcw_i_draw(model->seed, HPCW_I_FOR_PARTICLE_COUNT, rank, 0, 0, w);
    const struct model_particles_params *p = &model->params;
    double mean = (double)p->mean_size / MODEL_PARTICLE_SIZE;
    double z = hpcw_i_normal(w[0], w[1]);
    if (model->field != NULL) {
        z = sqrt(p->follows) * model->field[rank] + sqrt(1 - p->follows) * z;
    }
    uint32_t count = (uint32_t)(mean * relative_size(p, z < MOST_Z ? z : MOST_Z) + 0.5);
    return count > model->params.min_particles ? count : model->params.min_particles;
}

struct model_particles_layout model_particles_layout(const struct model_particles *model, uint32_t rank,
                                                     uint64_t alignment) {
    assert(alignment > 0);
    uint32_t w[4];
    hpcw_i_draw(model->seed, HPCW_I_FOR_PARTICLE_COUNT, rank, 0, 0, w);
    const uint32_t blocks = 2 + (uint32_t)((uint64_t)w[2] * 3 >> 32);
    const uint64_t count = model_particles_count(model, rank);
    const uint64_t size = count * MODEL_PARTICLE_SIZE;

    uint64_t chunk = (count + blocks - 1) / blocks * MODEL_PARTICLE_SIZE;
    if (!hpcw_i_round_up_u64(chunk, alignment, &chunk)) {
        chunk = alignment;
    }
    if (chunk >= size && size > alignment) {
        chunk = (size - 1) / alignment * alignment; /* leave some particles for a second block */
    }
    /* A chunk holds at least one whole particle. */
    while (chunk < MODEL_PARTICLE_SIZE) {
        chunk += alignment;
    }
    uint64_t per_chunk = chunk / MODEL_PARTICLE_SIZE;
    return (struct model_particles_layout){
        .chunk_size = chunk,
        .per_chunk = (uint32_t)(per_chunk < count ? per_chunk : count),
        .blocks = (uint32_t)((count + per_chunk - 1) / per_chunk),
    };
}

/* ---- density ---- */

/* Number of bins of the density along a dimension. */
enum { BINS = 16 };

/* A position is drawn as a quantile of the particles along each dimension of a subdomain. A quantile has 21 bits, so
 * that three of them take 63 bits. A table maps quantiles to positions, with linear interpolation. */
enum { POSITION_BITS = 21, PLACE_BITS = 6, PLACES = 1 << PLACE_BITS, REST_BITS = POSITION_BITS - PLACE_BITS };

/* Density at the border of two subdomains, divided by the mean density of the subdomain with `own` particles: at
 * most 2. next: particles of the other subdomain, which has the same density at the border. */
static double at_border(double own, double next) {
    return 2 * next / (own + next);
}

static double next_count(const struct model_particles *model, uint32_t rank, int d, bool up) {
    const uint32_t stride = d == 0 ? model->dims[1] * model->dims[2] : d == 1 ? model->dims[2] : 1;
    const uint32_t at = rank / stride % model->dims[d];
    const bool ends = up ? at + 1 == model->dims[d] : at == 0;
    return model_particles_count(model, ends ? rank : up ? rank + stride : rank - stride);
}

/* Fills the bins. The density is linear from each border to the middle, with mean 1. Clumps are added away from
 * the borders. */
static void fill_density(const struct model_particles *model, uint32_t rank, int d, double density[BINS]) {
    const double own = model_particles_count(model, rank);
    const double low = at_border(own, next_count(model, rank, d, false));
    const double high = at_border(own, next_count(model, rank, d, true));
    const double middle = 2 - 0.5 * (low + high);
    uint32_t w[4] = {0};
    for (int b = 0; b < BINS; b++) {
        const double t = (b + 0.5) / BINS;
        const double smooth = t < 0.5 ? low + (middle - low) * 2 * t : middle + (high - middle) * (2 * t - 1);
        if (b % 2 == 0) {
            hpcw_i_draw(model->seed, HPCW_I_FOR_PARTICLE_CLUMP, rank, (uint32_t)d, (uint32_t)b / 2, w);
        }
        const double z = hpcw_i_normal(w[b % 2 * 2], w[b % 2 * 2 + 1]);
        const double inside = 4 * t * (1 - t);
        density[b] = smooth * (1 + model->params.clumps * inside * (z > -2 ? z : -2)) + 0.01;
    }
}

/* Fills the table that maps quantiles of the particles to positions: the inverse of the cumulative density. */
static void fill_places(const struct model_particles *model, uint32_t rank, int d, double place[PLACES + 1]) {
    double density[BINS];
    double all = 0;
    fill_density(model, rank, d, density);
    for (int b = 0; b < BINS; b++) {
        all += density[b];
    }
    double before = 0;
    int b = 0;
    for (int i = 0; i < PLACES; i++) {
        const double sum = all * i / PLACES;
        while (b + 1 < BINS && before + density[b] <= sum) {
            before += density[b++];
        }
        place[i] = (b + (sum - before) / density[b]) / BINS;
    }
    place[PLACES] = 1;
}

/* ---- particles ---- */

/* Sum of the four 16-bit halves of two words, less its mean: the integer from which hpcw_i_normal is made. */
static double halves(uint32_t word0, uint32_t word1) {
    const uint32_t sum = (word0 & 0xffff) + (word0 >> 16) + (word1 & 0xffff) + (word1 >> 16);
    return (double)sum - HPCW_I_NORMAL_CENTRE;
}

/* What the particles of a rank have in common. */
struct subdomain {
    double corner[3], side[3]; /* position = corner + side * place */
    double place[3][PLACES + 1];
    double flow[3], thermal; /* velocity = flow + thermal * halves() of two random words */
    double phi,
        phi_scale; /* potential: phi + phi_scale * squared distance from the centre, in units of the side */
};

static void put_particle(const struct model_particles *model, const struct subdomain *s, uint32_t rank,
                         uint32_t index, unsigned char *out) {
    uint32_t w[2][4];
    float number[7]; /* xx yy zz vx vy vz phi */
    double square = 0;
    hpcw_i_draw(model->seed, HPCW_I_FOR_PARTICLE, index, rank, 0, w[0]);
    hpcw_i_draw(model->seed, HPCW_I_FOR_PARTICLE, index, rank, 1, w[1]);
    const uint64_t bits = (uint64_t)w[0][1] << 32 | w[0][0];
    for (int d = 0; d < 3; d++) {
        const uint32_t share = (uint32_t)(bits >> d * POSITION_BITS) & ((1 << POSITION_BITS) - 1);
        const double *below = &s->place[d][share >> REST_BITS];
        const double rest = (share & ((1 << REST_BITS) - 1)) * (1.0 / (1 << REST_BITS));
        const double place = below[0] + rest * (below[1] - below[0]);
        number[d] = (float)(s->corner[d] + s->side[d] * place);
        square += (place - 0.5) * (place - 0.5);
    }
    number[3] = (float)(s->flow[0] + s->thermal * halves(w[0][2], w[0][3]));
    number[4] = (float)(s->flow[1] + s->thermal * halves(w[1][0], w[1][1]));
    number[5] = (float)(s->flow[2] + s->thermal * halves(w[1][2], w[1][3]));
    number[6] = (float)(s->phi + s->phi_scale * square);
    for (int n = 0; n < 7; n++) {
        uint32_t word;
        memcpy(&word, &number[n], sizeof word);
        hpcw_i_put_u32(out + 4 * n, word, false);
    }
    hpcw_i_put_u64(out + 28, (uint64_t)rank << 32 | index, false);
    hpcw_i_put_u16(out + 36, (uint16_t)(bits >> 3 * POSITION_BITS), false);
}

void model_particles_fill(const struct model_particles *model, uint32_t rank, uint32_t first, uint32_t count,
                          unsigned char *out) {
    const struct model_particles_params *p = &model->params;
    const uint32_t at[3] = {rank / model->dims[2] / model->dims[1], rank / model->dims[2] % model->dims[1],
                            rank % model->dims[2]};
    uint32_t w[2][4];
    for (uint32_t part = 0; part < 2; part++) {
        hpcw_i_draw(model->seed, HPCW_I_FOR_PARTICLE_FLOW, rank, 0, part, w[part]);
    }
    struct subdomain s = {
        .thermal = p->thermal * HPCW_I_NORMAL_SCALE,
        .phi = -p->potential * (1 + 0.25 * hpcw_i_normal(w[1][2], w[1][3])),
        .phi_scale = p->potential, /* corners are 0.75 * phi_scale above the centre */
    };
    for (int d = 0; d < 3; d++) {
        s.side[d] = p->box / model->dims[d];
        s.corner[d] = s.side[d] * at[d];
        fill_places(model, rank, d, s.place[d]);
    }
    s.flow[0] = p->flow * hpcw_i_normal(w[0][0], w[0][1]);
    s.flow[1] = p->flow * hpcw_i_normal(w[0][2], w[0][3]);
    s.flow[2] = p->flow * hpcw_i_normal(w[1][0], w[1][1]);
    for (uint32_t k = 0; k < count; k++) {
        put_particle(model, &s, rank, first + k, out + (size_t)k * MODEL_PARTICLE_SIZE);
    }
}
