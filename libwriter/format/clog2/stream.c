/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/clog2/stream.h"

#include "base/mem.h"
#include "base/status.h"
#include "format/clog2/cargo.h"
#include "io/sys.h"

/* Open states of a line by (communicator, start event): how many. Open addressing; keys stay. */
struct open_states {
    uint64_t *key; /* 0: free */
    uint32_t *count;
    uint32_t slots, used;
};

struct hpcw_i_clog2_cursor {
    const struct hpcw_i_clog2_origin *origin;
    const struct hpcw_i_clog2_chunk *chunk;
    const uint64_t *p, *end; /* of the current record, and of its chunk */
    uint64_t *room;          /* [HPCW_I_CLOG2_CHUNK] for chunks of the local file; NULL before the first */
    const unsigned char *front, *front_end;
    double time;
    int32_t thread;
    bool bare; /* cargo is left out */
    struct open_states open;
};

/* ------------------------------------------------------------------------------------------------------------
 *  What is defined
 * --------------------------------------------------------------------------------------------------------- */

hpcw_status hpcw_i_clog2_table_make(struct hpcw_i_clog2_table *table,
                                    const struct hpcw_i_clog2_definition *definition, uint32_t count,
                                    hpcw_error *err) {
    int32_t events = 0;
    for (uint32_t i = 0; i < count; i++) {
        int32_t last = definition[i].number;
        last = definition[i].kind == HPCW_CLOG2_STATE_DEF ? 2 * last + 1 : last;
        events = last >= events ? last + 1 : events;
    }
    table->events = events;
    table->role = hpcw_i_calloc((size_t)events + 1, sizeof *table->role);
    table->pieces = hpcw_i_calloc((size_t)events + 1, sizeof *table->pieces);
    if (table->role == NULL || table->pieces == NULL) {
        return hpcw_i_fail(err, HPCW_ENOMEM, "clog2: out of memory for %d events", (int)events);
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct hpcw_i_clog2_definition *d = &definition[i];
        uint64_t pieces;
        hpcw_status s = hpcw_i_clog2_format_pieces(d->format, &pieces, err);
        if (s != HPCW_OK) {
            return s;
        }
        bool state = d->kind == HPCW_CLOG2_STATE_DEF;
        int32_t first = state ? 2 * d->number : d->number;
        for (int32_t e = first; e <= first + (state ? 1 : 0); e++) {
            table->role[e] = !state ? HPCW_I_CLOG2_SOLO : e == first ? HPCW_I_CLOG2_STARTS : HPCW_I_CLOG2_ENDS;
            table->pieces[e] = pieces;
        }
    }
    return HPCW_OK;
}

void hpcw_i_clog2_table_free(struct hpcw_i_clog2_table *table) {
    hpcw_i_free(table->role);
    hpcw_i_free(table->pieces);
}

/* ------------------------------------------------------------------------------------------------------------
 *  Open states
 * --------------------------------------------------------------------------------------------------------- */

static uint32_t *count_of(const struct open_states *o, uint64_t key) {
    for (uint32_t i = (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (o->slots - 1);;
         i = (i + 1) & (o->slots - 1)) {
        if (o->key[i] == key) {
            return &o->count[i];
        }
        if (o->key[i] == 0) {
            o->key[i] = key;
            return NULL;
        }
    }
}

/* NULL: out of memory. */
static uint32_t *open_count(struct open_states *o, uint32_t comm, int32_t start) {
    uint64_t key = ((uint64_t)comm << 32 | (uint32_t)start) + 1;
    if (2 * (o->used + 1) > o->slots) {
        struct open_states larger = {.slots = o->slots == 0 ? 64 : 2 * o->slots, .used = o->used};
        larger.key = hpcw_i_calloc(larger.slots, sizeof *larger.key);
        larger.count = hpcw_i_calloc(larger.slots, sizeof *larger.count);
        if (larger.key == NULL || larger.count == NULL) {
            hpcw_i_free(larger.key);
            hpcw_i_free(larger.count);
            return NULL;
        }
        for (uint32_t i = 0; i < o->slots; i++) {
            if (o->key[i] != 0) {
                (void)count_of(&larger, o->key[i]);
                *count_of(&larger, o->key[i]) = o->count[i];
            }
        }
        hpcw_i_free(o->key);
        hpcw_i_free(o->count);
        *o = larger;
    }
    uint32_t *count = count_of(o, key);
    if (count == NULL) {
        o->used++;
        count = count_of(o, key);
    }
    return count;
}

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

static hpcw_status next_chunk(struct hpcw_i_clog2_cursor *c, hpcw_error *err) {
    const struct hpcw_i_clog2_chunk *chunk = c->chunk;
    const uint64_t *data = chunk->data;
    if (data == NULL && chunk->words > 0) {
        size_t got = 0, size = chunk->words * sizeof *c->room;
        if (c->room == NULL) {
            c->room = hpcw_i_malloc(HPCW_I_CLOG2_CHUNK * sizeof *c->room);
        }
        if (c->room == NULL) {
            return hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory to read it", c->origin->local);
        }
        int e = hpcw_i_sys_pread(c->origin->fd, c->room, size, chunk->offset, &got);
        if (e != 0 || got != size) {
            return e != 0 ? hpcw_i_fail_sys(err, e, "%s: cannot read %zu bytes at offset %llu",
                                            c->origin->local, size, (unsigned long long)chunk->offset)
                          : hpcw_i_fail(err, HPCW_ETRUNCATED, "%s: at offset %llu: wanted %zu bytes, got %zu",
                                        c->origin->local, (unsigned long long)chunk->offset, size, got);
        }
        data = c->room;
    }
    c->p = data;
    c->end = data + chunk->words;
    c->chunk = chunk->next;
    return HPCW_OK;
}

/* Whether the record may be in the file; counts why not. *good: it may. */
static hpcw_status judge(struct hpcw_i_clog2_stream *s, struct hpcw_i_clog2_cursor *c, bool *good,
                         hpcw_error *err) {
    const struct hpcw_i_clog2_table *t = s->table;
    const struct hpcw_i_clog2_origin *o = c->origin;
    const uint64_t *p = c->p;
    uint32_t comm = comm_at(p), kind = kind_at(p);
    int32_t event = event_at(p);
    *good = comm < o->places && o->place[comm].rank >= 0 && o->place[comm].index >= 0;
    c->bare = false;
    if (kind == HPCW_CLOG2_MESSAGE) {
        uint32_t peer_comm = (uint32_t)(p[3] >> 32);
        int32_t peer = (int32_t)(uint32_t)(p[2] >> 32), tag = (int32_t)(uint32_t)p[2];
        *good = *good && (event == HPCW_CLOG2_SEND || event == HPCW_CLOG2_RECEIVE) && peer_comm < o->places &&
                o->place[peer_comm].index >= 0 && peer >= 0 && (uint32_t)peer < t->ranks && tag >= 0;
    } else if (kind == HPCW_CLOG2_COMM_EVENT) {
        *good = *good && (uint32_t)event < o->places && o->place[event].index >= 0;
    } else {
        *good = *good && event >= 0 && event < t->events && t->role[event] != HPCW_I_CLOG2_NO_EVENT &&
                (kind == HPCW_CLOG2_BARE || kind == HPCW_CLOG2_WITH_CARGO);
        if (*good && t->role[event] != HPCW_I_CLOG2_SOLO) {
            bool ends = t->role[event] == HPCW_I_CLOG2_ENDS;
            uint32_t *count = open_count(&c->open, comm, ends ? event - 1 : event);
            if (count == NULL) {
                return hpcw_i_fail(err, HPCW_ENOMEM, "clog2: out of memory for open states");
            }
            if (ends && *count == 0) {
                s->end_alone++;
                *good = false;
                return HPCW_OK;
            }
            *count = ends ? *count - 1 : *count + 1;
        }
        if (*good && kind == HPCW_CLOG2_WITH_CARGO && p[2] != t->pieces[event]) {
            s->bad_cargo++;
            c->bare = true;
        }
    }
    s->undefined += !*good;
    return HPCW_OK;
}

/* To the next record that may be in the file; *more: there is one. */
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
            for (uint32_t i = 0; i < c->open.slots; i++) {
                s->start_alone += c->open.count[i];
            }
            *more = false;
            return HPCW_OK;
        }
    }
    if (status == HPCW_OK) {
        const struct hpcw_i_clog2_origin *o = c->origin;
        double time = (double)(int64_t)(c->p[0] - o->base) * o->scale + o->shift;
        /* Times of a line differ, or two of its drawables could be equal: a clock may stand still or, between two CPUs,
         * step back. */
        if (!(time > c->time)) {
            uint64_t bits;
            memcpy(&bits, &c->time, sizeof bits);
            bits++;
            memcpy(&time, &bits, sizeof time);
        }
        c->time = time;
        *more = true;
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------------------
 *  Streams
 * --------------------------------------------------------------------------------------------------------- */

hpcw_status hpcw_i_clog2_stream_begin(struct hpcw_i_clog2_stream *stream,
                                      const struct hpcw_i_clog2_table *table,
                                      const struct hpcw_i_clog2_origin *origin, uint32_t count,
                                      hpcw_error *err) {
    *stream = (struct hpcw_i_clog2_stream){.table = table};
    size_t all = 0;
    for (uint32_t i = 0; i < count; i++) {
        all += 1 + (size_t)origin[i].lines;
    }
    stream->cursor = hpcw_i_calloc(all, sizeof *stream->cursor);
    stream->heap.run = hpcw_i_calloc(all, sizeof *stream->heap.run);
    if (stream->cursor == NULL || stream->heap.run == NULL) {
        return hpcw_i_fail(err, HPCW_ENOMEM, "clog2: out of memory for %zu lines", all);
    }
    /* Cursors are numbered by rank, what stands in front first, then by thread: the order of equal times. */
    hpcw_status s = HPCW_OK;
    for (uint32_t i = 0; i < count; i++) {
        struct hpcw_i_clog2_cursor *c = &stream->cursor[stream->cursors++];
        c->origin = &origin[i];
        c->front = origin[i].front;
        c->front_end = c->front + origin[i].front_size;
        if (c->front != c->front_end) {
            c->time = hpcw_i_get_f64(c->front, true);
            hpcw_i_clog2_heap_push(&stream->heap, c->time, stream->cursors - 1);
        }
        for (uint32_t l = 0; s == HPCW_OK && l < origin[i].lines; l++) {
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
        hpcw_i_free(stream->cursor[i].open.key);
        hpcw_i_free(stream->cursor[i].open.count);
    }
    hpcw_i_free(stream->cursor);
    hpcw_i_free(stream->heap.run);
}

bool hpcw_i_clog2_stream_peek(struct hpcw_i_clog2_stream *stream, double *time, uint32_t *size,
                              uint32_t *rank) {
    if (stream->heap.count == 0) {
        return false;
    }
    const struct hpcw_i_clog2_cursor *c = &stream->cursor[stream->heap.run[0].number];
    *time = stream->heap.run[0].time;
    *rank = c->origin->rank;
    int32_t kind = c->front != c->front_end ? (int32_t)hpcw_i_get_u32(c->front + 20, true)
                   : c->bare                ? HPCW_CLOG2_BARE
                                            : (int32_t)kind_at(c->p);
    *size = hpcw_i_clog2_size(kind);
    return true;
}

static void encode(const struct hpcw_i_clog2_cursor *c, unsigned char *to) {
    const struct hpcw_i_clog2_origin *o = c->origin;
    const uint64_t *p = c->p;
    const struct hpcw_i_clog2_place *place = &o->place[comm_at(p)];
    uint32_t kind = c->bare ? HPCW_CLOG2_BARE : kind_at(p);
    if (kind == HPCW_CLOG2_COMM_EVENT) {
        const struct hpcw_i_clog2_place *made = &o->place[event_at(p)];
        static const int32_t events[] = {HPCW_CLOG2_INTER_CREATE, HPCW_CLOG2_INTRA_CREATE,
                                         HPCW_CLOG2_LOCAL_CREATE, HPCW_CLOG2_REMOTE_CREATE};
        const hpcw_clog2_record r = {
            .time = c->time,
            .comm = place->index,
            .rank = place->rank,
            .thread = c->thread,
            .kind = HPCW_CLOG2_COMM_EVENT,
            .as.comm = {events[made->kind], made->index, made->rank, (int32_t)o->rank, &made->id}};
        hpcw_i_clog2_encode(&r, to);
        return;
    }
    hpcw_i_clog2_put_head(to, c->time, place->index, place->rank, c->thread, (int32_t)kind);
    to += HPCW_I_CLOG2_HEAD;
    hpcw_i_put_u32(to, (uint32_t)event_at(p), true);
    switch (kind) {
    case HPCW_CLOG2_BARE:
        hpcw_i_put_u32(to + 4, 0, true);
        break;
    case HPCW_CLOG2_MESSAGE:
        hpcw_i_put_u32(to + 4, (uint32_t)o->place[p[3] >> 32].index, true);
        hpcw_i_put_u32(to + 8, (uint32_t)(p[2] >> 32), true);
        hpcw_i_put_u32(to + 12, (uint32_t)p[2], true);
        hpcw_i_put_u32(to + 16, (uint32_t)p[3], true);
        hpcw_i_put_u32(to + 20, 0, true);
        break;
    default:
        hpcw_i_put_u32(to + 4, 0, true);
        memcpy(to + 8, p + 3, HPCW_CLOG2_CARGO);
        break;
    }
}

hpcw_status hpcw_i_clog2_stream_take(struct hpcw_i_clog2_stream *stream, unsigned char *to, hpcw_error *err) {
    uint32_t number = stream->heap.run[0].number;
    struct hpcw_i_clog2_cursor *c = &stream->cursor[number];
    bool more = true;
    hpcw_status s = HPCW_OK;
    stream->records++;
    if (c->front != c->front_end) {
        uint32_t size = hpcw_i_clog2_size((int32_t)hpcw_i_get_u32(c->front + 20, true));
        memcpy(to, c->front, size);
        c->front += size;
        more = c->front != c->front_end;
        c->time = more ? hpcw_i_get_f64(c->front, true) : c->time;
    } else {
        encode(c, to);
        c->p += hpcw_i_clog2_words_of(c->p);
        s = advance(stream, c, &more, err);
    }
    if (s == HPCW_OK && more) {
        stream->heap.run[0].time = c->time;
        hpcw_i_clog2_heap_settle(&stream->heap);
    } else {
        hpcw_i_clog2_heap_pop(&stream->heap);
    }
    return s;
}
