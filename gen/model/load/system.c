/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/model/load/system.h"

#include "libwriter/base/rng.h"

/* Frequency and daemons of a host stay as they are for some phases, and where the memory of a rank lies, and what shares its
 * caches, for many, as many as their numbers say [A]. */
enum { LEAST_WINDOW = 5, WINDOWS = 8, LEAST_STRETCH = 40, STRETCHES = 128 };

/* Of the jitter: each time, on a rank and on its host; for some phases on a host; for many on a rank, and what changes there
 * little by little. */
static const double each_time = 0.1, on_host = 0.12, some_phases = 0.5, many_phases = 0.25, by_and_by = 0.1;

/* The timer of the system interrupts all ranks of a host at once, so often; and that of what a virtual machine runs on. */
static const double tick_ns = 4e6, steal_ns = 10e6;

/* The interval in which the frequency of a host can change (M3). */
static const double governed_ns = 1e6;

/* When the second one ticks after some tick of the first one: both follow the time of day (M3). */
static const double steal_after_ns = 0.15e6;

/* The shortest preemption, how much longer the longest one is, and the mean: a Pareto distribution with exponent 1, cut.
 * ln(100) / 0.99 is 4.65. */
static const double preempted_ns = 250e3, reach = 0.99;
static const double mean_preempted_ns = 250e3 * 4.65;

/* What comes and goes is more, for some phases in a row of a rank or host: what the system does seldom comes alone. */
enum { STORM = 3, STORM_ONE_IN = 16, STORM_TIMES = 20 };

static double length_of(uint32_t word) {
    return preempted_ns / (1 - reach * (word * 0x1p-32));
}

/* 0 or more: half of the values are below 1, and 1 in 100 above 30. */
static double late(uint32_t word) {
    const double u = word * 0x1p-32;
    return 1.04 * u / (1.02 - u);
}

/* In this phase, what preemptions add to the mean load of a rank, as a share of it. */
static double preempted(const struct model_load *m, uint32_t phase, uint32_t whether, uint32_t how_long) {
    const double mean_ns = m->phase[phase].mean_ns * model_load_mean_objects(m);
    const double expected = m->params.preemptions * 1e-9 * mean_ns;
    const double count = (double)(uint64_t)(expected + whether * 0x1p-32);
    return count < 1 ? 0 : ((count - 1) * mean_preempted_ns + length_of(how_long)) / mean_ns;
}

/* From 0 to 1, by an integer hash, as this is asked for in each phase. */
static double own_part(const struct model_load *m, uint32_t number, uint32_t other) {
    uint32_t x = number * 2654435769u ^ other ^ (uint32_t)m->seed * 2246822519u;
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return (x ^ x >> 16) * 0x1p-32;
}

bool model_load_ticks_show(const struct model_load *m) {
    const struct model_load_params *p = &m->params;
    return p->jitter > 0 && p->tick_us > 0 &&
           m->phase[p->phases - 1].mean_ns * model_load_mean_objects(m) < tick_ns;
}

struct model_load_ticks model_load_ticks(const struct model_load *m, uint32_t rank, uint32_t phase,
                                         uint32_t timer) {
    const double period_ns = timer == 0 ? tick_ns : steal_ns;
    if (phase + 1 >= m->params.phases || m->phase[phase + 1].start_ns == 0) {
        return (struct model_load_ticks){0, 0, period_ns};
    }
    /* Hosts start at times of their own. */
    const double own = own_part(m, model_machine_node(m->machine, rank), UINT32_MAX);
    const double start = timer == 0 ? own : 1 + (own * tick_ns - steal_after_ns) / steal_ns;
    const double from = start + m->phase[phase].start_ns / period_ns,
                 to = start + m->phase[phase + 1].start_ns / period_ns;
    return (struct model_load_ticks){(double)((uint64_t)to - (uint64_t)from),
                                     ((double)((uint64_t)from + 1) - from) * period_ns, period_ns};
}

static double storm(const struct model_load *m, uint32_t number, uint32_t phase) {
    return own_part(m, number, (phase + number) / STORM) * STORM_ONE_IN < 1 ? STORM_TIMES : 1;
}

/* What lasts for `length` phases, as drawn for a rank or host, and straight lines from the one to the next. */
struct system_stretch {
    double level, slope;
    uint32_t place;
};
static struct system_stretch stretch_of(const struct model_load *m, uint32_t number, uint32_t at,
                                        uint32_t length, uint32_t part) {
    uint32_t here[4], next[4];
    at += number * 61 % length; /* those of others do not begin at the same time */
    hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_SYSTEM, number, at / length, part, here);
    hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_SYSTEM, number, at / length + 1, part, next);
    const double to = (double)(at % length) / length;
    return (struct system_stretch){late(here[0]), (1 - to) * late(here[1]) + to * late(next[1]), here[2]};
}

/* What the system adds to the times of a rank, as shares of them: by what it runs in between, to some of its work for many
 * phases, to what is new to it, and to all. */
struct added {
    double between, timer[MODEL_LOAD_TIMERS], apart, fresh, all;
    uint32_t place; /* of that work */
};
static double sum_of(const struct added *a) {
    return 1 + a->between + a->timer[0] + a->timer[1] + a->apart + a->fresh + a->all;
}

/* How fast a host is: the same for some phases. Where these are short, for some milliseconds of the run, the interval in which
 * the frequency can change. */
static struct system_stretch window_of(const struct model_load *m, uint32_t node, uint32_t phase) {
    const uint32_t length = LEAST_WINDOW + node * 5 % WINDOWS;
    const double mean_ns = m->phase[phase].mean_ns * model_load_mean_objects(m);
    return model_load_ticks_show(m) && mean_ns * LEAST_WINDOW < governed_ns
               ? stretch_of(m, node, (uint32_t)(m->phase[phase].start_ns / governed_ns), 1 + length / 4, 1)
               : stretch_of(m, node, phase, length, 1);
}

/* What is new to a rank in the first phases; less than a thousandth is left of it after these. */
static double warm_up(const struct model_load *m, uint32_t rank, uint32_t phase) {
    uint32_t start[4];
    double left = phase < 4 ? m->params.warm_up : 0;
    if (left <= 0) {
        return 0;
    }
    hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_SYSTEM, rank, 0, 2, start);
    for (uint32_t k = 0; k < phase; k++) {
        left *= 0.15 * (start[1] * 0x1p-32);
    }
    return left * (0.5 + start[0] * 0x1p-32);
}

static struct added added_to(const struct model_load *m, uint32_t rank, uint32_t phase) {
    const struct model_load_params *p = &m->params;
    const uint32_t node = model_machine_node(m->machine, rank);
    uint32_t w[4], host[4];
    hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_SYSTEM, rank, phase, 0, w);
    hpcw_i_draw(m->seed, HPCW_I_FOR_LOAD_SYSTEM, node, phase, 4, host);
    struct added a = {.between = each_time * storm(m, rank, phase) * p->jitter * late(w[0]) +
                                 preempted(m, phase, w[1], w[2]),
                      .fresh = warm_up(m, rank, phase)};
    if (p->jitter > 0) {
        const double mean_ns = model_load_mean_ns(m, phase);
        for (uint32_t i = 0; i < MODEL_LOAD_TIMERS; i++) {
            const double count = model_load_ticks(m, rank, phase, i).count;
            /* About the same on all ranks of a host. */
            a.timer[i] = count * (i == 0 ? p->tick_us : p->steal_us) * 1e3 / mean_ns *
                         (0.75 + 0.5 * (host[1] * 0x1p-32)) * (0.8 + 0.4 * (w[3] * 0x1p-32));
        }
        const struct system_stretch of_host = window_of(m, node, phase),
                                    of_rank =
                                        stretch_of(m, rank, phase, LEAST_STRETCH + rank * 37 % STRETCHES, 3);
        a.apart = p->jitter * many_phases * of_rank.level;
        a.place = of_rank.place;
        a.all = p->jitter * (on_host * storm(m, m->ranks + node, phase) * late(host[0]) +
                             some_phases * of_host.level + by_and_by * of_rank.slope);
    }
    return a;
}

double model_load_system(const struct model_load *m, uint32_t rank, uint32_t phase,
                         struct model_load_shares *shares) {
    const struct added a = added_to(m, rank, phase);
    const double sum = sum_of(&a);
    *shares = (struct model_load_shares){(float)(a.between / sum),
                                         {(float)(a.timer[0] / sum), (float)(a.timer[1] / sum)},
                                         (float)(a.apart / sum),
                                         (float)(a.fresh / sum),
                                         (float)(a.place * 0x1p-32)};
    return sum * model_load_disturbed(m, rank, phase) *
           model_machine_slowness(m->machine, model_machine_node(m->machine, rank));
}

double model_load_slowness(const struct model_load *m, uint32_t rank, uint32_t phase) {
    struct model_load_shares shares;
    return model_load_system(m, rank, phase, &shares);
}

/* What a rank computes in a phase, as long as its node and its system take. */
static double load_of(const struct model_load *m, uint32_t rank, uint32_t phase) {
    const double slowness = model_load_slowness(m, rank, phase);
    double sum_ns = 0;
    for (uint32_t which = 0; which <= m->params.groups; which++) {
        sum_ns += (double)model_load_other(m, rank, which, phase, slowness);
    }
    for (uint32_t slot = 0; slot < m->per_rank; slot++) {
        const uint32_t object = rank * m->per_rank + slot;
        sum_ns += model_load_exists(m, object)
                      ? (double)model_load_time(m, object, model_load_lasting(m, object), phase, slowness)
                      : 0;
    }
    return sum_ns;
}

/* The loads of objects that are looked at, about, and the phases of which all are. */
enum { LOOKS = 1 << 18, LEAST_PHASES = 4 };

void model_load_fill_starts(struct model_load *m) {
    const struct model_load_params *p = &m->params;
    for (uint32_t k = 0; k < p->phases; k++) {
        m->phase[k].start_ns = 0; /* so nothing ticks */
    }
    if (!model_load_ticks_show(m)) {
        return;
    }
    const uint64_t looks = LOOKS / m->objects > LEAST_PHASES ? LOOKS / m->objects : LEAST_PHASES;
    const uint32_t every = (uint32_t)((p->phases + looks - 1) / looks);
    const double ticking = p->tick_us * 1e3 / tick_ns + p->steal_us * 1e3 / steal_ns;
    double start_ns = 0, slowest = 1;
    for (uint32_t k = 0; k < p->phases; k++) {
        double most_ns = 0;
        m->phase[k].start_ns = start_ns;
        for (uint32_t r = 0; k % every == 0 && r < m->ranks; r++) {
            const double ns = load_of(m, r, k);
            most_ns = ns > most_ns ? ns : most_ns;
        }
        slowest = k % every == 0 ? most_ns / m->phase[k].mean_ns : slowest;
        start_ns += m->phase[k].mean_ns * slowest * (1 + ticking) / p->busy;
    }
}

uint64_t model_load_absence(const struct model_load *m, uint64_t waits_ns, uint32_t word) {
    const double share = m->params.preemptions * 1e-9 * (double)waits_ns;
    const uint64_t threshold = hpcw_i_threshold(share < 0.9 ? share : 0.9);
    return word < threshold ? (uint64_t)length_of((uint32_t)(((uint64_t)word << 32) / threshold)) : 0;
}
