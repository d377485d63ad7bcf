/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening and freeing a recording. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/options.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/format/clog2/file/file.h"
#include "libwriter/format/clog2/log/local_file.h"
#include "libwriter/format/clog2/log/recording.h"
#include "libwriter/io/dir.h"
#include "libwriter/io/sink.h"

#define LEAST_MEMORY (4 * (uint64_t)HPCW_I_CLOG2_CHUNK_BYTES)

/* ------------------------------------------------------------------------------------------------------------
 *  Open and free
 * --------------------------------------------------------------------------------------------------------- */

void hpcw_clog2_log_options_fill(hpcw_clog2_log_options *options, size_t size) {
    const char *directory = getenv("TMPDIR");
    const hpcw_clog2_log_options defaults = {
        /* With only 16 rounds, a busy host may take the processor away during all of them. */
        .sync_rounds = 128,
        .memory = UINT64_C(64) << 20,
        .directory = directory == NULL || directory[0] == '\0' ? "/tmp" : directory,
        .block_size = 65536,
        .durability = HPCW_SYNC_FILE,
    };
    hpcw_i_options_fill(options, size, &defaults, sizeof defaults);
}

static hpcw_status check_options(const hpcw_clog2_log_options *o, hpcw_error *err) {
    if ((unsigned)o->clock > HPCW_CLOG2_CLOCK_CALLER ||
        (o->clock == HPCW_CLOG2_CLOCK_CALLER && o->now == NULL)) {
        return hpcw_i_fail(
            err, HPCW_EINVAL,
            "clog2 log: expected a known clock, and a function for a clock of the caller's, got %d",
            (int)o->clock);
    }
    if ((unsigned)o->sync > HPCW_CLOG2_SYNC_NEIGHBOURS) {
        return hpcw_i_fail(err, HPCW_EINVAL, "clog2 log: expected a known way to compare clocks, got %d",
                           (int)o->sync);
    }
    if (o->sync_rounds == 0 || o->memory < LEAST_MEMORY) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "clog2 log: expected at least 1 round of messages and %" PRIu64
                           " bytes of memory, got %u and %" PRIu64,
                           LEAST_MEMORY, o->sync_rounds, o->memory);
    }
    if (o->block_size % 8 != 0 || o->block_size < HPCW_CLOG2_MIN_BLOCK ||
        o->block_size > HPCW_CLOG2_MAX_BLOCK) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "clog2 log: block size: expected a multiple of 8 from %u to %u, got %u",
                           HPCW_CLOG2_MIN_BLOCK, HPCW_CLOG2_MAX_BLOCK, o->block_size);
    }
    return HPCW_OK;
}

/* Returns the directory as an absolute path for messages, which stays valid after chdir. NULL: out of memory. */
static char *absolute(const char *directory) {
    char *made = hpcw_i_sys_real_path(directory);
    return made == NULL ? hpcw_i_strdup(directory) : made;
}

static hpcw_status check_path(const char *path, hpcw_error *err) {
    const char *name = hpcw_i_sys_base_of(path);
    return name[0] != '\0' && strcmp(name, ".") != 0 && strcmp(name, "..") != 0
               ? HPCW_OK
               : hpcw_i_fail(err, HPCW_EINVAL, "clog2 log: path: expected the path of a file, got \"%s\"",
                             path);
}

static void release_place(struct hpcw_i_clog2_place *place) {
    hpcw_i_dir_release(place->dir);
    hpcw_i_free(place->name);
    *place = (struct hpcw_i_clog2_place){0};
}

/* If the log's name is that of a symbolic link, the link's target becomes the log's place. The link is not read
 * again: if another file is there when the log is written, the log replaces that file. */
static int follow_last_part(const char *path, struct hpcw_i_clog2_place *place) {
    struct hpcw_i_dir *dir = place->dir;
    int e = hpcw_i_dir_follow(dir, hpcw_i_sys_base_of(path), &place->dir, &place->name);
    hpcw_i_dir_release(dir);
    return e;
}

/* Finds the place of the log, in `directory` if this is not "". If a directory is missing or may not be entered
 * now, the program may still make it before the log is written. Then *start becomes the working directory, from
 * which the path is followed when the log is written. */
static hpcw_status find_place(const hpcw_clog2_log_options *o, const char *path, const char *directory,
                              struct hpcw_i_clog2_place *place, struct hpcw_i_dir **start, hpcw_error *err) {
    *place = (struct hpcw_i_clog2_place){0};
    *start = NULL;
    if (o->sink_source.open != NULL) {
        return HPCW_OK;
    }
    int e = directory[0] == '\0' || hpcw_i_dir_hold(directory, &place->dir) != 0
                ? hpcw_i_dir_hold_of(path, &place->dir)
                : 0;
    e = e == 0 ? follow_last_part(path, place) : e;
    int at = -1;
    if (e == ENOENT || e == ENOTDIR || e == EACCES) {
        e = hpcw_i_dir_hold(".", start);
    } else if (e == 0) {
        e = hpcw_i_dir_fd(place->dir, &at);
    }
    return e != 0    ? hpcw_i_fail_sys(err, e, "%s: cannot find the place of the log", path)
           : at >= 0 ? hpcw_i_clog2_check_output(at, place->name, path, err)
                     : HPCW_OK;
}

static hpcw_status make(const char *path, hpcw_comm *comm, const hpcw_clog2_log_options *o,
                        hpcw_clog2_log **out, hpcw_error *err) {
    hpcw_clog2_log *log = hpcw_i_calloc(1, sizeof *log);
    *out = log;
    if (log == NULL) {
        return hpcw_i_fail_memory(err, path, 0, NULL);
    }
    (void)pthread_mutex_init(&log->lock, NULL);
    (void)pthread_cond_init(&log->changed, NULL);
    log->comm = comm;
    log->rank = (uint32_t)comm->process;
    log->ranks = (uint32_t)comm->size;
    log->options = *o;
    log->local.fd = -1;
    log->windows.queue_end = &log->windows.queue;
    log->windows.most = o->memory / HPCW_I_CLOG2_CHUNK_BYTES;
    hpcw_status s = find_place(o, path, "", &log->place, &log->start, err);
    if (s != HPCW_OK) {
        return s;
    }
    log->path = hpcw_i_strdup(path);
    log->name = hpcw_i_strdup(hpcw_i_sys_base_of(path));
    log->directory = o->directory == NULL ? NULL : absolute(o->directory);
    if (log->path == NULL || log->name == NULL || (o->directory != NULL && log->directory == NULL)) {
        return hpcw_i_fail_memory(err, path, 0, NULL);
    }
    if (log->directory != NULL) {
        log->local_dir_error = hpcw_i_dir_hold(log->directory, &log->local_dir);
    }
    return hpcw_i_clog2_clock_begin(log, err);
}

/* Checks that all processes have the same path and options. Broadcasts the number of the run, which process 0
 * draws. `log` is NULL after a failure. *file_tag becomes the tag in the name of a shared temporary file. */
static hpcw_status agree_on_options(hpcw_clog2_log *log, hpcw_comm *comm, const char *path,
                                    const hpcw_clog2_log_options *o, hpcw_status s, uint64_t *file_tag,
                                    hpcw_error *err) {
    const struct hpcw_i_same same[] = {
        {.name = "path", .text = path},
        {.name = "clock",
         .number = s == HPCW_OK ? log->clocks.kind : o->clock,
         .words = "best counter system caller"},
        {.name = "sync", .number = o->sync, .words = "best none sequential tree neighbours"},
        {.name = "sync_rounds", .number = o->sync_rounds},
        {.name = "memory", .number = o->memory},
        {.name = "block_size", .number = o->block_size},
        {.name = "durability", .number = o->durability, .words = "none file directory"},
        {.name = "sink_source", .number = o->sink_source.open != NULL, .words = "files own"},
    };
    uint64_t host = hpcw_i_sys_host();
    uint64_t word[3] = {host, comm->process == 0 ? hpcw_i_sink_random() : 0, host};
    struct hpcw_i_words words = {.mins = 1, .maxs = 2, .word = word};
    s = hpcw_i_agree_same(comm, s, path, same, sizeof same / sizeof same[0], &words, err);
    if (s == HPCW_OK) {
        log->tag = word[1];
        *file_tag = hpcw_i_sink_tag(word[1], word[0], word[2]);
    }
    return s;
}

/* Checks that all processes see the same directory for the log, now rather than after the program's run. Other
 * faults of the directory are ignored, as the program may remove them before the log is written. Collective. */
static hpcw_status check_directory(const hpcw_clog2_log *log, uint64_t tag, hpcw_error *err) {
    hpcw_sink *sink = NULL;
    hpcw_status s = HPCW_OK;
    hpcw_error why;
    if (log->comm->size > 1 && log->options.sink_source.open == NULL) {
        s = hpcw_i_clog2_sink_open(&log->place, log->path, log->comm, &log->options.sink_source, tag,
                                   HPCW_SYNC_NONE, &sink, &why);
        hpcw_sink_discard(sink);
        hpcw_sink_free(sink);
    }
    if (s != HPCW_EMISMATCH) {
        return HPCW_OK;
    }
    *err = why;
    return s;
}

static hpcw_status introduce_self(hpcw_clog2_log *log, const struct hpcw_i_clog2_apart *apart,
                                  hpcw_error *err) {
    hpcw_clog2_comm_id id[2];
    for (int i = 0; i < 2; i++) {
        hpcw_clog2_log_comm_id(log, &id[i]);
    }
    if (apart != NULL) {
        memset(&id[0], 0, sizeof id[0]);
        id[0].random = (int32_t)(uint32_t)apart->run;
        id[0].created = (double)apart->began_ns * 1e-9;
    }
    hpcw_status s = hpcw_i_comm_bcast(log->comm, &id[0], sizeof id[0], 0, err);
    if (s == HPCW_OK && (!hpcw_i_clog2_add_known(log, &id[0], HPCW_CLOG2_INTRA, log->rank) ||
                         !hpcw_i_clog2_add_known(log, &id[1], HPCW_CLOG2_INTRA, 0))) {
        s = hpcw_i_fail_memory(err, log->path, 0, NULL);
    }
    return hpcw_i_agree(log->comm, s, NULL, err);
}

/* Sets the values that processes otherwise exchange, for a run whose processes cannot communicate. */
static void set_apart(hpcw_clog2_log *log, const struct hpcw_i_clog2_apart *apart) {
    log->rank = apart->rank;
    log->ranks = apart->ranks;
    log->tag = apart->run;
}

/* Opens a recording. `apart` is NULL if the processes of the run communicate. */
static hpcw_status open_log(const char *path, hpcw_comm *comm, const hpcw_clog2_log_options *options,
                            const struct hpcw_i_clog2_apart *apart, hpcw_clog2_log **out, hpcw_error *err) {
    hpcw_error local;
    err = err == NULL ? &local : err;
    comm = hpcw_i_comm_or_self(comm);
    hpcw_clog2_log_options o;
    hpcw_clog2_log_options_init(&o);
    hpcw_clog2_log *log = NULL;
    hpcw_status s =
        options == NULL ? HPCW_OK : hpcw_i_options_take(&o, sizeof o, options, "hpcw_clog2_log_options", err);
    if (s == HPCW_OK) {
        s = check_options(&o, err);
    }
    if (s == HPCW_OK && (path == NULL || out == NULL)) {
        s = hpcw_i_fail(err, HPCW_EINVAL, "clog2 log: expected a path and a pointer for the handle, got NULL");
    }
    if (s == HPCW_OK) {
        s = check_path(path, err);
    }
    if (s == HPCW_OK && !hpcw_i_comm_has_messages(comm)) {
        s = hpcw_i_fail(err, HPCW_EINVAL,
                        "%s: expected a communicator with messages between two processes, as MPI's, got one of "
                        "callbacks",
                        path);
    }
    if (out != NULL) {
        *out = NULL;
    }
    if (s == HPCW_OK) {
        s = make(path, comm, &o, &log, err);
    }
    uint64_t file_tag;
    s = agree_on_options(log, comm, path, &o, s, &file_tag, err);
    if (s == HPCW_OK && apart != NULL) {
        set_apart(log, apart);
    }
    if (s == HPCW_OK) {
        s = check_directory(log, file_tag, err);
    }
    if (s == HPCW_OK) {
        s = introduce_self(log, apart, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_i_clog2_clock_share(log, err);
    }
    if (s == HPCW_OK) {
        struct hpcw_i_clog2_ticks *t = &log->clocks.ticks;
        s = hpcw_i_clog2_sync(log, &t->begin_at, &t->begin_offset, &t->begin_round_trip, err);
        if (s == HPCW_OK && apart != NULL && apart->host == hpcw_i_sys_host()) {
            t->begin_offset = (int64_t)(t->system_base_ns - apart->began_ns);
        }
        t->end_at = t->begin_at;
        t->end_offset = t->begin_offset;
    }
    if (s != HPCW_OK) {
        hpcw_clog2_log_free(log);
        return s;
    }
    hpcw_i_clog2_local_create(log);
    *out = log;
    return HPCW_OK;
}

hpcw_status hpcw_clog2_log_open(const char *path, hpcw_comm *comm, const hpcw_clog2_log_options *options,
                                hpcw_clog2_log **out, hpcw_error *err) {
    return open_log(path, comm, options, NULL, out, err);
}

hpcw_status hpcw_i_clog2_log_open_apart(const char *path, const hpcw_clog2_log_options *options,
                                        const struct hpcw_i_clog2_apart *apart, hpcw_clog2_log **out,
                                        hpcw_error *err) {
    return open_log(path, NULL, options, apart, out, err);
}

uint32_t hpcw_clog2_log_rank(const hpcw_clog2_log *log) {
    return log->rank;
}

/* Finds the place that the path has on process 0, whose working directory may differ. Collective. */
static hpcw_status find_place_of_first(const hpcw_clog2_log *log, const char *path,
                                       struct hpcw_i_clog2_place *place, struct hpcw_i_dir **start,
                                       hpcw_error *err) {
    char where[PATH_MAX] = "";
    char *directory = log->comm->process == 0 ? hpcw_i_sys_directory_of(path) : NULL;
    char *real = directory == NULL ? NULL : hpcw_i_sys_real_path(directory);
    if (real != NULL && strlen(real) < sizeof where) {
        memcpy(where, real, strlen(real) + 1);
    }
    hpcw_i_free(directory);
    hpcw_i_free(real);
    hpcw_status s = hpcw_i_comm_bcast(log->comm, where, sizeof where, 0, err);
    if (s == HPCW_OK) {
        s = find_place(&log->options, path, where, place, start, err);
    }
    return hpcw_i_agree(log->comm, s, NULL, err);
}

hpcw_status hpcw_clog2_log_rename(hpcw_clog2_log *log, const char *path, hpcw_error *err) {
    hpcw_error local;
    err = err == NULL ? &local : err;
    if (log == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "clog2 log: expected a recording, got NULL");
    }
    char *copy = path == NULL ? NULL : hpcw_i_strdup(path);
    struct hpcw_i_clog2_place place = {0};
    struct hpcw_i_dir *start = NULL;
    hpcw_status s = HPCW_OK;
    if (log->finished) {
        s = hpcw_i_fail(err, HPCW_ESTATE, "%s: the recording has ended", log->path);
    } else if (path == NULL) {
        s = hpcw_i_fail(err, HPCW_EINVAL, "%s: expected another path, got NULL", log->path);
    } else if (copy == NULL) {
        s = hpcw_i_fail_memory(err, log->path, 0, NULL);
    } else {
        s = check_path(path, err);
    }
    const struct hpcw_i_same same[] = {{.name = "path", .text = path}};
    s = hpcw_i_agree_same(log->comm, s, log->path, same, 1, NULL, err);
    if (s == HPCW_OK) {
        s = find_place_of_first(log, path, &place, &start, err);
    }
    if (s == HPCW_OK) {
        (void)pthread_mutex_lock(&log->lock); /* other threads use the path in messages */
        char *old = log->path;
        struct hpcw_i_clog2_place old_place = log->place;
        struct hpcw_i_dir *old_start = log->start;
        log->path = copy;
        log->place = place;
        log->start = start;
        copy = old;
        place = old_place;
        start = old_start;
        (void)pthread_mutex_unlock(&log->lock);
    }
    release_place(&place);
    hpcw_i_dir_release(start);
    hpcw_i_free(copy);
    return s;
}

void hpcw_clog2_log_free(hpcw_clog2_log *log) {
    if (log == NULL) {
        return;
    }
    hpcw_i_clog2_helper_stop(log);
    hpcw_i_clog2_local_close(log, !hpcw_i_clog2_timelines_have_events(log));
    hpcw_i_clog2_timelines_free(log);
    hpcw_i_free(log->clocks.leader);
    hpcw_i_free(log->definition);
    hpcw_i_free(log->known);
    hpcw_i_dir_release(log->local_dir);
    release_place(&log->place);
    hpcw_i_dir_release(log->start);
    hpcw_i_free(log->local.path);
    hpcw_i_free(log->directory);
    hpcw_i_free(log->name);
    hpcw_i_free(log->path);
    (void)pthread_cond_destroy(&log->changed);
    (void)pthread_mutex_destroy(&log->lock);
    hpcw_i_free(log);
}
