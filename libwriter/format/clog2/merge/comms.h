/* SPDX-License-Identifier: BSD-3-Clause */
/* F3: the communicators of all processes in one table: the world, one of its own for each rank, then all others. */
#ifndef HPCW_FORMAT_CLOG2_MERGE_COMMS_H
#define HPCW_FORMAT_CLOG2_MERGE_COMMS_H

#include <hpcw/clog2_log.h>

/* A communicator of a process, as it is also stored in local files. */
struct hpcw_i_clog2_known_comm {
    hpcw_clog2_comm_id id;
    int32_t kind;
    uint32_t rank; /* of this process in it */
};

/* A communicator of a rank, as the file numbers it. */
struct hpcw_i_clog2_membership {
    int32_t index; /* -1: nobody whose communicator it is has made it known */
    int32_t rank;  /* in it; -1 in a remote half */
    int32_t kind;
    int32_t peers; /* messages to and from ranks in it below that have another end, which readers look for */
    hpcw_clog2_comm_id id;
};

/* A communicator besides the world and those of one rank. */
struct hpcw_i_clog2_extra {
    hpcw_clog2_comm_id id;
    int32_t kind;
    uint32_t order; /* of its entry, counted behind those of the ranks */
};

struct hpcw_i_clog2_comms {
    uint32_t ranks;
    bool leaders; /* every communicator's first member is heard, and stands for all of them */
    hpcw_clog2_comm_id world;
    hpcw_clog2_comm_id *self;         /* [ranks]; on process 0 */
    struct hpcw_i_clog2_extra *extra; /* [extras] in the order of the table */
    struct hpcw_i_clog2_extra *found; /* [extras] by identity */
    uint32_t extras;
};

/* Adds what rank `rank` knows, its world and itself first; ranks ascend. */
hpcw_status hpcw_i_clog2_comms_add(struct hpcw_i_clog2_comms *comms, uint32_t rank,
                                   const struct hpcw_i_clog2_known_comm *known, uint32_t count,
                                   hpcw_error *err);

/* When all are there: removes what is there twice. */
hpcw_status hpcw_i_clog2_comms_settle(struct hpcw_i_clog2_comms *comms, hpcw_error *err);

/* The memberships of a rank, allocated; all peers are taken to be there. */
hpcw_status hpcw_i_clog2_comms_memberships(const struct hpcw_i_clog2_comms *comms, uint32_t rank,
                                           const struct hpcw_i_clog2_known_comm *known, uint32_t count,
                                           struct hpcw_i_clog2_membership **membership, hpcw_error *err);

/* For hpcw_clog2_options; the context is a struct hpcw_i_clog2_comms. */
void hpcw_i_clog2_comms_entry(void *context, uint32_t index, hpcw_clog2_comm_entry *entry);

void hpcw_i_clog2_comms_free(struct hpcw_i_clog2_comms *comms);

#endif
