/* SPDX-License-Identifier: BSD-3-Clause */
/* A recording in progress. A timeline is a list of chunks of words. A chunk is a window of the local file, or
 * memory if there is no such file. One lock protects data that threads share. Recording takes it once per chunk. */
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
    /* number of prepared windows: after a thread took one, another is ready until the next is made */
    HPCW_I_CLOG2_AHEAD = 2
};

/* A mapped part of the local file. */
struct hpcw_i_clog2_window {
    unsigned char *base; /* [HPCW_I_CLOG2_CHUNK_BYTES]; NULL: none */
    uint64_t offset;     /* in the file */
};

struct hpcw_i_clog2_timeline {
    struct hpcw_clog2_timeline face; /* the part that the public header knows; must be first */
    hpcw_clog2_log *log;
    uint32_t thread;
    struct hpcw_i_clog2_chunk *first, *last;
    uint64_t *bin; /* buffer for records that find no memory, which are lost; last->data is then not used */
    bool in_bin;
    bool unsaved; /* some of its records are not in the local file, which got no space for them */
    uint64_t lost;
};

/* Converts ticks to seconds: (tick - base) * ns is local time, which is corrected at the end. */
struct hpcw_i_clog2_ticks {
    uint64_t base;
    double ns;               /* nanoseconds per tick */
    uint64_t system_base_ns; /* the system's clock at `base` */
    int64_t begin_at, begin_offset, end_at,
        /* local time of a comparison, and the value that added to it gives process 0's time; ns */
        end_offset;
    uint64_t begin_round_trip, end_round_trip;
};

/* The clocks of the processes. Those of a host share one. */
struct hpcw_i_clog2_clocks {
    hpcw_clog2_clock kind;
    struct hpcw_i_clog2_ticks ticks;
    int *leader; /* [count] ascending: first process that reads each clock */
    int count;
    int own; /* index of this process's clock */
};

/* Memory for records, and the helper that prepares windows. */
struct hpcw_i_clog2_windows {
    uint64_t buffers; /* number of chunks that are memory, not windows */
    uint64_t mapped;  /* number of mapped windows of records */
    uint64_t most;    /* most of both together; further windows are unmapped, further buffers refused */
    struct hpcw_i_clog2_window ready[HPCW_I_CLOG2_AHEAD]; /* [readies] prepared windows */
    uint32_t readies;
    struct hpcw_i_clog2_chunk *queue, **queue_end; /* queue of full windows that are mapped, in order */
    bool helper_runs, helper_stops;
    pthread_t helper;
};

/* The local file. */
struct hpcw_i_clog2_local {
    char *path; /* NULL: there is no local file */
    int fd;
    struct hpcw_i_file_id id;         /* identity of the file of `fd` */
    uint64_t size;                    /* offset of the next window */
    uint64_t made;                    /* end of the last window that has space */
    struct hpcw_i_clog2_window table; /* window for definitions and communicators */
    size_t table_used, table_allocated;
    uint32_t definitions_written, knowns_written;
    hpcw_error disk; /* first failure of the local file, after which it is not used; code HPCW_OK: none */
    uint64_t spilled, stalls;
};

struct hpcw_clog2_log {
    hpcw_comm *comm;
    char *path;
    struct hpcw_i_clog2_place place;
    /* working directory at the open, if `place` could not be found then; otherwise NULL */
    struct hpcw_i_dir *start;
    char *name; /* last part of the first path; names of local files contain it */
    hpcw_clog2_log_options options;
    char *directory;              /* directory of local files; NULL: no local files */
    struct hpcw_i_dir *local_dir; /* the same directory, kept open; NULL: it could not be opened */
    int local_dir_error;          /* errno value of that failure */
    struct hpcw_i_clog2_clocks clocks;
    uint64_t tag;         /* number of this run, equal on all processes */
    uint32_t rank, ranks; /* in the log; equal to those of `comm`, except in a process that records apart */

    pthread_mutex_t lock;
    pthread_cond_t changed; /* signals the helper: a window was taken or is full, or it must stop */
    struct hpcw_i_clog2_timeline **timeline;
    uint32_t timelines;
    struct hpcw_i_clog2_definition *definition;
    uint32_t definitions, states, solos;
    struct hpcw_i_clog2_known_comm *known;
    uint32_t knowns;
    uint32_t ids_made;
    struct hpcw_i_clog2_windows windows;
    struct hpcw_i_clog2_local local;
    bool finished;
};

static inline struct hpcw_i_clog2_timeline *hpcw_i_clog2_inner(hpcw_clog2_timeline *timeline) {
    return (struct hpcw_i_clog2_timeline *)timeline;
}

/* ---- log.c ---- */

/* Facts about a run, for processes that cannot communicate. All but `rank` are the same on all of them. */
struct hpcw_i_clog2_apart {
    uint32_t rank, ranks;
    uint64_t run; /* number of the run; not 0 */
    /* host where the run began, as in hpcw_i_sys_host; clocks of other hosts have another zero */
    uint64_t host;
    uint64_t began_ns; /* system clock of that host at the begin */
};

/*
 * Begins a recording that ends with its local file, for hpcw_clog2_recover: it cannot be finished. Not collective.
 */
hpcw_status hpcw_i_clog2_log_open_apart(const char *path, const hpcw_clog2_log_options *options,
                                        const struct hpcw_i_clog2_apart *apart, hpcw_clog2_log **out,
                                        hpcw_error *err);

/* ---- clock.c ---- */

/* Chooses the clock of a recording. */
hpcw_status hpcw_i_clog2_clock_begin(hpcw_clog2_log *log, hpcw_error *err);

/* Gives all processes of a host one clock: the zero and the length of a tick of the first process there.
 * Collective. */
hpcw_status hpcw_i_clog2_clock_share(hpcw_clog2_log *log, hpcw_error *err);
uint64_t hpcw_i_clog2_clock_ticks(const hpcw_clog2_log *log);
uint64_t hpcw_i_clog2_system_ns(void);

struct hpcw_i_clog2_reading {
    uint64_t system_ns, ticks;
};
/* Reads the system's clock and the recording's clock at nearly the same time. As the process may lose the
 * processor between two readings, it keeps the fastest of eight pairs, which takes less than a microsecond. */
struct hpcw_i_clog2_reading hpcw_i_clog2_read_both(const hpcw_clog2_log *log);

/* ---- define.c ---- */

/* Adds a communicator of this process. The caller holds the lock. False: out of memory. */
bool hpcw_i_clog2_add_known(hpcw_clog2_log *log, const hpcw_clog2_comm_id *id, hpcw_clog2_comm_kind kind,
                            uint32_t rank);

/* ---- timeline.c ---- */

/* Ends recording: sets the length of the last chunk of each timeline. */
void hpcw_i_clog2_timelines_stop(hpcw_clog2_log *log);

/* Returns whether the local file has records other than communicators. */
bool hpcw_i_clog2_timelines_have_events(const hpcw_clog2_log *log);

/* Frees all timelines with their chunks and buffers. */
void hpcw_i_clog2_timelines_free(hpcw_clog2_log *log);

/* ---- local_file.c ---- */

/* Creates the local file. A failure, now or later, is kept in log->local.disk. */
void hpcw_i_clog2_local_create(hpcw_clog2_log *log);

/* Write new definitions and communicators, or a known state that records may use. The caller holds the lock. */
void hpcw_i_clog2_local_note(hpcw_clog2_log *log);
void hpcw_i_clog2_local_offer(hpcw_clog2_log *log, const struct hpcw_i_clog2_definition *state);

/* Makes and prepares a window for records. False: refused. The caller holds the lock, which is released
 * meanwhile. */
bool hpcw_i_clog2_local_make(hpcw_clog2_log *log, struct hpcw_i_clog2_window *window);
/* Notes in the local file that some records are not in it. The caller holds the lock. */
void hpcw_i_clog2_local_in_memory(const hpcw_clog2_log *log);

/* Closes the local file. `remove`: also removes it. */
void hpcw_i_clog2_local_close(hpcw_clog2_log *log, bool remove);

/* Appends to a message how to make the log from `files` local files, and that `unsaved` threads have records in
 * none. Both are numbers of all processes. */
void hpcw_i_clog2_local_hint(const hpcw_clog2_log *log, uint64_t files, uint64_t unsaved, hpcw_error *err);

/* ---- helper.c ---- */

/* Wakes or starts the helper thread, which prepares windows and unmaps full ones. The caller holds the lock. */
void hpcw_i_clog2_helper_wake(hpcw_clog2_log *log);

/* Ends the helper thread. */
void hpcw_i_clog2_helper_stop(hpcw_clog2_log *log);

/* ---- sync.c ---- */

/* Compares this process's clock with that of process 0. When its local time was *at, that of process 0
 * was *at + *offset. Collective. */
hpcw_status hpcw_i_clog2_sync(hpcw_clog2_log *log, int64_t *at, int64_t *offset, uint64_t *round_trip,
                              hpcw_error *err);

#endif
