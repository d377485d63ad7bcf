/* SPDX-License-Identifier: BSD-3-Clause */
/* The variables that a launcher of parallel programs sets for a process. */
#ifndef HPCW_TRACE_LAUNCHED_H
#define HPCW_TRACE_LAUNCHED_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Returns whether this is process 0 of its job according to the launcher's variables. Returns true if there is
 * no such variable. */
static inline bool hpcw_i_launched_first(void) {
    static const char *const name[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        const char *rank = getenv(name[i]);
        if (rank != NULL && strcmp(rank, "0") != 0) {
            return false;
        }
    }
    return true;
}

/* Returns whether a program of MPI has started this process, according to the launcher's variables. */
static inline bool hpcw_i_launched_by_program(void) {
    return getenv("OMPI_PARENT_PORT") != NULL || getenv("PMI_SPAWNED") != NULL;
}

#endif
