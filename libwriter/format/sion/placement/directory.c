/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places tasks in any order, with a distributed directory. Task numbers 0 .. N-1 are divided into one slice per
 * process. Each process collects the requests for the tasks in its slice, whichever process owns them. Slices
 * ascend from process to process, so order.c can place their tasks.
 */
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/comm/exchange.h"
#include "libwriter/format/sion/placement/private.h"

static uint32_t slice_start(uint32_t tasks, int processes, int p) {
    return (uint32_t)((uint64_t)tasks * (uint64_t)p / (uint64_t)processes);
}

static int slice_of(uint32_t tasks, int processes, uint32_t rank) {
    int p = (int)(((uint64_t)rank + 1) * (uint64_t)processes / tasks);
    p = p >= processes ? processes - 1 : p;
    while (p > 0 && slice_start(tasks, processes, p) > rank) {
        p--;
    }
    while (p + 1 < processes && slice_start(tasks, processes, p + 1) <= rank) {
        p++;
    }
    return p;
}

enum { ASK_WORDS = 2, ANSWER_WORDS = 3 };

void hpcw_i_sion_directory_free(struct hpcw_i_sion_directory *d) {
    hpcw_i_free(d->out);
    hpcw_i_free(d->words);
    hpcw_i_free(d->in);
    hpcw_i_free(d->ranks);
    hpcw_i_free(d->task);
    hpcw_i_free(d->slot);
}

hpcw_status hpcw_i_sion_directory_fill(hpcw_comm *comm, const struct hpcw_i_sion_request *r, uint32_t first,
                                       struct hpcw_i_sion_directory *d, hpcw_error *err) {
    int size = comm->size;
    uint32_t begin = slice_start(r->division.tasks, size, comm->process);
    uint32_t width = slice_start(r->division.tasks, size, comm->process + 1) - begin;
    d->words = hpcw_i_calloc((size_t)size, 4 * sizeof *d->words);
    d->out = hpcw_i_malloc((size_t)r->count * ASK_WORDS * sizeof *d->out);
    d->slot = hpcw_i_calloc(width, sizeof *d->slot);
    hpcw_status s = d->words == NULL || d->out == NULL || d->slot == NULL
                        ? hpcw_i_fail_memory(err, NULL, width, "tasks")
                        : HPCW_OK;
    for (uint32_t i = 0; s == HPCW_OK && i < r->count; i++) {
        uint32_t rank = r->ranks == NULL ? first + i : r->ranks[i];
        if (rank >= r->division.tasks) {
            s = hpcw_i_fail(err, HPCW_EMISMATCH,
                            "task numbers: expected numbers below %u (the number of tasks), got %u",
                            r->division.tasks, rank);
            break;
        }
        d->out[ASK_WORDS * (size_t)i] = rank;
        d->out[ASK_WORDS * (size_t)i + 1] = r->task[i].chunk;
        d->words[slice_of(r->division.tasks, size, rank)] += ASK_WORDS;
    }
    s = hpcw_i_agree(comm, s, NULL, err);
    if (s == HPCW_OK) {
        s = hpcw_i_comm_exchange(comm, d->out, d->words, &d->in, d->words + size, err);
    }
    if (s != HPCW_OK) {
        return s;
    }
    uint64_t received = 0;
    for (int p = 0; p < size; p++) {
        received += d->words[size + p];
    }
    d->present = (uint32_t)(received / ASK_WORDS);
    d->ranks = hpcw_i_malloc(d->present * sizeof *d->ranks);
    d->task = hpcw_i_calloc(d->present, sizeof *d->task);
    if (d->ranks == NULL || d->task == NULL) {
        s = hpcw_i_fail_memory(err, NULL, d->present, "tasks");
    }
    for (uint32_t i = 0; s == HPCW_OK && i < d->present; i++) {
        uint32_t at = (uint32_t)d->in[ASK_WORDS * (size_t)i] - begin;
        if (d->slot[at] != 0) {
            s = hpcw_i_fail(err, HPCW_EMISMATCH, "tasks: expected each one on one process, got task %u on two",
                            begin + at);
            break;
        }
        d->slot[at] = i + 1;
    }
    s = hpcw_i_agree(comm, s, NULL, err);
    if (s != HPCW_OK) {
        return s;
    }
    /* Sort the tasks in ascending order. From now on `slot` has 1 + the index of a task in the sorted list. */
    uint32_t n = 0;
    for (uint32_t at = 0; at < width; at++) {
        if (d->slot[at] != 0) {
            d->ranks[n] = begin + at;
            d->task[n].chunk = d->in[ASK_WORDS * (size_t)(d->slot[at] - 1) + 1];
            d->slot[at] = ++n;
        }
    }
    return HPCW_OK;
}

hpcw_status hpcw_i_sion_directory_check(const struct hpcw_i_sion_request *r, hpcw_error *err) {
    struct hpcw_i_sion_directory d = {0};
    uint32_t *ranks = hpcw_i_malloc(r->count * sizeof *ranks);
    hpcw_status s = hpcw_i_agree(
        r->comm, ranks == NULL ? hpcw_i_fail_memory(err, NULL, r->count, "tasks") : HPCW_OK, NULL, err);
    if (s == HPCW_OK) {
        for (uint32_t i = 0; i < r->count; i++) {
            ranks[i] = r->global[r->by_global[i]];
        }
        struct hpcw_i_sion_request by_rank = *r;
        by_rank.ranks = ranks;
        s = hpcw_i_sion_directory_fill(r->comm, &by_rank, 0, &d, err);
    }
    hpcw_i_sion_directory_free(&d);
    hpcw_i_free(ranks);
    return s;
}

hpcw_status hpcw_i_sion_placement_by_directory(hpcw_comm *comm, const struct hpcw_i_sion_request *r,
                                               const struct hpcw_i_sion_division *division, uint32_t first,
                                               struct hpcw_i_sion_file *file, uint32_t *column,
                                               hpcw_error *err) {
    struct hpcw_i_sion_directory d = {0};
    uint64_t *answer = NULL;
    uint64_t *got = NULL;
    hpcw_status s = hpcw_i_sion_directory_fill(comm, r, first, &d, err);
    if (s != HPCW_OK) {
        goto done;
    }
    struct hpcw_i_sion_census all = hpcw_i_sion_census_of(d.present, d.ranks, d.task, 1);
    struct hpcw_i_sion_census below;
    s = hpcw_i_sion_census_take(comm, &all, &below, err);
    if (s != HPCW_OK) {
        goto done;
    }
    struct hpcw_i_sion_order o = {.request = r,
                                  .comm = comm,
                                  .division = *division,
                                  .count = d.present,
                                  .task = d.task,
                                  .before = (uint32_t)below.tasks,
                                  .file = file};
    s = hpcw_i_sion_placement_by_order(&o, &all, below.bytes, err);
    if (s != HPCW_OK) {
        goto done;
    }
    /* Slices answer in the order of the requests. The owner of the tasks still has its requests in this order. */
    int size = comm->size;
    uint32_t begin = slice_start(r->division.tasks, size, comm->process);
    answer = hpcw_i_malloc((size_t)d.present * ANSWER_WORDS * sizeof *answer);
    s = answer == NULL ? hpcw_i_fail_memory(err, NULL, 0, "answers") : HPCW_OK;
    for (uint32_t i = 0; s == HPCW_OK && i < d.present; i++) {
        uint32_t n = d.slot[(uint32_t)d.in[ASK_WORDS * (size_t)i] - begin] - 1;
        answer[ANSWER_WORDS * (size_t)i] = d.task[n].start;
        answer[ANSWER_WORDS * (size_t)i + 1] = d.task[n].chunk;
        answer[ANSWER_WORDS * (size_t)i + 2] = below.tasks + n;
    }
    for (int p = 0; p < size; p++) {
        d.words[2 * size + p] = d.words[size + p] / ASK_WORDS * ANSWER_WORDS;
    }
    s = hpcw_i_agree(comm, s, NULL, err);
    if (s == HPCW_OK) {
        s = hpcw_i_comm_exchange(comm, answer, d.words + 2 * (size_t)size, &got, d.words + 3 * (size_t)size,
                                 err);
    }
    for (uint32_t i = 0; s == HPCW_OK && i < r->count; i++) {
        r->task[i].start = got[ANSWER_WORDS * (size_t)i];
        r->task[i].chunk = got[ANSWER_WORDS * (size_t)i + 1];
        if (column != NULL) {
            column[i] = (uint32_t)got[ANSWER_WORDS * (size_t)i + 2];
        }
    }
done:
    hpcw_i_free(answer);
    hpcw_i_free(got);
    hpcw_i_sion_directory_free(&d);
    return s;
}
