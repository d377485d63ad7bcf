/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes small event logs from lists of events with their times in seconds. Include cmocka.h before. */
#ifndef HPCW_TESTS_SUPPORT_HAPPENS_H
#define HPCW_TESTS_SUPPORT_HAPPENS_H

#include <stdint.h>
#include <stdlib.h>

#include <hpcw/clog2.h>

enum { COMPUTE, SEND, RECV, ISEND, IRECV, WAIT, WAITALL, SENDRECV, BARRIER, BCAST, CART, STATES };
static const char *const state_name[STATES] = {"Compute",     "MPI_Send",  "MPI_Recv",       "MPI_Isend",
                                               "MPI_Irecv",   "MPI_Wait",  "MPI_Waitall",    "MPI_Sendrecv",
                                               "MPI_Barrier", "MPI_Bcast", "MPI_Cart_create"};

/* An event on a rank of a communicator, with its time in seconds: begin or end of a state, or send or receive of a
 * message. */
struct happens {
    double second;
    int32_t rank;
    char what;
    int32_t state, peer, comm, thread;
};
#define BEGIN_ON(second, rank, state, comm)                                                                    \
    { second, rank, 'B', state, 0, comm, 0 }
#define END_ON(second, rank, state, comm)                                                                      \
    { second, rank, 'E', state, 0, comm, 0 }
#define BEGIN_IN(second, rank, thread, state)                                                                  \
    { second, rank, 'B', state, 0, WORLD, thread }
#define END_IN(second, rank, thread, state)                                                                    \
    { second, rank, 'E', state, 0, WORLD, thread }
#define BEGIN(second, rank, state) BEGIN_ON(second, rank, state, WORLD)
#define END(second, rank, state) END_ON(second, rank, state, WORLD)
#define SENT_ON(second, rank, peer, comm)                                                                      \
    { second, rank, 's', 0, peer, comm, 0 }
#define RECEIVED_ON(second, rank, peer, comm)                                                                  \
    { second, rank, 'f', 0, peer, comm, 0 }
#define SENT(second, rank, peer) SENT_ON(second, rank, peer, WORLD)
#define RECEIVED(second, rank, peer) RECEIVED_ON(second, rank, peer, WORLD)

enum { WORLD, PAIR, COMMS }; /* PAIR has the ranks 0 and 1 */

static void comm_of(void *context, uint32_t index, hpcw_clog2_comm_entry *entry) {
    (void)context;
    *entry = (hpcw_clog2_comm_entry){
        .id = {.random = 7 + (int32_t)index, .host = "node0001"}, .index = (int32_t)index, .kind = 1};
}

static size_t introduce(hpcw_clog2_record *record, int32_t comm, int32_t ranks) {
    static hpcw_clog2_comm_id id[COMMS];
    hpcw_clog2_comm_entry entry;
    comm_of(NULL, (uint32_t)comm, &entry);
    id[comm] = entry.id;
    for (int32_t rank = 0; rank < ranks; rank++) {
        record[rank] = (hpcw_clog2_record){.rank = rank, .kind = HPCW_CLOG2_COMM_EVENT};
        record[rank].as.comm.event = comm == WORLD ? HPCW_CLOG2_WORLD_CREATE : HPCW_CLOG2_INTRA_CREATE;
        record[rank].as.comm.comm = comm;
        record[rank].as.comm.rank = record[rank].as.comm.world_rank = rank;
        record[rank].as.comm.id = &id[comm];
    }
    return (size_t)ranks;
}

static hpcw_clog2_record record_of(const struct happens *h) {
    hpcw_clog2_record r = {
        .time = h->second, .rank = h->rank, .comm = h->comm, .thread = h->thread, .kind = HPCW_CLOG2_BARE};
    if (h->what == 'B' || h->what == 'E') {
        r.as.event = 2 * (HPCW_CLOG2_USER_STATE + h->state) + (h->what == 'E');
    } else {
        r.kind = HPCW_CLOG2_MESSAGE;
        r.as.message.event = h->what == 's' ? HPCW_CLOG2_SEND : HPCW_CLOG2_RECEIVE;
        r.as.message.peer_comm = h->comm;
        r.as.message.peer_rank = h->peer;
        r.as.message.size = 8;
    }
    return r;
}

/* Writes a log of these events, in order on each rank. There are 2 ranks or more. */
static void write_log(const char *path, uint32_t ranks, const struct happens *h, size_t count) {
    hpcw_clog2_record *record = calloc(STATES + 2 * (size_t)ranks + count, sizeof *record);
    assert_non_null(record);
    size_t records = introduce(record, WORLD, (int32_t)ranks);
    records += introduce(record + records, PAIR, 2);
    for (int32_t s = 0; s < STATES; s++) {
        hpcw_clog2_record *r = &record[records++];
        const int32_t state = HPCW_CLOG2_USER_STATE + s;
        r->kind = HPCW_CLOG2_STATE_DEF;
        r->as.state.state = state;
        r->as.state.start = 2 * state;
        r->as.state.end = 2 * state + 1;
        r->as.state.colour = "blue";
        r->as.state.name = state_name[s];
    }
    const size_t first = records;
    for (size_t i = 0; i < count; i++) {
        const hpcw_clog2_record r = record_of(&h[i]);
        size_t at = records++;
        for (; at > first && (record[at - 1].time > r.time ||
                              (record[at - 1].time == r.time && record[at - 1].rank > r.rank));
             at--) {
            record[at] = record[at - 1];
        }
        record[at] = r;
    }
    hpcw_clog2_options o;
    hpcw_clog2_options_init(&o);
    o.ranks = ranks;
    o.states = STATES;
    for (size_t i = 0; i < count; i++) {
        o.threads = h[i].thread >= (int32_t)o.threads ? (uint32_t)h[i].thread + 1 : o.threads;
    }
    o.comms = COMMS;
    o.comm_of = comm_of;
    o.durability = HPCW_SYNC_NONE;
    hpcw_error err = {0};
    if (hpcw_clog2_write(path, &o, record, records, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    free(record);
}

#endif
