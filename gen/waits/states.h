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
    START_CALL, /* a send that another call completes */
    WAIT_CALL,
    WAIT_ALL_CALL,
    SEND_CALL,
    RECEIVE_CALL,
    EXCHANGE_CALL,
    COLLECTIVE_CALL
};

/* An open state. */
struct waits_state {
    uint64_t from_ns, definition;
    int32_t thread, comm;
    uint32_t name; /* index of a name */
    enum call_kind kind;
    /* index + 1 of the state around this one; in a free entry, of the next free entry */
    uint32_t outer;
    bool sends;    /* this call has sent a message, `sent` */
    uint64_t sent; /* number of the last message of this call */
    /* The latest of the sends whose messages this call received: its begin (0: none), rank and call. */
    uint64_t late_ns;
    uint32_t late_rank, late_call;
    bool receives; /* this call has received a message */
    /* The receive of the message that this call sends or completes, the last one of several: when it was posted (0:
     * not known, or before this call), and by which rank and call. */
    uint64_t posted_ns;
    uint32_t posted_rank, posted_call;
    uint64_t serial; /* this is the n-th collective call of the rank on its communicator */
};

struct waits_states {
    struct gen_waits *w; /* has the names */
    const char *path;    /* of the log, for failures */
    uint32_t *top;       /* [ranks] index + 1 of the innermost open state */
    struct waits_state *open;
    size_t opens, open_capacity;
    uint32_t unused; /* index + 1 of the first free entry */
    size_t name_capacity;
    enum call_kind *kind; /* [names] */
    size_t kind_capacity;
    struct hpcw_i_table names; /* definition -> uint64_t index of the name */
};

/* w  has the number of ranks, and gets the names of states; name 0 is ""
 *
 * HPCW_OK; HPCW_ENOMEM: the states are to be freed, too. */
hpcw_status waits_states_init(struct waits_states *states, struct gen_waits *w, const char *path,
                              hpcw_error *err);

/* Frees all but the names. */
void waits_states_free(struct waits_states *states);

/* Forgets all open states. */
void waits_states_clear(struct waits_states *states);

/* Opens a state inside of the rank's innermost one. The pointer holds until the next call. NULL: no memory. */
struct waits_state *waits_states_push(struct waits_states *states, const struct gen_log_entry *e);

/* Removes the state that ends from its list. Returns false if it has not begun. */
bool waits_states_pop(struct waits_states *states, const struct gen_log_entry *e, struct waits_state *state);

/* Returns the index of the name of a rank's innermost state; 0: it is outside of states. */
uint32_t waits_states_innermost(const struct waits_states *states, uint32_t rank);

/* Returns the innermost call of MPI that a thread of a rank is in, or NULL. */
struct waits_state *waits_states_call(const struct waits_states *states, uint32_t rank, int32_t thread);

/* Records that memory has run out, and returns HPCW_ENOMEM. */
hpcw_status waits_no_memory(const struct waits_states *states, hpcw_error *err);

#endif
