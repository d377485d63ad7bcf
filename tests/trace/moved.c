/* SPDX-License-Identifier: BSD-3-Clause */
/* An MPI program that changes its directory while it is recorded, or closes unknown descriptors and opens files of
 * its own.
 *
 *    mpiexec -n 2 moved HOW */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mpi.h>

enum { CALLS = 300000, LAST_DESCRIPTOR = 1024, OWN_FILES = 64 };

static int is(const char *how, const char *what) {
    return strcmp(how, what) == 0;
}

/* Closes all descriptors except those inherited, as daemons do, and reuses their numbers for files of its own. */
static int close_all(int rank) {
    char name[64];
    for (int fd = 3; fd < LAST_DESCRIPTOR; fd++) {
        char link[64], target[4096] = "";
        (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        ssize_t n = readlink(link, target, sizeof target - 1);
        struct stat st;
        /* MPI's descriptors stay open, or MPI would end the program: sockets and the like, and shared memory of
         * its processes. */
        if (n > 0 && fstat(fd, &st) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) &&
            strstr(target, "/dev/shm") == NULL && strstr(target, "vader") == NULL &&
            strstr(target, "ompi.") == NULL) {
            (void)close(fd);
        }
    }
    for (int i = 0; i < OWN_FILES; i++) {
        (void)snprintf(name, sizeof name, "own.%d.%d", rank, i);
        int fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 || write(fd, name, strlen(name)) != (ssize_t)strlen(name)) {
            return 1;
        }
    }
    return 0;
}

int main(int argc, char **argv) {
    int rank, failed = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char *how = argc > 1 ? argv[1] : "";
    char own[32];
    (void)snprintf(own, sizeof own, "own.%d", is(how, "each") ? rank : 0);
    if (is(how, "same") || is(how, "each") || (is(how, "first") && rank == 0) ||
        (is(how, "second") && rank == 1)) {
        (void)mkdir(own, 0777);
        MPI_Barrier(MPI_COMM_SELF);
        failed = chdir(own) != 0;
    } else if (is(how, "root")) {
        failed = chdir("/proc") != 0;
    } else if (is(how, "renamed") && rank == 0) {
        failed = rename("../here", "../there") != 0;
    } else if (is(how, "linked") && rank == 0) {
        failed = symlink("../victim", "app.clog2") != 0;
    } else if (is(how, "closed")) {
        failed = close_all(rank);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < CALLS; i++) {
        MPI_Barrier(MPI_COMM_SELF);
    }
    MPI_Finalize();
    return failed;
}
