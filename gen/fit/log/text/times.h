/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of steps, and what they have in common. */
#ifndef HPCW_GEN_FIT_LOG_TEXT_TIMES_H
#define HPCW_GEN_FIT_LOG_TEXT_TIMES_H

#include "gen/fit/log/text/put.h"

/* Writes the factors of times before calls, by turn. */
void fit_text_put_course(struct fit_text *t);

void fit_text_put_times(struct fit_text *t, const struct fit_role *r);
void fit_text_put_luck(struct fit_text *t, const struct fit_role *r);

#endif
