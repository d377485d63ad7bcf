/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests on their way. */
#ifndef HPCW_TRACE_REQUESTS_H
#define HPCW_TRACE_REQUESTS_H

#include "libwriter/trace/comms.h"

/* A communicator that a request will complete; `to` is where MPI writes it. */
void hpcw_i_request_of_duplicate(const struct hpcw_i_span *s, int code, struct hpcw_i_duplicate duplicate,
                                 const MPI_Comm *to, MPI_Request request);

#endif
