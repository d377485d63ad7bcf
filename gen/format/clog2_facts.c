/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/format/clog2_facts.h"

#include <math.h>
#include <string.h>

#include "gen/format/clog2.h"
#include "gen/spec/costs.h"
#include "gen/spec/visibility.h"
#include "libwriter/base/detmath.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* Work of a rank in its current phase. */
struct facts_rank {
    uint64_t compute_ns, lost_ns; /* lost_ns: time lost to noise */
    uint32_t messages;
};

/* Figures of a phase over all ranks, as in truth.json. */
struct facts_phase {
    uint64_t end_ns; /* time at which the last rank ends the phase */
    uint64_t compute_ns, slowest_ns, slowest_rank, messages;
    /* time lost to noise: by all ranks together, and by the rank that lost most */
    uint64_t lost_ns, most_lost_ns, most_lost_rank;
};
static const char *const phase_name[] = {"end_ns",   "compute_ns", "slowest_ns",   "slowest_rank",
                                         "messages", "lost_ns",    "most_lost_ns", "most_lost_rank"};
enum { PHASE_WORDS = sizeof phase_name / sizeof phase_name[0] };

/* A meeting (collective call of the world): times at which the ranks leave the call, by their own clocks. At most
 * MOST_MEETINGS are kept. If there are more, every second one is dropped and the sampling interval doubles. */
enum { MOST_MEETINGS = 256, LEAST_MEETINGS = 4 };
struct facts_meeting {
    double middle_ns; /* time at which the median rank leaves the call */
    float *from_ns;   /* [ranks] exit of each rank minus middle_ns, ns */
};

struct gen_clog2_facts {
    const struct gen_dataset *d;
    struct facts_rank *rank;       /* [ranks] */
    struct facts_phase *phase;     /* [phases] */
    float *compute_log2;           /* [ranks][phases] log2 of the compute time in ns */
    struct facts_meeting *meeting; /* [meetings] NULL: all clocks are right */
    uint32_t meetings, every;      /* every: one in `every` calls is sampled */
    uint64_t calls;                /* number of calls of the world that all ranks have left */
    double *exit_ns;               /* [ranks] time at which each rank left the current call, by its own clock */
    double *value;                 /* [ranks] */
    uint32_t left;                 /* ranks that have left the current call */
};

hpcw_status gen_clog2_facts_new(const struct gen_dataset *d, struct gen_clog2_facts **out, hpcw_error *err) {
    struct gen_clog2_facts *f = hpcw_i_calloc(1, sizeof *f);
    *out = f;
    if (f == NULL) {
        return hpcw_i_fail_memory(err, "clog2", 0, NULL);
    }
    f->d = d;
    f->rank = hpcw_i_calloc(d->ranks, sizeof *f->rank);
    f->phase = hpcw_i_calloc(d->load.params.phases, sizeof *f->phase);
    f->compute_log2 = hpcw_i_calloc((size_t)d->ranks * d->load.params.phases, sizeof *f->compute_log2);
    bool good = f->rank != NULL && f->phase != NULL && f->compute_log2 != NULL;
    if (d->clocks.clock != NULL) {
        f->every = 1;
        f->meeting = hpcw_i_calloc(MOST_MEETINGS, sizeof *f->meeting);
        f->exit_ns = hpcw_i_calloc(d->ranks, sizeof *f->exit_ns);
        f->value = hpcw_i_calloc(d->ranks, sizeof *f->value);
        good = good && f->meeting != NULL && f->exit_ns != NULL && f->value != NULL;
    }
    return good ? HPCW_OK : hpcw_i_fail_memory(err, "clog2", d->ranks, "ranks");
}

void gen_clog2_facts_free(struct gen_clog2_facts *f) {
    if (f != NULL) {
        hpcw_i_free(f->rank);
        hpcw_i_free(f->phase);
        hpcw_i_free(f->compute_log2);
        for (uint32_t i = 0; f->meeting != NULL && i < f->meetings; i++) {
            hpcw_i_free(f->meeting[i].from_ns);
        }
        hpcw_i_free(f->meeting);
        hpcw_i_free(f->exit_ns);
        hpcw_i_free(f->value);
        hpcw_i_free(f);
    }
}

/* ---- events ---- */

static void end_phase(struct gen_clog2_facts *f, const struct sim_event *e) {
    struct facts_rank *r = &f->rank[e->rank];
    struct facts_phase *p = &f->phase[e->bytes];
    f->compute_log2[(size_t)e->rank * f->d->load.params.phases + e->bytes] =
        (float)hpcw_i_log2(r->compute_ns > 0 ? (double)r->compute_ns : 1);
    /* Among equally slow ranks takes the lowest, since ranks end phases in any order. */
    if (r->compute_ns > p->slowest_ns || (r->compute_ns == p->slowest_ns && e->rank < p->slowest_rank)) {
        p->slowest_ns = r->compute_ns;
        p->slowest_rank = e->rank;
    }
    p->end_ns = e->time_ns > p->end_ns ? e->time_ns : p->end_ns;
    p->compute_ns += r->compute_ns;
    if (r->lost_ns > p->most_lost_ns || (r->lost_ns == p->most_lost_ns && e->rank < p->most_lost_rank)) {
        p->most_lost_ns = r->lost_ns;
        p->most_lost_rank = e->rank;
    }
    p->lost_ns += r->lost_ns;
    p->messages += r->messages;
    *r = (struct facts_rank){0};
}

/* Returns whether the event is a call that no rank leaves before all have entered it. */
static bool is_meeting(const struct sim_event *e) {
    return e->comm == SIM_WORLD && (e->number == SIM_CALL_BARRIER || e->number == SIM_CALL_ALLREDUCE ||
                                    e->number == SIM_CALL_ALLGATHER || e->number == SIM_CALL_ALLTOALL);
}

/* Drops every second stored collective call. */
static void thin_out(struct gen_clog2_facts *f) {
    for (uint32_t i = 0; i < MOST_MEETINGS; i += 2) {
        f->meeting[i / 2] = f->meeting[i];
        hpcw_i_free(f->meeting[i + 1].from_ns);
    }
    f->meetings = MOST_MEETINGS / 2;
    f->every *= 2;
}

/* Records that a rank leaves a collective call. No rank enters the next one before all have left this one, so one
 * call at a time is stored. */
static hpcw_status leave(struct gen_clog2_facts *f, const struct sim_event *e, hpcw_error *err) {
    const struct gen_dataset *d = f->d;
    const uint32_t node = model_machine_node(&d->machine, e->rank);
    double middle;
    double sd;
    f->exit_ns[e->rank] = (double)e->time_ns + (double)gen_clock_error(&d->clocks, node, e->time_ns);
    if (++f->left < d->ranks) {
        return HPCW_OK;
    }
    f->left = 0;
    if (f->calls++ % f->every != 0) {
        return HPCW_OK;
    }
    if (f->meetings == MOST_MEETINGS) {
        thin_out(f);
    }
    float *from_ns = hpcw_i_malloc(d->ranks * sizeof *from_ns);
    if (from_ns == NULL) {
        return hpcw_i_fail_memory(err, "clog2", d->ranks, "ranks");
    }
    memcpy(f->value, f->exit_ns, d->ranks * sizeof *f->value);
    gen_visibility_spread(f->value, d->ranks, &middle, &sd);
    for (uint32_t r = 0; r < d->ranks; r++) {
        from_ns[r] = (float)(f->exit_ns[r] - middle);
    }
    f->meeting[f->meetings++] = (struct facts_meeting){middle, from_ns};
    return HPCW_OK;
}

hpcw_status gen_clog2_facts_event(struct gen_clog2_facts *f, const struct sim_event *e, hpcw_error *err) {
    switch ((enum sim_what)e->what) {
    case SIM_COMPUTES:
        f->rank[e->rank].compute_ns += e->bytes;
        break;
    case SIM_LOSES:
        f->rank[e->rank].lost_ns += e->bytes;
        break;
    case SIM_SENT:
        f->rank[e->rank].messages++;
        break;
    case SIM_PHASE:
        end_phase(f, e);
        break;
    case SIM_RETURNS:
        return f->meeting != NULL && is_meeting(e) ? leave(f, e, err) : HPCW_OK;
    default:
        break;
    }
    return HPCW_OK;
}

/* ---- visibility of interruptions ---- */

/* Jump of a rank in a phase: log2(compute time), minus the mean of log2(compute time) in the phases before and
 * after. JUMP_RANKS: most ranks in the sample. JUMP_FIRST: first phase with a jump. It is 2, since phase 0 is
 * the set-up. */
enum { JUMP_RANKS = 1024, JUMP_FIRST = 2 };

static bool has_jump(const struct gen_dataset *d, uint32_t phase) {
    return phase >= JUMP_FIRST && phase + 1 < d->load.params.phases;
}

static double jump_at(const struct gen_clog2_facts *f, uint32_t rank, uint32_t phase) {
    const float *at = &f->compute_log2[(size_t)rank * f->d->load.params.phases + phase];
    return (double)at[0] - 0.5 * ((double)at[-1] + (double)at[1]);
}

/* Computes the median of the jumps of many ranks, and their standard deviation. NaN: too few ranks, or no
 * memory. */
static void measure_jumps(const struct gen_clog2_facts *f, double *middle, double *sd) {
    const struct gen_dataset *d = f->d;
    const uint32_t step = d->ranks / JUMP_RANKS + 1;
    double *sample = hpcw_i_malloc((size_t)JUMP_RANKS * d->load.params.phases * sizeof *sample);
    size_t samples = 0;
    for (uint32_t r = 0; sample != NULL && r < d->ranks; r += step) {
        for (uint32_t k = 0; k < d->load.params.phases; k++) {
            if (has_jump(d, k)) {
                sample[samples++] = jump_at(f, r, k);
            }
        }
    }
    gen_visibility_spread(sample, samples, middle, sd);
    hpcw_i_free(sample);
}

static void put_interruptions(const struct gen_clog2_facts *f, struct hpcw_i_json *partial) {
    const struct gen_dataset *d = f->d;
    struct model_load calm = d->load; /* the load model without the noise of the run */
    double middle = NAN;
    double sd = NAN;
    bool measured = false;
    calm.disturbed = NULL;
    hpcw_i_json_key_array(partial, "interruptions");
    for (uint32_t k = 0; d->load.params.noise.probability > 0 && k < d->load.params.phases; k++) {
        for (uint32_t r = 0; r < d->ranks; r++) {
            uint32_t slot;
            const uint64_t length_ns = model_load_interruption(&calm, r, k, &slot);
            if (length_ns == 0) {
                continue;
            }
            if (!measured) {
                measure_jumps(f, &middle, &sd);
                measured = true;
            }
            hpcw_i_json_flat_object(partial);
            hpcw_i_json_put_u64(partial, "rank", r);
            hpcw_i_json_put_u64(partial, "phase", k);
            hpcw_i_json_put_u64(partial, "length_ns", length_ns);
            if (has_jump(d, k) && !isnan(sd)) {
                hpcw_i_json_put_f64(partial, "sd", (jump_at(f, r, k) - middle) / sd);
            }
            hpcw_i_json_end_object(partial);
        }
    }
    hpcw_i_json_end_array(partial);
}

/* ---- visibility of wrong clocks ---- */

/* A rank's clock, compared with that of the median rank. offset_ns: median difference over all stored collective
 * calls. change_ns: growth of the difference from the first to the second half of these calls. Medians are used
 * since the system sometimes delays a rank. */
struct facts_rank_clock {
    double offset_ns, change_ns;
};

static struct facts_rank_clock clock_of(const struct gen_clog2_facts *f, uint32_t rank) {
    const uint32_t half = f->meetings / 2;
    double value[MOST_MEETINGS];
    double middle[3];
    const uint32_t first[3] = {0, 0, f->meetings - half};
    const uint32_t count[3] = {f->meetings, half, half};
    for (uint32_t i = 0; i < 3; i++) {
        for (uint32_t k = 0; k < count[i]; k++) {
            value[k] = (double)f->meeting[first[i] + k].from_ns[rank];
        }
        middle[i] = gen_visibility_median(value, count[i]);
    }
    return (struct facts_rank_clock){middle[0], middle[2] - middle[1]};
}

/* Writes for each host how far its ranks are from the median rank, in standard deviations. Ranks also differ by
 * their positions in the trees of collective calls: rank 0, the root, leaves first even with a right clock. So
 * a distance above the error of the clock is replaced by this error. */
static void put_sds(const struct gen_clog2_facts *f, const struct facts_rank_clock *rank,
                    struct hpcw_i_json *partial) {
    const struct gen_dataset *d = f->d;
    const uint32_t ppn = d->machine.params.ppn;
    const uint32_t half = f->meetings / 2;
    const double middle_ns = f->meeting[half].middle_ns;
    const double between_ns =
        f->meeting[f->meetings - half + half / 2].middle_ns - f->meeting[half / 2].middle_ns;
    double offset;
    double change;
    double noise_ns;
    for (uint32_t r = 0; r < d->ranks; r++) {
        f->value[r] = rank[r].change_ns;
    }
    change = gen_visibility_median(f->value, d->ranks);
    for (uint32_t r = 0; r < d->ranks; r++) {
        f->value[r] = rank[r].offset_ns;
    }
    gen_visibility_spread(f->value, d->ranks, &offset, &noise_ns);
    for (uint32_t n = 0; n < d->machine.nodes && !isnan(noise_ns); n++) {
        const struct gen_clock *clock = &d->clocks.clock[n];
        const uint32_t end = (n + 1) * ppn < d->ranks ? (n + 1) * ppn : d->ranks;
        struct facts_rank_clock own = {0, 0};
        for (uint32_t r = n * ppn; r < end; r++) {
            own.offset_ns += rank[r].offset_ns / (end - n * ppn);
            own.change_ns += rank[r].change_ns / (end - n * ppn);
        }
        const double seen = fabs(own.offset_ns - offset) + fabs(own.change_ns - change);
        const double is = fabs(clock->offset_ns + clock->drift * middle_ns) + fabs(clock->drift) * between_ns;
        hpcw_i_json_f64(partial, fmin(seen, is) / noise_ns);
    }
}

static hpcw_status put_clocks(const struct gen_clog2_facts *f, struct hpcw_i_json *partial, hpcw_error *err) {
    struct facts_rank_clock *rank = NULL;
    hpcw_i_json_key_array(partial, "clocks");
    if (f->meetings >= LEAST_MEETINGS) {
        rank = hpcw_i_malloc(f->d->ranks * sizeof *rank);
        if (rank == NULL) {
            return hpcw_i_fail_memory(err, "clog2", f->d->ranks, "ranks");
        }
        for (uint32_t r = 0; r < f->d->ranks; r++) {
            rank[r] = clock_of(f, r);
        }
        put_sds(f, rank, partial);
        hpcw_i_free(rank);
    }
    hpcw_i_json_end_array(partial);
    return HPCW_OK;
}

/* ---- partial results ---- */

hpcw_status gen_clog2_facts_put(const struct gen_clog2_facts *f, struct hpcw_i_json *partial, hpcw_error *err) {
    hpcw_i_json_key_array(partial, "phases");
    for (uint32_t k = 0; k < f->d->load.params.phases; k++) {
        const struct facts_phase *p = &f->phase[k];
        const uint64_t word[PHASE_WORDS] = {p->end_ns,   p->compute_ns, p->slowest_ns,   p->slowest_rank,
                                            p->messages, p->lost_ns,    p->most_lost_ns, p->most_lost_rank};
        hpcw_i_json_begin_object(partial);
        gen_partial_put_words(partial, phase_name, PHASE_WORDS, word);
        hpcw_i_json_end_object(partial);
    }
    hpcw_i_json_end_array(partial);
    put_interruptions(f, partial);
    return put_clocks(f, partial, err);
}

/* ---- truth ---- */

static void put_visibility(struct hpcw_i_json *json, const cJSON *sd) {
    hpcw_i_json_key_array(json, "visibility");
    gen_visibility_put(json, "clog2", GEN_CLOG2_PATH, cJSON_IsNumber(sd) ? sd->valuedouble : NAN);
    hpcw_i_json_end_array(json);
}

static hpcw_status phases_truth(const cJSON *list, struct hpcw_i_json *json, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    const cJSON *item;
    uint64_t number = 0;
    cJSON_ArrayForEach(item, list) {
        uint64_t word[PHASE_WORDS] = {0};
        s = s == HPCW_OK ? gen_partial_words(item, phase_name, PHASE_WORDS, word, err) : s;
        hpcw_i_json_begin_object(json);
        hpcw_i_json_put_u64(json, "phase", number++);
        for (size_t k = 0; k < PHASE_WORDS; k++) {
            hpcw_i_json_put_u64(json, phase_name[k], word[k]);
        }
        hpcw_i_json_end_object(json);
    }
    return s;
}

static hpcw_status interruptions_truth(const cJSON *list, const struct gen_costs *costs,
                                       struct hpcw_i_json *json, hpcw_error *err) {
    static const char *const name[] = {"rank", "phase", "length_ns"};
    enum { WORDS = sizeof name / sizeof name[0] };
    hpcw_status s = HPCW_OK;
    const cJSON *item;
    cJSON_ArrayForEach(item, list) {
        uint64_t word[WORDS] = {0};
        s = s == HPCW_OK ? gen_partial_words(item, name, WORDS, word, err) : s;
        hpcw_i_json_begin_object(json);
        hpcw_i_json_put_str(json, "kind", "interruption");
        for (size_t k = 0; k < WORDS; k++) {
            hpcw_i_json_put_u64(json, name[k], word[k]);
        }
        gen_costs_truth(costs, GEN_COST_INTERRUPTION, (uint32_t)word[0], (uint32_t)word[1], json);
        put_visibility(json, cJSON_GetObjectItemCaseSensitive(item, "sd"));
        hpcw_i_json_end_object(json);
    }
    return s;
}

/* Writes the wrong clocks. That of the host of rank 0 is always right, so it is no fault that a tool can find. */
static void clocks_truth(const struct gen_dataset *d, const cJSON *list, struct hpcw_i_json *json) {
    const uint32_t ppn = d->machine.params.ppn;
    for (uint32_t n = 0; d->clocks.clock != NULL && n < d->machine.nodes; n++) {
        const uint32_t first = n * ppn;
        const struct gen_clock *clock = &d->clocks.clock[n];
        char host[MODEL_HOST_SIZE];
        if (clock->offset_ns == 0 && clock->drift == 0) {
            continue;
        }
        model_machine_host(&d->machine, n, host);
        hpcw_i_json_begin_object(json);
        hpcw_i_json_put_str(json, "kind", "clock");
        hpcw_i_json_put_str(json, "host", host);
        hpcw_i_json_put_u64(json, "node", n);
        hpcw_i_json_put_u64(json, "first_rank", first);
        hpcw_i_json_put_u64(json, "ranks", d->ranks - first < ppn ? d->ranks - first : ppn);
        hpcw_i_json_put_f64(json, "offset_us", clock->offset_ns / 1e3);
        hpcw_i_json_put_f64(json, "drift_ppm", clock->drift * 1e6);
        put_visibility(json, cJSON_GetArrayItem(list, (int)n));
        hpcw_i_json_end_object(json);
    }
}

hpcw_status gen_clog2_facts_truth(const struct gen_dataset *d, const cJSON *const *partial, size_t count,
                                  uint32_t jobs, struct hpcw_i_json *json, hpcw_error *err) {
    (void)jobs;
    struct gen_costs costs;
    hpcw_status s = gen_costs_read(partial, count, &costs, err);
    size_t size;
    const char *lacks = gen_workload_lacks(d->workload, &size);
    hpcw_i_json_put_str(json, "workload", d->workload->name);
    if (lacks != NULL) {
        hpcw_i_json_key(json, "lacks");
        hpcw_i_json_str_n(json, lacks, size);
    }
    /* The log is one unit (file), so one range of units has all values in its partial result. */
    const cJSON *all = NULL;
    for (size_t i = 0; i < count && all == NULL; i++) {
        all = cJSON_HasObjectItem(partial[i], "phases") ? partial[i] : NULL;
    }
    hpcw_i_json_key_array(json, "phases");
    s = s == HPCW_OK ? phases_truth(cJSON_GetObjectItemCaseSensitive(all, "phases"), json, err) : s;
    hpcw_i_json_end_array(json);
    if (d->load.params.scenario.kind != MODEL_SCENARIO_NONE) {
        hpcw_i_json_key_object(json, "scenario");
        hpcw_i_json_put_str(json, "kind", model_scenario_name[d->load.params.scenario.kind]);
        gen_costs_truth(&costs, GEN_COST_SCENARIO, 0, 0, json);
        hpcw_i_json_end_object(json);
    }
    hpcw_i_json_key_array(json, "interruptions");
    s = s == HPCW_OK
            ? interruptions_truth(cJSON_GetObjectItemCaseSensitive(all, "interruptions"), &costs, json, err)
            : s;
    hpcw_i_json_end_array(json);
    hpcw_i_json_key_array(json, "clocks");
    clocks_truth(d, cJSON_GetObjectItemCaseSensitive(all, "clocks"), json);
    hpcw_i_json_end_array(json);
    return s;
}
