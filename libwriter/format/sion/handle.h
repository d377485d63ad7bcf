/* SPDX-License-Identifier: BSD-3-Clause */
/* F3: the inside of a SION container open for writing, shared by the files of this folder. */
#ifndef HPCW_FORMAT_SION_HANDLE_H
#define HPCW_FORMAT_SION_HANDLE_H

#include <pthread.h>
#include <stdatomic.h>

#include "comm/comm.h"
#include "format/sion/place.h"

/* The tasks of this process that live in one physical file: a run of the own tasks, as these are ascending. */
struct hpcw_i_sion_part {
    uint32_t file;  /* number in the set */
    uint32_t begin; /* own tasks [begin, end) */
    uint32_t end;
    uint64_t stride;
    hpcw_sink *sink;
};

struct hpcw_sion {
    hpcw_comm *comm;
    hpcw_sion_options options; /* pointers in it are not used after open */
    char *path;
    uint64_t tag;        /* names the temporary files; 0 with one process */
    uint32_t block_size; /* of the file system, resolved */
    uint32_t tasks;      /* N */
    uint32_t *ranks;     /* [count] or NULL: first + i */
    struct hpcw_i_sion_task *task;
    struct hpcw_i_sion_placement place;
    struct hpcw_i_sion_part *part; /* [parts] */
    uint32_t parts;
    uint32_t *part_of;  /* [count], NULL if there is one part */
    bool *tail_dropped; /* key-value: [count] the stream ends in a header that readers drop; else NULL */

    /* Write buffers: one slot per task, or, with too many tasks for that, slots on loan (`pooled`). */
    unsigned char *slots;
    size_t slot_size; /* 0: unbuffered */
    bool pooled;
    uint32_t slot_count;
    uint32_t next_slot;        /* pooled: the one lent out longest ago */
    uint32_t *slot_owner;      /* pooled: [slot_count] 1 + own task, 0: free */
    uint32_t *slot_of;         /* pooled: [count] 1 + slot, 0: none */
    pthread_mutex_t pool_lock; /* pooled: every write holds it */

    atomic_bool broken; /* a write failed: no more writes, close will fail */
    hpcw_error failure; /* the first one, guarded by failure_lock until close */
    pthread_mutex_t failure_lock;
    bool closed;
};

/* Index of an own task, or UINT32_MAX. */
uint32_t hpcw_i_sion_index(const struct hpcw_sion *h, uint32_t rank);

static inline uint32_t hpcw_i_sion_rank(const struct hpcw_sion *h, uint32_t i) {
    return h->ranks != NULL ? h->ranks[i] : h->place.first + i;
}

static inline struct hpcw_i_sion_part *hpcw_i_sion_part_of(const struct hpcw_sion *h, uint32_t i) {
    return &h->part[h->part_of != NULL ? h->part_of[i] : 0];
}

/* Index of own task i inside its physical file. */
static inline uint32_t hpcw_i_sion_column(const struct hpcw_sion *h, uint32_t i) {
    if (h->place.column != NULL) {
        return h->place.column[i];
    }
    uint32_t first = h->place.files == 1 ? 0
                                         : hpcw_sion_first_task_of_file(h->tasks, h->place.files,
                                                                        hpcw_i_sion_part_of(h, i)->file);
    return hpcw_i_sion_rank(h, i) - first;
}

/* data.c: sets up and tears down the buffers; writes out what waits. */
hpcw_status hpcw_i_sion_buffers_new(struct hpcw_sion *h, hpcw_error *err);
void hpcw_i_sion_buffers_free(struct hpcw_sion *h);
hpcw_status hpcw_i_sion_flush_all(struct hpcw_sion *h, hpcw_error *err);

/*
 * meta.c: everything but the data and the commit mark. Collective. `blocks` [files] is the largest number of
 * blocks of any task of each file, `lowest` and `highest` [files] the processes that own tasks in it.
 */
hpcw_status hpcw_i_sion_write_meta(struct hpcw_sion *h, const uint64_t *blocks, const uint64_t *lowest,
                                   const uint64_t *highest, hpcw_error *err);

/* The fixed part of META1 of a file, HPCW_I_SION_TABLES_AT bytes; needs no collective. */
void hpcw_i_sion_encode_head(const struct hpcw_sion *h, uint32_t file, unsigned char *head);

/* Entries of the mapping block of a file: UINT64_MAX for no block, 0 for an empty one. */
uint64_t hpcw_i_sion_mapping_of(const struct hpcw_sion *h, uint32_t file);

/* sion.c: sink of a physical file; a process that owns none of its tasks opens one for the metadata. */
hpcw_status hpcw_i_sion_open_sink(struct hpcw_sion *h, uint32_t file, hpcw_sink **sink, hpcw_error *err);

#endif
