/* SPDX-License-Identifier: BSD-3-Clause */
/* F3: what every rank's records begin with. */
#ifndef HPCW_FORMAT_CLOG2_FILE_OPENING_H
#define HPCW_FORMAT_CLOG2_FILE_OPENING_H

#include "libwriter/base/buf.h"
#include "libwriter/format/clog2/file/definitions.h"

/*
 * Appends the records at time 0 of a rank: the time shift, who it is in the world and by itself, and if it is the first
 * rank MPI's constants and all definitions. False: out of memory.
 */
bool hpcw_i_clog2_opening_records(struct hpcw_i_buf *to, uint32_t rank, bool first, double shift,
                                  const hpcw_clog2_comm_id *world, const hpcw_clog2_comm_id *self,
                                  const struct hpcw_i_clog2_definition *definition, uint32_t count);

#endif
