/* SPDX-License-Identifier: BSD-3-Clause */
/* Ping-pong between every two processes of MPI_COMM_WORLD. */
#ifndef LINKS_H
#define LINKS_H

#include <stdint.h>

#include <hpcw/linktest.h>

/* Measures, and writes a LinkTest result. Collective; `comm` is MPI_COMM_WORLD, an even number of processes. The
 * status is the same on all of them. */
hpcw_status links_measure(const char *path, hpcw_comm *comm, uint64_t messages, uint64_t size, hpcw_error *err);

#endif
