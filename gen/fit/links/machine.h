/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the simulated machine, and the job on it, whose timings resemble those of a LinkTest result. */
#ifndef HPCW_GEN_FIT_LINKS_MACHINE_H
#define HPCW_GEN_FIT_LINKS_MACHINE_H

#include "gen/fit/links/timings.h"
#include "gen/fit/twin.h"
#include "libreader/linktest/linktest.h"

/* Sample of a result's rows: those of every `every`-th rank, in the first permutation. Borrows info. */
struct gen_fit_rows {
    const hpcw_linktest_info *info;
    uint32_t ppn;
    uint32_t count, every;
    uint32_t *partner; /* [count][steps] */
    /* [count][steps] timings: at first the measured ones; each simulation overwrites them */
    struct gen_fit_timing *timing;
    struct gen_fit_spread spread[GEN_FIT_PLACES]; /* spread of the measured timings */
    struct gen_fit_timings measured, made;
};

/* Memory: at most 320 bytes for each rank, and 700 KiB. Free also after a failure (HPCW_ENOMEM). */
hpcw_status gen_fit_rows_init(struct gen_fit_rows *rows, const hpcw_linktest_info *info, uint32_t ppn,
                              hpcw_error *err);
void gen_fit_rows_free(struct gen_fit_rows *rows);

/* Computes the spread. Call it after the last row. */
void gen_fit_rows_end(struct gen_fit_rows *rows);

/* Adds a row of the first permutation. Call it in ascending order of ranks. time: [steps] seconds. A row
 * outside of the sample is ignored. */
void gen_fit_rows_add(struct gen_fit_rows *rows, uint32_t rank, const uint32_t *node, const uint64_t *partner,
                      const double *time);

/* Each function learns a part of the twin: the preset, the noise, the factors of the times, the job, the
 * delays. Call them in this order. */
hpcw_status gen_fit_rows_learn_machine(struct gen_fit_rows *rows, struct gen_fit_twin *twin, hpcw_error *err);
hpcw_status gen_fit_rows_learn_noise(struct gen_fit_rows *rows, struct gen_fit_twin *twin, hpcw_error *err);
hpcw_status gen_fit_rows_learn_times(struct gen_fit_rows *rows, struct gen_fit_twin *twin, hpcw_error *err);
hpcw_status gen_fit_rows_learn_job(struct gen_fit_rows *rows, struct gen_fit_twin *twin, hpcw_error *err);
hpcw_status gen_fit_rows_learn_delays(struct gen_fit_rows *rows, struct gen_fit_twin *twin, hpcw_error *err);

#endif
