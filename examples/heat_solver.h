/* SPDX-License-Identifier: BSD-3-Clause */
/* Heat in a square plate: a Jacobi solver with MPI. Each process has a rectangle. This file does not use hpcw. */
#ifndef HEAT_SOLVER_H
#define HEAT_SOLVER_H

#include <stddef.h>

#include <mpi.h>

enum heat_part { HEAT_EXCHANGE, HEAT_SWEEP, HEAT_RESIDUAL, HEAT_PARTS };

/* Functions that heat_run calls at the begin and end of each part of a run, and for each message. */
struct heat_watch {
    void (*begin)(void *context, int part);
    void (*end)(void *context, int part);
    void (*message)(void *context, int sent, int peer, int tag, size_t bytes);
    void *context;
};

struct heat {
    MPI_Comm grid; /* communicator of the processes as a grid */
    MPI_Datatype column;
    int rank, processes;
    int neighbour[4];   /* left, right, above, below; MPI_PROC_NULL at the edge */
    int width, height;  /* size of the rectangle, points */
    double *now, *next; /* [height + 2][width + 2], with the neighbours' edges around it */
    double sweep_s;     /* time in sweeps so far */
};

/* The plate has `points` on a side and is hot on the left. Returns 0 for success. */
int heat_new(struct heat *heat, MPI_Comm comm, int points);
void heat_free(struct heat *heat);

/* Takes steps. Returns the residual, which is the same on all processes. `watch` may be NULL. */
double heat_run(struct heat *heat, int steps, const struct heat_watch *watch);

#endif
