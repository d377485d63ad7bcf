/* SPDX-License-Identifier: BSD-3-Clause */
/* The local file, and the helper thread that writes chunks to it when memory runs short. */
#include "libwriter/format/clog2/log/recording.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/format/clog2/log/local_file.h"
#include "libwriter/io/sys.h"

static hpcw_status append(hpcw_clog2_log *log, const void *data, size_t size, hpcw_error *err) {
    int e = hpcw_i_sys_pwrite(log->fd, data, size, log->local_size);
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s: cannot write %zu bytes at offset %" PRIu64, log->local_path, size,
                               log->local_size);
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
        return hpcw_i_fail_memory(err, log->path, 0, NULL);
    }
    (void)snprintf(log->local_path, room, "%s/%s.%016" PRIx64 ".%06d.local", log->directory,
                   slash == NULL ? log->path : slash + 1, log->tag, log->comm->process);
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

/* Writes a chunk, and before it the definitions and communicators that it may refer to. Not under the lock,
 * which it takes to copy these. */
static hpcw_status spill(hpcw_clog2_log *log, struct hpcw_i_clog2_chunk *chunk, hpcw_error *err) {
    hpcw_status s = log->local_path == NULL ? create_local(log, err) : HPCW_OK;
    (void)pthread_mutex_lock(&log->lock);
    size_t definitions = log->definitions - log->definitions_written;
    size_t knowns = log->knowns - log->knowns_written;
    struct hpcw_i_clog2_definition *d = hpcw_i_malloc(definitions * sizeof *d);
    struct hpcw_i_clog2_known_comm *k = hpcw_i_malloc(knowns * sizeof *k);
    if (d == NULL || k == NULL) {
        s = s == HPCW_OK ? hpcw_i_fail_memory(err, log->path, 0, NULL) : s;
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

/* Whether more than half of the memory is in use, or a thread waits for a flush. */
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

void hpcw_i_clog2_spill_wake(hpcw_clog2_log *log) {
    if (log->directory == NULL || !must_write(log)) {
        return;
    }
    if (!log->helper_runs && !log->helper_stops) {
        log->helper_runs = pthread_create(&log->helper, NULL, help, log) == 0;
        if (!log->helper_runs) {
            (void)hpcw_i_fail(&log->disk, HPCW_ENOMEM, "%s: cannot start a thread that writes", log->path);
        }
    }
    (void)pthread_cond_broadcast(&log->changed);
}

bool hpcw_i_clog2_spill_may_wait(const hpcw_clog2_log *log) {
    return log->directory != NULL && log->disk.code == HPCW_OK && log->helper_runs;
}

void hpcw_i_clog2_spill_stop(hpcw_clog2_log *log) {
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
