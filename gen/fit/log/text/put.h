/* SPDX-License-Identifier: BSD-3-Clause */
/* Text of a workload while it is written. */
#ifndef HPCW_GEN_FIT_LOG_TEXT_PUT_H
#define HPCW_GEN_FIT_LOG_TEXT_PUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "gen/fit/log/program/program.h"
#include "gen/fit/log/program/scale.h"
#include "libwriter/base/buf.h"

struct fit_text {
    const struct fit_program *p;
    const struct fit_scale *scale; /* NULL: the text is for as many ranks as the log has */
    struct hpcw_i_buf *buf;
    /* true: tags are needed, as in struct fit_program */
    bool tags;
    bool failed; /* memory ran out */
    uint32_t depth;
    /* lines: number of lines. table_lines: those of tables of messages or of ranks. */
    size_t lines, table_lines;
};

/* Appends a constant text of any length. */
void fit_text_append(struct fit_text *t, const char *text);

/* Appends at most 511 bytes, formatted as by printf. */
void fit_text_put(struct fit_text *t, const char *fmt, ...) HPCW_PRINTF(2, 3);

void fit_text_indent(struct fit_text *t);

/* Returns the width of a column with numbers up to `value`, and a blank before each number. */
int fit_text_width(uint64_t value);

/* Returns the role of the log with fewer ranks that equals the role `r`. */
const struct fit_role *fit_text_like(const struct fit_text *t, const struct fit_role *r);

#endif
