/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What ranks do in an iteration, call by call: all do the same, so one list stands for all of them. From it follow the
 * number of events, how the bytes of the iteration are divided over its exchanges, and then the times.
 */
#ifndef HPCW_GEN_MODEL_TRACE_SCRIPT_H
#define HPCW_GEN_MODEL_TRACE_SCRIPT_H

#include "gen/model/trace/trace.h"

enum model_trace_op_kind {
    MODEL_TRACE_OP_LAUNCH,  /* ranks start, each at a time of its own */
    MODEL_TRACE_OP_STATE,   /* a state of the program begins or ends */
    MODEL_TRACE_OP_STEP,    /* rank 0 says that the iteration is done */
    MODEL_TRACE_OP_WORK,    /* the program does something else than its objects' work */
    MODEL_TRACE_OP_ROOT,    /* so does rank 0 alone */
    MODEL_TRACE_OP_CALL,    /* a call that does not wait */
    MODEL_TRACE_OP_ENTER,   /* the last reduction of the iteration; its end belongs to the next iteration */
    MODEL_TRACE_OP_LEAVE,   /* that end */
    MODEL_TRACE_OP_ALL,     /* a collective call that no rank leaves before all have entered it */
    MODEL_TRACE_OP_DOWN,    /* from rank 0 to all */
    MODEL_TRACE_OP_UP,      /* from all to rank 0 */
    MODEL_TRACE_OP_COMPUTE, /* a part of the objects' work */
    MODEL_TRACE_OP_POST,    /* the receives of an exchange */
    MODEL_TRACE_OP_SEND,    /* its messages are sent, and transferred */
    MODEL_TRACE_OP_WAIT,    /* for its messages, and for those sent by rendezvous */
    MODEL_TRACE_OP_FILES    /* a checkpoint */
};

/* How ranks wait. */
enum model_trace_wait {
    MODEL_TRACE_WAIT_ALL,   /* for all requests at once */
    MODEL_TRACE_WAIT_TWICE, /* for the receives, then for the sends */
    MODEL_TRACE_WAIT_EACH,  /* for one receive after the other, then for the sends */
    MODEL_TRACE_WAIT_ANY,   /* for receives as they come, then for the sends */
    MODEL_TRACE_WAIT_FEW,   /* for one receive after the other, as the sends are over */
    MODEL_TRACE_WAIT_RECV,  /* receives that nobody posted */
    MODEL_TRACE_WAIT_HERE,  /* for the receive and the send, in MPI_Sendrecv */
    MODEL_TRACE_WAIT_SENT,  /* for the sends alone, some time after the receives */
    MODEL_TRACE_WAITS
};

struct model_trace_op {
    enum model_trace_op_kind kind;
    uint32_t what; /* of the event, or of the begin of the call */
    /* exchange; of a collective call, in the iteration; of a step, files and their end, as of events; of work, 1 if it
     * or more if it is the same code each time, or 0: its line here is its place in the code */
    uint32_t number;
    uint32_t ns;    /* median, of what does not wait */
    uint32_t bytes; /* of each part that a collective call moves */
    uint32_t
        until; /* share of the objects' work that is done after it; of a wait: 1 if another one is for the sends */
    /* of the objects' work: how often the same was done before in this iteration; `number` says what. Of other work: 1 if
     * the median is that of the program. Of a wait: 1 if all ranks wait for the last one */
    uint32_t step;
};
enum { MODEL_TRACE_WORK = 1 << 16 }; /* all of it */

/* Messages of one part of the bytes in some directions: bit 2 * dimension to the ranks below, the next one to those above. */
struct model_trace_exchange {
    uint32_t part, directions, tag;
    uint32_t more; /* messages to each neighbour, besides the first one */
};
enum { MODEL_TRACE_ALL_WAYS = 63 };
#define MODEL_TRACE_DIRECTIONS UINT32_MAX /* tags are those of directions */

enum {
    MODEL_TRACE_MOST_PARTS = 64,
    MODEL_TRACE_MORE_PARTS = 8,
    MODEL_TRACE_MOST_EXCHANGES = 3 * MODEL_TRACE_MOST_PARTS + MODEL_TRACE_MORE_PARTS,
    MODEL_TRACE_MOST_OPS = 2048
};

struct model_trace_script {
    uint32_t iteration;
    uint32_t ops;
    struct model_trace_op op[MODEL_TRACE_MOST_OPS];
    uint32_t parts, more_parts; /* of the bytes: of the exchanges, and before them */
    uint32_t weight[MODEL_TRACE_MOST_PARTS + MODEL_TRACE_MORE_PARTS]; /* of the bytes */
    uint32_t exchanges;
    struct model_trace_exchange exchange[MODEL_TRACE_MOST_EXCHANGES];
    uint32_t collectives; /* so far; 0 is the last reduction */
};

/* Draws the style of the run. */
void model_trace_draw_style(struct model_trace *m);

void model_trace_write_script(const struct model_trace *m, uint32_t iteration,
                              struct model_trace_script *script);

/* Adds what ranks do before the first iteration, and after the last one. */
void model_trace_write_start(const struct model_trace *m, struct model_trace_script *script);
void model_trace_write_end(const struct model_trace *m, struct model_trace_script *script);

/* Adds one; returns it. */
struct model_trace_op *model_trace_add(struct model_trace_script *script, enum model_trace_op_kind kind,
                                       uint32_t what, uint32_t ns);

/* Adds a collective call that moves data. */
void model_trace_collect(struct model_trace_script *script, enum model_trace_op_kind kind, uint32_t what,
                         uint32_t ns, uint32_t bytes);

/* The events of all ranks: of each rank, of rank 0 besides, and of a rank for each message that it receives or sends in
 * an exchange. `collectives`: of those of each rank, the ends of calls that move data. `used`: the states. */
struct model_trace_tally {
    uint64_t each, root, collectives;
    uint32_t in[MODEL_TRACE_MOST_EXCHANGES], out[MODEL_TRACE_MOST_EXCHANGES];
    uint64_t used;
};
void model_trace_tally(const struct model_trace *m, const struct model_trace_script *script,
                       struct model_trace_tally *tally);

#endif
