/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/report/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libreader/linktest/linktest.h"
#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

enum { MOST_AREAS = 400 };

/* A rank stands out if its value is this many times the median. */
#define STANDS_OUT 1.25

const cJSON *gen_report_truth(const struct gen_report *r, const char *path) {
    const cJSON *at = r->truth;
    while (at != NULL && *path != '\0') {
        char key[64];
        size_t n = strcspn(path, ".");
        (void)snprintf(key, sizeof key, "%.*s", (int)n, path);
        at = cJSON_IsObject(at) ? cJSON_GetObjectItemCaseSensitive(at, key) : NULL;
        path += n + (path[n] == '.');
    }
    return at;
}

double gen_report_number(const cJSON *object, const char *key) {
    const cJSON *v = cJSON_IsObject(object) ? cJSON_GetObjectItemCaseSensitive(object, key) : NULL;
    return cJSON_IsNumber(v) ? v->valuedouble : NAN;
}

void gen_report_host(const struct gen_report *r, uint64_t rank, char host[GEN_REPORT_HOST]) {
    static const char *const list[] = {"machine.slow_nodes", "machine.slow_ports"};
    struct read_linktest *links;
    char name[READ_LINKTEST_MOST_HOST] = "";
    int32_t core;
    hpcw_error e;
    if (r->links != NULL && read_linktest_open(r->links, &links, &e) == HPCW_OK) {
        if (rank >= read_linktest_info(links)->tasks ||
            read_linktest_host(links, (uint32_t)rank, name, &core, &e) != HPCW_OK) {
            name[0] = '\0';
        }
        read_linktest_free(links);
    }
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        const cJSON *one;
        cJSON_ArrayForEach(one, gen_report_truth(r, list[i])) {
            const double first = gen_report_number(one, "first_rank");
            const cJSON *said = cJSON_GetObjectItemCaseSensitive(one, "host");
            if (name[0] == '\0' && cJSON_IsString(said) && (double)rank >= first &&
                (double)rank < first + gen_report_number(one, "ranks")) {
                (void)snprintf(name, sizeof name, "%s", said->valuestring);
            }
        }
    }
    (void)snprintf(host, GEN_REPORT_HOST, "%.*s", GEN_REPORT_HOST - 1, name);
}

void gen_report_put_host(const struct gen_report *r, uint64_t rank) {
    char host[GEN_REPORT_HOST];
    gen_report_host(r, rank, host);
    if (host[0] != '\0') {
        ui_page_text(r->page, " (%s)", host);
    }
}

void gen_areas_add(struct gen_areas *a, double left, double right, double top, double bottom,
                   const char *label) {
    if (!isfinite(left) || !isfinite(right) || !isfinite(top) || !isfinite(bottom) || a->count == MOST_AREAS) {
        return;
    }
    struct ui_page_area *grown = hpcw_i_grow(a->area, &a->capacity, a->count + 1, sizeof *grown);
    if (grown == NULL) {
        return;
    }
    a->area = grown;
    a->area[a->count++] = (struct ui_page_area){left, right, top, bottom, label};
}

void gen_areas_free(struct gen_areas *a) {
    hpcw_i_free(a->area);
}

hpcw_status gen_by_rank_init(struct gen_by_rank *b, uint64_t ranks, hpcw_error *err) {
    *b = (struct gen_by_rank){.top = UINT64_MAX};
    hpcw_status s = ui_raster_init(&b->most, ranks, 1, UI_RASTER_MAX, UI_REDUCE_MAX, err);
    return s == HPCW_OK ? ui_raster_init(&b->mean, ranks, 1, UI_RASTER_MAX, UI_REDUCE_MEAN, err) : s;
}

void gen_by_rank_add(struct gen_by_rank *b, uint64_t rank, double value) {
    ui_raster_add(&b->most, rank, 0, value);
    ui_raster_add(&b->mean, rank, 0, value);
    if (value > b->largest || (value == b->largest && rank < b->top)) {
        b->top = rank;
        b->largest = value;
    }
}

hpcw_status gen_by_rank_draw(struct gen_by_rank *b, struct ui_page *page, const char *title,
                             const char *caption, const char *label, enum ui_page_unit unit, hpcw_error *err) {
    ui_raster_finish(&b->most);
    ui_raster_finish(&b->mean);
    bool grouped = b->most.span_x > 1;
    struct ui_page_point *point = hpcw_i_calloc(2 * (size_t)b->most.width, sizeof *point);
    if (point == NULL) {
        return hpcw_i_fail_memory(err, "report", b->most.width, "points");
    }
    for (uint32_t i = 0; i < b->most.width; i++) {
        double rank = (double)(i * b->most.span_x);
        point[i] = (struct ui_page_point){.x = rank, .y = b->most.cell[i], .low = NAN, .high = NAN};
        point[b->most.width + i] =
            (struct ui_page_point){.x = rank, .y = b->mean.cell[i], .low = NAN, .high = NAN};
    }
    const struct ui_page_series series[] = {
        {.name = grouped ? "largest" : label,
         .colour = 1,
         .line = true,
         .point = point,
         .points = b->most.width},
        {.name = "mean", .colour = 0, .line = true, .point = point + b->most.width, .points = b->most.width}};
    char text[512];
    (void)snprintf(text, sizeof text, "%s%s", caption,
                   grouped ? " A point is several ranks; the axis shows the first of them." : "");
    ui_page_xy(page, &(struct ui_page_xy){.title = title,
                                          .caption = text,
                                          .origin = UI_PAGE_READ,
                                          .x = {.label = "rank", .unit = UI_PAGE_COUNT},
                                          .y = {.label = label, .unit = unit},
                                          .series = series,
                                          .count = grouped ? 2 : 1});
    hpcw_i_free(point);
    return HPCW_OK;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of the marks at the row of a rank, returns the label of the one with the smallest height; NULL: there is
 * none. Skips marks that are higher than wide: they mark columns. */
static const char *label_of(const struct gen_areas *marks, double rank) {
    const char *label = NULL;
    double least = INFINITY;
    for (size_t i = 0; marks != NULL && i < marks->count; i++) {
        const struct ui_page_area *a = &marks->area[i];
        double height = a->bottom - a->top;
        if (rank > a->top && rank < a->bottom && a->right - a->left >= height && height < least) {
            label = a->label;
            least = height;
        }
    }
    return label;
}

hpcw_status gen_by_rank_find(const struct gen_by_rank *b, const struct gen_report *r, const char *what,
                             enum ui_page_unit unit, const struct gen_areas *marks, hpcw_error *err) {
    const uint32_t width = b->most.width;
    struct ui_page *page = r->page;
    double *x = hpcw_i_malloc(width * sizeof *x);
    uint32_t n = 0, many = 0;
    if (x == NULL) {
        return hpcw_i_fail_memory(err, "report", width, "ranks");
    }
    for (uint32_t i = 0; i < width; i++) {
        if (!isnan(b->mean.cell[i])) {
            x[n++] = b->mean.cell[i];
        }
    }
    qsort(x, n, sizeof *x, ascending);
    const double median = n == 0 ? 0 : x[n / 2];
    for (uint32_t i = 0; i < width; i++) {
        many += b->most.cell[i] >= STANDS_OUT * median;
    }
    hpcw_i_free(x);
    if (!(median > 0)) {
        return HPCW_OK;
    }
    char rank[32];
    (void)snprintf(rank, sizeof rank, "rank %" PRIu64, b->top);
    ui_page_finding(page);
    if (b->largest < STANDS_OUT * median) {
        ui_page_text(page, "no rank stands out by its %s: the largest is that of ", what);
        ui_page_link_chart(page, rank);
        gen_report_put_host(r, b->top);
        ui_page_text(page, ", ");
    } else {
        const char *label = label_of(marks, (double)b->top);
        if (many > 1) {
            ui_page_text(page, "%u %s stand out, most of all ", many,
                         b->most.span_x > 1 ? "groups of ranks" : "ranks");
        }
        ui_page_link_chart(page, rank);
        gen_report_put_host(r, b->top);
        ui_page_text(page, "%s%s%s: its %s is ", many > 1 ? "" : " stands out", label == NULL ? "" : ", ",
                     label == NULL ? "" : label, what);
    }
    ui_page_number(page, unit, b->largest);
    ui_page_text(page, ", ");
    ui_page_number(page, UI_PAGE_PLAIN, b->largest / median);
    ui_page_text(page, " times the median of all ranks.");
    ui_page_end(page);
    return HPCW_OK;
}

void gen_by_rank_free(struct gen_by_rank *b) {
    ui_raster_free(&b->most);
    ui_raster_free(&b->mean);
}

void gen_report_fact(struct ui_page *page, const char *name, enum ui_page_unit unit, double value) {
    ui_page_fact(page, name);
    ui_page_number(page, unit, value);
    ui_page_end(page);
}
