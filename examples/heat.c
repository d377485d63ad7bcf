/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The heat solver, instrumented: one run writes everything that hpcw has a format for.
 *
 *     mpiexec -n 4 heat [DIRECTORY [POINTS [PHASES]]]
 *
 * DIRECTORY (default heat_out) then holds
 *
 *     links.sion           links.c: time of a message between every two processes, before the start (LinkTest)
 *     heat.clog2           heat_log.c: what each process did when, and its messages (MPE)
 *     lb_data/data.R.json  heat_loads.c: how long each process's part took in each phase, and who sent to whom (vt)
 *     ckpt/                heat_files.c: a checkpoint after every other phase, with its rank2file map (SCR)
 *     plate.sion           heat_files.c: the result, one task for each process (SIONlib)
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "heat.h"
#include "links.h"

enum { STEPS = 25 };

hpcw_status heat_agree(hpcw_status status, const hpcw_error *error) {
    if (status != HPCW_OK)
        fprintf(stderr, "%s\n", error->message);
    int worst = status;
    MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return worst;
}

static hpcw_status run(struct heat *heat, hpcw_comm *comm, struct heat_log *log, hpcw_vom *vom, int phases,
                       hpcw_error *error) {
    hpcw_status status = HPCW_OK;
    for (int phase = 0; phase < phases && status == HPCW_OK; phase++) {
        double left = heat_run(heat, STEPS, &log->watch);
        if (heat->rank == 0)
            printf("phase %d: residual %.12g\n", phase, left);
        status = heat_loads_phase(vom, heat, (uint64_t)phase, STEPS, error);
        if (status == HPCW_OK && phase % 2 == 1) {
            log->watch.begin(log, HEAT_WRITE);
            status = heat_checkpoint(heat, comm, (uint64_t)(phase + 1) / 2, error);
            log->watch.end(log, HEAT_WRITE);
        }
    }
    if (status == HPCW_OK) {
        log->watch.begin(log, HEAT_WRITE);
        status = heat_result(heat, comm, error);
        log->watch.end(log, HEAT_WRITE);
    }
    return status;
}

int main(int argc, char **argv) {
    const char *directory = argc > 1 ? argv[1] : "heat_out";
    struct heat heat;
    struct heat_log log = {0};
    hpcw_comm *comm, *grid = NULL;
    hpcw_vom *vom = NULL;
    hpcw_error error = {.message = ""};

    MPI_Init(&argc, &argv);
    if (heat_new(&heat, MPI_COMM_WORLD, argc > 2 ? atoi(argv[2]) : 200) != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);

    /* Every status is the same on all processes: they continue or stop together. */
    hpcw_status status = hpcw_comm_from_mpi(MPI_COMM_WORLD, &comm, &error);
    if (status == HPCW_OK)
        status = hpcw_comm_from_mpi(heat.grid, &grid, &error);
    if (status == HPCW_OK)
        status = hpcw_vom_make_directory(directory, comm, &error);
    if (status == HPCW_OK && chdir(directory) != 0) {
        perror(directory); /* another host may not see the directory: it is on no shared file system */
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (status == HPCW_OK)
        status = links_measure("links.sion", comm, 20, 1024, &error);
    if (status == HPCW_OK)
        status = heat_loads_open(&vom, &heat, comm, &error);
    if (status == HPCW_OK)
        status = heat_log_open(&log, "heat.clog2", comm, grid, &error);
    if (status == HPCW_OK)
        status = run(&heat, comm, &log, vom, argc > 3 ? atoi(argv[3]) : 4, &error);
    if (status == HPCW_OK)
        status = hpcw_vom_close_set(&vom, 1, comm, &error);
    if (status == HPCW_OK)
        status = heat_log_close(&log, &error);
    if (status != HPCW_OK && heat.rank == 0)
        fprintf(stderr, "%s: %s\n", hpcw_status_name(status), error.message);

    hpcw_clog2_log_free(log.log);
    hpcw_vom_free(vom);
    hpcw_comm_free(grid);
    hpcw_comm_free(comm);
    heat_free(&heat);
    MPI_Finalize();
    return status == HPCW_OK ? 0 : 1;
}
