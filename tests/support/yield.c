/* SPDX-License-Identifier: BSD-3-Clause */
/* To be preloaded if there are more processes than cores. MPICH with UCX waits for other processes by calling
 * ucp_worker_progress in a loop, without yielding the processor. This ucp_worker_progress yields it. */
#include <dlfcn.h>
#include <sched.h>

unsigned ucp_worker_progress(void *worker);

unsigned ucp_worker_progress(void *worker) {
    static unsigned (*real)(void *);
    if (real == NULL) {
        *(void **)&real = dlsym(RTLD_NEXT, "ucp_worker_progress");
    }
    unsigned events = real(worker);
    if (events == 0) {
        (void)sched_yield();
    }
    return events;
}
