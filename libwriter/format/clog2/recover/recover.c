/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a log from the local files of a run that died. Each complete record of a file is used. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/format/clog2/file/definitions.h"
#include "libwriter/format/clog2/merge/merge.h"
#include "libwriter/format/clog2/recover/recovered_file.h"

static hpcw_status open_file(const char *path, struct hpcw_i_clog2_recovered_file *f, hpcw_error *err) {
    uint64_t size = 0;
    char tag[8] = "";
    bool whole;
    hpcw_status s = hpcw_i_clog2_recovered_open(f, path, &size, err);
    if (s == HPCW_OK) {
        s = hpcw_i_clog2_recovered_read(f, 0, tag, sizeof tag, &whole, err);
    }
    if (s != HPCW_OK) {
        return s;
    }
    f->mpe = memcmp(tag, "CLOG-02.", sizeof tag) == 0;
    return f->mpe ? hpcw_i_clog2_read_mpe(f, size, err) : hpcw_i_clog2_read_own(f, size, err);
}

static int by_rank(const void *a_, const void *b_) {
    const struct hpcw_i_clog2_recovered_file *a = a_, *b = b_;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

/* Sorts the files, and checks that all are of the same run and each is of another rank. */
static hpcw_status check_files(struct hpcw_i_clog2_recovered_file *file, size_t count, hpcw_error *err) {
    qsort(file, count, sizeof *file, by_rank);
    for (size_t i = 1; i < count; i++) {
        const struct hpcw_i_clog2_recovered_file *a = &file[i - 1], *b = &file[i];
        if (a->mpe != b->mpe || a->run != b->run || a->ranks != b->ranks || a->block_size != b->block_size) {
            return hpcw_i_fail(err, HPCW_EFORMAT,
                               "%s: expected a local file of the same run as %s, got another; the names of one "
                               "run's files have the same 16 digits: LOG.DIGITS.*.local",
                               b->path, a->path);
        }
        if (a->rank == b->rank) {
            return hpcw_i_fail(err, HPCW_EFORMAT, "%s: expected every rank once, got rank %u here and in %s",
                               b->path, b->rank, a->path);
        }
    }
    return HPCW_OK;
}

/* Checks that every rank has a file. The message names the missing ranks, as many as fit. */
static hpcw_status check_ranks(const char *path, const struct hpcw_i_clog2_recovered_file *file, uint32_t count,
                               hpcw_error *err) {
    const uint32_t ranks = file[0].ranks;
    char missing[200] = "";
    size_t used = 0;
    if (count == ranks) {
        return HPCW_OK;
    }
    for (uint32_t i = 0, next = 0; i <= count; i++) {
        uint32_t end = i < count ? file[i].rank : ranks; /* ranks from `next` up to this one have no file */
        if (next < end && used > sizeof missing - 32) {
            (void)snprintf(missing + used, sizeof missing - used, ", ...");
            break;
        }
        if (next < end) {
            const char *comma = used == 0 ? "" : ", ";
            used +=
                (size_t)(next + 1 == end ? snprintf(missing + used, sizeof missing - used, "%s%u", comma, next)
                                         : snprintf(missing + used, sizeof missing - used, "%s%u-%u", comma,
                                                    next, end - 1));
        }
        next = end + 1;
    }
    return hpcw_i_fail(err, HPCW_EMISMATCH,
                       "%s: incomplete: expected the local files of %u ranks, got %u, without rank%s %s", path,
                       ranks, count, ranks - count == 1 ? "" : "s", missing);
}

/* Checks that the files have all records. For MPE's files this cannot be known: they are always cut short when
 * their program dies. */
static hpcw_status check_whole(const char *path, const struct hpcw_i_clog2_recovered_file *file, size_t count,
                               hpcw_error *err) {
    for (size_t i = 0; i < count; i++) {
        if (file[i].damaged || file[i].in_memory) {
            return hpcw_i_fail(
                err, HPCW_EMISMATCH, "%s: incomplete: expected all records of rank %u, got %s that %s", path,
                file[i].rank, file[i].path,
                file[i].damaged ? "is cut short or damaged" : "had no more space: the rest was in memory");
        }
    }
    return HPCW_OK;
}

struct recovery {
    struct hpcw_i_clog2_recovered_file *file;
    size_t count;
    struct hpcw_i_clog2_definition *definition; /* list of the file with most definitions */
    uint32_t definitions, states, solos, known_solos, threads;
    struct hpcw_i_clog2_events events;
    struct hpcw_i_clog2_comms comms;
    struct hpcw_i_clog2_origin *origin;
    uint32_t origins;
    struct hpcw_i_clog2_stream stream;
};

static hpcw_status unite(struct recovery *r, hpcw_error *err) {
    const struct hpcw_i_clog2_recovered_file *most = &r->file[0];
    hpcw_status s = HPCW_OK;
    r->comms.ranks = most->ranks;
    for (size_t i = 0; s == HPCW_OK && i < r->count; i++) {
        const struct hpcw_i_clog2_recovered_file *f = &r->file[i];
        most = f->definitions > most->definitions ? f : most;
        s = hpcw_i_clog2_comms_add(&r->comms, f->rank, f->known, f->knowns, err);
        r->threads = f->timelines > r->threads ? f->timelines : r->threads;
        r->threads = f->threads > r->threads ? f->threads : r->threads;
        r->states = f->states > r->states ? f->states : r->states;
        r->solos = f->solos > r->solos ? f->solos : r->solos;
        r->known_solos = f->known_solos > r->known_solos ? f->known_solos : r->known_solos;
    }
    if (s == HPCW_OK) {
        s = hpcw_i_clog2_comms_settle(&r->comms, err);
    }
    /* A rank without a file gets an entry in the table, too, which must differ from all others. */
    for (uint32_t rank = 0; s == HPCW_OK && rank < r->comms.ranks; rank++) {
        hpcw_clog2_comm_id *id = &r->comms.self[rank];
        if (id->random == 0 && id->created == 0) {
            id->random = 1 + (int32_t)rank;
            id->created = -1;
        }
    }
    r->definition = hpcw_i_calloc((size_t)most->definitions + HPCW_CLOG2_USER_STATE + 1, sizeof *r->definition);
    if (s == HPCW_OK && r->definition == NULL) {
        s = hpcw_i_fail_memory(err, most->path, 0, NULL);
    }
    if (s == HPCW_OK && most->definitions > 0) {
        memcpy(r->definition, most->definition, most->definitions * sizeof *r->definition);
    }
    r->definitions = s == HPCW_OK ? most->definitions : 0;
    for (size_t i = 0; s == HPCW_OK && i < r->count; i++) {
        const struct hpcw_i_clog2_recovered_file *f = &r->file[i];
        if (f->definitions > 0 &&
            memcmp(f->definition, r->definition, f->definitions * sizeof *r->definition) != 0) {
            s = hpcw_i_fail(err, HPCW_EFORMAT, "%s: expected the definitions of %s, got others", f->path,
                            most->path);
        }
    }
    return s;
}

/* Appends the offered states (hpcw_clog2_log_offer_state) that records use and no definition has. The list has
 * space for all of them. */
static void define_offered(struct recovery *r) {
    const struct hpcw_i_clog2_recovered_file *most = &r->file[0];
    bool defines[HPCW_CLOG2_USER_STATE] = {false}, uses[HPCW_CLOG2_USER_STATE] = {false};
    for (size_t i = 0; i < r->count; i++) {
        most = r->file[i].offers > most->offers ? &r->file[i] : most;
        for (int state = 0; state < HPCW_CLOG2_USER_STATE; state++) {
            uses[state] = uses[state] || r->file[i].uses[state];
        }
    }
    for (uint32_t i = 0; i < r->definitions; i++) {
        const struct hpcw_i_clog2_definition *d = &r->definition[i];
        if (d->kind == HPCW_CLOG2_STATE_DEF && d->number < HPCW_CLOG2_USER_STATE) {
            defines[d->number] = true;
        }
    }
    for (uint32_t i = 0; i < most->offers; i++) {
        const struct hpcw_i_clog2_definition *d = &most->offered[i];
        if (uses[d->number] && !defines[d->number]) {
            r->definition[r->definitions++] = *d;
        }
    }
}

/* Makes one stream of all records of the files. */
static hpcw_status make_stream(struct recovery *r, hpcw_error *err) {
    r->origin = hpcw_i_calloc(r->count, sizeof *r->origin);
    if (r->origin == NULL) {
        return hpcw_i_fail_memory(err, r->file[0].path, 0, NULL);
    }
    int64_t zero = INT64_MAX;
    for (size_t i = 0; i < r->count; i++) {
        int64_t begin = r->file[i].ticks.begin_offset - 1000;
        zero = begin < zero ? begin : zero;
    }
    hpcw_status s = hpcw_i_clog2_events_make(&r->events, r->definition, r->definitions, err);
    r->events.ranks = r->comms.ranks;
    for (size_t i = 0; s == HPCW_OK && i < r->count; i++) {
        struct hpcw_i_clog2_recovered_file *f = &r->file[i];
        struct hpcw_i_clog2_origin *o = &r->origin[r->origins];
        if (f->knowns < 2) {
            continue; /* the process died before it wrote its communicators */
        }
        s = hpcw_i_clog2_comms_memberships(&r->comms, f->rank, f->known, f->knowns, &f->membership, err);
        o->rank = f->rank;
        o->base = f->ticks.base;
        o->scale = f->ticks.ns * 1e-9;
        o->shift = (double)(f->ticks.begin_offset - zero) * 1e-9;
        o->membership = f->membership;
        o->memberships = f->knowns;
        o->fd = f->fd;
        o->local = f->path;
        o->first = f->first;
        o->timelines = f->timelines;
        if (s == HPCW_OK && f->mpe) {
            hpcw_i_clog2_renumber_mpe(f);
        } else if (s == HPCW_OK && !hpcw_i_clog2_opening_records(&f->encoded, f->rank, r->origins == 0,
                                                                 o->shift, &f->known[0].id, &f->known[1].id,
                                                                 r->definition, r->definitions)) {
            s = hpcw_i_fail_memory(err, f->path, 0, NULL);
        }
        o->encoded = f->encoded.data;
        o->encoded_size = f->encoded.size;
        r->origins += s == HPCW_OK;
    }
    return s == HPCW_OK ? hpcw_i_clog2_stream_begin(&r->stream, &r->events, r->origin, r->origins, err) : s;
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

hpcw_status hpcw_clog2_recover(const char *path, const char *const *local, size_t count, bool partial,
                               hpcw_clog2_recovered *found, hpcw_error *err) {
    hpcw_error ignored;
    err = err == NULL ? &ignored : err;
    if (path == NULL || local == NULL || count == 0) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "clog2: recover: expected a path and at least one local file, got none");
    }
    struct recovery r = {0};
    r.file = hpcw_i_calloc(count, sizeof *r.file);
    hpcw_status s = r.file == NULL ? hpcw_i_fail_memory(err, path, 0, NULL) : HPCW_OK;
    while (s == HPCW_OK && r.count < count) {
        s = open_file(local[r.count], &r.file[r.count], err);
        r.count++;
    }
    if (s == HPCW_OK) {
        s = check_files(r.file, r.count, err);
    }
    if (s == HPCW_OK && !partial) {
        s = check_ranks(path, r.file, (uint32_t)r.count, err);
        s = s == HPCW_OK ? check_whole(path, r.file, r.count, err) : s;
    }
    if (s == HPCW_OK) {
        s = unite(&r, err);
    }
    if (s == HPCW_OK && !r.file[0].mpe) {
        define_offered(&r);
        /* Some records may use the state that shows waits for the disk. So define this state. */
        hpcw_i_clog2_define_spill(r.definition, &r.definitions);
        hpcw_i_clog2_count_definitions(r.definition, r.definitions, &r.states, &r.solos);
    }
    if (s == HPCW_OK) {
        s = make_stream(&r, err);
    }
    if (s == HPCW_OK) {
        s = write_log(&r, path, err);
    }
    if (s == HPCW_OK && found != NULL) {
        *found = (hpcw_clog2_recovered){
            .records = r.stream.records,
            .left_out = r.stream.undefined + r.stream.end_alone,
            .files = (uint32_t)r.count,
            .missing = r.file[0].ranks - (uint32_t)r.count,
        };
        for (size_t i = 0; i < r.count; i++) {
            found->truncated += r.file[i].truncated || r.file[i].damaged || r.file[i].in_memory;
        }
    }
    hpcw_i_clog2_stream_free(&r.stream);
    hpcw_i_clog2_events_free(&r.events);
    hpcw_i_clog2_comms_free(&r.comms);
    for (size_t i = 0; i < r.count; i++) {
        hpcw_i_clog2_recovered_close(&r.file[i]);
    }
    hpcw_i_free(r.origin);
    hpcw_i_free(r.definition);
    hpcw_i_free(r.file);
    return s;
}
