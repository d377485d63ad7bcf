/* SPDX-License-Identifier: BSD-3-Clause */
/* Wait states and the critical path of a program, from its CLOG-2 log alone.
 *
 * The definitions are Scalasca's
 * (apps.fz-juelich.de/scalasca/releases/scalasca/2.4/help/scalasca_patterns-2.4.html), as far as a log shows them.
 * Scalasca's names stand in quotes:
 *
 *    late sender    A call receives a message whose send began after this call. The call waits from its begin
 *                   to the begin of the send. A call that completes several receives waits for the send that
 *                   began last. "Late Sender"
 *    late receiver  A receive is posted after the send of its message begins and before this send ends. The send
 *                   waits from its begin to the begin of MPI_Recv, MPI_Mrecv, MPI_Sendrecv,
 *                   MPI_Sendrecv_replace or MPI_Irecv. Sends that wait are MPI_Send, MPI_Ssend, MPI_Rsend,
 *                   MPI_Sendrecv and MPI_Sendrecv_replace. A call of MPI_Wait or MPI_Waitall that completes
 *                   sends waits, too: for the receive that is posted last. If a call waits for a late sender,
 *                   too, this wait comes first.
 *                   A log does not say which requests a call completes. MPI_Waitall is assumed to complete all
 *                   sends that MPI_Isend and similar calls have started. MPI_Wait is assumed to complete the
 *                   oldest of them, unless it receives a message. If a program completes sends by other calls,
 *                   as MPI_Waitany or MPI_Test, a later MPI_Waitall may be given a wait that it did not have.
 *                   The oldest MPI_Irecv is assumed to be complete first, so a wait is rather too short than
 *                   too long. It may be too long in a program that also receives with persistent requests.
 *                   "Late Receiver"
 *    collective     A rank is in a collective call when the last rank of the communicator enters the call.
 *                   The rank waits from the time at which it enters the call to the time at which the last rank
 *                   enters it. Calls that make a communicator are collective, too. A rank that leaves before
 *                   the last rank enters, as in MPI_Bcast, has not waited for all. Its wait for the root is not
 *                   counted, since a log does not name the root. "Wait at Barrier", "Wait at N x N"
 *
 * Calls are recognised by the names of their states, "MPI_...". A log without such states has no waits. The n-th
 * collective call of a rank on a communicator belongs to the n-th call of all other ranks on this communicator.
 * Messages are matched as in gen/export/log.h.
 *
 * The critical path is followed backwards from the end of the rank that ends last. At the end of a wait it
 * continues on the rank that was waited for. So the lengths of its pieces add up to the time of the log. */
#ifndef HPCW_GEN_WAITS_WAITS_H
#define HPCW_GEN_WAITS_WAITS_H

#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

enum gen_waits_kind { GEN_WAITS_LATE_SENDER, GEN_WAITS_LATE_RECEIVER, GEN_WAITS_COLLECTIVE, GEN_WAITS_KINDS };

/* Size of the longest name of a state with its NUL. */
enum { GEN_WAITS_NAME = 33 };

struct gen_waits_sum {
    uint64_t count;   /* number of waits that last longer than 0 */
    uint64_t time_ns; /* sum of the lengths of the waits */
};

struct gen_waits_rank {
    struct gen_waits_sum kind[GEN_WAITS_KINDS];
    uint64_t caused_ns; /* time that other ranks waited for this rank */
    uint64_t path_ns;   /* length of the critical path on this rank */
};

/* Sum of the waits in the call `call` for the call `cause`. */
struct gen_waits_pair {
    enum gen_waits_kind kind;
    uint32_t call, cause; /* indices in gen_waits.name */
    struct gen_waits_sum sum;
};

/* Sum of the waits of the rank `rank` for the rank `cause`. */
struct gen_waits_ranks {
    uint32_t rank, cause;
    struct gen_waits_sum sum;
};

/* Length of the critical path in one state of one rank. */
struct gen_waits_share {
    uint32_t rank, state; /* rank: in MPI_COMM_WORLD; state: index in gen_waits.name */
    uint64_t time_ns;
};

/* One wait of a rank in a call for another rank. */
struct gen_waits_wait {
    enum gen_waits_kind kind;
    uint32_t rank, call; /* rank that waits; call: index of the name of its call */
    uint64_t from_ns, to_ns;
    uint32_t cause_rank, cause_call; /* rank that is waited for; index of the name of its call */
};

struct gen_waits {
    uint32_t ranks;
    uint64_t begin_ns, end_ns;    /* begin of the first state, end of the last state */
    char (*name)[GEN_WAITS_NAME]; /* [names] names of states; name 0 is "": outside of states */
    uint32_t names;
    struct gen_waits_rank *rank; /* [ranks] */
    struct gen_waits_pair *pair; /* [pairs] in descending order of sum.time_ns */
    size_t pairs;
    struct gen_waits_ranks *between; /* [betweens] in descending order of sum.time_ns */
    size_t betweens;
    /* [shares] the longest time first; the times add up to end_ns - begin_ns */
    struct gen_waits_share *share;
    size_t shares;
    uint64_t messages; /* messages whose send and receive are in the log */
    /* sends without a receive, and receives without a send: the log is incomplete */
    uint64_t unmatched;
    /* messages that are received before they are sent, since clocks differ; such messages make no wait */
    uint64_t backward;
    uint64_t collectives; /* collective calls that all ranks of the communicator have entered */
    /* collective calls that some rank has not entered, as the log is incomplete; such calls make no wait */
    uint64_t incomplete;
};

/* Reads a log three times: for definitions, for waits, and for the states on the critical path. Memory: about
 * 100 bytes for each rank, each rank of a communicator, each open state, each pending message or request, and
 * each collective call that some rank has not left. In addition 24 bytes for each wait, for each pair of ranks
 * of which one waits for the other, and for each piece of the critical path. A call has at most two waits.
 *
 * Only states of the main thread are on the critical path.
 *
 * *waits is to be freed with gen_waits_free, and is zeroed after a failure.
 *
 * HPCW_EFORMAT: the log has no states, or more ranks than bytes. HPCW_ENOMEM, and errors of read_clog2_open and
 * read_clog2_next. An incomplete log is no failure: see `unmatched` and `incomplete`. */
hpcw_status gen_waits_read(const char *path, struct gen_waits *waits, hpcw_error *err);

/* gen_waits_watch: as gen_waits_read, but calls `take` for each wait when it is found. At that time `waits`
 * already has the names of the calls. */
typedef void gen_waits_take(void *context, const struct gen_waits_wait *wait);
hpcw_status gen_waits_watch(const char *path, gen_waits_take *take, void *context, struct gen_waits *waits,
                            hpcw_error *err);

/* Frees and zeroes *waits. A zeroed struct is allowed. */
void gen_waits_free(struct gen_waits *waits);

#endif
