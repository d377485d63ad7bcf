/* SPDX-License-Identifier: BSD-3-Clause */
/* Another MPI library, as small as possible. */
#include <stdio.h>

int MPI_Init(int *argc, char ***argv);
int MPI_Finalize(void);
int PMPI_Init(int *argc, char ***argv);
int PMPI_Finalize(void);
int PMPI_Get_library_version(char *version, int *length);

int PMPI_Init(int *argc, char ***argv) {
    (void)argc, (void)argv;
    (void)puts("begin of another MPI");
    return 0;
}

int PMPI_Finalize(void) {
    (void)puts("end of another MPI");
    return 0;
}

int MPI_Init(int *argc, char ***argv) {
    return PMPI_Init(argc, argv);
}

int MPI_Finalize(void) {
    return PMPI_Finalize();
}

int PMPI_Get_library_version(char *version, int *length) {
    version[0] = '\0';
    *length = 0;
    return 0;
}
