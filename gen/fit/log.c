/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gen/fit/loads.h"
#include "gen/fit/loads_sum.h"
#include "gen/fit/log_calls.h"
#include "gen/fit/log_grid.h"
#include "gen/fit/log_places.h"
#include "gen/fit/log_program.h"
#include "libreader/clog2/clog2.h"
#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

enum { ENOUGH_VALUES = 1000, GROUPS = 6, MOST_VALUES = 1 << 24, MOST_MESSAGES = 5 << 20, NONE = -1 };

struct fit_state {
    bool known, mpi, call, files;
    enum gen_fit_log_waits waits;
    uint64_t times; /* on all ranks */
    double inner;   /* seconds while it was the innermost one */
};

struct fit_message {
    uint32_t to, from, iteration;
    double bytes;
};

/* Messages of a size class, and how soon after the begin of the send the first of them ended. */
enum { SIZES = 31 };
struct fit_arrival {
    uint64_t times;
    double soonest;
};

struct fit_log {
    struct read_clog2 *reader;
    uint32_t ranks;
    struct fit_state *state;
    size_t states, state_capacity;
    long work; /* the state that is computing, or NONE: what is in no call of MPI */
    struct gen_fit_log_places places;
    struct gen_fit_log_calls *calls;
    struct gen_fit_log_iterations *of; /* [ranks] */
    uint32_t iterations;
    uint32_t *at;    /* [ranks] the iteration */
    double *since;   /* [ranks] end of the iteration before */
    double *mpi;     /* [ranks] seconds in MPI in this iteration */
    double *compute; /* [ranks][iterations] */
    struct fit_message *message;
    size_t messages, message_capacity;
    struct hpcw_i_table pair; /* from, to -> in how many iterations */
    size_t edges, tree_edges; /* all, and between a rank and its parent in the tree of the model's handlers */
    bool left_out, is_short;
    struct fit_arrival arrival[SIZES];
    struct gen_fit_sketch *wait[2]; /* seconds in the call that ends an iteration */
    double in_mpi[2], in_all[2];
    bool no_memory;
};

/* ---- the first pass: states ---- */

static bool begins_with_any(const char *name, const char *const *start, size_t count) {
    bool begins = false;
    for (size_t i = 0; i < count; i++) {
        begins = begins || strncmp(name, start[i], strlen(start[i])) == 0;
    }
    return begins;
}

/* Of MPI, or of the library that recorded it. */
static bool is_of_mpi(const char *name) {
    static const char *const start[] = {"MPI_", "MPE_", "CLOG_"};
    return begins_with_any(name, start, sizeof start / sizeof start[0]);
}

/* Not a piece of a call. */
static bool is_call(const char *name) {
    return begins_with_any(name, (const char *const[]){"MPI_"}, 1);
}

static bool is_collective(const char *name) {
    static const char *const start[] = {"MPI_Allreduce", "MPI_Reduce",  "MPI_Bcast",     "MPI_Barrier",
                                        "MPI_Gather",    "MPI_Scatter", "MPI_Allgather", "MPI_Alltoall",
                                        "MPI_Scan",      "MPI_Exscan",  "MPI_Neighbor"};
    return begins_with_any(name, start, sizeof start / sizeof start[0]);
}

static enum gen_fit_log_waits waits_of(const char *name) {
    static const char *const start[] = {"MPI_Wait", "MPI_Recv", "MPI_Sendrecv"};
    return is_collective(name)                                            ? GEN_FIT_LOG_FOR_ALL
           : begins_with_any(name, start, sizeof start / sizeof start[0]) ? GEN_FIT_LOG_FOR_SOME
                                                                          : GEN_FIT_LOG_NEVER;
}

/* A state of the model's checkpoints, or a call on a file. */
static bool is_of_files(const char *name) {
    return strcmp(name, "Checkpoint") == 0 || strncmp(name, "MPI_File_", strlen("MPI_File_")) == 0;
}

static struct fit_state *state_of(struct fit_log *l, const struct read_clog2_stretch *s) {
    struct fit_state *grown = hpcw_i_grow(l->state, &l->state_capacity, (size_t)s->state + 1, sizeof *grown);
    if (grown == NULL) {
        l->no_memory = true;
        return NULL;
    }
    l->state = grown;
    for (; l->states <= s->state; l->states++) {
        l->state[l->states] = (struct fit_state){.known = false};
    }
    struct fit_state *state = &l->state[s->state];
    if (!state->known) {
        *state = (struct fit_state){.known = true,
                                    .mpi = is_of_mpi(s->name),
                                    .call = is_call(s->name),
                                    .waits = waits_of(s->name),
                                    .files = is_of_files(s->name)};
    }
    return state;
}

static void count_state(void *context, const struct read_clog2_stretch *s) {
    struct fit_log *l = context;
    struct fit_state *state = state_of(l, s);
    if (state == NULL || s->rank >= l->ranks) {
        return;
    }
    state->times++;
    if (state->call && !gen_fit_log_places_add(&l->places, s->rank, s->state, state->waits, s->to - s->from)) {
        l->no_memory = true;
    }
}

static void count_stretch(void *context, const struct read_clog2_stretch *s) {
    struct fit_state *state = state_of(context, s);
    if (state != NULL) {
        state->inner += s->to - s->from;
    }
}

static void count_message(void *context, const struct read_clog2_end *e) {
    struct fit_log *l = context;
    if (e->send && e->rank < l->ranks) {
        gen_fit_log_send(&l->places.walk[e->rank], e->peer, e->tag);
    }
}

/* A program that names its states has one for most of its work. */
static void choose_work(struct fit_log *l) {
    double others = 0;
    l->work = NONE;
    for (size_t i = 0; i < l->states; i++) {
        const struct fit_state *s = &l->state[i];
        others += s->mpi ? 0 : s->inner;
        if (!s->mpi && (l->work == NONE || s->inner > l->state[l->work].inner)) {
            l->work = (long)i;
        }
    }
    if (l->work != NONE && (l->state[l->work].inner < 0.5 * others ||
                            2 * l->state[l->work].times < (uint64_t)l->ranks * l->iterations)) {
        l->work = NONE;
    }
}

/* All ranks have as many iterations. */
static uint32_t least_iterations(const struct fit_log *l) {
    uint32_t least = UINT32_MAX;
    for (uint32_t r = 0; r < l->ranks; r++) {
        least = l->of[r].count < least ? l->of[r].count : least;
    }
    return least;
}

static hpcw_status choose_iterations(struct fit_log *l, const char *path, hpcw_error *err) {
    const uint32_t most = MOST_VALUES / l->ranks + 1;
    hpcw_status s = gen_fit_log_iterations(&l->places, l->of, err);
    l->iterations = least_iterations(l);
    l->is_short = s == HPCW_OK && l->iterations == 0 && gen_fit_log_whole(&l->places, l->of);
    l->iterations = l->is_short ? 1 : l->iterations;
    if (s == HPCW_OK && l->iterations == 0) {
        s = hpcw_i_fail(err, HPCW_EFORMAT,
                        "%s: expected calls of MPI that recur on all ranks, at least 4 times, got none: no "
                        "iterations to learn from",
                        path);
    }
    l->left_out = l->iterations > most;
    l->iterations = l->left_out ? most : l->iterations;
    choose_work(l);
    return s;
}

/* ---- the second pass: iterations ---- */

/* Of a rank. Before the first one it is none, too. */
static bool is_within(const struct fit_log *l, uint32_t rank) {
    return l->places.walk[rank].calls >= l->of[rank].begin && l->at[rank] < l->iterations;
}

static void end_iteration(struct fit_log *l, const struct read_clog2_stretch *s) {
    const uint32_t r = s->rank;
    if (l->work == NONE) {
        l->compute[(size_t)r * l->iterations + l->at[r]] = s->to - l->since[r] - l->mpi[r];
    }
    gen_fit_sketch_add(l->wait[r & 1], s->to - s->from);
    l->in_all[r & 1] += s->to - l->since[r];
    l->in_mpi[r & 1] += l->mpi[r];
    l->at[r]++;
}

/* The first iteration may have more calls than others, and so begin before they are counted: its work is known by name. */
static void take_stretch(void *context, const struct read_clog2_stretch *s) {
    struct fit_log *l = context;
    const uint32_t r = s->rank;
    if (r >= l->ranks || s->state >= l->states || l->at[r] >= l->iterations) {
        return;
    }
    const double seconds = s->to - s->from;
    if ((long)s->state == l->work) {
        l->compute[(size_t)r * l->iterations + l->at[r]] += seconds;
    } else if (is_within(l, r)) {
        l->since[r] = isnan(l->since[r]) ? s->from : l->since[r];
        l->mpi[r] += l->state[s->state].mpi ? seconds : 0;
    }
}

static void take_state(void *context, const struct read_clog2_stretch *s) {
    struct fit_log *l = context;
    if (s->rank >= l->ranks || s->state >= l->states || !l->state[s->state].call) {
        return;
    }
    struct gen_fit_log_walk *w = &l->places.walk[s->rank];
    const bool within = is_within(l, s->rank);
    const uint32_t iteration = within                           ? l->at[s->rank] + 1
                               : l->at[s->rank] < l->iterations ? 0
                                                                : GEN_FIT_LOG_AFTER;
    l->no_memory = !gen_fit_log_calls_add(l->calls, s, iteration) || l->no_memory;
    gen_fit_log_call(w, s->state, l->state[s->state].waits == GEN_FIT_LOG_FOR_ALL);
    const bool ends = within && gen_fit_log_ends(w, &l->of[s->rank]);
    if (ends) {
        end_iteration(l, s);
    }
    if (ends || w->calls == l->of[s->rank].begin) {
        w->ended = w->calls;
        l->since[s->rank] = s->to;
        l->mpi[s->rank] = 0;
    }
}

/* The size class of messages of up to 1 << k bytes. */
static void count_arrival(struct fit_log *l, const struct read_clog2_end *e) {
    int k = 0;
    while (k < SIZES - 1 && e->bytes > 1 << k) {
        k++;
    }
    struct fit_arrival *a = &l->arrival[k];
    a->soonest = a->times == 0 || e->time - e->other < a->soonest ? e->time - e->other : a->soonest;
    a->times++;
}

static void take_message(void *context, const struct read_clog2_end *e) {
    struct fit_log *l = context;
    if (!e->send && e->meets && e->peer != e->rank) {
        count_arrival(l, e);
    }
    gen_fit_log_calls_message(l->calls, e);
    if (!e->send || e->rank >= l->ranks) {
        return;
    }
    gen_fit_log_send(&l->places.walk[e->rank], e->peer, e->tag);
    if (e->peer >= l->ranks || e->peer == e->rank || !is_within(l, e->rank)) {
        return;
    }
    if (l->messages == MOST_MESSAGES) {
        l->left_out = true;
        return;
    }
    struct fit_message *grown = hpcw_i_grow(l->message, &l->message_capacity, l->messages + 1, sizeof *grown);
    if (grown == NULL) {
        l->no_memory = true;
        return;
    }
    l->message = grown;
    l->message[l->messages++] = (struct fit_message){e->peer, e->rank, l->at[e->rank], e->bytes};
}

/* By all members, so that the sums have the same bits wherever the messages are sorted. */
static int by_receiver(const void *a, const void *b) {
    const struct fit_message *x = a;
    const struct fit_message *y = b;
    return x->to != y->to                 ? (x->to < y->to ? -1 : 1)
           : x->iteration != y->iteration ? (x->iteration < y->iteration ? -1 : 1)
           : x->from != y->from           ? (x->from < y->from ? -1 : 1)
           : x->bytes < y->bytes          ? -1
                                          : x->bytes > y->bytes;
}

/* The messages of an iteration from one rank to another, the first of which is at `m`, are an edge. Returns how many. */
static size_t edge_at(const struct fit_log *l, size_t m, double *bytes) {
    const struct fit_message *of = &l->message[m];
    size_t n = 0;
    *bytes = 0;
    for (; m + n < l->messages && of[n].to == of->to && of[n].iteration == of->iteration &&
           of[n].from == of->from;
         n++) {
        *bytes += of[n].bytes;
    }
    return n;
}

static bool is_of_tree(uint32_t from, uint32_t to) {
    return (from > 0 && model_load_parent(from) == to) || (to > 0 && model_load_parent(to) == from);
}

/* Whether ranks send to each other as the model's handlers do: few others do in a tree of all ranks, unless these are few. */
static bool has_handlers(const struct fit_log *l) {
    enum { LEAST_RANKS = 8 };
    return l->ranks >= LEAST_RANKS && (double)l->tree_edges >= 0.9 * 2 * (l->ranks - 1) * l->iterations;
}

static hpcw_status count_pair(struct fit_log *l, uint32_t from, uint32_t to, hpcw_error *err) {
    uint64_t *times = hpcw_i_table_add(&l->pair, (const uint64_t[]){from, to}, NULL);
    if (times == NULL) {
        return hpcw_i_fail_memory(err, NULL, l->pair.count, "pairs of ranks");
    }
    *times += 1;
    return HPCW_OK;
}

static hpcw_status sum_up(struct fit_log *l, struct gen_fit_load_data *loads, hpcw_error *err) {
    struct gen_fit_summing sums;
    hpcw_status s = gen_fit_sum_init(&sums, loads, err);
    size_t m = 0;
    /* Groups of iterations with enough values to know how they scatter, and enough groups to see how they change. */
    const uint32_t enough = (ENOUGH_VALUES + l->ranks - 1) / l->ranks;
    const uint32_t most = l->iterations / GROUPS > 0 ? l->iterations / GROUPS : 1;
    for (size_t b = 0; b < GEN_FIT_BLOCKS; b++) {
        loads->block[b].width = enough < most ? enough : most;
    }
    l->pair = (struct hpcw_i_table){.key_words = 2, .value_size = 8, .seed = hpcw_i_table_random()};
    if (l->messages > 0) {
        qsort(l->message, l->messages, sizeof *l->message, by_receiver);
    }
    for (uint32_t r = 0; s == HPCW_OK && r < l->ranks; r++) {
        gen_fit_sum_rank(&sums, r, l->ranks);
        for (uint32_t k = 0; s == HPCW_OK && k < l->iterations; k++) {
            const double seconds = l->compute[(size_t)r * l->iterations + k];
            s = gen_fit_sum_phase(&sums, k, err);
            s = s == HPCW_OK ? gen_fit_sum_task(&sums, (uint64_t)r + 1, seconds > 0 ? seconds : 0, err) : s;
            while (s == HPCW_OK && m < l->messages && l->message[m].to == r && l->message[m].iteration == k) {
                double bytes;
                const size_t messages = edge_at(l, m, &bytes);
                s = gen_fit_sum_edge(&sums, (uint64_t)r + 1, bytes, (double)messages, true, err);
                s = s == HPCW_OK ? count_pair(l, l->message[m].from, r, err) : s;
                l->edges++;
                l->tree_edges += is_of_tree(l->message[m].from, r);
                m += messages;
            }
            s = s == HPCW_OK ? gen_fit_sum_end(&sums, err) : s;
        }
    }
    loads->whole.handler_edges = has_handlers(l) ? 2.0 * (l->ranks - 1) / l->ranks : 0;
    s = s == HPCW_OK ? gen_fit_sum_finish(&sums, err) : s;
    gen_fit_sum_free(&sums);
    return s;
}

/* ---- all ---- */

static hpcw_status reserve(struct fit_log *l, const char *path, hpcw_error *err) {
    l->at = hpcw_i_calloc(l->ranks, sizeof *l->at);
    l->calls = gen_fit_log_calls_new(l->ranks);
    l->since = hpcw_i_calloc(l->ranks, sizeof *l->since);
    l->mpi = hpcw_i_calloc(l->ranks, sizeof *l->mpi);
    l->compute = hpcw_i_calloc((size_t)l->ranks * l->iterations, sizeof *l->compute);
    l->wait[0] = gen_fit_sketch_new(GEN_FIT_LEAST_SECONDS);
    l->wait[1] = gen_fit_sketch_new(GEN_FIT_LEAST_SECONDS);
    if (l->at == NULL || l->calls == NULL || l->since == NULL || l->mpi == NULL || l->compute == NULL ||
        l->wait[0] == NULL || l->wait[1] == NULL) {
        return hpcw_i_fail_memory(err, path, l->ranks, "ranks");
    }
    for (uint32_t r = 0; r < l->ranks; r++) {
        l->since[r] = NAN; /* not begun */
    }
    return HPCW_OK;
}

static hpcw_status read_log(struct fit_log *l, const char *path, hpcw_error *err) {
    const struct read_clog2_watch first = {
        .context = l, .stretch = count_stretch, .state = count_state, .message = count_message};
    const struct read_clog2_watch second = {
        .context = l, .stretch = take_stretch, .state = take_state, .message = take_message};
    hpcw_status s = read_clog2_bound_ranks(l->reader, err);
    if (s != HPCW_OK) {
        return s;
    }
    l->ranks = read_clog2_info(l->reader)->ranks;
    l->of = hpcw_i_calloc(l->ranks, sizeof *l->of);
    if (l->of == NULL) {
        return hpcw_i_fail_memory(err, path, l->ranks, "ranks");
    }
    s = gen_fit_log_places_init(&l->places, l->ranks, err);
    s = s == HPCW_OK ? read_clog2_watch(l->reader, &first, err) : s;
    if (s != HPCW_OK || l->no_memory) {
        return s != HPCW_OK ? s : hpcw_i_fail_memory(err, path, l->ranks, "ranks");
    }
    s = choose_iterations(l, path, err);
    s = s == HPCW_OK ? reserve(l, path, err) : s;
    if (s != HPCW_OK) {
        return s;
    }
    memset(l->places.walk, 0, l->ranks * sizeof *l->places.walk);
    read_clog2_rewind(l->reader);
    s = read_clog2_watch(l->reader, &second, err);
    return s != HPCW_OK || !l->no_memory ? s : hpcw_i_fail_memory(err, path, l->messages, "messages");
}

static hpcw_status add_facts(struct fit_log *l, struct gen_fit_facts *facts, hpcw_error *err) {
    const double all = l->in_all[0] + l->in_all[1];
    hpcw_status s = gen_fit_facts_add(facts,
                                      &(struct gen_fit_fact){.format = "clog2",
                                                             .name = "time in the call that ends an iteration",
                                                             .unit = "s",
                                                             .kind = GEN_FIT_MARGINAL,
                                                             .half = {l->wait[0], l->wait[1]}},
                                      err);
    l->wait[0] = l->wait[1] = NULL;
    return s == HPCW_OK ? gen_fit_facts_add(facts,
                                            &(struct gen_fit_fact){.format = "clog2",
                                                                   .name = "share of the time in MPI",
                                                                   .kind = GEN_FIT_SHARE,
                                                                   .value = (l->in_mpi[0] + l->in_mpi[1]) / all,
                                                                   .part = {l->in_mpi[0] / l->in_all[0],
                                                                            l->in_mpi[1] / l->in_all[1]}},
                                            err)
                        : s;
}

/* Messages that arrive sooner than a handshake takes are eager. Which ranks share a node, a log does not say: all, if they can. */
static hpcw_status learn_protocol(const struct fit_log *l, struct gen_fit_twin *twin, hpcw_error *err) {
    enum { LEAST_ARRIVALS = 20 };
    const struct model_machine_params *p = &twin->dataset.machine_params;
    int eager = -1, slow = -1;
    for (int k = 0; k < SIZES; k++) {
        const double ns_of_copy = 0.1 * (double)(1u << k);
        const bool soon = l->arrival[k].soonest < 3e-6 * p->latency_us[MODEL_SAME_NODE] + 1e-9 * ns_of_copy;
        if (l->arrival[k].times >= LEAST_ARRIVALS) {
            eager = soon ? k : eager;
            slow = !soon && slow < 0 ? k : slow;
        }
    }
    const uint64_t most = eager >= 0 ? UINT64_C(1) << eager : 0;
    const uint64_t below = slow > 0 ? UINT64_C(1) << (slow - 1) : UINT64_MAX;
    const uint64_t learned = most > p->eager_node ? most : below < p->eager_node ? below : p->eager_node;
    char text[UI_PARAM_SIZE_TEXT];
    return l->ranks <= p->ppn && learned != p->eager_node
               ? gen_fit_learn_text(twin, "machine.eager_node", ui_param_size_text(text, learned),
                                    GEN_FIT_PER_LINK, err)
               : HPCW_OK;
}

/* On which grid the ranks that send to each other are neighbours. */
static hpcw_status learn_grid(const struct fit_log *l, struct gen_fit_twin *twin, hpcw_error *err) {
    const struct model_load_params *p = &twin->dataset.load_params;
    const struct gen_fit_log_grid grid =
        gen_fit_log_grid(&l->pair, l->ranks, l->iterations, (struct gen_fit_log_grid){p->dims, p->periodic});
    const hpcw_status s = gen_fit_learn(twin, "load.dims", grid.dims, GEN_FIT_PER_RUN, err);
    return s == HPCW_OK
               ? gen_fit_learn_text(twin, "load.periodic", grid.periodic ? "yes" : "no", GEN_FIT_PER_RUN, err)
               : s;
}

/* What the log has: calls, states of the program, checkpoints. */
static hpcw_status learn_records(const struct fit_log *l, struct gen_fit_twin *twin, hpcw_error *err) {
    bool calls = false, states = false;
    bool files = (twin->formats >> GEN_FORMAT_RANK2FILE & 1) != 0;
    for (size_t i = 0; i < l->states; i++) {
        calls = calls || l->state[i].call;
        states = states || (l->state[i].known && !l->state[i].mpi);
        files = files || l->state[i].files;
    }
    const char *record = !states ? "calls" : !calls ? "states" : "all";
    const hpcw_status s = gen_fit_learn_text(twin, "trace.record", record, GEN_FIT_PER_RUN, err);
    return s == HPCW_OK && !files ? gen_fit_learn(twin, "rank2file.checkpoints", 0, GEN_FIT_PER_RUN, err) : s;
}

/* The calls of its program, or otherwise how many messages lie between two of the calls that end an iteration. */
static hpcw_status learn_calls(const struct fit_log *l, const struct gen_fit_loads *loads,
                               struct gen_fit_twin *twin, double *pauses_ms, bool *program, hpcw_error *err) {
    const double exchanges = l->edges > 0 ? floor(gen_fit_sketch_quantile(loads->messages[0], 0.5) + 0.5) : 1;
    hpcw_status s = gen_fit_log_program(l->calls, l->iterations, twin, pauses_ms, program, err);
    if (s == HPCW_OK && !*program) {
        s = gen_fit_learn_text(twin, "trace.application", "stencil", GEN_FIT_PER_RUN, err);
        s = s == HPCW_OK ? gen_fit_learn(twin, "trace.exchanges", exchanges, GEN_FIT_PER_RUN, err) : s;
    }
    return s == HPCW_OK
               ? gen_fit_learn_text(twin, "load.handlers", has_handlers(l) ? "yes" : "no", GEN_FIT_PER_RUN, err)
               : s;
}

/* Of the time of the iterations, what the slowest ranks compute. */
static double busy_of(const struct fit_log *l) {
    double slowest = 0;
    for (uint32_t k = 0; k < l->iterations; k++) {
        double most = 0;
        for (uint32_t r = 0; r < l->ranks; r++) {
            most = fmax(most, l->compute[(size_t)r * l->iterations + k]);
        }
        slowest += most;
    }
    return slowest * l->ranks / (l->in_all[0] + l->in_all[1]);
}

/* What ranks compute. Without a state of the program, the measured times have the pauses that a program makes besides. */
static hpcw_status learn_times(const struct fit_log *l, const struct gen_fit_loads *loads,
                               struct gen_fit_twin *twin, double pauses_ms, bool program, hpcw_error *err) {
    static const char *const means[] = {"load.mean_first", "load.mean_last"};
    /* The measured times have that of handlers, too. */
    hpcw_status s = gen_fit_learn(twin, "load.handler_time", 0, GEN_FIT_PER_RANK, err);
    s = s == HPCW_OK ? gen_fit_loads_learn(loads, twin, err) : s;
    s = s == HPCW_OK ? gen_fit_learn(twin, "load.busy", busy_of(l), GEN_FIT_PER_RUN, err) : s;
    for (size_t i = 0; s == HPCW_OK && l->work == NONE && i < 2; i++) {
        const double ms = gen_fit_value(twin, means[i]);
        s = ms > 2 * pauses_ms ? gen_fit_learn(twin, means[i], ms - pauses_ms, GEN_FIT_PER_OBJECT, err) : s;
    }
    /* Of few ranks the program says what comes before its loop. */
    return s == HPCW_OK && program && l->ranks < GEN_FIT_LEAST_VALUES
               ? gen_fit_learn_text(twin, "load.setup", "no", GEN_FIT_PER_RUN, err)
               : s;
}

static hpcw_status learn(const struct fit_log *l, const struct gen_fit_load_data *loads,
                         struct gen_fit_twin *twin, hpcw_error *err) {
    bool program;
    double pauses_ms;
    if ((twin->formats >> GEN_FORMAT_VOM & 1) != 0) {
        gen_fit_remark(twin, "clog2: the load data tell what the event log does, so it was only summed up");
        return HPCW_OK;
    }
    gen_fit_remark(
        twin, "clog2: one object for each rank, with all that the rank computes in an iteration; clocks and "
              "checkpoints are the defaults");
    if (l->is_short) {
        gen_fit_remark(twin,
                       "clog2: no call recurs, and each rank makes a few: the whole log is one iteration");
    }
    if (l->left_out) {
        gen_fit_remark(twin, "clog2: the log is too long, so only a part of it was learned from");
    }
    hpcw_status s = learn_grid(l, twin, err);
    s = s == HPCW_OK ? learn_calls(l, &loads->whole, twin, &pauses_ms, &program, err) : s;
    s = s == HPCW_OK ? learn_records(l, twin, err) : s;
    s = s == HPCW_OK ? learn_protocol(l, twin, err) : s;
    s = s == HPCW_OK ? learn_times(l, &loads->whole, twin, pauses_ms, program, err) : s;
    return s == HPCW_OK ? gen_fit_loads_intervals(loads, twin, err) : s;
}

hpcw_status gen_fit_log(const char *path, struct gen_fit_facts *facts, struct gen_fit_twin *twin,
                        hpcw_error *err) {
    struct fit_log l = {.work = NONE};
    struct gen_fit_load_data *loads = hpcw_i_calloc(1, sizeof *loads);
    if (loads == NULL) {
        return hpcw_i_fail_memory(err, path, 0, NULL);
    }
    hpcw_status s = read_clog2_open(path, &l.reader, err);
    s = s == HPCW_OK ? read_log(&l, path, err) : s;
    s = s == HPCW_OK ? sum_up(&l, loads, err) : s;
    s = s == HPCW_OK && twin != NULL ? learn(&l, loads, twin, err) : s;
    s = s == HPCW_OK ? gen_fit_loads_facts(&loads->whole, "clog2", facts, err) : s;
    s = s == HPCW_OK ? add_facts(&l, facts, err) : s;
    gen_fit_loads_free(loads);
    hpcw_i_free(loads);
    gen_fit_log_places_free(&l.places);
    gen_fit_log_calls_free(l.calls);
    hpcw_i_free(l.of);
    hpcw_i_free(l.state);
    hpcw_i_free(l.at);
    hpcw_i_free(l.since);
    hpcw_i_free(l.mpi);
    hpcw_i_free(l.compute);
    hpcw_i_table_free(&l.pair);
    hpcw_i_free(l.message);
    hpcw_i_free(l.wait[0]);
    hpcw_i_free(l.wait[1]);
    read_clog2_free(l.reader);
    return s;
}
