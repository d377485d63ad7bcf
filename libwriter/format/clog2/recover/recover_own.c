/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads local files of this library. Each complete piece of a file counts. */
#include "libwriter/format/clog2/recover/recovered_file.h"

#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/format/clog2/file/records.h"
#include "libwriter/format/clog2/log/local_file.h"

/* Half of the longest time of a log: the limit for a recording, and for the offset between two clocks. */
#define MOST_NS (INT64_C(50000000) * 1000000000)

static hpcw_status take_head(struct hpcw_i_clog2_recovered_file *f, hpcw_error *err) {
    struct hpcw_i_clog2_local_head head;
    bool whole;
    hpcw_status s = hpcw_i_clog2_recovered_read(f, 0, &head, sizeof head, &whole, err);
    if (s != HPCW_OK) {
        return s;
    }
    const struct hpcw_i_clog2_ticks *t = &head.ticks;
    /* Written so that NaN fails. */
    bool good = whole && head.tag == HPCW_I_CLOG2_LOCAL_TAG && hpcw_i_clog2_may_have_ranks(head.ranks) &&
                head.rank < head.ranks && t->ns > 0 && t->ns <= MOST_NS && t->begin_offset > -MOST_NS &&
                t->begin_offset < MOST_NS;
    if (!good) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: expected the local file of a log, written on a machine like this", f->path);
    }
    f->run = head.run;
    f->rank = head.rank;
    f->ranks = head.ranks;
    f->block_size = head.block_size;
    f->ticks = head.ticks;
    return HPCW_OK;
}

/* Whether the definition after `count` others is one that a recording would store there. */
static bool is_next(const struct hpcw_i_clog2_definition *definition, uint32_t count) {
    const struct hpcw_i_clog2_definition *d = &definition[count];
    uint32_t states, solos;
    hpcw_i_clog2_count_definitions(definition, count, &states, &solos);
    bool state = d->kind == HPCW_CLOG2_STATE_DEF;
    bool known = state && d->number >= 0 && d->number < HPCW_CLOG2_USER_STATE;
    bool numbered =
        known ||
        (state && states < HPCW_CLOG2_STATES && d->number == HPCW_CLOG2_USER_STATE + (int32_t)states) ||
        (d->kind == HPCW_CLOG2_EVENT_DEF && solos < HPCW_CLOG2_SOLOS &&
         d->number == HPCW_CLOG2_USER_SOLO + (int32_t)solos);
    return numbered && memchr(d->colour, 0, sizeof d->colour) != NULL &&
           memchr(d->format, 0, sizeof d->format) != NULL &&
           hpcw_i_clog2_labels_check(d->colour, d->name, d->format, NULL) == HPCW_OK;
}

static bool is_comm(const struct hpcw_i_clog2_recovered_file *f, const struct hpcw_i_clog2_known_comm *comm) {
    return comm->kind >= HPCW_CLOG2_INTER && comm->kind <= HPCW_CLOG2_REMOTE_HALF && comm->rank < f->ranks;
}

/* Appends a piece to the list of definitions or communicators. */
static hpcw_status take_list(struct hpcw_i_clog2_recovered_file *f, const struct hpcw_i_clog2_piece_head *piece,
                             uint64_t at, bool *whole, hpcw_error *err) {
    bool comms = piece->kind == HPCW_I_CLOG2_PIECE_COMMS;
    size_t size = comms ? sizeof *f->known : sizeof *f->definition;
    uint32_t *count = comms ? &f->knowns : &f->definitions;
    if (piece->size % size != 0 || piece->size / size > HPCW_I_CLOG2_MOST_COMMS - (uint64_t)*count) {
        *whole = false;
        return HPCW_OK;
    }
    void *grown =
        hpcw_i_realloc(comms ? (void *)f->known : (void *)f->definition, *count * size + (size_t)piece->size);
    if (grown == NULL) {
        return hpcw_i_fail_memory(err, f->path, 0, NULL);
    }
    f->known = comms ? grown : f->known;
    f->definition = comms ? f->definition : grown;
    hpcw_status s =
        hpcw_i_clog2_recovered_read(f, at, (char *)grown + *count * size, (size_t)piece->size, whole, err);
    for (uint32_t i = 0; s == HPCW_OK && *whole && i < piece->size / size; i++) {
        *whole = comms ? is_comm(f, &f->known[*count]) : is_next(f->definition, *count);
        *count += *whole;
    }
    return s;
}

/* A clock may step back a little from one CPU to another, but not to before it was chosen. */
static bool is_tick(const struct hpcw_i_clog2_ticks *t, uint64_t tick) {
    double ns = (double)(int64_t)(tick - t->base) * t->ns;
    return ns > -1e9 && ns < (double)MOST_NS;
}

/* Timelines are numbered by thread. The last piece may be cut short; its records count up to the first one that
 * is not complete. */
static hpcw_status take_records(struct hpcw_i_clog2_recovered_file *f,
                                const struct hpcw_i_clog2_piece_head *piece, uint64_t at, uint64_t size,
                                hpcw_error *err) {
    if (piece->thread >= f->timelines) {
        uint32_t timelines = piece->thread + 1;
        struct hpcw_i_clog2_chunk **grown = hpcw_i_realloc(f->first, timelines * sizeof *grown);
        if (grown == NULL) {
            return hpcw_i_fail_memory(err, f->path, 0, NULL);
        }
        memset(grown + f->timelines, 0, (timelines - f->timelines) * sizeof *grown);
        f->first = grown;
        f->timelines = timelines;
    }
    uint64_t *words = hpcw_i_malloc((size_t)size);
    struct hpcw_i_clog2_chunk *chunk = hpcw_i_calloc(1, sizeof *chunk);
    bool whole = false;
    hpcw_status s = words == NULL || chunk == NULL
                        ? hpcw_i_fail_memory(err, f->path, 0, NULL)
                        : hpcw_i_clog2_recovered_read(f, at, words, (size_t)size, &whole, err);
    uint32_t used = 0;
    while (s == HPCW_OK && whole && (used + 2) * sizeof *words <= size && is_tick(&f->ticks, words[used]) &&
           words[used + 1] != 0) {
        uint32_t n = hpcw_i_clog2_words_of(words + used);
        if ((used + n) * sizeof *words > size) {
            break;
        }
        used += n;
    }
    if (s != HPCW_OK || used == 0) {
        hpcw_i_free(chunk);
    } else {
        struct hpcw_i_clog2_chunk **end = &f->first[piece->thread];
        while (*end != NULL) {
            end = &(*end)->next;
        }
        *end = chunk;
        chunk->offset = at;
        chunk->words = used;
        chunk->thread = piece->thread;
    }
    f->truncated = f->truncated || used * sizeof *words != piece->size;
    hpcw_i_free(words);
    return s;
}

static hpcw_status take_pieces(struct hpcw_i_clog2_recovered_file *f, uint64_t file_size, hpcw_error *err) {
    uint64_t at = sizeof(struct hpcw_i_clog2_local_head);
    hpcw_status s = HPCW_OK;
    while (s == HPCW_OK && at < file_size && !f->truncated) {
        struct hpcw_i_clog2_piece_head piece;
        bool whole;
        s = hpcw_i_clog2_recovered_read(f, at, &piece, sizeof piece, &whole, err);
        if (s != HPCW_OK || !whole || piece.tag != HPCW_I_CLOG2_PIECE_TAG || piece.size % 8 != 0 ||
            piece.size > HPCW_I_CLOG2_CHUNK * sizeof(uint64_t) * 64 ||
            piece.thread >= HPCW_I_CLOG2_MOST_THREADS) {
            f->truncated = s == HPCW_OK;
            break;
        }
        at += sizeof piece;
        uint64_t left = file_size - at;
        uint64_t size = piece.size < left ? piece.size : left / 8 * 8;
        if (piece.kind == HPCW_I_CLOG2_PIECE_RECORDS && piece.size <= HPCW_I_CLOG2_CHUNK * sizeof(uint64_t)) {
            s = take_records(f, &piece, at, size, err);
        } else if (size < piece.size || piece.kind == HPCW_I_CLOG2_PIECE_RECORDS) {
            f->truncated = true;
        } else {
            s = take_list(f, &piece, at, &whole, err);
            f->truncated = !whole;
        }
        at += size;
    }
    return s;
}

hpcw_status hpcw_i_clog2_read_own(struct hpcw_i_clog2_recovered_file *f, uint64_t size, hpcw_error *err) {
    hpcw_status s = take_head(f, err);
    return s == HPCW_OK ? take_pieces(f, size, err) : s;
}
