/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that adds a state to the wrapper's log, and also runs without the wrapper. The processes register
 * functions that the wrapper calls at the end. With `added some`, process 0 removes its function again. */
#include <stdio.h>
#include <stdlib.h>

#include <hpcw/trace.h>

static int calls, rank;

static void expect(bool good, const char *what) {
    if (!good) {
        (void)fprintf(stderr, "process %d: expected %s\n", rank, what);
        (void)MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static bool ends(void *context) {
    int sum = 0;
    expect(context == &calls, "the context");
    (void)MPI_Allreduce(&(int){1}, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* not recorded */
    calls++;
    return true;
}

static bool never(void *context) {
    (void)context;
    expect(false, "no call of a function that was replaced");
    return false;
}

static void add(bool all) {
    hpcw_error error;
    hpcw_clog2_log *log = hpcw_trace_log(HPCW_TRACE_VERSION);
    int32_t compute = 0;
    MPI_Comm half;
    expect(log != NULL, "a log");
    expect(hpcw_trace_log(HPCW_TRACE_VERSION + 1) == NULL, "no log for another version");
    expect(hpcw_clog2_log_rank(log) == (uint32_t)rank, "the rank of this process");
    expect(hpcw_trace_comm(MPI_COMM_WORLD) == 0 && hpcw_trace_comm(MPI_COMM_SELF) == 1,
           "the numbers of world and self");
    expect(hpcw_trace_comm(MPI_COMM_NULL) == UINT32_MAX, "no number for no communicator");
    (void)MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
    expect(hpcw_clog2_log_state(log, "Compute", "blue", NULL, &compute, &error) == HPCW_OK, "a state");
    expect(hpcw_trace_timeline() != NULL, "a timeline");
    hpcw_clog2_log_begin(hpcw_trace_timeline(), hpcw_trace_comm(half), compute);
    hpcw_clog2_log_end(hpcw_trace_timeline(), hpcw_trace_comm(half), compute);
    (void)MPI_Comm_free(&half);
    hpcw_trace_at_end(never, NULL);
    hpcw_trace_at_end(all || rank > 0 ? ends : NULL, &calls);
}

int main(int argc, char **argv) {
    bool all = argc < 2;
    bool wrapped = hpcw_trace_log != NULL;
    expect((hpcw_trace_timeline != NULL) == wrapped && (hpcw_trace_comm != NULL) == wrapped &&
               (hpcw_trace_at_end != NULL) == wrapped,
           "all functions or none");
    if (wrapped) {
        expect(hpcw_trace_log(HPCW_TRACE_VERSION) == NULL, "no log before MPI_Init");
    }
    (void)MPI_Init(&argc, &argv);
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (wrapped) {
        add(all);
    }
    (void)MPI_Finalize();
    if (wrapped) {
        expect(calls == (all ? 1 : 0), "one call at the end, if all processes have a function");
        expect(hpcw_trace_log(HPCW_TRACE_VERSION) == NULL, "no log after MPI_Finalize");
    }
    return rank == 0 && puts(wrapped ? "wrapped" : "alone") < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
