/* SPDX-License-Identifier: BSD-3-Clause */
/* LinkTest's timings in a report: the link matrix, the mean of each rank, the slowest links. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "gen/report/report.h"
#include "libreader/linktest/linktest.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

enum { MOST_SLOWEST = 20 };

/* Marks the rows and columns of slow ports and cables. A row is a rank that measured, a column its partner. Most
 * kernels time a message and its answer, so a slow port shows in its row and in its column. With messages in one
 * direction the port shows in one of the two. */
static void mark_truth(const struct gen_report *r, const hpcw_linktest_info *info, struct gen_areas *areas) {
    const double end = (double)info->tasks - 0.5;
    const bool one_way = info->unidirectional;
    const cJSON *one;
    cJSON_ArrayForEach(one, gen_report_truth(r, "machine.slow_ports")) {
        double from = gen_report_number(one, "first_rank") - 0.5;
        double to = from + gen_report_number(one, "ranks");
        const cJSON *way = cJSON_GetObjectItemCaseSensitive(one, "direction");
        bool out = cJSON_IsString(way) && strcmp(way->valuestring, "out") == 0;
        if (out || !one_way) {
            gen_areas_add(areas, -0.5, end, from, to, "slow port (injected)");
        }
        if (!out || !one_way) {
            gen_areas_add(areas, from, to, -0.5, end, "slow port (injected)");
        }
    }
    cJSON_ArrayForEach(one, gen_report_truth(r, "machine.slow_cables")) {
        double a = gen_report_number(one, "first_rank_a") - 0.5;
        double a_end = a + gen_report_number(one, "ranks_a");
        double b = gen_report_number(one, "first_rank_b") - 0.5;
        double b_end = b + gen_report_number(one, "ranks_b");
        gen_areas_add(areas, a, a_end, b, b_end, "slow cable (injected)");
        gen_areas_add(areas, b, b_end, a, a_end, "slow cable (injected)");
    }
}

static hpcw_status read_rows(struct read_linktest *reader, struct ui_raster *matrix, struct gen_by_rank *mean,
                             hpcw_error *err) {
    const hpcw_linktest_info *info = read_linktest_info(reader);
    size_t n = info->tasks == 0 ? 0 : info->tasks - 1;
    double *time = hpcw_i_calloc(n + 1, sizeof *time);
    uint64_t *partner = hpcw_i_calloc(n + 1, sizeof *partner);
    hpcw_status s =
        time == NULL || partner == NULL ? hpcw_i_fail_memory(err, "linktest", n, "timings") : HPCW_OK;
    for (uint64_t m = 0; s == HPCW_OK && m < info->permutations; m++) {
        for (uint32_t rank = 0; s == HPCW_OK && rank < info->tasks; rank++) {
            double sum = 0;
            uint32_t steps = 0;
            s = read_linktest_row(reader, rank, m, time, partner, NULL, err);
            for (; s == HPCW_OK && steps < info->steps; steps++) {
                if (partner[steps] >= info->tasks) {
                    s = hpcw_i_fail(err, HPCW_EFORMAT,
                                    "linktest: rank %u, step %u: expected a partner below %u, got %" PRIu64,
                                    rank, steps, info->tasks, partner[steps]);
                    break;
                }
                ui_raster_add(matrix, partner[steps], rank, time[steps]);
                sum += time[steps];
            }
            if (s == HPCW_OK && steps > 0) {
                gen_by_rank_add(mean, rank, sum / steps);
            }
        }
    }
    hpcw_i_free(time);
    hpcw_i_free(partner);
    return s;
}

static hpcw_status put_facts(const struct gen_report *r, struct read_linktest *reader, hpcw_error *err) {
    const hpcw_linktest_info *info = read_linktest_info(reader);
    struct ui_page *page = r->page;
    uint32_t hosts;
    hpcw_status s = read_linktest_totals(reader, &hosts, NULL, err);
    if (s != HPCW_OK) {
        return s;
    }
    ui_page_begin(page, UI_PAGE_FACTS);
    ui_page_fact(page, "Written by");
    ui_page_text(page, "LinkTest %u.%u.%u, %s", info->version[0], info->version[1], info->version[2],
                 info->mode);
    ui_page_end(page);
    gen_report_fact(page, "Ranks", UI_PAGE_COUNT, info->tasks);
    gen_report_fact(page, "Hosts", UI_PAGE_COUNT, hosts);
    ui_page_fact(page, "Messages");
    ui_page_number(page, UI_PAGE_COUNT, (double)info->messages);
    ui_page_text(page, " of ");
    ui_page_number(page, UI_PAGE_BYTES, (double)info->message_size);
    ui_page_end(page);
    for (uint64_t m = 0; m < info->permutations && s == HPCW_OK; m++) {
        struct read_linktest_summary sum;
        s = read_linktest_summary(reader, m, &sum, err);
        if (s == HPCW_OK) {
            ui_page_fact(page, "Time per message");
            ui_page_number(page, UI_PAGE_SECONDS, sum.min);
            ui_page_text(page, " to ");
            ui_page_number(page, UI_PAGE_SECONDS, sum.max);
            ui_page_text(page, ", mean ");
            ui_page_number(page, UI_PAGE_SECONDS, sum.avg);
            ui_page_end(page);
        }
    }
    ui_page_end(page);
    return s;
}

static hpcw_status put_slowest(const struct gen_report *r, struct read_linktest *reader, hpcw_error *err) {
    const hpcw_linktest_info *info = read_linktest_info(reader);
    struct read_linktest_slow slow[MOST_SLOWEST];
    size_t shown = info->retests < MOST_SLOWEST ? (size_t)info->retests : MOST_SLOWEST;
    if (shown == 0) {
        return HPCW_OK;
    }
    hpcw_status s = read_linktest_slow(reader, 0, 0, shown, slow, err);
    if (s != HPCW_OK) {
        return s;
    }
    ui_page_table(r->page, "Slowest connections, and their times when measured again. ", UI_PAGE_READ, false);
    ui_page_columns(r->page, (const char *const[]){"from rank", "to rank", "time", "measured again", NULL});
    for (size_t i = 0; i < shown; i++) {
        ui_page_row(r->page, NULL, false);
        ui_page_number_cell(r->page, UI_PAGE_COUNT, (double)slow[i].from);
        ui_page_number_cell(r->page, UI_PAGE_COUNT, (double)slow[i].to);
        ui_page_number_cell(r->page, UI_PAGE_SECONDS, slow[i].original);
        ui_page_number_cell(r->page, UI_PAGE_SECONDS, slow[i].retest);
        ui_page_end(r->page);
    }
    ui_page_end(r->page);
    return HPCW_OK;
}

static void put_matrix(const struct gen_report *r, const hpcw_linktest_info *info,
                       const struct ui_raster *matrix, const struct gen_areas *areas) {
    double last = (double)info->tasks - 0.5;
    ui_page_heat(r->page, &(struct ui_page_heat){
                              .title = "Link matrix: time per message between every two ranks",
                              .caption = info->permutations > 1 ? "A row is a rank that measured, a column its "
                                                                  "partner; the slowest of all permutations"
                                                                : "A row is a rank that measured, a column its "
                                                                  "partner",
                              .origin = UI_PAGE_READ,
                              .x = {"partner", UI_PAGE_COUNT, -0.5, last, true},
                              .y = {"rank", UI_PAGE_COUNT, -0.5, last, true},
                              .label = "time per message",
                              .unit = UI_PAGE_SECONDS,
                              .raster = matrix,
                              .area = areas->area,
                              .areas = areas->count});
}

static hpcw_status draw(const struct gen_report *r, struct read_linktest *reader, struct ui_raster *matrix,
                        struct gen_by_rank *mean, hpcw_error *err) {
    ui_page_heading(r->page, "Links between ranks (LinkTest)");
    hpcw_status s = put_facts(r, reader, err);
    if (s != HPCW_OK) {
        return s;
    }
    struct gen_areas areas = {0};
    mark_truth(r, read_linktest_info(reader), &areas);
    put_matrix(r, read_linktest_info(reader), matrix, &areas);
    s = gen_by_rank_draw(mean, r->page, "Mean time per message of each rank with all others",
                         "High values show a slow port.", "mean time per message", UI_PAGE_SECONDS, err);
    if (s == HPCW_OK) {
        struct gen_report named = *r;
        named.links = r->path;
        s = gen_by_rank_find(mean, &named, "mean time per message", UI_PAGE_SECONDS, &areas, err);
    }
    gen_areas_free(&areas);
    return s == HPCW_OK ? put_slowest(r, reader, err) : s;
}

hpcw_status gen_report_linktest(const struct gen_report *r, hpcw_error *err) {
    struct read_linktest *reader;
    struct ui_raster matrix = {0};
    struct gen_by_rank mean = {0};
    hpcw_status s = read_linktest_open(r->path, &reader, err);
    if (s != HPCW_OK) {
        return s;
    }
    const uint32_t tasks = read_linktest_info(reader)->tasks;
    s = ui_raster_init(&matrix, tasks, tasks, UI_RASTER_MAX, UI_REDUCE_MAX, err);
    if (s == HPCW_OK) {
        s = gen_by_rank_init(&mean, tasks, err);
    }
    if (s == HPCW_OK) {
        s = read_rows(reader, &matrix, &mean, err);
    }
    if (s == HPCW_OK) {
        ui_raster_finish(&matrix);
        s = draw(r, reader, &matrix, &mean, err);
    }
    ui_raster_free(&matrix);
    gen_by_rank_free(&mean);
    read_linktest_free(reader);
    return s;
}
