/* SPDX-License-Identifier: BSD-3-Clause */
/* Beginning and end: MPI_Init to MPI_Finalize, threads, on and off. */
#include "libwriter/trace/trace.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <hpcw/mpi.h>

#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/trace/comms.h"
#include "libwriter/trace/config.h"

struct hpcw_i_trace hpcw_i_trace;
_Thread_local struct hpcw_i_trace_thread hpcw_i_trace_thread;

enum { COMM_BITS = 10, REQUEST_BITS = 13 };

/* The rest of the state: touched at the beginning, at the end, and when a thread comes or goes. */
static struct {
    hpcw_comm *comm;
    hpcw_clog2_log *log;
    struct hpcw_i_trace_config config;
    int process;
    pthread_key_t ends; /* tells when a thread ends */
    bool have_key;
    pthread_mutex_t lock;       /* of what follows */
    hpcw_clog2_timeline **idle; /* lines of threads that have ended */
    size_t idles, idle_capacity;
} trace = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* One row of the table. */
struct row {
    const char *name, *colour;
    unsigned char class;
};
static const struct row row[HPCW_I_TRACE_STATES] = {
#define PLAIN(state, class, colour, place, function, prototype, arguments)                                     \
    [state] = {#function, colour, HPCW_I_CLASS_##class},
#define SEND(state, colour, function) [state] = {#function, colour, HPCW_I_CLASS_MESSAGE},
#define ISEND(state, colour, function) SEND(state, colour, function)
#define SEND_INIT(state, colour, function) SEND(state, colour, function)
#define WRITTEN(state, class, colour, function) [state] = {#function, colour, HPCW_I_CLASS_##class},
#include "libwriter/trace/calls.h"
};

/* One line, from one process. */
static void say(const char *fmt, ...) HPCW_PRINTF(1, 2);
static void say(const char *fmt, ...) {
    char text[1400];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (trace.process == 0) {
        (void)fprintf(stderr, "hpcw_trace: %s\n", text);
    }
}

static void switch_to(bool on) {
    atomic_store(&hpcw_i_trace.on, on);
    for (int i = 0; i < HPCW_I_TRACE_STATES; i++) {
        bool wanted = row[i].name != NULL && (trace.config.skip >> row[i].class & 1) == 0;
        atomic_store(&hpcw_i_trace.active[i], (unsigned char)(on && wanted));
    }
}

/* ------------------------------------------------------------------------------------------------------------
 *  Threads
 * --------------------------------------------------------------------------------------------------------- */

hpcw_clog2_timeline *hpcw_i_trace_line(struct hpcw_i_trace_thread *t) {
    if (t->refused || !atomic_load(&hpcw_i_trace.follows)) {
        return NULL;
    }
    (void)pthread_mutex_lock(&trace.lock);
    if (trace.idles > 0) {
        t->line = trace.idle[--trace.idles];
    }
    (void)pthread_mutex_unlock(&trace.lock);
    if (t->line == NULL && hpcw_clog2_log_thread(trace.log, &t->line, NULL) != HPCW_OK) {
        t->refused = true;
        atomic_fetch_add(&hpcw_i_trace.forgotten, 1);
        return NULL;
    }
    if (trace.have_key) {
        (void)pthread_setspecific(trace.ends, t);
    }
    return t->line;
}

/* A thread ends: the next that comes goes on with its line, so that a program of many short threads has few lines. */
static void thread_ends(void *context) {
    struct hpcw_i_trace_thread *t = context;
    if (!atomic_load(&hpcw_i_trace.follows)) {
        return;
    }
    (void)pthread_mutex_lock(&trace.lock);
    hpcw_clog2_timeline **grown =
        hpcw_i_grow(trace.idle, &trace.idle_capacity, trace.idles + 1, sizeof(*grown));
    if (grown != NULL) {
        trace.idle = grown;
        trace.idle[trace.idles++] = t->line;
    }
    (void)pthread_mutex_unlock(&trace.lock);
    t->line = NULL;
}

/* ------------------------------------------------------------------------------------------------------------
 *  Beginning
 * --------------------------------------------------------------------------------------------------------- */

static void free_all(void) {
    hpcw_clog2_log_free(trace.log);
    hpcw_comm_free(trace.comm);
    trace.log = NULL;
    trace.comm = NULL;
    hpcw_i_handles_free(&hpcw_i_trace.comms);
    hpcw_i_handles_free(&hpcw_i_trace.requests);
    hpcw_i_free(trace.idle);
    trace.idle = NULL;
    trace.idles = trace.idle_capacity = 0;
    if (trace.have_key) {
        (void)pthread_key_delete(trace.ends);
        trace.have_key = false;
    }
}

/* The same on all processes, from the environment of process 0: launchers do not hand it to all. */
static void read_config(void) {
    MPI_Comm parent = MPI_COMM_NULL;
    (void)PMPI_Comm_get_parent(&parent);
    (void)PMPI_Comm_rank(MPI_COMM_WORLD, &trace.process);
    if (trace.process == 0) {
        hpcw_i_trace_config_read(&trace.config, parent != MPI_COMM_NULL);
    }
    (void)PMPI_Bcast(&trace.config, (int)sizeof trace.config, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (trace.config.refused[0] != '\0') {
        say("%s; the default is taken", trace.config.refused);
    }
}

static hpcw_status open_log(hpcw_error *err) {
    hpcw_clog2_log_options options;
    hpcw_clog2_log_options_init(&options);
    const char *directory = getenv("HPCW_TRACE_DIR");
    options.directory = directory != NULL && directory[0] != '\0' ? directory : options.directory;
    options.memory = trace.config.memory != 0 ? trace.config.memory : options.memory;
    options.clock = (hpcw_clog2_clock)trace.config.clock;
    options.now = options.clock == HPCW_CLOG2_CLOCK_CALLER ? PMPI_Wtime : NULL;
    hpcw_status status = hpcw_comm_from_mpi(MPI_COMM_WORLD, &trace.comm, err);
    return status == HPCW_OK ? hpcw_clog2_log_open(trace.config.path, trace.comm, &options, &trace.log, err)
                             : status;
}

/* What is not collective. The thread that initialises MPI becomes thread 0. */
static bool prepare(void) {
    trace.have_key = pthread_key_create(&trace.ends, thread_ends) == 0;
    return hpcw_i_handles_make(&hpcw_i_trace.comms, COMM_BITS) &&
           hpcw_i_handles_make(&hpcw_i_trace.requests, REQUEST_BITS) && hpcw_i_comms_begin(trace.log) &&
           hpcw_clog2_log_thread(trace.log, &hpcw_i_trace_thread.line, NULL) == HPCW_OK;
}

static void begin_recording(void) {
    hpcw_error error;
    read_config();
    hpcw_status status = open_log(&error);
    if (status != HPCW_OK) {
        say("nothing is recorded: %s", error.message);
        free_all();
        return;
    }
    int ready = prepare();
    (void)PMPI_Allreduce(MPI_IN_PLACE, &ready, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!ready) {
        say("nothing is recorded: %s: out of memory", trace.config.path);
        free_all();
        return;
    }
    atomic_store(&hpcw_i_trace.follows, true);
    switch_to(trace.config.on);
}

/* ------------------------------------------------------------------------------------------------------------
 *  End
 * --------------------------------------------------------------------------------------------------------- */

/* Only what some process has used: the viewer's legend lists what is defined. In the same order on all of them; where
 * memory ends, so does the list, and others know the rest. */
static void define(const unsigned char used[HPCW_I_TRACE_STATES]) {
    hpcw_status status = HPCW_OK;
    for (int i = 0; i < HPCW_I_TRACE_STATES && status == HPCW_OK; i++) {
        if (used[i] != 0) {
            bool all_to_all = i == HPCW_I_STATE_ALLTOALL || i == HPCW_I_STATE_ALLTOALLV;
            status =
                hpcw_clog2_log_known_state(trace.log, i, row[i].name, row[i].colour,
                                           all_to_all ? "send_msg_sz/p=%d, recv_msg_sz/p=%d." : NULL, NULL);
        }
    }
}

/* Collective: of all processes together, how far their clocks were from that of process 0. */
static void say_clocks(const hpcw_clog2_log_report *r) {
    static const char *const name[] = {[HPCW_CLOG2_CLOCK_COUNTER] = "counter of the CPU",
                                       [HPCW_CLOG2_CLOCK_SYSTEM] = "clock of the system",
                                       [HPCW_CLOG2_CLOCK_CALLER] = "MPI_Wtime"};
    int processes = 1, same = r->same_clock ? 1 : 0, all_same = 0;
    double mine[] = {fabs((double)r->begin_offset_ns) / 1e3, fabs((double)r->end_offset_ns) / 1e3,
                     fabs(r->drift) * 1e6, (double)r->begin_round_trip_ns / 1e3,
                     (double)r->end_round_trip_ns / 1e3};
    enum { FIGURES = sizeof mine / sizeof mine[0] };
    double most[FIGURES];
    (void)PMPI_Comm_size(MPI_COMM_WORLD, &processes);
    (void)PMPI_Reduce(&same, &all_same, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    (void)PMPI_Reduce(mine, most, FIGURES, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (trace.process == 0 && all_same == processes) {
        say("%s: clocks: %s; all of %d processes read that of process 0", trace.config.path, name[r->clock],
            processes);
    } else if (trace.process == 0) {
        say("%s: clocks: %s; %d of %d processes read that of process 0, the others were off by up to %.3f us "
            "at "
            "the begin and %.3f us at the end, drifted by up to %.3f us per s, and heard of it in %.3f and "
            "%.3f us",
            trace.config.path, name[r->clock], all_same, processes, most[0], most[1], most[2], most[3],
            most[4]);
    }
}

static void finish(const unsigned char used[HPCW_I_TRACE_STATES], uint64_t forgotten) {
    hpcw_clog2_log_report report = {0};
    hpcw_error error;
    define(used);
    if (hpcw_clog2_log_finish(trace.log, &report, &error) != HPCW_OK) {
        say("no log: %s", error.message);
        return;
    }
    if (trace.config.clocks) {
        say_clocks(&report);
    }
    if (report.lost + report.undefined + report.end_alone + report.bad_cargo + forgotten > 0) {
        say("%s: not in the log: %" PRIu64 " records for want of memory or disk, %" PRIu64
            " that do not fit together, %" PRIu64 " handles for want of memory",
            trace.config.path, report.lost, report.undefined + report.end_alone + report.bad_cargo, forgotten);
    }
}

static void end_recording(void) {
    if (!atomic_load(&hpcw_i_trace.follows)) {
        return;
    }
    switch_to(false);
    atomic_store(&hpcw_i_trace.follows, false);
    unsigned char used[HPCW_I_TRACE_STATES];
    bool any = false;
    for (int i = 0; i < HPCW_I_TRACE_STATES; i++) {
        used[i] = atomic_load(&hpcw_i_trace.used[i]);
    }
    (void)PMPI_Allreduce(MPI_IN_PLACE, used, HPCW_I_TRACE_STATES, MPI_UNSIGNED_CHAR, MPI_BOR, MPI_COMM_WORLD);
    for (int i = 0; i < HPCW_I_TRACE_STATES; i++) {
        any = any || used[i] != 0;
    }
    uint64_t forgotten = atomic_load(&hpcw_i_trace.forgotten);
    (void)PMPI_Allreduce(MPI_IN_PLACE, &forgotten, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (any) {
        finish(used, forgotten); /* a log with nothing in it is one that viewers refuse */
    }
    free_all();
}

/* ------------------------------------------------------------------------------------------------------------
 *  Calls
 * --------------------------------------------------------------------------------------------------------- */

int MPI_Init(int *argc, char ***argv) {
    hpcw_i_trace_thread.depth++;
    int code = PMPI_Init(argc, argv);
    if (code == MPI_SUCCESS) {
        begin_recording();
    }
    hpcw_i_trace_thread.depth--;
    return code;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    hpcw_i_trace_thread.depth++;
    int code = PMPI_Init_thread(argc, argv, required, provided);
    if (code == MPI_SUCCESS) {
        begin_recording();
    }
    hpcw_i_trace_thread.depth--;
    return code;
}

int MPI_Finalize(void) {
    hpcw_i_trace_thread.depth++;
    end_recording();
    int code = PMPI_Finalize();
    hpcw_i_trace_thread.depth--;
    return code;
}

/* What this thread has recorded goes to the local file, of which hpcw_clog2_recover makes a log. */
static void flush(hpcw_clog2_timeline *line) {
    static atomic_flag said = ATOMIC_FLAG_INIT;
    hpcw_error error;
    if (line != NULL && hpcw_clog2_log_flush(line, &error) != HPCW_OK && !atomic_flag_test_and_set(&said)) {
        say("%s", error.message);
    }
}

int MPI_Abort(MPI_Comm comm, int code) {
    struct hpcw_i_span s = hpcw_i_begin(46, comm);
    flush(s.line);
    return hpcw_i_end(&s, PMPI_Abort(comm, code));
}

/* 0 is off, 1 on, 2 on and what was recorded goes to the disk; as MPI proposes. */
int MPI_Pcontrol(const int level, ...) {
    if (atomic_load(&hpcw_i_trace.follows)) {
        if (atomic_load(&hpcw_i_trace.on) != (level != 0)) {
            switch_to(level != 0);
        }
        if (level == 2) {
            flush(hpcw_i_trace_thread.line);
        }
    }
    return PMPI_Pcontrol(level);
}
