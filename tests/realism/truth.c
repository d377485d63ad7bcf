/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of truth.json: compares the visibility that hpcgen states with the visibility in the files (doc/truth.md,
 * "Visibility"). */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <hpcw/rank2file.h>

#include "tests/realism/figures.h"

enum { KINDS = 32, FEW = 8, MOST_NODES = 128, MOST_ROWS = 512 };

/* Relative errors of a visibility are relative to at least this number of standard deviations. For fainter faults,
 * they would be mostly noise. */
#define LEAST_SD 2.0
/* Returns the number of standard deviations from which a fault is visible. It is larger for outliers and
 * interruptions: there are many single timings, so some have large deviations by chance. */
static double visible_from(const char *kind) {
    return strcmp(kind, "outlier") == 0 ? 20 : strcmp(kind, "interruption") == 0 ? 8 : 5;
}

struct truth_kind {
    char name[32];
    uint32_t entries, visible, checked;
    double error; /* largest relative error */
    char worst[160];
};

struct truth_figures {
    const char *directory;
    struct dataset *d;
    struct truth_kind kind[KINDS];
    uint32_t kinds;
    uint32_t bare, wrong_damage;
    double *scratch; /* [ranks] */
};

static double number_of(const cJSON *object, const char *key) {
    const cJSON *item = cJSON_GetObjectItem(object, key);
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

static const char *text_of(const cJSON *object, const char *key) {
    const cJSON *item = cJSON_GetObjectItem(object, key);
    return cJSON_IsString(item) ? item->valuestring : "";
}

static uint32_t index_of(const cJSON *object, const char *key, uint32_t below) {
    const double x = number_of(object, key);
    return x >= 0 && x < below ? (uint32_t)x : UINT32_MAX;
}

/* ---- deviation of a value from those of its peers ---- */

/* Returns by how many standard deviations value[at] differs from the other values of value[count]. Changes their
 * order. */
static double stands_out(double *value, size_t count, size_t at) {
    double middle;
    double sd;
    const double x = value[at];
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (i != at && !isnan(value[i])) {
            value[n++] = value[i];
        }
    }
    if (n < FEW) {
        return NAN;
    }
    stats_robust(value, n, &middle, &sd);
    return sd > 0 ? fabs(x - middle) / sd : NAN;
}

/* Compares the node of an entry of truth.json with fully occupied nodes, by one value per node: doc/truth.md,
 * "Visibility". Uses at most `most` of these, with `rows` ranks in total. */
static double node_sd(struct truth_figures *g, const cJSON *entry, const double *value, uint32_t most,
                      uint32_t rows) {
    const struct dataset *d = g->d;
    const uint32_t per_node = index_of(cJSON_GetObjectItem(d->truth, "machine"), "ranks_per_node", UINT32_MAX);
    const uint32_t first = index_of(entry, "first_rank", d->ranks);
    if (value == NULL || first == UINT32_MAX || per_node == UINT32_MAX || per_node == 0 ||
        first / per_node >= d->ranks / per_node) {
        return NAN;
    }
    const uint32_t nodes = d->ranks / per_node;
    const uint32_t peers = nodes < most ? nodes : most;
    const uint32_t of = per_node < rows / peers ? per_node : rows / peers;
    uint32_t at = UINT32_MAX;
    uint32_t count = 0;
    for (uint32_t i = 0; i <= peers; i++) {
        const uint32_t node = i < peers ? (uint32_t)((uint64_t)i * nodes / peers) : first / per_node;
        if (i == peers && at != UINT32_MAX) {
            break; /* the entry's node is one of the peers */
        }
        at = node == first / per_node ? count : at;
        double sum = 0;
        for (uint32_t k = 0; k < of; k++) {
            sum += value[node * per_node + k * per_node / of];
        }
        g->scratch[count++] = sum / of;
    }
    return stands_out(g->scratch, count, at);
}

static double cable_sd(const struct truth_figures *g, const cJSON *entry) {
    const struct dataset *d = g->d;
    const uint32_t rank_a = index_of(entry, "first_rank_a", d->ranks);
    const uint32_t rank_b = index_of(entry, "first_rank_b", d->ranks);
    if (d->switch_of == NULL || rank_a == UINT32_MAX || rank_b == UINT32_MAX) {
        return NAN;
    }
    const uint32_t n = d->switches;
    const uint32_t a =
        d->switch_of[rank_a] < d->switch_of[rank_b] ? d->switch_of[rank_a] : d->switch_of[rank_b];
    const uint32_t b = d->switch_of[rank_a] ^ d->switch_of[rank_b] ^ a;
    const uint32_t *group = d->group_of; /* by rank */
    double *value = stats_alloc((size_t)n * n, sizeof *value);
    size_t count = 0;
    size_t at = SIZE_MAX;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = i + 1; k < n; k++) {
            const size_t there = (size_t)i * n + k;
            const size_t back = (size_t)k * n + i;
            const bool one = group[d->switch_first[i]] == group[d->switch_first[k]];
            if (d->in_sample[i] && d->in_sample[k] && one == (group[rank_a] == group[rank_b]) &&
                d->switch_ranks[there] > 0) {
                at = i == a && k == b ? count : at;
                value[count++] = (d->switch_time[there] + d->switch_time[back]) /
                                 (d->switch_ranks[there] + d->switch_ranks[back]);
            }
        }
    }
    const double sd = at == SIZE_MAX ? NAN : stands_out(value, count, at);
    free(value);
    return sd;
}

static double outlier_sd(const struct truth_figures *g, const cJSON *entry) {
    char path[DATASET_PATH];
    double sd = NAN;
    const uint32_t rank = index_of(entry, "rank", g->d->ranks);
    const uint32_t partner = index_of(entry, "worst_partner", g->d->ranks);
    const uint32_t permutation = index_of(entry, "worst_permutation", UINT32_MAX);
    const cJSON *seen = cJSON_GetObjectItem(entry, "visibility");
    (void)snprintf(path, sizeof path, "%s/%s", g->directory, text_of(cJSON_GetArrayItem(seen, 0), "file"));
    if (rank != UINT32_MAX && partner != UINT32_MAX && permutation != UINT32_MAX && g->d->host != NULL) {
        (void)figures_timing(path, g->d, rank, partner, permutation, &sd, NULL);
    }
    return sd;
}

/* Returns the visibility of a wrong clock, in standard deviations: the mean clock offset of a host's ranks from the
 * median rank, plus the change of this offset, but at most the injected error. */
static double clock_sd(struct truth_figures *g, const cJSON *entry) {
    const struct dataset *d = g->d;
    const uint32_t first = index_of(entry, "first_rank", d->ranks);
    const uint32_t ranks = index_of(entry, "ranks", d->ranks + 1);
    if (d->clock_offset == NULL || first == UINT32_MAX || ranks == UINT32_MAX || ranks == 0 ||
        ranks > d->ranks - first || d->clock_noise <= 0) {
        return NAN;
    }
    const double *const value[] = {d->clock_offset, d->clock_change};
    double seen = 0;
    for (int i = 0; i < 2; i++) {
        double own = 0;
        for (uint32_t r = first; r < first + ranks; r++) {
            own += value[i][r] / ranks;
        }
        memcpy(g->scratch, value[i], d->ranks * sizeof *g->scratch);
        seen += fabs(own - stats_median(g->scratch, d->ranks));
    }
    const double offset = 1e-6 * number_of(entry, "offset_us");
    const double drift = 1e-6 * number_of(entry, "drift_ppm");
    return fmin(seen, fabs(offset + drift * d->clock_middle) + fabs(drift) * d->clock_between) / d->clock_noise;
}

static double interruption_sd(const struct truth_figures *g, const cJSON *entry) {
    for (size_t i = 0; i < g->d->interruptions; i++) {
        const struct dataset_interruption *k = &g->d->interrupted[i];
        if (k->rank == number_of(entry, "rank") && k->phase == number_of(entry, "phase")) {
            return k->sd;
        }
    }
    return NAN;
}

static double overload_sd(struct truth_figures *g, const cJSON *entry) {
    const struct dataset *d = g->d;
    const uint32_t rank = index_of(entry, "rank", d->ranks);
    const uint32_t phase = index_of(entry, "phase", (uint32_t)d->phases);
    const uint32_t since = index_of(entry, "since", (uint32_t)d->phases);
    if (d->phase_load == NULL || rank == UINT32_MAX || phase == UINT32_MAX || since == UINT32_MAX) {
        return NAN;
    }
    const double *now = d->phase_load + (size_t)phase * d->ranks;
    const double *then = d->phase_load + (size_t)since * d->ranks;
    for (uint32_t r = 0; r < d->ranks; r++) {
        g->scratch[r] = log(now[r] / then[r]);
    }
    return stands_out(g->scratch, d->ranks, rank);
}

static double sd_of(struct truth_figures *g, const char *kind, const char *format, const cJSON *entry) {
    const bool links = strcmp(format, "linktest") == 0;
    const bool loads = strcmp(format, "vom") == 0;
    const bool log = strcmp(format, "clog2") == 0;
    return links && strcmp(kind, "slow_port") == 0 ? node_sd(g, entry, g->d->rank_time, MOST_NODES, MOST_ROWS)
           : links && strcmp(kind, "slow_cable") == 0 ? cable_sd(g, entry)
           : links && strcmp(kind, "outlier") == 0    ? outlier_sd(g, entry)
           : loads && strcmp(kind, "slow_node") == 0
               ? node_sd(g, entry, g->d->fixed_load, UINT32_MAX, UINT32_MAX)
           : loads && strcmp(kind, "overloaded") == 0 ? overload_sd(g, entry)
           : log && strcmp(kind, "clock") == 0        ? clock_sd(g, entry)
           : log && strcmp(kind, "interruption") == 0 ? interruption_sd(g, entry)
                                                      : NAN;
}

/* ---- damage ---- */

/* Checks that a checkpoint's file is damaged as an entry says. */
static bool is_damaged(const struct truth_figures *g, const char *kind, const cJSON *entry) {
    char prefix[DATASET_PATH];
    char path[DATASET_PATH];
    char dataset[256];
    struct stat st;
    const char *file = text_of(entry, "file");
    const char *below = strchr(file, '/');
    const uint32_t rank = index_of(entry, "rank", g->d->ranks);
    (void)snprintf(path, sizeof path, "%s/%s", g->directory, file);
    const bool exists = stat(path, &st) == 0;
    if (strcmp(kind, "missing_file") == 0) {
        return !exists;
    }
    if (below == NULL || rank == UINT32_MAX || !exists) {
        return false;
    }
    (void)snprintf(prefix, sizeof prefix, "%s/%.*s", g->directory, (int)(below - file), file);
    (void)snprintf(dataset, sizeof dataset, "%.*s", (int)strcspn(below + 1, "/"), below + 1);
    hpcw_rank2file_restart *r = NULL;
    hpcw_rank2file_found f;
    const bool listed = hpcw_rank2file_restart_open(prefix, NULL, dataset, &r, NULL) == HPCW_OK &&
                        hpcw_rank2file_restart_load(r, 1, &rank, NULL) == HPCW_OK &&
                        hpcw_rank2file_restart_files(r) > 0 &&
                        hpcw_rank2file_restart_file(r, 0, &f, NULL) == HPCW_OK;
    bool damaged = false;
    if (strcmp(kind, "missing_rank") == 0) {
        damaged = !listed;
    } else if (strcmp(kind, "truncated_file") == 0) {
        damaged = (double)st.st_size == number_of(entry, "left") &&
                  number_of(entry, "left") < number_of(entry, "size");
    } else if (strcmp(kind, "wrong_crc") == 0) {
        damaged = listed && f.has_crc && f.size == (uint64_t)st.st_size &&
                  hpcw_rank2file_restart_check(r, true, NULL) == HPCW_ECHECKSUM;
    }
    hpcw_rank2file_restart_free(r);
    return damaged;
}

/* ---- entries ---- */

static struct truth_kind *kind_of(struct truth_figures *g, const char *name) {
    for (uint32_t i = 0; i < g->kinds; i++) {
        if (strcmp(g->kind[i].name, name) == 0) {
            return &g->kind[i];
        }
    }
    struct truth_kind *k = &g->kind[g->kinds < KINDS - 1 ? g->kinds++ : g->kinds];
    (void)snprintf(k->name, sizeof k->name, "%s", name);
    return k;
}

static void take_entry(struct truth_figures *g, const cJSON *entry, const cJSON *seen) {
    const char *name = text_of(entry, "kind");
    struct truth_kind *k = kind_of(g, name);
    const cJSON *one;
    bool visible = false;
    cJSON_ArrayForEach(one, seen) {
        const double said = number_of(one, "sd");
        const char *format = text_of(one, "format");
        if (strcmp(format, "rank2file") == 0 && cJSON_IsTrue(cJSON_GetObjectItem(one, "certain"))) {
            const bool so = strcmp(name, "stale_index") == 0 || is_damaged(g, name, entry);
            g->wrong_damage += !so;
            visible = visible || so;
            continue;
        }
        const double is = sd_of(g, name, format, entry);
        visible = visible || said >= visible_from(name);
        if (isnan(said) && isnan(is)) {
            continue; /* neither truth.json nor the file has a value, as on a machine with few nodes */
        }
        const double error = isnan(said) || isnan(is) ? 1 : fabs(said - is) / fmax(fmax(said, is), LEAST_SD);
        k->checked++;
        if (error >= k->error) {
            k->error = error;
            (void)snprintf(k->worst, sizeof k->worst, "%s of rank %g: truth.json says %.3g, %s has %.3g", name,
                           number_of(entry, isnan(number_of(entry, "rank")) ? "first_rank" : "rank"), said,
                           format, is);
        }
    }
    k->entries++;
    k->visible += visible;
}

/* Each object of truth.json with a visibility is an entry. */
static void walk(struct truth_figures *g, const cJSON *at) {
    const cJSON *one;
    const cJSON *seen = cJSON_GetObjectItem(at, "visibility");
    if (cJSON_IsArray(seen)) {
        take_entry(g, at, seen);
        return;
    }
    cJSON_ArrayForEach(one, at) {
        walk(g, one);
    }
}

/* Counts members of a list that have no visibility or no kind. */
static void count_bare(struct truth_figures *g, const cJSON *list) {
    const cJSON *one;
    cJSON_ArrayForEach(one, list) {
        g->bare += !cJSON_IsArray(cJSON_GetObjectItem(one, "visibility")) || text_of(one, "kind")[0] == '\0';
    }
}

static const cJSON *member(const cJSON *truth, const char *one, const char *two) {
    return cJSON_GetObjectItem(cJSON_GetObjectItem(truth, one), two);
}

void figures_truth(const char *directory, struct dataset *d) {
    struct truth_figures g = {.directory = directory, .d = d};
    uint32_t entries = 0;
    uint32_t visible = 0;
    uint32_t unseen = 0;
    char names[256] = "";
    g.scratch = stats_alloc(d->ranks, sizeof *g.scratch);
    walk(&g, d->truth);
    count_bare(&g, member(d->truth, "machine", "slow_ports"));
    count_bare(&g, member(d->truth, "machine", "slow_cables"));
    count_bare(&g, member(d->truth, "machine", "slow_nodes"));
    count_bare(&g, member(d->truth, "linktest", "outliers"));
    count_bare(&g, member(d->truth, "rank2file", "faults"));
    count_bare(&g, member(d->truth, "clog2", "clocks"));
    count_bare(&g, member(d->truth, "clog2", "interruptions"));
    for (uint32_t i = 0; i < g.kinds; i++) {
        const struct truth_kind *k = &g.kind[i];
        entries += k->entries;
        visible += k->visible;
        figure_of("truth.count.*", k->name, k->entries, "faults of this kind, %" PRIu32 " visible", k->visible);
        if (k->visible == 0) {
            unseen++;
            (void)snprintf(names + strlen(names), sizeof names - strlen(names), " %s", k->name);
        }
        if (k->checked > 0) {
            figure_of("truth.error.*", k->name, k->error, "%s", k->worst);
        }
    }
    figure("truth.bare", g.bare, "%" PRIu32 " faults of truth.json say no kind, or not how visible they are",
           g.bare);
    figure("truth.wrong_damage", g.wrong_damage, "%" PRIu32 " listed damages of checkpoints are not there",
           g.wrong_damage);
    if (entries > 0) {
        figure("truth.visible", (double)visible / entries, "%" PRIu32 " of %" PRIu32 " faults are visible",
               visible, entries);
        figure("truth.unseen_kinds", unseen, "kinds without a visible fault:%s", names);
    }
    free(g.scratch);
}
