/* SPDX-License-Identifier: BSD-3-Clause */
/* What two logs of one program with different numbers of ranks have in common: which roles are the same, and which
 * ranks have them. */
#ifndef HPCW_GEN_FIT_LOG_PROGRAM_SCALE_H
#define HPCW_GEN_FIT_LOG_PROGRAM_SCALE_H

#include "gen/fit/log/program/program.h"

struct fit_scale {
    const struct fit_program *more, *fewer; /* the log with more ranks, and the other one */
    uint32_t role[FIT_PLACES]; /* role of `more` by place on its grid; UINT32_MAX: no rank has this place */
    uint32_t like[FIT_PLACES]; /* role of `fewer` that is the same, by role of `more` */
};

/* How far programs are the same: the place decides the role in each log; both logs have ranks at the same places; roles at
 * the same place are equal. */
enum fit_scale_stage { FIT_SCALE_NOTHING, FIT_SCALE_ROLES, FIT_SCALE_PLACES, FIT_SCALE_SAME };

/* Takes programs that were folded with the same grid. HPCW_EINVAL: the stage is not FIT_SCALE_SAME. */
hpcw_status fit_scale_match(const struct fit_program *more, const struct fit_program *fewer,
                            struct fit_scale *scale, enum fit_scale_stage *stage, hpcw_error *err);

/* Returns the power of the number of ranks with which something grows; 0: it differs by less than `least` of it. */
double fit_scale_power(const struct fit_scale *scale, double with_more, double with_fewer, double least);

#endif
