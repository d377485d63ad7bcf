/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/comm/comm.h"

#include <string.h>

#include "libwriter/base/status.h"

int hpcw_comm_process(const hpcw_comm *comm) {
    return comm == NULL ? 0 : comm->process;
}

int hpcw_comm_size(const hpcw_comm *comm) {
    return comm == NULL ? 1 : comm->size;
}

void hpcw_comm_free(hpcw_comm *comm) {
    if (comm != NULL) {
        comm->ops->free(comm);
    }
}

static hpcw_status describe(const hpcw_comm *comm, int code, const char *what, hpcw_error *err) {
    if (code == 0) {
        return HPCW_OK;
    }
    char text[256];
    comm->ops->text(code, text, sizeof text);
    return hpcw_i_fail(err, code == HPCW_I_COMM_NO_MEMORY ? HPCW_ENOMEM : HPCW_ECOMM,
                       "process %d of %d: %s failed: %s", comm->process, comm->size, what, text);
}

/* ---- Collectives: with one process, they only copy or do nothing ------------------------------------------ */

hpcw_status hpcw_i_comm_allreduce(hpcw_comm *comm, struct hpcw_i_words *words, hpcw_error *err) {
    return comm->size == 1 ? HPCW_OK : describe(comm, comm->ops->allreduce(comm, words), "reduction", err);
}

hpcw_status hpcw_i_comm_exscan(hpcw_comm *comm, struct hpcw_i_words *words, hpcw_error *err) {
    int code = comm->size == 1 ? 0 : comm->ops->exscan(comm, words);
    for (uint32_t i = 0; code == 0 && comm->process == 0 && i < words->sums + words->mins + words->maxs; i++) {
        words->word[i] = i >= words->sums && i < words->sums + words->mins ? UINT64_MAX : 0;
    }
    return describe(comm, code, "exclusive scan", err);
}

hpcw_status hpcw_i_comm_bcast(hpcw_comm *comm, void *data, size_t size, int root, hpcw_error *err) {
    return comm->size == 1 ? HPCW_OK
                           : describe(comm, comm->ops->bcast(comm, data, size, root), "broadcast", err);
}

hpcw_status hpcw_i_comm_allgather(hpcw_comm *comm, const void *mine, size_t size, void *all, hpcw_error *err) {
    if (comm->size == 1) {
        memcpy(all, mine, size);
        return HPCW_OK;
    }
    return describe(comm, comm->ops->allgather(comm, mine, size, all), "gather to all", err);
}

hpcw_status hpcw_i_comm_alltoall(hpcw_comm *comm, const uint64_t *send, uint64_t *receive, hpcw_error *err) {
    if (comm->size == 1) {
        receive[0] = send[0];
        return HPCW_OK;
    }
    return describe(comm, comm->ops->alltoall(comm, send, receive), "exchange of sizes", err);
}

hpcw_status hpcw_i_comm_alltoallv(hpcw_comm *comm, const uint64_t *send, const uint64_t *send_at,
                                  const uint64_t *send_words, uint64_t *receive, const uint64_t *receive_words,
                                  int *scratch, hpcw_error *err) {
    if (comm->size == 1) {
        if (send_words[0] > 0) {
            memcpy(receive, send + (send_at == NULL ? 0 : send_at[0]), (size_t)send_words[0] * sizeof *send);
        }
        return HPCW_OK;
    }
    int code = comm->ops->alltoallv(comm, send, send_at, send_words, receive, receive_words, scratch);
    return describe(comm, code, "exchange", err);
}

/* ---- Others ---------------------------------------------------------------------------------------------- */

hpcw_status hpcw_i_comm_send(hpcw_comm *comm, const uint64_t *data, size_t words, int to, hpcw_error *err) {
    return describe(comm, comm->ops->send(comm, data, words, to), "send", err);
}

hpcw_status hpcw_i_comm_probe(hpcw_comm *comm, size_t *words, int from, hpcw_error *err) {
    return describe(comm, comm->ops->probe(comm, words, from), "probe", err);
}

hpcw_status hpcw_i_comm_receive(hpcw_comm *comm, uint64_t *data, size_t words, int from, hpcw_error *err) {
    return describe(comm, comm->ops->receive(comm, data, words, from), "receive", err);
}

hpcw_status hpcw_i_comm_split(hpcw_comm *comm, uint32_t colour, hpcw_comm **out, hpcw_error *err) {
    return describe(comm, comm->ops->split(comm, colour, out), "split", err);
}

hpcw_status hpcw_i_comm_split_host(hpcw_comm *comm, hpcw_comm **out, hpcw_error *err) {
    return describe(comm, comm->ops->split_host(comm, out), "split by hosts", err);
}
