/* SPDX-License-Identifier: BSD-3-Clause */
#include "bindings/mpe/session.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hpcw/mpi.h>
#include <hpcw/trace.h>

#include "bindings/mpe/config.h"
#include "bindings/mpe/definitions.h"

struct mpe_session mpe_session = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct mpe_config config;
static hpcw_comm *world;
static char merged[MPE_PATH]; /* result of MPE_Log_merged_logfilename */
static _Thread_local struct {
    hpcw_clog2_timeline *timeline;
    unsigned round; /* value of mpe_session.round when the timeline was made */
} own;

void mpe_say(const char *fmt, ...) {
    char text[1400];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    (void)fprintf(stderr, "hpcw_mpe: %s\n", text);
}

/* Prints a message on process 0 only. */
static void say_once(const char *about, const char *message) {
    if (mpe_session.process == 0) {
        mpe_say("%s%s", about, message);
    }
}

/* ------------------------------------------------------------------------------------------------------------
 *  Begin; the wrapper's log
 * --------------------------------------------------------------------------------------------------------- */

/* Starts to record into `log`. The caller holds the lock. */
static void open_session(hpcw_clog2_log *log) {
    mpe_session.log = log;
    merged[0] = '\0';
    atomic_fetch_add(&mpe_session.round, 1);
    mpe_definitions_begin();
    atomic_store(&mpe_session.on, true);
    atomic_store(&mpe_session.phase, MPE_OPEN);
}

static void join(void) {
    (void)pthread_mutex_lock(&mpe_session.lock);
    hpcw_clog2_log *log = mpe_session.joined ? NULL : hpcw_trace_log(HPCW_TRACE_VERSION);
    if (log != NULL) {
        mpe_session.joined = true;
        mpe_session.process = (int)hpcw_clog2_log_rank(log);
        open_session(log);
    }
    (void)pthread_mutex_unlock(&mpe_session.lock);
}

static bool wrapper_ends(void *context) {
    (void)context;
    if (hpcw_trace_log(HPCW_TRACE_VERSION) == NULL) {
        return false;
    }
    join(); /* a process joins the wrapper's log in its first MPE call, which may not have happened yet */
    atomic_store(&mpe_session.on, false);
    bool any = mpe_definitions_settle();
    mpe_session.log = NULL;
    mpe_session.joined = false;
    atomic_store(&mpe_session.phase, MPE_ENDED);
    return any;
}

/* Stops recording in a child of fork(): the child shares the memory into which its parent records. */
static void child_stops(void) {
    atomic_store(&mpe_session.on, false);
    atomic_store(&mpe_session.phase, MPE_ENDED);
}

/* A constructor runs before main, so all processes register the handler, whether they log or not. */
__attribute__((constructor)) static void prepare(void) {
    (void)pthread_atfork(NULL, NULL, child_stops);
    if (hpcw_trace_at_end != NULL) {
        hpcw_trace_at_end(wrapper_ends, NULL);
    }
}

bool mpe_begun(void) {
    int phase = atomic_load(&mpe_session.phase);
    if (phase != MPE_NEVER || hpcw_trace_log == NULL) {
        return phase == MPE_OPEN;
    }
    join();
    return atomic_load(&mpe_session.phase) == MPE_OPEN;
}

/* ------------------------------------------------------------------------------------------------------------
 *  Timelines, communicators
 * --------------------------------------------------------------------------------------------------------- */

static hpcw_clog2_timeline *new_timeline(void) {
    hpcw_error error;
    own.round = atomic_load(&mpe_session.round);
    own.timeline = NULL;
    if (hpcw_clog2_log_thread(mpe_session.log, &own.timeline, &error) != HPCW_OK) {
        mpe_say("events of a thread are not recorded: %s", error.message);
    }
    return own.timeline;
}

hpcw_clog2_timeline *mpe_timeline(void) {
    if (!atomic_load(&mpe_session.on) && (atomic_load(&mpe_session.phase) != MPE_NEVER || !mpe_begun())) {
        return NULL;
    }
    if (mpe_session.joined) {
        return hpcw_trace_timeline();
    }
    return own.round == atomic_load(&mpe_session.round) ? own.timeline : new_timeline();
}

uint32_t mpe_comm(MPI_Comm comm) {
    if (mpe_session.joined) {
        return hpcw_trace_comm(comm);
    }
    return comm == MPI_COMM_WORLD ? 0 : comm == MPI_COMM_SELF ? 1 : UINT32_MAX;
}

/* ------------------------------------------------------------------------------------------------------------
 *  A log for programs without the wrapper
 * --------------------------------------------------------------------------------------------------------- */

/* Ends MPI at the program's exit if this library began it. */
static void end_mpi(void) {
    int finalised = 0;
    (void)MPI_Finalized(&finalised);
    if (!finalised) {
        (void)MPI_Finalize();
    }
}

/* Begins MPI if the program did not. Returns false if MPI has already ended. */
static bool need_mpi(void) {
    int initialised = 0, finalised = 0;
    (void)MPI_Initialized(&initialised);
    (void)MPI_Finalized(&finalised);
    if (!initialised) {
        mpe_say("MPE_Init_log: expected a call of MPI_Init before; calling it now");
        (void)MPI_Init(NULL, NULL);
        (void)atexit(end_mpi);
    }
    return !finalised;
}

static hpcw_status open_log(hpcw_clog2_log **log, hpcw_error *err) {
    hpcw_clog2_log_options o;
    hpcw_clog2_log_options_init(&o);
    o.sync = config.sync;
    o.sync_rounds = config.rounds != 0 ? config.rounds : o.sync_rounds;
    o.block_size = config.block_size != 0 ? config.block_size : o.block_size;
    o.directory = config.directory;
    hpcw_status s = hpcw_comm_from_mpi(MPI_COMM_WORLD, &world, err);
    /* The log's name until MPE_Finish_log gives the final one. */
    const char *path = config.prefix[0] != '\0' ? config.prefix : "mpe.clog2";
    return s == HPCW_OK ? hpcw_clog2_log_open(path, world, &o, log, err) : s;
}

/* Opens a log of this library, for programs without the wrapper. The caller holds the lock. */
static int begin(void) {
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &mpe_session.process);
    if (mpe_session.process == 0) {
        mpe_config_read(&config);
    }
    (void)MPI_Bcast(&config, (int)sizeof config, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (!config.same_directory) {
        mpe_config_directory(config.directory);
    }
    if (config.refused[0] != '\0') {
        say_once("using the default: ", config.refused);
    }
    hpcw_error error;
    hpcw_clog2_log *log = NULL;
    hpcw_status status = open_log(&log, &error);
    if (status != HPCW_OK) {
        say_once("nothing is recorded: ", error.message);
        hpcw_comm_free(world);
        world = NULL;
        return status == HPCW_ENOMEM ? MPE_LOG_NO_MEMORY : MPE_LOG_FILE_PROB;
    }
    open_session(log);
    (void)new_timeline(); /* the first timeline is the main thread's */
    return MPE_LOG_OK;
}

int MPE_Init_log(void) {
    if (!need_mpi()) {
        return MPE_LOG_NOT_INITIALIZED;
    }
    int result = MPE_LOG_OK;
    bool begun = mpe_begun();
    (void)pthread_mutex_lock(&mpe_session.lock);
    if (mpe_session.joined) {
        atomic_store(&mpe_session.phase, MPE_OPEN);
    } else if (!begun) {
        result = begin();
    }
    atomic_store(&mpe_session.on, result == MPE_LOG_OK);
    (void)pthread_mutex_unlock(&mpe_session.lock);
    return result;
}

int MPE_Initialized_logging(void) {
    (void)mpe_begun();
    return atomic_load(&mpe_session.phase);
}

/* Returns the result of a call before the begin or after the end of the log. */
static int not_open(void) {
    return atomic_load(&mpe_session.phase) == MPE_NEVER ? MPE_LOG_NOT_INITIALIZED : MPE_LOG_OK;
}

/* Switches recording on or off. As with MPE, this includes the calls that the wrapper records. */
static int switch_to(bool on) {
    if (!mpe_begun()) {
        return not_open();
    }
    atomic_store(&mpe_session.on, on);
    if (mpe_session.joined) {
        (void)MPI_Pcontrol(on);
    }
    return MPE_LOG_OK;
}

int MPE_Start_log(void) {
    return switch_to(true);
}

int MPE_Stop_log(void) {
    return switch_to(false);
}

int MPE_Log_sync_clocks(void) {
    return MPE_LOG_OK;
}

/* ------------------------------------------------------------------------------------------------------------
 *  The end
 * --------------------------------------------------------------------------------------------------------- */

/* Sets the log's name. Only the name on process 0 counts. */
static void name_log(const char *filename) {
    if (mpe_session.process == 0) {
        const char *stem = config.prefix[0] != '\0' ? config.prefix : filename;
        (void)snprintf(merged, sizeof merged, "%.4000s.clog2", stem == NULL ? "mpe" : stem);
    }
    (void)MPI_Bcast(merged, (int)sizeof merged, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void say_what_is_missing(const hpcw_clog2_log_report *r) {
    if (mpe_session.process == 0 && r->lost + r->undefined + r->end_alone + r->bad_cargo > 0) {
        mpe_say("%s: not in the log: %" PRIu64 " records (memory or disk full), %" PRIu64
                " records of events that were not described or of messages without a partner, %" PRIu64
                " ends of states that did not begin, cargo of %" PRIu64 " events that does not fit its format",
                merged, r->lost, r->undefined, r->end_alone, r->bad_cargo);
    }
}

/* Ends the log. The caller holds the lock. */
static int finish(const char *filename) {
    hpcw_error error;
    hpcw_clog2_log_report report;
    (void)mpe_definitions_settle();
    name_log(filename);
    hpcw_status s = hpcw_clog2_log_rename(mpe_session.log, merged, &error);
    if (s == HPCW_OK) {
        s = hpcw_clog2_log_finish(mpe_session.log, &report, &error);
    }
    if (s == HPCW_OK) {
        say_what_is_missing(&report);
    } else {
        say_once("no log: ", error.message);
    }
    hpcw_clog2_log_free(mpe_session.log);
    hpcw_comm_free(world);
    mpe_session.log = NULL;
    world = NULL;
    return s == HPCW_OK ? MPE_LOG_OK : MPE_LOG_FILE_PROB;
}

int MPE_Finish_log(const char *filename) {
    int result = MPE_LOG_OK;
    if (!mpe_begun()) {
        return not_open();
    }
    (void)pthread_mutex_lock(&mpe_session.lock);
    atomic_store(&mpe_session.on, false);
    if (!mpe_session.joined) {
        result = finish(filename);
    }
    atomic_store(&mpe_session.phase, MPE_ENDED);
    (void)pthread_mutex_unlock(&mpe_session.lock);
    return result;
}

const char *MPE_Log_merged_logfilename(void) {
    return merged;
}
