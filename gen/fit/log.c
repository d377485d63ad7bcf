/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gen/fit/loads.h"
#include "gen/fit/loads_sum.h"
#include "libreader/clog2/clog2.h"
#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

enum { MOST_VALUES = 1 << 24, MOST_MESSAGES = 1 << 23, NONE = -1 };

struct fit_state {
    bool known, mpi, collective;
    double seconds;       /* whole states */
    double inner;         /* while it was the innermost one */
    uint64_t most, least; /* times on a rank */
    uint32_t ranks;       /* that it is on */
};

struct fit_message {
    uint32_t to, iteration;
    double bytes;
};

struct fit_log {
    struct read_clog2 *reader;
    uint32_t ranks;
    struct hpcw_i_table times; /* state, rank -> how often */
    struct fit_state *state;
    size_t states, state_capacity;
    long beat, work; /* states: that ends an iteration; that is computing, or NONE: what is in no call of MPI */
    uint32_t iterations;
    uint32_t *at;    /* [ranks] iteration */
    double *since;   /* [ranks] end of the iteration before */
    double *mpi;     /* [ranks] seconds in MPI in this iteration */
    double *compute; /* [ranks][iterations] */
    struct fit_message *message;
    size_t messages, message_capacity;
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
        *state =
            (struct fit_state){.known = true, .mpi = is_call(s->name), .collective = is_collective(s->name)};
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

/* ---- the second pass: iterations ---- */

static void end_iteration(struct fit_log *l, const struct read_clog2_stretch *s) {
    const uint32_t k = l->at[s->rank]++;
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
    const uint32_t k = l->at[s->rank];
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
    if (!e->send || e->rank >= l->ranks || e->peer >= l->ranks || l->at[e->rank] >= l->iterations) {
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
    l->message[l->messages++] = (struct fit_message){e->peer, l->at[e->rank], e->bytes};
}

/* By all members, so that the sums have the same bits wherever the messages are sorted. */
static int by_receiver(const void *a, const void *b) {
    const struct fit_message *x = a;
    const struct fit_message *y = b;
    return x->to != y->to                 ? (x->to < y->to ? -1 : 1)
           : x->iteration != y->iteration ? (x->iteration < y->iteration ? -1 : 1)
           : x->bytes < y->bytes          ? -1
                                          : x->bytes > y->bytes;
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
            for (; s == HPCW_OK && m < l->messages && l->message[m].to == r && l->message[m].iteration == k;
                 m++) {
                s = gen_fit_sum_edge(&sums, (uint64_t)r + 1, l->message[m].bytes, 1, true, err);
            }
            s = s == HPCW_OK ? gen_fit_sum_end(&sums, err) : s;
        }
    }
    /* The model's handlers send along a tree of the ranks and back. */
    loads->whole.handler_edges = 2.0 * (l->ranks - 1) / l->ranks;
    s = s == HPCW_OK ? gen_fit_sum_finish(&sums, err) : s;
    gen_fit_sum_free(&sums);
    return s;
}

/* ---- all ---- */

static hpcw_status read_log(struct fit_log *l, const char *path, hpcw_error *err) {
    const struct read_clog2_watch first = {.context = l, .stretch = count_stretch, .state = count_state};
    const struct read_clog2_watch second = {
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
    l->iterations = (uint32_t)(l->state[l->beat].least < most ? l->state[l->beat].least : most);
    l->left_out = l->iterations < l->state[l->beat].least;
    l->at = hpcw_i_calloc(l->ranks, sizeof *l->at);
    l->since = hpcw_i_calloc(l->ranks, sizeof *l->since);
    l->mpi = hpcw_i_calloc(l->ranks, sizeof *l->mpi);
    l->compute = hpcw_i_calloc((size_t)l->ranks * l->iterations, sizeof *l->compute);
    l->wait[0] = gen_fit_sketch_new(GEN_FIT_LEAST_SECONDS);
    l->wait[1] = gen_fit_sketch_new(GEN_FIT_LEAST_SECONDS);
    if (l->at == NULL || l->since == NULL || l->mpi == NULL || l->compute == NULL || l->wait[0] == NULL ||
        l->wait[1] == NULL) {
        return hpcw_i_fail_memory(err, path, l->ranks, "ranks");
    }
    for (uint32_t r = 0; r < l->ranks; r++) {
        l->since[r] = NAN; /* not begun */
    }
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

static hpcw_status learn(const struct fit_log *l, const struct gen_fit_load_data *loads,
                         struct gen_fit_twin *twin, hpcw_error *err) {
    if ((twin->formats >> GEN_FORMAT_VOM & 1) != 0) {
        gen_fit_remark(twin, "clog2: the load data tell what the event log does, so it was only summed up");
        return HPCW_OK;
    }
    gen_fit_remark(twin,
                   "clog2: one object for each rank, with all that the rank computes in an iteration; clocks, "
                   "checkpoints and other calls than that which ends an iteration are the defaults");
    gen_fit_remark(
        twin, "clog2: in the twin, handlers add 0.1 ms to an iteration, and send along a tree of the ranks");
    if (l->left_out) {
        gen_fit_remark(twin, "clog2: the log is too long, so only a part of it was learned from");
    }
    /* What lies between two of the calls that end an iteration. */
    hpcw_status s = gen_fit_learn_text(twin, "trace.application", "stencil", GEN_FIT_PER_RUN, err);
    s = s == HPCW_OK ? gen_fit_learn(twin, "trace.exchanges", 1, GEN_FIT_PER_RUN, err) : s;
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
