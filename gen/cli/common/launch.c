/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/cli/common/launch.h"

#include <stdlib.h>

#ifdef HPCGEN_MPI
#include <mpi.h>

#include <hpcw/mpi.h>
#endif

#include "libwriter/base/status.h"
#include "libwriter/comm/comm.h"

/* Returns the environment variable that shows that a launcher started this process. NULL: there is none. Open
 * MPI, MPICH and its derivatives, and Slurm with PMIx or PMI set one of `marks`. SLURM_STEP_NUM_TASKS also
 * exists in a batch script, which runs only once, so it counts only with several tasks. */
static const char *launcher(void) {
    static const char *const marks[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE",           "PMI_RANK", "PMIX_RANK",
                                        "MPI_LOCALNRANKS",      "MV2_COMM_WORLD_SIZE"};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        if (getenv(marks[i]) != NULL) {
            return marks[i];
        }
    }
    const char *tasks = getenv("SLURM_STEP_NUM_TASKS");
    return tasks != NULL && strtol(tasks, NULL, 10) > 1 ? "SLURM_STEP_NUM_TASKS" : NULL;
}

hpcw_status gen_cli_launch_begin(struct gen_cli_launch *launch, int *argc, char ***argv, hpcw_error *err) {
    *launch = (struct gen_cli_launch){.comm = hpcw_i_comm_or_self(NULL), .processes_per_node = 1};
    const char *mark = launcher();
    if (mark == NULL) {
        return HPCW_OK;
    }
#ifdef HPCGEN_MPI
    int provided = 0;
    if (MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) {
        return hpcw_i_fail(err, HPCW_ECOMM,
                           "MPI: cannot initialise it, and %s says that a launcher started this process", mark);
    }
    launch->mpi = true;
    MPI_Comm node;
    int size = 1;
    if (MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node) == MPI_SUCCESS) {
        (void)MPI_Comm_size(node, &size);
        (void)MPI_Comm_free(&node);
    }
    launch->processes_per_node = size > 0 ? (uint32_t)size : 1;
    hpcw_comm *world;
    hpcw_status s = hpcw_comm_from_mpi(MPI_COMM_WORLD, &world, err);
    if (s == HPCW_OK) {
        launch->comm = world;
    }
    return s;
#else
    (void)argc;
    (void)argv;
    return hpcw_i_fail(
        err, HPCW_ENOTSUP,
        "%s: a launcher started this process, but hpcgen was built without MPI: start one process, or build "
        "with -Dmpi=enabled",
        mark);
#endif
}

void gen_cli_launch_end(struct gen_cli_launch *launch) {
    hpcw_comm_free(launch->comm);
#ifdef HPCGEN_MPI
    if (launch->mpi) {
        (void)MPI_Finalize();
    }
#endif
}
