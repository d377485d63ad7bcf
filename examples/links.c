/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getcpu; NOLINT */
#endif
#include "links.h"

#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <mpi.h>

struct bench {
    hpcw_linktest_params params;
    char *message;
    int process;
};

/* One message there and one back, `count` times. */
static void exchange(const struct bench *b, int partner, int leads, uint64_t count) {
    int size = (int)b->params.message_size;
    for (uint64_t i = 0; i < count; i++) {
        if (leads)
            MPI_Send(b->message, size, MPI_BYTE, partner, 0, MPI_COMM_WORLD);
        MPI_Recv(b->message, size, MPI_BYTE, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!leads)
            MPI_Send(b->message, size, MPI_BYTE, partner, 0, MPI_COMM_WORLD);
    }
}

/* Time of one message in one direction, as seen by whoever leads; picoseconds. */
static uint64_t measure(const struct bench *b, int partner, int leads) {
    exchange(b, partner, leads, b->params.warmup_messages);
    double start = MPI_Wtime();
    exchange(b, partner, leads, b->params.messages);
    double seconds = (MPI_Wtime() - start) / (2.0 * (double)b->params.messages);
    uint64_t picoseconds = (uint64_t)(seconds * 1e12 + 0.5);
    return picoseconds > 0 ? picoseconds : 1;
}

/* Every pair of a step at the same time; first the lower process of a pair leads, then the higher. */
static void measure_all(const struct bench *b, const hpcw_linktest_schedule *schedule, uint64_t *time_ps) {
    for (uint32_t step = 0; step < hpcw_linktest_steps(&b->params); step++) {
        int partner = (int)hpcw_linktest_partner(schedule, (uint32_t)b->process, step);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int turn = 0; turn < 2; turn++) {
            int leads = (b->process < partner) == (turn == 0);
            uint64_t picoseconds = measure(b, partner, leads);
            if (leads)
                time_ps[step] = picoseconds;
        }
    }
}

/* The slowest ones once more, one after the other, while nobody else sends. */
static void measure_again(const struct bench *b, hpcw_linktest_slow *slow, size_t count) {
    for (size_t i = 0; i < count; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if ((int)slow[i].from == b->process)
            slow[i].retest_ps = measure(b, (int)slow[i].to, 1);
        else if ((int)slow[i].to == b->process)
            measure(b, (int)slow[i].from, 0);
        MPI_Bcast(&slow[i].retest_ps, 1, MPI_UINT64_T, (int)slow[i].from, MPI_COMM_WORLD);
    }
}

/* The time now on process 0; all processes have to hand in the same text. */
static void now(char text[HPCW_LINKTEST_TIME_SIZE]) {
    time_t seconds = time(NULL);
    struct tm utc;
    gmtime_r(&seconds, &utc);
    strftime(text, HPCW_LINKTEST_TIME_SIZE, "%Y-%m-%dT%H:%M:%SZ", &utc);
    MPI_Bcast(text, HPCW_LINKTEST_TIME_SIZE, MPI_CHAR, 0, MPI_COMM_WORLD);
}

/* Measures and stores what this process has. Local: a failure shows on all processes in the next collective
 * call. */
static hpcw_status store(hpcw_linktest *lt, const struct bench *b, const uint64_t *time_ps, hpcw_error *err) {
    char host[MPI_MAX_PROCESSOR_NAME];
    int length;
    MPI_Get_processor_name(host, &length);
    int core = sched_getcpu();
    hpcw_status status = hpcw_linktest_task(lt, (uint32_t)b->process, host, core < 0 ? 0 : core, err);
    if (status == HPCW_OK)
        status = hpcw_linktest_timings(lt, (uint32_t)b->process, time_ps, NULL, 0, err);
    return status;
}

static hpcw_status run(const struct bench *b, const char *path, hpcw_comm *comm, hpcw_error *err) {
    char start[HPCW_LINKTEST_TIME_SIZE], end[HPCW_LINKTEST_TIME_SIZE];
    hpcw_linktest_schedule *schedule = NULL;
    hpcw_linktest_slow slow[8];
    hpcw_linktest *lt;
    size_t count;

    hpcw_status status = hpcw_linktest_open(path, comm, &b->params, &lt, err);
    if (status != HPCW_OK)
        return status;

    uint64_t *time_ps = calloc(hpcw_linktest_steps(&b->params), sizeof *time_ps);
    if (time_ps == NULL || hpcw_linktest_schedule_new(&b->params, 0, &schedule, err) != HPCW_OK)
        MPI_Abort(MPI_COMM_WORLD, 1); /* the others would wait for this one's messages */

    now(start);
    measure_all(b, schedule, time_ps);
    hpcw_error local;
    if (store(lt, b, time_ps, &local) != HPCW_OK)
        fprintf(stderr, "process %d: %s\n", b->process, local.message);

    status = hpcw_linktest_slowest(lt, slow, &count, err);
    if (status == HPCW_OK) {
        measure_again(b, slow, count);
        now(end);
        status = hpcw_linktest_end_permutation(lt, start, end, slow, err);
    }
    if (status == HPCW_OK)
        status = hpcw_linktest_close(lt, err);
    if (status == HPCW_OK && b->process == 0)
        for (size_t i = 0; i < count; i++)
            printf("%" PRIu32 " -> %" PRIu32 ": %.3f us, alone %.3f us\n", slow[i].from, slow[i].to,
                   (double)slow[i].time_ps * 1e-6, (double)slow[i].retest_ps * 1e-6);

    hpcw_linktest_free(lt);
    hpcw_linktest_schedule_free(schedule);
    free(time_ps);
    return status;
}

hpcw_status links_measure(const char *path, hpcw_comm *comm, uint64_t messages, uint64_t size,
                          hpcw_error *err) {
    struct bench b = {.process = hpcw_comm_process(comm)};
    hpcw_linktest_params_init(&b.params);
    b.params.tasks = (uint32_t)hpcw_comm_size(comm);
    b.params.count = 1; /* one task per process */
    b.params.messages = messages;
    b.params.message_size = size;
    b.params.retests = 8;
    b.params.max_host_size = MPI_MAX_PROCESSOR_NAME;
    b.message = size <= INT_MAX ? calloc(size + 1, 1) : NULL;
    if (b.message == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    hpcw_status status = run(&b, path, comm, err);
    free(b.message);
    return status;
}
