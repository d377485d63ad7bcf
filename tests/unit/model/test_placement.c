/* SPDX-License-Identifier: BSD-3-Clause */
/* Placements of objects: balancers, bounds for any placement, and the effect of scenarios. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gen/model/load/balance.h"
#include "gen/model/load/whole.h"

struct made {
    struct model_machine machine;
    struct model_load load;
};

static struct model_load_params defaults(void) {
    struct model_load_params p;
    model_load_params_init(&p);
    p.course = MODEL_COURSE_RAMP;
    return p;
}

static void machine_of(struct made *m, uint32_t ranks, uint64_t seed) {
    struct model_machine_params machine;
    hpcw_error err;
    assert_int_equal(model_machine_params_init(&machine, "dfplus-hdr200", &err), HPCW_OK);
    machine.ppn = 1;
    machine.slow_node_share = 0.4; /* of them */
    assert_int_equal(model_machine_init(&m->machine, &machine, ranks, seed, &err), HPCW_OK);
}

static void make(struct made *m, uint32_t ranks, uint64_t seed, const struct model_load_params *params) {
    hpcw_error err;
    machine_of(m, ranks, seed);
    if (model_load_init(&m->load, params, &m->machine, &err) != HPCW_OK ||
        model_load_settle(&m->load, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
}

static void drop(struct made *m) {
    model_load_free(&m->load);
    model_machine_free(&m->machine);
}

/* ---- what placements can reach --------------------------------------------------------------------------- */

/* Largest load of a rank in a placement. */
static double largest(const struct model_load_whole *w, const uint32_t *rank) {
    double most = 0;
    for (uint32_t r = 0; r < w->load->ranks; r++) {
        double sum = (double)w->fixed_ns[r];
        for (uint32_t o = 0; o < w->load->objects; o++) {
            sum += w->time_ns[o] > 0 && rank[o] == r
                       ? (double)w->time_ns[o] / w->slowness[w->rank[o]] * w->slowness[r]
                       : 0;
        }
        most = sum > most ? sum : most;
    }
    return most;
}

/* No placement of a few objects is below the bound, and the placement "longest first" is close to the best one. */
static void bounds_hold(void **state) {
    (void)state;
    enum { RANKS = 3, OBJECTS = 9, PLACEMENTS = 19683 };
    uint32_t tight = 0;
    for (uint64_t seed = 0; seed < 6; seed++) {
        struct made m;
        struct model_load_whole w;
        hpcw_error err;
        struct model_load_params p = defaults();
        p.objects = OBJECTS / RANKS;
        p.noise.probability = 0.1;
        p.noise.min_ms = 1;
        p.noise.max_ms = 4;
        make(&m, RANKS, seed, &p);
        assert_int_equal(model_load_whole_new(&w, &m.load, &err), HPCW_OK);
        for (uint32_t phase = 0; phase < p.phases; phase += 13) {
            uint32_t rank[OBJECTS] = {0};
            double best = 1e300;
            model_load_whole_measure(&w, phase);
            for (uint32_t i = 0; i < PLACEMENTS; i++) {
                uint32_t digits = i;
                for (uint32_t o = 0; o < OBJECTS; o++, digits /= RANKS) {
                    rank[o] = digits % RANKS;
                }
                const double one = largest(&w, rank);
                best = one < best ? one : best;
            }
            const struct model_load_optimum found = model_load_whole_optimum(&w, rank);
            assert_true((double)found.bound_ns <= best);
            assert_true((double)found.longest_first_ns >= best - 10 &&
                        (double)found.longest_first_ns <= 1.5 * best);
            const double reached = largest(&w, rank);
            assert_true(reached > (double)found.longest_first_ns - 10 &&
                        reached < (double)found.longest_first_ns + 10);
            tight += (double)found.bound_ns > 0.95 * best;
        }
        model_load_whole_free(&w);
        drop(&m);
    }
    assert_true(tight > 4);
}

/* Objects with the longest times that parameters allow, on nodes that differ most in speed: no sum overflows. */
static void long_times_fit(void **state) {
    (void)state;
    struct made m;
    struct model_load_whole w;
    hpcw_error err;
    struct model_load_params p = defaults();
    p.mean_first_ms = p.mean_last_ms = 1e6;
    p.sigma_first = p.sigma_last = 10;
    p.setup.factor = 1e6;
    p.setup.sigma = 3;
    p.scenario.kind = MODEL_SCENARIO_RAMP;
    p.scenario.factor = 1e6;
    make(&m, 20, 1, &p);
    m.machine.params.slow_node_factor = 1000;
    assert_int_equal(model_load_whole_new(&w, &m.load, &err), HPCW_OK);
    for (uint32_t phase = 0; phase < p.phases; phase++) {
        model_load_whole_measure(&w, phase);
        uint64_t load_ns[20];
        model_load_whole_ranks(&w, load_ns, NULL);
        double most = 0;
        for (uint32_t r = 0; r < 20; r++) {
            most = fmax(most, (double)load_ns[r]);
        }
        const struct model_load_optimum found = model_load_whole_optimum(&w, NULL);
        assert_true(most <= 1.1e16);
        assert_true(found.bound_ns <= found.longest_first_ns && (double)found.bound_ns <= most);
    }
    model_load_whole_free(&w);
    drop(&m);
}

/* Sums over all objects agree with the functions for one object. */
static void phases_are_measured(void **state) {
    (void)state;
    struct made m;
    struct model_load_whole w;
    hpcw_error err;
    struct model_load_params p = defaults();
    p.migration = 0.1;
    make(&m, 40, 1, &p);
    assert_int_equal(model_load_whole_new(&w, &m.load, &err), HPCW_OK);
    static const uint32_t order[] = {0, 3, 39, 2};
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        model_load_whole_measure(&w, order[i]);
        for (uint32_t r = 0; r < 40; r++) {
            for (uint32_t slot = 0; slot < m.load.per_rank; slot++) {
                const uint32_t o = model_load_object(&m.load, r, slot, order[i]);
                const double slowness = model_load_slowness(&m.load, r, order[i]);
                const uint64_t ns =
                    model_load_time(&m.load, o, model_load_lasting(&m.load, o), order[i], slowness);
                assert_int_equal(w.rank[o], r);
                assert_int_equal(w.time_ns[o], model_load_exists(&m.load, o) ? ns : 0);
            }
        }
    }
    model_load_whole_free(&w);
    drop(&m);
}

/* ---- balancers ------------------------------------------------------------------------------------------- */

/* Checks that each object is on one rank, and that each rank has one. Returns the number of objects that
 * `before` has on another rank. */
static uint32_t check_placement(const struct model_load *m, const struct model_load_placement *p,
                                const uint32_t *before, uint32_t *rank) {
    uint32_t objects = 0;
    uint32_t moved = 0;
    memset(rank, 0xff, m->objects * sizeof *rank);
    for (uint32_t r = 0; r < m->ranks; r++) {
        assert_true(p->first[r] < p->first[r + 1]);
        for (uint32_t i = p->first[r]; i < p->first[r + 1]; i++) {
            assert_true(i == p->first[r] || p->object[i - 1] < p->object[i]);
            assert_int_equal(rank[p->object[i]], UINT32_MAX);
            rank[p->object[i]] = r;
        }
    }
    for (uint32_t o = 0; o < m->objects; o++) {
        assert_int_equal(rank[o] != UINT32_MAX, model_load_exists(m, o));
        objects += rank[o] != UINT32_MAX;
        moved += rank[o] != before[o] && rank[o] != UINT32_MAX;
    }
    assert_int_equal(p->first[m->ranks], objects);
    return moved;
}

/* Checks that the cursor of each rank gives its objects of the placement in this phase. */
static void check_cursors(const struct model_load *m, uint32_t phase, struct model_load_cursor *at,
                          const struct model_load_placement *p) {
    for (uint32_t r = 0; r < m->ranks; r++) {
        uint32_t count;
        const uint32_t *list = model_load_on_rank(m, NULL, phase, r, &count);
        if (phase > 0) {
            model_load_next(m, &at[r]);
        }
        assert_int_equal(at[r].count, p->first[r + 1] - p->first[r]);
        assert_true(at[r].count <= m->most && count == at[r].count);
        assert_memory_equal(at[r].object, p->object + p->first[r], count * sizeof *list);
        assert_memory_equal(at[r].object, list, count * sizeof *list);
        for (uint32_t i = 0; i < count; i++) {
            assert_int_equal(model_load_find(m, &at[r], list[i]), i);
        }
        for (uint32_t o = 0; o < m->objects; o += 7) {
            const uint32_t found = model_load_find(m, &at[r], o);
            assert_true(found == UINT32_MAX || at[r].object[found] == o);
        }
    }
}

static double imbalance(struct model_load_whole *w, uint32_t phase) {
    double with;
    double without;
    model_load_whole_measure(w, phase);
    model_load_whole_imbalance(w, &with, &without);
    assert_true(with == without);
    return with;
}

static void balancers(void **state) {
    (void)state;
    enum { RANKS = 150 };
    static const struct {
        uint32_t phases, interval, runs, first;
    } rows[] = {{40, 0, 7, 5}, {6, 0, 4, 2}, {9, 1, 7, 2}, {9, 4, 2, 4}, {9, 20, 0, 0}, {1, 0, 0, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct made none;
        struct model_load_whole calm;
        hpcw_error err;
        struct model_load_params p = defaults();
        p.phases = rows[i].phases;
        p.migration = 0;
        make(&none, RANKS, 4, &p);
        assert_int_equal(model_load_whole_new(&calm, &none.load, &err), HPCW_OK);
        for (p.balancer.kind = MODEL_BALANCER_GREEDY; p.balancer.kind <= MODEL_BALANCER_TEMPERED;
             p.balancer.kind++) {
            struct made m;
            struct made again;
            struct model_load_whole w;
            p.balancer.interval = rows[i].interval;
            p.balancer.keep_iterations = true;
            make(&m, RANKS, 4, &p);
            p.balancer.keep_iterations = false;
            make(&again, RANKS, 4, &p);
            assert_int_equal(model_load_whole_new(&w, &m.load, &err), HPCW_OK);
            uint32_t *rank[2] = {malloc(m.load.objects * sizeof(uint32_t)),
                                 malloc(m.load.objects * sizeof(uint32_t))};
            uint32_t *lists = malloc((size_t)RANKS * m.load.most * sizeof *lists);
            struct model_load_cursor *at = malloc(RANKS * sizeof *at);
            for (uint32_t o = 0; o < m.load.objects; o++) {
                rank[1][o] = o / m.load.per_rank;
            }
            uint32_t runs = 0;
            uint32_t fewest = UINT32_MAX;
            double balanced = 0;
            double left_alone = 0;
            for (uint32_t phase = 0; phase < p.phases; phase++) {
                const struct model_load_placement *now = model_load_placement(&m.load, phase);
                for (uint32_t r = 0; phase == 0 && r < RANKS; r++) {
                    model_load_begin(&m.load, r, lists + (size_t)r * m.load.most, &at[r]);
                }
                const uint32_t moved = check_placement(&m.load, now, rank[1 - phase % 2], rank[phase % 2]);
                check_cursors(&m.load, phase, at, now);
                assert_memory_equal(now->object, model_load_placement(&again.load, phase)->object,
                                    now->first[RANKS] * sizeof *now->object);
                assert_null(model_load_trial(&again.load, phase, 0));
                const bool runs_now = model_load_balances(&m.load, phase);
                /* In the first balanced phase many objects move. Later, they may stay. */
                assert_true(runs_now ? runs > 0 || moved > RANKS / 20 : moved == 0);
                if (runs_now) {
                    assert_true(runs > 0 || phase == rows[i].first);
                    runs++;
                    /* One of the balancer's iterations has the final placement. */
                    bool reached = false;
                    for (uint32_t k = 0; k < model_load_iterations(&m.load); k++) {
                        const struct model_load_placement *trial = model_load_trial(&m.load, phase, k);
                        uint32_t *of_trial = malloc(m.load.objects * sizeof *of_trial);
                        (void)check_placement(&m.load, trial, rank[phase % 2], of_trial);
                        reached = reached ||
                                  memcmp(of_trial, rank[phase % 2], m.load.objects * sizeof *of_trial) == 0;
                        free(of_trial);
                    }
                    assert_true(reached || moved == 0);
                }
                for (uint32_t r = 0; r < RANKS; r++) {
                    fewest = at[r].count < fewest ? at[r].count : fewest;
                }
                if (runs > 0 && phase > 2) {
                    balanced += imbalance(&w, phase);
                    left_alone += imbalance(&calm, phase);
                }
            }
            assert_int_equal(runs, rows[i].runs);
            assert_true(runs == 0 || balanced < left_alone / 1.2);
            assert_true(runs == 0 || m.load.most >= fewest + 3);
            model_load_whole_free(&w);
            free(rank[0]);
            free(rank[1]);
            free(lists);
            free(at);
            drop(&m);
            drop(&again);
        }
        model_load_whole_free(&calm);
        drop(&none);
    }
}

/* ---- scenarios ------------------------------------------------------------------------------------------- */

/* Returns the largest increase of the imbalance by the scenario, over all phases. */
static double effect_of(const struct model_load *m) {
    struct model_load_whole w;
    hpcw_error err;
    double most = 0;
    assert_int_equal(model_load_whole_new(&w, m, &err), HPCW_OK);
    for (uint32_t k = m->params.scenario.first; k < m->params.phases; k++) {
        double with;
        double without;
        model_load_whole_measure(&w, k);
        model_load_whole_imbalance(&w, &with, &without);
        most = k - m->params.scenario.first < m->params.scenario.phases && with / without > most
                   ? with / without
                   : most;
    }
    model_load_whole_free(&w);
    return most;
}

/* A scenario is refused or visible. To make it visible, its factor may be raised. */
static void scenarios_show(void **state) {
    (void)state;
    static const struct { uint32_t ranks, phases; } rows[] = {{256, 40}, {16, 40}, {64, 6}, {2, 6}};
    uint32_t raised = 0;
    uint32_t kept = 0;
    struct model_load_params p = defaults();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int scenario = MODEL_SCENARIO_SPIKE; scenario <= MODEL_SCENARIO_HOTSPOT; scenario++) {
            for (uint64_t seed = 0; seed < 6; seed++) {
                struct made m;
                p.scenario.kind = scenario;
                p.phases = rows[i].phases;
                make(&m, rows[i].ranks, seed, &p);
                assert_true(effect_of(&m.load) >= MODEL_LOAD_LEAST_EFFECT);
                raised += m.load.params.scenario.factor > 4;
                kept += m.load.params.scenario.factor == 4;
                drop(&m);
            }
        }
    }
    assert_true(raised > 0 && kept > 4 * raised);

    static const struct {
        uint32_t ranks;
        double share;
        const char *got;
    } refused[] = {{1, 0, "got 1 times with factors from 4 to 1024"},
                   {64, 1, "got 1 times with factors from 4 to 1024"}};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct made m;
        hpcw_error err;
        p = defaults();
        p.scenario.kind = MODEL_SCENARIO_SPIKE;
        p.scenario.share = refused[i].share;
        machine_of(&m, refused[i].ranks, 1);
        assert_int_equal(model_load_init(&m.load, &p, &m.machine, &err), HPCW_OK);
        assert_int_equal(model_load_settle(&m.load, &err), HPCW_EINVAL);
        assert_non_null(
            strstr(err.message, "load.scenario: expected a phase with an imbalance of at least 1.2"));
        assert_non_null(strstr(err.message, refused[i].got));
        model_machine_free(&m.machine);
    }
}

/* With MODEL_COMM_SAMPLE, objects send to groups, so groups = 0 is refused. */
static void sample_needs_groups(void **state) {
    (void)state;
    struct made m;
    hpcw_error err;
    struct model_load_params p = defaults();
    p.comm = MODEL_COMM_SAMPLE;
    p.groups = 0;
    machine_of(&m, 4, 1);
    assert_int_equal(model_load_init(&m.load, &p, &m.machine, &err), HPCW_EINVAL);
    assert_string_equal(err.message, "load.groups: expected at least 1 with load.comm=sample, got 0");
    model_machine_free(&m.machine);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_hold),    cmocka_unit_test(phases_are_measured),
        cmocka_unit_test(long_times_fit), cmocka_unit_test(balancers),
        cmocka_unit_test(scenarios_show), cmocka_unit_test(sample_needs_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
