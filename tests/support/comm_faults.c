/* SPDX-License-Identifier: BSD-3-Clause */
/* Defines MPI's functions, and calls the real ones by their PMPI names. */
#include "tests/support/comm_faults.h"

#include <mpi.h>

static unsigned long left;
static unsigned long messages_left;
static int most_words;
static bool met;

void comm_fault_arm(unsigned long n) {
    left = n;
    met = false;
}

void comm_fault_arm_message(unsigned long n, int words) {
    messages_left = n;
    most_words = words;
    met = false;
}

bool comm_fault_disarm(void) {
    bool was = met;
    left = messages_left = 0;
    met = false;
    return was;
}

/* Returns whether this call is the one to fail. */
static bool counts_down(unsigned long *calls) {
    if (*calls == 0 || --*calls > 0) {
        return false;
    }
    met = true;
    return true;
}

static bool is_due(void) {
    return counts_down(&left);
}

int MPI_Send(const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    int code = PMPI_Send(data, n, type, to, tag, comm);
    return n <= most_words && counts_down(&messages_left) ? MPI_ERR_OTHER : code;
}

int MPI_Recv(void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status) {
    int code = PMPI_Recv(data, n, type, from, tag, comm, status);
    return n <= most_words && counts_down(&messages_left) ? MPI_ERR_OTHER : code;
}

int MPI_Allreduce(const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    return is_due() ? MPI_ERR_OTHER : PMPI_Allreduce(in, out, n, type, op, comm);
}

int MPI_Exscan(const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    return is_due() ? MPI_ERR_OTHER : PMPI_Exscan(in, out, n, type, op, comm);
}

int MPI_Bcast(void *data, int n, MPI_Datatype type, int root, MPI_Comm comm) {
    return is_due() ? MPI_ERR_OTHER : PMPI_Bcast(data, n, type, root, comm);
}

int MPI_Allgather(const void *in, int in_n, MPI_Datatype in_type, void *out, int out_n, MPI_Datatype out_type,
                  MPI_Comm comm) {
    return is_due() ? MPI_ERR_OTHER : PMPI_Allgather(in, in_n, in_type, out, out_n, out_type, comm);
}

int MPI_Alltoall(const void *in, int in_n, MPI_Datatype in_type, void *out, int out_n, MPI_Datatype out_type,
                 MPI_Comm comm) {
    return is_due() ? MPI_ERR_OTHER : PMPI_Alltoall(in, in_n, in_type, out, out_n, out_type, comm);
}

int MPI_Alltoallv(const void *in, const int in_n[], const int in_at[], MPI_Datatype in_type, void *out,
                  const int out_n[], const int out_at[], MPI_Datatype out_type, MPI_Comm comm) {
    return is_due() ? MPI_ERR_OTHER
                    : PMPI_Alltoallv(in, in_n, in_at, in_type, out, out_n, out_at, out_type, comm);
}

int MPI_Comm_split(MPI_Comm comm, int colour, int key, MPI_Comm *out) {
    return is_due() ? MPI_ERR_OTHER : PMPI_Comm_split(comm, colour, key, out);
}
