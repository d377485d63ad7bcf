/* SPDX-License-Identifier: BSD-3-Clause */
/* One pass over load data. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "gen/fit/loads.h"
#include "libreader/vom/set/set.h"
#include "libreader/vom/vom.h"
#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/base/table.h"

struct fit_task {
    uint64_t id;
    double x;
};
struct fit_edge {
    uint64_t to;
    double ln_bytes;
};
/* What is remembered of an object while its rank is read. */
struct fit_seen {
    double early, last; /* x in the last phase that is a power of two, and in the last one */
    uint64_t phase, has_early;
};

struct fit_reading {
    struct gen_fit_loads *l;
    const struct read_vom *reader;
    uint32_t rank;
    uint64_t phase;
    struct hpcw_i_table seen;        /* id -> struct fit_seen */
    struct hpcw_i_table collections; /* of the first rank */
    struct fit_task *task;           /* of the phase */
    size_t tasks, task_capacity;
    struct fit_edge *edge;
    size_t edges, edge_capacity;
    double seconds; /* of the rank in the phase */
    double *before; /* [phases of rank 0] mean x of the rank before; NaN without tasks */
    size_t before_capacity;
};

static uint64_t id_of(const struct read_vom_entity *e) {
    return e->has_id ? e->id : e->seq_id;
}

static bool is_migratable(const struct read_vom_entity *e) {
    return e->has_migratable ? e->migratable : (id_of(e) & 3) == READ_VOM_MIGRATABLE_ELEMENT;
}

/* ---- groups of phases ---- */

static hpcw_status new_sketch(struct gen_fit_sketch **s, double least, hpcw_error *err) {
    *s = gen_fit_sketch_new(least);
    return *s != NULL ? HPCW_OK : hpcw_i_fail_memory(err, NULL, 1, "sketches");
}

static void merge_group(struct gen_fit_load_group *to, struct gen_fit_load_group *from) {
    to->tasks += from->tasks;
    to->seconds += from->seconds;
    to->x += from->x;
    to->xx += from->xx;
    to->ranks += from->ranks;
    to->nn += from->nn;
    to->nx += from->nx;
    to->ss += from->ss;
    gen_fit_pairs_merge(&to->next, &from->next);
    gen_fit_pairs_merge(&to->early, &from->early);
    gen_fit_pairs_merge(&to->neighbour, &from->neighbour);
    gen_fit_pairs_merge(&to->edge, &from->edge);
    struct gen_fit_sketch **const sketch[][2] = {{&to->time, &from->time}, {&to->rank, &from->rank}};
    for (size_t i = 0; i < 2; i++) {
        if (*sketch[i][0] == NULL) {
            *sketch[i][0] = *sketch[i][1];
            *sketch[i][1] = NULL;
        } else if (*sketch[i][1] != NULL) {
            gen_fit_sketch_merge(*sketch[i][0], *sketch[i][1], 1);
        }
        hpcw_i_free(*sketch[i][1]);
    }
    memset(from, 0, sizeof *from);
}

/* The group of a phase. As long as there are too many phases, groups become twice as wide. */
static struct gen_fit_load_group *group_of(struct gen_fit_loads *l, uint64_t phase, uint32_t rank) {
    while (phase > 0 && (phase - 1) / l->width >= GEN_FIT_GROUPS - 1) {
        for (size_t i = 2; i < GEN_FIT_GROUPS; i++) {
            for (size_t h = 0; h < 2; h++) {
                merge_group(&l->group[1 + (i - 1) / 2][h], &l->group[i][h]);
            }
        }
        l->width *= 2;
    }
    return &l->group[phase == 0 ? 0 : 1 + (phase - 1) / l->width][rank & 1];
}

/* ---- events ---- */

static hpcw_status take_metadata(void *context, const struct read_vom_metadata *m, hpcw_error *err) {
    (void)err;
    struct gen_fit_loads *l = ((struct fit_reading *)context)->l;
    l->ppn = l->ppn == 0 && m->has_shared_node ? m->shared_node.size : l->ppn;
    return HPCW_OK;
}

static hpcw_status begin_phase(void *context, uint64_t number, hpcw_error *err) {
    struct fit_reading *g = context;
    g->phase = number;
    g->tasks = g->edges = 0;
    g->seconds = 0;
    if (g->rank == 0) {
        double *grown = hpcw_i_grow(g->before, &g->before_capacity, number + 1, sizeof *grown);
        if (grown == NULL) {
            return hpcw_i_fail_memory(err, NULL, number + 1, "phases");
        }
        g->before = grown;
        g->before[number] = NAN;
        g->l->phases = number + 1;
    }
    return number < g->l->phases
               ? HPCW_OK
               : read_vom_wrong(g->reader, err,
                                "expected %" PRIu64 " phases as in the file of rank 0, got more", g->l->phases);
}

static void take_shape(struct gen_fit_loads *l, const struct read_vom_task *t) {
    const struct read_vom_entity *e = &t->entity;
    l->subphases_tasks += t->has_subphases;
    l->subphases += t->has_subphases ? t->subphases : 0;
    l->indexed += e->dimensions > 0;
    l->dimensions += e->dimensions;
    l->unread_user_defined += (double)t->user_defined.count;
}

static hpcw_status take_task(void *context, const struct read_vom_task *t, hpcw_error *err) {
    struct fit_reading *g = context;
    const uint64_t id = id_of(&t->entity);
    if (id == 0) {
        return HPCW_OK; /* stands for "none" */
    }
    if (!is_migratable(&t->entity)) {
        g->l->groups += t->entity.has_id && (id & 3) == READ_VOM_GROUP;
        return HPCW_OK;
    }
    take_shape(g->l, t);
    if (g->rank == 0 && t->entity.has_collection_id &&
        hpcw_i_table_add(&g->collections, &t->entity.collection_id, NULL) == NULL) {
        return hpcw_i_fail_memory(err, NULL, g->collections.count, "collections");
    }
    struct fit_task *grown = hpcw_i_grow(g->task, &g->task_capacity, g->tasks + 1, sizeof *grown);
    if (grown == NULL) {
        return hpcw_i_fail_memory(err, NULL, g->tasks + 1, "tasks");
    }
    g->task = grown;
    g->task[g->tasks++] = (struct fit_task){id, gen_fit_ln(fmax(t->time, GEN_FIT_LEAST_SECONDS))};
    g->seconds += t->time;
    struct gen_fit_load_group *p = group_of(g->l, g->phase, g->rank);
    if (p->time == NULL) {
        hpcw_status s = new_sketch(&p->time, GEN_FIT_LEAST_SECONDS, err);
        if (s != HPCW_OK) {
            return s;
        }
    }
    gen_fit_sketch_add(p->time, t->time);
    p->seconds += t->time;
    return HPCW_OK;
}

static hpcw_status take_edge(void *context, const struct read_vom_communication *c, hpcw_error *err) {
    struct fit_reading *g = context;
    struct gen_fit_loads *l = g->l;
    const size_t h = g->rank & 1;
    if (c->category != READ_VOM_SEND_RECV || !is_migratable(&c->from) || id_of(&c->from) == id_of(&c->to)) {
        return HPCW_OK;
    }
    if (!is_migratable(&c->to)) {
        l->group_bytes += c->to.has_id && (id_of(&c->to) & 3) == READ_VOM_GROUP ? c->bytes : 0;
        return HPCW_OK;
    }
    struct fit_edge *grown = hpcw_i_grow(g->edge, &g->edge_capacity, g->edges + 1, sizeof *grown);
    if (grown == NULL) {
        return hpcw_i_fail_memory(err, NULL, g->edges + 1, "communications");
    }
    g->edge = grown;
    g->edge[g->edges++] = (struct fit_edge){id_of(&c->to), gen_fit_ln(fmax(1, c->bytes))};
    const double ln_bytes = g->edge[g->edges - 1].ln_bytes;
    const double ln_messages = gen_fit_ln(fmax(1, (double)c->messages));
    l->ln_bytes += ln_bytes;
    l->ln_bytes_squares += ln_bytes * ln_bytes;
    l->ln_messages += ln_messages;
    l->ln_messages_squares += ln_messages * ln_messages;
    l->element_bytes += c->bytes;
    l->edges[h]++;
    l->distant[h] += c->from.has_home && c->to.has_home && c->from.home != c->to.home;
    gen_fit_sketch_add(l->bytes[h], c->bytes);
    gen_fit_sketch_add(l->messages[h], (double)c->messages);
    return HPCW_OK;
}

/* ---- a phase of a rank ---- */

/* Edges with their tasks: the tasks of a phase follow its communications. */
static int by_id(const void *a, const void *b) {
    const uint64_t x = ((const struct fit_task *)a)->id;
    const uint64_t y = ((const struct fit_task *)b)->id;
    return x < y ? -1 : x > y;
}

static void join_edges(struct fit_reading *g) {
    struct gen_fit_load_group *p = group_of(g->l, g->phase, g->rank);
    for (size_t i = 0; i < g->edges; i++) {
        const struct fit_task key = {.id = g->edge[i].to};
        const struct fit_task *t = bsearch(&key, g->task, g->tasks, sizeof key, by_id);
        if (t != NULL) {
            gen_fit_pair(&p->edge, t->x, g->edge[i].ln_bytes);
        }
    }
}

static hpcw_status join_phases(struct fit_reading *g, hpcw_error *err) {
    struct gen_fit_loads *l = g->l;
    const size_t h = g->rank & 1;
    struct gen_fit_load_group *p = group_of(l, g->phase, g->rank);
    for (size_t i = 0; i < g->tasks; i++) {
        const struct fit_task *t = &g->task[i];
        bool fresh;
        struct fit_seen *seen = hpcw_i_table_add(&g->seen, &t->id, &fresh);
        if (seen == NULL) {
            return hpcw_i_fail_memory(err, NULL, g->seen.count, "objects");
        }
        const bool was_here = !fresh && seen->phase + 1 == g->phase;
        if (g->phase > 0) {
            l->stayed[h] += was_here;
            l->arrived[h] += !was_here;
        }
        if (was_here) { /* with the set-up in the group of phase 0, to tell whether that is one */
            gen_fit_pair(g->phase == 1 ? &l->group[0][h].next : &p->next, seen->last, t->x);
        }
        if (seen->has_early) {
            gen_fit_pair(&p->early, seen->early, t->x);
        }
        if ((g->phase & (g->phase - 1)) == 0 && g->phase > 0) {
            seen->early = t->x;
            seen->has_early = 1;
        }
        seen->last = t->x;
        seen->phase = g->phase;
    }
    return HPCW_OK;
}

static void sum_up_rank(struct fit_reading *g) {
    struct gen_fit_load_group *p = group_of(g->l, g->phase, g->rank);
    const double n = (double)g->tasks;
    double sum = 0;
    for (size_t i = 0; i < g->tasks; i++) {
        sum += g->task[i].x;
        p->xx += g->task[i].x * g->task[i].x;
    }
    p->tasks += n;
    p->x += sum;
    p->ranks++;
    p->nn += n * n;
    p->nx += n * sum;
    p->ss += sum * sum;
    const double mean = g->tasks > 0 ? sum / n : NAN;
    if (g->rank > 0 && !isnan(mean) && !isnan(g->before[g->phase])) {
        gen_fit_pair(&p->neighbour, g->before[g->phase], mean);
    }
    g->before[g->phase] = mean;
}

static hpcw_status end_phase(void *context, const struct read_vom_phase *phase, hpcw_error *err) {
    (void)phase;
    struct fit_reading *g = context;
    struct gen_fit_loads *l = g->l;
    const size_t h = g->rank & 1;
    if (g->tasks > 0) {
        qsort(g->task, g->tasks, sizeof *g->task, by_id);
    }
    struct gen_fit_load_group *p = group_of(l, g->phase, g->rank);
    hpcw_status s = p->rank != NULL ? HPCW_OK : new_sketch(&p->rank, GEN_FIT_LEAST_SECONDS, err);
    s = s == HPCW_OK ? join_phases(g, err) : s;
    if (s != HPCW_OK) {
        return s;
    }
    join_edges(g);
    sum_up_rank(g);
    gen_fit_sketch_add(p->rank, g->seconds);
    gen_fit_sketch_add(l->objects[h], (double)g->tasks);
    if (g->tasks > 0) {
        gen_fit_sketch_add(l->senders[h], (double)g->edges / (double)g->tasks);
    }
    l->counts++;
    l->count_sum += (double)g->tasks;
    l->count_squares += (double)g->tasks * (double)g->tasks;
    return HPCW_OK;
}

/* ---- files ---- */

static hpcw_status read_rank(struct fit_reading *g, const char *path, uint32_t rank, hpcw_error *err) {
    const struct read_vom_events events = {.context = g,
                                           .metadata = take_metadata,
                                           .phase_begin = begin_phase,
                                           .task = take_task,
                                           .communication = take_edge,
                                           .phase_end = end_phase};
    struct read_vom *reader;
    hpcw_status s = read_vom_open(path, rank, 0, &reader, err);
    if (s != HPCW_OK) {
        return s;
    }
    g->reader = reader;
    g->rank = rank == READ_VOM_ANY_RANK ? 0 : rank;
    hpcw_i_table_clear(&g->seen);
    s = read_vom_run(reader, UINT64_MAX, &events, err);
    struct read_vom_facts facts;
    read_vom_facts(reader, &facts);
    if (s == HPCW_OK && facts.phases != g->l->phases) {
        s = hpcw_i_fail(err, HPCW_EFORMAT,
                        "%s: expected %" PRIu64 " phases as in the file of rank 0, got %" PRIu64, path,
                        g->l->phases, facts.phases);
    } else if (s == HPCW_ENOMEM) {
        hpcw_i_fail_about(err, path);
    }
    g->l->ranks++;
    read_vom_free(reader);
    return s;
}

static hpcw_status read_set(struct fit_reading *g, const char *path, hpcw_error *err) {
    struct stat st;
    if (stat(path, &st) != 0) {
        return hpcw_i_fail_sys(err, errno, "%s: cannot look at it", path);
    }
    if (!S_ISDIR(st.st_mode)) {
        return read_rank(g, path, READ_VOM_ANY_RANK, err);
    }
    struct read_vom_set set;
    hpcw_status s = read_vom_set_open(path, false, &set, err);
    for (uint32_t r = 0; s == HPCW_OK && r < set.ranks; r++) {
        s = read_rank(g, read_vom_set_path(&set, r), r, err);
    }
    if (s == HPCW_OK || set.directory != NULL) {
        read_vom_set_close(&set);
    }
    return s;
}

hpcw_status gen_fit_loads_read(const char *path, struct gen_fit_loads *l, hpcw_error *err) {
    *l = (struct gen_fit_loads){.width = 1};
    struct fit_reading g = {.l = l};
    g.seen = (struct hpcw_i_table){
        .key_words = 1, .value_size = sizeof(struct fit_seen), .seed = hpcw_i_table_random()};
    g.collections = (struct hpcw_i_table){.key_words = 1, .seed = hpcw_i_table_random()};
    hpcw_status s = HPCW_OK;
    for (size_t h = 0; h < 2; h++) {
        struct gen_fit_sketch **const sketch[] = {&l->objects[h], &l->bytes[h], &l->messages[h],
                                                  &l->senders[h]};
        for (size_t i = 0; s == HPCW_OK && i < sizeof sketch / sizeof sketch[0]; i++) {
            s = new_sketch(sketch[i], i < 3 ? 1 : 1e-3, err);
        }
    }
    s = s == HPCW_OK ? read_set(&g, path, err) : s;
    if (s == HPCW_OK && l->counts == 0) {
        s = hpcw_i_fail(err, HPCW_EFORMAT, "%s: expected at least one phase, got none", path);
    }
    l->collections = (double)g.collections.count;
    hpcw_i_table_free(&g.seen);
    hpcw_i_table_free(&g.collections);
    hpcw_i_free(g.task);
    hpcw_i_free(g.edge);
    hpcw_i_free(g.before);
    return s;
}

void gen_fit_loads_free(struct gen_fit_loads *l) {
    for (size_t h = 0; h < 2; h++) {
        for (size_t i = 0; i < GEN_FIT_GROUPS; i++) {
            hpcw_i_free(l->group[i][h].time);
            hpcw_i_free(l->group[i][h].rank);
        }
        hpcw_i_free(l->objects[h]);
        hpcw_i_free(l->bytes[h]);
        hpcw_i_free(l->messages[h]);
        hpcw_i_free(l->senders[h]);
    }
    *l = (struct gen_fit_loads){0};
}
