/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rod that cools down, cut into pieces, CELLS of them on every process. Each process measures how long its cells
 * take and writes that, and who sent to whom, as load-balancing data of vt: lb_data/data.RANK.json.
 *
 *     mpiexec -n 4 load_data [lb_data [PHASES]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <mpi.h>

#include <hpcw/mpi.h>
#include <hpcw/vom.h>

#define CELLS 8
#define POINTS 1000
#define STEPS 20 /* of time, in a phase */

struct cell {
    double point[POINTS + 2]; /* with the neighbours' next ones */
    uint64_t index;           /* in the whole rod */
    uint64_t time_ns;         /* of the phase */
};

struct rod {
    struct cell cell[CELLS];
    int process, processes;
};

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void start(struct rod *rod, int process, int processes) {
    rod->process = process;
    rod->processes = processes;
    for (int i = 0; i < CELLS; i++) {
        rod->cell[i].index = (uint64_t)process * CELLS + (uint64_t)i;
        for (int p = 0; p < POINTS + 2; p++)
            rod->cell[i].point[p] = rod->cell[i].index == 0 ? 1000 : 20;
    }
}

/* Every cell gets one value from each neighbour; those of other processes come as messages. */
static void exchange(struct rod *rod) {
    struct cell *first = &rod->cell[0], *last = &rod->cell[CELLS - 1];
    int left = rod->process > 0 ? rod->process - 1 : MPI_PROC_NULL;
    int right = rod->process + 1 < rod->processes ? rod->process + 1 : MPI_PROC_NULL;
    MPI_Sendrecv(&first->point[1], 1, MPI_DOUBLE, left, 0, &last->point[POINTS + 1], 1, MPI_DOUBLE, right, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&last->point[POINTS], 1, MPI_DOUBLE, right, 0, &first->point[0], 1, MPI_DOUBLE, left, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i + 1 < CELLS; i++) {
        rod->cell[i].point[POINTS + 1] = rod->cell[i + 1].point[1];
        rod->cell[i + 1].point[0] = rod->cell[i].point[POINTS];
    }
}

/* Hot cells take smaller steps, and so longer. */
static void work(struct cell *cell) {
    uint64_t begin = now_ns();
    int substeps = 1 + (int)(cell->point[POINTS / 2] / 100);
    for (int s = 0; s < substeps; s++) {
        double before = cell->point[0];
        for (int p = 1; p <= POINTS; p++) {
            double here = cell->point[p];
            cell->point[p] += 0.25 / substeps * (before - 2 * here + cell->point[p + 1]);
            before = here;
        }
    }
    cell->time_ns += now_ns() - begin;
}

/* Cell i of the whole rod as an element of collection 0. Cells stay where they were made. */
static hpcw_vom_entity entity(const uint64_t *index) {
    return hpcw_vom_element((uint32_t)(*index / CELLS), *index % CELLS, hpcw_vom_collection_id(0), index, 1);
}

/* What a cell's neighbour sent it in a phase. The receiver's process records it. */
static hpcw_status record_message(hpcw_vom *vom, const struct rod *rod, const struct cell *cell, uint64_t from,
                                  hpcw_error *error) {
    int here = from / CELLS == (uint64_t)rod->process;
    hpcw_vom_edge edge = {.category = HPCW_VOM_SEND_RECV,
                          .from = here ? entity(&from) : hpcw_vom_far(entity(&from).id),
                          .to = entity(&cell->index),
                          .bytes = STEPS * sizeof(double),
                          .messages = STEPS};
    return hpcw_vom_edge_add(vom, &edge, error);
}

static hpcw_status record_phase(hpcw_vom *vom, const struct rod *rod, uint64_t phase, hpcw_error *error) {
    uint64_t cells = (uint64_t)rod->processes * CELLS;
    hpcw_status status = hpcw_vom_begin_phase(vom, phase, error);
    for (int i = 0; i < CELLS && status == HPCW_OK; i++) {
        const struct cell *cell = &rod->cell[i];
        if (cell->index > 0)
            status = record_message(vom, rod, cell, cell->index - 1, error);
        if (status == HPCW_OK && cell->index + 1 < cells)
            status = record_message(vom, rod, cell, cell->index + 1, error);
    }
    for (int i = 0; i < CELLS && status == HPCW_OK; i++) {
        hpcw_vom_task task = {
            .entity = entity(&rod->cell[i].index), .whole_ns = 1, .time_ns = rod->cell[i].time_ns};
        status = hpcw_vom_task_add(vom, &task, error);
    }
    return status == HPCW_OK ? hpcw_vom_end_phase(vom, NULL, 0, error) : status;
}

/* A process that cannot record goes on computing: its neighbours wait for its messages. */
static hpcw_status run(struct rod *rod, hpcw_vom *vom, uint64_t phases, hpcw_error *error) {
    hpcw_status status = HPCW_OK;
    for (uint64_t phase = 0; phase < phases; phase++) {
        for (int i = 0; i < CELLS; i++)
            rod->cell[i].time_ns = 0;
        for (int step = 0; step < STEPS; step++) {
            exchange(rod);
            for (int i = 0; i < CELLS; i++)
                work(&rod->cell[i]);
        }
        if (status == HPCW_OK)
            status = record_phase(vom, rod, phase, error);
    }
    return status;
}

/* Opens this process's file: on all processes, or on none. */
static hpcw_status open_all(const struct rod *rod, const char *directory, hpcw_comm *comm, hpcw_vom **vom,
                            hpcw_error *error) {
    char pattern[4096], name[4096];
    hpcw_vom_options options;
    hpcw_vom_options_init(&options);
    options.rank = (uint32_t)rod->process;
    options.ranks = (uint32_t)rod->processes;
    snprintf(pattern, sizeof pattern, "%s/data.%%p.json", directory);

    hpcw_status status = hpcw_vom_make_directory(directory, comm, error);
    if (status != HPCW_OK)
        return status;
    status = hpcw_vom_file_name(name, sizeof name, pattern, options.rank, 0, error);
    if (status == HPCW_OK)
        status = hpcw_vom_open(name, &options, vom, error);
    if (status != HPCW_OK)
        fprintf(stderr, "process %d: %s\n", rod->process, error->message);
    int worst = status;
    MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return worst;
}

int main(int argc, char **argv) {
    struct rod rod;
    hpcw_error error = {.message = ""};
    hpcw_comm *comm;
    hpcw_vom *vom = NULL;
    int process, processes;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    start(&rod, process, processes);

    hpcw_status status = hpcw_comm_from_mpi(MPI_COMM_WORLD, &comm, &error);
    if (status == HPCW_OK) {
        status = open_all(&rod, argc > 1 ? argv[1] : "lb_data", comm, &vom, &error);
        if (status == HPCW_OK) {
            hpcw_error local;
            if (run(&rod, vom, argc > 2 ? strtoull(argv[2], NULL, 10) : 5, &local) != HPCW_OK)
                fprintf(stderr, "process %d: %s\n", process, local.message);
            /* All files get their names, or, where one failed, none does. */
            status = hpcw_vom_close_set(&vom, 1, comm, &error);
        }
        hpcw_vom_free(vom);
        hpcw_comm_free(comm);
    }
    if (status != HPCW_OK && process == 0)
        fprintf(stderr, "%s: %s\n", hpcw_status_name(status), error.message);
    MPI_Finalize();
    return status == HPCW_OK ? 0 : 1;
}
