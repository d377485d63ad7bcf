/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the program was started alone or by an MPI launcher. */
#ifndef HPCW_GEN_CLI_COMMON_LAUNCH_H
#define HPCW_GEN_CLI_COMMON_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

#include <hpcw/comm.h>

struct gen_cli_launch {
    hpcw_comm *comm;
    uint32_t processes_per_node;
    bool mpi; /* MPI was initialised here */
};

/*
 * Initialises MPI if the environment has variables of a launcher, otherwise does not touch MPI. A build without MPI
 * then fails with HPCW_ENOTSUP: every process would write the same files. Also after a failure `launch` is usable and
 * must be ended.
 */
hpcw_status gen_cli_launch_begin(struct gen_cli_launch *launch, int *argc, char ***argv, hpcw_error *err);
void gen_cli_launch_end(struct gen_cli_launch *launch);

#endif
