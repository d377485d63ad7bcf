/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What ranks did over time, for a chart that moves and zooms. There are several levels of detail, each with
 * cells of time and ranks. A cell has the state that took most of its time.
 *
 * The states of the first level are exact. On the other levels, the state of a cell is exact if it took more
 * than half of the time: the majority vote of Boyer and Moore finds it without a table of all states for each
 * cell.
 *
 * Memory: at most about 80 MB, however many ranks and states there are.
 */
#ifndef HPCW_UI_PAGE_TIMELINE_H
#define HPCW_UI_PAGE_TIMELINE_H

#include "libwriter/base/buf.h"
#include "ui/page/page.h"

enum {
    UI_TIMELINE_STATES = 13, /* largest number of states; four bits hold a state or UI_TIMELINE_NOTHING */
    UI_TIMELINE_NOTHING = 15,
    UI_TIMELINE_LEVELS = 5,
};

struct ui_timeline_level {
    uint32_t columns, rows;
    uint64_t span;        /* ranks of a row */
    unsigned char *state; /* [rows][columns] */
    /* [rows][columns] counter of the majority vote for `state`, seconds; NULL on the first level */
    float *lead;
};

struct ui_timeline {
    double from, to; /* seconds */
    uint64_t ranks;
    uint32_t states;
    float *time; /* [rows][columns][states] time of each state in the cells of the first level, seconds */
    struct ui_timeline_level level[UI_TIMELINE_LEVELS];
    uint32_t levels;
};

/* Begins a timeline. from < to, 0 < ranks, 0 < states <= UI_TIMELINE_STATES. Fails with HPCW_ENOMEM. */
HPCW_MUST_CHECK hpcw_status ui_timeline_init(struct ui_timeline *t, double from, double to, uint64_t ranks,
                                             uint32_t states, hpcw_error *err);

/* Adds that a rank was in a state from one time to another. Times and ranks outside of the timeline are ignored. */
void ui_timeline_add(struct ui_timeline *t, uint64_t rank, uint32_t state, double from, double to);

/* Completes the timeline. Call it after the last ui_timeline_add. */
void ui_timeline_finish(struct ui_timeline *t);

void ui_timeline_free(struct ui_timeline *t);

/* ---- The chart ---- */

/* A quantity over the same time and ranks. The chart can show it instead of the states. */
struct ui_page_layer {
    const char *name;
    enum ui_page_unit unit;
    const struct ui_raster *raster; /* raster whose columns are times and whose rows are ranks */
};

/* A place where a state occurs. */
struct ui_page_place {
    const char *name; /* name of the state */
    uint64_t rank;
    double from, to;
};

/* A script file that lies beside the page and has single events. */
struct ui_page_script {
    uint64_t first_rank, last_rank;
    double from, to; /* begin of its first event and end of its last one, seconds */
};

struct ui_page_timeline {
    const char *title, *caption;
    enum ui_page_origin origin;
    const struct ui_timeline *timeline;
    const char *const *name; /* [timeline->states] name of each state */
    const unsigned *colour;  /* [timeline->states] colour of each state */
    double from, to;         /* times that the chart shows at first */
    const struct ui_page_layer *layer;
    size_t layers;
    const struct ui_page_place *place; /* [places]; the places of a state follow each other */
    size_t places;
    const struct ui_page_area *area;
    size_t areas;
    /* folder: directory with script files that hold single events; NULL: none. In these files, the state of an
     * event is an index of event_name. */
    const char *folder;
    const struct ui_page_script *script;
    size_t scripts;
    const char *const *event_name;
    size_t event_names;
};

/* Adds a timeline to a page. A page has at most one. */
void ui_page_timeline(struct ui_page *page, const struct ui_page_timeline *chart);

/* Adds a link to the open element. When the reader follows it, the timeline of the page shows this rank and
 * time. */
void ui_page_link_place(struct ui_page *page, uint64_t rank, double from, double to, const char *text);

/* Appends bytes as text of A to Z, a to z, 0 to 9, + and / that JavaScript's atob() reads. False: out of memory. */
bool ui_page_base64(struct hpcw_i_buf *out, const unsigned char *data, size_t size);

#endif
