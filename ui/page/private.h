/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of ui/page/. */
#ifndef HPCW_UI_PAGE_PRIVATE_H
#define HPCW_UI_PAGE_PRIVATE_H

#include <hpcw/sink.h>

#include "libwriter/base/buf.h"
#include "libwriter/io/json.h"
#include "ui/page/timeline.h"

/* A file that the build embedded into the program. */
struct ui_page_file {
    const char *name; /* without its directory */
    const unsigned char *data;
    size_t size;
};
extern const struct ui_page_file ui_page_file[];
extern const size_t ui_page_files;

/* Files of the library that draws charts. */
#define UI_PAGE_LIBRARY "chart.min.js"
#define UI_PAGE_LICENCE "copyright"

enum { UI_PAGE_DEPTH = 16 };

struct ui_page {
    hpcw_sink *sink;
    uint64_t offset;
    struct hpcw_i_buf out;             /* output that is not yet in the sink */
    struct hpcw_i_buf about, findings; /* the elements above the sections */
    /* Buffer of the open element: &about or &findings; NULL: no such element is open. While it is open, this buffer
     * and `out` have exchanged contents. */
    struct hpcw_i_buf *aside;
    struct hpcw_i_buf said;             /* findings as plain text, for the terminal */
    struct hpcw_i_buf contents;         /* a link for each section */
    struct hpcw_i_buf scratch;          /* JSON of a chart, or a text */
    const char *closing[UI_PAGE_DEPTH]; /* [depth] closing tags of the open elements, the innermost last */
    size_t depth;
    unsigned sections;
    unsigned found;   /* number of the last section that has a finding */
    char heading[96]; /* title of the open section */
    unsigned charts, timelines;
    bool settled; /* everything is written, but the file has no final name */
    hpcw_status status;
    hpcw_error error;
};

void ui_page_fail_memory(struct ui_page *page);

/* Append markup without escaping. */
void ui_page_raw(struct ui_page *page, const char *markup);
void ui_page_bytes(struct ui_page *page, const void *data, size_t size);
/* Opens an element that ui_page_end closes with `closing`. */
void ui_page_open_element(struct ui_page *page, const char *opening, const char *closing);
/* Appends escaped text, for element content and attribute values. */
void ui_page_escaped(struct ui_page *page, const char *text);
void ui_page_badge(struct ui_page *page, enum ui_page_origin origin);

/* Begins a figure, up to the script that holds its JSON. lines: height in lines of text. 0 gives the default
 * height, UI_PAGE_SQUARE makes the figure as high as wide. */
#define UI_PAGE_SQUARE SIZE_MAX
void ui_page_open_figure(struct ui_page *page, const char *title, const char *caption,
                         enum ui_page_origin origin, size_t lines);

/* Begin and end the JSON of a chart. */
void ui_page_begin_json(struct ui_page *page, struct hpcw_i_json *j, const char *kind);
void ui_page_end_json(struct ui_page *page, struct hpcw_i_json *j);
void ui_page_put_colour(struct hpcw_i_json *j, unsigned colour);
void ui_page_put_areas(struct hpcw_i_json *j, const struct ui_page_area *area, size_t areas);

extern const char *const ui_page_unit_name[];

/* Writes JSON inside a script element, so that no markup can begin or end in it. */
void ui_page_json(struct ui_page *page, const char *json, size_t size);

#endif
