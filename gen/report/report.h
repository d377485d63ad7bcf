/* SPDX-License-Identifier: BSD-3-Clause */
/* F4: the formats' sections of a report, for the `report` of their rows, and what they share. */
#ifndef HPCW_GEN_REPORT_REPORT_H
#define HPCW_GEN_REPORT_REPORT_H

#include <cjson/cJSON.h>

#include <hpcw/status.h>

#include "ui/page/page.h"

/* One file or folder of a format to be drawn. */
struct gen_report {
    struct ui_page *page;
    const char *path;    /* `probe` recognises it */
    const cJSON *truth;  /* truth.json, of whatever content; NULL: there is none */
    uint32_t jobs;       /* threads */
    double from_s, to_s; /* of the window that is looked at closely; from_s >= to_s: one that suits */
};

hpcw_status gen_report_linktest(const struct gen_report *r, hpcw_error *err);
hpcw_status gen_report_rank2file(const struct gen_report *r, hpcw_error *err);
hpcw_status gen_report_sion(const struct gen_report *r, hpcw_error *err);
hpcw_status gen_report_vom(const struct gen_report *r, hpcw_error *err);
hpcw_status gen_report_clog2(const struct gen_report *r, hpcw_error *err);

/* A member of truth.json by its path "machine.slow_ports"; NULL if it is not there. */
const cJSON *gen_report_truth(const struct gen_report *r, const char *path);

/* A number of an object; NaN if there is none. */
double gen_report_number(const cJSON *object, const char *key);

/* What is marked in a chart: a growing list. A zeroed struct is an empty one. */
struct gen_areas {
    struct ui_page_area *area;
    size_t count, capacity;
};

/* Adds one; those beyond a few hundred, and ones without numbers, are left out, as is what memory has no room for: they
 * are an aid to the eye. `label` must outlive the list. */
void gen_areas_add(struct gen_areas *a, double left, double right, double top, double bottom,
                   const char *label);
void gen_areas_free(struct gen_areas *a);

/* The values of ranks 0 .. n-1 as curves that fit on a screen: in each stretch of ranks the largest, and the mean. */
struct gen_by_rank {
    struct ui_raster most, mean;
};
hpcw_status gen_by_rank_init(struct gen_by_rank *b, uint64_t ranks, hpcw_error *err);
void gen_by_rank_add(struct gen_by_rank *b, uint64_t rank, double value);
hpcw_status gen_by_rank_draw(struct gen_by_rank *b, struct ui_page *page, const char *title,
                             const char *caption, const char *label, enum ui_page_unit unit, hpcw_error *err);
void gen_by_rank_free(struct gen_by_rank *b);

/* A fact of one number. */
void gen_report_fact(struct ui_page *page, const char *name, enum ui_page_unit unit, double value);

#endif
