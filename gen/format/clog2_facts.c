/* SPDX-License-Identifier: BSD-3-Clause */
/* What each iteration injects: remembered while the log is written, in partial results, in truth.json. */
#include <math.h>

#include "gen/format/clog2.h"
#include "gen/format/vom.h"
#include "gen/spec/visibility.h"
#include "libwriter/base/detmath.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/exchange.h"

/*
 * Words of an iteration: number, start, duration, compute_ns, slowest_ns, slowest_rank, messages, numbers of interruptions
 * and of backward arrows; then two words for each interruption, three for each arrow.
 */
enum { FACT_WORDS = 9, NOISE_WORDS = 2, BACKWARD_WORDS = 3 };

static bool add_words(struct hpcw_i_buf *facts, const uint64_t *word, size_t count) {
    return hpcw_i_buf_append(facts, word, count * sizeof *word);
}

hpcw_status gen_clog2_remember(struct hpcw_i_buf *facts, const struct gen_trace_log_part *part,
                               hpcw_error *err) {
    const struct model_trace_run *run = part->run;
    const struct model_trace_facts *f = &run->facts;
    const uint64_t word[FACT_WORDS] = {part->iteration, part->start_ns, f->duration_ns,
                                       f->compute_ns,   f->slowest_ns,  f->slowest_rank,
                                       run->messages,   run->noises,    run->backwards};
    bool ok = add_words(facts, word, FACT_WORDS);
    for (size_t i = 0; ok && i < run->noises; i++) {
        ok = add_words(facts, (const uint64_t[]){run->noise[i].rank, run->noise[i].length_ns}, NOISE_WORDS);
    }
    for (size_t i = 0; ok && i < run->backwards; i++) {
        const struct model_trace_backward *b = &run->backward[i];
        ok = add_words(facts, (const uint64_t[]){b->from, b->to, b->by_ns}, BACKWARD_WORDS);
    }
    return ok ? HPCW_OK : hpcw_i_fail_memory(err, "clog2", 0, "the list of faults");
}

/* The first words' names, in partial results as in truth.json. */
static const char *const fact_name[FACT_WORDS - 2] = {"iteration",  "start_ns",     "duration_ns", "compute_ns",
                                                      "slowest_ns", "slowest_rank", "messages"};

static void put_list(struct hpcw_i_json *json, const char *key, const char *const *name, size_t names,
                     const uint64_t *word, uint64_t count) {
    hpcw_i_json_key_array(json, key);
    for (uint64_t i = 0; i < count; i++) {
        hpcw_i_json_flat_object(json);
        for (size_t k = 0; k < names; k++) {
            hpcw_i_json_put_u64(json, name[k], word[i * names + k]);
        }
        hpcw_i_json_end_object(json);
    }
    hpcw_i_json_end_array(json);
}

static hpcw_status put_facts(void *context, const uint64_t *word, size_t words, hpcw_error *err) {
    static const char *const noise_name[NOISE_WORDS] = {"rank", "length_ns"};
    static const char *const backward_name[BACKWARD_WORDS] = {"from", "to", "by_ns"};
    struct hpcw_i_json *json = context;
    (void)err;
    for (size_t i = 0; i + FACT_WORDS <= words;) {
        const uint64_t *w = word + i;
        hpcw_i_json_begin_object(json);
        for (size_t k = 0; k < FACT_WORDS - 2; k++) {
            hpcw_i_json_put_u64(json, fact_name[k], w[k]);
        }
        put_list(json, "interruptions", noise_name, NOISE_WORDS, w + FACT_WORDS, w[FACT_WORDS - 2]);
        put_list(json, "backward_arrows", backward_name, BACKWARD_WORDS,
                 w + FACT_WORDS + NOISE_WORDS * w[FACT_WORDS - 2], w[FACT_WORDS - 1]);
        hpcw_i_json_end_object(json);
        i += FACT_WORDS + NOISE_WORDS * w[FACT_WORDS - 2] + BACKWARD_WORDS * w[FACT_WORDS - 1];
    }
    return HPCW_OK;
}

hpcw_status gen_clog2_collect(hpcw_comm *comm, const struct hpcw_i_buf *facts, struct hpcw_i_json *partial,
                              hpcw_error *err) {
    if (partial != NULL) {
        hpcw_i_json_key_array(partial, "iterations");
    }
    hpcw_status s = hpcw_i_comm_collect(comm, 0, (const uint64_t *)(const void *)facts->data,
                                        facts->size / sizeof(uint64_t), put_facts, partial, err);
    if (partial != NULL) {
        hpcw_i_json_end_array(partial);
    }
    return s;
}

static void copy_arrows(struct hpcw_i_json *json, const cJSON *list) {
    hpcw_i_json_key_array(json, "backward_arrows");
    const cJSON *one;
    const cJSON *member;
    cJSON_ArrayForEach(one, list) {
        hpcw_i_json_flat_object(json);
        cJSON_ArrayForEach(member, one) {
            uint64_t value = 0;
            (void)gen_partial_u64(one, member->string, &value, NULL);
            hpcw_i_json_put_u64(json, member->string, value);
        }
        hpcw_i_json_end_object(json);
    }
    hpcw_i_json_end_array(json);
}

/* ---- how visible interruptions are ---- */

/* Whether the tracer recorded what shows a fault. */
static bool sees(const struct gen_dataset *d, uint32_t what) {
    return (d->trace.records >> what / 2 & 1) != 0;
}

/* Jumps of ranks: how far ln(compute time) of an iteration is above the mean of the iterations before and after. */
struct jumps {
    const struct gen_dataset *d;
    struct gen_vom_slots slots;
    double *ln;     /* [iterations] of one rank; binary logarithm, as only ratios matter */
    double *sample; /* of many ranks */
    size_t samples;
    double middle, sd;
};

enum { JUMP_RANKS = 1024, JUMP_FIRST = 2 }; /* most ranks of the sample; the first iteration sets up */

static void fill_ln(struct jumps *j, uint32_t rank) {
    const struct model_load *m = &j->d->load;
    for (uint32_t k = 0; k < m->params.phases; k++) {
        struct gen_load_tally tally = {.arrived = 0};
        if (k == 0) {
            gen_vom_slots_begin(&j->slots, m, rank, &tally);
        } else {
            gen_vom_slots_next(&j->slots, m, &tally);
        }
        j->ln[k] = hpcw_i_log2((double)tally.sum[0]);
    }
}

static double jump_at(const struct jumps *j, uint32_t iteration) {
    return j->ln[iteration] - 0.5 * (j->ln[iteration - 1] + j->ln[iteration + 1]);
}

static bool has_jump(const struct jumps *j, uint64_t iteration) {
    return iteration >= JUMP_FIRST && iteration + 1 < j->d->trace.iterations;
}

static void jumps_free(struct jumps *j) {
    gen_vom_slots_free(&j->slots);
    hpcw_i_free(j->ln);
    hpcw_i_free(j->sample);
}

static hpcw_status jumps_new(struct jumps *j, const struct gen_dataset *d, hpcw_error *err) {
    const uint32_t step = d->ranks / JUMP_RANKS + 1;
    *j = (struct jumps){.d = d, .sd = NAN};
    hpcw_status s = gen_vom_slots_new(&j->slots, &d->load, err);
    j->ln = hpcw_i_malloc(d->trace.iterations * sizeof *j->ln);
    j->sample = hpcw_i_malloc((size_t)JUMP_RANKS * d->trace.iterations * sizeof *j->sample);
    if (s == HPCW_OK && (j->ln == NULL || j->sample == NULL)) {
        s = hpcw_i_fail_memory(err, "clog2", d->trace.iterations, "iterations");
    }
    for (uint32_t rank = 0; s == HPCW_OK && rank < d->ranks; rank += step) {
        fill_ln(j, rank);
        for (uint32_t k = 0; k < d->trace.iterations; k++) {
            if (has_jump(j, k)) {
                j->sample[j->samples++] = jump_at(j, k);
            }
        }
    }
    gen_visibility_spread(j->sample, j->samples, &j->middle, &j->sd);
    return s;
}

static hpcw_status put_interruptions(struct jumps *j, const cJSON *list, uint64_t iteration,
                                     struct hpcw_i_json *json, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    const cJSON *one;
    hpcw_i_json_key_array(json, "interruptions");
    cJSON_ArrayForEach(one, list) {
        uint64_t rank = 0;
        uint64_t length_ns = 0;
        s = s == HPCW_OK && j->ln == NULL ? jumps_new(j, j->d, err) : s;
        s = s == HPCW_OK ? gen_partial_u64(one, "rank", &rank, err) : s;
        s = s == HPCW_OK ? gen_partial_u64(one, "length_ns", &length_ns, err) : s;
        if (s != HPCW_OK || rank >= j->d->ranks) {
            break;
        }
        fill_ln(j, (uint32_t)rank);
        hpcw_i_json_begin_object(json);
        hpcw_i_json_put_str(json, "kind", "interruption");
        hpcw_i_json_put_u64(json, "rank", rank);
        hpcw_i_json_put_u64(json, "iteration", iteration);
        hpcw_i_json_put_u64(json, "length_ns", length_ns);
        hpcw_i_json_key_array(json, "visibility");
        gen_visibility_put(json, "clog2", GEN_CLOG2_PATH,
                           has_jump(j, iteration) && sees(j->d, MODEL_TRACE_COMPUTE)
                               ? (jump_at(j, (uint32_t)iteration) - j->middle) / j->sd
                               : NAN);
        hpcw_i_json_end_array(json);
        hpcw_i_json_end_object(json);
    }
    hpcw_i_json_end_array(json);
    return s;
}

/* ---- how visible clocks are ---- */

/* The system held a rank that is further away than this, and than ten local standard deviations: it does not count. */
enum { HELD_NS = 25000 };

/* When a rank leaves reductions, from the median rank, as a line over time. */
struct exit_line {
    double n, t, tt, y, ty; /* sums */
};

struct exits {
    struct exit_line *line; /* [ranks] */
    uint64_t *time_ns;      /* [ranks] */
    double *value;          /* [ranks] */
    double offset, drift;   /* of the median rank */
    double noise_ns, span_ns;
};

static void exits_free(struct exits *e) {
    hpcw_i_free(e->line);
    hpcw_i_free(e->time_ns);
    hpcw_i_free(e->value);
}

static double mean_of(const struct exit_line *l) {
    return l->y / l->n;
}

static double slope_of(const struct exit_line *l) {
    return (l->ty - l->t * l->y / l->n) / (l->tt - l->t * l->t / l->n);
}

/* Those in e->time_ns. */
static void add_exits(const struct gen_dataset *d, struct exits *e, double at_ns) {
    const struct model_trace *m = &d->trace;
    double middle;
    double sd;
    for (uint32_t r = 0; r < d->ranks; r++) {
        const struct model_trace_clock *c = &m->clock[model_machine_node(&d->machine, r)];
        e->value[r] = (double)e->time_ns[r] + c->offset_ns + c->drift * at_ns;
        e->time_ns[r] = (uint64_t)(e->value[r] + 1e9); /* all positive, for the sums below */
    }
    gen_visibility_spread(e->value, d->ranks, &middle, &sd);
    for (uint32_t r = 0; r < d->ranks; r++) {
        const double y = (double)e->time_ns[r] - 1e9 - middle;
        struct exit_line *l = &e->line[r];
        if (fabs(y) > HELD_NS && fabs(y) > 10 * sd) {
            continue;
        }
        l->n++;
        l->t += at_ns;
        l->tt += at_ns * at_ns;
        l->y += y;
        l->ty += at_ns * y;
    }
}

static hpcw_status exits_new(struct exits *e, const struct gen_dataset *d, const double *at_ns,
                             hpcw_error *err) {
    double ignored;
    *e = (struct exits){.line = hpcw_i_calloc(d->ranks, sizeof *e->line),
                        .time_ns = hpcw_i_malloc(d->ranks * sizeof *e->time_ns),
                        .value = hpcw_i_malloc(d->ranks * sizeof *e->value)};
    if (e->line == NULL || e->time_ns == NULL || e->value == NULL) {
        return hpcw_i_fail_memory(err, "clog2", d->ranks, "ranks");
    }
    for (uint32_t k = 0; k < d->trace.iterations; k++) {
        struct model_trace_exit exit[MODEL_TRACE_MOST_EXITS];
        const uint32_t exits = model_trace_exits(&d->trace, k, exit);
        const double begin_ns = k > 0 ? at_ns[k - 1] : MODEL_TRACE_START_NS;
        for (uint32_t i = 0; i < exits; i++) {
            model_trace_exit_times(&d->trace, &exit[i], e->time_ns);
            add_exits(d, e, begin_ns + exit[i].at * (at_ns[k] - begin_ns));
        }
    }
    const double n = e->line[0].n;
    /* Most clocks are right: what spreads the ranks is their place in the tree of the reduction. */
    for (uint32_t r = 0; r < d->ranks; r++) {
        e->value[r] = mean_of(&e->line[r]);
    }
    gen_visibility_spread(e->value, d->ranks, &e->offset, &e->noise_ns);
    for (uint32_t r = 0; r < d->ranks; r++) {
        e->value[r] = slope_of(&e->line[r]);
    }
    gen_visibility_spread(e->value, d->ranks, &e->drift, &ignored);
    e->span_ns = sqrt(12 * (e->line[0].tt - e->line[0].t * e->line[0].t / n) / n);
    return HPCW_OK;
}

/* No more than the clock's error: rank 0, the root of the reductions, leaves them first with a right clock, too. */
static double clock_sd(const struct exits *e, uint32_t first, uint32_t ranks,
                       const struct model_trace_clock *clock) {
    double offset = 0;
    double drift = 0;
    for (uint32_t r = first; r < first + ranks; r++) {
        offset += mean_of(&e->line[r]) / ranks;
        drift += slope_of(&e->line[r]) / ranks;
    }
    const double seen = fabs(offset - e->offset) + 0.5 * fabs(drift - e->drift) * e->span_ns;
    const double is = fabs(clock->offset_ns + clock->drift * e->line[first].t / e->line[first].n) +
                      0.5 * fabs(clock->drift) * e->span_ns;
    return fmin(seen, is) / e->noise_ns;
}

/* The clocks of all hosts, if they are wrong. `at_ns` [iterations]: when their reductions end. */
static hpcw_status put_clocks(const struct gen_dataset *d, const double *at_ns, struct hpcw_i_json *json,
                              hpcw_error *err) {
    struct exits e = {0};
    const uint32_t ppn = d->machine.params.ppn;
    hpcw_status s = d->trace.clock != NULL ? exits_new(&e, d, at_ns, err) : HPCW_OK;
    hpcw_i_json_key_array(json, "clocks");
    for (uint32_t n = 0; s == HPCW_OK && d->trace.clock != NULL && n < d->machine.nodes; n++) {
        const uint32_t first = n * ppn;
        const uint32_t ranks = d->ranks - first < ppn ? d->ranks - first : ppn;
        char host[MODEL_HOST_SIZE];
        model_machine_host(&d->machine, n, host);
        hpcw_i_json_begin_object(json);
        hpcw_i_json_put_str(json, "kind", "clock");
        hpcw_i_json_put_str(json, "host", host);
        hpcw_i_json_put_u64(json, "node", n);
        hpcw_i_json_put_u64(json, "first_rank", first);
        hpcw_i_json_put_u64(json, "ranks", ranks);
        hpcw_i_json_put_f64(json, "offset_us", d->trace.clock[n].offset_ns / 1e3);
        hpcw_i_json_put_f64(json, "drift_ppm", d->trace.clock[n].drift * 1e6);
        hpcw_i_json_key_array(json, "visibility");
        gen_visibility_put(json, "clog2", GEN_CLOG2_PATH,
                           d->trace.iterations < 4 || !sees(d, MODEL_TRACE_ALLREDUCE)
                               ? NAN
                               : clock_sd(&e, first, ranks, &d->trace.clock[n]));
        hpcw_i_json_end_array(json);
        hpcw_i_json_end_object(json);
    }
    hpcw_i_json_end_array(json);
    exits_free(&e);
    return s;
}

/* ---- truth ---- */

hpcw_status gen_clog2_truth(const struct gen_dataset *d, const cJSON *const *partial, size_t count,
                            struct hpcw_i_json *json, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    uint32_t found = 0;
    struct jumps jumps = {.d = d};
    double *at_ns = hpcw_i_calloc(d->trace.iterations, sizeof *at_ns);
    if (at_ns == NULL) {
        return hpcw_i_fail_memory(err, "clog2", d->trace.iterations, "iterations");
    }
    const bool written = d->trace.program[MODEL_TRACE_IN_LOOP].statements > 0;
    hpcw_i_json_put_str(json, "application", written ? "program" : model_trace_kind_name[d->trace.style.kind]);
    hpcw_i_json_key_array(json, "iterations");
    for (size_t i = 0; i < count; i++) {
        const cJSON *item;
        cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(partial[i], "iterations")) {
            hpcw_i_json_begin_object(json);
            for (size_t k = 0; s == HPCW_OK && k < FACT_WORDS - 2; k++) {
                uint64_t value = 0;
                s = gen_partial_u64(item, fact_name[k], &value, err);
                hpcw_i_json_put_u64(json, fact_name[k], value);
                if ((k == 1 || k == 2) && found < d->trace.iterations) { /* start and duration */
                    at_ns[found] += (double)value;
                }
            }
            uint64_t number = 0;
            s = s == HPCW_OK ? gen_partial_u64(item, fact_name[0], &number, err) : s;
            if (s == HPCW_OK && number < d->trace.iterations) {
                hpcw_i_json_put_u64(json, "exchanges", model_trace_exchanges(&d->trace, (uint32_t)number));
            }
            if (s == HPCW_OK) {
                s = put_interruptions(&jumps, cJSON_GetObjectItemCaseSensitive(item, "interruptions"), number,
                                      json, err);
            }
            copy_arrows(json, cJSON_GetObjectItemCaseSensitive(item, "backward_arrows"));
            hpcw_i_json_end_object(json);
            found++;
        }
    }
    hpcw_i_json_end_array(json);
    jumps_free(&jumps);
    s = s == HPCW_OK ? put_clocks(d, at_ns, json, err) : s;
    hpcw_i_free(at_ns);
    if (s == HPCW_OK && found != d->trace.iterations) {
        s = hpcw_i_fail(err, HPCW_EFORMAT, "partial result: iterations: expected %u of them, got %u",
                        d->trace.iterations, found);
    }
    return s;
}
