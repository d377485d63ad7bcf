/* SPDX-License-Identifier: BSD-3-Clause */
/* Files. A rank has at most one file open. The metadata server, the data servers, and the bandwidth of each
 * node are queues. A file is on one data server. Its bytes move in pieces, one after the other, so ranks that
 * write at the same time get equal shares of a server. */
#ifndef HPCW_GEN_SIM_FILES_H
#define HPCW_GEN_SIM_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include <hpcw/status.h>

struct sim;

struct sim_files {
    uint64_t metadata_ns; /* time at which the metadata server is free */
    uint64_t *server_ns;  /* [servers] time at which each data server is free */
    /* [nodes] time at which the node's link to the servers is free */
    uint64_t *node_ns;
    uint32_t servers;
    uint64_t create_ns;            /* time of the metadata server to open a file */
    double server_gbs, client_gbs; /* bandwidth of each data server and of each node */
};

struct sim_file {
    uint64_t left, piece; /* bytes left to move in the call; bytes per piece */
    uint32_t opened;      /* number of files opened; it selects the server of the next one */
    bool open;
    bool looks_up; /* the call first waits for the metadata server */
};

/* HPCW_ENOMEM. */
hpcw_status sim_files_init(struct sim *sim, hpcw_error *err);
void sim_files_free(struct sim *sim);

/* Writes a checkpoint file of a rank from `time_ns` on, as part of the rank's current call. */
void sim_files_checkpoint(struct sim *sim, uint32_t rank, uint64_t time_ns, uint64_t bytes);

/* Continues the current file call of a rank at `time_ns`: opens the file or moves one piece. */
void sim_files_serve(struct sim *sim, uint32_t rank, uint64_t time_ns);

#endif
