/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/format/clog2/merge/stream.h"

#include <inttypes.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/format/clog2/merge/open_states.h"
#include "libwriter/io/sys.h"

enum { NO_COMM = -999999999 }; /* stands for the communicator in a record that frees this communicator */

struct hpcw_i_clog2_cursor {
    const struct hpcw_i_clog2_origin *origin;
    const struct hpcw_i_clog2_chunk *chunk;
    const uint64_t *p, *end; /* current record, and end of the chunk with this record */
    uint64_t *room; /* buffer into which chunks of the local file are read; NULL: no chunk was read so far */
    const unsigned char *encoded, *encoded_end;
    double time;
    int32_t thread;
    bool bare; /* true: the current record is written without its cargo */
    struct hpcw_i_clog2_open_states open;
};

/* ------------------------------------------------------------------------------------------------------------
 *  Cursors
 * --------------------------------------------------------------------------------------------------------- */

static uint32_t kind_at(const uint64_t *p) {
    return (uint32_t)(p[1] >> 56);
}

static uint32_t comm_at(const uint64_t *p) {
    return (uint32_t)(p[1] >> 32) & 0xffffff;
}

static int32_t event_at(const uint64_t *p) {
    return (int32_t)(uint32_t)p[1];
}

/* Returns the number of words of the largest chunk, from `chunk` to the end of the list. */
static size_t largest(const struct hpcw_i_clog2_chunk *chunk) {
    size_t words = 0;
    for (; chunk != NULL; chunk = chunk->next) {
        words = chunk->words > words ? chunk->words : words;
    }
    return words;
}

static hpcw_status next_chunk(struct hpcw_i_clog2_cursor *c, hpcw_error *err) {
    const struct hpcw_i_clog2_chunk *chunk = c->chunk;
    const uint64_t *data = chunk->data;
    if (data == NULL && chunk->words > 0) {
        size_t got = 0, size = chunk->words * sizeof *c->room;
        if (c->room == NULL) {
            c->room = hpcw_i_malloc(largest(chunk) * sizeof *c->room);
        }
        if (c->room == NULL) {
            return hpcw_i_fail_memory(err, c->origin->local, 0, NULL);
        }
        int e = hpcw_i_sys_pread(c->origin->fd, c->room, size, chunk->offset, &got);
        if (e != 0 || got != size) {
            return e != 0 ? hpcw_i_fail_sys(err, e, "%s: cannot read %zu bytes at offset %" PRIu64,
                                            c->origin->local, size, chunk->offset)
                          : hpcw_i_fail(err, HPCW_ETRUNCATED,
                                        "%s: offset %" PRIu64 ": expected %zu bytes, got %zu", c->origin->local,
                                        chunk->offset, size, got);
        }
        data = c->room;
    }
    c->p = data;
    c->end = data + chunk->words;
    c->chunk = chunk->next;
    return HPCW_OK;
}

static inline bool is_member(const struct hpcw_i_clog2_origin *o, uint32_t comm) {
    return comm < o->memberships && o->membership[comm].rank >= 0 && o->membership[comm].index >= 0;
}

/* Returns whether an event is the peer's end of a message, which this process records if the peer does not. */
static inline bool is_of_peer(int32_t event) {
    return event == HPCW_CLOG2_PEER_SEND || event == HPCW_CLOG2_PEER_RECEIVE;
}

static inline bool is_message(const struct hpcw_i_clog2_events *t, const struct hpcw_i_clog2_origin *o,
                              const uint64_t *p) {
    uint32_t peer_comm = (uint32_t)(p[3] >> 32);
    int32_t event = event_at(p), peer = (int32_t)(uint32_t)(p[2] >> 32), tag = (int32_t)(uint32_t)p[2];
    return (event == HPCW_CLOG2_SEND || event == HPCW_CLOG2_RECEIVE || is_of_peer(event)) &&
           peer_comm < o->memberships && o->membership[peer_comm].index >= 0 && peer >= 0 &&
           peer < o->membership[peer_comm].peers && (uint32_t)peer < t->ranks && tag >= 0;
}

/* Returns the time of a tick in seconds, at least a little after `before`. The clock may stand still, or step back
 * from one CPU to another, but readers warn about states or messages that do not differ at all. */
static inline double time_after(double before, const struct hpcw_i_clog2_origin *o, uint64_t tick) {
    double time = (double)(int64_t)(tick - o->base) * o->scale + o->shift;
    if (__builtin_expect(!(time > before), 0)) {
        uint64_t bits;
        memcpy(&bits, &before, sizeof bits);
        bits++;
        memcpy(&time, &bits, sizeof time);
    }
    return time;
}

/* Decides whether the current record goes into the file. *good becomes true if it does. Otherwise counts the
 * reason. */
static hpcw_status judge(struct hpcw_i_clog2_stream *s, struct hpcw_i_clog2_cursor *c, bool *good,
                         hpcw_error *err) {
    const struct hpcw_i_clog2_events *t = s->events;
    const struct hpcw_i_clog2_origin *o = c->origin;
    const uint64_t *p = c->p;
    uint32_t comm = comm_at(p), kind = kind_at(p);
    int32_t event = event_at(p);
    *good = is_member(o, comm);
    c->bare = false;
    if (kind == HPCW_CLOG2_MESSAGE) {
        *good = *good && is_message(t, o, p);
    } else if (kind == HPCW_CLOG2_COMM_EVENT) {
        /* A new communicator is written even if its parent is not in the log, because other records refer to it. */
        *good = event == HPCW_CLOG2_COMM_FREED
                    ? *good
                    : (uint32_t)event < o->memberships && o->membership[event].index >= 0;
    } else {
        uint32_t role = hpcw_i_clog2_role(t, event);
        *good = *good && role != HPCW_I_CLOG2_NO_EVENT &&
                (kind == HPCW_CLOG2_BARE || kind == HPCW_CLOG2_WITH_CARGO);
        if (*good && role != HPCW_I_CLOG2_SOLO) {
            bool ends = role == HPCW_I_CLOG2_ENDS;
            uint32_t *count = hpcw_i_clog2_open_count(&c->open, comm, ends ? event - 1 : event);
            if (count == NULL) {
                return hpcw_i_fail_memory(err, "clog2", 0, "open states");
            }
            if (ends && *count == 0) {
                s->end_alone++;
                *good = false;
                return HPCW_OK;
            }
            *count = ends ? *count - 1 : *count + 1;
        }
        if (*good && kind == HPCW_CLOG2_WITH_CARGO &&
            !hpcw_i_clog2_cargo_fits(p[2], (const unsigned char *)(p + 3), t->pieces[event])) {
            s->bad_cargo++;
            c->bare = true;
        }
    }
    s->undefined += !*good;
    return HPCW_OK;
}

/* Advances to the next record that goes into the file. *more becomes false if there is no such record. */
static hpcw_status advance(struct hpcw_i_clog2_stream *s, struct hpcw_i_clog2_cursor *c, bool *more,
                           hpcw_error *err) {
    bool good = false;
    hpcw_status status = HPCW_OK;
    while (status == HPCW_OK && !good) {
        if (c->p != c->end) {
            status = judge(s, c, &good, err);
            c->p += good ? 0 : hpcw_i_clog2_words_of(c->p);
        } else if (c->chunk != NULL) {
            status = next_chunk(c, err);
        } else {
            s->start_alone += hpcw_i_clog2_open_total(&c->open);
            *more = false;
            return HPCW_OK;
        }
    }
    if (status == HPCW_OK) {
        c->time = time_after(c->time, c->origin, c->p[0]);
        *more = true;
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------------------
 *  Streams
 * --------------------------------------------------------------------------------------------------------- */

hpcw_status hpcw_i_clog2_stream_begin(struct hpcw_i_clog2_stream *stream,
                                      const struct hpcw_i_clog2_events *events,
                                      const struct hpcw_i_clog2_origin *origin, uint32_t count,
                                      hpcw_error *err) {
    *stream = (struct hpcw_i_clog2_stream){.events = events};
    size_t all = 0;
    for (uint32_t i = 0; i < count; i++) {
        all += 1 + (size_t)origin[i].timelines;
    }
    stream->cursor = hpcw_i_calloc(all, sizeof *stream->cursor);
    stream->heap.entry = hpcw_i_calloc(all, sizeof *stream->heap.entry);
    if (stream->cursor == NULL || stream->heap.entry == NULL) {
        return hpcw_i_fail_memory(err, "clog2", all, "timelines");
    }
    /* If records of two cursors have equal times, that of the lower number is first. So number the cursors by rank;
     * in a rank, encoded records come first, then the timelines by thread. */
    hpcw_status s = HPCW_OK;
    for (uint32_t i = 0; i < count; i++) {
        struct hpcw_i_clog2_cursor *c = &stream->cursor[stream->cursors++];
        c->origin = &origin[i];
        c->encoded = origin[i].encoded;
        c->encoded_end = c->encoded + origin[i].encoded_size;
        if (c->encoded != c->encoded_end) {
            c->time = hpcw_i_get_f64(c->encoded, true);
            hpcw_i_clog2_heap_push(&stream->heap, c->time, stream->cursors - 1);
        }
        for (uint32_t l = 0; s == HPCW_OK && l < origin[i].timelines; l++) {
            bool more = false;
            c = &stream->cursor[stream->cursors++];
            c->origin = &origin[i];
            c->chunk = origin[i].first[l];
            c->thread = (int32_t)l;
            s = advance(stream, c, &more, err);
            if (more) {
                hpcw_i_clog2_heap_push(&stream->heap, c->time, stream->cursors - 1);
            }
        }
    }
    return s;
}

void hpcw_i_clog2_stream_free(struct hpcw_i_clog2_stream *stream) {
    for (uint32_t i = 0; i < stream->cursors; i++) {
        hpcw_i_free(stream->cursor[i].room);
        hpcw_i_clog2_open_free(&stream->cursor[i].open);
    }
    hpcw_i_free(stream->cursor);
    hpcw_i_free(stream->heap.entry);
}

/* Returns the size that the next record of a cursor has in the file, bytes. */
static inline uint32_t size_next(const struct hpcw_i_clog2_cursor *c) {
    int32_t kind = c->encoded != c->encoded_end ? (int32_t)hpcw_i_get_u32(c->encoded + 20, true)
                   : c->bare                    ? HPCW_CLOG2_BARE
                                                : (int32_t)kind_at(c->p);
    return hpcw_i_clog2_size(kind);
}

bool hpcw_i_clog2_stream_peek(const struct hpcw_i_clog2_stream *stream, double *time, uint32_t *size) {
    if (stream->heap.count == 0) {
        return false;
    }
    const struct hpcw_i_clog2_cursor *c = &stream->cursor[stream->heap.entry[0].number];
    *time = stream->heap.entry[0].time;
    *size = size_next(c);
    return true;
}

static void encode_comm_event(const struct hpcw_i_clog2_cursor *c, unsigned char *to) {
    const struct hpcw_i_clog2_origin *o = c->origin;
    const struct hpcw_i_clog2_membership *membership =
        &o->membership[is_member(o, comm_at(c->p)) ? comm_at(c->p) : 0];
    static const int32_t events[] = {HPCW_CLOG2_INTER_CREATE, HPCW_CLOG2_INTRA_CREATE, HPCW_CLOG2_LOCAL_CREATE,
                                     HPCW_CLOG2_REMOTE_CREATE};
    hpcw_clog2_record r = {.time = c->time,
                           .comm = membership->index,
                           .rank = membership->rank,
                           .thread = c->thread,
                           .kind = HPCW_CLOG2_COMM_EVENT,
                           .as.comm = {HPCW_CLOG2_COMM_FREE, NO_COMM, -1, -1, NULL}};
    if (event_at(c->p) != HPCW_CLOG2_COMM_FREED) {
        const struct hpcw_i_clog2_membership *made = &o->membership[event_at(c->p)];
        r.as.comm.event = events[made->kind];
        r.as.comm.comm = made->index;
        r.as.comm.rank = made->rank;
        r.as.comm.world_rank = (int32_t)o->rank;
        r.as.comm.id = &made->id;
    }
    hpcw_i_clog2_encode(&r, to);
}

/* Encodes the peer's end of a message, as a record on the timeline of the peer's first thread. */
static void encode_of_peer(const struct hpcw_i_clog2_cursor *c, unsigned char *to) {
    const struct hpcw_i_clog2_membership *own = &c->origin->membership[comm_at(c->p)];
    const hpcw_clog2_record r = {
        .time = c->time,
        .comm = c->origin->membership[c->p[3] >> 32].index,
        .rank = (int32_t)(c->p[2] >> 32),
        .kind = HPCW_CLOG2_MESSAGE,
        .as.message = {.event = event_at(c->p) == HPCW_CLOG2_PEER_SEND ? HPCW_CLOG2_SEND : HPCW_CLOG2_RECEIVE,
                       .peer_comm = own->index,
                       .peer_rank = own->rank,
                       .tag = (int32_t)(uint32_t)c->p[2],
                       .size = (int32_t)(uint32_t)c->p[3]}};
    hpcw_i_clog2_encode(&r, to);
}

static inline void encode(const struct hpcw_i_clog2_cursor *c, unsigned char *to) {
    const struct hpcw_i_clog2_origin *o = c->origin;
    const uint64_t *p = c->p;
    const struct hpcw_i_clog2_membership *membership = &o->membership[comm_at(p)];
    uint32_t kind = c->bare ? HPCW_CLOG2_BARE : kind_at(p);
    if (kind == HPCW_CLOG2_COMM_EVENT) {
        encode_comm_event(c, to);
        return;
    }
    if (kind == HPCW_CLOG2_MESSAGE && is_of_peer(event_at(p))) {
        encode_of_peer(c, to);
        return;
    }
    hpcw_i_clog2_put_head(to, c->time, membership->index, membership->rank, c->thread, (int32_t)kind);
    to += HPCW_I_CLOG2_HEAD;
    if (kind == HPCW_CLOG2_MESSAGE) {
        hpcw_i_clog2_put_pair(to, event_at(p), o->membership[p[3] >> 32].index);
        hpcw_i_put_u64(to + 8, p[2], true);
        hpcw_i_put_u64(to + 16, p[3] << 32, true);
    } else {
        hpcw_i_clog2_put_pair(to, event_at(p), 0);
        if (kind == HPCW_CLOG2_WITH_CARGO) {
            memcpy(to + 8, p + 3, HPCW_CLOG2_CARGO);
        }
    }
}

/*
 * Encodes ordinary records: bare events and messages whose communicator and state are known. Most records are of
 * this kind, many in a row. Continues while records are before `until` and fit. The caller has judged the current
 * record as good. *judged becomes true if the record after the last encoded one was good, too.
 */
static size_t take_ordinary(const struct hpcw_i_clog2_stream *stream, struct hpcw_i_clog2_cursor *c,
                            unsigned char **to, const unsigned char *end, size_t most, double until,
                            bool *judged) {
    const struct hpcw_i_clog2_events *t = stream->events;
    const struct hpcw_i_clog2_origin *o = c->origin;
    const uint64_t *p = c->p, *const last = c->end;
    unsigned char *out = *to;
    double time = c->time;
    uint32_t comm = UINT32_MAX;
    uint64_t where = 0, thread = (uint64_t)(uint32_t)c->thread << 32;
    size_t n = 0;
    *judged = true;
    while (*judged && n < most && time < until) {
        uint32_t kind = kind_at(p);
        size_t size = hpcw_i_clog2_size((int32_t)kind);
        bool message = kind == HPCW_CLOG2_MESSAGE;
        if ((message ? is_of_peer(event_at(p)) : kind != HPCW_CLOG2_BARE) || size > (size_t)(end - out)) {
            break;
        }
        if (comm_at(p) != comm) {
            comm = comm_at(p);
            where = (uint64_t)(uint32_t)o->membership[comm].index << 32 | (uint32_t)o->membership[comm].rank;
        }
        hpcw_i_put_f64(out, time, true);
        hpcw_i_put_u64(out + 8, where, true);
        hpcw_i_put_u64(out + 16, thread | kind, true);
        if (message) {
            hpcw_i_clog2_put_pair(out + 24, event_at(p), o->membership[p[3] >> 32].index);
            hpcw_i_put_u64(out + 32, p[2], true);
            hpcw_i_put_u64(out + 40, p[3] << 32, true);
        } else {
            hpcw_i_clog2_put_pair(out + 24, event_at(p), 0);
        }
        out += size;
        n++;
        p += message ? HPCW_CLOG2_WORDS_MESSAGE : HPCW_CLOG2_WORDS_BARE;
        *judged = p != last && (comm_at(p) == comm || is_member(o, comm_at(p)));
        if (*judged && kind_at(p) == HPCW_CLOG2_MESSAGE) {
            *judged = is_message(t, o, p);
        } else if (*judged) {
            uint32_t role = hpcw_i_clog2_role(t, event_at(p));
            bool starts = role == HPCW_I_CLOG2_STARTS, ends = role == HPCW_I_CLOG2_ENDS;
            uint32_t *count =
                starts || ends ? hpcw_i_clog2_open_count(&c->open, comm_at(p), event_at(p) - ends) : NULL;
            *judged = kind_at(p) == HPCW_CLOG2_BARE &&
                      (role == HPCW_I_CLOG2_SOLO || (count != NULL && (starts || *count > 0)));
            if (*judged && count != NULL) {
                *count = starts ? *count + 1 : *count - 1;
            }
        }
        if (*judged) {
            time = time_after(time, o, p[0]);
        }
    }
    c->p = p;
    c->time = time;
    *to = out;
    return n;
}

static inline hpcw_status take_next(struct hpcw_i_clog2_stream *stream, struct hpcw_i_clog2_cursor *c,
                                    unsigned char *to, bool *more, hpcw_error *err) {
    if (c->encoded == c->encoded_end) {
        encode(c, to);
        c->p += hpcw_i_clog2_words_of(c->p);
        return advance(stream, c, more, err);
    }
    uint32_t size = size_next(c);
    memcpy(to, c->encoded, size);
    c->encoded += size;
    *more = c->encoded != c->encoded_end;
    c->time = *more ? hpcw_i_get_f64(c->encoded, true) : c->time;
    return HPCW_OK;
}

hpcw_status hpcw_i_clog2_stream_fill(struct hpcw_i_clog2_stream *stream, unsigned char *to, size_t room,
                                     size_t most, size_t *size, size_t *count, hpcw_error *err) {
    struct hpcw_i_clog2_heap *heap = &stream->heap;
    size_t used = 0, n = 0;
    hpcw_status s = HPCW_OK;
    bool full = false;
    while (s == HPCW_OK && heap->count > 0 && !full) {
        /* One cursor continues while no other one comes before it. */
        struct hpcw_i_clog2_heap_entry self = heap->entry[0],
                                       other = {.time = HPCW_CLOG2_LAST, .number = UINT32_MAX};
        for (uint32_t i = 1; i < heap->count && i < 3; i++) {
            other = hpcw_i_clog2_comes_before(&heap->entry[i], &other) ? heap->entry[i] : other;
        }
        struct hpcw_i_clog2_cursor *c = &stream->cursor[self.number];
        bool more = true;
        do {
            bool judged = true;
            size_t ordinary = 0;
            if (c->encoded == c->encoded_end) {
                unsigned char *out = to + used;
                ordinary = take_ordinary(stream, c, &out, to + room, most - n, other.time, &judged);
                used = (size_t)(out - to);
                n += ordinary;
            }
            if (!judged) {
                s = advance(stream, c, &more, err);
            } else if (ordinary == 0) {
                uint32_t bytes = size_next(c);
                full = n == most || bytes > room - used;
                if (full) {
                    break;
                }
                s = take_next(stream, c, to + used, &more, err);
                used += bytes;
                n++;
            }
            self.time = c->time;
        } while (s == HPCW_OK && more && hpcw_i_clog2_comes_before(&self, &other));
        if (s == HPCW_OK && more) {
            heap->entry[0].time = self.time;
            hpcw_i_clog2_heap_settle(heap);
        } else {
            hpcw_i_clog2_heap_pop(heap);
        }
    }
    stream->records += n;
    *size = used;
    *count = n;
    return s;
}
