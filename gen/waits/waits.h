/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wait states and the critical path of a program, from its CLOG-2 log alone.
 *
 * The definitions are Scalasca's (apps.fz-juelich.de/scalasca/releases/scalasca/2.4/help/scalasca_patterns-2.4.html), as far
 * as a log can tell:
 *
 *     late sender    A call receives a message whose send began after this call: it waits from its begin to that of the
 *                    send. A call that completes several receives waits for the latest of their sends. "Late Sender"
 *     late receiver  A receive begins after the send of its message and before this send ends: the send waits from its begin
 *                    to that of the receive. Only where both calls block: MPI_Send, MPI_Ssend and MPI_Rsend; MPI_Recv,
 *                    MPI_Mrecv, MPI_Sendrecv and MPI_Sendrecv_replace. A log does not say when MPI_Irecv posted the receive
 *                    of a message. "Late Receiver"
 *     collective     A rank is in a collective call when the last rank of the communicator enters it: it waits from its begin
 *                    to that of the last rank. A rank that leaves before has not waited for all, as happens in MPI_Bcast. Its
 *                    wait for the root is not counted, as a log does not say who the root is. "Wait at Barrier", "Wait at N x N"
 *
 * Calls are known by the names of their states, "MPI_...": a log that has no such states has no waits. A collective call of a
 * rank meets the calls with the same number in the order of its communicator. Messages are matched as gen/export/log.h does it.
 *
 * The critical path is followed backwards, from the end of the rank that ends last. At the end of a wait it goes over to the
 * rank that was waited for. So its pieces add up to the time of the log.
 */
#ifndef HPCW_GEN_WAITS_WAITS_H
#define HPCW_GEN_WAITS_WAITS_H

#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

enum gen_waits_kind { GEN_WAITS_LATE_SENDER, GEN_WAITS_LATE_RECEIVER, GEN_WAITS_COLLECTIVE, GEN_WAITS_KINDS };

/* Size of the longest name of a state with its NUL. */
enum { GEN_WAITS_NAME = 33 };

struct gen_waits_sum {
    uint64_t count;   /* waits that are longer than 0 */
    uint64_t time_ns; /* together */
};

struct gen_waits_rank {
    struct gen_waits_sum kind[GEN_WAITS_KINDS]; /* waits of this rank */
    uint64_t caused_ns;                         /* waits of all ranks for this one */
    uint64_t path_ns;                           /* of the critical path on this rank */
};

/* Waits in one call for another call. */
struct gen_waits_pair {
    enum gen_waits_kind kind;
    uint32_t call, cause; /* indices of names */
    struct gen_waits_sum sum;
};

/* The critical path in one state of one rank. */
struct gen_waits_share {
    uint32_t rank, state; /* rank of the world; index of a name */
    uint64_t time_ns;
};

struct gen_waits {
    uint32_t ranks;
    uint64_t begin_ns, end_ns;    /* of the first and of the last state */
    char (*name)[GEN_WAITS_NAME]; /* [names] of states; name 0 is "": in no state */
    uint32_t names;
    struct gen_waits_rank *rank; /* [ranks] */
    struct gen_waits_pair *pair; /* [pairs] the longest time first */
    size_t pairs;
    struct gen_waits_share
        *share; /* [shares] the longest time first; their times add up to end_ns - begin_ns */
    size_t shares;
    uint64_t messages;    /* matched */
    uint64_t unmatched;   /* sends and receives without the other end: an incomplete log */
    uint64_t backward;    /* messages that arrive before they are sent: clocks differ. They make no wait */
    uint64_t collectives; /* calls that all ranks of the communicator have entered */
    uint64_t incomplete;  /* calls that some rank has not entered: an incomplete log. They make no wait */
};

/*
 * Reads a log three times: definitions, waits, and the states on the critical path. Memory: about 100 bytes for each rank,
 * rank of a communicator, open state, message on its way and collective call that not all ranks have left; 16 bytes for each
 * wait, of which there is at most one for each call, and 24 for each piece of the critical path.
 *
 * Only states of the main thread are on the critical path.
 *
 * waits  out: to be freed with gen_waits_free; zeroed on failure
 *
 * HPCW_OK; HPCW_EFORMAT (the log has no states, or more ranks than bytes); HPCW_ENOMEM; as read_clog2_open and
 * read_clog2_next fail. A log that is incomplete is no failure: see `unmatched` and `incomplete`.
 */
hpcw_status gen_waits_read(const char *path, struct gen_waits *waits, hpcw_error *err);

/* Frees and zeroes. A zeroed struct is allowed. */
void gen_waits_free(struct gen_waits *waits);

#endif
