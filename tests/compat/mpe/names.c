/* SPDX-License-Identifier: BSD-3-Clause */
/* A program written for MPE2. It compiles with MPE2 or with libhpcw_mpe; only the directories of header and library
 * differ. It records the same with both. Each process describes states that another process uses. `names misuse`
 * and `names dies` also make calls in which MPE2 hangs or crashes. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mpe.h>

static int rank, size;
static int exchange[2], compute[2], mark, sample;

static void expect(int good, const char *what) {
    if (!good) {
        fprintf(stderr, "process %d: expected %s\n", rank, what);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void define(void) {
    MPE_Log_get_state_eventIDs(&exchange[0], &exchange[1]);
    compute[0] = MPE_Log_get_event_number();
    compute[1] = MPE_Log_get_event_number();
    MPE_Log_get_solo_eventID(&mark);
    MPE_Log_get_solo_eventID(&sample);
    if (rank == 0) {
        expect(MPE_Describe_info_state(compute[0], compute[1], "Compute", "blue", "rank %d, sum %E") ==
                   MPE_LOG_OK,
               "a state described");
        MPE_Describe_info_event(mark, "Mark", "red", "%s");
    }
    if (rank == size - 1) {
        MPE_Describe_state(exchange[0], exchange[1], "Exchange", "green");
        MPE_Describe_comm_event(MPI_COMM_WORLD, sample, "Sample", "orange", "%h %l %x %X %e");
    }
}

static void work(void) {
    MPE_LOG_BYTES bytes;
    int at = 0, next = (rank + 1) % size, before = (rank + size - 1) % size, got = -1;
    double sum = 0.5 * rank;
    MPE_Log_event(exchange[0], 0, NULL);
    MPE_Log_send(next, 7, (int)sizeof rank);
    MPI_Sendrecv(&rank, 1, MPI_INT, next, 7, &got, 1, MPI_INT, before, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPE_Log_receive(before, 7, (int)sizeof got);
    MPE_Log_send(MPI_PROC_NULL, 7, 1);
    MPE_Log_bare_event(exchange[1]);
    MPE_Log_event(compute[0], 0, NULL);
    MPE_Log_pack(bytes, &at, 'd', 1, &rank);
    MPE_Log_pack(bytes, &at, 'E', 1, &sum);
    expect(at == 12, "12 bytes of cargo");
    MPE_Log_info_event(compute[1], bytes);
}

static void samples(void) {
    MPE_LOG_BYTES bytes;
    int at = 0;
    short h = -2;
    long long l = -3;
    int x = 0x1234, failed;
    unsigned long long X = 0x123456789abcdefULL;
    float e = 0.25f;
    MPE_Log_pack(bytes, &at, 'h', 1, &h);
    MPE_Log_pack(bytes, &at, 'l', 1, &l);
    MPE_Log_pack(bytes, &at, 'x', 1, &x);
    MPE_Log_pack(bytes, &at, 'X', 1, &X);
    MPE_Log_pack(bytes, &at, 'e', 1, &e);
    failed = MPE_Log_pack(bytes, &at, 'X', 1, &X);
    expect(failed == MPE_LOG_PACK_FAIL && at == 26, "no room for 8 bytes more");
    MPE_Log_event(sample, 0, bytes);
    at = 0;
    MPE_Log_pack(bytes, &at, 's', 4, "here");
    MPE_Log_comm_event(MPI_COMM_SELF, mark, bytes);
}

/* Records texts with events that have no format. No viewer shows such texts, but the log has them. */
static void plain_texts(void) {
    MPE_LOG_BYTES text = "as much text as fits into cargo";
    int at = 0;
    MPE_Log_event(exchange[0], 0, text);
    memset(text, 0, sizeof text);
    MPE_Log_pack(text, &at, 's', 5, "plain");
    MPE_Log_info_event(exchange[1], text);
}

static void *on_thread(void *context) {
    (void)context;
    MPE_Log_event(exchange[0], 0, NULL);
    MPE_Log_event(exchange[1], 0, NULL);
    return NULL;
}

static void misuse_before(void) {
    expect(MPE_Start_log() == MPE_LOG_NOT_INITIALIZED, "no start before MPE_Init_log");
    expect(MPE_Stop_log() == MPE_LOG_NOT_INITIALIZED, "no stop before MPE_Init_log");
    expect(MPE_Finish_log("early") == MPE_LOG_NOT_INITIALIZED, "no log without MPE_Init_log");
    expect(MPE_Describe_state(600, 601, "Early", "red") == MPE_LOG_NOT_INITIALIZED,
           "no state before MPE_Init_log");
    MPE_Log_event(600, 0, NULL);
}

static void misuse_within(void) {
    MPE_LOG_BYTES bytes = "";
    int at = 40, a, b;
    MPI_Comm other;
    expect(MPE_Log_pack(bytes, &at, 'd', 1, &at) == MPE_LOG_PACK_FAIL, "no cargo past its end");
    expect(MPE_Log_pack(bytes, &at, '?', 1, &at) == MPE_LOG_PACK_FAIL, "no such letter");
    MPE_Describe_state(601, 603, "Odd", "red");
    MPE_Describe_event(600, "Low", "red");
    MPE_Describe_state(4, 5, "By hand", "red");
    MPE_Log_event(4, 0, NULL);
    MPE_Log_event(5, 0, NULL);
    MPE_Describe_event(mark, "Another mark", "red");
    MPE_Describe_info_event(sample + 1, "Bad", "red", "%q");
    MPE_Log_get_state_eventIDs(&a, &b); /* not described */
    MPE_Log_event(a, 0, NULL);
    MPE_Log_event(b, 0, NULL);
    MPE_Log_get_state_eventIDs(&a, &b);
    MPE_Describe_state(a, b, "A name of more than 31 bytes is cut", "no colour");
    MPE_Log_event(b + 1, 0, NULL); /* an event that no process describes */
    MPE_Log_event(a, 0, bytes);    /* state a has no format */
    bytes[1] = 40;
    MPE_Log_event(mark, 0, bytes); /* a text longer than the cargo */
    MPI_Comm_dup(MPI_COMM_SELF, &other);
    MPE_Log_comm_event(other, b, NULL);
    MPE_Log_comm_send(other, 0, 1, 1); /* left out */
    MPI_Comm_free(&other);
    pid_t child = fork();
    if (child == 0) {
        MPE_Log_event(b + 1, 0, NULL); /* not recorded */
        MPE_Finish_log("child");
        _exit(0);
    }
    (void)waitpid(child, NULL, 0);
}

int main(int argc, char **argv) {
    pthread_t thread;
    int wrong = argc > 1 && strcmp(argv[1], "misuse") == 0,
        wrapped = argc > 1 && strcmp(argv[1], "wrapped") == 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (wrong) {
        misuse_before();
    }
    expect(MPE_Initialized_logging() == (wrapped ? 1 : 0), "no logging, but with the wrapper");
    expect(MPE_Init_log() == MPE_LOG_OK, "MPE_Init_log to work");
    expect(MPE_Initialized_logging() == 1, "logging");
    define();
    work();
    if (argc > 1 && strcmp(argv[1], "dies") == 0) {
        (void)raise(SIGKILL);
    }
    samples();
    plain_texts();
    MPE_Stop_log();
    work(); /* not recorded */
    MPE_Start_log();
    MPE_Log_sync_clocks();
    pthread_create(&thread, NULL, on_thread, NULL);
    pthread_join(thread, NULL);
    if (wrapped) {
        MPE_Describe_state(4, 5, "Mine", "red"); /* events 4 and 5 belong to MPI_Allreduce */
    }
    if (wrong) {
        misuse_within();
    }
    expect(MPE_Finish_log(rank == 0 ? "names" : "not this one") == MPE_LOG_OK, "MPE_Finish_log to work");
    expect(MPE_Initialized_logging() == 2, "no logging any more");
    expect(rank != 0 || strcmp(MPE_Log_merged_logfilename(), wrapped ? "" : "names.clog2") == 0,
           "the name of the log");
    /* A second log with one state. */
    MPE_Init_log();
    expect(MPE_Initialized_logging() == 1, "logging again");
    MPE_Log_get_state_eventIDs(&exchange[0], &exchange[1]);
    if (rank == 0) {
        MPE_Describe_state(exchange[0], exchange[1], "Again", "green");
    }
    MPE_Log_event(exchange[0], 0, NULL);
    MPE_Log_event(exchange[1], 0, NULL);
    MPE_Finish_log("second");
    if (wrong) {
        MPE_Log_event(exchange[0], 0, NULL); /* too late */
    }
    MPI_Finalize();
    return EXIT_SUCCESS;
}
