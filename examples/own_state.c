/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adds a state of its own to the log that hpcw-trace makes. Without hpcw-trace, it only computes.
 *
 *     mpicc own_state.c -o own_state $(pkg-config --cflags --libs hpcw)
 *     mpiexec -n 4 hpcw-trace ./own_state
 *     hpcgen info own_state.clog2
 */
#include <stdio.h>

#include <hpcw/trace.h>

/* Returns the log, with the state in it; NULL if nothing is recorded. All processes make the same definitions. */
static hpcw_clog2_log *define(int32_t *compute) {
    hpcw_error error;
    /* The functions of <hpcw/trace.h> are weak symbols: without the wrapper, their addresses are NULL. */
    hpcw_clog2_log *log = hpcw_trace_log == NULL ? NULL : hpcw_trace_log(HPCW_TRACE_VERSION);
    if (log != NULL && hpcw_clog2_log_state(log, "Compute", "blue", NULL, compute, &error) != HPCW_OK) {
        fprintf(stderr, "%s\n", error.message);
        return NULL;
    }
    return log;
}

static double work(int steps) {
    double sum = 0;
    for (int i = 1; i <= steps; i++)
        sum += 1.0 / i / i;
    return sum;
}

int main(int argc, char **argv) {
    int32_t compute = 0;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    hpcw_clog2_log *log = define(&compute);
    hpcw_clog2_timeline *timeline = log == NULL ? NULL : hpcw_trace_timeline(); /* timeline of this thread */

    for (int step = 0; step < 10; step++) {
        /* Each record of a state names a communicator, as those of MPI calls do. */
        if (timeline != NULL)
            hpcw_clog2_log_begin(timeline, hpcw_trace_comm(MPI_COMM_WORLD), compute);
        double sum = work((rank + 1) * 100000), all;
        if (timeline != NULL)
            hpcw_clog2_log_end(timeline, hpcw_trace_comm(MPI_COMM_WORLD), compute);
        MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (rank == 0)
            printf("step %d: %.6f\n", step, all);
    }
    MPI_Finalize();
    return 0;
}
