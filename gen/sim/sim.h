/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Simulates a parallel program. A program (struct sim_program) runs a rank until it must wait for others, and makes calls as
 * those of MPI. Each rank has a clock, and calls advance it.
 *
 * No result depends on the order in which ranks run:
 *   - A local call, such as a send or a receive from a named source, needs only times that are final when it ends. So a
 *     rank runs ahead of others as far as it gets.
 *   - A timed call, a receive from any source or a wait for any request, depends on who comes first. It is served when no rank
 *     can go on locally, the earliest one first. All that happens later is sent later, so nothing earlier can follow.
 *   - A rank stops at a horizon of simulated time, so that messages that nobody has received yet take bounded memory. The
 *     horizon moves when no rank can go on before it; only then it changes which links are crowded (crowd.h). It comes
 *     nearer when ranks have made many calls.
 *
 * Times are nanoseconds from the start of the run.
 */
#ifndef HPCW_GEN_SIM_SIM_H
#define HPCW_GEN_SIM_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "gen/model/network/network.h"
#include "gen/sim/timing/constants.h"
#include "gen/sim/timing/noise.h"

/* How a rank has stopped. */
enum sim_stop {
    SIM_STOPPED, /* a call answered SIM_WAITS */
    SIM_ENDED,   /* the rank's program is over */
    SIM_FAILED   /* `err` says why */
};

struct sim_program {
    void *context;
    enum sim_stop (*resume)(void *context, uint32_t rank, hpcw_error *err);
    /* Where a rank is in the text of its program, for messages: "wave.lua:12". NULL: nobody knows. */
    void (*where)(void *context, uint32_t rank, char *text, size_t size);
    /* A rank runs soon: its memory may be fetched into the caches. NULL: nothing is. */
    void (*fetch)(void *context, uint32_t rank);
};

/* ---- what happens, for who wants to know ---- */

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
extern const char *const sim_call_name[SIM_CALLS]; /* as in a program: "send" */

enum sim_what {
    SIM_BEGINS, /* a call: `number` is enum sim_call */
    SIM_RETURNS, /* the same call; collective: `bytes`, and `peer` is the root's place in the communicator. If parts differ
                     * (sim_meet_parts): `bytes` sent, and sim_event_received */
    SIM_SENT,     /* a message to the rank `peer` with `tag` and `bytes` */
    SIM_RECEIVED, /* a message from the rank `peer` */
    SIM_COMPUTES, /* `bytes` nanoseconds from here on; `number` is enum sim_work */
    SIM_LOSES, /* `bytes` nanoseconds to noise: of the work that begins here, or before the call returns that ends here */
    SIM_STATE,      /* a state of the program begins: `number` */
    SIM_STATE_ENDS, /* and ends */
    SIM_PHASE,      /* the rank has ended the phase `bytes`, counted from 0 */
    SIM_MADE, /* before the call returns: the rank has got the communicator `tag`. `peer` is its place there, `bytes` are
                     * struct sim_made's leader, in the upper half, and count. */
    SIM_WHATS
};
enum sim_work {
    SIM_WORK_OBJECTS,
    SIM_WORK_HANDLER,
    SIM_WORK_CALL /* only of SIM_LOSES */
};                /* what a rank computes: its load, the program's own time, or calls */

/* Numbers of communicators: the world's, and the highest one; how many a rank may ask for. */
enum { SIM_WORLD = 0, SIM_LAST_COMM = (1 << 20) - 1, SIM_MOST_COMMS = 256 };

struct sim_event {
    uint64_t time_ns, bytes;
    uint32_t rank, peer;
    int32_t tag;
    uint32_t number : 8;
    uint32_t what : 4;  /* enum sim_what */
    uint32_t comm : 20; /* of a call or a message; of SIM_MADE the parent */
};

/* Bytes received: `peer` and `tag` are their upper and their lower half. */
static inline uint64_t sim_event_received(const struct sim_event *e) {
    return (uint64_t)e->peer << 32 | (uint32_t)e->tag;
}

/* A communicator that a rank has got. Its number may depend on the order in which ranks run; leader and count do not, and tell
 * it from all others. */
struct sim_made {
    uint32_t comm;          /* its number; SIM_NONE: none, as the rank wished */
    uint32_t place;         /* the rank's own in it */
    uint32_t leader, count; /* its first rank, and in how many that one was the first before */
};

/* Events of a rank come in the order in which they happen, those of different ranks in any order. */
struct sim_observer {
    void *context;
    hpcw_status (*event)(void *context, const struct sim_event *event, hpcw_error *err);
    /* All further events are at `time_ns` or later. NULL: of no interest. */
    hpcw_status (*passed)(void *context, uint64_t time_ns, hpcw_error *err);
};

/* ---- a run ---- */

/* Further clocks of a run: each tells its times without one fault, while ranks do what they do on the main clock. */
enum { SIM_MOST_CLOCKS = 8, SIM_MOST_AFFECTED = 10 };

struct sim_options {
    const struct model_network *network; /* the number of ranks is that of its machine */
    struct sim_constants constants;
    struct sim_noise_params noise; /* zeroed: none */
    uint64_t seed;                 /* of the noise */
    uint32_t phases;
    uint32_t checkpoints;         /* how many the program makes */
    struct sim_observer observer; /* zeroed: nobody */
    const struct model_repair
        *repair;         /* [clocks] on each further clock; nothing for a fault of work: sim_save */
    uint32_t clocks;     /* further ones, at most SIM_MOST_CLOCKS */
    uint64_t order;      /* tests: seed of the order in which ranks run; 0: the fastest one */
    uint64_t horizon_ns; /* tests: of how far ranks run ahead; 0: as memory allows */
};

struct sim;

/* Borrows what options and program point to. Memory: about 350 bytes a rank, 72 more with noise, and 170 for each pair of
 * ranks that exchange messages; for each further clock 32 bytes a rank, 16 for each message under way, and with repairs
 * 8 for each pair. HPCW_ENOMEM. */
hpcw_status sim_new(const struct sim_options *options, const struct sim_program *program, struct sim **out,
                    hpcw_error *err);
void sim_free(struct sim *sim);

/* Runs all ranks to their end. HPCW_EINVAL for a program that is wrong: ranks that wait for ever, messages that nobody
 * receives, different collective calls, another number of phases or checkpoints. */
hpcw_status sim_run(struct sim *sim, hpcw_error *err);

/* After a run: when the last rank ended, and the number of calls of all ranks. */
uint64_t sim_end_ns(const struct sim *sim);
uint64_t sim_calls(const struct sim *sim);

/* How much longer the run took because of a fault, and the ranks whose time in calls grew most by it. */
struct sim_price {
    uint64_t time_ns;
    uint32_t ranks;
    struct sim_affected {
        uint32_t rank;
        uint64_t wait_ns;          /* how much it grew, > 0 */
    } affected[SIM_MOST_AFFECTED]; /* [ranks] longest first, then by rank */
};
/* After a run, from a further clock. */
struct sim_price sim_price_of(const struct sim *sim, uint32_t clock);

/* ---- calls of a rank, while it runs ---- */

/* If the answer is SIM_WAITS, the program stops this rank, and the call has returned when the rank is resumed. */
enum sim_answer {
    SIM_GOES_ON,
    SIM_WAITS,
    SIM_REFUSED /* a mistake of the program: sim_error */
};
/* The message of the last refusal, without the place in the program. */
const char *sim_error(const struct sim *sim);

/* `comm` is the number of a communicator of the rank; other ranks, and roots, are places in it. */

uint64_t sim_clock_ns(const struct sim *sim, uint32_t rank);
uint32_t sim_phase(const struct sim *sim, uint32_t rank);

enum sim_answer sim_compute(struct sim *sim, uint32_t rank, enum sim_work work, uint64_t time_ns);
/* The rank's next call returns `time_ns` later than it would: for what a library or a system does that is not simulated. */
void sim_stall(struct sim *sim, uint32_t rank, uint64_t time_ns);
/* Before sim_compute: on a further clock this work takes `saved_ns` less, at most all of it. */
void sim_save(struct sim *sim, uint32_t rank, uint32_t clock, uint64_t saved_ns);
/* The end of a phase or a state takes time only if the rank has done nothing since its last phase ended or its last state began:
 * that of a call. The begin of a state takes none, so the rank goes on. */
enum sim_answer sim_next_phase(struct sim *sim, uint32_t rank);
enum sim_answer sim_state(struct sim *sim, uint32_t rank, uint32_t state, bool begins);

#define SIM_NONE (UINT32_MAX - 1) /* MPI_PROC_NULL: a message to or from it is none */
#define SIM_ANY UINT32_MAX        /* MPI_ANY_SOURCE, in sim_recv */
#define SIM_MOST_BYTES INT32_MAX  /* of a message, as in MPI */

/* A request of a rank that it waits for once. */
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
/* `call`: SIM_CALL_WAIT or SIM_CALL_WAITALL. */
enum sim_answer sim_wait(struct sim *sim, uint32_t rank, enum sim_call call, const sim_request *request,
                         uint32_t count);
/* Waits for all requests that the rank has not waited for, in the order of their calls. */
enum sim_answer sim_waitall(struct sim *sim, uint32_t rank);

/* Waits until one request is over, the first one of those that are over by then. A request to or from nobody is over at once.
 * The others can be waited for later. At least one. */
enum sim_answer sim_waitany(struct sim *sim, uint32_t rank, const sim_request *request, uint32_t count);
/* The place in `request` of the one that the last sim_waitany of a rank waited for. */
uint32_t sim_waited(const struct sim *sim, uint32_t rank);

/* What the last receive of a rank has received. `from` is SIM_NONE after a receive from nobody. */
struct sim_received {
    uint64_t bytes;
    uint32_t from; /* in the communicator of the receive */
    int32_t tag;
};
struct sim_received sim_received(const struct sim *sim, uint32_t rank);

/* Collective calls of all members; `root` is 0 where a call has none. `bytes` are those that one rank gives or gets, of an alltoall
 * those of one rank to another one. */
enum sim_answer sim_meet(struct sim *sim, uint32_t rank, uint32_t comm, enum sim_call call, uint32_t root,
                         uint64_t bytes);

/* The same with parts of different sizes, those of [size] places: bytes, or if that is NULL first + step * place. `call`:
 * SIM_CALL_GATHERV and SIM_CALL_ALLGATHERV, in which only the rank's own part matters; SIM_CALL_SCATTERV, in which those that the
 * root says do; SIM_CALL_ALLTOALLV: what the rank sends to each. */
struct sim_parts {
    const uint64_t *bytes;
    int64_t first, step;
};
enum sim_answer sim_meet_parts(struct sim *sim, uint32_t rank, uint32_t comm, enum sim_call call, uint32_t root,
                               const struct sim_parts *parts);

/* Collective: members of one colour, from 0 on, get a new communicator, with places in the order of keys, then of the places in
 * this one; with SIM_NONE none. `call`: SIM_CALL_SPLIT, or SIM_CALL_DUP with one colour for all. */
enum sim_answer sim_split(struct sim *sim, uint32_t rank, uint32_t comm, enum sim_call call, uint32_t colour,
                          int32_t key);
/* After that call. */
struct sim_made sim_made(const struct sim *sim, uint32_t rank);
uint32_t sim_comm_size(const struct sim *sim, uint32_t comm);

/* The same of a checkpoint of all ranks: ranks wait for each other, and then each writes a file of `bytes`. */
enum sim_answer sim_checkpoint(struct sim *sim, uint32_t rank, uint64_t bytes);

/* A file of the rank's own, one at a time. `call`: SIM_CALL_FILE_WRITE or SIM_CALL_FILE_READ. */
enum sim_answer sim_file_open(struct sim *sim, uint32_t rank);
enum sim_answer sim_file_move(struct sim *sim, uint32_t rank, enum sim_call call, uint64_t bytes);
enum sim_answer sim_file_close(struct sim *sim, uint32_t rank);

#endif
