/* SPDX-License-Identifier: BSD-3-Clause */
#include "heat_solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double *at(const struct heat *h, double *plate, int row, int column) {
    return &plate[(size_t)row * (size_t)(h->width + 2) + (size_t)column];
}

int heat_new(struct heat *heat, MPI_Comm comm, int points) {
    int dims[2] = {0, 0}, periods[2] = {0, 0}, place[2];
    MPI_Comm_size(comm, &heat->processes);
    MPI_Dims_create(heat->processes, 2, dims);
    MPI_Cart_create(comm, 2, dims, periods, 0, &heat->grid);
    MPI_Comm_rank(heat->grid, &heat->rank);
    MPI_Cart_coords(heat->grid, heat->rank, 2, place);
    MPI_Cart_shift(heat->grid, 1, 1, &heat->neighbour[0], &heat->neighbour[1]);
    MPI_Cart_shift(heat->grid, 0, 1, &heat->neighbour[2], &heat->neighbour[3]);
    heat->height = (place[0] + 1) * points / dims[0] - place[0] * points / dims[0];
    heat->width = (place[1] + 1) * points / dims[1] - place[1] * points / dims[1];
    MPI_Type_vector(heat->height, 1, heat->width + 2, MPI_DOUBLE, &heat->column);
    MPI_Type_commit(&heat->column);

    size_t size = (size_t)(heat->height + 2) * (size_t)(heat->width + 2);
    heat->now = calloc(size, sizeof(double));
    heat->next = calloc(size, sizeof(double));
    if (heat->now == NULL || heat->next == NULL)
        return -1;
    for (int row = 0; place[1] == 0 && row < heat->height + 2; row++)
        *at(heat, heat->now, row, 0) = *at(heat, heat->next, row, 0) = 100;
    return 0;
}

void heat_free(struct heat *heat) {
    MPI_Type_free(&heat->column);
    MPI_Comm_free(&heat->grid);
    free(heat->now);
    free(heat->next);
}

/* Own edges to the four neighbours, theirs from them. The tag is the direction in which a message goes. */
static void exchange(struct heat *h, const struct heat_watch *watch) {
    static const int opposite[4] = {1, 0, 3, 2};
    double *own[4] = {at(h, h->now, 1, 1), at(h, h->now, 1, h->width), at(h, h->now, 1, 1),
                      at(h, h->now, h->height, 1)};
    double *theirs[4] = {at(h, h->now, 1, 0), at(h, h->now, 1, h->width + 1), at(h, h->now, 0, 1),
                         at(h, h->now, h->height + 1, 1)};
    MPI_Request request[8];
    for (int side = 0; side < 4; side++) {
        int count = side < 2 ? 1 : h->width;
        MPI_Datatype type = side < 2 ? h->column : MPI_DOUBLE;
        MPI_Irecv(theirs[side], count, type, h->neighbour[side], opposite[side], h->grid, &request[side]);
    }
    for (int side = 0; side < 4; side++) {
        int count = side < 2 ? 1 : h->width;
        MPI_Datatype type = side < 2 ? h->column : MPI_DOUBLE;
        if (watch != NULL && h->neighbour[side] != MPI_PROC_NULL)
            watch->message(watch->context, 1, h->neighbour[side], side,
                           (size_t)(side < 2 ? h->height : h->width) * sizeof(double));
        MPI_Isend(own[side], count, type, h->neighbour[side], side, h->grid, &request[4 + side]);
    }
    MPI_Waitall(8, request, MPI_STATUSES_IGNORE);
    for (int side = 0; watch != NULL && side < 4; side++)
        if (h->neighbour[side] != MPI_PROC_NULL)
            watch->message(watch->context, 0, h->neighbour[side], opposite[side],
                           (size_t)(side < 2 ? h->height : h->width) * sizeof(double));
}

static void sweep(struct heat *h) {
    for (int row = 1; row <= h->height; row++) {
        const double *above = at(h, h->now, row - 1, 0), *here = at(h, h->now, row, 0),
                     *below = at(h, h->now, row + 1, 0);
        double *to = at(h, h->next, row, 0);
        for (int i = 1; i <= h->width; i++)
            to[i] = 0.25 * (here[i - 1] + here[i + 1] + above[i] + below[i]);
    }
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
        watch->begin(watch->context, part);
}

static void end(const struct heat_watch *watch, enum heat_part part) {
    if (watch != NULL)
        watch->end(watch->context, part);
}

double heat_run(struct heat *heat, int steps, const struct heat_watch *watch) {
    double left = 0;
    for (int step = 0; step < steps; step++) {
        begin(watch, HEAT_EXCHANGE);
        exchange(heat, watch);
        end(watch, HEAT_EXCHANGE);
        begin(watch, HEAT_SWEEP);
        sweep(heat);
        end(watch, HEAT_SWEEP);
        if (step + 1 == steps) {
            begin(watch, HEAT_RESIDUAL);
            left = residual(heat);
            end(watch, HEAT_RESIDUAL);
        }
        double *swap = heat->now;
        heat->now = heat->next;
        heat->next = swap;
    }
    return left;
}

void heat_points(const struct heat *heat, double *points) {
    for (int row = 0; row < heat->height; row++)
        memcpy(points + (size_t)row * (size_t)heat->width, at(heat, heat->now, row + 1, 1),
               (size_t)heat->width * sizeof *points);
}
