/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that change their directory while a container or log with a relative name is open.
 *
 *    mpiexec -n 2 moved HOW FILES
 *
 * HOW is "all": all processes move to one directory; or "first": only process 0 moves. The program writes two more
 * containers: one by the serial calls, and one that sion_parreinit_mpi empties after the move. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mpi.h>

#include <mpe.h>
#include <sion.h>

static int rank;

static void expect(int well, const char *what) {
    if (!well) {
        (void)fprintf(stderr, "process %d: %s fails\n", rank, what);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static int open_all(const char *name, int files) {
    sion_int64 chunk = 1000;
    sion_int32 block = 512;
    MPI_Comm local = MPI_COMM_WORLD;
    int number = rank;
    int sid = sion_paropen_mpi(name, "bw", &files, MPI_COMM_WORLD, &local, &chunk, &block, &number, NULL, NULL);
    expect(sid >= 0, "sion_paropen_mpi");
    return sid;
}

static void write_all(int sid) {
    char data[500];
    memset(data, 'a' + rank, sizeof data);
    expect(sion_fwrite(data, 1, sizeof data, sid) == sizeof data, "sion_fwrite");
    expect(sion_parclose_mpi(sid) == SION_SUCCESS, "sion_parclose_mpi");
}

static int open_serial(void) {
    int tasks = 1, files = 1, one_rank = 0, *ranks = &one_rank;
    sion_int64 chunk = 1000, *chunks = &chunk;
    sion_int32 block = 512;
    FILE *file = NULL;
    char name[32];
    (void)snprintf(name, sizeof name, "serial.%d.sion", rank);
    int sid = sion_open(name, "wb", &tasks, &files, &chunks, &block, &ranks, &file);
    expect(sid >= 0, "sion_open");
    return sid;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    expect(argc == 3, "a command line");
    int files = atoi(argv[2]);
    int sid = open_all("rel.sion", files);
    int again = open_all("again.sion", files);
    int serial = open_serial();
    MPE_Init_log();
    int event;
    MPE_Log_get_solo_eventID(&event);
    MPE_Describe_event(event, "moves", "red");
    MPE_Log_bare_event(event);
    if (rank == 0 || strcmp(argv[1], "all") == 0) {
        (void)mkdir("away", 0777);
        expect(chdir("away") == 0, "chdir");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    write_all(sid);
    expect(sion_parreinit_mpi(again, 700) == SION_SUCCESS, "sion_parreinit_mpi");
    write_all(again);
    expect(sion_fwrite("hello", 1, 5, serial) == 5 && sion_close(serial) == SION_SUCCESS, "sion_close");
    expect(MPE_Finish_log("app") == MPE_LOG_OK, "MPE_Finish_log");
    MPI_Finalize();
    return 0;
}
