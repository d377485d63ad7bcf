/* SPDX-License-Identifier: BSD-3-Clause */
/* F3: the opening records of a rank. */
#ifndef HPCW_FORMAT_CLOG2_FILE_OPENING_H
#define HPCW_FORMAT_CLOG2_FILE_OPENING_H

#include "libwriter/base/buf.h"
#include "libwriter/format/clog2/file/definitions.h"

/* Appends the records of a rank at time 0: its time shift, its rank in the world and in its own communicator.
 * Those of the first rank of the file continue with MPI's constants and all definitions. False: out of memory. */
bool hpcw_i_clog2_opening_records(struct hpcw_i_buf *to, uint32_t rank, bool first, double shift,
                                  const hpcw_clog2_comm_id *world, const hpcw_clog2_comm_id *self,
                                  const struct hpcw_i_clog2_definition *definition, uint32_t count);

#endif
