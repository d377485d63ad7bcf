/* SPDX-License-Identifier: BSD-3-Clause */
/* A recording in progress. A timeline is a list of chunks of words; a chunk is a window of the local file, or
 * memory where there is no such file. One lock guards what threads share. Recording takes it once per chunk. */
#ifndef HPCW_FORMAT_CLOG2_LOG_RECORDING_H
#define HPCW_FORMAT_CLOG2_LOG_RECORDING_H

#include <pthread.h>

#include <hpcw/clog2_log.h>

#include "libwriter/comm/comm.h"
#include "libwriter/format/clog2/file/definitions.h"
#include "libwriter/format/clog2/file/file.h"
#include "libwriter/format/clog2/merge/chunk.h"
#include "libwriter/format/clog2/merge/comms.h"
#include "libwriter/io/dir.h"

enum {
    HPCW_I_CLOG2_MOST_THREADS = 32767,
    HPCW_I_CLOG2_MOST_COMMS = 1 << 24,
    HPCW_I_CLOG2_AHEAD = 2 /* prepared windows: a thread that takes one leaves another until the next is made */
};

/* A part of the local file that is mapped. */
struct hpcw_i_clog2_window {
    unsigned char *base; /* [HPCW_I_CLOG2_CHUNK_BYTES]; NULL: none */
    uint64_t offset;     /* in the file */
};

struct hpcw_i_clog2_timeline {
    struct hpcw_clog2_timeline face; /* first member: what the public header sees */
    hpcw_clog2_log *log;
    uint32_t thread;
    struct hpcw_i_clog2_chunk *first, *last;
    uint64_t *bin; /* records that find no memory go here and are lost; then last->data is not used */
    bool in_bin;
    bool unsaved; /* some of its records are not in the local file, which was refused its space */
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
    struct hpcw_i_clog2_place place;
    struct hpcw_i_dir
        *start; /* if `place` could not be found yet: the working directory at that time; otherwise NULL */
    char *name; /* of the path at first, without directory: local files have it in theirs */
    hpcw_clog2_log_options options;
    char *directory;              /* of local files; NULL: there are none */
    struct hpcw_i_dir *local_dir; /* the same, held; NULL: it cannot be */
    int local_dir_error;          /* why not; an errno value */
    hpcw_clog2_clock clock;
    struct hpcw_i_clog2_ticks ticks;
    int *leader; /* [clocks] ascending: the first process that reads each clock */
    int clocks;
    int own_clock;        /* index of this process's clock */
    uint64_t tag;         /* of this run, equal on all processes */
    uint32_t rank, ranks; /* in the log: those of `comm`, but for a process that records apart */

    pthread_mutex_t lock;
    pthread_cond_t changed; /* for the helper: a window was taken or is full, or it must stop */
    struct hpcw_i_clog2_timeline **timeline;
    uint32_t timelines;
    struct hpcw_i_clog2_definition *definition;
    uint32_t definitions, states, solos;
    struct hpcw_i_clog2_known_comm *known;
    uint32_t knowns;
    uint32_t ids_made;

    uint64_t buffers; /* chunks that are memory and not windows */
    uint64_t mapped;  /* windows of records */
    uint64_t most;    /* of both kinds together; further windows are unmapped, further buffers refused */
    struct hpcw_i_clog2_window ready[HPCW_I_CLOG2_AHEAD]; /* [readies] prepared windows */
    uint32_t readies;
    struct hpcw_i_clog2_chunk *queue, **queue_end; /* full windows that are mapped, in order */
    bool helper_runs, helper_stops;
    pthread_t helper;

    char *local_path; /* NULL: there is no local file */
    int fd;
    struct hpcw_i_file_id local_id;   /* of the file that `fd` is */
    uint64_t local_size;              /* where the next window begins */
    uint64_t local_made;              /* where the last one that has space ends */
    struct hpcw_i_clog2_window table; /* the window that gets definitions and communicators */
    size_t table_used, table_allocated;
    uint32_t definitions_written, knowns_written;
    hpcw_error disk; /* first failure of the local file, which ends it; code HPCW_OK: none */
    uint64_t spilled, stalls;
    bool finished;
};

static inline struct hpcw_i_clog2_timeline *hpcw_i_clog2_inner(hpcw_clog2_timeline *timeline) {
    return (struct hpcw_i_clog2_timeline *)timeline;
}

/* ---- log.c ---- */

/* What processes that cannot communicate know of their run, the same on all of them but for `rank`. */
struct hpcw_i_clog2_apart {
    uint32_t rank, ranks;
    uint64_t run; /* its number; not 0 */
    uint64_t
        host; /* where it began, as hpcw_i_sys_host says; processes of other hosts have their own zero of time */
    uint64_t began_ns; /* the system clock of that host then */
};

/*
 * Begins a recording that ends with its local file, for hpcw_clog2_recover: it cannot be finished. Not collective.
 */
hpcw_status hpcw_i_clog2_log_open_apart(const char *path, const hpcw_clog2_log_options *options,
                                        const struct hpcw_i_clog2_apart *apart, hpcw_clog2_log **out,
                                        hpcw_error *err);

/* ---- clock.c ---- */

/* Chooses the clock. */
hpcw_status hpcw_i_clog2_clock_begin(hpcw_clog2_log *log, hpcw_error *err);

/* Collective. The processes of a host take over the zero and the tick of the first one. */
hpcw_status hpcw_i_clog2_clock_share(hpcw_clog2_log *log, hpcw_error *err);
uint64_t hpcw_i_clog2_clock_ticks(const hpcw_clog2_log *log);
uint64_t hpcw_i_clog2_system_ns(void);

struct hpcw_i_clog2_reading {
    uint64_t system_ns, ticks;
};
/* Reads the system's clock and the recording's at almost one time. The processor may be taken away between two
 * readings; of eight pairs, which take less than a microsecond, the one that took the shortest is kept. */
struct hpcw_i_clog2_reading hpcw_i_clog2_read_both(const hpcw_clog2_log *log);

/* ---- define.c ---- */

/* Adds a communicator of this process. Call it under the lock. False: out of memory. */
bool hpcw_i_clog2_add_known(hpcw_clog2_log *log, const hpcw_clog2_comm_id *id, hpcw_clog2_comm_kind kind,
                            uint32_t rank);

/* ---- timeline.c ---- */

/* Ends recording: the last chunk of each timeline gets its length. */
void hpcw_i_clog2_timelines_stop(hpcw_clog2_log *log);

/* Whether the local file has anything but communicators. */
bool hpcw_i_clog2_timelines_have_events(const hpcw_clog2_log *log);

/* Frees all timelines with their chunks and buffers. */
void hpcw_i_clog2_timelines_free(hpcw_clog2_log *log);

/* ---- local_file.c ---- */

/* Creates the local file; what fails then or later is in log->disk. */
void hpcw_i_clog2_local_create(hpcw_clog2_log *log);

/* Under the lock. Writes definitions and communicators that are new; a known state that records may use. */
void hpcw_i_clog2_local_note(hpcw_clog2_log *log);
void hpcw_i_clog2_local_offer(hpcw_clog2_log *log, const struct hpcw_i_clog2_definition *state);

/* Under the lock, which it releases meanwhile. Makes and prepares a window for records. False: refused. */
bool hpcw_i_clog2_local_make(hpcw_clog2_log *log, struct hpcw_i_clog2_window *window);
/* Under the lock: notes in the local file that records are not in it. */
void hpcw_i_clog2_local_in_memory(const hpcw_clog2_log *log);

/* Closes the file, and removes it. */
void hpcw_i_clog2_local_close(hpcw_clog2_log *log, bool remove);

/* Appends to a message how the log can still be made of `files` local files, and that `unsaved` threads have
 * records that are in none: numbers of all processes. */
void hpcw_i_clog2_local_hint(const hpcw_clog2_log *log, uint64_t files, uint64_t unsaved, hpcw_error *err);

/* ---- helper.c ---- */

/* Under the lock. Wakes or starts the helper thread, which prepares windows ahead and unmaps full ones. */
void hpcw_i_clog2_helper_wake(hpcw_clog2_log *log);

/* Ends it. */
void hpcw_i_clog2_helper_stop(hpcw_clog2_log *log);

/* ---- sync.c ---- */

/* Collective. Compares this process's clock with that of process 0: when its local time was *at, that of process 0
 * was later by *offset. */
hpcw_status hpcw_i_clog2_sync(hpcw_clog2_log *log, int64_t *at, int64_t *offset, uint64_t *round_trip,
                              hpcw_error *err);

#endif
