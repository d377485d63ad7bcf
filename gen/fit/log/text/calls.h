/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the steps of a program as calls of the workload in Lua. */
#ifndef HPCW_GEN_FIT_LOG_TEXT_CALLS_H
#define HPCW_GEN_FIT_LOG_TEXT_CALLS_H

#include "gen/fit/log/text/put.h"

void fit_text_put_step(struct fit_text *t, const struct fit_role *r, const struct fit_node *n);

#endif
