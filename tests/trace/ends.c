/* SPDX-License-Identifier: BSD-3-Clause */
/* An MPI program that begins and ends as its argument says. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    (void)MPI_Init(&argc, &argv);
    if (strcmp(how, "empty") != 0) {
        (void)MPI_Barrier(MPI_COMM_WORLD);
    }
    if (strcmp(how, "return") == 0) {
        return 0;
    } else if (strcmp(how, "exit") == 0) {
        exit(0);
    } else if (strcmp(how, "quick_exit") == 0) {
        quick_exit(0);
    } else if (strcmp(how, "_exit") == 0) {
        _exit(0);
    }
    (void)MPI_Finalize();
    return 0;
}
