/* SPDX-License-Identifier: BSD-3-Clause */
/* Ends a workload that makes no progress. In each period of processor time, some rank must start, end a phase,
 * or end. A timer of the simulating thread sets a hook, which Lua allows in a signal handler. Hooks that count
 * instructions would make loops more than twice as slow. Processor time does not depend on the load of the
 * machine. */
#ifndef HPCW_GEN_SIM_LUA_WATCH_H
#define HPCW_GEN_SIM_LUA_WATCH_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <hpcw/status.h>
#include <lua.h>

struct sim_lua_watch {
    timer_t timer;
    bool runs;
    double seconds;              /* length of a period, seconds */
    lua_State *volatile running; /* the running coroutine; NULL: none */
    /* nonzero: progress since the last signal; the handler clears it */
    volatile sig_atomic_t progress;
    volatile sig_atomic_t tripped;
};

/* Starts to watch the calling thread, by the signal SIGVTALRM. Fails with errors of the system. */
hpcw_status sim_lua_watch_start(struct sim_lua_watch *watch, double seconds, hpcw_error *err);
void sim_lua_watch_stop(struct sim_lua_watch *watch);

static inline void sim_lua_watch_progress(struct sim_lua_watch *watch) {
    watch->progress = 1;
}

#endif
