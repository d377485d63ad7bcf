/* SPDX-License-Identifier: BSD-3-Clause */
/* Places tasks whose order over the processes is the order of their numbers, with prefix sums. */
#include <string.h>

#include "libwriter/base/checked.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/comm/exchange.h"
#include "libwriter/format/sion/placement/private.h"

/*
 * Splits a sum of sizes into two words with its low and high 32 bits. So a reduction over any number of processes
 * is exact, and all processes see an overflow of the total.
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

/* Returns the index of an own task among the tasks of all processes of o->comm. Without colours this is the task
 * number. With colours, `o` has the tasks of one colour only. */
static uint32_t index_of(const struct hpcw_i_sion_order *o, uint32_t i) {
    return o->before + i;
}

static uint32_t file_of(const struct hpcw_i_sion_order *o, uint32_t i) {
    return o->division.files == 1 ? 0 : hpcw_i_sion_file_of_task(&o->division, index_of(o, i));
}

static uint32_t tasks_of_file(const struct hpcw_i_sion_order *o, uint32_t file) {
    return hpcw_i_sion_first_task(&o->division, file + 1) - hpcw_i_sion_first_task(&o->division, file);
}

static bool ends_file(const struct hpcw_i_sion_order *o, uint32_t i) {
    uint32_t index = index_of(o, i);
    return index + 1 == o->division.tasks ||
           (o->division.files > 1 &&
            hpcw_i_sion_file_of_task(&o->division, index + 1) != hpcw_i_sion_file_of_task(&o->division, index));
}

static hpcw_status check_total(uint32_t file, uint64_t total, hpcw_error *err) {
    return total <= INT64_MAX / 2
               ? HPCW_OK
               : hpcw_i_fail(err, HPCW_ERANGE, "the chunks of one block of file %u pass 2^62 bytes", file);
}

/* Sums up a number for each file over all processes. `mine` [files]: in and out. */
static hpcw_status total_per_file(const struct hpcw_i_sion_order *o, uint64_t *mine, uint64_t *words,
                                  hpcw_error *err) {
    for (uint32_t f = 0; f < o->division.files; f++) {
        split_sum(mine[f], &words[2 * (size_t)f], &words[2 * (size_t)f + 1]);
    }
    struct hpcw_i_words sums = {.sums = 2 * o->division.files, .word = words};
    hpcw_status s = hpcw_i_comm_allreduce(o->comm, &sums, err);
    for (uint32_t f = 0; s == HPCW_OK && f < o->division.files; f++) {
        bool fits = join_sum(words[2 * (size_t)f], words[2 * (size_t)f + 1], &mine[f]);
        s = check_total(f, fits ? mine[f] : UINT64_MAX, err);
    }
    return s;
}

/* ---- packed ---- */

/* The position that goes from process to process. A group ends where the next task does not fit any more. So the
 * tasks are placed one after the other, and each process sends two words to the next one. */
enum {
    POSITION_CHUNK, /* start of the next task's chunk */
    POSITION_GROUP, /* requested bytes in the open group */
    POSITION_WORDS,
};

/* Does the work of ask_above for communicators without point-to-point messages: broadcasts, from the last process
 * down. */
static hpcw_status ask_in_turn(const struct hpcw_i_sion_order *o, uint64_t *next, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (int p = o->comm->size - 1; p > 0; p--) {
        uint64_t chunk = o->count > 0 ? o->task[0].chunk : *next;
        hpcw_status r = hpcw_i_comm_bcast(o->comm, &chunk, sizeof chunk, p, s == HPCW_OK ? err : NULL);
        *next = o->comm->process + 1 == p ? chunk : *next;
        s = s == HPCW_OK ? r : s;
    }
    return s;
}

/* Sets *next to the request of the first task on any process above. Every process sends the request of its own
 * first task to the process below it. A process without tasks passes on the message from the process above. */
static hpcw_status ask_above(const struct hpcw_i_sion_order *o, uint64_t *next, hpcw_error *err) {
    hpcw_comm *comm = o->comm;
    int me = comm->process;
    bool above = me + 1 < comm->size;
    hpcw_status s = HPCW_OK;
    *next = 0;
    if (!hpcw_i_comm_has_messages(comm)) {
        return ask_in_turn(o, next, err);
    }
    if (o->count > 0 && me > 0) {
        s = hpcw_i_comm_send(comm, &o->task[0].chunk, 1, me - 1, err);
    }
    if (above) {
        hpcw_status r = hpcw_i_comm_receive(comm, next, 1, me + 1, err);
        s = s == HPCW_OK ? r : s;
    }
    if (o->count == 0 && me > 0) {
        hpcw_status r = hpcw_i_comm_send(comm, next, 1, me - 1, err);
        s = s == HPCW_OK ? r : s;
    }
    return s;
}

struct packed_walk {
    const struct hpcw_i_sion_order *order;
    const uint64_t *requested; /* [files] */
    uint64_t next;             /* request of the first task of the processes above */
    uint64_t *totals;          /* [files] sizes of the files whose last task is on this process */
};

/* Places the tasks of this process, from the position where the process before ended. */
static hpcw_status walk_own(void *context, uint64_t *state, hpcw_error *err) {
    const struct packed_walk *walk = context;
    const struct hpcw_i_sion_order *o = walk->order;
    uint64_t *x = &state[POSITION_CHUNK];
    uint64_t *group = &state[POSITION_GROUP];
    uint32_t bs = o->request->block_size;
    uint64_t share = 0;
    (void)err;
    for (uint32_t i = 0; i < o->count; i++) {
        uint32_t f = file_of(o, i);
        if (i == 0 || f != file_of(o, i - 1)) {
            share = hpcw_sion_group_share(walk->requested[f], tasks_of_file(o, f),
                                          o->request->options->tasks_per_group, bs);
        }
        bool last = ends_file(o, i);
        uint64_t end = *x + o->task[i].chunk;
        *group += o->task[i].chunk;
        if (last ||
            hpcw_i_sion_ends_group(share, *group, i + 1 < o->count ? o->task[i + 1].chunk : walk->next)) {
            end = hpcw_i_align_up(end, bs);
            *group = 0;
        }
        o->task[i].start = *x;
        o->task[i].chunk = end - *x;
        *x = last ? 0 : end;
        walk->totals[f] = last ? end : walk->totals[f];
    }
    return HPCW_OK;
}

static hpcw_status place_packed(const struct hpcw_i_sion_order *o, const uint64_t *requested, uint64_t *totals,
                                uint64_t *words, hpcw_error *err) {
    uint64_t position[POSITION_WORDS] = {0};
    struct packed_walk walk = {.order = o, .requested = requested, .totals = totals};
    /* After a failure the walk continues with any numbers, as the next process waits for a message. At the end all
     * processes agree on the failure. */
    hpcw_status s = ask_above(o, &walk.next, err);
    memset(totals, 0, o->division.files * sizeof *totals);
    hpcw_status r =
        hpcw_i_comm_relay(o->comm, position, POSITION_WORDS, walk_own, &walk, s == HPCW_OK ? err : NULL);
    s = hpcw_i_agree(o->comm, s == HPCW_OK ? r : s, NULL, err);
    return s == HPCW_OK ? total_per_file(o, totals, words, err) : s;
}

/* Adds up the requests of each file over all processes. `mine`: in and out. */
static hpcw_status sum_files(const struct hpcw_i_sion_order *o, const struct hpcw_i_sion_census *all,
                             uint64_t *mine, uint64_t *words, hpcw_error *err) {
    if (o->division.files > 1) {
        return total_per_file(o, mine, words, err);
    }
    mine[0] = all->bytes; /* the census has counted the bytes of the only file */
    return check_total(0, mine[0], err);
}

hpcw_status hpcw_i_sion_placement_by_order(const struct hpcw_i_sion_order *o,
                                           const struct hpcw_i_sion_census *all, uint64_t before_bytes,
                                           hpcw_error *err) {
    bool packed = o->request->options->layout == HPCW_SION_PACKED;
    /* For one file, the common case, avoid an allocation and the agreement on its failure. */
    uint64_t single[3] = {0};
    uint64_t *totals = single;
    hpcw_status s = HPCW_OK;
    if (o->division.files > 1) {
        totals = hpcw_i_calloc(o->division.files, 3 * sizeof *totals);
        s = totals == NULL ? hpcw_i_fail_memory(err, NULL, o->division.files, "files") : HPCW_OK;
        s = hpcw_i_agree(o->comm, s, NULL, err);
        if (s != HPCW_OK) {
            goto done;
        }
    }
    uint64_t *words = totals + o->division.files;
    uint64_t x = before_bytes;
    uint64_t last_boundary = 0;
    for (uint32_t i = 0; i < o->count; i++) {
        uint32_t index = index_of(o, i);
        if (o->division.files > 1 && index == hpcw_i_sion_first_task(&o->division, file_of(o, i))) {
            last_boundary = x;
        }
        totals[file_of(o, i)] = hpcw_i_sion_add_up(totals[file_of(o, i)], o->task[i].chunk);
        x = hpcw_i_sion_add_up(x, o->task[i].chunk);
    }
    uint64_t base = 0; /* bytes of all files before the file of the first own task */
    if (o->division.files > 1 && !packed) {
        struct hpcw_i_words max = {.maxs = 1, .word = &last_boundary};
        s = hpcw_i_comm_exscan(o->comm, &max, err);
        base = last_boundary;
        if (o->count > 0 && index_of(o, 0) == hpcw_i_sion_first_task(&o->division, file_of(o, 0))) {
            base = before_bytes;
        }
    }
    s = s == HPCW_OK ? sum_files(o, all, totals, words, err) : s;
    if (s != HPCW_OK) {
        goto done;
    }
    if (packed) {
        uint64_t *requested = hpcw_i_malloc(o->division.files * sizeof *requested);
        s = requested == NULL ? hpcw_i_fail_memory(err, NULL, 0, NULL) : HPCW_OK;
        s = hpcw_i_agree(o->comm, s, NULL, err);
        if (s == HPCW_OK) {
            memcpy(requested, totals, o->division.files * sizeof *requested);
            s = place_packed(o, requested, totals, words, err);
        }
        hpcw_i_free(requested);
        if (s != HPCW_OK) {
            goto done;
        }
    } else {
        x = before_bytes - base;
        for (uint32_t i = 0; i < o->count; i++) {
            if (o->division.files > 1 && i > 0 && file_of(o, i) != file_of(o, i - 1)) {
                x = 0;
            }
            o->task[i].start = x;
            x += o->task[i].chunk;
        }
    }
    for (uint32_t f = 0; f < o->division.files; f++) {
        o->file[f] = (struct hpcw_i_sion_file){.tasks = tasks_of_file(o, f), .stride = totals[f]};
    }
done:
    if (totals != single) {
        hpcw_i_free(totals);
    }
    return s;
}
