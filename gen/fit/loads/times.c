/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/loads/learning.h"

#include <math.h>

#include "gen/fit/shape.h"
#include "libwriter/base/detmath.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* With fewer objects, a parametric form of the distribution is learned, and no table. */
enum { LEAST_FOR_TABLE = 200 };

/* Most bytes of a table as text, with its NUL, so that it fits into a line of the configuration. */
enum { LONGEST_TABLE = 180 };

/* The parametric form is taken if its distribution function differs by at most this from the measured one. */
#define FORM_HOLDS 0.03

/* The form is taken if the error of its mean over the top hundredth of values is at most this, in standard
 * deviations. */
#define TAIL_HOLDS 0.3

/* If no table is possible, the largest difference of the distribution functions may grow by this much so that
 * the top hundredth of values fits better. */
#define ROOM_FOR_TAIL 0.015

/* Returns the mean time that, as a parameter of the model, gives the measured mean of ln(seconds). The
 * measured mean time itself is unreliable, since a few long tasks decide it. */
static double implied_mean(const struct model_load_tail *tail, struct gen_fit_load_moments m) {
    return hpcw_i_exp(m.mean) * (tail->scale > 0 ? model_load_mean_of_exp(tail, m.sd) : 1);
}

/* Returns the shape of the distribution of the tasks in some groups of phases. The ln(seconds) of each group
 * are scaled to mean 0 and standard deviation 1. */
static struct gen_fit_shape *shape_of(const struct fit_learning *g, size_t first, size_t last) {
    struct gen_fit_shape *shape = hpcw_i_calloc(1, sizeof *shape);
    for (size_t i = first; shape != NULL && i <= last; i++) {
        const struct gen_fit_load_moments m = gen_fit_loads_moments(g->l, i, i);
        for (size_t h = 0; h < 2 && m.sd > 1e-6; h++) {
            const struct gen_fit_sketch *s = g->l->group[i][h].time;
            const double least = gen_fit_ln(GEN_FIT_LEAST_SECONDS);
            if (s != NULL && s->zeros > 0) {
                gen_fit_shape_add(shape, (least - m.mean) / m.sd, (least - m.mean) / m.sd, s->zeros);
            }
            for (size_t b = 0; s != NULL && b < GEN_FIT_BINS; b++) {
                const double low = least + (double)b * GEN_FIT_BIN_WIDTH;
                if (s->bin[b] > 0) {
                    gen_fit_shape_add(shape, (low - m.mean) / m.sd, (low + GEN_FIT_BIN_WIDTH - m.mean) / m.sd,
                                      s->bin[b]);
                }
            }
        }
    }
    return shape;
}

/* Returns the number of independent values. The part of an object's times that persists counts once. The other
 * part counts once in each phase. */
static double independent_values(const struct fit_learning *g) {
    const double objects = g->run.tasks / (double)(g->l->phases - g->begin);
    const double next = gen_fit_loads_correlation(g->l, GEN_FIT_NEXT, 2, 1, FIT_LAST_GROUP);
    const double early = gen_fit_loads_correlation(g->l, GEN_FIT_EARLY, 2, 1, FIT_LAST_GROUP);
    const double lasts = fmax(0, fmax(next, early));
    return isnan(next) || isnan(early) ? objects : fmax(objects, g->run.tasks * (1 - lasts) / (1 + lasts));
}

void fit_learn_distribution(struct fit_learning *g) {
    const double objects = independent_values(g);
    char table[sizeof g->twin->dataset.load_params.time_table] = "none";
    struct gen_fit_shape *shape = shape_of(g, g->begin, FIT_LAST_GROUP);
    double skew = 0;
    if (shape == NULL) {
        g->status = g->status == HPCW_OK ? hpcw_i_fail_memory(g->err, NULL, 1, "shape") : g->status;
        return;
    }
    if (shape->count > 0) {
        double distance;
        skew = gen_fit_shape_skew(shape, &distance);
        if (objects < LEAST_FOR_TABLE) {
            skew = gen_fit_shape_skew_of_tail(shape, ROOM_FOR_TAIL);
            gen_fit_remark(g->twin, "fewer than %d objects: no table of the distribution of their times",
                           LEAST_FOR_TABLE);
        } else if (distance > FORM_HOLDS || fabs(gen_fit_shape_excess(shape, skew)) > TAIL_HOLDS) {
            gen_fit_shape_table(shape, objects, table, LONGEST_TABLE);
        }
        fit_learn(g, "load.skew", skew, GEN_FIT_PER_OBJECT);
        fit_learn_text(g, "load.time_table", table, GEN_FIT_PER_OBJECT);
    } else {
        gen_fit_remark(g->twin, "the task times of a phase are all the same: no distribution of them");
    }
    hpcw_i_free(shape);
    if (g->status == HPCW_OK) {
        g->status = model_load_tail_init(&g->tail, skew, "load.time_table", table, g->err);
    }
}

/* Learns the distribution of the task times of phase 0: log-normal, or a table. */
static void learn_setup(struct fit_learning *g, struct gen_fit_load_moments setup, double mean_first) {
    char table[sizeof g->twin->dataset.load_params.setup.table] = "none";
    struct gen_fit_shape *shape = shape_of(g, 0, 0);
    if (shape == NULL) {
        g->status = g->status == HPCW_OK ? hpcw_i_fail_memory(g->err, NULL, 1, "shape") : g->status;
        return;
    }
    if (shape->count >= LEAST_FOR_TABLE && gen_fit_shape_distance_from_normal(shape) > FORM_HOLDS) {
        gen_fit_shape_table(shape, shape->count, table, LONGEST_TABLE);
    }
    struct model_load_tail tail;
    if (g->status == HPCW_OK) {
        g->status = model_load_tail_init(&tail, 0, "load.setup_table", table, g->err);
    }
    const double mean = g->status == HPCW_OK && tail.knots > 0
                            ? implied_mean(&tail, setup)
                            : hpcw_i_exp(setup.mean + 0.5 * setup.sd * setup.sd);
    fit_learn_text(g, "load.setup_table", table, GEN_FIT_PER_OBJECT);
    fit_learn(g, "load.setup_factor", mean / mean_first, GEN_FIT_PER_OBJECT);
    fit_learn(g, "load.setup_sigma", setup.sd, GEN_FIT_PER_OBJECT);
    hpcw_i_free(shape);
}

/* ---- how task times change over the run ---- */

struct fit_line {
    double first, last, error;
};

/* Fewest groups of phases that can show how the loads change over the run. */
enum { FEWEST_GROUPS = 6 };

/* Returns how far loads have risen in the middle of a group of phases, from 0 to 1. rise: number of phases in
 * which they rise. */
static double risen(const struct gen_fit_loads *l, size_t group, double rise) {
    return fmax(0, fmin(1, (gen_fit_loads_middle(l, group) - 1) / rise));
}

static double level_of(const struct fit_learning *g, struct gen_fit_load_moments m, bool mean) {
    return mean ? implied_mean(&g->tail, m) : m.sd;
}

/* Fits a line by least squares: x is the value of risen() for a group of phases, y that of level_of(). Groups with
 * few tasks are skipped, since the line would reveal measured values. If all groups have few tasks, the run counts
 * as one group. */
static struct fit_line line_of(const struct fit_learning *g, double rise, bool mean) {
    struct gen_fit_pairs p = {0};
    for (size_t i = g->begin; i < GEN_FIT_GROUPS; i++) {
        const struct gen_fit_load_moments m = gen_fit_loads_moments(g->l, i, i);
        if (m.tasks >= GEN_FIT_LEAST_VALUES) {
            gen_fit_pair(&p, risen(g->l, i, rise), level_of(g, m, mean));
        }
    }
    if (p.n == 0) {
        gen_fit_pair(&p, 0, level_of(g, g->run, mean));
    }
    if (g->l->width > 1 && p.n < FEWEST_GROUPS) {
        const double level = level_of(g, g->run, mean);
        return (struct fit_line){level, level, 0};
    }
    const double xx = p.xx - p.x * p.x / p.n;
    const double yy = p.yy - p.y * p.y / p.n;
    const double slope = xx > 1e-9 ? (p.xy - p.x * p.y / p.n) / xx : 0;
    const double first = (p.y - slope * p.x) / p.n;
    return (struct fit_line){first, first + slope, yy - slope * slope * xx};
}

/* The course of the loads is no ramp if the root mean square of the residuals exceeds this share of the mean
 * level. */
#define LINE_HOLDS 0.1

/* A group belongs to one of two levels if its distance from the level is below this share of the distance of
 * the levels. */
#define SAME_LEVEL 0.15

/* Classifies the course of the run: ramp, steps or bursts. For steps, *mean and *sigma become the values of the
 * lowest and the highest group. For bursts, they become mean values outside and inside of bursts. */
static const char *course_of(const struct fit_learning *g, double error, struct fit_line *mean,
                             struct fit_line *sigma) {
    struct fit_line low = {.first = INFINITY};
    struct fit_line high = {.first = 0};
    double groups = 0;
    double sum = 0;
    double sums[2][3] = {{0}}; /* for each level: number of groups, sum of means, sum of deviations */
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = g->begin; i < GEN_FIT_GROUPS; i++) {
            const struct gen_fit_load_moments m = gen_fit_loads_moments(g->l, i, i);
            const double level = m.tasks >= GEN_FIT_LEAST_VALUES ? level_of(g, m, true) : NAN;
            if (isnan(level)) {
                continue;
            }
            if (pass == 0) {
                groups++;
                sum += level;
                low = level < low.first ? (struct fit_line){level, m.sd, 0} : low;
                high = level > high.first ? (struct fit_line){level, m.sd, 0} : high;
            } else {
                const double share = (level - low.first) / (high.first - low.first);
                const int which = share > 0.5;
                const double is = share < SAME_LEVEL || share > 1 - SAME_LEVEL;
                sums[which][0] += is;
                sums[which][1] += is * level;
                sums[which][2] += is * m.sd;
            }
        }
        if (groups < FEWEST_GROUPS || sqrt(error / groups) < LINE_HOLDS * sum / groups) {
            return "ramp";
        }
    }
    const bool bursts = sums[0][0] + sums[1][0] > 0.9 * groups && sums[0][0] > sums[1][0];
    *mean = (struct fit_line){low.first, high.first, 0};
    *sigma = (struct fit_line){low.last, high.last, 0};
    if (bursts) {
        *mean = (struct fit_line){sums[0][1] / sums[0][0], sums[1][1] / sums[1][0], 0};
        *sigma = (struct fit_line){sums[0][2] / sums[0][0], sums[1][2] / sums[1][0], 0};
    }
    return bursts ? "bursts" : "steps";
}

void fit_learn_course(struct fit_learning *g) {
    const struct gen_fit_loads *l = g->l;
    enum { TRIED = 64 };
    double rise = 1;
    double least = INFINITY;
    for (int i = 1; i <= TRIED; i++) {
        const double r = fmax(1, round((double)(l->phases - 1) * i / TRIED));
        const double error = line_of(g, r, true).error;
        if (error < 0.999 * least) {
            least = error;
            rise = r;
        }
    }
    struct fit_line sigma = line_of(g, rise, false);
    struct fit_line mean = line_of(g, rise, true);
    const char *course = course_of(g, mean.error, &mean, &sigma);
    fit_learn(g, "load.mean_first", 1e3 * mean.first, GEN_FIT_PER_OBJECT);
    fit_learn(g, "load.mean_last", 1e3 * mean.last, GEN_FIT_PER_OBJECT);
    fit_learn(g, "load.sigma_first", sigma.first, GEN_FIT_PER_OBJECT);
    fit_learn(g, "load.sigma_last", sigma.last, GEN_FIT_PER_OBJECT);
    fit_learn_text(g, "load.course", course, GEN_FIT_PER_RUN);
    fit_learn(g, "load.rise", rise, GEN_FIT_PER_RUN);
    if (g->begin == 1) {
        const struct gen_fit_load_moments setup = gen_fit_loads_moments(l, 0, 0);
        if (setup.tasks >= GEN_FIT_LEAST_VALUES && mean.first > 0) {
            learn_setup(g, setup, mean.first);
        } else {
            gen_fit_remark(
                g->twin,
                "fewer than %d tasks in phase 0: load.setup_factor is the default, and they scatter as "
                "those of phase 1",
                GEN_FIT_LEAST_VALUES);
            fit_learn(g, "load.setup_sigma", sigma.first, GEN_FIT_PER_OBJECT);
        }
    }
    if (l->phases < 3) {
        gen_fit_remark(g->twin, "few phases: %u, so no course over the run was learned", (unsigned)l->phases);
    }
}
