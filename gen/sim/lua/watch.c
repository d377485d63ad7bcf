/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/sim/lua/watch.h"

#include <errno.h>
#include <unistd.h>

#include "gen/sim/lua/private.h"
#include "libwriter/base/status.h"

#ifndef sigev_notify_thread_id /* glibc before 2.38 does not define this name */
#define sigev_notify_thread_id _sigev_un._tid
#endif

static void stop_program(lua_State *L, lua_Debug *at) {
    const struct sim_lua_watch *watch = &sim_lua_rank_of(L)->lua->watch;
    (void)at;
    sim_lua_refuse(L, "expected the end of a phase within %g s of processor time, got none", watch->seconds);
}

static void look(int signal, siginfo_t *info, void *unused) {
    (void)signal;
    (void)unused;
    if (info->si_code != SI_TIMER) {
        return;
    }
    struct sim_lua_watch *watch = info->si_value.sival_ptr;
    if (watch->progress != 0) {
        watch->progress = 0;
        return;
    }
    watch->tripped = 1;
    if (watch->running != NULL) {
        lua_sethook(watch->running, stop_program, LUA_MASKCOUNT, 1);
    }
}

hpcw_status sim_lua_watch_start(struct sim_lua_watch *watch, double seconds, hpcw_error *err) {
    /* The signal handler stays installed after sim_lua_watch_stop, since another thread may also simulate. */
    struct sigaction action = {.sa_sigaction = look, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGVTALRM};
    *watch = (struct sim_lua_watch){.seconds = seconds, .progress = 1};
    event.sigev_value.sival_ptr = watch;
    event.sigev_notify_thread_id = gettid();
    (void)sigemptyset(&action.sa_mask);
    const struct timespec period = {.tv_sec = (time_t)seconds,
                                    .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
    const struct itimerspec every = {.it_interval = period, .it_value = period};
    if (sigaction(SIGVTALRM, &action, NULL) != 0 ||
        timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &watch->timer) != 0) {
        return hpcw_i_fail_sys(err, errno, "workload: cannot limit its processor time");
    }
    watch->runs = true;
    if (timer_settime(watch->timer, 0, &every, NULL) != 0) {
        const int e = errno;
        sim_lua_watch_stop(watch);
        return hpcw_i_fail_sys(err, e, "workload: cannot limit its processor time");
    }
    return HPCW_OK;
}

void sim_lua_watch_stop(struct sim_lua_watch *watch) {
    if (watch->runs) {
        (void)timer_delete(watch->timer);
        watch->runs = false;
    }
}
