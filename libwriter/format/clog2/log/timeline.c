/* SPDX-License-Identifier: BSD-3-Clause */
/* Timelines: where the records of a thread go. */
#include "libwriter/format/clog2/log/recording.h"

#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sys.h"

#define CHUNK_BYTES HPCW_I_CLOG2_CHUNK_BYTES

enum { BIN = 4096 }; /* words of a bin */

/*
 * A buffer whose pages already exist. The first write to a page of 4 KiB costs 1.3 us, that is 5 ns for each
 * record in it and half of what the record itself takes. As one large page, two megabytes cost 35 us. Where the
 * system has no large pages, the small ones are touched one by one.
 */
static uint64_t *new_buffer(void) {
    enum { PAGE = 4096 };
    char *p = hpcw_i_malloc_large(CHUNK_BYTES);
    for (size_t i = 0; p != NULL && i < CHUNK_BYTES; i += PAGE) {
        *(volatile char *)(p + i) = 0;
    }
    return (uint64_t *)(void *)p;
}

static void use_buffer(struct hpcw_i_clog2_timeline *l, uint64_t *data, size_t words) {
    l->face.next = data;
    l->face.end = data + words - HPCW_I_CLOG2_MOST_WORDS + 1;
}

static struct hpcw_i_clog2_chunk *add_chunk(struct hpcw_i_clog2_timeline *l, uint64_t *data) {
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

/* Under the lock. Returns a spare buffer or a new one; NULL if none is allowed or there is no memory. */
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

/* Under the lock. Queues a full chunk. */
static void push(hpcw_clog2_log *log, struct hpcw_i_clog2_chunk *chunk) {
    chunk->queued = NULL;
    *log->queue_end = chunk;
    log->queue_end = &chunk->queued;
    log->pushed++;
    hpcw_i_clog2_spill_wake(log);
}

/* Under the lock. The timeline continues in a new chunk, or in its bin. Returns whether it had to wait. */
static bool go_on(struct hpcw_i_clog2_timeline *l) {
    hpcw_clog2_log *log = l->log;
    bool waited = false;
    uint64_t *data = get_buffer(log);
    while (data == NULL && hpcw_i_clog2_spill_may_wait(log)) {
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

/* Whether the timeline was in a chunk, which now has its length. What is in a bin is lost. */
static bool close_chunk(struct hpcw_i_clog2_timeline *l) {
    if (!l->in_bin) {
        l->last->words = (uint32_t)(l->face.next - l->last->data);
        return true;
    }
    for (const uint64_t *p = l->bin; p < l->face.next; p += hpcw_i_clog2_words_of(p)) {
        l->lost++;
    }
    return false;
}

void hpcw_clog2_timeline_next(hpcw_clog2_timeline *timeline) {
    struct hpcw_i_clog2_timeline *l = hpcw_i_clog2_inner(timeline);
    hpcw_clog2_log *log = l->log;
    uint64_t before = hpcw_clog2_timeline_clock(timeline);
    (void)pthread_mutex_lock(&log->lock);
    if (close_chunk(l)) {
        push(log, l->last);
    }
    bool waited = go_on(l);
    (void)pthread_mutex_unlock(&log->lock);
    if (waited) {
        uint64_t *p = timeline->next;
        p[0] = before;
        p[1] = hpcw_clog2_timeline_word(HPCW_CLOG2_BARE, 0, 2 * HPCW_CLOG2_SPILL_STATE);
        p[2] = hpcw_clog2_timeline_clock(timeline);
        p[3] = hpcw_clog2_timeline_word(HPCW_CLOG2_BARE, 0, 2 * HPCW_CLOG2_SPILL_STATE + 1);
        timeline->next = p + 4;
    }
}

hpcw_status hpcw_clog2_log_thread(hpcw_clog2_log *log, hpcw_clog2_timeline **out, hpcw_error *err) {
    if (log == NULL || out == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "clog2 log: expected a recording and a pointer for the timeline, got NULL");
    }
    *out = NULL;
    struct hpcw_i_clog2_timeline *l = hpcw_i_calloc(1, sizeof *l);
    uint64_t *bin = hpcw_i_malloc(BIN * sizeof *bin);
    hpcw_status s = HPCW_OK;
    (void)pthread_mutex_lock(&log->lock);
    struct hpcw_i_clog2_timeline **grown =
        hpcw_i_realloc(log->timeline, ((size_t)log->timelines + 1) * sizeof(*log->timeline));
    /* A timeline that waits has filled one chunk, and each other one holds one. So there is always a chunk to
     * write. */
    uint64_t least = 2 * ((uint64_t)log->timelines + 1);
    uint64_t most = log->most_buffers > least ? log->most_buffers : least;
    uint64_t **spare = hpcw_i_realloc(log->spare, (size_t)most * sizeof *spare);
    log->timeline = grown == NULL ? log->timeline : grown;
    log->spare = spare == NULL ? log->spare : spare;
    log->most_buffers = spare == NULL ? log->most_buffers : most;
    if (l == NULL || bin == NULL || grown == NULL || spare == NULL) {
        s = hpcw_i_fail_memory(err, log->path, 0, "a thread");
    } else if (log->finished) {
        s = hpcw_i_fail(err, HPCW_ESTATE, "%s: the recording has ended", log->path);
    } else if (log->timelines == HPCW_I_CLOG2_MOST_THREADS) {
        s = hpcw_i_fail(err, HPCW_ERANGE, "%s: expected at most %d threads, got one more", log->path,
                        HPCW_I_CLOG2_MOST_THREADS);
    } else {
        l->face.now = log->options.now;
        l->log = log;
        l->bin = bin;
        l->thread = log->timelines;
        log->timeline[log->timelines++] = l; /* before the next call, which releases the lock for a moment */
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

void hpcw_clog2_log_cargo(hpcw_clog2_timeline *timeline, uint32_t comm, int32_t event,
                          const hpcw_clog2_cargo *cargo) {
    uint64_t *p = timeline->next;
    p[0] = hpcw_clog2_timeline_clock(timeline);
    p[1] = hpcw_clog2_timeline_word(HPCW_CLOG2_WITH_CARGO, comm, event);
    memset(p + 3, 0, HPCW_CLOG2_CARGO);
    if (cargo->size <= HPCW_CLOG2_CARGO) {
        p[2] = cargo->pieces;
        memcpy(p + 3, cargo->bytes, cargo->size);
    } else {
        p[2] = UINT64_MAX; /* matches no format */
    }
    timeline->next = p + HPCW_CLOG2_WORDS_CARGO;
    if (timeline->next >= timeline->end) {
        hpcw_clog2_timeline_next(timeline);
    }
}

hpcw_status hpcw_clog2_log_flush(hpcw_clog2_timeline *timeline, hpcw_error *err) {
    if (timeline == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "clog2 log: expected a timeline, got NULL");
    }
    struct hpcw_i_clog2_timeline *l = hpcw_i_clog2_inner(timeline);
    hpcw_clog2_log *log = l->log;
    hpcw_status s = HPCW_OK;
    (void)pthread_mutex_lock(&log->lock);
    if (log->directory == NULL) {
        s = hpcw_i_fail(err, HPCW_ESTATE, "%s: expected a directory for local files, got none", log->path);
    } else {
        if (close_chunk(l)) {
            log->flush_to = log->pushed + 1;
            push(log, l->last);
        }
        (void)go_on(l);
        uint64_t wanted = log->flush_to;
        while (log->written < wanted && hpcw_i_clog2_spill_may_wait(log)) {
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

void hpcw_i_clog2_timelines_stop(hpcw_clog2_log *log) {
    hpcw_i_clog2_spill_stop(log);
    for (uint32_t i = 0; i < log->timelines; i++) {
        (void)close_chunk(log->timeline[i]);
    }
    log->finished = true;
}

void hpcw_i_clog2_timelines_free(hpcw_clog2_log *log) {
    hpcw_i_clog2_spill_stop(log);
    for (uint32_t i = 0; i < log->timelines; i++) {
        struct hpcw_i_clog2_timeline *l = log->timeline[i];
        while (l->first != NULL) {
            struct hpcw_i_clog2_chunk *next = l->first->next;
            hpcw_i_free(l->first->data);
            hpcw_i_free(l->first);
            l->first = next;
        }
        hpcw_i_free(l->bin);
        hpcw_i_free(l);
    }
    while (log->spares > 0) {
        hpcw_i_free(log->spare[--log->spares]);
    }
    hpcw_i_free(log->spare);
    hpcw_i_free(log->timeline);
}
