/* SPDX-License-Identifier: BSD-3-Clause */
/* Figures of LinkTest results: bandwidths, noise, congestion, hosts, and the duration of the run. */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "libreader/linktest/linktest.h"
#include "libwriter/base/status.h"
#include "tests/realism/figures.h"

/* Distance class of a partner. Without switches in truth.json, all other hosts are SAME_GROUP. */
enum distance { SAME_HOST, SAME_SWITCH, SAME_GROUP, OTHER_GROUP, DISTANCES };

/* FEW: least number of timings for which a standard deviation is computed. AROUND: a timing is compared with this
 * many steps before it and this many after it. */
enum { MOST_SWITCHES = 2048, FEW = 8, AROUND = 32 };

/* Size of the sample of switches and ranks by which the visibility of slow cables is computed: doc/truth.md,
 * "Visibility". */
enum { SAMPLED_SWITCHES = 192, SWITCH_ROWS = 256, FEW_RANKS = 4 };

/* Timings of a rank in a permutation, by step. */
struct row {
    uint32_t rank, steps;
    double *time, *ln, *scratch; /* [steps] */
    uint64_t *partner;           /* [steps] */
    double middle[DISTANCES];    /* median of ln(seconds) by distance */
    /* standard deviation without outliers; 0: few partners */
    double sd[DISTANCES];
};

static enum distance distance_of(const struct dataset *d, uint32_t a, uint32_t b) {
    if (dataset_same_host(d, a, b)) {
        return SAME_HOST;
    }
    if (d->switch_of == NULL) {
        return SAME_GROUP;
    }
    return d->switch_of[a] == d->switch_of[b] ? SAME_SWITCH
           : d->group_of[a] == d->group_of[b] ? SAME_GROUP
                                              : OTHER_GROUP;
}

static void row_new(struct row *w, uint32_t tasks) {
    w->time = stats_alloc(tasks, sizeof *w->time);
    w->ln = stats_alloc(tasks, sizeof *w->ln);
    w->scratch = stats_alloc(tasks, sizeof *w->scratch);
    w->partner = stats_alloc(tasks, sizeof *w->partner);
}

static void row_free(struct row *w) {
    free(w->time);
    free(w->ln);
    free(w->scratch);
    free(w->partner);
}

static hpcw_status row_read(struct read_linktest *r, const struct dataset *d, uint32_t rank,
                            uint64_t permutation, struct row *w, hpcw_error *err) {
    hpcw_status s = read_linktest_row(r, rank, permutation, w->time, w->partner, NULL, err);
    w->rank = rank;
    w->steps = read_linktest_info(r)->steps;
    for (uint32_t k = 0; s == HPCW_OK && k < w->steps; k++) {
        if (w->partner[k] >= d->ranks || !(w->time[k] > 0)) {
            return hpcw_i_fail(err, HPCW_EFORMAT,
                               "timing of rank %" PRIu32 ": expected a partner and a time > 0", rank);
        }
        w->ln[k] = log(w->time[k]);
    }
    for (int c = 0; s == HPCW_OK && c < DISTANCES; c++) {
        size_t n = 0;
        for (uint32_t k = 0; k < w->steps; k++) {
            if ((int)distance_of(d, rank, (uint32_t)w->partner[k]) == c) {
                w->scratch[n++] = w->ln[k];
            }
        }
        w->middle[c] = w->sd[c] = 0;
        if (n >= FEW) {
            stats_robust(w->scratch, n, &w->middle[c], &w->sd[c]);
        }
    }
    return s;
}

/* ---- hosts and switches ---- */

static uint64_t hash_of(const char *text) {
    uint64_t h = UINT64_C(14695981039346656037);
    for (; *text != '\0'; text++) {
        h = (h ^ (unsigned char)*text) * UINT64_C(1099511628211);
    }
    return h;
}

static hpcw_status read_hosts(struct read_linktest *r, struct dataset *d, hpcw_error *err) {
    char *host = stats_alloc(READ_LINKTEST_MOST_HOST, 1);
    char prefix[32] = "";
    struct hpcw_i_table known = {.key_words = 1, .value_size = sizeof(uint64_t)};
    uint64_t first = UINT64_MAX;
    uint64_t last = 0;
    hpcw_status s = HPCW_OK;
    d->host = stats_alloc(d->ranks, sizeof *d->host);
    for (uint32_t rank = 0; s == HPCW_OK && rank < d->ranks; rank++) {
        int32_t core;
        s = read_linktest_host(r, rank, host, &core, err);
        if (s != HPCW_OK) {
            break;
        }
        const uint64_t key[] = {hash_of(host)};
        bool fresh;
        uint64_t *number = hpcw_i_table_add(&known, key, &fresh);
        if (number == NULL) {
            s = hpcw_i_fail_memory(err, "linktest", 0, "hosts");
            break;
        }
        *number = fresh ? d->hosts++ : *number;
        d->host[rank] = (uint32_t)*number;
        const size_t letters = strcspn(host, "0123456789");
        const uint64_t n = strtoull(host + letters, NULL, 10);
        first = n < first ? n : first;
        last = n > last ? n : last;
        (void)snprintf(prefix, sizeof prefix, "%.*s", (int)letters, host);
    }
    if (s == HPCW_OK) {
        figure_of("links.host_last.*", prefix, (double)last, "the highest host is %s%" PRIu64, prefix, last);
        figure("links.host_gaps", (double)(last - first + 1 - d->hosts) / d->hosts,
               "%" PRIu32 " hosts of the %" PRIu64 " from the first to the last", d->hosts, last - first + 1);
    }
    hpcw_i_table_free(&known);
    free(host);
    return s;
}

static void look_at(struct dataset *d, uint32_t number) {
    d->samples += !d->in_sample[number];
    d->in_sample[number] = true;
}

static void sample_switches(struct dataset *d) {
    const uint32_t peers = d->switches < SAMPLED_SWITCHES ? d->switches : SAMPLED_SWITCHES;
    const cJSON *cable;
    d->in_sample = stats_alloc(d->switches, sizeof *d->in_sample);
    for (uint32_t i = 0; i < peers; i++) {
        look_at(d, (uint32_t)((uint64_t)i * d->switches / peers));
    }
    cJSON_ArrayForEach(cable, cJSON_GetObjectItem(cJSON_GetObjectItem(d->truth, "machine"), "slow_cables")) {
        const cJSON *a = cJSON_GetObjectItem(cable, "first_rank_a");
        const cJSON *b = cJSON_GetObjectItem(cable, "first_rank_b");
        if (cJSON_IsNumber(a) && cJSON_IsNumber(b) && a->valuedouble >= 0 && a->valuedouble < d->ranks &&
            b->valuedouble >= 0 && b->valuedouble < d->ranks) {
            look_at(d, d->switch_of[(uint32_t)a->valuedouble]);
            look_at(d, d->switch_of[(uint32_t)b->valuedouble]);
        }
    }
}

static void read_switches(struct dataset *d) {
    const cJSON *list = cJSON_GetObjectItem(cJSON_GetObjectItem(d->truth, "machine"), "topology");
    const cJSON *one;
    const int count = cJSON_GetArraySize(list);
    if (count < 1 || count > MOST_SWITCHES) {
        return;
    }
    d->switches = (uint32_t)count;
    d->switch_of = stats_alloc(d->ranks, sizeof *d->switch_of);
    d->group_of = stats_alloc(d->ranks, sizeof *d->group_of);
    d->switch_first = stats_alloc((size_t)count + 1, sizeof *d->switch_first);
    d->switch_time = stats_alloc((size_t)count * (size_t)count, sizeof *d->switch_time);
    d->switch_ranks = stats_alloc((size_t)count * (size_t)count, sizeof *d->switch_ranks);
    uint32_t number = 0;
    cJSON_ArrayForEach(one, list) {
        const cJSON *group = cJSON_GetObjectItem(one, "group");
        const cJSON *first = cJSON_GetObjectItem(one, "first_rank");
        const cJSON *ranks = cJSON_GetObjectItem(one, "ranks");
        if (cJSON_IsNumber(group) && cJSON_IsNumber(first) && cJSON_IsNumber(ranks)) {
            d->switch_first[number] = (uint32_t)first->valuedouble;
            d->switch_first[number + 1] = (uint32_t)(first->valuedouble + ranks->valuedouble);
            for (uint32_t i = 0; i < (uint32_t)ranks->valuedouble; i++) {
                const uint32_t rank = (uint32_t)first->valuedouble + i;
                if (rank < d->ranks) {
                    d->switch_of[rank] = number;
                    d->group_of[rank] = (uint32_t)group->valuedouble;
                }
            }
        }
        number++;
    }
    sample_switches(d);
}

/* ---- figures of a result ---- */

struct link_figures {
    struct dataset *d;
    const hpcw_linktest_info *info;
    double *slowest; /* [steps] slowest timing over all ranks, seconds */
    double serial;   /* seconds if all pairs measure one after the other */
    double best[2];  /* largest rates between hosts, and within a host, bytes/s */
    /* deviation of ln(seconds) from the median of its distance class */
    struct stats_values noise;
    /* sum over ranks of the correlation of a rank's noise in neighbouring steps, and number of its terms */
    double lag, lags;
    struct stats_values near;    /* timings with partners on the same switch, seconds */
    struct stats_values time[2]; /* timings between hosts, and within a host, seconds */
};

/* Returns whether a rank is in the sample, which has some ranks of some switches. */
static bool is_in_sample(const struct dataset *d, uint32_t rank) {
    const uint32_t here = d->switch_of[rank];
    const uint32_t ranks = d->switch_first[here + 1] - d->switch_first[here];
    const uint32_t most = SWITCH_ROWS / d->samples > FEW_RANKS ? SWITCH_ROWS / d->samples : FEW_RANKS;
    const uint32_t of = ranks < most ? ranks : most;
    bool is = false;
    for (uint32_t k = 0; d->in_sample[here] && k < of; k++) {
        is = is || rank - d->switch_first[here] == (uint64_t)k * ranks / of;
    }
    return is;
}

/* Adds the medians of a rank's timings with each other switch. */
static void add_switches(struct dataset *d, struct row *w) {
    const bool looks = d->switch_of != NULL && is_in_sample(d, w->rank);
    for (uint32_t b = 0; looks && b < d->switches; b++) {
        size_t n = 0;
        for (uint32_t k = 0; k < w->steps; k++) {
            if (d->switch_of[w->partner[k]] == b && d->switch_of[w->rank] != b) {
                w->scratch[n++] = w->ln[k];
            }
        }
        if (n > 0) {
            const size_t at = (size_t)d->switch_of[w->rank] * d->switches + b;
            d->switch_time[at] += stats_median(w->scratch, n);
            d->switch_ranks[at]++;
        }
    }
}

static void add_row(struct link_figures *g, struct row *w) {
    struct dataset *d = g->d;
    struct stats_pairs steps = {0};
    double before = NAN;
    size_t n = 0;
    enum distance nearest = SAME_SWITCH;
    while (nearest < OTHER_GROUP && w->sd[nearest] <= 0) {
        nearest++;
    }
    for (uint32_t k = 0; k < w->steps; k++) {
        const enum distance c = distance_of(d, w->rank, (uint32_t)w->partner[k]);
        g->slowest[k] = fmax(g->slowest[k], w->time[k]);
        g->serial += 0.5 * w->time[k];
        g->best[c == SAME_HOST] = fmax(g->best[c == SAME_HOST], (double)g->info->message_size / w->time[k]);
        stats_add(&g->time[c == SAME_HOST], w->time[k]);
        if (c == SAME_SWITCH) {
            stats_add(&g->near, w->time[k]);
        }
        if (c == SAME_HOST || w->sd[c] <= 0) {
            before = NAN;
            continue;
        }
        const double off = w->ln[k] - w->middle[c];
        if (c == nearest) {
            stats_add(&g->noise, off);
        }
        /* Noise is limited to 3 standard deviations, so that a slow port does not look like congestion. */
        const double z = fmin(fmax(off / w->sd[c], -3), 3);
        if (c == OTHER_GROUP || d->switch_of == NULL) {
            if (!isnan(before)) {
                stats_pair(&steps, before, z);
            }
            before = z;
        } else {
            before = NAN;
        }
    }
    for (uint32_t k = 0; k < w->steps; k++) {
        if (!dataset_same_host(d, w->rank, (uint32_t)w->partner[k])) {
            w->scratch[n++] = w->ln[k];
        }
    }
    d->rank_time[w->rank] = n > 0 ? stats_median(w->scratch, n) : NAN;
    if (steps.n > 2 * FEW) {
        g->lag += stats_correlation(&steps);
        g->lags++;
    }
    add_switches(d, w);
}

/* Parses YYYY-MM-DDThh:mm:ss to seconds since 1970. */
static double seconds_of(const char *text) {
    struct tm t = {0};
    if (sscanf(text, "%d-%d-%dT%d:%d:%d", &t.tm_year, &t.tm_mon, &t.tm_mday, &t.tm_hour, &t.tm_min,
               &t.tm_sec) != 6) {
        return NAN;
    }
    t.tm_year -= 1900;
    t.tm_mon -= 1;
    return (double)timegm(&t);
}

static void put_duration(struct link_figures *g, const char *name, const struct read_linktest_summary *sum) {
    const hpcw_linktest_info *info = g->info;
    const double messages = 2.0 * (double)(info->warmup_messages + info->messages);
    const double stated = seconds_of(sum->end) - seconds_of(sum->start);
    double needed = 0;
    for (uint32_t k = 0; k < info->steps; k++) {
        needed += g->slowest[k];
    }
    needed = messages * (info->serial ? g->serial : needed);
    /* 1 s of tolerance: the result stores its start and end in whole seconds. */
    figure_of("links.time_missing_s.*", name, needed - (stated + 1),
              "start and end say %.0f s, the slowest pairs of the steps take %.1f s", stated, needed);
    figure_of("links.time_excess.*", name, (stated - 1) / fmax(needed, 1),
              "start and end say %.0f s, the slowest pairs of the steps take %.1f s", stated, needed);
}

static hpcw_status open_result(const char *path, struct dataset *d, struct read_linktest **r, hpcw_error *err) {
    hpcw_status s = read_linktest_open(path, r, err);
    if (s == HPCW_OK && d->ranks != 0 && d->ranks != read_linktest_info(*r)->tasks) {
        s = hpcw_i_fail(err, HPCW_EMISMATCH,
                        "%s: tasks: expected %" PRIu32 " as in the other files, got %" PRIu32, path, d->ranks,
                        read_linktest_info(*r)->tasks);
        read_linktest_free(*r);
        *r = NULL;
    }
    if (s == HPCW_OK) {
        d->ranks = read_linktest_info(*r)->tasks;
    }
    return s;
}

static void put_all(struct link_figures *g) {
    const hpcw_linktest_info *info = g->info;
    size_t digits = 0;
    for (const char *hex = "0123456789abcdef"; *hex != '\0'; hex++) {
        digits += strchr(info->git_hash, *hex) != NULL;
    }
    figure("links.hash_digits", (double)digits, "the git hash %s has %zu different digits", info->git_hash,
           digits);
    figure("links.best_gbs", 1e-9 * g->best[false], "the fastest pair of two hosts: GB/s");
    figure("links.median_us", 1e6 * stats_quantile(&g->time[false], 0.5), "pairs of two hosts: median, us");
    if (g->noise.count > 100) {
        const double middle = stats_quantile(&g->noise, 0.5);
        figure("links.skew",
               (stats_quantile(&g->noise, 0.95) - middle) / (middle - stats_quantile(&g->noise, 0.05)),
               "noise of the nearest hosts: from the median to the 95th of 100, over that to the 5th");
    }
    if (g->near.count > 100) {
        figure("links.near_us", 1e6 * stats_quantile(&g->near, 0.5),
               "same switch, %" PRIu64 " bytes: median, us", info->message_size);
        figure("links.near_spread", stats_quantile(&g->near, 0.9) / stats_quantile(&g->near, 0.1),
               "same switch: the 90th of 100 over the 10th");
    }
    if (g->lags > 0) {
        figure("links.congestion_lag", g->lag / g->lags,
               "other groups: correlation of a rank's timings from one step to the next");
    }
}

static void free_all(struct link_figures *g) {
    free(g->slowest);
    stats_free(&g->noise);
    stats_free(&g->near);
    stats_free(&g->time[0]);
    stats_free(&g->time[1]);
}

static hpcw_status read_rows(struct link_figures *g, struct read_linktest *r, hpcw_error *err) {
    struct row w = {0};
    hpcw_status s = HPCW_OK;
    g->info = read_linktest_info(r);
    g->slowest = stats_alloc(g->info->steps, sizeof *g->slowest);
    g->d->rank_time = stats_alloc(g->d->ranks, sizeof *g->d->rank_time);
    row_new(&w, g->d->ranks);
    for (uint32_t rank = 0; s == HPCW_OK && rank < g->d->ranks; rank++) {
        s = row_read(r, g->d, rank, 0, &w, err);
        if (s == HPCW_OK) {
            add_row(g, &w);
        }
    }
    row_free(&w);
    return s;
}

hpcw_status figures_links(const char *path, struct dataset *d, hpcw_error *err) {
    struct link_figures g = {.d = d};
    struct read_linktest *r;
    struct read_linktest_summary sum;
    hpcw_status s = open_result(path, d, &r, err);
    if (s != HPCW_OK) {
        return s;
    }
    read_switches(d);
    s = read_hosts(r, d, err);
    s = s == HPCW_OK ? read_rows(&g, r, err) : s;
    s = s == HPCW_OK ? read_linktest_summary(r, 0, &sum, err) : s;
    if (s == HPCW_OK) {
        put_all(&g);
        put_duration(&g, "default", &sum);
    }
    free_all(&g);
    read_linktest_free(r);
    return s;
}

hpcw_status figures_timing(const char *path, const struct dataset *d, uint32_t rank, uint32_t partner,
                           uint32_t permutation, double *sd, hpcw_error *err) {
    struct read_linktest *r;
    struct row w = {0};
    *sd = NAN;
    hpcw_status s = read_linktest_open(path, &r, err);
    if (s != HPCW_OK) {
        return s;
    }
    row_new(&w, d->ranks);
    s = row_read(r, d, rank, permutation, &w, err);
    uint32_t at = 0;
    while (s == HPCW_OK && at < w.steps && w.partner[at] != partner) {
        at++;
    }
    if (s == HPCW_OK && at < w.steps) {
        /* Compares the timing with those in steps around it, which have the same congestion. */
        const enum distance c = distance_of(d, rank, partner);
        double middle;
        double spread;
        size_t n = 0;
        for (uint32_t k = at > AROUND ? at - AROUND : 0; k < w.steps && k <= at + AROUND; k++) {
            if (k != at && distance_of(d, rank, (uint32_t)w.partner[k]) == c) {
                w.scratch[n++] = w.ln[k];
            }
        }
        if (n >= FEW) {
            stats_robust(w.scratch, n, &middle, &spread);
            *sd = spread > 0 ? (w.ln[at] - middle) / spread : NAN;
        }
    }
    row_free(&w);
    read_linktest_free(r);
    return s;
}

/* ---- figures of several results ---- */

static void forget(struct dataset *d) {
    free(d->host);
    free(d->rank_time);
    *d = (struct dataset){.ranks = 0};
}

hpcw_status figures_curve(const char *name, const char *const *path, size_t count, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    double last[2] = {0};
    double worst[2] = {0};
    double best = 0;
    uint64_t size[2] = {0};
    uint64_t at[2] = {0};
    for (size_t i = 0; s == HPCW_OK && i < count; i++) {
        struct dataset d = {.ranks = 0};
        struct link_figures g = {.d = &d};
        struct read_linktest *r;
        struct read_linktest_summary sum;
        s = open_result(path[i], &d, &r, err);
        if (s != HPCW_OK) {
            break;
        }
        char *host = stats_alloc(READ_LINKTEST_MOST_HOST, 1);
        int32_t core;
        d.host = stats_alloc(d.ranks, sizeof *d.host);
        for (uint32_t rank = 0; s == HPCW_OK && rank < d.ranks; rank++) {
            s = read_linktest_host(r, rank, host, &core, err);
            d.host[rank] = (uint32_t)hash_of(host);
        }
        free(host);
        s = s == HPCW_OK ? read_rows(&g, r, err) : s;
        s = s == HPCW_OK ? read_linktest_summary(r, 0, &sum, err) : s;
        for (int where = 0; s == HPCW_OK && where < 2; where++) {
            const double middle = stats_quantile(&g.time[where], 0.5);
            if (last[where] > 0 && last[where] / middle > worst[where]) {
                worst[where] = last[where] / middle;
                at[where] = size[where];
            }
            last[where] = middle;
            size[where] = g.info->message_size;
        }
        if (s == HPCW_OK) {
            best = fmax(best, g.best[false]);
            char of[96];
            (void)snprintf(of, sizeof of, "%s.%" PRIu64, name, g.info->message_size);
            put_duration(&g, of, &sum);
        }
        free_all(&g);
        forget(&d);
        read_linktest_free(r);
    }
    if (s == HPCW_OK && count > 1) {
        figure_of("curve.network.*", name, worst[0],
                  "%s, between hosts: messages of %" PRIu64
                  " bytes take %.2f times as long as the next larger ones",
                  name, at[0], worst[0]);
        figure_of("curve.host.*", name, worst[1],
                  "%s, on a host: messages of %" PRIu64
                  " bytes take %.2f times as long as the next larger ones",
                  name, at[1], worst[1]);
        figure_of("curve.best_gbs.*", name, 1e-9 * best, "%s: the best bandwidth between hosts, GB/s", name);
    }
    return s;
}

hpcw_status figures_bisection(const char *path, hpcw_error *err) {
    struct dataset d = {.ranks = 0};
    struct read_linktest *r;
    struct row w = {0};
    hpcw_status s = open_result(path, &d, &r, err);
    if (s != HPCW_OK) {
        return s;
    }
    const uint32_t steps = read_linktest_info(r)->steps;
    const double size = (double)read_linktest_info(r)->message_size;
    struct stats_values all = {0};
    double *sum = stats_alloc(steps, sizeof *sum);
    row_new(&w, d.ranks);
    for (uint32_t rank = 0; s == HPCW_OK && rank < d.ranks; rank++) {
        s = read_linktest_row(r, rank, 0, w.time, w.partner, NULL, err);
        for (uint32_t k = 0; s == HPCW_OK && k < steps; k++) {
            sum[k] +=
                size /
                w.time
                    [k]; /* both ranks of a pair add size / time, which gives the bandwidth of both directions */
        }
    }
    struct stats_pairs next = {0};
    for (uint32_t k = 0; k < steps; k++) {
        stats_add(&all, sum[k] / 0x1p40);
        if (k > 0) {
            stats_pair(&next, sum[k - 1], sum[k]);
        }
    }
    if (s == HPCW_OK) {
        figure("bisection.min_tib", all.min, "all pairs of the slowest step together: TiB/s");
        figure("bisection.lag", stats_correlation(&next),
               "bandwidth of a step and of the next one: correlation");
        figure("bisection.mean_tib", stats_mean(&all), "all pairs of a step together, mean: TiB/s");
        figure("bisection.max_tib", all.max, "all pairs of the fastest step together: TiB/s");
    }
    stats_free(&all);
    free(sum);
    row_free(&w);
    read_linktest_free(r);
    return s;
}
