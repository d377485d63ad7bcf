/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a whole dataset like an analysis tool. The timings show what truth.json lists and nothing else, and
 * resemble the measurements they are modelled on. */
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

#include "gen/dataset/directory/directory.h"
#include "gen/dataset/generate.h"
#include "gen/model/machine/truth.h"
#include "libreader/linktest/linktest.h"
#include "tests/support/files.h"

enum { MOST_NODES = 512, MOST_SWITCHES = 64 };

/* A link is slow above this multiple of the time of its distance class. Healthy links stay below 1.15 under any
 * load. The smallest injected fault, half of the bandwidth in one of two directions, gives 1.4. */
#define SLOW 1.25

struct read_dataset {
    struct gen_dataset d;
    char dir[256];
    cJSON *truth;
    uint32_t n, nodes, switches;
    double *time_us; /* [n * n] time that i measured with j; 0 on the diagonal and where nothing was measured */
    uint32_t *step;  /* [n * n] step of that timing */
};

static void describe(struct read_dataset *s, uint32_t ranks, uint64_t seed) {
    memset(s, 0, sizeof *s);
    assert_int_equal(gen_dataset_init(&s->d, "dfplus-hdr200", GEN_SCALE_MEDIUM, NULL), HPCW_OK);
    s->n = s->d.ranks = ranks;
    s->d.seed = seed;
    for (size_t f = 0; f < gen_format_count; f++) {
        s->d.formats |= (uint64_t)(strcmp(gen_format[f]->name, "linktest") == 0) << f;
    }
}

static void read_matrix(struct read_dataset *s) {
    char path[512];
    struct read_linktest *reader;
    hpcw_error err;
    (void)snprintf(path, sizeof path, "%s/linktest/" HPCW_LINKTEST_FILE_NAME, s->dir);
    if (read_linktest_open(path, &reader, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    uint32_t steps = read_linktest_info(reader)->steps;
    s->time_us = calloc((size_t)s->n * s->n, sizeof *s->time_us);
    s->step = calloc((size_t)s->n * s->n, sizeof *s->step);
    double *time = calloc(s->n, sizeof *time);
    uint64_t *partner = calloc(s->n, sizeof *partner);
    assert_true(s->time_us != NULL && s->step != NULL && time != NULL && partner != NULL);
    for (uint32_t i = 0; i < s->n; i++) {
        if (read_linktest_row(reader, i, 0, time, partner, NULL, &err) != HPCW_OK) {
            fail_msg("%s", err.message);
        }
        for (uint32_t step = 0; step < steps; step++) {
            size_t at = (size_t)i * s->n + (size_t)partner[step];
            assert_true(partner[step] < s->n && partner[step] != i && s->time_us[at] == 0);
            s->time_us[at] = time[step] * 1e6;
            s->step[at] = step;
        }
    }
    free(time);
    free(partner);
    read_linktest_free(reader);
}

/* Builds a dataset, writes it, and reads it. */
static void make(struct read_dataset *s) {
    hpcw_error err;
    struct gen_outcome outcome;
    char base[200];
    scratch_make(base, sizeof base);
    (void)snprintf(s->dir, sizeof s->dir, "%s", base);
    struct gen_run run = {.dataset = &s->d,
                          .directory = s->dir,
                          .comm = hpcw_i_comm_or_self(NULL),
                          .jobs = 2,
                          .parts = 1,
                          .durability = HPCW_SYNC_NONE};
    if (gen_dataset_build(&s->d, &err) != HPCW_OK || gen_generate(&run, &outcome, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    assert_true(outcome.complete);
    char path[512];
    (void)snprintf(path, sizeof path, "%s/" GEN_TRUTH, s->dir);
    if (gen_directory_read_json(path, &s->truth, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    const cJSON *machine = cJSON_GetObjectItem(s->truth, "machine");
    s->nodes = (uint32_t)cJSON_GetObjectItem(machine, "nodes")->valuedouble;
    s->switches = (uint32_t)cJSON_GetObjectItem(machine, "switches")->valuedouble;
    assert_true(s->nodes <= MOST_NODES && s->switches <= MOST_SWITCHES);
    read_matrix(s);
}

static void drop(struct read_dataset *s) {
    scratch_remove(s->dir);
    cJSON_Delete(s->truth);
    free(s->time_us);
    free(s->step);
    gen_dataset_free(&s->d);
}

/* ---- a simple detector: medians of ratios ---- */

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *value, size_t count) {
    assert_true(count > 0);
    qsort(value, count, sizeof *value, by_value);
    return value[count / 2];
}

struct detector {
    struct read_dataset *s;
    double expected_us[MODEL_CLASSES];          /* median of each distance class */
    double *value;                              /* [n * n] scratch space for medians */
    double node[2][MOST_NODES];                 /* median of measured / expected time: receives, sends */
    double cable[MOST_SWITCHES][MOST_SWITCHES]; /* [a][b], a < b: ratio between two switches */
    bool slow_node[MOST_NODES], slow_cable[MOST_SWITCHES][MOST_SWITCHES];
};

static uint32_t node_of(const struct read_dataset *s, uint32_t rank) {
    return rank / s->d.machine_params.ppn;
}

static uint32_t switch_of(const struct read_dataset *s, uint32_t rank) {
    return model_machine_switch(&s->d.machine, node_of(s, rank));
}

static double ratio(const struct detector *t, uint32_t i, uint32_t j) {
    const struct read_dataset *s = t->s;
    return s->time_us[(size_t)i * s->n + j] / t->expected_us[model_machine_class(&s->d.machine, i, j)];
}

/* Computes the median of each distance class, without links known to be slow. */
static void expect(struct detector *t) {
    const struct read_dataset *s = t->s;
    for (int c = 0; c < MODEL_CLASSES; c++) {
        size_t k = 0;
        for (uint32_t i = 0; i < s->n; i++) {
            for (uint32_t j = 0; j < s->n; j++) {
                if (i != j && (int)model_machine_class(&s->d.machine, i, j) == c &&
                    !t->slow_node[node_of(s, i)] && !t->slow_node[node_of(s, j)] &&
                    !t->slow_cable[switch_of(s, i)][switch_of(s, j)]) {
                    t->value[k++] = s->time_us[(size_t)i * s->n + j];
                }
            }
        }
        t->expected_us[c] = k == 0 ? 0 : median(t->value, k);
    }
}

static void detect_nodes(struct detector *t) {
    const struct read_dataset *s = t->s;
    uint32_t ppn = s->d.machine_params.ppn;
    for (uint32_t node = 0; node < s->nodes; node++) {
        for (int outgoing = 0; outgoing < 2; outgoing++) {
            size_t k = 0;
            for (uint32_t own = node * ppn; own < (node + 1) * ppn && own < s->n; own++) {
                for (uint32_t other = 0; other < s->n; other++) {
                    if (node_of(s, other) != node) {
                        t->value[k++] = outgoing ? ratio(t, own, other) : ratio(t, other, own);
                    }
                }
            }
            t->node[outgoing][node] = median(t->value, k);
        }
        t->slow_node[node] = t->node[0][node] > SLOW || t->node[1][node] > SLOW;
    }
}

/* Ratio between two switches in both directions, without slow nodes. */
static double detect_cable(struct detector *t, uint32_t a, uint32_t b) {
    const struct read_dataset *s = t->s;
    size_t k = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        for (uint32_t j = 0; j < s->n; j++) {
            bool between = (switch_of(s, i) == a && switch_of(s, j) == b) ||
                           (switch_of(s, i) == b && switch_of(s, j) == a);
            if (between && !t->slow_node[node_of(s, i)] && !t->slow_node[node_of(s, j)]) {
                t->value[k++] = ratio(t, i, j);
            }
        }
    }
    return median(t->value, k);
}

/* Slow links distort the medians, so a second pass excludes what the first one found. */
static void detect(struct detector *t, struct read_dataset *s) {
    memset(t, 0, sizeof *t);
    t->s = s;
    t->value = calloc((size_t)s->n * s->n, sizeof *t->value);
    assert_non_null(t->value);
    for (int pass = 0; pass < 2; pass++) {
        expect(t);
        detect_nodes(t);
        for (uint32_t a = 0; a < s->switches; a++) {
            for (uint32_t b = a + 1; b < s->switches; b++) {
                t->cable[a][b] = detect_cable(t, a, b);
                t->slow_cable[a][b] = t->slow_cable[b][a] = t->cable[a][b] > SLOW;
            }
        }
    }
}

/* Largest ratio over pairs of nodes without a slow port or cable between them. */
static double worst_of_the_rest(const struct detector *t) {
    const struct read_dataset *s = t->s;
    uint32_t ppn = s->d.machine_params.ppn;
    double worst = 0;
    for (uint32_t a = 0; a < s->nodes; a++) {
        for (uint32_t b = 0; b < s->nodes; b++) {
            if (a == b || t->slow_node[a] || t->slow_node[b] ||
                t->slow_cable[switch_of(s, a * ppn)][switch_of(s, b * ppn)]) {
                continue;
            }
            double value[64];
            size_t k = 0;
            for (uint32_t i = a * ppn; i < (a + 1) * ppn && i < s->n; i++) {
                for (uint32_t j = b * ppn; j < (b + 1) * ppn && j < s->n; j++) {
                    value[k++] = ratio(t, i, j);
                }
            }
            double m = median(value, k);
            worst = m > worst ? m : worst;
        }
    }
    return worst;
}

static double number(const cJSON *object, const char *key) {
    const cJSON *item = cJSON_GetObjectItem(object, key);
    assert_true(cJSON_IsNumber(item));
    return item->valuedouble;
}

/* Returns the visibility of an entry in the LinkTest result, as truth.json states it, in standard deviations. */
static double visibility(const cJSON *entry) {
    const cJSON *seen = cJSON_GetArrayItem(cJSON_GetObjectItem(entry, "visibility"), 0);
    assert_string_equal(cJSON_GetObjectItem(seen, "format")->valuestring, "linktest");
    assert_string_equal(cJSON_GetObjectItem(seen, "file")->valuestring, "linktest/" HPCW_LINKTEST_FILE_NAME);
    const cJSON *sd = cJSON_GetObjectItem(seen, "sd");
    return cJSON_IsNull(sd) ? NAN : number(seen, "sd");
}

/* ---- tests ---- */

/* Checks that the detector finds all faults of truth.json. one_way: the kernel measures one direction, with
 * messages so large that only bandwidth matters. Then the measured ratios must also be near the factors of
 * truth.json. */
static void find_all(struct read_dataset *s, bool one_way) {
    struct detector t;
    detect(&t, s);
    const cJSON *machine = cJSON_GetObjectItem(s->truth, "machine");
    const cJSON *ports = cJSON_GetObjectItem(machine, "slow_ports");
    const cJSON *cables = cJSON_GetObjectItem(machine, "slow_cables");
    assert_true(cJSON_GetArraySize(ports) >= 5 && cJSON_GetArraySize(cables) >= 3);

    bool expected[2][MOST_NODES] = {{false}};
    double furthest = 0;
    const cJSON *port;
    cJSON_ArrayForEach(port, ports) {
        uint32_t node = (uint32_t)number(port, "node");
        const char *direction = cJSON_GetObjectItem(port, "direction")->valuestring;
        int outgoing = strcmp(direction, "out") == 0;
        assert_true(one_way ? outgoing || strcmp(direction, "in") == 0 : strcmp(direction, "averaged") == 0);
        /* If the kernel measures one direction, the timings of a node's ranks are slow only if its port is slow for
         * sending. */
        assert_true(visibility(port) >= 5 || (one_way && !outgoing));
        assert_true(number(port, "first_rank") == node * s->d.machine_params.ppn);
        assert_true(number(port, "ranks") == s->d.machine_params.ppn);
        expected[outgoing][node] = true;
        double off = 1 / t.node[outgoing][node] / number(port, "factor");
        if (one_way) {
            furthest = fmax(furthest, fabs(off - 1));
        } else {
            /* Half of the messages of a ping-pong go in the other direction. */
            expected[!outgoing][node] = true;
        }
    }
    for (uint32_t node = 0; node < s->nodes; node++) {
        for (int outgoing = 0; outgoing < 2; outgoing++) {
            if ((t.node[outgoing][node] > SLOW) != expected[outgoing][node]) {
                fail_msg("node %u, what it %s: %.3f times what is expected, and the truth says %s", node,
                         outgoing ? "sends" : "receives", t.node[outgoing][node],
                         expected[outgoing][node] ? "slow" : "healthy");
            }
        }
    }

    bool slow[MOST_SWITCHES][MOST_SWITCHES] = {{false}};
    double furthest_cable = 0;
    const cJSON *cable;
    cJSON_ArrayForEach(cable, cables) {
        uint32_t a = (uint32_t)number(cable, "switch_a");
        uint32_t b = (uint32_t)number(cable, "switch_b");
        assert_true(a < b && b < s->switches);
        assert_int_equal(switch_of(s, (uint32_t)number(cable, "first_rank_a")), a);
        assert_int_equal(switch_of(s, (uint32_t)(number(cable, "first_rank_b") + number(cable, "ranks_b")) - 1),
                         b);
        slow[a][b] = slow[b][a] = true;
        /* NAN passes: a cable of a group with few pairs of switches has no visibility. */
        assert_true(!(visibility(cable) < 5));
        furthest_cable = fmax(furthest_cable, fabs(1 / t.cable[a][b] / number(cable, "factor") - 1));
    }
    for (uint32_t a = 0; a < s->switches; a++) {
        for (uint32_t b = a + 1; b < s->switches; b++) {
            if (t.slow_cable[a][b] != slow[a][b]) {
                fail_msg("switches %u and %u: %.3f times what is expected, and the truth says %s", a, b,
                         t.cable[a][b], slow[a][b] ? "slow" : "healthy");
            }
        }
    }
    double rest = worst_of_the_rest(&t);
    assert_true(rest < SLOW);
    print_message(
        "%d slow ports and %d slow cables, all found and no other; the worst healthy pair of nodes takes "
        "%.2f times what is expected\n",
        cJSON_GetArraySize(ports), cJSON_GetArraySize(cables), rest);
    if (one_way) {
        print_message("their factors: ports at most %.1f %% off, cables %.1f %%\n", 100 * furthest,
                      100 * furthest_cable);
        assert_true(furthest < 0.05 && furthest_cable < 0.05);
    }
    free(t.value);
}

static void inject(struct read_dataset *s) {
    s->d.machine_params.bad.node_share = 0.05;
    s->d.machine_params.bad.cable_share = 0.12;
}

static void test_faults_can_be_found(void **state) {
    (void)state;
    struct read_dataset s;
    describe(&s, 1024, 5);
    inject(&s);
    make(&s);
    find_all(&s, false);
    drop(&s);
}

static void test_faults_can_be_measured(void **state) {
    (void)state;
    struct read_dataset s;
    describe(&s, 1024, 6);
    inject(&s);
    s.d.linktest_params.kernel = HPCW_LINKTEST_UNIDIRECTIONAL;
    s.d.linktest_params.run.message_size = 16 << 20;
    s.d.linktest_params.run.serial = true; /* without contention, the ratio of two times is the factor */
    make(&s);
    find_all(&s, true);
    drop(&s);
}

/* Visibility of a timing by doc/truth.md, "Visibility". */
static double visibility_of(const struct read_dataset *s, uint32_t rank, uint32_t step) {
    enum { AROUND = 32 };
    uint32_t n = s->n, partner[2 * AROUND + 1] = {0}, at = 0;
    double value[2 * AROUND], own = 0;
    size_t count = 0;
    for (uint32_t j = 0; j < n; j++) {
        uint32_t k = s->step[(size_t)rank * n + j];
        if (j != rank && k + AROUND >= step && k <= step + AROUND) {
            partner[k + AROUND - step] = j + 1;
        }
    }
    at = partner[AROUND] - 1;
    own = log(s->time_us[(size_t)rank * n + at]);
    for (uint32_t k = 0; k <= 2 * AROUND; k++) {
        if (k != AROUND && partner[k] != 0) {
            uint32_t j = partner[k] - 1;
            enum model_class a = model_machine_class(&s->d.machine, rank, j),
                             b = model_machine_class(&s->d.machine, rank, at);
            if (a == b || (a < MODEL_SAME_SWITCH && b < MODEL_SAME_SWITCH)) {
                value[count++] = log(s->time_us[(size_t)rank * n + j]);
            }
        }
    }
    if (count < 8) {
        return NAN;
    }
    qsort(value, count, sizeof *value, by_value);
    double middle = 0.5 * (value[(count - 1) / 2] + value[count / 2]);
    for (size_t k = 0; k < count; k++) {
        value[k] = fabs(value[k] - middle);
    }
    qsort(value, count, sizeof *value, by_value);
    return (own - middle) / (1.4826 * 0.5 * (value[(count - 1) / 2] + value[count / 2]));
}

/* Compares a run with delayed messages to the same run without them. truth.json lists the delays that are
 * visible and nothing else. */
static void test_outliers_are_told(void **state) {
    (void)state;
    struct read_dataset with;
    struct read_dataset without;
    describe(&with, 256, 7);
    describe(&without, 256, 7);
    with.d.linktest_params.tail_probability = 1e-4;
    without.d.linktest_params.tail_probability = 0;
    make(&with);
    make(&without);
    assert_int_equal(
        cJSON_GetArraySize(cJSON_GetObjectItem(cJSON_GetObjectItem(without.truth, "linktest"), "outliers")), 0);
    const cJSON *outliers = cJSON_GetObjectItem(cJSON_GetObjectItem(with.truth, "linktest"), "outliers");
    const cJSON *next = outliers->child;
    uint32_t n = with.n;
    double events = 0, injected = 0, furthest = 0, unknown = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t delays = 0;
        for (uint32_t j = 0; j < n; j++) {
            size_t at = (size_t)i * n + j;
            double more_us = with.time_us[at] - without.time_us[at];
            assert_true(more_us > -1e-6);
            delays += more_us > 5e-7;
        }
        injected += delays;
        if (next == NULL || number(next, "rank") != i) {
            continue;
        }
        const double count = number(next, "count");
        assert_true(count >= 1 && count <= delays);
        events += count;
        for (int k = 0; k < count && k < MODEL_TRUTH_DELAYS; k++, next = next->next) {
            assert_true(next != NULL && number(next, "rank") == i && number(next, "count") == count);
            size_t at = (size_t)i * n + (size_t)number(next, "worst_partner");
            /* Both timings and the delay were rounded to picoseconds. */
            assert_true(fabs(number(next, "worst_ps") - (with.time_us[at] - without.time_us[at]) * 1e6) <= 1.5);
            assert_true(number(next, "worst_step") == with.step[at]);
            assert_true(number(next, "worst_permutation") == 0);
            double shown = visibility_of(&with, i, with.step[at]);
            if (isnan(visibility(next))) {
                unknown++;
                assert_true(isnan(shown));
                continue;
            }
            assert_true(visibility(next) >= 5);
            furthest = fmax(furthest, fabs(shown / visibility(next) - 1));
        }
    }
    assert_null(next);
    assert_true(number(cJSON_GetObjectItem(with.truth, "linktest"), "outlier_events") == events);
    print_message("%.0f delays, %.0f of them stand out and are listed\n", injected, events);
    assert_true(events > 0.9 * injected && events <= injected);
    print_message("their visibility: at most %.2g off\n", furthest);
    assert_true(furthest < 0.006); /* truth.json has three digits of a visibility */
    assert_true(unknown > 0 && unknown < 0.1 * events);
    drop(&with);
    drop(&without);
}

/* The LinkTest description of the JUPITER Benchmark Suite has 24 timings of 256 KiB: the smallest is 11.535 us, the
 * mean 11.688 us, the largest 12.012 us. */
static void test_like_the_published_excerpt(void **state) {
    (void)state;
    struct read_dataset s;
    describe(&s, 1024, 2);
    s.d.linktest_params.run.messages = 170; /* gives steps as long as the published ones */
    make(&s);
    struct detector t;
    detect(&t, &s);
    double sum = 0, squares = 0, count = 0;
    for (uint32_t i = 0; i < s.n; i++) {
        for (uint32_t j = 0; j < s.n; j++) {
            if (i != j && model_machine_class(&s.d.machine, i, j) == MODEL_SAME_SWITCH &&
                !t.slow_node[node_of(&s, i)] && !t.slow_node[node_of(&s, j)]) {
                double us = s.time_us[(size_t)i * s.n + j];
                sum += us;
                squares += us * us;
                count++;
            }
        }
    }
    double mean = sum / count;
    double spread = sqrt(squares / count - mean * mean) / mean;
    print_message(
        "256 KiB within a switch: mean %.3f us, spread %.1f %%; published 11.688 us, 24 values within "
        "-1.3 and +2.8 %%\n",
        mean, 100 * spread);
    assert_true(fabs(mean / 11.688 - 1) < 0.02);
    /* The range of 24 values is about four standard deviations. */
    assert_true(spread > 0.006 && spread < 0.014);
    free(t.value);
    drop(&s);
}

/* The LinkTest description of the JUPITER Benchmark Suite has a bisection test: messages of 16 MiB between the
 * halves of 190 nodes of four cells, in both directions. The rates of its steps are at least 8.24, on average 9.29
 * and at most 11.38 TiB/s. LinkTest computes them as pairs x 2 x size / mean time. */
static void test_like_the_published_bisection(void **state) {
    (void)state;
    struct read_dataset s;
    describe(&s, 760, 1);
    s.d.linktest_params.run.message_size = 16 << 20;
    s.d.linktest_params.run.bisection = true;
    s.d.linktest_params.kernel = HPCW_LINKTEST_BIDIRECTIONAL;
    s.d.linktest_params.run.messages = 1000;
    s.d.machine_params.bad.node_share = s.d.machine_params.bad.cable_share = 0;
    s.d.machine_params.busy_share = 0;
    make(&s);
    uint32_t half = s.n / 2;
    double *sum_us = calloc(half + 1, sizeof *sum_us); /* by step: sum over both sides of each pair */
    assert_non_null(sum_us);
    for (size_t at = 0; at < (size_t)s.n * s.n; at++) {
        if (s.time_us[at] > 0) {
            sum_us[s.step[at]] += s.time_us[at];
        }
    }
    double least = INFINITY, most = 0, all_us = 0;
    for (uint32_t step = 0; step < half; step++) {
        double tib = half * 2.0 * 16777216 / (sum_us[step] / s.n * 1e-6) / 0x1p40;
        least = fmin(least, tib);
        most = fmax(most, tib);
        all_us += sum_us[step] / s.n / half;
    }
    double mean = half * 2.0 * 16777216 / (all_us * 1e-6) / 0x1p40;
    print_message("bisection: %.2f / %.2f / %.2f TiB/s, published 8.24 / 9.29 / 11.38\n", least, mean, most);
    assert_true(fabs(least / 8.2409 - 1) < 0.15 && fabs(mean / 9.2899 - 1) < 0.15 &&
                fabs(most / 11.3783 - 1) < 0.15);
    free(sum_us);
    drop(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults_can_be_found),
        cmocka_unit_test(test_faults_can_be_measured),
        cmocka_unit_test(test_outliers_are_told),
        cmocka_unit_test(test_like_the_published_excerpt),
        cmocka_unit_test(test_like_the_published_bisection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
