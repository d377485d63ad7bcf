/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rod that cools down. It is cut into cells, CELLS of them on every process. Each process measures how long its
 * cells take. It writes these times, and who sent to whom, as vt's load-balancing data: lb_data/data.RANK.json.
 *
 *     mpiexec -n 4 load_data [lb_data [PHASES]]
 */
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

#include <hpcw/mpi.h>
#include <hpcw/vom.h>

enum { CELLS = 8, POINTS = 1000, STEPS = 20 /* STEPS: time steps per phase */ };

struct cell {
    double point[POINTS + 2]; /* the first and the last point belong to the neighbours */
    double time_s;            /* compute time in this phase */
};

/* Exchanges a point with each neighbour of each cell. Points of other processes come as messages. */
static void exchange(struct cell cell[CELLS], int process, int processes) {
    int left = process > 0 ? process - 1 : MPI_PROC_NULL;
    int right = process + 1 < processes ? process + 1 : MPI_PROC_NULL;
    struct cell *first = &cell[0], *last = &cell[CELLS - 1];
    MPI_Sendrecv(&first->point[1], 1, MPI_DOUBLE, left, 0, &last->point[POINTS + 1], 1, MPI_DOUBLE, right, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&last->point[POINTS], 1, MPI_DOUBLE, right, 0, &first->point[0], 1, MPI_DOUBLE, left, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i + 1 < CELLS; i++) {
        cell[i].point[POINTS + 1] = cell[i + 1].point[1];
        cell[i + 1].point[0] = cell[i].point[POINTS];
    }
}

/* Hot cells take smaller steps, and so more time. */
static void work(struct cell *cell) {
    double start = MPI_Wtime();
    int steps = 1 + (int)(cell->point[POINTS / 2] / 100);
    for (int s = 0; s < steps; s++)
        for (int p = 1; p <= POINTS; p++)
            cell->point[p] += 0.25 / steps * (cell->point[p - 1] - 2 * cell->point[p] + cell->point[p + 1]);
    cell->time_s += MPI_Wtime() - start;
}

/* Cell `index` of the whole rod: an element of collection 0, which stays where it was made. */
static hpcw_vom_entity entity(const uint64_t *index) {
    return hpcw_vom_element((uint32_t)(*index / CELLS), *index % CELLS, hpcw_vom_collection_id(0), index, 1);
}

/* Records edges first, then tasks. The receiving process records an edge. */
static hpcw_status record(hpcw_vom *vom, const struct cell cell[CELLS], uint64_t first, uint64_t cells,
                          uint64_t phase, hpcw_error *error) {
    hpcw_status status = hpcw_vom_begin_phase(vom, phase, error);
    for (uint64_t to = first; to < first + CELLS; to++)
        for (int side = -1; side <= 1 && status == HPCW_OK; side += 2) {
            uint64_t from = to + (uint64_t)side;
            if (from >= cells) /* no neighbour at the end of the rod: -1 becomes very large */
                continue;
            int here = from / CELLS == to / CELLS;
            hpcw_vom_edge edge = {.category = HPCW_VOM_SEND_RECV,
                                  .from = here ? entity(&from) : hpcw_vom_far(entity(&from).id),
                                  .to = entity(&to),
                                  .bytes = STEPS * sizeof(double),
                                  .messages = STEPS};
            status = hpcw_vom_edge_add(vom, &edge, error);
        }
    for (uint64_t i = 0; i < CELLS && status == HPCW_OK; i++) {
        uint64_t index = first + i;
        hpcw_vom_task task = {.entity = entity(&index), .time_s = cell[i].time_s};
        status = hpcw_vom_task_add(vom, &task, error);
    }
    return status == HPCW_OK ? hpcw_vom_end_phase(vom, NULL, 0, error) : status;
}

int main(int argc, char **argv) {
    static struct cell cell[CELLS];
    const char *directory = argc > 1 ? argv[1] : "lb_data";
    uint64_t phases = argc > 2 ? strtoull(argv[2], NULL, 10) : 5;
    hpcw_error error = {.message = ""};
    hpcw_comm *comm;
    hpcw_vom *vom = NULL;
    char name[4096];

    MPI_Init(&argc, &argv);
    hpcw_status status = hpcw_comm_from_mpi(MPI_COMM_WORLD, &comm, &error);
    int process = hpcw_comm_process(comm), processes = hpcw_comm_size(comm);
    for (int p = 0; p < CELLS * (POINTS + 2); p++)
        cell[p / (POINTS + 2)].point[p % (POINTS + 2)] = process == 0 && p < POINTS ? 1000 : 20;

    hpcw_vom_options options;
    hpcw_vom_options_init(&options);
    options.rank = (uint32_t)process;
    options.ranks = (uint32_t)processes;
    if (status == HPCW_OK)
        status = hpcw_vom_make_directory(directory, comm, &error);
    snprintf(name, sizeof name, "%s/data.%d.json", directory, process);
    hpcw_error local;
    if (status == HPCW_OK && hpcw_vom_open(name, &options, &vom, &local) != HPCW_OK) {
        fprintf(stderr, "%s\n", local.message);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }

    hpcw_status recorded = status;
    for (uint64_t phase = 0; phase < phases && status == HPCW_OK; phase++) {
        for (int step = 0; step < STEPS; step++) {
            exchange(cell, process, processes);
            for (int i = 0; i < CELLS; i++)
                work(&cell[i]);
        }
        if (recorded ==
            HPCW_OK) /* a process that cannot record goes on to compute: its neighbours wait for it */
            recorded = record(vom, cell, (uint64_t)process * CELLS, (uint64_t)processes * CELLS, phase, &local);
        for (int i = 0; i < CELLS; i++)
            cell[i].time_s = 0;
    }
    if (recorded != status)
        fprintf(stderr, "process %d: %s\n", process, local.message);
    /* If a process failed, the files keep their temporary names. */
    if (status == HPCW_OK)
        status = hpcw_vom_close_set(&vom, 1, comm, &error);
    if (status != HPCW_OK && process == 0)
        fprintf(stderr, "%s: %s\n", hpcw_status_name(status), error.message);
    hpcw_vom_free(vom);
    hpcw_comm_free(comm);
    MPI_Finalize();
    return status == HPCW_OK ? 0 : 1;
}
