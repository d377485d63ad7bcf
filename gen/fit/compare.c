/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "libwriter/base/mem.h"
#include "ui/page/page.h"

static struct gen_fit_sketch whole_of(const struct gen_fit_fact *fact) {
    struct gen_fit_sketch whole = {.least = fact->half[0]->least};
    gen_fit_sketch_merge(&whole, fact->half[0], 1);
    gen_fit_sketch_merge(&whole, fact->half[1], 1);
    return whole;
}

/* Upper limit of the standard error of ln(ratio) of two counts. It makes the counts 0 and 1 alike, but 0 and 2
 * different. */
#define MOST_CHANCE 0.49

/* Variance of a correlation coefficient of n pairs (Fisher). */
static double variance_of(const struct gen_fit_fact *fact) {
    const double rest = 1 - fact->value * fact->value;
    return rest * rest / fmax(1, fact->samples - 3);
}

/* Returns whether samples of n and m values are too small to tell anything: even distribution functions with
 * the distance 1 would pass the Kolmogorov-Smirnov test at 5 %. */
static bool few(double n, double m) {
    return n > 0 && m > 0 && 1.36 * sqrt((n + m) / (n * m)) >= 1;
}

/* Sums over all keys that at least one of two facts has. */
struct sides {
    double sum[2], squares[2], product, differences;
    double keys;
};

static void meet_parts(const struct gen_fit_fact *const side[2], const double whole[2], struct sides *sums) {
    size_t at[2] = {0, 0};
    *sums = (struct sides){.keys = 0};
    while (at[0] < side[0]->pieces || at[1] < side[1]->pieces) {
        const uint64_t key[2] = {at[0] < side[0]->pieces ? side[0]->piece[at[0]].key : UINT64_MAX,
                                 at[1] < side[1]->pieces ? side[1]->piece[at[1]].key : UINT64_MAX};
        double amount[2] = {0, 0};
        for (size_t i = 0; i < 2; i++) {
            if (at[i] < side[i]->pieces && key[i] <= key[1 - i]) {
                amount[i] = side[i]->piece[at[i]++].amount;
            }
            sums->sum[i] += amount[i];
            sums->squares[i] += amount[i] * amount[i];
        }
        sums->product += amount[0] * amount[1];
        sums->differences += fabs(amount[0] / whole[0] - amount[1] / whole[1]);
        sums->keys++;
    }
}

/* Total variation distance of two mixes: half the sum of the differences of their shares, from 0 to 1. */
static double distance_of_mixes(const struct gen_fit_fact *const side[2]) {
    struct sides sums;
    meet_parts(side, (const double[]){1, 1}, &sums);
    const double whole[2] = {sums.sum[0], sums.sum[1]};
    meet_parts(side, whole, &sums);
    return whole[0] > 0 && whole[1] > 0 ? sums.differences / 2 : 1;
}

/* Returns 1 minus the correlation of two matrices, over all cells that at least one matrix has. The distance of
 * two constant matrices is 0. */
static double distance_of_matrices(const struct gen_fit_fact *const side[2]) {
    struct sides s;
    meet_parts(side, (const double[]){1, 1}, &s);
    const double covariance = s.product / s.keys - s.sum[0] / s.keys * (s.sum[1] / s.keys);
    double variance[2];
    for (size_t i = 0; i < 2; i++) {
        variance[i] = s.squares[i] / s.keys - s.sum[i] / s.keys * (s.sum[i] / s.keys);
        variance[i] = variance[i] > 1e-12 * s.squares[i] / s.keys ? variance[i] : 0;
    }
    return variance[0] > 0 && variance[1] > 0 ? 1 - covariance / sqrt(variance[0] * variance[1])
           : variance[0] == variance[1]       ? 0
                                              : 1;
}

static const struct gen_fit_part *largest(const struct gen_fit_fact *fact) {
    const struct gen_fit_part *most = fact->piece;
    for (size_t i = 1; i < fact->pieces; i++) {
        most = fact->piece[i].amount > most->amount ? &fact->piece[i] : most;
    }
    return most;
}

/* Finds the largest item of the twin. Returns how far its amount in the real data is below the largest amount
 * there; 0: the same item is the largest. */
static double distance_of_largest(const struct gen_fit_fact *real, const struct gen_fit_fact *twin) {
    double amount = 0;
    for (size_t i = 0; i < real->pieces; i++) {
        amount = real->piece[i].key == largest(twin)->key ? real->piece[i].amount : amount;
    }
    return largest(real)->amount - amount;
}

static bool has_loop(const struct gen_fit_fact *fact, double turns) {
    bool found = false;
    for (size_t i = 0; i < fact->pieces; i++) {
        found = found || fact->piece[i].amount == turns;
    }
    return found;
}

/* The main loop of a log is a guess, which may differ between two logs of one program. If the main loop of one log
 * is also a loop of the other log, both values become the number of turns of this loop. */
static void meet_loops(const struct gen_fit_fact *const side[2], double value[2]) {
    for (size_t i = 0; i < 2; i++) {
        if (has_loop(side[1 - i], value[i])) {
            value[1 - i] = value[i];
        }
    }
}

static struct gen_fit_row judge(struct gen_fit_row row) {
    row.verdict = row.distance <= row.allowed ? GEN_FIT_ALIKE : GEN_FIT_DIFFERENT;
    return row;
}

static struct gen_fit_row row_of(const struct gen_fit_fact *real, const struct gen_fit_fact *twin) {
    struct gen_fit_row row = {.real = real, .twin = twin, .value = {NAN, NAN}, .distance = NAN, .allowed = NAN};
    const struct gen_fit_fact *const side[] = {real, twin};
    struct gen_fit_sketch whole[2];
    for (size_t i = 0; i < 2; i++) {
        if (side[i] != NULL && side[i]->kind == GEN_FIT_MARGINAL) {
            whole[i] = whole_of(side[i]);
            row.value[i] = gen_fit_sketch_quantile(&whole[i], 0.5);
        } else if (side[i] != NULL) {
            row.value[i] = side[i]->value;
        }
    }
    if (real == NULL || twin == NULL) {
        return row;
    }
    row.allowed = real->allowed;
    switch (real->kind) {
    case GEN_FIT_RATIO:
        row.distance = real->value != 0 ? fabs(twin->value / real->value - 1) : twin->value != 0;
        return judge(row);
    case GEN_FIT_AMOUNT:
        row.distance = fabs(twin->value - real->value);
        return judge(row);
    case GEN_FIT_MIX:
        row.distance = distance_of_mixes(side);
        return judge(row);
    case GEN_FIT_LARGEST:
        row.value[0] = (double)largest(real)->key;
        row.value[1] = (double)largest(twin)->key;
        row.distance = distance_of_largest(real, twin);
        return judge(row);
    case GEN_FIT_MATRIX:
        row.distance = distance_of_matrices(side);
        return judge(row);
    case GEN_FIT_NEST:
        meet_loops(side, row.value);
        row.distance = fabs(row.value[1] - row.value[0]);
        return judge(row);
    default:
        break;
    }
    double chance;
    if (real->kind == GEN_FIT_FACTOR) {
        const double n[] = {real->value * real->samples + 1, twin->value * twin->samples + 1};
        row.distance = fabs(gen_fit_ln(n[0] / real->samples * (twin->samples / n[1])));
        row.allowed = gen_fit_ln(2);
        chance = fmin(MOST_CHANCE, sqrt(1 / n[0] + 1 / n[1])); /* Poisson error of the ratio of two counts */
    } else if (real->kind == GEN_FIT_MARGINAL && few(whole[0].count, whole[1].count)) {
        row.distance = gen_fit_sketch_distance(&whole[0], &whole[1]);
        row.allowed = chance = 1;
    } else if (real->kind == GEN_FIT_MARGINAL) {
        row.distance = gen_fit_sketch_distance(&whole[0], &whole[1]);
        row.allowed = 0.05;
        chance = real->half[0]->count > 0 && real->half[1]->count > 0
                     ? gen_fit_sketch_distance(real->half[0], real->half[1])
                     : 0;
    } else {
        row.distance = fabs(real->value - twin->value);
        row.allowed = real->kind == GEN_FIT_CORRELATION ? 0.1 : 0.05;
        chance = real->kind == GEN_FIT_CORRELATION ? sqrt(variance_of(real) + variance_of(twin))
                                                   : fabs(real->part[0] - real->part[1]);
    }
    row.allowed = fmax(row.allowed, 2 * chance); /* fmax ignores `chance` if it is NaN, that is, unknown */
    row.verdict = row.distance > row.allowed ? GEN_FIT_DIFFERENT
                  : row.allowed < 1          ? GEN_FIT_ALIKE
                                             : GEN_FIT_UNKNOWN;
    return row;
}

static const struct gen_fit_fact *find(const struct gen_fit_facts *facts, const struct gen_fit_fact *like) {
    for (size_t i = 0; i < facts->count; i++) {
        const struct gen_fit_fact *f = &facts->item[i];
        if (strcmp(f->format, like->format) == 0 && strcmp(f->name, like->name) == 0) {
            return f;
        }
    }
    return NULL;
}

size_t gen_fit_compare(const struct gen_fit_facts *real, const struct gen_fit_facts *twin,
                       struct gen_fit_row *row) {
    size_t count = 0;
    for (size_t i = 0; i < real->count; i++) {
        row[count++] = row_of(&real->item[i], find(twin, &real->item[i]));
    }
    for (size_t i = 0; i < twin->count; i++) {
        if (find(real, &twin->item[i]) == NULL) {
            row[count++] = row_of(NULL, &twin->item[i]);
        }
    }
    return count;
}

const char *gen_fit_verdict_name(enum gen_fit_verdict verdict) {
    static const char *const name[] = {
        [GEN_FIT_DIFFERENT] = "different", [GEN_FIT_ALIKE] = "alike", [GEN_FIT_UNKNOWN] = "unknown"};
    return name[verdict];
}

/* ---- page ---- */

static enum ui_page_unit unit_of(const struct gen_fit_fact *fact) {
    return strcmp(fact->unit, "s") == 0       ? UI_PAGE_SECONDS
           : strcmp(fact->unit, "bytes") == 0 ? UI_PAGE_BYTES
                                              : UI_PAGE_PLAIN;
}

static const struct gen_fit_fact *fact_of(const struct gen_fit_row *row) {
    return row->real != NULL ? row->real : row->twin;
}

static void row_id(size_t i, char id[32]) {
    (void)snprintf(id, 32, "row-%zu", i);
}

static size_t count_verdict(const struct gen_fit_row *row, size_t count, enum gen_fit_verdict verdict) {
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        n += row[i].verdict == verdict;
    }
    return n;
}

/* Returns the distance divided by the allowed distance; infinity if only one side has the statistic. */
static double excess_of(const struct gen_fit_row *row) {
    return row->verdict != GEN_FIT_DIFFERENT ? 0 : row->allowed > 0 ? row->distance / row->allowed : INFINITY;
}

enum { MOST_NAMED = 5 }; /* number of differing facts that the text names; the table below it has all facts */

static void put_answer(struct ui_page *page, const struct gen_fit_row *row, size_t count) {
    const size_t unknown = count_verdict(row, count, GEN_FIT_UNKNOWN);
    ui_page_finding(page);
    ui_page_text(page, "%zu of %zu statistics are alike", count_verdict(row, count, GEN_FIT_ALIKE), count);
    if (unknown > 0) {
        ui_page_text(page, ", %zu cannot be told from so few values", unknown);
    }
    ui_page_text(page, ".");
    ui_page_end(page);
    size_t place[MOST_NAMED];
    size_t n = 0;
    for (; n < MOST_NAMED; n++) {
        size_t most = count;
        for (size_t i = 0; i < count; i++) {
            bool listed = false;
            for (size_t k = 0; k < n; k++) {
                listed = listed || place[k] == i;
            }
            if (!listed && row[i].verdict == GEN_FIT_DIFFERENT &&
                (most == count || excess_of(&row[i]) > excess_of(&row[most]))) {
                most = i;
            }
        }
        if (most == count) {
            break;
        }
        place[n] = most;
    }
    for (size_t k = 0; k < n; k++) {
        const struct gen_fit_row *r = &row[place[k]];
        char id[32];
        row_id(place[k], id);
        ui_page_finding(page);
        ui_page_text(page, "Different: %s, ", fact_of(r)->format);
        ui_page_link(page, id, fact_of(r)->name);
        if (r->real == NULL || r->twin == NULL) {
            ui_page_text(page, " is only in the %s data", r->twin == NULL ? "first" : "second");
        } else {
            ui_page_text(page, ": distance ");
            ui_page_number(page, UI_PAGE_PLAIN, r->distance);
            ui_page_text(page, ", allowed ");
            ui_page_number(page, UI_PAGE_PLAIN, r->allowed);
        }
        ui_page_text(page, ".");
        ui_page_end(page);
    }
}

static void put_how(struct ui_page *page) {
    static const char *const item[] = {
        "Distributions: the largest difference of the shares of values below any value (Kolmogorov and "
        "Smirnov).",
        "5 % are allowed there, or twice what the halves of the real data differ by.",
        "Correlations and shares: the difference. A correlation may differ by 0.1, a share by 0.05, both by "
        "twice chance.",
        "Counts: the logarithm of their ratio. A factor of 2 is allowed, or twice what chance makes of small "
        "counts.",
        "Ratios: the relative difference. Amounts: the difference. Each has its own allowance.",
        "Mixes: half the sum of the differences of shares. Matrices: 1 less the correlation of their cells.",
        "Unknown: chance alone could make any distance of so few values.",
    };
    ui_page_heading(page, "How it was measured");
    ui_page_begin(page, UI_PAGE_LIST);
    for (size_t i = 0; i < sizeof item / sizeof item[0]; i++) {
        ui_page_begin(page, UI_PAGE_ITEM);
        ui_page_text(page, "%s", item[i]);
        ui_page_end(page);
    }
    ui_page_end(page);
}

static void put_table(struct ui_page *page, const struct gen_fit_row *row, size_t count) {
    static const char *const title[] = {"Format",   "Statistic", "Real",    "Twin",
                                        "Distance", "Allowed",   "Verdict", NULL};
    ui_page_table(page, "Medians of distributions, correlations and shares", UI_PAGE_READ, false);
    ui_page_columns(page, title);
    unsigned charts = 0;
    for (size_t i = 0; i < count; i++) {
        const struct gen_fit_fact *f = fact_of(&row[i]);
        const enum ui_page_unit unit = f->kind == GEN_FIT_MARGINAL ? unit_of(f) : UI_PAGE_PLAIN;
        char id[32];
        row_id(i, id);
        ui_page_row(page, id, false);
        ui_page_text_cell(page, "%s", f->format);
        ui_page_cell(page);
        if (f->kind == GEN_FIT_MARGINAL) { /* a marginal has a chart further down the page */
            (void)snprintf(id, sizeof id, "chart-%u", ++charts);
            ui_page_link(page, id, f->name);
        } else {
            ui_page_text(page, "%s", f->name);
        }
        ui_page_end(page);
        ui_page_number_cell(page, unit, row[i].value[0]);
        ui_page_number_cell(page, unit, row[i].value[1]);
        ui_page_number_cell(page, UI_PAGE_PLAIN, row[i].distance);
        ui_page_number_cell(page, UI_PAGE_PLAIN, row[i].allowed);
        ui_page_text_cell(page, "%s", gen_fit_verdict_name(row[i].verdict));
        ui_page_end(page);
    }
    ui_page_end(page);
}

enum { POINTS = 99 };

/* Computes points of the cumulative distribution: value and share of the values up to it. A constant is one
 * point. */
static size_t curve(const struct gen_fit_fact *fact, struct ui_page_point point[POINTS]) {
    const struct gen_fit_sketch whole = whole_of(fact);
    size_t count = 0;
    for (int i = 1; i <= POINTS; i++) {
        const double share = (double)i / (POINTS + 1);
        const double value = gen_fit_sketch_quantile(&whole, share);
        if (value > 0) { /* the axis is logarithmic */
            point[count++] = (struct ui_page_point){.x = value, .y = share, .low = NAN, .high = NAN};
        }
    }
    return count;
}

static void put_chart(struct ui_page *page, const struct gen_fit_row *row) {
    static const char *const name[] = {"real", "twin"};
    const struct gen_fit_fact *const side[] = {row->real, row->twin};
    struct ui_page_point point[2][POINTS];
    struct ui_page_series series[2];
    size_t count = 0;
    for (size_t i = 0; i < 2; i++) {
        if (side[i] != NULL) {
            series[count] = (struct ui_page_series){
                .name = name[i], .colour = (unsigned)i, .line = true, .dashed = i == 1, .point = point[i]};
            series[count++].points = curve(side[i], point[i]);
        }
    }
    const struct gen_fit_fact *f = side[0] != NULL ? side[0] : side[1];
    ui_page_xy(page, &(struct ui_page_xy){.title = f->name,
                                          .caption = "Share of the values below, by percentiles.",
                                          .origin = UI_PAGE_READ,
                                          .x = {.label = f->name, .unit = unit_of(f), .log = true},
                                          .y = {.label = "share", .unit = UI_PAGE_SHARE},
                                          .series = series,
                                          .count = count});
}

hpcw_status gen_fit_compare_page(hpcw_sink *sink, const char *const name[2], const char *lacks,
                                 const struct gen_fit_row *row, size_t count, hpcw_error *err) {
    struct ui_page *page;
    hpcw_status s = ui_page_open_sink(sink, "Real data and twin", &page, err);
    if (s != HPCW_OK) {
        return s;
    }
    ui_page_about(page);
    ui_page_begin(page, UI_PAGE_PARAGRAPH);
    ui_page_text(page,
                 "Real data, %s, and a data set that should be like them, %s. Each statistic is compared.",
                 name[0], name[1]);
    ui_page_end(page);
    if (lacks != NULL) {
        ui_page_begin(page, UI_PAGE_PARAGRAPH);
        ui_page_text(page, "A partial twin: %s", lacks);
        ui_page_end(page);
    }
    ui_page_end(page);
    put_answer(page, row, count);
    ui_page_heading(page, "How alike they are");
    put_table(page, row, count);
    ui_page_heading(page, "Distributions");
    for (size_t i = 0; i < count; i++) {
        const struct gen_fit_fact *f = fact_of(&row[i]);
        if (f->kind == GEN_FIT_MARGINAL) {
            put_chart(page, &row[i]);
        }
    }
    put_how(page);
    s = ui_page_finish(page, err);
    ui_page_free(page);
    return s;
}
