/* SPDX-License-Identifier: BSD-3-Clause */
/* What only simulated runs of the model of loads tell: the correlation of its field, how evenly distant senders are spread, and
 * which numbered problem is like the measured run, in what chance decided and not the parameters. */
#include <math.h>
#include <stdlib.h>

#include "gen/fit/loads/loads.h"
#include "libwriter/base/detmath.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/rng.h"
#include "libwriter/base/status.h"

/* Limits of the simulation: problems, phases of each, and task times in all. It ends before them if a problem is near. Of a run
 * of one phase a problem tells all; of more, the best of very many would be good by chance, which other seeds do not have. */
enum {
    MOST_PROBLEMS = 512,
    MOST_OF_ONE_PHASE = 6000, /* problem_of has as many numbers */
    MOST_PHASES = 64,
    FEW_PHASES = 8,
    ENOUGH_PROBLEMS = 256,
    MOST_TIMES = 1 << 24,
    MOST_OBJECTS = 1 << 18
};
#define NEAR_SCORE 0.5

/* Any number of channels must be nearer than none by this, a distance between distribution functions. */
#define CHANCE 0.02

/* What is compared. Each difference is divided by half of what a comparison allows at least; of the logarithm of the slowest
 * rank's load, by what shifts the waits for it by as much. The longest task and the heaviest block bound what a balancer can
 * reach; of few tasks, a placement longest first is about what it reaches. */
#define HALF_DISTANCE 0.025
#define HALF_CORRELATION 0.05
#define HALF_SLOWEST 0.02
#define HALF_EVEN 0.05
#define HALF_LARGEST 0.1

struct fit_problem_run {
    struct gen_fit_sketch *count, *load; /* tasks of a rank; load of a rank over the mean of its phase */
    struct gen_fit_load_moments at[MOST_PHASES];
    double slowest[MOST_PHASES]; /* the largest load of a rank over the mean */
    double longest[MOST_PHASES]; /* the longest task over it: no balancer makes a rank faster than that */
    double block[MOST_PHASES];   /* the block of memory whose tasks take longest together, likewise; 0: none */
    double
        even[MOST_PHASES]; /* the slowest rank over the mean, if units are placed longest first; 0: not known */
    double neighbour;
};

struct fit_problem {
    const struct gen_fit_loads *l;
    const struct gen_fit_twin *twin;
    uint32_t phases, phase[MOST_PHASES];
    struct fit_problem_run measured, made;
    double half_time, half_count, half_load, half_neighbour; /* more than those above, of few ranks */
    uint32_t *first;                                         /* [ranks + 1] of its objects */
    uint32_t *object;                                        /* [most objects] */
    double *lasting;                                         /* [most objects] */
    uint64_t *time;                                          /* [most objects] ns */
    double *seconds;                                         /* [ranks] */
};

/* ---- the field ---- */

struct fit_model {
    struct model_machine machine;
    struct model_load load;
};

/* A numbered problem. The seed is none that data have. */
static hpcw_status make_model(struct fit_model *m, const struct gen_fit_twin *twin, uint32_t ranks,
                              uint32_t problem, hpcw_error *err) {
    struct model_load_params params = twin->dataset.load_params;
    params.problem = problem;
    hpcw_status s = model_machine_init(&m->machine, &twin->dataset.machine_params, ranks,
                                       hpcw_i_numbered_seed(problem, 0), err);
    if (s != HPCW_OK) {
        return s;
    }
    s = model_load_init(&m->load, &params, &m->machine, err);
    if (s != HPCW_OK) {
        model_machine_free(&m->machine);
    }
    return s;
}

static void free_model(struct fit_model *m) {
    model_load_free(&m->load);
    model_machine_free(&m->machine);
}

hpcw_status gen_fit_field_neighbours(const struct gen_fit_twin *twin, uint32_t ranks, double *correlation,
                                     hpcw_error *err) {
    const uint32_t known = twin->dataset.load_params.problem;
    const uint32_t problems = known != 0 ? 1 : 16;
    hpcw_status s = HPCW_OK;
    *correlation = 0;
    ranks = ranks < MOST_OBJECTS ? ranks : MOST_OBJECTS; /* more change nothing */
    for (uint32_t k = 1; s == HPCW_OK && k <= problems; k++) {
        struct fit_model m;
        s = make_model(&m, twin, ranks, known != 0 ? known : k, err);
        if (s == HPCW_OK) {
            struct gen_fit_pairs p = {0};
            for (uint32_t r = 1; r < ranks; r++) {
                gen_fit_pair(&p, m.load.field[r - 1], m.load.field[r]);
            }
            *correlation += gen_fit_correlation(&p) / problems;
            free_model(&m);
        }
    }
    return s;
}

/* ---- one problem ---- */

static uint32_t list_objects(struct fit_problem *g, const struct model_load *m) {
    uint32_t count = 0;
    for (uint32_t r = 0; r < m->ranks; r++) {
        g->first[r] = count;
        for (uint32_t slot = 0; slot < m->per_rank; slot++) {
            if (model_load_exists(m, r * m->per_rank + slot)) {
                g->object[count++] = r * m->per_rank + slot;
            }
        }
        gen_fit_sketch_add(g->made.count, count - g->first[r]);
    }
    g->first[m->ranks] = count;
    return count;
}

/* Times of all objects in a phase, without what slow nodes and the system add. */
static void make_times(struct fit_problem *g, const struct model_load *m, uint32_t objects, uint32_t phase) {
    double sound[MODEL_LOAD_AT_ONCE];
    for (size_t i = 0; i < MODEL_LOAD_AT_ONCE; i++) {
        sound[i] = 1;
    }
    for (uint32_t k = 0; k < objects; k += MODEL_LOAD_AT_ONCE) {
        const uint32_t count = objects - k < MODEL_LOAD_AT_ONCE ? objects - k : MODEL_LOAD_AT_ONCE;
        model_load_times(m, g->object + k, g->lasting + k, count, phase, sound, g->time + k);
    }
}

/* ---- what a balancer can reach ---- */

/* Units are tasks, or blocks of memory, which move as a whole. Of more, a placement longest first is even. */
enum { MOST_UNITS = 256 };
struct fit_units {
    double seconds[MOST_UNITS];
    uint32_t count; /* up to one more than there is place for: too many */
};

static void add_unit(struct fit_units *u, double seconds) {
    if (u->count < MOST_UNITS) {
        u->seconds[u->count] = seconds;
    }
    u->count += u->count <= MOST_UNITS;
}

static int longest_first(const void *a, const void *b) {
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return x > y ? -1 : x < y;
}

/* The load of the slowest rank over the mean; 0 with too many units. */
static double evened(struct fit_units *u, uint32_t ranks) {
    double load[MOST_UNITS] = {0}; /* of ranks that have a unit */
    double sum = 0;
    double most = 0;
    const uint32_t used = ranks < u->count ? ranks : u->count;
    if (u->count == 0 || u->count > MOST_UNITS) {
        return 0;
    }
    qsort(u->seconds, u->count, sizeof u->seconds[0], longest_first);
    for (uint32_t i = 0; i < u->count; i++) {
        uint32_t least = 0;
        for (uint32_t r = 1; r < used; r++) {
            least = load[r] < load[least] ? r : least;
        }
        load[least] += u->seconds[i];
        sum += u->seconds[i];
        most = fmax(most, load[least]);
    }
    return most * ranks / sum;
}

/* The same of a phase that was measured, from how often it has which times. */
static double evened_sketch(struct gen_fit_sketch *const half[2], uint32_t ranks) {
    struct fit_units u = {.count = 0};
    for (size_t h = 0; h < 2; h++) {
        for (size_t i = 0; half[h] != NULL && i < GEN_FIT_BINS; i++) {
            const double many = half[h]->bin[i] < MOST_UNITS ? ceil(half[h]->bin[i]) : MOST_UNITS + 1;
            const double seconds = GEN_FIT_LEAST_SECONDS * hpcw_i_exp(((double)i + 0.5) * GEN_FIT_BIN_WIDTH);
            for (uint32_t k = 0; k < (uint32_t)many; k++) {
                add_unit(&u, seconds);
            }
        }
    }
    return evened(&u, ranks);
}

/* Seconds of the tasks of a rank's block of memory, of that where they are most. */
static double heaviest_block(const struct fit_problem *g, uint32_t rank, uint32_t per_rank,
                             struct fit_units *units) {
    const uint32_t in_block = g->twin->dataset.load_params.block_objects;
    double most = 0;
    double sum = 0;
    for (uint32_t k = g->first[rank]; in_block > 0 && k < g->first[rank + 1]; k++) {
        const bool ends = k + 1 == g->first[rank + 1] ||
                          g->object[k + 1] % per_rank / in_block != g->object[k] % per_rank / in_block;
        sum += 1e-9 * (double)g->time[k];
        most = fmax(most, sum);
        if (ends) {
            add_unit(units, sum);
            sum = 0;
        }
    }
    return most;
}

/* Sums up the phase number i of those that are compared. */
static void sum_up(struct fit_problem *g, uint32_t ranks, uint32_t per_rank, uint32_t i) {
    struct gen_fit_pairs neighbour = {0};
    struct gen_fit_load_moments sum = {0};
    double squares = 0;
    double most = 0;
    double longest = 0;
    double block = 0;
    double before = NAN;
    struct fit_units units = {.count = 0};
    for (uint32_t r = 0; r < ranks; r++) {
        const double n = g->first[r + 1] - g->first[r];
        double x = 0;
        g->seconds[r] = 0;
        for (uint32_t k = g->first[r]; k < g->first[r + 1]; k++) {
            const double seconds = 1e-9 * (double)g->time[k];
            const double ln = gen_fit_ln(seconds);
            g->seconds[r] += seconds;
            longest = fmax(longest, seconds);
            if (g->twin->dataset.load_params.block_objects == 0) {
                add_unit(&units, seconds);
            }
            x += ln;
            squares += ln * ln;
        }
        block = fmax(block, heaviest_block(g, r, per_rank, &units));
        if (r > 0) {
            gen_fit_pair(&neighbour, before, x / n); /* each rank of the model has an object */
        }
        before = x / n;
        sum.tasks += n;
        sum.mean += x;
        sum.seconds += g->seconds[r];
        most = fmax(most, g->seconds[r]);
    }
    for (uint32_t r = 0; r < ranks; r++) {
        gen_fit_sketch_add(g->made.load, g->seconds[r] * ranks / sum.seconds);
    }
    sum.mean /= sum.tasks;
    sum.sd = sqrt(fmax(0, squares / sum.tasks - sum.mean * sum.mean));
    g->made.at[i] = sum;
    g->made.slowest[i] = most * ranks / sum.seconds;
    g->made.longest[i] = longest * ranks / sum.seconds;
    g->made.block[i] = block * ranks / sum.seconds;
    g->made.even[i] = evened(&units, ranks);
    g->made.neighbour += gen_fit_correlation(&neighbour) / g->phases;
}

static hpcw_status run_problem(struct fit_problem *g, uint32_t problem, hpcw_error *err) {
    struct fit_model m;
    hpcw_status s = make_model(&m, g->twin, g->l->ranks, problem, err);
    if (s != HPCW_OK) {
        return s;
    }
    *g->made.count = (struct gen_fit_sketch){.least = g->made.count->least};
    *g->made.load = (struct gen_fit_sketch){.least = g->made.load->least};
    const uint32_t objects = list_objects(g, &m.load);
    for (uint32_t k = 0; k < objects; k += MODEL_LOAD_AT_ONCE) {
        const uint32_t count = objects - k < MODEL_LOAD_AT_ONCE ? objects - k : MODEL_LOAD_AT_ONCE;
        model_load_lastings(&m.load, g->object + k, count, g->lasting + k);
    }
    g->made.neighbour = 0;
    for (uint32_t i = 0; i < g->phases; i++) {
        make_times(g, &m.load, objects, g->phase[i]);
        sum_up(g, m.load.ranks, m.load.per_rank, i);
    }
    free_model(&m);
    return HPCW_OK;
}

/* ---- how near it is ---- */

static double square(double difference, double half) {
    return isnan(difference) ? 0 : difference / half * (difference / half);
}

/* The square of how far the logarithms of two maxima are apart; 0 where there are none. */
static double apart(double a, double b) {
    const double ln = a > 0 && b > 0 ? gen_fit_ln(b / a) : 0;
    return ln * ln;
}

static double score_of(const struct fit_problem *g) {
    const struct fit_problem_run *a = &g->measured;
    const struct fit_problem_run *b = &g->made;
    double level = 0;
    double spread = 0;
    double most = 0;
    for (uint32_t i = 0; i < g->phases; i++) {
        const double largest = apart(a->longest[i], b->longest[i]) + apart(a->block[i], b->block[i]);
        most += apart(a->slowest[i], b->slowest[i]) / (HALF_SLOWEST * HALF_SLOWEST) / g->phases;
        most += apart(a->even[i], b->even[i]) / (HALF_EVEN * HALF_EVEN) / g->phases;
        most += largest / (HALF_LARGEST * HALF_LARGEST) / g->phases;
        if (a->at[i].sd > 0 && b->at[i].sd > 0) {
            level += (b->at[i].mean - a->at[i].mean) / a->at[i].sd / g->phases;
            spread += gen_fit_ln(b->at[i].sd / a->at[i].sd) / g->phases;
        }
    }
    /* By how much a normal distribution function differs from one with another mean or deviation. */
    return square(0.4 * level, g->half_time) + square(0.24 * spread, g->half_time) +
           square(gen_fit_sketch_distance(a->count, b->count), g->half_count) +
           square(gen_fit_sketch_distance(a->load, b->load), g->half_load) +
           square(a->neighbour - b->neighbour, g->half_neighbour) + most;
}

/* ---- all ---- */

static hpcw_status merge_halves(struct gen_fit_sketch *const half[2], struct gen_fit_sketch **whole) {
    *whole = half[0] != NULL && half[1] != NULL ? gen_fit_sketch_new(half[0]->least) : NULL;
    for (size_t h = 0; *whole != NULL && h < 2; h++) {
        gen_fit_sketch_merge(*whole, half[h], 1);
    }
    return *whole != NULL ? HPCW_OK : HPCW_ENOMEM;
}

/* The largest value in a phase over the mean load of a rank; of a group of phases, the mean of as many values as it has
 * phases. `half`: loads of ranks, or times of tasks. */
static double largest(const struct gen_fit_load_group group[2], struct gen_fit_sketch *const half[2],
                      uint64_t phases) {
    double left = (double)phases;
    double sum = 0;
    for (size_t i = GEN_FIT_BINS; i-- > 0 && left > 0;) {
        const double here = (half[0] != NULL ? half[0]->bin[i] : 0) + (half[1] != NULL ? half[1]->bin[i] : 0);
        const double taken = fmin(left, here);
        sum += taken * GEN_FIT_LEAST_SECONDS * hpcw_i_exp(((double)i + 0.5) * GEN_FIT_BIN_WIDTH);
        left -= taken;
    }
    const double mean = (group[0].seconds + group[1].seconds) / (group[0].ranks + group[1].ranks);
    const double found = (double)phases - left;
    return found > 0 ? sum / found / mean : 0;
}

/* Half of the distance that a comparison allows. */
static double half_of(struct gen_fit_sketch *const half[2]) {
    return half[0]->count > 0 && half[1]->count > 0
               ? fmax(HALF_DISTANCE, gen_fit_sketch_distance(half[0], half[1]))
               : HALF_DISTANCE;
}

/* What was measured, and the phases that are compared. */
static hpcw_status measure(struct fit_problem *g, uint64_t most_objects, hpcw_error *err) {
    const struct gen_fit_loads *l = g->l;
    const size_t begin = gen_fit_loads_begin(l);
    const uint64_t phases = l->phases - begin;
    struct gen_fit_sketch *half[2] = {gen_fit_loads_ranks(l, 0, begin), gen_fit_loads_ranks(l, 1, begin)};
    struct gen_fit_sketch *time[2] = {gen_fit_loads_times(l, 0, begin, GEN_FIT_GROUPS),
                                      gen_fit_loads_times(l, 1, begin, GEN_FIT_GROUPS)};
    hpcw_status s = merge_halves(half, &g->measured.load);
    s = s == HPCW_OK && (time[0] == NULL || time[1] == NULL) ? HPCW_ENOMEM : s;
    if (s == HPCW_OK) {
        g->half_time = half_of(time);
        g->half_count = half_of(l->objects);
        g->half_load = half_of(half);
    }
    hpcw_i_free(time[0]);
    hpcw_i_free(time[1]);
    hpcw_i_free(half[0]);
    hpcw_i_free(half[1]);
    s = s == HPCW_OK ? merge_halves(l->objects, &g->measured.count) : s;
    g->measured.neighbour = gen_fit_loads_correlation(l, GEN_FIT_NEIGHBOUR, 2, begin);
    const double unexplained = 1 - g->measured.neighbour * g->measured.neighbour;
    g->half_neighbour = fmax(HALF_CORRELATION, unexplained / sqrt(fmax(1, l->ranks - 3.0)));
    const uint64_t wanted = MOST_TIMES / ENOUGH_PROBLEMS / most_objects;
    g->phases = (uint32_t)(wanted < FEW_PHASES ? FEW_PHASES : wanted < MOST_PHASES ? wanted : MOST_PHASES);
    g->phases = phases < g->phases ? (uint32_t)phases : g->phases;
    for (uint32_t i = 0; i < g->phases; i++) {
        g->phase[i] = (uint32_t)(begin + (2 * i + 1) * phases / (2 * g->phases));
        const size_t group = g->phase[i] == 0 ? 0 : 1 + (g->phase[i] - 1) / l->width;
        g->measured.at[i] = gen_fit_loads_moments(l, group, group);
        const struct gen_fit_load_group *p = l->group[group];
        const uint64_t width = group == 0 ? 1 : l->width;
        g->measured.slowest[i] = largest(p, (struct gen_fit_sketch *[]){p[0].rank, p[1].rank}, width);
        g->measured.longest[i] = largest(p, (struct gen_fit_sketch *[]){p[0].time, p[1].time}, width);
        g->measured.block[i] = largest(p, (struct gen_fit_sketch *[]){p[0].block, p[1].block}, width);
        const bool blocks = p[0].block != NULL || p[1].block != NULL;
        g->measured.even[i] = width > 1
                                  ? 0
                                  : evened_sketch(blocks ? (struct gen_fit_sketch *[]){p[0].block, p[1].block}
                                                         : (struct gen_fit_sketch *[]){p[0].time, p[1].time},
                                                  l->ranks);
    }
    g->first = hpcw_i_calloc((size_t)l->ranks + 1, sizeof *g->first);
    g->seconds = hpcw_i_calloc(l->ranks, sizeof *g->seconds);
    g->object = hpcw_i_calloc(most_objects, sizeof *g->object);
    g->lasting = hpcw_i_calloc(most_objects, sizeof *g->lasting);
    g->time = hpcw_i_calloc(most_objects, sizeof *g->time);
    if (s == HPCW_OK) {
        g->made.load = gen_fit_sketch_new(g->measured.load->least);
        g->made.count = gen_fit_sketch_new(g->measured.count->least);
    }
    const bool good = s == HPCW_OK && g->first != NULL && g->seconds != NULL && g->object != NULL &&
                      g->lasting != NULL && g->time != NULL && g->made.load != NULL && g->made.count != NULL;
    return good ? HPCW_OK : hpcw_i_fail_memory(err, NULL, most_objects, "objects");
}

static void free_problem(struct fit_problem *g) {
    hpcw_i_free(g->first);
    hpcw_i_free(g->seconds);
    hpcw_i_free(g->object);
    hpcw_i_free(g->lasting);
    hpcw_i_free(g->time);
    hpcw_i_free(g->measured.load);
    hpcw_i_free(g->measured.count);
    hpcw_i_free(g->made.load);
    hpcw_i_free(g->made.count);
}

/* ---- distant senders ---- */

/* Senders of an object, as means of ranks. */
static void count_senders(const struct model_load *m, struct gen_fit_sketch *senders) {
    for (uint32_t r = 0; r < m->ranks; r++) {
        double count = 0;
        double sum = 0;
        for (uint32_t slot = 0; slot < m->per_rank; slot++) {
            struct model_load_edge edge[MODEL_LOAD_MOST_KINDS];
            const uint32_t object = r * m->per_rank + slot;
            if (model_load_exists(m, object)) {
                count++;
                sum += model_load_senders(m, object, edge);
            }
        }
        gen_fit_sketch_add(senders, sum / count);
    }
}

/* How far the number of an object's senders is from the measured one. */
static hpcw_status distance_of_senders(const struct gen_fit_loads *l, const struct gen_fit_twin *twin,
                                       const struct gen_fit_sketch *measured, double *distance,
                                       hpcw_error *err) {
    struct fit_model m;
    struct gen_fit_sketch *made = gen_fit_sketch_new(measured->least);
    hpcw_status s = made != NULL ? make_model(&m, twin, l->ranks, 1, err)
                                 : hpcw_i_fail_memory(err, NULL, l->ranks, "ranks");
    if (s == HPCW_OK) {
        count_senders(&m.load, made);
        *distance = gen_fit_sketch_distance(measured, made);
        free_model(&m);
    }
    hpcw_i_free(made);
    return s;
}

hpcw_status gen_fit_loads_learn_channels(const struct gen_fit_loads *l, struct gen_fit_twin *twin,
                                         hpcw_error *err) {
    struct model_load_params *p = &twin->dataset.load_params;
    const uint64_t objects = (uint64_t)l->ranks * p->objects * p->collections;
    struct gen_fit_sketch *measured = NULL;
    uint32_t best = 0;
    double least = INFINITY;
    if (p->comm != MODEL_COMM_STENCIL || p->far_edges == 0 || objects > MOST_OBJECTS) {
        return HPCW_OK;
    }
    hpcw_status s = merge_halves(l->senders, &measured);
    s = s == HPCW_OK ? s : hpcw_i_fail_memory(err, NULL, 1, "sketches");
    for (uint32_t channels = 0; s == HPCW_OK && channels <= 8; channels += channels == 0 ? 2 : 1) {
        double distance = 0;
        p->far_channels = channels;
        s = distance_of_senders(l, twin, measured, &distance, err);
        if (s == HPCW_OK && distance < least - (best == 0 ? CHANCE : 0)) {
            best = channels;
            least = distance;
        }
    }
    hpcw_i_free(measured);
    return s == HPCW_OK ? gen_fit_learn(twin, "load.far_channels", best, GEN_FIT_PER_OBJECT, err) : s;
}

/* ---- the problem ---- */

/* The k-th number of at most three digits other than 0 at its end: no more of a value is written. */
static uint32_t problem_of(uint32_t k) {
    uint32_t unit = 1;
    for (; k >= 1000; k -= 900) {
        unit *= 10;
    }
    return k * unit;
}

hpcw_status gen_fit_loads_learn_problem(const struct gen_fit_loads *l, struct gen_fit_twin *twin,
                                        hpcw_error *err) {
    const struct model_load_params *p = &twin->dataset.load_params;
    const uint64_t objects = (uint64_t)l->ranks * p->objects * p->collections;
    struct fit_problem g = {.l = l, .twin = twin};
    if (l->ranks < 2 || objects > MOST_OBJECTS) {
        return HPCW_OK; /* of one rank nothing is compared; of many objects chance decides little */
    }
    hpcw_status s = measure(&g, objects, err);
    const uint64_t times = objects * (g.phases > 0 ? g.phases : 1);
    const uint64_t most = g.phases > 1 ? MOST_PROBLEMS : MOST_OF_ONE_PHASE;
    const uint64_t problems = MOST_TIMES / times < most ? MOST_TIMES / times : most;
    uint32_t best = 0;
    double least = INFINITY;
    for (uint32_t k = 1; s == HPCW_OK && k <= problems && least > NEAR_SCORE; k++) {
        const uint32_t problem = problem_of(k);
        s = run_problem(&g, problem, err);
        const double score = s == HPCW_OK ? score_of(&g) : INFINITY;
        best = score < least ? problem : best;
        least = fmin(least, score);
    }
    free_problem(&g);
    return s == HPCW_OK ? gen_fit_learn(twin, "load.problem", best, GEN_FIT_PER_RUN, err) : s;
}
