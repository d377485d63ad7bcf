/* SPDX-License-Identifier: BSD-3-Clause */
/* A recording in progress. A timeline is a list of chunks of 64-bit words, the records of a thread. A chunk is a
 * window of the local file, or memory if there is no such file. One lock protects data that threads share. A
 * recording thread takes the lock once per chunk. */
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
    /* number of windows prepared ahead: when a thread takes one, another is ready while the helper makes the
     * next */
    HPCW_I_CLOG2_AHEAD = 2
};

/* A mapped part of the local file. */
struct hpcw_i_clog2_window {
    unsigned char *base; /* [HPCW_I_CLOG2_CHUNK_BYTES]; NULL: no window */
    uint64_t offset;     /* offset of the window in the local file, bytes */
};

struct hpcw_i_clog2_timeline {
    struct hpcw_clog2_timeline face; /* the part that the public header knows; must be first */
    hpcw_clog2_log *log;
    uint32_t thread;
    struct hpcw_i_clog2_chunk *first, *last;
    /* buffer for records while there is no memory for a chunk; these records are lost, and last->data is not
     * used */
    uint64_t *bin;
    bool in_bin;
    bool unsaved; /* some records of the thread are not in the local file, which got no space for them */
    uint64_t lost;
};

/* Converts ticks of a clock to local time, which is (tick - base) * ns nanoseconds. Local times are corrected at
 * the end. */
struct hpcw_i_clog2_ticks {
    uint64_t base;
    double ns;               /* nanoseconds per tick */
    uint64_t system_base_ns; /* value of the system's clock at tick `base`, ns */
    int64_t begin_at, begin_offset, end_at,
        /* begin_at, end_at: local times of the comparisons with process 0's clock, ns; begin_offset, end_offset:
         * process 0's time minus local time, ns */
        end_offset;
    uint64_t begin_round_trip, end_round_trip;
};

/* The clocks of all processes. Processes of one host share a clock. */
struct hpcw_i_clog2_clocks {
    hpcw_clog2_clock kind;
    struct hpcw_i_clog2_ticks ticks;
    int *leader; /* [count] for each clock the first process that reads it, ascending */
    int count;
    int own; /* index in `leader` of this process's clock */
};

/* Memory for records, and the helper thread that prepares windows of the local file. */
struct hpcw_i_clog2_windows {
    uint64_t buffers; /* number of chunks that are plain memory, not windows */
    uint64_t mapped;  /* number of mapped windows of records */
    /* limit: full windows are unmapped while buffers + mapped exceed it; `buffers` alone never exceeds it */
    uint64_t most;
    struct hpcw_i_clog2_window ready[HPCW_I_CLOG2_AHEAD]; /* [readies] prepared windows */
    uint32_t readies;
    struct hpcw_i_clog2_chunk *queue, **queue_end; /* queue of full windows that are mapped, in order */
    bool helper_runs, helper_stops;
    pthread_t helper;
};

struct hpcw_i_clog2_local {
    char *path; /* NULL: there is no local file */
    int fd;
    struct hpcw_i_file_id id;         /* identity of the file of `fd` */
    uint64_t size;                    /* offset of the next window */
    uint64_t made;                    /* offset up to which the file has allocated space */
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
    char *name; /* last part of the path at the open; names of local files contain it */
    hpcw_clog2_log_options options;
    char *directory;              /* directory of local files; NULL: no local files */
    struct hpcw_i_dir *local_dir; /* `directory`, kept open; NULL: it could not be opened */
    int local_dir_error;          /* errno value if `local_dir` could not be opened */
    struct hpcw_i_clog2_clocks clocks;
    uint64_t tag;         /* number of this run, equal on all processes */
    uint32_t rank, ranks; /* rank and ranks of the log; not those of `comm` if processes cannot communicate */

    pthread_mutex_t lock;
    pthread_cond_t changed; /* wakes the helper: a window was taken or is full, or the helper must stop */
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

/* Facts about a run whose processes cannot communicate. All members except `rank` are equal on all processes. */
struct hpcw_i_clog2_apart {
    uint32_t rank, ranks;
    uint64_t run; /* number of the run, not 0 */
    /* host on which the run began, as hpcw_i_sys_host returns it; clocks of other hosts have other zero points */
    uint64_t host;
    uint64_t began_ns; /* time of the begin of the run by the system clock of `host`, ns */
};

/* Begins a recording of a process that cannot communicate. Such a recording cannot be finished: its result is the
 * local file, for hpcw_clog2_recover. Not collective. */
hpcw_status hpcw_i_clog2_log_open_apart(const char *path, const hpcw_clog2_log_options *options,
                                        const struct hpcw_i_clog2_apart *apart, hpcw_clog2_log **out,
                                        hpcw_error *err);

/* ---- clock.c ---- */

/* Chooses the clock of a recording. */
hpcw_status hpcw_i_clog2_clock_begin(hpcw_clog2_log *log, hpcw_error *err);

/* Makes all processes of a host use one clock, with the zero point and tick length that the host's first process
 * has measured. Collective. */
hpcw_status hpcw_i_clog2_clock_share(hpcw_clog2_log *log, hpcw_error *err);
uint64_t hpcw_i_clog2_clock_ticks(const hpcw_clog2_log *log);
uint64_t hpcw_i_clog2_system_ns(void);

struct hpcw_i_clog2_reading {
    uint64_t system_ns, ticks;
};
/* Reads the system's clock and the recording's clock at nearly the same time. The process may lose its processor
 * between two readings. So this function makes eight pairs of readings, in less than a microsecond, and returns the
 * fastest. */
struct hpcw_i_clog2_reading hpcw_i_clog2_read_both(const hpcw_clog2_log *log);

/* ---- define.c ---- */

/* Adds a communicator of which this process is a member. The caller holds the lock. False: out of memory. */
bool hpcw_i_clog2_add_known(hpcw_clog2_log *log, const hpcw_clog2_comm_id *id, hpcw_clog2_comm_kind kind,
                            uint32_t rank);

/* ---- timeline.c ---- */

/* Ends recording: sets the length of the last chunk of each timeline. */
void hpcw_i_clog2_timelines_stop(hpcw_clog2_log *log);

/* Returns whether the local file has records other than those of new communicators. */
bool hpcw_i_clog2_timelines_have_events(const hpcw_clog2_log *log);

/* Frees all timelines with their chunks and buffers. */
void hpcw_i_clog2_timelines_free(hpcw_clog2_log *log);

/* ---- local_file.c ---- */

/* Creates the local file. A failure, now or later, is kept in log->local.disk. */
void hpcw_i_clog2_local_create(hpcw_clog2_log *log);

/* Write to the local file: `note` all new definitions and communicators, `offer` a state that records may use. The
 * caller holds the lock. */
void hpcw_i_clog2_local_note(hpcw_clog2_log *log);
void hpcw_i_clog2_local_offer(hpcw_clog2_log *log, const struct hpcw_i_clog2_definition *state);

/* Makes and prepares a window for records. False: the local file got no space. The caller holds the lock, which is
 * released meanwhile. */
bool hpcw_i_clog2_local_make(hpcw_clog2_log *log, struct hpcw_i_clog2_window *window);
/* Notes in the local file that some records are only in memory. The caller holds the lock. */
void hpcw_i_clog2_local_in_memory(const hpcw_clog2_log *log);

/* Closes the local file. `remove`: also removes it. */
void hpcw_i_clog2_local_close(hpcw_clog2_log *log, bool remove);

/* Appends to a message the command that makes the log from `files` local files. Also says that `unsaved` threads
 * have records in no local file. Both are sums over all processes. */
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
