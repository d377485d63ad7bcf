/* SPDX-License-Identifier: BSD-3-Clause */
#include "heat_solver.h"

#include <math.h>
#include <stdlib.h>

static double *at(const struct heat *h, double *plate, int row, int column) {
    return &plate[(size_t)row * (size_t)(h->width + 2) + (size_t)column];
}

int heat_new(struct heat *h, MPI_Comm comm, int points) {
    int dims[2] = {0, 0}, periods[2] = {0, 0}, place[2];
    MPI_Comm_size(comm, &h->processes);
    MPI_Dims_create(h->processes, 2, dims);
    MPI_Cart_create(comm, 2, dims, periods, 0, &h->grid);
    MPI_Comm_rank(h->grid, &h->rank);
    MPI_Cart_coords(h->grid, h->rank, 2, place);
    MPI_Cart_shift(h->grid, 1, 1, &h->neighbour[0], &h->neighbour[1]);
    MPI_Cart_shift(h->grid, 0, 1, &h->neighbour[2], &h->neighbour[3]);
    h->height = (place[0] + 1) * points / dims[0] - place[0] * points / dims[0];
    h->width = (place[1] + 1) * points / dims[1] - place[1] * points / dims[1];
    MPI_Type_vector(h->height, 1, h->width + 2, MPI_DOUBLE, &h->column);
    MPI_Type_commit(&h->column);

    size_t size = (size_t)(h->height + 2) * (size_t)(h->width + 2);
    h->sweep_s = 0;
    h->now = calloc(size, sizeof(double));
    h->next = calloc(size, sizeof(double));
    if (h->now == NULL || h->next == NULL)
        return -1;
    for (int row = 0; place[1] == 0 && row < h->height + 2; row++)
        *at(h, h->now, row, 0) = *at(h, h->next, row, 0) = 100;
    return 0;
}

void heat_free(struct heat *h) {
    MPI_Type_free(&h->column);
    MPI_Comm_free(&h->grid);
    free(h->now);
    free(h->next);
}

/* Sends the own edges to the four neighbours and receives theirs. The tag of a message is its direction. */
static void exchange(struct heat *h, const struct heat_watch *watch) {
    static const int opposite[4] = {1, 0, 3, 2};
    const int own[4][2] = {{1, 1}, {1, h->width}, {1, 1}, {h->height, 1}};
    const int theirs[4][2] = {{1, 0}, {1, h->width + 1}, {0, 1}, {h->height + 1, 1}};
    const size_t bytes[2] = {(size_t)h->height * sizeof(double), (size_t)h->width * sizeof(double)};
    MPI_Request request[8];
    for (int side = 0; side < 4; side++) {
        int count = side < 2 ? 1 : h->width, to = h->neighbour[side];
        MPI_Datatype type = side < 2 ? h->column : MPI_DOUBLE;
        MPI_Irecv(at(h, h->now, theirs[side][0], theirs[side][1]), count, type, to, opposite[side], h->grid,
                  &request[side]);
        if (watch != NULL && to != MPI_PROC_NULL)
            watch->message(watch->context, 1, to, side, bytes[side / 2]);
        MPI_Isend(at(h, h->now, own[side][0], own[side][1]), count, type, to, side, h->grid,
                  &request[4 + side]);
    }
    MPI_Waitall(8, request, MPI_STATUSES_IGNORE);
    for (int side = 0; watch != NULL && side < 4; side++)
        if (h->neighbour[side] != MPI_PROC_NULL)
            watch->message(watch->context, 0, h->neighbour[side], opposite[side], bytes[side / 2]);
}

static void sweep(struct heat *h) {
    double start = MPI_Wtime();
    for (int row = 1; row <= h->height; row++)
        for (int i = 1; i <= h->width; i++)
            *at(h, h->next, row, i) = 0.25 * (*at(h, h->now, row, i - 1) + *at(h, h->now, row, i + 1) +
                                              *at(h, h->now, row - 1, i) + *at(h, h->now, row + 1, i));
    h->sweep_s += MPI_Wtime() - start;
}

static double residual(const struct heat *h) {
    double sum = 0, all;
    for (int row = 1; row <= h->height; row++)
        for (int i = 1; i <= h->width; i++) {
            double change = *at(h, h->next, row, i) - *at(h, h->now, row, i);
            sum += change * change;
        }
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, h->grid);
    return sqrt(all);
}

static void begin(const struct heat_watch *watch, enum heat_part part) {
    if (watch != NULL)
        watch->begin(watch->context, (int)part);
}

static void end(const struct heat_watch *watch, enum heat_part part) {
    if (watch != NULL)
        watch->end(watch->context, (int)part);
}

double heat_run(struct heat *h, int steps, const struct heat_watch *watch) {
    for (int step = 0; step < steps; step++) {
        begin(watch, HEAT_EXCHANGE);
        exchange(h, watch);
        end(watch, HEAT_EXCHANGE);
        begin(watch, HEAT_SWEEP);
        sweep(h);
        end(watch, HEAT_SWEEP);
        double *swap = h->now;
        h->now = h->next;
        h->next = swap;
    }
    begin(watch, HEAT_RESIDUAL);
    double left = residual(h);
    end(watch, HEAT_RESIDUAL);
    return left;
}
