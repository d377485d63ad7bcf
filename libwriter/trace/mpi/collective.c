/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective calls. The cargo (data) of their states has the bytes that this process sends from its buffers and
 * receives into them. For MPI_Alltoall and MPI_Alltoallv it is the cargo of MPE. */
#include "libwriter/trace/messages.h"
#include "libwriter/trace/requests.h"
#include "libwriter/trace/span.h"

struct moved {
    uint64_t sent, received;
};

/* ------------------------------------------------------------------------------------------------------------
 *  Bytes that a process sends and receives. MPI accepts the arguments before they are read.
 * --------------------------------------------------------------------------------------------------------- */

static int asked(int (*ask)(MPI_Comm, int *), MPI_Comm comm) {
    int value = 0;
    (void)ask(comm, &value);
    return value;
}

static uint64_t size_of(MPI_Comm comm) {
    return (uint64_t)asked(REAL(MPI_Comm_size), comm);
}

static int rank_in(MPI_Comm comm) {
    return asked(REAL(MPI_Comm_rank), comm);
}

static bool is_inter(MPI_Comm comm) {
    return asked(REAL(MPI_Comm_test_inter), comm) != 0;
}

/* Returns the number of processes with which this one exchanges data. */
static uint64_t partners(MPI_Comm comm) {
    return is_inter(comm) ? (uint64_t)asked(REAL(MPI_Comm_remote_size), comm) : size_of(comm);
}

static uint64_t neighbours(MPI_Comm comm, bool out) {
    int kind = asked(REAL(MPI_Topo_test), comm), from = 0, to = 0, weighted;
    if (kind == MPI_CART) {
        from = to = 2 * asked(REAL(MPI_Cartdim_get), comm);
    } else if (kind == MPI_GRAPH) {
        (void)REAL(MPI_Graph_neighbors_count)(comm, rank_in(comm), &from);
        to = from;
    } else {
        (void)REAL(MPI_Dist_graph_neighbors_count)(comm, &from, &to, &weighted);
    }
    return (uint64_t)(out ? to : from);
}

/* Returns the number of neighbours from which this process receives. */
static uint64_t sources(MPI_Comm comm) {
    return neighbours(comm, false);
}
/* Returns the number of neighbours to which this process sends. */
static uint64_t targets(MPI_Comm comm) {
    return neighbours(comm, true);
}

/* Two functions: one sums n counts; the other sums the bytes of n counts of n datatypes. */
#define SUMS(sum, type)                                                                                        \
    static uint64_t sum(const type count[], uint64_t n) {                                                      \
        uint64_t all = 0;                                                                                      \
        for (uint64_t i = 0; i < n; i++) {                                                                     \
            all += (uint64_t)count[i];                                                                         \
        }                                                                                                      \
        return all;                                                                                            \
    }                                                                                                          \
    static uint64_t sum##_of(const type count[], const MPI_Datatype of[], uint64_t n) {                        \
        uint64_t all = 0;                                                                                      \
        for (uint64_t i = 0; i < n; i++) {                                                                     \
            all += hpcw_i_trace_message_bytes((uint64_t)count[i], of[i]);                                      \
        }                                                                                                      \
        return all;                                                                                            \
    }
SUMS(sum_int, int)
#if HPCW_I_HAVE_LARGE
SUMS(sum_large, MPI_Count)
#else
#define sum_large sum_int
#define sum_large_of sum_int_of
#endif
#define SUM(count, n) _Generic((count)[0], int : sum_int, default : sum_large)(count, n)
#define SUM_OF(count, of, n) _Generic((count)[0], int : sum_int_of, default : sum_large_of)(count, of, n)
#define bytes(count, type) hpcw_i_trace_message_bytes((uint64_t)(count), type)

static struct moved moved(uint64_t sent, uint64_t received) {
    return (struct moved){sent, received};
}
static struct moved both(uint64_t bytes_) {
    return moved(bytes_, bytes_);
}

/* The part of this process in a call with a root. On an inter-communicator, ROOT_ACROSS is the root, and
 * NOTHING the other processes of its group. */
enum root_part { NOTHING, ROOT, ROOT_ACROSS, OTHER };
static enum root_part part_of(int root, MPI_Comm comm) {
    return root == MPI_PROC_NULL                      ? NOTHING
           : root == MPI_ROOT                         ? ROOT_ACROSS
           : !is_inter(comm) && root == rank_in(comm) ? ROOT
                                                      : OTHER;
}

/* The bytes that a call moves. These are macros, as arguments that a process does not use may have any value. A
 * call in place has one buffer. */
#define MOVED_IN(s, sent, received) ((s) == MPI_IN_PLACE ? both(received) : moved(sent, received))
#define MOVED_FROM(root, comm, all)                                                                            \
    (part_of(root, comm) == OTHER ? moved(0, all) : part_of(root, comm) == NOTHING ? both(0) : moved(all, 0))
#define MOVED_TO(root, comm, s, sent, received)                                                                \
    (part_of(root, comm) == OTHER         ? moved(sent, 0)                                                     \
     : part_of(root, comm) == NOTHING     ? both(0)                                                            \
     : part_of(root, comm) == ROOT_ACROSS ? moved(0, received)                                                 \
                                          : MOVED_IN(s, sent, received))
#define MOVED_OUT(root, comm, r, sent, received)                                                               \
    (part_of(root, comm) == OTHER         ? moved(0, received)                                                 \
     : part_of(root, comm) == NOTHING     ? both(0)                                                            \
     : part_of(root, comm) == ROOT_ACROSS ? moved(sent, 0)                                                     \
     : (r) == MPI_IN_PLACE                ? both(sent)                                                         \
                                          : moved(sent, received))

/* ------------------------------------------------------------------------------------------------------------
 *  Calls
 * --------------------------------------------------------------------------------------------------------- */

static int32_t clip(uint64_t bytes) {
    return bytes > INT32_MAX ? INT32_MAX : (int32_t)bytes;
}

static int end_moved(const struct hpcw_i_trace_span *s, int32_t state, int code, struct moved amount) {
    hpcw_clog2_cargo cargo = {0};
    if (hpcw_i_trace_state_is_of_mpe(state)) {
        hpcw_clog2_cargo_i32(&cargo, clip(amount.sent));
        hpcw_clog2_cargo_i32(&cargo, clip(amount.received));
    } else {
        hpcw_clog2_cargo_i64(&cargo, (int64_t)amount.sent);
        hpcw_clog2_cargo_i64(&cargo, (int64_t)amount.received);
    }
    return hpcw_i_trace_span_end_with(s, code, &cargo);
}

#define COLLECTS(state, colour, started, amount, function, prototype, arguments)                               \
    int function prototype {                                                                                   \
        struct hpcw_i_trace_span span_ = hpcw_i_trace_span_begin(state, comm);                                 \
        int code_ = REAL(function) arguments;                                                                  \
        hpcw_i_trace_request_belongs(&span_, code_, started);                                                  \
        if (span_.timeline == NULL || code_ != MPI_SUCCESS) {                                                  \
            return hpcw_i_trace_span_end(&span_, code_);                                                       \
        }                                                                                                      \
        return end_moved(&span_, state, code_, amount);                                                        \
    }
#define COLLECTS_AS(...) COLLECTS(__VA_ARGS__)
#include "libwriter/trace/calls.h"

int MPI_Ibarrier(MPI_Comm comm, MPI_Request *q) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Ibarrier, comm);
    int code = REAL(MPI_Ibarrier)(comm, q);
    hpcw_i_trace_request_belongs(&s, code, q);
    return hpcw_i_trace_span_end(&s, code);
}

#if HPCW_I_HAVE_PERSISTENT
int MPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request *q) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Barrier_init, comm);
    int code = REAL(MPI_Barrier_init)(comm, info, q);
    hpcw_i_trace_request_belongs(&s, code, q);
    return hpcw_i_trace_span_end(&s, code);
}
#endif
