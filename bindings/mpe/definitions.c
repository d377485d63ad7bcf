/* SPDX-License-Identifier: BSD-3-Clause */
#include "bindings/mpe/definitions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bindings/mpe/session.h"

struct definition {
    /* number of a state, from 0 on, or of an event without duration, from HPCW_CLOG2_USER_SOLO on */
    int32_t number;
    char name[HPCW_CLOG2_NAME + 1], colour[HPCW_CLOG2_COLOUR + 1], format[HPCW_CLOG2_FORMAT + 1];
};

/* All definitions. The session's lock protects them. */
static struct {
    struct definition *list; /* [count] definitions; the log has the first `defined` of them, in this order */
    int count, defined;
    int32_t next_state, next_solo; /* numbers that the log gives to the next state and the next solo event */
    /* numbers that the program gets for its next event of a state and next solo event */
    int next_event, next_solo_event;
} all;

void mpe_definitions_begin(void) {
    free(all.list);
    memset(&all, 0, sizeof all);
    all.next_state = HPCW_CLOG2_USER_STATE;
    all.next_solo = all.next_solo_event = HPCW_CLOG2_USER_SOLO;
    all.next_event = 2 * HPCW_CLOG2_USER_STATE;
}

/* ------------------------------------------------------------------------------------------------------------
 *  Numbers
 * --------------------------------------------------------------------------------------------------------- */

static int hand_out(int *next, int count) {
    (void)mpe_begun();
    (void)pthread_mutex_lock(&mpe_session.lock);
    int number = *next;
    *next += count;
    (void)pthread_mutex_unlock(&mpe_session.lock);
    return number;
}

int MPE_Log_get_event_number(void) {
    return hand_out(&all.next_event, 1);
}

int MPE_Log_get_state_eventIDs(int *statedef_startID, int *statedef_finalID) {
    *statedef_startID = hand_out(&all.next_event, 2);
    *statedef_finalID = *statedef_startID + 1;
    return MPE_LOG_OK;
}

int MPE_Log_get_solo_eventID(int *eventdef_eventID) {
    *eventdef_eventID = hand_out(&all.next_solo_event, 1);
    return MPE_LOG_OK;
}

/* ------------------------------------------------------------------------------------------------------------
 *  Definitions
 * --------------------------------------------------------------------------------------------------------- */

/* Passes a definition on to the log. Returns false if the log refuses it. */
static bool define(const struct definition *d) {
    hpcw_error error;
    const char *format = d->format[0] == '\0' ? NULL : d->format;
    int32_t number;
    hpcw_status s;
    if (d->number < HPCW_CLOG2_USER_STATE) {
        s = hpcw_clog2_log_known_state(mpe_session.log, d->number, d->name, d->colour, format, &error);
    } else if (d->number < HPCW_CLOG2_USER_SOLO) {
        s = hpcw_clog2_log_state(mpe_session.log, d->name, d->colour, format, &number, &error);
        all.next_state += s == HPCW_OK;
    } else {
        s = hpcw_clog2_log_solo(mpe_session.log, d->name, d->colour, format, &number, &error);
        all.next_solo += s == HPCW_OK;
    }
    if (s != HPCW_OK) {
        mpe_say("%s: not described: %s", d->name, error.message);
    }
    return s == HPCW_OK;
}

static bool is_next(int32_t number) {
    return number < HPCW_CLOG2_USER_STATE || number == all.next_state || number == all.next_solo;
}

/* Passes the definitions with the next numbers on to the log, and moves them to the front of the list. */
static void define_next(void) {
    for (int i = all.defined; i < all.count;) {
        struct definition d = all.list[i];
        if (!is_next(d.number)) {
            i++;
            continue;
        }
        memmove(&all.list[all.defined + 1], &all.list[all.defined], (size_t)(i - all.defined) * sizeof d);
        if (define(&d)) {
            all.list[all.defined++] = d;
            i = all.defined; /* start again: the definition with the next number may be earlier in the list */
        } else {
            memmove(&all.list[all.defined], &all.list[all.defined + 1],
                    (size_t)(all.count - all.defined - 1) * sizeof d);
            all.count--;
            i = all.defined;
        }
    }
}

static bool has(int32_t number) {
    for (int i = 0; i < all.count; i++) {
        if (all.list[i].number == number) {
            return true;
        }
    }
    return false;
}

/* Adds a definition. A second definition of a number is ignored. Returns false without memory. */
static bool add(const struct definition *d) {
    if (has(d->number)) {
        return true;
    }
    struct definition *grown = realloc(all.list, ((size_t)all.count + 1) * sizeof *grown);
    if (grown != NULL) {
        all.list = grown;
        all.list[all.count++] = *d;
    }
    return grown != NULL;
}

static void copy_text(char *to, size_t size, const char *from) {
    (void)snprintf(to, size, "%s", from == NULL ? "" : from);
}

static int describe(int32_t number, const char *name, const char *colour, const char *format) {
    struct definition d;
    memset(&d, 0, sizeof d);
    d.number = number;
    copy_text(d.name, sizeof d.name, name);
    copy_text(d.colour, sizeof d.colour, colour);
    copy_text(d.format, sizeof d.format, format);
    if (hpcw_clog2_colour_check(d.colour, NULL) != HPCW_OK) {
        copy_text(d.colour, sizeof d.colour, "white"); /* MPE's converter also uses white */
    }
    hpcw_error error;
    if (hpcw_clog2_format_check(d.format, &error) != HPCW_OK) {
        mpe_say("%s: no reader shows its cargo: %s", d.name, error.message);
        d.format[0] = '\0';
    }
    (void)pthread_mutex_lock(&mpe_session.lock);
    bool good = add(&d);
    if (good && mpe_session.process == 0) {
        define_next();
    }
    (void)pthread_mutex_unlock(&mpe_session.lock);
    return good ? MPE_LOG_OK : MPE_LOG_NO_MEMORY;
}

int MPE_Describe_comm_state(MPI_Comm comm, int state_startID, int state_finalID, const char *name,
                            const char *color, const char *format) {
    (void)comm;
    if (!mpe_begun()) {
        return MPE_LOG_NOT_INITIALIZED;
    }
    /* The wrapper (libhpcw_trace) describes MPE's known states, so the program cannot describe them. */
    int least = mpe_session.joined ? 2 * HPCW_CLOG2_USER_STATE : 0;
    if (state_startID < least || state_startID % 2 != 0 || state_finalID != state_startID + 1 ||
        state_startID >= HPCW_CLOG2_USER_SOLO) {
        mpe_say("%s: not described: expected two numbers of MPE_Log_get_state_eventIDs, got %d and %d",
                name == NULL ? "" : name, state_startID, state_finalID);
        return MPE_LOG_OK;
    }
    return describe(state_startID / 2, name, color, format);
}

int MPE_Describe_info_state(int state_startID, int state_finalID, const char *name, const char *color,
                            const char *format) {
    return MPE_Describe_comm_state(MPI_COMM_WORLD, state_startID, state_finalID, name, color, format);
}

int MPE_Describe_state(int state_startID, int state_finalID, const char *name, const char *color) {
    return MPE_Describe_comm_state(MPI_COMM_WORLD, state_startID, state_finalID, name, color, NULL);
}

int MPE_Describe_comm_event(MPI_Comm comm, int eventID, const char *name, const char *color,
                            const char *format) {
    (void)comm;
    if (!mpe_begun()) {
        return MPE_LOG_NOT_INITIALIZED;
    }
    if (eventID < HPCW_CLOG2_USER_SOLO || eventID >= HPCW_CLOG2_USER_SOLO + (int)HPCW_CLOG2_SOLOS) {
        mpe_say("%s: not described: expected a number of MPE_Log_get_solo_eventID, got %d",
                name == NULL ? "" : name, eventID);
        return MPE_LOG_OK;
    }
    return describe(eventID, name, color, format);
}

int MPE_Describe_info_event(int eventID, const char *name, const char *color, const char *format) {
    return MPE_Describe_comm_event(MPI_COMM_WORLD, eventID, name, color, format);
}

int MPE_Describe_event(int eventID, const char *name, const char *color) {
    return MPE_Describe_comm_event(MPI_COMM_WORLD, eventID, name, color, NULL);
}

/* ------------------------------------------------------------------------------------------------------------
 *  The end
 * --------------------------------------------------------------------------------------------------------- */

/* Returns whether the allocation on process 0 succeeded. All processes get the answer. */
static bool agree(const void *allocated) {
    int good = mpe_session.process != 0 || allocated != NULL;
    (void)MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return good;
}

/* Collects the definitions of all processes on process 0. If memory runs out, the definitions of other processes
 * are lost. */
static void collect(void) {
    bool root = mpe_session.process == 0;
    int processes = 0, bytes = root ? 0 : all.count * (int)sizeof *all.list, total = 0;
    struct definition *others = NULL;
    (void)MPI_Comm_size(MPI_COMM_WORLD, &processes);
    int *size = root ? calloc(2 * (size_t)processes, sizeof *size) : NULL;
    int *at = size == NULL ? NULL : size + processes;
    if (!agree(size)) {
        free(size);
        return;
    }
    (void)MPI_Gather(&bytes, 1, MPI_INT, size, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; root && i < processes; i++) {
        at[i] = total;
        total += size[i];
    }
    if (root) {
        others = malloc((size_t)total + 1);
    }
    if (agree(others)) {
        (void)MPI_Gatherv(all.list, bytes, MPI_BYTE, others, size, at, MPI_BYTE, 0, MPI_COMM_WORLD);
        for (int i = 0; i < total / (int)sizeof *others; i++) {
            (void)add(&others[i]);
        }
    }
    free(others);
    free(size);
}

/* Adds definitions for the missing numbers below the highest number that a definition has, because the log's
 * numbers must have no gap. */
static void fill_gaps(void) {
    define_next();
    while (all.defined < all.count) {
        struct definition d;
        memset(&d, 0, sizeof d);
        bool state = all.list[all.defined].number < HPCW_CLOG2_USER_SOLO;
        d.number = state ? all.next_state : all.next_solo;
        (void)snprintf(d.name, sizeof d.name, "%s %d", state ? "State" : "Event", d.number);
        copy_text(d.colour, sizeof d.colour, "white");
        int before = all.defined;
        if (add(&d)) {
            define_next();
        }
        if (all.defined == before) {
            return; /* out of memory */
        }
    }
}

bool mpe_definitions_settle(void) {
    collect();
    if (mpe_session.process == 0) {
        fill_gaps();
    }
    int count = all.defined;
    (void)MPI_Bcast(&count, 1, MPI_INT, 0, MPI_COMM_WORLD);
    bool good =
        true; /* false after this process could not store a definition; it then stores no further ones */
    for (int i = 0; i < count; i++) {
        struct definition d;
        if (mpe_session.process == 0) {
            d = all.list[i];
        }
        (void)MPI_Bcast(&d, (int)sizeof d, MPI_BYTE, 0, MPI_COMM_WORLD);
        good = good && (mpe_session.process == 0 || define(&d));
    }
    return count > 0;
}
