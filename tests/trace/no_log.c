/* SPDX-License-Identifier: BSD-3-Clause */
/* A program for any MPI library. It calls MPI only if it has an argument. */
#include <stdio.h>

int MPI_Init(int *argc, char ***argv);
int MPI_Finalize(void);

int main(int argc, char **argv) {
    if (argc > 1) {
        (void)MPI_Init(&argc, &argv);
        (void)MPI_Finalize();
    }
    (void)printf("the end of %s\n", argv[argc - 1]);
    return 3;
}
