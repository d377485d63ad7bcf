/* SPDX-License-Identifier: BSD-3-Clause */
/* An MPI program that begins and ends as its argument says. */
#include <mpi.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static jmp_buf place;

static void leap(MPI_Comm *comm, int *code, ...) {
    (void)comm, (void)code;
    longjmp(place, 1);
}

/* Leaves a failing call by longjmp. */
static void fail_and_leap(void) {
    MPI_Errhandler handler;
    (void)MPI_Comm_create_errhandler(leap, &handler);
    (void)MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    if (setjmp(place) == 0) {
        (void)MPI_Bcast(NULL, -1, MPI_INT, 0, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    if (strncmp(how, "fork ", 5) == 0) {
        how += 5; /* a child does the rest */
        int status = 1;
        if (fork() != 0) {
            return wait(&status) > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
        }
    }
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
    } else if (strcmp(how, "leap") == 0) {
        fail_and_leap();
    }
    (void)MPI_Finalize();
    return 0;
}
