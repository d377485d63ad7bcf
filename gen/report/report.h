/* SPDX-License-Identifier: BSD-3-Clause */
/* The sections of a report, one for each format, and their common functions. */
#ifndef HPCW_GEN_REPORT_REPORT_H
#define HPCW_GEN_REPORT_REPORT_H

#include <cjson/cJSON.h>

#include <hpcw/status.h>

#include "ui/page/page.h"

enum { GEN_REPORT_HOST = 64 }; /* size of the name of a host with its NUL */

struct log_detail;

/* What a section of the page draws: a file or directory of one format. */
struct gen_report {
    struct ui_page *page;
    const char *path;    /* path of the file or directory */
    const cJSON *truth;  /* truth.json, not checked; NULL: there is none */
    uint32_t jobs;       /* threads */
    double from_s, to_s; /* time window to show first, s; from_s >= to_s: the whole log */
    const char *links;   /* path of the dataset's LinkTest result, which names the hosts; NULL: none */
    /* path of a new directory for the single events of a log; NULL: they are not written */
    const char *detail;
    /* receives the open directory `detail`, which is renamed when the page is; NULL: no directory is made */
    struct log_detail **made;
    hpcw_error *warning; /* receives why the charts may be wrong; code HPCW_OK: no known reason */
};

hpcw_status gen_report_linktest(const struct gen_report *r, hpcw_error *err);
hpcw_status gen_report_rank2file(const struct gen_report *r, hpcw_error *err);
hpcw_status gen_report_sion(const struct gen_report *r, hpcw_error *err);
hpcw_status gen_report_vom(const struct gen_report *r, hpcw_error *err);
hpcw_status gen_report_clog2(const struct gen_report *r, hpcw_error *err);

/* Renames the directory of the single events to its final name. */
hpcw_status gen_report_detail_publish(struct log_detail *d, hpcw_error *err);
void gen_report_detail_free(struct log_detail *d);

/* Returns the member of truth.json with a path such as "machine.slow_ports"; NULL: there is none. */
const cJSON *gen_report_truth(const struct gen_report *r, const char *path);

/* Returns the member `key` of an object if it is a number; otherwise NaN. */
double gen_report_number(const cJSON *object, const char *key);

/* Finds the host of a rank; "" if neither the LinkTest result nor truth.json names it. */
void gen_report_host(const struct gen_report *r, uint64_t rank, char host[GEN_REPORT_HOST]);
/* Adds " (HOST)" to the open element of the page, or nothing if the host is not known. */
void gen_report_put_host(const struct gen_report *r, uint64_t rank);

/* A growing list of areas to mark in a chart. Zeroed: empty. */
struct gen_areas {
    struct ui_page_area *area;
    size_t count, capacity;
};

/* Adds an area. Drops it without an error if it is not finite, if the list has a few hundred areas, or if
 * memory runs out: a report without a mark is still right. `label` must outlive the list. */
void gen_areas_add(struct gen_areas *a, double left, double right, double top, double bottom,
                   const char *label);
void gen_areas_free(struct gen_areas *a);

/* Two curves over ranks 0 .. n-1: the largest and the mean value of each group of ranks. Groups make the curves
 * short enough for a screen. */
struct gen_by_rank {
    struct ui_raster most, mean;
    uint64_t top; /* the first rank with the largest value */
    double largest;
};
hpcw_status gen_by_rank_init(struct gen_by_rank *b, uint64_t ranks, hpcw_error *err);
void gen_by_rank_add(struct gen_by_rank *b, uint64_t rank, double value);
hpcw_status gen_by_rank_draw(struct gen_by_rank *b, struct ui_page *page, const char *title,
                             const char *caption, const char *label, enum ui_page_unit unit, hpcw_error *err);
/* Adds the finding whether a rank stands out, with the label of an injected fault of this rank. Call it
 * directly after gen_by_rank_draw, since the finding links to the last chart. `what` names the value, as in
 * "mean time per message". `marks`: injected faults, with ranks on the vertical axis; NULL: none. Fails with
 * HPCW_ENOMEM. */
hpcw_status gen_by_rank_find(const struct gen_by_rank *b, const struct gen_report *r, const char *what,
                             enum ui_page_unit unit, const struct gen_areas *marks, hpcw_error *err);
void gen_by_rank_free(struct gen_by_rank *b);

void gen_report_fact(struct ui_page *page, const char *name, enum ui_page_unit unit, double value);

#endif
