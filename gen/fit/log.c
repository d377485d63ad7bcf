/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gen/fit/loads.h"
#include "gen/fit/loads_sum.h"
#include "gen/fit/log_period.h"
#include "libreader/clog2/clog2.h"
#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

enum { MOST_VALUES = 1 << 24, MOST_MESSAGES = 5 << 20, NONE = -1 };

struct fit_state {
    bool known, mpi, collective, files;
    double seconds;       /* whole states */
    double inner;         /* while it was the innermost one */
    uint64_t most, least; /* times on a rank */
    uint32_t ranks;       /* that it is on */
};

struct fit_message {
    uint32_t to, from, iteration;
    double bytes;
};

struct fit_log {
    struct read_clog2 *reader;
    uint32_t ranks;
    struct hpcw_i_table times; /* state, rank -> how often */
    struct fit_state *state;
    size_t states, state_capacity;
    /* States: the collective call that makes iterations; what is computing, or NONE: what is in no call of MPI. */
    long beat, work;
    uint32_t beats; /* those calls of a rank */
    struct gen_fit_log_periods periods;
    uint32_t iterations;
    uint32_t *sent;  /* [beats] messages of all ranks before each call */
    uint32_t *at;    /* [ranks] which call comes next */
    double *since;   /* [ranks] end of the iteration before */
    double *mpi;     /* [ranks] seconds in MPI in this iteration */
    double *compute; /* [ranks][iterations] */
    struct fit_message *message;
    size_t messages, message_capacity;
    size_t edges, tree_edges; /* all, and between a rank and its parent in the tree of the model's handlers */
    bool left_out;
    struct gen_fit_sketch *wait[2]; /* seconds in the call that ends an iteration */
    double in_mpi[2], in_all[2];
    bool no_memory;
};

/* A program has a few collective calls before and after its iterations. */
enum { LEAST_CALLS = 4 };

/* ---- the first pass: states ---- */

/* Of MPI, or of the library that recorded it. */
static bool is_call(const char *name) {
    static const char *const start[] = {"MPI_", "MPE_", "CLOG_"};
    for (size_t i = 0; i < sizeof start / sizeof start[0]; i++) {
        if (strncmp(name, start[i], strlen(start[i])) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_collective(const char *name) {
    static const char *const start[] = {"MPI_Allreduce", "MPI_Reduce",  "MPI_Bcast",     "MPI_Barrier",
                                        "MPI_Gather",    "MPI_Scatter", "MPI_Allgather", "MPI_Alltoall",
                                        "MPI_Scan",      "MPI_Exscan",  "MPI_Neighbor"};
    for (size_t i = 0; i < sizeof start / sizeof start[0]; i++) {
        if (strncmp(name, start[i], strlen(start[i])) == 0) {
            return true;
        }
    }
    return false;
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
                                    .mpi = is_call(s->name),
                                    .collective = is_collective(s->name),
                                    .files = is_of_files(s->name)};
    }
    return state;
}

static void count_state(void *context, const struct read_clog2_stretch *s) {
    struct fit_log *l = context;
    const uint64_t key[] = {s->state, s->rank};
    struct fit_state *state = state_of(l, s);
    uint64_t *times = state != NULL && s->rank < l->ranks ? hpcw_i_table_add(&l->times, key, NULL) : NULL;
    if (times == NULL) {
        l->no_memory = l->no_memory || s->rank < l->ranks;
        return;
    }
    *times += 1;
    state->seconds += s->to - s->from;
}

static void count_stretch(void *context, const struct read_clog2_stretch *s) {
    struct fit_state *state = state_of(context, s);
    if (state != NULL) {
        state->inner += s->to - s->from;
    }
}

static void choose_states(struct fit_log *l) {
    uint64_t key[HPCW_I_TABLE_KEY];
    const uint64_t *times;
    for (size_t at = 0; (times = hpcw_i_table_next(&l->times, &at, key)) != NULL;) {
        struct fit_state *s = &l->state[key[0]];
        s->least = s->ranks == 0 || *times < s->least ? *times : s->least;
        s->most = *times > s->most ? *times : s->most;
        s->ranks++;
    }
    for (size_t i = 0; i < l->states; i++) {
        l->state[i].least = l->state[i].ranks == l->ranks ? l->state[i].least : 0;
    }
    double others = 0;
    l->beat = l->work = NONE;
    for (size_t i = 0; i < l->states; i++) {
        const struct fit_state *s = &l->state[i];
        const bool beats = s->collective && s->least == s->most && s->least >= LEAST_CALLS;
        const struct fit_state *best = l->beat == NONE ? NULL : &l->state[l->beat];
        if (beats && (best == NULL || s->least > best->least ||
                      (s->least == best->least && s->seconds > best->seconds))) {
            l->beat = (long)i;
        }
        others += s->mpi ? 0 : s->inner;
        if (!s->mpi && (l->work == NONE || s->inner > l->state[l->work].inner)) {
            l->work = (long)i;
        }
    }
    /* A program that names its states has one for most of its work. */
    if (l->work != NONE && (l->beat == NONE || l->state[l->work].inner < 0.5 * others ||
                            2 * l->state[l->work].least < l->state[l->beat].least)) {
        l->work = NONE;
    }
}

/* ---- the second pass: how many of the calls are an iteration ---- */

static void count_beat(void *context, const struct read_clog2_stretch *s) {
    struct fit_log *l = context;
    if (s->rank < l->ranks && (long)s->state == l->beat) {
        l->at[s->rank]++;
    }
}

static void count_message(void *context, const struct read_clog2_end *e) {
    struct fit_log *l = context;
    if (e->send && e->peer != e->rank && e->rank < l->ranks && l->at[e->rank] < l->beats) {
        l->sent[l->at[e->rank]]++;
    }
}

/* ---- the third pass: iterations ---- */

/* Calls before the first whole iteration belong to it. */
static uint32_t iteration_of(const struct fit_log *l, uint32_t rank) {
    const struct gen_fit_log_periods *p = &l->periods;
    return l->at[rank] < p->first ? 0 : (l->at[rank] - p->first) / p->calls;
}

static void end_iteration(struct fit_log *l, const struct read_clog2_stretch *s) {
    const uint32_t k = iteration_of(l, s->rank);
    const uint32_t done = ++l->at[s->rank];
    if (done <= l->periods.first || (done - l->periods.first) % l->periods.calls != 0) {
        return;
    }
    if (k < l->iterations) {
        if (l->work == NONE) {
            l->compute[(size_t)s->rank * l->iterations + k] = s->to - l->since[s->rank] - l->mpi[s->rank];
        }
        gen_fit_sketch_add(l->wait[s->rank & 1], s->to - s->from);
        l->in_all[s->rank & 1] += s->to - l->since[s->rank];
    }
    l->since[s->rank] = s->to;
    l->mpi[s->rank] = 0;
}

static void take_stretch(void *context, const struct read_clog2_stretch *s) {
    struct fit_log *l = context;
    if (s->rank >= l->ranks || s->state >= l->states) {
        return;
    }
    const double seconds = s->to - s->from;
    const uint32_t k = iteration_of(l, s->rank);
    if (isnan(l->since[s->rank])) {
        l->since[s->rank] = s->from;
    }
    if (l->state[s->state].mpi) {
        l->mpi[s->rank] += seconds;
        l->in_mpi[s->rank & 1] += k < l->iterations ? seconds : 0;
    } else if ((long)s->state == l->work && k < l->iterations) {
        l->compute[(size_t)s->rank * l->iterations + k] += seconds;
    }
}

static void take_state(void *context, const struct read_clog2_stretch *s) {
    struct fit_log *l = context;
    if (s->rank < l->ranks && (long)s->state == l->beat) {
        end_iteration(l, s);
    }
}

static void take_message(void *context, const struct read_clog2_end *e) {
    struct fit_log *l = context;
    if (!e->send || e->rank >= l->ranks || e->peer >= l->ranks || e->peer == e->rank ||
        iteration_of(l, e->rank) >= l->iterations) {
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
    l->message[l->messages++] = (struct fit_message){e->peer, e->rank, iteration_of(l, e->rank), e->bytes};
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

static hpcw_status sum_up(struct fit_log *l, struct gen_fit_load_data *loads, hpcw_error *err) {
    struct gen_fit_summing sums;
    hpcw_status s = gen_fit_sum_init(&sums, loads, err);
    size_t m = 0;
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

static hpcw_status read_log(struct fit_log *l, const char *path, hpcw_error *err) {
    const struct read_clog2_watch first = {.context = l, .stretch = count_stretch, .state = count_state};
    const struct read_clog2_watch second = {.context = l, .state = count_beat, .message = count_message};
    const struct read_clog2_watch third = {
        .context = l, .stretch = take_stretch, .state = take_state, .message = take_message};
    l->ranks = read_clog2_info(l->reader)->ranks;
    l->times = (struct hpcw_i_table){.key_words = 2, .value_size = 8, .seed = hpcw_i_table_random()};
    hpcw_status s = read_clog2_watch(l->reader, &first, err);
    if (s != HPCW_OK || l->no_memory) {
        return s != HPCW_OK ? s : hpcw_i_fail_memory(err, path, l->ranks, "ranks");
    }
    choose_states(l);
    if (l->beat == NONE) {
        return hpcw_i_fail(
            err, HPCW_EFORMAT,
            "%s: expected a collective call that all ranks make equally often, at least 4 times, got none: "
            "no iterations to learn from",
            path);
    }
    const uint64_t most = MOST_VALUES / l->ranks + 1;
    l->beats = (uint32_t)(l->state[l->beat].least < most ? l->state[l->beat].least : most);
    l->left_out = l->beats < l->state[l->beat].least;
    l->at = hpcw_i_calloc(l->ranks, sizeof *l->at);
    l->sent = hpcw_i_calloc(l->beats, sizeof *l->sent);
    if (l->at == NULL || l->sent == NULL) {
        return hpcw_i_fail_memory(err, path, l->ranks, "ranks");
    }
    read_clog2_rewind(l->reader);
    s = read_clog2_watch(l->reader, &second, err);
    if (s != HPCW_OK) {
        return s;
    }
    l->periods = gen_fit_log_periods(l->sent, l->beats);
    l->iterations = l->periods.count;
    memset(l->at, 0, l->ranks * sizeof *l->at);
    l->since = hpcw_i_calloc(l->ranks, sizeof *l->since);
    l->mpi = hpcw_i_calloc(l->ranks, sizeof *l->mpi);
    l->compute = hpcw_i_calloc((size_t)l->ranks * l->iterations, sizeof *l->compute);
    l->wait[0] = gen_fit_sketch_new(GEN_FIT_LEAST_SECONDS);
    l->wait[1] = gen_fit_sketch_new(GEN_FIT_LEAST_SECONDS);
    if (l->since == NULL || l->mpi == NULL || l->compute == NULL || l->wait[0] == NULL || l->wait[1] == NULL) {
        return hpcw_i_fail_memory(err, path, l->ranks, "ranks");
    }
    for (uint32_t r = 0; r < l->ranks; r++) {
        l->since[r] = NAN; /* not begun */
    }
    read_clog2_rewind(l->reader);
    s = read_clog2_watch(l->reader, &third, err);
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

static hpcw_status learn(const struct fit_log *l, const struct gen_fit_load_data *loads,
                         struct gen_fit_twin *twin, hpcw_error *err) {
    if ((twin->formats >> GEN_FORMAT_VOM & 1) != 0) {
        gen_fit_remark(twin, "clog2: the load data tell what the event log does, so it was only summed up");
        return HPCW_OK;
    }
    gen_fit_remark(twin,
                   "clog2: one object for each rank, with all that the rank computes in an iteration; clocks, "
                   "checkpoints and other calls than that which ends an iteration are the defaults");
    if (l->left_out) {
        gen_fit_remark(twin, "clog2: the log is too long, so only a part of it was learned from");
    }
    /* What lies between two of the calls that end an iteration: as many messages on an edge. */
    const double exchanges =
        l->edges > 0 ? floor(gen_fit_sketch_quantile(loads->whole.messages[0], 0.5) + 0.5) : 1;
    hpcw_status s = gen_fit_learn_text(twin, "trace.application", "stencil", GEN_FIT_PER_RUN, err);
    s = s == HPCW_OK ? gen_fit_learn(twin, "trace.exchanges", exchanges, GEN_FIT_PER_RUN, err) : s;
    s = s == HPCW_OK
            ? gen_fit_learn_text(twin, "load.handlers", has_handlers(l) ? "yes" : "no", GEN_FIT_PER_RUN, err)
            : s;
    bool files = (twin->formats >> GEN_FORMAT_RANK2FILE & 1) != 0;
    for (size_t i = 0; i < l->states; i++) {
        files = files || l->state[i].files;
    }
    s = s == HPCW_OK && !files ? gen_fit_learn(twin, "rank2file.checkpoints", 0, GEN_FIT_PER_RUN, err) : s;
    /* The measured times have that of handlers. */
    s = s == HPCW_OK ? gen_fit_learn(twin, "load.handler_time", 0, GEN_FIT_PER_RANK, err) : s;
    s = s == HPCW_OK ? gen_fit_loads_learn(&loads->whole, twin, err) : s;
    return s == HPCW_OK ? gen_fit_loads_intervals(loads, twin, err) : s;
}

hpcw_status gen_fit_log(const char *path, struct gen_fit_facts *facts, struct gen_fit_twin *twin,
                        hpcw_error *err) {
    struct fit_log l = {.beat = NONE};
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
    hpcw_i_table_free(&l.times);
    hpcw_i_free(l.state);
    hpcw_i_free(l.sent);
    hpcw_i_free(l.at);
    hpcw_i_free(l.since);
    hpcw_i_free(l.mpi);
    hpcw_i_free(l.compute);
    hpcw_i_free(l.message);
    hpcw_i_free(l.wait[0]);
    hpcw_i_free(l.wait[1]);
    read_clog2_free(l.reader);
    return s;
}
