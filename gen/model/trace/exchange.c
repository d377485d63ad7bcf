/* SPDX-License-Identifier: BSD-3-Clause */
/* The times of one exchange of messages. */
#include "gen/model/load/system.h"
#include "gen/model/trace/track.h"

/* Medians of calls and of a tracer, nanoseconds. */
enum {
    IRECV_NS = 30,
    ISEND_NS = 60,
    HANDSHAKE_NS = 100, /* what a send by rendezvous takes longer */
    WAIT_NS = 25,
    NOTHING_NS = 2,    /* to wait for nothing */
    CONNECT_NS = 9000, /* the first message between two ranks, on a node the first large one ... */
    OPEN_NS = 2000,    /* and what that takes its sender longer */
    MEET_NS = 60,      /* to go on when all ranks are there */
    ENDED_NS = 90      /* a sender knows that a message has arrived */
};

/* Bytes in a nanosecond that a rank copies when it sends without a handshake, when it waits for such a message, and when it
 * waits for a message of its node by rendezvous, after the time that this takes at least. */
enum { SENT_BYTES = 40, CAME_BYTES = 16, FETCHED_BYTES = 16, FETCH_NS = 1900 };

/* Of a transfer, what one message takes longer than another; or on a node by rendezvous what an exchange takes two ranks longer
 * than another one, which copy at the same time: each time, and for some iterations. */
static const double transfer_late = 0.2, both_late = 0.45, while_late = 0.25;
enum { WHILE = 19 };

/* When MPI_Send looks again, times what a message takes longer, up to the most. */
enum { AGAIN_NS = 3000 };
static const double most_again = 0.18;

/* Whether a message stays on a node. */
static inline bool is_near(const struct model_trace *m, const struct model_trace_message *one) {
    return model_machine_node(m->load->machine, one->from) == model_machine_node(m->load->machine, one->to);
}

/* Whether a message starts only when the receiver is in MPI, too (rendezvous). */
static inline bool waits_for_receiver(const struct model_trace *m, const struct model_trace_message *one) {
    const struct model_machine_params *p = &m->load->machine->params;
    return one->bytes > (is_near(m, one) ? p->eager_node : p->eager_net);
}

/* What a rank does when it waits for a message that has come, as nothing goes on while it computes. The rest is for its
 * network card. */
static uint64_t take_ns(struct track *t, const struct model_trace_message *one) {
    const bool meets = waits_for_receiver(t->model, one);
    const double ns = !meets                   ? (double)one->bytes / CAME_BYTES
                      : is_near(t->model, one) ? FETCH_NS + (double)one->bytes / FETCHED_BYTES
                                               : 0;
    const double late = model_trace_late(t->model->delays->call, model_trace_pace_word(t->pace));
    return (uint64_t)(ns * (0.85 + 0.15 * late));
}

/* The program packs a message, or unpacks it: it goes through the fields of an exchange in a way of its own, and rank by rank
 * through other memory. */
static void pack(struct track *t, const struct model_trace_message *one, uint32_t exchange, bool back) {
    const struct model_trace *m = t->model;
    const uint32_t part = t->s->script.exchange[exchange].part;
    const uint32_t fields = m->style.kind == MODEL_TRACE_HYDRO ? part : part == t->s->script.parts;
    const double way = 1 + 0.5 * model_trace_own(2 * fields + back, m->style.every),
                 memory = 1 + 0.15 * model_trace_own(t->rank, 2 * fields + back),
                 jitter = 0.93 + 0.14 * (model_trace_pace_word(t->pace) * 0x1p-32);
    t->now += (uint64_t)((m->style.pack_least_ns + one->bytes * m->style.pack_ns) * way * memory * jitter);
}

void model_trace_post(const struct model_trace *m, struct model_trace_scratch *s, uint32_t exchange) {
    const uint32_t *into = model_trace_in(m, s, exchange);
    for (uint32_t r = 0; r < m->ranks; r++) {
        struct track t = track_of(m, s, r);
        for (uint32_t i = into[r]; i < into[r + 1]; i++) {
            after_pause(&t, MODEL_TRACE_IRECV, 0);
            /* Scatters more than other calls. */
            t.now += TRACER_NS + model_trace_spend(t.pace, m->delays->gap, IRECV_NS, &t.pace->cold_call_ns);
            happens(&t, MODEL_TRACE_IRECV + 1, 0);
        }
        end_track(&t);
    }
}

/* Whether these messages are the first ones between two ranks. On a node only large ones have something to set up. */
static bool connects(const struct model_trace_scratch *s, uint32_t exchange, bool near, bool rendezvous) {
    return s->phase == 0 && (rendezvous ? !s->met : exchange == 0 && !near);
}

/* What two ranks have in common, whichever sends: a word for each number. */
static uint32_t word_of_both(const struct model_trace *m, const struct model_trace_message *one,
                             uint32_t number) {
    const uint32_t low = one->from < one->to ? one->from : one->to;
    uint32_t x = low * 2654435769u ^ (one->from + one->to) * 2246822519u ^ (uint32_t)m->load->seed;
    x = (x ^ x >> 16) * 0x7feb352du + number * 3266489917u;
    x = (x ^ x >> 15) * 0x846ca68bu;
    x = (x ^ x >> 16) * 0x7feb352du;
    return x ^ x >> 15;
}

/* What an exchange takes both of them longer. */
static double both_are_late(const struct model_trace *m, const struct model_trace_scratch *s, uint32_t exchange,
                            const struct model_trace_message *one) {
    enum { EACH = 1, SOME = 1 << 30 };
    const double each = model_trace_late(
                     m->delays->gap,
                     word_of_both(m, one, s->phase * MODEL_TRACE_MOST_EXCHANGES + exchange + EACH)),
                 some = model_trace_late(m->delays->gap, word_of_both(m, one,
                                                                      (s->phase + one->from + one->to) / WHILE *
                                                                              MODEL_TRACE_MOST_EXCHANGES +
                                                                          exchange + SOME));
    return both_late * ((each < MODEL_TRACE_MOST_LATE ? each : MODEL_TRACE_MOST_LATE) - m->delays->gap[0]) +
           while_late * ((some < 2 ? some : 2) - m->delays->gap[0]);
}

/* What it takes a message longer. */
static double is_late(const struct model_trace *m, const struct model_trace_scratch *s, uint32_t number) {
    const double slow = model_trace_late(m->delays->call, s->word[number]);
    return transfer_late * ((slow < MODEL_TRACE_MOST_LATE ? slow : MODEL_TRACE_MOST_LATE) - m->delays->call[0]);
}

/* When a message arrives. */
static uint64_t arrival(const struct model_trace *m, const struct model_trace_scratch *s, uint32_t exchange,
                        uint32_t number) {
    const struct model_trace_message *one = &s->message[number];
    const struct model_network *net = &m->network;
    const uint32_t window = m->window[s->phase];
    const bool near = is_near(m, one);
    const struct model_way way = model_network_way(net, one->from, one->to, one->bytes, &m->contention);
    const uint64_t start =
        way.rendezvous && s->ready[one->to] > s->sent[number] ? s->ready[one->to] : s->sent[number];
    /* Links matter only where there is contention. */
    const double link = way.wait_ps > 0 ? model_network_link(net, one->from, one->to, window) : 0;
    const double late = near && way.rendezvous ? both_are_late(m, s, exchange, one) : is_late(m, s, number);
    return start + 1 + (connects(s, exchange, near, way.rendezvous) ? (uint64_t)(CONNECT_NS * (1 + late)) : 0) +
           (uint64_t)(1e-3 * model_network_time(
                                 &way,
                                 model_network_congestion(net, model_network_background(net, window), link),
                                 model_network_pair(net, one->from, one->to), late));
}

/* A message of the exchange begins. */
static void begin_send(struct track *t, uint32_t exchange, uint32_t number) {
    const struct model_trace_message *one = &t->s->message[number];
    const bool meets = waits_for_receiver(t->model, one);
    const bool opens = meets && connects(t->s, exchange, false, true);
    happens(t, MODEL_TRACE_SEND, number);
    t->s->sent[number] = t->now;
    takes(t, ISEND_NS + (meets ? HANDSHAKE_NS : (double)one->bytes / SENT_BYTES) + (opens ? OPEN_NS : 0));
}

/* With a call of its own ... */
static void begin_one(struct track *t, uint32_t exchange, uint32_t number, uint32_t what) {
    pack(t, &t->s->message[number], exchange, false);
    after_pause(t, what, 0);
    begin_send(t, exchange, number);
}

/* ... which MPI_Send ends when the message has arrived, and the rank has copied what the other one sent to it meanwhile, or
 * looks again. */
static void end_one(struct track *t, uint32_t exchange, uint32_t number, uint32_t what) {
    if (what == MODEL_TRACE_SENDING) {
        const uint64_t came = arrival(t->model, t->s, exchange, number);
        if (waits_for_receiver(t->model, &t->s->message[number]) && came > t->now) {
            const double late = is_late(t->model, t->s, number);
            t->now = came + (uint64_t)(AGAIN_NS * (late < most_again ? late : most_again));
        }
        t->s->sent[number] = came;
    }
    happens(t, what + 1, 0);
}

/* MPI_Sendrecv: what is sent, and what comes, ends the call. Ranks without a neighbour make it, too. */
static void begin_both(struct track *t, uint32_t exchange, const uint32_t *out) {
    for (uint32_t k = out[t->rank]; k < out[t->rank + 1]; k++) {
        pack(t, &t->s->message[t->s->out[k]], exchange, false);
    }
    after_pause(t, MODEL_TRACE_SENDRECV, 0);
    t->s->ready[t->rank] = t->now;
    for (uint32_t k = out[t->rank]; k < out[t->rank + 1]; k++) {
        begin_send(t, exchange, t->s->out[k]);
    }
}

/* Ranks are in MPI again: those that wait there until messages have arrived, from when they begin to send. */
static void begin_sends(const struct model_trace *m, struct model_trace_scratch *s,
                        const struct model_trace_op *op, const uint32_t *out) {
    for (uint32_t r = 0; r < m->ranks; r++) {
        struct track t = track_of(m, s, r);
        s->ready[r] = t.now;
        if (op->what == MODEL_TRACE_SENDRECV) {
            begin_both(&t, op->number, out);
            end_track(&t);
        } else if (op->what == MODEL_TRACE_SENDING && out[r] < out[r + 1]) {
            begin_one(&t, op->number, s->out[out[r]], op->what);
            s->ready[r] = s->sent[s->out[out[r]]];
            end_track(&t);
        }
    }
}

void model_trace_send(const struct model_trace *m, struct model_trace_scratch *s,
                      const struct model_trace_op *op) {
    const uint32_t *out = model_trace_out(m, s, op->number);
    const bool blocks = op->what == MODEL_TRACE_SENDING;
    bool meets = s->met;
    begin_sends(m, s, op, out);
    for (uint32_t r = 0; r < m->ranks && op->what != MODEL_TRACE_SENDRECV; r++) {
        struct track t = track_of(m, s, r);
        for (uint32_t k = out[r]; k < out[r + 1]; k++) {
            if (!blocks || k > out[r]) {
                begin_one(&t, op->number, s->out[k], op->what);
            }
            end_one(&t, op->number, s->out[k], op->what);
        }
        end_track(&t);
    }
    const uint32_t *into = model_trace_in(m, s, op->number);
    for (uint32_t i = into[0]; i < into[m->ranks]; i++) {
        s->sent[i] = blocks ? s->sent[i] : arrival(m, s, op->number, i);
        meets = meets || waits_for_receiver(m, &s->message[i]);
    }
    s->met = meets;
}

/* ---- waiting ---- */

/* The tracer reads the clock once for each receive that a call completes, and the call ends with the last one. A send has
 * the time of the begin of its call. */
static void received(struct track *t, uint32_t message) {
    after_pause(t, MODEL_TRACE_WAITED, 0);
    happens(t, MODEL_TRACE_RECEIVE, message);
    happens(t, MODEL_TRACE_WAITED + 1, 0);
}

static void go_on_at(struct track *t, uint64_t done) {
    const uint64_t waits_ns = done > t->now ? done - t->now : 0;
    t->now += waits_ns + model_load_absence(t->model->load, waits_ns, model_trace_pace_word(t->pace));
}

/* If all ranks wait for the last one, each goes on at a time of its own after that. */
static void meet_all(struct track *t) {
    if (t->s->until > 0 && t->now < t->s->until) {
        go_on_at(t, t->s->until);
        takes(t, MEET_NS * (0.5 + model_trace_pace_word(t->pace) * 0x1p-32));
    }
}

/* When a message that its receiver begins to wait for at `begin` lets the sender go on: in a node when both are there, over the
 * network when it has arrived. */
static uint64_t taken_at(const struct track *t, uint32_t message, uint64_t begin) {
    const struct model_trace_message *one = &t->s->message[message];
    const uint64_t ready = t->s->ready[one->from];
    return !is_near(t->model, one) ? t->s->sent[message] : begin > ready ? begin : ready;
}

/* When the receivers are there for the last of the messages that a rank sent by rendezvous. */
static uint64_t delivered(const struct track *t, const uint32_t *out) {
    uint64_t done = 0;
    for (uint32_t k = out[t->rank]; k < out[t->rank + 1]; k++) {
        const uint32_t i = t->s->out[k];
        const uint64_t ended = t->s->sent[i] + ENDED_NS;
        done = waits_for_receiver(t->model, &t->s->message[i]) && ended > done ? ended : done;
    }
    return done;
}

static void wait_for_sends(struct track *t, const uint32_t *out) {
    after_pause(t, MODEL_TRACE_WAITALL, 0);
    go_on_at(t, delivered(t, out));
    meet_all(t);
    after_pause(t, MODEL_TRACE_WAITALL + 1, 0);
}

/* All receives with one call: it begins, and has them; then it ends. */
static void begin_all(struct track *t, const uint32_t *into) {
    after_pause(t, MODEL_TRACE_WAITALL, 0);
    const uint64_t begin = t->now;
    const bool receives = into[t->rank] < into[t->rank + 1];
    uint64_t done =
        begin + (receives ? (uint64_t)(call_here(t) * WAIT_NS + t->pace->cold_call_ns) : NOTHING_NS);
    t->pace->cold_call_ns = receives ? 0 : t->pace->cold_call_ns;
    for (uint32_t i = into[t->rank]; i < into[t->rank + 1]; i++) {
        done += take_ns(t, &t->s->message[i]);
        done = t->s->sent[i] > done ? t->s->sent[i] : done;
        t->s->sent[i] = taken_at(t, i, begin);
    }
    t->now = done;
    meet_all(t);
}

static void end_all(struct track *t, const uint32_t *into, uint64_t done) {
    go_on_at(t, done);
    for (uint32_t i = into[t->rank]; i < into[t->rank + 1]; i++) {
        received(t, i);
    }
    if (into[t->rank] < into[t->rank + 1]) {
        happens(t, MODEL_TRACE_WAITALL + 1, 0);
    } else {
        after_pause(t, MODEL_TRACE_WAITALL + 1, 0);
    }
}

/* One receive with a call of its own. */
static void wait_for_one(struct track *t, enum model_trace_wait how, uint32_t message) {
    const uint32_t what = how == MODEL_TRACE_WAIT_RECV  ? MODEL_TRACE_RECV
                          : how == MODEL_TRACE_WAIT_ANY ? MODEL_TRACE_WAITANY
                                                        : MODEL_TRACE_WAIT;
    after_pause(t, what, 0);
    const uint64_t begin = t->now;
    takes(t, NOTHING_NS);
    /* What came while the rank was in MPI_Send has been taken there. */
    const bool taken = how == MODEL_TRACE_WAIT_FEW && waits_for_receiver(t->model, &t->s->message[message]);
    t->now += taken ? 0 : take_ns(t, &t->s->message[message]);
    go_on_at(t, t->s->sent[message]);
    meet_all(t);
    if (what == MODEL_TRACE_RECV) {
        happens(t, MODEL_TRACE_RECEIVE, message);
    } else {
        received(t, message);
    }
    t->s->sent[message] = taken_at(t, message, begin);
    happens(t, what + 1, 0);
}

/* What comes in MPI_Sendrecv, and its end, which is also that of what was sent. */
static void take_here(struct track *t, const uint32_t *into) {
    const uint64_t begin = t->now;
    takes(t, NOTHING_NS);
    meet_all(t);
    for (uint32_t i = into[t->rank]; i < into[t->rank + 1]; i++) {
        t->now += take_ns(t, &t->s->message[i]);
        go_on_at(t, t->s->sent[i]);
        happens(t, MODEL_TRACE_RECEIVE, i);
        t->s->sent[i] = taken_at(t, i, begin);
    }
}

static void end_here(struct track *t, const uint32_t *out) {
    go_on_at(t, delivered(t, out));
    happens(t, MODEL_TRACE_SENDRECV + 1, 0);
}

static void wait_for_any(struct track *t, const uint32_t *into) {
    enum { MANY = 64 }; /* after those, in their order */
    uint32_t next[MANY];
    uint32_t count = 0;
    uint32_t i = into[t->rank];
    for (; i < into[t->rank + 1] && count < MANY; i++) {
        uint32_t at = count++;
        for (; at > 0 && t->s->sent[next[at - 1]] > t->s->sent[i]; at--) {
            next[at] = next[at - 1];
        }
        next[at] = i;
    }
    for (uint32_t k = 0; k < count; k++) {
        wait_for_one(t, MODEL_TRACE_WAIT_ANY, next[k]);
    }
    for (; i < into[t->rank + 1]; i++) {
        wait_for_one(t, MODEL_TRACE_WAIT_ANY, i);
    }
}

/* When all ranks are there, and know of it, and have what they receive. */
static uint64_t all_there(const struct model_trace *m, const struct model_trace_scratch *s, uint32_t exchange) {
    const uint32_t *into = model_trace_in(m, s, exchange);
    uint64_t last = model_trace_last(m, s) + m->guard_ns;
    for (uint32_t i = into[0]; i < into[m->ranks]; i++) {
        last = s->sent[i] > last ? s->sent[i] : last;
    }
    return last;
}

/* First all ranks have what they receive; then who sent it by rendezvous goes on. */
void model_trace_wait(const struct model_trace *m, struct model_trace_scratch *s,
                      const struct model_trace_op *op) {
    const uint32_t exchange = op->number;
    const enum model_trace_wait how = (enum model_trace_wait)op->what;
    s->until = op->step > 0 ? all_there(m, s, exchange) : 0;
    const bool sends =
        how == MODEL_TRACE_WAIT_TWICE || how == MODEL_TRACE_WAIT_EACH || how == MODEL_TRACE_WAIT_ANY;
    const uint32_t *into = model_trace_in(m, s, exchange);
    const uint32_t *out = model_trace_out(m, s, exchange);
    for (uint32_t r = 0; how != MODEL_TRACE_WAIT_SENT && r < m->ranks; r++) {
        struct track t = track_of(m, s, r);
        if (how == MODEL_TRACE_WAIT_ANY) {
            wait_for_any(&t, into);
        } else if (how == MODEL_TRACE_WAIT_EACH || how == MODEL_TRACE_WAIT_FEW ||
                   how == MODEL_TRACE_WAIT_RECV) {
            for (uint32_t i = into[r]; i < into[r + 1]; i++) {
                wait_for_one(&t, how, i);
            }
        } else if (how == MODEL_TRACE_WAIT_HERE) {
            take_here(&t, into);
        } else {
            begin_all(&t, into);
        }
        if (how == MODEL_TRACE_WAIT_TWICE) {
            end_all(&t, into, 0);
        }
        end_track(&t);
    }
    for (uint32_t r = 0; r < m->ranks; r++) {
        struct track t = track_of(m, s, r);
        if (how == MODEL_TRACE_WAIT_ALL) {
            end_all(&t, into, delivered(&t, out));
        } else if (how == MODEL_TRACE_WAIT_HERE) {
            end_here(&t, out);
        }
        for (uint32_t i = into[r]; how != MODEL_TRACE_WAIT_SENT && i < into[r + 1]; i++) {
            pack(&t, &s->message[i], exchange, true);
        }
        if (how == MODEL_TRACE_WAIT_SENT || (sends && op->until == 0)) {
            wait_for_sends(&t, out);
        }
        end_track(&t);
    }
}
