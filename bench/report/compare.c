/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/report/compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure/json.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "ui/cli/text.h"

/* ---- Pairs ---- */

static bool comparable(const struct bench_point *a, const struct bench_point *b) {
    return b != NULL && a->fate == BENCH_MEASURED && b->fate == BENCH_MEASURED && a->trials > 0 &&
           b->trials > 0 && a->mode == b->mode;
}

static void rates_of(const struct bench_point *p, double *rate) {
    for (size_t i = 0; i < p->trials; i++) {
        rate[i] = bench_results_rate_of(p, &p->trial[i], p->mode != BENCH_BUFFERED);
    }
}

static hpcw_status compare_pair(struct bench_pair *pair, hpcw_error *err) {
    const struct bench_point *a = pair->a;
    const struct bench_point *b = pair->b;
    double *x = hpcw_i_calloc(a->trials + b->trials, sizeof *x);
    if (x == NULL) {
        return hpcw_i_fail_memory(err, a->id, a->trials + b->trials, "rates");
    }
    double *y = x + a->trials;
    rates_of(a, x);
    rates_of(b, y);
    hpcw_status s = bench_stats_mann_whitney(x, a->trials, y, b->trials, &pair->p, err);
    hpcw_i_free(x);
    pair->median_a = a->mode == BENCH_BUFFERED ? a->cached.stats.median : a->durable.stats.median;
    pair->median_b = b->mode == BENCH_BUFFERED ? b->cached.stats.median : b->durable.stats.median;
    pair->change = pair->median_a > 0 ? pair->median_b / pair->median_a - 1 : 0;
    pair->other_size = a->bytes != b->bytes || a->ranks != b->ranks || a->record_size != b->record_size ||
                       a->files != b->files;
    return s;
}

static hpcw_status correct(struct bench_comparison *c, hpcw_error *err) {
    double *p = hpcw_i_calloc(c->pairs + 1, sizeof *p);
    if (p == NULL) {
        return hpcw_i_fail_memory(err, NULL, c->pairs, "comparisons");
    }
    c->least = 1;
    for (size_t i = 0; i < c->pairs; i++) {
        double least = bench_stats_mann_whitney_least(c->pair[i].a->trials, c->pair[i].b->trials);
        c->least = least < c->least ? least : c->least;
        p[i] = c->pair[i].p;
    }
    c->least = fmin(1, c->least * (double)c->pairs);
    hpcw_status s = bench_stats_holm(p, c->pairs, err);
    for (size_t i = 0; i < c->pairs; i++) {
        c->pair[i].corrected = p[i];
    }
    hpcw_i_free(p);
    return s;
}

hpcw_status bench_compare(const struct bench_results *a, const struct bench_results *b,
                          struct bench_comparison *c, hpcw_error *err) {
    *c = (struct bench_comparison){.pair = hpcw_i_calloc(a->points + 1, sizeof *c->pair)};
    if (c->pair == NULL) {
        return hpcw_i_fail_memory(err, NULL, a->points, "comparisons");
    }
    hpcw_status s = HPCW_OK;
    for (size_t i = 0; s == HPCW_OK && i < a->points; i++) {
        const struct bench_point *other = bench_results_find(b, a->point[i].id);
        if (comparable(&a->point[i], other)) {
            struct bench_pair *pair = &c->pair[c->pairs++];
            pair->a = &a->point[i];
            pair->b = other;
            s = compare_pair(pair, err);
        }
    }
    return s == HPCW_OK ? correct(c, err) : s;
}

void bench_comparison_free(struct bench_comparison *c) {
    hpcw_i_free(c->pair);
    *c = (struct bench_comparison){0};
}

const char *bench_pair_verdict(const struct bench_pair *pair) {
    return pair->corrected > BENCH_COMPARE_LEVEL ? "no difference shown"
           : pair->change > 0                    ? "faster"
                                                 : "slower";
}

/* ---- Differences between the machines ---- */

struct difference {
    const char *what;
    char a[160], b[160];
};

struct differences {
    struct difference at[9];
    size_t count;
};

static void differ(struct differences *d, const char *what, const char *a, const char *b) {
    if (strcmp(a, b) != 0) {
        struct difference *to = &d->at[d->count++];
        to->what = what;
        (void)snprintf(to->a, sizeof to->a, "%s", a);
        (void)snprintf(to->b, sizeof to->b, "%s", b);
    }
}

static void differ_in_number(struct differences *d, const char *what, uint64_t a, uint64_t b) {
    char text[2][32];
    (void)snprintf(text[0], sizeof text[0], "%" PRIu64, a);
    (void)snprintf(text[1], sizeof text[1], "%" PRIu64, b);
    differ(d, what, text[0], text[1]);
}

static struct differences differences_of(const struct bench_results *a, const struct bench_results *b) {
    struct differences d = {.count = 0};
    differ(&d, "processor", a->machine.processor, b->machine.processor);
    differ_in_number(&d, "processors", a->machine.processors, b->machine.processors);
    differ(&d, "system", a->machine.system, b->machine.system);
    differ(&d, "file system", a->fs.type, b->fs.type);
    differ_in_number(&d, "file system block", a->fs.block_size, b->fs.block_size);
    differ_in_number(&d, "processes", (uint64_t)a->processes, (uint64_t)b->processes);
    differ(&d, "MPI", a->mpi[0] == '\0' ? "none" : a->mpi, b->mpi[0] == '\0' ? "none" : b->mpi);
    differ(&d, "compiler", a->machine.compiler, b->machine.compiler);
    differ(&d, "version of hpcw", a->version, b->version);
    return d;
}

/* Why a point has no pair; NULL if it has one. */
static const char *alone(const struct bench_point *p, const struct bench_results *other) {
    const struct bench_point *q = bench_results_find(other, p->id);
    return q == NULL                                     ? "only in this file"
           : comparable(p, q)                            ? NULL
           : p->mode != q->mode                          ? "another mode in the other file"
           : p->fate != BENCH_MEASURED || p->trials == 0 ? "not measured"
                                                         : "not measured in the other file";
}

/* ---- Text ---- */

/* Points that only one of them measured. */
static void print_alone(const char *path, const struct bench_results *r, const struct bench_results *other) {
    for (size_t i = 0; i < r->points; i++) {
        const char *why = alone(&r->point[i], other);
        if (why != NULL && r->point[i].fate == BENCH_MEASURED) {
            (void)printf("%s: %s: %s\n", path, r->point[i].id, why);
        }
    }
}

static hpcw_status print_pairs(const struct bench_comparison *c, hpcw_error *err) {
    static const char *const title[] = {"point", "first", "second", "change", "p", "corrected", "second is"};
    struct ui_table t = {0};
    for (size_t i = 0; i < sizeof title / sizeof title[0]; i++) {
        ui_table_column(&t, title[i], i == 0 || i == 6 ? UI_LEFT : UI_RIGHT);
    }
    for (size_t i = 0; i < c->pairs; i++) {
        const struct bench_pair *p = &c->pair[i];
        char text[UI_TEXT_SIZE];
        ui_table_cell(&t, "%s", p->a->id);
        ui_table_cell(&t, "%s", ui_text_rate(text, p->median_a));
        ui_table_cell(&t, "%s", ui_text_rate(text, p->median_b));
        ui_table_cell(&t, "%+.1f %%", 100 * p->change);
        ui_table_cell(&t, "%.4f", p->p);
        ui_table_cell(&t, "%.4f", p->corrected);
        ui_table_cell(&t, "%s%s%s", bench_pair_verdict(p), p->other_size ? ", of other size" : "",
                      p->a->noisy || p->b->noisy ? ", noisy" : "");
    }
    hpcw_status s = ui_table_print(&t, stdout, 0, err);
    ui_table_free(&t);
    return s;
}

static hpcw_status print_all(const char *const path[2], const struct bench_results r[2],
                             const struct bench_comparison *c, hpcw_error *err) {
    const struct differences d = differences_of(&r[0], &r[1]);
    for (size_t i = 0; i < d.count; i++) {
        (void)printf("other %s: %s, %s\n", d.at[i].what, d.at[i].a, d.at[i].b);
    }
    print_alone(path[0], &r[0], &r[1]);
    print_alone(path[1], &r[1], &r[0]);
    hpcw_status s = c->pairs == 0 ? HPCW_OK : print_pairs(c, err);
    if (c->pairs == 0) {
        (void)printf("no point was measured in both sweeps\n");
    } else if (c->least > BENCH_COMPARE_LEVEL) {
        (void)printf(
            "\nthis few repetitions cannot show a difference over %zu points: measure fewer points, or more "
            "often (--repeat)\n",
            c->pairs);
    }
    return s;
}

/* ---- JSON ---- */

static void put_alone(struct hpcw_i_json *j, const char *key, const struct bench_results *r,
                      const struct bench_results *other) {
    hpcw_i_json_key_array(j, key);
    for (size_t i = 0; i < r->points; i++) {
        const char *why = alone(&r->point[i], other);
        if (why != NULL) {
            hpcw_i_json_flat_object(j);
            hpcw_i_json_put_str(j, "id", r->point[i].id);
            hpcw_i_json_put_str(j, "why", why);
            hpcw_i_json_end_object(j);
        }
    }
    hpcw_i_json_end_array(j);
}

static void put_all(struct hpcw_i_json *j, const struct bench_results r[2], const struct bench_comparison *c) {
    const struct differences d = differences_of(&r[0], &r[1]);
    hpcw_i_json_put_str(j, "format", "hpcw-bench compare");
    hpcw_i_json_put_u64(j, "version", 1);
    hpcw_i_json_put_f64(j, "level", BENCH_COMPARE_LEVEL);
    hpcw_i_json_put_f64(j, "least_corrected_p", c->least);
    hpcw_i_json_key_array(j, "differences");
    for (size_t i = 0; i < d.count; i++) {
        hpcw_i_json_flat_object(j);
        hpcw_i_json_put_str(j, "what", d.at[i].what);
        hpcw_i_json_put_str(j, "first", d.at[i].a);
        hpcw_i_json_put_str(j, "second", d.at[i].b);
        hpcw_i_json_end_object(j);
    }
    hpcw_i_json_end_array(j);
    hpcw_i_json_key_array(j, "points");
    for (size_t i = 0; i < c->pairs; i++) {
        const struct bench_pair *p = &c->pair[i];
        hpcw_i_json_flat_object(j);
        hpcw_i_json_put_str(j, "id", p->a->id);
        hpcw_i_json_put_str(j, "rate", p->a->mode == BENCH_BUFFERED ? "cached" : "durable");
        hpcw_i_json_put_f64(j, "first", p->median_a);
        hpcw_i_json_put_f64(j, "second", p->median_b);
        hpcw_i_json_put_f64(j, "change", p->change);
        hpcw_i_json_put_f64(j, "p", p->p);
        hpcw_i_json_put_f64(j, "corrected_p", p->corrected);
        hpcw_i_json_put_str(j, "verdict", bench_pair_verdict(p));
        hpcw_i_json_put_bool(j, "other_size", p->other_size);
        hpcw_i_json_put_bool(j, "noisy", p->a->noisy || p->b->noisy);
        hpcw_i_json_end_object(j);
    }
    hpcw_i_json_end_array(j);
    put_alone(j, "only_first", &r[0], &r[1]);
    put_alone(j, "only_second", &r[1], &r[0]);
}

static hpcw_status write_json(const struct bench_results r[2], const struct bench_comparison *c,
                              hpcw_error *err) {
    struct bench_json io;
    hpcw_status s = bench_json_create(&io, NULL, err);
    if (s == HPCW_OK) {
        put_all(&io.out, r, c);
    }
    return bench_json_close(&io, s, err);
}

hpcw_status bench_compare_command(const char *path_a, const char *path_b, bool json, bool quiet,
                                  hpcw_error *err) {
    const char *const path[2] = {path_a, path_b};
    struct bench_results *r = hpcw_i_calloc(2, sizeof *r);
    struct bench_comparison c = {0};
    hpcw_status s =
        r == NULL ? hpcw_i_fail_memory(err, NULL, 0, "results") : bench_results_read(&r[0], path_a, err);
    s = s == HPCW_OK ? bench_results_read(&r[1], path_b, err) : s;
    s = s == HPCW_OK ? bench_compare(&r[0], &r[1], &c, err) : s;
    s = s == HPCW_OK && json ? write_json(r, &c, err) : s;
    s = s == HPCW_OK && !json && !quiet ? print_all(path, r, &c, err) : s;
    bench_comparison_free(&c);
    for (int i = 0; r != NULL && i < 2; i++) {
        bench_results_free(&r[i]);
    }
    hpcw_i_free(r);
    return s;
}
