/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads local files of this library. Each complete piece of a file is used, and each complete record. */
#include "libwriter/format/clog2/recover/recovered_file.h"

#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/format/clog2/file/records.h"
#include "libwriter/format/clog2/log/local_file.h"

/* Half of the longest time that a log can have, ns. Limits a recording's length, and the offset between two
 * clocks. */
#define MOST_NS (INT64_C(50000000) * 1000000000)

static hpcw_status take_head(struct hpcw_i_clog2_recovered_file *f, hpcw_error *err) {
    struct hpcw_i_clog2_local_head head;
    bool whole;
    hpcw_status s = hpcw_i_clog2_recovered_read(f, 0, &head, sizeof head, &whole, err);
    if (s != HPCW_OK) {
        return s;
    }
    const struct hpcw_i_clog2_ticks *t = &head.ticks;
    /* This form of the comparisons also refuses NaN. */
    bool good = whole && head.tag == HPCW_I_CLOG2_LOCAL_TAG && hpcw_i_clog2_may_have_ranks(head.ranks) &&
                head.rank < head.ranks && t->ns > 0 && t->ns <= MOST_NS && t->begin_offset > -MOST_NS &&
                t->begin_offset < MOST_NS && head.window % 8 == 0;
    if (!good) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: expected the local file of a log, written on a machine like this", f->path);
    }
    f->run = head.run;
    f->rank = head.rank;
    f->ranks = head.ranks;
    f->block_size = head.block_size;
    f->window = head.window;
    f->ticks = head.ticks;
    f->made = head.made;
    f->in_memory = head.in_memory != 0;
    return HPCW_OK;
}

static bool are_labels(const struct hpcw_i_clog2_definition *d) {
    return memchr(d->colour, 0, sizeof d->colour) != NULL && memchr(d->format, 0, sizeof d->format) != NULL &&
           hpcw_i_clog2_labels_check(d->colour, d->name, d->format, NULL) == HPCW_OK;
}

/* Returns whether definition number `count` can follow those before it: a state or event of the user has the next
 * number, and the texts are valid. */
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
    return numbered && are_labels(d);
}

/* Returns whether offered state number `count` can follow those before it: the numbers of states ascend, and the
 * texts are valid. */
static bool is_offer(const struct hpcw_i_clog2_definition *offered, uint32_t count) {
    const struct hpcw_i_clog2_definition *d = &offered[count];
    int32_t least = count == 0 ? 0 : d[-1].number + 1;
    return d->number >= least && d->number < HPCW_CLOG2_USER_STATE && d->kind == HPCW_CLOG2_STATE_DEF &&
           are_labels(d);
}

static bool is_comm(const struct hpcw_i_clog2_recovered_file *f, const struct hpcw_i_clog2_known_comm *comm) {
    return comm->kind >= HPCW_CLOG2_INTER && comm->kind <= HPCW_CLOG2_REMOTE_HALF && comm->rank < f->ranks;
}

/* Appends the entries of a piece to the list of its kind. */
static hpcw_status take_list(struct hpcw_i_clog2_recovered_file *f, const struct hpcw_i_clog2_piece_head *piece,
                             uint64_t at, bool *whole, hpcw_error *err) {
    bool comms = piece->kind == HPCW_I_CLOG2_PIECE_COMMS, offers = piece->kind == HPCW_I_CLOG2_PIECE_OFFERED;
    size_t size = comms ? sizeof *f->known : sizeof *f->definition;
    uint32_t *count = comms ? &f->knowns : offers ? &f->offers : &f->definitions;
    struct hpcw_i_clog2_definition **list = offers ? &f->offered : &f->definition;
    if (piece->size % size != 0 || piece->size / size > HPCW_I_CLOG2_MOST_COMMS - (uint64_t)*count) {
        *whole = false;
        return HPCW_OK;
    }
    void *grown = hpcw_i_realloc(comms ? (void *)f->known : (void *)*list, *count * size + piece->size);
    if (grown == NULL) {
        return hpcw_i_fail_memory(err, f->path, 0, NULL);
    }
    f->known = comms ? grown : f->known;
    *list = comms ? *list : grown;
    hpcw_status s = hpcw_i_clog2_recovered_read(f, at, (char *)grown + *count * size, piece->size, whole, err);
    for (uint32_t i = 0; s == HPCW_OK && *whole && i < piece->size / size; i++) {
        *whole = comms    ? is_comm(f, &f->known[*count])
                 : offers ? is_offer(f->offered, *count)
                          : is_next(f->definition, *count);
        *count += *whole;
    }
    return s;
}

/* Returns whether a tick is plausible. A clock may step back a little from one CPU to another. So a tick may be up
 * to a second before the clock's zero point. */
static bool is_tick(const struct hpcw_i_clog2_ticks *t, uint64_t tick) {
    double ns = (double)(int64_t)(tick - t->base) * t->ns;
    return ns > -1e9 && ns < (double)MOST_NS;
}

/* Returns whether any word from index `from` on is not zero. */
static bool is_used(const uint64_t *words, uint64_t from, uint64_t all) {
    while (from < all && words[from] == 0) {
        from++;
    }
    return from < all;
}

/* Counts the words of complete records at `words`. Notes which of MPE's own states these records use. */
static uint32_t count_words(struct hpcw_i_clog2_recovered_file *f, const uint64_t *words, uint64_t size) {
    uint64_t all = size / sizeof *words;
    uint32_t used = 0, n = 0;
    for (; used + 2 <= all && words[used + 1] != 0 && is_tick(&f->ticks, words[used]); used += n) {
        const uint64_t *p = words + used;
        n = hpcw_i_clog2_words_of(p);
        if (used + n > all) {
            break;
        }
        uint64_t kind = p[1] >> 56;
        uint32_t state = (uint32_t)p[1] / 2;
        if ((kind == HPCW_CLOG2_BARE || kind == HPCW_CLOG2_WITH_CARGO) && state < HPCW_CLOG2_USER_STATE) {
            f->uses[state] = true;
        }
    }
    return used;
}

/* Makes the timeline of a thread, and those of all threads with lower numbers. */
static hpcw_status have_timeline(struct hpcw_i_clog2_recovered_file *f, uint32_t thread, hpcw_error *err) {
    if (thread < f->timelines) {
        return HPCW_OK;
    }
    size_t size = ((size_t)thread + 1) * sizeof *f->first;
    struct hpcw_i_clog2_chunk **first = hpcw_i_realloc(f->first, size);
    f->first = first == NULL ? f->first : first;
    struct hpcw_i_clog2_chunk **last = hpcw_i_realloc(f->last, size);
    f->last = last == NULL ? f->last : last;
    if (first == NULL || last == NULL) {
        return hpcw_i_fail_memory(err, f->path, 0, NULL);
    }
    for (; f->timelines <= thread; f->timelines++) {
        first[f->timelines] = last[f->timelines] = NULL;
    }
    return HPCW_OK;
}

/* Adds a chunk to its timeline, by the number of the chunk. Threads take windows as they become free, so a few
 * chunks are in another order in the file. */
static void add_chunk(struct hpcw_i_clog2_recovered_file *f, uint32_t thread,
                      struct hpcw_i_clog2_chunk *chunk) {
    struct hpcw_i_clog2_chunk **at = &f->first[thread], **last = &f->last[thread];
    if (*last != NULL && (*last)->order <= chunk->order) {
        at = &(*last)->next;
    }
    while (*at != NULL && (*at)->order <= chunk->order) {
        at = &(*at)->next;
    }
    chunk->next = *at;
    *at = chunk;
    *last = chunk->next == NULL ? chunk : *last;
}

static hpcw_status take_records(struct hpcw_i_clog2_recovered_file *f,
                                const struct hpcw_i_clog2_piece_head *piece, uint64_t at, uint64_t size,
                                hpcw_error *err) {
    hpcw_status s = have_timeline(f, piece->thread, err);
    if (s != HPCW_OK) {
        return s;
    }
    uint64_t *words = hpcw_i_malloc((size_t)size);
    struct hpcw_i_clog2_chunk *chunk = hpcw_i_calloc(1, sizeof *chunk);
    bool whole = false;
    s = words == NULL || chunk == NULL ? hpcw_i_fail_memory(err, f->path, 0, NULL)
                                       : hpcw_i_clog2_recovered_read(f, at, words, (size_t)size, &whole, err);
    uint32_t used = s == HPCW_OK && whole ? count_words(f, words, size) : 0;
    /* One record may be incomplete, as the process died while storing it. If data follow it, other records are
     * lost. */
    f->damaged = f->damaged || (s == HPCW_OK && whole &&
                                is_used(words, used + HPCW_I_CLOG2_MOST_WORDS, size / sizeof *words));
    if (used == 0) {
        hpcw_i_free(chunk);
    } else {
        *chunk = (struct hpcw_i_clog2_chunk){.offset = at, .words = used, .order = piece->order};
        add_chunk(f, piece->thread, chunk);
    }
    hpcw_i_free(words);
    return s;
}

/* Takes one piece. *whole: the piece is complete and valid. */
static hpcw_status take_piece(struct hpcw_i_clog2_recovered_file *f,
                              const struct hpcw_i_clog2_piece_head *piece, uint64_t at, uint64_t left,
                              bool *whole, hpcw_error *err) {
    *whole = piece->size <= left;
    if (piece->kind == HPCW_I_CLOG2_PIECE_RECORDS) {
        return take_records(f, piece, at, *whole ? piece->size : left / 8 * 8, err);
    }
    return *whole ? take_list(f, piece, at, whole, err) : HPCW_OK;
}

static bool is_piece(const struct hpcw_i_clog2_piece_head *piece) {
    return piece->tag == HPCW_I_CLOG2_PIECE_TAG && piece->size % 8 == 0 &&
           piece->size <= HPCW_I_CLOG2_CHUNK_BYTES && piece->thread < HPCW_I_CLOG2_MOST_THREADS;
}

/* Checks that a window is unused if it does not begin with a tag: it must be zero beyond its first page. The first
 * page may have a piece head that was not stored completely. */
static hpcw_status check_unused(struct hpcw_i_clog2_recovered_file *f, uint64_t at, uint64_t end,
                                hpcw_error *err) {
    uint64_t words[512]; /* a page */
    hpcw_status s = HPCW_OK;
    bool whole = true;
    for (at += sizeof words; s == HPCW_OK && !f->damaged && at + sizeof words <= end; at += sizeof words) {
        s = hpcw_i_clog2_recovered_read(f, at, words, sizeof words, &whole, err);
        f->damaged = s == HPCW_OK && whole && is_used(words, 0, sizeof words / sizeof *words);
    }
    return s;
}

/* Returns whether a piece is missing. A thread numbers its pieces, and every piece except the last has records. */
static bool has_gap(const struct hpcw_i_clog2_recovered_file *f) {
    for (uint32_t t = 0; t < f->timelines; t++) {
        uint32_t next = 0;
        for (const struct hpcw_i_clog2_chunk *c = f->first[t]; c != NULL; c = c->next) {
            if (c->order != next++) {
                return true;
            }
        }
    }
    return false;
}

/* Takes the pieces of all windows. If there is no tag where a piece could begin, the rest of the window is
 * unused. */
static hpcw_status take_pieces(struct hpcw_i_clog2_recovered_file *f, uint64_t file_size, hpcw_error *err) {
    uint64_t at = sizeof(struct hpcw_i_clog2_local_head);
    hpcw_status s = HPCW_OK;
    while (s == HPCW_OK && at < file_size && !f->truncated) {
        struct hpcw_i_clog2_piece_head piece = {0};
        uint64_t end = f->window == 0 ? file_size : (at / f->window + 1) * f->window;
        bool whole = true;
        if (end - at >= sizeof piece) {
            s = hpcw_i_clog2_recovered_read(f, at, &piece, sizeof piece, &whole, err);
        }
        if (s == HPCW_OK && whole && piece.tag == 0 && f->window > 0) {
            s = at % f->window == 0 ? check_unused(f, at, end, err) : s;
            at = end;
        } else if (s == HPCW_OK && whole && is_piece(&piece)) {
            at += sizeof piece;
            s = take_piece(f, &piece, at, file_size - at, &whole, err);
            f->truncated = !whole;
            at += piece.size;
        } else {
            f->truncated = true;
        }
    }
    return s;
}

hpcw_status hpcw_i_clog2_read_own(struct hpcw_i_clog2_recovered_file *f, uint64_t size, hpcw_error *err) {
    hpcw_status s = take_head(f, err);
    s = s == HPCW_OK ? take_pieces(f, size, err) : s;
    f->damaged = f->damaged || f->truncated || size < f->made || has_gap(f);
    return s;
}
