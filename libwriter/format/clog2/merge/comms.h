/* SPDX-License-Identifier: BSD-3-Clause */
/* One table of the communicators of all processes. First comes the world, then for each rank the communicator of
 * this rank alone, then all others. */
#ifndef HPCW_FORMAT_CLOG2_MERGE_COMMS_H
#define HPCW_FORMAT_CLOG2_MERGE_COMMS_H

#include <hpcw/clog2_log.h>

/* A communicator as one of its processes knows it. Local files contain this struct as it is in memory. */
struct hpcw_i_clog2_known_comm {
    hpcw_clog2_comm_id id;
    int32_t kind;
    uint32_t rank; /* rank of the process in the communicator */
};

/* The membership of a rank in a communicator, with the numbers that the file uses. */
struct hpcw_i_clog2_membership {
    int32_t index; /* index of the communicator in the table; -1: it is not in the table */
    int32_t rank;  /* rank in the communicator; -1 for the remote half of an inter-communicator */
    int32_t kind;
    int32_t peers; /* messages to ranks >= peers are left out, as readers would miss the other end */
    hpcw_clog2_comm_id id;
};

/* A communicator other than the world and those of a single rank. */
struct hpcw_i_clog2_extra {
    hpcw_clog2_comm_id id;
    int32_t kind;
    uint32_t order; /* index of the entry in the table, counted after the entries of single ranks */
};

struct hpcw_i_clog2_comms {
    uint32_t ranks;
    bool leaders; /* true: only rank 0 of a communicator adds it to the table */
    hpcw_clog2_comm_id world;
    hpcw_clog2_comm_id *self;         /* [ranks] communicator of each single rank; on process 0 only */
    struct hpcw_i_clog2_extra *extra; /* [extras] in the order of the file */
    struct hpcw_i_clog2_extra *found; /* [extras] sorted by identity */
    uint32_t extras;
};

/* Adds the communicators of a rank. The first must be the world, the second that of this rank alone. Call it for
 * the ranks in ascending order. */
hpcw_status hpcw_i_clog2_comms_add(struct hpcw_i_clog2_comms *comms, uint32_t rank,
                                   const struct hpcw_i_clog2_known_comm *known, uint32_t count,
                                   hpcw_error *err);

/* Sorts the communicators and removes duplicates. Call it once all ranks are added. */
hpcw_status hpcw_i_clog2_comms_settle(struct hpcw_i_clog2_comms *comms, hpcw_error *err);

/* Allocates the memberships of a rank. In each, `peers` is INT32_MAX, so that all messages are kept. */
hpcw_status hpcw_i_clog2_comms_memberships(const struct hpcw_i_clog2_comms *comms, uint32_t rank,
                                           const struct hpcw_i_clog2_known_comm *known, uint32_t count,
                                           struct hpcw_i_clog2_membership **membership, hpcw_error *err);

/* Fills in an entry of the table of communicators, as callback of a file's options. The context is a struct
 * hpcw_i_clog2_comms. */
void hpcw_i_clog2_comms_entry(void *context, uint32_t index, hpcw_clog2_comm_entry *entry);

void hpcw_i_clog2_comms_free(struct hpcw_i_clog2_comms *comms);

#endif
