/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares two logs of one program with different numbers of ranks: which roles are the same, and which ranks
 * have them. */
#ifndef HPCW_GEN_FIT_LOG_PROGRAM_SCALE_H
#define HPCW_GEN_FIT_LOG_PROGRAM_SCALE_H

#include "gen/fit/log/program/program.h"

struct fit_scale {
    const struct fit_program *more, *fewer; /* log with more ranks and log with fewer ranks */
    /* role in the log `more` by place on the grid; UINT32_MAX: no rank has this place */
    uint32_t role[FIT_PLACES];
    uint32_t like[FIT_PLACES]; /* for each role in the log `more`: the equal role in the log `fewer` */
};

/* Stages of the comparison of two programs. FIT_SCALE_ROLES: in each log, the place of a rank on the grid
 * decides its role. FIT_SCALE_PLACES: both logs have ranks at the same places. FIT_SCALE_SAME: the roles at
 * each place are equal. */
enum fit_scale_stage { FIT_SCALE_NOTHING, FIT_SCALE_ROLES, FIT_SCALE_PLACES, FIT_SCALE_SAME };

/* Compares programs that were folded with the same grid. *stage: last stage that was reached. HPCW_EINVAL: the
 * stage is not FIT_SCALE_SAME. */
hpcw_status fit_scale_match(const struct fit_program *more, const struct fit_program *fewer,
                            struct fit_scale *scale, enum fit_scale_stage *stage, hpcw_error *err);

/* Returns the exponent p of a value that grows as the p-th power of the number of ranks. Returns 0 if the relative
 * difference of both values is at most `least`. */
double fit_scale_power(const struct fit_scale *scale, double with_more, double with_fewer, double least);

#endif
