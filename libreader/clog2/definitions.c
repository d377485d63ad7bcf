/* SPDX-License-Identifier: BSD-3-Clause */
/* Definitions of states and solo events (doc/formats/clog2.md, "Events and states"). */
#include <inttypes.h>

#include "libreader/clog2/private.h"
#include "libwriter/base/array.h"

/* ---- Events ----------------------------------------------------------------------------------------------- */

static bool is_announced(const struct read_clog2_pass *p, int32_t event, uint32_t *role) {
    const struct read_clog2_info *info = read_clog2_info(p->reader);
    if (event >= 0 && event < READ_CLOG2_USER_EVENT + 2 * (int32_t)info->states) {
        *role = event % 2 == 0 ? READ_CLOG2_STARTS : READ_CLOG2_ENDS;
        return true;
    }
    *role = READ_CLOG2_ALONE;
    return (event >= READ_CLOG2_USER_SOLO && (uint32_t)(event - READ_CLOG2_USER_SOLO) < info->solos) ||
           (event >= READ_CLOG2_KNOWN_SOLO && event < READ_CLOG2_KNOWN_SOLO + (int32_t)info->known_solos);
}

static struct read_clog2_event *event_find(const struct read_clog2_pass *p, int32_t event) {
    const uint64_t key[] = {(uint32_t)event};
    return hpcw_i_table_find(&p->events, key);
}

static void event_add(struct read_clog2_pass *p, int32_t event, uint32_t definition, uint32_t role) {
    const uint64_t key[] = {(uint32_t)event};
    struct read_clog2_event *v = read_clog2_add(p, &p->events, key);
    if (v != NULL) {
        *v = (struct read_clog2_event){definition, role};
        /* the cached entry of this event is out of date */
        p->near_event[(uint32_t)event % READ_CLOG2_NEAR_EVENTS].valid = false;
    }
}

static void definition_add(struct read_clog2_pass *p, bool state, int32_t number, int32_t start, int32_t end) {
    struct read_clog2_definition *grown =
        p->definitions == UINT32_MAX
            ? NULL
            : hpcw_i_grow(p->definition, &p->definition_capacity, (size_t)p->definitions + 1, sizeof *grown);
    if (grown == NULL) {
        read_clog2_no_memory(p);
        return;
    }
    p->definition = grown;
    uint32_t d = p->definitions++;
    p->definition[d] = (struct read_clog2_definition){.state = state, .number = number, .event = start};
    event_add(p, start, d, state ? READ_CLOG2_STARTS : READ_CLOG2_ALONE);
    if (state) {
        event_add(p, end, d, READ_CLOG2_ENDS);
    }
}

const struct read_clog2_event *read_clog2_event_find(struct read_clog2_pass *p, int32_t event) {
    const struct read_clog2_event *found = event_find(p, event);
    uint32_t role;
    if (found == NULL && is_announced(p, event, &role)) {
        bool state = role != READ_CLOG2_ALONE;
        int32_t start = state ? event / 2 * 2 : event;
        definition_add(p, state, state ? event / 2 : event, start, start + 1);
        found = event_find(p, event);
    }
    if (found != NULL) {
        p->near_event[(uint32_t)event % READ_CLOG2_NEAR_EVENTS] =
            (struct read_clog2_near_event){.event = event, .valid = true, .is = *found};
    }
    return found;
}

/* ---- Records ---------------------------------------------------------------------------------------------- */

/* Copies a field of `size` bytes, adds a NUL, and checks that the bytes after the text are zero. */
static void take_text(struct read_clog2_pass *p, const struct read_clog2_item *item, uint32_t at, uint32_t size,
                      char *text) {
    memcpy(text, item->payload + (at - READ_CLOG2_HEAD_SIZE), size);
    text[size] = '\0';
    uint32_t length = (uint32_t)strlen(text);
    if (length == size) {
        read_clog2_found(p, READ_CLOG2_DEFINITION, item->offset + at,
                         "expected a text of at most %" PRIu32 " bytes, got \"%s\"", size - 1, text);
    } else {
        read_clog2_check_zero(p, item, at + length, at + size);
    }
}

/* Checks that each % of a format is followed by a known letter, and that the values of the format fit into the 32
 * bytes of cargo (doc/formats/clog2.md, "Cargo"). */
static void check_format(struct read_clog2_pass *p, const struct read_clog2_item *item,
                         struct read_clog2_definition *d) {
    const char *format = d->format;
    d->shows_all = false;
    uint32_t size = 0;
    for (const char *c = strchr(format, '%'); c != NULL; c = strchr(c + 2, '%')) {
        switch (c[1]) {
        case '\0':
            read_clog2_found(p, READ_CLOG2_FORMAT, item->offset, "expected a letter after %%, got \"%s\"",
                             format);
            return;
        case 's':
        case 'h':
            size += 2;
            break;
        case 'd':
        case 'x':
        case 'e':
            size += 4;
            break;
        case 'l':
        case 'X':
        case 'E':
            size += 8;
            break;
        default:
            read_clog2_found(p, READ_CLOG2_CARGO, item->offset,
                             "expected one of s h d l x X e E after %%, got \"%s\"", format);
            return;
        }
    }
    d->shows_all = size <= READ_CLOG2_CARGO_SIZE && strstr(d->format, "%s") == NULL;
    if (size > READ_CLOG2_CARGO_SIZE) {
        read_clog2_found(p, READ_CLOG2_CARGO, item->offset,
                         "expected a format of at most 32 bytes, got %" PRIu32 " for \"%s\"", size, format);
    }
}

/* Returns the definition to which a definition record belongs. Adds it if neither of its events is known. NULL if
 * the events of the record are not those of one definition. */
static struct read_clog2_definition *definition_of(struct read_clog2_pass *p,
                                                   const struct read_clog2_item *item, bool state,
                                                   int32_t number, int32_t start, int32_t end) {
    if (read_clog2_event_get(p, start) == NULL && event_find(p, end) == NULL && !(state && start == end)) {
        definition_add(p, state, number, start, end);
    }
    const struct read_clog2_event *second = read_clog2_event_get(p, end), *first = event_find(p, start);
    if (first == NULL || second == NULL || first->definition != second->definition ||
        (state ? first->role != READ_CLOG2_STARTS || second->role != READ_CLOG2_ENDS
               : first->role != READ_CLOG2_ALONE)) {
        read_clog2_found(p, READ_CLOG2_DEFINITION, item->offset,
                         "expected the two events of one state, or one of a solo event, got %" PRId32
                         " and %" PRId32,
                         start, end);
        return NULL;
    }
    return &p->definition[first->definition];
}

void read_clog2_define(struct read_clog2_pass *p, const struct read_clog2_item *item) {
    bool state = item->kind == READ_CLOG2_IS_STATE_DEF;
    int32_t number = read_clog2_i32(item, state ? READ_CLOG2_STATE_NUMBER_AT : READ_CLOG2_SOLO_EVENT_AT);
    int32_t start = read_clog2_i32(item, state ? READ_CLOG2_STATE_START_AT : READ_CLOG2_SOLO_EVENT_AT);
    int32_t end = state ? read_clog2_i32(item, READ_CLOG2_STATE_END_AT) : start;
    uint32_t at = state ? READ_CLOG2_STATE_TEXTS_AT : READ_CLOG2_SOLO_TEXTS_AT;
    struct read_clog2_definition *d = definition_of(p, item, state, number, start, end);
    if (d == NULL || (d->defined && p->ahead)) {
        return;
    }
    if (d->used && !d->defined) {
        read_clog2_found(p, READ_CLOG2_DEFINITION, item->offset,
                         "expected it before its first use, event %" PRId32, start);
    }
    if (d->defined) {
        read_clog2_found(p, READ_CLOG2_DEFINITION, item->offset,
                         "expected one, got a second one for event %" PRId32, start);
    }
    d->defined = true;
    d->number = number;
    take_text(p, item, at, READ_CLOG2_COLOUR_SIZE, d->colour);
    take_text(p, item, at + READ_CLOG2_COLOUR_SIZE, READ_CLOG2_NAME_SIZE, d->name);
    take_text(p, item, at + READ_CLOG2_COLOUR_SIZE + READ_CLOG2_NAME_SIZE, READ_CLOG2_FORMAT_SIZE, d->format);
    read_clog2_check_zero(p, item, at - READ_CLOG2_DEF_PAD_SIZE, at);
    if (d->colour[0] == '\0') {
        read_clog2_found(p, READ_CLOG2_COLOUR, item->offset, "expected one for event %" PRId32, start);
    }
    if (d->name[0] == '\0') {
        read_clog2_found(p, READ_CLOG2_DEFINITION, item->offset, "expected a name for event %" PRId32, start);
    }
    check_format(p, item, d);
}

/* Checks that all announced states and events are defined. Stops at the first case: a damaged preamble may
 * announce any number. */
void read_clog2_check_announced(struct read_clog2_pass *p) {
    const struct read_clog2_info *info = read_clog2_info(p->reader);
    for (uint32_t i = 0; i < info->states + info->solos && p->status == HPCW_OK; i++) {
        int32_t event = i < info->states ? READ_CLOG2_USER_EVENT + 2 * (int32_t)i
                                         : READ_CLOG2_USER_SOLO + (int32_t)(i - info->states);
        const struct read_clog2_event *v = event_find(p, event);
        if (v == NULL || !p->definition[v->definition].defined) {
            read_clog2_found(p, READ_CLOG2_DEFINITION, 0,
                             "expected one of event %" PRId32 ", which is announced", event);
            return;
        }
    }
}
