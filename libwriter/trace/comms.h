/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators: from the call that makes one to the call that frees it, the log knows it by a number. */
#ifndef HPCW_TRACE_COMMS_H
#define HPCW_TRACE_COMMS_H

#include "libwriter/trace/trace.h"

/* MPI_COMM_WORLD and MPI_COMM_SELF; false: out of memory. */
bool hpcw_i_comms_begin(hpcw_clog2_log *log);

/*
 * Duplicates that are made in the background (MPI_Comm_idup) cannot be given an identity by a message: whoever waits
 * for one must not wait for others. So all processes compute the same: from the parent, and how many there were; and
 * make it known before MPI is asked, as nobody can have a duplicate before all have asked for it.
 * Number 0: the parent is not followed, or is an inter-communicator, whose duplicates then are not followed either.
 */
struct hpcw_i_duplicate {
    uint64_t number;
    uint32_t comm; /* in the log, or HPCW_I_NOT_FOLLOWED */
};
struct hpcw_i_duplicate hpcw_i_comm_duplicate(const struct hpcw_i_span *s, MPI_Comm parent);
void hpcw_i_comm_duplicated(struct hpcw_i_duplicate duplicate, MPI_Comm made);

#endif
