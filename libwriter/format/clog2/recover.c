/* SPDX-License-Identifier: BSD-3-Clause */
/* Local files of a run that died, made into a log. What was in memory then is gone; every piece in a file counts. */
#include "libwriter/format/clog2/recover.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/format/clog2/front.h"
#include "libwriter/format/clog2/local.h"
#include "libwriter/format/clog2/merge.h"
#include "libwriter/format/clog2/records.h"
#include "libwriter/io/sys.h"

/* Half of the time that a log may last: of a recording, and between the clocks of two processes. */
#define MOST_NS (INT64_C(50000000) * 1000000000)

static hpcw_status no_memory(const char *path, hpcw_error *err) {
    return hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory to recover it", path);
}

hpcw_status hpcw_i_clog2_local_read(const struct hpcw_i_clog2_file *f, uint64_t offset, void *to, size_t size,
                                    bool *whole, hpcw_error *err) {
    size_t got = 0;
    int e = hpcw_i_sys_pread(f->fd, to, size, offset, &got);
    *whole = e == 0 && got == size;
    return e == 0 ? HPCW_OK
                  : hpcw_i_fail_sys(err, e, "%s: cannot read %zu bytes at offset %llu", f->path, size,
                                    (unsigned long long)offset);
}

/* ------------------------------------------------------------------------------------------------------------
 *  Our own local files
 * --------------------------------------------------------------------------------------------------------- */

static hpcw_status take_head(struct hpcw_i_clog2_file *f, hpcw_error *err) {
    struct hpcw_i_clog2_local_head head;
    bool whole;
    hpcw_status s = hpcw_i_clog2_local_read(f, 0, &head, sizeof head, &whole, err);
    if (s != HPCW_OK) {
        return s;
    }
    const struct hpcw_i_clog2_ticks *t = &head.ticks;
    /* Written so that NaN fails. */
    bool good = whole && head.tag == HPCW_I_CLOG2_LOCAL_TAG && hpcw_i_clog2_may_have_ranks(head.ranks) &&
                head.rank < head.ranks && t->ns > 0 && t->ns <= MOST_NS && t->begin_offset > -MOST_NS &&
                t->begin_offset < MOST_NS;
    if (!good) {
        return hpcw_i_fail(err, HPCW_EFORMAT, "%s: wanted the local file of a log, written on such a machine",
                           f->path);
    }
    f->run = head.run;
    f->rank = head.rank;
    f->ranks = head.ranks;
    f->block_size = head.block_size;
    f->ticks = head.ticks;
    return HPCW_OK;
}

/* Of this many definitions the next one: what was stored is what was defined, unless the file is damaged. */
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

static bool is_comm(const struct hpcw_i_clog2_file *f, const struct hpcw_i_clog2_known_comm *comm) {
    return comm->kind >= HPCW_CLOG2_INTER && comm->kind <= HPCW_CLOG2_REMOTE_HALF && comm->rank < f->ranks;
}

/* A list of definitions or communicators goes on. */
static hpcw_status take_list(struct hpcw_i_clog2_file *f, const struct hpcw_i_clog2_piece_head *piece,
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
        return no_memory(f->path, err);
    }
    f->known = comms ? grown : f->known;
    f->definition = comms ? f->definition : grown;
    hpcw_status s =
        hpcw_i_clog2_local_read(f, at, (char *)grown + *count * size, (size_t)piece->size, whole, err);
    for (uint32_t i = 0; s == HPCW_OK && *whole && i < piece->size / size; i++) {
        *whole = comms ? is_comm(f, &f->known[*count]) : is_next(f->definition, *count);
        *count += *whole;
    }
    return s;
}

/* A clock may step back a little between two CPUs, but not behind the moment when it was chosen. */
static bool is_tick(const struct hpcw_i_clog2_ticks *t, uint64_t tick) {
    double ns = (double)(int64_t)(tick - t->base) * t->ns;
    return ns > -1e9 && ns < (double)MOST_NS;
}

/* Lines are numbered by threads. The last piece may be cut short: what is there of it counts, up to the first record
 * that is not. */
static hpcw_status take_records(struct hpcw_i_clog2_file *f, const struct hpcw_i_clog2_piece_head *piece,
                                uint64_t at, uint64_t size, hpcw_error *err) {
    if (piece->thread >= f->lines) {
        uint32_t lines = piece->thread + 1;
        struct hpcw_i_clog2_chunk **grown = hpcw_i_realloc(f->first, lines * sizeof *grown);
        if (grown == NULL) {
            return no_memory(f->path, err);
        }
        memset(grown + f->lines, 0, (lines - f->lines) * sizeof *grown);
        f->first = grown;
        f->lines = lines;
    }
    uint64_t *words = hpcw_i_malloc((size_t)size);
    struct hpcw_i_clog2_chunk *chunk = hpcw_i_calloc(1, sizeof *chunk);
    bool whole = false;
    hpcw_status s = words == NULL || chunk == NULL
                        ? no_memory(f->path, err)
                        : hpcw_i_clog2_local_read(f, at, words, (size_t)size, &whole, err);
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

static hpcw_status take_pieces(struct hpcw_i_clog2_file *f, uint64_t file_size, hpcw_error *err) {
    uint64_t at = sizeof(struct hpcw_i_clog2_local_head);
    hpcw_status s = HPCW_OK;
    while (s == HPCW_OK && at < file_size && !f->truncated) {
        struct hpcw_i_clog2_piece_head piece;
        bool whole;
        s = hpcw_i_clog2_local_read(f, at, &piece, sizeof piece, &whole, err);
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

static hpcw_status open_own(struct hpcw_i_clog2_file *f, uint64_t size, hpcw_error *err) {
    hpcw_status s = take_head(f, err);
    return s == HPCW_OK ? take_pieces(f, size, err) : s;
}

/* ------------------------------------------------------------------------------------------------------------
 *  One log of all
 * --------------------------------------------------------------------------------------------------------- */

static void close_file(struct hpcw_i_clog2_file *f) {
    for (uint32_t l = 0; l < f->lines; l++) {
        while (f->first[l] != NULL) {
            struct hpcw_i_clog2_chunk *next = f->first[l]->next;
            hpcw_i_free(f->first[l]);
            f->first[l] = next;
        }
    }
    hpcw_i_free(f->first);
    hpcw_i_free(f->definition);
    hpcw_i_free(f->known);
    hpcw_i_free(f->place);
    hpcw_i_buf_free(&f->front);
    if (f->fd >= 0) {
        (void)hpcw_i_sys_close(f->fd);
    }
}

static hpcw_status open_file(const char *path, struct hpcw_i_clog2_file *f, hpcw_error *err) {
    *f = (struct hpcw_i_clog2_file){.path = path, .fd = -1};
    int e = hpcw_i_sys_open(path, O_RDONLY | O_CLOEXEC, 0, &f->fd);
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s: cannot open", path);
    }
    /* The size is where reading ends: the file may still grow under a process that hangs. */
    uint64_t size = 0;
    for (uint64_t step = UINT64_C(1) << 40; step > 0; step /= 2) {
        char byte;
        bool whole;
        hpcw_status s = hpcw_i_clog2_local_read(f, size + step - 1, &byte, 1, &whole, err);
        if (s != HPCW_OK) {
            return s;
        }
        size += whole ? step : 0;
    }
    char tag[8] = "";
    bool whole;
    hpcw_status s = hpcw_i_clog2_local_read(f, 0, tag, sizeof tag, &whole, err);
    if (s != HPCW_OK) {
        return s;
    }
    f->mpe = memcmp(tag, "CLOG-02.", sizeof tag) == 0;
    return f->mpe ? hpcw_i_clog2_open_mpe(f, size, err) : open_own(f, size, err);
}

static int by_rank(const void *a_, const void *b_) {
    const struct hpcw_i_clog2_file *a = a_, *b = b_;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

/* All of one run, and every rank once; sorts them. */
static hpcw_status check_files(struct hpcw_i_clog2_file *file, size_t count, hpcw_error *err) {
    qsort(file, count, sizeof *file, by_rank);
    for (size_t i = 1; i < count; i++) {
        const struct hpcw_i_clog2_file *a = &file[i - 1], *b = &file[i];
        if (a->mpe != b->mpe || a->run != b->run || a->ranks != b->ranks || a->block_size != b->block_size) {
            return hpcw_i_fail(err, HPCW_EFORMAT, "%s: wanted a local file of the same run as %s, got another",
                               b->path, a->path);
        }
        if (a->rank == b->rank) {
            return hpcw_i_fail(err, HPCW_EFORMAT, "%s: wanted every rank once, got rank %u here and in %s",
                               b->path, b->rank, a->path);
        }
    }
    return HPCW_OK;
}

struct recovery {
    struct hpcw_i_clog2_file *file;
    size_t count;
    struct hpcw_i_clog2_definition *definition; /* of the file that has most */
    uint32_t definitions, states, solos, known_solos, threads;
    struct hpcw_i_clog2_events events;
    struct hpcw_i_clog2_comms comms;
    struct hpcw_i_clog2_origin *origin;
    uint32_t origins;
    struct hpcw_i_clog2_stream stream;
};

static hpcw_status unite(struct recovery *r, hpcw_error *err) {
    const struct hpcw_i_clog2_file *most = &r->file[0];
    hpcw_status s = HPCW_OK;
    r->comms.ranks = most->ranks;
    for (size_t i = 0; s == HPCW_OK && i < r->count; i++) {
        const struct hpcw_i_clog2_file *f = &r->file[i];
        most = f->definitions > most->definitions ? f : most;
        s = hpcw_i_clog2_comms_add(&r->comms, f->rank, f->known, f->knowns, err);
        r->threads = f->lines > r->threads ? f->lines : r->threads;
        r->threads = f->threads > r->threads ? f->threads : r->threads;
        r->states = f->states > r->states ? f->states : r->states;
        r->solos = f->solos > r->solos ? f->solos : r->solos;
        r->known_solos = f->known_solos > r->known_solos ? f->known_solos : r->known_solos;
    }
    if (s == HPCW_OK) {
        s = hpcw_i_clog2_comms_settle(&r->comms, err);
    }
    /* A rank without a file still has its entry, which must differ from all others. */
    for (uint32_t rank = 0; s == HPCW_OK && rank < r->comms.ranks; rank++) {
        hpcw_clog2_comm_id *id = &r->comms.self[rank];
        if (id->random == 0 && id->created == 0) {
            id->random = 1 + (int32_t)rank;
            id->created = -1;
        }
    }
    r->definition = hpcw_i_calloc((size_t)most->definitions + 1, sizeof *r->definition);
    if (s == HPCW_OK && r->definition == NULL) {
        s = no_memory(most->path, err);
    }
    if (s == HPCW_OK && most->definitions > 0) {
        memcpy(r->definition, most->definition, most->definitions * sizeof *r->definition);
    }
    r->definitions = s == HPCW_OK ? most->definitions : 0;
    for (size_t i = 0; s == HPCW_OK && i < r->count; i++) {
        const struct hpcw_i_clog2_file *f = &r->file[i];
        if (f->definitions > 0 &&
            memcmp(f->definition, r->definition, f->definitions * sizeof *r->definition) != 0) {
            s = hpcw_i_fail(err, HPCW_EFORMAT, "%s: wanted the definitions of %s, got others", f->path,
                            most->path);
        }
    }
    return s;
}

/* Whether a rank waited for its disk; the state is defined then. */
static void define_spill(struct recovery *r) {
    for (uint32_t i = 0; i < r->definitions; i++) {
        if (r->definition[i].kind == HPCW_CLOG2_STATE_DEF &&
            r->definition[i].number == HPCW_CLOG2_SPILL_STATE) {
            return;
        }
    }
    hpcw_i_clog2_spill_definition(&r->definition[r->definitions++]);
}

static hpcw_status make_origins(struct recovery *r, hpcw_error *err) {
    r->origin = hpcw_i_calloc(r->count, sizeof *r->origin);
    if (r->origin == NULL) {
        return no_memory(r->file[0].path, err);
    }
    int64_t zero = INT64_MAX;
    for (size_t i = 0; i < r->count; i++) {
        int64_t begin = r->file[i].ticks.begin_offset - 1000;
        zero = begin < zero ? begin : zero;
    }
    hpcw_status s = HPCW_OK;
    for (size_t i = 0; s == HPCW_OK && i < r->count; i++) {
        struct hpcw_i_clog2_file *f = &r->file[i];
        struct hpcw_i_clog2_origin *o = &r->origin[r->origins];
        if (f->knowns < 2) {
            continue; /* it died before its first piece was written */
        }
        s = hpcw_i_clog2_comms_places(&r->comms, f->rank, f->known, f->knowns, &f->place, err);
        o->rank = f->rank;
        o->base = f->ticks.base;
        o->scale = f->ticks.ns * 1e-9;
        o->shift = (double)(f->ticks.begin_offset - zero) * 1e-9;
        o->place = f->place;
        o->places = f->knowns;
        o->fd = f->fd;
        o->local = f->path;
        o->first = f->first;
        o->lines = f->lines;
        if (s == HPCW_OK && f->mpe) {
            hpcw_i_clog2_renumber_mpe(f);
        } else if (s == HPCW_OK &&
                   !hpcw_i_clog2_front(&f->front, f->rank, r->origins == 0, o->shift, &f->known[0].id,
                                       &f->known[1].id, r->definition, r->definitions)) {
            s = no_memory(f->path, err);
        }
        o->front = f->front.data;
        o->front_size = f->front.size;
        r->origins += s == HPCW_OK;
    }
    return s;
}

static hpcw_status write_log(struct recovery *r, const char *path, hpcw_error *err) {
    hpcw_clog2_options o;
    hpcw_clog2_options_init(&o);
    o.ranks = r->comms.ranks;
    o.threads = r->threads == 0 ? 1 : r->threads;
    o.states = r->states;
    o.solos = r->solos;
    o.known_solos = r->known_solos;
    o.block_size = r->file[0].block_size;
    o.comms = 1 + r->comms.ranks + r->comms.extras;
    o.comm_of = hpcw_i_clog2_comms_entry;
    o.comm_context = &r->comms;
    hpcw_clog2 *log = NULL;
    uint64_t blocks = 0;
    hpcw_status s = hpcw_clog2_open(path, NULL, &o, &log, err);
    if (s == HPCW_OK) {
        s = hpcw_i_clog2_merge_alone(log, &r->stream, &blocks, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_clog2_close(log, blocks, err);
    }
    hpcw_clog2_free(log);
    return s;
}

hpcw_status hpcw_clog2_recover(const char *path, const char *const *local, size_t count,
                               hpcw_clog2_recovered *found, hpcw_error *err) {
    hpcw_error ignored;
    err = err == NULL ? &ignored : err;
    if (path == NULL || local == NULL || count == 0) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "clog2: recover: wanted a path and at least one local file, got none");
    }
    struct recovery r = {0};
    r.file = hpcw_i_calloc(count, sizeof *r.file);
    hpcw_status s = r.file == NULL ? no_memory(path, err) : HPCW_OK;
    while (s == HPCW_OK && r.count < count) {
        s = open_file(local[r.count], &r.file[r.count], err);
        r.count++;
    }
    if (s == HPCW_OK) {
        s = check_files(r.file, r.count, err);
    }
    if (s == HPCW_OK) {
        s = unite(&r, err);
    }
    if (s == HPCW_OK && !r.file[0].mpe) {
        define_spill(&r);
        hpcw_i_clog2_count_definitions(r.definition, r.definitions, &r.states, &r.solos);
    }
    if (s == HPCW_OK) {
        s = hpcw_i_clog2_events_make(&r.events, r.definition, r.definitions, err);
        r.events.ranks = r.comms.ranks;
    }
    if (s == HPCW_OK) {
        s = make_origins(&r, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_i_clog2_stream_begin(&r.stream, &r.events, r.origin, r.origins, err);
    }
    if (s == HPCW_OK) {
        s = write_log(&r, path, err);
    }
    if (s == HPCW_OK && found != NULL) {
        *found = (hpcw_clog2_recovered){
            .records = r.stream.records,
            .left_out = r.stream.undefined + r.stream.end_alone,
            .files = (uint32_t)r.count,
        };
        for (size_t i = 0; i < r.count; i++) {
            found->truncated += r.file[i].truncated;
        }
    }
    hpcw_i_clog2_stream_free(&r.stream);
    hpcw_i_clog2_events_free(&r.events);
    hpcw_i_clog2_comms_free(&r.comms);
    for (size_t i = 0; i < r.count; i++) {
        close_file(&r.file[i]);
    }
    hpcw_i_free(r.origin);
    hpcw_i_free(r.definition);
    hpcw_i_free(r.file);
    return s;
}
