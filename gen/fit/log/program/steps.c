/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/log/program/steps.h"

#include <math.h>
#include <string.h>

#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/base/table.h"

/* ---- names ---- */

/* Verbs of MPI calls. A call that is not listed here becomes a state that takes the time of the call. */
static const struct known {
    const char *name;
    enum fit_verb verb;
    enum sim_call call; /* the simulator's call of this name, or the nearest call that it has */
    bool wraps;
} known[] = {
    {"MPI_Send", FIT_SEND, SIM_CALL_SEND, false},
    {"MPI_Ssend", FIT_SEND, SIM_CALL_SEND, true},
    {"MPI_Bsend", FIT_SEND, SIM_CALL_SEND, true},
    {"MPI_Rsend", FIT_SEND, SIM_CALL_SEND, true},
    {"MPI_Recv", FIT_RECV, SIM_CALL_RECV, false},
    {"MPI_Mrecv", FIT_RECV, SIM_CALL_RECV, true},
    {"MPI_Isend", FIT_ISEND, SIM_CALL_ISEND, false},
    {"MPI_Issend", FIT_ISEND, SIM_CALL_ISEND, true},
    {"MPI_Ibsend", FIT_ISEND, SIM_CALL_ISEND, true},
    {"MPI_Irsend", FIT_ISEND, SIM_CALL_ISEND, true},
    {"MPI_Start", FIT_ISEND, SIM_CALL_ISEND, true},
    {"MPI_Startall", FIT_ISEND, SIM_CALL_ISEND, true},
    {"MPI_Irecv", FIT_IRECV, SIM_CALL_IRECV, false},
    {"MPI_Imrecv", FIT_IRECV, SIM_CALL_IRECV, true},
    {"MPI_Sendrecv", FIT_SENDRECV, SIM_CALL_SENDRECV, false},
    {"MPI_Sendrecv_replace", FIT_SENDRECV, SIM_CALL_SENDRECV, true},
    {"MPI_Wait", FIT_WAIT, SIM_CALL_WAIT, false},
    {"MPI_Test", FIT_WAIT, SIM_CALL_WAIT, true},
    {"MPI_Waitall", FIT_WAITALL, SIM_CALL_WAITALL, false},
    {"MPI_Testall", FIT_WAITALL, SIM_CALL_WAITALL, true},
    {"MPI_Waitsome", FIT_WAITALL, SIM_CALL_WAITALL, true},
    {"MPI_Testsome", FIT_WAITALL, SIM_CALL_WAITALL, true},
    {"MPI_Waitany", FIT_WAITANY, SIM_CALL_WAITANY, false},
    {"MPI_Testany", FIT_WAITANY, SIM_CALL_WAITANY, true},
    {"MPI_Barrier", FIT_MEET, SIM_CALL_BARRIER, false},
    {"MPI_Bcast", FIT_MEET, SIM_CALL_BCAST, false},
    {"MPI_Reduce", FIT_MEET, SIM_CALL_REDUCE, false},
    {"MPI_Allreduce", FIT_MEET, SIM_CALL_ALLREDUCE, false},
    {"MPI_Reduce_scatter", FIT_MEET, SIM_CALL_ALLREDUCE, true},
    {"MPI_Reduce_scatter_block", FIT_MEET, SIM_CALL_ALLREDUCE, true},
    {"MPI_Scan", FIT_MEET, SIM_CALL_ALLREDUCE, true},
    {"MPI_Exscan", FIT_MEET, SIM_CALL_ALLREDUCE, true},
    {"MPI_Gather", FIT_MEET, SIM_CALL_GATHER, false},
    {"MPI_Scatter", FIT_MEET, SIM_CALL_SCATTER, false},
    {"MPI_Allgather", FIT_MEET, SIM_CALL_ALLGATHER, false},
    {"MPI_Alltoall", FIT_MEET, SIM_CALL_ALLTOALL, false},
    {"MPI_Gatherv", FIT_MEET, SIM_CALL_GATHERV, false},
    {"MPI_Scatterv", FIT_MEET, SIM_CALL_SCATTERV, false},
    {"MPI_Allgatherv", FIT_MEET, SIM_CALL_ALLGATHERV, false},
    {"MPI_Alltoallv", FIT_MEET, SIM_CALL_ALLTOALLV, false},
    {"MPI_Alltoallw", FIT_MEET, SIM_CALL_ALLTOALLV, true},
    {"MPI_Comm_split", FIT_SPLIT, SIM_CALL_SPLIT, false},
    {"MPI_Comm_dup", FIT_SPLIT, SIM_CALL_SPLIT, true},
    {"MPI_Comm_create", FIT_SPLIT, SIM_CALL_SPLIT, true},
    {"MPI_Comm_split_type", FIT_SPLIT, SIM_CALL_SPLIT, true},
    {"MPI_Cart_create", FIT_SPLIT, SIM_CALL_SPLIT, true},
    {"MPI_Cart_sub", FIT_SPLIT, SIM_CALL_SPLIT, true},
    {"MPI_Graph_create", FIT_SPLIT, SIM_CALL_SPLIT, true},
    {"MPI_Dist_graph_create", FIT_SPLIT, SIM_CALL_SPLIT, true},
    {"MPI_Dist_graph_create_adjacent", FIT_SPLIT, SIM_CALL_SPLIT, true},
};
enum { KNOWN = sizeof known / sizeof known[0] };

static const struct known *find_known(const char *name) {
    for (size_t i = 0; i < KNOWN; i++) {
        if (strcmp(known[i].name, name) == 0) {
            return &known[i];
        }
    }
    return NULL;
}

/* ---- one rank ---- */

/* Tag of messages of one-sided calls such as MPI_Put: the calling rank has both ends of the message. */
enum { ONE_SIDED = INT32_MAX };

struct making {
    const struct fit_history *h;
    const struct fit_rank *rank;
    const struct known **known; /* [names] NULL: the call becomes a state */
    struct fit_steps *s;
    struct fit_lack *lack;
    /* [ends] for the end of a receive: index of the Irecv that posted it, plus 1; 0: not found */
    uint32_t *given;
    uint32_t *of;           /* [calls] for an Irecv: index of the end of its receive, plus 1; 0: not found */
    size_t receives, sends; /* under way */
    size_t nobody;          /* receives from MPI_PROC_NULL under way */
    size_t either;          /* number of the next calls of MPI_Waitany that may complete any request */
    size_t idle;  /* number of the next calls of MPI_Wait without a message that end a receive from nobody */
    size_t mades; /* number of communicators that the rank has obtained so far */
    /* [calls] Irecvs without the end of a receive so far, oldest first: indices of calls */
    uint32_t *open;
    uint32_t *sent; /* [calls] receivers of the Isends under way; FIT_NOBODY: MPI_PROC_NULL */
    bool failed;    /* memory ran out */
};

static enum fit_verb verb_of(const struct making *m, const struct fit_call *c) {
    const struct known *k = m->known[c->name];
    return k == NULL ? FIT_OTHER : k->verb;
}

static bool is_receive(const struct making *m, size_t end) {
    const struct fit_end *e = &m->rank->end[end];
    return !e->send && e->tag != ONE_SIDED;
}

/* Receives and sends that no call has completed yet. */
struct pending {
    size_t first, last; /* range of elements of m->open */
    size_t sends;       /* number of elements of m->sent */
    bool nobody; /* some receives are from MPI_PROC_NULL: more receives are posted than messages arrive */
};

static void give(struct making *m, uint32_t end, uint32_t call) {
    m->of[call] = end + 1;
    m->s->posted[end] = m->rank->call[call].begin;
    m->given[end] = call + 1;
}

/* Calls of MPI_Wait, or of MPI_Waitany, one after the other. Which call of MPI_Waitany completes which request is a
 * matter of time. So these are taken to complete their requests together, as MPI_Waitall does. */
struct run {
    struct fit_call call; /* the first call, with the ends of all calls; of another name: the call itself */
    size_t calls;         /* number of calls; 0: the call has another name, or is not the first one */
};

static bool waits_for_one(const struct making *m, size_t c, enum fit_verb verb) {
    return verb_of(m, &m->rank->call[c]) == verb && !m->known[m->rank->call[c].name]->wraps;
}

static struct run run_at(const struct making *m, size_t c) {
    struct run run = {.call = m->rank->call[c]};
    const enum fit_verb verb = verb_of(m, &run.call);
    const bool first = (verb == FIT_WAIT || verb == FIT_WAITANY) && (c == 0 || !waits_for_one(m, c - 1, verb));
    for (size_t k = c; first && k < m->rank->calls && waits_for_one(m, k, verb); k++) {
        run.call.ends += k > c ? m->rank->call[k].ends : 0;
        run.calls++;
    }
    return run;
}

/* Returns the first receive from `peer` that ends in a run and is not assigned to an Irecv; otherwise the index
 * after the last end. The receives of a single call are sorted by peer. */
static uint32_t find_receive(const struct making *m, const struct run *run, uint32_t peer) {
    const uint32_t last = run->call.first + run->call.ends;
    uint32_t low = run->call.first, high = run->calls > 1 ? low : last;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const struct fit_end *e = &m->rank->end[middle];
        if (e->send || e->peer < peer) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    while (low < last && (m->rank->end[low].peer != peer || m->given[low] > 0 || !is_receive(m, low))) {
        low++;
    }
    return low;
}

/* Assigns receives to the posted Irecvs if they end in a run that completes all requests. A log does not show
 * which Irecv a receive belongs to. If there are as many Isends, the n-th Irecv is assumed to be from the rank to
 * which the n-th Isend goes, as in an exchange with neighbours. If there are more, the last Isends count. */
static void give_all(struct making *m, const struct run *run, struct pending *p) {
    const uint32_t last = run->call.first + run->call.ends;
    const size_t posts = p->last - p->first;
    for (size_t i = 0; p->sends >= posts && i < posts; i++) {
        const uint32_t peer = m->sent[p->sends - posts + i];
        const uint32_t e = peer == FIT_NOBODY ? last : find_receive(m, run, peer);
        if (e < last) {
            give(m, e, m->open[p->first + i]);
        }
    }
    for (uint32_t e = run->call.first; e < last; e++) {
        while (p->first < p->last && m->of[m->open[p->first]] > 0) {
            p->first++;
        }
        if (is_receive(m, e) && m->given[e] == 0 && p->first < p->last) {
            give(m, e, m->open[p->first++]);
        }
    }
    p->first = p->last;
}

/* Assigns the receives that end in a call to the oldest posted Irecvs. */
static void give_oldest(struct making *m, const struct fit_call *call, struct pending *p) {
    const enum fit_verb verb = verb_of(m, call);
    bool own = verb == FIT_RECV || verb == FIT_SENDRECV;
    for (uint32_t e = call->first; e < call->first + call->ends; e++) {
        if (!is_receive(m, e)) {
            continue;
        }
        if (own) {
            own = false;
            m->s->posted[e] = call->begin;
        } else if (p->first < p->last) {
            give(m, e, m->open[p->first++]);
        }
    }
}

static size_t receives_of(const struct making *m, const struct fit_call *call) {
    size_t receives = 0;
    for (uint32_t e = call->first; e < call->first + call->ends; e++) {
        receives += is_receive(m, e);
    }
    return receives;
}

/* Returns whether more receives are posted than messages arrive. Then some receives are from MPI_PROC_NULL. */
static bool has_nobody(const struct making *m) {
    size_t posts = 0, receives = 0;
    for (size_t c = 0; c < m->rank->calls; c++) {
        const struct fit_call *call = &m->rank->call[c];
        const enum fit_verb verb = verb_of(m, call);
        const size_t ends = receives_of(m, call);
        posts += verb == FIT_IRECV;
        receives += ends - ((verb == FIT_RECV || verb == FIT_SENDRECV) && ends > 0);
    }
    return posts > receives;
}

/* Returns whether a call after call `c` completes receives before further receives are posted. */
static bool end_later(const struct making *m, size_t c) {
    for (size_t k = c + 1; k < m->rank->calls; k++) {
        const struct fit_call *call = &m->rank->call[k];
        const enum fit_verb verb = verb_of(m, call);
        if (verb == FIT_IRECV) {
            return false;
        }
        if (verb != FIT_RECV && verb != FIT_SENDRECV && receives_of(m, call) > 0) {
            return true;
        }
    }
    return false;
}

/* Returns whether the run that begins with call `c` completes all posted receives. Receives from MPI_PROC_NULL
 * end without a message. A call in which no message ends may have waited for sends alone. */
static bool ends_all(const struct making *m, size_t c, const struct run *run, const struct pending *p) {
    const size_t posts = p->last - p->first, receives = receives_of(m, &run->call);
    const enum fit_verb verb = verb_of(m, &run->call);
    if (run->calls > 0 ? run->calls < posts : verb != FIT_WAITALL) {
        return false;
    }
    if (receives == posts) {
        return verb != FIT_WAIT; /* MPI_Wait ends them in the order in which they were posted */
    }
    return p->nobody && receives < posts && (receives > 0 || !end_later(m, c));
}

/* Finds the Irecv of each receive that ends in another call than the one that posted it. */
static void give_receives(struct making *m) {
    struct pending p = {.nobody = has_nobody(m)};
    for (size_t c = 0; c < m->rank->calls; c++) {
        const struct fit_call *call = &m->rank->call[c];
        const enum fit_verb verb = verb_of(m, call);
        if (verb == FIT_IRECV) {
            m->open[p.last++] = (uint32_t)c;
        } else if (verb == FIT_ISEND) {
            m->sent[p.sends++] =
                call->ends > 0 && m->rank->end[call->first].send ? m->rank->end[call->first].peer : FIT_NOBODY;
        }
        const struct run run = run_at(m, c);
        if (ends_all(m, c, &run, &p)) {
            give_all(m, &run, &p);
            p.sends = 0;
        } else {
            give_oldest(m, call, &p);
        }
    }
}

static void add_item(struct making *m, struct fit_step *step, struct fit_item item) {
    struct fit_steps *s = m->s;
    struct fit_item *grown = hpcw_i_grow(s->item, &s->item_capacity, s->items + 1, sizeof *grown);
    if (grown == NULL) {
        m->failed = true;
        return;
    }
    s->item = grown;
    s->item[s->items++] = item;
    step->items++;
}

static void add_end(struct making *m, struct fit_step *step, const struct fit_end *e) {
    add_item(m, step, (struct fit_item){e->peer, e->bytes, e->tag, e->send});
}

/* Adds the messages that a call sends as items of its step. receive: also adds the first message that ends in
 * the call. */
static void add_messages(struct making *m, struct fit_step *step, const struct fit_call *call, bool receive) {
    const struct fit_end *end = m->rank->end;
    for (uint32_t e = call->first; e < call->first + call->ends; e++) {
        if (end[e].send && end[e].tag != ONE_SIDED && step->verb != FIT_RECV) {
            add_end(m, step, &end[e]);
        }
    }
    for (uint32_t e = call->first; receive && e < call->first + call->ends; e++) {
        if (is_receive(m, e)) {
            add_end(m, step, &end[e]);
            return;
        }
    }
}

/* Counts the receives that end in a call. Those without a known Irecv become items of the step: they are posted
 * by the call itself. */
static void count_receives(struct making *m, struct fit_step *step, const struct fit_call *call) {
    for (uint32_t e = call->first; e < call->first + call->ends; e++) {
        if (is_receive(m, e)) {
            step->receives++;
            if (m->given[e] == 0) {
                add_end(m, step, &m->rank->end[e]);
            }
        }
    }
}

static void make_wait(struct making *m, struct fit_step *step, const struct fit_call *call) {
    const struct run run = run_at(m, step->call_index);
    if (run.calls > 0) {
        const bool all = run.calls == m->receives + m->nobody + m->sends;
        m->either = all && step->verb == FIT_WAITANY ? run.calls : 0;
        m->idle = all && step->verb == FIT_WAIT ? m->nobody : 0;
    }
    count_receives(m, step, call);
    if (m->idle > 0 && step->verb == FIT_WAIT && step->receives == 0) {
        step->receives = 1; /* of those that are posted, this one is from nobody */
        m->idle--;
        m->nobody--;
        return;
    }
    m->receives += step->items; /* posted here */
    if (m->either > 0) {
        step->all = true;
        m->either--;
        if (m->either == 0) {
            m->receives = 0;
            m->nobody = 0;
            m->sends = 0;
        }
        return;
    }
    const bool any = step->receives > 0 || m->sends > 0;
    step->all = step->verb == FIT_WAITALL && any && step->receives == m->receives;
    m->nobody = step->all ? 0 : m->nobody;
    if (step->all || (step->verb == FIT_WAITALL && step->receives == 0)) {
        step->sends = (uint32_t)m->sends;
    } else if (step->receives == 0) {
        step->sends = m->sends > 0;
    }
    if ((step->verb == FIT_WAIT || step->verb == FIT_WAITANY) && step->receives > 1) {
        step->verb = FIT_WAITALL;
        step->wraps = true;
    }
    m->receives -= step->receives;
    m->sends -= step->sends;
    if (!any || step->receives + step->sends == 0) {
        step->verb = FIT_OTHER;
    }
}

static uint32_t clip(uint64_t bytes) {
    return bytes < SIM_MOST_BYTES ? (uint32_t)bytes : SIM_MOST_BYTES;
}

/* Converts the bytes of a collective call to those that the simulator counts: the bytes of one rank, or from one
 * rank to another. */
static uint64_t bytes_of(const struct making *m, const struct fit_call *c, enum sim_call call) {
    const uint64_t size = m->h->comm[c->comm].size > 0 ? m->h->comm[c->comm].size : 1;
    const uint64_t both = c->sent > c->received ? c->sent : c->received;
    switch (call) {
    case SIM_CALL_ALLTOALL:
    case SIM_CALL_ALLTOALLV:
        return c->sent / size;
    case SIM_CALL_ALLGATHER:
    case SIM_CALL_ALLGATHERV:
    case SIM_CALL_GATHER:
    case SIM_CALL_GATHERV:
        return c->sent;
    case SIM_CALL_SCATTER:
    case SIM_CALL_SCATTERV:
        return c->received;
    default:
        return both;
    }
}

/* Returns the caller's rank in a communicator, and the number of the first one with the same members. A program may
 * make the same communicator in each turn of a loop, so that the turns are equal. */
static uint32_t place_in(const struct making *m, uint32_t comm, size_t *slot) {
    for (*slot = 0; *slot < m->rank->mades; (*slot)++) {
        if (m->h->comm[m->rank->made[*slot].comm].members == m->h->comm[comm].members) {
            return m->rank->made[*slot].place;
        }
    }
    return FIT_NOBODY;
}

/* Returns whether the caller is the root of a collective call. Only the root of a broadcast or scatter sends
 * bytes, only that of a reduce or gather receives bytes. */
static bool is_root(const struct fit_call *c, enum sim_call call) {
    switch (call) {
    case SIM_CALL_BCAST:
        return c->sent > 0;
    case SIM_CALL_REDUCE:
    case SIM_CALL_GATHER:
    case SIM_CALL_GATHERV:
        return c->received > 0;
    case SIM_CALL_SCATTER:
    case SIM_CALL_SCATTERV:
        return c->sent > 0;
    default:
        return false;
    }
}

/* Returns whether calls of this name exchange data between ranks. */
static bool exchanges(const char *name, const struct known *k) {
    static const char *const begin[] = {
        "MPI_Put",         "MPI_Get_accumulate", "MPI_Accumulate",       "MPI_Rput",       "MPI_Rget",
        "MPI_Raccumulate", "MPI_Fetch_and_op",   "MPI_Compare_and_swap", "MPI_Win_",       "MPI_Neighbor_",
        "MPI_Ineighbor_",  "MPI_Ibarrier",       "MPI_Ibcast",           "MPI_Igather",    "MPI_Iscatter",
        "MPI_Iallgather",  "MPI_Ialltoall",      "MPI_Ireduce",          "MPI_Iallreduce", "MPI_Iscan",
        "MPI_Iexscan",     "MPI_File_",          "MPI_Comm_spawn",       "MPI_Intercomm_"};
    bool does = strcmp(name, "MPI_Get") == 0 || (k != NULL && k->verb == FIT_MEET);
    for (size_t i = 0; i < sizeof begin / sizeof begin[0]; i++) {
        does = does || strncmp(name, begin[i], strlen(begin[i])) == 0;
    }
    return does;
}

static void add_lack(struct making *m, const struct fit_call *call) {
    struct fit_lack *lack = &m->lack[call->name];
    lack->calls++;
    lack->seconds += call->end - call->begin;
    lack->bytes += call->sent;
    for (uint32_t e = call->first; e < call->first + call->ends; e++) {
        lack->bytes += m->rank->end[e].send ? m->rank->end[e].bytes : 0;
    }
}

static void make_step(struct making *m, struct fit_step *step, size_t c) {
    const struct fit_call *call = &m->rank->call[c];
    const struct known *k = m->known[call->name];
    size_t slot = 0;
    *step = (struct fit_step){.verb = (uint8_t)verb_of(m, call),
                              .name = call->name,
                              .wraps = k != NULL && k->wraps,
                              .call = (uint8_t)(k != NULL ? k->call : SIM_CALLS),
                              .first = (uint32_t)m->s->items,
                              .call_index = (uint32_t)c,
                              .calls = 1};
    switch (step->verb) {
    case FIT_RECV:
    case FIT_SENDRECV:
    case FIT_SEND:
    case FIT_ISEND:
        add_messages(m, step, call, step->verb == FIT_RECV || step->verb == FIT_SENDRECV);
        if (step->verb == FIT_SENDRECV && step->items == 1) {
            /* One half of the exchange has no partner (MPI_PROC_NULL). */
            const bool sends = m->s->item[step->first].send;
            add_item(m, step, (struct fit_item){.peer = FIT_NOBODY, .send = !sends});
            if (!sends) {
                const struct fit_item receive = m->s->item[step->first];
                m->s->item[step->first] = m->s->item[step->first + 1];
                m->s->item[step->first + 1] = receive;
            }
        } else if (step->items == 0) {
            add_item(m, step, (struct fit_item){.peer = FIT_NOBODY});
            if (step->verb == FIT_SENDRECV) {
                add_item(m, step, (struct fit_item){.peer = FIT_NOBODY});
            }
        }
        m->sends += step->verb == FIT_ISEND ? step->items : 0;
        break;
    case FIT_IRECV:
        if (m->of[c] == 0) {
            add_item(m, step, (struct fit_item){.peer = FIT_NOBODY});
            m->nobody++;
        } else {
            add_end(m, step, &m->rank->end[m->of[c] - 1]);
            m->receives++;
        }
        break;
    case FIT_WAIT:
    case FIT_WAITALL:
    case FIT_WAITANY:
        make_wait(m, step, call);
        break;
    case FIT_MEET: {
        const bool world = call->comm == 0;
        const uint32_t place = world ? (uint32_t)(m->rank - m->h->rank) : place_in(m, call->comm, &slot);
        if (place == FIT_NOBODY) {
            step->verb = FIT_OTHER; /* the communicator was made by an unknown call */
        } else {
            step->comm = world ? 0 : (uint32_t)slot + 1;
            const bool root = is_root(call, (enum sim_call)step->call);
            add_item(m, step,
                     (struct fit_item){root ? place : FIT_NOBODY,
                                       clip(bytes_of(m, call, (enum sim_call)step->call)), 0, false});
        }
        break;
    }
    case FIT_SPLIT: {
        /* A communicator exists from the end of its call on. It is recorded before the next call at the
         * latest. */
        const double next = c + 1 < m->rank->calls ? fmax(call->end, call[1].begin) : INFINITY;
        const struct fit_made *found = NULL;
        while (m->mades < m->rank->mades && m->rank->made[m->mades].time < call->begin) {
            m->mades++;
        }
        if (m->mades < m->rank->mades && m->rank->made[m->mades].time <= next) {
            found = &m->rank->made[m->mades++];
        }
        step->members = found != NULL ? m->h->comm[found->comm].members : 0;
        add_item(m, step,
                 (struct fit_item){found != NULL ? m->h->comm[found->comm].leader : FIT_NOBODY,
                                   found != NULL ? found->place : 0, 0, false});
        step->comm = call->comm == 0 || place_in(m, call->comm, &slot) == FIT_NOBODY ? 0 : (uint32_t)slot + 1;
        break;
    }
    default:
        break;
    }
    if (step->verb == FIT_OTHER && exchanges(m->h->name[call->name], k)) {
        add_lack(m, call);
    }
}

/* Returns whether a step continues the previous one, that is, makes the same call with another partner. */
static bool continues(const struct making *m, const struct fit_step *last, const struct fit_step *next) {
    const bool grows =
        next->verb == FIT_SEND || next->verb == FIT_RECV || next->verb == FIT_ISEND || next->verb == FIT_IRECV;
    if (!grows || last->verb != next->verb || last->name != next->name || next->items != 1 ||
        last->items != last->calls) {
        return false;
    }
    for (uint32_t i = 0; i < last->items; i++) {
        const uint32_t peer = m->s->item[last->first + i].peer;
        if (peer == m->s->item[next->first].peer && peer != FIT_NOBODY) {
            return false;
        }
    }
    return true;
}

static void add_step(struct making *m, const struct fit_step *step) {
    struct fit_steps *s = m->s;
    if (s->count > 0 && continues(m, &s->step[s->count - 1], step)) {
        s->step[s->count - 1].items++;
        s->step[s->count - 1].calls++;
        return;
    }
    struct fit_step *grown = hpcw_i_grow(s->step, &s->step_capacity, s->count + 1, sizeof *grown);
    if (grown == NULL) {
        m->failed = true;
        return;
    }
    s->step = grown;
    s->step[s->count++] = *step;
}

/* ---- numbers ---- */

static uint64_t mix(uint64_t hash, uint64_t value) {
    return hpcw_i_table_mix(hash * UINT64_C(0x9E3779B97F4A7C15) + value + 1);
}

/* Returns a hash of those members of a step that are equal on all ranks of a role. */
static uint64_t form_of(const struct fit_step *p) {
    uint64_t hash = mix(p->verb, p->call);
    hash = mix(hash, p->name);
    hash = mix(hash, p->comm);
    hash = mix(hash, (uint64_t)p->all << 1 | p->wraps);
    return p->all ? hash : mix(mix(hash, p->receives), p->sends);
}

hpcw_status fit_steps_number(struct fit_steps *s, bool loose, hpcw_error *err) {
    hpcw_i_free(s->number);
    s->numbers = 0;
    s->hash = 0;
    struct hpcw_i_table numbers = {.key_words = 1, .value_size = sizeof(uint32_t)};
    s->number = hpcw_i_malloc((s->count + 1) * sizeof *s->number);
    bool failed = s->number == NULL;
    for (size_t i = 0; !failed && i < s->count; i++) {
        const struct fit_step *p = &s->step[i];
        const uint64_t form = form_of(p);
        /* Includes the members of a new communicator: on a grid, rank 0 leads its row and its column, so both
         * splits would be equal on rank 0, but not on other ranks. */
        uint64_t hash = mix(loose ? form : mix(form, p->items), p->members);
        for (uint32_t k = p->first; !loose && k < p->first + p->items; k++) {
            hash = mix(mix(mix(hash, s->item[k].peer), s->item[k].bytes), (uint32_t)s->item[k].tag);
        }
        bool fresh;
        uint32_t *number = hpcw_i_table_add(&numbers, &hash, &fresh);
        if (number != NULL && fresh) {
            uint32_t *grown = hpcw_i_grow(s->sample, &s->sample_capacity, s->numbers + 1, sizeof *grown);
            if (grown != NULL) {
                s->sample = grown;
                s->sample[s->numbers] = (uint32_t)i;
                *number = (uint32_t)s->numbers++;
                s->hash = mix(s->hash, form);
            }
            failed = grown == NULL;
        }
        failed = failed || number == NULL;
        if (!failed) {
            s->number[i] = *number;
            s->hash = mix(s->hash, *number);
        }
    }
    hpcw_i_table_free(&numbers);
    return failed ? hpcw_i_fail_memory(err, "fit", s->count, "steps") : HPCW_OK;
}

static bool begin(struct making *m) {
    const size_t ends = m->rank->ends + 1, calls = m->rank->calls + 1;
    m->known = hpcw_i_calloc(m->h->names + 1, sizeof(*m->known));
    m->given = hpcw_i_calloc(ends, sizeof *m->given);
    m->of = hpcw_i_calloc(calls, sizeof *m->of);
    m->open = hpcw_i_calloc(calls, sizeof *m->open);
    m->sent = hpcw_i_calloc(calls, sizeof *m->sent);
    m->s->posted = hpcw_i_malloc(ends * sizeof *m->s->posted);
    if (m->known == NULL || m->given == NULL || m->of == NULL || m->open == NULL || m->sent == NULL ||
        m->s->posted == NULL) {
        return false;
    }
    for (size_t i = 0; i < m->h->names; i++) {
        m->known[i] = find_known(m->h->name[i]);
    }
    for (size_t i = 0; i < ends; i++) {
        m->s->posted[i] = NAN;
    }
    return true;
}

hpcw_status fit_steps_make(const struct fit_history *h, uint32_t rank, struct fit_steps *s,
                           struct fit_lack *lack, hpcw_error *err) {
    *s = (struct fit_steps){0};
    struct making m = {.h = h, .rank = &h->rank[rank], .s = s, .lack = lack};
    m.failed = !begin(&m);
    if (!m.failed) {
        give_receives(&m);
    }
    for (size_t c = 0; !m.failed && c < m.rank->calls; c++) {
        struct fit_step step;
        make_step(&m, &step, c);
        add_step(&m, &step);
    }
    hpcw_i_free(m.known);
    hpcw_i_free(m.given);
    hpcw_i_free(m.of);
    hpcw_i_free(m.open);
    hpcw_i_free(m.sent);
    return m.failed ? hpcw_i_fail_memory(err, "fit", m.rank->calls, "calls") : HPCW_OK;
}

void fit_steps_free(struct fit_steps *s) {
    hpcw_i_free(s->step);
    hpcw_i_free(s->item);
    hpcw_i_free(s->number);
    hpcw_i_free(s->sample);
    hpcw_i_free(s->posted);
    *s = (struct fit_steps){0};
}
