/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that make and free communicators. */
#include "libwriter/trace/requests.h"
#include "libwriter/trace/span.h"

static int end_made(const struct hpcw_i_trace_span *s, int code, MPI_Comm parent, const MPI_Comm *made) {
    if (code == MPI_SUCCESS && hpcw_i_trace_span_follows(s)) {
        hpcw_i_trace_comm_made(s->thread, parent, *made);
    }
    return hpcw_i_trace_span_end(s, code);
}

int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *made) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Comm_create, comm);
    return end_made(&s, PMPI_Comm_create(comm, group, made), comm, made);
}

int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Comm_create_group, comm);
    return end_made(&s, PMPI_Comm_create_group(comm, group, tag, made), comm, made);
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *made) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Comm_dup, comm);
    return end_made(&s, PMPI_Comm_dup(comm, made), comm, made);
}

int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *made) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Comm_dup_with_info, comm);
    return end_made(&s, PMPI_Comm_dup_with_info(comm, info, made), comm, made);
}

int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *made, MPI_Request *request) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Comm_idup, comm);
    struct hpcw_i_trace_duplicate duplicate = {0};
    if (hpcw_i_trace_span_follows(&s)) {
        duplicate = hpcw_i_trace_comm_duplicate(s.thread, comm);
    }
    int code = PMPI_Comm_idup(comm, made, request);
    struct hpcw_i_trace_handle *h =
        hpcw_i_trace_request_note(&s, code, HPCW_I_TRACE_KEY(*request), HPCW_I_TRACE_DUPLICATE, duplicate.comm);
    if (h != NULL) {
        h->as.duplicate.identity = duplicate.identity;
        h->as.duplicate.made = made;
    }
    return hpcw_i_trace_span_end(&s, code);
}

int MPI_Comm_split(MPI_Comm comm, int colour, int key, MPI_Comm *made) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Comm_split, comm);
    return end_made(&s, PMPI_Comm_split(comm, colour, key, made), comm, made);
}

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Comm_split_type, comm);
    return end_made(&s, PMPI_Comm_split_type(comm, type, key, info, made), comm, made);
}

int MPI_Cart_create(MPI_Comm comm, int ndims, const int dims[], const int periods[], int reorder,
                    MPI_Comm *made) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Cart_create, comm);
    return end_made(&s, PMPI_Cart_create(comm, ndims, dims, periods, reorder, made), comm, made);
}

int MPI_Cart_sub(MPI_Comm comm, const int remain[], MPI_Comm *made) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Cart_sub, comm);
    return end_made(&s, PMPI_Cart_sub(comm, remain, made), comm, made);
}

int MPI_Graph_create(MPI_Comm comm, int nodes, const int index[], const int edges[], int reorder,
                     MPI_Comm *made) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Graph_create, comm);
    return end_made(&s, PMPI_Graph_create(comm, nodes, index, edges, reorder, made), comm, made);
}

int MPI_Dist_graph_create_adjacent(MPI_Comm comm, int in, const int sources[], const int in_weights[], int out,
                                   const int destinations[], const int out_weights[], MPI_Info info,
                                   int reorder, MPI_Comm *made) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Dist_graph_create_adjacent, comm);
    return end_made(&s,
                    PMPI_Dist_graph_create_adjacent(comm, in, sources, in_weights, out, destinations,
                                                    out_weights, info, reorder, made),
                    comm, made);
}

int MPI_Dist_graph_create(MPI_Comm comm, int n, const int nodes[], const int degrees[], const int targets[],
                          const int weights[], MPI_Info info, int reorder, MPI_Comm *made) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Dist_graph_create, comm);
    return end_made(&s, PMPI_Dist_graph_create(comm, n, nodes, degrees, targets, weights, info, reorder, made),
                    comm, made);
}

int MPI_Intercomm_create(MPI_Comm local, int leader, MPI_Comm peers, int remote_leader, int tag,
                         MPI_Comm *made) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Intercomm_create, local);
    return end_made(&s, PMPI_Intercomm_create(local, leader, peers, remote_leader, tag, made), local, made);
}

int MPI_Intercomm_merge(MPI_Comm comm, int high, MPI_Comm *made) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Intercomm_merge, comm);
    return end_made(&s, PMPI_Intercomm_merge(comm, high, made), comm, made);
}

int MPI_Comm_spawn(const char *command, char *argv[], int n, MPI_Info info, int root, MPI_Comm comm,
                   MPI_Comm *made, int codes[]) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Comm_spawn, comm);
    return end_made(&s, PMPI_Comm_spawn(command, argv, n, info, root, comm, made, codes), comm, made);
}

int MPI_Comm_spawn_multiple(int count, char *commands[], char **argvs[], const int n[], const MPI_Info infos[],
                            int root, MPI_Comm comm, MPI_Comm *made, int codes[]) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Comm_spawn_multiple, comm);
    return end_made(&s, PMPI_Comm_spawn_multiple(count, commands, argvs, n, infos, root, comm, made, codes),
                    comm, made);
}

int MPI_Comm_get_parent(MPI_Comm *made) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Comm_get_parent, MPI_COMM_WORLD);
    return end_made(&s, PMPI_Comm_get_parent(made), MPI_COMM_WORLD, made);
}

int MPI_Comm_accept(const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *made) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Comm_accept, comm);
    return end_made(&s, PMPI_Comm_accept(port, info, root, comm, made), comm, made);
}

int MPI_Comm_connect(const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *made) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Comm_connect, comm);
    return end_made(&s, PMPI_Comm_connect(port, info, root, comm, made), comm, made);
}

int MPI_Comm_join(int fd, MPI_Comm *made) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Comm_join, MPI_COMM_SELF);
    return end_made(&s, PMPI_Comm_join(fd, made), MPI_COMM_SELF, made);
}

/* Hidden while MPI frees it, as MPI may give an equal handle to another thread. */
static int leave(const struct hpcw_i_trace_span *s, MPI_Comm *comm, int (*call)(MPI_Comm *)) {
    uintptr_t key = HPCW_I_TRACE_KEY(*comm);
    struct hpcw_i_trace_handle *h = hpcw_i_trace_span_follows(s) ? hpcw_i_trace_comm_find(*comm) : NULL;
    if (h != NULL) {
        hpcw_i_trace_handle_hide(h);
    }
    int code = call(comm);
    if (h != NULL && code == MPI_SUCCESS) {
        hpcw_i_trace_handle_drop(h);
    } else if (h != NULL) {
        hpcw_i_trace_handle_show(h, key);
    }
    return hpcw_i_trace_span_end(s, code);
}

int MPI_Comm_free(MPI_Comm *comm) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Comm_free, *comm);
    return leave(&s, comm, PMPI_Comm_free);
}

int MPI_Comm_disconnect(MPI_Comm *comm) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Comm_disconnect, *comm);
    return leave(&s, comm, PMPI_Comm_disconnect);
}
