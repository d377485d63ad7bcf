/* SPDX-License-Identifier: BSD-3-Clause */
/* The file: preamble, blocks, table of communicators. Writers compute the offsets of their blocks first, so no byte
 * is written twice. The preamble is written last, because it holds the offset of the table. */
#include "libwriter/format/clog2/file/file.h"

#include <fcntl.h>
#include <string.h>

#include "libwriter/base/checked.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/options.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/io/sink.h"

enum { TABLE_ENTRIES = 4096 }; /* entries of the table of communicators that are written by one call */

/* ------------------------------------------------------------------------------------------------------------
 *  Options
 * --------------------------------------------------------------------------------------------------------- */

void hpcw_clog2_options_fill(hpcw_clog2_options *options, size_t size) {
    const hpcw_clog2_options defaults = {.threads = 1, .block_size = 65536, .durability = HPCW_SYNC_FILE};
    hpcw_i_options_fill(options, size, &defaults, sizeof defaults);
}

hpcw_status hpcw_clog2_options_check(const hpcw_clog2_options *options, hpcw_error *err) {
    if (options == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "clog2: expected options, got NULL");
    }
    hpcw_clog2_options own;
    hpcw_clog2_options_init(&own);
    hpcw_status s = hpcw_i_options_take(&own, sizeof own, options, "hpcw_clog2_options", err);
    if (s != HPCW_OK) {
        return s;
    }
    const hpcw_clog2_options *o = &own;
    if (o->ranks == 0 || o->threads == 0 || o->comms == 0 || o->comm_of == NULL) {
        return hpcw_i_fail(
            err, HPCW_EINVAL,
            "clog2: expected ranks, threads and communicators >= 1 and their table, got %u, %u, %u%s", o->ranks,
            o->threads, o->comms, o->comm_of == NULL ? " and NULL" : "");
    }
    if (o->states > HPCW_CLOG2_STATES) {
        return hpcw_i_fail(err, HPCW_ERANGE, "clog2: expected at most %u states of the user, got %u",
                           HPCW_CLOG2_STATES, o->states);
    }
    if (o->solos > HPCW_CLOG2_SOLOS) {
        return hpcw_i_fail(err, HPCW_ERANGE, "clog2: expected at most %u solo events of the user, got %u",
                           HPCW_CLOG2_SOLOS, o->solos);
    }
    if (o->known_solos > 2) {
        return hpcw_i_fail(err, HPCW_EINVAL, "clog2: expected at most 2 known solo events, got %u",
                           o->known_solos);
    }
    if (o->block_size % 8 != 0 || o->block_size < HPCW_CLOG2_MIN_BLOCK ||
        o->block_size > HPCW_CLOG2_MAX_BLOCK) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "clog2: block size: expected a multiple of 8 from %u to %u, got %u",
                           HPCW_CLOG2_MIN_BLOCK, HPCW_CLOG2_MAX_BLOCK, o->block_size);
    }
    uint64_t timelines;
    if (!hpcw_i_mul_u64((uint64_t)o->comms * o->ranks, o->threads, &timelines) || timelines > INT32_MAX) {
        return hpcw_i_fail(
            err, HPCW_ERANGE,
            "clog2: expected communicators x ranks x threads < 2^31, which is what a Java reader can "
            "number, got %u x %u x %u",
            o->comms, o->ranks, o->threads);
    }
    if ((unsigned)o->durability > HPCW_SYNC_DIRECTORY) {
        return hpcw_i_fail(err, HPCW_EINVAL, "clog2: expected a known durability, got %d", (int)o->durability);
    }
    return HPCW_OK;
}

uint64_t hpcw_clog2_file_size(uint64_t blocks, uint32_t block_size, uint32_t comms) {
    return HPCW_I_CLOG2_PREAMBLE + blocks * block_size + 4 + (uint64_t)comms * HPCW_I_CLOG2_ENTRY;
}

/* ------------------------------------------------------------------------------------------------------------
 *  Open and free
 * --------------------------------------------------------------------------------------------------------- */

/* Checks that all processes have the same path and options. *tag becomes the tag in the name of the temporary file,
 * or 0 if there is only one process. `o` may be NULL after a failure. */
static hpcw_status agree_on_options(hpcw_comm *comm, const char *path, const hpcw_clog2_options *o,
                                    hpcw_status s, uint64_t *tag, hpcw_error *err) {
    const hpcw_clog2_options none = {0};
    o = o == NULL ? &none : o;
    const struct hpcw_i_same same[] = {
        {.name = "path", .text = path},
        {.name = "ranks", .number = o->ranks},
        {.name = "threads", .number = o->threads},
        {.name = "states", .number = o->states},
        {.name = "solos", .number = o->solos},
        {.name = "known_solos", .number = o->known_solos},
        {.name = "block_size", .number = o->block_size},
        {.name = "comms", .number = o->comms},
        {.name = "durability", .number = o->durability, .words = "none file directory"},
        {.name = "sink_source", .number = o->sink_source.open != NULL, .words = "files own"},
    };
    uint64_t host = hpcw_i_sys_host();
    uint64_t word[3] = {host, comm->process == 0 ? hpcw_i_sink_random() : 0, host};
    struct hpcw_i_words words = {.mins = 1, .maxs = 2, .word = word};
    s = hpcw_i_agree_same(comm, s, path, same, sizeof same / sizeof same[0], &words, err);
    *tag = comm->size > 1 ? hpcw_i_sink_tag(word[1], word[0], word[2]) : 0;
    return s;
}

static hpcw_status open_sink(const struct hpcw_i_clog2_place *place, const char *path,
                             const hpcw_sink_source *source, uint64_t tag, bool creates,
                             hpcw_durability durability, hpcw_sink **out, hpcw_error *err) {
    return place->name == NULL ? hpcw_i_sink_open(source, place->dir, path, tag, creates, durability, out, err)
                               : hpcw_i_sink_open_found(source, place->dir, place->name, path, tag, creates,
                                                        durability, out, err);
}

hpcw_status hpcw_i_clog2_sink_open(const struct hpcw_i_clog2_place *place, const char *path, hpcw_comm *comm,
                                   const hpcw_sink_source *source, uint64_t tag, hpcw_durability durability,
                                   hpcw_sink **out, hpcw_error *err) {
    bool creates = comm->process == 0;
    hpcw_status s = HPCW_OK;
    if (creates && place->name == NULL && source->open == NULL) {
        s = hpcw_i_clog2_check_output(AT_FDCWD, path, path, err);
    }
    if (creates && s == HPCW_OK) {
        s = open_sink(place, path, source, tag, true, durability, out, err);
    }
    s = hpcw_i_agree(comm, s, NULL, err);
    if (s != HPCW_OK) {
        /* A second agreement would name another process as the one that failed. */
        return s;
    }
    if (!creates) {
        s = open_sink(place, path, source, tag, false, durability, out, err);
    }
    return hpcw_i_agree(comm, s, NULL, err);
}

static hpcw_status make(const char *path, hpcw_comm *comm, const hpcw_clog2_options *o, hpcw_clog2 **out,
                        hpcw_error *err) {
    hpcw_clog2 *log = hpcw_i_calloc(1, sizeof *log);
    *out = log;
    if (log == NULL) {
        return hpcw_i_fail_memory(err, path, 0, NULL);
    }
    (void)pthread_mutex_init(&log->lock, NULL);
    log->comm = comm;
    log->options = *o;
    log->bounds = (struct hpcw_i_clog2_bounds){
        .ranks = o->ranks,
        .threads = o->threads,
        .comms = o->comms,
        .user_end = HPCW_CLOG2_USER_EVENT + 2 * (int32_t)o->states,
        .solo_end = HPCW_CLOG2_USER_SOLO + (int32_t)o->solos,
        .known_end = HPCW_CLOG2_KNOWN_SOLO + (int32_t)o->known_solos,
    };
    log->path = hpcw_i_strdup(path);
    return log->path == NULL ? hpcw_i_fail_memory(err, path, 0, NULL) : HPCW_OK;
}

hpcw_status hpcw_i_clog2_open_at(const struct hpcw_i_clog2_place *place, const char *path, hpcw_comm *comm,
                                 const hpcw_clog2_options *options, hpcw_clog2 **out, hpcw_error *err) {
    hpcw_error local;
    err = err == NULL ? &local : err;
    comm = hpcw_i_comm_or_self(comm);
    hpcw_clog2 *log = NULL;
    hpcw_clog2_options own;
    hpcw_clog2_options_init(&own);
    hpcw_status s = hpcw_clog2_options_check(options, err);
    if (s == HPCW_OK) {
        s = hpcw_i_options_take(&own, sizeof own, options, "hpcw_clog2_options", err);
    }
    options = options == NULL ? NULL : &own;
    if (s == HPCW_OK && (path == NULL || out == NULL)) {
        s = hpcw_i_fail(err, HPCW_EINVAL, "clog2: expected a path and a pointer for the handle, got NULL");
    }
    if (out != NULL) {
        *out = NULL;
    }
    if (s == HPCW_OK) {
        s = make(path, comm, options, &log, err);
    }
    uint64_t tag;
    s = agree_on_options(comm, path, options, s, &tag, err);
    if (s == HPCW_OK) {
        s = hpcw_i_clog2_sink_open(place, path, comm, &options->sink_source, tag, options->durability,
                                   &log->sink, err);
    }
    if (s != HPCW_OK) {
        hpcw_clog2_free(log);
        return s;
    }
    *out = log;
    return HPCW_OK;
}

hpcw_status hpcw_clog2_open(const char *path, hpcw_comm *comm, const hpcw_clog2_options *options,
                            hpcw_clog2 **out, hpcw_error *err) {
    const struct hpcw_i_clog2_place unknown = {0};
    return hpcw_i_clog2_open_at(&unknown, path, comm, options, out, err);
}

void hpcw_clog2_free(hpcw_clog2 *log) {
    if (log != NULL) {
        if (!log->closed) {
            hpcw_sink_discard(log->sink);
        }
        hpcw_sink_free(log->sink);
        hpcw_i_free(log->path);
        (void)pthread_mutex_destroy(&log->lock);
        hpcw_i_free(log);
    }
}

void hpcw_clog2_abandon(hpcw_clog2 *log, const hpcw_error *reason) {
    if (log != NULL) {
        (void)pthread_mutex_lock(&log->lock);
        if (log->abandoned.code == HPCW_OK) {
            log->abandoned = hpcw_i_reason_to_abandon(reason);
        }
        (void)pthread_mutex_unlock(&log->lock);
    }
}

/* ------------------------------------------------------------------------------------------------------------
 *  Close
 * --------------------------------------------------------------------------------------------------------- */

static hpcw_status write_table(hpcw_clog2 *log, uint64_t offset, hpcw_error *err) {
    const hpcw_clog2_options *o = &log->options;
    uint32_t at_once = o->comms < TABLE_ENTRIES ? o->comms : TABLE_ENTRIES;
    unsigned char *bytes = hpcw_i_malloc((size_t)at_once * HPCW_I_CLOG2_ENTRY);
    if (bytes == NULL) {
        return hpcw_i_fail_memory(err, log->path, 0, "the table of communicators");
    }
    unsigned char count[4];
    hpcw_i_put_u32(count, o->comms, true);
    hpcw_status s = hpcw_sink_write_at(log->sink, offset, count, sizeof count, err);
    offset += sizeof count;
    for (uint32_t i = 0; s == HPCW_OK && i < o->comms; i += at_once) {
        uint32_t n = o->comms - i < at_once ? o->comms - i : at_once;
        for (uint32_t k = 0; k < n; k++) {
            hpcw_clog2_comm_entry entry;
            memset(&entry, 0, sizeof entry);
            o->comm_of(o->comm_context, i + k, &entry);
            hpcw_i_clog2_encode_entry(&entry, bytes + (size_t)k * HPCW_I_CLOG2_ENTRY);
        }
        s = hpcw_sink_write_at(log->sink, offset, bytes, (size_t)n * HPCW_I_CLOG2_ENTRY, err);
        offset += (uint64_t)n * HPCW_I_CLOG2_ENTRY;
    }
    hpcw_i_free(bytes);
    return s;
}

static hpcw_status write_frame(hpcw_clog2 *log, uint64_t blocks, hpcw_error *err) {
    uint64_t table = HPCW_I_CLOG2_PREAMBLE + blocks * log->options.block_size;
    unsigned char preamble[HPCW_I_CLOG2_PREAMBLE];
    hpcw_i_clog2_preamble(&log->options, table, preamble);
    hpcw_status s = write_table(log, table, err);
    return s == HPCW_OK ? hpcw_sink_write_at(log->sink, 0, preamble, sizeof preamble, err) : s;
}

hpcw_status hpcw_clog2_close(hpcw_clog2 *log, uint64_t blocks, hpcw_error *err) {
    hpcw_error local;
    err = err == NULL ? &local : err;
    if (log == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "clog2: expected an open log, got NULL");
    }
    hpcw_status s = HPCW_OK;
    if (log->closed) {
        s = hpcw_i_fail(err, HPCW_ESTATE, "%s: the log is closed already", log->path);
    } else if (log->abandoned.code != HPCW_OK) {
        *err = log->abandoned;
        s = err->code;
    }
    bool first = log->comm->process == 0;
    struct hpcw_i_words words = {.sums = 1, .word = &blocks};
    s = hpcw_i_agree(log->comm, s, &words, err);
    if (log->closed) {
        return s;
    }
    if (s == HPCW_OK && blocks == 0) {
        s = hpcw_i_fail(err, HPCW_EINVAL, "%s: expected at least one block, got none", log->path);
    }
    /* A write error may appear only when a process closes the file. So all other processes close the file before
     * process 0 renames it. */
    if (s == HPCW_OK) {
        s = hpcw_i_agree(log->comm, first ? write_frame(log, blocks, err) : hpcw_sink_detach(log->sink, err),
                         NULL, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_i_agree(log->comm, first ? hpcw_sink_publish(log->sink, err) : HPCW_OK, NULL, err);
    }
    if (s != HPCW_OK) {
        hpcw_sink_discard(log->sink);
    }
    log->closed = true;
    return s;
}
