/* SPDX-License-Identifier: BSD-3-Clause */
/* Which simulated machine, and which job on it, has timings like those of a LinkTest result. */
#ifndef HPCW_GEN_FIT_LINKS_MACHINE_H
#define HPCW_GEN_FIT_LINKS_MACHINE_H

#include "gen/fit/links/timings.h"
#include "gen/fit/twin.h"
#include "libreader/linktest/linktest.h"

/* Some rows of a result, of every so manyth rank, in its first permutation. Borrows info. */
struct gen_fit_rows {
    const hpcw_linktest_info *info;
    uint32_t ppn;
    uint32_t count, every;
    uint32_t *partner; /* [count][steps] */
    struct gen_fit_timing
        *timing; /* [count][steps] those that were measured, then in turn those of a simulation */
    struct gen_fit_spread spread[GEN_FIT_PLACES]; /* of those that were measured */
    struct gen_fit_timings measured, made;
};

/* Memory: at most 320 bytes for each rank, and 700 KiB. Free also after a failure (HPCW_ENOMEM). */
hpcw_status gen_fit_rows_init(struct gen_fit_rows *rows, const hpcw_linktest_info *info, uint32_t ppn,
                              hpcw_error *err);
void gen_fit_rows_free(struct gen_fit_rows *rows);

/* After the last row: the spread. */
void gen_fit_rows_end(struct gen_fit_rows *rows);

/* A row of the first permutation, in ascending order of the ranks; time: seconds. Takes those that are compared. */
void gen_fit_rows_add(struct gen_fit_rows *rows, uint32_t rank, const uint32_t *node, const uint64_t *partner,
                      const double *time);

/* Learns, in this order: the preset; the noise of its timings; factors for its times; the job; delays. */
hpcw_status gen_fit_rows_learn_machine(struct gen_fit_rows *rows, struct gen_fit_twin *twin, hpcw_error *err);
hpcw_status gen_fit_rows_learn_noise(struct gen_fit_rows *rows, struct gen_fit_twin *twin, hpcw_error *err);
hpcw_status gen_fit_rows_learn_times(struct gen_fit_rows *rows, struct gen_fit_twin *twin, hpcw_error *err);
hpcw_status gen_fit_rows_learn_job(struct gen_fit_rows *rows, struct gen_fit_twin *twin, hpcw_error *err);
hpcw_status gen_fit_rows_learn_delays(struct gen_fit_rows *rows, struct gen_fit_twin *twin, hpcw_error *err);

#endif
