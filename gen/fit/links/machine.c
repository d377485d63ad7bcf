/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/links/machine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gen/model/linktest/linktest.h"
#include "libwriter/base/detmath.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/rng.h"
#include "libwriter/base/status.h"

/* Size of the sample of rows: about ENOUGH_TIMINGS timings or, if rows are long, about LEAST_ROWS rows. */
enum { ENOUGH_TIMINGS = 1 << 15, LEAST_ROWS = 16 };

/* TRIED_JOBS: jobs simulated for each preset. MOST_JOBS: most jobs simulated for the chosen preset; fewer if
 * there are more than MOST_TIMINGS timings, or once the distance of a job from the measured timings is below
 * NEAR_DISTANCE, half of what comparisons allow. */
enum { TRIED_JOBS = 8, MOST_JOBS = 128, MOST_TIMINGS = 1 << 24 };
#define NEAR_DISTANCE 0.025

/* Messages count as delayed if the measured share of far out timings exceeds the share on the simulated machine
 * by this much. `fit --compare` adds 0.01 to both shares (links.c), so a smaller excess would hardly show. */
#define MORE_DELAYS 0.01

static hpcw_status no_memory(const struct gen_fit_rows *rows, hpcw_error *err) {
    return hpcw_i_fail_memory(err, "linktest", rows->info->tasks, "ranks");
}

hpcw_status gen_fit_rows_init(struct gen_fit_rows *rows, const hpcw_linktest_info *info, uint32_t ppn,
                              hpcw_error *err) {
    const uint32_t steps = info->steps > 0 ? info->steps : 1;
    const uint32_t wanted = ENOUGH_TIMINGS / steps > LEAST_ROWS ? ENOUGH_TIMINGS / steps : LEAST_ROWS;
    *rows = (struct gen_fit_rows){.info = info, .ppn = ppn};
    rows->every = (info->tasks + wanted - 1) / wanted;
    const size_t most = ((size_t)info->tasks - 1) / rows->every + 1;
    rows->partner = hpcw_i_calloc(most, (size_t)steps * sizeof *rows->partner);
    rows->timing = hpcw_i_calloc(most, (size_t)steps * sizeof *rows->timing);
    const bool good = gen_fit_timings_init(&rows->measured) && gen_fit_timings_init(&rows->made) &&
                      rows->partner != NULL && rows->timing != NULL;
    return good ? HPCW_OK : no_memory(rows, err);
}

void gen_fit_rows_free(struct gen_fit_rows *rows) {
    hpcw_i_free(rows->partner);
    hpcw_i_free(rows->timing);
    gen_fit_timings_free(&rows->measured);
    gen_fit_timings_free(&rows->made);
    *rows = (struct gen_fit_rows){.info = NULL};
}

void gen_fit_rows_add(struct gen_fit_rows *rows, uint32_t rank, const uint32_t *node, const uint64_t *partner,
                      const double *time) {
    const uint32_t steps = rows->info->steps;
    if (rank % rows->every != 0) {
        return;
    }
    struct gen_fit_row_so_far row = GEN_FIT_NO_ROW;
    struct gen_fit_timing *timing = rows->timing + (size_t)rows->count * steps;
    uint32_t *to = rows->partner + (size_t)rows->count++ * steps;
    for (uint32_t i = 0; i < steps; i++) {
        to[i] = (uint32_t)partner[i];
        timing[i] = (struct gen_fit_timing){gen_fit_place_of(node[rank], node[to[i]]), time[i]};
        gen_fit_timings_add(&rows->measured, &row, timing[i].place, time[i]);
    }
    gen_fit_timings_end(&rows->measured, &row);
}

static void find_spread(struct gen_fit_rows *rows, struct gen_fit_spread spread[GEN_FIT_PLACES]) {
    gen_fit_spread_of(rows->timing, (size_t)rows->count * rows->info->steps, spread);
}

void gen_fit_rows_end(struct gen_fit_rows *rows) {
    find_spread(rows, rows->spread);
}

/* ---- one job on a machine ---- */

/* Simulates timings of the pairs of ranks that were measured. */
static hpcw_status simulate(struct gen_fit_rows *rows, const struct model_linktest_params *run,
                            struct model_machine_params params, uint32_t job, hpcw_error *err) {
    const uint32_t steps = rows->info->steps;
    struct model_machine machine;
    struct model_network network;
    struct model_linktest linktest;
    struct model_linktest_scratch *scratch = NULL;
    params.job = job;
    /* A seed that no data set has: with the seed of a generated result, the simulated timings would be those of
     * the result. */
    hpcw_status s = model_machine_init(&machine, &params, rows->info->tasks, hpcw_i_numbered_seed(job, 0), err);
    if (s != HPCW_OK) {
        return s;
    }
    gen_fit_timings_clear(&rows->made);
    uint64_t *time_ps = hpcw_i_calloc(steps > 0 ? steps : 1, sizeof *time_ps);
    s = time_ps != NULL ? HPCW_OK : no_memory(rows, err);
    model_network_init(&network, &machine);
    s = s == HPCW_OK ? model_linktest_init(&linktest, &network, run, err) : s;
    s = s == HPCW_OK ? model_linktest_scratch_new(&linktest, &scratch, err) : s;
    for (uint32_t r = 0; s == HPCW_OK && r < rows->count; r++) {
        const uint32_t rank = r * rows->every;
        const uint32_t *to = rows->partner + (size_t)r * steps;
        struct gen_fit_row_so_far row = GEN_FIT_NO_ROW;
        model_linktest_row(&linktest, scratch, rank, 0, 0, steps, to, time_ps, NULL, NULL);
        struct gen_fit_timing *timing = rows->timing + (size_t)r * steps;
        for (uint32_t i = 0; i < steps; i++) {
            timing[i] = (struct gen_fit_timing){gen_fit_place_of(rank / params.ppn, to[i] / params.ppn),
                                                1e-12 * (double)time_ps[i]};
            gen_fit_timings_add(&rows->made, &row, timing[i].place, timing[i].seconds);
        }
        gen_fit_timings_end(&rows->made, &row);
    }
    model_linktest_scratch_free(scratch);
    hpcw_i_free(time_ps);
    model_machine_free(&machine);
    return s;
}

/* Returns the largest distance between a measured and a simulated distribution. The difference of the
 * correlations counts half, since comparisons allow twice as much for it. */
static double distance_of(const struct gen_fit_rows *rows) {
    const double steps =
        fabs(gen_fit_correlation(&rows->measured.step) - gen_fit_correlation(&rows->made.step));
    double most = isnan(steps) ? 0 : 0.5 * steps;
    for (size_t i = 0; i < GEN_FIT_TIMINGS; i++) {
        if (rows->measured.sketch[i]->count >= GEN_FIT_LEAST_VALUES) {
            most = fmax(most, gen_fit_sketch_distance(rows->measured.sketch[i], rows->made.sketch[i]));
        }
    }
    return most;
}

/* ---- the preset ---- */

/* Results of the simulated jobs of one preset. */
struct fit_runs {
    /* sum of the distances between distributions scaled to equal medians, plus 0.1 * |ln(ratio of the
     * medians)| */
    double distance;
    /* ln(measured median / simulated median); NaN: too few timings */
    double ratio[TRIED_JOBS][GEN_FIT_PLACES];
};

/* Sets the parameters of a preset's machine, but with the measured number of ranks per node. */
static hpcw_status params_of(const struct gen_fit_rows *rows, size_t preset, struct model_machine_params *p,
                             hpcw_error *err) {
    hpcw_status s = model_machine_params_init(p, model_machine_preset[preset].name, err);
    p->ppn = rows->ppn;
    p->cores = p->cores > rows->ppn ? p->cores : rows->ppn;
    p->gpu.count = rows->info->gpu_memory && p->gpu.count == 0 ? 1 : p->gpu.count;
    return s;
}

static hpcw_status run_machine(struct gen_fit_rows *rows, const struct gen_fit_twin *twin,
                               const struct model_machine_params *p, struct fit_runs *runs, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    *runs = (struct fit_runs){.distance = 0};
    for (uint32_t k = 0; s == HPCW_OK && k < TRIED_JOBS; k++) {
        s = simulate(rows, &twin->dataset.linktest_params, *p, k + 1, err);
        for (size_t i = 0; s == HPCW_OK && i < GEN_FIT_PLACES; i++) {
            runs->ratio[k][i] = NAN;
            if (rows->measured.sketch[i]->count >= GEN_FIT_LEAST_VALUES && rows->made.sketch[i]->count > 0) {
                const double ratio = gen_fit_sketch_quantile(rows->measured.sketch[i], 0.5) /
                                     gen_fit_sketch_quantile(rows->made.sketch[i], 0.5);
                struct gen_fit_sketch moved = {.least = GEN_FIT_LEAST_TIMING};
                gen_fit_sketch_merge(&moved, rows->made.sketch[i], ratio);
                runs->ratio[k][i] = gen_fit_ln(ratio);
                runs->distance +=
                    gen_fit_sketch_distance(rows->measured.sketch[i], &moved) + 0.1 * fabs(runs->ratio[k][i]);
            }
        }
    }
    return s;
}

/* Returns the factor to scale a machine's times by; 1 if the measured median lies within the range of the
 * simulated medians, or at most 3 % outside of it. */
static double factor_of(const struct fit_runs *runs, enum gen_fit_place place) {
    const double same = 0.03;
    double low = INFINITY;
    double high = -INFINITY;
    double mean = 0;
    for (size_t k = 0; k < TRIED_JOBS; k++) {
        low = fmin(low, runs->ratio[k][place]);
        high = fmax(high, runs->ratio[k][place]);
        mean += runs->ratio[k][place] / TRIED_JOBS;
    }
    return isnan(mean) || (low < same && high > -same) ? 1 : hpcw_i_exp(mean);
}

/* Multiplies all parts of the times of the message classes `first` to `last` by a factor, for all message sizes. */
static hpcw_status scale(struct gen_fit_twin *twin, int first, int last, double factor, hpcw_error *err) {
    const struct model_machine_params p = twin->dataset.machine_params;
    hpcw_status s = HPCW_OK;
    for (int c = first; s == HPCW_OK && factor != 1 && c <= last; c++) {
        char key[64];
        const struct {
            const char *name;
            double value;
        } part[] = {{"latency", p.message.latency_us[c] * factor},
                    {"line", p.message.line_gbs[c] / factor},
                    {"protocol", p.message.protocol_us[c] * factor},
                    {"rendezvous", p.message.rendezvous_us[c] * factor}};
        for (size_t i = 0; s == HPCW_OK && i < sizeof part / sizeof part[0]; i++) {
            (void)snprintf(key, sizeof key, "machine.%s_%d", part[i].name, c);
            s = gen_fit_learn(twin, key, part[i].value, GEN_FIT_PER_LINK, err);
        }
    }
    return s;
}

hpcw_status gen_fit_rows_learn_machine(struct gen_fit_rows *rows, struct gen_fit_twin *twin, hpcw_error *err) {
    double least = INFINITY;
    const char *name = NULL;
    hpcw_status s = HPCW_OK;
    for (size_t k = 0; s == HPCW_OK && k < model_machine_preset_count; k++) {
        struct fit_runs runs;
        struct model_machine_params p;
        s = params_of(rows, k, &p, err);
        s = s == HPCW_OK ? run_machine(rows, twin, &p, &runs, err) : s;
        if (s == HPCW_OK && (name == NULL || runs.distance < least)) {
            least = runs.distance;
            name = model_machine_preset[k].name;
        }
    }
    if (s != HPCW_OK) {
        return s;
    }
    s = gen_fit_twin_preset(twin, name, err);
    s = s == HPCW_OK ? gen_fit_learn(twin, "machine.ppn", rows->ppn, GEN_FIT_PER_NODE, err) : s;
    if (s == HPCW_OK && rows->ppn > twin->dataset.machine_params.cores) {
        s = gen_fit_learn(twin, "machine.cores", rows->ppn, GEN_FIT_PER_NODE, err);
    }
    if (s == HPCW_OK && rows->info->gpu_memory && twin->dataset.machine_params.gpu.count == 0) {
        s = gen_fit_learn(twin, "machine.gpus", 1, GEN_FIT_PER_NODE, err);
    }
    gen_fit_remark(twin, "linktest: the nearest machine is %s; its network is the default", name);
    return s;
}

/* ---- noise ---- */

/* NOISE_JOBS: jobs whose spreads are averaged. HALVINGS: steps of the bisection for the noise factor. */
enum { NOISE_JOBS = 4, HALVINGS = 12 };

/* Returns the nearest place (enum gen_fit_place) with enough timings: there, congestion hides the noise and the
 * delays least. GEN_FIT_PLACES: there is none. */
static int quietest(const struct gen_fit_rows *rows) {
    int place = 0;
    while (place < GEN_FIT_PLACES && rows->spread[place].timings == 0) {
        place++;
    }
    return place;
}

/* Computes MAD / median of the simulated timings at `place`, for the twin with its noise scaled by `factor`. */
static hpcw_status try_noise(struct gen_fit_rows *rows, const struct gen_fit_twin *twin, double factor,
                             int place, double *spread, hpcw_error *err) {
    struct model_machine_params p = twin->dataset.machine_params;
    struct model_linktest_params l = twin->dataset.linktest_params;
    hpcw_status s = HPCW_OK;
    p.pair_spread *= factor;
    l.s_msg *= factor;
    l.tail_probability = 0;
    *spread = 0;
    for (uint32_t job = 1; s == HPCW_OK && job <= NOISE_JOBS; job++) {
        struct gen_fit_spread made[GEN_FIT_PLACES];
        s = simulate(rows, &l, p, job, err);
        if (s == HPCW_OK) {
            find_spread(rows, made);
            *spread +=
                made[place].timings > 0 ? made[place].deviation_s / made[place].median_s / NOISE_JOBS : 0;
        }
    }
    return s;
}

hpcw_status gen_fit_rows_learn_noise(struct gen_fit_rows *rows, struct gen_fit_twin *twin, hpcw_error *err) {
    const double same = 0.35;  /* half of the ln(ratio) that comparisons allow */
    const double least = 1e-6; /* relative spread that is below the resolution of any clock */
    const int place = quietest(rows);
    double spread;
    if (place == GEN_FIT_PLACES) {
        return HPCW_OK;
    }
    const double wanted = rows->spread[place].deviation_s / rows->spread[place].median_s;
    hpcw_status s = try_noise(rows, twin, 1, place, &spread, err);
    if (s != HPCW_OK || fabs(gen_fit_ln(fmax(least, wanted) / fmax(least, spread))) <= same) {
        return s;
    }
    double low = gen_fit_ln(1e-3);
    double high = gen_fit_ln(1e3);
    for (int i = 0; s == HPCW_OK && i < HALVINGS; i++) {
        const double middle = 0.5 * (low + high);
        s = try_noise(rows, twin, hpcw_i_exp(middle), place, &spread, err);
        low = spread < wanted ? middle : low;
        high = spread < wanted ? high : middle;
    }
    const double factor = hpcw_i_exp(0.5 * (low + high));
    const double pair = factor * twin->dataset.machine_params.pair_spread;
    const double message = factor * twin->dataset.linktest_params.s_msg;
    s = s == HPCW_OK ? gen_fit_learn(twin, "machine.pair_spread", pair, GEN_FIT_PER_LINK, err) : s;
    return s == HPCW_OK ? gen_fit_learn(twin, "linktest.s_msg", message, GEN_FIT_PER_LINK, err) : s;
}

/* ---- times ---- */

hpcw_status gen_fit_rows_learn_times(struct gen_fit_rows *rows, struct gen_fit_twin *twin, hpcw_error *err) {
    struct fit_runs runs;
    hpcw_status s = run_machine(rows, twin, &twin->dataset.machine_params, &runs, err);
    /* Messages between near nodes meet the least congestion, which belongs to the job and not to the
     * machine. */
    const enum gen_fit_place nearest =
        rows->measured.sketch[GEN_FIT_NEAR]->count >= GEN_FIT_LEAST_VALUES ? GEN_FIT_NEAR : GEN_FIT_FAR;
    s = s == HPCW_OK ? scale(twin, MODEL_SAME_CACHE, MODEL_SAME_NODE, factor_of(&runs, GEN_FIT_IN_NODE), err)
                     : s;
    return s == HPCW_OK ? scale(twin, MODEL_SAME_SWITCH, MODEL_OTHER_GROUP, factor_of(&runs, nearest), err) : s;
}

/* ---- the job ---- */

/* The job decides which nodes a run gets, how many groups these span, and how busy the network is. */
hpcw_status gen_fit_rows_learn_job(struct gen_fit_rows *rows, struct gen_fit_twin *twin, hpcw_error *err) {
    const uint64_t timings = (uint64_t)rows->count * rows->info->steps;
    const uint64_t jobs = timings * MOST_JOBS < MOST_TIMINGS ? MOST_JOBS : MOST_TIMINGS / (timings + 1);
    uint32_t best = 0;
    double least = INFINITY;
    hpcw_status s = HPCW_OK;
    if (rows->measured.sketch[GEN_FIT_OF_RANK]->count < GEN_FIT_LEAST_VALUES) {
        return HPCW_OK; /* too few nodes for a network */
    }
    for (uint32_t job = 1; s == HPCW_OK && job <= jobs && least > NEAR_DISTANCE; job++) {
        s = simulate(rows, &twin->dataset.linktest_params, twin->dataset.machine_params, job, err);
        const double distance = s == HPCW_OK ? distance_of(rows) : 0;
        best = distance < least ? job : best;
        least = fmin(least, distance);
    }
    return s == HPCW_OK ? gen_fit_learn(twin, "machine.job", best, GEN_FIT_PER_RUN, err) : s;
}

/* ---- delays ---- */

hpcw_status gen_fit_rows_learn_delays(struct gen_fit_rows *rows, struct gen_fit_twin *twin, hpcw_error *err) {
    const int place = quietest(rows);
    const double messages = (double)rows->info->messages;
    struct model_linktest_params l = twin->dataset.linktest_params;
    struct gen_fit_spread made[GEN_FIT_PLACES];
    if (place == GEN_FIT_PLACES || rows->spread[place].far_out < GEN_FIT_LEAST_VALUES) {
        return HPCW_OK;
    }
    l.tail_probability = 0;
    hpcw_status s = simulate(rows, &l, twin->dataset.machine_params, twin->dataset.machine_params.job, err);
    if (s != HPCW_OK) {
        return s;
    }
    find_spread(rows, made);
    const struct gen_fit_spread *m = &rows->spread[place];
    const double of_noise = made[place].timings > 0 ? made[place].far_out / made[place].timings : 0;
    const double more = m->far_out / m->timings - of_noise;
    if (more < MORE_DELAYS) {
        return HPCW_OK;
    }
    /* The median of a Pareto distribution with exponent 2 is sqrt(2) times its minimum. The minimum must be
     * long enough that a delayed timing is far out even if noise shortens it. */
    const double least_us =
        1e6 * messages * fmax(m->excess_s / sqrt(2), (GEN_FIT_FAR_OUT + 1) * m->deviation_s);
    s = gen_fit_learn(twin, "linktest.tail_max", 2 * least_us, GEN_FIT_PER_LINK, err);
    s = s == HPCW_OK ? gen_fit_learn(twin, "linktest.tail", least_us, GEN_FIT_PER_LINK, err) : s;
    return s == HPCW_OK
               ? gen_fit_learn(twin, "linktest.tail_probability", more / messages, GEN_FIT_PER_LINK, err)
               : s;
}
