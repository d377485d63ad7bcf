/* SPDX-License-Identifier: BSD-3-Clause */
#include "links.h"

#include <limits.h>
#include <stdlib.h>
#include <time.h>

#include <mpi.h>

/* Returns the time of one message in one direction, picoseconds. The leading process measures it. */
static uint64_t measure(const hpcw_linktest_params *p, char *message, int partner, int leads) {
    int size = (int)p->message_size;
    double start = 0;
    for (uint64_t i = 0; i < p->warmup_messages + p->messages; i++) {
        if (i == p->warmup_messages)
            start = MPI_Wtime();
        if (leads)
            MPI_Send(message, size, MPI_BYTE, partner, 0, MPI_COMM_WORLD);
        MPI_Recv(message, size, MPI_BYTE, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!leads)
            MPI_Send(message, size, MPI_BYTE, partner, 0, MPI_COMM_WORLD);
    }
    uint64_t time_ps = (uint64_t)((MPI_Wtime() - start) / (2.0 * (double)p->messages) * 1e12);
    return time_ps > 0 ? time_ps : 1;
}

/* Measures all pairs of a step at the same time. First the lower process of each pair leads, then the higher
 * one. */
static void measure_all(const hpcw_linktest_params *p, const hpcw_linktest_schedule *schedule, int process,
                        char *message, uint64_t *time_ps) {
    for (uint32_t step = 0; step < hpcw_linktest_steps(p); step++) {
        int partner = (int)hpcw_linktest_partner(schedule, (uint32_t)process, step);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int turn = 0; turn < 2; turn++) {
            int leads = (process < partner) == (turn == 0);
            uint64_t measured = measure(p, message, partner, leads);
            if (leads)
                time_ps[step] = measured;
        }
    }
}

/* Gets the time of process 0: all processes must pass the same text. */
static void now(char text[HPCW_LINKTEST_TIME_SIZE]) {
    time_t seconds = time(NULL);
    strftime(text, HPCW_LINKTEST_TIME_SIZE, "%Y-%m-%dT%H:%M:%SZ", gmtime(&seconds));
    MPI_Bcast(text, HPCW_LINKTEST_TIME_SIZE, MPI_CHAR, 0, MPI_COMM_WORLD);
}

hpcw_status links_measure(const char *path, hpcw_comm *comm, uint64_t messages, uint64_t size,
                          hpcw_error *err) {
    char start[HPCW_LINKTEST_TIME_SIZE], end[HPCW_LINKTEST_TIME_SIZE], host[MPI_MAX_PROCESSOR_NAME];
    int process = hpcw_comm_process(comm), length;
    uint32_t self = (uint32_t)process;
    hpcw_linktest_schedule *schedule = NULL;
    hpcw_linktest_params p;
    hpcw_linktest_params_init(&p);
    p.tasks = (uint32_t)hpcw_comm_size(comm);
    p.count = 1; /* this process is one task */
    p.messages = messages;
    p.message_size = size;
    p.retests = 0; /* skip LinkTest's second measurement of the slowest pairs */
    p.max_host_size = MPI_MAX_PROCESSOR_NAME;

    hpcw_linktest *lt;
    hpcw_status status = hpcw_linktest_open(path, comm, &p, &lt, err);
    if (status != HPCW_OK)
        return status;
    char *message = size <= INT_MAX ? calloc(size + 1, 1) : NULL;
    uint64_t *time_ps = calloc(p.tasks, sizeof *time_ps);
    if (message == NULL || time_ps == NULL || hpcw_linktest_schedule_new(&p, 0, &schedule, err) != HPCW_OK)
        MPI_Abort(MPI_COMM_WORLD, 1); /* the others would wait for this process's messages */

    now(start);
    measure_all(&p, schedule, process, message, time_ps);
    now(end);
    MPI_Get_processor_name(host, &length);
    /* The next two calls are local. If one fails, the next collective call fails on all processes. */
    hpcw_error local;
    status = hpcw_linktest_task(lt, self, host, 0, &local);
    if (status == HPCW_OK)
        status = hpcw_linktest_timings(lt, self, time_ps, NULL, 0, &local);
    if (status != HPCW_OK)
        hpcw_linktest_abandon(lt, &local);
    status = hpcw_linktest_end_permutation(lt, start, end, NULL, err);
    if (status == HPCW_OK)
        status = hpcw_linktest_close(lt, err);

    hpcw_linktest_free(lt);
    hpcw_linktest_schedule_free(schedule);
    free(message);
    free(time_ps);
    return status;
}
