/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulated application as a tracer sees it: every iteration computes, exchanges halos with its neighbours on a
 * grid of ranks, and ends in a reduction over all of them; some write a checkpoint behind it. Compute times are the sums
 * of the rank's objects in that phase of the load model, messages take what the machine's links take, so that slow
 * nodes, ports and cables are seen as long waits of the neighbours.
 *
 * The reduction makes iterations independent: what happens in one is a function of (seed, iteration), told in
 * nanoseconds since its beginning, and so is how long it lasts. Causality holds by construction: a receive ends after
 * the message was sent and had its time on the way. Every rank sends one message at a time, so no more are under way
 * than there are ranks.
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
    double transfer_sigma;  /* of ln(time on the way) */
    double noise;           /* chance that the system interrupts a rank while it computes */
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
    MODEL_TRACE_STATES = 24, /* what follows are no states */
    MODEL_TRACE_SEND = MODEL_TRACE_STATES,
    MODEL_TRACE_RECEIVE,
    MODEL_TRACE_STEP /* rank 0 alone, at the end of an iteration */
};

struct model_trace_event {
    uint64_t time_ns; /* since the iteration's beginning, by the rank's own clock */
    uint32_t rank;
    uint16_t what; /* enum model_trace_what */
    uint16_t tag;  /* of a message */
    uint32_t peer; /* of a message */
    uint32_t bytes;
};

/* A rank's way to a neighbour. */
struct model_trace_link {
    uint32_t to;    /* UINT32_MAX: the grid ends here */
    uint32_t bytes; /* of every message */
};

/* Read-only after init: may be shared by threads. */
struct model_trace {
    struct model_trace_params params;
    const struct model_load *load;
    uint32_t ranks, iterations, halos, directions;
    uint32_t grid[3];
    struct model_trace_link *link; /* [ranks][directions] */
    uint64_t messages;             /* of an exchange with all neighbours: links that lead somewhere */

    /* Ranks that send in the same directions have the same events, but rank 0, which has a place of its own: the first. */
    uint8_t *place;   /* [ranks] */
    uint8_t *directs; /* [places] bit k: sends in direction k */
    uint32_t places;

    /* By direction, [directions][ranks]: what comes from the other side. */
    uint32_t *from;  /* oneself: nothing comes */
    double *base_ns; /* time on the way, undisturbed */
    uint8_t *use;    /* see trace_parts.h */

    uint64_t most_skew_ns;      /* clocks are off by less than this, either way */
    uint64_t gap_ns;            /* between iterations, so that skewed ones do not mix */
    uint64_t events;            /* of an iteration */
    uint64_t checkpoint_events; /* more of them where a checkpoint is written */
    uint32_t columns;           /* moments of an iteration with a checkpoint, see below */
    uint32_t column_bits;       /* their numbers are below 1 << column_bits */
};

/*
 * Memory: 21 bytes per rank and direction, 1 per rank. HPCW_ERANGE if sizes or times do not fit, HPCW_ENOMEM. The load model must
 * outlive this one.
 */
hpcw_status model_trace_init(struct model_trace *m, const struct model_trace_params *params,
                             const struct model_load *load, hpcw_error *err);
void model_trace_free(struct model_trace *m);

/* Whether an iteration ends with a checkpoint, and how many events it has. */
bool model_trace_is_checkpoint(const struct model_trace *m, uint32_t iteration);
uint64_t model_trace_events(const struct model_trace *m, uint32_t iteration);

/* How far a rank's clock is ahead: within +- most_skew_ns. */
int64_t model_trace_skew(const struct model_trace *m, uint32_t rank);

/* An interruption by the system. */
struct model_trace_noise {
    uint32_t rank;
    uint64_t length_ns;
};

/* A message that seems to arrive before it was sent, because of the clocks. */
struct model_trace_backward {
    uint32_t from, to;
    uint64_t by_ns;
};

/* One iteration as a whole. */
struct model_trace_facts {
    uint64_t duration_ns; /* to the beginning of the next one */
    uint64_t compute_ns;  /* of all ranks together */
    uint64_t slowest_ns;  /* compute time of the slowest rank */
    uint32_t slowest_rank;
};

/* Memory of one thread: 16 bytes per event of an iteration, 8 per rank and column, 40 per rank and 8 per rank and halo, 4 per
 * object. */
struct model_trace_scratch;
hpcw_status model_trace_scratch_new(const struct model_trace *m, struct model_trace_scratch **out,
                                    hpcw_error *err);
void model_trace_scratch_free(struct model_trace_scratch *s);
uint64_t model_trace_scratch_size(const struct model_trace *m);

/* All ranks go through the same moments in the same order, the columns of a table of times: the begin of the iteration, that of
 * the first computation, and so on. Some ranks have no event there, as those at the grid's ends that send nothing. */
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
 * All events of an iteration; they live in the scratch until the next call. Iterations in ascending order are quicker than
 * others: the scratch remembers who was where. HPCW_ENOMEM.
 */
struct model_trace_run {
    const struct model_trace *model;
    uint64_t count;
    struct model_trace_facts facts;
    const struct model_trace_noise *noise; /* [noises] in the order of the halos, then by rank */
    size_t noises;
    const struct model_trace_backward *backward; /* [backwards], likewise */
    size_t backwards;

    /* Private, for the next function: [count] in order, from the high bits down rank, column, low half of the time. */
    const uint64_t *order;
    const struct model_trace_column *column;
    const uint64_t *time; /* [columns][stride] */
    size_t stride;
    bool wide; /* times do not fit into 32 bits */
};
hpcw_status model_trace_iteration(const struct model_trace *m, struct model_trace_scratch *s,
                                  uint32_t iteration, struct model_trace_run *run, hpcw_error *err);

/* What a rank that sends, receives or does both calls. */
static inline uint32_t model_trace_call(bool sends, bool receives) {
    return sends && receives ? MODEL_TRACE_SENDRECV : sends ? MODEL_TRACE_MPI_SEND : MODEL_TRACE_MPI_RECV;
}

/* When the event happens that is number `index` in order of (time, rank, as they happened). */
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
