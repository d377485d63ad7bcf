/* SPDX-License-Identifier: BSD-3-Clause */
/* Figures of load data: objects, ranks, and communication. Makes two passes over the files: first tasks, then
 * communications, whose ends are tasks of other files. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libreader/vom/set/set.h"
#include "libreader/vom/vom.h"
#include "libwriter/base/status.h"
#include "tests/realism/figures.h"

enum { KINDS = 4 }; /* number of values of enum read_vom_control */

static const char *const kind_name[KINDS] = {"group", "handler", "element", "element"};

/* A task in a phase. */
struct object_figures {
    double time, bytes;
    uint32_t rank, kind;
};

struct load_figures {
    struct dataset *d;
    uint64_t phases; /* phases in the file of rank 0 */
    uint64_t phase;  /* the current phase */
    uint32_t rank;
    struct hpcw_i_table objects; /* (phase, id) -> struct object_figures */
    double *own;                 /* [phases] load of the rank, seconds */
    uint32_t *count;             /* [phases][ranks] number of migratable tasks */
    double fixed;                /* sum of ln(seconds) of the rank's unmigratable tasks */
    uint64_t fixed_count;
    double edge_bytes[KINDS][KINDS][2]; /* by kinds of both ends: within a rank, and between ranks */
    uint64_t edges[KINDS][KINDS][2];
    struct hpcw_i_table volumes; /* bytes of an edge between elements -> uint64_t count */
    bool *broadcast;             /* [phases] */
    uint64_t lost;               /* number of edges with an end that is no task of the phase */
};

static uint64_t id_of(const struct read_vom_entity *e) {
    return e->has_id ? e->id : e->seq_id;
}

/* ---- number of phases, from the first file ---- */

static hpcw_status count_phase(void *context, const struct read_vom_phase *p, hpcw_error *err) {
    (void)p;
    (void)err;
    ((struct load_figures *)context)->phases++;
    return HPCW_OK;
}

/* ---- tasks ---- */

static hpcw_status begin_phase(void *context, uint64_t number, hpcw_error *err) {
    (void)err;
    ((struct load_figures *)context)->phase = number;
    return HPCW_OK;
}

static hpcw_status take_task(void *context, const struct read_vom_task *t, hpcw_error *err) {
    struct load_figures *g = context;
    struct dataset *d = g->d;
    const uint64_t id = id_of(&t->entity);
    if (id == 0 || g->phase >= d->phases) {
        return HPCW_OK; /* id 0 means "no object" */
    }
    g->own[g->phase] += t->time;
    if (!t->entity.migratable && g->phase > 0 && t->time > 0) {
        g->fixed += log(t->time);
        g->fixed_count++;
    }
    const uint64_t key[] = {g->phase, id};
    struct object_figures *o = hpcw_i_table_add(&g->objects, key, NULL);
    if (o == NULL) {
        return hpcw_i_fail_memory(err, "load data", 0, "tasks");
    }
    *o = (struct object_figures){.time = t->time, .rank = g->rank, .kind = (uint32_t)(id & 3)};
    g->count[g->phase * d->ranks + g->rank] += t->entity.migratable;
    return HPCW_OK;
}

/* ---- communications ---- */

static hpcw_status take_edge(void *context, const struct read_vom_communication *c, hpcw_error *err) {
    struct load_figures *g = context;
    struct dataset *d = g->d;
    if (g->phase < d->phases && c->category == READ_VOM_BROADCAST) {
        g->broadcast[g->phase] = true;
    }
    if (c->category != READ_VOM_SEND_RECV || g->phase >= d->phases) {
        return HPCW_OK;
    }
    const uint64_t from_key[] = {g->phase, id_of(&c->from)};
    const uint64_t to_key[] = {g->phase, id_of(&c->to)};
    struct object_figures *from = hpcw_i_table_find(&g->objects, from_key);
    struct object_figures *to = hpcw_i_table_find(&g->objects, to_key);
    if (from == NULL || to == NULL) {
        g->lost += from_key[1] != 0 && to_key[1] != 0; /* 0 means "none" */
        return HPCW_OK;
    }
    const bool far = from->rank != to->rank;
    g->edge_bytes[from->kind][to->kind][far] += c->bytes;
    g->edges[from->kind][to->kind][far]++;
    const uint64_t volume = (uint64_t)c->bytes;
    if (kind_name[from->kind] == kind_name[READ_VOM_MIGRATABLE_ELEMENT] && from->kind == to->kind &&
        hpcw_i_table_add(&g->volumes, &volume, NULL) == NULL) {
        return hpcw_i_fail_memory(err, "load data", 0, "volumes");
    }
    from->bytes += c->bytes;
    if (from != to) {
        to->bytes += c->bytes;
    }
    if (far) {
        const uint64_t key[] = {g->phase, (uint64_t)from->rank << 32 | to->rank};
        struct dataset_flow *f = hpcw_i_table_add(&d->flows, key, NULL);
        if (f == NULL) {
            return hpcw_i_fail_memory(err, "load data", 0, "pairs of ranks");
        }
        f->load += c->bytes;
    }
    return HPCW_OK;
}

/* ---- files ---- */

static hpcw_status read_file(struct load_figures *g, struct read_vom_set *set, uint32_t rank,
                             const struct read_vom_events *events, hpcw_error *err) {
    struct read_vom *reader;
    hpcw_status s = read_vom_open(read_vom_set_path(set, rank), rank, 0, &reader, err);
    if (s == HPCW_OK) {
        g->rank = rank;
        s = read_vom_run(reader, UINT64_MAX, events, err);
        read_vom_free(reader);
    }
    return s;
}

static void keep_rank(struct load_figures *g) {
    struct dataset *d = g->d;
    for (uint64_t k = 0; k < d->phases; k++) {
        d->rank_load[g->rank] += g->own[k] / (double)d->phases;
        d->phase_load[k * d->ranks + g->rank] = g->own[k];
        g->own[k] = 0;
    }
    d->fixed_load[g->rank] = g->fixed_count > 0 ? g->fixed / (double)g->fixed_count : NAN;
    g->fixed = 0;
    g->fixed_count = 0;
}

static hpcw_status read_all(struct load_figures *g, struct read_vom_set *set, hpcw_error *err) {
    const struct read_vom_events tasks = {.context = g, .phase_begin = begin_phase, .task = take_task};
    const struct read_vom_events edges = {.context = g, .phase_begin = begin_phase, .communication = take_edge};
    hpcw_status s = HPCW_OK;
    for (uint32_t r = 0; s == HPCW_OK && r < set->ranks; r++) {
        s = read_file(g, set, r, &tasks, err);
        keep_rank(g);
    }
    for (uint32_t r = 0; s == HPCW_OK && r < set->ranks; r++) {
        s = read_file(g, set, r, &edges, err);
    }
    return s;
}

/* ---- figures ---- */

/* Returns whether a phase is in the second half of the run. Only this half is compared with measured data. */
static bool is_late(const struct dataset *d, uint64_t phase) {
    return 2 * phase + 1 >= d->phases;
}

static void put_objects(const struct load_figures *g) {
    const struct dataset *d = g->d;
    struct stats_pairs *size = stats_alloc(d->phases, sizeof *size);
    struct stats_pairs *next = stats_alloc(d->phases, sizeof *next);
    struct stats_pairs *plain = stats_alloc(d->phases, sizeof *plain);
    uint64_t key[HPCW_I_TABLE_KEY];
    uint64_t moved = 0;
    uint64_t stayed = 0;
    const struct object_figures *o;
    for (size_t at = 0; (o = hpcw_i_table_next(&g->objects, &at, key)) != NULL;) {
        if (kind_name[o->kind] != kind_name[READ_VOM_MIGRATABLE_ELEMENT] || o->time <= 0) {
            continue;
        }
        stats_pair(&plain[key[0]], o->time, log(o->time));
        if (o->bytes > 0) {
            stats_pair(&size[key[0]], log(o->time), log(o->bytes));
        }
        const uint64_t after[] = {key[0] + 1, key[1]};
        const struct object_figures *n = hpcw_i_table_find(&g->objects, after);
        if (n != NULL && n->time > 0) {
            stats_pair(&next[key[0]], log(o->time), log(n->time));
            moved += n->rank != o->rank;
            stayed += n->rank == o->rank;
        }
    }
    double sum[4] = {0};
    double phases[4] = {0};
    for (uint64_t k = 0; k < d->phases; k++) {
        if (!is_late(d, k)) {
            continue;
        }
        const struct stats_pairs *const from[] = {&size[k], &next[k], &plain[k], &plain[k]};
        const double value[] = {stats_correlation(&size[k]), stats_correlation(&next[k]),
                                plain[k].n > 0 ? sqrt(plain[k].xx / plain[k].n) / plain[k].x : 0,
                                plain[k].n > 0 ? sqrt(plain[k].yy / plain[k].n) : 0};
        for (int i = 0; i < 4; i++) {
            sum[i] += from[i]->n > 2 ? value[i] : 0;
            phases[i] += from[i]->n > 2;
        }
    }
    if (phases[0] > 0) {
        figure("load.bytes_correlation", sum[0] / phases[0],
               "objects: correlation of ln(load) and ln(bytes sent and received) in a phase");
    }
    if (phases[1] > 0) {
        figure("load.persistence", sum[1] / phases[1],
               "objects: correlation of ln(load) with the next phase of the file");
        figure("load.migrations", (double)moved / (double)(moved + stayed),
               "objects: share that is on another rank in the next phase of the file");
    }
    if (phases[2] > 0) {
        figure("load.object_cv", sum[2] / phases[2], "objects: coefficient of variation of the load");
        figure("load.object_spread", sum[3] / phases[3], "objects: standard deviation of ln(load)");
    }
    free(size);
    free(next);
    free(plain);
}

/* Prints how much objects change from phase to phase at the end of the run, relative to the phase with the largest
 * change. The change of a phase is the median over the objects of |ln(ratio of times)|. Phase 0, the set-up, does
 * not count. */
static void put_change(const struct load_figures *g) {
    const uint64_t phases = g->d->phases;
    double *change = stats_alloc(g->objects.count, sizeof *change);
    double *of_phase = stats_alloc(phases, sizeof *of_phase);
    uint64_t key[HPCW_I_TABLE_KEY];
    double most = 0;
    for (uint64_t k = 1; k + 1 < phases; k++) {
        const struct object_figures *o;
        size_t n = 0;
        for (size_t at = 0; (o = hpcw_i_table_next(&g->objects, &at, key)) != NULL;) {
            const uint64_t after[] = {k + 1, key[1]};
            const struct object_figures *next =
                key[0] == k && kind_name[o->kind] == kind_name[READ_VOM_MIGRATABLE_ELEMENT]
                    ? hpcw_i_table_find(&g->objects, after)
                    : NULL;
            if (next != NULL && o->time > 0 && next->time > 0) {
                change[n++] = fabs(log(next->time / o->time));
            }
        }
        of_phase[k] = stats_median(change, n);
        most = fmax(most, of_phase[k]);
    }
    if (phases > 5) {
        const uint64_t last = (phases - 2) / 3;
        const double end = stats_median(of_phase + phases - 1 - last, last);
        figure("load.change_fall", most / end,
               "objects: the load changes by %.2g of ln at most from phase to phase, by %.2g at the end", most,
               end);
    }
    free(change);
    free(of_phase);
}

static void put_ranks(const struct load_figures *g) {
    const struct dataset *d = g->d;
    double lag[3] = {0};
    double cv = 0;
    double imbalance = 0;
    double phases = 0;
    uint32_t fewest = UINT32_MAX;
    uint32_t most = 0;
    for (uint64_t k = 0; k < d->phases; k++) {
        if (!is_late(d, k)) {
            continue;
        }
        const double *load = d->phase_load + k * d->ranks;
        struct stats_pairs p[3] = {{0}};
        double max = 0;
        for (uint32_t r = 0; r < d->ranks; r++) {
            for (uint32_t l = 0; l < 3 && r + l < d->ranks; l++) {
                stats_pair(&p[l], load[r], load[r + l]);
            }
            const uint32_t n = g->count[k * d->ranks + r];
            fewest = n < fewest ? n : fewest;
            most = n > most ? n : most;
            max = fmax(max, load[r]);
        }
        if (p[0].x > 0) {
            phases++;
            cv += sqrt(p[0].xx / p[0].n) / p[0].x;
            imbalance += max / p[0].x - 1;
            lag[1] += stats_correlation(&p[1]);
            lag[2] += stats_correlation(&p[2]);
        }
    }
    if (phases > 0 && d->ranks > 3) {
        figure("load.lag_1", lag[1] / phases, "ranks: correlation of the load with the next rank's");
        figure("load.lag_2", lag[2] / phases,
               "ranks: correlation of the load with that of the rank after next");
        figure("load.rank_cv", cv / phases, "ranks: coefficient of variation of the load");
        figure("load.imbalance", imbalance / phases, "ranks: most load of the mean, less 1");
        figure("load.counts", (double)most - fewest,
               "ranks: from %" PRIu32 " to %" PRIu32 " migratable objects", fewest, most);
    }
}

/* Prints figures of the injected imbalance, as truth.json describes it: whether its phases are in the files, and
 * how far a hot spot moves in a step. */
static void put_scenario(const struct dataset *d) {
    const cJSON *scenario = cJSON_GetObjectItem(cJSON_GetObjectItem(d->truth, "vom"), "scenario");
    const cJSON *first = cJSON_GetObjectItem(scenario, "first_phase");
    const cJSON *phases = cJSON_GetObjectItem(scenario, "phases");
    if (!cJSON_IsNumber(first) || !cJSON_IsNumber(phases) || first->valuedouble < 1) {
        return;
    }
    const uint64_t begin = (uint64_t)first->valuedouble;
    const uint64_t end = begin + (uint64_t)phases->valuedouble;
    figure("scenario.outside", end > d->phases ? (double)(end - d->phases) : 0,
           "truth.json: phases %" PRIu64 " to %" PRIu64 ", the files have %" PRIu64, begin, end - 1, d->phases);
    figure("scenario.first", (double)begin, "first phase of the scenario");
    const cJSON *radius = cJSON_GetObjectItem(scenario, "radius");
    const cJSON *step = cJSON_GetObjectItem(scenario, "centre_step");
    if (cJSON_IsNumber(radius) && cJSON_IsNumber(step)) {
        figure("scenario.jump", step->valuedouble / radius->valuedouble, "steps of the hot spot, in radii");
    }
    figure("scenario.last", (double)end - 1, "last phase of the scenario");
}

static void put_phases(const struct dataset *d) {
    for (uint64_t k = 0; k < d->phases; k++) {
        const double *load = d->phase_load + k * d->ranks;
        double most = 0;
        double sum = 0;
        char phase[24];
        for (uint32_t r = 0; r < d->ranks; r++) {
            most = fmax(most, load[r]);
            sum += load[r];
        }
        (void)snprintf(phase, sizeof phase, "%" PRIu64, k);
        figure_of("load.longest_in.*", phase, most, "the most load of a rank in this phase, seconds");
        figure_of("load.imbalance_in.*", phase, sum > 0 ? most * d->ranks / sum - 1 : 0,
                  "imbalance in this phase");
    }
}

static void put_edges(const struct load_figures *g) {
    double all = 0;
    double far = 0;
    uint64_t broadcasts = 0;
    for (int a = 0; a < KINDS; a++) {
        for (int b = 0; b < KINDS; b++) {
            far += g->edge_bytes[a][b][1];
            all += g->edge_bytes[a][b][0] + g->edge_bytes[a][b][1];
        }
    }
    for (uint64_t k = 0; k < g->d->phases; k++) {
        broadcasts += g->broadcast[k];
    }
    if (all <= 0) {
        return;
    }
    figure("load.far_bytes", far / all, "%.1f %% of the bytes of SendRecv leave the rank", 100 * far / all);
    figure("load.lost_ends", (double)g->lost, "ends of SendRecv that are no task of the phase");
    if (g->volumes.count > 0) {
        figure("load.volumes", (double)g->volumes.count, "different volumes of edges between objects");
    }
    figure("load.broadcasts", (double)broadcasts / (double)g->d->phases, "phases with a broadcast");
    /* Migratable and unmigratable elements count as one kind. */
    for (int a = 0; a < KINDS - 1; a++) {
        for (int b = 0; b < KINDS - 1; b++) {
            char name[32];
            double bytes = 0;
            uint64_t edges = 0;
            for (int i = a; i < (a == 2 ? KINDS : a + 1); i++) {
                for (int j = b; j < (b == 2 ? KINDS : b + 1); j++) {
                    bytes += g->edge_bytes[i][j][0] + g->edge_bytes[i][j][1];
                    edges += g->edges[i][j][0] + g->edges[i][j][1];
                }
            }
            (void)snprintf(name, sizeof name, "%s-%s", kind_name[a], kind_name[b]);
            figure_of("load.bytes_of.*", name, bytes / all, "share of the bytes of SendRecv, %" PRIu64 " edges",
                      edges);
        }
    }
}

hpcw_status figures_load(const char *directory, struct dataset *d, hpcw_error *err) {
    struct load_figures g = {.d = d};
    struct read_vom_set set;
    hpcw_status s = read_vom_set_open(directory, false, &set, err);
    if (s != HPCW_OK) {
        return s;
    }
    if (d->ranks != 0 && d->ranks != set.ranks) {
        s = hpcw_i_fail(err, HPCW_EMISMATCH,
                        "%s: ranks: expected %" PRIu32 " as in the other files, got %" PRIu32, directory,
                        d->ranks, set.ranks);
        read_vom_set_close(&set);
        return s;
    }
    const struct read_vom_events count = {.context = &g, .phase_end = count_phase};
    s = read_file(&g, &set, 0, &count, err);
    d->ranks = set.ranks;
    d->phases = g.phases;
    g.volumes = (struct hpcw_i_table){.key_words = 1, .value_size = sizeof(uint64_t)};
    g.objects = (struct hpcw_i_table){.key_words = 2, .value_size = sizeof(struct object_figures)};
    d->rank_load = stats_alloc(d->ranks, sizeof *d->rank_load);
    d->fixed_load = stats_alloc(d->ranks, sizeof *d->fixed_load);
    d->phase_load = stats_alloc(d->phases * d->ranks, sizeof *d->phase_load);
    g.count = stats_alloc(d->phases * d->ranks, sizeof *g.count);
    g.own = stats_alloc(d->phases, sizeof *g.own);
    g.broadcast = stats_alloc(d->phases, sizeof *g.broadcast);
    s = s == HPCW_OK ? read_all(&g, &set, err) : s;
    if (s == HPCW_OK) {
        put_objects(&g);
        put_change(&g);
        put_ranks(&g);
        put_edges(&g);
        put_phases(d);
        put_scenario(d);
    }
    hpcw_i_table_free(&g.objects);
    hpcw_i_table_free(&g.volumes);
    free(g.own);
    free(g.count);
    free(g.broadcast);
    read_vom_set_close(&set);
    return s;
}
