/* SPDX-License-Identifier: BSD-3-Clause */
/* A plugin that uses another MPI library. */
int MPI_Init(int *argc, char ***argv);
int MPI_Finalize(void);

int run(void);
int run(void) {
    return MPI_Init(0, 0) + MPI_Finalize();
}
