/* SPDX-License-Identifier: BSD-3-Clause */
/* Checkpoints in a report: the bytes of each rank according to the maps, and files that differ from the maps. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <hpcw/rank2file.h>

#include "gen/report/report.h"
#include "libreader/rank2file/rank2file.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sys.h"

enum { MOST_CHECKPOINTS = 64, MOST_CURVES = 8, MOST_ODD = 40, MOST_NAME = 128 };

struct odd_file {
    char name[256];
    uint32_t rank;
    double said, is; /* bytes; said: size in the map; is: size on disk; NaN: there is none */
};

struct checkpoint_report {
    const struct gen_report *r;
    struct ui_raster bytes; /* ranks x checkpoints */
    uint32_t ranks, checkpoints;
    char name[MOST_CHECKPOINTS][MOST_NAME];
    double total[MOST_CHECKPOINTS];
    uint64_t files;
    uint64_t sized; /* files with a size in the map; the page has this size, and for the others that on disk */
    struct odd_file odd[MOST_ODD];
    size_t odds;
    /* error message of the last dataset that could not be read; "": all were read */
    char why[HPCW_ERROR_MESSAGE_SIZE];
};

/* Finds the size of a data file: that in the map or, if the map has none, that on disk. NaN: there is no
 * file. */
static hpcw_status size_of(struct checkpoint_report *c, const hpcw_rank2file_found *f, double *size,
                           hpcw_error *err) {
    struct hpcw_i_entry entry;
    int e = hpcw_i_sys_look(f->path, true, &entry);
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s: cannot look at it", f->path);
    }
    double is = entry.kind != HPCW_I_NOTHING ? (double)entry.size : NAN;
    double said = f->has_size ? (double)f->size : NAN;
    bool odd = isnan(is) || (f->has_size && is != said);
    c->sized += f->has_size;
    if (odd && c->odds < MOST_ODD) {
        struct odd_file *o = &c->odd[c->odds++];
        *o = (struct odd_file){.rank = f->rank, .said = said, .is = is};
        (void)snprintf(o->name, sizeof o->name, "%s", f->name);
    }
    *size = f->has_size ? said : is;
    return HPCW_OK;
}

static hpcw_status take(void *context, const char *name, hpcw_rank2file_restart *restart, const hpcw_error *why,
                        hpcw_error *err) {
    struct checkpoint_report *c = context;
    if (restart == NULL) {
        (void)snprintf(c->why, sizeof c->why, "%s", why->message);
        return HPCW_OK;
    }
    if (c->checkpoints == MOST_CHECKPOINTS) {
        return HPCW_OK;
    }
    uint32_t ranks = hpcw_rank2file_restart_ranks(restart);
    hpcw_status s = HPCW_OK;
    if (c->ranks == 0) {
        c->ranks = ranks;
        s = ui_raster_init(&c->bytes, ranks, MOST_CHECKPOINTS, UI_RASTER_MAX, UI_REDUCE_MAX, err);
    }
    uint32_t at = c->checkpoints++;
    (void)snprintf(c->name[at], MOST_NAME, "%s", name);
    uint64_t files = hpcw_rank2file_restart_files(restart);
    double sum = 0; /* bytes of the present rank; the files of a rank follow each other */
    for (uint64_t i = 0; s == HPCW_OK && i < files; i++) {
        hpcw_rank2file_found f;
        double size = 0;
        s = hpcw_rank2file_restart_file(restart, i, &f, err);
        s = s == HPCW_OK ? size_of(c, &f, &size, err) : s;
        if (s != HPCW_OK) {
            break;
        }
        uint32_t rank = f.rank;
        sum += isnan(size) ? 0 : size;
        c->total[at] += isnan(size) ? 0 : size;
        c->files++;
        bool last = i + 1 == files;
        if (!last) {
            s = hpcw_rank2file_restart_file(restart, i + 1, &f, err);
            last = s != HPCW_OK || f.rank != rank;
        }
        if (last) {
            if (rank < c->ranks) {
                ui_raster_add(&c->bytes, rank, at, sum);
            }
            sum = 0;
        }
    }
    return s;
}

static hpcw_status draw_curves(const struct checkpoint_report *c, hpcw_error *err) {
    const struct ui_raster *b = &c->bytes;
    uint32_t curves = c->checkpoints < MOST_CURVES ? c->checkpoints : MOST_CURVES;
    struct ui_page_series series[MOST_CURVES];
    struct ui_page_point *point = hpcw_i_calloc((size_t)curves * b->width, sizeof *point);
    if (point == NULL) {
        return hpcw_i_fail_memory(err, "report", b->width, "points");
    }
    for (uint32_t k = 0; k < curves; k++) {
        /* If there are too many checkpoints, the last ones are drawn. */
        uint32_t at = c->checkpoints - curves + k;
        for (uint32_t i = 0; i < b->width; i++) {
            point[k * b->width + i] = (struct ui_page_point){
                .x = (double)(i * b->span_x), .y = b->cell[(size_t)at * b->width + i], .low = NAN, .high = NAN};
        }
        series[k] = (struct ui_page_series){
            .name = c->name[at], .colour = k, .line = true, .point = point + k * b->width, .points = b->width};
    }
    ui_page_xy(c->r->page,
               &(struct ui_page_xy){.title = "Checkpoint bytes of every rank",
                                    .caption = b->span_x > 1 ? "A point is the largest of several ranks; the "
                                                               "axis shows the first of them."
                                                             : "The sum of a rank's files.",
                                    .origin = UI_PAGE_READ,
                                    .x = {.label = "rank", .unit = UI_PAGE_COUNT},
                                    .y = {.label = "bytes", .unit = UI_PAGE_BYTES},
                                    .series = series,
                                    .count = curves});
    hpcw_i_free(point);
    return HPCW_OK;
}

static void put_odd_files(const struct checkpoint_report *c) {
    if (c->odds == 0) {
        return;
    }
    struct ui_page *page = c->r->page;
    ui_page_table(page, "Files that are missing, or have another size than in the map. ", UI_PAGE_READ, false);
    ui_page_columns(page, (const char *const[]){"file", "rank", "in the map", "on disk", NULL});
    for (size_t i = 0; i < c->odds; i++) {
        ui_page_row(page, i == 0 ? "odd-file" : NULL, false);
        ui_page_text_cell(page, "%s", c->odd[i].name);
        ui_page_number_cell(page, UI_PAGE_COUNT, c->odd[i].rank);
        ui_page_number_cell(page, UI_PAGE_BYTES, c->odd[i].said);
        ui_page_number_cell(page, UI_PAGE_BYTES, c->odd[i].is);
        ui_page_end(page);
    }
    ui_page_end(page);
}

static void put_truth(const struct checkpoint_report *c) {
    const cJSON *faults = gen_report_truth(c->r, "rank2file.faults");
    if (!cJSON_IsArray(faults) || faults->child == NULL) {
        return;
    }
    struct ui_page *page = c->r->page;
    const cJSON *one;
    ui_page_table(page, "Injected faults (truth.json). ", UI_PAGE_READ, false);
    ui_page_columns(page, (const char *const[]){"kind", "checkpoint", "rank", "file", NULL});
    cJSON_ArrayForEach(one, faults) {
        const cJSON *kind = cJSON_GetObjectItemCaseSensitive(one, "kind");
        const cJSON *file = cJSON_GetObjectItemCaseSensitive(one, "file");
        ui_page_row(page, NULL, false);
        ui_page_text_cell(page, "%s", cJSON_IsString(kind) ? kind->valuestring : "");
        ui_page_number_cell(page, UI_PAGE_COUNT, gen_report_number(one, "checkpoint"));
        ui_page_number_cell(page, UI_PAGE_COUNT, gen_report_number(one, "rank"));
        ui_page_text_cell(page, "%s", cJSON_IsString(file) ? file->valuestring : "");
        ui_page_end(page);
    }
    ui_page_end(page);
}

static void put_finding(const struct checkpoint_report *c) {
    const int faults = cJSON_GetArraySize(gen_report_truth(c->r, "rank2file.faults"));
    struct ui_page *page = c->r->page;
    ui_page_finding(page);
    ui_page_text(page, "%u %s of %u %s can be read; ", c->checkpoints,
                 c->checkpoints == 1 ? "checkpoint" : "checkpoints", c->ranks,
                 c->ranks == 1 ? "rank" : "ranks");
    if (c->odds == 0) {
        ui_page_text(page, "no file is missing");
    } else {
        ui_page_text(page, "%zu%s %s another size than in the map", c->odds,
                     c->odds == MOST_ODD ? " or more" : "",
                     c->odds == 1 ? "file is missing or has" : "files are missing or have");
        ui_page_text(page, ", first ");
        ui_page_link(page, "odd-file", c->odd[0].name);
        ui_page_text(page, " of rank %u", c->odd[0].rank);
        gen_report_put_host(c->r, c->odd[0].rank);
    }
    ui_page_text(page, c->why[0] == '\0' ? "" : "; others cannot be read");
    if (faults > 0) {
        ui_page_text(page, ". Injected: %d %s", faults, faults == 1 ? "fault" : "faults");
    }
    ui_page_text(page, ".");
    ui_page_end(page);
}

static hpcw_status draw(struct checkpoint_report *c, hpcw_error *err) {
    struct ui_page *page = c->r->page;
    const char *category[MOST_CHECKPOINTS];
    ui_page_heading(page, "Checkpoints (SCR)");
    ui_page_begin(page, UI_PAGE_FACTS);
    gen_report_fact(page, "Checkpoints", UI_PAGE_COUNT, c->checkpoints);
    gen_report_fact(page, "Ranks", UI_PAGE_COUNT, c->ranks);
    gen_report_fact(page, "Files", UI_PAGE_COUNT, (double)c->files);
    if (c->files > 0) {
        ui_page_fact(page, "Sizes from");
        ui_page_text(page, "%s",
                     c->sized == c->files ? "the rank2file maps"
                     : c->sized == 0      ? "the files, as the maps have none"
                                     : "the rank2file maps; of files without a size there, from the files");
        ui_page_end(page);
    }
    ui_page_end(page);
    if (c->why[0] != '\0') {
        ui_page_begin(page, UI_PAGE_NOTE);
        ui_page_text(page, "Some checkpoints cannot be read: %s", c->why);
        ui_page_end(page);
    }
    put_finding(c);
    hpcw_status s = HPCW_OK;
    if (c->checkpoints > 0) {
        for (uint32_t i = 0; i < c->checkpoints; i++) {
            category[i] = c->name[i];
        }
        const struct ui_page_bar bar = {.name = "bytes", .colour = 0, .value = c->total};
        ui_page_bars(page, &(struct ui_page_bars){.title = "Size of every checkpoint",
                                                  .caption = "All ranks together.",
                                                  .origin = UI_PAGE_READ,
                                                  .category_label = "checkpoint",
                                                  .label = "bytes",
                                                  .unit = UI_PAGE_BYTES,
                                                  .category = category,
                                                  .categories = c->checkpoints,
                                                  .bar = &bar,
                                                  .count = 1});
        s = draw_curves(c, err);
    }
    put_odd_files(c);
    put_truth(c);
    return s;
}

hpcw_status gen_report_rank2file(const struct gen_report *r, hpcw_error *err) {
    struct hpcw_i_entry entry;
    int e = hpcw_i_sys_look(r->path, true, &entry);
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s: cannot look at it", r->path);
    }
    if (entry.kind != HPCW_I_DIRECTORY) {
        return hpcw_i_fail(err, HPCW_ENOTSUP, "%s: expected the directory of all checkpoints, got one file",
                           r->path);
    }
    struct checkpoint_report *c = hpcw_i_calloc(1, sizeof *c);
    if (c == NULL) {
        return hpcw_i_fail_memory(err, r->path, 0, NULL);
    }
    c->r = r;
    hpcw_status s = read_rank2file_tour(r->path, take, c, err);
    s = s == HPCW_OK ? draw(c, err) : s;
    ui_raster_free(&c->bytes);
    hpcw_i_free(c);
    return s;
}
