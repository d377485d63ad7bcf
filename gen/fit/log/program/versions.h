/* SPDX-License-Identifier: BSD-3-Clause */
/* Versions of steps. If the messages of a line of the text change during the run, each list of messages gets a
 * number of its own. */
#ifndef HPCW_GEN_FIT_LOG_PROGRAM_VERSIONS_H
#define HPCW_GEN_FIT_LOG_PROGRAM_VERSIONS_H

#include "gen/fit/log/program/program.h"

/* Renumbers the steps of a role. The versions of one line of the text get consecutive numbers, at most `most`.
 * Returns false when memory runs out. */
bool fit_versions_number(const struct fit_program *p, struct fit_role *r, const struct fit_place *place,
                         uint32_t most);

#endif
