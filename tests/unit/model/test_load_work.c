/* SPDX-License-Identifier: BSD-3-Clause */
/* The load model: times, scenarios, volumes and memory. Statistics are those of a measured run of vt. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/load_made.h"

/* ---- figures --------------------------------------------------------------------------------------------- */

struct moments {
    double n, sum, squares;
};
static void add(struct moments *m, double x) {
    m->n++;
    m->sum += x;
    m->squares += x * x;
}
static double mean(const struct moments *m) {
    return m->sum / m->n;
}
static double sd(const struct moments *m) {
    return sqrt(m->squares / m->n - mean(m) * mean(m));
}

static double correlation(const double *x, const double *y, uint32_t n) {
    struct moments a = {0};
    struct moments b = {0};
    double both = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (!isnan(x[i]) && !isnan(y[i])) {
            add(&a, x[i]);
            add(&b, y[i]);
            both += x[i] * y[i];
        }
    }
    return (both / a.n - mean(&a) * mean(&b)) / (sd(&a) * sd(&b));
}

/* One phase of all ranks: loads of the objects, their logarithms, and loads of the ranks. */
struct sample {
    double *ln;        /* [objects] */
    double *rank_load; /* [ranks] */
    struct moments object, ln_object, rank;
    double worst; /* largest rank load over the mean */
};

static struct sample take(const struct model_load *m, uint32_t phase) {
    struct sample s = {.ln = calloc(m->objects, sizeof(double)), .rank_load = calloc(m->ranks, sizeof(double))};
    double most = 0;
    for (uint32_t r = 0; r < m->ranks; r++) {
        double rank = 0;
        for (uint32_t slot = 0; slot < m->per_rank; slot++) {
            uint32_t o = model_load_object(m, r, slot, phase);
            if (!model_load_exists(m, o)) {
                s.ln[o] = NAN;
                continue;
            }
            double load = (double)model_load_time(m, o, model_load_lasting(m, o), phase, 1);
            s.ln[o] = log(load);
            add(&s.object, load);
            add(&s.ln_object, s.ln[o]);
            rank += load;
        }
        s.rank_load[r] = rank;
        add(&s.rank, rank);
        most = rank > most ? rank : most;
    }
    s.worst = most / mean(&s.rank);
    return s;
}

static bool near(const char *what, double got, double from, double to) {
    print_message("%-52s %8.3f   wanted %.3f to %.3f\n", what, got, from, to);
    return got >= from && got <= to;
}

static void let_go(struct sample *s) {
    free(s->ln);
    free(s->rank_load);
}

/* Sets ln(bytes) that each object sends and receives. */
static void sum_bytes(const struct model_load *m, uint32_t phase, double *sent, double *received,
                      struct moments *edge) {
    memset(sent, 0, m->objects * sizeof *sent);
    memset(received, 0, m->objects * sizeof *received);
    for (uint32_t o = 0; o < m->objects; o++) {
        struct model_load_edge from[MODEL_LOAD_MOST_KINDS];
        const uint32_t n = model_load_exists(m, o) ? model_load_senders(m, o, from) : 0;
        for (uint32_t k = 0; k < n; k++) {
            double follows = model_load_lasting(m, o) + model_load_lasting(m, from[k].from);
            const uint32_t owner = model_load_owner(from[k].kind, from[k].from, o);
            const uint32_t kind = model_load_shared(from[k].kind);
            struct model_load_flow flow = model_load_flow(m, owner, kind, follows);
            struct model_load_volume v = model_load_volume(m, owner, kind, flow, phase);
            assert_true(v.messages >= 1 && v.bytes >= 8 * v.messages && v.bytes % 8 == 0);
            sent[from[k].from] += (double)v.bytes;
            received[o] += (double)v.bytes;
            add(edge, log((double)v.bytes));
        }
    }
    for (uint32_t o = 0; o < m->objects; o++) {
        sent[o] = sent[o] > 0 ? log(sent[o]) : NAN;
        received[o] = received[o] > 0 ? log(received[o]) : NAN;
    }
}

/* The measured run has 32 ranks with 8 objects each. Its samples are 50 phases apart, which corresponds to a
 * twentieth of the simulated run. */
static void like_the_measured_run(void **state) {
    (void)state;
    struct model_load_params p;
    struct load_made m;
    model_load_params_init(&p);
    p.course = MODEL_COURSE_RAMP;
    load_make(&m, 4096, 2, &p);
    const uint32_t objects = m.load.objects;
    struct sample setup = take(&m.load, 0);
    struct sample first = take(&m.load, 1);
    struct sample next = take(&m.load, 2);
    struct sample early = take(&m.load, 5);
    struct sample late = take(&m.load, 30);
    struct sample later = take(&m.load, 31);
    struct sample last = take(&m.load, 39);
    bool ok = true;
    ok = near("mean load, phase 1, ms", mean(&first.object) / 1e6, 1.55, 1.65) && ok;
    ok = near("mean load, late, ms", mean(&last.object) / 1e6, 6.7, 7.3) && ok;
    ok = near("sd of ln(load), phase 1", sd(&first.ln_object), 0.045, 0.06) && ok;
    ok = near("sd of ln(load), late", sd(&last.ln_object), 0.42, 0.49) && ok;
    ok = near("CV of object loads, late", sd(&last.object) / mean(&last.object), 0.5, 0.75) && ok;
    ok = near("phase 0 over phase 1", mean(&setup.object) / mean(&first.object), 18, 22) && ok;
    ok = near("sd of ln(load), phase 0", sd(&setup.ln_object), 1.45, 1.55) && ok;
    /* The measured run has a coefficient of variation of 0.05. More objects on some ranks make it larger here. */
    ok = near("CV of rank loads, phase 1", sd(&first.rank) / mean(&first.rank), 0.08, 0.13) && ok;
    ok = near("CV of rank loads, late", sd(&last.rank) / mean(&last.rank), 0.38, 0.52) && ok;
    /* In the measured run, the correlation of loads from phase to phase is 0.60 to 0.63 in the second tenth, and
     * 0.988 to 0.993 in the eighth. */
    struct sample after = take(&m.load, 6);
    ok = near("persistence of loads from phase to phase, early", correlation(early.ln, after.ln, objects), 0.6,
              0.8) &&
         ok;
    ok = near("the same, late", correlation(late.ln, later.ln, objects), 0.98, 0.995) && ok;
    ok = near("load of neighbouring ranks, lag 1",
              correlation(last.rank_load, last.rank_load + 1, m.load.ranks - 1), 0.48, 0.60) &&
         ok;
    ok = near("load of neighbouring ranks, lag 2",
              correlation(last.rank_load, last.rank_load + 2, m.load.ranks - 2), 0.20, 0.34) &&
         ok;
    ok = near("growth from phase 1 to 2", mean(&next.object) / mean(&first.object), 1.0, 1.5) && ok;

    double *sent = calloc(objects, sizeof *sent);
    double *received = calloc(objects, sizeof *received);
    struct moments edge = {0};
    sum_bytes(&m.load, 39, sent, received, &edge);
    ok = near("mean of ln(bytes) of an edge", mean(&edge), 9.8, 10.1) && ok;
    ok = near("sd of ln(bytes)", sd(&edge), 1.68, 1.88) && ok;
    ok = near("correlation of ln(load) and ln(bytes sent)", correlation(last.ln, sent, objects), 0.55, 0.74) &&
         ok;
    ok = near("and ln(bytes received)", correlation(last.ln, received, objects), 0.55, 0.74) && ok;
    free(sent);
    free(received);

    /* The ratio max / mean depends on the number of ranks, so it is computed with 32 ranks, for 40 seeds. */
    struct moments worst = {0};
    struct moments lag = {0};
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct load_made small;
        load_make(&small, 32, seed, &p);
        struct sample s = take(&small.load, 35);
        add(&worst, s.worst - 1);
        add(&lag, correlation(s.rank_load, s.rank_load + 1, 31));
        let_go(&s);
        load_drop(&small);
    }
    ok = near("max / mean - 1 of 32 ranks, late", mean(&worst), 0.95, 1.7) && ok;
    ok = near("lag 1 of 32 ranks", mean(&lag), 0.25, 0.6) && ok;

    struct moments messages = {0};
    for (uint32_t o = 0; o < 4000; o++) {
        struct model_load_flow flow = model_load_flow(&m.load, o, 0, 0);
        add(&messages, log((double)model_load_volume(&m.load, o, 0, flow, 5).messages));
    }
    ok = near("mean of ln(messages)", mean(&messages), 1.85, 2.15) && ok;
    ok = near("sd of ln(messages)", sd(&messages), 1.1, 1.4) && ok;
    struct sample *all[] = {&setup, &first, &next, &early, &after, &late, &later, &last};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        let_go(all[i]);
    }
    load_drop(&m);
    assert_true(ok);
}

static void parts_of_a_phase(void **state) {
    (void)state;
    struct model_load_params p = load_defaults();
    for (p.subphases = 0; p.subphases <= 9; p.subphases++) {
        struct load_made m;
        load_make(&m, 4, 2, &p);
        for (uint32_t o = 0; o < m.load.objects; o++) {
            static const uint64_t times[] = {1, 2, 9, 1000, 7000000, UINT64_C(1) << 50};
            for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
                uint64_t part[9];
                uint64_t sum = 0;
                model_load_split(&m.load, o, (uint32_t)i, times[i], part);
                for (uint32_t k = 0; k < p.subphases; k++) {
                    sum += part[k];
                    assert_true(times[i] < 1000 || part[k] > 0);
                }
                assert_true(p.subphases == 0 || sum == times[i]);
            }
        }
        load_drop(&m);
    }
}

static void scenarios(void **state) {
    (void)state;
    struct model_load_params p = load_defaults();
    for (p.scenario.kind = MODEL_SCENARIO_NONE; p.scenario.kind <= MODEL_SCENARIO_HOTSPOT; p.scenario.kind++) {
        struct load_made m;
        p.scenario.share = p.scenario.kind == MODEL_SCENARIO_HOTSPOT ? 0 : 0.1;
        load_make(&m, 256, 2, &p);
        uint32_t hit = 0;
        for (uint32_t r = 0; r < 256; r++) {
            hit += model_load_is_hit(&m.load, r);
        }
        assert_int_equal(hit, p.scenario.kind == MODEL_SCENARIO_NONE      ? 0
                              : p.scenario.kind == MODEL_SCENARIO_HOTSPOT ? 5
                                                                          : 26);
        for (uint32_t phase = 0; phase < p.phases; phase++) {
            bool within = phase >= 10 && phase < 20;
            double most = 1;
            double centre = 0;
            uint32_t heavy = 0;
            for (uint32_t o = 0; o < m.load.objects; o++) {
                double f = model_load_scenario(&m.load, o, phase);
                assert_true(f >= 1 && f <= p.scenario.factor);
                if (f > 1) {
                    uint32_t at[3];
                    model_load_index(&m.load, o, at);
                    centre += at[0] + 0.5;
                    heavy++;
                    assert_true(p.scenario.kind == MODEL_SCENARIO_HOTSPOT ||
                                model_load_is_hit(&m.load, model_load_home(&m.load, o)));
                }
                most = f > most ? f : most;
            }
            switch (p.scenario.kind) {
            case MODEL_SCENARIO_SPIKE:
                assert_true(heavy == (within ? hit * m.load.per_rank : 0) && most == (within ? 4 : 1));
                break;
            case MODEL_SCENARIO_RAMP:
                assert_true(fabs(most - (phase < 10 ? 1 : within ? 1 + 0.3 * (phase - 9) : 4)) < 1e-9);
                break;
            case MODEL_SCENARIO_HOTSPOT:
                assert_int_equal(heavy > 50, within);
                assert_true(!within || phase < 11 || phase > 18 ||
                            fabs(centre / heavy - model_load_centre(&m.load, phase)) < 0.1 * m.load.side[0]);
                break;
            default:
                assert_int_equal(heavy, 0);
            }
        }
        load_drop(&m);
    }
}

/* With any number of phases and ranks, a scenario either changes loads or is refused. */
static void scenarios_hit_something(void **state) {
    (void)state;
    static const uint32_t ranks[] = {1, 2, 16, 300};
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++) {
        for (int scenario = MODEL_SCENARIO_SPIKE; scenario <= MODEL_SCENARIO_HOTSPOT; scenario++) {
            for (uint32_t phases = 2; phases < 30; phases += 5) {
                struct model_load_params p = load_defaults();
                struct load_made m;
                uint32_t heavy = 0;
                p.scenario.kind = scenario;
                p.phases = phases;
                load_make(&m, ranks[i], 2, &p);
                for (uint32_t phase = 0; phase < phases; phase++) {
                    for (uint32_t o = 0; o < m.load.objects; o++) {
                        heavy += model_load_scenario(&m.load, o, phase) > 1.1;
                    }
                }
                assert_true(heavy > 0);
                load_drop(&m);
            }
        }
    }
    static const struct {
        uint32_t phases, first;
        double share;
        int scenario;
        const char *why;
    } rows[] = {
        {6, 10, 0, MODEL_SCENARIO_SPIKE, "load.scenario_first: expected a phase below load.phases = 6, got 10"},
        {1, 0, 0, MODEL_SCENARIO_RAMP, "load.scenario_first: expected a phase below load.phases = 1, got 1"},
        {40, 0, 1e-3, MODEL_SCENARIO_HOTSPOT,
         "load.scenario_share: expected a radius that reaches the middle of an object, got 0.064 of an "
         "object's side"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct model_load_params p = load_defaults();
        struct load_made m;
        struct model_load refused;
        hpcw_error err;
        load_make(&m, 256, 2, &p);
        p.phases = rows[i].phases;
        p.scenario.first = rows[i].first;
        p.scenario.share = rows[i].share;
        p.scenario.kind = rows[i].scenario;
        assert_int_equal(model_load_init(&refused, &p, &m.machine, &err), HPCW_EINVAL);
        assert_string_equal(err.message, rows[i].why);
        load_drop(&m);
    }
}

static void interruptions(void **state) {
    (void)state;
    struct model_load_params p = load_defaults();
    struct load_made m;
    uint32_t found = 0;
    p.noise.probability = 0.1;
    load_make(&m, 1000, 2, &p);
    for (uint32_t r = 0; r < 1000; r++) {
        uint32_t slot;
        uint64_t ns = model_load_interruption(&m.load, r, 7, &slot);
        assert_true(slot < m.load.per_rank && (ns == 0 || (ns >= 60000000 && ns <= 240000000)));
        found += ns > 0;
    }
    assert_true(found > 70 && found < 130);
    p.noise.min_ms = 300;
    struct model_load refused;
    hpcw_error err;
    assert_int_equal(model_load_init(&refused, &p, &m.machine, &err), HPCW_EINVAL);
    assert_string_equal(err.message, "load.noise_min: expected at most load.noise_max = 240 ms, got 300");
    load_drop(&m);
}

static void volumes_change_with_the_period(void **state) {
    (void)state;
    struct model_load_params p = load_defaults();
    struct load_made m;
    p.phases = 20;
    p.edge.phases = 5;
    p.edge.sizes = 0;
    load_make(&m, 8, 2, &p);
    const struct model_load_flow flow = model_load_flow(&m.load, 3, 0, 0);
    for (uint32_t phase = 1; phase < 20; phase++) {
        const uint64_t before = model_load_volume(&m.load, 3, 0, flow, phase - 1).bytes;
        const uint64_t now = model_load_volume(&m.load, 3, 0, flow, phase).bytes;
        assert_int_equal(now == before, phase % 5 != 0);
        assert_int_equal(model_load_same_volumes(&m.load, phase, phase - 1), phase % 5 != 0);
    }
    /* In the first period, all edges of a kind have equal volumes. */
    assert_int_equal(model_load_volume(&m.load, 4, 1, flow, 0).bytes,
                     model_load_volume(&m.load, 3, 0, flow, 0).bytes);
    m.load.params.edge.phases = 0;
    assert_int_equal(model_load_volume(&m.load, 3, 0, flow, 0).bytes,
                     model_load_volume(&m.load, 3, 0, flow, 19).bytes);
    load_drop(&m);
}

/* Volumes (bytes of an edge) have few sizes, which differ between seeds. */
static void volumes_have_few_sizes(void **state) {
    (void)state;
    enum { SEEDS = 2, MOST = 16, RANKS = 64 };
    struct model_load_params p = load_defaults();
    uint64_t size[SEEDS][MOST];
    uint32_t sizes[SEEDS] = {0};
    for (uint32_t seed = 0; seed < SEEDS; seed++) {
        struct load_made m;
        load_make(&m, RANKS, seed, &p);
        for (uint32_t i = 0; i < 4 * RANKS; i++) {
            const uint32_t kind = i % 4 < 3 ? i % 4 : MODEL_LOAD_UP;
            const uint32_t owner = i % 4 < 3 ? i : model_load_handler(1 + i / 4 % (RANKS - 1));
            const uint64_t bytes =
                model_load_volume(&m.load, owner, kind, model_load_flow(&m.load, owner, kind, 0), i % 40).bytes;
            uint32_t k = 0;
            while (k < sizes[seed] && size[seed][k] != bytes) {
                k++;
            }
            assert_true(k < MOST);
            size[seed][k] = bytes;
            sizes[seed] = k == sizes[seed] ? k + 1 : sizes[seed];
        }
        assert_true(sizes[seed] > MOST / 2);
        load_drop(&m);
    }
    for (uint32_t k = 0; k < sizes[0]; k++) {
        for (uint32_t other = 0; other < sizes[1]; other++) {
            assert_true(size[0][k] != size[1][other] || size[0][k] < 64);
        }
    }
}

/* Courses (mean loads over the phases) differ between seeds: most pairs are not correlated. */
static void courses_differ(void **state) {
    (void)state;
    enum { SEEDS = 12, FIRST = 1, PHASES = 32 };
    struct model_load_params p;
    double ln[SEEDS][PHASES];
    double found[SEEDS * SEEDS];
    uint32_t pairs = 0;
    uint32_t unlike = 0;
    model_load_params_init(&p);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct load_made m;
        load_make(&m, 16, seed, &p);
        for (uint32_t k = 0; k < PHASES; k++) {
            ln[seed][k] = log(m.load.phase[FIRST + k].mean_ns);
        }
        load_drop(&m);
        for (uint64_t other = 0; other < seed; other++) {
            found[pairs] = correlation(ln[seed], ln[other], PHASES);
            unlike += !(found[pairs++] > 0.5); /* NaN if one course is constant */
        }
    }
    print_message("%u of %u pairs of courses have a correlation of at most 0.5\n", unlike, pairs);
    assert_true(2 * unlike > pairs);
    /* A course rises, stays or falls as its name says. */
    static const struct {
        enum model_course course;
        /* loads in phases 1 and 39: 0 stands for mean_first_ms, 1 for mean_last_ms */
        double first, last;
    } ends[] = {{MODEL_COURSE_RAMP, 0, 1}, {MODEL_COURSE_FLAT, 1, 1}, {MODEL_COURSE_DECAY, 1, 0}};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        struct load_made m;
        p.course = (int)ends[i].course;
        load_make(&m, 16, 3, &p);
        const double range_ns = 1e6 * (p.mean_last_ms - p.mean_first_ms);
        assert_true(fabs((m.load.phase[1].mean_ns - 1e6 * p.mean_first_ms) / range_ns - ends[i].first) < 1e-9);
        assert_true(fabs((m.load.phase[39].mean_ns - 1e6 * p.mean_first_ms) / range_ns - ends[i].last) < 1e-9);
        load_drop(&m);
    }
}

/* Neighbours send each other equal volumes, in multiples of ROW bytes. */
static void neighbours_send_the_same(void **state) {
    (void)state;
    enum { ROW = 1320 };
    struct model_load_params p = load_defaults();
    struct load_made m;
    uint32_t pairs = 0;
    p.edge.unit = ROW;
    load_make(&m, 8, 2, &p);
    for (uint32_t a = 0; a < m.load.objects; a++) {
        struct model_load_edge to_a[MODEL_LOAD_MOST_KINDS], to_b[MODEL_LOAD_MOST_KINDS];
        const uint32_t n = model_load_exists(&m.load, a) ? model_load_senders(&m.load, a, to_a) : 0;
        for (uint32_t i = 0; i < n && to_a[i].kind < MODEL_LOAD_NEIGHBOURS; i++) {
            const uint32_t b = to_a[i].from;
            const uint32_t count = model_load_senders(&m.load, b, to_b);
            const double follows = model_load_lasting(&m.load, a) + model_load_lasting(&m.load, b);
            const uint32_t owner = model_load_owner(to_a[i].kind, b, a), kind = model_load_shared(to_a[i].kind);
            const uint64_t bytes =
                model_load_volume(&m.load, owner, kind, model_load_flow(&m.load, owner, kind, follows), 9)
                    .bytes;
            assert_int_equal(bytes % ROW, 0);
            for (uint32_t k = 0; k < count; k++) {
                if (to_b[k].from == a && to_b[k].kind < MODEL_LOAD_NEIGHBOURS) {
                    assert_int_equal(model_load_owner(to_b[k].kind, a, b), owner);
                    assert_int_equal(model_load_shared(to_b[k].kind), kind);
                    pairs++;
                }
            }
        }
    }
    assert_true(pairs > 100);
    p.edge.unit = 12;
    struct model_load refused;
    assert_int_equal(model_load_init(&refused, &p, &m.machine, NULL), HPCW_EINVAL);
    load_drop(&m);
}

/* Handlers that send, but have almost no work. */
static void handlers(void **state) {
    (void)state;
    struct model_load_params p = load_defaults();
    struct load_made m;
    p.handler.ms = 1e-3;
    p.handler.bytes_mean = 2;
    p.handler.bytes_sd = 0;
    p.edge.phases = 0;
    load_make(&m, 64, 2, &p);
    for (uint32_t r = 1; r < 64; r++) {
        const uint32_t owner = model_load_handler(r);
        const struct model_load_flow flow = model_load_flow(&m.load, owner, MODEL_LOAD_UP, 0);
        assert_int_equal(model_load_volume(&m.load, owner, MODEL_LOAD_UP, flow, 7).bytes, 8);
        assert_true(model_load_other(&m.load, r, 0, 7, 1) < 10000);
    }
    load_drop(&m);
}

static void memory_of_blocks(void **state) {
    (void)state;
    struct model_load_params p = load_defaults();
    struct load_made m;
    p.memory.block_objects = 3;
    load_make(&m, 8, 2, &p);
    for (uint32_t o = 0; o < m.load.objects; o++) {
        struct model_load_memory a = model_load_memory(&m.load, o, model_load_lasting(&m.load, o));
        assert_int_equal(a.block, o / 8 * 3 + o % 8 / 3);
        assert_true(a.footprint > 0 && a.working > 0 && a.serialized > 0 && a.serialized <= a.footprint);
        struct model_load_memory b = model_load_memory(&m.load, o % 8 % 3 == 0 ? o : o - 1, 0);
        assert_true(b.block == a.block && b.block_bytes == a.block_bytes);
    }
    load_drop(&m);
}

/* Tables of times make a share of the objects a hundred times faster, in the set-up (phase 0) and later. The
 * set-up has its own table or none. */
static void tables_decide_the_times(void **state) {
    (void)state;
    for (int setup = 0; setup < 2; setup++) {
        struct model_load_params p = load_defaults();
        struct load_made m;
        p.sigma_first = p.sigma_last = p.setup.sigma = 1;
        p.setup.own = setup == 1;
        (void)snprintf(p.time_table, sizeof p.time_table, "100 -300 -290 160 161 162");
        (void)snprintf(p.setup.table, sizeof p.setup.table, "100 -160 -159 -158 290 300");
        load_make(&m, 500, 3, &p);
        for (uint32_t phase = 0; phase < 2; phase++) {
            /* Few objects are between the two kinds, so the share below the middle is that of one kind. */
            const double middle = m.load.phase[phase].median_ns;
            double fast = 0;
            for (uint32_t o = 0; o < m.load.objects; o++) {
                fast += (double)model_load_time(&m.load, o, model_load_lasting(&m.load, o), phase, 1) < middle;
            }
            fast /= m.load.objects;
            assert_true(setup == 1 && phase == 0 ? fast > 0.55 && fast < 0.85 : fast > 0.15 && fast < 0.45);
        }
        load_drop(&m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(like_the_measured_run),
        cmocka_unit_test(parts_of_a_phase),
        cmocka_unit_test(scenarios),
        cmocka_unit_test(scenarios_hit_something),
        cmocka_unit_test(interruptions),
        cmocka_unit_test(volumes_change_with_the_period),
        cmocka_unit_test(volumes_have_few_sizes),
        cmocka_unit_test(courses_differ),
        cmocka_unit_test(neighbours_send_the_same),
        cmocka_unit_test(handlers),
        cmocka_unit_test(memory_of_blocks),
        cmocka_unit_test(tables_decide_the_times),
    };
    return cmocka_run_group_tests_name("load_work", tests, NULL, NULL);
}
