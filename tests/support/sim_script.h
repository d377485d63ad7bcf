/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs for the simulator as lists of calls, one list for each rank. An unexpected failure ends the test. */
#ifndef HPCW_TESTS_SUPPORT_SIM_SCRIPT_H
#define HPCW_TESTS_SUPPORT_SIM_SCRIPT_H

#include "gen/model/network/network.h"
#include "gen/sim/sim.h"

struct script_step {
    int kind;
    uint32_t partner, from;
    int32_t tag;
    enum sim_call call;
    struct sim_parts parts;
    uint64_t amount; /* bytes or nanoseconds */
};

enum { SCRIPT_MOST_REQUESTS = 16, SCRIPT_MOST_COMMS = 8, SCRIPT_MOST_MARKS = 4096 };

struct script_rank {
    struct script_step *step; /* [steps] */
    size_t steps, capacity, next;
    sim_request request[SCRIPT_MOST_REQUESTS];
    uint32_t requests;
    struct sim_made made[SCRIPT_MOST_COMMS]; /* results of the last script_split calls */
    uint32_t mades;
    uint32_t comm; /* communicator of the next calls */
};

struct script {
    struct model_machine machine;
    struct model_network network;
    struct sim_constants constants;
    struct sim_noise_params noise; /* none unless a test sets it */
    uint64_t seed;
    uint32_t checkpoints; /* number of checkpoints that each rank must make */
    uint32_t phases;      /* number of phases that each rank must end; the last one ends with the rank's list */
    uint64_t order, horizon_ns;
    struct model_repair repair[SIM_MOST_CLOCKS]; /* [clocks] */
    uint32_t clocks;                             /* additional clocks; clock i runs as if repair[i] were made */
    struct script_rank *rank;
    struct sim *sim; /* set by a run */
    hpcw_error err;

    uint64_t mark[SCRIPT_MOST_MARKS]; /* clocks at all marks, in the order of script_mark */
    uint32_t marks;
    struct sim_event *event; /* [events] all events of the run */
    size_t events, event_capacity;
    uint64_t passed_ns;
    /* passes: number of calls of sim_observer.passed; before_passed: number of events before the time of the last
     * such call */
    uint32_t passes, before_passed;
};

/* Begin a script with the constants of the product: on a given machine, on the machine of a preset, or on the
 * default machine. */
void script_begin_with(struct script *s, const struct model_machine_params *params, uint32_t ranks,
                       uint32_t phases);
void script_begin_on(struct script *s, const char *preset, uint32_t ranks, uint32_t phases);
void script_begin(struct script *s, uint32_t ranks, uint32_t phases);
void script_end(struct script *s);

void script_compute(struct script *s, uint32_t rank, uint64_t time_ns);
/* Adds compute time to a rank; `saved_ns` less on the additional clock `clock` (struct script). */
void script_compute_less(struct script *s, uint32_t rank, uint64_t time_ns, uint32_t clock, uint64_t saved_ns);
void script_send(struct script *s, uint32_t rank, uint32_t to, uint64_t bytes, int32_t tag);
void script_recv(struct script *s, uint32_t rank, uint32_t from, int32_t tag);
/* Sends to the source of the last receive, with tag 5. */
void script_answer(struct script *s, uint32_t rank, uint64_t bytes);
void script_sendrecv(struct script *s, uint32_t rank, uint32_t to, uint64_t bytes, uint32_t from, int32_t tag);
void script_isend(struct script *s, uint32_t rank, uint32_t to, uint64_t bytes, int32_t tag);
void script_irecv(struct script *s, uint32_t rank, uint32_t from, int32_t tag);
void script_waitall(struct script *s, uint32_t rank);
/* Waits for any request of the rank, then computes for index_ns * (index of the request + 1). */
void script_waitany(struct script *s, uint32_t rank, uint64_t index_ns);
void script_meet(struct script *s, uint32_t rank, enum sim_call call, uint32_t root, uint64_t bytes);
/* Borrows parts->bytes. */
void script_meet_parts(struct script *s, uint32_t rank, enum sim_call call, uint32_t root,
                       const struct sim_parts *parts);
void script_split(struct script *s, uint32_t rank, enum sim_call call, uint32_t colour, int32_t key);
/* Selects the communicator of the rank's next calls: that of its n-th script_split; 0: the world. */
void script_use(struct script *s, uint32_t rank, uint32_t made);
void script_open(struct script *s, uint32_t rank);
void script_move(struct script *s, uint32_t rank, enum sim_call call, uint64_t bytes);
void script_close(struct script *s, uint32_t rank);
void script_checkpoint(struct script *s, uint32_t rank, uint64_t bytes);
/* Ends a phase other than the last. */
void script_next_phase(struct script *s, uint32_t rank);
/* Records the rank's clock. */
void script_mark(struct script *s, uint32_t rank);

hpcw_status script_try(struct script *s);
void script_run(struct script *s);

/* Sorts events by time, then rank, then order. */
void script_sort(struct script *s);

#endif
