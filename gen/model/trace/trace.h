/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulated application as a tracer sees it. In every iteration the ranks compute, exchange halos with their
 * neighbours on a grid of ranks, and take part in a reduction; after it some iterations write a checkpoint. The compute
 * time of a rank is the sum over its objects in that phase of the load model, and messages take the time of the machine's
 * links. So slow nodes, ports and cables make their neighbours wait.
 *
 * The reduction makes iterations independent: the events of one, in nanoseconds since its beginning, and its duration are
 * a function of (seed, iteration). Causality holds by construction: a receive ends after the message was sent and
 * transferred. Every rank sends one message at a time, so there are never more messages in flight than ranks.
 */
#ifndef HPCW_GEN_MODEL_TRACE_TRACE_H
#define HPCW_GEN_MODEL_TRACE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "gen/model/load/load.h"

/* Keys "trace.*". The iterations are the phases of the load model, the halo exchanges of one its subphases. */
struct model_trace_params {
    uint32_t dims; /* of the decomposition */
    bool periodic;
    uint64_t message_bytes; /* of a halo, median */
    double message_sigma;   /* standard deviation of ln(bytes) */
    double transfer_sigma;  /* of ln(transfer time) */
    double noise;           /* probability that the system interrupts a rank while it computes */
    double noise_min_ms, noise_max_ms;
    uint32_t checkpoint_every; /* iterations; 0: never */
    uint64_t checkpoint_bytes; /* of a rank */
    double write_gbs;          /* of a rank */
    double write_sigma;        /* of ln(time to write) */
    double skew_us;            /* standard deviation of the clocks' offsets */
};

extern const struct ui_param model_trace_param[];
extern const size_t model_trace_param_count;
void model_trace_params_init(struct model_trace_params *params);

/* What happened. States have a begin and, as the next value, an end. */
enum model_trace_what {
    MODEL_TRACE_ITERATION,
    MODEL_TRACE_COMPUTE = 2,
    MODEL_TRACE_HALO = 4,
    MODEL_TRACE_CHECKPOINT = 6,
    MODEL_TRACE_ALLREDUCE = 8,
    MODEL_TRACE_SENDRECV = 10,
    MODEL_TRACE_MPI_SEND = 12,
    MODEL_TRACE_MPI_RECV = 14,
    MODEL_TRACE_BARRIER = 16,
    MODEL_TRACE_OPEN = 18,
    MODEL_TRACE_WRITE = 20,
    MODEL_TRACE_CLOSE = 22,
    MODEL_TRACE_STATES = 24, /* the rest are not states */
    MODEL_TRACE_SEND = MODEL_TRACE_STATES,
    MODEL_TRACE_RECEIVE,
    MODEL_TRACE_STEP /* rank 0 alone, at the end of an iteration */
};

struct model_trace_event {
    uint64_t time_ns; /* since the iteration's beginning, by the rank's clock */
    uint32_t rank;
    uint16_t what; /* enum model_trace_what */
    uint16_t tag;  /* of a message */
    uint32_t peer; /* of a message */
    uint32_t bytes;
};

/* From a rank to a neighbour. */
struct model_trace_link {
    uint32_t to;    /* UINT32_MAX: none, the grid ends here */
    uint32_t bytes; /* of every message */
};

/* Read-only after init: threads may share it. */
struct model_trace {
    struct model_trace_params params;
    const struct model_load *load;
    uint32_t ranks, iterations, halos, directions;
    uint32_t grid[3];
    struct model_trace_link *link; /* [ranks][directions] */
    uint64_t messages;             /* of an exchange with all neighbours: links with an end */

    /* Ranks with the same pattern send in the same directions, and have the same events. Rank 0 alone has pattern 0. */
    uint8_t *pattern; /* [ranks] */
    uint8_t *directs; /* [patterns] bit k: sends in direction k */
    uint32_t patterns;

    /* By direction, [directions][ranks]: the message from the other side. */
    uint32_t *from;  /* the rank itself: there is none */
    double *base_ns; /* undisturbed transfer time */
    uint8_t *use;    /* bits: see private.h */

    uint64_t most_skew_ns;      /* clocks are wrong by less than this, in both directions */
    uint64_t gap_ns;            /* between iterations, so that their events do not mix in spite of skew */
    uint64_t events;            /* of an iteration */
    uint64_t checkpoint_events; /* additional ones of a checkpoint */
    uint32_t columns;           /* of an iteration with a checkpoint, see struct model_trace_column */
    uint32_t column_bits;       /* their numbers are below 1 << column_bits */
};

/*
 * Memory: 21 bytes per rank and direction, 1 per rank. HPCW_ERANGE if sizes or times do not fit, HPCW_ENOMEM. The load
 * model must outlive this one.
 */
hpcw_status model_trace_init(struct model_trace *m, const struct model_trace_params *params,
                             const struct model_load *load, hpcw_error *err);
void model_trace_free(struct model_trace *m);

/* Whether an iteration ends with a checkpoint, and how many events it has. */
bool model_trace_is_checkpoint(const struct model_trace *m, uint32_t iteration);
uint64_t model_trace_events(const struct model_trace *m, uint32_t iteration);

/* How far a rank's clock is ahead, within +- most_skew_ns. */
int64_t model_trace_skew(const struct model_trace *m, uint32_t rank);

/* An interruption by the system. */
struct model_trace_noise {
    uint32_t rank;
    uint64_t length_ns;
};

/* A message that by the clocks arrives before it is sent. */
struct model_trace_backward {
    uint32_t from, to;
    uint64_t by_ns;
};

/* One iteration as a whole. */
struct model_trace_facts {
    uint64_t duration_ns; /* to the beginning of the next one */
    uint64_t compute_ns;  /* sum over all ranks */
    uint64_t slowest_ns;  /* compute time of the slowest rank */
    uint32_t slowest_rank;
};

/* What a thread needs. Memory: 16 bytes per event of an iteration, 8 per rank and column, 40 per rank, 8 per rank and
 * halo, 4 per object. */
struct model_trace_scratch;
hpcw_status model_trace_scratch_new(const struct model_trace *m, struct model_trace_scratch **out,
                                    hpcw_error *err);
void model_trace_scratch_free(struct model_trace_scratch *s);
uint64_t model_trace_scratch_size(const struct model_trace *m);

/* A table of times has a column for each moment of an iteration: its beginning, that of the first computation, and so on,
 * in the same order for all ranks. Some ranks have no event in a column, such as those at the grid's ends that do not
 * send. */
enum model_trace_kind {
    MODEL_TRACE_OF_ALL,
    MODEL_TRACE_OF_CALL,   /* begin or end of a call that sends, receives or does both */
    MODEL_TRACE_OF_SENDER, /* in a direction */
    MODEL_TRACE_OF_RECEIVER,
    MODEL_TRACE_OF_FIRST /* rank 0 */
};
struct model_trace_column {
    uint16_t what; /* of a call: 0 begin, 1 end */
    uint16_t tag;
    uint8_t kind; /* enum model_trace_kind */
    uint8_t direction;
};

/*
 * All events of an iteration, in the scratch until the next call. Ascending iterations are fastest: the scratch keeps the
 * objects of all ranks. HPCW_ENOMEM.
 */
struct model_trace_run {
    const struct model_trace *model;
    uint64_t count;
    struct model_trace_facts facts;
    const struct model_trace_noise *noise; /* [noises] in the order of the halos, then by rank */
    size_t noises;
    const struct model_trace_backward *backward; /* [backwards], likewise */
    size_t backwards;

    /* Private, for the functions below: [count] in order; from the high bits down rank, column, low half of the time. */
    const uint64_t *order;
    const struct model_trace_column *column;
    const uint64_t *time; /* [columns][stride] */
    size_t stride;
    bool wide; /* times do not fit into 32 bits */
};
hpcw_status model_trace_iteration(const struct model_trace *m, struct model_trace_scratch *s,
                                  uint32_t iteration, struct model_trace_run *run, hpcw_error *err);

/* The MPI call of a rank that sends, receives or does both. */
static inline uint32_t model_trace_call(bool sends, bool receives) {
    return sends && receives ? MODEL_TRACE_SENDRECV : sends ? MODEL_TRACE_MPI_SEND : MODEL_TRACE_MPI_RECV;
}

/* The time of event `index`, in the order of time, then rank, then of a rank's events. */
static inline uint64_t model_trace_time(const struct model_trace_run *run, uint64_t index) {
    const uint64_t entry = run->order[index];
    const uint32_t bits = run->model->column_bits;
    const uint32_t id = (uint32_t)(entry >> 32);
    return run->wide ? run->time[(id & ((1u << bits) - 1)) * run->stride + (id >> bits)] : (uint32_t)entry;
}

/* That event. */
static inline struct model_trace_event model_trace_event(const struct model_trace_run *run, uint64_t index) {
    const struct model_trace *m = run->model;
    const uint32_t id = (uint32_t)(run->order[index] >> 32);
    const struct model_trace_column *c = &run->column[id & ((1u << m->column_bits) - 1)];
    struct model_trace_event e = {
        .time_ns = model_trace_time(run, index), .rank = id >> m->column_bits, .what = c->what};
    if (c->kind == MODEL_TRACE_OF_ALL || c->kind == MODEL_TRACE_OF_FIRST) {
        return e;
    }
    const struct model_trace_link *to = &m->link[(size_t)e.rank * m->directions + c->direction];
    const struct model_trace_link *from = &m->link[(size_t)e.rank * m->directions + (c->direction ^ 1)];
    if (c->kind == MODEL_TRACE_OF_CALL) {
        e.what = (uint16_t)(c->what + model_trace_call(to->to != UINT32_MAX, from->to != UINT32_MAX));
        return e;
    }
    e.tag = c->tag;
    e.peer = c->kind == MODEL_TRACE_OF_SENDER ? to->to : from->to;
    e.bytes = c->kind == MODEL_TRACE_OF_SENDER ? to->bytes
                                               : m->link[(size_t)from->to * m->directions + c->direction].bytes;
    return e;
}

#endif
