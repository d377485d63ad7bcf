/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulated application as a tracer sees it. In every iteration a rank computes, exchanges messages with its neighbours
 * once or several times, and takes part in a reduction at the end; after some it writes a checkpoint. Which calls it makes,
 * and in which order, depends on the kind of application (application.c). It computes as long as its objects, groups and
 * handler take in that phase of the load model, interruptions included, and the messages carry the bytes of the edges
 * between ranks of that phase. So slow nodes, ports and cables make their neighbours wait.
 *
 * Before the first iteration it starts up, and after the last one it adds up results; both belong to that iteration.
 *
 * The reduction makes iterations independent. Its last arrival is E(k), and rank r leaves it at E(k) + x(r,k), where x is
 * drawn from (seed, r, k) and grows with the depth of the rank in the tree. What happens after that depends on x(.,k)
 * alone, so an iteration here is what happens from E(k-1) to E(k), in nanoseconds since E(k-1), and its length is all that
 * the next one needs. Nothing happens in the shortest x after E(k), the guard. Waves of delay that cross a reduction are not
 * modelled. Causality holds by construction: a receive ends after the message was sent and transferred.
 */
#ifndef HPCW_GEN_MODEL_TRACE_TRACE_H
#define HPCW_GEN_MODEL_TRACE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "gen/model/checkpoint/checkpoint.h"
#include "gen/model/load/load.h"
#include "gen/model/network/network.h"
#include "gen/model/trace/program.h"

/* What the application does between two reductions. */
enum model_trace_kind {
    MODEL_TRACE_AUTO,    /* one of the next ones, by seed and load balancer */
    MODEL_TRACE_STENCIL, /* all compute, then exchange with all neighbours */
    MODEL_TRACE_HYDRO,   /* fields are exchanged one after the other, dimension by dimension */
    MODEL_TRACE_SOLVER,  /* inner iterations with an exchange and reductions each, as of conjugate gradients */
    MODEL_TRACE_ADAPTIVE /* messages are taken as they come; now and then all ranks distribute the mesh anew */
};
extern const char *const model_trace_kind_name[];

/* What the tracer sees. */
enum model_trace_record {
    MODEL_TRACE_RECORD_ALL,
    MODEL_TRACE_RECORD_CALLS, /* calls of MPI and messages, as of a program that was only linked again */
    MODEL_TRACE_RECORD_STATES /* the program's own states, and messages */
};

/* Keys "trace.*". The iterations are the phases of the load model. */
struct model_trace_params {
    int application;    /* enum model_trace_kind */
    uint32_t exchanges; /* of messages, in an iteration; 0: by application and seed */
    char start[MODEL_TRACE_MOST_TEXT], loop[MODEL_TRACE_MOST_TEXT],
        end[MODEL_TRACE_MOST_TEXT]; /* the calls of a program in place of the application's: see program.h */
    int record;                     /* enum model_trace_record */
    bool aggregate;                 /* one message between two ranks in an exchange, otherwise one per edge */
    double write_gbs;               /* of a rank */
    double write_sigma;             /* of ln(time to write) */
    double skew_us;                 /* offset of a clock that lost its time server */
    double drift_ppm;               /* standard deviation of their drift */
    double clock_ghz;               /* 0: by the seed */
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
    MODEL_TRACE_OPEN = 8,
    MODEL_TRACE_WRITE = 10,
    MODEL_TRACE_CLOSE = 12,
    MODEL_TRACE_CALLS = 14, /* those before are the program's own */
    MODEL_TRACE_ALLREDUCE = MODEL_TRACE_CALLS,
    MODEL_TRACE_BARRIER = 16,
    MODEL_TRACE_ALLGATHER = 18,
    MODEL_TRACE_ALLTOALL = 20,
    MODEL_TRACE_BCAST = 22,
    MODEL_TRACE_REDUCE = 24,
    MODEL_TRACE_GATHER = 26,
    MODEL_TRACE_IRECV = 28,
    MODEL_TRACE_ISEND = 30,
    MODEL_TRACE_WAIT = 32,
    MODEL_TRACE_WAITALL = 34,
    MODEL_TRACE_WAITANY = 36,
    MODEL_TRACE_SENDING = 38, /* MPI_Send */
    MODEL_TRACE_WAITED = 40,  /* around each receive in a wait */
    MODEL_TRACE_COMM_RANK = 42,
    MODEL_TRACE_COMM_SIZE = 44,
    MODEL_TRACE_COMM_DUP = 46,
    MODEL_TRACE_COMM_FREE = 48,
    MODEL_TRACE_CART_CREATE = 50,
    MODEL_TRACE_CART_COORDS = 52,
    MODEL_TRACE_CART_SHIFT = 54,
    MODEL_TRACE_DIMS_CREATE = 56,
    MODEL_TRACE_RECV = 58,
    MODEL_TRACE_TESTALL = 60,
    MODEL_TRACE_SENDRECV = 62,
    MODEL_TRACE_GET_COUNT = 64,
    MODEL_TRACE_CART_GET = 66,
    MODEL_TRACE_COMM_SPLIT = 68,
    MODEL_TRACE_STATES = 70, /* the rest are not states */
    MODEL_TRACE_SEND = MODEL_TRACE_STATES,
    MODEL_TRACE_RECEIVE,
    MODEL_TRACE_STEP,    /* rank 0 alone, at the end of an iteration */
    MODEL_TRACE_NOTHING, /* no tracer sees it; and its end */
    MODEL_TRACE_WHATS = MODEL_TRACE_NOTHING + 2
};

struct model_trace_event {
    uint64_t time; /* nanoseconds since the start of the iteration; model_trace_order makes cycles of them */
    uint32_t rank;
    uint32_t detail; /* see model_trace_what_of, model_trace_message_of */
};
enum { MODEL_TRACE_WHAT_BITS = 7 };
static inline uint32_t model_trace_what_of(const struct model_trace_event *e) {
    return e->detail & ((1u << MODEL_TRACE_WHAT_BITS) - 1);
}
/* The number of the message that a send or receive is of. Of a step and the end of a checkpoint: 0 for those of the
 * iteration before, 1 for those of this one. Of the end of a collective call: the bytes of each part. */
static inline uint32_t model_trace_message_of(const struct model_trace_event *e) {
    return e->detail >> MODEL_TRACE_WHAT_BITS;
}

struct model_trace_message {
    uint32_t from, to, bytes;
    uint32_t tag; /* its direction on the grid of ranks */
};

/* How this run of the application differs from others: drawn from the seed. */
struct model_trace_style {
    enum model_trace_kind kind;
    uint32_t exchanges;  /* in an iteration; see model_trace_exchanges */
    uint32_t reductions; /* of a solver, in an exchange; 3: of one that orthogonalises, more and more */
    uint32_t wait;       /* how ranks wait for messages, see script.h */
    bool blocks;         /* ranks send with MPI_Send */
    bool overlaps;       /* ranks compute while messages are under way */
    bool posts_late;     /* and post receives only after they have computed what is sent */
    uint32_t every;      /* iterations between two outputs, or two distributions of the mesh */
    bool cart, dup;      /* communicators made at the start */
    bool sets_up;        /* ranks tell each other what they will send, before the first exchange ... */
    bool lists_block;    /* with MPI_Send, or ... */
    uint32_t lists_wait; /* otherwise how they wait for that ... */
    uint32_t lists_tag;  /* and by how much its tags are larger */
    uint32_t barriers, broadcasts, results; /* at the start, and reductions at the end */
    bool size_first;                        /* the number of ranks is asked for first */
    uint32_t first_tag;
    bool meets_after_files, meets_at_end;
    uint32_t prints;  /* iterations after which rank 0 prints a line; 0: it never does */
    bool reads;       /* rank 0 reads the input, and the others wait for it */
    bool frees;       /* the communicators at the end */
    bool asks;        /* for the number of ranks and their own before each exchange */
    double tempo;     /* of all calls, and of what is between them: 1 on average */
    double between;   /* how much code is between two calls, against programs that do much there */
    double first_ns;  /* what something takes longer that the program does for the first time, at most ... */
    double second_ns; /* and for the second time */
    double rough;     /* how much the times of collective calls scatter: 1 on average */
    /* By how much work in odd iterations differs from that in even ones, on a rank at most: buffers, orders of sweeps. */
    double parity;
    uint32_t looks;       /* where the program looks at the clock, right before this event; NOTHING: nowhere */
    double uneven;        /* and those of the same work: data and caches differ from time to time ... */
    double shared;        /* on all ranks alike */
    double pack_ns;       /* for a byte of a message, before it is sent and after it came ... */
    double pack_least_ns; /* and for each message */
};

/* The programs of model_trace.program. */
enum { MODEL_TRACE_AT_START, MODEL_TRACE_IN_LOOP, MODEL_TRACE_AT_END, MODEL_TRACE_PROGRAMS };

/* When the first iteration starts, nanoseconds after the start of the run. */
#define MODEL_TRACE_START_NS UINT64_C(10000)

/* The log's time when the tracer reads the clock of rank 0 for the first time. */
#define MODEL_TRACE_ZERO_NS UINT64_C(1000)

/* The clock of a host: wrong by offset_ns + drift * time since the start of the run. */
struct model_trace_clock {
    double offset_ns, drift;
};

/* Edges of one kind: of the object or handler that owns each. */
struct model_trace_edges {
    uint32_t kind;
    uint32_t *from;   /* [objects]; UINT32_MAX: none. Handlers: NULL */
    double *ln_bytes; /* [objects], or [ranks] */
};

/* About how many messages, events and ends of collective calls with data there are in the run, and the most edges between ranks, messages and events of an
 * iteration. */
struct model_trace_estimate {
    uint64_t messages, events, collectives;
    uint64_t most_edges, most_messages, most_events;
};

/* Read-only after init: threads may share it. */
struct model_trace {
    struct model_trace_params params;
    const struct model_load *load;
    const struct model_checkpoint *checkpoint;
    uint32_t ranks, iterations;
    struct model_network network;
    struct model_contention contention; /* of an exchange of all ranks */
    struct model_trace_edges edges[MODEL_LOAD_KINDS];
    uint32_t kinds;
    uint8_t *exists;  /* [objects] */
    uint32_t *where;  /* [objects] rank: at home, or with a balancer in the middle of the run */
    double *lasting;  /* [objects] */
    uint32_t *window; /* [iterations] of the network's congestion */
    uint32_t *before; /* [iterations] exchanges in earlier ones */
    struct model_trace_delays *delays; /* of calls and of what is between them */
    struct model_trace_style style;
    struct model_trace_program *program; /* before the loop, the loop, and after it */
    uint64_t records;                    /* bit what / 2: the tracer records it */
    uint64_t used;                       /* bit what / 2: and it happens in this run */
    struct model_trace_estimate estimate;
    struct model_trace_clock *clock; /* [nodes]; NULL: all are right */
    uint32_t clock_khz;
    double cycle_s;  /* of a clock, by the log */
    double zero_s;   /* the time of cycle 0: less than a cycle, as that of the tracer's first look is given */
    uint64_t hop_ns; /* a step of a reduction */
    uint64_t guard_ns;
};

/* Clocks count cycles since the start of the run, and events those since the start of their iteration. */
static inline uint64_t model_trace_cycles(const struct model_trace *m, uint64_t time_ns) {
    return time_ns / 1000000 * m->clock_khz + time_ns % 1000000 * m->clock_khz / 1000000;
}

/* What the log says, as its clock is a little fast or slow. */
static inline double model_trace_seconds(const struct model_trace *m, uint64_t start_cycles,
                                         const struct model_trace_event *e) {
    return m->zero_s + (double)(start_cycles + e->time) * m->cycle_s;
}

/*
 * Memory: 13 bytes per object, 8 per rank, and 12 per edge. HPCW_ERANGE if clocks differ by more than the guard, HPCW_ENOMEM.
 * The other models must outlive this one.
 */
hpcw_status model_trace_init(struct model_trace *m, const struct model_trace_params *params,
                             const struct model_load *load, const struct model_checkpoint *checkpoint,
                             hpcw_error *err);
void model_trace_free(struct model_trace *m);
uint64_t model_trace_size(const struct model_trace *m);

/* A message that by the clocks arrives before it is sent. */
struct model_trace_backward {
    uint32_t from, to;
    uint64_t by_ns;
};

/* An interruption by the system. */
struct model_trace_noise {
    uint32_t rank;
    uint64_t length_ns;
};

/* One iteration as a whole. */
struct model_trace_facts {
    uint64_t duration_ns; /* to the start of the next one */
    uint64_t compute_ns;  /* sum over all ranks */
    uint64_t slowest_ns;  /* compute time of the slowest rank */
    uint32_t slowest_rank;
    uint64_t checkpoint_ns
        [2]; /* when rank 0 begins to write a checkpoint; UINT64_MAX: none. The last iteration can have
                                * two, that of the one before and its own */
};

/* What a thread needs. Memory: about 32 bytes per event of an iteration, 50 per edge between ranks, 50 per rank, 8 per object. */
struct model_trace_scratch;
hpcw_status model_trace_scratch_new(const struct model_trace *m, struct model_trace_scratch **out,
                                    hpcw_error *err);
void model_trace_scratch_free(struct model_trace_scratch *s);
uint64_t model_trace_scratch_size(const struct model_trace *m);

/* The number of events of an iteration, exactly. Ascending iterations are fastest: the scratch keeps the objects of all
 * ranks. HPCW_ENOMEM; HPCW_ERANGE for more than 2^31 - 1 bytes between two ranks. */
hpcw_status model_trace_count(const struct model_trace *m, struct model_trace_scratch *s, uint32_t iteration,
                              uint64_t *events, hpcw_error *err);

/* All events of an iteration, in the scratch until the next call. */
struct model_trace_run {
    const struct model_trace *model;
    uint64_t count;
    struct model_trace_facts facts;
    const struct model_trace_message *message; /* [messages] of each exchange by receiver, then by sender */
    uint32_t messages;
    const struct model_trace_noise *noise; /* [noises] by rank */
    size_t noises;
    /* [backwards] in the order of the messages; from model_trace_order */
    const struct model_trace_backward *backward;
    size_t backwards;

    /* Private, for the functions below: from the high bits down, number of an event, low half of its time. */
    const struct model_trace_event *event; /* [count] by rank, then in its order */
    const uint64_t *order;                 /* [count] */
};

/* Makes the events by a right clock. Results as model_trace_count. */
hpcw_status model_trace_iteration(const struct model_trace *m, struct model_trace_scratch *s,
                                  uint32_t iteration, struct model_trace_run *run, hpcw_error *err);

/* Few ranks without a balancer, in whose phases timers show. */
bool model_trace_finds_starts(const struct model_load *load);

/* Then, unless there are very many events: sets when the phases of `load`, which is that of `m`, start, as the iterations do; so
 * timers tick when they would. Memory of a scratch. HPCW_ENOMEM, and HPCW_ERANGE as model_trace_iteration; the starts are then
 * those of model_load_fill_starts. */
hpcw_status model_trace_find_starts(const struct model_trace *m, struct model_load *load, hpcw_error *err);

/* The exchanges of an iteration, without that of lists: those of the style, or of a mesh as many as a solver has inner
 * iterations. */
uint32_t model_trace_exchanges(const struct model_trace *m, uint32_t iteration);

/* Reductions and barriers, which all ranks leave at almost the same time: those of an iteration, in their order. Returns their
 * number. */
enum { MODEL_TRACE_MOST_EXITS = 256 };
struct model_trace_exit {
    uint32_t iteration, number; /* of what draws its times */
    double at;                  /* about when, as a share of the iteration */
};
uint32_t model_trace_exits(const struct model_trace *m, uint32_t iteration,
                           struct model_trace_exit exit[MODEL_TRACE_MOST_EXITS]);

/* When each rank leaves one, nanoseconds after the last arrival: time_ns[ranks]. Of few ranks, the one that came last, which
 * is not known here, and the first one to leave change places. */
void model_trace_exit_times(const struct model_trace *m, const struct model_trace_exit *exit,
                            uint64_t *time_ns);

/* Reads the ranks' clocks, and puts the events into the order of time, then rank, then of a rank's events. `start_ns`: of
 * the iteration, since the start of the run. HPCW_ERANGE if clocks have drifted too far; HPCW_ENOMEM. */
hpcw_status model_trace_order(const struct model_trace *m, struct model_trace_scratch *s, uint64_t start_ns,
                              struct model_trace_run *run, hpcw_error *err);

/* In that order. */
static inline const struct model_trace_event *model_trace_event(const struct model_trace_run *run,
                                                                uint64_t index) {
    return &run->event[run->order[index] >> 32];
}

#endif
