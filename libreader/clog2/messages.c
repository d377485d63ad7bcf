/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages: sends and receives, and the arrows between them (doc/formats/clog2.md, "Events and states"). */
#include <inttypes.h>

#include "libreader/clog2/private.h"

struct message_ends {
    int32_t from_comm, from_rank, to_comm, to_rank;
};

/* Handles a message whose send and receive are both read; `other` is the end that came first. */
static void arrow(struct read_clog2_pass *p, const struct read_clog2_item *item,
                  const struct read_clog2_place *place, const struct message_ends *ends,
                  const struct read_clog2_queue *other, int32_t size, bool is_send) {
    const int64_t from = is_send ? place->rank : place->peer, to = is_send ? place->peer : place->rank;
    p->arrows++;
    read_clog2_need(p, item->offset, from, ends->from_comm, ends->from_rank);
    read_clog2_need(p, item->offset, to, ends->to_comm, ends->to_rank);
    if (is_send) {
        read_clog2_found(p, READ_CLOG2_BACKWARD, item->offset,
                         "expected the send first, got it at %.9f s and its receive at %.9f s", item->time,
                         other->time);
    }
    if (size != other->size) {
        read_clog2_found(p, READ_CLOG2_MESSAGE_SIZE, item->offset + READ_CLOG2_MESSAGE_SIZE_AT,
                         "expected %" PRId32 " bytes, got %" PRId32, other->size, size);
    }
    /* The highest bit distinguishes keys of arrows from those of states. */
    uint64_t key[1][HPCW_I_TABLE_KEY] = {{read_clog2_pack(ends->from_comm, ends->from_rank) ^ UINT64_C(1) << 63,
                                          read_clog2_pack(ends->to_comm, ends->to_rank),
                                          read_clog2_bits_of(other->time)}};
    p->drawables++;
    read_clog2_complete(p, item, key, 1);
    read_clog2_amount_add(p, &p->flows, from, to, is_send ? size : other->size, 0);
}

static struct message_ends ends_of(const struct read_clog2_item *item) {
    const int32_t peer_comm = read_clog2_i32(item, READ_CLOG2_MESSAGE_PEER_COMM_AT),
                  peer = read_clog2_i32(item, READ_CLOG2_MESSAGE_PEER_RANK_AT);
    return read_clog2_i32(item, READ_CLOG2_EVENT_AT) == READ_CLOG2_SEND
               ? (struct message_ends){item->comm, item->rank, peer_comm, peer}
               : (struct message_ends){peer_comm, peer, item->comm, item->rank};
}

void read_clog2_message_place(struct read_clog2_pass *p, const struct read_clog2_item *item,
                              struct read_clog2_place *place) {
    const struct message_ends ends = ends_of(item);
    if (p->watch != NULL && p->watch->no_messages) {
        return;
    }
    place->rank = read_clog2_near(p, item->comm, item->rank, item->thread)->world;
    place->peer = read_clog2_near(p, read_clog2_i32(item, READ_CLOG2_MESSAGE_PEER_COMM_AT),
                                  read_clog2_i32(item, READ_CLOG2_MESSAGE_PEER_RANK_AT), 0)
                      ->world;
    if (p->watch != NULL && p->watch->no_meetings) {
        return;
    }
    place->key[0] = read_clog2_pack(read_clog2_same_comm(p, ends.from_comm), ends.from_rank);
    place->key[1] = read_clog2_pack(read_clog2_same_comm(p, ends.to_comm), ends.to_rank);
    place->key[2] = (uint32_t)read_clog2_i32(item, READ_CLOG2_MESSAGE_TAG_AT);
    place->hash = hpcw_i_table_hash(&p->unmet.queues, place->key);
    hpcw_i_table_fetch(&p->unmet.queues, place->hash);
}

/* ---- The watch -------------------------------------------------------------------------------------------- */

static struct read_clog2_end end_of(const struct read_clog2_item *item, const struct read_clog2_place *place) {
    return (struct read_clog2_end){
        .rank = (uint32_t)place->rank,
        .peer = (uint32_t)place->peer,
        .thread = item->thread,
        .comm = item->comm,
        .peer_comm = read_clog2_i32(item, READ_CLOG2_MESSAGE_PEER_COMM_AT),
        .peer_in_comm = read_clog2_i32(item, READ_CLOG2_MESSAGE_PEER_RANK_AT),
        .tag = read_clog2_i32(item, READ_CLOG2_MESSAGE_TAG_AT),
        .bytes = read_clog2_i32(item, READ_CLOG2_MESSAGE_SIZE_AT),
        .send = read_clog2_i32(item, READ_CLOG2_EVENT_AT) == READ_CLOG2_SEND,
        .time = item->time,
    };
}

/* Reports an end of a message, unless one of its two ranks is unknown. */
static void tell(const struct read_clog2_pass *p, const struct read_clog2_end *end) {
    if (p->watch->message != NULL && p->status == HPCW_OK && (int32_t)end->rank >= 0 &&
        (int32_t)end->peer >= 0) {
        p->watch->message(p->watch->context, end);
    }
}

/* ---- Records ---------------------------------------------------------------------------------------------- */

/* Removes the queues in which no message waits, if there are many of them. */
static void queues_clean(struct read_clog2_pass *p) {
    enum { FEW = 4096 }; /* number of queues; they take 0.5 MB */
    if (p->unmet.queues.count < 2 * p->unmet.most_waiting + FEW) {
        return;
    }
    struct hpcw_i_table kept = {.key_words = p->unmet.queues.key_words,
                                .value_size = p->unmet.queues.value_size,
                                .seed = p->unmet.queues.seed};
    uint64_t key[HPCW_I_TABLE_KEY];
    const struct read_clog2_queue *q;
    for (size_t at = 0; (q = hpcw_i_table_next(&p->unmet.queues, &at, key)) != NULL;) {
        struct read_clog2_queue *to = q->waits ? read_clog2_add(p, &kept, key) : NULL;
        if (to != NULL) {
            *to = *q;
        }
    }
    hpcw_i_table_free(&p->unmet.queues);
    p->unmet.queues = kept;
}

/* Removes the first end of a queue. */
static void queue_shift(struct read_clog2_pass *p, struct read_clog2_queue *q) {
    if (q->head == 0) {
        q->waits = false;
        p->unmet.waiting--;
        return;
    }
    const uint32_t second = q->head;
    const struct read_clog2_open next = p->unmet.end[second - 1];
    read_clog2_open_give(p, second);
    q->time = next.time;
    q->offset = next.offset;
    q->mark = next.mark;
    q->size = next.size;
    q->head = next.next;
}

static void queue_append(struct read_clog2_pass *p, struct read_clog2_queue *q,
                         const struct read_clog2_open *end) {
    const uint32_t n = read_clog2_open_take(p);
    if (n == 0) {
        return;
    }
    p->unmet.end[n - 1] = *end;
    if (q->head == 0) {
        q->head = n;
    } else {
        p->unmet.end[q->tail - 1].next = n;
    }
    q->tail = n;
}

void read_clog2_message(struct read_clog2_pass *p, const struct read_clog2_item *item,
                        const struct read_clog2_place *place) {
    const struct read_clog2_info *info = p->info;
    int32_t event = read_clog2_i32(item, READ_CLOG2_EVENT_AT);
    int32_t peer_comm = read_clog2_i32(item, READ_CLOG2_MESSAGE_PEER_COMM_AT),
            size = read_clog2_i32(item, READ_CLOG2_MESSAGE_SIZE_AT);
    bool is_send = event == READ_CLOG2_SEND;
    if (!is_send && event != READ_CLOG2_RECEIVE) {
        read_clog2_found(p, READ_CLOG2_ID, item->offset + READ_CLOG2_EVENT_AT,
                         "expected -101 (send) or -102 (receive), got %" PRId32, event);
        return;
    }
    if (p->watch != NULL && p->watch->no_messages) {
        return;
    }
    read_clog2_check_zero(p, item, READ_CLOG2_MESSAGE_PAD_AT, READ_CLOG2_MESSAGE_END);
    if (peer_comm < 0 || (uint32_t)peer_comm >= info->comms) {
        read_clog2_found(p, READ_CLOG2_INDEX, item->offset + READ_CLOG2_MESSAGE_PEER_COMM_AT,
                         "expected one below %" PRIu32 ", got %" PRId32, info->comms, peer_comm);
    }
    if (p->watch != NULL && p->watch->no_meetings) {
        const struct read_clog2_end end = end_of(item, place);
        tell(p, &end);
        return;
    }
    queues_clean(p);
    struct read_clog2_queue *q = hpcw_i_table_add_hashed(&p->unmet.queues, place->key, place->hash, NULL);
    if (q == NULL) {
        read_clog2_no_memory(p);
        return;
    }
    if (q->waits && q->receives == is_send) {
        const struct read_clog2_queue first = *q;
        const struct message_ends ends = ends_of(item);
        queue_shift(p, q);
        arrow(p, item, place, &ends, &first, size, is_send);
        if (p->watch != NULL) {
            struct read_clog2_end end = end_of(item, place);
            end.meets = true;
            end.other = first.time;
            end.met = first.mark;
            tell(p, &end);
        }
        return;
    }
    uint64_t mark = 0;
    if (p->watch != NULL) {
        struct read_clog2_end end = end_of(item, place);
        end.mark = &mark;
        tell(p, &end);
    }
    if (!q->waits) {
        *q = (struct read_clog2_queue){.time = item->time,
                                       .offset = item->offset,
                                       .mark = mark,
                                       .size = size,
                                       .waits = true,
                                       .receives = !is_send};
        p->unmet.waiting++;
        p->unmet.most_waiting =
            p->unmet.waiting > p->unmet.most_waiting ? p->unmet.waiting : p->unmet.most_waiting;
    } else {
        queue_append(
            p, q,
            &(struct read_clog2_open){.time = item->time, .offset = item->offset, .mark = mark, .size = size});
    }
}

void read_clog2_check_messages_met(struct read_clog2_pass *p) {
    uint64_t key[HPCW_I_TABLE_KEY];
    const struct read_clog2_queue *queue;
    for (size_t at = 0; (queue = hpcw_i_table_next(&p->unmet.queues, &at, key)) != NULL;) {
        /* Of equal cases, only the lowest offset counts. It is that of the queue's first end. */
        for (uint32_t i = queue->head; queue->waits; i = p->unmet.end[i - 1].next) {
            read_clog2_found(p, READ_CLOG2_MESSAGE, queue->offset, "expected a %s with tag %" PRIu64,
                             queue->receives ? "send" : "receive", key[2]);
            if (i == 0) {
                break;
            }
        }
    }
}
