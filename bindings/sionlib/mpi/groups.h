/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective containers. */
#ifndef HPCW_BINDINGS_SIONLIB_MPI_GROUPS_H
#define HPCW_BINDINGS_SIONLIB_MPI_GROUPS_H

#include "bindings/sionlib/mpi/processes.h"

/* Sets chunks and groups of the `count` tasks of this process. All processes have the same count. Collective.
 * Returns false after reporting an error. */
bool sionlib_group(struct sionlib_parallel *p, struct sionlib_member *own, int count);

/* Writes collectively to a merged container: `count` records of each process of a group, through the handle of the
 * group's first process. Returns false after reporting an error. */
bool sionlib_merge_pieces(struct sionlib_handle *h, MPI_Comm group, int block_size,
                          const struct sionlib_piece *record, int count);

/* Calls sionlib_merge_pieces with one record of each process of the group. */
bool sionlib_merge_write(struct sionlib_handle *h, const void *data, size_t size);

#endif
