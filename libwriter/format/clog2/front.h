/* SPDX-License-Identifier: BSD-3-Clause */
/* F3: what every rank's records begin with, and the numbers that definitions take up. */
#ifndef HPCW_FORMAT_CLOG2_FRONT_H
#define HPCW_FORMAT_CLOG2_FRONT_H

#include "libwriter/format/clog2/log.h"

/* How many user states and solo events a list announces. */
void hpcw_i_clog2_count_definitions(const struct hpcw_i_clog2_definition *definition, uint32_t count,
                                    uint32_t *states, uint32_t *solos);

/* The definition of the state that shows waiting for the disk. */
void hpcw_i_clog2_spill_definition(struct hpcw_i_clog2_definition *definition);

/*
 * Appends the records at time 0 of a rank: the time shift, who it is in the world and by itself, and if it is the first
 * rank MPI's constants and all definitions. False: out of memory.
 */
bool hpcw_i_clog2_front(struct hpcw_i_buf *to, uint32_t rank, bool first, double shift,
                        const hpcw_clog2_comm_id *world, const hpcw_clog2_comm_id *self,
                        const struct hpcw_i_clog2_definition *definition, uint32_t count);

#endif
