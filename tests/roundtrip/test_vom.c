/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the load data of a whole dataset like an analysis tool. truth.json states the imbalance that is in the
 * files, and the injected faults stand out there. */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gen/dataset/directory/directory.h"
#include "gen/dataset/generate.h"
#include "libreader/vom/set/summary.h"
#include "libreader/vom/set/verify.h"
#include "libreader/vom/statistics.h"
#include "libreader/vom/vom.h"
#include "tests/support/files.h"

enum { RANKS = 48, MOST_PHASES = 32 };

struct dataset {
    struct gen_dataset d;
    char dir[256];
    char vom[512]; /* the folder */
    cJSON *truth;  /* of it */
};

static void make(struct dataset *s, void (*change)(struct gen_dataset *d)) {
    hpcw_error err;
    struct gen_outcome outcome;
    char path[512];
    memset(s, 0, sizeof *s);
    assert_int_equal(gen_dataset_init(&s->d, "dfplus-hdr200", GEN_SCALE_SMALL, NULL), HPCW_OK);
    s->d.ranks = RANKS;
    s->d.seed = 5;
    for (size_t f = 0; f < gen_format_count; f++) {
        s->d.formats |= (uint64_t)(strcmp(gen_format[f]->name, "vom") == 0) << f;
    }
    /* With the workload "stencil", the load data are those of the load model. */
    assert_int_equal(gen_workload_load("stencil", NULL, &s->d.workload, &err), HPCW_OK);
    s->d.load_params.course = MODEL_COURSE_RAMP;
    change(&s->d);
    scratch_make(s->dir, sizeof s->dir);
    (void)snprintf(s->vom, sizeof s->vom, "%s/vom", s->dir);
    struct gen_run run = {.dataset = &s->d,
                          .directory = s->dir,
                          .comm = hpcw_i_comm_or_self(NULL),
                          .jobs = 2,
                          .parts = 1,
                          .durability = HPCW_SYNC_NONE};
    if (gen_dataset_build(&s->d, &err) != HPCW_OK || gen_generate(&run, &outcome, &err) != HPCW_OK ||
        read_vom_verify_directory(s->vom, READ_VOM_STRICT, 0, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    (void)snprintf(path, sizeof path, "%s/" GEN_TRUTH, s->dir);
    if (gen_directory_read_json(path, &s->truth, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
}

static void drop(struct dataset *s) {
    scratch_remove(s->dir);
    cJSON_Delete(s->truth);
    gen_dataset_free(&s->d);
}

static const cJSON *told(const struct dataset *s, const char *key) {
    const cJSON *item = cJSON_GetObjectItem(cJSON_GetObjectItem(s->truth, "vom"), key);
    assert_non_null(item);
    return item;
}
static double number(const cJSON *object, const char *key) {
    const cJSON *item = cJSON_GetObjectItem(object, key);
    assert_true(cJSON_IsNumber(item));
    return item->valuedouble;
}

/* ---- what the files say, by rank and phase ---- */

struct loads {
    double rank[RANKS][MOST_PHASES]; /* seconds */
    double migratable[RANKS][MOST_PHASES];
    uint32_t away[MOST_PHASES]; /* number of objects that are not at home */
    uint64_t with_subphases;    /* tasks */
};

struct listener {
    struct loads *loads;
    uint32_t rank;
    uint64_t phase;
};

static hpcw_status on_phase(void *context, uint64_t phase, hpcw_error *err) {
    struct listener *l = context;
    (void)err;
    assert_true(phase < MOST_PHASES);
    l->phase = phase;
    return HPCW_OK;
}

static hpcw_status on_task(void *context, const struct read_vom_task *task, hpcw_error *err) {
    const struct listener *l = context;
    (void)err;
    l->loads->rank[l->rank][l->phase] += task->time;
    l->loads->with_subphases += task->has_subphases;
    if (task->entity.migratable) {
        l->loads->migratable[l->rank][l->phase] += task->time;
        l->loads->away[l->phase] += task->entity.home != l->rank;
    }
    return HPCW_OK;
}

static struct loads *listen(const struct dataset *s, const char *suffix) {
    struct loads *loads = calloc(1, sizeof *loads);
    for (uint32_t r = 0; r < RANKS; r++) {
        char path[600];
        struct read_vom *reader;
        hpcw_error err;
        struct listener l = {loads, r, 0};
        const struct read_vom_events events = {.context = &l, .phase_begin = on_phase, .task = on_task};
        (void)snprintf(path, sizeof path, "%s/data.%u.json%s", s->vom, r, suffix);
        if (read_vom_open(path, r, READ_VOM_STRICT, &reader, &err) != HPCW_OK ||
            read_vom_run(reader, UINT64_MAX, &events, &err) != HPCW_OK) {
            fail_msg("%s", err.message);
        }
        read_vom_free(reader);
    }
    return loads;
}

static void check_phases(const struct dataset *s, const struct loads *loads) {
    uint32_t k = 0;
    const cJSON *phase;
    cJSON_ArrayForEach(phase, told(s, "phases")) {
        double sum = 0;
        double squares = 0;
        double most = 0;
        uint32_t who = 0;
        for (uint32_t r = 0; r < RANKS; r++) {
            double load = loads->rank[r][k];
            sum += load;
            squares += load * load;
            who = load > most * (1 + 1e-12) ? r : who;
            most = load > most ? load : most;
        }
        double mean = sum / RANKS;
        assert_int_equal((int)number(phase, "phase"), k);
        assert_int_equal((int)number(phase, "rank_of_max"), who);
        assert_true(fabs(number(phase, "rank_load_mean_s") / mean - 1) < 1e-9);
        assert_true(fabs(number(phase, "rank_load_max_s") / most - 1) < 1e-9);
        assert_true(fabs(number(phase, "imbalance") - (most / mean - 1)) < 1e-8);
        assert_true(fabs(number(phase, "rank_load_sd_s") - sqrt(squares / RANKS - mean * mean)) < 1e-6 * mean);
        /* The bound is at least the mean load over the factor of the slowest node, and at most the largest load of
         * the longest-first placement. A slow node loses at most 1.25 times the mean. */
        const double bound = number(phase, "rank_load_bound_s");
        const double reached = number(phase, "longest_first_max_s");
        const double slowest = 1 + 1.25 * (s->d.machine_params.slow_node_factor - 1);
        assert_true(bound >= 0.99 * mean / slowest && bound <= reached);
        assert_true(reached <= most && number(phase, "longest_first_imbalance") >= 0);
        /* truth.json lists at most 8 ranks with at least 1.5 times the mean load, heaviest first. */
        double last = INFINITY;
        uint32_t named = 0;
        uint32_t heavy = 0;
        const cJSON *one;
        cJSON_ArrayForEach(one, cJSON_GetObjectItem(phase, "ranks")) {
            double load = loads->rank[(uint32_t)number(one, "rank")][k];
            assert_true(load <= last && fabs(number(one, "load_s") / load - 1) < 1e-9);
            last = load;
            named++;
        }
        for (uint32_t r = 0; r < RANKS; r++) {
            heavy += loads->rank[r][k] >= 1.5 * mean;
        }
        assert_int_equal(named, heavy < 8 ? heavy : 8);
        k++;
    }
    assert_int_equal(k, s->d.load_params.phases);
}

/* ---- the tests ---- */

static void as_it_comes(struct gen_dataset *d) {
    d->load_params.migration = 0.05;
}

static void truth_is_true(void **state) {
    (void)state;
    struct dataset s;
    make(&s, as_it_comes);
    struct loads *loads = listen(&s, ".br");
    check_phases(&s, loads);
    assert_true(loads->with_subphases > 0);
    assert_int_equal(loads->away[0], 0);
    double moved = 0;
    const cJSON *phase;
    cJSON_ArrayForEach(phase, told(&s, "phases")) {
        moved += number(phase, "migrations");
    }
    double wanted = 0.05 * RANKS * 8 * (s.d.load_params.phases - 1);
    assert_true(fabs(moved / wanted - 1) < 0.25);
    assert_true(loads->away[s.d.load_params.phases - 1] > wanted / 2);
    free(loads);
    drop(&s);
}

static void spiked(struct gen_dataset *d) {
    d->load_params.scenario.kind = MODEL_SCENARIO_SPIKE;
    d->load_params.scenario.first = 5;
    d->load_params.scenario.phases = 3;
    d->load_params.scenario.share = 0.1;
    d->load_params.scenario.factor = 8;
    d->load_params.migration = 0;
    d->load_params.subphases = 0;
    d->vom_params.container = GEN_VOM_PLAIN_FILES;
}

/* The load of a rank with a spike differs from its load in the phases before and after. Other ranks show no such
 * difference. */
static void a_spike_is_found(void **state) {
    (void)state;
    struct dataset s;
    make(&s, spiked);
    struct loads *loads = listen(&s, "");
    check_phases(&s, loads);
    assert_int_equal(loads->with_subphases, 0); /* without subphases of objects, no task has any */
    bool hit[RANKS] = {false};
    uint32_t hits = 0;
    const cJSON *scenario = told(&s, "scenario");
    const cJSON *one;
    assert_string_equal(cJSON_GetObjectItem(scenario, "kind")->valuestring, "spike");
    cJSON_ArrayForEach(one, cJSON_GetObjectItem(scenario, "home_ranks")) {
        hit[(uint32_t)one->valuedouble] = true;
        hits++;
    }
    assert_true(hits >= 1 && hits <= 12);
    const cJSON *best = cJSON_GetArrayItem(told(&s, "phases"), (int)number(scenario, "effect_phase"));
    assert_in_range((uint32_t)number(scenario, "effect_phase"), 5, 7);
    assert_true(number(scenario, "effect") > 1.5);
    assert_true(fabs(number(scenario, "effect") -
                     number(best, "imbalance") / number(best, "imbalance_without_scenario")) < 1e-9);
    for (uint32_t r = 0; r < RANKS; r++) {
        double ratio = loads->migratable[r][6] / sqrt(loads->migratable[r][4] * loads->migratable[r][8]);
        assert_true(hit[r] ? ratio > 5 : ratio < 2);
    }
    free(loads);
    drop(&s);
}

static void slowed(struct gen_dataset *d) {
    d->machine_params.slow_node_share = 0.2;
    d->machine_params.slow_node_factor = 3;
    d->load_params.sigma_last = d->load_params.sigma_first;
    d->load_params.memory.block_objects = 4;
    d->load_params.collections = 2;
    d->load_params.dims = 3;
    d->vom_params.container = GEN_VOM_LBAF_FILES;
}

/* The nodes that the machine slows down are those of the heavy ranks. */
static void slow_nodes_are_found(void **state) {
    (void)state;
    struct dataset s;
    make(&s, slowed);
    struct loads *loads = listen(&s, "");
    check_phases(&s, loads);
    bool slow[RANKS] = {false};
    uint32_t count = 0;
    const cJSON *node;
    cJSON_ArrayForEach(node, cJSON_GetObjectItem(cJSON_GetObjectItem(s.truth, "machine"), "slow_nodes")) {
        for (uint32_t k = 0; k < (uint32_t)number(node, "ranks"); k++) {
            slow[(uint32_t)number(node, "first_rank") + k] = true;
            count++;
        }
        assert_true(number(node, "factor") >= 2.5 && number(node, "factor") <= 3.5);
    }
    assert_true(count >= 4 && count <= 24);
    double usual = 0;
    for (uint32_t r = 0; r < RANKS; r++) {
        usual += slow[r] ? 0 : loads->rank[r][9] / (RANKS - count);
    }
    for (uint32_t r = 0; r < RANKS; r++) {
        assert_true(slow[r] ? loads->rank[r][9] > 2 * usual : loads->rank[r][9] < 1.5 * usual);
    }
    free(loads);
    drop(&s);
}

/* ---- communication as in the measured run ---- */

struct kinds {
    uint64_t edges[3][3]; /* by kinds of both ends: group, handler, element */
    double bytes[3][3], ln[3][3], squares[3][3];
    uint64_t selves, broadcasts, answers, objects;
};

static hpcw_status count_objects(void *context, const struct read_vom_task *task, hpcw_error *err) {
    struct kinds *k = context;
    (void)err;
    k->objects += task->entity.migratable;
    return HPCW_OK;
}

static hpcw_status count_kinds(void *context, const struct read_vom_communication *c, hpcw_error *err) {
    struct kinds *k = context;
    (void)err;
    if (c->from.id == 0) {
        return HPCW_OK; /* id 0: sent before the first task ran */
    }
    const size_t from = c->from.id % 4 < 2 ? c->from.id % 4 : 2;
    const size_t to = c->to.id % 4 < 2 ? c->to.id % 4 : 2;
    if (c->category == READ_VOM_BROADCAST) {
        assert_true(from == 1 && to == 2 && c->bytes == 376 && c->messages == 2);
        k->broadcasts++;
        return HPCW_OK;
    }
    assert_int_equal(c->category, READ_VOM_SEND_RECV);
    assert_true(from != 2 || to != 2 || (c->from.id == c->to.id && c->bytes == 168));
    k->edges[from][to]++;
    k->bytes[from][to] += c->bytes;
    k->selves += c->from.id == c->to.id;
    if (from != 2 || to != 0 ||
        c->bytes != 168) { /* edges of 168 bytes go to groups of other ranks; they are few and have no spread */
        k->ln[from][to] += log(c->bytes);
        k->squares[from][to] += log(c->bytes) * log(c->bytes);
    }
    k->answers += from == 0 && to == 2 && c->bytes == 212 && c->messages == 1;
    return HPCW_OK;
}

static void sampled(struct gen_dataset *d) {
    d->load_params.comm = MODEL_COMM_SAMPLE;
}

/* Edges between each two kinds of objects have the number and the volumes of the measured run. */
static void kinds_are_as_measured(void **state) {
    (void)state;
    enum { GROUP, HANDLER, ELEMENT };
    struct dataset s;
    struct kinds k = {0};
    make(&s, sampled);
    const uint64_t phases = s.d.load_params.phases;
    for (uint32_t r = 0; r < RANKS; r++) {
        char path[600];
        struct read_vom *reader;
        hpcw_error err;
        const struct read_vom_events events = {
            .context = &k, .task = count_objects, .communication = count_kinds};
        (void)snprintf(path, sizeof path, "%s/data.%u.json.br", s.vom, r);
        if (read_vom_open(path, r, READ_VOM_STRICT, &reader, &err) != HPCW_OK ||
            read_vom_run(reader, UINT64_MAX, &events, &err) != HPCW_OK) {
            fail_msg("%s", err.message);
        }
        read_vom_free(reader);
    }
    assert_int_equal(k.edges[ELEMENT][GROUP], k.objects + RANKS * phases);
    assert_int_equal(k.edges[GROUP][ELEMENT], k.objects);
    assert_int_equal(k.answers, k.objects);
    assert_int_equal(k.edges[ELEMENT][ELEMENT], k.objects);
    assert_int_equal(k.selves, k.objects);
    assert_int_equal(k.broadcasts, k.objects);
    assert_int_equal(k.edges[HANDLER][HANDLER], 2 * (RANKS - 1) * phases);
    assert_int_equal(k.edges[GROUP][HANDLER] + k.edges[HANDLER][GROUP] + k.edges[HANDLER][ELEMENT] +
                         k.edges[GROUP][GROUP] + k.edges[ELEMENT][HANDLER],
                     0);
    double all = 0;
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++) {
            all += k.bytes[a][b];
        }
    }
    assert_true(k.bytes[ELEMENT][GROUP] > 0.94 * all && k.bytes[ELEMENT][GROUP] < 0.98 * all);
    assert_true(k.bytes[HANDLER][HANDLER] > 0.015 * all && k.bytes[HANDLER][HANDLER] < 0.06 * all);
    static const struct {
        int from, to;
        double mean, sd;
    } mark[] = {{ELEMENT, GROUP, 10.53, 0.54}, {HANDLER, HANDLER, 7.75, 1.30}};
    for (size_t i = 0; i < sizeof mark / sizeof mark[0]; i++) {
        const int a = mark[i].from, b = mark[i].to;
        const double n = (double)(a == ELEMENT ? k.objects : k.edges[a][b]);
        const double mean = k.ln[a][b] / n;
        const double sd = sqrt(k.squares[a][b] / n - mean * mean);
        assert_true(fabs(mean - mark[i].mean) < 0.3 * mark[i].sd && fabs(sd / mark[i].sd - 1) < 0.2);
    }
    drop(&s);
}

/* ---- placements of a balancer ---- */

enum { MOST_ITERATIONS = 8 };

/* Placements of objects on ranks: after each iteration of the balancer, and in the next phase. */
struct tried {
    double rank[MOST_PHASES][MOST_ITERATIONS][RANKS]; /* migratable work, seconds */
    uint32_t objects[MOST_PHASES][MOST_ITERATIONS];
    /* hashes of placements: after each iteration, and in each phase */
    uint64_t hash[MOST_PHASES][MOST_ITERATIONS], placed[MOST_PHASES];
    uint32_t rank_now;
    uint64_t phase;
    uint64_t iteration; /* MOST_ITERATIONS: none */
};

static hpcw_status try_phase(void *context, uint64_t phase, hpcw_error *err) {
    struct tried *t = context;
    (void)err;
    t->phase = phase;
    t->iteration = MOST_ITERATIONS;
    return HPCW_OK;
}

static hpcw_status try_begin(void *context, uint64_t number, hpcw_error *err) {
    struct tried *t = context;
    (void)err;
    assert_true(number < MOST_ITERATIONS);
    t->iteration = number;
    return HPCW_OK;
}

static hpcw_status try_end(void *context, const struct read_vom_phase *iteration, hpcw_error *err) {
    struct tried *t = context;
    (void)iteration;
    (void)err;
    t->iteration = MOST_ITERATIONS;
    return HPCW_OK;
}

static hpcw_status try_task(void *context, const struct read_vom_task *task, hpcw_error *err) {
    struct tried *t = context;
    (void)err;
    if (!task->entity.migratable) {
        return HPCW_OK;
    }
    const uint64_t one = (task->entity.id * 64 + t->rank_now) * UINT64_C(0x9e3779b97f4a7c15);
    if (t->iteration == MOST_ITERATIONS) {
        t->placed[t->phase] += one ^ one >> 29;
        return HPCW_OK;
    }
    t->hash[t->phase][t->iteration] += one ^ one >> 29;
    t->objects[t->phase][t->iteration]++;
    t->rank[t->phase][t->iteration][t->rank_now] += task->time;
    return HPCW_OK;
}

static void tempered(struct gen_dataset *d) {
    d->load_params.balancer.kind = MODEL_BALANCER_TEMPERED;
    d->load_params.balancer.interval = 4;
    d->vom_params.iterations = true;
}

/* The balancer tries a placement of the objects in each iteration. The next phase has the best of these placements:
 * the one with the smallest work of the busiest rank. */
static void iterations_lead_to_placements(void **state) {
    (void)state;
    struct dataset s;
    struct tried *t = calloc(1, sizeof *t);
    assert_non_null(t);
    make(&s, tempered);
    struct loads *loads = listen(&s, ".br");
    check_phases(&s, loads);
    free(loads);
    for (uint32_t r = 0; r < RANKS; r++) {
        char path[600];
        struct read_vom *reader;
        hpcw_error err;
        const struct read_vom_events events = {.context = t,
                                               .phase_begin = try_phase,
                                               .task = try_task,
                                               .iteration_begin = try_begin,
                                               .iteration_end = try_end};
        (void)snprintf(path, sizeof path, "%s/data.%u.json.br", s.vom, r);
        t->rank_now = r;
        if (read_vom_open(path, r, READ_VOM_STRICT, &reader, &err) != HPCW_OK ||
            read_vom_run(reader, UINT64_MAX, &events, &err) != HPCW_OK) {
            fail_msg("%s", err.message);
        }
        read_vom_free(reader);
    }
    const uint64_t objects = (uint64_t)told(&s, "objects")->valuedouble;
    for (uint64_t k = 0; k < s.d.load_params.phases; k++) {
        const bool runs = (k + 1) % 4 == 0 && k + 1 < s.d.load_params.phases;
        const double migrations =
            number(cJSON_GetArrayItem(told(&s, "phases"), (int)(runs ? k + 1 : k)), "migrations");
        size_t best = 0;
        double least = INFINITY;
        for (size_t i = 0; i < MOST_ITERATIONS; i++) {
            double most = 0;
            assert_int_equal(t->objects[k][i], runs ? objects : 0);
            for (uint32_t r = 0; r < RANKS; r++) {
                most = fmax(most, t->rank[k][i][r]);
            }
            best = most < least - 1e-9 ? i : best;
            least = fmin(most, least);
        }
        assert_true(k % 4 == 0 || runs || migrations == 0);
        if (runs) {
            assert_true(8 * migrations > RANKS);
            assert_int_equal(t->placed[k + 1], t->hash[k][best]);
            assert_int_not_equal(t->placed[k + 1], t->placed[k]);
        }
    }
    free(t);
    drop(&s);
}

/* ---- statistics and other files beside the load data ---- */

/* State of a comparison: the statistics that vt writes of a phase before its balancer runs must match the load
 * data. */
struct compared {
    const struct read_vom_summary *summary;
    size_t phase;
    uint64_t migrations, runs;
    double before, after; /* sums of the imbalance over phases after which the balancer ran */
    double imbalance[2];  /* imbalance of the current phase */
};

static hpcw_status compare_quantity(void *context, bool after, const char *name,
                                    const double got[READ_VOM_FIGURES], hpcw_error *err) {
    static const char *const names[READ_VOM_QUANTITIES] = {"Object_load_", "Rank_load_", "Object_comm",
                                                           "Rank_comm"};
    struct compared *c = context;
    (void)err;
    assert_true(c->phase < c->summary->phases);
    if (strcmp(name, "Rank_load_raw") == 0) {
        c->imbalance[after] = got[READ_VOM_IMB];
    }
    for (int q = 0; q < READ_VOM_QUANTITIES; q++) {
        double expected[READ_VOM_FIGURES];
        if (strncmp(name, names[q], strlen(names[q])) != 0 || (after && q == READ_VOM_RANK_LOAD)) {
            continue;
        }
        read_vom_moments_figures(&c->summary->phase[c->phase].quantity[q], expected);
        for (int f = 0; f < READ_VOM_FIGURES; f++) {
            assert_true(fabs(got[f] - expected[f]) <= 1e-9 * fmax(1, fabs(expected[f])));
        }
    }
    return HPCW_OK;
}

static hpcw_status compare_phase(void *context, uint64_t id, uint64_t migrations, unsigned groups,
                                 hpcw_error *err) {
    struct compared *c = context;
    (void)err;
    assert_int_equal(id, c->phase);
    assert_int_equal(groups, migrations == UINT64_MAX ? 1 : 2);
    if (migrations != UINT64_MAX) {
        c->runs++;
        c->migrations += migrations;
        c->before += c->imbalance[0];
        c->after += c->imbalance[1];
    }
    c->phase++;
    return HPCW_OK;
}

static double migrations_of(const struct dataset *s) {
    double sum = 0;
    const cJSON *phase;
    cJSON_ArrayForEach(phase, told(s, "phases")) {
        sum += number(phase, "migrations");
    }
    return sum;
}

static void greedy(struct gen_dataset *d) {
    d->load_params.balancer.kind = MODEL_BALANCER_GREEDY;
    d->load_params.noise.probability = 0.02;
}

static void greedy_sample(struct gen_dataset *d) {
    greedy(d);
    d->load_params.comm = MODEL_COMM_SAMPLE;
}

static void statistics_are_those_of_the_data(void **state) {
    (void)state;
    for (int sample = 0; sample < 2; sample++) {
        struct dataset s;
        struct read_vom_summary summary;
        hpcw_error err;
        char path[600];
        make(&s, sample ? greedy_sample : greedy);
        assert_int_equal(read_vom_summarise(s.vom, &summary, &err), HPCW_OK);
        struct compared c = {.summary = &summary};
        const struct read_vom_statistics_events events = {
            .context = &c, .quantity = compare_quantity, .phase_end = compare_phase};
        (void)snprintf(path, sizeof path, "%s/vom_balance/vt_lb_statistics.json.br", s.dir);
        if (read_vom_statistics_read(path, &events, &err) != HPCW_OK) {
            fail_msg("%s", err.message);
        }
        assert_int_equal(c.phase, summary.phases);
        assert_int_equal(c.migrations, (uint64_t)migrations_of(&s));
        assert_true(c.runs > 5 && c.after < c.before);
        read_vom_summary_free(&summary);
        drop(&s);
    }
}

/* A migratable task. */
struct gathered_task {
    uint64_t phase, id;
    double time;
};

struct gathered {
    struct listener at;
    double load[MOST_PHASES][RANKS]; /* unmigratable work, seconds */
    struct gathered_task *task;
    size_t count;
};

static hpcw_status gather_phase(void *context, uint64_t phase, hpcw_error *err) {
    return on_phase(&((struct gathered *)context)->at, phase, err);
}

static hpcw_status gather_task(void *context, const struct read_vom_task *task, hpcw_error *err) {
    struct gathered *g = context;
    (void)err;
    if (!task->entity.migratable) {
        g->load[g->at.phase][g->at.rank] += task->time;
        return HPCW_OK;
    }
    if ((g->count & (g->count + 1)) == 0) { /* full at 0, 1, 3, 7, ... */
        g->task = realloc(g->task, 2 * (g->count + 1) * sizeof *g->task);
        assert_non_null(g->task);
    }
    g->task[g->count++] = (struct gathered_task){g->at.phase, task->entity.id, task->time};
    return HPCW_OK;
}

static int by_phase_and_id(const void *a, const void *b) {
    const struct gathered_task *x = a;
    const struct gathered_task *y = b;
    return x->phase != y->phase ? (x->phase < y->phase ? -1 : 1) : x->id < y->id ? -1 : x->id > y->id;
}

static struct gathered_task *find_task(const struct gathered *g, uint64_t phase, uint64_t id) {
    const struct gathered_task key = {phase, id, 0};
    struct gathered_task *found = bsearch(&key, g->task, g->count, sizeof key, by_phase_and_id);
    assert_non_null(found);
    return found;
}

static struct gathered *gather(const struct dataset *s) {
    struct gathered *g = calloc(1, sizeof *g);
    assert_non_null(g);
    for (uint32_t r = 0; r < RANKS; r++) {
        char path[600];
        struct read_vom *reader;
        hpcw_error err;
        const struct read_vom_events events = {.context = g, .phase_begin = gather_phase, .task = gather_task};
        (void)snprintf(path, sizeof path, "%s/data.%u.json.br", s->vom, r);
        g->at.rank = r;
        if (read_vom_open(path, r, READ_VOM_STRICT, &reader, &err) != HPCW_OK ||
            read_vom_run(reader, UINT64_MAX, &events, &err) != HPCW_OK) {
            fail_msg("%s", err.message);
        }
        read_vom_free(reader);
    }
    qsort(g->task, g->count, sizeof *g->task, by_phase_and_id);
    return g;
}

static void listed(struct gen_dataset *d) {
    d->load_params.noise.probability =
        0; /* an interruption stays on its rank, while the object it hit may move */
    d->machine_params.slow_node_share = 0; /* so that an object takes equally long on each rank */
    d->noise_params = (struct sim_noise_params){0};
    d->vom_params.longest_first = true;
}

/* vom_balance/longest_first.csv lists a placement of the objects. With the times of the load data, this placement
 * has the imbalance that truth.json states. */
static void lists_reach_what_truth_says(void **state) {
    (void)state;
    struct dataset s;
    char path[600];
    uint64_t phase, id;
    uint32_t rank;
    make(&s, listed);
    struct gathered *g = gather(&s);
    (void)snprintf(path, sizeof path, "%s/vom_balance/longest_first.csv", s.dir);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "phase,id,rank"), 0);
    while (fscanf(file, "%" SCNu64 ",%" SCNu64 ",%" SCNu32, &phase, &id, &rank) == 3) {
        assert_true(phase < MOST_PHASES && rank < RANKS);
        struct gathered_task *t = find_task(g, phase, id);
        g->load[phase][rank] += t->time;
        t->time = 0; /* once */
    }
    (void)fclose(file);
    for (size_t i = 0; i < g->count; i++) {
        assert_true(g->task[i].time == 0);
    }
    const cJSON *one;
    cJSON_ArrayForEach(one, told(&s, "phases")) {
        double most = 0;
        for (uint32_t r = 0; r < RANKS; r++) {
            most = fmax(most, g->load[(size_t)number(one, "phase")][r]);
        }
        assert_true(fabs(most / number(one, "longest_first_max_s") - 1) < 1e-6);
    }
    free(g->task);
    free(g);
    drop(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(truth_is_true),
        cmocka_unit_test(a_spike_is_found),
        cmocka_unit_test(slow_nodes_are_found),
        cmocka_unit_test(kinds_are_as_measured),
        cmocka_unit_test(iterations_lead_to_placements),
        cmocka_unit_test(statistics_are_those_of_the_data),
        cmocka_unit_test(lists_reach_what_truth_says),
    };
    return cmocka_run_group_tests_name("vom", tests, NULL, NULL);
}
