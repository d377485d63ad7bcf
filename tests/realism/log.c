/* SPDX-License-Identifier: BSD-3-Clause */
/* Figures of an event log: durations, the ranks' steps from iteration to iteration, messages, clocks. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libreader/clog2/clog2.h"
#include "libwriter/base/bytes.h"
#include "libwriter/base/status.h"
#include "tests/realism/figures.h"

enum { MOST_STATES = 64, RING = 8, FEW_CALLS = 64, SHORT_NS = 256 };

/* Calls that all ranks make the same number of times, in the same order. */
struct aligned_calls {
    uint64_t *calls; /* [ranks] so far */
    struct {
        uint64_t call; /* of all ranks */
        uint32_t count;
        double *from, *to; /* [ranks] */
    } ring[RING];
};

struct state_figures {
    char name[64];
    struct stats_values duration; /* seconds */
    double ln_sum, ln_squares;
    struct aligned_calls *aligned; /* or NULL */
};

struct log_figures {
    struct dataset *d;
    uint32_t ranks;
    struct state_figures state[MOST_STATES];
    double *scratch; /* [ranks] */

    /* Reductions and barriers. */
    double *offset; /* [ranks] of the exit of the last call from the median one */
    bool *has_offset;
    uint64_t exits, repeated;
    struct stats_values exit_spread;
    double early;              /* seconds that an exit is earlier than the last entry */
    struct stats_pairs *clock; /* [ranks] time, offset */

    /* Iterations. */
    uint64_t *iterations;         /* [ranks] ended */
    double *compute;              /* [ranks] of the iteration, seconds */
    double *before;               /* [2][ranks] ln of that of the last two */
    struct stats_values jump;     /* of ln(compute) from the mean of the iterations before and after */
    uint64_t compared, different; /* compute times of ranks and their tasks in the load data */
    double furthest;              /* share by which these differ */
    struct stats_values partners;
    uint32_t *partner_count;      /* [ranks] */
    struct hpcw_i_table partner;  /* rank, peer -> iteration + 1 of the last message */
    struct hpcw_i_table injected; /* rank, iteration -> 1 + index in d->interrupted */

    /* Messages. */
    double *pending;               /* [ranks] bytes of the message in this send; 0: none */
    double *sent_at, *came_at;     /* [ranks] of the last message in this call; NAN: none */
    uint64_t borders, off_borders; /* of calls that have the time of a message, or should have */
    struct stats_values send_rate, size, transfer;
    uint64_t sends, mod8, met, backward;
    double best[2];          /* bytes/s, between hosts and on one */
    struct stats_pairs cost; /* ln(bytes), ln(transfer) of messages of at least 64 KiB */

    uint64_t shortest[SHORT_NS]; /* durations of that many ns */

    uint64_t checkpoint_calls;
    uint64_t *checkpoint_of; /* [ranks] made so far */
};

/* ---- calls of all ranks ---- */

static bool is_reduction(const char *name) {
    return strcmp(name, "MPI_Allreduce") == 0 || strcmp(name, "MPI_Barrier") == 0;
}

static struct aligned_calls *aligned_new(uint32_t ranks) {
    struct aligned_calls *a = stats_alloc(1, sizeof *a);
    a->calls = stats_alloc(ranks, sizeof *a->calls);
    for (int i = 0; i < RING; i++) {
        a->ring[i].from = stats_alloc(ranks, sizeof(double));
        a->ring[i].to = stats_alloc(ranks, sizeof(double));
    }
    return a;
}

static void aligned_free(struct aligned_calls *a) {
    for (int i = 0; a != NULL && i < RING; i++) {
        free(a->ring[i].from);
        free(a->ring[i].to);
    }
    free(a == NULL ? NULL : a->calls);
    free(a);
}

static double least_of(const double *value, uint32_t count) {
    double least = value[0];
    for (uint32_t i = 1; i < count; i++) {
        least = fmin(least, value[i]);
    }
    return least;
}

static double most_of(const double *value, uint32_t count) {
    double most = value[0];
    for (uint32_t i = 1; i < count; i++) {
        most = fmax(most, value[i]);
    }
    return most;
}

static void whole_reduction(struct log_figures *g, const double *from, const double *to) {
    memcpy(g->scratch, to, g->ranks * sizeof *to);
    const double middle = stats_median(g->scratch, g->ranks);
    for (uint32_t r = 0; r < g->ranks; r++) {
        g->scratch[r] = fabs(to[r] - middle);
    }
    /* The system held a rank that is further away: that says nothing of its clock. */
    const double held = fmax(25e-6, 10 * 1.4826 * stats_median(g->scratch, g->ranks));
    g->early = fmax(g->early, most_of(from, g->ranks) - least_of(to, g->ranks));
    stats_add(&g->exit_spread, most_of(to, g->ranks) - least_of(to, g->ranks));
    for (uint32_t r = 0; r < g->ranks; r++) {
        const double offset = to[r] - middle;
        g->exits += g->has_offset[r];
        g->repeated += g->has_offset[r] && fabs(offset - g->offset[r]) < 2e-9;
        g->offset[r] = offset;
        g->has_offset[r] = true;
        if (fabs(offset) <= held) {
            stats_pair(&g->clock[r], middle, offset);
        }
    }
}

static void align(struct log_figures *g, struct state_figures *f, const struct read_clog2_stretch *s) {
    const uint64_t call = f->aligned->calls[s->rank]++;
    const int at = (int)(call % RING);
    if (f->aligned->ring[at].count == 0) {
        f->aligned->ring[at].call = call;
    }
    if (f->aligned->ring[at].call != call) {
        return; /* some rank is far behind: not calls of all ranks */
    }
    f->aligned->ring[at].from[s->rank] = s->from;
    f->aligned->ring[at].to[s->rank] = s->to;
    if (++f->aligned->ring[at].count == g->ranks) {
        f->aligned->ring[at].count = 0;
        whole_reduction(g, f->aligned->ring[at].from, f->aligned->ring[at].to);
    }
}

/* ---- states ---- */

static void end_iteration(struct log_figures *g, uint32_t rank) {
    struct dataset *d = g->d;
    const uint64_t k = g->iterations[rank]++;
    const double compute = g->compute[rank];
    double *one = &g->before[rank];
    double *two = &g->before[(size_t)g->ranks + rank];
    g->compute[rank] = 0;
    stats_add(&g->partners, g->partner_count[rank]);
    g->partner_count[rank] = 0;
    if (compute <= 0) {
        return;
    }
    if (d->phase_load != NULL && k < d->phases) {
        const double load = d->phase_load[k * d->ranks + rank];
        const double off = load > 0 ? fabs(compute - load) / load : 1;
        g->compared++;
        g->different += off > 1e-3;
        g->furthest = fmax(g->furthest, off);
    }
    if (k >= 3) { /* the first iteration sets up */
        const double jump = *one - 0.5 * (*two + log(compute));
        stats_add(&g->jump, jump);
        const uint64_t key[] = {rank, k - 1};
        const uint64_t *listed = hpcw_i_table_find(&g->injected, key);
        if (listed != NULL) {
            d->interrupted[*listed - 1].sd = jump;
        }
    }
    *two = *one;
    *one = log(compute);
}

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
        *c = (struct dataset_checkpoint){.begin = s->from, .end = s->to};
    }
    c->begin = fmin(c->begin, s->from);
    c->end = fmax(c->end, s->to);
    c->bytes += bytes;
    d->checkpoint_bytes[s->rank] = bytes;
}

/* The wrapper reads the clock when a call begins, and when it or one of its receives ends: messages have these times. */
static void end_call(struct log_figures *g, const struct read_clog2_stretch *s) {
    const double at[] = {g->sent_at[s->rank], g->came_at[s->rank]};
    const double expected[] = {s->from, s->to};
    for (int i = 0; i < 2; i++) {
        if (!isnan(at[i])) {
            g->borders++;
            g->off_borders += fabs(at[i] - expected[i]) >= 0.5e-9; /* records may differ in the last bit */
        }
    }
    if (strncmp(s->name, "MPI_", 4) == 0) { /* not a receive inside a wait */
        g->sent_at[s->rank] = g->came_at[s->rank] = NAN;
    }
}

static void take_state(void *context, const struct read_clog2_stretch *s) {
    struct log_figures *g = context;
    if (s->state >= MOST_STATES || s->rank >= g->ranks) {
        return;
    }
    struct state_figures *f = &g->state[s->state];
    const double duration = s->to - s->from;
    if (f->name[0] == '\0') {
        (void)snprintf(f->name, sizeof f->name, "%s", s->name);
        f->aligned = is_reduction(s->name) ? aligned_new(g->ranks) : NULL;
    }
    stats_add(&f->duration, duration);
    stats_distinguish(&f->duration, duration, 1e-9);
    const long long ns = llround(1e9 * duration);
    if (ns > 0 && ns < SHORT_NS) {
        g->shortest[ns]++;
    }
    const double ln = log(fmax(duration, 1e-9));
    f->ln_sum += ln;
    f->ln_squares += ln * ln;
    if (f->aligned != NULL) {
        align(g, f, s);
    }
    if (strcmp(f->name, "Compute") == 0) {
        g->compute[s->rank] += duration;
    } else if (strcmp(f->name, "Checkpoint") == 0) {
        end_checkpoint(g, s);
    } else if (strcmp(f->name, "MPI_Send") == 0 && g->pending[s->rank] > 0 && duration > 0) {
        stats_add(&g->send_rate, g->pending[s->rank] / duration);
    }
    if (strncmp(f->name, "MPI_", 4) == 0) {
        g->pending[s->rank] = 0;
    }
    if (strncmp(f->name, "MPI_", 4) == 0 || strncmp(f->name, "MPE_", 4) == 0) {
        end_call(g, s);
    }
}

static void take_solo(void *context, const struct read_clog2_stretch *s) {
    struct log_figures *g = context;
    if (s->rank < g->ranks && strcmp(s->name, "Phase done") == 0) {
        end_iteration(g, s->rank);
    }
}

/* ---- messages ---- */

static void take_send(struct log_figures *g, const struct read_clog2_end *e) {
    struct dataset *d = g->d;
    const uint64_t k = g->iterations[e->rank];
    const uint64_t pair = (uint64_t)e->rank << 32 | e->peer;
    g->sends++;
    g->mod8 += e->bytes % 8 == 0;
    stats_add(&g->size, e->bytes);
    g->pending[e->rank] = e->bytes;
    const uint64_t partner[] = {pair};
    uint64_t *last = hpcw_i_table_add(&g->partner, partner, NULL);
    if (last != NULL && *last != k + 1) {
        *last = k + 1;
        g->partner_count[e->rank]++;
    }
    if (d->phase_load != NULL && dataset_samples(d, k)) {
        const uint64_t key[] = {k, pair};
        struct dataset_flow *flow = hpcw_i_table_add(&d->flows, key, NULL);
        if (flow != NULL) {
            flow->log += e->bytes;
        }
    }
}

static void take_message(void *context, const struct read_clog2_end *e) {
    struct log_figures *g = context;
    if (e->rank >= g->ranks || e->peer >= g->ranks) {
        return;
    }
    if (e->send) {
        take_send(g, e);
    }
    *(e->send ? &g->sent_at[e->rank] : &g->came_at[e->rank]) = e->time;
    if (!e->meets) {
        return;
    }
    const double transfer = e->send ? e->other - e->time : e->time - e->other;
    g->met++;
    g->backward += transfer <= 0;
    if (transfer > 0) {
        const int where = dataset_same_host(g->d, e->rank, e->peer);
        g->best[where] = fmax(g->best[where], e->bytes / transfer);
        stats_add(&g->transfer, transfer);
        stats_distinguish(&g->transfer, transfer, 1e-9);
        if (e->bytes >= 1 << 16) {
            stats_pair(&g->cost, log(e->bytes), log(transfer));
        }
    }
}

/* ---- figures ---- */

static void put_states(struct log_figures *g) {
    for (int i = 0; i < MOST_STATES; i++) {
        struct state_figures *f = &g->state[i];
        const double n = (double)f->duration.count;
        if (f->duration.count >= FEW_CALLS) {
            const size_t distinct = stats_distinct(&f->duration);
            figure_of("log.distinct.*", f->name, (double)distinct / fmin(n, 500),
                      "%s: %zu distinct duration%s in %" PRIu64 " calls", f->name, distinct,
                      distinct == 1 ? "" : "s", f->duration.count);
            figure_of("log.mode.*", f->name, stats_mode(&f->duration),
                      "%s: %" PRIu64 " of %" PRIu64 " calls take the same number of nanoseconds", f->name,
                      f->duration.most, f->duration.count);
            const double mean = f->ln_sum / n;
            figure_of("log.spread.*", f->name, sqrt(fmax(f->ln_squares / n - mean * mean, 0)),
                      "%s: standard deviation of ln(duration), median %.3g us", f->name,
                      1e6 * stats_quantile(&f->duration, 0.5));
        }
    }
}

/* How well short durations are multiples of the step of a clock, whatever it is, from 0 to 1: the length of the mean of unit
 * vectors that turn once in a step. */
static void put_clock_step(const struct log_figures *g) {
    enum { LEAST = 400, MOST = 6400 }; /* hundredths of a nanosecond */
    double best = 0;
    double best_step = 0;
    uint64_t count = 0;
    for (int ns = 0; ns < SHORT_NS; ns++) {
        count += g->shortest[ns];
    }
    for (int hundredths = LEAST; hundredths < MOST; hundredths++) {
        const double step = hundredths / 100.0;
        double x = 0;
        double y = 0;
        for (int ns = 0; ns < SHORT_NS; ns++) {
            x += (double)g->shortest[ns] * cos(2 * M_PI * ns / step);
            y += (double)g->shortest[ns] * sin(2 * M_PI * ns / step);
        }
        if (hypot(x, y) > best) {
            best = hypot(x, y);
            best_step = step;
        }
    }
    if (count >= FEW_CALLS) {
        figure("log.clock_steps", best / (double)count,
               "durations below %d ns: not multiples of one step of a clock, best %.2f ns", SHORT_NS,
               best_step);
    }
}

static void put_iterations(struct log_figures *g) {
    if (g->exits > 0) {
        figure("log.exit_repeated", (double)g->repeated / (double)g->exits,
               "reductions: %" PRIu64 " of %" PRIu64
               " times a rank leaves as long after the median rank as the time before",
               g->repeated, g->exits);
        figure("log.exit_spread_us", 1e6 * stats_quantile(&g->exit_spread, 0.5),
               "reductions: from the first to the last rank to leave");
        figure("log.exit_early_us", 1e6 * g->early,
               "reductions: a rank leaves %.3g us before the last one arrives", 1e6 * g->early);
    }
    if (g->partners.count > 1) {
        figure("log.partners", stats_quantile(&g->partners, 0.5),
               "messages: partners of the median rank in a phase");
    }
    if (g->compared > 0) {
        figure("agree.compute", (double)g->different / (double)g->compared,
               "%" PRIu64 " of %" PRIu64
               " times a rank computes another time in the log than its tasks in the load "
               "data, by up to %.1f %%",
               g->different, g->compared, 100 * g->furthest);
    }
}

static void put_messages(struct log_figures *g) {
    if (g->sends == 0) {
        return;
    }
    figure("log.size_mod8", (double)g->mod8 / (double)g->sends,
           "messages: %" PRIu64 " of %" PRIu64 " sizes are multiples of 8", g->mod8, g->sends);
    figure("log.backward", (double)g->backward / fmax((double)g->met, 1),
           "messages: %" PRIu64 " of %" PRIu64 " arrive before they are sent", g->backward, g->met);
    figure("log.transfer_mode", stats_mode(&g->transfer),
           "messages: %" PRIu64 " of %" PRIu64 " take the same number of nanoseconds", g->transfer.most,
           g->transfer.count);
    if (g->borders > 0) {
        figure("log.message_times", (double)g->off_borders / (double)g->borders,
               "messages: %" PRIu64 " of %" PRIu64
               " times a send is not at the begin, or a receive not at the end of its call",
               g->off_borders, g->borders);
    }
    if (g->cost.n > 100) {
        figure("log.transfer_size", stats_correlation(&g->cost),
               "messages of 64 KiB and more: correlation of ln(bytes) and ln(time to arrive)");
    }
    if (g->d->host != NULL) {
        figure("log.best_gbs", 1e-9 * g->best[false], "messages between hosts: the best bandwidth, GB/s");
    }
    figure("log.best_gbs_host", 1e-9 * g->best[g->d->host != NULL],
           "messages on one host: the best bandwidth, GB/s");
    if (g->send_rate.count > 0) {
        figure("log.send_gbs", 1e-9 * g->send_rate.max,
               "MPI_Send: the most bytes for its duration, GB/s; median %.3g",
               1e-9 * stats_quantile(&g->send_rate, 0.5));
    }
}

static void put_flows(const struct dataset *d) {
    double wrong = 0;
    double all = 0;
    double load = 0;
    double silent = 0;
    struct stats_pairs both = {0};
    uint64_t key[HPCW_I_TABLE_KEY];
    const struct dataset_flow *f;
    for (size_t at = 0; (f = hpcw_i_table_next(&d->flows, &at, key)) != NULL;) {
        wrong += fabs(f->load - f->log);
        all += fmax(f->load, f->log);
        load += f->load;
        silent += f->log == 0 ? f->load : 0;
        stats_pair(&both, f->load, f->log);
    }
    if (all > 0) {
        figure("agree.bytes", wrong / all,
               "of the bytes between two ranks in a phase, load data and log disagree on %.1f %%",
               100 * wrong / all);
        figure("agree.silent", load > 0 ? silent / load : 0,
               "%.1f %% of the bytes between ranks of the load data are between ranks without a message in the "
               "log",
               load > 0 ? 100 * silent / load : 0);
        figure("agree.correlation", stats_correlation(&both),
               "correlation of the bytes of a pair of ranks in load data and log");
    }
}

/* How far one of the ranks is from the median. */
static double furthest(const struct log_figures *g, const double *value) {
    memcpy(g->scratch, value, g->ranks * sizeof *g->scratch);
    const double middle = stats_median(g->scratch, g->ranks);
    return fmax(most_of(value, g->ranks) - middle, middle - least_of(value, g->ranks));
}

static void keep_clocks(struct log_figures *g) {
    struct dataset *d = g->d;
    const double n = g->clock[0].n;
    if (n < 4) {
        return;
    }
    d->clock_offset = stats_alloc(g->ranks, sizeof *d->clock_offset);
    d->clock_drift = stats_alloc(g->ranks, sizeof *d->clock_drift);
    for (uint32_t r = 0; r < g->ranks; r++) {
        const struct stats_pairs *c = &g->clock[r];
        d->clock_offset[r] = c->y;
        d->clock_drift[r] = c->xx > 0 ? c->xy / c->xx : 0;
    }
    double middle;
    memcpy(g->scratch, d->clock_offset, g->ranks * sizeof *g->scratch);
    stats_robust(g->scratch, g->ranks, &middle, &d->clock_noise);
    d->clock_middle = g->clock[0].x;
    d->clock_span = sqrt(12 * g->clock[0].xx / n);
    if (d->clock_noise > 0) {
        const double offset = furthest(g, d->clock_offset);
        figure("log.clock_offset", offset / d->clock_noise,
               "clocks: the worst is off by %.3g us, noise %.3g us", 1e6 * offset, 1e6 * d->clock_noise);
        const double drift = furthest(g, d->clock_drift);
        figure("log.clock_drift", 0.5 * drift * d->clock_span / d->clock_noise,
               "clocks: the worst drifts by %.3g ppm", 1e6 * drift);
    }
}

static void list_interruptions(struct log_figures *g) {
    const cJSON *one;
    struct dataset *d = g->d;
    const cJSON *all = cJSON_GetObjectItem(cJSON_GetObjectItem(d->truth, "clog2"), "interruptions");
    d->interrupted = stats_alloc((size_t)cJSON_GetArraySize(all), sizeof *d->interrupted);
    cJSON_ArrayForEach(one, all) {
        const cJSON *phase = cJSON_GetObjectItem(one, "phase");
        const cJSON *rank = cJSON_GetObjectItem(one, "rank");
        if (!cJSON_IsNumber(phase) || !cJSON_IsNumber(rank)) {
            continue;
        }
        struct dataset_interruption *i = &d->interrupted[d->interruptions++];
        *i = (struct dataset_interruption){
            .rank = (uint32_t)rank->valuedouble, .phase = (uint32_t)phase->valuedouble, .sd = NAN};
        const uint64_t key[] = {i->rank, i->phase};
        uint64_t *at = hpcw_i_table_add(&g->injected, key, NULL);
        if (at != NULL) {
            *at = d->interruptions;
        }
    }
}

static void scale_interruptions(struct log_figures *g) {
    double middle;
    double sd;
    const size_t n = g->jump.count < STATS_KEPT ? (size_t)g->jump.count : STATS_KEPT;
    if (n == 0) {
        return;
    }
    stats_robust(g->jump.kept, n, &middle, &sd);
    for (size_t i = 0; i < g->d->interruptions; i++) {
        g->d->interrupted[i].sd = sd > 0 ? fabs(g->d->interrupted[i].sd - middle) / sd : NAN;
    }
}

static void free_all(struct log_figures *g) {
    for (int i = 0; i < MOST_STATES; i++) {
        stats_free(&g->state[i].duration);
        aligned_free(g->state[i].aligned);
    }
    struct stats_values *const values[] = {&g->exit_spread, &g->jump, &g->partners,
                                           &g->send_rate,   &g->size, &g->transfer};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        stats_free(values[i]);
    }
    hpcw_i_table_free(&g->partner);
    hpcw_i_table_free(&g->injected);
    free(g->scratch);
    free(g->offset);
    free(g->has_offset);
    free(g->clock);
    free(g->iterations);
    free(g->compute);
    free(g->before);
    free(g->partner_count);
    free(g->pending);
    free(g->sent_at);
    free(g->came_at);
    free(g->checkpoint_of);
    free(g);
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
    struct log_figures *g = stats_alloc(1, sizeof *g);
    g->d = d;
    g->ranks = ranks;
    g->scratch = stats_alloc(ranks, sizeof *g->scratch);
    g->offset = stats_alloc(ranks, sizeof *g->offset);
    g->has_offset = stats_alloc(ranks, sizeof *g->has_offset);
    g->clock = stats_alloc(ranks, sizeof *g->clock);
    g->iterations = stats_alloc(ranks, sizeof *g->iterations);
    g->compute = stats_alloc(ranks, sizeof *g->compute);
    g->before = stats_alloc(2 * (size_t)ranks, sizeof *g->before);
    g->partner_count = stats_alloc(ranks, sizeof *g->partner_count);
    g->pending = stats_alloc(ranks, sizeof *g->pending);
    g->sent_at = stats_alloc(ranks, sizeof *g->sent_at);
    g->came_at = stats_alloc(ranks, sizeof *g->came_at);
    for (uint32_t r = 0; r < ranks; r++) {
        g->sent_at[r] = g->came_at[r] = NAN;
    }
    g->checkpoint_of = stats_alloc(ranks, sizeof *g->checkpoint_of);
    g->partner = (struct hpcw_i_table){.key_words = 1, .value_size = sizeof(uint64_t)};
    g->injected = (struct hpcw_i_table){.key_words = 2, .value_size = sizeof(uint64_t)};
    d->checkpoint_bytes = stats_alloc(ranks, sizeof *d->checkpoint_bytes);
    list_interruptions(g);

    s = read_clog2_watch(reader,
                         &(struct read_clog2_watch){
                             .context = g, .state = take_state, .solo = take_solo, .message = take_message},
                         err);
    if (s == HPCW_OK) {
        put_states(g);
        put_clock_step(g);
        put_iterations(g);
        put_messages(g);
        if (d->phase_load != NULL && g->partners.count > 0) {
            put_flows(d);
        }
        keep_clocks(g);
        scale_interruptions(g);
    }
    free_all(g);
    read_clog2_free(reader);
    return s;
}
