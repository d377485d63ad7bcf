/* SPDX-License-Identifier: BSD-3-Clause */
/* Learns the parameters of the load model (gen/model/load/load.h) from the sums over load data. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "gen/fit/loads/loads.h"
#include "gen/fit/shape.h"
#include "gen/model/draw/grid.h"
#include "libwriter/base/detmath.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

enum { LAST = GEN_FIT_GROUPS - 1 };

/* Below this number of objects, a parametric form is learned and never a table. */
enum { LEAST_FOR_TABLE = 200 };

/* Bytes of the table's text with its NUL, so that it fits a line of the configuration. */
enum { LONGEST_TABLE = 180 };

/* Largest difference of distribution functions at which the model's parametric form is still taken. */
#define FORM_HOLDS 0.03

/* Largest error of the mean of the top hundredth at which that form is still taken, in standard deviations. */
#define TAIL_HOLDS 0.3

/* The form's distance may grow by this much to fit the top hundredth better, when no table is possible. */
#define ROOM_FOR_TAIL 0.015

struct fit_learning {
    const struct gen_fit_loads *l;
    struct gen_fit_twin *twin;
    size_t begin; /* first group of phases after the set-up */
    struct gen_fit_load_moments run;
    struct model_load_tail tail;
    double fill;
    double lasts; /* share of the variance that persists, mean over the phases */
    double near;  /* correlation of the persistent work of two nearby objects */
    uint32_t dims;
    hpcw_status status; /* the first failure; afterwards nothing more is learned */
    hpcw_error *err;
};

static void learn(struct fit_learning *g, const char *key, double value, enum gen_fit_scale scale) {
    if (g->status == HPCW_OK) {
        g->status = gen_fit_learn(g->twin, key, value, scale, g->err);
    }
}

static void learn_text(struct fit_learning *g, const char *key, const char *text, enum gen_fit_scale scale) {
    if (g->status == HPCW_OK) {
        g->status = gen_fit_learn_text(g->twin, key, text, scale, g->err);
    }
}

/* ---- the distribution ---- */

/* Returns the mean parameter that gives the group's mean logarithm. The group's own mean is unreliable: a few
 * large values decide it. */
static double implied_mean(const struct model_load_tail *tail, struct gen_fit_load_moments m) {
    return hpcw_i_exp(m.mean) * (tail->scale > 0 ? model_load_mean_of_exp(tail, m.sd) : 1);
}

/* The shape of the tasks of some groups. Each phase's ln(seconds) is scaled to standard deviation 1. */
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

/* Number of independent values. The persistent part of an object's times counts once; the rest counts once in
 * each phase. */
static double independent_values(const struct fit_learning *g) {
    const double objects = g->run.tasks / (double)(g->l->phases - g->begin);
    const double next = gen_fit_loads_correlation(g->l, GEN_FIT_NEXT, 2, 1, LAST);
    const double early = gen_fit_loads_correlation(g->l, GEN_FIT_EARLY, 2, 1, LAST);
    const double lasts = fmax(0, fmax(next, early));
    return isnan(next) || isnan(early) ? objects : fmax(objects, g->run.tasks * (1 - lasts) / (1 + lasts));
}

static void learn_distribution(struct fit_learning *g) {
    const double objects = independent_values(g);
    char table[sizeof g->twin->dataset.load_params.time_table] = "none";
    struct gen_fit_shape *shape = shape_of(g, g->begin, LAST);
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
        learn(g, "load.skew", skew, GEN_FIT_PER_OBJECT);
        learn_text(g, "load.time_table", table, GEN_FIT_PER_OBJECT);
    } else {
        gen_fit_remark(g->twin, "the task times of a phase are all the same: no distribution of them");
    }
    hpcw_i_free(shape);
    if (g->status == HPCW_OK) {
        g->status = model_load_tail_init(&g->tail, skew, "load.time_table", table, g->err);
    }
}

/* Phase 0 has a log-normal distribution, or a table. */
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
    learn_text(g, "load.setup_table", table, GEN_FIT_PER_OBJECT);
    learn(g, "load.setup_factor", mean / mean_first, GEN_FIT_PER_OBJECT);
    learn(g, "load.setup_sigma", setup.sd, GEN_FIT_PER_OBJECT);
    hpcw_i_free(shape);
}

/* ---- what lasts, and what neighbours have in common ---- */

/* The model's field is constant within a home and interpolated between the middles of homes. This is the mean
 * product of the field at two positions along one dimension. The block has `side` positions. The positions are
 * in the same home (apart = 0) or in adjacent homes (apart = 1). Adjacent homes have the correlation rho. */
static double field_product(uint32_t side, double rho, int apart) {
    double sum = 0;
    side = side < 32 ? side : 32; /* a longer side changes the mean by less than 0.001 */
    for (uint32_t i = 0; i < side; i++) {
        for (uint32_t k = 0; k < side; k++) {
            const double a = (i + 0.5) / side - 0.5;
            const double b = (k + 0.5) / side - 0.5;
            const double share[2] = {fabs(a), fabs(b)};
            const int step[2] = {a < 0 ? -1 : 1, b < 0 ? -1 : 1};
            double product = 0;
            double norm = 1;
            for (int c = 0; c < 2; c++) {
                norm *=
                    (1 - share[c]) * (1 - share[c]) + share[c] * share[c] + 2 * (1 - share[c]) * share[c] * rho;
                for (int d = 0; d < 2; d++) {
                    const int far = (c ? step[0] : 0) - (apart + (d ? step[1] : 0));
                    product +=
                        (c ? share[0] : 1 - share[0]) * (d ? share[1] : 1 - share[1]) * pow(rho, abs(far));
                }
            }
            sum += product / sqrt(norm);
        }
    }
    return sum / ((double)side * side);
}

/* Returns the mean correlation between the objects of two blocks: the product of field_product over all dimensions.
 * The next rank is the neighbour along the last dimension. */
static double field_of_block(const uint32_t block[3], uint32_t dims, double rho, int apart) {
    double product = 1;
    for (uint32_t d = 0; d < dims; d++) {
        product *= field_product(block[d], rho, d == dims - 1 ? apart : 0);
    }
    return product;
}

static void learn_persistence(struct fit_learning *g, struct gen_fit_lasting p) {
    learn(g, "load.persistence_first", p.first, GEN_FIT_PER_OBJECT);
    learn(g, "load.persistence", p.last, GEN_FIT_PER_OBJECT);
}

/* Covariance over variance of the means of neighbouring ranks in the same phase. */
static double neighbour_share(const struct fit_learning *g) {
    double sum = 0;
    double weights = 0;
    for (size_t i = g->begin; i < GEN_FIT_GROUPS; i++) {
        struct gen_fit_pairs p = g->l->group[i][0].neighbour;
        const struct gen_fit_load_moments m = gen_fit_loads_moments(g->l, i, i);
        gen_fit_pairs_merge(&p, &g->l->group[i][1].neighbour);
        if (p.n >= GEN_FIT_LEAST_VALUES && m.sd > 1e-6) {
            sum += m.tasks * gen_fit_covariance(&p) / (m.sd * m.sd);
            weights += m.tasks;
        }
    }
    return weights > 0 ? sum / weights : NAN;
}

static void learn_ranks(struct fit_learning *g) {
    const double persistence = fmax(g->lasts, 0.05);
    double same = gen_fit_loads_correlation(g->l, GEN_FIT_SAME_RANK, 2, g->begin, LAST);
    double next = neighbour_share(g);
    uint32_t block[3] = {1, 1, 1};
    if (isnan(same) && g->l->count_sum == g->l->counts && !isnan(next)) {
        /* With one object on each rank, `alike` and the field's reach are one parameter. */
        learn(g, "load.alike", 1, GEN_FIT_PER_RANK);
        g->near = fmin(1, gen_fit_correlation_behind(&g->tail, fmax(0, next)) / persistence);
        learn(g, "load.correlation", g->near, GEN_FIT_PER_RANK);
        return;
    }
    if (isnan(same)) {
        gen_fit_remark(g->twin, "too few ranks or objects: load.alike and load.correlation are the defaults");
        return;
    }
    /* At the end of a row of the model's grid, the next rank is not a neighbour. */
    uint32_t grid[3];
    model_grid_shape(g->l->ranks, g->dims, grid);
    const double row = grid[g->dims - 1];
    const bool has_next = !isnan(next);
    next = has_next && row > 1 ? fmin(1, next * row / (row - 1)) : 0;
    same = gen_fit_correlation_behind(&g->tail, fmax(0, same));
    g->near = fmin(1, same / persistence);
    next = gen_fit_correlation_behind(&g->tail, fmax(0, next));
    const uint32_t objects = g->twin->dataset.load_params.objects;
    model_grid_shape(objects, g->dims, block);
    const double places = objects;
    double low = 0;
    double high = 0.99;
    for (int i = 0; i < 20; i++) { /* bisection: the ratio rises with the correlation of the field */
        const double rho = 0.5 * (low + high);
        const double inside = (places * field_of_block(block, g->dims, rho, 0) - 1) / fmax(1, places - 1);
        if (field_of_block(block, g->dims, rho, 1) * same < next * inside) {
            low = rho;
        } else {
            high = rho;
        }
    }
    double rho = high < 1e-4 ? 0 : 0.5 * (low + high);
    if (has_next) {
        learn(g, "load.correlation", rho, GEN_FIT_PER_RANK);
    } else {
        rho = g->twin->dataset.load_params.variance.correlation;
        gen_fit_remark(g->twin, "too few neighbouring ranks: load.correlation is the default");
    }
    const double inside = (places * field_of_block(block, g->dims, rho, 0) - 1) / fmax(1, places - 1);
    const double alike = places > 1 && inside > 0 ? fmin(1, same / (inside * persistence)) : 0;
    learn(g, "load.alike", alike, GEN_FIT_PER_RANK);
}

static void learn_correlations(struct fit_learning *g) {
    const struct model_load_params *usual = &g->twin->dataset.load_params;
    struct gen_fit_lasting p = {usual->variance.persistence_first, usual->variance.persistence,
                                0.5 * (usual->variance.persistence_first + usual->variance.persistence), false};
    if (g->tail.scale == 0) {
        return; /* nothing varies */
    }
    if (g->l->phases == g->begin + 1) {
        p = (struct gen_fit_lasting){1, 1, 1, false}; /* persistence is unknown */
        learn_persistence(g, p);
        gen_fit_remark(g->twin, "one phase: load.persistence is 1, so in a longer twin loads stay the same");
    } else {
        const struct gen_fit_lasting seen = gen_fit_loads_lasting(g->l, &g->tail);
        if (seen.known) {
            p = seen;
            learn_persistence(g, p);
        } else {
            gen_fit_remark(g->twin, "no object in two phases: load.persistence is the default");
        }
    }
    g->lasts = p.mean;
    learn_ranks(g);
}

/* ---- how loads change over the run ---- */

struct fit_line {
    double first, last, error;
};

/* Fewest groups of phases that can show a course. */
enum { FEWEST_GROUPS = 6 };

/* Share of the total rise that is reached in the middle of a group. */
static double risen(const struct gen_fit_loads *l, size_t group, double rise) {
    return fmax(0, fmin(1, (gen_fit_loads_middle(l, group) - 1) / rise));
}

/* Returns the standard deviation of a group of phases, or the mean that the model needs as a parameter. */
static double level_of(const struct fit_learning *g, struct gen_fit_load_moments m, bool mean) {
    return mean ? implied_mean(&g->tail, m) : m.sd;
}

/* Fits a line by least squares to the groups' standard deviations, or to their means. x is the
 * share of the rise. Small groups are skipped, since their line would reveal measured values. If all are small,
 * the run counts as one group. */
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

/* The course is not a line if the residuals' root mean square exceeds this share of the mean level. */
#define LINE_HOLDS 0.1

/* A group belongs to one of two levels if it is within this share of their distance. */
#define SAME_LEVEL 0.15

/* Classifies the course of the run. If it is not a line, sets *mean and *sigma to the lowest and the highest
 * level. For steps these are the ends; for bursts the higher one is the level in a burst. */
static const char *course_of(const struct fit_learning *g, double error, struct fit_line *mean,
                             struct fit_line *sigma) {
    struct fit_line low = {.first = INFINITY};
    struct fit_line high = {.first = 0};
    double groups = 0;
    double sum = 0;
    double sums[2][3] = {{0}}; /* for each of the two levels: groups, means, deviations */
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

static void learn_course(struct fit_learning *g) {
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
    learn(g, "load.mean_first", 1e3 * mean.first, GEN_FIT_PER_OBJECT);
    learn(g, "load.mean_last", 1e3 * mean.last, GEN_FIT_PER_OBJECT);
    learn(g, "load.sigma_first", sigma.first, GEN_FIT_PER_OBJECT);
    learn(g, "load.sigma_last", sigma.last, GEN_FIT_PER_OBJECT);
    learn_text(g, "load.course", course, GEN_FIT_PER_RUN);
    learn(g, "load.rise", rise, GEN_FIT_PER_RUN);
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
            learn(g, "load.setup_sigma", sigma.first, GEN_FIT_PER_OBJECT);
        }
    }
    if (l->phases < 3) {
        gen_fit_remark(g->twin, "few phases: %u, so no course over the run was learned", (unsigned)l->phases);
    }
}

/* ---- objects ---- */

/* Mean and variance of the number of further objects on a rank. A share f of `places` is filled. The logarithm
 * of f has the standard deviation `spread` over the ranks. */
static void filled(double places, double f, double spread, double *mean, double *variance) {
    enum { STEPS = 40 };
    double weights = 0;
    double share = 0;
    double squares = 0;
    for (int i = 0; i <= STEPS; i++) {
        const double z = (i - 0.5 * STEPS) * (8.0 / STEPS);
        const double weight = hpcw_i_exp(-0.5 * z * z);
        const double q = fmin(1, f * hpcw_i_exp(spread * z - 0.5 * spread * spread));
        weights += weight;
        share += weight * q;
        squares += weight * q * q;
    }
    share /= weights;
    squares /= weights;
    *mean = places * share;
    *variance = places * (share - squares) + places * places * (squares - share * share);
}

/* Returns the share f of filled places that gives the wanted mean. */
static double fill_for(double places, double wanted, double spread) {
    double low = 0;
    double high = 1;
    for (int i = 0; i < 30; i++) {
        double mean;
        double variance;
        filled(places, 0.5 * (low + high), spread, &mean, &variance);
        if (mean < wanted) {
            low = 0.5 * (low + high);
        } else {
            high = 0.5 * (low + high);
        }
    }
    return 0.5 * (low + high);
}

/* Number of senders that the model's stencil gives an object if each rank has a block of `places`: all, and
 * those with another home. */
struct fit_stencil {
    double senders, distant;
};

static struct fit_stencil stencil_of(const struct fit_learning *g, double places) {
    const struct gen_fit_loads *l = g->l;
    const double occupied = fmin(1, l->count_sum / l->counts / places);
    const bool closed = g->twin->dataset.load_params.periodic;
    struct fit_stencil s = {0};
    uint32_t grid[3];
    uint32_t block[3];
    model_grid_shape(l->ranks, g->dims, grid);
    model_grid_shape((uint32_t)places, g->dims, block);
    for (uint32_t d = 0; d < g->dims; d++) {
        const double side = (double)grid[d] * block[d];
        const double missing = closed && side > 2 ? 0 : 2;
        s.senders += occupied * (2 - missing / side);
        s.distant += occupied * (grid[d] > 1 ? 2 - missing / grid[d] : 0) / block[d];
    }
    return s;
}

/* Picks a number of places near the estimate. The shape of the block decides how many neighbours are on other
 * ranks. Takes the nearest number whose share of such edges is about right. Without edges, takes the nearest one
 * with the smallest share. */
static double shaped(const struct fit_learning *g, double places) {
    const struct gen_fit_loads *l = g->l;
    const double edges = l->edge.count[0] + l->edge.count[1];
    const double wanted = edges > 0 ? (l->edge.distant[0] + l->edge.distant[1]) / edges : 0;
    double best = places;
    double least = INFINITY;
    const double first = ceil(0.85 * places);
    const int last = (int)(1.15 * places - first);
    for (int k = 0; k <= last; k++) {
        const double n = first + k;
        const struct fit_stencil s = stencil_of(g, n);
        const double far = edges > 0 ? fmax(0, edges / l->count_sum - s.senders) : 0;
        const double share = (s.distant + far) / fmax(1e-9, s.senders + far);
        const double error = 4 * fabs(share - wanted) + fabs(n - places) / places;
        if (error < least) {
            least = error;
            best = n;
        }
    }
    return best;
}

static void learn_objects(struct fit_learning *g) {
    const struct gen_fit_loads *l = g->l;
    const double mean = l->count_sum / l->counts;
    const double variance = fmax(0, l->count_squares / l->counts - mean * mean);
    const double further = fmax(0, mean - 1); /* each rank of the model has one object at least */
    double places = further;
    double spread = 0;
    g->fill = 1;
    if (further > 0 && variance < further * (1 + 2 * sqrt(2.0 / l->ranks))) {
        g->fill = fmax(0.1, 1 - variance / further);
        places = round(further / g->fill);
        g->fill = places > 0 ? fmin(1, further / places) : 1;
    } else if (further > 0) {
        struct gen_fit_sketch *all = gen_fit_sketch_new(1);
        if (all == NULL) {
            g->status = g->status == HPCW_OK ? hpcw_i_fail_memory(g->err, NULL, 1, "sketches") : g->status;
            return;
        }
        gen_fit_sketch_merge(all, l->objects[0], 1);
        gen_fit_sketch_merge(all, l->objects[1], 1);
        places = fmax(ceil(1.2 * gen_fit_sketch_quantile(all, 0.98)), ceil(1.5 * further));
        hpcw_i_free(all);
        double least = INFINITY;
        for (int k = 1; k <= 150; k++) {
            const double s = 0.02 * k;
            double m;
            double v;
            const double f = fill_for(places, further, s);
            filled(places, f, s, &m, &v);
            if (fabs(v - variance) < least) {
                least = fabs(v - variance);
                spread = s;
                g->fill = f;
            }
        }
    }
    const double collections = l->collections >= 1 && l->collections <= 8 ? l->collections : 1;
    const double most = MODEL_LOAD_MOST_PLACES * collections - 1;
    if (places > most) {
        gen_fit_remark(g->twin, "more objects on a rank than the model can have: the twin has fewer");
        places = most;
        g->fill = fmin(1, fmax(0.1, further / most));
    }
    const double estimated = places;
    places = g->fill < 1 ? shaped(g, places + 1) - 1 : places;
    const double of_one = ceil((places + 1) / collections);
    learn(g, "load.objects", of_one, GEN_FIT_PER_RANK);
    learn(g, "load.collections", collections, GEN_FIT_PER_RUN);
    /* The number of places may have been rounded: it is a multiple of the number of collections, and a round
     * number. */
    const double got = g->twin->dataset.load_params.objects * collections - 1;
    g->fill = got != estimated && got > 0 ? fmin(1, g->fill * estimated / got) : g->fill;
    learn(g, "load.fill", g->fill, GEN_FIT_PER_RANK);
    learn(g, "load.fill_spread", spread, GEN_FIT_PER_RANK);
    const double moved = l->arrived[0] + l->arrived[1];
    const double all = moved + l->stayed[0] + l->stayed[1];
    if (all > 0) {
        learn(g, "load.migration", moved / all, GEN_FIT_PER_OBJECT);
    }
    if (l->ranks == 1) {
        gen_fit_remark(g->twin, "one rank: nothing about differences between ranks was learned");
    }
    if (mean < 1) {
        gen_fit_remark(g->twin, "ranks without objects: in the twin each rank has at least one");
    }
}

static void learn_structure(struct fit_learning *g) {
    const struct gen_fit_loads *l = g->l;
    if (l->indexed > 0) {
        learn(g, "load.dims", round(l->dimensions / l->indexed), GEN_FIT_PER_RUN);
    }
    g->dims = g->twin->dataset.load_params.dims;
    learn(g, "load.phases", (double)l->phases, GEN_FIT_PER_RUN);
    if (l->phases < g->twin->dataset.ckpt_params.checkpoints) { /* at most one checkpoint for each phase */
        learn(g, "rank2file.checkpoints", (double)l->phases, GEN_FIT_PER_RUN);
    }
    learn_text(g, "load.setup", g->begin == 1 ? "yes" : "no", GEN_FIT_PER_RUN);
    learn(g, "load.subphases", l->subphases_tasks > 0 ? round(l->subphases / l->subphases_tasks) : 0,
          GEN_FIT_PER_OBJECT);
    learn(g, "load.groups", round(l->groups / l->counts), GEN_FIT_PER_RANK);
    if (g->run.tasks < GEN_FIT_LEAST_VALUES) {
        gen_fit_remark(g->twin,
                       "fewer than %d migratable tasks, whose mean would tell them: the loads are the defaults",
                       GEN_FIT_LEAST_VALUES);
    }
    if (l->ppn > 0) {
        learn(g, "machine.ppn", l->ppn, GEN_FIT_PER_NODE);
        learn(g, "machine.cores", fmax(l->ppn, g->twin->dataset.machine_params.cores), GEN_FIT_PER_NODE);
    }
}

/* ---- edges ---- */

/* Factor for the standard deviation of ln(bytes) of edges. The model divides the sum of the work at both ends by
 * 1.6. Adjacent ends are alike. `follows` is the share of the volume that follows the work. */
static double spread_of(double follows, double near) {
    return sqrt(follows * follows * (2 + 2 * near) / 2.56 + 1 - follows * follows);
}

/* Returns the share `follows` that gives this correlation of ln(bytes) with the work of one end. */
static double follows_of(double correlation, double persistence, double near) {
    double low = 0;
    double high = 1;
    for (int i = 0; i < 20; i++) {
        const double f = 0.5 * (low + high);
        const double of_ends = f * (1 + near) / 1.6 * sqrt(persistence);
        if (of_ends / spread_of(f, near) < correlation) {
            low = f;
        } else {
            high = f;
        }
    }
    return 0.5 * (low + high);
}

/* Mean and deviation of a normal variable, from those of ln(n). Here n >= 1 is the variable's exponential,
 * rounded to a whole number. */
static void before_rounding(double *mean, double *sd) {
    const double wanted[2] = {*mean, *sd};
    for (int i = 0; i < 30; i++) {
        struct gen_fit_pairs p = {0};
        double weights = 0;
        for (int k = 0; k <= 200; k++) {
            const double z = 0.05 * (k - 100);
            const double weight = hpcw_i_exp(-0.5 * z * z);
            const double ln = gen_fit_ln(fmax(1, floor(hpcw_i_exp(*mean + *sd * z) + 0.5)));
            weights += weight;
            p.x += weight * ln;
            p.xx += weight * ln * ln;
        }
        const double got = p.x / weights;
        const double deviation = sqrt(fmax(0, p.xx / weights - got * got));
        *mean += wanted[0] - got;
        *sd = deviation > 0 ? fmin(5, *sd * fmin(2, wanted[1] / deviation)) : *sd;
    }
}

/* Learns bytes and messages of edges. */
static void learn_volumes(struct fit_learning *g, double edges) {
    const struct gen_fit_loads *l = g->l;
    const struct model_load_params *p = &g->twin->dataset.load_params;
    double follows = p->edge.follows;
    const double mean = l->edge.ln_bytes / edges;
    const double variance = l->edge.ln_bytes_squares / edges - mean * mean;
    const double with_work = gen_fit_loads_correlation(l, GEN_FIT_EDGE, 2, g->begin, LAST);
    if (!isnan(with_work)) {
        const double straight = g->tail.scale > 0 ? gen_fit_correlation_with_normal(&g->tail) : 1;
        follows = follows_of(fmax(0, with_work / straight), g->lasts, g->near);
        learn(g, "load.edge_follows", follows, GEN_FIT_PER_EDGE);
    }
    const double spread = spread_of(follows, g->near);
    learn(g, "load.edge_sizes", 0, GEN_FIT_PER_RUN); /* any */
    learn(g, "load.edge_bytes_mean", mean, GEN_FIT_PER_EDGE);
    learn(g, "load.edge_bytes_sd", sqrt(fmax(0, variance)) / spread, GEN_FIT_PER_EDGE);
    double messages = l->edge.ln_messages / edges;
    double messages_sd = sqrt(fmax(0, l->edge.ln_messages_squares / edges - messages * messages));
    before_rounding(&messages, &messages_sd);
    learn(g, "load.edge_messages_mean", messages, GEN_FIT_PER_EDGE);
    /* The model gives messages and bytes a correlation of 0.6. */
    learn(g, "load.edge_messages_sd", messages_sd / sqrt(0.36 * spread * spread + 0.64), GEN_FIT_PER_EDGE);
}

static void learn_edges(struct fit_learning *g) {
    const struct gen_fit_loads *l = g->l;
    const struct model_load_params *p = &g->twin->dataset.load_params;
    if (l->edge.group_bytes > l->edge.element_bytes) {
        learn_text(g, "load.comm", "sample", GEN_FIT_PER_RUN);
        gen_fit_remark(g->twin, "most bytes go to object groups: load.comm=sample, with its own volumes");
        return;
    }
    const double edges = l->edge.count[0] + l->edge.count[1];
    learn_text(g, "load.comm", edges > 0 ? "stencil" : "none", GEN_FIT_PER_RUN);
    if (edges == 0) {
        gen_fit_remark(g->twin, "no edges between objects: there are none in the twin");
        return;
    }
    if (edges < GEN_FIT_LEAST_VALUES) {
        gen_fit_remark(g->twin,
                       "fewer than %d edges, whose mean would tell them: those of the twin are the defaults",
                       GEN_FIT_LEAST_VALUES);
        return;
    }
    const struct fit_stencil stencil = stencil_of(g, (double)p->objects * p->collections);
    const double occupied = l->count_sum / l->counts / ((double)p->objects * p->collections);
    const double of_objects = edges / l->count_sum;
    learn(g, "load.far_edges", fmax(0, of_objects - stencil.senders) / occupied, GEN_FIT_PER_OBJECT);
    if (of_objects - stencil.senders > 8) {
        gen_fit_remark(g->twin, "more edges than the model can have: the twin has %.0f of an object",
                       stencil.senders + 8);
    }
    if (of_objects < 0.8 * stencil.senders) {
        gen_fit_remark(g->twin, "fewer edges than the stencil of the model: the twin has more");
    }
    learn_volumes(g, edges);
}

/* Learns which messages handlers send to each other. */
static void learn_handlers(struct fit_learning *g) {
    const struct gen_fit_load_traffic *t = &g->l->edge.traffic;
    if (t->fixed == 0) {
        learn_text(g, "load.handlers", "no", GEN_FIT_PER_RUN);
    } else if (t->fixed >= GEN_FIT_LEAST_VALUES) {
        const double mean = t->ln_fixed / t->fixed;
        learn(g, "load.handler_bytes_mean", mean, GEN_FIT_PER_EDGE);
        learn(g, "load.handler_bytes_sd", sqrt(fmax(0, t->ln_fixed_squares / t->fixed - mean * mean)),
              GEN_FIT_PER_EDGE);
    }
}

/* ---- what cannot move ---- */

/* The time of unmigratable work is the handler's, minus what the model's groups take. */
static void learn_fixed(struct fit_learning *g) {
    const struct gen_fit_loads *l = g->l;
    const size_t i = l->fixed[1] > 0;
    if (l->fixed[i] >= GEN_FIT_LEAST_VALUES) {
        const uint32_t groups = g->twin->dataset.load_params.groups;
        const uint32_t half = groups / 2;
        const double of_groups = 1e-9 * MODEL_LOAD_GROUP_NS * (groups - half);
        const double seconds = hpcw_i_exp(l->ln_fixed[i] / l->fixed[i]);
        learn(g, "load.handler_time", 1e3 * fmax(seconds - of_groups, GEN_FIT_LEAST_SECONDS), GEN_FIT_PER_RANK);
    }
}

/* ---- memory ---- */

/* Learns how many objects share a memory block, so that ranks have as many blocks as measured. The model forms
 * blocks by the numbers of places. */
static void learn_memory(struct fit_learning *g) {
    const struct gen_fit_loads *l = g->l;
    const struct model_load_params *p = &g->twin->dataset.load_params;
    if (l->memory.blocks == 0) {
        learn(g, "load.block_objects", 0, GEN_FIT_PER_RANK);
        return;
    }
    const double places = (double)p->objects * p->collections;
    learn(g, "load.block_objects", fmax(1, round(places * l->counts / l->memory.blocks)), GEN_FIT_PER_RANK);
    if (l->memory.blocks >= GEN_FIT_LEAST_VALUES) {
        const double mean = l->memory.ln_block / l->memory.blocks;
        const double variance = l->memory.ln_block_squares / l->memory.blocks - mean * mean;
        learn(g, "load.block_bytes", hpcw_i_exp(mean), GEN_FIT_PER_RANK);
        learn(g, "load.block_sd", variance > 1e-9 ? sqrt(variance) : 0, GEN_FIT_PER_RANK);
    }
    if (l->memory.footprints == 0) { /* tasks do not report their own memory */
        learn(g, "load.footprint", 1, GEN_FIT_PER_OBJECT);
    } else if (
        l->memory.footprints >=
        GEN_FIT_LEAST_VALUES) { /* The model's mean logarithm is lower by half its variance, 0.4 * 0.4 / 2. */
        learn(g, "load.footprint", hpcw_i_exp(l->memory.ln_footprint / l->memory.footprints + 0.08),
              GEN_FIT_PER_OBJECT);
    }
    if (l->memory.rank_memories >= GEN_FIT_LEAST_VALUES) {
        learn(g, "load.rank_bytes", l->memory.rank_bytes / l->memory.rank_memories, GEN_FIT_PER_RANK);
    }
}

hpcw_status gen_fit_loads_learn(const struct gen_fit_loads *l, struct gen_fit_twin *twin, hpcw_error *err) {
    struct fit_learning g = {.l = l,
                             .twin = twin,
                             .begin = gen_fit_loads_begin(l),
                             .fill = 1,
                             .lasts = twin->dataset.load_params.variance.persistence,
                             .near = twin->dataset.load_params.variance.alike,
                             .err = err};
    g.run = gen_fit_loads_moments(l, g.begin, LAST);
    learn_structure(&g);
    if (l->count_sum > 0) {
        learn_objects(&g);
        learn_fixed(&g);
        learn_memory(&g);
    }
    if (g.run.tasks >= GEN_FIT_LEAST_VALUES) {
        learn_distribution(&g);
        learn_correlations(&g);
        learn_course(&g);
        learn_edges(&g);
        learn_handlers(&g);
    }
    static const char *const unknown =
        "not learned, so default: interruptions, slow nodes, balancer, "
        "scenario, working memory of tasks, work of groups, that of phase 0 that cannot move";
    gen_fit_remark(twin, "%s", unknown);
    if (l->uneven > 0) {
        gen_fit_remark(twin,
                       "%u ranks have not as many phases as the first one, %" PRIu64 ": rank %u has %" PRIu64,
                       l->uneven, l->first_phases, l->uneven_rank, l->uneven_phases);
    }
    if (l->mended > 0) {
        gen_fit_remark(twin, "%" PRIu64 " records break a rule of the format, as hpcgen verify says",
                       l->mended);
    }
    if (l->unread_user_defined > 0) {
        gen_fit_remark(twin, "not learned, so missing: user-defined values of tasks");
    }
    twin->ranks = l->ranks > twin->ranks ? l->ranks : twin->ranks;
    if (g.status == HPCW_OK && g.run.tasks >= GEN_FIT_LEAST_VALUES) {
        g.status = gen_fit_loads_learn_seed(l, twin, err);
        g.status = g.status == HPCW_OK ? gen_fit_loads_correct_volumes(l, twin, err) : g.status;
    }
    return g.status;
}
