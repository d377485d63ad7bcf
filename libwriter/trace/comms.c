/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators. Each that this program makes gets an identity, the same on all its processes: its process 0 draws it
 * and broadcasts it, inside the call that made the communicator, which is collective anyway.
 *
 * That needs every process to take part, so who does is decided by what all of them know alike: a communicator is
 * followed unless a process of another MPI_COMM_WORLD is in it, which may not be traced, and is not in this log. A process
 * that has no memory left takes part, and goes without the number.
 */
#include "libwriter/trace/comms.h"

#include <stdio.h>
#include <string.h>

#include "libwriter/trace/requests.h"

enum kind { INTRA, INTER, FOREIGN };

static hpcw_clog2_log *recording;

static struct hpcw_i_handle *find(MPI_Comm comm) {
    return hpcw_i_handles_find(&hpcw_i_trace.comms, HPCW_I_KEY(comm));
}

static void forgotten(void) {
    atomic_fetch_add(&hpcw_i_trace.forgotten, 1);
}

static struct hpcw_i_handle *add(MPI_Comm comm, enum kind kind, uint32_t number, uint32_t remote) {
    struct hpcw_i_handle *h = hpcw_i_handles_add(&hpcw_i_trace.comms, HPCW_I_KEY(comm));
    if (h == NULL) {
        forgotten();
        return NULL;
    }
    h->kind = (int32_t)kind;
    h->comm = number;
    h->remote = remote;
    return h;
}

/* Without a number, what happens on it is shown where the world is, but for its messages. */
static struct hpcw_i_handle *add_intra(MPI_Comm comm, uint32_t number) {
    return add(comm, INTRA, number == HPCW_I_NOT_FOLLOWED ? 0 : number, number);
}

bool hpcw_i_comms_begin(hpcw_clog2_log *log) {
    recording = log;
    return add(MPI_COMM_WORLD, INTRA, 0, 0) != NULL && add(MPI_COMM_SELF, INTRA, 1, 1) != NULL;
}

/* ------------------------------------------------------------------------------------------------------------
 *  New ones
 * --------------------------------------------------------------------------------------------------------- */

/* The number of a communicator in the log, or HPCW_I_NOT_FOLLOWED. */
static uint32_t introduce(struct hpcw_i_trace_thread *t, uint32_t parent, hpcw_clog2_comm_kind kind,
                          const hpcw_clog2_comm_id *id, int rank) {
    hpcw_clog2_timeline *line = t->line != NULL ? t->line : hpcw_i_trace_line(t);
    uint32_t number;
    if (line == NULL || hpcw_clog2_log_comm(line, parent, kind, id, (uint32_t)rank, &number, NULL) != HPCW_OK) {
        forgotten();
        return HPCW_I_NOT_FOLLOWED;
    }
    return number;
}

/* Equal on all processes, different for different communicators. */
static uint64_t fold(const hpcw_clog2_comm_id *id) {
    uint64_t bits = 0;
    memcpy(&bits, &id->created, sizeof id->created);
    uint64_t hash = (bits ^ (uint32_t)id->random) * UINT64_C(0x9e3779b97f4a7c15);
    for (size_t i = 0; i < sizeof id->host; i++) {
        hash = (hash ^ (unsigned char)id->host[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

/* No message on it may be in the log before both ends have made it known: readers look for them. */
static void wait_for_all(MPI_Comm made) {
    (void)PMPI_Barrier(made);
}

static void follow_intra(struct hpcw_i_trace_thread *t, uint32_t parent, MPI_Comm made) {
    hpcw_clog2_comm_id id;
    int rank = 0;
    memset(&id, 0, sizeof id);
    (void)PMPI_Comm_rank(made, &rank);
    if (rank == 0) {
        hpcw_clog2_log_comm_id(recording, &id);
    }
    (void)PMPI_Bcast(&id, (int)sizeof id, MPI_BYTE, 0, made);
    struct hpcw_i_handle *h = add_intra(made, introduce(t, parent, HPCW_CLOG2_INTRA, &id, rank));
    if (h != NULL) {
        h->size = fold(&id);
    }
    wait_for_all(made);
}

/* Rank in MPI_COMM_WORLD of the first process of a group. */
static int leader_of(MPI_Group group, MPI_Group world) {
    int first = 0, rank = 0;
    (void)PMPI_Group_translate_ranks(group, 1, &first, world, &rank);
    return rank;
}

/* Each side's process 0 tells the other side its identity; then the other side's process 0 says it back, for those
 * behind the first. The side whose leader is lower in MPI_COMM_WORLD goes first. */
static void swap_ids(MPI_Comm made, bool first, bool leads, hpcw_clog2_comm_id *mine,
                     hpcw_clog2_comm_id *theirs) {
    for (int turn = 0; turn < 4; turn++) {
        bool sends = (turn % 2 == 0) == first;
        hpcw_clog2_comm_id *id = (turn < 2) == sends ? mine : theirs;
        (void)PMPI_Bcast(id, (int)sizeof *id, MPI_BYTE, !sends ? 0 : leads ? MPI_ROOT : MPI_PROC_NULL, made);
    }
}

static void follow_inter(struct hpcw_i_trace_thread *t, uint32_t parent, MPI_Comm made) {
    hpcw_clog2_comm_id mine, theirs;
    MPI_Group world, local, remote;
    int rank = 0;
    memset(&mine, 0, sizeof mine);
    memset(&theirs, 0, sizeof theirs);
    (void)PMPI_Comm_rank(made, &rank);
    (void)PMPI_Comm_group(MPI_COMM_WORLD, &world);
    (void)PMPI_Comm_group(made, &local);
    (void)PMPI_Comm_remote_group(made, &remote);
    bool first = leader_of(local, world) < leader_of(remote, world);
    (void)PMPI_Group_free(&world);
    (void)PMPI_Group_free(&local);
    (void)PMPI_Group_free(&remote);
    if (rank == 0) {
        hpcw_clog2_log_comm_id(recording, &mine);
    }
    swap_ids(made, first, rank == 0, &mine, &theirs);
    hpcw_clog2_comm_id both = first ? mine : theirs;
    both.random = ~both.random;
    /* In this order: the readers expect the halves right behind it. */
    uint32_t whole = introduce(t, parent, HPCW_CLOG2_INTER, &both, rank);
    uint32_t here = introduce(t, parent, HPCW_CLOG2_LOCAL_HALF, &mine, rank);
    uint32_t there = introduce(t, parent, HPCW_CLOG2_REMOTE_HALF, &theirs, 0);
    bool known = whole != HPCW_I_NOT_FOLLOWED && here != HPCW_I_NOT_FOLLOWED;
    (void)add(made, INTER, known ? here : 0, known ? there : HPCW_I_NOT_FOLLOWED);
    wait_for_all(made);
}

/* Whether all of a group are in MPI_COMM_WORLD. */
static bool is_ours(MPI_Group group) {
    enum { PART = 256 };
    int from[PART], to[PART], size = 0;
    bool ours = true;
    MPI_Group world;
    (void)PMPI_Group_size(group, &size);
    (void)PMPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int done = 0; ours && done < size; done += PART) {
        int n = size - done < PART ? size - done : PART;
        for (int i = 0; i < n; i++) {
            from[i] = done + i;
        }
        (void)PMPI_Group_translate_ranks(group, n, from, world, to);
        for (int i = 0; i < n; i++) {
            ours = ours && to[i] != MPI_UNDEFINED;
        }
    }
    (void)PMPI_Group_free(&world);
    return ours;
}

static bool comm_is_ours(MPI_Comm comm, int (*group_of)(MPI_Comm, MPI_Group *)) {
    MPI_Group group;
    (void)group_of(comm, &group);
    bool ours = is_ours(group);
    (void)PMPI_Group_free(&group);
    return ours;
}

/* A call has made a communicator, perhaps. What comes from one of ours alone is ours: only the rest is looked into. */
static void follow(const struct hpcw_i_span *s, int code, MPI_Comm parent, MPI_Comm made) {
    if (code != MPI_SUCCESS || !hpcw_i_follows(s) || made == MPI_COMM_NULL || find(made) != NULL) {
        return;
    }
    int inter = 0;
    (void)PMPI_Comm_test_inter(made, &inter);
    const struct hpcw_i_handle *p = find(parent);
    bool from_ours = p == NULL || p->kind != FOREIGN;
    if ((!from_ours && !comm_is_ours(made, PMPI_Comm_group)) ||
        (inter && !comm_is_ours(made, PMPI_Comm_remote_group))) {
        (void)add(made, FOREIGN, 0, HPCW_I_NOT_FOLLOWED);
    } else if (inter) {
        follow_inter(s->thread, hpcw_i_place_of(parent).comm, made);
    } else {
        follow_intra(s->thread, hpcw_i_place_of(parent).comm, made);
    }
}

struct hpcw_i_duplicate hpcw_i_comm_duplicate(const struct hpcw_i_span *s, MPI_Comm parent) {
    struct hpcw_i_duplicate duplicate = {0, HPCW_I_NOT_FOLLOWED};
    struct hpcw_i_handle *p = hpcw_i_follows(s) ? find(parent) : NULL;
    if (p == NULL || p->kind != INTRA) {
        return duplicate;
    }
    /* Calls that are collective on one communicator are made one after the other: no thread is in the way. */
    p->tag++;
    duplicate.number = (p->size ^ (uint64_t)(uint32_t)p->tag) * UINT64_C(0x9e3779b97f4a7c15) | 1;
    hpcw_clog2_comm_id id;
    int rank = 0;
    memset(&id, 0, sizeof id);
    id.random = (int32_t)(uint32_t)duplicate.number;
    (void)snprintf(id.host, sizeof id.host, "%016llx", (unsigned long long)duplicate.number);
    (void)PMPI_Comm_rank(parent, &rank);
    duplicate.comm = introduce(s->thread, p->comm, HPCW_CLOG2_INTRA, &id, rank);
    return duplicate;
}

void hpcw_i_comm_duplicated(struct hpcw_i_duplicate duplicate, MPI_Comm made) {
    if (duplicate.number == 0) {
        (void)add(made, FOREIGN, 0, HPCW_I_NOT_FOLLOWED);
        return;
    }
    struct hpcw_i_handle *h = add_intra(made, duplicate.comm);
    if (h != NULL) {
        h->size = duplicate.number;
    }
}

/* ------------------------------------------------------------------------------------------------------------
 *  Calls
 * --------------------------------------------------------------------------------------------------------- */

static int end_made(const struct hpcw_i_span *s, int code, MPI_Comm parent, const MPI_Comm *made) {
    follow(s, code, parent, *made);
    return hpcw_i_end(s, code);
}

int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *made) {
    struct hpcw_i_span s = hpcw_i_begin(20, comm);
    return end_made(&s, PMPI_Comm_create(comm, group, made), comm, made);
}

int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made) {
    struct hpcw_i_span s = hpcw_i_begin(223, comm);
    return end_made(&s, PMPI_Comm_create_group(comm, group, tag, made), comm, made);
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *made) {
    struct hpcw_i_span s = hpcw_i_begin(21, comm);
    return end_made(&s, PMPI_Comm_dup(comm, made), comm, made);
}

int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *made) {
    struct hpcw_i_span s = hpcw_i_begin(226, comm);
    return end_made(&s, PMPI_Comm_dup_with_info(comm, info, made), comm, made);
}

int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *made, MPI_Request *request) {
    struct hpcw_i_span s = hpcw_i_begin(225, comm);
    struct hpcw_i_duplicate duplicate = hpcw_i_comm_duplicate(&s, comm);
    int code = PMPI_Comm_idup(comm, made, request);
    hpcw_i_request_of_duplicate(&s, code, duplicate, made, *request);
    return hpcw_i_end(&s, code);
}

int MPI_Comm_split(MPI_Comm comm, int colour, int key, MPI_Comm *made) {
    struct hpcw_i_span s = hpcw_i_begin(28, comm);
    return end_made(&s, PMPI_Comm_split(comm, colour, key, made), comm, made);
}

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made) {
    struct hpcw_i_span s = hpcw_i_begin(224, comm);
    return end_made(&s, PMPI_Comm_split_type(comm, type, key, info, made), comm, made);
}

int MPI_Cart_create(MPI_Comm comm, int ndims, const int dims[], const int periods[], int reorder,
                    MPI_Comm *made) {
    struct hpcw_i_span s = hpcw_i_begin(110, comm);
    return end_made(&s, PMPI_Cart_create(comm, ndims, dims, periods, reorder, made), comm, made);
}

int MPI_Cart_sub(MPI_Comm comm, const int remain[], MPI_Comm *made) {
    struct hpcw_i_span s = hpcw_i_begin(125, comm);
    return end_made(&s, PMPI_Cart_sub(comm, remain, made), comm, made);
}

int MPI_Graph_create(MPI_Comm comm, int nodes, const int index[], const int edges[], int reorder,
                     MPI_Comm *made) {
    struct hpcw_i_span s = hpcw_i_begin(116, comm);
    return end_made(&s, PMPI_Graph_create(comm, nodes, index, edges, reorder, made), comm, made);
}

int MPI_Dist_graph_create_adjacent(MPI_Comm comm, int in, const int sources[], const int in_weights[], int out,
                                   const int destinations[], const int out_weights[], MPI_Info info,
                                   int reorder, MPI_Comm *made) {
    struct hpcw_i_span s = hpcw_i_begin(215, comm);
    return end_made(&s,
                    PMPI_Dist_graph_create_adjacent(comm, in, sources, in_weights, out, destinations,
                                                    out_weights, info, reorder, made),
                    comm, made);
}

int MPI_Dist_graph_create(MPI_Comm comm, int n, const int nodes[], const int degrees[], const int targets[],
                          const int weights[], MPI_Info info, int reorder, MPI_Comm *made) {
    struct hpcw_i_span s = hpcw_i_begin(216, comm);
    return end_made(&s, PMPI_Dist_graph_create(comm, n, nodes, degrees, targets, weights, info, reorder, made),
                    comm, made);
}

int MPI_Intercomm_create(MPI_Comm local, int leader, MPI_Comm peers, int remote_leader, int tag,
                         MPI_Comm *made) {
    struct hpcw_i_span s = hpcw_i_begin(42, local);
    return end_made(&s, PMPI_Intercomm_create(local, leader, peers, remote_leader, tag, made), local, made);
}

int MPI_Intercomm_merge(MPI_Comm comm, int high, MPI_Comm *made) {
    struct hpcw_i_span s = hpcw_i_begin(43, comm);
    return end_made(&s, PMPI_Intercomm_merge(comm, high, made), comm, made);
}

int MPI_Comm_spawn(const char *command, char *argv[], int n, MPI_Info info, int root, MPI_Comm comm,
                   MPI_Comm *made, int codes[]) {
    struct hpcw_i_span s = hpcw_i_begin(201, comm);
    return end_made(&s, PMPI_Comm_spawn(command, argv, n, info, root, comm, made, codes), comm, made);
}

int MPI_Comm_spawn_multiple(int count, char *commands[], char **argvs[], const int n[], const MPI_Info infos[],
                            int root, MPI_Comm comm, MPI_Comm *made, int codes[]) {
    struct hpcw_i_span s = hpcw_i_begin(202, comm);
    return end_made(&s, PMPI_Comm_spawn_multiple(count, commands, argvs, n, infos, root, comm, made, codes),
                    comm, made);
}

int MPI_Comm_get_parent(MPI_Comm *made) {
    struct hpcw_i_span s = hpcw_i_begin(203, MPI_COMM_WORLD);
    return end_made(&s, PMPI_Comm_get_parent(made), MPI_COMM_WORLD, made);
}

int MPI_Comm_accept(const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *made) {
    struct hpcw_i_span s = hpcw_i_begin(204, comm);
    return end_made(&s, PMPI_Comm_accept(port, info, root, comm, made), comm, made);
}

int MPI_Comm_connect(const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *made) {
    struct hpcw_i_span s = hpcw_i_begin(205, comm);
    return end_made(&s, PMPI_Comm_connect(port, info, root, comm, made), comm, made);
}

int MPI_Comm_join(int fd, MPI_Comm *made) {
    struct hpcw_i_span s = hpcw_i_begin(207, MPI_COMM_SELF);
    return end_made(&s, PMPI_Comm_join(fd, made), MPI_COMM_SELF, made);
}

/* Out of the table while MPI frees it: the next one that another thread makes may have its handle. */
static int leave(const struct hpcw_i_span *s, MPI_Comm *comm, int (*call)(MPI_Comm *)) {
    uintptr_t key = HPCW_I_KEY(*comm);
    struct hpcw_i_handle *h = hpcw_i_follows(s) ? find(*comm) : NULL;
    if (h != NULL) {
        hpcw_i_handle_hide(h);
    }
    int code = call(comm);
    if (h != NULL && code == MPI_SUCCESS) {
        hpcw_i_handle_drop(h);
    } else if (h != NULL) {
        hpcw_i_handle_show(h, key);
    }
    return hpcw_i_end(s, code);
}

int MPI_Comm_free(MPI_Comm *comm) {
    struct hpcw_i_span s = hpcw_i_begin(22, *comm);
    return leave(&s, comm, PMPI_Comm_free);
}

int MPI_Comm_disconnect(MPI_Comm *comm) {
    struct hpcw_i_span s = hpcw_i_begin(206, *comm);
    return leave(&s, comm, PMPI_Comm_disconnect);
}
