/* SPDX-License-Identifier: BSD-3-Clause */
/* An MPI program of two processes whose calls are collective, or use files, windows and requests. Each process
 * writes a line to a file for each call: its state, the expected communicator of the state, and the expected bytes
 * of its cargo. It also writes the ends and bytes of each arrow, and the communicators it frees. where_log prints
 * the same from a log.
 *
 *    mpiexec -n 2 where FILE-TO-WRITE DIRECTORY [wildcards|errors] */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

enum { TAG = 7 };

static FILE *lines;
static int rank;
static const char *place; /* communicator of the next calls: world, self or other */
/* the handle that all immediately complete requests share, if it is known */
static MPI_Request done;

/* A call without cargo. */
#define CALL(state, call)                                                                                      \
    do {                                                                                                       \
        if ((call) != MPI_SUCCESS) {                                                                           \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                                      \
        }                                                                                                      \
        (void)fprintf(lines, "%s %s\n", #state, place);                                                        \
    } while (0)

/* A call that must fail. */
#define FAILS(state, call) CALL(state, (call) == MPI_SUCCESS ? MPI_ERR_OTHER : MPI_SUCCESS)

/* A call with bytes sent and received. */
#define MOVES(state, sent, received, call)                                                                     \
    do {                                                                                                       \
        if ((call) != MPI_SUCCESS) {                                                                           \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                                      \
        }                                                                                                      \
        (void)fprintf(lines, "%s %s %lld %lld\n", #state, place, (long long)(sent), (long long)(received));    \
    } while (0)

static void arrow(int from, int to, int bytes) {
    (void)fprintf(lines, "arrow %d %d %d\n", from, to, bytes);
}

/* The linter does not know requests of files, windows and persistent calls, or those that a function gets as an
 * argument. */
/* NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker) */
/* Waits for a request. All requests that are complete at once share the handle `done`. So the log cannot know the
 * communicator of such a request, and shows the wait on the world. */
static void await(MPI_Request *q) {
    const char *here = place;
    place = *q == done ? "world" : here;
    CALL(MPI_Wait, MPI_Wait(q, MPI_STATUS_IGNORE));
    place = here;
}

/* Calls whose states are recorded only on demand; all are on the world. */
static void infos(void) {
    MPI_Info info, twin;
    char value[8];
    int n, flag;
    CALL(MPI_Info, MPI_Info_create(&info));
    CALL(MPI_Info, MPI_Info_set(info, "key", "value"));
    CALL(MPI_Info, MPI_Info_dup(info, &twin));
    CALL(MPI_Info, MPI_Info_get(twin, "key", 7, value, &flag));
    CALL(MPI_Info, MPI_Info_get_valuelen(twin, "key", &n, &flag));
    CALL(MPI_Info, MPI_Info_get_nkeys(twin, &n));
    CALL(MPI_Info, MPI_Info_get_nthkey(twin, 0, value));
    CALL(MPI_Info, MPI_Info_delete(twin, "key"));
    CALL(MPI_Info, MPI_Info_free(&twin));
    CALL(MPI_Info, MPI_Info_free(&info));
}

/* Makes each collective call on a communicator of two processes. `root` sends 3 numbers or receives 6. */
static void collectives(MPI_Comm comm, int root) {
    int one[3] = {rank, 1, 2}, all[6] = {0}, counts[2] = {1, 2}, places[2] = {0, 1}, at_root = rank == root;
    int mine = counts[rank], twos[2] = {2, 2}, two_places[2] = {0, 2}, bytes[2] = {0, 8};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    MPI_Request q;
    CALL(MPI_Barrier, MPI_Barrier(comm));
    MOVES(MPI_Bcast, at_root ? 12 : 0, at_root ? 0 : 12, MPI_Bcast(one, 3, MPI_INT, root, comm));
    MOVES(MPI_Gather, 12, at_root ? 24 : 0, MPI_Gather(one, 3, MPI_INT, all, 3, MPI_INT, root, comm));
    MOVES(MPI_Gather, at_root ? 24 : 12, at_root ? 24 : 0,
          at_root ? MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 3, MPI_INT, root, comm)
                  : MPI_Gather(one, 3, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, root, comm));
    MOVES(MPI_Gatherv, 4 * mine, at_root ? 12 : 0,
          MPI_Gatherv(one, mine, MPI_INT, all, counts, places, MPI_INT, root, comm));
    MOVES(MPI_Scatter, at_root ? 24 : 0, 12, MPI_Scatter(all, 3, MPI_INT, one, 3, MPI_INT, root, comm));
    MOVES(MPI_Scatterv, at_root ? 12 : 0, 4 * mine,
          MPI_Scatterv(all, counts, places, MPI_INT, one, mine, MPI_INT, root, comm));
    MOVES(MPI_Allgather, 12, 24, MPI_Allgather(one, 3, MPI_INT, all, 3, MPI_INT, comm));
    MOVES(MPI_Allgather, 24, 24, MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 3, MPI_INT, comm));
    MOVES(MPI_Allgatherv, 4 * mine, 12, MPI_Allgatherv(one, mine, MPI_INT, all, counts, places, MPI_INT, comm));
    MOVES(MPI_Alltoall, 8, 8, MPI_Alltoall(one, 1, MPI_INT, all, 1, MPI_INT, comm));
    MOVES(MPI_Alltoallv, 16, 16,
          MPI_Alltoallv(all, twos, two_places, MPI_INT, (int[4]){0}, twos, two_places, MPI_INT, comm));
    MOVES(MPI_Alltoallw, 16, 16, MPI_Alltoallw(all, twos, bytes, types, (int[4]){0}, twos, bytes, types, comm));
    MOVES(MPI_Reduce, 12, at_root ? 12 : 0, MPI_Reduce(one, all, 3, MPI_INT, MPI_SUM, root, comm));
    MOVES(MPI_Allreduce, 12, 12, MPI_Allreduce(one, all, 3, MPI_INT, MPI_SUM, comm));
    MOVES(MPI_Scan, 4, 4, MPI_Scan(one, all, 1, MPI_INT, MPI_SUM, comm));
    MOVES(MPI_Exscan, 4, 4, MPI_Exscan(one, all, 1, MPI_INT, MPI_SUM, comm));
    MOVES(MPI_Reduce_scatter, 12, 4 * mine, MPI_Reduce_scatter(one, all, counts, MPI_INT, MPI_SUM, comm));
    MOVES(MPI_Reduce_scatter_block, 8, 4, MPI_Reduce_scatter_block(all, one, 1, MPI_INT, MPI_SUM, comm));
    CALL(MPI_Ibarrier, MPI_Ibarrier(comm, &q));
    CALL(MPI_Wait, MPI_Wait(&q, MPI_STATUS_IGNORE));
    MOVES(MPI_Ibcast, at_root ? 12 : 0, at_root ? 0 : 12, MPI_Ibcast(one, 3, MPI_INT, root, comm, &q));
    CALL(MPI_Waitall, MPI_Waitall(1, &q, MPI_STATUSES_IGNORE));
}

/* Uses a datatype with more bytes than an int can count. On a communicator of one process, nothing is moved. */
static void large_type(void) {
    MPI_Datatype part, large;
    MPI_Type_contiguous(1 << 20, MPI_INT, &part);
    MPI_Type_contiguous(1 << 12, part, &large);
    MPI_Type_commit(&large);
    place = "self";
    MOVES(MPI_Bcast, 1LL << 34, 0, MPI_Bcast(&rank, 1, large, 0, MPI_COMM_SELF));
    MPI_Type_free(&part);
    MPI_Type_free(&large);
}

/* Waits for requests of one communicator, and of several. */
static void waits(MPI_Comm comm) {
    MPI_Request q[2];
    int in = 0, flag = 0, index;
    CALL(MPI_Irecv, MPI_Irecv(&in, 1, MPI_INT, 1 - rank, 1, comm, &q[0]));
    CALL(MPI_Isend, MPI_Isend(&rank, 1, MPI_INT, 1 - rank, 1, comm, &q[1]));
    arrow(rank, 1 - rank, 4);
    CALL(MPI_Request_get_status, MPI_Request_get_status(q[0], &flag, MPI_STATUS_IGNORE));
    CALL(MPI_Waitall, MPI_Waitall(2, q, MPI_STATUSES_IGNORE));
    CALL(MPE_Irecv_waited, MPI_SUCCESS);
    CALL(MPI_Ibarrier, MPI_Ibarrier(comm, &q[0]));
    q[1] = MPI_REQUEST_NULL;
    CALL(MPI_Waitany, MPI_Waitany(2, q, &index, MPI_STATUS_IGNORE));
    CALL(MPI_Ibarrier, MPI_Ibarrier(comm, &q[0]));
    const char *here = place;
    place = "world";
    CALL(MPI_Ibarrier, MPI_Ibarrier(MPI_COMM_WORLD, &q[1]));
    CALL(MPI_Waitall, MPI_Waitall(2, q, MPI_STATUSES_IGNORE));
    place = here;
}

/* Requests that MPI returns already complete. */
static void complete(MPI_Comm comm) {
    MPI_Request q[3];
    place = "other";
    CALL(MPI_Isend, MPI_Isend(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, comm, &q[0]));
    place = "self";
    CALL(MPI_Isend, MPI_Isend(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, &q[1]));
    done = q[0] == q[1] ? q[0] : MPI_REQUEST_NULL;
    await(&q[1]);
    place = "other";
    CALL(MPI_Ibarrier, MPI_Ibarrier(comm, &q[2]));
    CALL(MPI_Waitall, MPI_Waitall(3, q, MPI_STATUSES_IGNORE));
}

static void files(MPI_Comm comm, const char *path) {
    MPI_File fh;
    MPI_Request q;
    MPI_Offset offset = (MPI_Offset)rank * 4, size;
    int one = rank;
    CALL(MPI_File_open, MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh));
    CALL(MPI_File_write_at_all, MPI_File_write_at_all(fh, offset, &one, 1, MPI_INT, MPI_STATUS_IGNORE));
    CALL(MPI_File_iwrite_at, MPI_File_iwrite_at(fh, offset, &one, 1, MPI_INT, &q));
    await(&q);
    CALL(MPI_File_iwrite_at_all, MPI_File_iwrite_at_all(fh, offset, &one, 1, MPI_INT, &q));
    await(&q);
    CALL(MPI_File_iread_at_all, MPI_File_iread_at_all(fh, offset, &one, 1, MPI_INT, &q));
    await(&q);
    CALL(MPI_File_seek, MPI_File_seek(fh, offset, MPI_SEEK_SET));
    CALL(MPI_File_iread_all, MPI_File_iread_all(fh, &one, 1, MPI_INT, &q));
    await(&q);
    CALL(MPI_File_seek, MPI_File_seek(fh, offset, MPI_SEEK_SET));
    CALL(MPI_File_iwrite_all, MPI_File_iwrite_all(fh, &one, 1, MPI_INT, &q));
    await(&q);
    CALL(MPI_File_get_size, MPI_File_get_size(fh, &size));
    CALL(MPI_File_close, MPI_File_close(&fh));
}

static void windows(MPI_Comm comm) {
    int *memory, own[4] = {rank}, got[4], to = 1 - rank;
    MPI_Win win;
    MPI_Request q;
    CALL(MPI_Win_allocate, MPI_Win_allocate(sizeof own, sizeof *own, MPI_INFO_NULL, comm, &memory, &win));
    CALL(MPI_Win_fence, MPI_Win_fence(0, win));
    CALL(MPI_Put, MPI_Put(own, 4, MPI_INT, to, 0, 4, MPI_INT, win));
    arrow(rank, to, 16);
    CALL(MPI_Put, MPI_Put(own, 4, MPI_INT, MPI_PROC_NULL, 0, 4, MPI_INT, win));
    CALL(MPI_Win_fence, MPI_Win_fence(0, win));
    CALL(MPI_Get, MPI_Get(got, 2, MPI_INT, to, 0, 2, MPI_INT, win));
    arrow(to, rank, 8);
    CALL(MPI_Win_fence, MPI_Win_fence(0, win));
    CALL(MPI_Win_lock_all, MPI_Win_lock_all(0, win));
    CALL(MPI_Accumulate, MPI_Accumulate(own, 1, MPI_INT, to, 0, 1, MPI_INT, MPI_SUM, win));
    arrow(rank, to, 4);
    CALL(MPI_Fetch_and_op, MPI_Fetch_and_op(own, got, MPI_INT, to, 1, MPI_SUM, win));
    arrow(rank, to, 4);
    arrow(to, rank, 4);
    CALL(MPI_Fetch_and_op, MPI_Fetch_and_op(NULL, got, MPI_INT, to, 1, MPI_NO_OP, win));
    arrow(to, rank, 4);
    CALL(MPI_Rget, MPI_Rget(got, 1, MPI_INT, to, 0, 1, MPI_INT, win, &q));
    arrow(to, rank, 4);
    await(&q);
    CALL(MPI_Win_unlock_all, MPI_Win_unlock_all(win));
    /* With MPI_ERRORS_RETURN on the window, a failing call returns. By default it would end the program. */
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    FAILS(MPI_Put, MPI_Put(own, 1, MPI_DATATYPE_NULL, to, 0, 1, MPI_DATATYPE_NULL, win));
    FAILS(MPI_Fetch_and_op, MPI_Fetch_and_op(own, got, MPI_INT, 2, 0, MPI_SUM, win));
    CALL(MPI_Win_free, MPI_Win_free(&win));
}

#if MPI_VERSION >= 4
/* Waits for a request that sends and receives. left_out: its receive has a wildcard, so the log has no arrow. */
static void exchanged(bool left_out, MPI_Request *q) {
    if (!left_out) {
        arrow(rank, 1 - rank, 12);
    }
    CALL(MPI_Wait, MPI_Wait(q, MPI_STATUS_IGNORE));
    if (!left_out) {
        CALL(MPE_Irecv_waited, MPI_SUCCESS);
    }
}

/* Makes all calls that start a send and a receive in one request. MPI_PROC_NULL is not used, since it crashes MPICH
 * 4.0. */
static void exchange(MPI_Comm comm, int source, int tag) {
    MPI_Request q;
    MPI_Count three = 3;
    int one[3] = {rank, 1, 2}, all[3], to = 1 - rank;
    bool left_out = source == MPI_ANY_SOURCE || tag == MPI_ANY_TAG;
    CALL(MPI_Sendrecv, MPI_Isendrecv(one, 3, MPI_INT, to, TAG, all, 3, MPI_INT, source, tag, comm, &q));
    exchanged(left_out, &q);
    CALL(MPI_Sendrecv,
         MPI_Isendrecv_c(one, three, MPI_INT, to, TAG, all, three, MPI_INT, source, tag, comm, &q));
    exchanged(left_out, &q);
    CALL(MPI_Sendrecv_replace, MPI_Isendrecv_replace(one, 3, MPI_INT, to, TAG, source, tag, comm, &q));
    exchanged(left_out, &q);
    CALL(MPI_Sendrecv_replace, MPI_Isendrecv_replace_c(one, three, MPI_INT, to, TAG, source, tag, comm, &q));
    exchanged(left_out, &q);
}

/* Calls of MPI 4 have the states of their older forms, if these exist. */
static void newer(MPI_Comm comm) {
    MPI_Request q;
    MPI_Count three = 3, counts[2] = {1, 2};
    MPI_Aint places[2] = {0, 1};
    int one[3] = {rank, 1, 2}, all[6], mine = (int)counts[rank];
    CALL(MPI_Barrier_init, MPI_Barrier_init(comm, MPI_INFO_NULL, &q));
    CALL(MPI_Start, MPI_Start(&q));
    CALL(MPI_Wait, MPI_Wait(&q, MPI_STATUS_IGNORE));
    CALL(MPI_Wait, MPI_Wait(&q, MPI_STATUS_IGNORE)); /* the request is not active */
    CALL(MPI_Start, MPI_Start(&q));
    CALL(MPI_Wait, MPI_Wait(&q, MPI_STATUS_IGNORE));
    CALL(MPI_Request_free, MPI_Request_free(&q));
    MOVES(MPI_Allreduce_init, 12, 12,
          MPI_Allreduce_init(one, all, 3, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &q));
    CALL(MPI_Request_free, MPI_Request_free(&q));
    MOVES(MPI_Allreduce, 12, 12, MPI_Allreduce_c(one, all, three, MPI_INT, MPI_SUM, comm));
    MOVES(MPI_Allgatherv, 4 * mine, 12,
          MPI_Allgatherv_c(one, mine, MPI_INT, all, counts, places, MPI_INT, comm));
    CALL(MPI_Irecv, MPI_Irecv_c(all, three, MPI_INT, 1 - rank, 2, comm, &q));
    CALL(MPI_Send, MPI_Send_c(one, three, MPI_INT, 1 - rank, 2, comm));
    arrow(rank, 1 - rank, 12);
    CALL(MPI_Wait, MPI_Wait(&q, MPI_STATUS_IGNORE));
    CALL(MPE_Irecv_waited, MPI_SUCCESS);
    exchange(comm, 1 - rank, TAG);
    MPI_Request parts[2];
    int last[1] = {2};
    int flag;
    CALL(MPI_Send_init, MPI_Psend_init(one, 3, 1, MPI_INT, 1 - rank, 6, comm, MPI_INFO_NULL, &parts[0]));
    CALL(MPI_Recv_init, MPI_Precv_init(all, 3, 1, MPI_INT, 1 - rank, 6, comm, MPI_INFO_NULL, &parts[1]));
    for (int i = 0; i < 2; i++) {
        CALL(MPI_Start, MPI_Start(&parts[1]));
        CALL(MPI_Start, MPI_Start(&parts[0]));
        CALL(MPE_Isend_waited, MPI_SUCCESS);
        arrow(rank, 1 - rank, 12);
        CALL(MPI_Partition, MPI_Pready(0, parts[0]));
        CALL(MPI_Partition, MPI_Pready_range(1, 1, parts[0]));
        CALL(MPI_Partition, MPI_Pready_list(1, last, parts[0]));
        CALL(MPI_Partition, MPI_Parrived(parts[1], 0, &flag));
        CALL(MPI_Waitall, MPI_Waitall(2, parts, MPI_STATUSES_IGNORE));
        CALL(MPE_Irecv_waited, MPI_SUCCESS);
    }
    CALL(MPI_Request_free, MPI_Request_free(&parts[0]));
    CALL(MPI_Request_free, MPI_Request_free(&parts[1]));
    MPI_Comm twin;
    CALL(MPI_Comm_idup, MPI_Comm_idup_with_info(comm, MPI_INFO_NULL, &twin, &q));
    CALL(MPI_Wait, MPI_Wait(&q, MPI_STATUS_IGNORE));
    CALL(MPI_Barrier, MPI_Barrier(twin));
    CALL(MPI_Comm_free, MPI_Comm_free(&twin));
    (void)fprintf(lines, "freed other\n");
    /* Dynamic windows are tested only with MPI 4, since older libraries cannot make one on every machine. */
    MPI_Win win;
    CALL(MPI_Win_create_dynamic, MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win));
    CALL(MPI_Win_attach, MPI_Win_attach(win, all, sizeof all));
    CALL(MPI_Win_detach, MPI_Win_detach(win, all));
    CALL(MPI_Win_free, MPI_Win_free(&win));
}
#endif

/* Frees a communicator that is an attribute of another one. */
static int free_inner(MPI_Comm comm, int key, void *inner, void *extra) {
    (void)comm;
    (void)key;
    (void)extra;
    (void)fprintf(lines, "freed other\n");
    return MPI_Comm_free(inner);
}

/* MPI frees a communicator within its own call, then reuses its handle. */
static void attributes(void) {
    int key;
    MPI_Comm outer, inner;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_inner, &key, NULL);
    for (int i = 0; i < 3; i++) {
        place = "world";
        CALL(MPI_Comm_dup, MPI_Comm_dup(MPI_COMM_WORLD, &outer));
        CALL(MPI_Comm_dup, MPI_Comm_dup(MPI_COMM_WORLD, &inner));
        MPI_Comm_set_attr(outer, key, &inner);
        place = "other";
        CALL(MPI_Comm_free, MPI_Comm_free(&outer));
        (void)fprintf(lines, "freed other\n");
    }
    MPI_Comm_free_keyval(&key);
}

/* Communicators duplicated in the background behave like others. */
static void duplicates(MPI_Comm comm, const char *here) {
    MPI_Comm made;
    MPI_Request q;
    int flag = 0;
    place = here;
    CALL(MPI_Comm_idup, MPI_Comm_idup(comm, &made, &q));
    place = "other";
    CALL(MPI_Wait, MPI_Wait(&q, MPI_STATUS_IGNORE));
    CALL(MPI_Barrier, MPI_Barrier(made));
    MPI_Comm_test_inter(made, &flag);
    CALL(MPI_Comm_test_inter, MPI_SUCCESS);
    if (flag) {
        int out = 1 - rank, in = -1;
        CALL(MPI_Sendrecv,
             MPI_Sendrecv(&out, 1, MPI_INT, 0, 4, &in, 1, MPI_INT, 0, 4, made, MPI_STATUS_IGNORE));
        arrow(rank, 1 - rank, 4);
    }
    CALL(MPI_Comm_free, MPI_Comm_free(&made));
    (void)fprintf(lines, "freed other\n");
}

static void all_duplicates(void) {
    MPI_Comm across;
    place = "self";
    CALL(MPI_Intercomm_create, MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - rank, 5, &across));
    for (int i = 0; i < 2; i++) {
        duplicates(MPI_COMM_WORLD, "world");
        duplicates(MPI_COMM_SELF, "self");
        duplicates(across, "other");
    }
    CALL(MPI_Comm_free, MPI_Comm_free(&across));
    (void)fprintf(lines, "freed other\n");
}

static void all_calls(const char *data) {
    char name[4096];
    MPI_Comm comm;
    infos();
    collectives(MPI_COMM_WORLD, 0);
    CALL(MPI_Comm_split, MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comm));
    place = "other";
    collectives(comm, 1);
    waits(comm);
    complete(comm);
    files(comm, data);
    windows(comm);
#if MPI_VERSION >= 4
    newer(comm);
#endif
    CALL(MPI_Comm_free, MPI_Comm_free(&comm));
    (void)fprintf(lines, "freed other\n");
    large_type();
    attributes();
    all_duplicates();
    place = "self";
    (void)snprintf(name, sizeof name, "%s.%d", data, rank);
    files(MPI_COMM_SELF, name);
}

/* Exchanges messages by receives with wildcards. The log does not have these receives, so it has no arrows of the
 * messages. */
static void wildcards(void) {
#if MPI_VERSION >= 4
    exchange(MPI_COMM_WORLD, MPI_ANY_SOURCE, TAG);
    exchange(MPI_COMM_WORLD, 1 - rank, MPI_ANY_TAG);
#endif
}

/* Sends three numbers to the other process. */
static void send_three(MPI_Request *q) {
    static const int three[3] = {1, 2, 3};
    CALL(MPI_Isend, MPI_Isend(three, 3, MPI_INT, 1 - rank, TAG, MPI_COMM_WORLD, q));
    arrow(rank, 1 - rank, 12);
}

/* A message that is longer than the buffer is received, although the call fails. So the next message with its
 * tag is another one. */
static void too_long(void) {
    MPI_Request out[5], in;
    MPI_Message message;
    int one, n, index;
    for (int i = 0; i < 5; i++) {
        send_three(&out[i]);
    }
    FAILS(MPI_Recv, MPI_Recv(&one, 1, MPI_INT, 1 - rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CALL(MPI_Mprobe, MPI_Mprobe(1 - rank, TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
    FAILS(MPI_Mrecv, MPI_Mrecv(&one, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
    CALL(MPI_Irecv, MPI_Irecv(&one, 1, MPI_INT, 1 - rank, TAG, MPI_COMM_WORLD, &in));
    FAILS(MPI_Wait, MPI_Wait(&in, MPI_STATUS_IGNORE));
    CALL(MPE_Irecv_waited, MPI_SUCCESS);
    CALL(MPI_Irecv, MPI_Irecv(&one, 1, MPI_INT, 1 - rank, TAG, MPI_COMM_WORLD, &in));
    FAILS(MPI_Waitall, MPI_Waitall(1, &in, MPI_STATUSES_IGNORE));
    CALL(MPE_Irecv_waited, MPI_SUCCESS);
    CALL(MPI_Irecv, MPI_Irecv(&one, 1, MPI_INT, 1 - rank, TAG, MPI_COMM_WORLD, &in));
    FAILS(MPI_Waitsome, MPI_Waitsome(1, &in, &n, &index, MPI_STATUSES_IGNORE));
    CALL(MPE_Irecv_waited, MPI_SUCCESS);
    for (int i = 0; i < 5; i++) {
        CALL(MPI_Wait, MPI_Wait(&out[i], MPI_STATUS_IGNORE));
    }
}

/* The log has no message of a send that fails. */
static void errors(void) {
    MPI_Request q;
    int one = 0, none = 2;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    FAILS(MPI_Send, MPI_Send(&rank, 1, MPI_INT, none, TAG, MPI_COMM_WORLD));
    FAILS(MPI_Ssend, MPI_Ssend(&rank, -1, MPI_INT, 1 - rank, TAG, MPI_COMM_WORLD));
    FAILS(MPI_Isend, MPI_Isend(&rank, 1, MPI_DATATYPE_NULL, 1 - rank, TAG, MPI_COMM_WORLD, &q));
    FAILS(MPI_Sendrecv, MPI_Sendrecv(&rank, 1, MPI_INT, none, TAG, &one, 1, MPI_INT, none, TAG, MPI_COMM_WORLD,
                                     MPI_STATUS_IGNORE));
#if MPI_VERSION >= 4
    FAILS(MPI_Sendrecv,
          MPI_Isendrecv(&rank, 1, MPI_INT, none, TAG, &one, 1, MPI_INT, 1 - rank, TAG, MPI_COMM_WORLD, &q));
    FAILS(MPI_Sendrecv_replace,
          MPI_Isendrecv_replace(&one, 1, MPI_INT, none, TAG, 1 - rank, TAG, MPI_COMM_WORLD, &q));
#endif
    MPI_Request starts[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL}; /* the second one cannot be started */
    CALL(MPI_Send_init, MPI_Send_init(&rank, 1, MPI_INT, 1 - rank, TAG, MPI_COMM_WORLD, &starts[0]));
    FAILS(MPI_Startall, MPI_Startall(2, starts));
    CALL(MPI_Request_free, MPI_Request_free(&starts[0]));
    too_long();
    send_three(&q);
    int three[3];
    CALL(MPI_Recv, MPI_Recv(three, 3, MPI_INT, 1 - rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CALL(MPI_Wait, MPI_Wait(&q, MPI_STATUS_IGNORE));
}

/* NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker) */

int main(int argc, char **argv) {
    char name[4096];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    (void)snprintf(name, sizeof name, "%s/lines.%d", argv[2], rank);
    lines = fopen(name, "w");
    if (lines == NULL) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    place = "world";
    done = MPI_REQUEST_NULL;
    CALL(MPI_Comm_rank, MPI_SUCCESS);
    if (argc > 3 && strcmp(argv[3], "errors") == 0) {
        errors();
    } else if (argc > 3) {
        wildcards();
    } else {
        all_calls(argv[1]);
    }
    if (fclose(lines) != 0) {
        return 1;
    }
    MPI_Finalize();
    return 0;
}
