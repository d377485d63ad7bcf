/* SPDX-License-Identifier: BSD-3-Clause */
/* Format of an event: a byte with its kind and the fields that follow, then numbers in groups of 7 bits, lowest
 * first:
 *
 *    rank    difference to the rank of the previous event
 *    time    since the last event of this rank
 *    number, communicator, peer and tag, bytes
 *
 * The byte PASSED is followed by a time: all later events are at this time or later. */
#include "gen/spec/recording.h"

#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* CHUNK: bytes of a chunk of memory. LONGEST: most bytes of an event. */
enum { CHUNK = 1 << 20, LONGEST = 64 };

enum {
    WHAT = 0x0f,
    PASSED = 0x0f,
    OTHER_RANK = 0x10,
    NUMBER_AND_COMM = 0x20,
    PEER_AND_TAG = 0x40,
    BYTES = 0x80,
};
_Static_assert((int)SIM_MADE < (int)PASSED, "room for one more");

struct recording_chunk {
    struct recording_chunk *next;
    size_t size;
    uint8_t byte[CHUNK];
};

struct gen_recording {
    struct recording_chunk *first, *last;
    uint64_t *time_ns; /* [ranks] time of the rank's last event */
    uint32_t ranks, rank;
    size_t bytes, most;
    bool dropped;
};

hpcw_status gen_recording_new(uint32_t ranks, size_t most, struct gen_recording **out, hpcw_error *err) {
    struct gen_recording *r = hpcw_i_calloc(1, sizeof *r);
    if (r != NULL) {
        r->ranks = ranks;
        r->most = most;
        r->time_ns = hpcw_i_calloc(ranks, sizeof *r->time_ns);
    }
    *out = r;
    if (r == NULL || r->time_ns == NULL) {
        gen_recording_free(r);
        *out = NULL;
        return hpcw_i_fail_memory(err, "workload", ranks, "ranks");
    }
    return HPCW_OK;
}

static void drop(struct gen_recording *r) {
    while (r->first != NULL) {
        struct recording_chunk *next = r->first->next;
        hpcw_i_free(r->first);
        r->first = next;
    }
    r->last = NULL;
    r->dropped = true;
}

void gen_recording_free(struct gen_recording *r) {
    if (r != NULL) {
        drop(r);
        hpcw_i_free(r->time_ns);
        hpcw_i_free(r);
    }
}

bool gen_recording_is_whole(const struct gen_recording *r) {
    return !r->dropped;
}

/* ---- numbers ---- */

static uint8_t *put(uint8_t *to, uint64_t value) {
    while (value >= 0x80) {
        *to++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *to++ = (uint8_t)value;
    return to;
}

static const uint8_t *get(const uint8_t *from, uint64_t *value) {
    uint64_t v = *from & 0x7f;
    for (uint32_t shift = 7; *from++ >= 0x80; shift += 7) {
        v |= (uint64_t)(*from & 0x7f) << shift;
    }
    *value = v;
    return from;
}

/* Maps the difference of two numbers, modulo 2^32, to a number that is small if the numbers are near each
 * other. */
static uint32_t fold(uint32_t to, uint32_t from) {
    const uint32_t by = to - from;
    return by << 1 ^ (by >> 31 == 0 ? 0 : UINT32_MAX);
}

static uint32_t unfold(uint64_t folded, uint32_t from) {
    const uint32_t half = (uint32_t)folded >> 1;
    return from + ((folded & 1) == 0 ? half : ~half);
}

/* ---- to memory ---- */

/* Returns the position for the next event. NULL: the memory limit is reached, or memory ran out. */
static uint8_t *make_room(struct gen_recording *r) {
    if (r->last != NULL && r->last->size + LONGEST <= CHUNK) {
        return r->last->byte + r->last->size;
    }
    struct recording_chunk *chunk = NULL;
    if (!r->dropped && r->bytes + sizeof *chunk <= r->most) {
        chunk = hpcw_i_malloc(sizeof *chunk);
    }
    if (chunk == NULL) {
        drop(r);
        return NULL;
    }
    chunk->next = NULL;
    chunk->size = 0;
    *(r->last == NULL ? &r->first : &r->last->next) = chunk;
    r->last = chunk;
    r->bytes += sizeof *chunk;
    return chunk->byte;
}

static void end(struct gen_recording *r, const uint8_t *at) {
    r->last->size = (size_t)(at - r->last->byte);
}

hpcw_status gen_recording_event(void *recording, const struct sim_event *e, hpcw_error *err) {
    struct gen_recording *r = recording;
    uint8_t *at = make_room(r);
    (void)err;
    if (at == NULL) {
        return HPCW_OK;
    }
    uint8_t *head = at++;
    *head = (uint8_t)e->what;
    if (e->rank != r->rank) {
        *head |= OTHER_RANK;
        at = put(at, fold(e->rank, r->rank));
        r->rank = e->rank;
    }
    at = put(at, e->time_ns - r->time_ns[e->rank]);
    r->time_ns[e->rank] = e->time_ns;
    if (e->number != 0 || e->comm != 0) {
        *head |= NUMBER_AND_COMM;
        at = put(at, (uint32_t)e->comm << 8 | e->number);
    }
    if (e->peer != 0 || e->tag != 0) {
        *head |= PEER_AND_TAG;
        at = put(at, fold(e->peer, e->rank));
        at = put(at, (uint32_t)e->tag);
    }
    if (e->bytes != 0) {
        *head |= BYTES;
        at = put(at, e->bytes);
    }
    end(r, at);
    return HPCW_OK;
}

hpcw_status gen_recording_passed(void *recording, uint64_t time_ns, hpcw_error *err) {
    struct gen_recording *r = recording;
    uint8_t *at = make_room(r);
    (void)err;
    if (at != NULL) {
        *at = PASSED;
        end(r, put(at + 1, time_ns));
    }
    return HPCW_OK;
}

/* ---- and back ---- */

/* Decodes the next event, which begins with `head`. */
static const uint8_t *read_event(struct gen_recording *r, uint8_t head, const uint8_t *at,
                                 struct sim_event *e) {
    uint64_t value;
    *e = (struct sim_event){.what = head & 0x0fU};
    if ((head & OTHER_RANK) != 0) {
        at = get(at, &value);
        r->rank = unfold(value, r->rank);
    }
    e->rank = r->rank;
    at = get(at, &value);
    e->time_ns = r->time_ns[e->rank] += value;
    if ((head & NUMBER_AND_COMM) != 0) {
        at = get(at, &value);
        e->number = value & 0xff;
        e->comm = value >> 8 & SIM_LAST_COMM;
    }
    if ((head & PEER_AND_TAG) != 0) {
        at = get(at, &value);
        e->peer = unfold(value, e->rank);
        at = get(at, &value);
        e->tag = (int32_t)(uint32_t)value;
    }
    return (head & BYTES) != 0 ? get(at, &e->bytes) : at;
}

static hpcw_status play_chunk(struct gen_recording *r, const struct sim_observer *o, hpcw_error *err) {
    const struct recording_chunk *chunk = r->first;
    const uint8_t *const over = chunk->byte + chunk->size;
    hpcw_status s = HPCW_OK;
    for (const uint8_t *at = chunk->byte; s == HPCW_OK && at < over;) {
        const uint8_t head = *at++;
        if ((head & WHAT) == PASSED) {
            uint64_t time_ns;
            at = get(at, &time_ns);
            s = o->passed != NULL ? o->passed(o->context, time_ns, err) : HPCW_OK;
        } else {
            struct sim_event e;
            at = read_event(r, head, at, &e);
            s = o->event(o->context, &e, err);
        }
    }
    return s;
}

hpcw_status gen_recording_play(struct gen_recording *r, const struct sim_observer *observer, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    memset(r->time_ns, 0, r->ranks * sizeof *r->time_ns);
    r->rank = 0;
    while (s == HPCW_OK && r->first != NULL) {
        s = play_chunk(r, observer, err);
        struct recording_chunk *next = r->first->next;
        hpcw_i_free(r->first);
        r->first = next;
    }
    drop(r);
    return s;
}
