/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the times of steps, and the factors that these times have in common. */
#ifndef HPCW_GEN_FIT_LOG_TEXT_TIMES_H
#define HPCW_GEN_FIT_LOG_TEXT_TIMES_H

#include "gen/fit/log/text/put.h"

/* Writes the course: the factors of all times before calls, by turn of the main loop. */
void fit_text_put_course(struct fit_text *t);

void fit_text_put_times(struct fit_text *t, const struct fit_role *r);
void fit_text_put_luck(struct fit_text *t, const struct fit_role *r);

#endif
