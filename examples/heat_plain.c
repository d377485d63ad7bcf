/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The heat solver and nothing else: a program that knows nothing of hpcw, to be recorded by libhpcw_trace.so.
 *
 *     mpiexec -n 4 hpcw-trace ./heat_plain [POINTS [PHASES]]
 */
#include <stdio.h>
#include <stdlib.h>

#include "heat_solver.h"

int main(int argc, char **argv) {
    struct heat heat;
    MPI_Init(&argc, &argv);
    if (heat_new(&heat, MPI_COMM_WORLD, argc > 1 ? atoi(argv[1]) : 200) != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int phase = 0; phase < (argc > 2 ? atoi(argv[2]) : 4); phase++) {
        double left = heat_run(&heat, 25, NULL);
        if (heat.rank == 0)
            printf("phase %d: residual %.12g\n", phase, left);
    }
    heat_free(&heat);
    MPI_Finalize();
    return 0;
}
