/* SPDX-License-Identifier: BSD-3-Clause */
/* How the stages of an iteration make events, and the collective calls. */
#ifndef HPCW_GEN_MODEL_TRACE_TRACK_H
#define HPCW_GEN_MODEL_TRACE_TRACK_H

#include "gen/model/trace/private.h"
#include "libwriter/base/rng.h"

/* At least, between two looks at the clock: a little less than one of its steps. What others wait for is never later, as a
 * factor. */
enum { TRACER_NS = 8, MODEL_TRACE_MOST_LATE = 10 };

/* From this iteration on, nothing is new to the ranks. */
enum { MODEL_TRACE_WARM = 6 };

/* Whoever comes last to a reduction leaves it first. With no more ranks than this one can see it. */
enum { MODEL_TRACE_FEW_RANKS = 64 };

/* One rank's events. */
struct track {
    const struct model_trace *model;
    struct model_trace_scratch *s;
    struct model_trace_event *next;
    struct model_trace_pace *pace;
    uint64_t now;
    uint32_t rank;
};

static inline struct track track_of(const struct model_trace *m, struct model_trace_scratch *s, uint32_t rank) {
    return (struct track){m, s, s->event + s->cursor[rank], s->pace + rank, s->now[rank], rank};
}

static inline void end_track(const struct track *t) {
    t->s->cursor[t->rank] = (uint64_t)(t->next - t->s->event);
    t->s->now[t->rank] = t->now;
}

static inline void happens(struct track *t, uint32_t what, uint32_t message) {
    if (t->model->records >> what / 2 & 1) {
        *t->next++ = (struct model_trace_event){
            .time = t->now, .rank = t->rank, .detail = message << MODEL_TRACE_WHAT_BITS | what};
    }
}

/* From -1 to 1, mostly about 0, the same in the whole run for each rank or what has a number: an integer hash, as this is asked for in each
 * iteration. */
static inline double model_trace_own(uint32_t of, uint32_t number) {
    uint32_t x = of * 2654435769u ^ number;
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    const double u = (double)(x ^ x >> 16) * 0x1p-31 - 1;
    return u * u * u;
}

/* By how much a rank is slower than others at the same place in the code, at most, in calls; and differs between them. */
static const double rank_call = 0.6, rank_gap = 0.15;

/* For some iterations, at most CALL_STAYS and a quarter, a call is slower by this, at most. */
static const double call_now = 0.8;
enum { CALL_STAYS = 48 };

/* What the program does before something happens, and the tracer: each place in the code has its own median. */
static inline void after_pause(struct track *t, uint32_t what, uint32_t message) {
    static const uint8_t median_ns[MODEL_TRACE_WHATS] = {
        [MODEL_TRACE_ITERATION] = 14,     [MODEL_TRACE_ITERATION + 1] = 5, [MODEL_TRACE_COMPUTE] = 9,
        [MODEL_TRACE_HALO] = 8,           [MODEL_TRACE_HALO + 1] = 5,      [MODEL_TRACE_CHECKPOINT] = 40,
        [MODEL_TRACE_CHECKPOINT + 1] = 8, [MODEL_TRACE_OPEN] = 120,        [MODEL_TRACE_WRITE] = 210,
        [MODEL_TRACE_CLOSE] = 240,        [MODEL_TRACE_ALLREDUCE] = 30,    [MODEL_TRACE_BARRIER] = 18,
        [MODEL_TRACE_ALLGATHER] = 45,     [MODEL_TRACE_ALLTOALL] = 50,     [MODEL_TRACE_BCAST] = 30,
        [MODEL_TRACE_REDUCE] = 12,        [MODEL_TRACE_GATHER] = 35,       [MODEL_TRACE_IRECV] = 20,
        [MODEL_TRACE_ISEND] = 32,         [MODEL_TRACE_WAIT] = 22,         [MODEL_TRACE_WAITALL] = 34,
        [MODEL_TRACE_WAITALL + 1] = 3,    [MODEL_TRACE_WAITANY] = 20,      [MODEL_TRACE_WAITED] = 12,
        [MODEL_TRACE_COMM_RANK] = 6,      [MODEL_TRACE_COMM_SIZE] = 8,     [MODEL_TRACE_COMM_DUP] = 40,
        [MODEL_TRACE_COMM_FREE] = 45,     [MODEL_TRACE_CART_CREATE] = 50,  [MODEL_TRACE_CART_COORDS] = 25,
        [MODEL_TRACE_CART_SHIFT] = 15,    [MODEL_TRACE_DIMS_CREATE] = 40,  [MODEL_TRACE_STEP] = 20,
        [MODEL_TRACE_SENDING] = 26,       [MODEL_TRACE_RECV] = 30,         [MODEL_TRACE_TESTALL] = 20,
        [MODEL_TRACE_SENDRECV] = 26,      [MODEL_TRACE_GET_COUNT] = 8,     [MODEL_TRACE_CART_GET] = 25,
        [MODEL_TRACE_COMM_SPLIT] = 45,
    };
    const double own =
        t->model->style.between * t->s->place * (1 + rank_gap * model_trace_own(t->rank, t->s->line));
    t->now += TRACER_NS + 1 +
              model_trace_spend(t->pace, t->model->delays->gap, own * median_ns[what], &t->pace->cold_ns);
    happens(t, what, message);
}

/* By how much a call is slower on this rank and at this place than elsewhere, and for some iterations than in others, as
 * memory and caches are then. */
static inline double call_here(const struct track *t) {
    const uint32_t line = t->s->line,
                   since = (t->s->phase + line % CALL_STAYS) / (CALL_STAYS / 4 + line % CALL_STAYS);
    const double own = model_trace_own(t->rank, line),
                 now = model_trace_own(t->rank + 0x10000, line ^ since * 2246822519u);
    return (1 + rank_call * (own < 0 ? -own : own)) * (1 + call_now * (now < 0 ? -now : now));
}

/* A call, or some other work, of a rank alone. */
static inline void takes(struct track *t, double median_ns) {
    t->now += TRACER_NS + model_trace_spend(t->pace, t->model->delays->call, call_here(t) * median_ns,
                                            &t->pace->cold_call_ns);
}

/* Code of the program, which scatters less than what is between calls. */
static inline void works(struct track *t, double median_ns) {
    const double late = model_trace_late(t->model->delays->gap, model_trace_pace_word(t->pace));
    const double most = MODEL_TRACE_MOST_LATE;
    t->now += (uint64_t)(median_ns * (0.75 + 0.25 * (late < most ? late : most)) + t->pace->cold_ns);
    t->pace->cold_ns = 0;
}

/* Words for each of up to MODEL_TRACE_AT_ONCE ranks or messages: word[words][count]. */
void model_trace_draw(const struct model_trace *m, enum hpcw_i_purpose purpose, uint32_t first, uint32_t count,
                      uint32_t iteration, uint32_t part, uint32_t words, uint32_t *word);

static inline uint32_t batch_of(uint32_t first, uint32_t end) {
    return end - first < MODEL_TRACE_AT_ONCE ? end - first : MODEL_TRACE_AT_ONCE;
}

/* Who arrives last; and when. */
uint32_t model_trace_latest(const struct model_trace *m, const uint64_t *time_ns);
uint64_t model_trace_last(const struct model_trace *m, const struct model_trace_scratch *s);

/* How late a rank is. The tail of calls is cut: the other ranks would not wait for it. */
static inline uint64_t model_trace_late_ns(const struct model_trace *m, double median_ns, uint32_t word) {
    const double late = model_trace_late(m->delays->call, word);
    return (uint64_t)(median_ns * (late < MODEL_TRACE_MOST_LATE ? late : MODEL_TRACE_MOST_LATE));
}

/* Through which rank the result of a collective call comes to rank > 0. */
static inline uint32_t model_trace_parent(uint32_t rank) {
    return rank & (rank - 1);
}

/* The ranks leave a collective call that the last one has entered at `last`. A number of the iteration draws their times. */
void model_trace_leave(const struct model_trace *m, uint32_t iteration, uint32_t number, uint64_t last,
                       uint64_t *time_ns);

/* How much longer they are in it after that share of an iteration's work: its code and data are out of the caches. */
uint64_t model_trace_cold_ns(const struct model_trace *m, uint32_t iteration, double share);

/* Of few ranks, whoever came last need not wait for the others, and leaves first, in two of three cases. */
void model_trace_let_go(const struct model_trace *m, uint32_t late, uint32_t word, uint64_t *time_ns);

/* The collective calls, begin and end; `ns`: the median of what a rank does in it besides waiting. */
void model_trace_meet(const struct model_trace *m, struct model_trace_scratch *s,
                      const struct model_trace_op *op);
void model_trace_broadcast(const struct model_trace *m, struct model_trace_scratch *s,
                           const struct model_trace_op *op);
void model_trace_gather(const struct model_trace *m, struct model_trace_scratch *s,
                        const struct model_trace_op *op);

/* An exchange: receives are posted, messages are sent and transferred, and ranks wait for them. */
void model_trace_post(const struct model_trace *m, struct model_trace_scratch *s, uint32_t exchange);
void model_trace_send(const struct model_trace *m, struct model_trace_scratch *s,
                      const struct model_trace_op *op);
void model_trace_wait(const struct model_trace *m, struct model_trace_scratch *s,
                      const struct model_trace_op *op);

/* The ranks write a checkpoint. `of_this`: see model_trace_message_of. Returns when rank 0 begins. */
uint64_t model_trace_write_files(const struct model_trace *m, struct model_trace_scratch *s, uint32_t iteration,
                                 uint32_t of_this);

/* The ranks start, each at a time of its own. */
void model_trace_launch(const struct model_trace *m, struct model_trace_scratch *s);

#endif
