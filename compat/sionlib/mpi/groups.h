/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective containers. */
#ifndef HPCW_COMPAT_SIONLIB_MPI_GROUPS_H
#define HPCW_COMPAT_SIONLIB_MPI_GROUPS_H

#include "compat/sionlib/mpi/parallel.h"

/* The chunk of this process, which asks for options->chunk_size bytes, and the group of a merged container. Collective.
 * False: reported. */
bool sionlib_group(struct sionlib_parallel *p, hpcw_sion_options *options);

/* A collective write of a merged container. False: reported. */
bool sionlib_merge_write(struct sionlib_handle *h, const void *data, size_t size);

#endif
