/* SPDX-License-Identifier: BSD-3-Clause */
/* A recording in progress. A timeline is a list of chunks of words; a chunk is in memory or in the local
 * file. One lock guards what threads share. Recording takes it once per chunk. */
#ifndef HPCW_FORMAT_CLOG2_LOG_RECORDING_H
#define HPCW_FORMAT_CLOG2_LOG_RECORDING_H

#include <pthread.h>

#include <hpcw/clog2_log.h>

#include "libwriter/comm/comm.h"
#include "libwriter/format/clog2/file/definitions.h"
#include "libwriter/format/clog2/merge/chunk.h"
#include "libwriter/format/clog2/merge/comms.h"

enum { HPCW_I_CLOG2_MOST_THREADS = 32767, HPCW_I_CLOG2_MOST_COMMS = 1 << 24 };

struct hpcw_i_clog2_timeline {
    struct hpcw_clog2_timeline face; /* first member: what the public header sees */
    hpcw_clog2_log *log;
    uint32_t thread;
    struct hpcw_i_clog2_chunk *first, *last;
    uint64_t *bin; /* records that find no memory go here and are lost; then last->data is not used */
    bool in_bin;
    uint64_t lost;
};

/* How ticks become seconds: (tick - base) * ns is local time, which is corrected at the end. */
struct hpcw_i_clog2_ticks {
    uint64_t base;
    double ns;               /* per tick */
    uint64_t system_base_ns; /* the system's clock at `base` */
    int64_t begin_at, begin_offset, end_at,
        end_offset; /* local time of a comparison, and what to add to it for process 0's time; ns */
    uint64_t begin_round_trip, end_round_trip;
};

struct hpcw_clog2_log {
    hpcw_comm *comm;
    char *path;
    hpcw_clog2_log_options options;
    char *directory;
    hpcw_clog2_clock clock;
    struct hpcw_i_clog2_ticks ticks;
    int *leader; /* [clocks] ascending: the first process that reads each clock */
    int clocks;
    int own_clock; /* index of this process's clock */
    uint64_t tag;  /* of this run, equal on all processes */

    pthread_mutex_t lock;
    pthread_cond_t changed; /* a chunk was written, or must be written */
    struct hpcw_i_clog2_timeline **timeline;
    uint32_t timelines;
    struct hpcw_i_clog2_definition *definition;
    uint32_t definitions, states, solos;
    struct hpcw_i_clog2_known_comm *known;
    uint32_t knowns;
    uint32_t ids_made;

    uint64_t buffers, most_buffers; /* of chunks: how many exist, and how many may */
    uint64_t **spare;               /* buffers without a chunk */
    uint64_t spares;
    struct hpcw_i_clog2_chunk *queue, **queue_end; /* full chunks in memory, in order */
    uint64_t queued;
    struct hpcw_i_clog2_chunk *writing;
    uint64_t flush_to; /* the number of chunks, since the begin, that must be written */
    uint64_t pushed, written;
    bool helper_runs, helper_stops;
    pthread_t helper;
    char *local_path; /* NULL: there is no local file yet */
    int fd;
    uint64_t local_size;
    uint32_t definitions_written, knowns_written;
    hpcw_error disk; /* first failure of the local file; code HPCW_OK: none */
    uint64_t spilled, stalls;
    bool finished;
};

static inline struct hpcw_i_clog2_timeline *hpcw_i_clog2_inner(hpcw_clog2_timeline *timeline) {
    return (struct hpcw_i_clog2_timeline *)timeline;
}

/* ---- clock.c ---- */

/* Chooses the clock. */
hpcw_status hpcw_i_clog2_clock_begin(hpcw_clog2_log *log, hpcw_error *err);

/* Collective. The processes of a host take over the zero and the tick of the first one. */
hpcw_status hpcw_i_clog2_clock_share(hpcw_clog2_log *log, hpcw_error *err);
uint64_t hpcw_i_clog2_clock_ticks(const hpcw_clog2_log *log);
uint64_t hpcw_i_clog2_system_ns(void);

/* ---- define.c ---- */

/* Adds a communicator of this process. Call it under the lock. False: out of memory. */
bool hpcw_i_clog2_add_known(hpcw_clog2_log *log, const hpcw_clog2_comm_id *id, hpcw_clog2_comm_kind kind,
                            uint32_t rank);

/* ---- timeline.c ---- */

/* Ends recording: the last chunk of each timeline gets its length. */
void hpcw_i_clog2_timelines_stop(hpcw_clog2_log *log);

/* Frees all timelines with their chunks and buffers. */
void hpcw_i_clog2_timelines_free(hpcw_clog2_log *log);

/* ---- spill.c ---- */

/* Under the lock. Wakes or starts the helper thread if it must write a chunk. */
void hpcw_i_clog2_spill_wake(hpcw_clog2_log *log);

/* Under the lock. Whether a buffer may become free, so that it makes sense to wait for `changed`. */
bool hpcw_i_clog2_spill_may_wait(const hpcw_clog2_log *log);

/* Ends the helper thread. Chunks that it has not written stay in memory. */
void hpcw_i_clog2_spill_stop(hpcw_clog2_log *log);

/* ---- sync.c ---- */

/* Collective. Compares this process's clock with that of process 0: when its local time was *at, that of process 0
 * was later by *offset. */
hpcw_status hpcw_i_clog2_sync(hpcw_clog2_log *log, int64_t *at, int64_t *offset, uint64_t *round_trip,
                              hpcw_error *err);

#endif
