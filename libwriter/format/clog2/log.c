/* SPDX-License-Identifier: BSD-3-Clause */
/* Recording: definitions, lines and their chunks, and the helper thread that writes chunks to the local file. */
#include "libwriter/format/clog2/log.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/format/clog2/cargo.h"
#include "libwriter/format/clog2/local.h"
#include "libwriter/format/clog2/records.h"
#include "libwriter/io/sink.h"
#include "libwriter/io/sys.h"

#define CHUNK_BYTES (HPCW_I_CLOG2_CHUNK * sizeof(uint64_t))
#define LEAST_MEMORY (4 * (uint64_t)CHUNK_BYTES)

enum { BIN = 4096 }; /* words of a bin */

/* ------------------------------------------------------------------------------------------------------------
 *  Open and free
 * --------------------------------------------------------------------------------------------------------- */

void hpcw_clog2_log_options_init(hpcw_clog2_log_options *options) {
    const char *directory = getenv("TMPDIR");
    *options = (hpcw_clog2_log_options){
        .sync_rounds = 16,
        .memory = UINT64_C(64) << 20,
        .directory = directory == NULL || directory[0] == '\0' ? "/tmp" : directory,
        .block_size = 65536,
        .durability = HPCW_SYNC_FILE,
    };
}

static hpcw_status check_options(const hpcw_clog2_log_options *o, hpcw_error *err) {
    if ((unsigned)o->clock > HPCW_CLOG2_CLOCK_CALLER ||
        (o->clock == HPCW_CLOG2_CLOCK_CALLER && o->now == NULL)) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "clog2 log: wanted a known clock, and the function of one of the caller's, got %d",
                           (int)o->clock);
    }
    if ((unsigned)o->sync > HPCW_CLOG2_SYNC_NEIGHBOURS) {
        return hpcw_i_fail(err, HPCW_EINVAL, "clog2 log: expected a known way to compare clocks, got %d",
                           (int)o->sync);
    }
    if (o->sync_rounds == 0 || o->memory < LEAST_MEMORY) {
        return hpcw_i_fail(
            err, HPCW_EINVAL,
            "clog2 log: wanted at least 1 round of messages and %llu bytes of memory, got %u and %llu",
            (unsigned long long)LEAST_MEMORY, o->sync_rounds, (unsigned long long)o->memory);
    }
    if (o->block_size % 8 != 0 || o->block_size < HPCW_CLOG2_MIN_BLOCK ||
        o->block_size > HPCW_CLOG2_MAX_BLOCK) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "clog2 log: block size: wanted a multiple of 8 from %u to %u, got %u",
                           HPCW_CLOG2_MIN_BLOCK, HPCW_CLOG2_MAX_BLOCK, o->block_size);
    }
    return HPCW_OK;
}

static bool add_known(hpcw_clog2_log *log, const hpcw_clog2_comm_id *id, hpcw_clog2_comm_kind kind,
                      uint32_t rank) {
    struct hpcw_i_clog2_known_comm *grown =
        hpcw_i_realloc(log->known, ((size_t)log->knowns + 1) * sizeof *log->known);
    if (grown == NULL) {
        return false;
    }
    log->known = grown;
    struct hpcw_i_clog2_known_comm *k = &grown[log->knowns++];
    memset(k, 0, sizeof *k); /* goes into a file with its padding, which an assignment may leave or copy */
    k->id.random = id->random;
    k->id.created = id->created;
    memcpy(k->id.host, id->host, sizeof k->id.host);
    k->kind = (int32_t)kind;
    k->rank = rank;
    return true;
}

static hpcw_status make(const char *path, hpcw_comm *comm, const hpcw_clog2_log_options *o,
                        hpcw_clog2_log **out, hpcw_error *err) {
    hpcw_clog2_log *log = hpcw_i_calloc(1, sizeof *log);
    *out = log;
    if (log == NULL) {
        return hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory", path);
    }
    (void)pthread_mutex_init(&log->lock, NULL);
    (void)pthread_cond_init(&log->changed, NULL);
    log->comm = comm;
    log->options = *o;
    log->fd = -1;
    log->queue_end = &log->queue;
    log->most_buffers = o->memory / CHUNK_BYTES;
    log->path = hpcw_i_strdup(path);
    log->directory = o->directory == NULL ? NULL : hpcw_i_strdup(o->directory);
    if (log->path == NULL || (o->directory != NULL && log->directory == NULL)) {
        return hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory", path);
    }
    return hpcw_i_clog2_clock_begin(log, err);
}

/* Whether all processes mean the same, and the run's number, which process 0 draws. `log` is NULL after a failure. */
static hpcw_status agree_on_options(hpcw_clog2_log *log, hpcw_comm *comm, const char *path,
                                    const hpcw_clog2_log_options *o, hpcw_status s, hpcw_error *err) {
    const struct hpcw_i_same same[] = {
        {.name = "path", .text = path},
        {.name = "clock",
         .number = s == HPCW_OK ? log->clock : o->clock,
         .words = "best counter system caller"},
        {.name = "sync", .number = o->sync, .words = "best none sequential tree neighbours"},
        {.name = "sync_rounds", .number = o->sync_rounds},
        {.name = "memory", .number = o->memory},
        {.name = "block_size", .number = o->block_size},
        {.name = "durability", .number = o->durability, .words = "none file directory"},
        {.name = "sink_source", .number = o->sink_source.open != NULL, .words = "files own"},
    };
    uint64_t tag = comm->process == 0 ? hpcw_i_sink_fresh_tag() : 0;
    struct hpcw_i_words words = {.maxs = 1, .word = &tag};
    s = hpcw_i_agree_same(comm, s, path, same, sizeof same / sizeof same[0], &words, err);
    if (s == HPCW_OK) {
        log->tag = tag;
    }
    return s;
}

static hpcw_status introduce_self(hpcw_clog2_log *log, hpcw_error *err) {
    hpcw_clog2_comm_id id[2];
    for (int i = 0; i < 2; i++) {
        hpcw_clog2_log_comm_id(log, &id[i]);
    }
    hpcw_status s = hpcw_i_comm_bcast(log->comm, &id[0], sizeof id[0], 0, err);
    if (s == HPCW_OK && (!add_known(log, &id[0], HPCW_CLOG2_INTRA, (uint32_t)log->comm->process) ||
                         !add_known(log, &id[1], HPCW_CLOG2_INTRA, 0))) {
        s = hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory", log->path);
    }
    return hpcw_i_agree(log->comm, s, NULL, err);
}

hpcw_status hpcw_clog2_log_open(const char *path, hpcw_comm *comm, const hpcw_clog2_log_options *options,
                                hpcw_clog2_log **out, hpcw_error *err) {
    hpcw_error local;
    err = err == NULL ? &local : err;
    comm = hpcw_i_comm_or_self(comm);
    hpcw_clog2_log_options o;
    hpcw_clog2_log_options_init(&o);
    o = options == NULL ? o : *options;
    hpcw_clog2_log *log = NULL;
    hpcw_status s = check_options(&o, err);
    if (s == HPCW_OK && (path == NULL || out == NULL)) {
        s = hpcw_i_fail(err, HPCW_EINVAL, "clog2 log: wanted a path and a place for the handle, got NULL");
    }
    if (out != NULL) {
        *out = NULL;
    }
    if (s == HPCW_OK) {
        s = make(path, comm, &o, &log, err);
    }
    s = agree_on_options(log, comm, path, &o, s, err);
    if (s == HPCW_OK) {
        s = introduce_self(log, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_i_clog2_clock_share(log, err);
    }
    if (s == HPCW_OK) {
        struct hpcw_i_clog2_ticks *t = &log->ticks;
        s = hpcw_i_clog2_sync(log, &t->begin_at, &t->begin_offset, &t->begin_round_trip, err);
        t->end_at = t->begin_at;
        t->end_offset = t->begin_offset;
    }
    if (s != HPCW_OK) {
        hpcw_clog2_log_free(log);
        return s;
    }
    *out = log;
    return HPCW_OK;
}

static void give_buffer(uint64_t *buffer) {
    if (buffer != NULL) {
        (void)munmap(buffer, CHUNK_BYTES);
    }
}

static void stop_helper(hpcw_clog2_log *log) {
    (void)pthread_mutex_lock(&log->lock);
    bool runs = log->helper_runs;
    log->helper_stops = true;
    log->helper_runs = false;
    (void)pthread_cond_broadcast(&log->changed);
    (void)pthread_mutex_unlock(&log->lock);
    if (runs) {
        (void)pthread_join(log->helper, NULL);
    }
}

void hpcw_clog2_log_free(hpcw_clog2_log *log) {
    if (log == NULL) {
        return;
    }
    stop_helper(log);
    for (uint32_t i = 0; i < log->lines; i++) {
        struct hpcw_i_clog2_line *l = log->line[i];
        while (l->first != NULL) {
            struct hpcw_i_clog2_chunk *next = l->first->next;
            give_buffer(l->first->data);
            hpcw_i_free(l->first);
            l->first = next;
        }
        hpcw_i_free(l->bin);
        hpcw_i_free(l);
    }
    while (log->spares > 0) {
        give_buffer(log->spare[--log->spares]);
    }
    if (log->fd >= 0) {
        (void)hpcw_i_sys_close(log->fd);
    }
    hpcw_i_free(log->leader);
    hpcw_i_free(log->spare);
    hpcw_i_free(log->line);
    hpcw_i_free(log->definition);
    hpcw_i_free(log->known);
    hpcw_i_free(log->local_path);
    hpcw_i_free(log->directory);
    hpcw_i_free(log->path);
    (void)pthread_cond_destroy(&log->changed);
    (void)pthread_mutex_destroy(&log->lock);
    hpcw_i_free(log);
}

/* ------------------------------------------------------------------------------------------------------------
 *  Definitions
 * --------------------------------------------------------------------------------------------------------- */

static bool is_same(const struct hpcw_i_clog2_definition *a, const struct hpcw_i_clog2_definition *b) {
    return memcmp(a, b, sizeof *a) == 0;
}

/* Under the lock. */
static hpcw_status store(hpcw_clog2_log *log, const struct hpcw_i_clog2_definition *d, hpcw_error *err) {
    struct hpcw_i_clog2_definition *grown =
        hpcw_i_realloc(log->definition, ((size_t)log->definitions + 1) * sizeof *grown);
    if (grown == NULL) {
        return hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory for a definition", log->path);
    }
    log->definition = grown;
    grown[log->definitions++] = *d;
    return HPCW_OK;
}

static hpcw_status prepare(const hpcw_clog2_log *log, const char *name, const char *colour, const char *format,
                           struct hpcw_i_clog2_definition *d, hpcw_error *err) {
    if (log == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "clog2 log: wanted a recording, got NULL");
    }
    hpcw_status s = hpcw_i_clog2_labels_check(colour, name, format, err);
    if (s != HPCW_OK) {
        hpcw_i_fail_about(err, log->path);
        return s;
    }
    memset(d, 0, sizeof *d);
    memcpy(d->colour, colour, strlen(colour));
    memcpy(d->name, name, strlen(name));
    memcpy(d->format, format == NULL ? "" : format, format == NULL ? 0 : strlen(format));
    return HPCW_OK;
}

hpcw_status hpcw_clog2_log_state(hpcw_clog2_log *log, const char *name, const char *colour, const char *format,
                                 int32_t *state, hpcw_error *err) {
    struct hpcw_i_clog2_definition d;
    hpcw_status s = prepare(log, name, colour, format, &d, err);
    if (s != HPCW_OK || state == NULL) {
        return s != HPCW_OK
                   ? s
                   : hpcw_i_fail(err, HPCW_EINVAL, "%s: wanted a place for the state, got NULL", log->path);
    }
    (void)pthread_mutex_lock(&log->lock);
    if (log->states == HPCW_CLOG2_STATES) {
        s = hpcw_i_fail(err, HPCW_ERANGE, "%s: wanted at most %u states, got one more, \"%s\"", log->path,
                        HPCW_CLOG2_STATES, name);
    } else {
        d.kind = HPCW_CLOG2_STATE_DEF;
        d.number = HPCW_CLOG2_USER_STATE + (int32_t)log->states;
        s = store(log, &d, err);
    }
    if (s == HPCW_OK) {
        log->states++;
        *state = d.number;
    }
    (void)pthread_mutex_unlock(&log->lock);
    return s;
}

hpcw_status hpcw_clog2_log_known_state(hpcw_clog2_log *log, int32_t state, const char *name, const char *colour,
                                       const char *format, hpcw_error *err) {
    struct hpcw_i_clog2_definition d;
    hpcw_status s = prepare(log, name, colour, format, &d, err);
    if (s != HPCW_OK) {
        return s;
    }
    if (state < 0 || state >= HPCW_CLOG2_USER_STATE) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: known state: wanted 0 to %d, got %d", log->path,
                           HPCW_CLOG2_USER_STATE - 1, (int)state);
    }
    d.kind = HPCW_CLOG2_STATE_DEF;
    d.number = state;
    (void)pthread_mutex_lock(&log->lock);
    bool there = false;
    for (uint32_t i = 0; s == HPCW_OK && !there && i < log->definitions; i++) {
        const struct hpcw_i_clog2_definition *other = &log->definition[i];
        there = other->kind == d.kind && other->number == state;
        if (there && !is_same(other, &d)) {
            s = hpcw_i_fail(err, HPCW_EINVAL, "%s: known state %d: wanted it as before, \"%s\", got \"%s\"",
                            log->path, (int)state, other->name, name);
        }
    }
    if (!there) {
        s = store(log, &d, err);
    }
    (void)pthread_mutex_unlock(&log->lock);
    return s;
}

hpcw_status hpcw_clog2_log_solo(hpcw_clog2_log *log, const char *name, const char *colour, const char *format,
                                int32_t *event, hpcw_error *err) {
    struct hpcw_i_clog2_definition d;
    hpcw_status s = prepare(log, name, colour, format, &d, err);
    if (s != HPCW_OK || event == NULL) {
        return s != HPCW_OK
                   ? s
                   : hpcw_i_fail(err, HPCW_EINVAL, "%s: wanted a place for the event, got NULL", log->path);
    }
    (void)pthread_mutex_lock(&log->lock);
    d.kind = HPCW_CLOG2_EVENT_DEF;
    d.number = HPCW_CLOG2_USER_SOLO + (int32_t)log->solos;
    s = log->solos == HPCW_CLOG2_SOLOS
            ? hpcw_i_fail(err, HPCW_ERANGE, "%s: wanted at most %u solo events, got one more", log->path,
                          HPCW_CLOG2_SOLOS)
            : store(log, &d, err);
    if (s == HPCW_OK) {
        log->solos++;
        *event = d.number;
    }
    (void)pthread_mutex_unlock(&log->lock);
    return s;
}

/* ------------------------------------------------------------------------------------------------------------
 *  Communicators
 * --------------------------------------------------------------------------------------------------------- */

void hpcw_clog2_log_comm_id(hpcw_clog2_log *log, hpcw_clog2_comm_id *id) {
    memset(id, 0, sizeof *id);
    uint64_t tag = hpcw_i_sink_fresh_tag();
    (void)pthread_mutex_lock(&log->lock);
    log->ids_made++;
    /* Never 0, which means none; two of one process differ in any case. */
    id->random = (int32_t)((uint32_t)(tag >> 33) | 1u);
    id->created = (double)log->ids_made + (double)(tag & 0xffff) / 65536;
    (void)pthread_mutex_unlock(&log->lock);
    char host[256] = "";
    (void)gethostname(host, sizeof host - 1);
    memcpy(id->host, host, sizeof id->host);
}

static struct hpcw_i_clog2_line *inner(hpcw_clog2_line *line) {
    return (struct hpcw_i_clog2_line *)line;
}

hpcw_status hpcw_clog2_log_comm(hpcw_clog2_line *line, uint32_t parent, hpcw_clog2_comm_kind kind,
                                const hpcw_clog2_comm_id *id, uint32_t rank, uint32_t *comm, hpcw_error *err) {
    if (line == NULL || id == NULL || comm == NULL || (unsigned)kind > HPCW_CLOG2_REMOTE_HALF) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "clog2 log: wanted a line, a known kind, an identity and a place for the number");
    }
    hpcw_clog2_log *log = inner(line)->log;
    hpcw_status s = HPCW_OK;
    (void)pthread_mutex_lock(&log->lock);
    if (parent >= log->knowns || rank >= (uint32_t)log->comm->size) {
        s = hpcw_i_fail(err, HPCW_EINVAL,
                        "%s: communicator: wanted a known parent and a rank below %d, got %u and %u", log->path,
                        log->comm->size, parent, rank);
    } else if (log->knowns == HPCW_I_CLOG2_MOST_COMMS) {
        s = hpcw_i_fail(err, HPCW_ERANGE, "%s: wanted at most %d communicators, got one more", log->path,
                        HPCW_I_CLOG2_MOST_COMMS);
    } else if (!add_known(log, id, kind, rank)) {
        s = hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory for a communicator", log->path);
    } else {
        *comm = log->knowns - 1;
    }
    (void)pthread_mutex_unlock(&log->lock);
    if (s == HPCW_OK) {
        uint64_t *p = line->next;
        p[0] = hpcw_clog2_line_clock(line);
        p[1] = hpcw_clog2_line_word(HPCW_CLOG2_COMM_EVENT, parent, (int32_t)*comm);
        line->next = p + HPCW_CLOG2_WORDS_BARE;
        if (line->next >= line->end) {
            hpcw_clog2_line_next(line);
        }
    }
    return s;
}

hpcw_status hpcw_clog2_log_comm_of(hpcw_clog2_line *line, uint32_t parent, hpcw_comm *members, uint32_t *comm,
                                   hpcw_error *err) {
    hpcw_error local;
    err = err == NULL ? &local : err;
    members = hpcw_i_comm_or_self(members);
    hpcw_clog2_comm_id id = {0};
    hpcw_status s =
        line == NULL ? hpcw_i_fail(err, HPCW_EINVAL, "clog2 log: wanted a line, got NULL") : HPCW_OK;
    if (s == HPCW_OK) {
        hpcw_clog2_log_comm_id(inner(line)->log, &id);
    }
    s = hpcw_i_agree(members, s, NULL, err);
    if (s == HPCW_OK) {
        s = hpcw_i_comm_bcast(members, &id, sizeof id, 0, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_clog2_log_comm(line, parent, HPCW_CLOG2_INTRA, &id, (uint32_t)members->process, comm, err);
    }
    return hpcw_i_agree(members, s, NULL, err);
}

/* ------------------------------------------------------------------------------------------------------------
 *  The local file
 * --------------------------------------------------------------------------------------------------------- */

static hpcw_status append(hpcw_clog2_log *log, const void *data, size_t size, hpcw_error *err) {
    int e = hpcw_i_sys_pwrite(log->fd, data, size, log->local_size);
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s: cannot write %zu bytes at offset %llu", log->local_path, size,
                               (unsigned long long)log->local_size);
    }
    log->local_size += size;
    return HPCW_OK;
}

static hpcw_status append_piece(hpcw_clog2_log *log, uint32_t kind, uint32_t thread, const void *data,
                                size_t size, hpcw_error *err) {
    const struct hpcw_i_clog2_piece_head head = {
        .tag = HPCW_I_CLOG2_PIECE_TAG, .kind = kind, .thread = thread, .size = size};
    hpcw_status s = append(log, &head, sizeof head, err);
    return s == HPCW_OK ? append(log, data, size, err) : s;
}

static hpcw_status create_local(hpcw_clog2_log *log, hpcw_error *err) {
    const char *slash = strrchr(log->path, '/');
    size_t room = strlen(log->directory) + strlen(log->path) + 64;
    log->local_path = hpcw_i_malloc(room);
    if (log->local_path == NULL) {
        return hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory", log->path);
    }
    (void)snprintf(log->local_path, room, "%s/%s.%016llx.%06d.local", log->directory,
                   slash == NULL ? log->path : slash + 1, (unsigned long long)log->tag, log->comm->process);
    int e = hpcw_i_sys_open(log->local_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600, &log->fd);
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s: cannot create", log->local_path);
    }
    struct hpcw_i_clog2_local_head head;
    memset(&head, 0, sizeof head);
    head.tag = HPCW_I_CLOG2_LOCAL_TAG;
    head.run = log->tag;
    head.rank = (uint32_t)log->comm->process;
    head.ranks = (uint32_t)log->comm->size;
    head.block_size = log->options.block_size;
    head.ticks = log->ticks;
    return append(log, &head, sizeof head, err);
}

/* Writes one chunk, before it what it may refer to. Without the lock, but for the copies. */
static hpcw_status spill(hpcw_clog2_log *log, struct hpcw_i_clog2_chunk *chunk, hpcw_error *err) {
    hpcw_status s = log->local_path == NULL ? create_local(log, err) : HPCW_OK;
    (void)pthread_mutex_lock(&log->lock);
    size_t definitions = log->definitions - log->definitions_written;
    size_t knowns = log->knowns - log->knowns_written;
    struct hpcw_i_clog2_definition *d = hpcw_i_malloc(definitions * sizeof *d);
    struct hpcw_i_clog2_known_comm *k = hpcw_i_malloc(knowns * sizeof *k);
    if (d == NULL || k == NULL) {
        s = s == HPCW_OK ? hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory", log->path) : s;
    } else {
        memcpy(d, log->definition == NULL ? (void *)d : log->definition + log->definitions_written,
               definitions * sizeof *d);
        memcpy(k, log->known + log->knowns_written, knowns * sizeof *k);
    }
    (void)pthread_mutex_unlock(&log->lock);
    if (s == HPCW_OK && definitions > 0) {
        s = append_piece(log, HPCW_I_CLOG2_PIECE_DEFINITIONS, 0, d, definitions * sizeof *d, err);
        log->definitions_written += s == HPCW_OK ? (uint32_t)definitions : 0;
    }
    if (s == HPCW_OK && knowns > 0) {
        s = append_piece(log, HPCW_I_CLOG2_PIECE_COMMS, 0, k, knowns * sizeof *k, err);
        log->knowns_written += s == HPCW_OK ? (uint32_t)knowns : 0;
    }
    hpcw_i_free(d);
    hpcw_i_free(k);
    if (s == HPCW_OK) {
        chunk->offset = log->local_size + sizeof(struct hpcw_i_clog2_piece_head);
        s = append_piece(log, HPCW_I_CLOG2_PIECE_RECORDS, chunk->thread, chunk->data,
                         chunk->words * sizeof *chunk->data, err);
    }
    return s;
}

/* More than half of the memory is in use, or someone waits for a chunk to be written. */
static bool must_write(const hpcw_clog2_log *log) {
    return log->queue != NULL && log->disk.code == HPCW_OK &&
           (log->written < log->flush_to || 2 * (log->buffers - log->spares) > log->most_buffers);
}

static void *help(void *context) {
    hpcw_clog2_log *log = context;
    (void)pthread_mutex_lock(&log->lock);
    for (;;) {
        while (!must_write(log) && !log->helper_stops) {
            (void)pthread_cond_wait(&log->changed, &log->lock);
        }
        if (log->helper_stops) {
            break;
        }
        struct hpcw_i_clog2_chunk *chunk = log->queue;
        (void)pthread_mutex_unlock(&log->lock);
        hpcw_error err;
        hpcw_status s = spill(log, chunk, &err);
        (void)pthread_mutex_lock(&log->lock);
        if (s == HPCW_OK) {
            log->queue = chunk->queued;
            log->queue_end = log->queue == NULL ? &log->queue : log->queue_end;
            log->spare[log->spares++] = chunk->data;
            chunk->data = NULL;
            log->written++;
            log->spilled += chunk->words * sizeof(uint64_t);
        } else {
            log->disk = err; /* the chunk stays in memory */
        }
        (void)pthread_cond_broadcast(&log->changed);
    }
    (void)pthread_mutex_unlock(&log->lock);
    return NULL;
}

/* ------------------------------------------------------------------------------------------------------------
 *  Lines
 * --------------------------------------------------------------------------------------------------------- */

/*
 * A buffer whose pages are there already. The first write to a page of 4 KiB costs 1.3 us here, that is 5 ns for every
 * record in it and half of what the record itself takes; as one large page, two megabytes cost 35 us. Where the system
 * has no large pages, the smaller ones are touched one by one.
 */
static uint64_t *new_buffer(void) {
    enum { PAGE = 4096 };
    if (hpcw_i_mem_gate != NULL && !hpcw_i_mem_gate(CHUNK_BYTES)) {
        return NULL;
    }
    char *p = mmap(NULL, 2 * CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        return NULL;
    }
    size_t before = (CHUNK_BYTES - (uintptr_t)p % CHUNK_BYTES) % CHUNK_BYTES;
    if (before > 0) {
        (void)munmap(p, before);
    }
    (void)munmap(p + before + CHUNK_BYTES, CHUNK_BYTES - before);
    p += before;
    (void)madvise(p, CHUNK_BYTES, MADV_HUGEPAGE);
    for (size_t i = 0; i < CHUNK_BYTES; i += PAGE) {
        *(volatile char *)(p + i) = 0;
    }
    return (uint64_t *)(void *)p;
}

static void use_buffer(struct hpcw_i_clog2_line *l, uint64_t *data, size_t words) {
    l->face.next = data;
    l->face.end = data + words - HPCW_I_CLOG2_MOST_WORDS + 1;
}

static struct hpcw_i_clog2_chunk *add_chunk(struct hpcw_i_clog2_line *l, uint64_t *data) {
    struct hpcw_i_clog2_chunk *chunk = hpcw_i_calloc(1, sizeof *chunk);
    if (chunk == NULL) {
        return NULL;
    }
    chunk->data = data;
    chunk->thread = l->thread;
    if (l->first == NULL) {
        l->first = chunk;
    } else {
        l->last->next = chunk;
    }
    l->last = chunk;
    return chunk;
}

/* Under the lock: a buffer that may be used, if there is one or one may be made. */
static uint64_t *get_buffer(hpcw_clog2_log *log) {
    if (log->spares > 0) {
        return log->spare[--log->spares];
    }
    if (log->buffers >= log->most_buffers) {
        return NULL;
    }
    log->buffers++;
    (void)pthread_mutex_unlock(&log->lock);
    uint64_t *data = new_buffer();
    (void)pthread_mutex_lock(&log->lock);
    log->buffers -= data == NULL;
    return data;
}

/* Under the lock: the full chunk goes to the queue; the helper is woken, or started. */
static void push(hpcw_clog2_log *log, struct hpcw_i_clog2_chunk *chunk) {
    chunk->queued = NULL;
    *log->queue_end = chunk;
    log->queue_end = &chunk->queued;
    log->pushed++;
    if (log->directory != NULL && must_write(log)) {
        if (!log->helper_runs && !log->helper_stops) {
            log->helper_runs = pthread_create(&log->helper, NULL, help, log) == 0;
            if (!log->helper_runs) {
                (void)hpcw_i_fail(&log->disk, HPCW_ENOMEM, "%s: cannot start a thread that writes", log->path);
            }
        }
        (void)pthread_cond_broadcast(&log->changed);
    }
}

/* Whether waiting would help. */
static bool may_wait(const hpcw_clog2_log *log) {
    return log->directory != NULL && log->disk.code == HPCW_OK && log->helper_runs;
}

/* Under the lock: the line goes on in a new chunk, or in its bin. Whether it had to wait. */
static bool go_on(struct hpcw_i_clog2_line *l) {
    hpcw_clog2_log *log = l->log;
    bool waited = false;
    uint64_t *data = get_buffer(log);
    while (data == NULL && may_wait(log)) {
        waited = true;
        log->stalls++;
        (void)pthread_cond_wait(&log->changed, &log->lock);
        data = get_buffer(log);
    }
    l->in_bin = data == NULL || add_chunk(l, data) == NULL;
    if (l->in_bin && data != NULL) {
        log->spare[log->spares++] = data;
    }
    use_buffer(l, l->in_bin ? l->bin : data, l->in_bin ? BIN : HPCW_I_CLOG2_CHUNK);
    return waited;
}

static void close_chunk(struct hpcw_i_clog2_line *l) {
    l->last->words = (uint32_t)(l->face.next - l->last->data);
}

static void empty_bin(struct hpcw_i_clog2_line *l) {
    for (const uint64_t *p = l->bin; p < l->face.next; p += hpcw_i_clog2_words_of(p)) {
        l->lost++;
    }
}

void hpcw_clog2_line_next(hpcw_clog2_line *line) {
    struct hpcw_i_clog2_line *l = inner(line);
    hpcw_clog2_log *log = l->log;
    uint64_t before = hpcw_clog2_line_clock(line);
    (void)pthread_mutex_lock(&log->lock);
    if (l->in_bin) {
        empty_bin(l);
    } else {
        close_chunk(l);
        push(log, l->last);
    }
    bool waited = go_on(l);
    (void)pthread_mutex_unlock(&log->lock);
    if (waited) {
        uint64_t *p = line->next;
        p[0] = before;
        p[1] = hpcw_clog2_line_word(HPCW_CLOG2_BARE, 0, 2 * HPCW_CLOG2_SPILL_STATE);
        p[2] = hpcw_clog2_line_clock(line);
        p[3] = hpcw_clog2_line_word(HPCW_CLOG2_BARE, 0, 2 * HPCW_CLOG2_SPILL_STATE + 1);
        line->next = p + 4;
    }
}

hpcw_status hpcw_clog2_log_thread(hpcw_clog2_log *log, hpcw_clog2_line **out, hpcw_error *err) {
    if (log == NULL || out == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "clog2 log: wanted a recording and a place for the line, got NULL");
    }
    *out = NULL;
    struct hpcw_i_clog2_line *l = hpcw_i_calloc(1, sizeof *l);
    uint64_t *bin = hpcw_i_malloc(BIN * sizeof *bin);
    hpcw_status s = HPCW_OK;
    (void)pthread_mutex_lock(&log->lock);
    struct hpcw_i_clog2_line **grown = hpcw_i_realloc(log->line, ((size_t)log->lines + 1) * sizeof(*log->line));
    /* A line that waits has filled one chunk, and the others have one each: then some chunk can be written. */
    uint64_t least = 2 * ((uint64_t)log->lines + 1);
    uint64_t most = log->most_buffers > least ? log->most_buffers : least;
    uint64_t **spare = hpcw_i_realloc(log->spare, (size_t)most * sizeof *spare);
    log->line = grown == NULL ? log->line : grown;
    log->spare = spare == NULL ? log->spare : spare;
    log->most_buffers = spare == NULL ? log->most_buffers : most;
    if (l == NULL || bin == NULL || grown == NULL || spare == NULL) {
        s = hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory for a thread", log->path);
    } else if (log->finished) {
        s = hpcw_i_fail(err, HPCW_ESTATE, "%s: the recording has ended", log->path);
    } else if (log->lines == HPCW_I_CLOG2_MOST_THREADS) {
        s = hpcw_i_fail(err, HPCW_ERANGE, "%s: wanted at most %d threads, got one more", log->path,
                        HPCW_I_CLOG2_MOST_THREADS);
    } else {
        l->face.now = log->options.now;
        l->log = log;
        l->bin = bin;
        l->thread = log->lines;
        log->line[log->lines++] = l; /* first: the next call lets others in for a moment */
        (void)go_on(l);
        *out = &l->face;
    }
    (void)pthread_mutex_unlock(&log->lock);
    if (s != HPCW_OK) {
        hpcw_i_free(bin);
        hpcw_i_free(l);
    }
    return s;
}

void hpcw_clog2_log_cargo(hpcw_clog2_line *line, uint32_t comm, int32_t event, const hpcw_clog2_cargo *cargo) {
    uint64_t *p = line->next;
    p[0] = hpcw_clog2_line_clock(line);
    p[1] = hpcw_clog2_line_word(HPCW_CLOG2_WITH_CARGO, comm, event);
    memset(p + 3, 0, HPCW_CLOG2_CARGO);
    if (cargo->size <= HPCW_CLOG2_CARGO) {
        p[2] = cargo->pieces;
        memcpy(p + 3, cargo->bytes, cargo->size);
    } else {
        p[2] = UINT64_MAX; /* no list of pieces */
    }
    line->next = p + HPCW_CLOG2_WORDS_CARGO;
    if (line->next >= line->end) {
        hpcw_clog2_line_next(line);
    }
}

hpcw_status hpcw_clog2_log_flush(hpcw_clog2_line *line, hpcw_error *err) {
    if (line == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "clog2 log: wanted a line, got NULL");
    }
    struct hpcw_i_clog2_line *l = inner(line);
    hpcw_clog2_log *log = l->log;
    hpcw_status s = HPCW_OK;
    (void)pthread_mutex_lock(&log->lock);
    if (log->directory == NULL) {
        s = hpcw_i_fail(err, HPCW_ESTATE, "%s: wanted a directory for local files, got none", log->path);
    } else {
        if (l->in_bin) {
            empty_bin(l);
        } else {
            close_chunk(l);
            log->flush_to = log->pushed + 1;
            push(log, l->last);
        }
        (void)go_on(l);
        uint64_t wanted = log->flush_to;
        while (log->written < wanted && may_wait(log)) {
            (void)pthread_cond_wait(&log->changed, &log->lock);
        }
        if (log->disk.code != HPCW_OK) {
            s = log->disk.code;
            if (err != NULL) {
                *err = log->disk;
            }
        }
    }
    int fd = log->fd;
    (void)pthread_mutex_unlock(&log->lock);
    int e = s == HPCW_OK ? hpcw_i_sys_fsync(fd) : 0;
    return e == 0 ? s : hpcw_i_fail_sys(err, e, "%s: cannot write the data back to the disk", log->local_path);
}

void hpcw_i_clog2_log_stop(hpcw_clog2_log *log) {
    stop_helper(log);
    for (uint32_t i = 0; i < log->lines; i++) {
        struct hpcw_i_clog2_line *l = log->line[i];
        if (l->in_bin) {
            empty_bin(l);
        } else {
            close_chunk(l);
        }
    }
    log->finished = true;
}
