/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that begin, end and switch the recording: MPI_Init, MPI_Finalize, MPI_Abort, MPI_Pcontrol. */
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Included before all other headers that include mpi.h, so that the functions of mpi.h are exported. */
#include "libwriter/trace/real.h"

#include <hpcw/mpi.h>

#include "libwriter/base/shown.h"
#include "libwriter/format/clog2/log/recording.h"
#include "libwriter/io/sys.h"
#include "libwriter/trace/added.h"
#include "libwriter/trace/config.h"
#include "libwriter/trace/marks.h"
#include "libwriter/trace/program.h"
#include "libwriter/trace/requests.h"
#include "libwriter/trace/span.h"

enum { REQUEST_BITS = 13 };

static struct hpcw_i_trace_config config;
static hpcw_comm *world;
static int process;
static atomic_bool on;

/* Prints a line on process 0 only. */
static void say(const char *fmt, ...) HPCW_PRINTF(1, 2);
static void say(const char *fmt, ...) {
    char text[1400];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (process == 0) {
        hpcw_i_shown(text); /* names of files and of the program may have control characters */
        (void)fprintf(stderr, "hpcw_trace: %s\n", text);
    }
}

static void switch_to(bool record) {
    atomic_store(&on, record);
    hpcw_i_trace_states_switch(record, config.skip);
}

/* ------------------------------------------------------------------------------------------------------------
 *  Preparation
 * --------------------------------------------------------------------------------------------------------- */

static void free_all(void) {
    hpcw_clog2_log_free(hpcw_i_trace_session.log);
    hpcw_comm_free(world);
    world = NULL;
    hpcw_i_trace_session_end();
    hpcw_i_trace_handles_free(&hpcw_i_trace_comms);
    hpcw_i_trace_handles_free(&hpcw_i_trace_owned);
    hpcw_i_trace_handles_free(&hpcw_i_trace_requests);
}

/*
 * Finds out whether all processes have the wrapper. Until that is known, the wrapper makes no collective call,
 * and each process uses its own environment. Then all use the environment of process 0: some launchers pass
 * the variables to no other process. Returns false if the result stays unknown.
 */
static bool meet(struct hpcw_i_trace_verdict *verdict, char *missing, size_t size) {
    MPI_Comm parent = MPI_COMM_NULL;
    int processes = 1;
    (void)REAL(MPI_Comm_get_parent)(&parent);
    (void)REAL(MPI_Comm_rank)(MPI_COMM_WORLD, &process);
    (void)REAL(MPI_Comm_size)(MPI_COMM_WORLD, &processes);
    hpcw_i_trace_config_read(&config, parent != MPI_COMM_NULL);
    if (!hpcw_i_trace_marks_meet(config.path, (uint32_t)process, (uint32_t)processes, config.wait, verdict,
                                 missing, size)) {
        say("nothing is recorded: cannot learn which processes have the wrapper: no marks can be made beside "
            "%s",
            config.path);
        return false;
    }
    if (verdict->all) {
        (void)REAL(MPI_Bcast)(&config, (int)sizeof config, MPI_BYTE, 0, MPI_COMM_WORLD);
    } else {
        (void)snprintf(config.path, sizeof config.path, "%s", verdict->path);
    }
    for (const char *refused = config.refused; *refused != '\0'; refused += strlen(refused) + 1) {
        say("%s; using the default", refused);
    }
    return true;
}

static hpcw_status open_log(const struct hpcw_i_trace_verdict *verdict, hpcw_clog2_log **log, hpcw_error *err) {
    hpcw_clog2_log_options options;
    hpcw_clog2_log_options_init(&options);
    options.directory = config.directory[0] != '\0' ? config.directory : options.directory;
    options.memory = config.memory != 0 ? config.memory : options.memory;
    options.clock = (hpcw_clog2_clock)config.clock;
    options.now = options.clock == HPCW_CLOG2_CLOCK_CALLER ? REAL(MPI_Wtime) : NULL;
    if (!verdict->all) {
        /* Without collective calls the processes have no common tick of the CPU counter, so use the system
         * clock. */
        options.clock = options.clock == HPCW_CLOG2_CLOCK_CALLER ? options.clock : HPCW_CLOG2_CLOCK_SYSTEM;
        return hpcw_i_clog2_log_open_apart(config.path, &options, &verdict->apart, log, err);
    }
    hpcw_status status = hpcw_comm_from_mpi(MPI_COMM_WORLD, &world, err);
    return status == HPCW_OK ? hpcw_clog2_log_open(config.path, world, &options, log, err) : status;
}

/* Stops recording in a child by fork(), as the child shares the memory of the records with its parent. Even at the
 * exit of the child, libraries call MPI_Finalized. */
static void child_stops(void) {
    atomic_store(&hpcw_i_trace_session.following, false);
    switch_to(false);
    hpcw_i_trace_thread.timeline = NULL;
}

static void say_what_is_left(const hpcw_clog2_log *log) {
    char pattern[1024];
    if (process == 0 && hpcw_clog2_log_left(log, pattern, sizeof pattern)) {
        say("%s: left by an earlier run that died or could not write its log; after hpcgen recover, remove "
            "them",
            pattern);
    }
}

/* ------------------------------------------------------------------------------------------------------------
 *  End
 * --------------------------------------------------------------------------------------------------------- */

/* Prints the offset of each process's clock from that of process 0. Collective. */
static void say_clocks(const hpcw_clog2_log_report *r) {
    static const char *const name[] = {[HPCW_CLOG2_CLOCK_COUNTER] = "CPU counter",
                                       [HPCW_CLOG2_CLOCK_SYSTEM] = "system clock",
                                       [HPCW_CLOG2_CLOCK_CALLER] = "MPI_Wtime"};
    int processes = 1, same = r->same_clock ? 1 : 0, all_same = 0;
    double mine[] = {fabs((double)r->begin_offset_ns) / 1e3, fabs((double)r->end_offset_ns) / 1e3,
                     fabs(r->drift) * 1e6, (double)r->begin_round_trip_ns / 1e3,
                     (double)r->end_round_trip_ns / 1e3};
    enum { FIGURES = sizeof mine / sizeof mine[0] };
    double most[FIGURES];
    (void)REAL(MPI_Comm_size)(MPI_COMM_WORLD, &processes);
    (void)REAL(MPI_Reduce)(&same, &all_same, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    (void)REAL(MPI_Reduce)(mine, most, FIGURES, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (process == 0 && all_same == processes) {
        say("%s: clocks: %s; %d of %d processes read the clock of process 0", config.path, name[r->clock],
            processes, processes);
    } else if (process == 0) {
        say("%s: clocks: %s; %d of %d processes read the clock of process 0; largest values of the others: "
            "offset %.3f us at the begin and %.3f us at the end, drift %.3f us per s, round trip %.3f us and "
            "%.3f us",
            config.path, name[r->clock], all_same, processes, most[0], most[1], most[2], most[3], most[4]);
    }
}

static void finish(const unsigned char used[HPCW_I_TRACE_STATES], uint64_t forgotten, uint64_t left) {
    hpcw_clog2_log_report report = {0};
    hpcw_error error;
    hpcw_i_trace_states_define(hpcw_i_trace_session.log, used);
    if (hpcw_clog2_log_finish(hpcw_i_trace_session.log, &report, &error) != HPCW_OK) {
        say("no log: %s", error.message);
        return;
    }
    if (config.clocks) {
        say_clocks(&report);
    }
    if (report.unsaved > 0) {
        say("%s: %" PRIu64
            " threads recorded in memory, not in local files%s%s; HPCW_TRACE_DIR sets their directory",
            config.path, report.unsaved, report.disk.code == HPCW_OK ? "" : ": ",
            report.disk.code == HPCW_OK ? "" : report.disk.message);
    }
    uint64_t inconsistent = report.undefined + report.end_alone + report.bad_cargo;
    if (report.lost + inconsistent + forgotten > 0) {
        say("%s: not in the log: %" PRIu64 " records (memory or disk full), %" PRIu64
            " inconsistent records, %" PRIu64 " handles (out of memory)",
            config.path, report.lost, inconsistent, forgotten);
    }
    if (left > 0) {
        say("%s: %" PRIu64
            " process%s left a call of MPI by longjmp or an exception; later calls are not in the log",
            config.path, left, left == 1 ? "" : "es");
    }
}

static void end_recording(void) {
    if (!atomic_load(&hpcw_i_trace_session.following)) {
        return;
    }
    switch_to(false);
    atomic_store(&hpcw_i_trace_session.following, false);
    if (hpcw_i_trace_session.apart) {
        /* the local file with the records stays; a line at the end of the process tells its name */
        free_all();
        return;
    }
    hpcw_i_trace_program_records(NULL);
    unsigned char used[HPCW_I_TRACE_STATES];
    bool any = hpcw_i_trace_added_end();
    for (int i = 0; i < HPCW_I_TRACE_STATES; i++) {
        used[i] = atomic_load(&hpcw_i_trace_states.used[i]);
    }
    (void)REAL(MPI_Allreduce)(MPI_IN_PLACE, used, HPCW_I_TRACE_STATES, MPI_UNSIGNED_CHAR, MPI_BOR,
                              MPI_COMM_WORLD);
    for (int i = 0; i < HPCW_I_TRACE_STATES; i++) {
        any = any || used[i] != 0;
    }
    /* MPI_Finalize does not count as a running call. So a call beside this callback has not returned. */
    uint64_t sums[] = {atomic_load(&hpcw_i_trace_session.forgotten), hpcw_i_trace_thread.depth > 1 ? 1 : 0};
    (void)REAL(MPI_Allreduce)(MPI_IN_PLACE, sums, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (any) {
        finish(used, sums[0], sums[1]);
    } else if (config.on) { /* no log is written, as viewers refuse one without records */
        say("no log: the program made no call that is recorded");
    }
    free_all();
}

/*
 * The callback that ends the recording, an attribute of MPI_COMM_SELF. MPI_Finalize first deletes these
 * attributes, the last one first. So this runs after the callbacks of the program, and the calls in those are
 * recorded, as when HDF5 and PETSc close their files. It also runs if another tool calls MPI's own
 * MPI_Finalize.
 */
static int at_finalize(MPI_Comm comm, int key, void *value, void *context) {
    (void)comm, (void)key, (void)value, (void)context;
    hpcw_i_trace_thread.depth++;
    end_recording();
    hpcw_i_trace_thread.depth--;
    return MPI_SUCCESS;
}

static bool end_with_finalize(void) {
    int key;
    return REAL(MPI_Comm_create_keyval)(MPI_COMM_NULL_COPY_FN, at_finalize, &key, NULL) == MPI_SUCCESS &&
           REAL(MPI_Comm_set_attr)(MPI_COMM_SELF, key, NULL) == MPI_SUCCESS &&
           REAL(MPI_Comm_free_keyval)(&key) == MPI_SUCCESS;
}

/* ------------------------------------------------------------------------------------------------------------
 *  Start
 * --------------------------------------------------------------------------------------------------------- */

/* Sets the line that is printed if the process ends before MPI_Finalize, or if no common log can be written.
 * The records are then in local files, or lost. */
static void say_at_end(const hpcw_clog2_log *log, const char *missing) {
    static char line[1400];
    hpcw_error error = {.message = "no log: the program ended without MPI_Finalize"};
    const bool apart = hpcw_i_trace_session.apart;
    if (apart ? missing[0] == '\0' : process != 0) {
        return;
    }
    if (apart) {
        (void)snprintf(error.message, sizeof error.message,
                       "no log: expected the wrapper in all %u processes, got none in rank%s %s", log->ranks,
                       strpbrk(missing, ",-") == NULL ? "" : "s", missing);
    }
    if (log->local.fd >= 0) {
        hpcw_i_clog2_local_hint(log, apart ? 1 : log->ranks, 0, &error);
    }
    (void)snprintf(
        line, sizeof line, "hpcw_trace: %s%s\n", error.message,
        log->local.fd >= 0 ? "" : "; the records were in memory; HPCW_TRACE_DIR sets a directory for them");
    hpcw_i_trace_program_records(line);
}

/* Warns before this run's log replaces the log of an earlier run. The name stays the same, as with other tools, so
 * that scripts find the log. A user who chose the name gets no warning. */
static void say_what_is_replaced(void) {
    struct hpcw_i_entry old;
    if (process == 0 && config.on && !config.named && hpcw_i_sys_look(config.path, true, &old) == 0 &&
        old.kind != HPCW_I_NOTHING) {
        say("%s: the log of this run is going to replace this one; HPCW_TRACE_FILE sets another name",
            config.path);
    }
}

static void say_what_is_hidden(void) {
    const char *library, *function = process == 0 ? hpcw_i_trace_real_hides(&library) : NULL;
    if (function != NULL) {
        say("%s gets no calls of MPI: it has %s and comes after the wrapper, which calls MPI itself; use one "
            "tool at a time",
            library, function);
    }
}

static void begin_recording(void) {
    int level = MPI_THREAD_SINGLE;
    (void)REAL(MPI_Query_thread)(&level);
    hpcw_i_trace_handles_threads = level == MPI_THREAD_MULTIPLE;
    hpcw_i_trace_program_begins();
    hpcw_error error;
    hpcw_clog2_log *log = NULL;
    struct hpcw_i_trace_verdict verdict;
    char missing[400];
    if (!meet(&verdict, missing, sizeof missing)) {
        return;
    }
    hpcw_i_trace_session.apart = !verdict.all;
    hpcw_status status = open_log(&verdict, &log, &error);
    if (status != HPCW_OK) {
        say("nothing is recorded: %s", error.message);
        free_all();
        return;
    }
    int ready = hpcw_i_trace_session_begin(log) && hpcw_i_trace_comms_begin() &&
                hpcw_i_trace_handles_new(&hpcw_i_trace_requests, REQUEST_BITS) && end_with_finalize();
    if (verdict.all) {
        (void)REAL(MPI_Allreduce)(MPI_IN_PLACE, &ready, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    }
    if (!ready) {
        say("nothing is recorded: %s: out of memory", config.path);
        free_all();
        return;
    }
    hpcw_i_trace_states_offer(log);
    say_what_is_hidden();
    say_what_is_left(log);
    say_what_is_replaced();
    say_at_end(log, missing);
    (void)pthread_atfork(NULL, NULL, child_stops);
    atomic_store(&hpcw_i_trace_session.following, true);
    switch_to(config.on);
}

/* ------------------------------------------------------------------------------------------------------------
 *  Calls
 * --------------------------------------------------------------------------------------------------------- */

int MPI_Init(int *argc, char ***argv) {
    hpcw_i_trace_thread.depth++;
    int code = REAL(MPI_Init)(argc, argv);
    if (code == MPI_SUCCESS && !hpcw_i_trace_real.of_another_mpi) {
        begin_recording();
    }
    hpcw_i_trace_thread.depth--;
    return code;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    hpcw_i_trace_thread.depth++;
    int code = REAL(MPI_Init_thread)(argc, argv, required, provided);
    if (code == MPI_SUCCESS && !hpcw_i_trace_real.of_another_mpi) {
        begin_recording();
    }
    hpcw_i_trace_thread.depth--;
    return code;
}

/* MPI_Finalize is not recorded. But MPI calls in the program's callbacks are, so it does not count as a running
 * call. */
int MPI_Finalize(void) {
    return REAL(MPI_Finalize)();
}

/* Writes the records of a timeline to the disk, where they survive a crash of the host. */
static void flush(hpcw_clog2_timeline *timeline) {
    static atomic_flag said = ATOMIC_FLAG_INIT;
    hpcw_error error;
    if (timeline != NULL && hpcw_clog2_log_flush(timeline, &error) != HPCW_OK &&
        !atomic_flag_test_and_set(&said)) {
        say("%s", error.message);
    }
}

int MPI_Abort(MPI_Comm comm, int code) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Abort, comm);
    return hpcw_i_trace_span_end(&s, REAL(MPI_Abort)(comm, code));
}

/* Switches recording as MPI proposes: level 0 stops it, 1 starts it, 2 starts it and flushes the records. */
int MPI_Pcontrol(const int level, ...) {
    if (atomic_load(&hpcw_i_trace_session.following)) {
        if (atomic_load(&on) != (level != 0)) {
            switch_to(level != 0);
        }
        if (level == 2) {
            flush(hpcw_i_trace_thread.timeline);
        }
    }
    return REAL(MPI_Pcontrol)(level);
}
