/* SPDX-License-Identifier: BSD-3-Clause */
/* An MPI program whose last process dies, or that ends normally. Each process counts its calls in a mapped file,
 * DIRECTORY/counts.RANK: four numbers of eight bytes, and its process id. Process 0 creates DIRECTORY/ready when
 * all processes have their files.
 *
 *    mpiexec -n 2 dies DIRECTORY kill|segv|abort|exit|mpi_abort|wait MICROSECONDS
 *    mpiexec -n 2 dies DIRECTORY finish TURNS
 *
 * kill, segv and abort: another thread ends the process after MICROSECONDS, at any point of a call. exit and
 * mpi_abort: the process ends between two calls. wait: the program runs until somebody ends it. finish: the program
 * runs for TURNS turns, with a child process that makes calls; it waits while DIRECTORY/hold exists. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <mpi.h>

enum { CALLS = 200 };

static struct counts {
    _Atomic uint64_t allreduce, sendrecv, comm_size, initialized;
    _Atomic uint64_t pid;
} * counts;

static const char *how;
static uint64_t moment_ns;
static atomic_bool stop;

static uint64_t now_ns(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void *die(void *context) {
    (void)context;
    while (now_ns() < moment_ns) {
    }
    if (strcmp(how, "kill") == 0) {
        (void)kill(getpid(), SIGKILL);
    } else if (strcmp(how, "segv") == 0) {
        static int *volatile nowhere;
        *nowhere = 1;
    }
    abort();
}

/* Makes calls that any thread may make at any time. */
static void *other(void *context) {
    (void)context;
    while (!atomic_load(&stop)) {
        int flag;
        (void)MPI_Initialized(&flag);
        atomic_fetch_add(&counts->initialized, 1);
        (void)usleep(20);
    }
    return NULL;
}

static void work(int rank, int size) {
    int in = 0, sum = 0, all = 0;
    (void)MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    counts->allreduce++;
    (void)MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &in, 1, MPI_INT, (rank + size - 1) % size, 0,
                       MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    counts->sendrecv++;
    for (int i = 0; i < CALLS; i++) {
        (void)MPI_Comm_size(MPI_COMM_WORLD, &all);
        counts->comm_size++;
    }
}

/* Forks a child that makes calls of MPI. It shares the memory into which its parent records, so its calls could
 * overwrite calls that the parent made after fork(). To test this, the child waits until the parent has made all
 * its calls. */
static void fork_a_caller(int ready[2]) {
    if (pipe(ready) != 0 || fork() != 0) {
        return;
    }
    char byte;
    (void)close(ready[1]);
    bool told = read(ready[0], &byte, 1) == 0;
    for (int i = 0; told && i < 5000; i++) {
        int flag;
        (void)MPI_Initialized(&flag);
    }
    _exit(0);
}

int main(int argc, char **argv) {
    int rank, size, provided, go_on = 1, ready[2] = {-1, -1};
    char path[4096];
    if (argc != 4) {
        return 2;
    }
    (void)MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    (void)PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    (void)PMPI_Comm_size(MPI_COMM_WORLD, &size);
    (void)snprintf(path, sizeof path, "%s/counts.%d", argv[1], rank);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || ftruncate(fd, sizeof *counts) != 0) {
        perror(path);
        return 2;
    }
    counts = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (counts == MAP_FAILED) {
        perror(path);
        return 2;
    }
    counts->pid = (uint64_t)getpid();
    how = argv[2];
    if (strcmp(how, "finish") != 0) {
        work(rank, size); /* at least one turn, since a log without calls is not made */
    }
    (void)PMPI_Barrier(MPI_COMM_WORLD); /* no process dies before all have their files */
    (void)snprintf(path, sizeof path, "%s/ready", argv[1]);
    if (rank == 0 && open(path, O_WRONLY | O_CREAT, 0600) < 0) {
        perror(path);
        return 2;
    }
    long turns = strtol(argv[3], NULL, 10);
    moment_ns = now_ns() + (uint64_t)turns * 1000;
    (void)snprintf(path, sizeof path, "%s/hold", argv[1]);
    while (access(path, F_OK) == 0) {
        (void)usleep(1000);
    }
    pthread_t thread, killer;
    if (pthread_create(&thread, NULL, other, NULL) != 0 ||
        (rank == size - 1 && strchr("ksa", how[0]) != NULL && pthread_create(&killer, NULL, die, NULL) != 0)) {
        return 2;
    }
    if (strcmp(how, "finish") == 0) {
        fork_a_caller(ready);
    }
    while (go_on) {
        work(rank, size);
        bool due = now_ns() >= moment_ns;
        if (due && rank == size - 1 && strcmp(how, "exit") == 0) {
            exit(3);
        } else if (due && rank == size - 1 && strcmp(how, "mpi_abort") == 0) {
            (void)MPI_Abort(MPI_COMM_WORLD, 3);
        }
        turns--;
        if (strcmp(how, "wait") == 0 && turns < -2000) {
            (void)usleep(
                1000); /* fewer records, so that the program does not fill the disk before it is ended */
        }
        go_on = strcmp(how, "finish") != 0 || turns > 0;
        (void)PMPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    atomic_store(&stop, true);
    (void)pthread_join(thread, NULL);
    (void)close(ready[1]);
    (void)wait(NULL);
    (void)MPI_Finalize();
    (void)printf("rank %d has finished\n", rank);
    return 0;
}
