/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/measure/environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Names, or prefixes of names, of the variables to list. Launchers set more variables, but these have addresses and
 * process numbers. */
static const char *const known[] = {
    "SLURM_JOB_ID=",
    "SLURM_JOB_NUM_NODES=",
    "SLURM_JOB_PARTITION=",
    "SLURM_NTASKS=",
    "SLURM_TASKS_PER",
    "SLURM_NTASKS_PER_NODE",
    "SLURM_CPUS_PER_TASK",
    "SLURM_CPU_BIND=",
    "SLURM_DISTRIBUTION",
    "SLURM_THREADS_PER",
    "SLURM_MEM_PER_NODE",
    "OMPI_MCA_io",
    "OMPI_MCA_fs",
    "OMPI_MCA_fcoll",
    "OMPI_MCA_fbtl",
    "OMPI_MCA_sharedfp",
    "OMPI_MCA_btl",
    "OMPI_MCA_pml",
    "OMPI_MCA_mtl",
    "OMPI_MCA_coll",
    "OMPI_MCA_rmaps",
    "OMPI_MCA_hwloc",
    "OMPI_MCA_mpi_",
    "ROMIO_",
    "MPICH_",
    "MPIR_CVAR_",
    "I_MPI_",
    "UCX_",
    "FI_PROVIDER",
    "PSM2_",
    "DARSHAN_",
};

static int by_name(const void *a, const void *b) {
    return strcmp(a, b);
}

size_t bench_environment(char text[BENCH_VARIABLES][BENCH_VARIABLE]) {
    size_t n = 0;
    for (char **v = environ; *v != NULL && n < BENCH_VARIABLES; v++) {
        for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
            if (strncmp(*v, known[k], strlen(known[k])) == 0) {
                (void)snprintf(text[n++], BENCH_VARIABLE, "%s", *v);
                break;
            }
        }
    }
    qsort(text, n, sizeof text[0], by_name);
    return n;
}
