/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/trace/session.h"

#include <pthread.h>
#include <stddef.h>

#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"

struct hpcw_i_trace_session hpcw_i_trace_session;
_Thread_local struct hpcw_i_trace_thread hpcw_i_trace_thread;

static struct {
    pthread_key_t key; /* its destructor runs when a thread ends */
    bool have_key;
    pthread_mutex_t lock;       /* protects the following members */
    hpcw_clog2_timeline **idle; /* [idles] timelines of threads that have ended, for new threads */
    size_t idles, capacity;
} threads = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Keeps the timeline of a thread that ends, for the next new thread. So a program with many short-lived threads
 * has few timelines. */
static void thread_ends(void *context) {
    struct hpcw_i_trace_thread *t = context;
    if (!atomic_load(&hpcw_i_trace_session.following)) {
        return;
    }
    (void)pthread_mutex_lock(&threads.lock);
    hpcw_clog2_timeline **grown =
        hpcw_i_grow(threads.idle, &threads.capacity, threads.idles + 1, sizeof *grown);
    if (grown != NULL) {
        threads.idle = grown;
        threads.idle[threads.idles++] = t->timeline;
    }
    (void)pthread_mutex_unlock(&threads.lock);
    t->timeline = NULL;
}

hpcw_clog2_timeline *hpcw_i_trace_timeline_new(struct hpcw_i_trace_thread *t) {
    if (t->refused || !atomic_load(&hpcw_i_trace_session.following)) {
        return NULL;
    }
    (void)pthread_mutex_lock(&threads.lock);
    if (threads.idles > 0) {
        t->timeline = threads.idle[--threads.idles];
    }
    (void)pthread_mutex_unlock(&threads.lock);
    if (t->timeline == NULL && hpcw_clog2_log_thread(hpcw_i_trace_session.log, &t->timeline, NULL) != HPCW_OK) {
        t->refused = true;
        hpcw_i_trace_forgot();
        return NULL;
    }
    if (threads.have_key) {
        (void)pthread_setspecific(threads.key, t);
    }
    return t->timeline;
}

bool hpcw_i_trace_session_begin(hpcw_clog2_log *log) {
    hpcw_i_trace_session.log = log;
    threads.have_key = pthread_key_create(&threads.key, thread_ends) == 0;
    return hpcw_clog2_log_thread(log, &hpcw_i_trace_thread.timeline, NULL) == HPCW_OK;
}

void hpcw_i_trace_session_end(void) {
    hpcw_i_trace_session.log = NULL;
    hpcw_i_free(threads.idle);
    threads.idle = NULL;
    threads.idles = threads.capacity = 0;
    if (threads.have_key) {
        (void)pthread_key_delete(threads.key);
        threads.have_key = false;
    }
}
