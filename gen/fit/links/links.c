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
    struct gen_fit_twin *twin; /* NULL: collect facts only */
    struct gen_fit_rows rows;  /* sample of the result's rows, to which the twin is fitted */
    uint32_t *node;            /* [ranks] */
    /* [nodes] number of ranks of each node; the last node may have fewer */
    uint32_t *on_node;
    uint32_t nodes, ppn;
    double *time;                   /* [steps] times of one row, seconds */
    uint64_t *partner;              /* [steps] */
    struct gen_fit_timings half[2]; /* timings of the first and the second half of the run's time */
    /* [nodes] mean over a node's ranks of ln(seconds) of the fastest timing with another node */
    double *of_node;
};

static hpcw_status no_memory(const struct fit_links *l, hpcw_error *err) {
    return hpcw_i_fail_memory(err, read_sion_name(read_linktest_sion(l->reader)), l->info.tasks, "ranks");
}

/* ---- hosts ---- */

/* Numbers the hosts in the order in which ranks name them first. */
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

/* Learns the settings of the run, none of which is a measured value. */
static hpcw_status learn_settings(struct fit_links *l, hpcw_error *err) {
    hpcw_linktest_info i = l->info;
    struct gen_fit_twin *t = l->twin;
    i.retests = i.retests < i.tasks ? i.retests : i.tasks;
    i.permutations = i.randomized ? i.permutations : 0;
    hpcw_status s =
        gen_fit_learn_text(t, "linktest.kernel", hpcw_i_linktest_kernel_of(&i), GEN_FIT_PER_RUN, err);
    for (size_t k = 0; s == HPCW_OK && k < hpcw_i_linktest_field_count; k++) {
        const struct hpcw_i_linktest_field *f = &hpcw_i_linktest_fields[k];
        if (f->params != HPCW_I_LINKTEST_DERIVED && f->use != HPCW_I_LINKTEST_SEED) {
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

/* Splits the timings by time, not by rank: congestion changes over time and is alike for all ranks. */
static void add_row(struct fit_links *l, uint32_t rank, uint64_t first_step) {
    const uint32_t steps = l->info.steps;
    const uint64_t middle = l->info.permutations * steps / 2;
    struct gen_fit_row_so_far row[2] = {GEN_FIT_NO_ROW, GEN_FIT_NO_ROW};
    size_t last = 0;
    for (uint32_t i = 0; i < steps; i++) {
        const size_t h = first_step + i >= middle;
        row[h].before = row[last].before;
        gen_fit_timings_add(&l->half[h], &row[h], gen_fit_place_of(l->node[rank], l->node[l->partner[i]]),
                            l->time[i]);
        last = h;
    }
    gen_fit_timings_end(&l->half[0], &row[0]);
    gen_fit_timings_end(&l->half[1], &row[1]);
    const double fastest = fmin(row[0].fastest, row[1].fastest);
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

/* Returns the share of nodes with slow ports: their fastest timings are a fifth slower than those of the median
 * node. Mean timings also depend on a node's location in the network, so they are not used. */
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

/*
 * Samples of the two factors. A factor below 1 / samples counts as 0 (GEN_FIT_FACTOR).
 *
 * CLOCK_STEPS: number of steps of the clock in a timing. Assumed: a message of 10 us, and a clock of 1 ns. Without
 *     this limit, a twin of tcp-1g without noise (64 ranks) differs: its spread is 2e-5, that of the data is 0.
 * MOST_TIMINGS: one timing far out of so many does not count. Source: doc/fit.md, "Comparison". Without this limit,
 *     5 of 48 twins of the presets (16 and 256 ranks) differ, for instance by two timings far out of 240.
 */
enum { CLOCK_STEPS = 10000, MOST_TIMINGS = 100 };

static hpcw_status add_facts(struct fit_links *l, struct gen_fit_facts *facts, hpcw_error *err) {
    static const char *const name[GEN_FIT_TIMINGS] = {
        "time of a message in a node", "time of a message to a near node", "time of a message to a far node",
        "mean time of a rank with other nodes"};
    hpcw_status s = HPCW_OK;
    for (size_t i = 0; s == HPCW_OK && i < GEN_FIT_TIMINGS; i++) {
        struct gen_fit_fact fact = {
            .format = "linktest", .name = name[i], .unit = "s", .kind = GEN_FIT_MARGINAL};
        for (size_t h = 0; h < 2; h++) {
            fact.half[h] = l->half[h].sketch[i];
            l->half[h].sketch[i] = NULL;
        }
        s = gen_fit_facts_add(facts, &fact, err);
    }
    const struct {
        const char *name;
        double value, samples;
    } factor[] = {
        {"spread of times in a place", gen_fit_mean_spread(l->rows.spread), CLOCK_STEPS},
        {"times far out in their place", gen_fit_far_out(l->rows.spread),
         fmin(MOST_TIMINGS, (double)l->rows.count * l->info.steps)},
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
    struct gen_fit_pairs all = l->half[0].step;
    gen_fit_pairs_merge(&all, &l->half[1].step);
    return s == HPCW_OK
               ? gen_fit_facts_add(facts,
                                   &(struct gen_fit_fact){.format = "linktest",
                                                          .name = "times of a step and the next one",
                                                          .kind = GEN_FIT_CORRELATION,
                                                          .value = gen_fit_correlation(&all),
                                                          .part = {gen_fit_correlation(&l->half[0].step),
                                                                   gen_fit_correlation(&l->half[1].step)},
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
    const bool good = gen_fit_timings_init(&l->half[0]) && gen_fit_timings_init(&l->half[1]) &&
                      l->node != NULL && l->on_node != NULL && l->of_node != NULL && l->time != NULL &&
                      l->partner != NULL;
    return good ? HPCW_OK : no_memory(l, err);
}

static void free_links(struct fit_links *l) {
    gen_fit_timings_free(&l->half[0]);
    gen_fit_timings_free(&l->half[1]);
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
