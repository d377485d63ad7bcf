/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded, it lets tests run more processes than there are cores where MPI waits in a loop that never yields, as
 * MPICH above UCX does: there, a wait for another process is a loop around this function of UCX.
 */
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
