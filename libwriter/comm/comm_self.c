/* SPDX-License-Identifier: BSD-3-Clause */
/* A communicator of one process. Its collectives are in comm.c. */
#include <stdio.h>

#include "libwriter/base/status.h"
#include "libwriter/comm/comm.h"

/* A single process never sends or receives a message. */
static int self_send(hpcw_comm *comm, const uint64_t *data, size_t words, int to) {
    (void)comm;
    (void)data;
    (void)words;
    (void)to;
    return 1;
}

static int self_probe(hpcw_comm *comm, size_t *words, int from) {
    (void)comm;
    (void)words;
    (void)from;
    return 1;
}

static int self_receive(hpcw_comm *comm, uint64_t *data, size_t words, int from) {
    (void)comm;
    (void)data;
    (void)words;
    (void)from;
    return 1;
}

static int self_split(hpcw_comm *comm, uint32_t colour, hpcw_comm **out) {
    (void)colour;
    *out = comm;
    return 0;
}

static int self_split_host(hpcw_comm *comm, hpcw_comm **out) {
    *out = comm;
    return 0;
}

static void self_text(int code, char *text, size_t size) {
    (void)snprintf(text, size, "no other process (%d)", code);
}

static void self_free(hpcw_comm *comm) {
    (void)comm; /* a static communicator: nothing to free */
}

static const struct hpcw_i_comm_ops self_ops = {
    .send = self_send,
    .probe = self_probe,
    .receive = self_receive,
    .split = self_split,
    .split_host = self_split_host,
    .text = self_text,
    .free = self_free,
};

hpcw_comm *hpcw_i_comm_or_self(hpcw_comm *comm) {
    static hpcw_comm self = {.ops = &self_ops, .process = 0, .size = 1};
    return comm == NULL ? &self : comm;
}

hpcw_status hpcw_comm_self(hpcw_comm **out, hpcw_error *err) {
    if (out == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "communicator: expected a pointer for the handle, got NULL");
    }
    *out = hpcw_i_comm_or_self(NULL);
    return HPCW_OK;
}
