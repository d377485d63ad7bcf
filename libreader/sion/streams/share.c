/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the tasks that a process reads, and where they are. Process 0 reads the tables of all files and broadcasts
 * them, up to READ_SION_WINDOW tasks in a message. So no other process reads the tables, and no process holds them
 * all. */
#include <inttypes.h>
#include <stdlib.h>

#include "libreader/sion/rules.h"
#include "libreader/sion/streams/private.h"
#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

#define NO_RANK UINT32_MAX

/* Facts about a physical file that process 0 broadcasts. */
struct file_message {
    bool failed; /* process 0 failed and stops */
    struct read_sion_part part;
};

struct sharing {
    struct hpcw_sion_reader *reader;
    hpcw_comm *comm;
    struct read_sion *container; /* container of process 0 */
    struct read_sion_file *base; /* file with the mapping, on process 0; NULL: none */
    /* ranks that the caller wants to read; NULL: this process reads tasks [begin, begin + count), counted by rank
     * (`by_rank`) or in the order of the file */
    const uint32_t *ranks;
    uint32_t begin;
    bool by_rank;
    uint32_t seen;  /* number of tasks in the messages so far */
    bool any_order; /* ranks do not ascend */
    uint32_t last;  /* rank of the last task in the messages so far */
    bool again;     /* second broadcast, only to find ranks that occur twice */
    struct read_sion_window *window;
};

/* ---- process 0 ---- */

static hpcw_status describe_file(struct sharing *s, uint32_t file, struct read_sion_part *part,
                                 hpcw_error *err) {
    struct read_sion_file *f;
    hpcw_status status = read_sion_physical(s->container, file, &f, err);
    if (status == HPCW_OK) {
        status = read_sion_header_rules(f, err);
    }
    if (status == HPCW_OK) {
        status = read_sion_member_rules(&s->base->info, f, err);
    }
    if (status == HPCW_OK) {
        *part = (struct read_sion_part){
            .number = file,
            .tasks = f->info.tasks,
            .meta2_start = f->info.meta2_start,
            .block_stride = f->info.block_stride,
            .file_size = f->info.file_size,
        };
    }
    return status;
}

/* Fills the window with tasks [first, first + many) of a file. Leaves out tasks with negative ranks: in a buddy
 * copy of SIONlib, they have no data of their own. */
static hpcw_status describe_tasks(struct sharing *s, uint32_t file, uint32_t first, uint32_t many,
                                  hpcw_error *err) {
    struct read_sion_window *w = s->window;
    struct read_sion_file *f;
    hpcw_status status = read_sion_physical(s->container, file, &f, err);
    w->count = 0;
    for (uint32_t index = first; status == HPCW_OK && index < first + many; index++) {
        struct read_sion_task task;
        status = read_sion_file_task(f, index, &task, err);
        if (status == HPCW_OK && s->by_rank) {
            status = read_sion_mapping_rule(s->base, f, file, index, task.rank, err);
        }
        if (status != HPCW_OK || task.rank < 0) {
            continue;
        }
        if (task.rank >= NO_RANK) {
            return hpcw_i_fail(err, HPCW_EFORMAT,
                               "%s: global rank of task %" PRIu32 " at offset %" PRIu64
                               ": expected less than %" PRIu32 ", got %" PRId64,
                               read_sion_file_name(f), index, f->ranks_at + 8 * (uint64_t)index, NO_RANK,
                               task.rank);
        }
        w->task[w->count++] = (hpcw_sion_task){
            .rank = (uint32_t)task.rank,
            .file = file,
            .index = index,
            .blocks = task.blocks,
            .chunk_size = task.chunk_size,
            .start = task.start,
            .size = task.size,
        };
    }
    return status;
}

/* ---- all processes ---- */

/* Returns the index that a task gets in `own`, or UINT32_MAX if this process does not read it. */
static uint32_t place_of(const struct sharing *s, const hpcw_sion_task *task, uint32_t order) {
    if (s->ranks != NULL) {
        return hpcw_i_find_ascending(s->ranks, s->reader->count, task->rank);
    }
    uint32_t key = s->by_rank ? task->rank : order;
    return key - s->begin < s->reader->count ? key - s->begin : UINT32_MAX;
}

static hpcw_status occurs_twice(const struct sharing *s, uint32_t rank, hpcw_error *err) {
    return hpcw_i_fail(err, HPCW_EFORMAT,
                       "%s: global ranks: expected a task for each, got two with rank %" PRIu32,
                       s->reader->place.path, rank);
}

/* Takes those tasks of the window that this process reads. `part` is the file of the window. */
static hpcw_status take_tasks(struct sharing *s, const struct read_sion_part *part, hpcw_error *err) {
    struct hpcw_sion_reader *r = s->reader;
    for (uint32_t i = 0; i < s->window->count; i++) {
        const hpcw_sion_task *task = &s->window->task[i];
        uint32_t place = place_of(s, task, s->seen + i);
        if (place == UINT32_MAX) {
            continue;
        }
        if (r->own[place].task.rank != NO_RANK) {
            return occurs_twice(s, task->rank, err);
        }
        if (r->parts == 0 || r->part[r->parts - 1].number != part->number) {
            struct read_sion_part *grown =
                hpcw_i_grow(r->part, &r->part_capacity, (size_t)r->parts + 1, sizeof *grown);
            if (grown == NULL) {
                return hpcw_i_fail_memory(err, r->place.path, r->parts, "files");
            }
            r->part = grown;
            r->part[r->parts++] = *part;
        }
        r->own[place] = (struct read_sion_own){.task = *task, .part = r->parts - 1};
    }
    return HPCW_OK;
}

/* Finds out if the ranks ascend from task to task. The result is the same on all processes, even if some have
 * failed. */
static void follow_order(struct sharing *s) {
    for (uint32_t i = 0; i < s->window->count; i++) {
        uint32_t rank = s->window->task[i].rank;
        s->any_order = s->any_order || (s->seen + i > 0 && rank <= s->last);
        s->last = rank;
    }
    s->seen += s->window->count;
}

/* Checks that no task of the window has the same rank as another task that this process reads. */
static hpcw_status check_twice(struct sharing *s, hpcw_error *err) {
    for (uint32_t i = 0; i < s->window->count; i++) {
        const hpcw_sion_task *task = &s->window->task[i];
        uint32_t own = read_sion_own_index(s->reader, task->rank);
        if (own != UINT32_MAX && s->reader->own[own].task.index != task->index) {
            return occurs_twice(s, task->rank, err);
        }
    }
    return HPCW_OK;
}

static int compare_ranks(const void *a, const void *b) {
    uint32_t x = ((const struct read_sion_own *)a)->task.rank, y = ((const struct read_sion_own *)b)->task.rank;
    return x < y ? -1 : x > y;
}

/* Checks that all tasks of this process were found, and sorts them by rank. */
static hpcw_status check_share(struct sharing *s, hpcw_error *err) {
    struct hpcw_sion_reader *r = s->reader;
    bool ascending = true;
    for (uint32_t i = 0; i < r->count; i++) {
        if (r->own[i].task.rank == NO_RANK) {
            uint32_t rank = s->ranks != NULL ? s->ranks[i] : s->begin + i;
            return hpcw_i_fail(err, s->ranks != NULL ? HPCW_EINVAL : HPCW_EFORMAT,
                               "%s: expected the task with global rank %" PRIu32 ", got none", r->place.path,
                               rank);
        }
        ascending = ascending && (i == 0 || r->own[i].task.rank > r->own[i - 1].task.rank);
    }
    if (ascending) {
        return HPCW_OK;
    }
    qsort(r->own, r->count, sizeof *r->own, compare_ranks);
    for (uint32_t i = 1; i < r->count; i++) {
        if (r->own[i].task.rank == r->own[i - 1].task.rank) {
            return occurs_twice(s, r->own[i].task.rank, err);
        }
    }
    return HPCW_OK;
}

static hpcw_status new_share(struct sharing *s, hpcw_error *err) {
    struct hpcw_sion_reader *r = s->reader;
    if (s->ranks == NULL) {
        uint64_t all = r->info.tasks, processes = (uint64_t)s->comm->size, me = (uint64_t)s->comm->process;
        s->begin = (uint32_t)(all * me / processes);
        r->count = (uint32_t)(all * (me + 1) / processes) - s->begin;
    } else if (r->count > r->info.tasks) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: ranks: expected at most all %" PRIu32 " tasks, got %" PRIu32,
                           r->place.path, r->info.tasks, r->count);
    }
    if (r->count > HPCW_SION_READER_MAX_SHARE) {
        return hpcw_i_fail(err, HPCW_ERANGE,
                           "%s: tasks of one process: expected at most %u, got %" PRIu32
                           ": name fewer in each of several opens, or use more processes",
                           r->place.path, HPCW_SION_READER_MAX_SHARE, r->count);
    }
    r->own = hpcw_i_malloc((size_t)r->count * sizeof *r->own);
    if (r->own == NULL) {
        return hpcw_i_fail_memory(err, r->place.path, r->count, "tasks");
    }
    for (uint32_t i = 0; i < r->count; i++) {
        r->own[i].task.rank = NO_RANK;
    }
    return HPCW_OK;
}

/* Broadcasts the tables of one file. *mine is the status of this process, which takes part even after a failure.
 * Returns false if process 0 failed, or a message did not arrive. */
static bool share_file(struct sharing *s, uint32_t file, hpcw_status *mine, hpcw_error *err) {
    struct file_message m = {.failed = false};
    bool leads = s->comm->process == 0;
    if (leads && *mine == HPCW_OK) {
        *mine = describe_file(s, file, &m.part, err);
    }
    m.failed = leads && *mine != HPCW_OK;
    hpcw_error lost;
    hpcw_status status = hpcw_i_comm_bcast(s->comm, &m, sizeof m, 0, &lost);
    for (uint32_t first = 0; status == HPCW_OK && !m.failed && first < m.part.tasks;
         first += READ_SION_WINDOW) {
        uint32_t rest = m.part.tasks - first, many = rest < READ_SION_WINDOW ? rest : READ_SION_WINDOW;
        if (leads) {
            *mine = *mine == HPCW_OK ? describe_tasks(s, file, first, many, err) : *mine;
            s->window->failed = *mine != HPCW_OK;
        }
        status = hpcw_i_comm_bcast(s->comm, s->window,
                                   offsetof(struct read_sion_window, task) + many * sizeof s->window->task[0],
                                   0, &lost);
        m.failed = status == HPCW_OK && s->window->failed != 0;
        if (status == HPCW_OK && !m.failed && *mine == HPCW_OK) {
            *mine = s->again ? check_twice(s, err) : take_tasks(s, &m.part, err);
        }
        if (status == HPCW_OK && !m.failed) {
            follow_order(s);
        }
    }
    if (status != HPCW_OK && *mine == HPCW_OK) {
        *err = lost;
        *mine = status;
    }
    return status == HPCW_OK && !m.failed;
}

hpcw_status read_sion_share(struct hpcw_sion_reader *reader, hpcw_comm *comm, struct read_sion *container,
                            const uint32_t *ranks, bool by_rank, struct read_sion_window *window,
                            hpcw_error *err) {
    struct sharing s = {
        .reader = reader,
        .comm = comm,
        .container = container,
        .ranks = ranks,
        .by_rank = by_rank,
        .window = window,
    };
    hpcw_status mine = new_share(&s, err);
    if (mine == HPCW_OK && container != NULL) {
        mine = read_sion_physical(container, 0, &s.base, err);
    }
    bool goes_on = true;
    for (uint32_t file = 0; goes_on && file < reader->info.files; file++) {
        goes_on = share_file(&s, file, &mine, err);
    }
    if (mine == HPCW_OK && goes_on) {
        mine = check_share(&s, err);
    }
    /* Without a mapping, tasks of two processes may have the same rank, unless the ranks ascend as in nearly all
     * files. Check this in a second broadcast. If the caller named ranks, take_tasks has compared each of them with
     * all tasks. */
    if (goes_on && s.any_order && ranks == NULL && !by_rank && comm->size > 1) {
        s.again = true;
        (void)share_file(&s, 0, &mine, err);
    }
    return mine; /* if process 0 has stopped, process 0 itself reports the failure */
}
