/* SPDX-License-Identifier: BSD-3-Clause */
/* A text that is being written, and the program that it is of. */
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
    const struct fit_scale *scale; /* NULL: for as many ranks as the log has */
    struct hpcw_i_buf *buf;
    /* true: tags are needed, since messages between two ranks are received in another order than sent */
    bool tags;
    bool failed; /* memory ran out */
    uint32_t depth;
    size_t lines, table_lines; /* lines written; those of lists of messages and tables of ranks */
};

/* Appends a constant text of any length. */
void fit_text_append(struct fit_text *t, const char *text);

/* Appends at most 511 bytes. */
void fit_text_put(struct fit_text *t, const char *fmt, ...) HPCW_PRINTF(2, 3);

/* Appends the blanks that a line begins with. */
void fit_text_indent(struct fit_text *t);

/* Returns the width of a column with a blank and numbers up to a value. */
int fit_text_width(uint64_t value);

/* Returns the same role in the log with fewer ranks. */
const struct fit_role *fit_text_like(const struct fit_text *t, const struct fit_role *r);

#endif
