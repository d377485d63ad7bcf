/* SPDX-License-Identifier: BSD-3-Clause */
/* Files; a rank has one open at a time. The metadata server, the data servers, and the bandwidth of each node
 * are queues. A file is on one data server. Its bytes move in pieces, one after the other, so ranks that write
 * at the same time get equal shares of a server. */
#ifndef HPCW_GEN_SIM_FILES_H
#define HPCW_GEN_SIM_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include <hpcw/status.h>

struct sim;

struct sim_files {
    uint64_t metadata_ns; /* when the metadata server is free */
    uint64_t *server_ns;  /* [servers] when each data server is free */
    /* [nodes] when the node's link to the servers is free */
    uint64_t *node_ns;
    uint32_t servers;
    uint64_t create_ns;            /* time of the metadata server for a file */
    double server_gbs, client_gbs; /* bandwidth of a data server, and of a node */
};

/* The file of a rank. */
struct sim_file {
    uint64_t left, piece; /* bytes that the call still has to move, and bytes of a piece */
    uint32_t opened;      /* number of files opened; it selects the server of the next one */
    bool open;
    bool looks_up; /* the call first waits for the metadata server */
};

/* HPCW_ENOMEM. */
hpcw_status sim_files_init(struct sim *sim, hpcw_error *err);
void sim_files_free(struct sim *sim);

/* Writes a file of the rank from `time_ns` on, as part of its current call. */
void sim_files_checkpoint(struct sim *sim, uint32_t rank, uint64_t time_ns, uint64_t bytes);

/* Serves the rank's file at `time_ns`. */
void sim_files_serve(struct sim *sim, uint32_t rank, uint64_t time_ns);

#endif
