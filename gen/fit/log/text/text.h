/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a program as a workload in Lua for gen/sim/lua. */
#ifndef HPCW_GEN_FIT_LOG_TEXT_TEXT_H
#define HPCW_GEN_FIT_LOG_TEXT_TEXT_H

#include "gen/fit/log/program/program.h"
#include "gen/fit/log/program/scale.h"
#include "libwriter/base/buf.h"

/* Limits of the text, since a person should be able to read it. A program with a longer text was not
 * understood. */
enum { FIT_MOST_LINES = 2000, FIT_MOST_TEXT = 960 << 10, FIT_FEW_LINES = 400 };

/* Appends the text of a program. scale: not NULL, the text is for any number of ranks, and `p` is scale->more;
 * NULL, it is for as many ranks as the log has. *lines: number of lines without tables of ranks. HPCW_EINVAL:
 * the text exceeds the limits, or partners or bytes of `scale` are no functions of the rank and of the number
 * of ranks. HPCW_ENOMEM. */
hpcw_status fit_text_write(const struct fit_program *p, const struct fit_scale *scale, struct hpcw_i_buf *buf,
                           size_t *lines, hpcw_error *err);

#endif
