/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/waits/waits.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "gen/export/export.h"
#include "gen/export/log.h"
#include "gen/waits/path.h"
#include "gen/waits/states.h"
#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/base/table.h"

/* A message of which only the send or only the receive was read so far. */
struct waits_message {
    uint64_t enter_ns; /* begin of the sending call */
    uint64_t exit_ns;  /* end of the sending call; UINT64_MAX: the call has not ended */
    /* end of the sending call's wait for a late sender; 0: the call has not ended, or has no such wait */
    uint64_t late_ns;
    uint32_t call; /* index of the sending call's name */
    bool blocking; /* the sending call may wait for the receive */
    bool started;  /* the send is non-blocking, and is or was in waits_rank_state.sends */
    uint64_t done; /* number of the call that completed the non-blocking send; 0: no such call has ended */
};

/* A call that completed non-blocking sends, of which some were not received when the call ended. The call
 * waited for the receive that was posted last while the call was open. */
struct waits_done {
    uint64_t from_ns, exit_ns, posted_ns;
    uint32_t rank, call, posted_rank, posted_call;
    uint64_t pending; /* number of the sends of this call that are not received yet */
};

/* A non-blocking receive or send that no call has completed so far. */
struct waits_request {
    uint64_t what; /* of a receive: begin of its call, ns; of a send: number of its message */
    /* index + 1 of the next request of the rank; of a free entry: index + 1 of the next free entry */
    uint32_t next;
};

struct waits_queue {
    /* index + 1 of the oldest and of the newest request in waits_requests.item; `first` is 0 if there is
     * none */
    uint32_t first, last;
};

/* A collective call that some rank has not left. */
struct waits_meeting {
    /* arrived: ranks that have entered the call; left: ranks that have left it */
    uint64_t arrived, left;
    /* Time, rank and call of the rank that has entered last. */
    uint64_t last_ns;
    uint32_t last_rank, last_call;
};

struct waits_rank_state {
    struct waits_queue posts, sends;
    uint64_t posted, completed; /* numbers of receives that were posted, or completed, so far */
};

struct waits_requests {
    struct waits_request *item;
    size_t count, capacity;
    uint32_t unused; /* index + 1 of the first free entry of `item` */
};

struct waits_run {
    struct gen_waits *w;
    struct gen_log *log;
    const char *path;
    struct waits_states states;
    struct waits_rank_state *rank; /* [ranks] */
    struct waits_requests requests;
    struct hpcw_i_table messages; /* message number -> struct waits_message */
    struct {
        struct hpcw_i_table table; /* number of a call -> struct waits_done */
        uint64_t calls;            /* number of the last call that got a number */
    } done;
    struct hpcw_i_table sizes;    /* communicator -> uint64_t number of ranks */
    struct hpcw_i_table serials;  /* (communicator, rank) -> uint64_t number of collective calls so far */
    struct hpcw_i_table meetings; /* (communicator, serial) -> struct waits_meeting */
    struct hpcw_i_table pairs;    /* (kind, call, cause) -> struct gen_waits_sum */
    struct waits_path_wait *wait;
    size_t waits, wait_capacity;
    uint32_t last_rank;
    gen_waits_take *take; /* called for each wait; NULL: no function is called */
    void *context;
};

/* ---- requests ---- */

static bool append(struct waits_run *r, struct waits_queue *queue, uint64_t what) {
    struct waits_requests *all = &r->requests;
    if (all->unused == 0) {
        struct waits_request *grown = hpcw_i_grow(all->item, &all->capacity, all->count + 1, sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        all->item = grown;
        all->item[all->count++].next = 0;
        all->unused = (uint32_t)all->count;
    }
    const uint32_t at = all->unused;
    all->unused = all->item[at - 1].next;
    all->item[at - 1] = (struct waits_request){.what = what};
    *(queue->first == 0 ? &queue->first : &all->item[queue->last - 1].next) = at;
    queue->last = at;
    return true;
}

/* Removes the oldest request of a queue. Returns false if the queue is empty. */
static bool take_oldest(struct waits_run *r, struct waits_queue *queue, uint64_t *what) {
    const uint32_t at = queue->first;
    if (at == 0) {
        return false;
    }
    struct waits_request *item = &r->requests.item[at - 1];
    *what = item->what;
    queue->first = item->next;
    item->next = r->requests.unused;
    r->requests.unused = at;
    return true;
}

static bool post(struct waits_run *r, const struct gen_log_entry *e) {
    struct waits_rank_state *rank = &r->rank[e->rank];
    /* If posted_of has completed more receives than were posted, this one is already complete. */
    return rank->posted++ < rank->completed || append(r, &rank->posts, e->ns);
}

/* Returns the time at which the receive that `call` completes was posted; 0: not known. A log does not say
 * which of the posted receives a call completes. The oldest is assumed, so that a wait is rather too short than
 * too long. */
static uint64_t posted_of(struct waits_run *r, const struct gen_log_entry *e, const struct waits_state *call) {
    struct waits_rank_state *rank = &r->rank[e->rank];
    uint64_t ns;
    if (call->kind == RECEIVE_CALL || call->kind == EXCHANGE_CALL) {
        return call->from_ns;
    }
    if (call->thread != 0) {
        return 0;
    }
    rank->completed++;
    return take_oldest(r, &rank->posts, &ns) ? ns : 0;
}

/* ---- waits ---- */

static hpcw_status add_wait(struct waits_run *r, const struct gen_waits_wait *f, hpcw_error *err) {
    const uint64_t time_ns = f->to_ns - f->from_ns;
    const uint64_t key[] = {f->kind, f->call, f->cause_call};
    struct gen_waits_sum *pair = hpcw_i_table_add(&r->pairs, key, NULL);
    struct waits_path_wait *grown = hpcw_i_grow(r->wait, &r->wait_capacity, r->waits + 1, sizeof *grown);
    r->wait = grown == NULL ? r->wait : grown;
    if (pair == NULL || grown == NULL) {
        return waits_no_memory(&r->states, err);
    }
    struct gen_waits_sum *own = &r->w->rank[f->rank].kind[f->kind];
    own->count++;
    own->time_ns += time_ns;
    pair->count++;
    pair->time_ns += time_ns;
    r->w->rank[f->cause_rank].caused_ns += time_ns;
    if (r->take != NULL) {
        r->take(r->context, f);
    }
    r->wait[r->waits++] = (struct waits_path_wait){
        .from_ns = f->from_ns, .to_ns = f->to_ns, .rank = f->rank, .cause = f->cause_rank};
    return HPCW_OK;
}

/* Returns the number of ranks of a communicator; 0: unknown. */
static uint64_t size_of(const struct waits_run *r, int32_t comm) {
    const uint64_t *size = hpcw_i_table_find(&r->sizes, (const uint64_t[]){(uint32_t)comm});
    return size == NULL ? 0 : *size;
}

static hpcw_status enter_collective(struct waits_run *r, const struct gen_log_entry *e, struct waits_state *s,
                                    hpcw_error *err) {
    uint64_t *serial =
        hpcw_i_table_add(&r->serials, (const uint64_t[]){(uint32_t)s->comm, (uint64_t)e->rank}, NULL);
    if (serial == NULL) {
        return waits_no_memory(&r->states, err);
    }
    s->serial = (*serial)++;
    struct waits_meeting *m =
        hpcw_i_table_add(&r->meetings, (const uint64_t[]){(uint32_t)s->comm, s->serial}, NULL);
    if (m == NULL) {
        return waits_no_memory(&r->states, err);
    }
    m->arrived++;
    m->last_ns = e->ns;
    m->last_rank = (uint32_t)e->rank;
    m->last_call = s->name;
    r->w->collectives += m->arrived == size_of(r, s->comm);
    return HPCW_OK;
}

static hpcw_status leave_collective(struct waits_run *r, const struct gen_log_entry *e,
                                    const struct waits_state *s, hpcw_error *err) {
    struct waits_meeting *m = hpcw_i_table_find(&r->meetings, (const uint64_t[]){(uint32_t)s->comm, s->serial});
    if (m == NULL) {
        return HPCW_OK;
    }
    const struct waits_meeting all = *m;
    const uint64_t size = size_of(r, s->comm);
    m->left++;
    if (m->left == size) {
        hpcw_i_table_remove(&r->meetings, m);
    }
    if (all.arrived < size || all.last_ns <= s->from_ns) {
        return HPCW_OK;
    }
    return add_wait(r,
                    &(struct gen_waits_wait){.kind = GEN_WAITS_COLLECTIVE,
                                             .rank = (uint32_t)e->rank,
                                             .call = s->name,
                                             .from_ns = s->from_ns,
                                             .to_ns = all.last_ns,
                                             .cause_rank = all.last_rank,
                                             .cause_call = all.last_call},
                    err);
}

static hpcw_status begin_state(struct waits_run *r, const struct gen_log_entry *e, hpcw_error *err) {
    struct waits_state *s = waits_states_push(&r->states, e);
    if (s == NULL) {
        return waits_no_memory(&r->states, err);
    }
    if (s->kind == POST_CALL && e->thread == 0 && !post(r, e)) {
        return waits_no_memory(&r->states, err);
    }
    return s->kind == COLLECTIVE_CALL ? enter_collective(r, e, s, err) : HPCW_OK;
}

/* Adds the wait of a sending call on `rank` whose message has a late receive. If the call has waited for a late
 * sender before, the new wait begins at the end of that wait. */
static hpcw_status add_late_receiver(struct waits_run *r, uint32_t rank, const struct waits_message *sent,
                                     uint64_t posted_ns, uint32_t cause_rank, uint32_t cause_call,
                                     hpcw_error *err) {
    const uint64_t from_ns = sent->late_ns > sent->enter_ns ? sent->late_ns : sent->enter_ns;
    /* An eager send ends before the receive is posted, so it does not wait. */
    if (posted_ns <= from_ns || sent->exit_ns <= posted_ns) {
        return HPCW_OK;
    }
    return add_wait(r,
                    &(struct gen_waits_wait){.kind = GEN_WAITS_LATE_RECEIVER,
                                             .rank = rank,
                                             .call = sent->call,
                                             .from_ns = from_ns,
                                             .to_ns = posted_ns,
                                             .cause_rank = cause_rank,
                                             .cause_call = cause_call},
                    err);
}

/* Returns the time from which a call may wait for receivers: its begin, or the end of its wait for a late
 * sender. */
static uint64_t free_from(const struct waits_state *s) {
    return s->late_ns > s->from_ns ? s->late_ns : s->from_ns;
}

/* Called when a call ends. Completes non-blocking sends of the rank: all of them for MPI_Waitall, the oldest
 * for a call of MPI_Wait that has received nothing. Sets *waits if some of their messages are not received yet.
 * Then the wait of the call is added when all of them are received. */
static hpcw_status complete_sends(struct waits_run *r, const struct gen_log_entry *e,
                                  const struct waits_state *s, bool *waits, hpcw_error *err) {
    struct waits_queue *sends = &r->rank[e->rank].sends;
    const uint64_t number = r->done.calls + 1;
    uint64_t message, pending = 0;
    *waits = false;
    if (s->thread != 0 || (s->kind != WAIT_ALL_CALL && (s->kind != WAIT_CALL || s->receives))) {
        return HPCW_OK;
    }
    while (take_oldest(r, sends, &message)) {
        struct waits_message *m = hpcw_i_table_find(&r->messages, &message);
        if (m != NULL) {
            m->done = number;
            pending++;
        }
        if (s->kind == WAIT_CALL) {
            break;
        }
    }
    if (pending == 0) {
        return HPCW_OK;
    }
    struct waits_done *done = hpcw_i_table_add(&r->done.table, &number, NULL);
    if (done == NULL) {
        return waits_no_memory(&r->states, err);
    }
    *done = (struct waits_done){.from_ns = free_from(s),
                                .exit_ns = e->ns,
                                .posted_ns = s->posted_ns,
                                .rank = (uint32_t)e->rank,
                                .call = s->name,
                                .posted_rank = s->posted_rank,
                                .posted_call = s->posted_call,
                                .pending = pending};
    r->done.calls = number;
    *waits = true;
    return HPCW_OK;
}

static hpcw_status add_wait_of(struct waits_run *r, const struct waits_done *done, hpcw_error *err) {
    return done->posted_ns <= done->from_ns
               ? HPCW_OK
               : add_wait(r,
                          &(struct gen_waits_wait){.kind = GEN_WAITS_LATE_RECEIVER,
                                                   .rank = done->rank,
                                                   .call = done->call,
                                                   .from_ns = done->from_ns,
                                                   .to_ns = done->posted_ns,
                                                   .cause_rank = done->posted_rank,
                                                   .cause_call = done->posted_call},
                          err);
}

static hpcw_status end_state(struct waits_run *r, const struct gen_log_entry *e, hpcw_error *err) {
    struct waits_state s;
    if (!waits_states_pop(&r->states, e, &s)) {
        return HPCW_OK;
    }
    struct waits_message *m = s.sends ? hpcw_i_table_find(&r->messages, &s.sent) : NULL;
    if (m != NULL) {
        m->exit_ns = e->ns;
        m->late_ns = s.late_ns;
    }
    hpcw_status status = s.kind == COLLECTIVE_CALL ? leave_collective(r, e, &s, err) : HPCW_OK;
    if (status == HPCW_OK && s.late_ns > s.from_ns) {
        status = add_wait(r,
                          &(struct gen_waits_wait){.kind = GEN_WAITS_LATE_SENDER,
                                                   .rank = (uint32_t)e->rank,
                                                   .call = s.name,
                                                   .from_ns = s.from_ns,
                                                   .to_ns = s.late_ns,
                                                   .cause_rank = s.late_rank,
                                                   .cause_call = s.late_call},
                          err);
    }
    if (s.kind == WAIT_CALL && s.receives) {
        s.posted_ns = 0; /* the call completed a receive, not the send that completer_of assumed */
    }
    bool waits = false;
    status = status == HPCW_OK ? complete_sends(r, e, &s, &waits, err) : status;
    if (status == HPCW_OK && s.posted_ns > 0 && !waits) {
        const struct waits_message sent = {
            .enter_ns = s.from_ns, .exit_ns = e->ns, .late_ns = s.late_ns, .call = s.name};
        status = add_late_receiver(r, (uint32_t)e->rank, &sent, s.posted_ns, s.posted_rank, s.posted_call, err);
    }
    return status;
}

/* ---- messages ---- */

static hpcw_status take_send(struct waits_run *r, const struct gen_log_entry *e, hpcw_error *err) {
    bool fresh;
    struct waits_message *m = hpcw_i_table_add(&r->messages, &e->number, &fresh);
    if (m == NULL) {
        return waits_no_memory(&r->states, err);
    }
    if (!fresh) {
        r->w->backward++;
        hpcw_i_table_remove(&r->messages, m);
        return HPCW_OK;
    }
    struct waits_state *call = waits_states_call(&r->states, (uint32_t)e->rank, e->thread);
    *m = (struct waits_message){.enter_ns = e->ns, .exit_ns = UINT64_MAX};
    if (call != NULL) {
        m->enter_ns = call->from_ns;
        m->call = call->name;
        m->blocking = call->kind == SEND_CALL || call->kind == EXCHANGE_CALL;
        m->started = call->kind == START_CALL && e->thread == 0;
        call->sends = true;
        call->sent = e->number;
    }
    return m->started && !append(r, &r->rank[e->rank].sends, e->number) ? waits_no_memory(&r->states, err)
                                                                        : HPCW_OK;
}

/* Returns the open call that has sent the message of the receive `e`; NULL: there is none. */
static struct waits_state *sender_of(struct waits_run *r, const struct gen_log_entry *e) {
    struct waits_state *open = r->states.open;
    uint32_t at = r->states.top[e->peer];
    while (at != 0 && !(open[at - 1].sends && open[at - 1].sent == e->number)) {
        at = open[at - 1].outer;
    }
    return at == 0 ? NULL : &open[at - 1];
}

/* Returns the open call that is assumed to complete the non-blocking send of the message `e`; NULL: there is
 * none. */
static struct waits_state *completer_of(struct waits_run *r, const struct gen_log_entry *e) {
    const uint32_t oldest = r->rank[e->peer].sends.first;
    struct waits_state *call = waits_states_call(&r->states, (uint32_t)e->peer, 0);
    const bool is =
        call != NULL && (call->kind == WAIT_ALL_CALL || (call->kind == WAIT_CALL && oldest != 0 &&
                                                         r->requests.item[oldest - 1].what == e->number));
    return is ? call : NULL;
}

/* Handles the receive of a message of a non-blocking send. The call that completes the send may wait for this
 * receive. */
static hpcw_status receive_started(struct waits_run *r, const struct gen_log_entry *e, uint64_t done_number,
                                   uint64_t posted_ns, uint32_t call, hpcw_error *err) {
    if (done_number == 0) {
        struct waits_state *open = completer_of(r, e);
        if (open != NULL && posted_ns > open->posted_ns) {
            open->posted_ns = posted_ns;
            open->posted_rank = (uint32_t)e->rank;
            open->posted_call = call;
        }
        return HPCW_OK;
    }
    struct waits_done *done = hpcw_i_table_find(&r->done.table, &done_number);
    if (posted_ns > done->posted_ns && posted_ns < done->exit_ns) {
        done->posted_ns = posted_ns;
        done->posted_rank = (uint32_t)e->rank;
        done->posted_call = call;
    }
    if (--done->pending > 0) {
        return HPCW_OK;
    }
    const struct waits_done all = *done;
    hpcw_i_table_remove(&r->done.table, done);
    return add_wait_of(r, &all, err);
}

static hpcw_status take_receive(struct waits_run *r, const struct gen_log_entry *e, hpcw_error *err) {
    bool fresh;
    struct waits_message *m = hpcw_i_table_add(&r->messages, &e->number, &fresh);
    if (m == NULL) {
        return waits_no_memory(&r->states, err);
    }
    if (fresh) { /* the receive was read before the send */
        return HPCW_OK;
    }
    const struct waits_message sent = *m;
    hpcw_i_table_remove(&r->messages, m);
    r->w->messages++;
    struct waits_state *call = waits_states_call(&r->states, (uint32_t)e->rank, e->thread);
    if (call == NULL) {
        return sent.started ? receive_started(r, e, sent.done, 0, 0, err) : HPCW_OK;
    }
    call->receives = true;
    if (sent.enter_ns > call->from_ns && sent.enter_ns > call->late_ns) {
        call->late_ns = sent.enter_ns;
        call->late_rank = (uint32_t)e->peer;
        call->late_call = sent.call;
    }
    const uint64_t posted_ns = posted_of(r, e, call);
    if (sent.started) {
        return receive_started(r, e, sent.done, posted_ns, call->name, err);
    }
    if (!sent.blocking || posted_ns <= sent.enter_ns) {
        return HPCW_OK;
    }
    struct waits_state *sender = sent.exit_ns == UINT64_MAX ? sender_of(r, e) : NULL;
    if (sender == NULL) {
        return add_late_receiver(r, (uint32_t)e->peer, &sent, posted_ns, (uint32_t)e->rank, call->name, err);
    }
    /* The sending call has not ended and may still wait for a late sender. So this wait is added when the call
     * ends. */
    sender->posted_ns = posted_ns;
    sender->posted_rank = (uint32_t)e->rank;
    sender->posted_call = call->name;
    return HPCW_OK;
}

/* ---- the pass that finds the waits ---- */

static void take_time(struct waits_run *r, const struct gen_log_entry *e) {
    struct gen_waits *w = r->w;
    w->begin_ns = e->ns < w->begin_ns ? e->ns : w->begin_ns;
    if (e->ns > w->end_ns) {
        w->end_ns = e->ns;
        r->last_rank = (uint32_t)e->rank;
    }
}

static hpcw_status take_entry(void *context, const struct gen_log_entry *e, hpcw_error *err) {
    struct waits_run *r = context;
    if ((e->letter == 's' || e->letter == 'f') && e->peer >= r->w->ranks) {
        return HPCW_OK;
    }
    switch (e->letter) {
    case 'B':
        take_time(r, e);
        return begin_state(r, e, err);
    case 'E':
        take_time(r, e);
        return end_state(r, e, err);
    case 's':
        return take_send(r, e, err);
    case 'f':
        return take_receive(r, e, err);
    default:
        return HPCW_OK;
    }
}

static hpcw_status count_members(struct waits_run *r, hpcw_error *err) {
    int32_t comm;
    uint32_t rank;
    uint32_t world;
    for (size_t at = 0; gen_log_member(r->log, &at, &comm, &rank, &world);) {
        uint64_t *size = hpcw_i_table_add(&r->sizes, (const uint64_t[]){(uint32_t)comm}, NULL);
        if (size == NULL) {
            return waits_no_memory(&r->states, err);
        }
        (*size)++;
    }
    return HPCW_OK;
}

static hpcw_status find_waits(struct waits_run *r, hpcw_error *err) {
    struct gen_waits *w = r->w;
    const struct gen_export what = {.from_s = 0, .to_s = INFINITY, .last_rank = w->ranks - 1};
    w->begin_ns = UINT64_MAX;
    hpcw_status s = count_members(r, err);
    s = s == HPCW_OK ? gen_log_run(r->log, &what, true, take_entry, r, err) : s;
    if (s == HPCW_OK && w->begin_ns == UINT64_MAX) {
        s = hpcw_i_fail(err, HPCW_EFORMAT, "%s: expected states, got none: no waits to find", r->path);
    }
    w->unmatched = r->messages.count;
    uint64_t key[HPCW_I_TABLE_KEY];
    const struct waits_meeting *m;
    for (size_t at = 0; (m = hpcw_i_table_next(&r->meetings, &at, key)) != NULL;) {
        w->incomplete += m->arrived < size_of(r, (int32_t)key[0]);
    }
    /* Adds the waits of calls of which some sends were never received. They are added in the order of the
     * calls, since the order of the table differs from run to run. */
    for (uint64_t n = 1; s == HPCW_OK && r->done.table.count > 0 && n <= r->done.calls; n++) {
        const struct waits_done *done = hpcw_i_table_find(&r->done.table, &n);
        s = done == NULL ? HPCW_OK : add_wait_of(r, done, err);
    }
    return s;
}

/* ---- results ---- */

static int by_pair(const void *a, const void *b) {
    const struct gen_waits_pair *x = a;
    const struct gen_waits_pair *y = b;
    return x->sum.time_ns != y->sum.time_ns ? (x->sum.time_ns > y->sum.time_ns ? -1 : 1)
           : x->kind != y->kind             ? (x->kind < y->kind ? -1 : 1)
           : x->call != y->call             ? (x->call < y->call ? -1 : 1)
           : x->cause < y->cause            ? -1
                                            : x->cause > y->cause;
}

static int by_ranks(const void *a, const void *b) {
    const struct waits_path_wait *x = a;
    const struct waits_path_wait *y = b;
    return x->rank != y->rank ? (x->rank < y->rank ? -1 : 1) : x->cause < y->cause ? -1 : x->cause > y->cause;
}

static int by_between(const void *a, const void *b) {
    const struct gen_waits_ranks *x = a;
    const struct gen_waits_ranks *y = b;
    return x->sum.time_ns != y->sum.time_ns ? (x->sum.time_ns > y->sum.time_ns ? -1 : 1)
           : x->rank != y->rank             ? (x->rank < y->rank ? -1 : 1)
           : x->cause < y->cause            ? -1
                                            : x->cause > y->cause;
}

/* Adds up the waits of each pair of a waiting rank and a rank that it waits for. */
static hpcw_status give_ranks(struct waits_run *r, hpcw_error *err) {
    struct gen_waits *w = r->w;
    size_t count = 0;
    if (r->waits > 0) {
        qsort(r->wait, r->waits, sizeof *r->wait, by_ranks);
    }
    for (size_t i = 0; i < r->waits; i++) {
        count += i == 0 || by_ranks(&r->wait[i - 1], &r->wait[i]) != 0;
    }
    w->between = hpcw_i_calloc(count + 1, sizeof *w->between);
    if (w->between == NULL) {
        return waits_no_memory(&r->states, err);
    }
    for (size_t i = 0; i < r->waits; i++) {
        const struct waits_path_wait *wait = &r->wait[i];
        w->betweens += i == 0 || by_ranks(wait - 1, wait) != 0;
        struct gen_waits_ranks *to = &w->between[w->betweens - 1];
        to->rank = wait->rank;
        to->cause = wait->cause;
        to->sum.count++;
        to->sum.time_ns += wait->to_ns - wait->from_ns;
    }
    qsort(w->between, w->betweens, sizeof *w->between, by_between);
    return HPCW_OK;
}

static hpcw_status give_results(struct waits_run *r, hpcw_error *err) {
    struct gen_waits *w = r->w;
    uint64_t key[HPCW_I_TABLE_KEY];
    const struct gen_waits_sum *sum;
    w->pair = hpcw_i_malloc((r->pairs.count + 1) * sizeof *w->pair);
    if (w->pair == NULL) {
        return waits_no_memory(&r->states, err);
    }
    for (size_t at = 0; (sum = hpcw_i_table_next(&r->pairs, &at, key)) != NULL;) {
        w->pair[w->pairs++] =
            (struct gen_waits_pair){(enum gen_waits_kind)key[0], (uint32_t)key[1], (uint32_t)key[2], *sum};
    }
    qsort(w->pair, w->pairs, sizeof *w->pair, by_pair);
    return give_ranks(r, err);
}

static hpcw_status begin_run(struct waits_run *r, hpcw_error *err) {
    hpcw_status s = gen_log_open(r->path, &r->log, err);
    s = s == HPCW_OK ? gen_log_bound_ranks(r->log, err) : s;
    if (s != HPCW_OK) {
        return s;
    }
    struct gen_waits *w = r->w;
    w->ranks = gen_log_ranks(r->log);
    w->rank = hpcw_i_calloc(w->ranks, sizeof *w->rank);
    r->rank = hpcw_i_calloc(w->ranks, sizeof *r->rank);
    s = waits_states_init(&r->states, w, r->path, err);
    return s == HPCW_OK && (w->rank == NULL || r->rank == NULL) ? waits_no_memory(&r->states, err) : s;
}

static void end_run(struct waits_run *r) {
    gen_log_free(r->log);
    waits_states_free(&r->states);
    hpcw_i_table_free(&r->messages);
    hpcw_i_table_free(&r->done.table);
    hpcw_i_table_free(&r->sizes);
    hpcw_i_table_free(&r->serials);
    hpcw_i_table_free(&r->meetings);
    hpcw_i_table_free(&r->pairs);
    hpcw_i_free(r->rank);
    hpcw_i_free(r->requests.item);
    hpcw_i_free(r->wait);
}

hpcw_status gen_waits_watch(const char *path, gen_waits_take *take, void *context, struct gen_waits *waits,
                            hpcw_error *err) {
    const uint64_t seed = hpcw_i_table_random();
    struct waits_run r = {
        .w = waits,
        .path = path,
        .take = take,
        .context = context,
        .messages = {.key_words = 1, .value_size = sizeof(struct waits_message), .seed = seed},
        .done.table = {.key_words = 1, .value_size = sizeof(struct waits_done), .seed = seed},
        .sizes = {.key_words = 1, .value_size = sizeof(uint64_t), .seed = seed},
        .serials = {.key_words = 2, .value_size = sizeof(uint64_t), .seed = seed},
        .meetings = {.key_words = 2, .value_size = sizeof(struct waits_meeting), .seed = seed},
        .pairs = {.key_words = 3, .value_size = sizeof(struct gen_waits_sum), .seed = seed},
    };
    memset(waits, 0, sizeof *waits);
    hpcw_status s = begin_run(&r, err);
    s = s == HPCW_OK ? find_waits(&r, err) : s;
    s = s == HPCW_OK ? waits_path_find(&r.states, r.log, r.wait, r.waits, r.last_rank, err) : s;
    s = s == HPCW_OK ? give_results(&r, err) : s;
    end_run(&r);
    if (s != HPCW_OK) {
        gen_waits_free(waits);
    }
    return s;
}

hpcw_status gen_waits_read(const char *path, struct gen_waits *waits, hpcw_error *err) {
    return gen_waits_watch(path, NULL, NULL, waits, err);
}

void gen_waits_free(struct gen_waits *waits) {
    hpcw_i_free(waits->name);
    hpcw_i_free(waits->rank);
    hpcw_i_free(waits->pair);
    hpcw_i_free(waits->between);
    hpcw_i_free(waits->share);
    memset(waits, 0, sizeof *waits);
}
