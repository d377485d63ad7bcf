/* SPDX-License-Identifier: BSD-3-Clause */
/* A SION container open for writing: what the files of this folder share. */
#ifndef HPCW_FORMAT_SION_HANDLE_HANDLE_H
#define HPCW_FORMAT_SION_HANDLE_HANDLE_H

#include <pthread.h>
#include <stdatomic.h>

#include "libwriter/comm/comm.h"
#include "libwriter/format/sion/placement/placement.h"

/* The tasks of this process that live in one physical file: a run of the own tasks, as these are ascending. */
struct hpcw_i_sion_part {
    uint32_t file;  /* number in the set */
    uint32_t begin; /* own tasks [begin, end) */
    uint32_t end;
    uint64_t stride;
    hpcw_sink *sink;
};

/* Where a small record of a task goes. Most records need nothing else, and the cursors of thousands of tasks stay
 * in the cache. */
struct hpcw_i_sion_cursor {
    unsigned char *to; /* end of the buffered bytes; NULL: there are none */
    uint32_t room;     /* bytes that the buffer still takes; 0 if nothing is buffered */
    atomic_uint slot;  /* 1 + the borrowed slot, 0: none, see slots.h */
};

enum { HPCW_I_SION_HOT_SLOTS = 16 };

/* A large buffer that tasks borrow for a while. */
struct hpcw_i_sion_hot {
    _Atomic(const void *) writer; /* the thread that may use it without the lock */
    uint32_t task;                /* own task, UINT32_MAX: free */
    uint64_t since;
};

struct hpcw_sion {
    hpcw_comm *comm;
    hpcw_sion_options options; /* pointers in it are not used after open */
    char *path;
    struct hpcw_i_dir *dir; /* that the path is in; NULL: there is none, or files are the caller's sinks */
    char *name;             /* in the metadata */
    uint64_t tag;           /* names the temporary files; 0 with one process */
    uint32_t block_size;    /* of the file system, resolved */
    uint32_t tasks;         /* N */
    struct hpcw_i_sion_division division; /* among files; not by colour */
    int leader;      /* the lowest process with tasks: with tasks in order it owns the first one */
    uint32_t *ranks; /* [count] or NULL: first + i */
    /* [files + 1] first task of each file, and their end, where the caller says so; or NULL */
    uint32_t *file_first;
    uint32_t *global;    /* [count] what readers call the own tasks; NULL: by their numbers */
    uint32_t *by_global; /* [count] own tasks in the order of that; NULL as `global` */
    struct hpcw_i_sion_task *task;
    struct hpcw_i_sion_placement placement;
    struct hpcw_i_sion_part *part; /* [parts] */
    uint32_t parts;
    uint32_t *part_of; /* [count], NULL if there is one part */

    /* Write buffers, see slots.h. */
    struct hpcw_i_sion_cursor *cursor; /* [count], NULL: unbuffered */
    /* The first `quick` own tasks are consecutive, have slots of their own, and take plain writes: all tasks, or
     * none once the container is broken or closed. */
    atomic_uint quick;
    unsigned char *slots; /* in slot_memory */
    unsigned char *slot_memory;
    size_t slot_size; /* 0: unbuffered */
    size_t slot_stride;
    size_t direct_size; /* records from this size on are written at once */
    bool pooled;
    uint32_t slot_count;
    uint32_t next_slot;       /* pooled: the one lent out longest ago */
    uint32_t *slot_owner;     /* pooled: [slot_count] 1 + own task, 0: free */
    unsigned char *hot_bytes; /* in hot_memory */
    unsigned char *hot_memory;
    bool *hot_taken; /* [count] the task had bytes in a hot slot when it lost this slot */
    struct hpcw_i_sion_hot hot[HPCW_I_SION_HOT_SLOTS];
    atomic_bool hot_lent;      /* tasks without a slot get a hot one */
    uint32_t returns;          /* tasks that came back after they had lost their hot slot */
    uint64_t hot_clock;        /* hot slots lent so far */
    pthread_mutex_t slot_lock; /* all of hot_...; pooled: every write holds it */

    atomic_bool broken; /* a write failed: no more writes, close will fail */
    hpcw_error failure; /* the first one, guarded by failure_lock until close */
    pthread_mutex_t failure_lock;
    bool closed;
    bool named; /* all files have their names, though their directory may not be on the disk yet */
    bool begun; /* some of a set may have their names, and the next open of the path gives them to the others */
};

/* Checks `path` and `o` as far as one process can alone, and copies into the handle what the caller lends for the
 * call only. After a failure `h->options.count` fits what was copied. */
hpcw_status hpcw_i_sion_prepare(struct hpcw_sion *h, const char *path, const hpcw_sion_options *o,
                                hpcw_error *err);

/* Index of an own task, or UINT32_MAX. */
uint32_t hpcw_i_sion_index(const struct hpcw_sion *h, uint32_t rank);

/* Remembers the first failure that the container cannot recover from; returns `s`. */
hpcw_status hpcw_i_sion_break(struct hpcw_sion *h, hpcw_status s, const hpcw_error *e, hpcw_error *err);

static inline uint32_t hpcw_i_sion_rank(const struct hpcw_sion *h, uint32_t i) {
    return h->ranks != NULL ? h->ranks[i] : h->placement.first + i;
}

/* What readers call own task i. */
static inline uint32_t hpcw_i_sion_global(const struct hpcw_sion *h, uint32_t i) {
    return h->global != NULL ? h->global[i] : hpcw_i_sion_rank(h, i);
}

static inline struct hpcw_i_sion_part *hpcw_i_sion_part_of(const struct hpcw_sion *h, uint32_t i) {
    return &h->part[h->part_of != NULL ? h->part_of[i] : 0];
}

/* Where byte `k` of the current chunk of own task i is in its file. */
static inline uint64_t hpcw_i_sion_position(const struct hpcw_sion *h, uint32_t i, uint64_t k) {
    const struct hpcw_i_sion_task *t = &h->task[i];
    return t->start + t->block * hpcw_i_sion_part_of(h, i)->stride + k;
}

/* Index of own task i inside its physical file. */
static inline uint32_t hpcw_i_sion_column(const struct hpcw_sion *h, uint32_t i) {
    if (h->placement.column != NULL) {
        return h->placement.column[i];
    }
    uint32_t files = h->placement.files;
    uint32_t first = files == 1 ? 0 : hpcw_i_sion_first_task(&h->division, hpcw_i_sion_part_of(h, i)->file);
    return hpcw_i_sion_rank(h, i) - first;
}

/*
 * The process that owns a file's first task leads the file: it creates it, writes the head, commits and names it.
 */
static inline bool hpcw_i_sion_leads(const struct hpcw_sion *h, const struct hpcw_i_sion_part *part) {
    return part->begin < part->end && hpcw_i_sion_column(h, part->begin) == 0;
}

#endif
