/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective writes to a merged container. The first process of a group writes the records of all its processes, in
 * the order of ranks. */
#include <stdlib.h>

#include "bindings/sionlib/mpi/groups.h"

enum { MESSAGE = 1 << 20, TAG = 1 };

/* Returns the size of a message, bytes. As SIONlib does, a record is written in pieces of one file system block,
 * which may go into different chunks. A message has several pieces if blocks are small. */
static int message_of(int block_size) {
    return block_size < MESSAGE ? MESSAGE / block_size * block_size : block_size;
}

static void send_record(MPI_Comm group, const struct sionlib_piece *record, int message) {
    for (size_t at = 0; at < record->size; at += (size_t)message) {
        size_t left = record->size - at;
        (void)MPI_Send((const char *)record->data + at, left < (size_t)message ? (int)left : message, MPI_BYTE,
                       0, TAG, group);
    }
}

/* Receives a record and writes it. After a failed write it still receives the rest of the record, because the
 * sender does not learn of the failure. */
static bool receive_record(struct sionlib_handle *h, MPI_Comm group, int from, int64_t size, int block_size,
                           char *data) {
    int message = message_of(block_size);
    bool well = true;
    for (int64_t at = 0; at < size; at += message) {
        int n = size - at < message ? (int)(size - at) : message;
        (void)MPI_Recv(data, n, MPI_BYTE, from, TAG, group, MPI_STATUS_IGNORE);
        for (int k = 0; well && k < n; k += block_size) {
            well = sionlib_write(h, data + k, (size_t)(n - k < block_size ? n - k : block_size));
        }
    }
    return well;
}

bool sionlib_merge_pieces(struct sionlib_handle *h, MPI_Comm group, int block_size,
                          const struct sionlib_piece *record, int count) {
    int rank, members;
    (void)MPI_Comm_rank(group, &rank);
    (void)MPI_Comm_size(group, &members);
    int processes = rank == 0 ? members : 1;
    int64_t *sizes = malloc((size_t)processes * (size_t)count * sizeof *sizes);
    char *data = rank == 0 ? malloc((size_t)message_of(block_size)) : NULL;
    int ready = sizes != NULL && (rank != 0 || data != NULL);
    (void)MPI_Allreduce(MPI_IN_PLACE, &ready, 1, MPI_INT, MPI_MIN, group);
    bool well = ready;
    for (int r = 0; well && r < count; r++) {
        sizes[r] = (int64_t)record[r].size;
    }
    if (ready) {
        (void)MPI_Gather(rank == 0 ? MPI_IN_PLACE : sizes, count, MPI_INT64_T, sizes, count, MPI_INT64_T, 0,
                         group);
    }
    for (int r = 0; ready && r < count; r++) {
        if (rank == 0) {
            well = sionlib_write(h, record[r].data, record[r].size) && well;
        } else {
            send_record(group, &record[r], message_of(block_size));
        }
    }
    for (int k = count; ready && rank == 0 && k < members * count; k++) {
        well = receive_record(h, group, k / count, sizes[k], block_size, data) && well;
    }
    free(sizes);
    free(data);
    if (!well && rank == 0) {
        /* The other processes learn of the failure only at the close. */
        hpcw_sion_abandon(h->writer,
                          &(hpcw_error){.code = HPCW_EIO, .message = "a merged record was not written"});
    }
    return well;
}

bool sionlib_merge_write(struct sionlib_handle *h, const void *data, size_t size) {
    const struct sionlib_parallel *p = h->parallel;
    return sionlib_merge_pieces(h, sionlib_mpi_of(p)->of_group, p->block_size,
                                &(struct sionlib_piece){data, size}, 1);
}
