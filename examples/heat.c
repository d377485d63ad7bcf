/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The heat solver as an instrumented application: one run writes everything that hpcw has a format for.
 *
 *     mpiexec -n 4 heat [DIRECTORY [POINTS [PHASES]]]
 *
 * DIRECTORY (default heat_out) then holds
 *
 *     links.sion           times of messages between every two processes, measured before the start (LinkTest)
 *     heat.clog2           what each process did when, and its messages (MPE)
 *     lb_data/data.R.json  how long each process's part took in each phase, and who sent to whom (vt)
 *     ckpt/                a checkpoint after every other phase, with its rank2file map (SCR)
 *     plate.sion           the result, one task for each process (SIONlib)
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <hpcw/clog2_log.h>
#include <hpcw/mpi.h>
#include <hpcw/rank2file.h>
#include <hpcw/sion.h>
#include <hpcw/vom.h>

#include "heat_solver.h"
#include "links.h"

enum { STEPS = 25, WRITING = HEAT_PARTS, STATES = HEAT_PARTS + 1 };

struct app {
    const char *directory;
    struct heat heat;
    hpcw_comm *comm, *grid; /* all processes; the same as the solver's grid */
    hpcw_clog2_log *log;
    hpcw_clog2_timeline *timeline;
    uint32_t on_grid; /* number of the grid's communicator in the log */
    int32_t state[STATES];
    hpcw_vom *vom;
    uint64_t sweep_ns; /* in this phase */
};

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void name_file(const struct app *app, char name[4096], const char *file) {
    snprintf(name, 4096, "%s/%s", app->directory, file);
}

/* After a step that each process does by itself: the worst outcome, on all of them. */
static hpcw_status agree(const struct app *app, hpcw_status status, const hpcw_error *error) {
    if (status != HPCW_OK)
        fprintf(stderr, "process %d: %s\n", app->heat.rank, error->message);
    int worst = status;
    MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return worst;
}

/* ---- the log ---- */

static void part_begins(void *context, enum heat_part part) {
    struct app *app = context;
    hpcw_clog2_log_begin(app->timeline, 0, app->state[part]);
    if (part == HEAT_SWEEP)
        app->sweep_ns -= now_ns();
}

static void part_ends(void *context, enum heat_part part) {
    struct app *app = context;
    if (part == HEAT_SWEEP)
        app->sweep_ns += now_ns();
    hpcw_clog2_log_end(app->timeline, 0, app->state[part]);
}

static void message(void *context, int sent, int peer, int tag, size_t bytes) {
    struct app *app = context;
    if (sent)
        hpcw_clog2_log_send(app->timeline, app->on_grid, peer, tag, bytes);
    else
        hpcw_clog2_log_receive(app->timeline, app->on_grid, peer, tag, bytes);
}

static hpcw_status define(struct app *app, hpcw_error *error) {
    static const char *const name[STATES] = {"exchange", "sweep", "residual", "write"};
    static const char *const colour[STATES] = {"SteelBlue", "green", "purple", "yellow"};
    hpcw_status status = HPCW_OK;
    for (int i = 0; i < STATES && status == HPCW_OK; i++)
        status = hpcw_clog2_log_state(app->log, name[i], colour[i], NULL, &app->state[i], error);
    return status == HPCW_OK ? hpcw_clog2_log_thread(app->log, &app->timeline, error) : status;
}

static hpcw_status open_log(struct app *app, hpcw_error *error) {
    char name[4096];
    name_file(app, name, "heat.clog2");
    hpcw_status status = hpcw_clog2_log_open(name, app->comm, NULL, &app->log, error);
    if (status == HPCW_OK)
        status = agree(app, define(app, error), error);
    return status == HPCW_OK ? hpcw_clog2_log_comm_of(app->timeline, 0, app->grid, &app->on_grid, error)
                             : status;
}

/* ---- load data: each process's rectangle is an element of a collection that does not migrate ---- */

static hpcw_vom_entity rectangle(const uint64_t *rank) {
    return hpcw_vom_element((uint32_t)*rank, 0, hpcw_vom_collection_id(0), rank, 1);
}

static hpcw_status open_loads(struct app *app, hpcw_error *error) {
    char directory[4096], name[4200];
    hpcw_vom_options options;
    hpcw_vom_options_init(&options);
    options.rank = (uint32_t)app->heat.rank;
    options.ranks = (uint32_t)app->heat.processes;
    name_file(app, directory, "lb_data");
    hpcw_status status = hpcw_vom_make_directory(directory, app->comm, error);
    if (status != HPCW_OK)
        return status;
    snprintf(name, sizeof name, "%s/data.%d.json", directory, app->heat.rank);
    return agree(app, hpcw_vom_open(name, &options, &app->vom, error), error);
}

static hpcw_status record_phase(struct app *app, uint64_t phase, hpcw_error *error) {
    uint64_t self = (uint64_t)app->heat.rank;
    hpcw_status status = hpcw_vom_begin_phase(app->vom, phase, error);
    for (int side = 0; side < 4 && status == HPCW_OK; side++) {
        uint64_t from = (uint64_t)app->heat.neighbour[side];
        if (app->heat.neighbour[side] == MPI_PROC_NULL)
            continue;
        int points = side < 2 ? app->heat.height : app->heat.width;
        hpcw_vom_edge edge = {.category = HPCW_VOM_SEND_RECV,
                              .from = hpcw_vom_far(rectangle(&from).id),
                              .to = rectangle(&self),
                              .bytes = (double)points * STEPS * sizeof(double),
                              .messages = STEPS};
        status = hpcw_vom_edge_add(app->vom, &edge, error);
    }
    hpcw_vom_task task = {.entity = rectangle(&self), .whole_ns = 1, .time_ns = app->sweep_ns};
    if (status == HPCW_OK)
        status = hpcw_vom_task_add(app->vom, &task, error);
    app->sweep_ns = 0;
    return status == HPCW_OK ? hpcw_vom_end_phase(app->vom, NULL, 0, error) : status;
}

/* ---- checkpoints and the result ---- */

static size_t points_of(const struct app *app) {
    return (size_t)app->heat.width * (size_t)app->heat.height;
}

static hpcw_status write_rank(hpcw_rank2file *checkpoint, const struct app *app, const double *points,
                              hpcw_error *error) {
    hpcw_rank2file_file *file;
    char name[64];
    snprintf(name, sizeof name, "rank_%d.plate", app->heat.rank);
    hpcw_status status = hpcw_rank2file_create(checkpoint, (uint32_t)app->heat.rank, name, &file, error);
    if (status == HPCW_OK)
        status = hpcw_rank2file_file_write(file, points, points_of(app) * sizeof *points, error);
    if (status == HPCW_OK)
        status = hpcw_rank2file_file_close(file, error);
    hpcw_rank2file_file_free(file);
    return status;
}

static hpcw_status write_checkpoint(const struct app *app, uint64_t id, const double *points,
                                    hpcw_error *error) {
    hpcw_rank2file *checkpoint;
    hpcw_rank2file_options options;
    hpcw_error local;
    char prefix[4096];
    /* Times come from one process, because all must say the same. */
    uint64_t seconds = (uint64_t)time(NULL);
    MPI_Bcast(&seconds, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    hpcw_rank2file_options_init(&options);
    options.dataset.id = id;
    options.dataset.created_us = seconds * 1000000;
    options.count = 1;
    name_file(app, prefix, "ckpt");
    hpcw_status status = hpcw_rank2file_open(prefix, app->comm, &options, &checkpoint, error);
    if (status != HPCW_OK)
        return status;
    if (write_rank(checkpoint, app, points, &local) != HPCW_OK)
        hpcw_rank2file_abandon(checkpoint, &local);
    status = hpcw_rank2file_close(checkpoint, error);
    hpcw_rank2file_free(checkpoint);
    return status;
}

static hpcw_status write_result(const struct app *app, const double *points, hpcw_error *error) {
    hpcw_sion *sion;
    hpcw_sion_options options;
    hpcw_error local;
    char name[4096];
    hpcw_sion_options_init(&options);
    options.count = 1;
    options.chunk_size = points_of(app) * sizeof *points;
    name_file(app, name, "plate.sion");
    hpcw_status status = hpcw_sion_open(name, app->comm, &options, &sion, error);
    if (status != HPCW_OK)
        return status;
    if (hpcw_sion_write(sion, (uint32_t)app->heat.rank, points, points_of(app) * sizeof *points, &local) !=
        HPCW_OK)
        hpcw_sion_abandon(sion, &local);
    status = hpcw_sion_close(sion, error);
    hpcw_sion_free(sion);
    return status;
}

/* Either of them; the log shows it. */
static hpcw_status write_plate(struct app *app, uint64_t checkpoint, hpcw_error *error) {
    double *points = malloc((points_of(app) + 1) * sizeof *points);
    if (points == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    heat_points(&app->heat, points);
    hpcw_clog2_log_begin(app->timeline, 0, app->state[WRITING]);
    hpcw_status status =
        checkpoint > 0 ? write_checkpoint(app, checkpoint, points, error) : write_result(app, points, error);
    hpcw_clog2_log_end(app->timeline, 0, app->state[WRITING]);
    free(points);
    return status;
}

/* ---- the run ---- */

static hpcw_status open_all(struct app *app, hpcw_error *error) {
    char links[4096];
    hpcw_status status = hpcw_comm_from_mpi(MPI_COMM_WORLD, &app->comm, error);
    if (status == HPCW_OK)
        status = hpcw_comm_from_mpi(app->heat.grid, &app->grid, error);
    if (status == HPCW_OK)
        status = hpcw_vom_make_directory(app->directory, app->comm, error);
    name_file(app, links, "links.sion");
    if (status == HPCW_OK)
        status = links_measure(links, app->comm, 20, 1024, error);
    if (status == HPCW_OK)
        status = open_loads(app, error);
    return status == HPCW_OK ? open_log(app, error) : status;
}

static hpcw_status run(struct app *app, uint64_t phases, hpcw_error *error) {
    struct heat_watch watch = {part_begins, part_ends, message, app};
    hpcw_status status = HPCW_OK;
    for (uint64_t phase = 0; phase < phases && status == HPCW_OK; phase++) {
        double left = heat_run(&app->heat, STEPS, &watch);
        if (app->heat.rank == 0)
            printf("phase %llu: residual %.12g\n", (unsigned long long)phase, left);
        status = agree(app, record_phase(app, phase, error), error);
        if (status == HPCW_OK && phase % 2 == 1)
            status = write_plate(app, (phase + 1) / 2, error);
    }
    return status == HPCW_OK ? write_plate(app, 0, error) : status;
}

static hpcw_status close_all(struct app *app, hpcw_error *error) {
    hpcw_clog2_log_report report;
    hpcw_status status = hpcw_vom_close_set(&app->vom, 1, app->comm, error);
    if (status == HPCW_OK)
        status = hpcw_clog2_log_finish(app->log, &report, error);
    if (status == HPCW_OK && app->heat.rank == 0 && report.lost > 0)
        fprintf(stderr, "%llu records are not in the log\n", (unsigned long long)report.lost);
    return status;
}

int main(int argc, char **argv) {
    struct app app = {.directory = argc > 1 ? argv[1] : "heat_out"};
    hpcw_error error = {.message = ""};

    MPI_Init(&argc, &argv);
    if (heat_new(&app.heat, MPI_COMM_WORLD, argc > 2 ? atoi(argv[2]) : 200) != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);

    /* Every status is the same on all processes: they go on or leave together. */
    hpcw_status status = open_all(&app, &error);
    if (status == HPCW_OK)
        status = run(&app, argc > 3 ? strtoull(argv[3], NULL, 10) : 4, &error);
    if (status == HPCW_OK)
        status = close_all(&app, &error);
    if (status != HPCW_OK && app.heat.rank == 0)
        fprintf(stderr, "%s: %s\n", hpcw_status_name(status), error.message);

    hpcw_clog2_log_free(app.log);
    hpcw_vom_free(app.vom);
    hpcw_comm_free(app.grid);
    hpcw_comm_free(app.comm);
    heat_free(&app.heat);
    MPI_Finalize();
    return status == HPCW_OK ? 0 : 1;
}
