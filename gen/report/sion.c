/* SPDX-License-Identifier: BSD-3-Clause */
/* A SION container in a report: bytes of its tasks. */
#include "libreader/sion/sion.h"
#include "gen/report/report.h"
#include "libwriter/base/status.h"

struct sion_totals {
    uint64_t payload, apparent, least, most;
};

static hpcw_status read_tasks(struct read_sion *reader, struct gen_by_rank *bytes, struct sion_totals *t,
                              hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (uint32_t f = 0; s == HPCW_OK && f < read_sion_files(reader); f++) {
        struct read_sion_info info;
        s = read_sion_info(reader, f, &info, err);
        t->apparent += s == HPCW_OK ? info.file_size : 0;
        for (uint32_t k = 0; s == HPCW_OK && k < info.tasks; k++) {
            struct read_sion_task task;
            s = read_sion_task(reader, f, k, &task, err);
            if (s == HPCW_OK && task.rank >= 0 && task.rank < read_sion_tasks(reader)) {
                gen_by_rank_add(bytes, (uint64_t)task.rank, (double)task.size);
                t->payload += task.size;
                t->least = task.size < t->least ? task.size : t->least;
                t->most = task.size > t->most ? task.size : t->most;
            }
        }
    }
    return s;
}

static hpcw_status draw(const struct gen_report *r, struct read_sion *reader, struct gen_by_rank *bytes,
                        const struct sion_totals *t, hpcw_error *err) {
    struct ui_page *page = r->page;
    struct read_sion_info info;
    hpcw_status s = read_sion_info(reader, 0, &info, err);
    if (s != HPCW_OK) {
        return s;
    }
    ui_page_heading(page, "Task-local data (SION container)");
    ui_page_begin(page, UI_PAGE_FACTS);
    gen_report_fact(page, "Tasks", UI_PAGE_COUNT, read_sion_tasks(reader));
    gen_report_fact(page, "Physical files", UI_PAGE_COUNT, read_sion_files(reader));
    gen_report_fact(page, "Alignment", UI_PAGE_BYTES, info.fs_block_size);
    ui_page_fact(page, "Data of tasks");
    ui_page_number(page, UI_PAGE_BYTES, (double)t->payload);
    ui_page_text(page, " in files of ");
    ui_page_number(page, UI_PAGE_BYTES, (double)t->apparent);
    ui_page_text(page, ", with holes");
    ui_page_end(page);
    ui_page_fact(page, "One task");
    ui_page_number(page, UI_PAGE_BYTES, (double)t->least);
    ui_page_text(page, " to ");
    ui_page_number(page, UI_PAGE_BYTES, (double)t->most);
    ui_page_end(page);
    ui_page_end(page);
    s = gen_by_rank_draw(bytes, page, "Bytes of every task", "The length of a task's stream.", "bytes",
                         UI_PAGE_BYTES, err);
    return s == HPCW_OK ? gen_by_rank_find(bytes, r, "number of bytes", UI_PAGE_BYTES, NULL, err) : s;
}

hpcw_status gen_report_sion(const struct gen_report *r, hpcw_error *err) {
    struct read_sion *reader;
    struct gen_by_rank bytes = {0};
    hpcw_status s = read_sion_open(r->path, &reader, err);
    if (s != HPCW_OK) {
        return s;
    }
    struct sion_totals t = {.least = UINT64_MAX};
    s = gen_by_rank_init(&bytes, read_sion_tasks(reader), err);
    s = s == HPCW_OK ? read_tasks(reader, &bytes, &t, err) : s;
    s = s == HPCW_OK ? draw(r, reader, &bytes, &t, err) : s;
    gen_by_rank_free(&bytes);
    read_sion_free(reader);
    return s;
}
