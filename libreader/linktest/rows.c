/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the rows of a permutation: the data that each task has in its stream. */
#include <float.h>
#include <inttypes.h>

#include "libreader/linktest/pass.h"
#include "libwriter/base/bytes.h"
#include "libwriter/base/status.h"

static hpcw_status first_bad_time(const struct read_linktest_pass *p, const struct read_linktest_row *row,
                                  hpcw_error *err) {
    uint32_t s = 0;
    while (read_linktest_is_time(p->row[s])) {
        s++;
    }
    return read_linktest_wrong(p->r, row->task, row->data + 8 * (uint64_t)s, err,
                               "timing of step %" PRIu32 " in permutation %" PRIu64
                               ": expected a finite number > 0, got %.17g",
                               s, row->permutation, read_linktest_double(p->row[s]));
}

/* Reads the data of a permutation in one call. The call for the first permutation also reads the chunk header,
 * which comes before the data. The call for the last one also reads the mark END_BLOCK after the data. */
static hpcw_status read_row(struct read_linktest_pass *p, struct read_linktest_row *row, hpcw_error *err) {
    struct read_linktest *r = p->r;
    const struct read_sion_task *task = row->task;
    struct read_linktest_head head;
    hpcw_status status = read_linktest_head_of(r, task, &head, err);
    if (status != HPCW_OK) {
        return status;
    }
    row->data = read_linktest_data_at(r, task, &head, row->permutation);
    bool first = row->permutation == 0, last = row->permutation + 1 == r->info.permutations;
    /* In the stream of rank 0, a summary of any size lies between the chunk header and the row. */
    size_t lead = first && row->rank != 0 ? (size_t)head.size : 0;
    size_t trail = last ? READ_LINKTEST_END_BLOCK_SIZE : 0;
    unsigned char *bytes = (unsigned char *)p->row - lead;
    if (first && row->rank == 0) {
        unsigned char *head_bytes = (unsigned char *)p->words;
        status = read_sion_read(r->sion, task, head.offset, head_bytes, (size_t)head.size, err);
        if (status == HPCW_OK) {
            status = read_linktest_head_check(r, task, &head, head_bytes, NULL, NULL, err);
        }
    }
    if (status == HPCW_OK) {
        status =
            read_sion_read(r->sion, task, row->data - lead, bytes, lead + (size_t)r->data_size + trail, err);
    }
    if (status == HPCW_OK && lead > 0) {
        status = read_linktest_head_check(r, task, &head, bytes, NULL, NULL, err);
    }
    if (status == HPCW_OK && last && memcmp(bytes + lead + r->data_size, "END_BLOCK", trail) != 0) {
        status = read_linktest_wrong(r, task, row->data + r->data_size, err,
                                     "expected \"END_BLOCK\", got something else");
    }
    size_t words = (size_t)r->data_size / 8;
    for (size_t i = 0; i < words && r->data_big != HPCW_I_HOST_BIG; i++) {
        p->row[i] = __builtin_bswap64(p->row[i]);
    }
    return status;
}

static hpcw_status check_row(struct read_linktest_pass *p, struct read_linktest_row *row, hpcw_error *err) {
    struct read_linktest *r = p->r;
    uint32_t slots = r->info.tasks - 1;
    hpcw_status status = read_row(p, row, err);
    if (status != HPCW_OK) {
        return status;
    }
    if (!read_linktest_timings_add(&p->timings, p->row, r->info.steps, p->threshold)) {
        return first_bad_time(p, row, err);
    }
    if ((status = read_linktest_schedule_add(p, row, err)) != HPCW_OK) {
        return status;
    }
    if (r->all_to_all != 0 &&
        !read_linktest_timings_add(&p->all_to_all, p->row + 2 * (size_t)slots, 1, DBL_MAX)) {
        return read_linktest_wrong(r, row->task, row->data + 16 * (uint64_t)slots, err,
                                   "all-to-all time of permutation %" PRIu64
                                   ": expected a finite number > 0, got %.17g",
                                   row->permutation, read_linktest_double(p->row[2 * (size_t)slots]));
    }
    return read_linktest_slow_entries(p, row, err);
}

/* Checks a task: rules 3 and 4. Streams may be in any order, but the ranks must be 0 .. N-1, and each stream must
 * be in one chunk. */
static hpcw_status check_task(struct read_linktest_pass *p, const struct read_sion_task *task,
                              hpcw_error *err) {
    uint32_t n = p->r->info.tasks;
    if (task->rank >= (int64_t)n || p->present[task->rank]) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: global rank of task %" PRIu32 " in file %" PRIu32
                           ": expected one of 0..%" PRIu32 " that no other task has, got %" PRId64,
                           p->r->name, task->index, task->file, n - 1, task->rank);
    }
    p->present[task->rank] = 1;
    if (task->blocks != 1) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: stream of rank %" PRId64 ": expected it in one chunk, got %" PRIu32 " blocks",
                           p->r->name, task->rank, task->blocks);
    }
    return HPCW_OK;
}

/* Goes through tasks in the order of the files, which is the order on disk. */
hpcw_status read_linktest_check_rows(struct read_linktest_pass *p, uint64_t permutation, hpcw_error *err) {
    struct read_sion *sion = p->r->sion;
    uint32_t files = read_sion_files(sion), count = 0;
    for (uint32_t file = 0; file < files; file++) {
        struct read_sion_info info;
        hpcw_status status = read_sion_info(sion, file, &info, err);
        for (uint32_t index = 0; status == HPCW_OK && index < info.tasks; index++) {
            struct read_sion_task task;
            status = read_sion_task(sion, file, index, &task, err);
            if (status != HPCW_OK || task.rank < 0) {
                /* skip a task with a negative rank: in a buddy copy of SIONlib, it has no data of its own */
                continue;
            }
            if (permutation == 0) {
                status = check_task(p, &task, err);
            }
            if (status == HPCW_OK) {
                struct read_linktest_row row = {
                    .task = &task, .rank = (uint32_t)task.rank, .permutation = permutation};
                status = check_row(p, &row, err);
            }
            count++;
        }
        if (status != HPCW_OK) {
            return status;
        }
    }
    if (count != p->r->info.tasks) {
        return hpcw_i_fail(err, HPCW_EFORMAT, "%s: tasks in all files: expected %" PRIu32 ", got %" PRIu32,
                           p->r->name, p->r->info.tasks, count);
    }
    return HPCW_OK;
}
