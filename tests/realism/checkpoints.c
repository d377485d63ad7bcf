/* SPDX-License-Identifier: BSD-3-Clause */
/* Figures of SCR's checkpoints, and of their agreement with the checkpoints in the log. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <hpcw/rank2file.h>

#include "libreader/rank2file/rank2file.h"
#include "tests/realism/figures.h"

struct checkpoint_figures {
    struct dataset *d;
    const char *newest; /* name of the dataset with the highest id */
    double *bytes;      /* [ranks] bytes of the newest dataset */
    double total;       /* total bytes of the newest dataset */
    uint64_t files;
};

static hpcw_status take(void *context, const char *name, hpcw_rank2file_restart *r, const hpcw_error *why,
                        hpcw_error *err) {
    struct checkpoint_figures *g = context;
    (void)why;
    hpcw_status s = HPCW_OK;
    if (r == NULL || g->newest == NULL || strcmp(name, g->newest) != 0) {
        return HPCW_OK;
    }
    for (uint64_t i = 0; s == HPCW_OK && i < hpcw_rank2file_restart_files(r); i++) {
        hpcw_rank2file_found f;
        struct stat st;
        s = hpcw_rank2file_restart_file(r, i, &f, err);
        if (s == HPCW_OK && f.rank < g->d->ranks && (f.has_size || stat(f.path, &st) == 0)) {
            const double bytes = f.has_size ? (double)f.size : (double)st.st_size;
            g->bytes[f.rank] += bytes;
            g->total += bytes;
            g->files++;
        }
    }
    return s;
}

/* Compares the intervals between checkpoints in the log with those in SCR's index, whose clock may have another
 * zero. Returns the largest relative difference. SCR records the begin of a checkpoint on rank 0, so the log's
 * begins on rank 0 are used. */
static double worst_interval(const struct dataset *d, const double *created, uint32_t count) {
    double worst = 0;
    for (uint32_t i = 1; i < count; i++) {
        const double log = d->checkpoint[i].begin - d->checkpoint[i - 1].begin;
        worst = fmax(worst, fabs(created[i] - created[i - 1] - log) / fmax(log, 1));
    }
    return worst;
}

static void put_agreement(const struct checkpoint_figures *g, const double *created, uint32_t count) {
    const struct dataset *d = g->d;
    const uint32_t common = count < d->checkpoints ? count : d->checkpoints;
    double furthest = 0;
    double log = 0;
    for (uint32_t r = 0; r < d->ranks; r++) {
        log += d->checkpoint_bytes[r];
        furthest = fmax(furthest, fabs(d->checkpoint_bytes[r] - g->bytes[r]) / fmax(g->bytes[r], 1));
    }
    figure("agree.checkpoints", fabs((double)count - d->checkpoints),
           "%" PRIu32 " checkpoints of SCR, %" PRIu32 " in the log", count, d->checkpoints);
    if (common > 1) {
        figure("agree.checkpoint_time", worst_interval(d, created, common),
               "from one checkpoint to the next: SCR says %.6g s, the log %.6g s", created[1] - created[0],
               d->checkpoint[1].begin - d->checkpoint[0].begin);
    }
    figure("agree.checkpoint_bytes", furthest,
           "the last checkpoint has %.4g bytes in SCR and %.4g in the log; a rank differs by up to %.3g %%",
           g->total, log, 100 * furthest);
}

hpcw_status figures_checkpoints(const char *prefix, struct dataset *d, hpcw_error *err) {
    struct checkpoint_figures g = {.d = d};
    hpcw_rank2file_list *list;
    hpcw_status s = hpcw_rank2file_list_open(prefix, NULL, &list, err);
    if (s != HPCW_OK) {
        return s;
    }
    /* The list has the order in which a restart tries datasets: the current one, then the others by descending
     * id. */
    const uint32_t count = hpcw_rank2file_list_count(list);
    double *created = stats_alloc(count, sizeof *created);
    g.bytes = stats_alloc(d->ranks, sizeof *g.bytes);
    uint64_t highest = 0;
    for (uint32_t i = 0; i < count; i++) {
        const hpcw_rank2file_listed *l = hpcw_rank2file_list_get(list, i);
        created[i] = (double)l->created_us * 1e-6;
        g.newest = l->id >= highest ? l->name : g.newest;
        highest = l->id >= highest ? l->id : highest;
    }
    for (uint32_t i = 1; i < count; i++) {
        for (uint32_t k = i; k > 0 && created[k] < created[k - 1]; k--) {
            const double t = created[k];
            created[k] = created[k - 1];
            created[k - 1] = t;
        }
    }
    s = read_rank2file_tour(prefix, take, &g, err);
    if (s == HPCW_OK) {
        figure("checkpoints.number", count, "checkpoints of SCR");
        figure("checkpoints.files_per_rank", (double)g.files / d->ranks,
               "files of the newest checkpoint by rank");
        if (d->checkpoints > 0) {
            put_agreement(&g, created, count);
        }
    }
    if (s == HPCW_OK && d->rank_load != NULL) {
        struct stats_pairs load = {0};
        for (uint32_t r = 0; r < d->ranks; r++) {
            if (g.bytes[r] > 0 && d->rank_load[r] > 0) {
                stats_pair(&load, log(g.bytes[r]), log(d->rank_load[r]));
            }
        }
        figure("checkpoints.load_correlation", stats_correlation(&load),
               "ranks: correlation of ln(bytes of the newest checkpoint) and ln(load)");
    }
    free(created);
    free(g.bytes);
    hpcw_rank2file_list_free(list);
    return s;
}
