/* SPDX-License-Identifier: BSD-3-Clause */
/* Gives each version of a step a number of its own, where the messages at one place of the text change over
 * time. */
#ifndef HPCW_GEN_FIT_LOG_PROGRAM_VERSIONS_H
#define HPCW_GEN_FIT_LOG_PROGRAM_VERSIONS_H

#include "gen/fit/log/program/program.h"

/* Renumbers the steps of a role. Those of a place get consecutive numbers, at most `most`. Returns false when
 * memory runs out. */
bool fit_versions_number(const struct fit_program *p, struct fit_role *r, const struct fit_place *place,
                         uint32_t most);

#endif
