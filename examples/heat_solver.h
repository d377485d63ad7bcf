/* SPDX-License-Identifier: BSD-3-Clause */
/* Heat in a square plate: a Jacobi solver under MPI, cut into rectangles, one for each process. Nothing of hpcw here. */
#ifndef HEAT_SOLVER_H
#define HEAT_SOLVER_H

#include <stddef.h>

#include <mpi.h>

enum heat_part { HEAT_EXCHANGE, HEAT_SWEEP, HEAT_RESIDUAL, HEAT_PARTS };

/* What an onlooker is told, if there is one. */
struct heat_watch {
    void (*begin)(void *context, enum heat_part part);
    void (*end)(void *context, enum heat_part part);
    void (*message)(void *context, int sent, int peer, int tag, size_t bytes);
    void *context;
};

struct heat {
    MPI_Comm grid; /* the processes as a grid */
    MPI_Datatype column;
    int rank, processes;
    int neighbour[4];   /* left, right, above, below; MPI_PROC_NULL at the edge */
    int width, height;  /* of the rectangle */
    double *now, *next; /* [height + 2][width + 2], with the neighbours' edges around it */
};

/* `points` on a side of the plate, which is hot on the left. 0 for success. */
int heat_new(struct heat *heat, MPI_Comm comm, int points);
void heat_free(struct heat *heat);

/* Steps; the residual that is left, the same on all processes. `watch` may be NULL. */
double heat_run(struct heat *heat, int steps, const struct heat_watch *watch);

/* The rectangle's own points, row by row, into [height * width]. */
void heat_points(const struct heat *heat, double *points);

#endif
