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
#ifndef HPCW_GEN_TRACE_H
#define HPCW_GEN_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "model/load.h"

/* Keys "trace.*". The iterations are the phases of the load model, the halo exchanges of one its subphases. */
struct hpcw_i_trace_params {
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

extern const struct hpcw_i_param hpcw_i_trace_param[];
extern const size_t hpcw_i_trace_param_count;
void hpcw_i_trace_params_init(struct hpcw_i_trace_params *params);

/* What happened. States have a begin and, as the next value, an end. */
enum hpcw_i_trace_what {
    HPCW_I_TRACE_ITERATION,
    HPCW_I_TRACE_COMPUTE = 2,
    HPCW_I_TRACE_HALO = 4,
    HPCW_I_TRACE_CHECKPOINT = 6,
    HPCW_I_TRACE_ALLREDUCE = 8,
    HPCW_I_TRACE_SENDRECV = 10,
    HPCW_I_TRACE_MPI_SEND = 12,
    HPCW_I_TRACE_MPI_RECV = 14,
    HPCW_I_TRACE_BARRIER = 16,
    HPCW_I_TRACE_OPEN = 18,
    HPCW_I_TRACE_WRITE = 20,
    HPCW_I_TRACE_CLOSE = 22,
    HPCW_I_TRACE_STATES = 24, /* what follows are no states */
    HPCW_I_TRACE_SEND = HPCW_I_TRACE_STATES,
    HPCW_I_TRACE_RECEIVE,
    HPCW_I_TRACE_STEP /* rank 0 alone, at the end of an iteration */
};

struct hpcw_i_trace_event {
    uint64_t time_ns; /* since the iteration's beginning, by the rank's own clock */
    uint32_t rank;
    uint16_t what; /* enum hpcw_i_trace_what */
    uint16_t tag;  /* of a message */
    uint32_t peer; /* of a message */
    uint32_t bytes;
};

/* A rank's way to a neighbour. */
struct hpcw_i_trace_link {
    uint32_t to;    /* UINT32_MAX: the grid ends here */
    uint32_t bytes; /* of every message */
    double base_ns; /* time on the way, undisturbed */
};

/* Read-only after init: may be shared by threads. */
struct hpcw_i_trace_model {
    struct hpcw_i_trace_params params;
    const struct hpcw_i_load_model *load;
    uint32_t ranks, iterations, halos, directions;
    uint32_t grid[3];
    struct hpcw_i_trace_link *link; /* [ranks][directions] */
    uint64_t most_skew_ns;          /* clocks are off by less than this, either way */
    uint64_t gap_ns;                /* between iterations, so that skewed ones do not mix */
    uint64_t events;                /* of an iteration */
    uint64_t checkpoint_events;     /* more of them where a checkpoint is written */
};

/*
 * Memory: 24 bytes per rank and direction. HPCW_ERANGE if sizes or times do not fit, HPCW_ENOMEM. The load model must
 * outlive this one.
 */
hpcw_status hpcw_i_trace_init(struct hpcw_i_trace_model *m, const struct hpcw_i_trace_params *params,
                              const struct hpcw_i_load_model *load, hpcw_error *err);
void hpcw_i_trace_free(struct hpcw_i_trace_model *m);

/* Whether an iteration ends with a checkpoint, and how many events it has. */
bool hpcw_i_trace_is_checkpoint(const struct hpcw_i_trace_model *m, uint32_t iteration);
uint64_t hpcw_i_trace_events(const struct hpcw_i_trace_model *m, uint32_t iteration);

/* How far a rank's clock is ahead: within +- most_skew_ns. */
int64_t hpcw_i_trace_skew(const struct hpcw_i_trace_model *m, uint32_t rank);

/* An interruption by the system. */
struct hpcw_i_trace_noise {
    uint32_t rank;
    uint64_t length_ns;
};

/* A message that seems to arrive before it was sent, because of the clocks. */
struct hpcw_i_trace_backward {
    uint32_t from, to;
    uint64_t by_ns;
};

/* One iteration as a whole. */
struct hpcw_i_trace_facts {
    uint64_t duration_ns; /* to the beginning of the next one */
    uint64_t compute_ns;  /* of all ranks together */
    uint64_t slowest_ns;  /* compute time of the slowest rank */
    uint32_t slowest_rank;
};

/* Memory of one thread: 56 bytes per event of an iteration, 60 per rank, 4 per object. */
struct hpcw_i_trace_scratch;
hpcw_status hpcw_i_trace_scratch_new(const struct hpcw_i_trace_model *m, struct hpcw_i_trace_scratch **out,
                                     hpcw_error *err);
void hpcw_i_trace_scratch_free(struct hpcw_i_trace_scratch *s);

/*
 * All events of an iteration; they live in the scratch until the next call. event[order[i].index], i = 0 .. count - 1,
 * are in order of (time, rank, as they happened). Iterations in ascending order are quicker than others: the scratch
 * remembers who was where. HPCW_ENOMEM.
 */
struct hpcw_i_trace_order {
    uint64_t time_ns;
    uint32_t index;
};
struct hpcw_i_trace_run {
    const struct hpcw_i_trace_event *event;
    const struct hpcw_i_trace_order *order; /* [count] */
    uint64_t count;
    struct hpcw_i_trace_facts facts;
    const struct hpcw_i_trace_noise *noise; /* [noises] in the order of the halos, then by rank */
    size_t noises;
    const struct hpcw_i_trace_backward *backward; /* [backwards], likewise */
    size_t backwards;
};
hpcw_status hpcw_i_trace_iteration(const struct hpcw_i_trace_model *m, struct hpcw_i_trace_scratch *s,
                                   uint32_t iteration, struct hpcw_i_trace_run *run, hpcw_error *err);

#endif
