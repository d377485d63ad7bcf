/* SPDX-License-Identifier: BSD-3-Clause */
/* Figures of an event log. Compares the rates of messages, collective calls and checkpoints with what memory,
 * network cards and file servers can do. Also prints figures of waits, and of the agreement with load data. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/waits/waits.h"
#include "libreader/clog2/clog2.h"
#include "libwriter/base/bytes.h"
#include "libwriter/base/status.h"
#include "tests/realism/figures.h"

/* Length of the windows in which a node's bytes are counted, seconds. Windows overlap by half. */
#define WINDOW_S 1e-3

/* Fewest calls of all ranks from which a clock can be judged. */
enum { FEW_CALLS = 4 };

enum collective { NO_COLLECTIVE, BARRIER, BCAST, REDUCE, GATHER, SCATTER, ALLREDUCE, ALLGATHER, ALLTOALL };

/* A collective call on a communicator. */
struct meeting {
    double first_from, last_from, first_to, last_to; /* begins and ends of its ranks' calls, seconds */
    double longest, sum;                             /* durations of its ranks' calls, seconds */
    /* [ranks] end of the rank's call, seconds; NULL: not all ranks of the log take part, or ranks may leave the
     * call before all have entered it */
    double *exit;
    uint64_t serial;
    uint32_t ranks;
    uint64_t sent, received; /* most bytes that one rank sends and receives */
    uint32_t kind;
    int32_t comm;
};

/* Bytes of messages that begin and end in one window. */
struct window {
    double in, out;
};

struct log_figures {
    struct dataset *d;
    uint32_t ranks, hosts;
    hpcw_status status; /* HPCW_ENOMEM ends the pass */
    double first_from, last_to;

    /* Messages. */
    /* [ranks] times of the last message that the rank sent and received in the current call, seconds; NAN: none */
    double *sent_at, *came_at;
    double latest;        /* time of the last message, seconds */
    double *pending;      /* [ranks] bytes of the message in the current send; 0: none */
    uint64_t borders;     /* number of messages whose time is compared with the begin or end of their call */
    uint64_t off_borders; /* number of messages in `borders` whose time differs */
    uint64_t met, backward;
    double best_bytes_s[2];      /* largest rate of a message between hosts, and within a host, bytes/s */
    double send_bytes_s;         /* largest rate of an MPI_Send, bytes/s */
    struct hpcw_i_table sizes;   /* bytes of a message or collective call -> uint64_t count */
    struct hpcw_i_table windows; /* (host, number of the window) -> struct window */

    /* Collective calls. */
    struct hpcw_i_table calls;    /* communicator << 32 | rank -> uint64_t collective calls so far */
    struct hpcw_i_table members;  /* (communicator, host + 1, or 0 for all) -> uint64_t number of ranks */
    struct hpcw_i_table meetings; /* (communicator, serial) -> struct meeting */

    /* Phases. */
    uint64_t *phase; /* [ranks] number of phases ended so far */
    /* [phases][ranks] end of each phase, seconds; NULL: no load data to compare with */
    double *phase_end;
    double *compute;    /* [ranks] compute time in the current phase, seconds */
    double *before;     /* [2][ranks] ln(compute time) of the last two phases */
    double computed[2]; /* total compute time of rank 0 and of the others, seconds */
    double furthest;    /* largest relative difference between a rank's compute time in a phase and its load */
    /* for each rank and phase: ln(compute time), minus the mean of this value in the phases before and after */
    struct stats_values jump;
    struct hpcw_i_table injected; /* (rank, phase) -> uint64_t 1 + index in d->interrupted */

    uint64_t *checkpoint_of; /* [ranks] number of checkpoints so far */
};

static void *add(struct log_figures *g, struct hpcw_i_table *table, const uint64_t *key, bool *fresh) {
    void *value = hpcw_i_table_add(table, key, fresh);
    g->status = value == NULL ? HPCW_ENOMEM : g->status;
    return value;
}

static uint32_t host_of(const struct log_figures *g, uint32_t rank) {
    return g->d->host != NULL ? g->d->host[rank] : 0;
}

static void add_size(struct log_figures *g, uint64_t bytes) {
    (void)add(g, &g->sizes, &bytes, NULL);
}

/* ---- collective calls ---- */

static const char *const collective_name[] = {
    [BARRIER] = "MPI_Barrier",     [BCAST] = "MPI_Bcast",       [REDUCE] = "MPI_Reduce",
    [GATHER] = "MPI_Gather",       [SCATTER] = "MPI_Scatter",   [ALLREDUCE] = "MPI_Allreduce",
    [ALLGATHER] = "MPI_Allgather", [ALLTOALL] = "MPI_Alltoall",
};

/* Returns whether all ranks must enter this kind of collective call before any rank can leave it. */
static bool is_of_all(enum collective kind) {
    return kind == BARRIER || kind >= ALLREDUCE;
}

static enum collective collective_of(const char *name) {
    for (int i = BARRIER; i <= ALLTOALL; i++) {
        if (strcmp(name, collective_name[i]) == 0) {
            return (enum collective)i;
        }
    }
    return NO_COLLECTIVE;
}

static void count_member(struct log_figures *g, int32_t comm, uint32_t rank) {
    for (int all = 0; all < 2; all++) {
        const uint64_t key[] = {(uint64_t)comm, all ? 0 : 1 + (uint64_t)host_of(g, rank)};
        uint64_t *ranks = add(g, &g->members, key, NULL);
        if (ranks != NULL) {
            ++*ranks;
        }
    }
}

static void take_collective(struct log_figures *g, const struct read_clog2_stretch *s, enum collective kind) {
    const uint64_t caller = (uint64_t)s->comm << 32 | s->rank;
    bool fresh;
    uint64_t *calls = add(g, &g->calls, &caller, &fresh);
    if (calls == NULL) {
        return;
    }
    if (fresh) {
        count_member(g, s->comm, s->rank);
    }
    const uint64_t key[] = {(uint64_t)s->comm, (*calls)++};
    struct meeting *m = add(g, &g->meetings, key, &fresh);
    if (m == NULL) {
        return;
    }
    if (fresh) {
        *m = (struct meeting){s->from, s->from, s->to, s->to, .kind = kind, .comm = s->comm, .serial = key[1]};
        m->exit = s->comm == 0 && is_of_all(kind) ? stats_alloc(g->ranks, sizeof *m->exit) : NULL;
    }
    if (m->exit != NULL) {
        m->exit[s->rank] = s->to;
    }
    m->first_from = fmin(m->first_from, s->from);
    m->last_from = fmax(m->last_from, s->from);
    m->first_to = fmin(m->first_to, s->to);
    m->last_to = fmax(m->last_to, s->to);
    m->longest = fmax(m->longest, s->to - s->from);
    m->sum += s->to - s->from;
    m->ranks++;
    if (s->cargo != NULL && kind != BARRIER) {
        const bool narrow = kind == ALLTOALL;
        const uint64_t sent = narrow ? hpcw_i_get_u32(s->cargo, true) : hpcw_i_get_u64(s->cargo, true);
        const uint64_t received = narrow ? sent : hpcw_i_get_u64(s->cargo + 8, true);
        m->sent = sent > m->sent ? sent : m->sent;
        m->received = received > m->received ? received : m->received;
        if (sent > 0) { /* ranks other than the root of a broadcast send nothing */
            add_size(g, sent);
        }
    }
}

/* ---- states ---- */

static void end_checkpoint(struct log_figures *g, const struct read_clog2_stretch *s) {
    struct dataset *d = g->d;
    const uint64_t n = g->checkpoint_of[s->rank]++;
    const double bytes = s->cargo == NULL ? 0 : (double)hpcw_i_get_u64(s->cargo, true);
    if (n >= DATASET_CHECKPOINTS) {
        return;
    }
    struct dataset_checkpoint *c = &d->checkpoint[n];
    if (n >= d->checkpoints) {
        d->checkpoints = (uint32_t)n + 1;
        *c = (struct dataset_checkpoint){.begin = s->from, .last_begin = s->from, .end = s->to};
    }
    c->begin = s->rank == 0 ? s->from : c->begin;
    c->last_begin = fmax(c->last_begin, s->from);
    c->end = fmax(c->end, s->to);
    c->bytes += bytes;
    d->checkpoint_bytes[s->rank] = bytes;
}

/* Compares the times of messages with their call: a send has the time of the call's begin, and a receive that of
 * its end. The wrapper reads the clock only at these moments. */
static void end_call(struct log_figures *g, const struct read_clog2_stretch *s) {
    const double at[] = {g->sent_at[s->rank], g->came_at[s->rank]};
    const double expected[] = {s->from, s->to};
    for (int i = 0; i < 2; i++) {
        if (!isnan(at[i])) {
            g->borders++;
            g->off_borders += fabs(at[i] - expected[i]) >= 0.5e-9; /* less is a rounding difference */
        }
    }
    if (strncmp(s->name, "MPI_", 4) == 0) { /* a call of MPI, not the state of a receive inside of a wait */
        g->sent_at[s->rank] = g->came_at[s->rank] = NAN;
    }
}

static void take_state(void *context, const struct read_clog2_stretch *s) {
    struct log_figures *g = context;
    if (s->rank >= g->ranks) {
        return;
    }
    const enum collective kind = collective_of(s->name);
    const bool call = strncmp(s->name, "MPI_", 4) == 0;
    g->first_from = fmin(g->first_from, s->from);
    g->last_to = fmax(g->last_to, s->to);
    if (kind != NO_COLLECTIVE) {
        take_collective(g, s, kind);
    } else if (strcmp(s->name, "Compute") == 0) {
        g->compute[s->rank] += s->to - s->from;
        g->computed[s->rank > 0] += s->to - s->from;
    } else if (strcmp(s->name, "Checkpoint") == 0) {
        end_checkpoint(g, s);
    } else if (strcmp(s->name, "MPI_Send") == 0 && g->pending[s->rank] > 0 && s->to > s->from) {
        g->send_bytes_s = fmax(g->send_bytes_s, g->pending[s->rank] / (s->to - s->from));
    }
    if (call) {
        g->pending[s->rank] = 0;
    }
    if (call || strncmp(s->name, "MPE_", 4) == 0) {
        end_call(g, s);
    }
}

/* ---- phases ---- */

static void end_phase(struct log_figures *g, uint32_t rank, double time) {
    struct dataset *d = g->d;
    const uint64_t k = g->phase[rank]++;
    const double compute = g->compute[rank];
    double *one = &g->before[rank];
    double *two = &g->before[(size_t)g->ranks + rank];
    g->compute[rank] = 0;
    if (d->phase_load != NULL && k < d->phases) {
        const double load = d->phase_load[k * d->ranks + rank];
        g->phase_end[k * d->ranks + rank] = time;
        g->furthest = fmax(g->furthest, load > 0 ? fabs(compute - load) / load : compute > 0);
    }
    if (compute <= 0) {
        return;
    }
    if (k >= 3) { /* a jump needs phases k - 2, k - 1 and k; phase 0, the set-up, does not count */
        const double jump = *one - 0.5 * (*two + log(compute));
        const uint64_t key[] = {rank, k - 1};
        const uint64_t *listed = hpcw_i_table_find(&g->injected, key);
        stats_add(&g->jump, jump);
        if (listed != NULL) {
            d->interrupted[*listed - 1].sd = jump;
        }
    }
    *two = *one;
    *one = log(compute);
}

static void take_solo(void *context, const struct read_clog2_stretch *s) {
    struct log_figures *g = context;
    if (s->rank < g->ranks && strcmp(s->name, "Phase done") == 0) {
        end_phase(g, s->rank, s->to);
    }
}

static void list_interruptions(struct log_figures *g) {
    struct dataset *d = g->d;
    const cJSON *all = cJSON_GetObjectItem(cJSON_GetObjectItem(d->truth, "clog2"), "interruptions");
    const cJSON *one;
    d->interrupted = stats_alloc((size_t)cJSON_GetArraySize(all), sizeof *d->interrupted);
    cJSON_ArrayForEach(one, all) {
        const cJSON *phase = cJSON_GetObjectItem(one, "phase");
        const cJSON *rank = cJSON_GetObjectItem(one, "rank");
        if (cJSON_IsNumber(phase) && cJSON_IsNumber(rank)) {
            const uint64_t key[] = {(uint64_t)rank->valuedouble, (uint64_t)phase->valuedouble};
            uint64_t *at = add(g, &g->injected, key, NULL);
            d->interrupted[d->interruptions++] =
                (struct dataset_interruption){(uint32_t)key[0], (uint32_t)key[1], NAN};
            if (at != NULL) {
                *at = d->interruptions;
            }
        }
    }
}

static void scale_interruptions(struct log_figures *g) {
    double middle = 0;
    double sd = 0;
    const size_t n = g->jump.count < STATS_KEPT ? (size_t)g->jump.count : STATS_KEPT;
    if (n > 0) {
        stats_robust(g->jump.kept, n, &middle, &sd);
    }
    for (size_t i = 0; i < g->d->interruptions; i++) {
        g->d->interrupted[i].sd = sd > 0 ? (g->d->interrupted[i].sd - middle) / sd : NAN;
    }
}

/* ---- messages ---- */

static void add_to_window(struct log_figures *g, uint32_t host, uint64_t number, double in, double out) {
    const uint64_t key[] = {host, number};
    struct window *w = add(g, &g->windows, key, NULL);
    if (w != NULL) {
        w->in += in;
        w->out += out;
    }
}

/* Adds the bytes of a message between two hosts to the windows in which the message both begins and ends: as output
 * of the sender's host and as input of the receiver's. Odd windows begin half a window later. */
static void fill_windows(struct log_figures *g, const struct read_clog2_end *e) {
    const double sent = e->send ? e->time : e->other;
    const double came = e->send ? e->other : e->time;
    const uint32_t from = host_of(g, e->send ? e->rank : e->peer);
    const uint32_t to = host_of(g, e->send ? e->peer : e->rank);
    for (uint64_t half = 0; half < 2; half++) {
        const uint64_t first = (uint64_t)(sent / WINDOW_S + 0.5 * (double)half);
        const uint64_t last = (uint64_t)(came / WINDOW_S + 0.5 * (double)half);
        if (from != to && first == last) {
            add_to_window(g, from, 2 * first + half, 0, e->bytes);
            add_to_window(g, to, 2 * first + half, e->bytes, 0);
        }
    }
}

/* A message belongs to the phase in which it was sent. */
static void add_flow(struct log_figures *g, uint32_t from, uint32_t to, double sent, int32_t bytes) {
    uint64_t k = g->phase[from] < g->d->phases ? g->phase[from] : g->d->phases;
    while (k > 0 && sent < g->phase_end[(k - 1) * g->ranks + from]) {
        k--;
    }
    const uint64_t key[] = {k, (uint64_t)from << 32 | to};
    struct dataset_flow *flow = add(g, &g->d->flows, key, NULL);
    if (flow != NULL) {
        flow->log += bytes;
    }
}

static void take_whole(struct log_figures *g, const struct read_clog2_end *e) {
    const double transfer = e->send ? e->other - e->time : e->time - e->other;
    g->met++;
    g->backward += transfer <= 0;
    if (transfer > 0) {
        const int where = dataset_same_host(g->d, e->rank, e->peer);
        g->best_bytes_s[where] = fmax(g->best_bytes_s[where], e->bytes / transfer);
        fill_windows(g, e);
    }
    if (g->phase_end != NULL) {
        add_flow(g, e->send ? e->rank : e->peer, e->send ? e->peer : e->rank, e->send ? e->time : e->other,
                 e->bytes);
    }
}

static void take_message(void *context, const struct read_clog2_end *e) {
    struct log_figures *g = context;
    if (e->rank >= g->ranks) {
        return;
    }
    if (e->send) {
        add_size(g, (uint64_t)e->bytes);
        g->pending[e->rank] = e->bytes;
    }
    if (e->time >= g->latest) { /* false: the reader reports the message after the end of its call */
        *(e->send ? &g->sent_at[e->rank] : &g->came_at[e->rank]) = e->time;
        g->latest = e->time;
    }
    if (e->meets && e->peer < g->ranks) {
        take_whole(g, e);
    }
}

/* ---- figures ---- */

static void put_messages(const struct log_figures *g) {
    if (g->sizes.count > 0) {
        figure("log.sizes", (double)g->sizes.count, "different sizes of messages and collective calls");
    }
    if (g->met == 0) {
        return;
    }
    figure("log.backward", (double)g->backward / (double)g->met,
           "messages: %" PRIu64 " of %" PRIu64 " arrive before they are sent", g->backward, g->met);
    if (g->borders > 0) {
        figure("log.message_times", (double)g->off_borders / (double)g->borders,
               "messages: %" PRIu64 " of %" PRIu64
               " times a send is not at the begin, or a receive not at the end of its call",
               g->off_borders, g->borders);
    }
    if (g->d->host != NULL && g->best_bytes_s[false] > 0) {
        figure("log.best_gbs", 1e-9 * g->best_bytes_s[false],
               "messages between hosts: the best bandwidth, GB/s");
    }
    if (g->d->host == NULL || g->best_bytes_s[true] > 0) {
        figure("log.best_gbs_host", 1e-9 * g->best_bytes_s[g->d->host != NULL],
               "messages on one host: the best bandwidth, GB/s");
    }
    if (g->send_bytes_s > 0) {
        figure("log.send_gbs", 1e-9 * g->send_bytes_s, "MPI_Send: the most bytes for its duration, GB/s");
    }
}

static void put_windows(const struct log_figures *g) {
    double most = 0;
    uint64_t key[HPCW_I_TABLE_KEY];
    const struct window *w;
    for (size_t at = 0; (w = hpcw_i_table_next(&g->windows, &at, key)) != NULL;) {
        most = fmax(most, fmax(w->in, w->out));
    }
    if (most > 0) {
        figure("log.node_gbs", 1e-9 * most / WINDOW_S,
               "messages into or out of a node within the same millisecond, GB/s");
    }
}

/* Returns the bytes that pass a node's network cards in one direction. The node has `near` of the `all` ranks. */
static double through_cards(const struct meeting *m, double all, double near) {
    const double far = all - near;
    switch ((enum collective)m->kind) {
    case ALLTOALL:
        return near * far * (double)m->sent / all;
    case ALLGATHER:
    case GATHER:
        return far * (double)m->sent;
    case SCATTER:
        return far * (double)m->received;
    default:
        return far > 0 ? fmax((double)m->sent, (double)m->received) : 0;
    }
}

/* Returns the bytes that a rank gets, or the root gives, if the node has all ranks of the communicator. */
static double through_memory(const struct meeting *m, double all) {
    const bool parts = m->kind == ALLGATHER || m->kind == GATHER;
    return all < 2               ? 0
           : m->kind == ALLTOALL ? (all - 1) / all * (double)m->sent
           : parts               ? (all - 1) * (double)m->sent
           : m->kind == SCATTER  ? (all - 1) * (double)m->received
                                 : fmax((double)m->sent, (double)m->received);
}

static uint64_t members_of(const struct log_figures *g, int32_t comm, uint64_t host) {
    const uint64_t key[] = {(uint64_t)comm, host};
    const uint64_t *ranks = hpcw_i_table_find(&g->members, key);
    return ranks == NULL ? 0 : *ranks;
}

/* Returns the largest number of bytes that pass the network cards of a node. The root of a gather or scatter, which
 * the log does not name, is assumed on the node with the most ranks. */
static double most_through_cards(const struct log_figures *g, const struct meeting *m, double all) {
    double fullest = 0;
    double through = 0;
    for (uint32_t h = 0; h < g->hosts; h++) {
        const double near = (double)members_of(g, m->comm, 1 + (uint64_t)h);
        fullest = fmax(fullest, near);
        through = fmax(through, near > 0 ? through_cards(m, all, near) : 0);
    }
    return m->kind == GATHER || m->kind == SCATTER ? through_cards(m, all, fullest) : through;
}

static void put_meetings(const struct log_figures *g) {
    double early = 0;
    double cards = 0;
    double memory = 0;
    bool known = false;
    uint64_t key[HPCW_I_TABLE_KEY];
    const struct meeting *m;
    for (size_t at = 0; (m = hpcw_i_table_next(&g->meetings, &at, key)) != NULL;) {
        const double all = (double)members_of(g, m->comm, 0);
        const double time = m->last_to - m->first_from;
        const double through = most_through_cards(g, m, all);
        cards = fmax(cards, through / time);
        memory = fmax(memory, through > 0 ? 0 : through_memory(m, all) / time);
        if (is_of_all((enum collective)m->kind) && all > 1) {
            known = true;
            early = fmax(early, m->last_from - m->first_to);
        }
    }
    if (known) {
        figure("log.exit_early_us", 1e6 * early,
               "collective calls: a rank leaves %.3g us before the last one arrives", 1e6 * early);
    }
    if (cards > 0) {
        figure("log.collective_gbs", 1e-9 * cards,
               "collective calls: bytes that pass the cards of a node, over the time of the call, GB/s");
    }
    if (memory > 0) {
        figure("log.collective_gbs_host", 1e-9 * memory,
               "collective calls on one node: bytes of a rank, over the time of the call, GB/s");
    }
}

static int by_call(const void *a, const void *b) {
    const struct meeting *x = *(const struct meeting *const *)a;
    const struct meeting *y = *(const struct meeting *const *)b;
    return x->kind != y->kind ? (x->kind < y->kind ? -1 : 1) : (x->sent > y->sent) - (x->sent < y->sent);
}

/* Prints times of collective calls with equal bytes, as benchmarks do: mean and maximum over the ranks. Of both,
 * prints the median over the calls. */
static void put_times(const struct log_figures *g) {
    const struct meeting **call = stats_alloc(g->meetings.count, sizeof *call);
    double *mean = stats_alloc(g->meetings.count, sizeof *mean);
    double *longest = stats_alloc(g->meetings.count, sizeof *longest);
    size_t calls = 0;
    uint64_t key[HPCW_I_TABLE_KEY];
    const struct meeting *m;
    for (size_t at = 0; (m = hpcw_i_table_next(&g->meetings, &at, key)) != NULL;) {
        if (m->comm == 0) {
            call[calls++] = m;
        }
    }
    qsort((void *)call, calls, sizeof *call, by_call);
    for (size_t i = 0, n = 0; i < calls; i += n) {
        for (n = 0; i + n < calls && by_call(&call[i], &call[i + n]) == 0; n++) {
            mean[n] = call[i + n]->sum / call[i + n]->ranks;
            longest[n] = call[i + n]->longest;
        }
        char of[64];
        (void)snprintf(of, sizeof of, "%s.%" PRIu64, collective_name[call[i]->kind], call[i]->sent);
        figure_of("log.mean_us.*", of, 1e6 * stats_median(mean, n), "median of %zu calls", n);
        figure_of("log.longest_us.*", of, 1e6 * stats_median(longest, n), "median of %zu calls", n);
    }
    free((void *)call);
    free(mean);
    free(longest);
}

/* Prints the rate of checkpoints. A barrier precedes the writes, so they begin after the last rank has begun its
 * checkpoint. */
static void put_checkpoints(const struct log_figures *g) {
    double most = 0;
    for (uint32_t i = 0; i < g->d->checkpoints; i++) {
        const struct dataset_checkpoint *c = &g->d->checkpoint[i];
        most = fmax(most, c->bytes / (c->end - c->last_begin));
    }
    if (most > 0) {
        figure("log.checkpoint_gbs", 1e-9 * most,
               "checkpoints: bytes of all ranks, over the time from the last begin to the last end, GB/s");
    }
}

static void put_compute(const struct log_figures *g) {
    const double span = g->last_to - g->first_from;
    figure("log.compute_share.first", g->computed[0] / span, "share of the run that rank 0 computes");
    if (g->ranks > 1) {
        figure("log.compute_share.others", g->computed[1] / (span * (g->ranks - 1)),
               "share of the run that the other ranks compute");
    }
    if (g->d->phase_load != NULL && g->phase[0] > 0) {
        figure("agree.compute", g->furthest,
               "a rank computes another time in a phase of the log than in the load data, by %.1f %%",
               100 * g->furthest);
    }
}

static void put_flows(const struct dataset *d) {
    double wrong = 0;
    double all = 0;
    double load = 0;
    double silent = 0;
    uint64_t key[HPCW_I_TABLE_KEY];
    const struct dataset_flow *f;
    for (size_t at = 0; (f = hpcw_i_table_next(&d->flows, &at, key)) != NULL;) {
        wrong += fabs(f->load - f->log);
        all += fmax(f->load, f->log);
        load += f->load;
        silent += f->log == 0 ? f->load : 0;
    }
    if (all > 0) {
        figure("agree.bytes", wrong / all,
               "of the bytes between two ranks in a phase, load data and log disagree on %.1f %%",
               100 * wrong / all);
        figure("agree.silent", load > 0 ? silent / load : 0,
               "%.1f %% of the bytes between ranks of the load data are between ranks without a message in the "
               "log",
               load > 0 ? 100 * silent / load : 0);
    }
}

static int by_serial(const void *a, const void *b) {
    const struct meeting *x = *(const struct meeting *const *)a;
    const struct meeting *y = *(const struct meeting *const *)b;
    return (x->serial > y->serial) - (x->serial < y->serial);
}

/* Median over some calls of the time at which a rank leaves the call, seconds. */
static double median_exit(const struct meeting *const *call, size_t calls, uint32_t rank, double *scratch) {
    for (size_t i = 0; i < calls; i++) {
        scratch[i] = call[i]->exit[rank];
    }
    return stats_median(scratch, calls);
}

/* Returns the largest distance of a rank's value from the median of all ranks. */
static double furthest(const double *value, uint32_t ranks, double *scratch) {
    double most = 0;
    memcpy(scratch, value, ranks * sizeof *scratch);
    const double middle = stats_median(scratch, ranks);
    for (uint32_t r = 0; r < ranks; r++) {
        most = fmax(most, fabs(value[r] - middle));
    }
    return most;
}

static void put_clocks(struct log_figures *g, const struct meeting *const *call, size_t calls,
                       double *scratch) {
    struct dataset *d = g->d;
    const size_t half = calls / 2;
    double middle;
    double *times = stats_alloc(calls, sizeof *times);
    d->clock_offset = stats_alloc(g->ranks, sizeof *d->clock_offset);
    d->clock_change = stats_alloc(g->ranks, sizeof *d->clock_change);
    for (size_t i = 0; i < calls; i++) {
        memcpy(scratch, call[i]->exit, g->ranks * sizeof *scratch);
        times[i] = stats_median(scratch, g->ranks);
        for (uint32_t r = 0; r < g->ranks; r++) {
            call[i]->exit[r] -= times[i];
        }
    }
    for (uint32_t r = 0; r < g->ranks; r++) {
        d->clock_offset[r] = median_exit(call, calls, r, scratch);
        d->clock_change[r] =
            median_exit(call + (calls - half), half, r, scratch) - median_exit(call, half, r, scratch);
    }
    d->clock_middle = times[half];
    d->clock_between = times[calls - half + half / 2] - times[half / 2];
    memcpy(scratch, d->clock_offset, g->ranks * sizeof *scratch);
    stats_robust(scratch, g->ranks, &middle, &d->clock_noise);
    if (d->clock_noise > 0) {
        const double offset = furthest(d->clock_offset, g->ranks, scratch);
        const double change = furthest(d->clock_change, g->ranks, scratch);
        figure("log.clock_offset", offset / d->clock_noise,
               "clocks: the worst is off by %.3g us, noise %.3g us", 1e6 * offset, 1e6 * d->clock_noise);
        figure("log.clock_drift", change / d->clock_noise,
               "clocks: the worst drifts by %.3g us from one half of the calls to the other, noise %.3g us",
               1e6 * change, 1e6 * d->clock_noise);
    }
    free(times);
}

/* Finds clock offsets from collectives that all ranks leave at about the same time. */
static void find_clocks(struct log_figures *g) {
    const struct meeting **call = stats_alloc(g->meetings.count, sizeof *call);
    double *scratch = stats_alloc(g->meetings.count + g->ranks, sizeof *scratch);
    size_t calls = 0;
    uint64_t key[HPCW_I_TABLE_KEY];
    const struct meeting *m;
    for (size_t at = 0; (m = hpcw_i_table_next(&g->meetings, &at, key)) != NULL;) {
        if (m->exit != NULL && m->ranks == g->ranks) {
            call[calls++] = m;
        }
    }
    qsort((void *)call, calls, sizeof *call, by_serial);
    if (calls >= FEW_CALLS) {
        put_clocks(g, call, calls, scratch);
    }
    free((void *)call);
    free(scratch);
}

static hpcw_status put_waits(const char *path, hpcw_error *err) {
    static const char *const name[GEN_WAITS_KINDS] = {"late_sender", "late_receiver", "collective"};
    struct gen_waits w;
    const hpcw_status s = gen_waits_read(path, &w, err);
    if (s != HPCW_OK) {
        return s;
    }
    const double run_ns = (double)(w.end_ns - w.begin_ns) * w.ranks;
    for (int k = 0; k < GEN_WAITS_KINDS; k++) {
        double time_ns = 0;
        for (uint32_t r = 0; r < w.ranks; r++) {
            time_ns += (double)w.rank[r].kind[k].time_ns;
        }
        figure_of("waits.*", name[k], time_ns / run_ns, "share of the ranks' time that is this kind of wait");
    }
    gen_waits_free(&w);
    return HPCW_OK;
}

/* ---- reading the log ---- */

/* Places ranks on hosts from truth.json if there is no LinkTest result. */
static void place_ranks(struct dataset *d) {
    const cJSON *machine = cJSON_GetObjectItem(d->truth, "machine");
    const cJSON *per_node = cJSON_GetObjectItem(machine, "ranks_per_node");
    if (d->host != NULL || !cJSON_IsNumber(per_node) || per_node->valuedouble < 1) {
        return;
    }
    const uint32_t ppn = (uint32_t)per_node->valuedouble;
    d->host = stats_alloc(d->ranks, sizeof *d->host);
    d->hosts = (d->ranks + ppn - 1) / ppn;
    for (uint32_t r = 0; r < d->ranks; r++) {
        d->host[r] = r / ppn;
    }
}

static void free_all(struct log_figures *g) {
    uint64_t key[HPCW_I_TABLE_KEY];
    const struct meeting *m;
    for (size_t at = 0; (m = hpcw_i_table_next(&g->meetings, &at, key)) != NULL;) {
        free(m->exit);
    }
    stats_free(&g->jump);
    hpcw_i_table_free(&g->injected);
    free(g->phase);
    free(g->before);
    free(g->phase_end);
    hpcw_i_table_free(&g->sizes);
    hpcw_i_table_free(&g->windows);
    hpcw_i_table_free(&g->calls);
    hpcw_i_table_free(&g->members);
    hpcw_i_table_free(&g->meetings);
    free(g->compute);
    free(g->pending);
    free(g->sent_at);
    free(g->came_at);
    free(g->checkpoint_of);
}

hpcw_status figures_log(const char *path, struct dataset *d, hpcw_error *err) {
    struct read_clog2 *reader;
    hpcw_status s = read_clog2_open(path, &reader, err);
    if (s != HPCW_OK) {
        return s;
    }
    const uint32_t ranks = read_clog2_info(reader)->ranks;
    if (d->ranks != 0 && d->ranks != ranks) {
        read_clog2_free(reader);
        return hpcw_i_fail(err, HPCW_EMISMATCH,
                           "%s: ranks: expected %" PRIu32 " as in the other files, got %" PRIu32, path,
                           d->ranks, ranks);
    }
    d->ranks = ranks;
    place_ranks(d);
    struct log_figures g = {
        .d = d,
        .ranks = ranks,
        .hosts = d->host != NULL ? d->hosts : 1,
        .first_from = INFINITY,
        .sent_at = stats_alloc(ranks, sizeof *g.sent_at),
        .came_at = stats_alloc(ranks, sizeof *g.came_at),
        .pending = stats_alloc(ranks, sizeof *g.pending),
        .sizes = {.key_words = 1, .value_size = sizeof(uint64_t)},
        .windows = {.key_words = 2, .value_size = sizeof(struct window)},
        .calls = {.key_words = 1, .value_size = sizeof(uint64_t)},
        .members = {.key_words = 2, .value_size = sizeof(uint64_t)},
        .meetings = {.key_words = 2, .value_size = sizeof(struct meeting)},
        .phase = stats_alloc(ranks, sizeof *g.phase),
        .compute = stats_alloc(ranks, sizeof *g.compute),
        .before = stats_alloc(2 * (size_t)ranks, sizeof *g.before),
        .injected = {.key_words = 2, .value_size = sizeof(uint64_t)},
        .checkpoint_of = stats_alloc(ranks, sizeof *g.checkpoint_of),
    };
    for (uint32_t r = 0; r < ranks; r++) {
        g.sent_at[r] = g.came_at[r] = NAN;
    }
    d->checkpoint_bytes = stats_alloc(ranks, sizeof *d->checkpoint_bytes);
    if (d->phase_load != NULL) {
        g.phase_end = stats_alloc(d->phases * ranks, sizeof *g.phase_end);
    }
    list_interruptions(&g);
    s = read_clog2_watch(
        reader,
        &(struct read_clog2_watch){
            .context = &g, .state = take_state, .solo = take_solo, .message = take_message, .stop = &g.status},
        err);
    if (s == HPCW_OK) {
        put_messages(&g);
        put_windows(&g);
        put_meetings(&g);
        put_times(&g);
        put_checkpoints(&g);
        put_compute(&g);
        put_flows(d);
        find_clocks(&g);
        scale_interruptions(&g);
        s = put_waits(path, err);
    }
    free_all(&g);
    read_clog2_free(reader);
    return s;
}
