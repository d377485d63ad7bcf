/* SPDX-License-Identifier: BSD-3-Clause */
/* F6: how the program was started: alone, or as one of many by an MPI launcher. */
#ifndef HPCW_GEN_CLI_LAUNCH_H
#define HPCW_GEN_CLI_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

#include <hpcw/comm.h>

struct gen_cli_launch {
    hpcw_comm *comm;
    uint32_t processes_per_node;
    bool mpi; /* MPI was initialised here */
};

/*
 * Looks at the environment for the marks of a launcher. Without them MPI is not touched. With them, MPI is
 * initialised; a build without MPI refuses (HPCW_ENOTSUP), as every process would write the same files.
 * `launch` is usable and must be ended also after a failure.
 */
hpcw_status gen_cli_launch_begin(struct gen_cli_launch *launch, int *argc, char ***argv, hpcw_error *err);
void gen_cli_launch_end(struct gen_cli_launch *launch);

#endif
