/* SPDX-License-Identifier: BSD-3-Clause */
/* One table of the communicators of all processes: the world, then one of its own for each rank, then all
 * others. */
#ifndef HPCW_FORMAT_CLOG2_MERGE_COMMS_H
#define HPCW_FORMAT_CLOG2_MERGE_COMMS_H

#include <hpcw/clog2_log.h>

/* A communicator as a process knows it. Local files store the same bytes. */
struct hpcw_i_clog2_known_comm {
    hpcw_clog2_comm_id id;
    int32_t kind;
    uint32_t rank; /* rank of this process in it */
};

/* The membership of a rank in a communicator, with the numbers that the file uses. */
struct hpcw_i_clog2_membership {
    int32_t index; /* index of the communicator in the table; -1: it is not in the table */
    int32_t rank;  /* rank in the communicator; -1 in a remote half */
    int32_t kind;
    int32_t peers; /* a message is kept only if its peer is below this: readers look for the other end */
    hpcw_clog2_comm_id id;
};

/* A communicator other than the world and those of a single rank. */
struct hpcw_i_clog2_extra {
    hpcw_clog2_comm_id id;
    int32_t kind;
    uint32_t order; /* index of its entry, counted after those of the ranks */
};

struct hpcw_i_clog2_comms {
    uint32_t ranks;
    bool leaders; /* each communicator is added by its rank 0 only */
    hpcw_clog2_comm_id world;
    hpcw_clog2_comm_id *self;         /* [ranks]; on process 0 only */
    struct hpcw_i_clog2_extra *extra; /* [extras] in the order of the file */
    struct hpcw_i_clog2_extra *found; /* [extras] sorted by identity */
    uint32_t extras;
};

/* Adds the communicators of a rank; the first is the world, the second its own. Call it by ascending rank. */
hpcw_status hpcw_i_clog2_comms_add(struct hpcw_i_clog2_comms *comms, uint32_t rank,
                                   const struct hpcw_i_clog2_known_comm *known, uint32_t count,
                                   hpcw_error *err);

/* Sorts and removes duplicates. Call it once all ranks are added. */
hpcw_status hpcw_i_clog2_comms_settle(struct hpcw_i_clog2_comms *comms, hpcw_error *err);

/* Allocates the memberships of a rank. `peers` does not exclude any message yet. */
hpcw_status hpcw_i_clog2_comms_memberships(const struct hpcw_i_clog2_comms *comms, uint32_t rank,
                                           const struct hpcw_i_clog2_known_comm *known, uint32_t count,
                                           struct hpcw_i_clog2_membership **membership, hpcw_error *err);

/* Fills in an entry of the table, for the options of a file. The context is a struct hpcw_i_clog2_comms. */
void hpcw_i_clog2_comms_entry(void *context, uint32_t index, hpcw_clog2_comm_entry *entry);

void hpcw_i_clog2_comms_free(struct hpcw_i_clog2_comms *comms);

#endif
