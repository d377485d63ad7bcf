/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files, one open for each rank: a metadata server, data servers, and what a node can move, each a queue. A file is on one data
 * server. Its bytes go in pieces, one after the other, so that ranks that write at the same time get equal shares of a server.
 */
#ifndef HPCW_GEN_SIM_FILES_H
#define HPCW_GEN_SIM_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include <hpcw/status.h>

struct sim;

struct sim_files {
    uint64_t metadata_ns; /* when the metadata server is free */
    uint64_t *server_ns;  /* [servers] when each data server is free */
    uint64_t *node_ns;    /* [nodes] when a node's share of the network to them is free */
    uint32_t servers;
    uint64_t create_ns;            /* the metadata server's time for a file */
    double server_gbs, client_gbs; /* of a data server, and of a node */
};

/* The file of a rank. */
struct sim_file {
    uint64_t left, piece; /* bytes that its call has to move, and at once */
    uint32_t opened;      /* files that it has opened: they are on one server after the other */
    bool open;
    bool looks_up; /* its call waits for the metadata server first */
};

/* HPCW_ENOMEM. */
hpcw_status sim_files_init(struct sim *sim, hpcw_error *err);
void sim_files_free(struct sim *sim);

/* From `time_ns` on, the rank writes a file of its own, in the call that it is in. */
void sim_files_checkpoint(struct sim *sim, uint32_t rank, uint64_t time_ns, uint64_t bytes);

/* The rank's file has its turn at `time_ns`. */
void sim_files_serve(struct sim *sim, uint32_t rank, uint64_t time_ns);

#endif
