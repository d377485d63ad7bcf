/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the trace model. */
#ifndef HPCW_GEN_MODEL_TRACE_PRIVATE_H
#define HPCW_GEN_MODEL_TRACE_PRIVATE_H

#include <stddef.h>
#include <stdint.h>

#include "gen/model/load/system.h"
#include "gen/model/trace/pace.h"
#include "gen/model/trace/script.h"
#include "gen/model/trace/trace.h"
#include "libwriter/base/buf.h"

/* Ranks, objects or messages in a batch. */
enum { MODEL_TRACE_AT_ONCE = MODEL_LOAD_AT_ONCE };

/* The shortest time between the last arrival at a reduction and the first exit of one rank alone. */
enum { MODEL_TRACE_LEAST_NS = 60 };

/* What a thread works with. */
struct model_trace_scratch {
    /* Where the objects are in phase `phase`. */
    uint32_t *object; /* [objects] by rank and slot */
    uint32_t *where;  /* [objects] rank */
    uint32_t phase;

    struct model_trace_script script;
    struct model_trace_tally tally;

    /* Who came last to the end of the iteration before; UINT32_MAX: that was not asked for. */
    uint32_t late;
    bool met;                         /* whether ranks have sent by rendezvous in this iteration */
    double place;                     /* how slow the code at a line is */
    uint32_t line;                    /* a number of it, another one in other programs */
    double *slowness;                 /* [ranks] */
    struct model_load_shares *shares; /* [ranks] */
    uint64_t *compute;                /* [ranks] */
    uint64_t *taken;                  /* [ranks] of that, what the system takes at once */
    uint64_t *timers;                 /* [ranks][MODEL_LOAD_TIMERS] and what these take */
    uint64_t *ticked;                 /* [ranks] and have taken */
    uint64_t *done;                   /* [ranks] of all that */
    uint64_t *now;                    /* [ranks] */
    uint64_t *ready;                  /* [ranks] when a rank is in MPI again after it computed */
    uint64_t until;                   /* no rank ends the wait before */
    uint64_t *cursor;                 /* [ranks] its next event */
    struct model_trace_pace *pace;    /* [ranks] */

    /* Between two ranks in the whole iteration, by receiver, then by sender. */
    uint32_t *first_in, *first_out;    /* [ranks + 1] */
    size_t capacity;                   /* of the arrays of edges */
    struct model_trace_message *edge;  /* in the order of their kinds, and by receiver */
    struct model_trace_message *whole; /* the same by receiver */

    /* Messages of the exchanges: of each by receiver, then by sender. */
    uint32_t messages;
    size_t message_capacity;
    struct model_trace_message *message;
    uint32_t *out;  /* numbers of messages, of each exchange by sender, then by receiver */
    uint32_t *word; /* [messages] random */
    uint64_t *sent; /* [messages] when it was sent, then when it arrived */
    size_t bounds_capacity;
    /* [exchanges][2][ranks + 1]: the first message to each rank, and the first one in `out` */
    uint32_t *bounds;

    size_t event_capacity;
    struct model_trace_event *event;
    uint64_t *entry, *other;           /* in one allocation */
    struct hpcw_i_buf noise, backward; /* lists of this iteration */
};

/* Moves the objects to a phase. */
void model_trace_place(const struct model_trace *m, struct model_trace_scratch *s, uint32_t phase);

/* Lists what ranks send to each other in that phase. */
hpcw_status model_trace_list_messages(const struct model_trace *m, struct model_trace_scratch *s,
                                      hpcw_error *err);
void model_trace_free_messages(struct model_trace_scratch *s);

/* Divides it over the exchanges of the script. */
hpcw_status model_trace_divide(const struct model_trace *m, struct model_trace_scratch *s, hpcw_error *err);
void model_trace_free_divided(struct model_trace_scratch *s);

static inline uint32_t *model_trace_in(const struct model_trace *m, const struct model_trace_scratch *s,
                                       uint32_t exchange) {
    return s->bounds + (size_t)exchange * 2 * (m->ranks + (size_t)1);
}
static inline uint32_t *model_trace_out(const struct model_trace *m, const struct model_trace_scratch *s,
                                        uint32_t exchange) {
    return model_trace_in(m, s, exchange) + m->ranks + 1;
}

/* Sums up what the ranks compute in it. */
hpcw_status model_trace_sum_work(const struct model_trace *m, struct model_trace_scratch *s,
                                 struct model_trace_facts *facts, hpcw_error *err);

/* The number of events of the script with these messages. */
uint64_t model_trace_events(const struct model_trace *m, const struct model_trace_scratch *s);

/* Whether the clocks differ by less than the guard at a time since the start of the run. */
hpcw_status model_trace_check_clocks(const struct model_trace *m, uint64_t time_ns, hpcw_error *err);

/* Sorts entry[count] by their low `bits` bits, at most 32, and keeps the order of equal ones. other[count] is work space.
 * Returns the sorted array, which is one of the two. */
uint64_t *model_trace_sort(uint64_t *entry, uint64_t *other, uint64_t count, uint32_t bits);

#endif
