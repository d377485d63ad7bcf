/* SPDX-License-Identifier: BSD-3-Clause */
/* A recording whose last process kills itself in the middle. The others continue until the launcher ends them, or
 * stop after a while. DIRECTORY/flushed.RANK has the number of states that a process has certainly flushed. Usage:
 * killed DIRECTORY */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <hpcw/clog2_log.h>
#include <hpcw/mpi.h>

enum {
    STATES = 1000, /* states between two flushes */
    /* flushes of each process before one dies */
    BEFORE = 5,
    MOST = 3000 /* most flushes of a surviving process */
};

static hpcw_clog2_log *recording;
static hpcw_clog2_timeline *timeline;
static int32_t work;

static bool begin(const char *directory, hpcw_comm *comm, hpcw_error *err) {
    char path[4096];
    hpcw_clog2_log_options o;
    hpcw_clog2_log_options_init(&o);
    o.directory = directory;
    (void)snprintf(path, sizeof path, "%s/run.clog2", directory);
    return hpcw_clog2_log_open(path, comm, &o, &recording, err) == HPCW_OK &&
           hpcw_clog2_log_state(recording, "Work", "blue", NULL, &work, err) == HPCW_OK &&
           hpcw_clog2_log_thread(recording, &timeline, err) == HPCW_OK;
}

static void record(int states) {
    for (int i = 0; i < states; i++) {
        hpcw_clog2_log_begin(timeline, 0, work);
        hpcw_clog2_log_end(timeline, 0, work);
    }
}

/* Writes a fixed number of bytes at once, so that readers see one of the numbers. */
static bool note(int fd, int flushes) {
    char text[16];
    int length = snprintf(text, sizeof text, "%010d\n", flushes * STATES);
    return pwrite(fd, text, (size_t)length, 0) == length;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    hpcw_error err = {.message = ""};
    hpcw_comm *comm = NULL;
    bool good =
        argc == 2 && hpcw_comm_from_mpi(MPI_COMM_WORLD, &comm, &err) == HPCW_OK && begin(argv[1], comm, &err);
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/flushed.%d", argc == 2 ? argv[1] : ".", hpcw_comm_process(comm));
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    bool dies = hpcw_comm_process(comm) == hpcw_comm_size(comm) - 1;
    for (int flushes = 1; good && flushes <= MOST; flushes++) {
        record(STATES);
        good = hpcw_clog2_log_flush(timeline, &err) == HPCW_OK && note(fd, flushes);
        if (flushes == BEFORE) {
            MPI_Barrier(MPI_COMM_WORLD);
            if (dies) {
                record(STATES / 2);
                (void)raise(SIGKILL);
            }
        }
    }
    fprintf(stderr, "killed: still alive: %s\n", err.message);
    MPI_Abort(MPI_COMM_WORLD, 3);
    return 3;
}
