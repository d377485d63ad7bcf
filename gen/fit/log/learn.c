/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/log/learn.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gen/fit/log/facts.h"
#include "gen/fit/log/program/program.h"
#include "gen/fit/log/text/text.h"
#include "gen/spec/workload.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* Learns a machine that has all ranks on one node. Its network is as fast as the fastest messages of the log.
 * If other messages take longer, the extra time is part of the time in their calls. */
static hpcw_status learn_machine(const struct fit_program *p, struct gen_fit_twin *twin, hpcw_error *err) {
    const struct {
        const char *key;
        uint32_t value;
    } exact[] = {
        {"load.phases", p->phases},
        {"machine.ppn", p->history.ranks},
        {"machine.cores", p->history.ranks},
        {"machine.cores_per_cache", p->history.ranks},
        {"machine.cores_per_socket", p->history.ranks},
    };
    const struct {
        const char *key;
        double value;
    } learned[] = {
        {"rank2file.checkpoints", 0},
        {"machine.latency_0", p->machine.latency * 1e6},
        {"machine.line_0", p->machine.rate / 1e9},
        {"machine.protocol_0", 0},
        {"machine.rendezvous_0", 0},
        {"machine.pair_spread", 0},
        {"noise.processors", 0},
        {"noise.ticks", 0},
        {"noise.detours", 0},
    };
    hpcw_status s = HPCW_OK;
    for (size_t i = 0; s == HPCW_OK && i < sizeof exact / sizeof exact[0]; i++) {
        char text[16];
        (void)snprintf(text, sizeof text, "%" PRIu32, exact[i].value);
        s = gen_fit_learn_text(twin, exact[i].key, text, GEN_FIT_PER_RUN, err);
    }
    for (size_t i = 0; s == HPCW_OK && i < sizeof learned / sizeof learned[0]; i++) {
        s = gen_fit_learn(twin, learned[i].key, learned[i].value, GEN_FIT_PER_RUN, err);
    }
    return s == HPCW_OK && p->machine.eager > 0
               ? gen_fit_learn(twin, "machine.eager_node", p->machine.eager, GEN_FIT_PER_RUN, err)
               : s;
}

/* ---- the length of the run ---- */

/* `together` is the share of delays that hit all ranks at once, so it decides how long ranks wait for each other.
 * It is fitted to the length of the run. If no value fits, all times in calls are scaled by the factor `rest`.
 * TRIALS: steps of the bisection. SEEDS: number of averaged runs, for up to FEW_RANKS ranks. */
enum { TRIALS = 7, SEEDS = 3, FEW_RANKS = 64 };
#define MOST_REST 4.0
/* FAR_REST is an assumption: a remark tells the user if `rest` is larger, or smaller than 1 / FAR_REST. */
#define FAR_REST 2.0
#define CLOSE 0.01

/* Result of a simulation of the twin: mean length of the run over some seeds, and number of messages. */
struct trial {
    double seconds, messages;
};

static hpcw_status simulate(const struct gen_fit_twin *twin, struct trial *trial, hpcw_error *err) {
    /* With more ranks, a single rank has less influence on the length of the run. */
    const uint64_t seeds = twin->ranks <= FEW_RANKS ? SEEDS : 1;
    hpcw_status s = HPCW_OK;
    *trial = (struct trial){.seconds = 0};
    for (uint64_t seed = 1; s == HPCW_OK && seed <= seeds; seed++) {
        struct gen_dataset d = twin->dataset;
        char rest[32], together[32];
        d.ranks = twin->ranks;
        d.seed = seed;
        d.formats = UINT64_C(1) << GEN_FORMAT_CLOG2;
        (void)snprintf(rest, sizeof rest, "%.9g", twin->rest);
        (void)snprintf(together, sizeof together, "%.9g", twin->together);
        s = gen_workload_new("twin.lua", (const char *)twin->workload.data, twin->workload.size, &d.workload,
                             err);
        s = s == HPCW_OK ? gen_workload_set(d.workload, "rest", rest, err) : s;
        s = s == HPCW_OK ? gen_workload_set(d.workload, "together", together, err) : s;
        s = s == HPCW_OK ? gen_dataset_build(&d, err) : s;
        if (s == HPCW_OK) {
            trial->seconds += (double)d.workload->counts.end_ns * 1e-9 / (double)seeds;
            trial->messages = (double)d.workload->counts.messages / 2;
        }
        gen_dataset_free(&d);
    }
    return s;
}

/* Bisects a parameter until the simulated run is as long as that of the log. sign: 1, a larger parameter makes the
 * run longer; -1, it makes the run shorter. */
static hpcw_status search(struct gen_fit_twin *twin, double *parameter, double low, double high, int sign,
                          double length, struct trial *trial, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (int i = 0; s == HPCW_OK && i < TRIALS && fabs(trial->seconds / length - 1) >= CLOSE; i++) {
        *parameter = (low + high) / 2;
        s = simulate(twin, trial, err);
        if (sign * (trial->seconds - length) < 0) {
            low = *parameter;
        } else {
            high = *parameter;
        }
    }
    return s;
}

/* Finds the parameters `together` and `rest` with which the simulated run is as long as that of the log. */
static hpcw_status learn_rest(const struct fit_program *p, struct gen_fit_twin *twin, struct trial *trial,
                              hpcw_error *err) {
    const double length = p->history.end - p->history.begin;
    twin->rest = 1;
    twin->together = 0;
    hpcw_status s = simulate(twin, trial, err);
    if (s == HPCW_OK && trial->seconds < length) {
        return search(twin, &twin->rest, 1, MOST_REST, 1, length, trial, err);
    }
    twin->together = 1;
    s = s == HPCW_OK ? simulate(twin, trial, err) : s;
    return s != HPCW_OK              ? s
           : trial->seconds < length ? search(twin, &twin->together, 0, 1, -1, length, trial, err)
                                     : search(twin, &twin->rest, 0, 1, 1, length, trial, err);
}

/* ---- the text ---- */

/* Limits on the number of message lists of a step. They are tried in this order until the text is short
 * enough. */
static const uint32_t most_versions[] = {1024, 32, 16, 8, 4};
enum { VERSIONS = sizeof most_versions / sizeof most_versions[0] };

/* Writes the text of the workload. For the first text, steps are equal only if their messages are equal. If the
 * text exceeds a limit or is long, or if its roles have no phases in common, further texts treat more steps as
 * equal. One of them is used if the first text exceeds a limit or is longer, or if only the new one has phases, so
 * that times can change by phase. Afterwards *p has the roles of the text that is used. */
static hpcw_status write_text(struct fit_program *p, struct hpcw_i_buf *text, hpcw_error *err) {
    size_t lines = SIZE_MAX;
    hpcw_status s = fit_program_fold(p, 0, err);
    s = s == HPCW_OK ? fit_text_write(p, NULL, text, &lines, err) : s;
    const hpcw_status first = s;
    const uint32_t phases = p->phases;
    if (s == HPCW_OK ? lines <= FIT_FEW_LINES && phases > 1 : s != HPCW_EINVAL) {
        return s;
    }
    for (size_t i = 0; i < VERSIONS; i++) {
        struct hpcw_i_buf other = {0};
        hpcw_error why;
        s = fit_program_fold(p, most_versions[i], &why);
        s = s == HPCW_OK ? fit_text_write(p, NULL, &other, &lines, &why) : s;
        if (s == HPCW_OK && (first != HPCW_OK || other.size < text->size || (phases == 1 && p->phases > 1))) {
            hpcw_i_buf_free(text);
            *text = other;
            return HPCW_OK;
        }
        hpcw_i_buf_free(&other);
        if (first != HPCW_OK && s == HPCW_EINVAL) {
            *err = why; /* of the text that treats more steps as equal than those before */
        }
        if (s != HPCW_EINVAL || lines > FIT_MOST_LINES) {
            break; /* a lower limit does not make fewer lines */
        }
    }
    return first == HPCW_OK ? fit_program_fold(p, 0, err) : first;
}

/* ---- what the twin lacks ---- */

/* The twin must have at least this share of the log's calls and of its bytes. */
#define LEAST_SHARE 0.9
#define MOST_OFF 0.1 /* largest relative error of the length of the run and of the number of messages */

static double share_of(double part, double whole) {
    return whole > 0 ? part / whole : 0;
}

/* Refuses the twin or, if partial twins are wanted, notes that it lacks `what`. */
static hpcw_status lack(struct gen_fit_twin *twin, const char *path, const char *what, hpcw_error *err) {
    if (!twin->partial) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: %s; --partial makes a twin of it all the same", path, what);
    }
    gen_fit_remark_first(twin, "clog2: partial: %s", what);
    const size_t size = strlen(twin->lacks);
    (void)snprintf(twin->lacks + size, sizeof twin->lacks - size, "%s%s", size > 0 ? "; " : "", what);
    return HPCW_OK;
}

/* Inserts a line with what the twin lacks, after the first line of the workload's text. */
static hpcw_status say_lacks(struct gen_fit_twin *twin, hpcw_error *err) {
    const struct hpcw_i_buf *text = &twin->workload;
    const size_t first =
        (size_t)((const char *)memchr(text->data, '\n', text->size) - (const char *)text->data) + 1;
    struct hpcw_i_buf buf = {0};
    const bool good = hpcw_i_buf_append(&buf, text->data, first) &&
                      hpcw_i_buf_append_str(&buf, GEN_WORKLOAD_LACKS) &&
                      hpcw_i_buf_append_str(&buf, twin->lacks) && hpcw_i_buf_append_str(&buf, "\n") &&
                      hpcw_i_buf_append(&buf, text->data + first, text->size - first);
    hpcw_i_buf_free(good ? &twin->workload : &buf);
    twin->workload = good ? buf : twin->workload;
    return good ? HPCW_OK : hpcw_i_fail_memory(err, "workload", text->size, "bytes");
}

static hpcw_status name_lack(const char *path, const struct fit_program *p, struct gen_fit_twin *twin,
                             hpcw_error *err) {
    const struct fit_history *h = &p->history;
    double calls = 0, bytes = (double)h->bytes, lost_calls = 0, lost_bytes = 0;
    const char *most = "";
    double most_calls = 0;
    for (uint32_t r = 0; r < h->ranks; r++) {
        calls += (double)h->rank[r].calls;
        for (size_t c = 0; c < h->rank[r].calls; c++) {
            bytes += (double)h->rank[r].call[c].sent;
        }
    }
    for (size_t i = 0; i < h->names; i++) {
        const struct fit_lack *l = &p->lack[i];
        lost_calls += (double)l->calls;
        lost_bytes += (double)l->bytes;
        most = (double)l->calls > most_calls ? h->name[i] : most;
        most_calls = fmax(most_calls, (double)l->calls);
        if (l->calls > 0) {
            gen_fit_remark(twin,
                           "clog2: %s is a state without effect on other ranks: %.2g %% of the calls, %.2g %% "
                           "of the time, %.2g %% of the bytes",
                           h->name[i], 100 * share_of((double)l->calls, calls),
                           100 * share_of(l->seconds, (h->end - h->begin) * h->ranks),
                           100 * share_of((double)l->bytes, bytes));
        }
    }
    char what[160];
    (void)snprintf(what, sizeof what,
                   "expected %.0f %% of calls and bytes in a twin, got %.0f %% of the calls and %.0f %% of the "
                   "bytes, for want of %s",
                   100 * LEAST_SHARE, 100 - 100 * share_of(lost_calls, calls),
                   100 - 100 * share_of(lost_bytes, bytes), most);
    return share_of(lost_calls, calls) > 1 - LEAST_SHARE || share_of(lost_bytes, bytes) > 1 - LEAST_SHARE
               ? lack(twin, path, what, err)
               : HPCW_OK;
}

static bool is_off(const struct fit_program *p, const struct trial *trial) {
    return fabs(trial->seconds / (p->history.end - p->history.begin) - 1) > MOST_OFF;
}

/* Writes a text for any number of ranks, from the logs with the most and the fewest ranks. Takes the first grid on
 * which the place of a rank decides its role. If there is none, the error is that of the grid that reached the
 * furthest stage. */
static hpcw_status write_scaled(struct fit_program *more, struct fit_program *fewer, struct hpcw_i_buf *text,
                                hpcw_error *err) {
    static const struct fit_grid grid[] = {{0, false}, {1, false}, {2, false},
                                           {2, true},  {3, false}, {3, true}};
    enum fit_scale_stage farthest = FIT_SCALE_NOTHING;
    hpcw_status s = HPCW_EINVAL;
    more->scales = fewer->scales = true;
    fewer->outer = more->outer;
    for (size_t i = 0; s == HPCW_EINVAL && i < sizeof grid / sizeof grid[0]; i++) {
        struct fit_scale scale;
        enum fit_scale_stage stage = FIT_SCALE_NOTHING;
        hpcw_error why;
        size_t lines;
        more->grid = fewer->grid = grid[i];
        hpcw_i_buf_free(text);
        s = fit_program_fold(more, 0, &why);
        s = s == HPCW_OK ? fit_program_fold(fewer, 0, &why) : s;
        s = s == HPCW_OK ? fit_scale_match(more, fewer, &scale, &stage, &why) : s;
        s = s == HPCW_OK ? fit_text_write(more, &scale, text, &lines, &why) : s;
        if (s != HPCW_OK && (i == 0 || stage > farthest || s != HPCW_EINVAL)) {
            (void)hpcw_i_fail_as(err, &why);
            farthest = stage;
        }
    }
    return s;
}

/* Learns the workload. fewer: the log with the fewest ranks; NULL: there is only one log, and the twin has the same
 * number of ranks. */
static hpcw_status learn_program(struct fit_program *p, struct fit_program *fewer, struct gen_fit_twin *twin,
                                 struct trial *trial, hpcw_error *err) {
    for (int outer = 0; outer < 2; outer++) {
        p->outer = outer > 0;
        hpcw_i_buf_free(&twin->workload);
        hpcw_status s =
            fewer == NULL ? write_text(p, &twin->workload, err) : write_scaled(p, fewer, &twin->workload, err);
        s = s == HPCW_OK ? learn_machine(p, twin, err) : s;
        s = s == HPCW_OK ? learn_rest(p, twin, trial, err) : s;
        if (s != HPCW_OK || !is_off(p, trial)) {
            return s;
        }
    }
    return HPCW_OK;
}

static hpcw_status check_messages(const char *path, const struct fit_program *p, struct gen_fit_twin *twin,
                                  const struct trial *trial, hpcw_error *err) {
    const double messages = (double)p->history.messages;
    char what[160];
    if (fabs(trial->messages - messages) <= MOST_OFF * messages) {
        return HPCW_OK;
    }
    (void)snprintf(what, sizeof what, "expected a twin with %.0f messages, got %.0f: they change too often",
                   messages, trial->messages);
    return lack(twin, path, what, err);
}

/* Checks the threads and states of the log, and the length and the number of messages of the twin's run. */
static hpcw_status check_twin(const char *path, const struct fit_program *p, struct gen_fit_twin *twin,
                              const struct trial *trial, hpcw_error *err) {
    const struct fit_history *h = &p->history;
    char what[160];
    if (h->of_threads > 0) {
        gen_fit_remark(twin, "clog2: calls of other threads than the main one are left out: %.2g %%",
                       100 * share_of((double)h->of_threads, (double)(h->of_threads + h->calls)));
    }
    if (h->states[0] != '\0') {
        gen_fit_remark(twin, "clog2: states of the program are left out: %s", h->states);
    }
    if (twin->rest > FAR_REST || twin->rest < 1 / FAR_REST) {
        gen_fit_remark(
            twin,
            "clog2: workload.rest is %.3g, far from 1: the waits of the twin may differ from those of "
            "the log; hpcgen fit --compare shows them",
            twin->rest);
    }
    hpcw_status s = HPCW_OK;
    if (is_off(p, trial)) {
        (void)snprintf(what, sizeof what,
                       "expected a twin that takes %.3g s, got %.3g s: waits may depend on who comes first, or "
                       "turns of the main loop differ (%" PRIu32 " found)",
                       h->end - h->begin, trial->seconds, p->phases);
        s = lack(twin, path, what, err);
    }
    return s == HPCW_OK ? check_messages(path, p, twin, trial, err) : s;
}

/* Compares the twin with one of several logs, at the number of ranks of this log. A few slow ranks decide the
 * length of a run, which varies from run to run. So a difference is only reported to the user. */
static hpcw_status check_size(const char *path, const struct fit_program *p, struct gen_fit_twin *twin,
                              hpcw_error *err) {
    struct trial trial;
    twin->ranks = p->history.ranks;
    hpcw_status s = simulate(twin, &trial, err);
    if (s == HPCW_OK) {
        gen_fit_remark(twin, "clog2: with %" PRIu32 " ranks the log takes %.3g s and the twin %.3g s",
                       p->history.ranks, p->history.end - p->history.begin, trial.seconds);
        s = check_messages(path, p, twin, &trial, err);
    }
    return s;
}

/* Learns a twin from the programs of one or more logs. The first log has the most ranks, the last one the
 * fewest. */
static hpcw_status learn_twin(const char *const *path, struct fit_program *p, size_t count,
                              struct gen_fit_twin *twin, hpcw_error *err) {
    struct trial trial;
    twin->ranks = p[0].history.ranks;
    hpcw_status s = name_lack(path[0], &p[0], twin, err);
    s = s == HPCW_OK ? learn_program(&p[0], count > 1 ? &p[count - 1] : NULL, twin, &trial, err) : s;
    s = s == HPCW_OK ? check_twin(path[0], &p[0], twin, &trial, err) : s;
    for (size_t i = 1; s == HPCW_OK && i < count; i++) {
        s = check_size(path[i], &p[i], twin, err);
    }
    twin->ranks = p[0].history.ranks;
    return s == HPCW_OK && twin->lacks[0] != '\0' ? say_lacks(twin, err) : s;
}

hpcw_status gen_fit_log(const char *path, struct gen_fit_facts *facts, struct gen_fit_twin *twin,
                        hpcw_error *err) {
    struct fit_program p;
    hpcw_status s = fit_program_read(path, &p, err);
    if (s == HPCW_OK && twin == NULL) {
        s = fit_program_fold(&p, 1, err);
        s = s == HPCW_OK ? fit_log_facts(path, &p, facts, err) : s;
    }
    s = s == HPCW_OK && twin != NULL ? learn_twin(&path, &p, 1, twin, err) : s;
    fit_program_free(&p);
    return s;
}

/* Sorts logs by their number of ranks, largest first. HPCW_EINVAL: two logs have the same number of ranks. */
static hpcw_status sort(const char **path, struct fit_program *p, size_t count, hpcw_error *err) {
    for (size_t i = 1; i < count; i++) {
        for (size_t k = i; k > 0 && p[k].history.ranks >= p[k - 1].history.ranks; k--) {
            if (p[k].history.ranks == p[k - 1].history.ranks) {
                return hpcw_i_fail(err, HPCW_EINVAL,
                                   "%s: expected another number of ranks than that of %s, got %" PRIu32,
                                   path[k], path[k - 1], p[k].history.ranks);
            }
            const struct fit_program program = p[k];
            const char *name = path[k];
            p[k] = p[k - 1];
            path[k] = path[k - 1];
            p[k - 1] = program;
            path[k - 1] = name;
        }
    }
    return HPCW_OK;
}

hpcw_status gen_fit_logs(const char *const *path, size_t count, struct gen_fit_twin *twin, hpcw_error *err) {
    struct fit_program *p = hpcw_i_calloc(count, sizeof *p);
    const char **sorted = hpcw_i_calloc(count, sizeof *sorted);
    hpcw_status s = p == NULL || sorted == NULL ? hpcw_i_fail_memory(err, "fit", count, "logs") : HPCW_OK;
    size_t read = 0;
    while (s == HPCW_OK && read < count) {
        sorted[read] = path[read];
        s = fit_program_read(path[read], &p[read], err);
        read++;
    }
    s = s == HPCW_OK ? sort(sorted, p, count, err) : s;
    s = s == HPCW_OK ? learn_twin(sorted, p, count, twin, err) : s;
    if (s == HPCW_OK) {
        gen_fit_remark(twin,
                       "clog2: for any number of ranks, from logs with %" PRIu32 " to %" PRIu32
                       ": what differs between them grows with a power of the number of ranks",
                       p[count - 1].history.ranks, p[0].history.ranks);
        gen_fit_remark(
            twin, "clog2: a node has up to %" PRIu32 " ranks; between nodes the network is that of the preset",
            p[0].history.ranks);
    }
    for (size_t i = 0; i < read; i++) {
        fit_program_free(&p[i]);
    }
    hpcw_i_free(p);
    hpcw_i_free(sorted);
    return s;
}
