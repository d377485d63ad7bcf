/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * F3: a recording while it is made. A timeline is a list of chunks of words; a chunk is in memory or in the local file. All
 * that threads share is guarded by one lock, which recording takes once for a chunk.
 */
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
    struct hpcw_clog2_timeline face; /* first: what the public header sees */
    hpcw_clog2_log *log;
    uint32_t thread;
    struct hpcw_i_clog2_chunk *first, *last;
    uint64_t
        *bin; /* [HPCW_I_CLOG2_BIN] where records go that there is no room for; then last->data is not used */
    bool in_bin;
    uint64_t lost;
};

/* How ticks become seconds: (tick - base) * ns is local time, which is corrected afterwards. */
struct hpcw_i_clog2_ticks {
    uint64_t base;
    double ns;               /* per tick */
    uint64_t system_base_ns; /* the system's clock at `base` */
    int64_t begin_at, begin_offset, end_at,
        end_offset; /* local time of a comparison, and what was lacking; ns */
    uint64_t begin_round_trip, end_round_trip;
};

struct hpcw_clog2_log {
    hpcw_comm *comm;
    char *path;
    hpcw_clog2_log_options options;
    char *directory;
    hpcw_clog2_clock clock;
    struct hpcw_i_clog2_ticks ticks;
    int *leader; /* [clocks] ascending: of the processes that read one clock, the first one */
    int clocks;
    int own_clock; /* which of them this process reads */
    uint64_t tag;  /* of this run, the same on all processes */

    pthread_mutex_t lock;
    pthread_cond_t changed; /* a chunk was written, or is to be */
    struct hpcw_i_clog2_timeline **timeline;
    uint32_t timelines;
    struct hpcw_i_clog2_definition *definition;
    uint32_t definitions, states, solos;
    struct hpcw_i_clog2_known_comm *known;
    uint32_t knowns;
    uint32_t ids_made;

    uint64_t buffers, most_buffers; /* of chunks, that exist and may exist */
    uint64_t **spare;               /* buffers without a chunk */
    uint64_t spares;
    struct hpcw_i_clog2_chunk *queue, **queue_end; /* full, in memory, in order */
    uint64_t queued;
    struct hpcw_i_clog2_chunk *writing;
    uint64_t flush_to; /* number of chunks that must have been written, counted since the begin */
    uint64_t pushed, written;
    bool helper_runs, helper_stops;
    pthread_t helper;
    char *local_path; /* NULL: there is no local file yet */
    int fd;
    uint64_t local_size;
    uint32_t definitions_written, knowns_written;
    hpcw_error disk; /* code HPCW_OK: the local file is good */
    uint64_t spilled, stalls;
    bool finished;
};

static inline struct hpcw_i_clog2_timeline *hpcw_i_clog2_inner(hpcw_clog2_timeline *timeline) {
    return (struct hpcw_i_clog2_timeline *)timeline;
}

#endif
