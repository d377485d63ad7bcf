/* SPDX-License-Identifier: BSD-3-Clause */
/* Types and functions that the parts of the simulator share. */
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
    SIM_RANK_RUNS,  /* or is ready to */
    SIM_RANK_WAITS, /* for others */
    SIM_RANK_AT_HORIZON,
    SIM_RANK_ENDED
};

/* What a rank waits for in a timed call. */
enum sim_timed {
    SIM_NOT_TIMED,
    SIM_ANY_MESSAGE,
    SIM_ANY_REQUEST, /* of those in `waits_for` */
    SIM_FILE         /* for its turn at a server of files */
};

/* What most calls need is in the first three lines of the cache. */
struct sim_rank {
    uint64_t clock_ns;
    uint64_t out_free_ns, in_free_ns; /* when the rank's share of the cards is free */
    uint64_t stall_ns;                /* by how much its next call returns later */
    struct sim_received received;
    uint32_t comm;      /* of its last call */
    uint32_t calls;     /* how many, in a circle: tells two waits apart */
    uint32_t missing;   /* halves that it waits for, all of them, and that have no other half yet */
    uint32_t waits_for; /* the first of these; SIM_NOTHING: none */
    uint8_t state;      /* enum sim_rank_state */
    uint8_t call;       /* enum sim_call of its last call */
    uint8_t timed;      /* enum sim_timed */
    bool receives_any;  /* it has done so before: `mail` has all that it may receive */
    struct sim_partners to, from;
    uint32_t first_in; /* the first pair with this receiver; SIM_NOTHING: none */
    uint32_t held;     /* requests that it has not waited for */
    uint32_t
        posted; /* requests in `request`: these in the order of their calls, and some that it has waited for */
    uint32_t all; /* of those in `request`: all that the waitall() of the rank waits for */
    size_t request_capacity;
    sim_request *request;
    int32_t any_tag; /* of a receive from any source */
    uint32_t waited; /* the place of the request that was over first */
    struct sim_heap
        mail;         /* messages without a receive, earliest first; of those some were received meanwhile */
    uint64_t mark_ns; /* when it last ended a phase, or began a state */
    uint32_t phase, checkpoints;
    uint32_t root;        /* of its last collective call */
    uint32_t comms;       /* that it has asked for */
    uint32_t led;         /* of those, in which its place was 0 */
    struct sim_wish wish; /* of its last split */
    struct sim_made made; /* what it got */
    uint64_t write_bytes; /* of its checkpoint, or of another collective call */
    uint64_t read_bytes;  /* where parts differ: received */
    struct sim_file file;
};

struct sim {
    struct sim_options options;
    const struct sim_program *program;
    uint32_t ranks, ended;
    struct sim_rank *rank; /* [ranks] */
    uint32_t *ready;       /* [ready_count] ranks that can go on; room for all */
    uint32_t ready_count;
    uint32_t *parked; /* [parked_count] ranks at the horizon */
    uint32_t parked_count;
    uint64_t horizon_ns, window_ns;
    bool cut; /* the horizon is nearer than the window, as links may be crowded after it */
    uint64_t calls, calls_at_horizon; /* of all ranks; when the horizon moved last */
    uint64_t turns;                   /* of ranks, since then */
    struct sim_heap timed;            /* ranks in a timed call, by when it may be over */
    struct sim_match match;
    struct sim_comm **comm; /* [comms] */
    uint32_t comms;
    size_t comm_capacity;
    struct sim_files files;
    struct sim_noise noise;
    struct sim_crowd crowd;
    uint32_t clocks; /* further ones, in `without` */
    struct sim_without without;
    bool observed;
    bool failed; /* `failure` says why; no rank is run any more */
    hpcw_error failure;
    char error[512]; /* of a refused call */
};

static inline uint64_t sim_later_ns(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

/* Rarely: so that the code of other runs is in one piece. */
static inline bool sim_has_clocks(const struct sim *sim) {
    return __builtin_expect(sim->clocks != 0, false);
}

/* ---- ranks.c ---- */

/* Of a run that is observed. */
void sim_tell_begin(struct sim *sim, uint32_t rank);
void sim_tell_return(struct sim *sim, uint32_t rank, uint64_t time_ns);
/* Noise took `lost_ns`; `time_ns` is that of the event. */
void sim_tell_loss(struct sim *sim, uint32_t rank, uint64_t time_ns, enum sim_work work, uint64_t lost_ns);

/* A call begins: counts it, and tells the observer. */
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

/* Advances the clock. A rank beyond the horizon stops. */
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

/* When a call returns that would at `calm_ns`, if it were not stalled and there were no noise. Once for each call. */
static inline uint64_t sim_disturb(struct sim *sim, uint32_t rank, uint64_t calm_ns) {
    calm_ns += sim->rank[rank].stall_ns;
    sim->rank[rank].stall_ns = 0;
    const uint64_t time_ns = sim->noise.rank != NULL ? sim_noise_return(&sim->noise, rank, calm_ns) : calm_ns;
    if (time_ns > calm_ns) {
        sim_tell_loss(sim, rank, time_ns, SIM_WORK_CALL, time_ns - calm_ns);
    }
    return time_ns;
}

/* A call returns at `time_ns`. If that is beyond the horizon, the rank stops there. */
static inline enum sim_answer sim_return(struct sim *sim, uint32_t rank, uint64_t time_ns) {
    if (sim->observed) {
        sim_tell_return(sim, rank, time_ns);
    }
    return sim_advance(sim, rank, time_ns);
}

static inline enum sim_answer sim_end_call(struct sim *sim, uint32_t rank, uint64_t calm_ns) {
    return sim_return(sim, rank, sim_disturb(sim, rank, calm_ns));
}
/* When a call of the rank ends that begins now and moves nothing. */
static inline uint64_t sim_least_end_ns(const struct sim *sim, uint32_t rank) {
    return sim->rank[rank].clock_ns + (uint64_t)sim->options.constants.value[SIM_CALL];
}
/* The rank stops until sim_wake. */
enum sim_answer sim_block(struct sim *sim, uint32_t rank);
/* What a rank has waited for is there, and its call returns at `time_ns`. */
void sim_wake(struct sim *sim, uint32_t rank, uint64_t time_ns);

void sim_tell(struct sim *sim, const struct sim_event *event);
/* The rank has a new communicator, if it wanted one. */
void sim_tell_made(struct sim *sim, uint32_t rank, uint64_t time_ns);
enum sim_answer sim_refuse(struct sim *sim, const char *fmt, ...) HPCW_PRINTF(2, 3);
/* Memory runs out; returns SIM_WAITS, as no rank is run any more. */
enum sim_answer sim_fail_memory(struct sim *sim, const char *what);

/* The timed call of a rank may be over, or go on, at `time_ns`, or when it began, if that was later. */
void sim_may_end(struct sim *sim, uint32_t rank, uint64_t time_ns);

/* ---- messages.c ---- */

/* A receive from any source takes the earliest message. */
void sim_serve_message(struct sim *sim, uint32_t rank);
/* The first request that is over ends a wait for any of several. */
void sim_serve_request(struct sim *sim, uint32_t rank);

/* ---- deadlock.c ---- */
hpcw_status sim_fail_deadlock(const struct sim *sim, hpcw_error *err);
hpcw_status sim_check_end(const struct sim *sim, hpcw_error *err);

#endif
