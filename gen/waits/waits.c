/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/waits/waits.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "gen/export/export.h"
#include "gen/export/log.h"
#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/base/table.h"

enum call_kind {
    NO_CALL,
    OTHER_CALL,
    POST_CALL,
    START_CALL, /* a send that another call completes */
    WAIT_CALL,
    WAIT_ALL_CALL,
    SEND_CALL,
    RECEIVE_CALL,
    EXCHANGE_CALL,
    COLLECTIVE_CALL
};

/* A message of which only one end was read. */
struct waits_message {
    uint64_t enter_ns; /* begin of the sending call */
    uint64_t exit_ns;  /* end of the sending call; UINT64_MAX: not ended */
    uint64_t late_ns;  /* end of its wait for a late sender; 0: it has not ended, or has no such wait */
    uint32_t call;     /* index of its name */
    bool blocking;     /* the sending call may wait for the receive */
    bool started;      /* the send is in the rank's list of started ones, or was when a call completed it */
    bool received;     /* the receive came before the send */
    uint64_t done;     /* number of the call that completed a started send; 0: none has ended */
};

/* A call that has completed sends of which some were not received when it ended. It waited for the receive that
 * was posted last while it was open. */
struct waits_done {
    uint64_t from_ns, exit_ns, posted_ns;
    uint32_t rank, call, posted_rank, posted_call;
    uint64_t pending; /* sends that are not received */
};

/* An open state. */
struct waits_state {
    uint64_t from_ns, definition;
    int32_t thread, comm;
    uint32_t name; /* index of a name */
    enum call_kind kind;
    /* index + 1 of the state around this one; in a free entry, of the next free entry */
    uint32_t outer;
    bool sends;    /* this call has sent a message, `sent` */
    uint64_t sent; /* number of the last message of this call */
    /* The latest of the sends whose messages this call received: its begin (0: none), rank and call. */
    uint64_t late_ns;
    uint32_t late_rank, late_call;
    bool receives; /* this call has received a message */
    /* The receive of the message that this call sends or completes, the last one of several: when it was posted (0:
     * not known, or before this call), and by which rank and call. */
    uint64_t posted_ns;
    uint32_t posted_rank, posted_call;
    uint64_t serial; /* this is the n-th collective call of the rank on its communicator */
};

/* A receive or a send that a call has started and no call has completed. */
struct waits_request {
    uint64_t what; /* of a receive, the time of its call, ns; of a send, the number of its message */
    uint32_t next; /* index + 1 of the rank's next request; in a free entry, of the next free entry */
};

struct waits_queue {
    uint32_t first, last; /* index + 1 of the oldest and of the newest request; first is 0 if there is none */
};

/* A collective call that some rank has not left. */
struct waits_meeting {
    uint64_t arrived, left; /* numbers of ranks that have entered the call, and that have left it */
    /* The last rank that has entered: when, which rank, which call. */
    uint64_t last_ns;
    uint32_t last_rank, last_call;
};

/* A wait of `rank` that ends at `to_ns`. There the critical path continues on rank `cause`. */
struct path_wait {
    uint64_t to_ns;
    uint32_t rank, cause;
};

struct path_piece {
    uint64_t from_ns, to_ns;
    uint32_t rank;
};

struct waits_rank_state {
    uint32_t top;      /* index + 1 of the innermost open state */
    uint64_t since_ns; /* when that state became the innermost one */
    struct waits_queue posts, sends;
    uint64_t posted, completed; /* numbers of receives that were posted and completed so far */
    /* The next piece of the critical path on this rank, and one past the rank's last piece. */
    size_t piece, end;
};

struct waits_requests {
    struct waits_request *item;
    size_t count, capacity;
    uint32_t unused; /* index + 1 of the first free entry */
};

struct waits_run {
    struct gen_waits *w;
    struct gen_log *log;
    const char *path;
    struct gen_export what;
    struct waits_rank_state *rank; /* [ranks] */
    struct waits_state *open;
    size_t opens, open_capacity;
    uint32_t unused; /* index + 1 of the first free entry */
    struct waits_requests requests;
    size_t name_capacity;
    enum call_kind *kind; /* [names] */
    size_t kind_capacity;
    struct hpcw_i_table names;    /* definition -> uint64_t index of the name */
    struct hpcw_i_table messages; /* message number -> struct waits_message */
    struct {
        struct hpcw_i_table table; /* number of a call -> struct waits_done */
        uint64_t calls;            /* numbers given so far */
    } done;
    struct hpcw_i_table sizes;    /* communicator -> uint64_t number of ranks */
    struct hpcw_i_table serials;  /* (communicator, rank) -> uint64_t number of collective calls so far */
    struct hpcw_i_table meetings; /* (communicator, serial) -> struct waits_meeting */
    struct hpcw_i_table pairs;    /* (kind, call, cause) -> struct gen_waits_sum */
    struct hpcw_i_table shares;   /* (rank, name) -> uint64_t, ns */
    struct path_wait *wait;
    size_t waits, wait_capacity;
    struct path_piece *piece;
    size_t pieces, piece_capacity;
    uint32_t last_rank;
    gen_waits_take *take; /* called for each wait; NULL: not wanted */
    void *context;
};

static hpcw_status no_memory(const struct waits_run *r, hpcw_error *err) {
    return hpcw_i_fail_memory(err, r->path, r->w->ranks, "ranks");
}

/* ---- names ---- */

static enum call_kind kind_of(const char *name) {
    static const struct {
        const char *name;
        enum call_kind kind;
    } known[] = {
        {"MPI_Allgather", COLLECTIVE_CALL},
        {"MPI_Allgatherv", COLLECTIVE_CALL},
        {"MPI_Allreduce", COLLECTIVE_CALL},
        {"MPI_Alltoall", COLLECTIVE_CALL},
        {"MPI_Alltoallv", COLLECTIVE_CALL},
        {"MPI_Alltoallw", COLLECTIVE_CALL},
        {"MPI_Barrier", COLLECTIVE_CALL},
        {"MPI_Bcast", COLLECTIVE_CALL},
        {"MPI_Exscan", COLLECTIVE_CALL},
        {"MPI_Gather", COLLECTIVE_CALL},
        {"MPI_Gatherv", COLLECTIVE_CALL},
        {"MPI_Irecv", POST_CALL},
        {"MPI_Irsend", START_CALL},
        {"MPI_Isend", START_CALL},
        {"MPI_Issend", START_CALL},
        {"MPI_Mrecv", RECEIVE_CALL},
        {"MPI_Recv", RECEIVE_CALL},
        {"MPI_Reduce", COLLECTIVE_CALL},
        {"MPI_Reduce_scatter", COLLECTIVE_CALL},
        {"MPI_Reduce_scatter_block", COLLECTIVE_CALL},
        {"MPI_Rsend", SEND_CALL},
        {"MPI_Scan", COLLECTIVE_CALL},
        {"MPI_Scatter", COLLECTIVE_CALL},
        {"MPI_Scatterv", COLLECTIVE_CALL},
        {"MPI_Send", SEND_CALL},
        {"MPI_Sendrecv", EXCHANGE_CALL},
        {"MPI_Sendrecv_replace", EXCHANGE_CALL},
        {"MPI_Ssend", SEND_CALL},
        {"MPI_Start", START_CALL},
        {"MPI_Startall", START_CALL},
        {"MPI_Wait", WAIT_CALL},
        {"MPI_Waitall", WAIT_ALL_CALL},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(name, known[i].name) == 0) {
            return known[i].kind;
        }
    }
    return strncmp(name, "MPI_", strlen("MPI_")) == 0 ? OTHER_CALL : NO_CALL;
}

/* Returns the index of the name; UINT32_MAX when memory runs out. */
static uint32_t add_name(struct waits_run *r, const char *text) {
    struct gen_waits *w = r->w;
    for (uint32_t i = 0; i < w->names; i++) {
        if (strcmp(w->name[i], text) == 0) {
            return i;
        }
    }
    char(*name)[GEN_WAITS_NAME] = hpcw_i_grow(w->name, &r->name_capacity, w->names + (size_t)1, sizeof *name);
    if (name == NULL) {
        return UINT32_MAX;
    }
    w->name = name;
    enum call_kind *kind = hpcw_i_grow(r->kind, &r->kind_capacity, w->names + (size_t)1, sizeof *kind);
    if (kind == NULL) {
        return UINT32_MAX;
    }
    r->kind = kind;
    memset(name[w->names], 0, sizeof name[w->names]);
    memcpy(name[w->names], text, strnlen(text, GEN_WAITS_NAME - 1));
    kind[w->names] = kind_of(name[w->names]);
    return w->names++;
}

static uint32_t name_of(struct waits_run *r, const struct gen_log_entry *e) {
    bool fresh;
    uint64_t *index = hpcw_i_table_add(&r->names, &e->definition, &fresh);
    if (index == NULL) {
        return UINT32_MAX;
    }
    if (fresh) {
        *index = add_name(r, e->name);
    }
    return (uint32_t)*index;
}

/* ---- open states ---- */

static struct waits_state *push(struct waits_run *r, const struct gen_log_entry *e) {
    const uint32_t name = name_of(r, e);
    if (name == UINT32_MAX) {
        return NULL;
    }
    if (r->unused == 0) {
        struct waits_state *grown = hpcw_i_grow(r->open, &r->open_capacity, r->opens + 1, sizeof *grown);
        if (grown == NULL) {
            return NULL;
        }
        r->open = grown;
        r->open[r->opens++].outer = 0;
        r->unused = (uint32_t)r->opens;
    }
    const uint32_t at = r->unused;
    struct waits_state *s = &r->open[at - 1];
    r->unused = s->outer;
    *s = (struct waits_state){.from_ns = e->ns,
                              .definition = e->definition,
                              .thread = e->thread,
                              .comm = e->comm,
                              .name = name,
                              .kind = r->kind[name],
                              .outer = r->rank[e->rank].top};
    r->rank[e->rank].top = at;
    return s;
}

/* Removes the state that ends from its list. Returns false if it has not begun. */
static bool pop(struct waits_run *r, const struct gen_log_entry *e, struct waits_state *state) {
    uint32_t *link = &r->rank[e->rank].top;
    while (*link != 0 &&
           (r->open[*link - 1].definition != e->definition || r->open[*link - 1].thread != e->thread)) {
        link = &r->open[*link - 1].outer;
    }
    const uint32_t at = *link;
    if (at == 0) {
        return false;
    }
    *state = r->open[at - 1];
    *link = state->outer;
    r->open[at - 1].outer = r->unused;
    r->unused = at;
    return true;
}

/* Returns the MPI call that contains an end of a message, or NULL. */
static struct waits_state *call_of(struct waits_run *r, const struct gen_log_entry *e) {
    uint32_t at = r->rank[e->rank].top;
    while (at != 0 && (r->open[at - 1].kind == NO_CALL || r->open[at - 1].thread != e->thread)) {
        at = r->open[at - 1].outer;
    }
    return at == 0 ? NULL : &r->open[at - 1];
}

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

/* Removes the oldest request. Returns false if there is none. */
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
    /* posted_of may have counted the message of this receive as completed already. */
    return rank->posted++ < rank->completed || append(r, &rank->posts, e->ns);
}

/* Returns when the receive that `call` completes was posted; 0: unknown. A log does not say which of the posted
 * receives a call completes. The oldest one is assumed, so that a wait is rather too short than too long. */
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
    struct path_wait *grown = hpcw_i_grow(r->wait, &r->wait_capacity, r->waits + 1, sizeof *grown);
    r->wait = grown == NULL ? r->wait : grown;
    if (pair == NULL || grown == NULL) {
        return no_memory(r, err);
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
    r->wait[r->waits++] = (struct path_wait){.to_ns = f->to_ns, .rank = f->rank, .cause = f->cause_rank};
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
        return no_memory(r, err);
    }
    s->serial = (*serial)++;
    struct waits_meeting *m =
        hpcw_i_table_add(&r->meetings, (const uint64_t[]){(uint32_t)s->comm, s->serial}, NULL);
    if (m == NULL) {
        return no_memory(r, err);
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
    struct waits_state *s = push(r, e);
    if (s == NULL) {
        return no_memory(r, err);
    }
    if (s->kind == POST_CALL && e->thread == 0 && !post(r, e)) {
        return no_memory(r, err);
    }
    return s->kind == COLLECTIVE_CALL ? enter_collective(r, e, s, err) : HPCW_OK;
}

/* Adds the wait of a call on `rank` that has sent a message whose receive was posted later. The same call may have
 * waited for a late sender before. That time is a wait of its own, so this wait begins after it. */
static hpcw_status add_late_receiver(struct waits_run *r, uint32_t rank, const struct waits_message *sent,
                                     uint64_t posted_ns, uint32_t cause_rank, uint32_t cause_call,
                                     hpcw_error *err) {
    const uint64_t from_ns = sent->late_ns > sent->enter_ns ? sent->late_ns : sent->enter_ns;
    /* An eager send ends before the receive is posted. */
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

/* Returns the time from which a call on `rank` may wait for receivers: its begin, or the end of its wait for a late
 * sender. */
static uint64_t free_from(const struct waits_state *s) {
    return s->late_ns > s->from_ns ? s->late_ns : s->from_ns;
}

/* Completes the started sends that a call of MPI_Wait or MPI_Waitall is taken to complete: all of the rank, or the oldest
 * one if a call of MPI_Wait has received nothing. *waits: the call's wait for receivers is not known before the
 * messages are received. */
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
        return no_memory(r, err);
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
    if (!pop(r, e, &s)) {
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
        s.posted_ns = 0; /* it completed a receive, and not the send that completer_of assumed */
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
        return no_memory(r, err);
    }
    if (!fresh) {
        r->w->backward++;
        hpcw_i_table_remove(&r->messages, m);
        return HPCW_OK;
    }
    struct waits_state *call = call_of(r, e);
    *m = (struct waits_message){.enter_ns = e->ns, .exit_ns = UINT64_MAX};
    if (call != NULL) {
        m->enter_ns = call->from_ns;
        m->call = call->name;
        m->blocking = call->kind == SEND_CALL || call->kind == EXCHANGE_CALL;
        m->started = call->kind == START_CALL && e->thread == 0;
        call->sends = true;
        call->sent = e->number;
    }
    return m->started && !append(r, &r->rank[e->rank].sends, e->number) ? no_memory(r, err) : HPCW_OK;
}

/* Returns the open call that has sent the message of a receive, or NULL. */
static struct waits_state *sender_of(struct waits_run *r, const struct gen_log_entry *e) {
    uint32_t at = r->rank[e->peer].top;
    while (at != 0 && !(r->open[at - 1].sends && r->open[at - 1].sent == e->number)) {
        at = r->open[at - 1].outer;
    }
    return at == 0 ? NULL : &r->open[at - 1];
}

/* The open call that is taken to complete a started send, or NULL. */
static struct waits_state *completer_of(struct waits_run *r, const struct gen_log_entry *e) {
    const uint32_t oldest = r->rank[e->peer].sends.first;
    uint32_t at = r->rank[e->peer].top;
    while (at != 0 && (r->open[at - 1].kind == NO_CALL || r->open[at - 1].thread != 0)) {
        at = r->open[at - 1].outer;
    }
    struct waits_state *call = at == 0 ? NULL : &r->open[at - 1];
    const bool is =
        call != NULL && (call->kind == WAIT_ALL_CALL || (call->kind == WAIT_CALL && oldest != 0 &&
                                                         r->requests.item[oldest - 1].what == e->number));
    return is ? call : NULL;
}

/* A receive of a started send: the call that completes the send may have waited for it. */
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
        return no_memory(r, err);
    }
    if (fresh) {
        m->received = true;
        return HPCW_OK;
    }
    const struct waits_message sent = *m;
    hpcw_i_table_remove(&r->messages, m);
    r->w->messages++;
    struct waits_state *call = call_of(r, e);
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
    /* The sending call has not ended and may still wait for a late sender. So its end adds this wait. */
    sender->posted_ns = posted_ns;
    sender->posted_rank = (uint32_t)e->rank;
    sender->posted_call = call->name;
    return HPCW_OK;
}

/* ---- the pass over all waits ---- */

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
            return no_memory(r, err);
        }
        (*size)++;
    }
    return HPCW_OK;
}

static hpcw_status find_waits(struct waits_run *r, hpcw_error *err) {
    struct gen_waits *w = r->w;
    w->begin_ns = UINT64_MAX;
    hpcw_status s = count_members(r, err);
    s = s == HPCW_OK ? gen_log_run(r->log, &r->what, true, take_entry, r, err) : s;
    if (s == HPCW_OK && w->begin_ns == UINT64_MAX) {
        s = hpcw_i_fail(err, HPCW_EFORMAT, "%s: expected states, got none: no waits to find", r->path);
    }
    w->unmatched = r->messages.count;
    uint64_t key[HPCW_I_TABLE_KEY];
    const struct waits_meeting *m;
    for (size_t at = 0; (m = hpcw_i_table_next(&r->meetings, &at, key)) != NULL;) {
        w->incomplete += m->arrived < size_of(r, (int32_t)key[0]);
    }
    /* Calls of which some sends were never received, in their order: that of the table is another one in each run. */
    for (uint64_t n = 1; s == HPCW_OK && r->done.table.count > 0 && n <= r->done.calls; n++) {
        const struct waits_done *done = hpcw_i_table_find(&r->done.table, &n);
        s = done == NULL ? HPCW_OK : add_wait_of(r, done, err);
    }
    return s;
}

/* ---- the critical path ---- */

static int by_rank_and_time(const void *a, const void *b) {
    const struct path_wait *x = a;
    const struct path_wait *y = b;
    return x->rank != y->rank     ? (x->rank < y->rank ? -1 : 1)
           : x->to_ns != y->to_ns ? (x->to_ns < y->to_ns ? -1 : 1)
           : x->cause < y->cause  ? -1
                                  : x->cause > y->cause;
}

static int by_rank_and_begin(const void *a, const void *b) {
    const struct path_piece *x = a;
    const struct path_piece *y = b;
    return x->rank != y->rank        ? (x->rank < y->rank ? -1 : 1)
           : x->from_ns < y->from_ns ? -1
                                     : x->from_ns > y->from_ns;
}

static bool add_piece(struct waits_run *r, uint32_t rank, uint64_t from_ns, uint64_t to_ns) {
    if (from_ns >= to_ns) {
        return true;
    }
    struct path_piece *grown = hpcw_i_grow(r->piece, &r->piece_capacity, r->pieces + 1, sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    r->piece = grown;
    r->piece[r->pieces++] = (struct path_piece){from_ns, to_ns, rank};
    r->w->rank[rank].path_ns += to_ns - from_ns;
    return true;
}

/* Returns the number of waits in [first, end) that have ended at `ns`. */
static size_t over_at(const struct waits_run *r, size_t first, size_t end, uint64_t ns) {
    size_t low = first;
    while (low < end) {
        const size_t middle = low + (end - low) / 2;
        if (r->wait[middle].to_ns <= ns) {
            low = middle + 1;
        } else {
            end = middle;
        }
    }
    return low - first;
}

/* Follows the critical path backwards from the end of the log. Uses each wait at most once. So the walk ends,
 * even if ranks wait for each other in a circle at the same time. */
static hpcw_status walk_back(struct waits_run *r, hpcw_error *err) {
    struct gen_waits *w = r->w;
    size_t *first = hpcw_i_calloc(w->ranks + (size_t)1, sizeof *first);
    size_t *end =
        hpcw_i_calloc(w->ranks, sizeof *end); /* one past the last wait of the rank that is not used yet */
    bool good = first != NULL && end != NULL;
    if (good && r->waits > 0) {
        qsort(r->wait, r->waits, sizeof *r->wait, by_rank_and_time);
    }
    for (size_t i = 0; good && i < r->waits; i++) {
        first[r->wait[i].rank + 1] = i + 1;
    }
    for (uint32_t k = 0; good && k < w->ranks; k++) {
        first[k + 1] = first[k + 1] > first[k] ? first[k + 1] : first[k];
        end[k] = first[k + 1];
    }
    uint32_t rank = r->last_rank;
    for (uint64_t ns = w->end_ns; good && ns > w->begin_ns;) {
        const size_t over = over_at(r, first[rank], end[rank], ns);
        if (over == 0) {
            good = add_piece(r, rank, w->begin_ns, ns);
            break;
        }
        end[rank] = first[rank] + over - 1;
        const struct path_wait *wait = &r->wait[end[rank]];
        good = add_piece(r, rank, wait->to_ns, ns);
        ns = wait->to_ns;
        rank = wait->cause;
    }
    hpcw_i_free(first);
    hpcw_i_free(end);
    return good ? HPCW_OK : no_memory(r, err);
}

/* Adds the time since `since_ns` to the innermost state of a rank, as far as it is on the critical path. */
static hpcw_status add_shares(struct waits_run *r, uint32_t rank, uint64_t ns, hpcw_error *err) {
    struct waits_rank_state *s = &r->rank[rank];
    const uint64_t name = s->top == 0 ? 0 : r->open[s->top - 1].name;
    uint64_t time_ns = 0;
    for (; s->piece < s->end && r->piece[s->piece].from_ns < ns; s->piece++) {
        const struct path_piece *p = &r->piece[s->piece];
        const uint64_t from_ns = p->from_ns > s->since_ns ? p->from_ns : s->since_ns;
        const uint64_t to_ns = p->to_ns < ns ? p->to_ns : ns;
        time_ns += to_ns > from_ns ? to_ns - from_ns : 0;
        if (p->to_ns > ns) {
            break;
        }
    }
    s->since_ns = ns;
    if (time_ns == 0) {
        return HPCW_OK;
    }
    uint64_t *share = hpcw_i_table_add(&r->shares, (const uint64_t[]){rank, name}, NULL);
    if (share == NULL) {
        return no_memory(r, err);
    }
    *share += time_ns;
    return HPCW_OK;
}

static hpcw_status take_path_entry(void *context, const struct gen_log_entry *e, hpcw_error *err) {
    struct waits_run *r = context;
    if ((e->letter != 'B' && e->letter != 'E') || e->thread != 0) {
        return HPCW_OK;
    }
    hpcw_status s = add_shares(r, (uint32_t)e->rank, e->ns, err);
    struct waits_state ended;
    if (s == HPCW_OK && e->letter == 'B' && push(r, e) == NULL) {
        s = no_memory(r, err);
    } else if (s == HPCW_OK && e->letter == 'E') {
        (void)pop(r, e, &ended);
    }
    return s;
}

static hpcw_status find_path(struct waits_run *r, hpcw_error *err) {
    hpcw_status s = walk_back(r, err);
    if (s != HPCW_OK) {
        return s;
    }
    if (r->pieces > 0) {
        qsort(r->piece, r->pieces, sizeof *r->piece, by_rank_and_begin);
    }
    memset(r->rank, 0, r->w->ranks * sizeof *r->rank);
    r->opens = r->unused = 0;
    for (size_t i = 0; i < r->pieces; i++) {
        struct waits_rank_state *k = &r->rank[r->piece[i].rank];
        k->piece = k->end == 0 ? i : k->piece;
        k->end = i + 1;
    }
    s = gen_log_run(r->log, &r->what, false, take_path_entry, r, err);
    for (uint32_t k = 0; s == HPCW_OK && k < r->w->ranks; k++) {
        s = add_shares(r, k, r->w->end_ns, err);
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

static int by_share(const void *a, const void *b) {
    const struct gen_waits_share *x = a;
    const struct gen_waits_share *y = b;
    return x->time_ns != y->time_ns ? (x->time_ns > y->time_ns ? -1 : 1)
           : x->rank != y->rank     ? (x->rank < y->rank ? -1 : 1)
           : x->state < y->state    ? -1
                                    : x->state > y->state;
}

static hpcw_status give_results(struct waits_run *r, hpcw_error *err) {
    struct gen_waits *w = r->w;
    uint64_t key[HPCW_I_TABLE_KEY];
    const struct gen_waits_sum *sum;
    const uint64_t *time_ns;
    w->pair = hpcw_i_malloc((r->pairs.count + 1) * sizeof *w->pair);
    w->share = hpcw_i_malloc((r->shares.count + 1) * sizeof *w->share);
    if (w->pair == NULL || w->share == NULL) {
        return no_memory(r, err);
    }
    for (size_t at = 0; (sum = hpcw_i_table_next(&r->pairs, &at, key)) != NULL;) {
        w->pair[w->pairs++] =
            (struct gen_waits_pair){(enum gen_waits_kind)key[0], (uint32_t)key[1], (uint32_t)key[2], *sum};
    }
    for (size_t at = 0; (time_ns = hpcw_i_table_next(&r->shares, &at, key)) != NULL;) {
        w->share[w->shares++] = (struct gen_waits_share){(uint32_t)key[0], (uint32_t)key[1], *time_ns};
    }
    qsort(w->pair, w->pairs, sizeof *w->pair, by_pair);
    qsort(w->share, w->shares, sizeof *w->share, by_share);
    return HPCW_OK;
}

static hpcw_status begin_run(struct waits_run *r, hpcw_error *err) {
    hpcw_status s = gen_log_open(r->path, &r->log, err);
    s = s == HPCW_OK ? gen_log_bound_ranks(r->log, err) : s;
    if (s != HPCW_OK) {
        return s;
    }
    struct gen_waits *w = r->w;
    w->ranks = gen_log_ranks(r->log);
    r->what = (struct gen_export){.from_s = 0, .to_s = INFINITY, .last_rank = w->ranks - 1};
    w->rank = hpcw_i_calloc(w->ranks, sizeof *w->rank);
    r->rank = hpcw_i_calloc(w->ranks, sizeof *r->rank);
    return w->rank == NULL || r->rank == NULL || add_name(r, "") == UINT32_MAX ? no_memory(r, err) : HPCW_OK;
}

static void end_run(struct waits_run *r) {
    gen_log_free(r->log);
    hpcw_i_table_free(&r->names);
    hpcw_i_table_free(&r->messages);
    hpcw_i_table_free(&r->done.table);
    hpcw_i_table_free(&r->sizes);
    hpcw_i_table_free(&r->serials);
    hpcw_i_table_free(&r->meetings);
    hpcw_i_table_free(&r->pairs);
    hpcw_i_table_free(&r->shares);
    hpcw_i_free(r->rank);
    hpcw_i_free(r->open);
    hpcw_i_free(r->requests.item);
    hpcw_i_free(r->kind);
    hpcw_i_free(r->wait);
    hpcw_i_free(r->piece);
}

hpcw_status gen_waits_watch(const char *path, gen_waits_take *take, void *context, struct gen_waits *waits,
                            hpcw_error *err) {
    const uint64_t seed = hpcw_i_table_random();
    struct waits_run r = {
        .w = waits,
        .path = path,
        .take = take,
        .context = context,
        .names = {.key_words = 1, .value_size = sizeof(uint64_t), .seed = seed},
        .messages = {.key_words = 1, .value_size = sizeof(struct waits_message), .seed = seed},
        .done.table = {.key_words = 1, .value_size = sizeof(struct waits_done), .seed = seed},
        .sizes = {.key_words = 1, .value_size = sizeof(uint64_t), .seed = seed},
        .serials = {.key_words = 2, .value_size = sizeof(uint64_t), .seed = seed},
        .meetings = {.key_words = 2, .value_size = sizeof(struct waits_meeting), .seed = seed},
        .pairs = {.key_words = 3, .value_size = sizeof(struct gen_waits_sum), .seed = seed},
        .shares = {.key_words = 2, .value_size = sizeof(uint64_t), .seed = seed},
    };
    memset(waits, 0, sizeof *waits);
    hpcw_status s = begin_run(&r, err);
    s = s == HPCW_OK ? find_waits(&r, err) : s;
    s = s == HPCW_OK ? find_path(&r, err) : s;
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
    hpcw_i_free(waits->share);
    memset(waits, 0, sizeof *waits);
}
