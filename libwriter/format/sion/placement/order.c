/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks whose order over the processes is the order of their numbers: prefix sums place them. */
#include <string.h>

#include "libwriter/base/checked.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/format/sion/placement/private.h"

/*
 * Sums of sizes travel as two words, low and high 32 bits apart, so that the sum over any number of processes
 * is exact, and all of them see an overflow of the total.
 */
static void split_sum(uint64_t sum, uint64_t *low, uint64_t *high) {
    *low = sum & UINT32_MAX;
    *high = sum >> 32;
}

static bool join_sum(uint64_t low, uint64_t high, uint64_t *sum) {
    high += low >> 32;
    *sum = high << 32 | (low & UINT32_MAX);
    return high <= INT32_MAX;
}

/* Index in the order: for whole containers it is the rank, for the tasks of one colour it counts them. */
static uint32_t index_of(const struct hpcw_i_sion_order *o, uint32_t i) {
    return o->before + i;
}

static uint32_t file_of(const struct hpcw_i_sion_order *o, uint32_t i) {
    return o->files == 1 ? 0 : hpcw_i_sion_file_of_task(o->tasks, o->files, index_of(o, i));
}

static uint32_t tasks_of_file(const struct hpcw_i_sion_order *o, uint32_t file) {
    return hpcw_sion_first_task_of_file(o->tasks, o->files, file + 1) -
           hpcw_sion_first_task_of_file(o->tasks, o->files, file);
}

static bool ends_file(const struct hpcw_i_sion_order *o, uint32_t i) {
    uint32_t index = index_of(o, i);
    return index + 1 == o->tasks || (o->files > 1 && hpcw_i_sion_file_of_task(o->tasks, o->files, index + 1) !=
                                                         hpcw_i_sion_file_of_task(o->tasks, o->files, index));
}

static hpcw_status check_total(uint32_t file, uint64_t total, hpcw_error *err) {
    return total <= INT64_MAX / 2
               ? HPCW_OK
               : hpcw_i_fail(err, HPCW_ERANGE, "the chunks of one block of file %u pass 2^62 bytes", file);
}

/* Totals per file over all processes: `mine` [files] in, out. */
static hpcw_status total_per_file(const struct hpcw_i_sion_order *o, uint64_t *mine, uint64_t *words,
                                  hpcw_error *err) {
    for (uint32_t f = 0; f < o->files; f++) {
        split_sum(mine[f], &words[2 * (size_t)f], &words[2 * (size_t)f + 1]);
    }
    struct hpcw_i_words sums = {.sums = 2 * o->files, .word = words};
    hpcw_status s = hpcw_i_comm_allreduce(o->comm, &sums, err);
    for (uint32_t f = 0; s == HPCW_OK && f < o->files; f++) {
        bool fits = join_sum(words[2 * (size_t)f], words[2 * (size_t)f + 1], &mine[f]);
        s = check_total(f, fits ? mine[f] : UINT64_MAX, err);
    }
    return s;
}

/* Packed: what this process's tasks of its last file do to the position, for the processes above. */
struct packed_run {
    uint64_t file; /* UINT64_MAX: no tasks */
    struct hpcw_i_sion_advance advance;
};

/* A walk over the own tasks. */
struct packed_walk {
    uint64_t file;   /* of the task at hand, UINT64_MAX: before the first one */
    uint64_t before; /* bytes requested in this file before the next task */
    uint64_t share;
};

/* Goes on to own task `i`, whose chunk still is what it requested. Whether it ends its group. */
static bool walk_to(const struct hpcw_i_sion_order *o, const uint64_t *requested, struct packed_walk *w,
                    uint32_t i) {
    uint32_t f = file_of(o, i);
    if (w->file != f) {
        w->before = i == 0 ? w->before : 0;
        w->file = f;
        w->share = hpcw_sion_group_share(requested[f], tasks_of_file(o, f),
                                         o->request->options->tasks_per_group, o->request->block_size);
    }
    uint64_t size = o->task[i].chunk;
    bool ends = ends_file(o, i) || hpcw_i_sion_ends_group(w->share, w->before, size);
    w->before += size;
    return ends;
}

static hpcw_status place_packed(const struct hpcw_i_sion_order *o, const uint64_t *requested,
                                uint64_t before_in_file, uint64_t *totals, uint64_t *words, hpcw_error *err) {
    uint32_t bs = o->request->block_size;
    struct packed_run mine = {.file = UINT64_MAX};
    struct packed_run *all = hpcw_i_malloc((size_t)o->comm->size * sizeof *all);
    hpcw_status s = all == NULL ? hpcw_i_fail_memory(err, NULL, 0, NULL) : HPCW_OK;
    s = hpcw_i_agree(o->comm, s, NULL, err);
    if (s != HPCW_OK) {
        goto done;
    }
    const struct packed_walk start = {.file = UINT64_MAX, .before = before_in_file};
    struct packed_walk w = start;
    for (uint32_t i = 0; i < o->count; i++) {
        bool ends = walk_to(o, requested, &w, i);
        if (mine.file != w.file) {
            mine = (struct packed_run){.file = w.file};
        }
        hpcw_i_sion_advance_task(&mine.advance, o->task[i].chunk, ends, bs);
    }
    s = hpcw_i_comm_allgather(o->comm, &mine, sizeof mine, all, err);
    if (s != HPCW_OK) {
        goto done;
    }
    uint64_t x = 0;
    for (int p = 0; o->count > 0 && p < o->comm->process; p++) {
        if (all[p].file == file_of(o, 0)) {
            x = hpcw_i_sion_advance_apply(&all[p].advance, x, bs);
        }
    }
    memset(totals, 0, o->files * sizeof *totals);
    w = start;
    for (uint32_t i = 0; i < o->count; i++) {
        bool ends = walk_to(o, requested, &w, i);
        uint64_t end = x + o->task[i].chunk;
        end = ends ? hpcw_i_align_up(end, bs) : end;
        o->task[i].start = x;
        o->task[i].chunk = end - x;
        x = end;
        if (ends_file(o, i)) {
            totals[w.file] = x;
            x = 0;
        }
    }
    s = total_per_file(o, totals, words, err);
done:
    hpcw_i_free(all);
    return s;
}

/* Totals of each file over all processes, of what was requested. `mine`: in, out. */
static hpcw_status sum_files(const struct hpcw_i_sion_order *o, const struct hpcw_i_sion_census *all,
                             uint64_t *mine, uint64_t *words, hpcw_error *err) {
    if (o->files > 1) {
        return total_per_file(o, mine, words, err);
    }
    mine[0] = all->bytes; /* which the census has counted already */
    return check_total(0, mine[0], err);
}

hpcw_status hpcw_i_sion_placement_by_order(const struct hpcw_i_sion_order *o,
                                           const struct hpcw_i_sion_census *all, uint64_t before_bytes,
                                           hpcw_error *err) {
    bool packed = o->request->options->layout == HPCW_SION_PACKED;
    uint64_t single[3] = {0}; /* one file, the common case, can neither fail here nor cost an agreement */
    uint64_t *totals = single;
    hpcw_status s = HPCW_OK;
    if (o->files > 1) {
        totals = hpcw_i_calloc(o->files, 3 * sizeof *totals);
        s = totals == NULL ? hpcw_i_fail_memory(err, NULL, o->files, "files") : HPCW_OK;
        s = hpcw_i_agree(o->comm, s, NULL, err);
        if (s != HPCW_OK) {
            goto done;
        }
    }
    uint64_t *words = totals + o->files;
    uint64_t x = before_bytes;
    uint64_t last_boundary = 0;
    for (uint32_t i = 0; i < o->count; i++) {
        uint32_t index = index_of(o, i);
        if (o->files > 1 && index == hpcw_sion_first_task_of_file(o->tasks, o->files, file_of(o, i))) {
            last_boundary = x;
        }
        totals[file_of(o, i)] = hpcw_i_sion_add_up(totals[file_of(o, i)], o->task[i].chunk);
        x = hpcw_i_sion_add_up(x, o->task[i].chunk);
    }
    uint64_t base = 0; /* bytes before the first own task's file */
    if (o->files > 1) {
        struct hpcw_i_words max = {.maxs = 1, .word = &last_boundary};
        s = hpcw_i_comm_exscan(o->comm, &max, err);
        base = last_boundary;
        if (o->count > 0 && index_of(o, 0) == hpcw_sion_first_task_of_file(o->tasks, o->files, file_of(o, 0))) {
            base = before_bytes;
        }
    }
    s = s == HPCW_OK ? sum_files(o, all, totals, words, err) : s;
    if (s != HPCW_OK) {
        goto done;
    }
    if (packed) {
        uint64_t *requested = hpcw_i_malloc(o->files * sizeof *requested);
        s = requested == NULL ? hpcw_i_fail_memory(err, NULL, 0, NULL) : HPCW_OK;
        s = hpcw_i_agree(o->comm, s, NULL, err);
        if (s == HPCW_OK) {
            memcpy(requested, totals, o->files * sizeof *requested);
            s = place_packed(o, requested, before_bytes - base, totals, words, err);
        }
        hpcw_i_free(requested);
        if (s != HPCW_OK) {
            goto done;
        }
    } else {
        x = before_bytes - base;
        for (uint32_t i = 0; i < o->count; i++) {
            if (o->files > 1 && i > 0 && file_of(o, i) != file_of(o, i - 1)) {
                x = 0;
            }
            o->task[i].start = x;
            x += o->task[i].chunk;
        }
    }
    for (uint32_t f = 0; f < o->files; f++) {
        o->file[f] = (struct hpcw_i_sion_file){.tasks = tasks_of_file(o, f), .stride = totals[f]};
    }
done:
    if (totals != single) {
        hpcw_i_free(totals);
    }
    return s;
}
