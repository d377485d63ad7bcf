/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums up what ranks do phase by phase: all phases of a rank, then those of the next one. */
#ifndef HPCW_GEN_FIT_LOADS_SUM_H
#define HPCW_GEN_FIT_LOADS_SUM_H

#include "gen/fit/loads/loads.h"
#include "libwriter/base/table.h"

struct gen_fit_task {
    uint64_t id;
    double x; /* ln(seconds) */
};
struct gen_fit_edge {
    uint64_t to;
    double ln_bytes;
};

struct gen_fit_summing {
    struct gen_fit_loads *l; /* the caller's */
    uint32_t rank;
    uint64_t phase, phases;    /* of the rank: the current one, and how many there were so far */
    struct hpcw_i_table seen;  /* objects of the rank */
    struct gen_fit_task *task; /* of the phase */
    size_t tasks, task_capacity;
    struct gen_fit_edge *edge;
    size_t edges, edge_capacity;
    double seconds; /* of the rank in the phase */
    double *before; /* [most phases so far] mean x of the rank before; NaN without tasks */
    double earlier; /* the same in the phase before */
    size_t before_capacity;
};

/* Makes `l` empty. Call gen_fit_sum_free, and gen_fit_loads_free for `l`, also after a failure (HPCW_ENOMEM, as all here). */
hpcw_status gen_fit_sum_init(struct gen_fit_summing *g, struct gen_fit_loads *l, hpcw_error *err);
void gen_fit_sum_free(struct gen_fit_summing *g);

/* Begins and ends a rank. One that was killed has fewer phases than others. */
void gen_fit_sum_rank(struct gen_fit_summing *g, uint32_t rank);
void gen_fit_sum_rank_end(struct gen_fit_summing *g);

/* Phases of a rank are numbered from 0. */
hpcw_status gen_fit_sum_phase(struct gen_fit_summing *g, uint64_t phase, hpcw_error *err);
hpcw_status gen_fit_sum_task(struct gen_fit_summing *g, uint64_t id, double seconds, hpcw_error *err);
/* An edge to a task of the phase, which may be added later. `distant`: its ends have different homes. */
hpcw_status gen_fit_sum_edge(struct gen_fit_summing *g, uint64_t to, double bytes, double messages,
                             bool distant, hpcw_error *err);
hpcw_status gen_fit_sum_end(struct gen_fit_summing *g, hpcw_error *err);

#endif
