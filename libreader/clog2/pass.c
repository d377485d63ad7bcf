/* SPDX-License-Identifier: BSD-3-Clause */
/* One pass over the records of a log: what the converter does with them, and every rule that they break
 * (doc/formats/clog2.md, "Records" and "Rules"). */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "libreader/clog2/private.h"
#include "libwriter/base/bytes.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

enum { START = 0, END = 1, SOLO = 2 };
enum { SEND = -101, RECEIVE = -102 };
enum { CARGO_SIZE = 32, FREED = 10, REMOTE = 102 };

/* Values of the maps. */
struct event_value {
    uint32_t definition, role;
};
struct line_value {
    uint64_t top; /* number of the innermost open state plus 1 */
    double since; /* when it became that */
};
struct member_value {
    int64_t rank;
};
struct queue_value {
    uint32_t head, tail; /* numbers plus 1 */
    uint64_t receives;   /* 1: those that wait are receives */
};

const char *read_clog2_rule_text(enum read_clog2_rule rule) {
    static const char *const text[READ_CLOG2_RULES] = {
        [READ_CLOG2_ID] = "event neither announced nor defined",
        [READ_CLOG2_COMM] = "rank of a communicator that no record introduced",
        [READ_CLOG2_COLOUR] = "definition without colour",
        [READ_CLOG2_FORMAT] = "format ending in %",
        [READ_CLOG2_EMPTY] = "nothing to show",
        [READ_CLOG2_INDEX] = "communicator beyond the table",
        [READ_CLOG2_ORDER] = "time out of order or range",
        [READ_CLOG2_NESTING] = "states not nested",
        [READ_CLOG2_END_ALONE] = "end without start",
        [READ_CLOG2_START_ALONE] = "start without end",
        [READ_CLOG2_EQUAL] = "equal drawables",
        [READ_CLOG2_BACKWARD] = "receive before its send",
        [READ_CLOG2_MESSAGE] = "message without partner",
        [READ_CLOG2_MESSAGE_SIZE] = "receive of another size than its send",
        [READ_CLOG2_CARGO] = "cargo that its format cannot show",
        [READ_CLOG2_DEFINITION] = "definition missing, late or contradictory",
        [READ_CLOG2_LINE] = "rank or thread beyond the preamble's",
        [READ_CLOG2_TABLE] = "communicator not as in the table",
        [READ_CLOG2_PADDING] = "padding not zero",
        [READ_CLOG2_CHAIN] = "block not ending with the time of the next",
        [READ_CLOG2_KIND] = "record that no tool shows",
    };
    return text[rule];
}

/* ------------------------------------------------------------------------------------------------------------
 *  Cases
 * --------------------------------------------------------------------------------------------------------- */

static hpcw_status found(struct read_clog2_pass *p, enum read_clog2_rule rule, uint64_t offset, hpcw_error *err,
                         const char *fmt, ...) HPCW_PRINTF(5, 6);

/* Counts a case, and refuses it if that was asked for. */
static hpcw_status found(struct read_clog2_pass *p, enum read_clog2_rule rule, uint64_t offset, hpcw_error *err,
                         const char *fmt, ...) {
    char text[256];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (p->count[rule]++ == 0) {
        p->first[rule] = offset;
    }
    return (p->refuse >> rule & 1) == 0
               ? HPCW_OK
               : read_clog2_wrong(p->reader, offset, err, "%s: %s", read_clog2_rule_text(rule), text);
}

static hpcw_status no_memory(const struct read_clog2_pass *p, hpcw_error *err) {
    return hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory for what is open at a time",
                       read_clog2_name(p->reader));
}

static int32_t get_i32(const unsigned char *bytes) {
    return (int32_t)hpcw_i_get_u32(bytes, true);
}

static uint64_t pack(int32_t high, int32_t low) {
    return (uint64_t)(uint32_t)high << 32 | (uint32_t)low;
}

static uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static hpcw_status check_zero(struct read_clog2_pass *p, const struct read_clog2_item *item, uint32_t from,
                              uint32_t to, hpcw_error *err) {
    for (uint32_t i = from; i < to; i++) {
        if (item->payload[i] != 0) {
            return found(p, READ_CLOG2_PADDING, item->offset + 24 + i, err, "expected 0, got %02x",
                         item->payload[i]);
        }
    }
    return HPCW_OK;
}

/* A number of a free place in the pool plus 1; 0: out of memory. */
static uint32_t pool_take(struct read_clog2_pass *p) {
    if (p->open_free != 0) {
        uint32_t n = p->open_free;
        p->open_free = p->open[n - 1].next;
        return n;
    }
    if (p->opens == p->open_room) {
        uint32_t room = p->open_room == 0 ? 64 : 2 * p->open_room;
        struct read_clog2_open *grown =
            room <= p->open_room ? NULL : hpcw_i_realloc(p->open, room * sizeof *grown);
        if (grown == NULL) {
            return 0;
        }
        p->open = grown;
        p->open_room = room;
    }
    return ++p->opens;
}

static void pool_give(struct read_clog2_pass *p, uint32_t n) {
    p->open[n - 1].next = p->open_free;
    p->open_free = n;
}

/* ------------------------------------------------------------------------------------------------------------
 *  Definitions (doc/formats/clog2.md, "Events and states")
 * --------------------------------------------------------------------------------------------------------- */

static bool is_announced(const struct read_clog2_pass *p, int32_t event, uint32_t *role) {
    const struct read_clog2_info *info = read_clog2_info(p->reader);
    if (event >= 0 && event < 600 + 2 * (int32_t)info->states) {
        *role = event % 2 == 0 ? START : END;
        return true;
    }
    *role = SOLO;
    return (event >= 5000 && (uint32_t)(event - 5000) < info->solos) ||
           (event >= -10 && event < -10 + (int32_t)info->known_solos);
}

static struct event_value *event_find(const struct read_clog2_pass *p, int32_t event) {
    const uint64_t key[READ_CLOG2_KEY] = {(uint32_t)event};
    return read_clog2_map_find(&p->events, key);
}

static bool event_add(struct read_clog2_pass *p, int32_t event, uint32_t definition, uint32_t role) {
    const uint64_t key[READ_CLOG2_KEY] = {(uint32_t)event};
    struct event_value *v = read_clog2_map_add(&p->events, key, NULL);
    if (v != NULL) {
        *v = (struct event_value){definition, role};
    }
    return v != NULL;
}

static bool definition_add(struct read_clog2_pass *p, bool state, int32_t number, int32_t start, int32_t end) {
    if (p->definitions == p->definition_room) {
        uint32_t room = p->definition_room == 0 ? 32 : 2 * p->definition_room;
        struct read_clog2_definition *grown =
            room <= p->definition_room ? NULL : hpcw_i_realloc(p->definition, room * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        p->definition = grown;
        p->definition_room = room;
    }
    uint32_t d = p->definitions++;
    p->definition[d] = (struct read_clog2_definition){.state = state, .number = number};
    return state ? event_add(p, start, d, START) && event_add(p, end, d, END) : event_add(p, start, d, SOLO);
}

/* What an event belongs to; NULL with HPCW_OK: neither announced nor defined. */
static hpcw_status event_get(struct read_clog2_pass *p, int32_t event, struct event_value **out,
                             hpcw_error *err) {
    *out = event_find(p, event);
    uint32_t role;
    if (*out != NULL || !is_announced(p, event, &role)) {
        return HPCW_OK;
    }
    int32_t start = role == SOLO ? event : event / 2 * 2;
    if (!definition_add(p, role != SOLO, role == SOLO ? event : event / 2, start, start + 1)) {
        return no_memory(p, err);
    }
    *out = event_find(p, event);
    return HPCW_OK;
}

/* Copies a text field; what is behind its NUL must be zero. */
static hpcw_status take_text(struct read_clog2_pass *p, const struct read_clog2_item *item, uint32_t at,
                             uint32_t room, char *text, hpcw_error *err) {
    memcpy(text, item->payload + at, room);
    text[room] = '\0';
    uint32_t length = (uint32_t)strlen(text);
    if (length == room) {
        return found(p, READ_CLOG2_DEFINITION, item->offset + 24 + at, err,
                     "expected a text of at most %" PRIu32 " bytes, got \"%s\"", room - 1, text);
    }
    return check_zero(p, item, at + length, at + room, err);
}

/* The pieces of a format must be ones that exist, and fit (doc/formats/clog2.md, "Cargo"). */
static hpcw_status check_format(struct read_clog2_pass *p, const struct read_clog2_item *item,
                                const char *format, hpcw_error *err) {
    uint32_t size = 0;
    for (const char *c = strchr(format, '%'); c != NULL; c = strchr(c + 2, '%')) {
        switch (c[1]) {
        case '\0':
            return found(p, READ_CLOG2_FORMAT, item->offset, err, "expected a letter after %%, got \"%s\"",
                         format);
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
            return found(p, READ_CLOG2_CARGO, item->offset, err,
                         "expected one of s h d l x X e E after %%, got \"%s\"", format);
        }
    }
    return size <= CARGO_SIZE
               ? HPCW_OK
               : found(p, READ_CLOG2_CARGO, item->offset, err,
                       "expected a format of at most 32 bytes, got %" PRIu32 " for \"%s\"", size, format);
}

static hpcw_status define(struct read_clog2_pass *p, const struct read_clog2_item *item, hpcw_error *err) {
    bool state = item->kind == 2;
    int32_t start = get_i32(item->payload + (state ? 4 : 0));
    int32_t end = state ? get_i32(item->payload + 8) : start;
    int32_t number = get_i32(item->payload);
    uint32_t text_at = state ? 16 : 8;
    struct event_value *first, *second;
    hpcw_status s = event_get(p, start, &first, err);
    if (s == HPCW_OK && first == NULL) {
        second = event_find(p, end);
        if (second == NULL && !(state && start == end)) {
            s = definition_add(p, state, number, start, end) ? HPCW_OK : no_memory(p, err);
        }
    }
    if (s == HPCW_OK) {
        s = event_get(p, end, &second, err);
    }
    if (s != HPCW_OK) {
        return s;
    }
    first = event_find(p, start);
    if (first == NULL || second == NULL || first->definition != second->definition ||
        (state ? first->role != START || second->role != END : first->role != SOLO)) {
        return found(p, READ_CLOG2_DEFINITION, item->offset, err,
                     "expected the two events of one state, or one of a solo event, got %" PRId32
                     " and %" PRId32,
                     start, end);
    }
    struct read_clog2_definition *d = &p->definition[first->definition];
    if (d->used && !d->defined) {
        s = found(p, READ_CLOG2_DEFINITION, item->offset, err,
                  "expected it before its first use, event %" PRId32, start);
    }
    if (s == HPCW_OK && d->defined) {
        s = found(p, READ_CLOG2_DEFINITION, item->offset, err,
                  "expected one, got a second one for event %" PRId32, start);
    }
    d->defined = true;
    d->number = number;
    if (s == HPCW_OK) {
        s = take_text(p, item, text_at, 24, d->colour, err);
    }
    if (s == HPCW_OK) {
        s = take_text(p, item, text_at + 24, 32, d->name, err);
    }
    if (s == HPCW_OK) {
        s = take_text(p, item, text_at + 56, 40, d->format, err);
    }
    if (s == HPCW_OK) {
        s = check_zero(p, item, text_at - 4, text_at, err);
    }
    if (s == HPCW_OK && d->colour[0] == '\0') {
        s = found(p, READ_CLOG2_COLOUR, item->offset, err, "expected one for event %" PRId32, start);
    }
    if (s == HPCW_OK && d->name[0] == '\0') {
        s = found(p, READ_CLOG2_DEFINITION, item->offset, err, "expected a name for event %" PRId32, start);
    }
    return s == HPCW_OK ? check_format(p, item, d->format, err) : s;
}

/* ------------------------------------------------------------------------------------------------------------
 *  Who is who (doc/formats/clog2.md, "Communicators")
 * --------------------------------------------------------------------------------------------------------- */

static hpcw_status introduce(struct read_clog2_pass *p, const struct read_clog2_item *item, hpcw_error *err) {
    const struct read_clog2_info *info = read_clog2_info(p->reader);
    int32_t event = get_i32(item->payload), comm = get_i32(item->payload + 4),
            rank = get_i32(item->payload + 8), world = get_i32(item->payload + 12);
    if (event == FREED) {
        return HPCW_OK;
    }
    if (comm < 0 || (uint32_t)comm >= info->comms) {
        return found(p, READ_CLOG2_INDEX, item->offset + 28, err,
                     "expected one below %" PRIu32 ", got %" PRId32, info->comms, comm);
    }
    if (memcmp(read_clog2_entry(p->reader, (uint32_t)comm)->id, item->payload + 16, 32) != 0) {
        hpcw_status s = found(p, READ_CLOG2_TABLE, item->offset + 40, err,
                              "expected the identity of entry %" PRId32 ", got another", comm);
        if (s != HPCW_OK) {
            return s;
        }
    }
    if (world < 0 || (uint32_t)world >= info->ranks) {
        return found(p, READ_CLOG2_LINE, item->offset + 36, err,
                     "expected a rank of the world below %" PRIu32 ", got %" PRId32, info->ranks, world);
    }
    if (event == REMOTE) {
        return HPCW_OK;
    }
    const uint64_t key[READ_CLOG2_KEY] = {pack(comm, rank)};
    struct member_value *v = read_clog2_map_add(&p->members, key, NULL);
    if (v == NULL) {
        return no_memory(p, err);
    }
    v->rank = world;
    return HPCW_OK;
}

/* Rank of the world, or -1. */
static int64_t member(const struct read_clog2_pass *p, int32_t comm, int32_t rank) {
    const uint64_t key[READ_CLOG2_KEY] = {pack(comm, rank)};
    const struct member_value *v = read_clog2_map_find(&p->members, key);
    return v == NULL ? -1 : v->rank;
}

static hpcw_status need_member(struct read_clog2_pass *p, uint64_t offset, int32_t comm, int32_t rank,
                               int64_t *world, hpcw_error *err) {
    *world = member(p, comm, rank);
    return *world >= 0 ? HPCW_OK
                       : found(p, READ_CLOG2_COMM, offset, err,
                               "expected a communicator event before, got none for rank %" PRId32
                               " of communicator %" PRId32,
                               rank, comm);
}

/* ------------------------------------------------------------------------------------------------------------
 *  Drawables
 * --------------------------------------------------------------------------------------------------------- */

/* Two of the same kind that begin and end at the same places and times cannot be told apart
 * (doc/formats/clog2.md#clog2-19). They end together, so only those of one time are remembered. */
static hpcw_status complete(struct read_clog2_pass *p, uint64_t offset, double time,
                            const uint64_t key[READ_CLOG2_KEY], hpcw_error *err) {
    p->drawables++;
    if (p->drawables == 1 || time != p->completed_at) {
        p->completed_at = time;
        memcpy(p->last_completed, key, sizeof p->last_completed);
        if (p->completed.count > 0) {
            read_clog2_map_clear(&p->completed);
        }
        return HPCW_OK;
    }
    bool fresh;
    if (read_clog2_map_add(&p->completed, p->last_completed, NULL) == NULL ||
        read_clog2_map_add(&p->completed, key, &fresh) == NULL) {
        return no_memory(p, err);
    }
    return fresh ? HPCW_OK
                 : found(p, READ_CLOG2_EQUAL, offset, err,
                         "expected another place or time than the one before, got %.9f s", time);
}

static hpcw_status share_add(struct read_clog2_pass *p, uint32_t definition, int64_t rank, double seconds,
                             hpcw_error *err) {
    if (!p->profile) {
        return HPCW_OK;
    }
    const uint64_t key[READ_CLOG2_KEY] = {definition, (uint64_t)rank};
    struct read_clog2_share *v = read_clog2_map_add(&p->shares, key, NULL);
    if (v == NULL) {
        return no_memory(p, err);
    }
    v->count++;
    v->seconds += seconds;
    return HPCW_OK;
}

static struct line_value *line_of(struct read_clog2_pass *p, const struct read_clog2_item *item) {
    const uint64_t key[READ_CLOG2_KEY] = {pack(item->comm, item->rank), (uint32_t)item->thread};
    return read_clog2_map_add(&p->lines, key, NULL);
}

/* Tells of the innermost state of a line up to now, before another one becomes that. */
static void tell_stretch(struct read_clog2_pass *p, const struct read_clog2_item *item,
                         struct line_value *line) {
    if (p->watch != NULL && line->top != 0 && item->time > line->since) {
        int64_t rank = member(p, item->comm, item->rank);
        uint32_t definition = (uint32_t)p->open[line->top - 1].detail;
        if (rank >= 0) {
            p->watch->stretch(p->watch->context,
                              &(struct read_clog2_stretch){.state = definition,
                                                           .name = p->definition[definition].name,
                                                           .rank = (uint32_t)rank,
                                                           .from = line->since,
                                                           .to = item->time});
        }
    }
    line->since = item->time;
}

static hpcw_status start_state(struct read_clog2_pass *p, const struct read_clog2_item *item,
                               uint32_t definition, hpcw_error *err) {
    struct line_value *line = line_of(p, item);
    uint32_t n = line == NULL ? 0 : pool_take(p);
    if (n == 0) {
        return no_memory(p, err);
    }
    tell_stretch(p, item, line);
    hpcw_status s = HPCW_OK;
    for (uint32_t i = (uint32_t)line->top; i != 0; i = p->open[i - 1].next) {
        if (p->open[i - 1].detail == (int32_t)definition) {
            s = found(p, READ_CLOG2_NESTING, item->offset, err,
                      "expected its end first, got state %" PRId32 " inside itself",
                      p->definition[definition].number);
            break;
        }
    }
    p->open[n - 1] = (struct read_clog2_open){
        .time = item->time, .offset = item->offset, .next = (uint32_t)line->top, .detail = (int32_t)definition};
    line->top = n;
    return s;
}

/* The oldest open state of its kind on its line ends. */
static hpcw_status end_state(struct read_clog2_pass *p, const struct read_clog2_item *item, uint32_t definition,
                             hpcw_error *err) {
    struct line_value *line = line_of(p, item);
    if (line == NULL) {
        return no_memory(p, err);
    }
    uint32_t above = 0, oldest = 0, above_oldest = 0;
    for (uint32_t i = (uint32_t)line->top; i != 0; above = i, i = p->open[i - 1].next) {
        if (p->open[i - 1].detail == (int32_t)definition) {
            oldest = i;
            above_oldest = above;
        }
    }
    if (oldest == 0) {
        return found(p, READ_CLOG2_END_ALONE, item->offset, err,
                     "expected state %" PRId32 " to be open on rank %" PRId32 " of communicator %" PRId32
                     ", thread %" PRId32,
                     p->definition[definition].number, item->rank, item->comm, item->thread);
    }
    tell_stretch(p, item, line);
    hpcw_status s = HPCW_OK;
    struct read_clog2_open *o = &p->open[oldest - 1];
    if (above_oldest != 0) {
        s = found(p, READ_CLOG2_NESTING, item->offset, err,
                  "expected the end of state %" PRId32 " first, got that of state %" PRId32,
                  p->definition[p->open[line->top - 1].detail].number, p->definition[definition].number);
        p->open[above_oldest - 1].next = o->next;
    } else {
        line->top = o->next;
    }
    double begin = o->time;
    pool_give(p, oldest);
    int64_t world = -1;
    if (s == HPCW_OK) {
        s = need_member(p, item->offset, item->comm, item->rank, &world, err);
    }
    if (s == HPCW_OK) {
        const uint64_t key[READ_CLOG2_KEY] = {pack(item->comm, item->rank),
                                              pack((int32_t)definition, item->thread), bits_of(begin)};
        s = complete(p, item->offset, item->time, key, err);
    }
    if (s == HPCW_OK && p->watch != NULL && world >= 0) {
        p->watch->state(p->watch->context, &(struct read_clog2_stretch){.state = definition,
                                                                        .name = p->definition[definition].name,
                                                                        .rank = (uint32_t)world,
                                                                        .from = begin,
                                                                        .to = item->time});
    }
    return s == HPCW_OK ? share_add(p, definition, world, item->time - begin, err) : s;
}

static hpcw_status solo_event(struct read_clog2_pass *p, const struct read_clog2_item *item,
                              uint32_t definition, hpcw_error *err) {
    int64_t world;
    hpcw_status s = need_member(p, item->offset, item->comm, item->rank, &world, err);
    if (s == HPCW_OK) {
        const uint64_t key[READ_CLOG2_KEY] = {pack(item->comm, item->rank),
                                              pack((int32_t)definition, item->thread), bits_of(item->time)};
        s = complete(p, item->offset, item->time, key, err);
    }
    return s == HPCW_OK ? share_add(p, definition, world, 0, err) : s;
}

/* Whether cargo has what its format shows: doc/formats/clog2.md#clog2-23. */
static bool cargo_fits(const unsigned char *cargo, const char *format) {
    uint32_t at = 0;
    for (const char *c = strchr(format, '%'); c != NULL && c[1] != '\0'; c = strchr(c + 2, '%')) {
        if (c[1] == 's') {
            if (at + 2 > CARGO_SIZE) {
                return false;
            }
            uint32_t length = hpcw_i_get_u16(cargo + at, true);
            at += 2 + length;
        } else {
            at += c[1] == 'h' ? 2 : c[1] == 'l' || c[1] == 'X' || c[1] == 'E' ? 8 : 4;
        }
        if (at > CARGO_SIZE) {
            return false;
        }
    }
    return true;
}

static hpcw_status event(struct read_clog2_pass *p, const struct read_clog2_item *item, hpcw_error *err) {
    int32_t id = get_i32(item->payload);
    struct event_value *v;
    if (id == -1) {
        return HPCW_OK;
    }
    hpcw_status s = event_get(p, id, &v, err);
    if (s != HPCW_OK) {
        return s;
    }
    if (v == NULL) {
        return found(p, READ_CLOG2_ID, item->offset + 24, err,
                     "expected one of the ids announced, got %" PRId32, id);
    }
    struct event_value e = *v;
    struct read_clog2_definition *d = &p->definition[e.definition];
    if (!d->used && !d->defined) {
        s = found(p, READ_CLOG2_DEFINITION, item->offset, err,
                  "expected one of event %" PRId32 " before its use", id);
    }
    d->used = true;
    if (s == HPCW_OK) {
        s = check_zero(p, item, 4, 8, err);
    }
    if (s == HPCW_OK && item->kind == 6 && d->defined && !cargo_fits(item->payload + 8, d->format)) {
        s = found(p, READ_CLOG2_CARGO, item->offset + 32, err, "expected what \"%s\" shows, got too little",
                  d->format);
    }
    if (s != HPCW_OK) {
        return s;
    }
    return e.role == START ? start_state(p, item, e.definition, err)
           : e.role == END ? end_state(p, item, e.definition, err)
                           : solo_event(p, item, e.definition, err);
}

/* ------------------------------------------------------------------------------------------------------------
 *  Messages
 * --------------------------------------------------------------------------------------------------------- */

struct ends {
    int32_t from_comm, from_rank, to_comm, to_rank, tag;
};

/* Send and receive have met. */
static hpcw_status arrow(struct read_clog2_pass *p, const struct read_clog2_item *item, const struct ends *ends,
                         const struct read_clog2_open *other, int32_t size, bool is_send, hpcw_error *err) {
    p->arrows++;
    int64_t from, to = -1;
    hpcw_status s = need_member(p, item->offset, ends->from_comm, ends->from_rank, &from, err);
    if (s == HPCW_OK) {
        s = need_member(p, item->offset, ends->to_comm, ends->to_rank, &to, err);
    }
    if (s == HPCW_OK && is_send) {
        s = found(p, READ_CLOG2_BACKWARD, item->offset, err,
                  "expected the send first, got it at %.9f s and its receive at %.9f s", item->time,
                  other->time);
    }
    if (s == HPCW_OK && size != other->detail) {
        s = found(p, READ_CLOG2_MESSAGE_SIZE, item->offset + 40, err,
                  "expected %" PRId32 " bytes, got %" PRId32, other->detail, size);
    }
    if (s == HPCW_OK) {
        const uint64_t key[READ_CLOG2_KEY] = {pack(ends->from_comm, ends->from_rank) ^ UINT64_C(1) << 63,
                                              pack(ends->to_comm, ends->to_rank), bits_of(other->time)};
        s = complete(p, item->offset, item->time, key, err);
    }
    if (s == HPCW_OK && p->profile) {
        const uint64_t key[READ_CLOG2_KEY] = {(uint64_t)from, (uint64_t)to};
        struct read_clog2_flow *f = read_clog2_map_add(&p->flows, key, NULL);
        if (f == NULL) {
            return no_memory(p, err);
        }
        int32_t sent = is_send ? size : other->detail;
        f->count++;
        f->bytes += sent > 0 ? (uint64_t)sent : 0;
    }
    return s;
}

static hpcw_status message(struct read_clog2_pass *p, const struct read_clog2_item *item, hpcw_error *err) {
    int32_t id = get_i32(item->payload), peer_comm = get_i32(item->payload + 4),
            peer = get_i32(item->payload + 8);
    int32_t tag = get_i32(item->payload + 12), size = get_i32(item->payload + 16);
    bool is_send = id == SEND;
    if (!is_send && id != RECEIVE) {
        return found(p, READ_CLOG2_ID, item->offset + 24, err,
                     "expected -101 (send) or -102 (receive), got %" PRId32, id);
    }
    const struct read_clog2_info *info = read_clog2_info(p->reader);
    hpcw_status s = check_zero(p, item, 20, 24, err);
    if (s == HPCW_OK && (peer_comm < 0 || (uint32_t)peer_comm >= info->comms)) {
        s = found(p, READ_CLOG2_INDEX, item->offset + 28, err, "expected one below %" PRIu32 ", got %" PRId32,
                  info->comms, peer_comm);
    }
    if (s != HPCW_OK) {
        return s;
    }
    const struct ends ends = is_send ? (struct ends){item->comm, item->rank, peer_comm, peer, tag}
                                     : (struct ends){peer_comm, peer, item->comm, item->rank, tag};
    const uint64_t key[READ_CLOG2_KEY] = {pack(ends.from_comm, ends.from_rank),
                                          pack(ends.to_comm, ends.to_rank), (uint32_t)tag};
    struct queue_value *q = read_clog2_map_add(&p->queues, key, NULL);
    if (q == NULL) {
        return no_memory(p, err);
    }
    if (q->head != 0 && (q->receives == 1) == is_send) {
        struct read_clog2_open other = p->open[q->head - 1];
        pool_give(p, q->head);
        q->head = other.next;
        if (q->head == 0) {
            read_clog2_map_remove(&p->queues, q);
        }
        return arrow(p, item, &ends, &other, size, is_send, err);
    }
    uint32_t n = pool_take(p);
    if (n == 0) {
        return no_memory(p, err);
    }
    p->open[n - 1] = (struct read_clog2_open){.time = item->time, .offset = item->offset, .detail = size};
    if (q->head == 0) {
        q->head = n;
    } else {
        p->open[q->tail - 1].next = n;
    }
    q->tail = n;
    q->receives = is_send ? 0 : 1;
    return HPCW_OK;
}

/* ------------------------------------------------------------------------------------------------------------
 *  The pass
 * --------------------------------------------------------------------------------------------------------- */

static hpcw_status check_head(struct read_clog2_pass *p, const struct read_clog2_item *item, hpcw_error *err) {
    const struct read_clog2_info *info = read_clog2_info(p->reader);
    hpcw_status s = HPCW_OK;
    double least = p->records == 0 ? 0 : p->end;
    if (!(item->time >= least && item->time < 1e8)) {
        s = found(p, READ_CLOG2_ORDER, item->offset, err, "expected %.9f s to below 1e8 s, got %.9f", least,
                  item->time);
    }
    if (s == HPCW_OK && (item->comm < 0 || (uint32_t)item->comm >= info->comms)) {
        s = found(p, READ_CLOG2_INDEX, item->offset + 8, err, "expected one below %" PRIu32 ", got %" PRId32,
                  info->comms, item->comm);
    }
    if (s == HPCW_OK && (item->rank < 0 || (uint32_t)item->rank >= info->ranks || item->thread < 0 ||
                         (uint32_t)item->thread >= info->threads)) {
        s = found(p, READ_CLOG2_LINE, item->offset + 12, err,
                  "expected rank and thread below %" PRIu32 " and %" PRIu32 ", got %" PRId32 " and %" PRId32,
                  info->ranks, info->threads, item->rank, item->thread);
    }
    if (p->records == 0) {
        p->begin = item->time;
    }
    p->end = item->time;
    p->records++;
    return s;
}

static hpcw_status take(struct read_clog2_pass *p, const struct read_clog2_item *item, hpcw_error *err) {
    hpcw_status s = check_head(p, item, err);
    if (s != HPCW_OK) {
        return s;
    }
    switch (item->kind) {
    case 2:
    case 3:
        return define(p, item, err);
    case 5:
    case 6:
        return event(p, item, err);
    case 7:
        return message(p, item, err);
    case 9:
        return introduce(p, item, err);
    case 8:
    case 10:
        return found(p, READ_CLOG2_KIND, item->offset + 20, err, "expected another, got type %" PRId32,
                     item->kind);
    default:
        return HPCW_OK; /* constants and time shifts are information only */
    }
}

/* What only the end shows. */
static hpcw_status close_pass(struct read_clog2_pass *p, hpcw_error *err) {
    const struct read_clog2_frame *frame = read_clog2_frame(p->reader);
    const struct read_clog2_info *info = read_clog2_info(p->reader);
    hpcw_status s = HPCW_OK;
    const uint64_t *key;
    const struct line_value *line;
    const struct queue_value *queue;
    for (size_t at = 0; s == HPCW_OK && (line = read_clog2_map_next(&p->lines, &at, &key)) != NULL;) {
        for (uint32_t i = (uint32_t)line->top; s == HPCW_OK && i != 0; i = p->open[i - 1].next) {
            s = found(p, READ_CLOG2_START_ALONE, p->open[i - 1].offset, err,
                      "expected an end of state %" PRId32, p->definition[p->open[i - 1].detail].number);
        }
    }
    for (size_t at = 0; s == HPCW_OK && (queue = read_clog2_map_next(&p->queues, &at, &key)) != NULL;) {
        for (uint32_t i = queue->head; s == HPCW_OK && i != 0; i = p->open[i - 1].next) {
            s = found(p, READ_CLOG2_MESSAGE, p->open[i - 1].offset, err, "expected a %s with tag %" PRIu64,
                      queue->receives == 1 ? "send" : "receive", key[2]);
        }
    }
    /* One case is enough to know: a damaged preamble may announce any number. */
    bool missing = false;
    for (uint32_t i = 0; s == HPCW_OK && !missing && i < info->states + info->solos; i++) {
        int32_t id = i < info->states ? 600 + 2 * (int32_t)i : 5000 + (int32_t)(i - info->states);
        const struct event_value *v = event_find(p, id);
        missing = v == NULL || !p->definition[v->definition].defined;
        if (missing) {
            s = found(p, READ_CLOG2_DEFINITION, 0, err, "expected one of event %" PRId32 ", which is announced",
                      id);
        }
    }
    for (uint32_t i = 0; s == HPCW_OK && i < info->comms; i++) {
        const struct read_clog2_entry *e = read_clog2_entry(p->reader, i);
        const struct read_clog2_entry *first = read_clog2_entry(p->reader, (uint32_t)e->index);
        if (e->index != (int32_t)i && (e->index > (int32_t)i || memcmp(first->id, e->id, sizeof e->id) != 0)) {
            s = found(p, READ_CLOG2_TABLE, info->table_at + 4 + (uint64_t)i * 40 + 32, err,
                      "expected its own index or an earlier one of the same identity, got %" PRId32, e->index);
        }
    }
    if (s == HPCW_OK && frame->chain) {
        s = found(p, READ_CLOG2_CHAIN, frame->chain_at, err, "expected the same time at both places");
    }
    if (s == HPCW_OK && frame->slack) {
        s = found(p, READ_CLOG2_PADDING, frame->slack_at, err, "expected zeros after the end of the block");
    }
    return s == HPCW_OK && p->drawables == 0
               ? found(p, READ_CLOG2_EMPTY, 0, err, "expected a state, a solo event or a message, got none")
               : s;
}

hpcw_status read_clog2_pass_run(struct read_clog2_pass *p, struct read_clog2 *reader, unsigned refuse,
                                bool profile, const struct read_clog2_watch *watch, hpcw_error *err) {
    *p = (struct read_clog2_pass){
        .reader = reader,
        .refuse = refuse,
        .profile = profile,
        .watch = watch,
        .events.value_size = sizeof(struct event_value),
        .lines.value_size = sizeof(struct line_value),
        .members.value_size = sizeof(struct member_value),
        .queues.value_size = sizeof(struct queue_value),
        .shares.value_size = sizeof(struct read_clog2_share),
        .flows.value_size = sizeof(struct read_clog2_flow),
    };
    read_clog2_rewind(reader);
    struct read_clog2_item item;
    bool more;
    hpcw_status s = read_clog2_next(reader, &item, &more, err);
    while (s == HPCW_OK && more) {
        s = take(p, &item, err);
        if (s == HPCW_OK) {
            s = read_clog2_next(reader, &item, &more, err);
        }
    }
    return s == HPCW_OK ? close_pass(p, err) : s;
}

void read_clog2_pass_free(struct read_clog2_pass *p) {
    read_clog2_map_free(&p->events);
    read_clog2_map_free(&p->lines);
    read_clog2_map_free(&p->members);
    read_clog2_map_free(&p->queues);
    read_clog2_map_free(&p->completed);
    read_clog2_map_free(&p->shares);
    read_clog2_map_free(&p->flows);
    hpcw_i_free(p->definition);
    hpcw_i_free(p->open);
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
    read_clog2_pass_free(&pass);
    return s;
}
