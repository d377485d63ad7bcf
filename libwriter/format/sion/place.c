/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/format/sion/place.h"

#include <stdlib.h>
#include <string.h>

#include "libwriter/base/checked.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/comm/exchange.h"
#include "libwriter/comm/reduce.h"

/*
 * Sums of sizes travel as two words, low and high 32 bits apart, so that the sum over any number of processes
 * is exact and an overflow of the total is seen by all of them alike.
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

/* Sums of sizes that no block can have stay large instead of wrapping to something small. */
static uint64_t add_up(uint64_t a, uint64_t b) {
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

/* A list of tasks in the order of their numbers over all processes, and how they are cut into files. */
struct ordered {
    const struct hpcw_i_sion_request *request;
    hpcw_comm *comm;
    uint32_t tasks; /* over all processes of `comm` */
    uint32_t files;
    uint32_t count;
    struct hpcw_i_sion_task *task;
    uint32_t before;               /* tasks on the processes below */
    struct hpcw_i_sion_file *file; /* [files] out */
};

/* Index in the order: for whole containers it is the rank, for the tasks of one colour it counts them. */
static uint32_t index_of(const struct ordered *o, uint32_t i) {
    return o->before + i;
}

static uint32_t file_of(const struct ordered *o, uint32_t i) {
    return o->files == 1 ? 0 : hpcw_i_sion_file_of_task(o->tasks, o->files, index_of(o, i));
}

static uint32_t tasks_of_file(const struct ordered *o, uint32_t file) {
    uint32_t end = file + 1 == o->files ? o->tasks : hpcw_sion_first_task_of_file(o->tasks, o->files, file + 1);
    return end - hpcw_sion_first_task_of_file(o->tasks, o->files, file);
}

static bool ends_file(const struct ordered *o, uint32_t i) {
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
static hpcw_status total_per_file(const struct ordered *o, uint64_t *mine, uint64_t *words, hpcw_error *err) {
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

static hpcw_status place_packed(const struct ordered *o, const uint64_t *requested, uint64_t before_in_file,
                                uint64_t *totals, uint64_t *words, hpcw_error *err) {
    uint32_t bs = o->request->block_size;
    struct packed_run mine = {.file = UINT64_MAX};
    struct packed_run *all = hpcw_i_malloc((size_t)o->comm->size * sizeof *all);
    hpcw_status s = all == NULL ? hpcw_i_fail(err, HPCW_ENOMEM, "out of memory") : HPCW_OK;
    s = hpcw_i_agree(o->comm, s, NULL, err);
    if (s != HPCW_OK) {
        goto done;
    }
    uint64_t before = before_in_file;
    struct hpcw_i_sion_packing packing = {.share = 1, .block_size = bs};
    for (uint32_t i = 0; i < o->count; i++) {
        uint32_t f = file_of(o, i);
        if (mine.file != f) {
            before = i == 0 ? before_in_file : 0;
            mine = (struct packed_run){.file = f};
            packing = hpcw_i_sion_packing_of(requested[f], tasks_of_file(o, f), o->request->per_group, bs);
        }
        uint64_t size = o->task[i].chunk;
        hpcw_i_sion_advance_task(&mine.advance, size,
                                 ends_file(o, i) || hpcw_i_sion_ends_group(&packing, before, size), bs);
        before += size;
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
    before = before_in_file;
    uint64_t file = UINT64_MAX;
    for (uint32_t i = 0; i < o->count; i++) {
        uint32_t f = file_of(o, i);
        if (file != f) {
            before = i == 0 ? before_in_file : 0;
            x = i == 0 ? x : 0;
            file = f;
            packing = hpcw_i_sion_packing_of(requested[f], tasks_of_file(o, f), o->request->per_group, bs);
        }
        uint64_t size = o->task[i].chunk;
        uint64_t end = x + size;
        if (ends_file(o, i) || hpcw_i_sion_ends_group(&packing, before, size)) {
            end = hpcw_i_align_up(end, bs);
        }
        before += size;
        o->task[i].start = x;
        o->task[i].chunk = end - x;
        x = end;
        if (ends_file(o, i)) {
            totals[f] = x;
        }
    }
    s = total_per_file(o, totals, words, err);
done:
    hpcw_i_free(all);
    return s;
}

/* Places tasks whose order over the processes is the order of their numbers. `all`: census of all of them.
   `before_bytes`: sizes (aligned: rounded) of all tasks on the processes below. */
static hpcw_status place_ordered(const struct ordered *o, const struct hpcw_i_sion_census *all,
                                 uint64_t before_bytes, hpcw_error *err) {
    bool packed = o->request->layout == HPCW_SION_PACKED;
    uint64_t single[3] = {0}; /* one file, the common case, can neither fail here nor cost an agreement */
    uint64_t *totals = single;
    hpcw_status s = HPCW_OK;
    if (o->files > 1) {
        totals = hpcw_i_calloc(o->files, 3 * sizeof *totals);
        s = totals == NULL ? hpcw_i_fail(err, HPCW_ENOMEM, "out of memory for %u files", o->files) : HPCW_OK;
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
        totals[file_of(o, i)] = add_up(totals[file_of(o, i)], o->task[i].chunk);
        x = add_up(x, o->task[i].chunk);
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
    if (s == HPCW_OK && o->files == 1) {
        totals[0] = all->bytes;
        s = check_total(0, totals[0], err);
    } else if (s == HPCW_OK) {
        s = total_per_file(o, totals, words, err);
    }
    if (s != HPCW_OK) {
        goto done;
    }
    if (packed) {
        uint64_t *requested = hpcw_i_malloc(o->files * sizeof *requested);
        s = requested == NULL ? hpcw_i_fail(err, HPCW_ENOMEM, "out of memory") : HPCW_OK;
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

struct hpcw_i_sion_census hpcw_i_sion_census_of(uint32_t count, const uint32_t *ranks,
                                                const struct hpcw_i_sion_task *task, uint32_t block_size) {
    struct hpcw_i_sion_census c = {.tasks = count, .lists = ranks != NULL && count > 0, .ascending = 1};
    uint64_t chunk = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || task[i].chunk != task[i - 1].chunk) { /* mostly all are alike, and divisions are slow */
            chunk = hpcw_i_align_up(task[i].chunk, block_size);
        }
        c.bytes = add_up(c.bytes, chunk);
    }
    if (c.lists) {
        c.low = ranks[0];
        c.high = ranks[count - 1];
        c.base = ranks[0];
        c.gapless = c.high - c.low == count - 1;
    }
    return c;
}

void hpcw_i_sion_census_add(struct hpcw_i_sion_census *left, const struct hpcw_i_sion_census *right) {
    if (right->lists) {
        uint64_t base = right->base - left->tasks;
        bool first = !left->lists;
        left->ascending =
            first ? right->ascending : left->ascending && right->ascending && left->high < right->low;
        left->gapless = right->gapless && (first || (left->gapless && left->base == base));
        left->base = base;
        left->low = first || right->low < left->low ? right->low : left->low;
        left->high = first || right->high > left->high ? right->high : left->high;
        left->lists = 1;
    }
    left->tasks += right->tasks;
    left->bytes = add_up(left->bytes, right->bytes);
}

static void combine_census(uint64_t *left, const uint64_t *right) {
    struct hpcw_i_sion_census l;
    struct hpcw_i_sion_census r;
    memcpy(&l, left, sizeof l);
    memcpy(&r, right, sizeof r);
    hpcw_i_sion_census_add(&l, &r);
    memcpy(left, &l, sizeof l);
}

hpcw_status hpcw_i_sion_census_take(hpcw_comm *comm, struct hpcw_i_sion_census *all,
                                    struct hpcw_i_sion_census *below, hpcw_error *err) {
    uint64_t record[HPCW_I_SION_CENSUS_WORDS];
    uint64_t before[HPCW_I_SION_CENSUS_WORDS] = {0};
    memcpy(record, all, sizeof record);
    hpcw_status s =
        hpcw_i_comm_reduce_scan(comm, record, before, HPCW_I_SION_CENSUS_WORDS, combine_census, err);
    memcpy(all, record, sizeof record);
    memcpy(below, before, sizeof before);
    return s;
}

static hpcw_status check_bytes(const struct hpcw_i_sion_census *all, hpcw_error *err) {
    return all->bytes < INT64_MAX ? HPCW_OK
                                  : hpcw_i_fail(err, HPCW_ERANGE, "the chunks of one block pass 2^63 bytes");
}

/* ------------------------------------------------------------------------------------------------------------------
 *  The distributed directory: task numbers 0 .. N-1 are cut into one slice per process, and each process keeps
 * what is said about the tasks in its slice, whoever owns them. Slices ascend, so the ordered placement works
 * on them.
 * ---------------------------------------------------------------------------------------------------------------
 */

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

struct directory {
    uint64_t *out;                 /* messages sent: rank, requested size */
    uint64_t *words;               /* [4 * processes]: sent, received, answered, answers received */
    uint64_t *in;                  /* messages received */
    uint32_t *ranks;               /* [present] of this slice, ascending */
    struct hpcw_i_sion_task *task; /* [present] */
    uint32_t *slot;                /* [slice] 1 + index into ranks, 0: nobody owns it */
    uint32_t present;
};

static void directory_free(struct directory *d) {
    hpcw_i_free(d->out);
    hpcw_i_free(d->words);
    hpcw_i_free(d->in);
    hpcw_i_free(d->ranks);
    hpcw_i_free(d->task);
    hpcw_i_free(d->slot);
}

/* Sends every own task to its slice and checks that no task is named twice. Local failures are agreed on. */
static hpcw_status directory_fill(hpcw_comm *comm, const struct hpcw_i_sion_request *r, uint32_t first,
                                  struct directory *d, hpcw_error *err) {
    int size = comm->size;
    uint32_t begin = slice_start(r->tasks, size, comm->process);
    uint32_t width = slice_start(r->tasks, size, comm->process + 1) - begin;
    d->words = hpcw_i_calloc((size_t)size, 4 * sizeof *d->words);
    d->out = hpcw_i_malloc((size_t)r->count * ASK_WORDS * sizeof *d->out);
    d->slot = hpcw_i_calloc(width, sizeof *d->slot);
    hpcw_status s = d->words == NULL || d->out == NULL || d->slot == NULL
                        ? hpcw_i_fail(err, HPCW_ENOMEM, "out of memory for a directory of %u tasks", width)
                        : HPCW_OK;
    for (uint32_t i = 0; s == HPCW_OK && i < r->count; i++) {
        uint32_t rank = r->ranks == NULL ? first + i : r->ranks[i];
        if (rank >= r->tasks) {
            s = hpcw_i_fail(err, HPCW_EMISMATCH, "wanted task numbers below %u (the number of tasks), got %u",
                            r->tasks, rank);
            break;
        }
        d->out[ASK_WORDS * (size_t)i] = rank;
        d->out[ASK_WORDS * (size_t)i + 1] = r->task[i].chunk;
        d->words[slice_of(r->tasks, size, rank)] += ASK_WORDS;
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
        s = hpcw_i_fail(err, HPCW_ENOMEM, "out of memory for a directory of %u tasks", d->present);
    }
    for (uint32_t i = 0; s == HPCW_OK && i < d->present; i++) {
        uint32_t at = (uint32_t)d->in[ASK_WORDS * (size_t)i] - begin;
        if (d->slot[at] != 0) {
            s = hpcw_i_fail(err, HPCW_EMISMATCH, "wanted each task on one process, got task %u on two",
                            begin + at);
            break;
        }
        d->slot[at] = i + 1;
    }
    s = hpcw_i_agree(comm, s, NULL, err);
    if (s != HPCW_OK) {
        return s;
    }
    /* Into ascending order; `slot` then points into it. */
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

/* Places what the slices hold and tells each owner about its tasks. */
static hpcw_status place_by_directory(hpcw_comm *comm, const struct hpcw_i_sion_request *r, uint32_t files,
                                      uint32_t total, uint32_t first, struct hpcw_i_sion_file *file,
                                      uint32_t *column, hpcw_error *err) {
    struct directory d = {0};
    uint64_t *answer = NULL;
    uint64_t *got = NULL;
    hpcw_status s = directory_fill(comm, r, first, &d, err);
    if (s != HPCW_OK) {
        goto done;
    }
    struct hpcw_i_sion_census all = hpcw_i_sion_census_of(d.present, d.ranks, d.task, 1);
    struct hpcw_i_sion_census below;
    s = hpcw_i_sion_census_take(comm, &all, &below, err);
    if (s == HPCW_OK) {
        s = check_bytes(&all, err);
    }
    if (s != HPCW_OK) {
        goto done;
    }
    struct ordered o = {.request = r,
                        .comm = comm,
                        .tasks = total,
                        .files = files,
                        .count = d.present,
                        .task = d.task,
                        .before = (uint32_t)below.tasks,
                        .file = file};
    s = place_ordered(&o, &all, below.bytes, err);
    if (s != HPCW_OK) {
        goto done;
    }
    /* The answers go back in the order of the questions, which each owner still has. */
    int size = comm->size;
    uint32_t begin = slice_start(r->tasks, size, comm->process);
    answer = hpcw_i_malloc((size_t)d.present * ANSWER_WORDS * sizeof *answer);
    s = answer == NULL ? hpcw_i_fail(err, HPCW_ENOMEM, "out of memory for answers") : HPCW_OK;
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
    directory_free(&d);
    return s;
}

/* ------------------------------------------------------------------------------------------------------------------
 *  Sizes known everywhere: every process works out its own places, O(N) steps of arithmetic, no message.
 * ---------------------------------------------------------------------------------------------------------------
 */

static hpcw_status place_alone(const struct hpcw_i_sion_request *r, uint32_t first,
                               struct hpcw_i_sion_file *file, hpcw_error *err) {
    uint32_t next = 0; /* own task that comes next */
    for (uint32_t f = 0; f < r->files; f++) {
        uint32_t begin = hpcw_sion_first_task_of_file(r->tasks, r->files, f);
        uint32_t end = f + 1 == r->files ? r->tasks : hpcw_sion_first_task_of_file(r->tasks, r->files, f + 1);
        struct hpcw_i_sion_packing packing = {.share = 1, .block_size = r->block_size};
        if (r->layout == HPCW_SION_PACKED) {
            uint64_t requested = 0;
            for (uint32_t t = begin; t < end; t++) {
                uint64_t size = r->size_of(r->size_context, t);
                requested = size > INT64_MAX - requested ? INT64_MAX : requested + size;
            }
            packing = hpcw_i_sion_packing_of(requested, end - begin, r->per_group, r->block_size);
        }
        uint64_t x = 0;
        uint64_t before = 0;
        for (uint32_t t = begin; t < end; t++) {
            uint64_t size = r->size_of(r->size_context, t);
            if (size > INT64_MAX / 4 || x > INT64_MAX / 4) {
                return hpcw_i_fail(err, HPCW_ERANGE,
                                   "the chunks of one block pass 2^61 bytes at task %u, which asks for %llu", t,
                                   (unsigned long long)size);
            }
            uint64_t chunk = size;
            if (r->layout == HPCW_SION_ALIGNED) {
                chunk = hpcw_i_align_up(size, r->block_size);
            } else if (t + 1 == end || hpcw_i_sion_ends_group(&packing, before, size)) {
                chunk = hpcw_i_align_up(x + size, r->block_size) - x;
            }
            before += size;
            if (next < r->count && t == (r->ranks == NULL ? first + next : r->ranks[next])) {
                r->task[next].start = x;
                r->task[next].chunk = chunk;
                next++;
            }
            x += chunk;
        }
        file[f] = (struct hpcw_i_sion_file){.tasks = end - begin, .stride = x};
    }
    return HPCW_OK;
}

/* ------------------------------------------------------------------------------------------------------------------
 *  One file per colour
 * ---------------------------------------------------------------------------------------------------------------
 */

struct colour_record {
    uint64_t lowest; /* task of this colour; files are numbered in its order */
    uint64_t tasks;
    uint64_t stride;
};

static int by_lowest(const void *a_, const void *b_) {
    const struct colour_record *a = a_;
    const struct colour_record *b = b_;
    return a->lowest < b->lowest ? -1 : a->lowest > b->lowest;
}

static hpcw_status place_by_colour(const struct hpcw_i_sion_request *r, uint32_t first,
                                   struct hpcw_i_sion_placement *placement, hpcw_error *err) {
    hpcw_comm *part = NULL;
    struct colour_record *all = hpcw_i_malloc((size_t)r->comm->size * sizeof *all);
    struct hpcw_i_sion_file *file = NULL;
    uint32_t files = 0;
    uint32_t *ranks = NULL;
    struct directory check = {0};
    placement->column = hpcw_i_malloc(r->count * sizeof *placement->column);
    struct hpcw_i_sion_request mine = *r;
    if (r->ranks == NULL) {
        mine.ranks = ranks = hpcw_i_malloc(r->count * sizeof *ranks);
        for (uint32_t i = 0; ranks != NULL && i < r->count; i++) {
            ranks[i] = first + i;
        }
    }
    hpcw_status s = all == NULL || placement->column == NULL || mine.ranks == NULL
                        ? hpcw_i_fail(err, HPCW_ENOMEM, "out of memory for %u tasks", r->count)
                        : HPCW_OK;
    s = hpcw_i_agree(r->comm, s, NULL, err);
    if (s == HPCW_OK) {
        s = directory_fill(r->comm, &mine, first, &check, err); /* nobody's task twice, in any colour */
    }
    if (s == HPCW_OK) {
        s = hpcw_i_comm_split(r->comm, r->colour, &part, err);
    }
    if (s != HPCW_OK) {
        goto done;
    }
    /* From here on the colours work apart, and a failure in one is agreed on at the end. */
    struct hpcw_i_sion_file own = {0};
    uint64_t word[2] = {r->count, r->count > 0 ? mine.ranks[0] : UINT64_MAX};
    struct hpcw_i_words words = {.sums = 1, .mins = 1, .word = word};
    s = hpcw_i_comm_allreduce(part, &words, err);
    if (s == HPCW_OK && word[0] > 0) {
        mine.comm = part;
        struct hpcw_i_sion_census census = hpcw_i_sion_census_of(mine.count, mine.ranks, mine.task, 1);
        struct hpcw_i_sion_census below;
        s = hpcw_i_sion_census_take(part, &census, &below, err);
        if (s == HPCW_OK) {
            s = check_bytes(&census, err);
        }
        if (s == HPCW_OK && census.ascending) {
            struct ordered o = {.request = r,
                                .comm = part,
                                .tasks = (uint32_t)word[0],
                                .files = 1,
                                .count = r->count,
                                .task = r->task,
                                .before = (uint32_t)below.tasks,
                                .file = &own};
            s = place_ordered(&o, &census, below.bytes, err);
            for (uint32_t i = 0; i < r->count; i++) {
                placement->column[i] = o.before + i;
            }
        } else if (s == HPCW_OK) {
            s = place_by_directory(part, &mine, 1, (uint32_t)word[0], first, &own, placement->column, err);
        }
    }
    /* A whole colour fails together; the one it happened to says so, and is named by its number in `comm`. */
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
    s = file == NULL ? hpcw_i_fail(err, HPCW_ENOMEM, "out of memory for %u files", files) : HPCW_OK;
    s = hpcw_i_agree(r->comm, s, NULL, err);
    for (uint32_t f = 0; s == HPCW_OK && f < files; f++) {
        file[f] = (struct hpcw_i_sion_file){.tasks = (uint32_t)all[f].tasks, .stride = all[f].stride};
    }
done:
    directory_free(&check);
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

hpcw_status hpcw_i_sion_place(const struct hpcw_i_sion_request *r, struct hpcw_i_sion_placement *placement,
                              hpcw_error *err) {
    placement->files = r->files;
    if (r->layout == HPCW_SION_ALIGNED) {
        for (uint32_t i = 0; i < r->count; i++) {
            r->task[i].chunk = hpcw_i_align_up(r->task[i].chunk, r->block_size);
        }
    }
    hpcw_status s = check_bytes(&r->all, err);
    if (s != HPCW_OK) {
        return s;
    }
    uint32_t lowest = placement->first;
    placement->first = r->ranks == NULL ? lowest + (uint32_t)r->below.tasks : 0;
    placement->in_order = !r->all.lists || (r->all.gapless && r->all.base == lowest);
    if (r->all.lists && r->all.high >= r->end) {
        return hpcw_i_fail(err, HPCW_EMISMATCH, "wanted task numbers below %u, got %llu", r->end,
                           (unsigned long long)r->all.high);
    }
    if (r->part_of_set && !placement->in_order) {
        return hpcw_i_fail(
            err, HPCW_EMISMATCH,
            "a part of a set: wanted task numbers that ascend over the processes from %u on, got %s", lowest,
            r->all.low < lowest ? "a lower one" : "another order");
    }
    if (r->files > 0 && placement->in_order && r->size_of != NULL) {
        return place_alone(r, placement->first, placement->file, err);
    }
    for (uint32_t i = 0; r->size_of != NULL && i < r->count; i++) {
        uint64_t size = r->size_of(r->size_context, r->ranks == NULL ? placement->first + i : r->ranks[i]);
        size = size > INT64_MAX / 4 ? INT64_MAX / 4 : size; /* still too large, and seen by all */
        r->task[i].chunk = r->layout == HPCW_SION_ALIGNED ? hpcw_i_align_up(size, r->block_size) : size;
    }
    if (r->files == 0) {
        return place_by_colour(r, placement->first, placement, err);
    }
    if (!placement->in_order) {
        return place_by_directory(r->comm, r, r->files, r->tasks, placement->first, placement->file, NULL, err);
    }
    struct ordered o = {.request = r,
                        .comm = r->comm,
                        .tasks = r->tasks,
                        .files = r->files,
                        .count = r->count,
                        .task = r->task,
                        .before = (uint32_t)r->below.tasks,
                        .file = placement->file};
    return place_ordered(&o, &r->all, r->below.bytes, err);
}
