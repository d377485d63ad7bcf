/* SPDX-License-Identifier: BSD-3-Clause */
/* An MPI program for any number of processes that makes every call for which the wrapper has special code. It must
 * print the same with and without the wrapper.
 *
 *    mpiexec -n 4 every_call [threads] */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

enum { MANY = 40, THREADS = 3 };

static int rank, size;
static unsigned long long digest;

static void eat(const void *data, size_t bytes) {
    const unsigned char *p = data;
    for (size_t i = 0; i < bytes; i++) {
        digest = digest * 1099511628211u + p[i];
    }
}

static void eat_status(const MPI_Status *status) {
    int count;
    MPI_Get_count(status, MPI_INT, &count);
    int seen[3] = {status->MPI_SOURCE, status->MPI_TAG, count};
    eat(seen, sizeof seen);
}

/* Blocking sends and receives around a ring. The receive is posted first, since a ready send requires that. */
static void blocking(MPI_Comm comm) {
    int from = (rank + size - 1) % size, to = (rank + 1) % size, in[4], out[4] = {rank, 1, 2, 3};
    char *buffer = malloc(1 << 16);
    MPI_Status status;
    MPI_Request request;
    MPI_Buffer_attach(buffer, 1 << 16);
    for (int kind = 0; kind < 4; kind++) {
        MPI_Irecv(in, 4, MPI_INT, from, kind, comm, &request);
        MPI_Barrier(comm);
        switch (kind) {
        case 0:
            MPI_Send(out, 4, MPI_INT, to, kind, comm);
            break;
        case 1:
            MPI_Bsend(out, 3, MPI_INT, to, kind, comm);
            break;
        case 2:
            MPI_Rsend(out, 2, MPI_INT, to, kind, comm);
            break;
        case 3:
            MPI_Ssend(out, 1, MPI_INT, to, kind, comm);
            break;
        }
        MPI_Wait(&request, &status);
        eat(in, (size_t)(4 - kind) * sizeof *in);
        eat_status(&status);
    }
    MPI_Bsend(out, 4, MPI_INT, to, 9, comm);
    MPI_Recv(in, 4, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
    eat(in, sizeof in);
    MPI_Bsend(out, 4, MPI_INT, to, 10, comm);
    MPI_Probe(MPI_ANY_SOURCE, 10, comm, &status);
    MPI_Recv(in, 4, MPI_INT, status.MPI_SOURCE, 10, comm, &status);
    eat_status(&status);
    MPI_Sendrecv(out, 2, MPI_INT, to, 11, in, 4, MPI_INT, from, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(in, 2, MPI_INT, to, 12, from, 12, comm, &status);
    eat(in, 2 * sizeof *in);
    MPI_Send(out, 1, MPI_INT, MPI_PROC_NULL, 0, comm);
    MPI_Recv(in, 1, MPI_INT, MPI_PROC_NULL, 0, comm, &status);
    MPI_Sendrecv(out, 1, MPI_INT, MPI_PROC_NULL, 0, in, 1, MPI_INT, MPI_PROC_NULL, 0, comm, MPI_STATUS_IGNORE);
    MPI_Buffer_detach(&buffer, &(int){0});
    free(buffer);
}

/* Tests every way to wait. */
static void nonblocking(int many) {
    int from = (rank + size - 1) % size, to = (rank + 1) % size, in[MANY] = {0}, out[MANY];
    MPI_Request q[2 * MANY];
    MPI_Status statuses[2 * MANY];
    for (int way = 0; way < 10; way++) {
        for (int i = 0; i < many; i++) {
            out[i] = 100 * rank + i;
            MPI_Irecv(&in[i], 1, MPI_INT, way % 2 ? from : MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &q[2 * i]);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; i < many; i++) {
            (i % 3 == 0   ? MPI_Isend
             : i % 3 == 1 ? MPI_Issend
                          : MPI_Irsend)(&out[i], 1, MPI_INT, to, i, MPI_COMM_WORLD, &q[2 * i + 1]);
        }
        int n = 2 * many, left = n, done = 0, index, indices[2 * MANY];
        switch (way) {
        case 0:
            MPI_Waitall(n, q, MPI_STATUSES_IGNORE);
            break;
        case 1:
            MPI_Waitall(n, q, statuses);
            eat_status(&statuses[0]);
            break;
        case 2:
            for (; left > 0; left--) {
                MPI_Waitany(n, q, &index, way ? MPI_STATUS_IGNORE : statuses);
            }
            MPI_Waitany(n, q, &index, statuses);
            break;
        case 3:
            for (; left > 0; left -= done) {
                MPI_Waitsome(n, q, &done, indices, MPI_STATUSES_IGNORE);
            }
            break;
        case 4:
            for (; left > 0; left -= done) {
                MPI_Testsome(n, q, &done, indices, statuses);
            }
            break;
        case 5:
            while (!done) {
                MPI_Testall(n, q, &done, MPI_STATUSES_IGNORE);
            }
            break;
        case 6:
            for (; left > 0; left -= done) {
                MPI_Testany(n, q, &index, &done, statuses);
            }
            break;
        case 7:
            for (int i = 0; i < n; i++) {
                MPI_Wait(&q[i], MPI_STATUS_IGNORE);
            }
            break;
        default:
            for (int i = 0; i < n; i++) {
                for (done = 0; !done;) {
                    MPI_Test(&q[i], &done, way == 8 ? MPI_STATUS_IGNORE : statuses);
                }
            }
        }
        eat(in, sizeof in);
    }
}

/* The linter does not know persistent requests and those of matched messages. */
/* NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker) */
static void persistent(void) {
    int from = (rank + size - 1) % size, to = (rank + 1) % size, in = 0, out = 0;
    MPI_Request q[3];
    MPI_Send_init(&out, 1, MPI_INT, to, 1, MPI_COMM_WORLD, &q[0]);
    MPI_Recv_init(&in, 1, MPI_INT, from, MPI_ANY_TAG, MPI_COMM_WORLD, &q[1]);
    MPI_Ssend_init(&out, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &q[2]);
    for (int i = 0; i < 5; i++) {
        out = 10 * rank + i;
        MPI_Startall(3, q);
        MPI_Waitall(3, q, MPI_STATUSES_IGNORE);
        MPI_Start(&q[0]);
        MPI_Start(&q[1]);
        MPI_Wait(&q[1], MPI_STATUS_IGNORE);
        MPI_Wait(&q[0], MPI_STATUS_IGNORE);
        eat(&in, sizeof in);
    }
    MPI_Status status;
    MPI_Wait(&q[1], &status); /* not active: an empty status */
    for (int i = 0; i < 3; i++) {
        MPI_Request_free(&q[i]);
    }
    MPI_Irecv(&in, 1, MPI_INT, from, 99, MPI_COMM_WORLD, &q[0]);
    MPI_Cancel(&q[0]);
    MPI_Wait(&q[0], &status);
    int cancelled;
    MPI_Test_cancelled(&status, &cancelled);
    eat(&cancelled, sizeof cancelled);
}

/* Matched messages. */
static void matched(void) {
    int to = (rank + 1) % size, in = 0, out = rank, flag = 0;
    MPI_Message message;
    MPI_Request q[2];
    MPI_Status status;
    for (int i = 0; i < 3; i++) {
        MPI_Isend(&out, 1, MPI_INT, to, i, MPI_COMM_WORLD, &q[0]);
        MPI_Mprobe(MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &message, &status);
        MPI_Mrecv(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
        MPI_Wait(&q[0], MPI_STATUS_IGNORE);
        MPI_Isend(&out, 1, MPI_INT, to, i, MPI_COMM_WORLD, &q[0]);
        for (flag = 0; !flag;) {
            MPI_Improbe(MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
        }
        MPI_Imrecv(&in, 1, MPI_INT, &message, &q[1]);
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        eat(&in, sizeof in);
    }
    MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &message, &status);
    MPI_Mrecv(&in, 1, MPI_INT, &message, &status);
    MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    eat(&flag, sizeof flag);
}

/* NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker) */

/* Sends a message around the ring of a communicator. */
static void ring(MPI_Comm comm) {
    int r, n, in, out;
    MPI_Comm_rank(comm, &r);
    MPI_Comm_size(comm, &n);
    out = r;
    MPI_Sendrecv(&out, 1, MPI_INT, (r + 1) % n, 5, &in, 1, MPI_INT, (r + n - 1) % n, 5, comm,
                 MPI_STATUS_IGNORE);
    MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm);
    eat(&out, sizeof out);
}

static void ring_and_free(MPI_Comm *comm) {
    ring(*comm);
    MPI_Comm_free(comm);
}

/* Sends messages between the halves of an inter-communicator. */
static void across(MPI_Comm inter) {
    int r, n, m, in = 0, out = rank;
    MPI_Comm_rank(inter, &r);
    MPI_Comm_size(inter, &n);
    MPI_Comm_remote_size(inter, &m);
    if (r < m) {
        MPI_Request q;
        MPI_Irecv(&in, 1, MPI_INT, r, 6, inter, &q);
        MPI_Send(&out, 1, MPI_INT, r, 6, inter);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
    }
    eat(&in, sizeof in);
    MPI_Barrier(inter);
}

static void communicators(void) {
    MPI_Comm comm, other;
    MPI_Group all, some;
    MPI_Request q;
    ring(MPI_COMM_SELF);
    for (int i = 0; i < 20; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        ring_and_free(&comm);
    }
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &comm);
    MPI_Comm_idup(comm, &other, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    ring_and_free(&other);
    MPI_Comm_idup(comm, &other, &q);
    MPI_Waitall(1, &q, MPI_STATUSES_IGNORE);
    ring_and_free(&other);
    ring_and_free(&comm);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comm);
    ring_and_free(&comm);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 1, rank, &comm);
    if (comm != MPI_COMM_NULL) {
        ring_and_free(&comm);
    }
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
    ring_and_free(&comm);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &(int){size - 1}, &some);
    MPI_Comm_create(MPI_COMM_WORLD, some, &comm);
    if (comm != MPI_COMM_NULL) {
        ring_and_free(&comm);
        MPI_Comm_create_group(MPI_COMM_WORLD, some, 3, &comm);
        ring_and_free(&comm);
    }
    MPI_Group_free(&some);
    MPI_Group_free(&all);

    int dims[1] = {size}, periods[1] = {1}, keep[1] = {1}, next = (rank + 1) % size,
        before = (rank + size - 1) % size;
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &comm);
    MPI_Cart_sub(comm, keep, &other);
    ring_and_free(&other);
    ring_and_free(&comm);
    int weight = 1;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, &weight, 1, &next, &weight, MPI_INFO_NULL, 0,
                                   &comm);
    int in = 0;
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, &in, 1, MPI_INT, comm);
    eat(&in, sizeof in);
    ring_and_free(&comm);

    if (size > 1) {
        MPI_Comm half, inter, twin;
        int upper = rank >= size / 2;
        MPI_Comm_split(MPI_COMM_WORLD, upper, rank, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, upper ? 0 : size / 2, 4, &inter);
        across(inter);
        MPI_Comm_dup(inter, &twin);
        across(twin);
        MPI_Intercomm_merge(twin, upper, &comm);
        ring_and_free(&comm);
        MPI_Comm_free(&twin);
        MPI_Comm_disconnect(&inter);
        MPI_Comm_free(&half);
    }
}

static void collectives(void) {
    int *in = calloc((size_t)size, sizeof *in), *out = calloc((size_t)size, sizeof *out);
    int *count = malloc((size_t)size * sizeof *count),
        *displacement = malloc((size_t)size * sizeof *displacement);
    MPI_Request q;
    for (int i = 0; i < size; i++) {
        out[i] = rank * size + i;
        count[i] = 1;
        displacement[i] = i;
    }
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    eat(in, (size_t)size * sizeof *in);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoallv(out, count, displacement, MPI_INT, in, count, displacement, MPI_INT, MPI_COMM_WORLD);
    MPI_Iallreduce(out, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    eat(in, (size_t)size * sizeof *in);
    MPI_Exscan(out, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Gather(out, 1, MPI_INT, in, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(in, size, MPI_INT, 0, MPI_COMM_WORLD);
    eat(in, (size_t)size * sizeof *in);
    free(in);
    free(out);
    free(count);
    free(displacement);
}

/* Calls that MPE does not know. */
static void later_calls(void) {
    const int sizes[2] = {4, 4}, parts[2] = {2, 2}, starts[2] = {1, rank % 2}, places[2] = {0, 3};
    const MPI_Aint bytes[2] = {0, 12};
    MPI_Datatype type[5];
    MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &type[0]);
    MPI_Type_create_resized(MPI_INT, 0, 8, &type[1]);
    MPI_Type_create_indexed_block(2, 1, places, MPI_INT, &type[2]);
    MPI_Type_create_hindexed_block(2, 1, bytes, MPI_INT, &type[3]);
    MPI_Type_dup(type[1], &type[4]);
    for (int i = 0; i < 5; i++) {
        MPI_Aint lb, extent;
        MPI_Type_get_extent(type[i], &lb, &extent);
        eat(&extent, sizeof extent);
        MPI_Type_free(&type[i]);
    }
    int flag = 0;
    MPI_Request_get_status(MPI_REQUEST_NULL, &flag, MPI_STATUS_IGNORE);
    eat(&flag, sizeof flag);
}

static void windows_and_types(void) {
    MPI_Win window;
    MPI_Datatype type;
    int *memory, mine[8] = {rank, 1, 2, 3, 4, 5, 6, 7}, got[8] = {0}, bytes;
    MPI_Type_vector(2, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Type_size(type, &bytes);
    MPI_Win_allocate(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    memset(memory, 0, 8 * sizeof *memory);
    MPI_Win_fence(0, window);
    MPI_Put(mine, 1, type, (rank + 1) % size, 0, 1, type, window);
    MPI_Win_fence(0, window);
    eat(memory, 8 * sizeof *memory);
    eat(&bytes, sizeof bytes);
    MPI_Win_free(&window);
    MPI_Sendrecv(mine, 1, type, (rank + 1) % size, 1, got, 2, MPI_INT, (rank + size - 1) % size, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    eat(got, sizeof got);
    MPI_Type_free(&type);
}

/* While recording is off, only messages posted earlier are recorded. */
static void off_and_on(void) {
    int in = 0, next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Request q[2];
    MPI_Comm comm;
    MPI_Irecv(&in, 1, MPI_INT, before, 8, MPI_COMM_WORLD, &q[0]);
    MPI_Isend(&rank, 1, MPI_INT, next, 8, MPI_COMM_WORLD, &q[1]);
    MPI_Pcontrol(0);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    ring(comm);
    MPI_Scan(&rank, &in, 1, MPI_INT, MPI_SUM, comm);
    MPI_Irecv(&in, 1, MPI_INT, before, 8, MPI_COMM_WORLD, &q[0]);
    MPI_Isend(&rank, 1, MPI_INT, next, 8, MPI_COMM_WORLD, &q[1]);
    MPI_Pcontrol(1);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    ring_and_free(&comm);
    MPI_Pcontrol(2);
    eat(&in, sizeof in);
}

static void *talk(void *context) {
    MPI_Comm comm = *(MPI_Comm *)context;
    int in = 0, next = (rank + 1) % size, before = (rank + size - 1) % size;
    for (int i = 0; i < 200; i++) {
        MPI_Request q;
        MPI_Irecv(&in, 1, MPI_INT, before, i, comm, &q);
        MPI_Send(&i, 1, MPI_INT, next, i, comm);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
    }
    return NULL;
}

static void threads(void) {
    for (int round = 0; round < 2; round++) {
        pthread_t thread[THREADS];
        MPI_Comm comm[THREADS];
        for (int i = 0; i < THREADS; i++) {
            MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
        }
        for (int i = 0; i < THREADS; i++) {
            pthread_create(&thread[i], NULL, talk, &comm[i]);
        }
        for (int i = 0; i < THREADS; i++) {
            pthread_join(thread[i], NULL);
            MPI_Comm_free(&comm[i]);
        }
    }
}

int main(int argc, char **argv) {
    int provided = MPI_THREAD_SINGLE;
    int with_threads = argc > 1 && strcmp(argv[1], "threads") == 0;
    if (with_threads) {
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    } else {
        MPI_Init(&argc, &argv);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    blocking(MPI_COMM_WORLD);
    nonblocking(4);
    nonblocking(MANY);
    persistent();
    matched();
    communicators();
    collectives();
    windows_and_types();
    later_calls();
    off_and_on();
    if (with_threads && provided == MPI_THREAD_MULTIPLE) {
        threads();
    }
    unsigned long long all;
    MPI_Reduce(&digest, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d processes: %016llx\n", size, all);
    }
    MPI_Finalize();
    return 0;
}
