/* SPDX-License-Identifier: BSD-3-Clause */
/* States and solo events (doc/formats/clog2.md, "Events and states"). */
#include <inttypes.h>

#include "libreader/clog2/private.h"

static struct read_clog2_timeline *timeline_of(struct read_clog2_pass *p, const struct read_clog2_item *item) {
    const int64_t world =
        p->watch != NULL && p->watch->by_rank ? read_clog2_world_rank(p, item->comm, item->rank) : -1;
    const uint64_t key[] = {world >= 0 ? read_clog2_pack(0, (int32_t)world)
                                       : read_clog2_pack(item->comm, item->rank),
                            (uint32_t)item->thread};
    return read_clog2_add(p, &p->timelines, key);
}

static void complete(struct read_clog2_pass *p, const struct read_clog2_item *item, uint32_t definition,
                     double begin) {
    const uint64_t key[] = {read_clog2_pack(item->comm, item->rank),
                            read_clog2_pack((int32_t)definition, item->thread), read_clog2_bits_of(begin)};
    read_clog2_complete(p, item, key);
}

/* ---- The watch -------------------------------------------------------------------------------------------- */

/* Ends with the record. */
static struct read_clog2_stretch stretch_of(const struct read_clog2_pass *p, const struct read_clog2_item *item,
                                            uint32_t definition, int64_t rank, double from) {
    return (struct read_clog2_stretch){.state = definition,
                                       .number = p->definition[definition].number,
                                       .name = p->definition[definition].name,
                                       .rank = (uint32_t)rank,
                                       .comm = item->comm,
                                       .thread = item->thread,
                                       .from = from,
                                       .to = item->time};
}

/* Reports the innermost state of a timeline, which another one is about to replace. */
static void watch_stretch(struct read_clog2_pass *p, const struct read_clog2_item *item,
                          struct read_clog2_timeline *timeline) {
    if (p->watch == NULL || p->watch->stretch == NULL) {
        return;
    }
    if (timeline->top != 0 && item->time > timeline->since) {
        int64_t rank = read_clog2_world_rank(p, item->comm, item->rank);
        if (rank >= 0) {
            uint32_t definition = (uint32_t)p->open[timeline->top - 1].detail;
            struct read_clog2_stretch s = stretch_of(p, item, definition, rank, timeline->since);
            p->watch->stretch(p->watch->context, &s);
        }
    }
    timeline->since = item->time;
}

static void call(const struct read_clog2_pass *p,
                 void (*callback)(void *context, const struct read_clog2_stretch *s),
                 const struct read_clog2_item *item, uint32_t definition, int64_t rank, double begin) {
    if (callback != NULL && p->status == HPCW_OK && rank >= 0) {
        struct read_clog2_stretch s = stretch_of(p, item, definition, rank, begin);
        s.cargo = item->kind == READ_CLOG2_IS_WITH_CARGO
                      ? item->payload + (READ_CLOG2_CARGO_AT - READ_CLOG2_HEAD_SIZE)
                      : NULL;
        callback(p->watch->context, &s);
    }
}

/* ---- Records ---------------------------------------------------------------------------------------------- */

static void start_state(struct read_clog2_pass *p, const struct read_clog2_item *item, uint32_t definition) {
    struct read_clog2_timeline *timeline = timeline_of(p, item);
    uint32_t n = timeline == NULL ? 0 : read_clog2_open_take(p);
    if (n == 0) {
        return;
    }
    watch_stretch(p, item, timeline);
    for (uint32_t i = (uint32_t)timeline->top; i != 0; i = p->open[i - 1].next) {
        if (p->open[i - 1].detail == (int32_t)definition) {
            read_clog2_found(p, READ_CLOG2_NESTING, item->offset,
                             "expected its end first, got state %" PRId32 " inside itself",
                             p->definition[definition].number);
            break;
        }
    }
    p->open[n - 1] = (struct read_clog2_open){.time = item->time,
                                              .offset = item->offset,
                                              .next = (uint32_t)timeline->top,
                                              .detail = (int32_t)definition};
    timeline->top = n;
}

/* Ends the oldest open state of a kind: what the viewers do. */
static void end_state(struct read_clog2_pass *p, const struct read_clog2_item *item, uint32_t definition) {
    struct read_clog2_timeline *timeline = timeline_of(p, item);
    if (timeline == NULL) {
        return;
    }
    uint32_t above = 0, oldest = 0, above_oldest = 0;
    for (uint32_t i = (uint32_t)timeline->top; i != 0; above = i, i = p->open[i - 1].next) {
        if (p->open[i - 1].detail == (int32_t)definition) {
            oldest = i;
            above_oldest = above;
        }
    }
    if (oldest == 0) {
        read_clog2_found(p, READ_CLOG2_END_ALONE, item->offset,
                         "expected state %" PRId32 " to be open on rank %" PRId32 " of communicator %" PRId32
                         ", thread %" PRId32,
                         p->definition[definition].number, item->rank, item->comm, item->thread);
        return;
    }
    watch_stretch(p, item, timeline);
    const struct read_clog2_open *o = &p->open[oldest - 1];
    double begin = o->time;
    if (above_oldest != 0) {
        read_clog2_found(p, READ_CLOG2_NESTING, item->offset,
                         "expected the end of state %" PRId32 " first, got that of state %" PRId32,
                         p->definition[p->open[timeline->top - 1].detail].number,
                         p->definition[definition].number);
        p->open[above_oldest - 1].next = o->next;
    } else {
        timeline->top = o->next;
    }
    read_clog2_open_give(p, oldest);
    int64_t world = read_clog2_need_world_rank(p, item->offset, item->comm, item->rank);
    complete(p, item, definition, begin);
    call(p, p->watch == NULL ? NULL : p->watch->state, item, definition, world, begin);
    read_clog2_amount_add(p, &p->shares, definition, world, 0, item->time - begin);
}

static void solo_event(struct read_clog2_pass *p, const struct read_clog2_item *item, uint32_t definition) {
    int64_t world = read_clog2_need_world_rank(p, item->offset, item->comm, item->rank);
    complete(p, item, definition, item->time);
    call(p, p->watch == NULL ? NULL : p->watch->solo, item, definition, world, item->time);
    read_clog2_amount_add(p, &p->shares, definition, world, 0, 0);
}

/* doc/formats/clog2.md#clog2-23 */
static bool cargo_fits(const unsigned char *cargo, const char *format) {
    uint32_t at = 0;
    for (const char *c = strchr(format, '%'); c != NULL && c[1] != '\0'; c = strchr(c + 2, '%')) {
        if (c[1] == 's') {
            if (at + 2 > READ_CLOG2_CARGO_SIZE) {
                return false;
            }
            uint32_t length = hpcw_i_get_u16(cargo + at, true);
            at += 2 + length;
        } else {
            at += c[1] == 'h' ? 2 : c[1] == 'l' || c[1] == 'X' || c[1] == 'E' ? 8 : 4;
        }
        if (at > READ_CLOG2_CARGO_SIZE) {
            return false;
        }
    }
    return true;
}

void read_clog2_event(struct read_clog2_pass *p, const struct read_clog2_item *item) {
    int32_t id = read_clog2_i32(item, READ_CLOG2_EVENT_AT);
    if (id == READ_CLOG2_UNDEFINED) {
        return;
    }
    const struct read_clog2_event *v = read_clog2_event_get(p, id);
    if (v == NULL) {
        read_clog2_found(p, READ_CLOG2_ID, item->offset + READ_CLOG2_EVENT_AT,
                         "expected one of the ids announced, got %" PRId32, id);
        return;
    }
    struct read_clog2_event e = *v;
    struct read_clog2_definition *d = &p->definition[e.definition];
    if (!d->used && !d->defined) {
        read_clog2_found(p, READ_CLOG2_DEFINITION, item->offset,
                         "expected one of event %" PRId32 " before its use", id);
    }
    d->used = true;
    read_clog2_check_zero(p, item, READ_CLOG2_EVENT_PAD_AT, READ_CLOG2_CARGO_AT);
    if (item->kind == READ_CLOG2_IS_WITH_CARGO && d->defined &&
        !cargo_fits(item->payload + (READ_CLOG2_CARGO_AT - READ_CLOG2_HEAD_SIZE), d->format)) {
        read_clog2_found(p, READ_CLOG2_CARGO, item->offset + READ_CLOG2_CARGO_AT,
                         "expected what \"%s\" shows, got too little", d->format);
    }
    if (e.role == READ_CLOG2_STARTS) {
        start_state(p, item, e.definition);
    } else if (e.role == READ_CLOG2_ENDS) {
        end_state(p, item, e.definition);
    } else {
        solo_event(p, item, e.definition);
    }
}

void read_clog2_check_states_ended(struct read_clog2_pass *p) {
    uint64_t key[HPCW_I_TABLE_KEY];
    const struct read_clog2_timeline *timeline;
    for (size_t at = 0; (timeline = hpcw_i_table_next(&p->timelines, &at, key)) != NULL;) {
        for (uint32_t i = (uint32_t)timeline->top; i != 0; i = p->open[i - 1].next) {
            read_clog2_found(p, READ_CLOG2_START_ALONE, p->open[i - 1].offset,
                             "expected an end of state %" PRId32, p->definition[p->open[i - 1].detail].number);
        }
    }
}
