/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ends a workload that makes no progress: in a period of processor time no rank began, ended a phase or ended. A timer of the
 * simulating thread sets a hook, which Lua allows in a signal handler. Hooks that count instructions all the time would make
 * loops more than twice as slow. A busy machine does not matter, as processor time counts.
 */
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
    double seconds;                 /* of a period */
    lua_State *volatile running;    /* the coroutine that runs; NULL: none */
    volatile sig_atomic_t progress; /* some since the handler's last look, which clears it */
    volatile sig_atomic_t tripped;
};

/* Starts for the calling thread. The signal is SIGVTALRM. Errors of the system. */
hpcw_status sim_lua_watch_start(struct sim_lua_watch *watch, double seconds, hpcw_error *err);
void sim_lua_watch_stop(struct sim_lua_watch *watch);

static inline void sim_lua_watch_progress(struct sim_lua_watch *watch) {
    watch->progress = 1;
}

#endif
