/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts MPI if an MPI launcher started the program. */
#ifndef HPCW_GEN_CLI_COMMON_LAUNCH_H
#define HPCW_GEN_CLI_COMMON_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

#include <hpcw/comm.h>

struct gen_cli_launch {
    hpcw_comm *comm;
    uint32_t processes_per_node;
    bool mpi; /* gen_cli_launch_begin initialised MPI, so gen_cli_launch_end finalises it */
};

/*
 * Initialises MPI if the environment has variables of a launcher; otherwise MPI is not touched. Under a launcher,
 * a build without MPI fails with HPCW_ENOTSUP, since every process would write the same files. gen_cli_launch_end
 * must be called also after a failure.
 */
hpcw_status gen_cli_launch_begin(struct gen_cli_launch *launch, int *argc, char ***argv, hpcw_error *err);
void gen_cli_launch_end(struct gen_cli_launch *launch);

#endif
