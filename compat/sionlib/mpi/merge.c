/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective writes of a merged container: the first process of a group writes the records of all, by rank. */
#include <stdlib.h>

#include "compat/sionlib/mpi/groups.h"

enum { PIECE = 1 << 20, TAG = 1 };

static void send_record(MPI_Comm group, const unsigned char *data, size_t size) {
    for (size_t at = 0; at < size; at += PIECE) {
        int n = size - at < PIECE ? (int)(size - at) : PIECE;
        (void)MPI_Send(data + at, n, MPI_BYTE, 0, TAG, group);
    }
}

/* What cannot be written is still received, as the others send it. */
static bool receive_record(struct sionlib_handle *h, MPI_Comm group, int from, int64_t size,
                           unsigned char *piece) {
    bool well = sion_ensure_free_space(h->sid, size) == SION_SUCCESS;
    for (int64_t at = 0; at < size; at += PIECE) {
        int n = size - at < PIECE ? (int)(size - at) : PIECE;
        (void)MPI_Recv(piece, n, MPI_BYTE, from, TAG, group, MPI_STATUS_IGNORE);
        well = well && sionlib_write(h, piece, (size_t)n);
    }
    return well;
}

bool sionlib_merge_write(struct sionlib_handle *h, const void *data, size_t size) {
    const struct sionlib_mpi *mpi = sionlib_mpi_of(h->parallel);
    int64_t own = (int64_t)size;
    int rank, members;
    (void)MPI_Comm_rank(mpi->of_group, &rank);
    (void)MPI_Comm_size(mpi->of_group, &members);
    int64_t *sizes = rank == 0 ? malloc((size_t)members * sizeof *sizes) : NULL;
    unsigned char *piece = rank == 0 ? malloc(PIECE) : NULL;
    int ready = rank != 0 || (sizes != NULL && piece != NULL);
    (void)MPI_Bcast(&ready, 1, MPI_INT, 0, mpi->of_group);
    bool well = ready;
    if (ready) {
        (void)MPI_Gather(&own, 1, MPI_INT64_T, sizes, 1, MPI_INT64_T, 0, mpi->of_group);
    }
    if (ready && rank == 0) {
        well = sionlib_write(h, data, size);
        for (int m = 1; m < members; m++) {
            well = receive_record(h, mpi->of_group, m, sizes[m], piece) && well;
        }
    } else if (ready) {
        send_record(mpi->of_group, data, size);
    }
    free(sizes);
    free(piece);
    if (!well && rank == 0) {
        /* The others do not hear of it before the close. */
        hpcw_sion_abandon(h->writer,
                          &(hpcw_error){.code = HPCW_EIO, .message = "a merged record was not written"});
    }
    return well;
}
