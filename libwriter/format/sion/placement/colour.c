/* SPDX-License-Identifier: BSD-3-Clause */
/* One file per colour: the processes of a colour place their tasks among themselves. */
#include <stdlib.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/format/sion/placement/private.h"

struct colour_record {
    uint64_t lowest; /* lowest task of this colour; files are numbered in this order */
    uint64_t tasks;
    uint64_t stride;
};

static int by_lowest(const void *a_, const void *b_) {
    const struct colour_record *a = a_;
    const struct colour_record *b = b_;
    return a->lowest < b->lowest ? -1 : a->lowest > b->lowest;
}

hpcw_status hpcw_i_sion_placement_by_colour(const struct hpcw_i_sion_request *r, uint32_t first,
                                            struct hpcw_i_sion_placement *placement, hpcw_error *err) {
    hpcw_comm *part = NULL;
    struct colour_record *all = hpcw_i_malloc((size_t)r->comm->size * sizeof *all);
    struct hpcw_i_sion_file *file = NULL;
    uint32_t files = 0;
    uint32_t *ranks = NULL;
    struct hpcw_i_sion_directory check = {0};
    placement->column = hpcw_i_malloc(r->count * sizeof *placement->column);
    struct hpcw_i_sion_request mine = *r;
    if (r->ranks == NULL) {
        mine.ranks = ranks = hpcw_i_malloc(r->count * sizeof *ranks);
        for (uint32_t i = 0; ranks != NULL && i < r->count; i++) {
            ranks[i] = first + i;
        }
    }
    hpcw_status s = all == NULL || placement->column == NULL || mine.ranks == NULL
                        ? hpcw_i_fail_memory(err, NULL, r->count, "tasks")
                        : HPCW_OK;
    s = hpcw_i_agree(r->comm, s, NULL, err);
    if (s == HPCW_OK) {
        s = hpcw_i_sion_directory_fill(r->comm, &mine, first, &check,
                                       err); /* checks that no task occurs twice, in any colour */
    }
    if (s == HPCW_OK) {
        s = hpcw_i_comm_split(r->comm, r->options->colour, &part, err);
    }
    if (s != HPCW_OK) {
        goto done;
    }
    /* From here on the processes of each colour work alone. At the end all processes agree on a failure of any
     * colour. */
    struct hpcw_i_sion_file own = {0};
    uint64_t word[2] = {r->count, r->count > 0 ? mine.ranks[0] : UINT64_MAX};
    struct hpcw_i_words words = {.sums = 1, .mins = 1, .word = word};
    s = hpcw_i_comm_allreduce(part, &words, err);
    if (s == HPCW_OK && word[0] > 0) {
        mine.comm = part;
        const struct hpcw_i_sion_division whole = {
            .tasks = (uint32_t)word[0], .files = 1, .each = (uint32_t)word[0]};
        struct hpcw_i_sion_census census = hpcw_i_sion_census_of(mine.count, mine.ranks, mine.task, 1);
        struct hpcw_i_sion_census below;
        s = hpcw_i_sion_census_take(part, &census, &below, err);
        if (s == HPCW_OK && census.ascending) {
            struct hpcw_i_sion_order o = {.request = r,
                                          .comm = part,
                                          .division = whole,
                                          .count = r->count,
                                          .task = r->task,
                                          .before = (uint32_t)below.tasks,
                                          .file = &own};
            s = hpcw_i_sion_placement_by_order(&o, &census, below.bytes, err);
            for (uint32_t i = 0; i < r->count; i++) {
                placement->column[i] = o.before + i;
            }
        } else if (s == HPCW_OK) {
            s = hpcw_i_sion_placement_by_directory(part, &mine, &whole, first, &own, placement->column, err);
        }
    }
    /* All processes of a colour fail together. Only the process with the failure reports it, so that the message
     * names this process by its number in `comm`. */
    bool other = s != HPCW_OK && s != HPCW_ECOMM && err->process != part->process;
    s = hpcw_i_agree(r->comm, other ? HPCW_OK : s, NULL, err);
    struct colour_record record = {word[1], word[0], own.stride};
    if (s == HPCW_OK) {
        s = hpcw_i_comm_allgather(r->comm, &record, sizeof record, all, err);
    }
    if (s != HPCW_OK) {
        goto done;
    }
    qsort(all, (size_t)r->comm->size, sizeof *all, by_lowest);
    for (int p = 0; p < r->comm->size; p++) {
        if (all[p].lowest != UINT64_MAX && (p == 0 || all[p].lowest != all[p - 1].lowest)) {
            placement->own_file = all[p].lowest == record.lowest ? files : placement->own_file;
            all[files++] = all[p];
        }
    }
    file = hpcw_i_malloc(files * sizeof *file);
    s = file == NULL ? hpcw_i_fail_memory(err, NULL, files, "files") : HPCW_OK;
    s = hpcw_i_agree(r->comm, s, NULL, err);
    for (uint32_t f = 0; s == HPCW_OK && f < files; f++) {
        file[f] = (struct hpcw_i_sion_file){.tasks = (uint32_t)all[f].tasks, .stride = all[f].stride};
    }
done:
    hpcw_i_sion_directory_free(&check);
    if (part != r->comm) {
        hpcw_comm_free(part);
    }
    hpcw_i_free(ranks);
    hpcw_i_free(all);
    if (s != HPCW_OK) {
        hpcw_i_free(file);
        return s;
    }
    placement->files = files;
    placement->file = file;
    return HPCW_OK;
}
