/* SPDX-License-Identifier: BSD-3-Clause */
/* To be preloaded if there are more processes than cores. MPICH above UCX waits for other processes in a loop
 * around this function, without yielding the processor. This version yields. */
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
