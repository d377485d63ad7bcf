/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages: sends and receives, and the arrows between them (doc/formats/clog2.md, "Events and states"). */
#include <inttypes.h>

#include "libreader/clog2/private.h"

struct message_ends {
    int32_t from_comm, from_rank, to_comm, to_rank;
};

/* A send and a receive have met; `other` is the earlier one of them. */
static void arrow(struct read_clog2_pass *p, const struct read_clog2_item *item,
                  const struct message_ends *ends, const struct read_clog2_open *other, int32_t size,
                  bool is_send) {
    p->arrows++;
    int64_t from = read_clog2_need_world_rank(p, item->offset, ends->from_comm, ends->from_rank);
    int64_t to = read_clog2_need_world_rank(p, item->offset, ends->to_comm, ends->to_rank);
    if (is_send) {
        read_clog2_found(p, READ_CLOG2_BACKWARD, item->offset,
                         "expected the send first, got it at %.9f s and its receive at %.9f s", item->time,
                         other->time);
    }
    if (size != other->detail) {
        read_clog2_found(p, READ_CLOG2_MESSAGE_SIZE, item->offset + READ_CLOG2_MESSAGE_SIZE_AT,
                         "expected %" PRId32 " bytes, got %" PRId32, other->detail, size);
    }
    /* The highest bit separates arrows from states. */
    const uint64_t key[] = {read_clog2_pack(ends->from_comm, ends->from_rank) ^ UINT64_C(1) << 63,
                            read_clog2_pack(ends->to_comm, ends->to_rank), read_clog2_bits_of(other->time)};
    read_clog2_complete(p, item, key);
    read_clog2_amount_add(p, &p->flows, from, to, is_send ? size : other->detail, 0);
}

/* An end of a message. */
struct message_end {
    double time;
    int32_t tag, size;
    bool is_send;
};

/* `other`: the earlier end, or NULL. False: a rank has not entered its communicator yet. */
static bool tell(const struct read_clog2_pass *p, const struct message_ends *ends,
                 const struct message_end *end, const struct read_clog2_open *other) {
    if (p->watch == NULL || p->watch->message == NULL || p->status != HPCW_OK) {
        return true;
    }
    const int64_t from = read_clog2_world_rank(p, ends->from_comm, ends->from_rank);
    const int64_t to = read_clog2_world_rank(p, ends->to_comm, ends->to_rank);
    if (from < 0 || to < 0) {
        return false;
    }
    p->watch->message(p->watch->context, &(struct read_clog2_end){.rank = (uint32_t)(end->is_send ? from : to),
                                                                  .peer = (uint32_t)(end->is_send ? to : from),
                                                                  .tag = end->tag,
                                                                  .bytes = end->size,
                                                                  .send = end->is_send,
                                                                  .time = end->time,
                                                                  .meets = other != NULL,
                                                                  .other = other != NULL ? other->time : 0});
    return true;
}

void read_clog2_message(struct read_clog2_pass *p, const struct read_clog2_item *item) {
    const struct read_clog2_info *info = read_clog2_info(p->reader);
    int32_t event = read_clog2_i32(item, READ_CLOG2_EVENT_AT);
    int32_t peer_comm = read_clog2_i32(item, READ_CLOG2_MESSAGE_PEER_COMM_AT),
            peer = read_clog2_i32(item, READ_CLOG2_MESSAGE_PEER_RANK_AT);
    int32_t tag = read_clog2_i32(item, READ_CLOG2_MESSAGE_TAG_AT),
            size = read_clog2_i32(item, READ_CLOG2_MESSAGE_SIZE_AT);
    bool is_send = event == READ_CLOG2_SEND;
    if (!is_send && event != READ_CLOG2_RECEIVE) {
        read_clog2_found(p, READ_CLOG2_ID, item->offset + READ_CLOG2_EVENT_AT,
                         "expected -101 (send) or -102 (receive), got %" PRId32, event);
        return;
    }
    read_clog2_check_zero(p, item, READ_CLOG2_MESSAGE_PAD_AT, READ_CLOG2_MESSAGE_END);
    if (peer_comm < 0 || (uint32_t)peer_comm >= info->comms) {
        read_clog2_found(p, READ_CLOG2_INDEX, item->offset + READ_CLOG2_MESSAGE_PEER_COMM_AT,
                         "expected one below %" PRIu32 ", got %" PRId32, info->comms, peer_comm);
    }
    const struct message_ends ends = is_send ? (struct message_ends){item->comm, item->rank, peer_comm, peer}
                                             : (struct message_ends){peer_comm, peer, item->comm, item->rank};
    const struct message_end end = {item->time, tag, size, is_send};
    const uint64_t key[] = {read_clog2_pack(ends.from_comm, ends.from_rank),
                            read_clog2_pack(ends.to_comm, ends.to_rank), (uint32_t)tag};
    struct read_clog2_queue *q = read_clog2_add(p, &p->queues, key);
    if (q == NULL) {
        return;
    }
    if (q->head != 0 && (q->receives == 1) == is_send) {
        struct read_clog2_open other = p->open[q->head - 1];
        read_clog2_open_give(p, q->head);
        q->head = other.next;
        if (q->head == 0) {
            hpcw_i_table_remove(&p->queues, q);
        }
        arrow(p, item, &ends, &other, size, is_send);
        if (!other.told) {
            (void)tell(p, &ends, &(struct message_end){other.time, tag, other.detail, !is_send}, NULL);
        }
        (void)tell(p, &ends, &end, &other);
        return;
    }
    uint32_t n = read_clog2_open_take(p);
    if (n == 0) {
        return;
    }
    p->open[n - 1] = (struct read_clog2_open){
        .time = item->time, .offset = item->offset, .detail = size, .told = tell(p, &ends, &end, NULL)};
    if (q->head == 0) {
        q->head = n;
    } else {
        p->open[q->tail - 1].next = n;
    }
    q->tail = n;
    q->receives = is_send ? 0 : 1;
}

void read_clog2_check_messages_met(struct read_clog2_pass *p) {
    uint64_t key[HPCW_I_TABLE_KEY];
    const struct read_clog2_queue *queue;
    for (size_t at = 0; (queue = hpcw_i_table_next(&p->queues, &at, key)) != NULL;) {
        for (uint32_t i = queue->head; i != 0; i = p->open[i - 1].next) {
            read_clog2_found(p, READ_CLOG2_MESSAGE, p->open[i - 1].offset, "expected a %s with tag %" PRIu64,
                             queue->receives == 1 ? "send" : "receive", key[2]);
        }
    }
}
