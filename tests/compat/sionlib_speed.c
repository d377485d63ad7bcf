/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures how fast an MPI program written for SIONlib writes and reads records. speed.py compiles it for
 * libhpcw_sionlib_mpi and for SIONlib. Usage: sionlib_speed FILE SHARE, where SHARE is the part of the work to do.
 *
 * Process 0 prints a line per row: bytes of a record, local or collective, write or read, seconds from before the
 * open to after the close, and MB/s of all processes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sion.h"

static int rank, size;

static void fail(const char *what) {
    fprintf(stderr, "sionlib_speed: process %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static int open_all(const char *name, const char *mode, sion_int64 chunk) {
    int files = 1, global = rank;
    sion_int32 block = -1;
    MPI_Comm part = MPI_COMM_WORLD;
    int sid = sion_paropen_mpi(name, mode, &files, MPI_COMM_WORLD, &part, &chunk, &block, &global, NULL, NULL);
    if (sid < 0) {
        fail("cannot open");
    }
    return sid;
}

static void write_records(const char *name, char *data, size_t bytes, long records, int collective) {
    int sid = open_all(name, collective ? "bw,collective" : "bw", (sion_int64)bytes * records);
    for (long r = 0; r < records; r++) {
        memcpy(data, &r, sizeof r);
        if ((collective ? sion_coll_fwrite(data, bytes, 1, sid) : sion_fwrite(data, bytes, 1, sid)) != 1) {
            fail("cannot write");
        }
    }
    if (sion_parclose_mpi(sid) != SION_SUCCESS) {
        fail("cannot close");
    }
}

static void read_records(const char *name, char *data, size_t bytes, long records, int collective) {
    int sid = open_all(name, collective ? "br,collective" : "br", -1);
    for (long r = 0; r < records; r++) {
        long number = -1;
        size_t got = collective ? sion_coll_fread(data, bytes, 1, sid) : sion_fread(data, bytes, 1, sid);
        memcpy(&number, data, sizeof number);
        if (got != 1 || number != r) {
            fail("cannot read back what was written");
        }
    }
    if (sion_parclose_mpi(sid) != SION_SUCCESS) {
        fail("cannot close");
    }
}

static void row(const char *name, size_t bytes, long records, int collective) {
    /* malloc returns memory 16 bytes after a page boundary, from which some processors copy file data many times
     * slower. */
    char *data = aligned_alloc(64, bytes);
    if (data == NULL) {
        fail("no memory");
    }
    memset(data, rank + 1, bytes);
    for (int read = 0; read < 2; read++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double from = MPI_Wtime();
        (read ? read_records : write_records)(name, data, bytes, records, collective);
        MPI_Barrier(MPI_COMM_WORLD);
        double seconds = MPI_Wtime() - from;
        if (rank == 0) {
            printf("%zu %s %s %.6f %.1f\n", bytes, collective ? "collective" : "local", read ? "read" : "write",
                   seconds, 1e-6 * (double)bytes * (double)records * size / seconds);
        }
    }
    free(data);
    if (rank == 0) {
        remove(name);
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double share = argc == 3 ? atof(argv[2]) : 0;
    if (share <= 0) {
        fail("expected FILE SHARE");
    }
    for (int collective = 0; collective < 2; collective++) {
        row(argv[1], 64, (long)((collective ? 2e4 : 1e6) * share) + 1, collective);
        row(argv[1], 4 << 20, (long)(32 * share) + 1, collective);
    }
    MPI_Finalize();
    return 0;
}
