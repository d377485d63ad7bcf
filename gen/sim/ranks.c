/* SPDX-License-Identifier: BSD-3-Clause */
/* Clocks of the ranks; begin, end and failure of calls. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "gen/sim/private.h"
#include "libwriter/base/status.h"

const char *const sim_call_name[SIM_CALLS] = {
    [SIM_CALL_SEND] = "send",
    [SIM_CALL_RECV] = "recv",
    [SIM_CALL_SENDRECV] = "sendrecv",
    [SIM_CALL_ISEND] = "isend",
    [SIM_CALL_IRECV] = "irecv",
    [SIM_CALL_WAIT] = "wait",
    [SIM_CALL_WAITALL] = "waitall",
    [SIM_CALL_WAITANY] = "waitany",
    [SIM_CALL_FILE_OPEN] = "file_open",
    [SIM_CALL_FILE_WRITE] = "file_write",
    [SIM_CALL_FILE_READ] = "file_read",
    [SIM_CALL_FILE_CLOSE] = "file_close",
    [SIM_CALL_BARRIER] = "barrier",
    [SIM_CALL_BCAST] = "bcast",
    [SIM_CALL_REDUCE] = "reduce",
    [SIM_CALL_ALLREDUCE] = "allreduce",
    [SIM_CALL_GATHER] = "gather",
    [SIM_CALL_SCATTER] = "scatter",
    [SIM_CALL_ALLGATHER] = "allgather",
    [SIM_CALL_ALLTOALL] = "alltoall",
    [SIM_CALL_GATHERV] = "gatherv",
    [SIM_CALL_SCATTERV] = "scatterv",
    [SIM_CALL_ALLGATHERV] = "allgatherv",
    [SIM_CALL_ALLTOALLV] = "alltoallv",
    [SIM_CALL_SPLIT] = "split",
    [SIM_CALL_DUP] = "dup",
    [SIM_CALL_CHECKPOINT] = "checkpoint",
};

/* ---- failures ---- */

const char *sim_error(const struct sim *sim) {
    return sim->error;
}

enum sim_answer sim_refuse(struct sim *sim, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(sim->error, sizeof sim->error, fmt, args);
    va_end(args);
    return SIM_REFUSED;
}

enum sim_answer sim_fail_memory(struct sim *sim, const char *what) {
    if (!sim->failed) {
        sim->failed = true;
        (void)hpcw_i_fail_memory(&sim->failure, "simulator", 1, what);
    }
    return SIM_WAITS;
}

void sim_tell(struct sim *sim, const struct sim_event *event) {
    const struct sim_observer *o = &sim->options.observer;
    if (sim->observed && !sim->failed) {
        sim->failed = o->event(o->context, event, &sim->failure) != HPCW_OK;
    }
}

void sim_tell_made(struct sim *sim, uint32_t rank, uint64_t time_ns) {
    const struct sim_rank *r = &sim->rank[rank];
    if (r->made.comm != SIM_NONE) {
        sim_tell(sim, &(struct sim_event){.time_ns = time_ns,
                                          .rank = rank,
                                          .what = SIM_MADE,
                                          .comm = r->comm & SIM_LAST_COMM,
                                          .tag = (int32_t)r->made.comm,
                                          .peer = r->made.place,
                                          .bytes = (uint64_t)r->made.leader << 32 | r->made.count});
    }
}

struct sim_made sim_made(const struct sim *sim, uint32_t rank) {
    return sim->rank[rank].made;
}

uint32_t sim_comm_size(const struct sim *sim, uint32_t comm) {
    return sim->comm[comm]->size;
}

/* ---- calls ---- */

uint64_t sim_clock_ns(const struct sim *sim, uint32_t rank) {
    return sim->rank[rank].clock_ns;
}

uint32_t sim_phase(const struct sim *sim, uint32_t rank) {
    return sim->rank[rank].phase;
}

uint64_t sim_calls(const struct sim *sim) {
    return sim->calls;
}

uint64_t sim_end_ns(const struct sim *sim) {
    uint64_t end_ns = 0;
    for (uint32_t r = 0; r < sim->ranks; r++) {
        end_ns = sim->rank[r].clock_ns > end_ns ? sim->rank[r].clock_ns : end_ns;
    }
    return end_ns;
}

void sim_tell_begin(struct sim *sim, uint32_t rank) {
    const struct sim_rank *r = &sim->rank[rank];
    sim_tell(sim, &(struct sim_event){.time_ns = r->clock_ns,
                                      .rank = rank,
                                      .what = SIM_BEGINS,
                                      .number = r->call,
                                      .comm = r->comm & SIM_LAST_COMM});
}

void sim_tell_barrier(struct sim *sim, uint32_t rank, enum sim_what what, uint64_t time_ns) {
    sim_tell(
        sim,
        &(struct sim_event){
            .time_ns = time_ns, .rank = rank, .what = what, .number = SIM_CALL_BARRIER, .comm = SIM_WORLD});
}

void sim_tell_return(struct sim *sim, uint32_t rank, uint64_t time_ns) {
    const struct sim_rank *r = &sim->rank[rank];
    const bool meets = r->call >= SIM_CALL_BARRIER;
    const bool differs = r->call >= SIM_CALL_GATHERV && r->call <= SIM_CALL_ALLTOALLV;
    sim_tell(sim, &(struct sim_event){.time_ns = time_ns,
                                      .rank = rank,
                                      .what = SIM_RETURNS,
                                      .number = r->call,
                                      .comm = r->comm & SIM_LAST_COMM,
                                      .peer = differs ? (uint32_t)(r->read_bytes >> 32)
                                              : meets ? r->root
                                                      : 0,
                                      .tag = differs ? (int32_t)(uint32_t)r->read_bytes : 0,
                                      .bytes = meets ? r->write_bytes : 0});
}

void sim_tell_loss(struct sim *sim, uint32_t rank, uint64_t time_ns, enum sim_work work, uint64_t lost_ns) {
    if (sim->observed && lost_ns > 0) {
        sim_tell(sim,
                 &(struct sim_event){
                     .time_ns = time_ns, .rank = rank, .what = SIM_LOSES, .number = work, .bytes = lost_ns});
    }
}

enum sim_answer sim_block(struct sim *sim, uint32_t rank) {
    sim->rank[rank].state = SIM_RANK_WAITS;
    return SIM_WAITS;
}

void sim_wake(struct sim *sim, uint32_t rank, uint64_t time_ns) {
    if (sim_return(sim, rank, time_ns) == SIM_GOES_ON) {
        sim->ready[sim->ready_count++] = rank;
    }
}

void sim_may_end(struct sim *sim, uint32_t rank, uint64_t time_ns) {
    const struct sim_rank *r = &sim->rank[rank];
    const struct sim_entry entry = {.time_ns = r->clock_ns > time_ns ? r->clock_ns : time_ns,
                                    .rank = rank,
                                    .item = rank,
                                    .serial = r->calls};
    if (!sim_heap_add(&sim->timed, entry)) {
        (void)sim_fail_memory(sim, "a timed call");
    }
}

enum sim_answer sim_compute(struct sim *sim, uint32_t rank, enum sim_work work, uint64_t time_ns) {
    const uint64_t now_ns = sim->rank[rank].clock_ns;
    sim->calls++;
    if (sim->noise.rank != NULL && time_ns > 0) {
        const uint64_t calm_ns = time_ns;
        time_ns = sim_noise_work(&sim->noise, rank, now_ns, calm_ns) - now_ns;
        sim_tell_loss(sim, rank, now_ns, work, time_ns - calm_ns);
    }
    if (sim->observed && time_ns > 0) {
        sim_tell(sim,
                 &(struct sim_event){
                     .time_ns = now_ns, .rank = rank, .what = SIM_COMPUTES, .number = work, .bytes = time_ns});
    }
    return sim_advance(sim, rank, now_ns + time_ns);
}

void sim_stall(struct sim *sim, uint32_t rank, uint64_t time_ns) {
    sim->rank[rank].stall_ns += time_ns;
}

/* Returns the current time of a rank. If nothing has happened since the rank last ended a phase or began a state,
 * adds the time of an empty call. In a log, no two phases or states of a rank may have the same times
 * (doc/formats/clog2.md#clog2-19). */
static uint64_t after_mark_ns(const struct sim *sim, uint32_t rank) {
    const struct sim_rank *r = &sim->rank[rank];
    return r->clock_ns > r->mark_ns ? r->clock_ns : sim_least_end_ns(sim, rank);
}

enum sim_answer sim_next_phase(struct sim *sim, uint32_t rank) {
    struct sim_rank *r = &sim->rank[rank];
    if (r->phase == sim->options.phases) {
        return sim_refuse(sim, "next_phase: expected %" PRIu32 " phases, got one more", sim->options.phases);
    }
    r->mark_ns = after_mark_ns(sim, rank);
    sim_tell(sim,
             &(struct sim_event){.time_ns = r->mark_ns, .rank = rank, .what = SIM_PHASE, .bytes = r->phase});
    sim_crowd_end_phase(sim, rank, r->phase, r->mark_ns);
    r->phase++;
    return sim_advance(sim, rank, r->mark_ns);
}

enum sim_answer sim_state(struct sim *sim, uint32_t rank, uint32_t state, bool begins) {
    struct sim_rank *r = &sim->rank[rank];
    const uint64_t time_ns = begins ? r->clock_ns : after_mark_ns(sim, rank);
    r->mark_ns = begins ? time_ns : r->mark_ns;
    sim_tell(sim, &(struct sim_event){.time_ns = time_ns,
                                      .rank = rank,
                                      .what = begins ? SIM_STATE : SIM_STATE_ENDS,
                                      .number = (uint8_t)state});
    return begins ? SIM_GOES_ON : sim_advance(sim, rank, time_ns);
}
