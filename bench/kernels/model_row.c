/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nanoseconds per timing of the LinkTest model, by instruction set: `model_row [RANKS] [PRESET] [ROWS]`. The
 * partner lists come from the circle method and, where links are congested, from a shuffled one, too. The best
 * of five rounds is printed. Then the speed of the particle model in GB/s.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "gen/model/linktest/linktest.h"
#include "gen/model/particles/particles.h"
#include "libwriter/base/rng.h"

enum { ROUNDS = 5 };

/* Processor time of this thread, so that neighbours on the machine matter less. */
static double now_ns(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static uint32_t circle_partner(uint32_t ranks, uint32_t rank, uint32_t step) {
    uint64_t m = ranks - 1, twice = 2 * ((uint64_t)step + 1) % m;
    if (rank == 0) {
        return (uint32_t)((2 * m - step - 1) % m) + 1;
    }
    uint64_t x = rank - 1, y = (2 * m - twice - x) % m;
    return y == x ? 0 : (uint32_t)y + 1;
}

static void *must_malloc(size_t size) {
    void *p = malloc(size);
    if (p == NULL) {
        (void)fprintf(stderr, "model_row: out of memory\n");
        exit(EXIT_FAILURE);
    }
    return p;
}

/* Times `rows` rows from the middle of the machine on; `order` renames the ranks. */
static double measure(const struct model_linktest *model, struct model_linktest_scratch *scratch, uint32_t rows,
                      const uint32_t *order, const uint32_t *place, uint64_t *check) {
    uint32_t ranks = model->machine->ranks, steps = ranks - 1;
    uint32_t *partner = must_malloc(steps * sizeof *partner);
    uint64_t *time_ps = must_malloc(steps * sizeof *time_ps);
    double spent = 0;
    for (uint32_t k = 0; k < rows; k++) {
        uint32_t rank = (ranks / 2 + k) % ranks;
        for (uint32_t s = 0; s < steps; s++) {
            partner[s] = order[circle_partner(ranks, place[rank], s)];
        }
        double start = now_ns();
        model_linktest_row(model, scratch, rank, 0, 0, steps, partner, time_ps, NULL);
        spent += now_ns() - start;
        for (uint32_t s = 0; s < steps; s++) {
            *check += time_ps[s];
        }
    }
    free(partner);
    free(time_ps);
    return spent / ((double)rows * steps);
}

static void measure_particles(void) {
    enum { COUNT = 1 << 16 };
    struct model_particles_params params;
    struct model_particles model;
    unsigned char *out = must_malloc((size_t)COUNT * MODEL_PARTICLE_SIZE);
    model_particles_params_init(&params);
    if (model_particles_init(&model, &params, 4096, 1, NULL) != HPCW_OK) {
        exit(EXIT_FAILURE);
    }
    (void)printf("particles, GB/s\n");
    for (int v = 0; v < MODEL_SIMD_COUNT; v++) {
        if (!model_particles_use(&model, (enum model_simd)v)) {
            continue;
        }
        double best = 1e30;
        for (uint32_t round = 0; round < 10 * ROUNDS; round++) {
            double start = now_ns();
            model_particles_fill(&model, round, 0, COUNT, out);
            double spent = now_ns() - start;
            best = spent < best ? spent : best;
        }
        (void)printf("%-8s %9.2f\n", model_simd_name((enum model_simd)v), COUNT * MODEL_PARTICLE_SIZE / best);
    }
    free(out);
}

int main(int argc, char **argv) {
    uint32_t ranks = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 4096;
    const char *preset = argc > 2 ? argv[2] : model_machine_preset[0].name;
    uint32_t rows = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 1024;
    struct model_machine_params mp;
    struct model_machine machine;
    hpcw_error err;
    if (ranks < 2 || model_machine_params_init(&mp, preset, &err) != HPCW_OK ||
        model_machine_init(&machine, &mp, ranks, 1, &err) != HPCW_OK) {
        (void)fprintf(stderr, "model_row: %s\n", ranks < 2 ? "wanted at least 2 ranks" : err.message);
        return EXIT_FAILURE;
    }
    uint32_t *order = must_malloc(ranks * sizeof *order), *place = must_malloc(ranks * sizeof *place);
    (void)printf("%u ranks, %s, %u rows, ns per timing\n%-8s %9s %9s %9s %9s\n", ranks, preset, rows, "",
                 "light", "shuffled", "none", "noisy");
    for (int v = 0; v < MODEL_SIMD_COUNT; v++) {
        (void)printf("%-8s", model_simd_name((enum model_simd)v));
        uint64_t check = 0;
        for (int what = 0; what < 4; what++) {
            struct model_linktest_params lp;
            model_linktest_params_init(&lp);
            lp.load = what == 2 ? MODEL_LINK_LOAD_NONE : MODEL_LINK_LOAD_LIGHT;
            lp.noisy = what == 3;
            for (uint32_t r = 0; r < ranks; r++) {
                order[r] = r;
            }
            if (what == 1) {
                hpcw_i_shuffle(order, ranks, 1, HPCW_I_FOR_TASKS, 0, 0);
            }
            for (uint32_t r = 0; r < ranks; r++) {
                place[order[r]] = r;
            }
            struct model_linktest model;
            struct model_linktest_scratch *scratch;
            if (model_linktest_init(&model, &machine, &lp, &err) != HPCW_OK ||
                model_linktest_scratch_new(&model, &scratch, &err) != HPCW_OK) {
                (void)fprintf(stderr, "model_row: %s\n", err.message);
                exit(EXIT_FAILURE);
            }
            if (!model_linktest_use(&model, (enum model_simd)v)) {
                (void)printf("   not here");
                model_linktest_scratch_free(scratch);
                continue;
            }
            double best = 1e30;
            for (int round = 0; round < ROUNDS; round++) {
                double ns = measure(&model, scratch, rows, order, place, &check);
                best = ns < best ? ns : best;
            }
            (void)printf(" %9.2f", best);
            model_linktest_scratch_free(scratch);
        }
        (void)printf("   (sum %016llx)\n", (unsigned long long)check);
    }
    free(order);
    free(place);
    model_machine_free(&machine);
    measure_particles();
    return EXIT_SUCCESS;
}
