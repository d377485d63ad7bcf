/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators in the log. Each gets an identity, which is the same on all its processes. Its process 0 draws the
 * identity and broadcasts it inside the call that makes the communicator, which is collective anyway.
 *
 * All processes of a new communicator must agree whether to broadcast. So there is no broadcast if a process is not
 * in MPI_COMM_WORLD: it is not in this log, and may have no wrapper. There is none at all if a process of
 * MPI_COMM_WORLD has no wrapper. A process that runs out of memory takes part, but then forgets the communicator.
 */
#include "libwriter/trace/comms.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* table of communicators, with MPI_COMM_WORLD, as it is the parent of others */
struct hpcw_i_trace_handles hpcw_i_trace_comms;

enum comm_kind { INTRA, INTER, FOREIGN };

struct hpcw_i_trace_handles hpcw_i_trace_owned;

enum { COMM_BITS = 10, OWNED_BITS = 6 };

/* Adds a communicator to the table. `number` is its number in the log, or HPCW_I_TRACE_UNKNOWN. Returns false
 * if memory runs out. */
static bool add(uintptr_t key, enum comm_kind kind, uint32_t number, struct hpcw_i_trace_comm numbers) {
    struct hpcw_i_trace_handle *h = hpcw_i_trace_handles_add(&hpcw_i_trace_comms, key);
    if (h == NULL) {
        hpcw_i_trace_forgot();
        return false;
    }
    h->kind = (int32_t)kind;
    h->comm = numbers;
    h->as.comm.duplicates = 0;
    h->as.comm.number = number;
    return true;
}

/* Returns the numbers for the events of an intra-communicator. If it has no number in the log, its states are
 * shown on MPI_COMM_WORLD, and its messages are not recorded. */
static struct hpcw_i_trace_comm intra(uint32_t number) {
    return (struct hpcw_i_trace_comm){number == HPCW_I_TRACE_UNKNOWN ? HPCW_I_TRACE_WORLD : number, number};
}

bool hpcw_i_trace_comms_begin(void) {
    return hpcw_i_trace_handles_new(&hpcw_i_trace_comms, COMM_BITS) &&
           hpcw_i_trace_handles_new(&hpcw_i_trace_owned, OWNED_BITS) &&
           add(HPCW_I_TRACE_KEY(MPI_COMM_WORLD), INTRA, HPCW_I_TRACE_WORLD, intra(HPCW_I_TRACE_WORLD)) &&
           add(HPCW_I_TRACE_KEY(MPI_COMM_SELF), INTRA, HPCW_I_TRACE_SELF, intra(HPCW_I_TRACE_SELF));
}

/* ------------------------------------------------------------------------------------------------------------
 *  New communicators
 * --------------------------------------------------------------------------------------------------------- */

/* Adds a communicator to the log. Returns its number in the log, or HPCW_I_TRACE_UNKNOWN. */
static uint32_t add_to_log(struct hpcw_i_trace_thread *t, uint32_t parent, hpcw_clog2_comm_kind kind,
                           const hpcw_clog2_comm_id *id, int rank) {
    hpcw_clog2_timeline *timeline = hpcw_i_trace_timeline(t);
    uint32_t number;
    if (timeline == NULL ||
        hpcw_clog2_log_comm(timeline, parent, kind, id, (uint32_t)rank, &number, NULL) != HPCW_OK) {
        hpcw_i_trace_forgot();
        return HPCW_I_TRACE_UNKNOWN;
    }
    return number;
}

/* Waits until all processes of a new communicator have added it to the log. Readers expect that both ends of a
 * message have added the communicator before the message is sent. */
static void wait_for_all(MPI_Comm made) {
    (void)REAL(MPI_Barrier)(made);
}

static void add_intra(struct hpcw_i_trace_thread *t, uint32_t parent, MPI_Comm made) {
    hpcw_clog2_comm_id id;
    int rank = 0;
    memset(&id, 0, sizeof id);
    (void)REAL(MPI_Comm_rank)(made, &rank);
    if (rank == 0) {
        hpcw_clog2_log_comm_id(hpcw_i_trace_session.log, &id);
    }
    (void)REAL(MPI_Bcast)(&id, (int)sizeof id, MPI_BYTE, 0, made);
    uint32_t number = add_to_log(t, parent, HPCW_CLOG2_INTRA, &id, rank);
    (void)add(HPCW_I_TRACE_KEY(made), INTRA, number, intra(number));
    wait_for_all(made);
}

/* Returns the rank in MPI_COMM_WORLD of the first process of a group. */
static int leader_of(MPI_Group group, MPI_Group world) {
    int first = 0, rank = 0;
    (void)REAL(MPI_Group_translate_ranks)(group, 1, &first, world, &rank);
    return rank;
}

/* The identities that one side of an inter-communicator draws: of the inter-communicator, and of this side's
 * half. The other side draws its own two, as in MPE's logs. */
struct side {
    hpcw_clog2_comm_id whole, half;
};

/*
 * Gives all processes of an inter-communicator the identities of both sides. A broadcast goes from the leader
 * of one side to all processes of the other side. Two broadcasts bring the identities of each side to the
 * other one; two more bring them back to all processes of the own side. The side whose leader is lower in
 * MPI_COMM_WORLD sends first.
 */
static void swap_ids(MPI_Comm made, bool first, bool leads, struct side *mine, struct side *theirs) {
    for (int turn = 0; turn < 4; turn++) {
        bool sends = (turn % 2 == 0) == first;
        struct side *ids = (turn < 2) == sends ? mine : theirs;
        (void)REAL(MPI_Bcast)(ids, (int)sizeof *ids, MPI_BYTE,
                              !sends  ? 0
                              : leads ? MPI_ROOT
                                      : MPI_PROC_NULL,
                              made);
    }
}

/*
 * Finds the identity of the local half of an inter-communicator. `given` is the communicator that the program
 * passed, `parent` its number. If the half has the same processes in the same order, it gets the identity of
 * `given`: both are one timeline. In the log, MPI_COMM_WORLD and MPI_COMM_SELF cannot be halves, so if `given` is
 * one of them, the half gets a new identity.
 */
static void half_id(struct hpcw_i_trace_thread *t, uint32_t parent, MPI_Comm given, MPI_Group local,
                    hpcw_clog2_comm_id *id) {
    int same = MPI_UNEQUAL;
    MPI_Group group;
    (void)REAL(MPI_Comm_group)(given, &group);
    (void)REAL(MPI_Group_compare)(group, local, &same);
    (void)REAL(MPI_Group_free)(&group);
    hpcw_clog2_timeline *timeline = hpcw_i_trace_timeline(t);
    if (same != MPI_IDENT || parent <= HPCW_I_TRACE_SELF || timeline == NULL ||
        hpcw_clog2_log_comm_identity(timeline, parent, id, NULL) != HPCW_OK) {
        hpcw_clog2_log_comm_id(hpcw_i_trace_session.log, id);
    }
}

/* Adds an inter-communicator to the log, and then its halves; readers expect this order. *number becomes the
 * number of the inter-communicator. */
static struct hpcw_i_trace_comm add_inter_to_log(struct hpcw_i_trace_thread *t, uint32_t parent,
                                                 const struct side *mine, const hpcw_clog2_comm_id *remote,
                                                 int rank, uint32_t *number) {
    *number = add_to_log(t, parent, HPCW_CLOG2_INTER, &mine->whole, rank);
    uint32_t local_half = add_to_log(t, parent, HPCW_CLOG2_LOCAL_HALF, &mine->half, rank);
    uint32_t remote_half = add_to_log(t, parent, HPCW_CLOG2_REMOTE_HALF, remote, 0);
    return *number == HPCW_I_TRACE_UNKNOWN || local_half == HPCW_I_TRACE_UNKNOWN
               ? intra(HPCW_I_TRACE_UNKNOWN)
               : (struct hpcw_i_trace_comm){local_half, remote_half};
}

static void add_inter(struct hpcw_i_trace_thread *t, uint32_t parent, MPI_Comm given, MPI_Comm made) {
    struct side mine, theirs;
    MPI_Group world, local, remote;
    int rank = 0;
    memset(&mine, 0, sizeof mine);
    memset(&theirs, 0, sizeof theirs);
    (void)REAL(MPI_Comm_rank)(made, &rank);
    (void)REAL(MPI_Comm_group)(MPI_COMM_WORLD, &world);
    (void)REAL(MPI_Comm_group)(made, &local);
    (void)REAL(MPI_Comm_remote_group)(made, &remote);
    bool first = leader_of(local, world) < leader_of(remote, world);
    if (rank == 0) {
        hpcw_clog2_log_comm_id(hpcw_i_trace_session.log, &mine.whole);
        half_id(t, parent, given, local, &mine.half);
    }
    (void)REAL(MPI_Group_free)(&world);
    (void)REAL(MPI_Group_free)(&local);
    (void)REAL(MPI_Group_free)(&remote);
    swap_ids(made, first, rank == 0, &mine, &theirs);
    uint32_t number;
    struct hpcw_i_trace_comm numbers = add_inter_to_log(t, parent, &mine, &theirs.half, rank, &number);
    (void)add(HPCW_I_TRACE_KEY(made), INTER, number, numbers);
    wait_for_all(made);
}

/* Returns whether all processes of a group are in MPI_COMM_WORLD. */
static bool in_world(MPI_Group group) {
    enum { PART = 256 };
    int from[PART], to[PART], size = 0;
    bool all = true;
    MPI_Group world;
    (void)REAL(MPI_Group_size)(group, &size);
    (void)REAL(MPI_Comm_group)(MPI_COMM_WORLD, &world);
    for (int done = 0; all && done < size; done += PART) {
        int n = size - done < PART ? size - done : PART;
        for (int i = 0; i < n; i++) {
            from[i] = done + i;
        }
        (void)REAL(MPI_Group_translate_ranks)(group, n, from, world, to);
        for (int i = 0; i < n; i++) {
            all = all && to[i] != MPI_UNDEFINED;
        }
    }
    (void)REAL(MPI_Group_free)(&world);
    return all;
}

static bool comm_in_world(MPI_Comm comm, int (*group_of)(MPI_Comm, MPI_Group *)) {
    MPI_Group group;
    (void)group_of(comm, &group);
    bool all = in_world(group);
    (void)REAL(MPI_Group_free)(&group);
    return all;
}

void hpcw_i_trace_comm_made(struct hpcw_i_trace_thread *t, MPI_Comm parent, MPI_Comm made) {
    if (made == MPI_COMM_NULL || hpcw_i_trace_comm_find(made) != NULL) {
        return;
    }
    if (hpcw_i_trace_session.apart) {
        (void)add(HPCW_I_TRACE_KEY(made), FOREIGN, HPCW_I_TRACE_UNKNOWN, intra(HPCW_I_TRACE_UNKNOWN));
        return;
    }
    int inter = 0;
    (void)REAL(MPI_Comm_test_inter)(made, &inter);
    const struct hpcw_i_trace_handle *p = hpcw_i_trace_comm_find(parent);
    /* The local group consists of processes of the parent. If these are all in MPI_COMM_WORLD, the group need
     * not be checked. */
    bool parent_in_world = p == NULL || p->kind != FOREIGN;
    if ((!parent_in_world && !comm_in_world(made, REAL(MPI_Comm_group))) ||
        (inter && !comm_in_world(made, REAL(MPI_Comm_remote_group)))) {
        (void)add(HPCW_I_TRACE_KEY(made), FOREIGN, HPCW_I_TRACE_UNKNOWN, intra(HPCW_I_TRACE_UNKNOWN));
    } else if (inter) {
        add_inter(t, hpcw_i_trace_comm_of(parent).own, parent, made);
    } else {
        add_intra(t, hpcw_i_trace_comm_of(parent).own, made);
    }
}

void hpcw_i_trace_comm_freed(struct hpcw_i_trace_thread *t, struct hpcw_i_trace_handle *comm) {
    hpcw_clog2_timeline *timeline = hpcw_i_trace_timeline(t);
    if (timeline != NULL && comm->as.comm.number != HPCW_I_TRACE_UNKNOWN) {
        hpcw_clog2_log_comm_freed(timeline, comm->as.comm.number);
    }
    hpcw_i_trace_handle_drop(comm);
}

/* ------------------------------------------------------------------------------------------------------------
 *  Duplicates of MPI_Comm_idup
 * --------------------------------------------------------------------------------------------------------- */

static uint64_t hash(const hpcw_clog2_comm_id *id) {
    uint64_t bits = 0;
    memcpy(&bits, &id->created, sizeof id->created);
    uint64_t hash = (bits ^ (uint32_t)id->random) * UINT64_C(0x9e3779b97f4a7c15);
    for (size_t i = 0; i < sizeof id->host; i++) {
        hash = (hash ^ (unsigned char)id->host[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

/* Computes the identity of the n-th duplicate of a communicator. Returns false if the communicator is not in
 * the log. */
static bool duplicate_id(hpcw_clog2_timeline *timeline, uint32_t parent, uint32_t n, hpcw_clog2_comm_id *id) {
    if (timeline == NULL || hpcw_clog2_log_comm_identity(timeline, parent, id, NULL) != HPCW_OK) {
        return false;
    }
    uint64_t identity = (hash(id) ^ n) * UINT64_C(0x9e3779b97f4a7c15) | 1; /* never 0 */
    memset(id, 0, sizeof *id);
    id->random = (int32_t)(uint32_t)identity;
    (void)snprintf(id->host, sizeof id->host, "%016" PRIx64, identity);
    return true;
}

struct hpcw_i_trace_duplicate hpcw_i_trace_comm_duplicate(struct hpcw_i_trace_thread *t, MPI_Comm parent) {
    struct hpcw_i_trace_duplicate d = {intra(HPCW_I_TRACE_UNKNOWN), HPCW_I_TRACE_UNKNOWN, FOREIGN};
    struct hpcw_i_trace_handle *p = hpcw_i_trace_comm_find(parent);
    if (p == NULL || p->kind == FOREIGN || hpcw_i_trace_session.apart) {
        return d;
    }
    d.kind = p->kind;
    /* No lock is needed: programs make collective calls on one communicator one after the other. */
    p->as.comm.duplicates++;
    hpcw_clog2_timeline *timeline = hpcw_i_trace_timeline(t);
    struct side mine;
    hpcw_clog2_comm_id remote;
    int rank = 0;
    (void)REAL(MPI_Comm_rank)(parent, &rank);
    if (!duplicate_id(timeline, p->as.comm.number, p->as.comm.duplicates, &mine.whole)) {
        return d;
    }
    if (p->kind == INTRA) {
        d.number = add_to_log(t, p->comm.own, HPCW_CLOG2_INTRA, &mine.whole, rank);
        d.comm = intra(d.number);
    } else if (hpcw_clog2_log_comm_identity(timeline, p->comm.own, &mine.half, NULL) == HPCW_OK &&
               hpcw_clog2_log_comm_identity(timeline, p->comm.peers, &remote, NULL) == HPCW_OK) {
        /* the duplicate's halves have the identities of the parent's halves */
        d.comm = add_inter_to_log(t, p->comm.own, &mine, &remote, rank, &d.number);
    }
    return d;
}

void hpcw_i_trace_comm_duplicated(struct hpcw_i_trace_duplicate duplicate, uintptr_t key) {
    (void)add(key, (enum comm_kind)duplicate.kind, duplicate.number, duplicate.comm);
}
