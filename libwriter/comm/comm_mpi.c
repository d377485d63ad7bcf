/* SPDX-License-Identifier: BSD-3-Clause */
/* The only file of the library that uses MPI. It uses no symbol of libhpcw, so that it can be built as a separate
 * library. */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hpcw/mpi.h>

#include "libwriter/comm/comm.h"

/* Error codes of this file. They are negative, those of MPI are not. */
enum { TOO_LARGE = -1, FINALIZED = -2 };

#define TAG 17

/* Most words of one reduction of MPI. Its buffers are on the stack: if one process had no memory for them, the
 * others would wait for it. */
enum { PIECE = 1024 };

struct mpi_comm {
    hpcw_comm base;
    MPI_Comm mpi;
    MPI_Op combine;     /* operation on elements of one header word and then the words to reduce */
    MPI_Datatype word8; /* 8 bytes */
};

static struct mpi_comm *mpi_of(hpcw_comm *comm) {
    return (struct mpi_comm *)comm;
}

/* Returns whether MPI_Finalize was called. Any other call of MPI would then end the program. */
static bool is_finalized(void) {
    int finalized = 0;
    return MPI_Finalized(&finalized) == MPI_SUCCESS && finalized;
}

/*
 * Combines two elements. An element starts with a header word that holds the numbers of sums and minima, because a
 * user operation of MPI gets no context. The number of words follows from the size of the type; `*len` is always 1.
 */
static void combine(void *in_, void *inout_, int *len, MPI_Datatype *type) {
    int bytes = 0;
    (void)MPI_Type_size(*type, &bytes);
    size_t words = (size_t)bytes / sizeof(uint64_t);
    const uint64_t *in = in_;
    uint64_t *inout = inout_;
    for (int e = 0; e < *len; e++, in += words, inout += words) {
        size_t sums = (size_t)(in[0] >> 32);
        size_t mins = (size_t)(in[0] & UINT32_MAX);
        hpcw_i_words_combine(inout + 1, in + 1, sums, mins, words - 1);
    }
}

/* Reduces words of which the first are sums, then minima, then maxima. */
static int reduce_piece(hpcw_comm *comm, uint64_t *word, const size_t kind[3], int scan) {
    struct mpi_comm *m = mpi_of(comm);
    size_t n = kind[0] + kind[1] + kind[2];
    uint64_t in[1 + PIECE];
    uint64_t out[1 + PIECE];
    in[0] = (uint64_t)kind[0] << 32 | kind[1];
    memcpy(in + 1, word, n * sizeof *in);
    MPI_Datatype type;
    int code = MPI_Type_contiguous((int)(n + 1), m->word8, &type);
    if (code == MPI_SUCCESS) {
        code = MPI_Type_commit(&type);
        if (code == MPI_SUCCESS) {
            code = scan ? MPI_Exscan(in, out, 1, type, m->combine, m->mpi)
                        : MPI_Allreduce(in, out, 1, type, m->combine, m->mpi);
        }
        (void)MPI_Type_free(&type);
    }
    /* MPI leaves the result of a scan on process 0 undefined. */
    if (code == MPI_SUCCESS && !(scan && comm->process == 0)) {
        memcpy(word, out + 1, n * sizeof *out);
    }
    return code;
}

static int reduce(hpcw_comm *comm, struct hpcw_i_words *w, int scan) {
    size_t left[3] = {w->sums, w->mins, w->maxs};
    uint64_t *word = w->word;
    int code;
    if (is_finalized()) {
        return FINALIZED;
    }
    do {
        size_t kind[3];
        size_t room = PIECE;
        for (int i = 0; i < 3; i++) {
            kind[i] = left[i] < room ? left[i] : room;
            left[i] -= kind[i];
            room -= kind[i];
        }
        code = reduce_piece(comm, word, kind, scan);
        word += PIECE - room;
    } while (code == MPI_SUCCESS && left[0] + left[1] + left[2] > 0);
    return code;
}

static int mpi_allreduce(hpcw_comm *comm, struct hpcw_i_words *words) {
    return reduce(comm, words, 0);
}

static int mpi_exscan(hpcw_comm *comm, struct hpcw_i_words *words) {
    return reduce(comm, words, 1);
}

static int mpi_bcast(hpcw_comm *comm, void *data, size_t size, int root) {
    char *p = data;
    if (is_finalized()) {
        return FINALIZED;
    }
    while (size > 0) {
        int n = size > INT_MAX ? INT_MAX : (int)size;
        int code = MPI_Bcast(p, n, MPI_BYTE, root, mpi_of(comm)->mpi);
        if (code != MPI_SUCCESS) {
            return code;
        }
        p += n;
        size -= (size_t)n;
    }
    return 0;
}

static int mpi_allgather(hpcw_comm *comm, const void *mine, size_t size, void *all) {
    return is_finalized() ? FINALIZED
           : size > INT_MAX
               ? TOO_LARGE
               : MPI_Allgather(mine, (int)size, MPI_BYTE, all, (int)size, MPI_BYTE, mpi_of(comm)->mpi);
}

static int mpi_alltoall(hpcw_comm *comm, const uint64_t *send, uint64_t *receive) {
    return is_finalized()
               ? FINALIZED
               : MPI_Alltoall(send, 1, mpi_of(comm)->word8, receive, 1, mpi_of(comm)->word8, mpi_of(comm)->mpi);
}

static int mpi_alltoallv(hpcw_comm *comm, const uint64_t *send, const uint64_t *send_at,
                         const uint64_t *send_words, uint64_t *receive, const uint64_t *receive_words,
                         int *scratch) {
    struct mpi_comm *m = mpi_of(comm);
    size_t n = (size_t)comm->size;
    int *out = scratch, *out_at = out + n, *in = out_at + n, *in_at = in + n;
    uint64_t sent = 0, received = 0;
    if (is_finalized()) {
        return FINALIZED;
    }
    for (size_t p = 0; p < n; p++) {
        out[p] = (int)send_words[p];
        out_at[p] = (int)(send_at == NULL ? sent : send_at[p]);
        sent += send_words[p];
        in[p] = (int)receive_words[p];
        in_at[p] = (int)received;
        received += receive_words[p];
    }
    return MPI_Alltoallv(send, out, out_at, m->word8, receive, in, in_at, m->word8, m->mpi);
}

static int mpi_send(hpcw_comm *comm, const uint64_t *data, size_t words, int to) {
    return is_finalized()    ? FINALIZED
           : words > INT_MAX ? TOO_LARGE
                             : MPI_Send(data, (int)words, mpi_of(comm)->word8, to, TAG, mpi_of(comm)->mpi);
}

static int mpi_probe(hpcw_comm *comm, size_t *words, int from) {
    MPI_Status status;
    int n = 0;
    int code = is_finalized() ? FINALIZED : MPI_Probe(from, TAG, mpi_of(comm)->mpi, &status);
    if (code == MPI_SUCCESS) {
        code = MPI_Get_count(&status, mpi_of(comm)->word8, &n);
    }
    *words = (size_t)n;
    return code;
}

static int mpi_receive(hpcw_comm *comm, uint64_t *data, size_t words, int from) {
    return is_finalized()    ? FINALIZED
           : words > INT_MAX ? TOO_LARGE
                             : MPI_Recv(data, (int)words, mpi_of(comm)->word8, from, TAG, mpi_of(comm)->mpi,
                                        MPI_STATUS_IGNORE);
}

static int wrap(MPI_Comm mpi, hpcw_comm **out);

/* Makes a communicator of `part`, which MPI made. If that fails, frees `part`. */
static int take_part(int code, MPI_Comm part, hpcw_comm **out) {
    if (code != MPI_SUCCESS) {
        return code;
    }
    code = wrap(part, out);
    if (code != 0) {
        (void)MPI_Comm_free(&part);
    }
    return code;
}

static int mpi_split(hpcw_comm *comm, uint32_t colour, hpcw_comm **out) {
    MPI_Comm part = MPI_COMM_NULL;
    int code = is_finalized()
                   ? FINALIZED
                   : MPI_Comm_split(mpi_of(comm)->mpi, (int)(colour & INT_MAX), comm->process, &part);
    return take_part(code, part, out);
}

static int mpi_split_host(hpcw_comm *comm, hpcw_comm **out) {
    MPI_Comm part = MPI_COMM_NULL;
    int code = is_finalized() ? FINALIZED
                              : MPI_Comm_split_type(mpi_of(comm)->mpi, MPI_COMM_TYPE_SHARED, comm->process,
                                                    MPI_INFO_NULL, &part);
    return take_part(code, part, out);
}

static void mpi_text(int code, char *text, size_t size) {
    if (code < 0) {
        (void)snprintf(text, size, "%s",
                       code == HPCW_I_COMM_NO_MEMORY ? "out of memory"
                       : code == TOO_LARGE           ? "message too large for MPI's int counts"
                                           : "MPI_Finalize was called before: close the handles before it");
        return;
    }
    char buf[MPI_MAX_ERROR_STRING];
    int len = 0;
    if (MPI_Error_string(code, buf, &len) != MPI_SUCCESS) {
        len = 0;
    }
    (void)snprintf(text, size, "%.*s", len, buf);
}

static void mpi_free(hpcw_comm *comm) {
    struct mpi_comm *m = mpi_of(comm);
    if (!is_finalized()) {
        (void)MPI_Op_free(&m->combine);
        (void)MPI_Type_free(&m->word8);
        (void)MPI_Comm_free(&m->mpi);
    }
    free(m);
}

static const struct hpcw_i_comm_ops mpi_ops = {
    .allreduce = mpi_allreduce,
    .exscan = mpi_exscan,
    .bcast = mpi_bcast,
    .allgather = mpi_allgather,
    .alltoall = mpi_alltoall,
    .alltoallv = mpi_alltoallv,
    .send = mpi_send,
    .probe = mpi_probe,
    .receive = mpi_receive,
    .split = mpi_split,
    .split_host = mpi_split_host,
    .text = mpi_text,
    .free = mpi_free,
};

/* Makes a communicator that owns the MPI communicator `mpi`. All processes get the same result. */
static int wrap(MPI_Comm mpi, hpcw_comm **out) {
    struct mpi_comm *m = calloc(1, sizeof *m);
    int mine = m == NULL ? HPCW_I_COMM_NO_MEMORY : 0;
    int code = 0;
    int r = MPI_Allreduce(&mine, &code, 1, MPI_INT, MPI_MIN, mpi);
    if (r != MPI_SUCCESS || code != 0) {
        free(m);
        return r != MPI_SUCCESS ? r : code;
    }
    m->base.ops = &mpi_ops;
    m->mpi = mpi;
    code = MPI_Comm_set_errhandler(mpi, MPI_ERRORS_RETURN);
    if (code == MPI_SUCCESS) {
        code = MPI_Comm_rank(mpi, &m->base.process);
    }
    if (code == MPI_SUCCESS) {
        code = MPI_Comm_size(mpi, &m->base.size);
    }
    if (code == MPI_SUCCESS) {
        code = MPI_Type_contiguous(8, MPI_BYTE, &m->word8);
    }
    if (code == MPI_SUCCESS) {
        code = MPI_Type_commit(&m->word8);
    }
    if (code == MPI_SUCCESS) {
        code = MPI_Op_create(combine, 1, &m->combine);
    }
    if (code != MPI_SUCCESS) {
        free(m);
        return code;
    }
    *out = &m->base;
    return 0;
}

static hpcw_status fail(hpcw_error *err, hpcw_status status, const char *what, const char *detail) {
    if (err != NULL) {
        memset(err, 0, sizeof *err);
        err->code = status;
        (void)snprintf(err->message, sizeof err->message, "communicator: %s%s", what, detail);
    }
    return status;
}

hpcw_status hpcw_comm_from_mpi(MPI_Comm mpi, hpcw_comm **out, hpcw_error *err) {
    if (out == NULL) {
        return fail(err, HPCW_EINVAL, "expected a pointer for the handle, got NULL", "");
    }
    *out = NULL;
    int initialized = 0;
    if (MPI_Initialized(&initialized) != MPI_SUCCESS || !initialized || is_finalized()) {
        return fail(err, HPCW_EINVAL, "MPI is not initialised, or finalised already", "");
    }
    int inter = 0;
    if (mpi == MPI_COMM_NULL || MPI_Comm_test_inter(mpi, &inter) != MPI_SUCCESS || inter) {
        return fail(err, HPCW_EINVAL, "expected an intra-communicator of MPI", "");
    }
    char text[MPI_MAX_ERROR_STRING + 1];
    MPI_Comm copy;
    int code = MPI_Comm_dup(mpi, &copy);
    if (code == MPI_SUCCESS) {
        code = wrap(copy, out);
        if (code != 0) {
            (void)MPI_Comm_free(&copy);
        }
    }
    if (code == 0) {
        return HPCW_OK;
    }
    mpi_text(code, text, sizeof text);
    return fail(err, code == HPCW_I_COMM_NO_MEMORY ? HPCW_ENOMEM : HPCW_ECOMM, "cannot duplicate it: ", text);
}
