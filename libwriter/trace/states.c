/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/trace/states.h"

#include <stddef.h>

#include "libwriter/trace/config.h"

struct hpcw_i_trace_states hpcw_i_trace_states;

struct state_row {
    const char *name, *colour;
    unsigned char class;
};
static const struct state_row row[HPCW_I_TRACE_STATES] = {
#define PLAIN(state, class, colour, shown_on, function, ...)                                                   \
    [state] = {#function, colour, HPCW_I_CLASS_##class},
#define SEND(state, colour, function) [state] = {#function, colour, HPCW_I_CLASS_MESSAGE},
#define ISEND(state, colour, function) SEND(state, colour, function)
#define SEND_INIT(state, colour, function) SEND(state, colour, function)
#define MAKES(state, class, colour, parent, function, ...) SHOWN(state, class, colour, function)
#define WRITTEN(state, class, colour, function, ...) SHOWN(state, class, colour, function)
#define CLOCK(state, class, colour, function) SHOWN(state, class, colour, function)
#define COLLECTS(state, colour, started, moved, function, ...) SHOWN(state, COLLECTIVE, colour, function)
#define ON_FILE(state, colour, started, function, ...) SHOWN(state, FILE, colour, function)
#define MAKES_WINDOW(state, colour, function, ...) SHOWN(state, WINDOW, colour, function)
#define ON_WINDOW(state, colour, function, ...) SHOWN(state, WINDOW, colour, function)
#define RMA(state, colour, started, put, got, function, ...) SHOWN(state, WINDOW, colour, function)
#define SHOWN(state, class, colour, name) [state] = {#name, colour, HPCW_I_CLASS_##class},
#define STATES_ONLY
#include "libwriter/trace/calls.h"
};

/* States of calls whose cargo has the numbers of bytes that they move. */
static const unsigned char moves[HPCW_I_TRACE_STATES] = {
#define COLLECTS(state, colour, started, moved, function, ...) [state] = 1,
#define STATES_ONLY
#include "libwriter/trace/calls.h"
};

void hpcw_i_trace_states_switch(bool on, uint32_t skip) {
    for (int i = 0; i < HPCW_I_TRACE_STATES; i++) {
        bool recorded = on && row[i].name != NULL && (skip >> row[i].class & 1) == 0;
        atomic_store(&hpcw_i_trace_states.active[i], (unsigned char)recorded);
    }
}

static const char *format_of(int i) {
    return hpcw_i_trace_state_is_of_mpe(i) ? "send_msg_sz/p=%d, recv_msg_sz/p=%d."
           : moves[i] != 0                 ? "sent=%l, received=%l"
                                           : NULL;
}

/* Failures are ignored: only a recovery after a crash needs these names. */
void hpcw_i_trace_states_offer(hpcw_clog2_log *log) {
    hpcw_status status = HPCW_OK;
    for (int i = 0; i < HPCW_I_TRACE_STATES && status == HPCW_OK; i++) {
        if (row[i].name != NULL) {
            status = hpcw_clog2_log_offer_state(log, i, row[i].name, row[i].colour, format_of(i), NULL);
        }
    }
}

/* Defines states in the same order on all processes. A process that runs out of memory defines fewer states,
 * but the other processes define them all. */
void hpcw_i_trace_states_define(hpcw_clog2_log *log, const unsigned char used[HPCW_I_TRACE_STATES]) {
    hpcw_status status = HPCW_OK;
    for (int i = 0; i < HPCW_I_TRACE_STATES && status == HPCW_OK; i++) {
        if (used[i] != 0) {
            status = hpcw_clog2_log_known_state(log, i, row[i].name, row[i].colour, format_of(i), NULL);
        }
    }
}
