/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of a page share. */
#ifndef HPCW_UI_PAGE_PRIVATE_H
#define HPCW_UI_PAGE_PRIVATE_H

#include <hpcw/sink.h>

#include "libwriter/base/buf.h"
#include "libwriter/io/json.h"
#include "ui/page/page.h"

/* A file that the build put into the program. */
struct ui_page_file {
    const char *name; /* without its directory */
    const unsigned char *data;
    size_t size;
};
extern const struct ui_page_file ui_page_file[];
extern const size_t ui_page_files;

/* Of the page that embeds them. */
#define UI_PAGE_LIBRARY "chart.min.js"
#define UI_PAGE_LICENCE "copyright"

enum { UI_PAGE_DEPTH = 16 };

struct ui_page {
    hpcw_sink *sink;
    uint64_t offset;
    struct hpcw_i_buf out;              /* not yet in the sink */
    struct hpcw_i_buf findings;         /* while one is open, the rest of the page */
    struct hpcw_i_buf contents;         /* a link for each section */
    struct hpcw_i_buf scratch;          /* JSON of a chart, or a text */
    const char *closing[UI_PAGE_DEPTH]; /* of the open elements, the innermost last */
    size_t depth;
    unsigned sections;
    bool finding;     /* is open */
    char heading[96]; /* of the open section */
    unsigned charts;
    hpcw_status status;
    hpcw_error error;
};

/* Markup, as it is. */
void ui_page_raw(struct ui_page *page, const char *markup);
void ui_page_bytes(struct ui_page *page, const void *data, size_t size);
/* Opens an element that ui_page_end closes with `closing`. */
void ui_page_open_element(struct ui_page *page, const char *opening, const char *closing);
/* Escaped, for element content and for values of attributes. */
void ui_page_escaped(struct ui_page *page, const char *text);
void ui_page_badge(struct ui_page *page, enum ui_page_origin origin);

extern const char *const ui_page_unit_name[];

/* JSON that a script element holds: no markup can begin or end in it. */
void ui_page_json(struct ui_page *page, const char *json, size_t size);

#endif
