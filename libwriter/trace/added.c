/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/trace/added.h"

#include "libwriter/trace/real.h"

#include <hpcw/trace.h>

#include "libwriter/trace/comms.h"
#include "libwriter/trace/session.h"

static struct {
    bool (*call)(void *context);
    void *context;
} at_end;

hpcw_clog2_log *hpcw_trace_log(int version) {
    bool whole = version == HPCW_TRACE_VERSION && !hpcw_i_trace_session.apart;
    return whole ? hpcw_i_trace_session.log : NULL;
}

hpcw_clog2_timeline *hpcw_trace_timeline(void) {
    return hpcw_i_trace_timeline(&hpcw_i_trace_thread);
}

uint32_t hpcw_trace_comm(MPI_Comm comm) {
    struct hpcw_i_trace_comm numbers = hpcw_i_trace_comm_of(comm);
    return numbers.peers == HPCW_I_TRACE_UNKNOWN ? UINT32_MAX : numbers.own;
}

void hpcw_trace_at_end(bool (*call)(void *context), void *context) {
    at_end.call = call;
    at_end.context = context;
}

bool hpcw_i_trace_added_end(void) {
    int all = at_end.call != NULL;
    (void)REAL(MPI_Allreduce)(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all && at_end.call(at_end.context);
}
