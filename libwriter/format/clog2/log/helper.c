/* SPDX-License-Identifier: BSD-3-Clause */
/* The helper thread. Windows are the mapped parts of the local file. The helper prepares the next window before a
 * recording thread needs it, and unmaps full windows, so that they do not stay in memory. */
#include <signal.h>

#include "libwriter/format/clog2/log/recording.h"
#include "libwriter/io/sys.h"

/* Unmaps the oldest full window. The caller holds the lock, which is released during the unmap. */
static void unmap_one(hpcw_clog2_log *log) {
    struct hpcw_i_clog2_chunk *chunk = log->windows.queue;
    log->windows.queue = chunk->queued;
    log->windows.queue_end = log->windows.queue == NULL ? &log->windows.queue : log->windows.queue_end;
    log->windows.mapped--;
    log->local.spilled += chunk->words * sizeof *chunk->data;
    uint64_t *data = chunk->data;
    chunk->data = NULL;
    (void)pthread_mutex_unlock(&log->lock);
    hpcw_i_sys_unmap((char *)data - chunk->offset % HPCW_I_CLOG2_CHUNK_BYTES, HPCW_I_CLOG2_CHUNK_BYTES);
    (void)pthread_mutex_lock(&log->lock);
}

static void *help(void *context) {
    hpcw_clog2_log *log = context;
    (void)pthread_mutex_lock(&log->lock);
    for (;;) {
        struct hpcw_i_clog2_window window;
        if (log->windows.queue != NULL && log->windows.mapped + log->windows.buffers > log->windows.most) {
            /* Unmap windows also at the end. Otherwise the speed of this thread would change the spilled bytes in
             * the report. */
            unmap_one(log);
        } else if (log->windows.helper_stops) {
            break;
        } else if (log->local.disk.code == HPCW_OK && log->windows.readies < HPCW_I_CLOG2_AHEAD) {
            if (hpcw_i_clog2_local_make(log, &window)) {
                log->windows.ready[log->windows.readies++] = window; /* only this thread adds windows */
            }
        } else {
            (void)pthread_cond_wait(&log->changed, &log->lock);
        }
    }
    (void)pthread_mutex_unlock(&log->lock);
    return NULL;
}

void hpcw_i_clog2_helper_wake(hpcw_clog2_log *log) {
    if (log->local.fd >= 0 && !log->windows.helper_runs && !log->windows.helper_stops) {
        /* Block all signals in the helper: signal handlers of the program expect to run in the program's own
         * threads. */
        sigset_t all, before;
        (void)sigfillset(&all);
        (void)pthread_sigmask(SIG_SETMASK, &all, &before);
        /* Without the helper, each recording thread makes its windows itself. */
        log->windows.helper_runs = pthread_create(&log->windows.helper, NULL, help, log) == 0;
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    (void)pthread_cond_signal(&log->changed);
}

void hpcw_i_clog2_helper_stop(hpcw_clog2_log *log) {
    (void)pthread_mutex_lock(&log->lock);
    bool runs = log->windows.helper_runs;
    log->windows.helper_stops = true;
    log->windows.helper_runs = false;
    (void)pthread_cond_signal(&log->changed);
    (void)pthread_mutex_unlock(&log->lock);
    if (runs) {
        (void)pthread_join(log->windows.helper, NULL);
    }
    while (log->windows.readies > 0) {
        hpcw_i_sys_unmap(log->windows.ready[--log->windows.readies].base, HPCW_I_CLOG2_CHUNK_BYTES);
    }
}
