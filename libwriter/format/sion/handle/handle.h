/* SPDX-License-Identifier: BSD-3-Clause */
/* A SION container that is open for writing. */
#ifndef HPCW_FORMAT_SION_HANDLE_HANDLE_H
#define HPCW_FORMAT_SION_HANDLE_HANDLE_H

#include <pthread.h>
#include <stdatomic.h>

#include "libwriter/comm/comm.h"
#include "libwriter/format/sion/placement/placement.h"

/* The own tasks (the tasks of this process) in one physical file. Own tasks ascend, so those of a part are
 * consecutive. */
struct hpcw_i_sion_part {
    uint32_t file;  /* number of the file in the set */
    uint32_t begin; /* the part has own tasks [begin, end) */
    uint32_t end;
    uint64_t stride;
    hpcw_sink *sink;
};

/* The place to which the next small record of a task is copied. Most records need no other data of the task. The
 * struct is small, so that the cursors of thousands of tasks stay in the cache. */
struct hpcw_i_sion_cursor {
    unsigned char *to; /* end of the buffered bytes; NULL: nothing is buffered */
    uint32_t room;     /* free bytes of the buffer; 0: nothing is buffered */
    atomic_uint slot;  /* 1 + number of the borrowed slot, see slots.h; 0: none */
};

enum { HPCW_I_SION_HOT_SLOTS = 16 };

/* A large buffer that tasks borrow for some time. */
struct hpcw_i_sion_hot {
    _Atomic(const void *) writer; /* the thread that may use the buffer without the lock */
    uint32_t task;                /* own task that borrowed the buffer; UINT32_MAX: free */
    uint64_t since;
};

/* Buffers of tasks: one for each task, or a pool from which tasks borrow. */
struct hpcw_i_sion_slots {
    unsigned char *bytes; /* inside `memory` */
    unsigned char *memory;
    size_t size; /* bytes of a slot; 0: no buffers */
    size_t stride;
    size_t direct; /* a write of at least this many bytes is not buffered */
    bool pooled;
    uint32_t count;
    uint32_t next;        /* pool: slot that was lent longest ago */
    uint32_t *owner;      /* pool: [count] 1 + own task that borrowed the slot; 0: free */
    pthread_mutex_t lock; /* protects the hot slots; with a pool, every write holds it */
};

/* Large (hot) slots that tasks borrow before they use their own small ones. */
struct hpcw_i_sion_hot_slots {
    unsigned char *bytes; /* inside `memory` */
    unsigned char *memory;
    bool *taken; /* [own tasks] true: the task had bytes in its hot slot when the slot was taken back */
    struct hpcw_i_sion_hot slot[HPCW_I_SION_HOT_SLOTS];
    atomic_bool lent; /* true: hot slots are lent to tasks without one */
    uint32_t returns; /* number of tasks that came back after a hot slot was taken from them */
    uint64_t clock;   /* number of hot slots lent so far */
};

struct hpcw_sion {
    hpcw_comm *comm;
    hpcw_sion_options options; /* copy of the caller's options; its pointers are not used after the open */
    char *path;
    struct hpcw_i_dir *dir; /* directory of the path; NULL: there is none, or the caller's sinks are used */
    char *name;             /* name in the metadata */
    uint64_t tag;           /* part of the names of temporary files; 0 with one process */
    uint32_t block_size;    /* block size of the file system, bytes; never 0 */
    uint32_t tasks;         /* N */
    struct hpcw_i_sion_division division; /* division of tasks among files; not used with files by colour */
    int leader;      /* lowest process with tasks; if tasks are in order, it owns the lowest task */
    uint32_t *ranks; /* [count] numbers of own tasks; NULL: consecutive from placement.first */
    /* [files + 1] first task of each file, then the number of tasks; NULL if the caller does not give first
     * tasks */
    uint32_t *file_first;
    uint32_t *global;    /* [count] ranks of own tasks in the file; NULL: the ranks are the task numbers */
    uint32_t *by_global; /* [count] own tasks sorted by `global`; NULL if `global` is NULL */
    struct hpcw_i_sion_task *task;
    struct hpcw_i_sion_placement placement;
    struct hpcw_i_sion_part *part; /* [parts] */
    uint32_t parts;
    uint32_t *part_of; /* [count] part of each own task; NULL if there is only one part */

    /* Write buffers, see slots.h. */
    struct hpcw_i_sion_cursor *cursor; /* [count], NULL: unbuffered */
    /* Number of own tasks that accept small records without the slow path: all own tasks if they are consecutive,
     * have slots of their own and accept plain writes; otherwise 0, also once the container is broken or closed. */
    atomic_uint quick;
    struct hpcw_i_sion_slots slots;
    struct hpcw_i_sion_hot_slots hot;

    atomic_bool broken; /* a write failed: no more writes, and the close will fail */
    hpcw_error failure; /* first failure; failure_lock protects it until the close */
    pthread_mutex_t failure_lock;
    bool closed;
    bool named; /* all files have their names, though their directory may not be on the disk yet */
    bool begun; /* some files of a set may have been renamed; the next open of the path renames the others */
};

/* Checks `path` and `o` as far as one process can, and copies everything that is borrowed for the call into the
 * handle. If this fails before the tasks are copied, `h->options.count` is 0. */
hpcw_status hpcw_i_sion_prepare(struct hpcw_sion *h, const char *path, const hpcw_sion_options *o,
                                hpcw_error *err);

/* Returns the index of an own task, or UINT32_MAX. */
uint32_t hpcw_i_sion_index(const struct hpcw_sion *h, uint32_t rank);

/* Keeps the first failure from which the container cannot recover. Returns `s`. */
hpcw_status hpcw_i_sion_break(struct hpcw_sion *h, hpcw_status s, const hpcw_error *e, hpcw_error *err);

static inline uint32_t hpcw_i_sion_rank(const struct hpcw_sion *h, uint32_t i) {
    return h->ranks != NULL ? h->ranks[i] : h->placement.first + i;
}

/* Returns the rank of own task i in the file. */
static inline uint32_t hpcw_i_sion_global(const struct hpcw_sion *h, uint32_t i) {
    return h->global != NULL ? h->global[i] : hpcw_i_sion_rank(h, i);
}

static inline struct hpcw_i_sion_part *hpcw_i_sion_part_of(const struct hpcw_sion *h, uint32_t i) {
    return &h->part[h->part_of != NULL ? h->part_of[i] : 0];
}

/* Returns the offset in the file of byte `k` of own task i's current chunk. */
static inline uint64_t hpcw_i_sion_position(const struct hpcw_sion *h, uint32_t i, uint64_t k) {
    const struct hpcw_i_sion_task *t = &h->task[i];
    return t->start + t->block * hpcw_i_sion_part_of(h, i)->stride + k;
}

/* Returns the index of own task i in its physical file. */
static inline uint32_t hpcw_i_sion_column(const struct hpcw_sion *h, uint32_t i) {
    if (h->placement.column != NULL) {
        return h->placement.column[i];
    }
    uint32_t files = h->placement.files;
    uint32_t first = files == 1 ? 0 : hpcw_i_sion_first_task(&h->division, hpcw_i_sion_part_of(h, i)->file);
    return hpcw_i_sion_rank(h, i) - first;
}

/*
 * Returns whether this process leads the file of a part. The owner of a file's first task leads it: it creates the
 * file, writes the head, commits and names it.
 */
static inline bool hpcw_i_sion_leads(const struct hpcw_sion *h, const struct hpcw_i_sion_part *part) {
    return part->begin < part->end && hpcw_i_sion_column(h, part->begin) == 0;
}

#endif
