/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a set of two files, PATH. If PROCESS is given, that process kills itself before the close. Usage: left
 * PATH [PROCESS] */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include <hpcw/mpi.h>
#include <hpcw/sion.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    hpcw_error err = {.message = ""};
    hpcw_comm *comm = NULL;
    hpcw_sion *sion = NULL;
    hpcw_sion_options o;
    hpcw_sion_options_init(&o);
    o.count = 2;
    o.files = 2;
    hpcw_status s = argc < 2 ? HPCW_EINVAL : hpcw_comm_from_mpi(MPI_COMM_WORLD, &comm, &err);
    s = s == HPCW_OK ? hpcw_sion_open(argv[1], comm, &o, &sion, &err) : s;
    s = s == HPCW_OK ? hpcw_sion_write(sion, hpcw_sion_first_rank(sion), "data", 4, &err) : s;
    if (s == HPCW_OK && argc > 2 && atoi(argv[2]) == hpcw_comm_process(comm)) {
        (void)raise(SIGKILL);
    }
    s = s == HPCW_OK ? hpcw_sion_close(sion, &err) : s;
    hpcw_sion_free(sion);
    if (s != HPCW_OK) {
        fprintf(stderr, "left: %s\n", err.message);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    hpcw_comm_free(comm);
    MPI_Finalize();
    return 0;
}
