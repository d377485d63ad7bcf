/* SPDX-License-Identifier: BSD-3-Clause */
/* The open states of all ranks while a log is read, and the names of states. */
#ifndef HPCW_GEN_WAITS_STATES_H
#define HPCW_GEN_WAITS_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "gen/export/log.h"
#include "gen/waits/waits.h"
#include "libwriter/base/table.h"

enum call_kind {
    NO_CALL,
    OTHER_CALL,
    POST_CALL,
    START_CALL, /* a non-blocking send, which another call completes */
    WAIT_CALL,
    WAIT_ALL_CALL,
    SEND_CALL,
    RECEIVE_CALL,
    EXCHANGE_CALL,
    COLLECTIVE_CALL
};

/* An open state: a state of a rank that has begun but not ended. */
struct waits_state {
    uint64_t from_ns, definition;
    int32_t thread, comm;
    uint32_t name; /* index in gen_waits.name */
    enum call_kind kind;
    /* index + 1 of the next outer state of the rank; of a free entry: index + 1 of the next free entry */
    uint32_t outer;
    bool sends;    /* the call has sent a message, whose number is `sent` */
    uint64_t sent; /* number of the last message that the call has sent */
    /* The send that began last, among those of the messages that this call received.
     * late_ns: its begin; 0: there is none
     * late_rank, late_call: rank and call of the send */
    uint64_t late_ns;
    uint32_t late_rank, late_call;
    bool receives; /* the call has received a message */
    /* The receive that was posted last, among those of the messages that this call sends or completes.
     * posted_ns: its time; 0: not known, or before this call
     * posted_rank, posted_call: rank and call that posted it */
    uint64_t posted_ns;
    uint32_t posted_rank, posted_call;
    uint64_t serial; /* number of this collective call among those of the rank on its communicator, from 0 */
};

struct waits_states {
    struct gen_waits *w; /* gets the names of states */
    const char *path;    /* path of the log, for error messages */
    uint32_t *top;       /* [ranks] index + 1 of the innermost open state */
    struct waits_state *open;
    size_t opens, open_capacity;
    uint32_t unused; /* index + 1 of the first free entry of `open` */
    size_t name_capacity;
    enum call_kind *kind; /* [names] */
    size_t kind_capacity;
    struct hpcw_i_table names; /* definition -> uint64_t index in w->name */
};

/* Starts with no open state. `w` has the number of ranks and gets the names of states; name 0 is "". After
 * HPCW_ENOMEM the states must be freed, too. */
hpcw_status waits_states_init(struct waits_states *states, struct gen_waits *w, const char *path,
                              hpcw_error *err);

/* Frees all members except the names of `w`. */
void waits_states_free(struct waits_states *states);

void waits_states_clear(struct waits_states *states);

/* Opens a state inside the innermost state of the rank. Returns a pointer that is valid until the next call;
 * NULL if memory runs out. */
struct waits_state *waits_states_push(struct waits_states *states, const struct gen_log_entry *e);

/* Removes the open state that the event `e` ends, and copies it to *state. Returns false if there is none. */
bool waits_states_pop(struct waits_states *states, const struct gen_log_entry *e, struct waits_state *state);

/* Returns the index of the name of a rank's innermost state; 0 if the rank is in no state. */
uint32_t waits_states_innermost(const struct waits_states *states, uint32_t rank);

/* Returns the innermost call of MPI that a thread of a rank is in, or NULL. */
struct waits_state *waits_states_call(const struct waits_states *states, uint32_t rank, int32_t thread);

/* Sets *err to a failure for want of memory, and returns HPCW_ENOMEM. */
hpcw_status waits_no_memory(const struct waits_states *states, hpcw_error *err);

#endif
