/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that calls MPI_Finalize too early. Its closes and opens fail on each process, and its frees work. The
 * program is not ended, and no file is left. Usage: finalized */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hpcw/hpcw.h>
#include <hpcw/mpi.h>

#include "tests/support/files.h"

#define NAME "finalized.sion"

static void check(hpcw_status s, const hpcw_error *err) {
    if (s != HPCW_ECOMM || strstr(err->message, "MPI_Finalize was called before") == NULL) {
        printf("expected HPCW_ECOMM because of MPI_Finalize, got %s: %s\n", hpcw_status_name(s),
               s == HPCW_OK ? "" : err->message);
        exit(1);
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    char directory[256] = "";
    int process;
    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    if (process == 0) {
        scratch_make(directory, sizeof directory);
    }
    MPI_Bcast(directory, sizeof directory, MPI_CHAR, 0, MPI_COMM_WORLD);
    hpcw_error err = {.message = ""};
    hpcw_comm *comm = NULL;
    hpcw_sion *sion = NULL, *other = NULL;
    hpcw_clog2_log *log = NULL;
    bool ready = chdir(directory) == 0 && hpcw_comm_from_mpi(MPI_COMM_WORLD, &comm, &err) == HPCW_OK &&
                 hpcw_sion_open(NAME, comm, NULL, &sion, &err) == HPCW_OK &&
                 hpcw_clog2_log_open("finalized.clog2", comm, NULL, &log, &err) == HPCW_OK;
    if (!ready) {
        printf("cannot begin: %s\n", err.message);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    check(hpcw_sion_close(sion, &err), &err);
    check(hpcw_clog2_log_finish(log, NULL, &err), &err);
    check(hpcw_sion_open(NAME, comm, NULL, &other, &err), &err);
    hpcw_sion_free(sion);
    hpcw_clog2_log_free(log);
    hpcw_comm_free(comm);
    if (access(NAME, F_OK) == 0 || (process == 0 && rmdir(directory) != 0)) {
        printf("%s: expected no file\n", directory);
        return 1;
    }
    return 0;
}
