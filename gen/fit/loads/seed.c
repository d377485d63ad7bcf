/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the seed of the synthetic data: the one of several with which the slowest ranks and the longest tasks are
 * most like the measured ones. These decide how much a balancer can gain. With few ranks or tasks they vary a lot
 * between seeds. */
#include <math.h>
#include <stdlib.h>

#include "gen/fit/loads/loads.h"
#include "libwriter/base/detmath.h"
#include "libwriter/base/status.h"

/* SEEDS: number of tried seeds. FIRST_SEED: the first seed. Seeds have three digits, since a longer number could
 * be a measured value. PHASES: simulated phases of each seed. MOST_TIMES: most simulated task times of all seeds
 * together. */
enum { SEEDS = 900, FIRST_SEED = 100, PHASES = 8, MOST_TIMES = 1 << 21 };

/* The search ends at this mean squared difference of logarithms, since no comparison of two runs resolves 2
 * %. */
#define NEAR_SCORE (0.02 * 0.02)

/* Extremes of one phase. tasks, mean: mean number of tasks and mean seconds of a rank. slowest, longest:
 * seconds of the slowest rank and of the longest task, divided by `mean`. */
struct fit_extremes {
    double tasks, mean, slowest, longest;
};

struct fit_extreme_phases {
    uint32_t count, phase[PHASES];
    struct fit_extremes of[PHASES];
};

/* Returns the mean of the `phases` largest values in the distributions a and b together. */
static double largest(const struct gen_fit_sketch *a, const struct gen_fit_sketch *b, uint64_t phases) {
    double left = (double)phases;
    double sum = 0;
    for (size_t i = GEN_FIT_BINS; i-- > 0 && left > 0;) {
        const double taken = fmin(left, (a != NULL ? a->bin[i] : 0) + (b != NULL ? b->bin[i] : 0));
        sum += taken * GEN_FIT_LEAST_SECONDS * hpcw_i_exp(((double)i + 0.5) * GEN_FIT_BIN_WIDTH);
        left -= taken;
    }
    return left < (double)phases ? sum / ((double)phases - left) : 0;
}

static struct fit_extreme_phases measured(const struct gen_fit_loads *l) {
    const size_t begin = gen_fit_loads_begin(l);
    const uint64_t phases = l->phases - begin;
    struct fit_extreme_phases m = {.count = phases < PHASES ? (uint32_t)phases : PHASES};
    for (uint32_t i = 0; i < m.count; i++) {
        m.phase[i] = (uint32_t)(begin + (2 * i + 1) * phases / (2 * m.count));
        const size_t group = m.phase[i] == 0 ? 0 : 1 + (m.phase[i] - 1) / l->width;
        const uint64_t width = group == 0 ? 1 : l->width;
        const struct gen_fit_load_group *p = l->group[group];
        const double mean = (p[0].seconds + p[1].seconds) / (p[0].ranks + p[1].ranks);
        m.of[i] = (struct fit_extremes){(p[0].tasks + p[1].tasks) / (p[0].ranks + p[1].ranks), mean,
                                        largest(p[0].rank, p[1].rank, width) / mean,
                                        largest(p[0].time, p[1].time, width) / mean};
    }
    return m;
}

/* Simulates the phases m->phase, with all objects on their home ranks. Replaces the extremes in m->of. */
static void simulated(const struct model_load *load, struct fit_extreme_phases *m) {
    double tasks = 0;
    double all[PHASES] = {0};
    struct fit_extremes most[PHASES] = {{0}};
    for (uint32_t r = 0; r < load->ranks; r++) {
        double own[PHASES] = {0};
        for (uint32_t object = r * load->per_rank; object < (r + 1) * load->per_rank; object++) {
            const double lasting = model_load_exists(load, object) ? model_load_lasting(load, object) : NAN;
            tasks += !isnan(lasting);
            for (uint32_t i = 0; i < m->count && !isnan(lasting); i++) {
                const double seconds = 1e-9 * (double)model_load_time(load, object, lasting, m->phase[i], 1);
                own[i] += seconds;
                most[i].longest = fmax(most[i].longest, seconds);
            }
        }
        for (uint32_t i = 0; i < m->count; i++) {
            all[i] += own[i];
            most[i].slowest = fmax(most[i].slowest, own[i]);
        }
    }
    for (uint32_t i = 0; i < m->count; i++) {
        const double mean = all[i] / load->ranks;
        m->of[i] =
            (struct fit_extremes){tasks / load->ranks, mean, most[i].slowest / mean, most[i].longest / mean};
    }
}

static double square_of_ratio(double a, double b) {
    const double ln = a > 0 && b > 0 ? gen_fit_ln(a / b) : 0;
    return ln * ln;
}

static int by_level(const void *a, const void *b) {
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Returns how far the mean task times of the twin's phases differ from the measured ones. Both lists are sorted
 * before they are compared. */
static double score_of_levels(const struct gen_fit_loads *l, const struct model_load *load) {
    enum { LEVELS = 256 };
    double level[2][LEVELS];
    const size_t begin = gen_fit_loads_begin(l);
    const uint64_t phases = l->phases - begin;
    const size_t count = phases < LEVELS ? (size_t)phases : LEVELS;
    double score = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t phase = begin + i * phases / count;
        const size_t group = phase == 0 ? 0 : 1 + (size_t)((phase - 1) / l->width);
        level[0][i] = gen_fit_loads_moments(l, group, group).seconds;
        level[1][i] = 1e-9 * load->phase[phase].mean_ns;
    }
    qsort(level[0], count, sizeof level[0][0], by_level);
    qsort(level[1], count, sizeof level[1][0], by_level);
    for (size_t i = 0; i < count; i++) {
        score += square_of_ratio(level[0][i], level[1][i]) / (double)count;
    }
    return score;
}

static hpcw_status try_seed(const struct gen_fit_loads *l, const struct gen_fit_twin *twin, uint64_t seed,
                            const struct fit_extreme_phases *wanted, double *score, hpcw_error *err) {
    struct model_machine machine;
    struct model_load load;
    struct fit_extreme_phases made = *wanted;
    hpcw_status s = model_machine_init(&machine, &twin->dataset.machine_params, l->ranks, seed, err);
    if (s != HPCW_OK) {
        return s;
    }
    s = model_load_init(&load, &twin->dataset.load_params, &machine, err);
    *score = 0;
    if (s == HPCW_OK && load.params.course == MODEL_COURSE_RAMP) {
        simulated(&load, &made);
    } else if (s == HPCW_OK) {
        /* The loads of the twin do not change in the same phases as the measured loads. So phases are not compared
         * one by one. */
        *score = score_of_levels(l, &load);
    }
    if (s == HPCW_OK) {
        model_load_free(&load);
    }
    for (uint32_t i = 0; i < made.count; i++) {
        const struct fit_extremes *a = &made.of[i];
        const struct fit_extremes *b = &wanted->of[i];
        *score += (square_of_ratio(a->tasks, b->tasks) + square_of_ratio(a->mean, b->mean) +
                   square_of_ratio(a->slowest, b->slowest) + square_of_ratio(a->longest, b->longest)) /
                  made.count;
    }
    model_machine_free(&machine);
    return s;
}

hpcw_status gen_fit_loads_learn_seed(const struct gen_fit_loads *l, struct gen_fit_twin *twin,
                                     hpcw_error *err) {
    const struct model_load_params *p = &twin->dataset.load_params;
    const struct fit_extreme_phases wanted = measured(l);
    const uint64_t times = (uint64_t)l->ranks * p->objects * p->collections * wanted.count;
    const bool all = p->course != MODEL_COURSE_RAMP || MOST_TIMES / times >= SEEDS;
    const uint64_t seeds = all ? SEEDS : MOST_TIMES / times;
    double least = INFINITY;
    hpcw_status s = HPCW_OK;
    for (uint64_t k = 0; s == HPCW_OK && k < seeds && least > NEAR_SCORE; k++) {
        double score;
        s = try_seed(l, twin, FIRST_SEED + k, &wanted, &score, err);
        if (s == HPCW_OK && score < least) {
            least = score;
            twin->seed = FIRST_SEED + k;
        }
    }
    return s;
}
