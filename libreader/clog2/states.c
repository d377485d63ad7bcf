/* SPDX-License-Identifier: BSD-3-Clause */
/* States and solo events (doc/formats/clog2.md, "Events and states"). */
#include <inttypes.h>

#include "libreader/clog2/private.h"
#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"

static bool by_rank(const struct read_clog2_pass *p) {
    return p->watch != NULL && p->watch->by_rank;
}

uint32_t read_clog2_timeline_find(struct read_clog2_pass *p, const struct read_clog2_item *item,
                                  int32_t world) {
    const bool whole = by_rank(p) && world >= 0;
    const uint64_t key[] = {whole ? read_clog2_pack(0, world) : read_clog2_pack(item->comm, item->rank),
                            read_clog2_pack(whole ? 1 : 0, item->thread)};
    const size_t count = p->timelines.index.count;
    bool fresh;
    struct read_clog2_timeline *grown =
        count == UINT32_MAX ? NULL
                            : hpcw_i_grow(p->timelines.at, &p->timelines.capacity, count + 1, sizeof *grown);
    uint64_t *index = grown == NULL ? NULL : hpcw_i_table_add(&p->timelines.index, key, &fresh);
    p->timelines.at = grown == NULL ? p->timelines.at : grown;
    if (index == NULL) {
        read_clog2_no_memory(p);
        return 0;
    }
    if (fresh) {
        *index = count;
        p->timelines.at[count] = (struct read_clog2_timeline){0};
    }
    return (uint32_t)*index + 1;
}

static void key_of(const struct read_clog2_item *item, uint32_t definition, double since,
                   uint64_t key[HPCW_I_TABLE_KEY]) {
    key[0] = read_clog2_pack(item->comm, item->rank);
    key[1] = read_clog2_pack((int32_t)definition, item->thread);
    key[2] = read_clog2_bits_of(since);
}

/* Counts a drawable that ends with the record, if other drawables of the timeline end at the same time. */
__attribute__((noinline)) static void complete_with(struct read_clog2_pass *p,
                                                    const struct read_clog2_item *item,
                                                    struct read_clog2_timeline *timeline, uint32_t definition,
                                                    double begin) {
    double *since = timeline->drawn_since;
    uint32_t *drawn = timeline->drawn_definition;
    /* In most programs at most two drawables end at one time: an inner state and the state around it. Two drawables
     * are compared directly, without a hash table. */
    if (drawn[1] == 0) {
        since[1] = begin;
        drawn[1] = definition + 1;
        if (since[0] == begin && drawn[0] == drawn[1]) {
            read_clog2_equal(p, item);
        }
        return;
    }
    uint64_t key[READ_CLOG2_DRAWN + 1][HPCW_I_TABLE_KEY];
    for (uint32_t i = 0; i < READ_CLOG2_DRAWN; i++) {
        key_of(item, drawn[i] - 1, since[i], key[i]);
    }
    key_of(item, definition, begin, key[READ_CLOG2_DRAWN]);
    read_clog2_complete(p, item, key, READ_CLOG2_DRAWN + 1);
}

/* Counts a drawable that ends with the record. Looks for equal drawables, but not if communicators share timelines
 * (`by_rank`). */
static void complete(struct read_clog2_pass *p, const struct read_clog2_item *item,
                     struct read_clog2_timeline *timeline, uint32_t definition, double begin) {
    p->drawables++;
    if (timeline->ended != item->time || timeline->drawn_definition[0] == 0) {
        timeline->ended = item->time;
        timeline->drawn_since[0] = begin;
        timeline->drawn_definition[0] = definition + 1;
        timeline->drawn_definition[1] = 0;
    } else if (!by_rank(p)) {
        complete_with(p, item, timeline, definition, begin);
    }
}

/* ---- Open states ------------------------------------------------------------------------------------------ */

/* Returns the open states of a timeline, the innermost one last. */
static struct read_clog2_state *states_of(struct read_clog2_timeline *timeline) {
    return timeline->deep == NULL ? timeline->state : timeline->deep;
}

/* Returns the open states of a timeline, with room for one more state. NULL if memory ran out. */
__attribute__((noinline)) static struct read_clog2_state *states_grow(struct read_clog2_pass *p,
                                                                      struct read_clog2_timeline *timeline) {
    size_t capacity = timeline->capacity;
    struct read_clog2_state *grown =
        timeline->depth > UINT32_MAX / 2
            ? NULL
            : hpcw_i_grow(timeline->deep, &capacity, (size_t)timeline->depth + 1, sizeof *grown);
    if (grown == NULL) {
        read_clog2_no_memory(p);
        return NULL;
    }
    if (timeline->deep == NULL) {
        memcpy(grown, timeline->state, sizeof timeline->state);
    }
    timeline->deep = grown;
    timeline->capacity = (uint32_t)capacity;
    return grown;
}

/* ---- The watch -------------------------------------------------------------------------------------------- */

/* Returns a time span that begins and ends at the time of the record. */
static struct read_clog2_stretch stretch_of(const struct read_clog2_pass *p, const struct read_clog2_item *item,
                                            const struct read_clog2_place *place, uint32_t definition) {
    const struct read_clog2_definition *d = &p->definition[definition];
    return (struct read_clog2_stretch){.state = definition,
                                       .defined = d->defined,
                                       .event = d->event,
                                       .number = d->number,
                                       .name = d->name,
                                       .format = d->format,
                                       .rank = (uint32_t)place->rank,
                                       .comm = item->comm,
                                       .thread = item->thread,
                                       .timeline = place->timeline - 1,
                                       .from = item->time,
                                       .to = item->time};
}

/* Reports that a state was the innermost one of a timeline, from `since` to the time of this record. */
static void watch_stretch(struct read_clog2_pass *p, const struct read_clog2_item *item,
                          const struct read_clog2_place *place, struct read_clog2_timeline *timeline) {
    if (timeline->depth > 0 && item->time > timeline->since && place->rank >= 0) {
        const struct read_clog2_state *top = &states_of(timeline)[timeline->depth - 1];
        struct read_clog2_stretch s = stretch_of(p, item, place, top->definition);
        s.from = timeline->since;
        s.depth = top->depth;
        p->watch->stretch(p->watch->context, &s);
    }
    timeline->since = item->time;
}

/* Reports a state or event to a callback, which may be NULL. Not inline, so that a pass without callbacks saves
 * fewer registers. */
__attribute__((noinline)) static void tell(const struct read_clog2_pass *p,
                                           void (*callback)(void *context, const struct read_clog2_stretch *s),
                                           const struct read_clog2_item *item,
                                           const struct read_clog2_place *place, uint32_t definition,
                                           double from, uint32_t depth) {
    if (callback != NULL && p->status == HPCW_OK && place->rank >= 0) {
        struct read_clog2_stretch s = stretch_of(p, item, place, definition);
        s.from = from;
        s.depth = depth;
        s.cargo = item->kind == READ_CLOG2_IS_WITH_CARGO
                      ? item->payload + (READ_CLOG2_CARGO_AT - READ_CLOG2_HEAD_SIZE)
                      : NULL;
        callback(p->watch->context, &s);
    }
}

/* ---- Records ---------------------------------------------------------------------------------------------- */

static void start_state(struct read_clog2_pass *p, const struct read_clog2_item *item,
                        const struct read_clog2_place *place, uint32_t definition) {
    struct read_clog2_timeline *timeline = &p->timelines.at[place->timeline - 1];
    struct read_clog2_state *state = timeline->deep == NULL && timeline->depth < READ_CLOG2_STATES
                                         ? timeline->state
                                         : states_grow(p, timeline);
    if (state == NULL) {
        return;
    }
    if (p->watch != NULL && p->watch->stretch != NULL) {
        watch_stretch(p, item, place, timeline);
    }
    for (uint32_t i = timeline->depth; i > 0; i--) {
        if (state[i - 1].definition == definition) {
            read_clog2_found(p, READ_CLOG2_NESTING, item->offset,
                             "expected its end first, got state %" PRId32 " inside itself",
                             p->definition[definition].number);
            break;
        }
    }
    state[timeline->depth] = (struct read_clog2_state){
        .time = item->time, .offset = item->offset, .definition = definition, .depth = timeline->depth};
    timeline->depth++;
    if (p->watch != NULL) {
        tell(p, p->watch->begin, item, place, definition, item->time, timeline->depth - 1);
    }
}

/* Ends the oldest open state that has this definition, as the viewers do. */
static void end_state(struct read_clog2_pass *p, const struct read_clog2_item *item,
                      const struct read_clog2_place *place, uint32_t definition) {
    struct read_clog2_timeline *timeline = &p->timelines.at[place->timeline - 1];
    struct read_clog2_state *state = states_of(timeline);
    uint32_t oldest = 0;
    while (oldest < timeline->depth && state[oldest].definition != definition) {
        oldest++;
    }
    if (oldest == timeline->depth) {
        read_clog2_found(p, READ_CLOG2_END_ALONE, item->offset,
                         "expected state %" PRId32 " to be open on rank %" PRId32 " of communicator %" PRId32
                         ", thread %" PRId32,
                         p->definition[definition].number, item->rank, item->comm, item->thread);
        return;
    }
    if (p->watch != NULL && p->watch->stretch != NULL) {
        watch_stretch(p, item, place, timeline);
    }
    const struct read_clog2_state ended = state[oldest];
    timeline->depth--;
    if (oldest < timeline->depth) {
        read_clog2_found(p, READ_CLOG2_NESTING, item->offset,
                         "expected the end of state %" PRId32 " first, got that of state %" PRId32,
                         p->definition[state[timeline->depth].definition].number,
                         p->definition[definition].number);
        memmove(&state[oldest], &state[oldest + 1], (timeline->depth - oldest) * sizeof *state);
    }
    read_clog2_need(p, item->offset, place->rank, item->comm, item->rank);
    complete(p, item, timeline, definition, ended.time);
    if (p->watch != NULL) {
        tell(p, p->watch->state, item, place, definition, ended.time, ended.depth);
    }
    read_clog2_amount_add(p, &p->shares, definition, place->rank, 0, item->time - ended.time);
}

static void solo_event(struct read_clog2_pass *p, const struct read_clog2_item *item,
                       const struct read_clog2_place *place, uint32_t definition) {
    read_clog2_need(p, item->offset, place->rank, item->comm, item->rank);
    complete(p, item, &p->timelines.at[place->timeline - 1], definition, item->time);
    if (p->watch != NULL) {
        tell(p, p->watch->solo, item, place, definition, item->time, 0);
    }
    read_clog2_amount_add(p, &p->shares, definition, place->rank, 0, 0);
}

/* Checks the cargo's values against a format: doc/formats/clog2.md#clog2-23. */
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

void read_clog2_event(struct read_clog2_pass *p, const struct read_clog2_item *item,
                      const struct read_clog2_place *place) {
    int32_t id = read_clog2_i32(item, READ_CLOG2_EVENT_AT);
    if (id == READ_CLOG2_UNDEFINED) {
        return;
    }
    const struct read_clog2_event *v = read_clog2_event_get(p, id);
    if ((v == NULL || !p->definition[v->definition].defined) && p->watch != NULL && !p->looked_ahead) {
        read_clog2_look_ahead(p);
        v = read_clog2_event_get(p, id);
    }
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
    if (item->kind == READ_CLOG2_IS_WITH_CARGO && d->defined && !d->shows_all &&
        !cargo_fits(item->payload + (READ_CLOG2_CARGO_AT - READ_CLOG2_HEAD_SIZE), d->format)) {
        read_clog2_found(p, READ_CLOG2_CARGO, item->offset + READ_CLOG2_CARGO_AT,
                         "expected what \"%s\" shows, got too little", d->format);
    }
    if (place->timeline == 0) {
        return;
    }
    if (e.role == READ_CLOG2_STARTS) {
        start_state(p, item, place, e.definition);
    } else if (e.role == READ_CLOG2_ENDS) {
        end_state(p, item, place, e.definition);
    } else {
        solo_event(p, item, place, e.definition);
    }
}

void read_clog2_check_states_ended(struct read_clog2_pass *p) {
    for (size_t k = 0; k < p->timelines.index.count; k++) {
        const struct read_clog2_state *state = states_of(&p->timelines.at[k]);
        for (uint32_t i = p->timelines.at[k].depth; i > 0; i--) {
            read_clog2_found(p, READ_CLOG2_START_ALONE, state[i - 1].offset,
                             "expected an end of state %" PRId32,
                             p->definition[state[i - 1].definition].number);
        }
    }
}
