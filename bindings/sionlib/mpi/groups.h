/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective containers. */
#ifndef HPCW_BINDINGS_SIONLIB_MPI_GROUPS_H
#define HPCW_BINDINGS_SIONLIB_MPI_GROUPS_H

#include "bindings/sionlib/mpi/processes.h"

/* The chunks of the `count` tasks of this process, as many as of all others, and their groups. Collective. False:
 * reported. */
bool sionlib_group(struct sionlib_parallel *p, struct sionlib_member *own, int count);

/* A collective write of a merged container, of `count` records of each process of a group. The first process writes them
 * through its handle. False: reported. */
bool sionlib_merge_pieces(struct sionlib_handle *h, MPI_Comm group, int block_size,
                          const struct sionlib_piece *record, int count);

/* The same of one record. */
bool sionlib_merge_write(struct sionlib_handle *h, const void *data, size_t size);

#endif
