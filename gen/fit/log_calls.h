/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What two ranks of a measured program call, as the statements of a program (gen/model/trace/program.h): calls for one
 * neighbour after the other are one statement, and so they hardly depend on how many neighbours a rank has.
 */
#ifndef HPCW_GEN_FIT_LOG_CALLS_H
#define HPCW_GEN_FIT_LOG_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gen/model/trace/program.h"
#include "libreader/clog2/clog2.h"

enum {
    GEN_FIT_LOG_TRACKS = 2,
    GEN_FIT_LOG_MOST_ITEMS = MODEL_TRACE_MOST_STATEMENTS,
    GEN_FIT_LOG_NO_TAG = -1,
    GEN_FIT_LOG_MANY_TAGS = -2,
    GEN_FIT_LOG_AFTER = INT32_MAX /* all iterations */
};

/* A call of a rank. */
struct gen_fit_log_call {
    const char *name; /* of a statement; a static text */
    enum model_trace_call kind;
    uint32_t iteration; /* from 1 on; 0: before the first one; GEN_FIT_LOG_AFTER */
    int32_t tag;
    uint32_t to, from; /* the ranks of its messages; UINT32_MAX: none */
    bool again;        /* MPI_Sendrecv with one rank both ways, for the second time */
    float gap, bytes;  /* seconds since the call before; of a message, or of a part that all give */
};

struct gen_fit_log_track {
    uint32_t rank;
    struct gen_fit_log_call *call;
    size_t calls, capacity;
    struct gen_fit_log_call next; /* what is known of the call that has not ended */
    double ended;                 /* the last one */
    uint32_t both;                /* with whom the last MPI_Sendrecv was, unless it was the second one */
};

struct gen_fit_log_calls {
    uint32_t ranks, tracks;
    struct gen_fit_log_track track[GEN_FIT_LOG_TRACKS]; /* of a rank in the middle, and of rank 0 */
    bool unknown;                                       /* some calls have no statement */
};

/* Memory: up to 12 MiB for the calls. NULL without memory. */
struct gen_fit_log_calls *gen_fit_log_calls_new(uint32_t ranks);
void gen_fit_log_calls_free(struct gen_fit_log_calls *calls);

/* A message of a rank, before its call ends. */
void gen_fit_log_calls_message(struct gen_fit_log_calls *calls, const struct read_clog2_end *e);

/* A call of MPI has ended. False without memory. */
bool gen_fit_log_calls_add(struct gen_fit_log_calls *calls, const struct read_clog2_stretch *s,
                           uint32_t iteration);

/* One statement. */
struct gen_fit_log_item {
    const char *name;
    enum model_trace_call kind;
    int32_t tag;
    uint32_t directions; /* of messages, as of struct model_trace_exchange */
    uint32_t messages;
    uint32_t again;    /* messages to one neighbour */
    double gap, bytes; /* seconds before it; of a message, or a part */
};

struct gen_fit_log_items {
    size_t count;
    bool too_many;
    struct gen_fit_log_item item[GEN_FIT_LOG_MOST_ITEMS];
};

/* The statements of calls [from, to) of a track, whose rank is on a grid with these sides. Of a `loop` that does not end with
 * a collective call, waits at its begin go to its end. What is no whole exchange is left out, or all of them. */
void gen_fit_log_items_of(const struct gen_fit_log_calls *calls, uint32_t track, size_t from, size_t to,
                          const uint32_t side[3], bool loop, bool exchanges, struct gen_fit_log_items *items);

/* Whether two statements are the same but for their times, sizes and tags; and a hash of all of them. */
bool gen_fit_log_items_same(const struct gen_fit_log_item *a, const struct gen_fit_log_item *b);
uint64_t gen_fit_log_items_hash(const struct gen_fit_log_items *items);

#endif
