/* SPDX-License-Identifier: BSD-3-Clause */
/* Mail: the unreceived messages to the ranks that receive from any source. */
#ifndef HPCW_GEN_SIM_MAIL_H
#define HPCW_GEN_SIM_MAIL_H

#include "libwriter/base/table.h"

struct sim;

struct sim_mail {
    /* Table of the messages with the same receiver, communicator and tag: a sim_heap, earliest message first.
     * Some of them may have been received since they were added. */
    struct hpcw_i_table box;
    size_t most_boxes; /* number of boxes at which empty ones are removed */
};

void sim_mail_init(struct sim_mail *mail);
void sim_mail_free(struct sim_mail *mail);

/* Adds a message. Returns false when memory runs out. */
bool sim_mail_add(struct sim *sim, uint32_t half);

/* Returns the earliest message to a rank with this communicator and tag, or SIM_NOTHING. */
uint32_t sim_mail_first(struct sim *sim, uint32_t rank, uint32_t comm, int32_t tag);

#endif
