/* SPDX-License-Identifier: BSD-3-Clause */
/* Draws the results of hpcw-kernels as a page. Figures that a file does not have stay empty. */
#include <string.h>

#include <cjson/cJSON.h>

#include "bench/measure/workdir.h"
#include "bench/report/results.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "ui/page/page.h"

enum { MOST_BYTES = 64 << 20 };

static const cJSON *member(const cJSON *object, const char *key) {
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

static const char *text_of(const cJSON *object, const char *key) {
    const char *text = cJSON_GetStringValue(member(object, key));
    return text == NULL ? "" : text;
}

static void number_cell(struct ui_page *page, const cJSON *object, const char *key) {
    const cJSON *v = member(object, key);
    if (cJSON_IsNumber(v)) {
        ui_page_number_cell(page, UI_PAGE_PLAIN, v->valuedouble);
    } else {
        ui_page_text_cell(page, "%s", "");
    }
}

static void number_fact(struct ui_page *page, const cJSON *object, const char *key, enum ui_page_unit unit) {
    const cJSON *v = member(object, key);
    if (cJSON_IsNumber(v)) {
        ui_page_number(page, unit, v->valuedouble);
    }
}

static void facts(struct ui_page *page, const cJSON *tree) {
    const cJSON *machine = member(tree, "machine"), *fs = member(tree, "file_system"),
                *run = member(tree, "run");
    ui_page_heading(page, "What was measured");
    ui_page_begin(page, UI_PAGE_FACTS);
    ui_page_fact(page, "Machine");
    ui_page_text(page, "%s, ", text_of(machine, "processor"));
    number_fact(page, machine, "processors", UI_PAGE_COUNT);
    ui_page_text(page, " processors, ");
    number_fact(page, machine, "memory_bytes", UI_PAGE_BYTES);
    ui_page_text(page, ", %s", text_of(machine, "system"));
    ui_page_end(page);
    ui_page_fact(page, "File system");
    ui_page_text(page, "%s, blocks of ", text_of(fs, "type"));
    number_fact(page, fs, "block_bytes", UI_PAGE_BYTES);
    ui_page_end(page);
    ui_page_fact(page, "Runs");
    number_fact(page, run, "processes", UI_PAGE_COUNT);
    ui_page_text(page, " processes, ");
    number_fact(page, run, "repeat", UI_PAGE_COUNT);
    ui_page_text(page, " repetitions. %s. Durability: %s", text_of(run, "order"), text_of(run, "durability"));
    ui_page_end(page);
    ui_page_fact(page, "Started");
    ui_page_text(page, "%s", text_of(tree, "time"));
    ui_page_end(page);
    ui_page_fact(page, "Program");
    ui_page_text(page, "%s %s (%s, %s)", text_of(tree, "program"), text_of(tree, "version"),
                 text_of(machine, "compiler"), text_of(machine, "build"));
    ui_page_end(page);
    ui_page_end(page);
}

static void kernel(struct ui_page *page, const cJSON *result) {
    static const char *const titles[] = {"figure",   "unit",  "median", "interval from", "to", "limit",
                                         "coverage", "state", NULL};
    const cJSON *figures = member(result, "figures"), *figure;
    ui_page_heading(page, text_of(result, "name"));
    ui_page_begin(page, UI_PAGE_PARAGRAPH);
    ui_page_text(page, "%s%s%s", text_of(result, "what"),
                 member(result, "skipped") == NULL ? "" : ". Skipped: ", text_of(result, "skipped"));
    ui_page_end(page);
    if (!cJSON_IsArray(figures)) {
        return;
    }
    ui_page_table(page, "Medians with their confidence intervals.", UI_PAGE_MEASURED, false);
    ui_page_columns(page, titles);
    cJSON_ArrayForEach(figure, figures) {
        ui_page_row(page, NULL, false);
        ui_page_text_cell(page, "%s", text_of(figure, "name"));
        ui_page_text_cell(page, "%s", text_of(figure, "unit"));
        number_cell(page, figure, "median");
        number_cell(page, figure, "ci_low");
        number_cell(page, figure, "ci_high");
        number_cell(page, figure,
                    member(figure, "wanted_at_least") != NULL ? "wanted_at_least" : "wanted_at_most");
        number_cell(page, figure, "ci_coverage");
        ui_page_text_cell(page, "%s", text_of(figure, "verdict"));
        ui_page_end(page);
    }
    ui_page_end(page);
}

static hpcw_status draw(const cJSON *tree, const char *path, hpcw_error *err) {
    struct ui_page *page = NULL;
    hpcw_status s = ui_page_open(path, "The writers beside plain loops", &page, err);
    if (s == HPCW_OK) {
        const cJSON *result;
        facts(page, tree);
        cJSON_ArrayForEach(result, member(tree, "results")) {
            kernel(page, result);
        }
        s = ui_page_finish(page, err);
    }
    ui_page_free(page);
    return s;
}

hpcw_status bench_report_kernels(const char *results, const char *path, bool *drawn, hpcw_error *err) {
    unsigned char *text;
    size_t size;
    *drawn = false;
    hpcw_status s = bench_read_file(results, MOST_BYTES, &text, &size, err);
    cJSON *tree = s == HPCW_OK ? cJSON_ParseWithLength((const char *)text, size) : NULL;
    /* Any other file goes to the reader of sweeps, which names its fault. */
    if (strstr(text_of(tree, "program"), "kernels") != NULL && cJSON_IsArray(member(tree, "results"))) {
        s = draw(tree, path, err);
        *drawn = s == HPCW_OK;
    }
    cJSON_Delete(tree);
    hpcw_i_free(text);
    return s;
}
