/* SPDX-License-Identifier: BSD-3-Clause */
/* Probes that match a message. They return a handle, by which a later call receives the message (receive.h). */
#include "libwriter/trace/messages.h"
#include "libwriter/trace/requests.h"
#include "libwriter/trace/span.h"

static void found(const struct hpcw_i_trace_span *s, int code, MPI_Comm comm, MPI_Message message) {
    if (message != MPI_MESSAGE_NULL && message != MPI_MESSAGE_NO_PROC) {
        (void)hpcw_i_trace_request_note_on(s, code, HPCW_I_TRACE_KEY(message), HPCW_I_TRACE_MESSAGE, comm);
    }
}

int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Mprobe, comm);
    int code = REAL(MPI_Mprobe)(source, tag, comm, message, status);
    found(&s, code, comm, *message);
    return hpcw_i_trace_span_end(&s, code);
}

int MPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Improbe, comm);
    int code = REAL(MPI_Improbe)(source, tag, comm, flag, message, status);
    if (code == MPI_SUCCESS && *flag) {
        found(&s, code, comm, *message);
    }
    return hpcw_i_trace_span_end(&s, code);
}
