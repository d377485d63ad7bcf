/* SPDX-License-Identifier: BSD-3-Clause */
/* Timelines: the memory that a thread records into. */
#include "libwriter/format/clog2/log/local_file.h"

#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sys.h"

#define CHUNK_BYTES HPCW_I_CLOG2_CHUNK_BYTES

enum {
    BIN = 4096,                    /* words of a buffer for lost records */
    LONG_WAIT_NS = 2 * 1000 * 1000 /* the log shows a wait for a window if it was longer; ns */
};

/*
 * Allocates a buffer and makes its pages exist. The first write to a page of 4 KiB costs 1.3 us. That is 5 ns for
 * each record in the page, half of the cost of storing a record. A large page of 2 MiB costs 35 us. If the system
 * has no large pages, the small pages are written to one by one.
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

/* Returns a buffer. NULL: no more buffers are allowed, or memory ran out. The caller holds the lock, which may be
 * released meanwhile. */
static uint64_t *get_buffer(hpcw_clog2_log *log) {
    if (log->windows.buffers >= log->windows.most) {
        return NULL;
    }
    log->windows.buffers++;
    (void)pthread_mutex_unlock(&log->lock);
    uint64_t *data = new_buffer();
    (void)pthread_mutex_lock(&log->lock);
    log->windows.buffers -= data == NULL;
    return data;
}

/*
 * Puts the chunk into a window. False: no window is available. The caller holds the lock, which may be released
 * meanwhile.
 */
static bool get_window(struct hpcw_i_clog2_timeline *l, struct hpcw_i_clog2_chunk *chunk) {
    hpcw_clog2_log *log = l->log;
    struct hpcw_i_clog2_window window;
    if (log->local.fd < 0) {
        return false;
    }
    if (log->windows.readies > 0) {
        window = log->windows.ready[0];
        log->windows.ready[0] = log->windows.ready[--log->windows.readies];
    } else if (log->local.disk.code != HPCW_OK || !hpcw_i_clog2_local_make(log, &window)) {
        return false;
    }
    log->windows.mapped++;
    struct hpcw_i_clog2_piece_head *head = (struct hpcw_i_clog2_piece_head *)(void *)window.base;
    head->kind = HPCW_I_CLOG2_PIECE_RECORDS;
    head->thread = l->thread;
    head->size = (uint32_t)(HPCW_I_CLOG2_CHUNK_BYTES - sizeof *head);
    head->order = chunk->order;
    __atomic_signal_fence(__ATOMIC_RELEASE);
    head->tag = HPCW_I_CLOG2_PIECE_TAG;
    chunk->data = (uint64_t *)(void *)(head + 1);
    chunk->offset = window.offset + sizeof *head;
    return true;
}

/* Continues the timeline in a new chunk. If there is no memory, continues in `bin`, whose records are lost. The
 * caller holds the lock, which may be released meanwhile. */
static void go_on(struct hpcw_i_clog2_timeline *l) {
    struct hpcw_i_clog2_chunk *chunk = hpcw_i_calloc(1, sizeof *chunk);
    if (chunk != NULL) {
        chunk->order = l->last == NULL ? 0 : l->last->order + 1;
        if (!get_window(l, chunk)) {
            l->unsaved = l->log->directory != NULL;
            hpcw_i_clog2_local_in_memory(l->log);
            chunk->data = get_buffer(l->log);
        }
    }
    l->in_bin = chunk == NULL || chunk->data == NULL;
    if (l->in_bin) {
        hpcw_i_free(chunk);
        use_buffer(l, l->bin, BIN);
        return;
    }
    *(l->last == NULL ? &l->first : &l->last->next) = chunk;
    l->last = chunk;
    use_buffer(l, chunk->data,
               HPCW_I_CLOG2_CHUNK - (chunk->offset % HPCW_I_CLOG2_CHUNK_BYTES) / sizeof *chunk->data);
}

/* Sets the length of the last chunk. Counts records in `bin` as lost. */
static void close_chunk(struct hpcw_i_clog2_timeline *l) {
    if (!l->in_bin) {
        l->last->words = (uint32_t)(l->face.next - l->last->data);
        return;
    }
    for (const uint64_t *p = l->bin; p < l->face.next; p += hpcw_i_clog2_words_of(p)) {
        l->lost++;
    }
}

/* Completes the last chunk, which is full. The caller holds the lock. */
static void push(struct hpcw_i_clog2_timeline *l) {
    hpcw_clog2_log *log = l->log;
    close_chunk(l);
    if (!l->in_bin && l->last->offset != 0) {
        *log->windows.queue_end = l->last;
        log->windows.queue_end = &l->last->queued;
        hpcw_i_clog2_helper_wake(log);
    }
}

void hpcw_clog2_timeline_next(hpcw_clog2_timeline *timeline) {
    struct hpcw_i_clog2_timeline *l = hpcw_i_clog2_inner(timeline);
    hpcw_clog2_log *log = l->log;
    uint64_t before = hpcw_clog2_timeline_clock(timeline), began = hpcw_i_clog2_system_ns();
    (void)pthread_mutex_lock(&log->lock);
    push(l);
    go_on(l);
    bool waited = log->local.fd >= 0 && hpcw_i_clog2_system_ns() - began > LONG_WAIT_NS;
    log->local.stalls += waited;
    (void)pthread_mutex_unlock(&log->lock);
    if (waited) {
        hpcw_clog2_timeline_put(timeline, before,
                                hpcw_clog2_timeline_word(HPCW_CLOG2_BARE, 0, 2 * HPCW_CLOG2_SPILL_STATE));
        hpcw_clog2_timeline_put(timeline, hpcw_clog2_timeline_clock(timeline),
                                hpcw_clog2_timeline_word(HPCW_CLOG2_BARE, 0, 2 * HPCW_CLOG2_SPILL_STATE + 1));
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
    uint64_t least = 2 * ((uint64_t)log->timelines + 1);
    log->windows.most = log->windows.most > least ? log->windows.most : least;
    log->timeline = grown == NULL ? log->timeline : grown;
    if (l == NULL || bin == NULL || grown == NULL) {
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
        /* Add the timeline before the next call, which may release the lock. */
        log->timeline[log->timelines++] = l;
        go_on(l);
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
    memset(p + 3, 0, HPCW_CLOG2_CARGO);
    if (cargo->size <= HPCW_CLOG2_CARGO) {
        p[2] = cargo->pieces;
        memcpy(p + 3, cargo->bytes, cargo->size);
    } else {
        p[2] = UINT64_MAX; /* matches no format, so that the merge refuses the cargo */
    }
    hpcw_clog2_timeline_done(timeline, hpcw_clog2_timeline_word(HPCW_CLOG2_WITH_CARGO, comm, event),
                             HPCW_CLOG2_WORDS_CARGO);
}

hpcw_status hpcw_clog2_log_flush(hpcw_clog2_timeline *timeline, hpcw_error *err) {
    if (timeline == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "clog2 log: expected a timeline, got NULL");
    }
    hpcw_clog2_log *log = hpcw_i_clog2_inner(timeline)->log;
    hpcw_status s = HPCW_OK;
    (void)pthread_mutex_lock(&log->lock);
    if (log->directory == NULL) {
        s = hpcw_i_fail(err, HPCW_ESTATE, "%s: expected a directory for local files, got none", log->path);
    } else if (log->local.disk.code != HPCW_OK) {
        s = log->local.disk.code;
        if (err != NULL) {
            *err = log->local.disk;
        }
    }
    int fd = log->local.fd;
    (void)pthread_mutex_unlock(&log->lock);
    int e = s == HPCW_OK ? hpcw_i_sys_fsync(fd) : 0;
    return e == 0 ? s : hpcw_i_fail_sys(err, e, "%s: cannot write the data back to the disk", log->local.path);
}

void hpcw_i_clog2_timelines_stop(hpcw_clog2_log *log) {
    hpcw_i_clog2_helper_stop(log);
    for (uint32_t i = 0; i < log->timelines; i++) {
        close_chunk(log->timeline[i]);
    }
    log->finished = true;
}

/* Returns whether a timeline has records other than communicators in the local file. */
static bool has_events(const struct hpcw_i_clog2_timeline *l) {
    const struct hpcw_i_clog2_chunk *chunk = l->first;
    if (chunk == NULL || chunk->offset == 0) {
        return false;
    }
    bool more = chunk->next != NULL || l->in_bin;
    for (const uint64_t *p = chunk->data; !more && p < l->face.next; p += hpcw_i_clog2_words_of(p)) {
        more = p[1] >> 56 != HPCW_CLOG2_COMM_EVENT;
    }
    return more;
}

bool hpcw_i_clog2_timelines_have_events(const hpcw_clog2_log *log) {
    bool found = false;
    for (uint32_t i = 0; i < log->timelines && !found; i++) {
        found = has_events(log->timeline[i]);
    }
    return found;
}

static void free_chunk(struct hpcw_i_clog2_chunk *chunk) {
    if (chunk->data != NULL && chunk->offset != 0) {
        hpcw_i_sys_unmap((char *)chunk->data - chunk->offset % HPCW_I_CLOG2_CHUNK_BYTES,
                         HPCW_I_CLOG2_CHUNK_BYTES);
    } else {
        hpcw_i_free(chunk->data);
    }
    hpcw_i_free(chunk);
}

void hpcw_i_clog2_timelines_free(hpcw_clog2_log *log) {
    hpcw_i_clog2_helper_stop(log);
    for (uint32_t i = 0; i < log->timelines; i++) {
        struct hpcw_i_clog2_timeline *l = log->timeline[i];
        while (l->first != NULL) {
            struct hpcw_i_clog2_chunk *next = l->first->next;
            free_chunk(l->first);
            l->first = next;
        }
        hpcw_i_free(l->bin);
        hpcw_i_free(l);
    }
    hpcw_i_free(log->timeline);
}
