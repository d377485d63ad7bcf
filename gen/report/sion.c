/* SPDX-License-Identifier: BSD-3-Clause */
/* A SION container in a report: bytes of its tasks. */
#include "libreader/sion/sion.h"
#include "gen/report/report.h"
#include "libwriter/base/status.h"

struct totals {
    uint64_t payload, apparent, least, most;
};

static hpcw_status read_tasks(struct hpcw_i_sion_reader *reader, struct hpcw_i_by_rank *bytes, struct totals *t,
                              hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (uint32_t f = 0; s == HPCW_OK && f < hpcw_i_sion_reader_files(reader); f++) {
        struct hpcw_i_sion_info info;
        s = hpcw_i_sion_reader_info(reader, f, &info, err);
        t->apparent += s == HPCW_OK ? info.file_size : 0;
        for (uint32_t k = 0; s == HPCW_OK && k < info.tasks; k++) {
            struct hpcw_i_sion_task task;
            s = hpcw_i_sion_reader_task(reader, f, k, &task, err);
            if (s == HPCW_OK && task.rank >= 0 && task.rank < hpcw_i_sion_reader_tasks(reader)) {
                hpcw_i_by_rank_add(bytes, (uint64_t)task.rank, (double)task.size);
                t->payload += task.size;
                t->least = task.size < t->least ? task.size : t->least;
                t->most = task.size > t->most ? task.size : t->most;
            }
        }
    }
    return s;
}

static hpcw_status draw(const struct hpcw_i_report *r, struct hpcw_i_sion_reader *reader,
                        struct hpcw_i_by_rank *bytes, const struct totals *t, hpcw_error *err) {
    struct hpcw_i_page *page = r->page;
    struct hpcw_i_sion_info info;
    hpcw_status s = hpcw_i_sion_reader_info(reader, 0, &info, err);
    if (s != HPCW_OK) {
        return s;
    }
    hpcw_i_page_heading(page, "Task-local data (SION container)");
    hpcw_i_page_begin(page, HPCW_I_PAGE_FACTS);
    hpcw_i_report_fact(page, "Tasks", HPCW_I_PAGE_COUNT, hpcw_i_sion_reader_tasks(reader));
    hpcw_i_report_fact(page, "Physical files", HPCW_I_PAGE_COUNT, hpcw_i_sion_reader_files(reader));
    hpcw_i_report_fact(page, "Block size it is aligned to", HPCW_I_PAGE_BYTES, info.fs_block_size);
    hpcw_i_page_fact(page, "Data of tasks");
    hpcw_i_page_number(page, HPCW_I_PAGE_BYTES, (double)t->payload);
    hpcw_i_page_text(page, " in files of ");
    hpcw_i_page_number(page, HPCW_I_PAGE_BYTES, (double)t->apparent);
    hpcw_i_page_text(page, ", holes included");
    hpcw_i_page_end(page);
    hpcw_i_page_fact(page, "One task");
    hpcw_i_page_number(page, HPCW_I_PAGE_BYTES, (double)t->least);
    hpcw_i_page_text(page, " to ");
    hpcw_i_page_number(page, HPCW_I_PAGE_BYTES, (double)t->most);
    hpcw_i_page_end(page);
    hpcw_i_page_end(page);
    return hpcw_i_by_rank_draw(bytes, page, "Bytes of every task", "The length of a task's stream.", "bytes",
                               HPCW_I_PAGE_BYTES, err);
}

hpcw_status hpcw_i_report_sion(const struct hpcw_i_report *r, hpcw_error *err) {
    struct hpcw_i_sion_reader *reader;
    struct hpcw_i_by_rank bytes = {0};
    hpcw_status s = hpcw_i_sion_reader_open(r->path, &reader, err);
    if (s != HPCW_OK) {
        return s;
    }
    struct totals t = {.least = UINT64_MAX};
    s = hpcw_i_by_rank_init(&bytes, hpcw_i_sion_reader_tasks(reader), err);
    s = s == HPCW_OK ? read_tasks(reader, &bytes, &t, err) : s;
    s = s == HPCW_OK ? draw(r, reader, &bytes, &t, err) : s;
    hpcw_i_by_rank_free(&bytes);
    hpcw_i_sion_reader_free(reader);
    return s;
}
