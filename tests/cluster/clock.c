/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends messages around a ring for some seconds and records them with times of the system's clock. Compares these
 * times with CLOCK_REALTIME, which all hosts share: it belongs to no namespace, and drift.c does not change it.
 * Process 0 prints a line for each process and one for the messages; times are in microseconds.
 *
 *    mpiexec -n 4 clock LOG SECONDS
 *
 * If the tracing wrapper is preloaded, it writes LOG, and itself reports how far the clocks were apart. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <hpcw/hpcw.h>
#include <hpcw/mpi.h>
#include <hpcw/trace.h>

enum { MOST = 64, WINDOWS = 10, ROUNDS = 50 };

/* Results from the log, on process 0. */
struct found {
    double seconds;
    double least[MOST][WINDOWS]; /* smallest log time minus true time, of a rank in a part of the log */
    unsigned long messages, backwards;
    double early; /* largest time by which a receive was recorded before its send, seconds */
};

static int process, processes;
static bool wrapped;

static void must(hpcw_status status, const hpcw_error *error) {
    if (status != HPCW_OK) {
        fprintf(stderr, "%s\n", error->message);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* Time since midnight, so that a double resolves a tenth of a nanosecond. */
static double true_time(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)(now.tv_sec % 86400) + 1e-9 * (double)now.tv_nsec;
}

/* Records an event whose cargo is the true time just before it. */
static void probe(hpcw_clog2_timeline *timeline, int32_t event) {
    hpcw_clog2_cargo cargo = {0};
    hpcw_clog2_cargo_f64(&cargo, true_time());
    hpcw_clog2_log_cargo(timeline, 0, event, &cargo);
}

/* Sends messages around the ring until process 0 ends it. */
static void exchange(hpcw_clog2_timeline *timeline, int32_t event, double seconds) {
    int to = (process + 1) % processes, from = (process + processes - 1) % processes, on = 1;
    for (double begin = MPI_Wtime(); on;) {
        for (int i = 0; i < ROUNDS; i++) {
            if (!wrapped)
                hpcw_clog2_log_send(timeline, 0, to, 0, sizeof on);
            MPI_Sendrecv(&on, 1, MPI_INT, to, 0, &on, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (!wrapped)
                hpcw_clog2_log_receive(timeline, 0, from, 0, sizeof on);
            probe(timeline, event);
        }
        on = MPI_Wtime() < begin + seconds;
        MPI_Bcast(&on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
}

static hpcw_status take_message(void *context, const hpcw_clog2_end *end) {
    struct found *f = context;
    f->messages += end->send;
    if (end->meets && end->send) { /* the receive was recorded earlier */
        f->backwards++;
        f->early = fmax(f->early, end->time - end->other);
    }
    return HPCW_OK;
}

/* The process may be delayed between reading the two clocks. So the smallest difference of many is used. */
static void take_probe(struct found *f, const hpcw_clog2_record *r) {
    uint64_t bits = 0;
    double truth;
    for (int i = 0; i < 8; i++)
        bits = bits << 8 | r->as.cargo.bytes[i];
    memcpy(&truth, &bits, sizeof truth);
    int window = (int)fmin(r->time / f->seconds * WINDOWS, WINDOWS - 1);
    double *least = &f->least[r->rank][window];
    *least = fmin(*least, r->time - truth);
}

static void read_log(const char *path, struct found *f) {
    hpcw_clog2_reader *reader;
    hpcw_clog2_record record;
    hpcw_error error;
    const hpcw_clog2_watch watch = {.context = f, .message = take_message};
    for (int rank = 0; rank < MOST; rank++)
        for (int window = 0; window < WINDOWS; window++)
            f->least[rank][window] = INFINITY;
    must(hpcw_clog2_reader_open(path, &reader, &error), &error);
    must(hpcw_clog2_reader_watch(reader, &watch, &error), &error);
    hpcw_clog2_reader_rewind(reader);
    for (bool more = true; more;) {
        must(hpcw_clog2_reader_next(reader, &record, &more, &error), &error);
        if (more && record.kind == HPCW_CLOG2_WITH_CARGO)
            take_probe(f, &record);
    }
    hpcw_clog2_reader_free(reader);
}

static const char solo[] = "true time";

/* Records without the wrapper. Process 0 prints the report about the clocks. */
static void record(const char *path, double seconds) {
    hpcw_clog2_log_options options;
    hpcw_clog2_log_report r;
    hpcw_clog2_log *log;
    hpcw_clog2_timeline *timeline;
    hpcw_comm *comm;
    hpcw_error error;
    int32_t event;
    hpcw_clog2_log_options_init(&options);
    options.clock = HPCW_CLOG2_CLOCK_SYSTEM;
    must(hpcw_comm_from_mpi(MPI_COMM_WORLD, &comm, &error), &error);
    must(hpcw_clog2_log_open(path, comm, &options, &log, &error), &error);
    must(hpcw_clog2_log_solo(log, solo, "red", "%E", &event, &error), &error);
    must(hpcw_clog2_log_thread(log, &timeline, &error), &error);
    exchange(timeline, event, seconds);
    must(hpcw_clog2_log_finish(log, &r, &error), &error);
    hpcw_clog2_log_free(log);
    hpcw_comm_free(comm);

    double mine[] = {(double)r.begin_round_trip_ns / 1e3, (double)r.end_round_trip_ns / 1e3, r.drift * 1e6},
           all[3 * MOST];
    MPI_Gather(mine, 3, MPI_DOUBLE, all, 3, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int p = 0; process == 0 && p < processes; p++)
        printf("process %d: round trips %.1f and %.1f, drift %.2f\n", p, all[3 * p], all[3 * p + 1],
               all[3 * p + 2]);
}

static void record_with_wrapper(double seconds) {
    hpcw_clog2_log *log = hpcw_trace_log(HPCW_TRACE_VERSION);
    hpcw_error error;
    int32_t event;
    if (log == NULL) {
        fprintf(stderr, "expected a log of the wrapper, got none\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    must(hpcw_clog2_log_solo(log, solo, "red", "%E", &event, &error), &error);
    exchange(hpcw_trace_timeline(), event, seconds);
}

static void print_found(const char *path, double seconds) {
    static struct found f;
    f.seconds = seconds;
    read_log(path, &f);
    for (int p = 0; p < processes; p++) {
        double worst = 0;
        for (int window = 0; window < WINDOWS; window++)
            worst = fmax(worst, fabs(f.least[p][window] - f.least[0][window]));
        printf("process %d: wrong by %.1f\n", p, 1e6 * worst);
    }
    printf("messages %lu, backwards %lu, by at most %.1f\n", f.messages, f.backwards, 1e6 * f.early);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    if (argc != 3 || processes > MOST)
        MPI_Abort(MPI_COMM_WORLD, 2);
    const double seconds = atof(argv[2]);
    wrapped = hpcw_trace_log != NULL;
    if (wrapped)
        record_with_wrapper(seconds);
    else
        record(argv[1], seconds);
    MPI_Finalize(); /* the wrapper writes its log here */
    if (process == 0)
        print_found(argv[1], seconds);
    return 0;
}
