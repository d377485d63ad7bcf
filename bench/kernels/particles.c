/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernel for the model of particle data, with each instruction set. */
#include "gen/model/particles/particles.h"
#include "bench/kernels/kernels.h"
#include "libwriter/base/status.h"

enum { COUNT = 1 << 16, ROUNDS = 64 };

struct particle_work {
    struct bench_common common;
    struct model_particles model;
    uint32_t rounds;
    unsigned char out[(size_t)COUNT * MODEL_PARTICLE_SIZE];
};

static hpcw_status particles_setup(void *work, const void *parameter, struct bench_amount *amount,
                                   hpcw_error *err) {
    (void)parameter;
    struct particle_work *w = work;
    if (!model_simd_available(MODEL_SIMD_AVX2)) {
        return hpcw_i_fail(err, HPCW_ENOTSUP, "this build or this processor has scalar code alone");
    }
    struct model_particles_params params;
    model_particles_params_init(&params);
    w->rounds = (uint32_t)bench_scaled(w->common.place, ROUNDS, 0) + 1;
    *amount = (struct bench_amount){.bytes = sizeof w->out * (uint64_t)w->rounds};
    return model_particles_init(&w->model, &params, 4096, 1, NULL, err);
}

static hpcw_status particles_prepare(void *work, uint64_t simd, hpcw_error *err) {
    struct particle_work *w = work;
    return model_particles_use(&w->model, (enum model_simd)simd)
               ? HPCW_OK
               : hpcw_i_fail(err, HPCW_EINTERNAL, "no %s here", model_simd_name((enum model_simd)simd));
}

static hpcw_status fill(void *work, hpcw_error *err) {
    (void)err;
    struct particle_work *w = work;
    for (uint32_t rank = 0; rank < w->rounds; rank++) {
        model_particles_fill(&w->model, rank, 0, COUNT, w->out);
    }
    return HPCW_OK;
}

#define FILL {BENCH_PHASE("fill", fill)}, NULL, NULL

static const struct bench_side sides[] = {
    {"avx2", "lanes of AVX2", MODEL_SIMD_AVX2, particles_prepare, FILL},
    {"scalar", "the same values without lanes", MODEL_SIMD_NONE, particles_prepare, FILL},
};

static const struct bench_figure figures[] = {
    {"avx2 / scalar", BENCH_RATIO, {1, 0}, {0, 0}, {2, 0}, {0, 0}, 0, false},
    {"avx2", BENCH_RATE, {1, 0}, {0, 0}, {0, 0}, {0, 0}, 0, false},
};

const struct bench_kernel bench_particles = {
    .name = "particles",
    .what = "particles of 65 ranks, 65 536 of each, no file",
    .needs = BENCH_ONE_PROCESS,
    .size = sizeof(struct particle_work),
    .setup = particles_setup,
    .subject = {BENCH_ROWS(sides), NULL},
    BENCH_FIGURES(figures),
};
