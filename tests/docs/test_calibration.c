/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the network model with published figures: computes the table of doc/realism.md, "Network", compares it
 * with the page, and checks that each deviation is within its limit. Usage: test_calibration PAGE */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/model/linktest/linktest.h"

static char *page, *section, *section_end;
static int failures, rows;

static void row(const char *preset, const char *what, const char *unit, double published, const char *source,
                double model, double limit) {
    char line[256];
    const double off = 100 * (model / published - 1);
    (void)snprintf(line, sizeof line, "\n| %s | %s | %.4g %s | %s | %.4g %s | %+.1f %% |\n", preset, what,
                   published, unit, source, model, unit, off);
    const char *found = strstr(section, line);
    if (found == NULL || found >= section_end) {
        printf("doc/realism.md, \"Network\": expected the row %s", line + 1);
        failures++;
    }
    if (!(fabs(off) <= limit)) {
        printf("%s, %s: expected %.4g %s within %g %%, got %.4g\n", preset, what, published, unit, limit,
               model);
        failures++;
    }
    rows++;
}

/* Builds a machine without faults, and the job on its first nodes. */
static void build(const char *preset, uint32_t ranks, uint64_t seed, struct model_machine *m,
                  struct model_network *net) {
    struct model_machine_params p;
    hpcw_error err;
    if (model_machine_params_init(&p, preset, &err) != HPCW_OK) {
        printf("%s\n", err.message);
        exit(1);
    }
    p.busy_share = p.bad.node_share = p.bad.cable_share = 0;
    if (model_machine_init(m, &p, ranks, seed, &err) != HPCW_OK) {
        printf("%s\n", err.message);
        exit(1);
    }
    model_network_init(net, m);
}

/* Time of one message alone without noise, microseconds. */
static double alone_us(const char *preset, enum model_class distance, uint64_t bytes) {
    const struct model_contention alone = {0};
    struct model_machine m;
    struct model_network net;
    build(preset, 64, 1, &m, &net);
    const struct model_way way = model_network_class_way(&net, distance, bytes, &alone);
    model_machine_free(&m);
    return model_network_time(&way, 1, 0, 0) * 1e-6;
}

struct size_row {
    uint64_t bytes;
    double us, limit;
};

static void curve(const char *preset, const char *label, enum model_class distance, const char *source,
                  const struct size_row *size, size_t count) {
    for (size_t i = 0; i < count; i++) {
        char what[64];
        const uint64_t b = size[i].bytes;
        if (b >= 1 << 20) {
            (void)snprintf(what, sizeof what, "%u MiB", (unsigned)(b >> 20));
        } else if (b >= 1 << 10) {
            (void)snprintf(what, sizeof what, "%u KiB", (unsigned)(b >> 10));
        } else {
            (void)snprintf(what, sizeof what, "%u bytes", (unsigned)b);
        }
        row(label, what, "us", size[i].us, source, alone_us(preset, distance, b), size[i].limit);
    }
}
#define CURVE(preset, label, distance, source, size)                                                           \
    curve(preset, label, distance, source, size, sizeof(size) / sizeof(size)[0])

/* Measures 24 timings of 256 KiB between two nodes of a switch, one pair at a time, averaged over 48 excerpts of
 * the run. A step of the published measurement took as long as 170 round trips. */
static void steps(void) {
    struct model_machine m;
    struct model_network net;
    struct model_linktest model;
    struct model_linktest_params lp;
    enum { EXCERPTS = 48, VALUES = 24 };
    double low = 0, mean = 0, high = 0;
    build("dfplus-hdr200", 96, 1, &m, &net);
    model_linktest_params_init(&lp);
    lp.run.serial = true;
    lp.tail_probability = 0;
    lp.run.messages = 170;
    if (model_linktest_init(&model, &net, &lp, NULL) != HPCW_OK) {
        exit(1);
    }
    for (uint32_t i = 0; i < EXCERPTS; i++) {
        double least = INFINITY, most = 0;
        for (uint32_t j = EXCERPTS; j < EXCERPTS + VALUES; j++) {
            const double us = (double)model_linktest_one(&model, i, j, 0, j) * 1e-6;
            least = fmin(least, us);
            most = fmax(most, us);
            mean += us / (EXCERPTS * VALUES);
        }
        low += least / EXCERPTS;
        high += most / EXCERPTS;
    }
    model_machine_free(&m);
    row("dfplus-hdr200", "256 KiB, smallest of 24", "us", 11.53511, "N1", low, 15);
    row("dfplus-hdr200", "256 KiB, mean", "us", 11.68784, "N1", mean, 15);
    row("dfplus-hdr200", "256 KiB, largest of 24", "us", 12.01200, "N1", high, 15);
}

/* Measures a bisection: the ranks of 190 nodes, 4 on each, send messages of 16 MiB to the other half, in both
 * directions at once. The bandwidth of a step is pairs x 2 x size / mean time. Prints averages over ten seeds. */
static void bisection(void) {
    enum { RANKS = 760, HALF = RANKS / 2, SEEDS = 10 };
    double low = 0, mean = 0, high = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct model_machine m;
        struct model_network net;
        struct model_linktest model;
        struct model_linktest_params lp;
        build("dfplus-hdr200", RANKS, seed, &m, &net);
        model_linktest_params_init(&lp);
        lp.kernel = HPCW_LINKTEST_BIDIRECTIONAL;
        lp.run.bisection = true;
        lp.run.message_size = 16 << 20;
        lp.run.messages = 1000;
        lp.tail_probability = 0;
        if (model_linktest_init(&model, &net, &lp, NULL) != HPCW_OK) {
            exit(1);
        }
        double slowest = 0, fastest = INFINITY, all = 0;
        for (uint32_t step = 0; step < HALF; step++) {
            double us = 0;
            for (uint32_t i = 0; i < HALF; i++) {
                const uint32_t j = HALF + (i + step) % HALF;
                us += (double)model_linktest_one(&model, i, j, 0, step) * 1e-6 / HALF;
            }
            slowest = fmax(slowest, us);
            fastest = fmin(fastest, us);
            all += us / HALF;
        }
        const double tib_us = HALF * 2.0 * (16 << 20) / 0x1p40 * 1e6;
        low += tib_us / slowest / SEEDS;
        mean += tib_us / all / SEEDS;
        high += tib_us / fastest / SEEDS;
        model_machine_free(&m);
    }
    row("dfplus-hdr200", "bisection of 190 nodes, slowest step", "TiB/s", 8.2409, "N1", low, 15);
    row("dfplus-hdr200", "bisection of 190 nodes, all steps", "TiB/s", 9.2899, "N1", mean, 15);
    row("dfplus-hdr200", "bisection of 190 nodes, fastest step", "TiB/s", 11.3783, "N1", high, 15);
}

/* Share of the line rate that all nodes of an island get when all send to other islands. */
static void blocking(void) {
    struct model_machine m;
    struct model_network net;
    build("fattree-hdr100", 4 * 66 * 64, 1, &m, &net);
    const struct model_pattern all = {.ranks = 1, .off_switch = 1, .off_group = 1, .groups = 3};
    const struct model_contention c = model_network_contention(&net, &all);
    const struct model_way way = model_network_class_way(&net, MODEL_OTHER_GROUP, 16 << 20, &c);
    const double usual = 1 + m.params.congestion_spread;
    row("fattree-hdr100", "share of the line between islands", "of 1", 7.0 / 33, "N5",
        way.floor_ps / model_network_time(&way, usual, 0, 0), 15);
    model_machine_free(&m);
}

static void bandwidth(const char *preset, const char *what, double gbs, const char *source) {
    row(preset, what, "GB/s", gbs, source, (16 << 20) * 1e-3 / alone_us(preset, MODEL_SAME_SWITCH, 16 << 20),
        5);
}

int main(int argc, char **argv) {
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    enum { MOST = 1 << 20 };
    page = calloc(1, MOST);
    if (file == NULL || page == NULL || fread(page, 1, MOST - 1, file) == 0) {
        printf("usage: test_calibration doc/realism.md\n");
        return 1;
    }
    (void)fclose(file);
    section = strstr(page, "\n## Network\n");
    if (section == NULL) {
        section = page + strlen(page);
    }
    section_end = strstr(section + 1, "\n## ");
    section_end = section_end == NULL ? page + strlen(page) : section_end;

    static const struct size_row node[] = {{8, 0.11, 15},     {512, 0.19, 15},  {1024, 0.20, 15},
                                           {4096, 2.06, 15},  {65536, 6.5, 15}, {1 << 20, 72, 15},
                                           {4 << 20, 290, 15}};
    static const struct size_row hdr100[] = {{8, 0.90, 15},     {1024, 1.67, 15},  {4096, 3.28, 15},
                                             {8192, 4.79, 15},  {16384, 7.08, 15}, {32768, 9.14, 15},
                                             {65536, 12.62, 15}};
    static const struct size_row tcp[] = {{8, 24.59, 15},     {1024, 49.15, 15},  {2048, 71.83, 15},
                                          {4096, 234.99, 60}, {8192, 233.84, 35}, {16384, 238.18, 15},
                                          {32768, 419.28, 15}};
    steps();
    bisection();
    static const struct size_row small[] = {{8, 0.90, 15}};
    CURVE("dfplus-hdr200", "dfplus-hdr200", MODEL_SAME_SWITCH, "N2", small);
    CURVE("fattree-hdr100", "fattree-hdr100", MODEL_SAME_SWITCH, "N2", hdr100);
    blocking();
    static const struct size_row lumi[] = {{8, 1.6, 15}};
    CURVE("dragonfly-ss11", "dragonfly-ss11", MODEL_SAME_SWITCH, "N3", lumi);
    static const struct size_row tofu[] = {{8, 0.49, 15}};
    CURVE("torus-tofud", "torus-tofud", MODEL_SAME_SWITCH, "N4", tofu);
    bandwidth("torus-tofud", "16 MiB", 6.8 * 0.93, "N4");
    CURVE("tcp-1g", "tcp-1g", MODEL_SAME_SWITCH, "N2", tcp);
    CURVE("dfplus-hdr200", "two cores with one cache", MODEL_SAME_CACHE, "N6", node);

    /* Each row of the page that ends with a deviation was compared. */
    int found = 0;
    for (const char *at = strstr(section, " % |\n"); at != NULL && at < section_end;
         at = strstr(at + 1, " % |\n")) {
        found++;
    }
    if (found != rows) {
        printf("doc/realism.md, \"Network\": expected %d figures, got %d\n", rows, found);
        failures++;
    }
    free(page);
    printf("%d figures, %d differences\n", rows, failures);
    return failures != 0;
}
