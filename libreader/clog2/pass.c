/* SPDX-License-Identifier: BSD-3-Clause */
/* One pass over the records of a log. It pairs starts and ends as the converter does, and finds every case of a
 * rule (doc/formats/clog2.md, "Records" and "Rules"). */
#include <inttypes.h>

#include "libreader/clog2/private.h"
#include "libwriter/base/mem.h"

/* Reports the faults of a record header that has at least one. */
__attribute__((noinline)) static void find_head_faults(struct read_clog2_pass *p,
                                                       const struct read_clog2_item *item) {
    const struct read_clog2_info *info = p->info;
    if (!(item->time >= p->end && item->time < READ_CLOG2_LAST)) {
        read_clog2_found(p, READ_CLOG2_ORDER, item->offset, "expected %.9f s to below 1e8 s, got %.9f", p->end,
                         item->time);
    }
    if ((uint32_t)item->comm >= info->comms) {
        read_clog2_found(p, READ_CLOG2_INDEX, item->offset + READ_CLOG2_HEAD_COMM_AT,
                         "expected one below %" PRIu32 ", got %" PRId32, info->comms, item->comm);
    }
    if ((uint32_t)item->rank >= info->ranks || (uint32_t)item->thread >= info->threads) {
        read_clog2_found(p, READ_CLOG2_TIMELINE, item->offset + READ_CLOG2_HEAD_RANK_AT,
                         "expected rank and thread below %" PRIu32 " and %" PRIu32 ", got %" PRId32
                         " and %" PRId32,
                         info->ranks, info->threads, item->rank, item->thread);
    }
}

/* Checks a record header. A negative number counts as broken, too: as an unsigned number, it is larger than any
 * limit of the preamble, which is at most 2^31 - 1. */
static void check_head(struct read_clog2_pass *p, const struct read_clog2_item *item) {
    const struct read_clog2_info *info = p->info;
    if (!(item->time >= p->end && item->time < READ_CLOG2_LAST) || (uint32_t)item->comm >= info->comms ||
        (uint32_t)item->rank >= info->ranks || (uint32_t)item->thread >= info->threads) {
        find_head_faults(p, item);
    }
    if (p->records++ == 0) {
        p->begin = item->time;
    }
    p->end = item->time;
}

static bool is_event(const struct read_clog2_item *item) {
    return item->kind == READ_CLOG2_IS_BARE || item->kind == READ_CLOG2_IS_WITH_CARGO;
}

static void place_event(struct read_clog2_pass *p, const struct read_clog2_item *item,
                        struct read_clog2_place *place) {
    struct read_clog2_near_rank *near = read_clog2_near(p, item->comm, item->rank, item->thread);
    if (near->timeline == 0) {
        near->timeline = read_clog2_timeline_find(p, item, near->world);
    }
    place->timeline = near->timeline;
    place->rank = near->world;
    if (place->timeline != 0) {
        hpcw_i_fetch(&p->timelines.at[place->timeline - 1], sizeof *p->timelines.at);
    }
}

static void place_of(struct read_clog2_pass *p, const struct read_clog2_item *item,
                     struct read_clog2_place *place) {
    if (item->kind == READ_CLOG2_IS_MESSAGE) {
        read_clog2_message_place(p, item, place);
    } else if (is_event(item) && !(p->watch != NULL && p->watch->no_states)) {
        place_event(p, item, place);
    }
}

/* Returns whether a record belongs to a rank outside w->ranks. Needed because read_clog2_pass_over does not
 * skip every such record. */
static bool is_unwanted(const struct read_clog2_watch *w, const struct read_clog2_item *item) {
    const uint32_t *ranks = w->ranks;
    return ranks != NULL && item->comm == 0 && (item->kind == READ_CLOG2_IS_MESSAGE || is_event(item)) &&
           ((uint32_t)item->rank < ranks[0] || (uint32_t)item->rank > ranks[1]);
}

static void take(struct read_clog2_pass *p, const struct read_clog2_item *item,
                 const struct read_clog2_place *place) {
    check_head(p, item);
    switch (item->kind) {
    case READ_CLOG2_IS_STATE_DEF:
    case READ_CLOG2_IS_EVENT_DEF:
        read_clog2_define(p, item);
        break;
    case READ_CLOG2_IS_BARE:
    case READ_CLOG2_IS_WITH_CARGO:
        if (!(p->watch != NULL && p->watch->no_states)) {
            read_clog2_event(p, item, place);
        }
        break;
    case READ_CLOG2_IS_MESSAGE:
        read_clog2_message(p, item, place);
        break;
    case READ_CLOG2_IS_COMM_EVENT:
        read_clog2_introduce(p, item);
        break;
    case READ_CLOG2_IS_COLLECTIVE:
    case READ_CLOG2_IS_SOURCE:
        read_clog2_found(p, READ_CLOG2_KIND, item->offset + READ_CLOG2_HEAD_KIND_AT,
                         "expected another, got type %" PRId32, item->kind);
        break;
    default:
        break; /* constants and time shifts break no rule */
    }
}

/* Applies the rules to records whose table entries (`place`) are looked up. Returns how many records were handled:
 * fewer than `count` if the pass ends early. */
static uint32_t take_some(struct read_clog2_pass *p, const struct read_clog2_item *item,
                          const struct read_clog2_place *place, uint32_t count) {
    const struct read_clog2_watch *w = p->watch;
    uint32_t i = 0;
    while (i < count && p->status == HPCW_OK) {
        if (w != NULL && w->before != NULL && !w->before(w->context, item[i].time)) {
            p->ended = true;
            break;
        }
        if (w == NULL || !is_unwanted(w, &item[i])) {
            take(p, &item[i], &place[i]);
        }
        i++;
        if (w != NULL && w->stop != NULL && p->status == HPCW_OK) {
            p->status = read_clog2_stopped(p->reader, *w->stop, p->err);
        }
    }
    return i;
}

/* Applies the rules to a batch of records. Looks up the table entries of several records ahead, up to the next
 * communicator event, because that event can change the entries of later records. */
static void take_batch(struct read_clog2_pass *p, const struct read_clog2_item *item, uint32_t count) {
    struct read_clog2_place place[READ_CLOG2_BATCH];
    for (uint32_t done = 0; done < count;) {
        uint32_t end = done;
        do {
            place_of(p, &item[end], &place[end]);
        } while (item[end++].kind != READ_CLOG2_IS_COMM_EVENT && end < count && p->status == HPCW_OK);
        if (p->status == HPCW_OK) {
            done += take_some(p, item + done, place + done, end - done);
        }
        if (p->status != HPCW_OK || p->ended) {
            read_clog2_give_back(p->reader, count - done);
            return;
        }
    }
}

/* Checks the rules of the log as a whole. */
static void check_log(struct read_clog2_pass *p) {
    const struct read_clog2_frame *frame = read_clog2_frame(p->reader);
    read_clog2_check_states_ended(p);
    read_clog2_check_messages_met(p);
    read_clog2_check_announced(p);
    read_clog2_check_table(p);
    if (frame->chain_at != 0) {
        read_clog2_found(p, READ_CLOG2_CHAIN, frame->chain_at, "expected the same time at both places");
    }
    if (frame->slack_at != 0) {
        read_clog2_found(p, READ_CLOG2_PADDING, frame->slack_at, "expected zeros after the end of the block");
    }
    if (p->drawables == 0) {
        read_clog2_found(p, READ_CLOG2_EMPTY, 0, "expected a state, a solo event or a message, got none");
    }
}

void read_clog2_pass_open(struct read_clog2_pass *p, struct read_clog2 *reader, unsigned refuse, bool profile,
                          const struct read_clog2_watch *watch) {
    *p = (struct read_clog2_pass){
        .reader = reader,
        .info = read_clog2_info(reader),
        .introductions = 1,
        .refuse = refuse,
        .profile = profile,
        .watch = watch,
        .events = {.key_words = 1, .value_size = sizeof(struct read_clog2_event)},
        .timelines.index = {.key_words = 2, .value_size = sizeof(uint64_t)},
        .members = {.key_words = 1, .value_size = sizeof(struct read_clog2_member)},
        .unmet.queues = {.key_words = 3, .value_size = sizeof(struct read_clog2_queue)},
        .latest.drawables = {.key_words = 3},
        .shares = {.key_words = 2, .value_size = sizeof(struct read_clog2_amount)},
        .flows = {.key_words = 2, .value_size = sizeof(struct read_clog2_amount)},
    };
    read_clog2_rewind(reader);
}

hpcw_status read_clog2_pass_step(struct read_clog2_pass *p, hpcw_error *err) {
    const struct read_clog2_item *item;
    uint32_t count = 1;
    p->err = err;
    p->ended = false;
    read_clog2_pass_over(p->reader, p->watch == NULL ? NULL : p->watch->ranks);
    if (p->near_rank == NULL) {
        p->near_rank = hpcw_i_calloc(READ_CLOG2_NEAR_RANKS, sizeof *p->near_rank);
        if (p->near_rank == NULL) {
            read_clog2_no_memory(p);
        }
    }
    while (count > 0 && p->status == HPCW_OK && !p->ended) {
        p->status = read_clog2_next_batch(p->reader, &item, &count, err);
        if (p->status == HPCW_OK) {
            take_batch(p, item, count);
        }
    }
    if (p->status == HPCW_OK && !p->ended) {
        check_log(p);
    }
    return p->status;
}

hpcw_status read_clog2_pass_run(struct read_clog2_pass *p, struct read_clog2 *reader, unsigned refuse,
                                bool profile, const struct read_clog2_watch *watch, hpcw_error *err) {
    read_clog2_pass_open(p, reader, refuse, profile, watch);
    return read_clog2_pass_step(p, err);
}

void read_clog2_pass_free(struct read_clog2_pass *p) {
    for (size_t i = 0; i < p->timelines.index.count; i++) {
        hpcw_i_free(p->timelines.at[i].deep);
    }
    hpcw_i_table_free(&p->events);
    hpcw_i_table_free(&p->timelines.index);
    hpcw_i_table_free(&p->members);
    hpcw_i_table_free(&p->unmet.queues);
    hpcw_i_table_free(&p->latest.drawables);
    hpcw_i_table_free(&p->shares);
    hpcw_i_table_free(&p->flows);
    hpcw_i_free(p->near_rank);
    hpcw_i_free(p->timelines.at);
    hpcw_i_free(p->definition);
    hpcw_i_free(p->unmet.end);
}

hpcw_status read_clog2_verify(struct read_clog2 *reader, unsigned flags, hpcw_error *err) {
    unsigned count = (flags & READ_CLOG2_STRICT) != 0 ? READ_CLOG2_RULES : READ_CLOG2_FATAL;
    unsigned rules = (1u << count) - 1;
    rules &= (flags & READ_CLOG2_ANY_CLOCK) != 0 ? ~(1u << READ_CLOG2_BACKWARD) : ~0u;
    struct read_clog2_pass pass;
    hpcw_status s = read_clog2_pass_run(&pass, reader, rules, false, NULL, err);
    read_clog2_pass_free(&pass);
    return s;
}

hpcw_status read_clog2_watch(struct read_clog2 *reader, const struct read_clog2_watch *watch, hpcw_error *err) {
    struct read_clog2_pass pass;
    hpcw_status s = read_clog2_pass_run(&pass, reader, 0, false, watch, err);
    if (watch->cases != NULL) {
        memcpy(watch->cases, pass.count, sizeof pass.count);
    }
    read_clog2_pass_free(&pass);
    return s;
}
