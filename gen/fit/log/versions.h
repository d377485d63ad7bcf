/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps at one place of the text whose messages change from time to time: each version of them gets a number of its own. */
#ifndef HPCW_GEN_FIT_LOG_VERSIONS_H
#define HPCW_GEN_FIT_LOG_VERSIONS_H

#include "gen/fit/log/program.h"

/* Numbers the steps of a role anew: those of a place follow each other, and there are at most `most`. False when memory runs
 * out. */
bool fit_versions_number(const struct fit_program *p, struct fit_role *r, const struct fit_place *place,
                         uint32_t most);

#endif
