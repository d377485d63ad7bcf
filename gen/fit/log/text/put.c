/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/log/text/put.h"

#include <stdarg.h>
#include <stdio.h>

#include "gen/fit/log/text/text.h"

void fit_text_append(struct fit_text *t, const char *text) {
    if (t->buf->size > FIT_MOST_TEXT) {
        return; /* the text is too long and will be refused */
    }
    for (const char *c = text; *c != '\0'; c++) {
        t->lines += *c == '\n';
    }
    t->failed = t->failed || !hpcw_i_buf_append_str(t->buf, text);
}

void fit_text_put(struct fit_text *t, const char *fmt, ...) {
    char piece[512];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(piece, sizeof piece, fmt, args);
    va_end(args);
    fit_text_append(t, piece);
}

void fit_text_indent(struct fit_text *t) {
    fit_text_put(t, "%*s", (int)(2 * t->depth), "");
}

int fit_text_width(uint64_t value) {
    int width = 2; /* one digit and the blank before it */
    while (value >= 10) {
        value /= 10;
        width++;
    }
    return width;
}

const struct fit_role *fit_text_like(const struct fit_text *t, const struct fit_role *r) {
    return &t->scale->fewer->role[t->scale->like[r - t->p->role]];
}
