/* SPDX-License-Identifier: BSD-3-Clause */
/* The states of calls in the log: their numbers, which of them are recorded now, and which were used. */
#ifndef HPCW_TRACE_STATES_H
#define HPCW_TRACE_STATES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <hpcw/clog2_log.h>

/* Numbers of the states that code refers to, as HPCW_I_STATE_MPI_Recv. */
enum hpcw_i_trace_state {
#define WRITTEN(state, class, colour, function, ...) HPCW_I_STATE_##function = state,
#define SHOWN(state, class, colour, name) HPCW_I_STATE_##name = state,
#define SEND_INIT(state, colour, function) HPCW_I_STATE_##function = state,
#define COLLECTS(state, colour, started, moved, function, ...) HPCW_I_STATE_##function = state,
#define STATES_ONLY
#include "libwriter/trace/calls.h"
    HPCW_I_TRACE_STATES = HPCW_CLOG2_USER_STATE
};

struct hpcw_i_trace_states {
    atomic_uchar active[HPCW_I_TRACE_STATES]; /* 1 if the state is recorded now */
    atomic_uchar used[HPCW_I_TRACE_STATES];   /* 1 if the state was recorded at least once */
};
extern struct hpcw_i_trace_states hpcw_i_trace_states;

/* Marks a state as used. Stores only if it is not yet marked: a store at each call would make threads compete
 * for the cache line. */
static inline void hpcw_i_trace_state_use(int32_t state) {
    if (atomic_load_explicit(&hpcw_i_trace_states.used[state], memory_order_relaxed) == 0) {
        atomic_store_explicit(&hpcw_i_trace_states.used[state], 1, memory_order_relaxed);
    }
}

/* Returns whether MPE stores numbers of bytes in the state's cargo. The log then has the same cargo. */
static inline bool hpcw_i_trace_state_is_of_mpe(int32_t state) {
    return state == HPCW_I_STATE_MPI_Alltoall || state == HPCW_I_STATE_MPI_Alltoallv;
}

/* Starts or stops recording. Bit c of `skip` is set if calls of class c are not recorded. */
void hpcw_i_trace_states_switch(bool on, uint32_t skip);

/* Tells a log the names of all states before the first call. If the program dies, the recovery of the log uses
 * them. */
void hpcw_i_trace_states_offer(hpcw_clog2_log *log);

/* Defines in a log the states that some process has used. Viewers list only these. */
void hpcw_i_trace_states_define(hpcw_clog2_log *log, const unsigned char used[HPCW_I_TRACE_STATES]);

#endif
