/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/loads/sum.h"

#include <stdlib.h>
#include <string.h>

#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* What is known of an object while the phases of its rank are read. */
struct fit_seen {
    /* early: ln(seconds) of the object in the last phase whose number is a power of two. last: ln(seconds) in
     * the last phase. */
    double early, last;
    uint64_t phase, has_early;
};

/* ---- groups of phases ---- */

static hpcw_status new_sketch(struct gen_fit_sketch **s, double least, hpcw_error *err) {
    *s = gen_fit_sketch_new(least);
    return *s != NULL ? HPCW_OK : hpcw_i_fail_memory(err, NULL, 1, "sketches");
}

static void add_sums(struct gen_fit_load_group *to, const struct gen_fit_load_group *from) {
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
}

static void merge_group(struct gen_fit_load_group *to, struct gen_fit_load_group *from) {
    add_sums(to, from);
    struct gen_fit_sketch **const sketch[][2] = {{&to->time, &from->time}, {&to->rank, &from->rank}};
    for (size_t i = 0; i < sizeof sketch / sizeof sketch[0]; i++) {
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

/* Returns the group of a phase. If there are too many phases for the groups, doubles the number of phases in a
 * group first. */
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

/* ---- sums ---- */

static hpcw_status init_sums(struct gen_fit_loads *l, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    l->width = 1;
    for (size_t h = 0; h < 2; h++) {
        struct gen_fit_sketch **const sketch[] = {&l->objects[h], &l->bytes[h], &l->messages[h],
                                                  &l->senders[h]};
        for (size_t i = 0; s == HPCW_OK && i < sizeof sketch / sizeof sketch[0]; i++) {
            s = new_sketch(sketch[i], i < 3 ? 1 : 1e-3, err);
        }
    }
    return s;
}

hpcw_status gen_fit_sum_init(struct gen_fit_summing *g, struct gen_fit_loads *l, hpcw_error *err) {
    memset(l, 0, sizeof *l);
    *g = (struct gen_fit_summing){.l = l};
    g->seen = (struct hpcw_i_table){
        .key_words = 1, .value_size = sizeof(struct fit_seen), .seed = hpcw_i_table_random()};
    return init_sums(l, err);
}

void gen_fit_sum_free(struct gen_fit_summing *g) {
    hpcw_i_table_free(&g->seen);
    hpcw_i_free(g->task);
    hpcw_i_free(g->edge);
    hpcw_i_free(g->before);
}

void gen_fit_sum_rank(struct gen_fit_summing *g, uint32_t rank) {
    g->rank = rank;
    g->phases = 0;
    g->l->ranks++;
    hpcw_i_table_clear(&g->seen);
}

void gen_fit_sum_rank_end(struct gen_fit_summing *g) {
    struct gen_fit_loads *l = g->l;
    for (uint64_t k = g->phases; k < l->phases; k++) {
        g->before[k] = NAN;
    }
    if (l->ranks == 1) {
        l->first_phases = g->phases;
    } else if (g->phases != l->first_phases && l->uneven++ == 0) {
        l->uneven_rank = g->rank;
        l->uneven_phases = g->phases;
    }
}

hpcw_status gen_fit_sum_phase(struct gen_fit_summing *g, uint64_t phase, hpcw_error *err) {
    g->phase = phase;
    g->phases = phase + 1;
    g->tasks = g->edges = 0;
    g->seconds = 0;
    if (phase >= g->l->phases) {
        double *grown = hpcw_i_grow(g->before, &g->before_capacity, phase + 1, sizeof *grown);
        if (grown == NULL) {
            return hpcw_i_fail_memory(err, NULL, phase + 1, "phases");
        }
        g->before = grown;
        g->before[phase] = NAN;
        g->l->phases = phase + 1;
    }
    return HPCW_OK;
}

hpcw_status gen_fit_sum_task(struct gen_fit_summing *g, uint64_t id, double seconds, hpcw_error *err) {
    struct gen_fit_task *grown = hpcw_i_grow(g->task, &g->task_capacity, g->tasks + 1, sizeof *grown);
    if (grown == NULL) {
        return hpcw_i_fail_memory(err, NULL, g->tasks + 1, "tasks");
    }
    g->task = grown;
    g->task[g->tasks++] = (struct gen_fit_task){id, gen_fit_ln(fmax(seconds, GEN_FIT_LEAST_SECONDS))};
    g->seconds += seconds;
    struct gen_fit_load_group *p = group_of(g->l, g->phase, g->rank);
    hpcw_status s = p->time != NULL ? HPCW_OK : new_sketch(&p->time, GEN_FIT_LEAST_SECONDS, err);
    if (s == HPCW_OK) {
        gen_fit_sketch_add(p->time, seconds);
        p->seconds += seconds;
    }
    return s;
}

hpcw_status gen_fit_sum_edge(struct gen_fit_summing *g, uint64_t to, double bytes, double messages,
                             bool distant, hpcw_error *err) {
    struct gen_fit_loads *l = g->l;
    const size_t h = g->rank & 1;
    struct gen_fit_edge *grown = hpcw_i_grow(g->edge, &g->edge_capacity, g->edges + 1, sizeof *grown);
    if (grown == NULL) {
        return hpcw_i_fail_memory(err, NULL, g->edges + 1, "communications");
    }
    const double ln_bytes = gen_fit_ln(fmax(1, bytes));
    const double ln_messages = gen_fit_ln(fmax(1, messages));
    g->edge = grown;
    g->edge[g->edges++] = (struct gen_fit_edge){to, ln_bytes};
    l->edge.ln_bytes += ln_bytes;
    l->edge.ln_bytes_squares += ln_bytes * ln_bytes;
    l->edge.ln_messages += ln_messages;
    l->edge.ln_messages_squares += ln_messages * ln_messages;
    l->edge.element_bytes += bytes;
    l->edge.count[h]++;
    l->edge.distant[h] += distant;
    gen_fit_sketch_add(l->bytes[h], bytes);
    gen_fit_sketch_add(l->messages[h], messages);
    return HPCW_OK;
}

/* ---- a phase of a rank ---- */

/* Compares tasks by id. Edges are matched to tasks at the end of a phase, since the tasks of a phase follow its
 * communications. */
static int by_id(const void *a, const void *b) {
    const uint64_t x = ((const struct gen_fit_task *)a)->id;
    const uint64_t y = ((const struct gen_fit_task *)b)->id;
    return x < y ? -1 : x > y;
}

static void join_edges(struct gen_fit_summing *g) {
    struct gen_fit_load_group *p = group_of(g->l, g->phase, g->rank);
    for (size_t i = 0; i < g->edges; i++) {
        const struct gen_fit_task key = {.id = g->edge[i].to};
        const struct gen_fit_task *t = bsearch(&key, g->task, g->tasks, sizeof key, by_id);
        if (t != NULL) {
            gen_fit_pair(&p->edge, t->x, g->edge[i].ln_bytes);
        }
    }
}

static hpcw_status join_phases(struct gen_fit_summing *g, hpcw_error *err) {
    struct gen_fit_loads *l = g->l;
    const size_t h = g->rank & 1;
    struct gen_fit_load_group *p = group_of(l, g->phase, g->rank);
    for (size_t i = 0; i < g->tasks; i++) {
        const struct gen_fit_task *t = &g->task[i];
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
        /* Pairs of values in the phases 0 and 1 go to the group of phase 0. They show whether phase 0 is a
         * set-up. */
        if (was_here) {
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

static void sum_up_rank(struct gen_fit_summing *g) {
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

hpcw_status gen_fit_sum_end(struct gen_fit_summing *g, hpcw_error *err) {
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
