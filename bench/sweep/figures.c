/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes all figures from the runs so far. */
#include <stdio.h>

#include "bench/count/sharing.h"
#include "bench/layout/layout.h"
#include "bench/report/metadata.h"
#include "bench/sweep/state.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* Counts the blocks that several processes share. hosts: counts the blocks that several hosts share instead. */
static hpcw_status count_owners(const struct bench_processes *processes, uint32_t writers,
                                struct bench_geometry *g, bool hosts, uint64_t *blocks, hpcw_error *err) {
    uint32_t *owner = hpcw_i_malloc((size_t)g->ranks * sizeof *owner);
    struct bench_sharing c = {0};
    if (owner == NULL) {
        return hpcw_i_fail_memory(err, NULL, g->ranks, "ranks");
    }
    for (int p = 0; p < processes->count; p++) {
        uint32_t end = bench_work_first(g->ranks, writers, p + 1);
        for (uint32_t r = bench_work_first(g->ranks, writers, p); r < end; r++) {
            owner[r] = (uint32_t)(hosts ? bench_processes_host(processes, p) : p);
        }
    }
    g->owner = owner;
    hpcw_status s = bench_sharing_count(g, &c, err);
    g->owner = NULL;
    hpcw_i_free(owner);
    *blocks = c.owner_blocks;
    return s;
}

/* Counts the shared blocks of all points. */
static hpcw_status count_shared(const struct bench_processes *processes, struct bench_results *r,
                                hpcw_error *err) {
    for (size_t i = 0; i < r->points; i++) {
        struct bench_point *p = &r->point[i];
        struct bench_geometry g = {.layout = p->layout,
                                   .ranks = p->ranks,
                                   .fs_block = r->fs.block_size,
                                   .rank_bytes = p->rank_size,
                                   .record_bytes = p->record_size,
                                   .container_block = p->block_size,
                                   .files = p->files};
        struct bench_sharing c;
        if (p->blocks.counted) {
            continue;
        }
        hpcw_status s = bench_sharing_count(&g, &c, err);
        s = s == HPCW_OK ? count_owners(processes, r->writers, &g, false, &p->blocks.by_processes, err) : s;
        s = s == HPCW_OK ? count_owners(processes, r->writers, &g, true, &p->blocks.by_hosts, err) : s;
        if (s != HPCW_OK) {
            return s;
        }
        p->blocks.counted = true;
        p->blocks.all = c.blocks;
        p->blocks.shared = c.shared_blocks;
    }
    return HPCW_OK;
}

/* Computes all figures from the runs so far. */
static hpcw_status compute(const struct bench_processes *processes, struct bench_results *r, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (size_t i = 0; s == HPCW_OK && i < r->points; i++) {
        s = bench_results_rate(&r->point[i], err);
    }
    s = s == HPCW_OK ? count_shared(processes, r, err) : s;
    return s != HPCW_OK ? s : r->metadatas > 0 ? bench_metadata_conclude(r, err) : bench_results_advise(r, err);
}

hpcw_status bench_sweep_conclude(struct bench_sweep_state *w, const char *why, hpcw_error *err) {
    struct bench_results *r = w->r;
    r->complete = true;
    for (size_t i = 0; i < r->points; i++) {
        struct bench_point *p = &r->point[i];
        if (p->fate == BENCH_MEASURED && p->trials < r->repeat) {
            r->complete = false;
            if (p->trials == 0) {
                p->fate = BENCH_LEFT_OUT;
                (void)snprintf(p->reason, sizeof p->reason, "%s", bench_results_ended);
            }
        }
    }
    (void)snprintf(r->stopped, sizeof r->stopped, "%s", why);
    r->elapsed_ns = bench_sweep_elapsed(w);
    return compute(w->processes, r, err);
}
