/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums up tasks and edges of ranks, phase by phase: all phases of one rank, then those of the next rank. */
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
    struct gen_fit_loads *l; /* borrowed from the caller */
    uint32_t rank;
    uint64_t phase, phases;    /* phase: current phase of the rank. phases: number of its phases so far. */
    struct hpcw_i_table seen;  /* objects seen on the rank so far */
    struct gen_fit_task *task; /* [tasks] tasks of the current phase */
    size_t tasks, task_capacity;
    struct gen_fit_edge *edge;
    size_t edges, edge_capacity;
    double seconds; /* total seconds of the rank's tasks in the current phase */
    /* [most phases so far] mean ln(seconds) of the previous rank's tasks in each phase; NaN without tasks */
    double *before;
    size_t before_capacity;
};

/* Initialises g and empties `l`. Call gen_fit_sum_free for g and gen_fit_loads_free for `l` also after a
 * failure. All functions of this file can fail with HPCW_ENOMEM. */
hpcw_status gen_fit_sum_init(struct gen_fit_summing *g, struct gen_fit_loads *l, hpcw_error *err);
void gen_fit_sum_free(struct gen_fit_summing *g);

/* Begin and end a rank. A rank that was killed has fewer phases than others. */
void gen_fit_sum_rank(struct gen_fit_summing *g, uint32_t rank);
void gen_fit_sum_rank_end(struct gen_fit_summing *g);

/* Begins a phase. Phases of a rank are numbered from 0. */
hpcw_status gen_fit_sum_phase(struct gen_fit_summing *g, uint64_t phase, hpcw_error *err);
hpcw_status gen_fit_sum_task(struct gen_fit_summing *g, uint64_t id, double seconds, hpcw_error *err);
/* Adds an edge to a task of the current phase. The task may be added later. distant: the ends have different home
 * ranks. */
hpcw_status gen_fit_sum_edge(struct gen_fit_summing *g, uint64_t to, double bytes, double messages,
                             bool distant, hpcw_error *err);
hpcw_status gen_fit_sum_end(struct gen_fit_summing *g, hpcw_error *err);

#endif
