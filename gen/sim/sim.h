/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulates a parallel program. A program (struct sim_program) runs a rank until it must wait for others. It makes
 * calls like those of MPI. Each rank has a clock, which calls advance.
 *
 * No result depends on the order in which ranks run:
 *  - A local call, such as a send or a receive from a named source, needs only times that are final when it ends.
 *    So a rank can run ahead of others until it must wait.
 *  - A timed call depends on who comes first: a receive from any source, or a wait for any request. It is served
 *    when no rank can continue locally, the earliest first. Messages sent later arrive later, so nothing earlier
 *    can follow.
 *  - A rank stops at a horizon of simulated time, which bounds the memory of unreceived messages. The horizon
 *    moves when no rank can continue before it. Only then the set of crowded links changes (crowd.h). When ranks
 *    have made many calls, the horizon moves nearer.
 *
 * Times are nanoseconds from the start of the run. */
#ifndef HPCW_GEN_SIM_SIM_H
#define HPCW_GEN_SIM_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "gen/model/network/network.h"
#include "gen/sim/timing/constants.h"
#include "gen/sim/timing/noise.h"

/* Why a rank has stopped. */
enum sim_stop {
    SIM_STOPPED, /* a call answered SIM_WAITS */
    SIM_ENDED,   /* the rank's program has ended */
    SIM_FAILED   /* the program failed; `err` has the reason */
};

struct sim_program {
    void *context;
    enum sim_stop (*resume)(void *context, uint32_t rank, hpcw_error *err);
    /* Writes the position of a rank in its program, for messages: "wave.lua:12". NULL: unknown. */
    void (*where)(void *context, uint32_t rank, char *text, size_t size);
    /* Announces that a rank runs soon, so that its memory can be prefetched. NULL: not used. */
    void (*fetch)(void *context, uint32_t rank);
};

/* ---- events of a run ---- */

enum sim_call {
    SIM_CALL_SEND,
    SIM_CALL_RECV,
    SIM_CALL_SENDRECV,
    SIM_CALL_ISEND,
    SIM_CALL_IRECV,
    SIM_CALL_WAIT,
    SIM_CALL_WAITALL,
    SIM_CALL_WAITANY,
    SIM_CALL_FILE_OPEN,
    SIM_CALL_FILE_WRITE,
    SIM_CALL_FILE_READ,
    SIM_CALL_FILE_CLOSE,
    SIM_CALL_BARRIER,
    SIM_CALL_BCAST,
    SIM_CALL_REDUCE,
    SIM_CALL_ALLREDUCE,
    SIM_CALL_GATHER,
    SIM_CALL_SCATTER,
    SIM_CALL_ALLGATHER,
    SIM_CALL_ALLTOALL,
    SIM_CALL_GATHERV,
    SIM_CALL_SCATTERV,
    SIM_CALL_ALLGATHERV,
    SIM_CALL_ALLTOALLV,
    SIM_CALL_SPLIT,
    SIM_CALL_DUP,
    SIM_CALL_CHECKPOINT,
    SIM_CALLS
};
extern const char *const sim_call_name[SIM_CALLS]; /* names of the calls in a program, as "send" */

enum sim_what {
    /* a call begins; `number`: enum sim_call. The barrier in a checkpoint begins as a call of its own */
    SIM_BEGINS,
    /* a call returns. Collective calls: `bytes` of the call; `peer` is the root's place in the communicator. Calls
     * with parts of different sizes (sim_meet_parts): `bytes` sent; sim_event_received gives the bytes received */
    SIM_RETURNS,
    /* a message is sent to rank `peer` with `tag` and `bytes` */
    SIM_SENT,
    SIM_RECEIVED, /* a message is received from rank `peer` */
    /* the rank computes for `bytes` nanoseconds from this event on; `number`: enum sim_work */
    SIM_COMPUTES,
    /* noise takes `bytes` nanoseconds: from the work that begins with this event, or before the return of a
     * call */
    SIM_LOSES,
    SIM_STATE,      /* state `number` of the program begins */
    SIM_STATE_ENDS, /* state `number` ends */
    /* the rank has ended phase `bytes`, counted from 0 */
    SIM_PHASE,
    /* the rank has got the communicator `tag` from a call that returns later. `peer`: the rank's place in the
     * communicator; `bytes`: leader (upper half) and count (lower half) of struct sim_made */
    SIM_MADE,
    SIM_WHATS
};
enum sim_work {
    SIM_WORK_OBJECTS,
    SIM_WORK_HANDLER,
    SIM_WORK_CALL /* noise in a call, only in SIM_LOSES */
};                /* kinds of work: the load of objects, the program's own time, calls */

/* SIM_WORLD: number of the world. SIM_LAST_COMM: largest number of a communicator, as an event has 20 bits for it.
 * SIM_MOST_COMMS: number of communicators that a rank may ask for. Communicators are kept until the run ends, so a
 * program with a split in a loop is refused. */
enum { SIM_WORLD = 0, SIM_LAST_COMM = (1 << 20) - 1, SIM_MOST_COMMS = 256 };

struct sim_event {
    uint64_t time_ns, bytes;
    uint32_t rank, peer;
    int32_t tag;
    uint32_t number : 8;
    uint32_t what : 4; /* enum sim_what */
    /* communicator of the call or message; in SIM_MADE: the parent of the new communicator */
    uint32_t comm : 20;
};

/* Returns the bytes received, of which `peer` and `tag` hold the upper and the lower half. */
static inline uint64_t sim_event_received(const struct sim_event *e) {
    return (uint64_t)e->peer << 32 | (uint32_t)e->tag;
}

/* A communicator that a rank has got. `comm` may depend on the order in which ranks run. `leader` and `count`
 * do not, and identify the communicator. */
struct sim_made {
    uint32_t comm;  /* number of the communicator; SIM_NONE: the rank asked for none */
    uint32_t place; /* the rank's place in the communicator */
    /* leader: first rank of the communicator; count: communicators that this rank had led before */
    uint32_t leader, count;
};

/* Receives the events of a run. The events of a rank come in the order in which they happen, those of different
 * ranks in any order. */
struct sim_observer {
    void *context;
    hpcw_status (*event)(void *context, const struct sim_event *event, hpcw_error *err);
    /* Tells that all later events are at `time_ns` or later. NULL: not used. */
    hpcw_status (*passed)(void *context, uint64_t time_ns, hpcw_error *err);
};

/* ---- a run ---- */

/* Further clocks of a run. Each shows the times without one fault, while ranks do what they do on the main clock.
 * SIM_MOST_CLOCKS, SIM_MOST_AFFECTED: number of faults that have costs in truth.json, and of affected ranks for
 * each fault. */
enum { SIM_MOST_CLOCKS = 8, SIM_MOST_AFFECTED = 10 };

struct sim_options {
    const struct model_network *network; /* network; its machine gives the number of ranks */
    struct sim_constants constants;
    struct sim_noise_params noise; /* zeroed: none */
    uint64_t seed;                 /* seed of the noise */
    uint32_t phases;
    uint32_t checkpoints;         /* number of checkpoints that the program makes */
    struct sim_observer observer; /* zeroed: nobody */
    /* [clocks] repair of the network on each further clock. MODEL_REPAIRS_NOTHING: the clock is for a fault that
     * makes work slower; sim_save tells by how much */
    const struct model_repair *repair;
    uint32_t clocks; /* number of further clocks (times without a fault), at most SIM_MOST_CLOCKS */
    /* for tests: seed of the order in which ranks run; 0: the fastest order */
    uint64_t order;
    /* for tests: how far ranks run ahead, ns; 0: as memory allows */
    uint64_t horizon_ns;
};

struct sim;

/* Borrows what options and program point to. Memory: about 350 bytes a rank, 72 more with noise, and 170 for
 * each pair of ranks that exchange messages. Each further clock takes 32 bytes a rank, 16 for each pending
 * message and, with repairs, 8 for each pair. HPCW_ENOMEM. */
hpcw_status sim_new(const struct sim_options *options, const struct sim_program *program, struct sim **out,
                    hpcw_error *err);
void sim_free(struct sim *sim);

/* Runs all ranks to their end. HPCW_EINVAL: the program has a deadlock, messages that nobody receives,
 * different collective calls, or another number of phases or checkpoints. */
hpcw_status sim_run(struct sim *sim, hpcw_error *err);

/* Valid after a run: the time at which the last rank ended, and the number of calls of all ranks. */
uint64_t sim_end_ns(const struct sim *sim);
uint64_t sim_calls(const struct sim *sim);

/* Cost of a fault: extra time of the run, and the ranks whose time in calls the fault raises most. */
struct sim_price {
    uint64_t time_ns;
    uint32_t ranks;
    struct sim_affected {
        uint32_t rank;
        uint64_t wait_ns;          /* extra time in calls, > 0 */
    } affected[SIM_MOST_AFFECTED]; /* [ranks] largest extra time first, then by rank */
};
/* Returns the cost of the fault of a further clock. Call it after a run. */
struct sim_price sim_price_of(const struct sim *sim, uint32_t clock);

/* ---- calls of a rank, while it runs ---- */

/* Answer to a call. SIM_WAITS: the program must stop this rank; the call has returned when the rank is resumed. */
enum sim_answer {
    SIM_GOES_ON,
    SIM_WAITS,
    SIM_REFUSED /* a mistake of the program: see sim_error */
};
/* Returns the message of the last refusal, without the position in the program. */
const char *sim_error(const struct sim *sim);

/* comm: a communicator of the calling rank, by number. Other ranks and roots are given as places in this
 * communicator. */

uint64_t sim_clock_ns(const struct sim *sim, uint32_t rank);
uint32_t sim_phase(const struct sim *sim, uint32_t rank);

enum sim_answer sim_compute(struct sim *sim, uint32_t rank, enum sim_work work, uint64_t time_ns);
/* Delays the return of the rank's next call by `time_ns`. This stands for what a library or a system does and is
 * not simulated. */
void sim_stall(struct sim *sim, uint32_t rank, uint64_t time_ns);
/* Call it before sim_compute: without the fault of a further clock, the work takes `saved_ns` less, at most all of
 * its time. */
void sim_save(struct sim *sim, uint32_t rank, uint32_t clock, uint64_t saved_ns);
/* sim_next_phase ends a phase, sim_state begins or ends a state. They take no time, with one exception: the end
 * of an empty phase or state takes the time of a call, since no two phases or states of a rank may have the same
 * times in a log. */
enum sim_answer sim_next_phase(struct sim *sim, uint32_t rank);
enum sim_answer sim_state(struct sim *sim, uint32_t rank, uint32_t state, bool begins);

#define SIM_NONE (UINT32_MAX - 1) /* MPI_PROC_NULL: messages to or from SIM_NONE have no effect */
#define SIM_ANY UINT32_MAX        /* MPI_ANY_SOURCE, for sim_recv */
#define SIM_MOST_BYTES INT32_MAX  /* most bytes of a message, as in MPI */

/* A request of a rank. The rank waits for it exactly once. */
typedef uint64_t sim_request;

enum sim_answer sim_send(struct sim *sim, uint32_t rank, uint32_t comm, uint32_t to, uint64_t bytes,
                         int32_t tag);
enum sim_answer sim_recv(struct sim *sim, uint32_t rank, uint32_t comm, uint32_t from, int32_t tag);
enum sim_answer sim_sendrecv(struct sim *sim, uint32_t rank, uint32_t comm, uint32_t to, uint64_t bytes,
                             uint32_t from, int32_t tag);
enum sim_answer sim_isend(struct sim *sim, uint32_t rank, uint32_t comm, uint32_t to, uint64_t bytes,
                          int32_t tag, sim_request *request);
enum sim_answer sim_irecv(struct sim *sim, uint32_t rank, uint32_t comm, uint32_t from, int32_t tag,
                          sim_request *request);
/* call: SIM_CALL_WAIT or SIM_CALL_WAITALL. */
enum sim_answer sim_wait(struct sim *sim, uint32_t rank, enum sim_call call, const sim_request *request,
                         uint32_t count);
/* Waits for all pending requests of the rank, in the order of their calls. */
enum sim_answer sim_waitall(struct sim *sim, uint32_t rank);

/* Waits until one request is complete. If several requests are, takes the first in order. The program can wait
 * for the other requests later. A request to or from SIM_NONE is always complete. count: at least 1. */
enum sim_answer sim_waitany(struct sim *sim, uint32_t rank, const sim_request *request, uint32_t count);
/* Returns the index in `request` of the request that the rank's last sim_waitany completed. */
uint32_t sim_waited(const struct sim *sim, uint32_t rank);

/* What the last receive of a rank got. `from` is SIM_NONE after a receive from nobody. */
struct sim_received {
    uint64_t bytes;
    uint32_t from; /* place in the communicator of the receive */
    int32_t tag;
};
struct sim_received sim_received(const struct sim *sim, uint32_t rank);

/* Collective call of all members. root: 0 if the call has none. bytes: what one rank gives or gets; for an
 * alltoall, what one rank sends to another. */
enum sim_answer sim_meet(struct sim *sim, uint32_t rank, uint32_t comm, enum sim_call call, uint32_t root,
                         uint64_t bytes);

/* Collective call with parts of different sizes, one for each place: bytes[size] or, if `bytes` is NULL, first
 * + step * place. SIM_CALL_GATHERV and SIM_CALL_ALLGATHERV use only the rank's own part, SIM_CALL_SCATTERV the
 * root's parts. For SIM_CALL_ALLTOALLV, part i is what the rank sends to place i. */
struct sim_parts {
    const uint64_t *bytes;
    int64_t first, step;
};
enum sim_answer sim_meet_parts(struct sim *sim, uint32_t rank, uint32_t comm, enum sim_call call, uint32_t root,
                               const struct sim_parts *parts);

/* Collective call that makes communicators. Members with the same colour >= 0 get a new communicator, a member
 * with SIM_NONE gets none. The new places are in the order of keys, then of the places in `comm`. call:
 * SIM_CALL_SPLIT, or SIM_CALL_DUP with one colour for all. */
enum sim_answer sim_split(struct sim *sim, uint32_t rank, uint32_t comm, enum sim_call call, uint32_t colour,
                          int32_t key);
/* Returns the result of the rank's last sim_split. */
struct sim_made sim_made(const struct sim *sim, uint32_t rank);
uint32_t sim_comm_size(const struct sim *sim, uint32_t comm);

/* Checkpoint of all ranks: they wait for each other, then each writes a file of `bytes`. */
enum sim_answer sim_checkpoint(struct sim *sim, uint32_t rank, uint64_t bytes);

/* Calls for the rank's own file. A rank has at most one file open. call: SIM_CALL_FILE_WRITE or
 * SIM_CALL_FILE_READ. */
enum sim_answer sim_file_open(struct sim *sim, uint32_t rank);
enum sim_answer sim_file_move(struct sim *sim, uint32_t rank, enum sim_call call, uint64_t bytes);
enum sim_answer sim_file_close(struct sim *sim, uint32_t rank);

#endif
