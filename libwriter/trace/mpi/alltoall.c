/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Alltoall and MPI_Alltoallv, whose states have the sizes as cargo. */
#include "libwriter/trace/span.h"

static uint64_t bytes_of(uint64_t count, MPI_Datatype type) {
    int size = 0;
    return REAL(MPI_Type_size)(type, &size) == MPI_SUCCESS && size > 0 ? count * (uint64_t)size : 0;
}

static int32_t clip(uint64_t bytes) {
    return bytes > INT32_MAX ? INT32_MAX : (int32_t)bytes;
}

/* The cargo of the state's end: bytes sent to and received from all processes together, as MPE counts them. */
static int end_all_to_all(const struct hpcw_i_trace_span *s, int code, uint64_t sent, uint64_t received) {
    hpcw_clog2_cargo cargo = {0};
    hpcw_clog2_cargo_i32(&cargo, clip(sent));
    hpcw_clog2_cargo_i32(&cargo, clip(received));
    return hpcw_i_trace_span_end_with(s, code, &cargo);
}

/* Number of processes that this one exchanges data with. */
static int partners(MPI_Comm comm) {
    int inter = 0, size = 0;
    (void)REAL(MPI_Comm_test_inter)(comm, &inter);
    (void)(inter ? REAL(MPI_Comm_remote_size)(comm, &size) : REAL(MPI_Comm_size)(comm, &size));
    return size;
}

int MPI_Alltoall(const void *s, int sn, MPI_Datatype st, void *r, int rn, MPI_Datatype rt, MPI_Comm comm) {
    struct hpcw_i_trace_span span = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Alltoall, comm);
    int code = REAL(MPI_Alltoall)(s, sn, st, r, rn, rt, comm);
    if (span.timeline == NULL || code != MPI_SUCCESS) {
        return hpcw_i_trace_span_end(&span, code);
    }
    uint64_t n = (uint64_t)partners(comm);
    uint64_t received = bytes_of(n * (uint64_t)rn, rt);
    return end_all_to_all(&span, code, s == MPI_IN_PLACE ? received : bytes_of(n * (uint64_t)sn, st), received);
}

static uint64_t sum(const int count[], int n) {
    uint64_t all = 0;
    for (int i = 0; i < n; i++) {
        all += (uint64_t)count[i];
    }
    return all;
}

int MPI_Alltoallv(const void *s, const int sn[], const int sd[], MPI_Datatype st, void *r, const int rn[],
                  const int rd[], MPI_Datatype rt, MPI_Comm comm) {
    struct hpcw_i_trace_span span = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Alltoallv, comm);
    int code = REAL(MPI_Alltoallv)(s, sn, sd, st, r, rn, rd, rt, comm);
    if (span.timeline == NULL || code != MPI_SUCCESS) {
        return hpcw_i_trace_span_end(&span, code);
    }
    int n = partners(comm);
    uint64_t received = bytes_of(sum(rn, n), rt);
    return end_all_to_all(&span, code, s == MPI_IN_PLACE ? received : bytes_of(sum(sn, n), st), received);
}
