/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/links/links.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/fit/links/machine.h"
#include "gen/fit/pairs.h"
#include "gen/model/linktest/linktest.h"
#include "libreader/linktest/linktest.h"
#include "libwriter/base/detmath.h"
#include "libwriter/base/hash.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/base/table.h"
#include "libwriter/fields/linktest.h"

struct fit_links {
    struct read_linktest *reader;
    hpcw_linktest_info info;
    struct gen_fit_twin *twin; /* NULL: only facts */
    struct gen_fit_rows rows;  /* for the twin */
    uint32_t *node;            /* [ranks] */
    uint32_t *on_node;         /* [nodes] ranks of each; the last one may have fewer */
    uint32_t nodes, ppn;
    double *time;      /* [steps] of a row, seconds */
    uint64_t *partner; /* [steps] */
    struct gen_fit_sketch *place[GEN_FIT_PLACES][2];
    struct gen_fit_sketch *rank[2]; /* mean timings of ranks with other nodes */
    struct gen_fit_pairs step[2];   /* ln(seconds) of a timing with another node, and of the next step */
    double *of_node; /* [nodes] mean ln(seconds) of its ranks' fastest timings with other nodes */
};

static hpcw_status no_memory(const struct fit_links *l, hpcw_error *err) {
    return hpcw_i_fail_memory(err, read_sion_name(read_linktest_sion(l->reader)), l->info.tasks, "ranks");
}

/* ---- hosts ---- */

/* Numbers the hosts in the order of the ranks. */
static hpcw_status read_hosts(struct fit_links *l, hpcw_error *err) {
    struct hpcw_i_table seen = {.key_words = 1, .value_size = 8, .seed = hpcw_i_table_random()};
    char *host = hpcw_i_malloc(READ_LINKTEST_MOST_HOST);
    hpcw_status s = host != NULL ? HPCW_OK : no_memory(l, err);
    for (uint32_t r = 0; s == HPCW_OK && r < l->info.tasks; r++) {
        int32_t core;
        s = read_linktest_host(l->reader, r, host, &core, err);
        if (s == HPCW_OK) {
            bool fresh;
            const uint64_t key = hpcw_i_hash_text(host);
            uint64_t *number = hpcw_i_table_add(&seen, &key, &fresh);
            if (number == NULL) {
                s = no_memory(l, err);
            } else {
                *number = fresh ? l->nodes++ : *number;
                l->node[r] = (uint32_t)*number;
                l->on_node[*number]++;
                l->ppn = l->on_node[*number] > l->ppn ? l->on_node[*number] : l->ppn;
            }
        }
    }
    hpcw_i_free(host);
    hpcw_i_table_free(&seen);
    return s;
}

/* ---- settings ---- */

static hpcw_status learn_field(struct gen_fit_twin *t, const struct hpcw_i_linktest_field *f, uint64_t value,
                               hpcw_error *err) {
    char key[64], text[32];
    (void)snprintf(key, sizeof key, "linktest.%s", f->name);
    (void)snprintf(text, sizeof text, "%" PRIu64, value);
    return gen_fit_learn_text(t, key, text, GEN_FIT_PER_RUN, err);
}

/* The settings of the run: no measured values. */
static hpcw_status learn_settings(struct fit_links *l, hpcw_error *err) {
    hpcw_linktest_info i = l->info;
    struct gen_fit_twin *t = l->twin;
    i.retests = i.retests < i.tasks ? i.retests : i.tasks;
    i.permutations = i.randomized ? i.permutations : 0;
    hpcw_status s =
        gen_fit_learn_text(t, "linktest.kernel", hpcw_i_linktest_kernel_of(&i), GEN_FIT_PER_RUN, err);
    for (size_t k = 0; s == HPCW_OK && k < hpcw_i_linktest_field_count; k++) {
        const struct hpcw_i_linktest_field *f = &hpcw_i_linktest_fields[k];
        if (f->params != HPCW_I_LINKTEST_DERIVED && f->kind != HPCW_I_LINKTEST_SEED) {
            s = learn_field(t, f, hpcw_i_linktest_read(f, &i), err);
        }
    }
    for (size_t k = 0; s == HPCW_OK && hpcw_i_linktest_modes[k] != NULL; k++) {
        if (strcasecmp(hpcw_i_linktest_modes[k], i.mode) == 0) {
            s = gen_fit_learn_text(t, "linktest.mode", hpcw_i_linktest_modes[k], GEN_FIT_PER_RUN, err);
        }
    }
    return s;
}

/* ---- rows ---- */

/* The halves are those of the time: congestion changes with it, and is alike for all ranks. */
static void add_row(struct fit_links *l, uint32_t rank, uint64_t first_step) {
    const uint32_t steps = l->info.steps;
    const uint64_t middle = l->info.permutations * steps / 2;
    double sum[2] = {0};
    double count[2] = {0};
    double fastest = INFINITY;
    double before = NAN;
    for (uint32_t i = 0; i < steps; i++) {
        const size_t h = first_step + i >= middle;
        const enum gen_fit_place place = gen_fit_place_of(l->node[rank], l->node[l->partner[i]]);
        gen_fit_sketch_add(l->place[place][h], l->time[i]);
        const double ln = place == GEN_FIT_IN_NODE ? NAN : gen_fit_ln(fmax(GEN_FIT_LEAST_TIMING, l->time[i]));
        if (!isnan(ln)) {
            sum[h] += l->time[i];
            count[h]++;
            fastest = fmin(fastest, ln);
        }
        if (!isnan(ln) && !isnan(before)) {
            gen_fit_pair(&l->step[h], before, ln);
        }
        before = ln;
    }
    for (size_t h = 0; h < 2; h++) {
        if (count[h] > 0) {
            gen_fit_sketch_add(l->rank[h], sum[h] / count[h]);
        }
    }
    if (fastest < INFINITY) {
        l->of_node[l->node[rank]] += fastest;
    }
}

static hpcw_status check_row(const struct fit_links *l, uint32_t rank, hpcw_error *err) {
    for (uint32_t i = 0; i < l->info.steps; i++) {
        if (l->partner[i] >= l->info.tasks || l->partner[i] == rank ||
            !(l->time[i] > 0 && l->time[i] < INFINITY)) {
            return hpcw_i_fail(err, HPCW_EFORMAT,
                               "%s: rank %" PRIu32 ", step %" PRIu32 ": expected another rank below %" PRIu32
                               " and a finite time > 0, got rank %" PRIu64 " and %.17g",
                               read_sion_name(read_linktest_sion(l->reader)), rank, i, l->info.tasks,
                               l->partner[i], l->time[i]);
        }
    }
    return HPCW_OK;
}

static hpcw_status read_rows(struct fit_links *l, hpcw_error *err) {
    const uint32_t ranks = l->info.tasks;
    hpcw_status s = HPCW_OK;
    for (uint64_t p = 0; s == HPCW_OK && p < l->info.permutations; p++) {
        for (uint32_t r = 0; s == HPCW_OK && r < ranks; r++) {
            s = read_linktest_row(l->reader, r, p, l->time, l->partner, NULL, err);
            s = s == HPCW_OK ? check_row(l, r, err) : s;
            if (s == HPCW_OK) {
                add_row(l, r, p * l->info.steps);
                if (p == 0) {
                    gen_fit_rows_add(&l->rows, r, l->node, l->partner, l->time);
                }
            }
        }
    }
    gen_fit_rows_end(&l->rows);
    return s;
}

/* ---- parameters ---- */

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Nodes whose fastest timings are slower than the median one's by a fifth: slow ports. Their mean timings would also tell
 * where a node lies. */
static double slow_share(struct fit_links *l) {
    double slow = 0;
    qsort(l->of_node, l->nodes, sizeof *l->of_node, by_value);
    const double median = l->of_node[l->nodes / 2];
    for (uint32_t n = 0; n < l->nodes; n++) {
        slow += l->of_node[n] - median > 0.18;
    }
    return slow / l->nodes;
}

static hpcw_status learn_machine(struct fit_links *l, hpcw_error *err) {
    hpcw_status s = gen_fit_rows_learn_machine(&l->rows, l->twin, err);
    if (s == HPCW_OK && l->nodes >= 8) {
        s = gen_fit_learn(l->twin, "machine.bad_node_share", slow_share(l), GEN_FIT_PER_NODE, err);
    }
    if (l->nodes < 2) {
        gen_fit_remark(l->twin, "linktest: one node, so nothing about the network was learned");
    }
    s = s == HPCW_OK ? gen_fit_rows_learn_noise(&l->rows, l->twin, err) : s;
    s = s == HPCW_OK ? gen_fit_rows_learn_times(&l->rows, l->twin, err) : s;
    s = s == HPCW_OK ? gen_fit_rows_learn_job(&l->rows, l->twin, err) : s;
    return s == HPCW_OK ? gen_fit_rows_learn_delays(&l->rows, l->twin, err) : s;
}

/* ---- all ---- */

static hpcw_status add_facts(struct fit_links *l, struct gen_fit_facts *facts, hpcw_error *err) {
    static const char *const name[GEN_FIT_PLACES] = {
        "time of a message in a node", "time of a message to a near node", "time of a message to a far node"};
    hpcw_status s = HPCW_OK;
    for (size_t i = 0; i <= GEN_FIT_PLACES; i++) {
        struct gen_fit_sketch **half = i < GEN_FIT_PLACES ? l->place[i] : l->rank;
        if (s == HPCW_OK) {
            s = gen_fit_facts_add(facts,
                                  &(struct gen_fit_fact){.format = "linktest",
                                                         .name = i < GEN_FIT_PLACES
                                                                     ? name[i]
                                                                     : "mean time of a rank with other nodes",
                                                         .unit = "s",
                                                         .kind = GEN_FIT_MARGINAL,
                                                         .half = {half[0], half[1]}},
                                  err);
            half[0] = half[1] = NULL;
        }
    }
    const struct {
        const char *name;
        double value, samples;
    } factor[] = {
        /* What clocks do not resolve is no spread, and one in a hundred is hardly noticed. */
        {"spread of times in a place", gen_fit_mean_spread(l->rows.spread), 1e4},
        {"times far out in their place", gen_fit_far_out(l->rows.spread),
         fmin(100, (double)l->rows.count * l->info.steps)},
    };
    for (size_t i = 0; s == HPCW_OK && i < sizeof factor / sizeof factor[0]; i++) {
        s = gen_fit_facts_add(facts,
                              &(struct gen_fit_fact){.format = "linktest",
                                                     .name = factor[i].name,
                                                     .kind = GEN_FIT_FACTOR,
                                                     .value = factor[i].value,
                                                     .part = {NAN, NAN},
                                                     .samples = factor[i].samples},
                              err);
    }
    struct gen_fit_pairs all = l->step[0];
    gen_fit_pairs_merge(&all, &l->step[1]);
    return s == HPCW_OK ? gen_fit_facts_add(facts,
                                            &(struct gen_fit_fact){.format = "linktest",
                                                                   .name = "times of a step and the next one",
                                                                   .kind = GEN_FIT_CORRELATION,
                                                                   .value = gen_fit_correlation(&all),
                                                                   .part = {gen_fit_correlation(&l->step[0]),
                                                                            gen_fit_correlation(&l->step[1])},
                                                                   .samples = l->info.tasks},
                                            err)
                        : s;
}

static hpcw_status allocate(struct fit_links *l, hpcw_error *err) {
    const uint32_t ranks = l->info.tasks;
    const uint32_t slots = ranks > 1 ? ranks - 1 : 1;
    l->node = hpcw_i_calloc(ranks, sizeof *l->node);
    l->on_node = hpcw_i_calloc(ranks, sizeof *l->on_node);
    l->of_node = hpcw_i_calloc(ranks, sizeof *l->of_node);
    l->time = hpcw_i_calloc(slots, sizeof *l->time);
    l->partner = hpcw_i_calloc(slots, sizeof *l->partner);
    bool good =
        l->node != NULL && l->on_node != NULL && l->of_node != NULL && l->time != NULL && l->partner != NULL;
    struct gen_fit_sketch **const sketch[] = {&l->place[0][0], &l->place[0][1], &l->place[1][0],
                                              &l->place[1][1], &l->place[2][0], &l->place[2][1],
                                              &l->rank[0],     &l->rank[1]};
    for (size_t i = 0; good && i < sizeof sketch / sizeof sketch[0]; i++) {
        *sketch[i] = gen_fit_sketch_new(GEN_FIT_LEAST_TIMING);
        good = *sketch[i] != NULL;
    }
    return good ? HPCW_OK : no_memory(l, err);
}

static void free_links(struct fit_links *l) {
    for (size_t i = 0; i < GEN_FIT_PLACES; i++) {
        hpcw_i_free(l->place[i][0]);
        hpcw_i_free(l->place[i][1]);
    }
    hpcw_i_free(l->rank[0]);
    hpcw_i_free(l->rank[1]);
    hpcw_i_free(l->node);
    hpcw_i_free(l->on_node);
    hpcw_i_free(l->of_node);
    hpcw_i_free(l->time);
    hpcw_i_free(l->partner);
    gen_fit_rows_free(&l->rows);
    read_linktest_free(l->reader);
    hpcw_i_free(l);
}

hpcw_status gen_fit_links(const char *path, struct gen_fit_facts *facts, struct gen_fit_twin *twin,
                          hpcw_error *err) {
    struct fit_links *l = hpcw_i_calloc(1, sizeof *l);
    if (l == NULL) {
        return hpcw_i_fail_memory(err, path, 0, NULL);
    }
    l->twin = twin;
    hpcw_status s = read_linktest_open(path, &l->reader, err);
    if (s == HPCW_OK) {
        l->info = *read_linktest_info(l->reader);
        s = allocate(l, err);
    }
    s = s == HPCW_OK ? read_hosts(l, err) : s;
    s = s == HPCW_OK && twin != NULL ? learn_settings(l, err) : s;
    s = s == HPCW_OK ? gen_fit_rows_init(&l->rows, &l->info, l->ppn, err) : s;
    s = s == HPCW_OK ? read_rows(l, err) : s;
    for (uint32_t n = 0; s == HPCW_OK && n < l->nodes; n++) {
        l->of_node[n] /= l->on_node[n] * (double)l->info.permutations;
    }
    if (s == HPCW_OK && twin != NULL) {
        twin->ranks = l->info.tasks > twin->ranks ? l->info.tasks : twin->ranks;
        s = learn_machine(l, err);
    }
    s = s == HPCW_OK ? add_facts(l, facts, err) : s;
    free_links(l);
    return s;
}
