/* SPDX-License-Identifier: BSD-3-Clause */
/* Types and functions shared by the parts of the simulator. */
#ifndef HPCW_GEN_SIM_PRIVATE_H
#define HPCW_GEN_SIM_PRIVATE_H

#include "gen/sim/comm.h"
#include "gen/sim/crowd.h"
#include "gen/sim/files.h"
#include "gen/sim/heap.h"
#include "gen/sim/match.h"
#include "gen/sim/sim.h"
#include "gen/sim/timing/cost.h"
#include "gen/sim/timing/noise.h"
#include "gen/sim/without.h"

enum sim_rank_state {
    SIM_RANK_RUNS,  /* the rank runs or is ready to run */
    SIM_RANK_WAITS, /* the rank waits for other ranks */
    SIM_RANK_AT_HORIZON,
    SIM_RANK_ENDED
};

/* What a timed call of a rank waits for. */
enum sim_timed {
    SIM_NOT_TIMED,
    SIM_ANY_MESSAGE,
    SIM_ANY_REQUEST, /* any request in `waits` */
    SIM_FILE         /* the rank's turn at a file server */
};

struct sim_requests {
    uint32_t held; /* number of requests for which the rank has not waited */
    /* number of entries in `of`: the requests counted by `held` in the order of their calls, and some for which
     * the rank has waited */
    uint32_t posted;
    uint32_t completed; /* index of the request that ended the rank's last sim_waitany */
    size_t capacity;
    sim_request *of;
};

/* Sends and receives that a rank waits for, the last one first: [count] numbers of halves. They are in an array, so
 * that their memory can be fetched at once. */
struct sim_waits {
    uint32_t *of;
    size_t capacity;
    uint32_t count;
};

/* State of a rank. The members that most calls need are in the first three cache lines. */
struct sim_rank {
    uint64_t clock_ns;
    uint64_t out_free_ns,
        in_free_ns;    /* when the rank's share of the network cards is free: to send (out), to receive (in) */
    uint64_t stall_ns; /* delay of the return of the rank's next call */
    struct sim_received received;
    uint32_t comm; /* communicator of the rank's last call */
    /* number of the rank's calls modulo 2^32; tells two waits apart */
    uint32_t calls;
    /* number of sends and receives that the rank waits for and whose end is not known */
    uint32_t missing;
    uint8_t state; /* enum sim_rank_state */
    uint8_t call;  /* enum sim_call of the rank's last call */
    uint8_t timed; /* enum sim_timed */
    /* the rank has received from any source before, so the mail has all its messages */
    bool receives_any;
    struct sim_partners to, from;
    /* first pair with this rank as receiver; SIM_NOTHING: none */
    uint32_t first_in;
    struct sim_waits waits;
    struct sim_requests requests;
    int32_t any_tag;  /* tag of the receive from any source */
    uint64_t mark_ns; /* time at which the rank last ended a phase or began a state */
    uint32_t phase, checkpoints;
    uint32_t root;        /* root of the rank's last collective call */
    uint32_t comms;       /* number of communicators that the rank has asked for */
    uint32_t led;         /* number of communicators in which the rank's place is 0 */
    struct sim_wish wish; /* arguments of the rank's last split */
    struct sim_made made; /* result of the rank's last split */
    /* bytes that the rank writes or sends in its checkpoint or collective call */
    uint64_t write_bytes;
    /* bytes that the rank receives in a collective call with parts of different sizes */
    uint64_t read_bytes;
    struct sim_file file;
};

struct sim {
    struct sim_options options;
    const struct sim_program *program;
    uint32_t ranks, ended;
    struct sim_rank *rank; /* [ranks] */
    uint32_t *ready;       /* [ready_count] ranks that can run; has room for all ranks */
    uint32_t ready_count;
    uint32_t *parked; /* [parked_count] ranks that stopped at the horizon of simulated time */
    uint32_t parked_count;
    uint64_t horizon_ns, window_ns;
    /* the horizon is nearer than window_ns, since the set of crowded links may change there */
    bool cut;
    uint64_t calls, calls_at_horizon; /* calls of all ranks: so far, and when the horizon last moved */
    uint64_t turns;                   /* number of resumes of ranks since the horizon last moved */
    /* ranks in a timed call, by the time at which the call may end */
    struct sim_heap timed;
    struct sim_match match;
    struct sim_comm **comm; /* [comms] */
    uint32_t comms;
    size_t comm_capacity;
    struct sim_files files;
    struct sim_noise noise;
    struct sim_crowd crowd;
    uint32_t clocks; /* number of further clocks (times without a fault), which are in `without` */
    struct sim_without without;
    bool observed;
    bool any_source; /* some rank has received from any source; otherwise no receiver's state is looked at */
    bool failed;     /* the run has failed, with the reason in `failure`; no rank is resumed */
    hpcw_error failure;
    char error[512]; /* message of a refused call */
};

static inline uint64_t sim_later_ns(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

/* Returns whether the run has further clocks (times without a fault). The result is marked as unlikely, so
 * that the code of other runs is contiguous. */
static inline bool sim_has_clocks(const struct sim *sim) {
    return __builtin_expect(sim->clocks != 0, false);
}

/* Returns the times of a send or receive on the further clocks (times without a fault). The send or receive under
 * construction has the number SIM_NOTHING and is stored first. */
static inline struct sim_without_half *sim_without_times(const struct sim *sim, uint32_t half) {
    return &sim->without.half[(size_t)(uint32_t)(half + 1) * sim->clocks];
}

/* ---- ranks.c ---- */

/* Report the begin and the return of a call. Used only if the run has an observer. */
void sim_tell_begin(struct sim *sim, uint32_t rank);
void sim_tell_return(struct sim *sim, uint32_t rank, uint64_t time_ns);
/* Reports the begin or the return of the barrier in a checkpoint. */
void sim_tell_barrier(struct sim *sim, uint32_t rank, enum sim_what what, uint64_t time_ns);
/* Reports that noise took `lost_ns`. time_ns: time of the event. */
void sim_tell_loss(struct sim *sim, uint32_t rank, uint64_t time_ns, enum sim_work work, uint64_t lost_ns);

/* Begins a call: counts it and tells the observer. */
static inline void sim_begin_call(struct sim *sim, uint32_t rank, uint32_t comm, enum sim_call call) {
    struct sim_rank *r = &sim->rank[rank];
    r->call = (uint8_t)call;
    r->comm = comm;
    r->calls++;
    sim->calls++;
    if (sim->observed) {
        sim_tell_begin(sim, rank);
    }
}

/* Advances the clock of a rank. A rank beyond the horizon of simulated time stops. */
static inline enum sim_answer sim_advance(struct sim *sim, uint32_t rank, uint64_t time_ns) {
    struct sim_rank *r = &sim->rank[rank];
    r->clock_ns = time_ns;
    if (time_ns < sim->horizon_ns) {
        r->state = SIM_RANK_RUNS;
        return SIM_GOES_ON;
    }
    r->state = SIM_RANK_AT_HORIZON;
    sim->parked[sim->parked_count++] = rank;
    return SIM_WAITS;
}

/* Adds stall and noise to `calm_ns`, the end of a call without them. Returns the resulting end. Call it once
 * for each call. */
static inline uint64_t sim_disturb(struct sim *sim, uint32_t rank, uint64_t calm_ns) {
    calm_ns += sim->rank[rank].stall_ns;
    sim->rank[rank].stall_ns = 0;
    const uint64_t time_ns = sim->noise.rank != NULL ? sim_noise_return(&sim->noise, rank, calm_ns) : calm_ns;
    if (time_ns > calm_ns) {
        sim_tell_loss(sim, rank, time_ns, SIM_WORK_CALL, time_ns - calm_ns);
    }
    return time_ns;
}

/* Returns from a rank's call at `time_ns`. A rank beyond the horizon of simulated time stops. */
static inline enum sim_answer sim_return(struct sim *sim, uint32_t rank, uint64_t time_ns) {
    if (sim->observed) {
        sim_tell_return(sim, rank, time_ns);
    }
    return sim_advance(sim, rank, time_ns);
}

static inline enum sim_answer sim_end_call(struct sim *sim, uint32_t rank, uint64_t calm_ns) {
    return sim_return(sim, rank, sim_disturb(sim, rank, calm_ns));
}
/* Returns the end of a call that begins now and moves nothing. */
static inline uint64_t sim_least_end_ns(const struct sim *sim, uint32_t rank) {
    return sim->rank[rank].clock_ns + (uint64_t)sim->options.constants.value[SIM_CALL];
}
/* Stops the rank until sim_wake. */
enum sim_answer sim_block(struct sim *sim, uint32_t rank);
/* Wakes a rank that has what it waited for. Its call returns at `time_ns`. */
void sim_wake(struct sim *sim, uint32_t rank, uint64_t time_ns);

void sim_tell(struct sim *sim, const struct sim_event *event);
/* Reports the communicator that a rank has got from a split, if any. */
void sim_tell_made(struct sim *sim, uint32_t rank, uint64_t time_ns);
enum sim_answer sim_refuse(struct sim *sim, const char *fmt, ...) HPCW_PRINTF(2, 3);
/* Fails the run for lack of memory. Returns SIM_WAITS, as no rank is run any more. */
enum sim_answer sim_fail_memory(struct sim *sim, const char *what);

/* Lets the timed call of a rank end or continue at `time_ns`, but not before the begin of the call. */
void sim_may_end(struct sim *sim, uint32_t rank, uint64_t time_ns);

/* ---- messages.c ---- */

/* Completes a receive from any source with the earliest message. */
void sim_serve_message(struct sim *sim, uint32_t rank);
/* Completes a wait for any of several requests with the first one that is complete. */
void sim_serve_request(struct sim *sim, uint32_t rank);

/* ---- deadlock.c ---- */
hpcw_status sim_fail_deadlock(const struct sim *sim, hpcw_error *err);
hpcw_status sim_check_end(const struct sim *sim, hpcw_error *err);

#endif
