/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints a comparison as text and as JSON. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/measure/json.h"
#include "bench/report/compare.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "ui/cli/text.h"

/* ---- Differences between the machines ---- */

struct difference {
    const char *what;
    char a[160], b[160];
};

struct differences {
    struct difference at[11];
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
    differ_in_number(&d, "processes that write", a->writers, b->writers);
    if (a->points > 0 && b->points > 0) {
        differ_in_number(&d, "bytes of a rank", a->point[0].rank_size, b->point[0].rank_size);
    }
    differ(&d, "MPI", a->mpi[0] == '\0' ? "none" : a->mpi, b->mpi[0] == '\0' ? "none" : b->mpi);
    differ(&d, "compiler", a->machine.compiler, b->machine.compiler);
    differ(&d, "version of hpcw", a->version, b->version);
    return d;
}

/* ---- Text ---- */

static double rate_of(const struct bench_point *p) {
    return bench_compare_durable(p) ? p->durable.stats.median : p->cached.stats.median;
}

/* Prints the measured points that are not compared, with the reason. */
static void print_alone(const char *path, const struct bench_results *r, const struct bench_results *other) {
    for (size_t i = 0; i < r->points; i++) {
        const char *why = bench_compare_alone(r, &r->point[i], other);
        if (why != NULL && r->point[i].fate == BENCH_MEASURED) {
            char bytes[UI_TEXT_SIZE], time[UI_TEXT_SIZE], least[UI_TEXT_SIZE], shortest[UI_TEXT_SIZE];
            (void)printf("%s: %s: %s", path, r->point[i].id, why);
            if (strcmp(why, "too small") == 0) {
                (void)printf(": %s in %s, expected %s and %s", ui_text_bytes_binary(bytes, r->point[i].bytes),
                             ui_text_duration(time, r->point[i].seconds),
                             ui_text_bytes_binary(least, r->limits.least_bytes),
                             ui_text_duration(shortest, (double)r->limits.least_ns / 1e9));
            }
            (void)printf("\n");
        }
    }
}

/* few: there is no interval, because there are too few points. */
static void change_cells(struct ui_table *t, const struct bench_change *c, bool few, size_t runs) {
    ui_table_cell(t, "%+.1f %%", 100 * c->change);
    if (isfinite(c->low) && isfinite(c->high)) {
        ui_table_cell(t, "%+.1f %% to %+.1f %%", 100 * c->low, 100 * c->high);
    } else {
        ui_table_cell(t, "none: %s",
                      few                          ? "too few points"
                      : runs < BENCH_FEWEST_REPEAT ? "too few runs"
                                                   : "too noisy");
    }
    if (isfinite(c->seen)) {
        ui_table_cell(t, "%.0f %%", ceil(100 * c->seen));
    } else {
        ui_table_cell(t, "%s", "");
    }
}

/* Writes "faster relative to plain writes" or "no difference shown: plain writes changed, too". */
static void verdict_cell(struct ui_table *t, const struct bench_comparison *c,
                         const struct bench_change *change, const char *more) {
    const char *verdict = bench_layout_verdict(c, change);
    ui_table_cell(t, "%s%s%s", verdict,
                  strcmp(verdict, "no difference shown") != 0          ? " relative to plain writes"
                  : strcmp(verdict, bench_change_verdict(change)) != 0 ? ": plain writes changed, too"
                                                                       : "",
                  more);
}

static hpcw_status print_layouts(const struct bench_comparison *c, hpcw_error *err) {
    static const char *const title[] = {"layout", "points",   "first",     "second",
                                        "change", "interval", "seen from", "second is"};
    struct ui_table t = {0};
    for (size_t i = 0; i < sizeof title / sizeof title[0]; i++) {
        ui_table_column(&t, title[i], i == 0 || i == 7 ? UI_LEFT : UI_RIGHT);
    }
    for (size_t i = 0; i <= c->groups; i++) {
        const struct bench_change *change = i < c->groups ? &c->group[i].change : &c->plain;
        ui_table_cell(&t, "%s", i < c->groups ? bench_layout_name[c->group[i].layout] : "plain writes");
        ui_table_cell(&t, "%zu", i < c->groups ? c->group[i].points : c->pairs);
        if (i < c->groups) {
            ui_table_cell(&t, "%#.4g", c->group[i].first);
            ui_table_cell(&t, "%#.4g", c->group[i].second);
        } else {
            ui_table_cell(&t, "%.1f MB/s", c->plain_first / 1e6);
            ui_table_cell(&t, "%.1f MB/s", c->plain_second / 1e6);
        }
        change_cells(&t, change, i < c->groups && c->few, c->runs);
        if (i < c->groups) {
            verdict_cell(&t, c, change, "");
        } else {
            ui_table_cell(&t, "%s", bench_change_verdict(change));
        }
    }
    hpcw_status s = ui_table_print(&t, stdout, 0, err);
    ui_table_free(&t);
    return s;
}

static hpcw_status print_pairs(const struct bench_comparison *c, hpcw_error *err) {
    static const char *const title[] = {
        "point",           "first",    "of fast ceilings", "second",   "of fast ceilings",
        "change of ratio", "interval", "seen from",        "second is"};
    struct ui_table t = {0};
    for (size_t i = 0; i < sizeof title / sizeof title[0]; i++) {
        ui_table_column(&t, title[i], i == 0 || i == 8 ? UI_LEFT : UI_RIGHT);
    }
    for (size_t i = 0; i < c->pairs; i++) {
        const struct bench_pair *p = &c->pair[i];
        char text[UI_TEXT_SIZE];
        ui_table_cell(&t, "%s", p->a->id);
        ui_table_cell(&t, "%s", ui_text_rate(text, rate_of(p->a)));
        ui_table_cell(&t, "%#.4g", p->first);
        ui_table_cell(&t, "%s", ui_text_rate(text, rate_of(p->b)));
        ui_table_cell(&t, "%#.4g", p->second);
        change_cells(&t, &p->change, c->few, c->runs);
        const bool noisy = p->a->noisy || p->b->noisy;
        verdict_cell(&t, c, &p->change,
                     p->other_size ? (noisy ? ", of other size, noisy" : ", of other size")
                                   : (noisy ? ", noisy" : ""));
    }
    hpcw_status s = ui_table_print(&t, stdout, 0, err);
    ui_table_free(&t);
    return s;
}

static hpcw_status print_all(const char *const path[2], const struct bench_results r[2],
                             const struct bench_comparison *c, hpcw_error *err) {
    const struct differences d = differences_of(&r[0], &r[1]);
    for (size_t i = 0; i < 2; i++) {
        const struct bench_runs runs = bench_results_runs(&r[i]);
        if (r[i].stopped[0] != '\0') {
            (void)printf("%s: the sweep was %s, and this is of %zu of its %zu runs\n", path[i], r[i].stopped,
                         runs.made, runs.planned);
        }
    }
    for (size_t i = 0; i < d.count; i++) {
        (void)printf("other %s: %s, %s\n", d.at[i].what, d.at[i].a, d.at[i].b);
    }
    print_alone(path[0], &r[0], &r[1]);
    print_alone(path[1], &r[1], &r[0]);
    hpcw_status s = HPCW_OK;
    if (c->pairs > 0) {
        (void)printf(
            "Median rates, and the ratio to the fastest quarter of the ceilings, whose change decides:\n");
        s = print_pairs(c, err);
        (void)printf("\nRates of the ceilings, and the ratio of each layout, all points together:\n");
        s = s == HPCW_OK ? print_layouts(c, err) : s;
        (void)printf("\n");
    }
    (void)printf("%s\n", c->verdict);
    return s;
}

/* ---- JSON ---- */

static void put_alone(struct hpcw_i_json *j, const char *key, const struct bench_results *r,
                      const struct bench_results *other) {
    hpcw_i_json_key_array(j, key);
    for (size_t i = 0; i < r->points; i++) {
        const char *why = bench_compare_alone(r, &r->point[i], other);
        if (why != NULL) {
            hpcw_i_json_flat_object(j);
            hpcw_i_json_put_str(j, "id", r->point[i].id);
            hpcw_i_json_put_str(j, "why", why);
            hpcw_i_json_end_object(j);
        }
    }
    hpcw_i_json_end_array(j);
}

/* Writes null for an infinite value. */
static void put_share(struct hpcw_i_json *j, const char *key, double v) {
    hpcw_i_json_key(j, key);
    if (isfinite(v)) {
        hpcw_i_json_f64(j, v);
    } else {
        hpcw_i_json_null(j);
    }
}

static void put_change(struct hpcw_i_json *j, const struct bench_change *c, const char *verdict) {
    put_share(j, "change", c->change);
    put_share(j, "low", c->low);
    put_share(j, "high", c->high);
    put_share(j, "seen_from", c->seen);
    hpcw_i_json_put_str(j, "verdict", verdict);
}

static void put_all(struct hpcw_i_json *j, const struct bench_results r[2], const struct bench_comparison *c) {
    const struct differences d = differences_of(&r[0], &r[1]);
    hpcw_i_json_put_str(j, "format", "hpcw-bench compare");
    hpcw_i_json_put_u64(j, "version", 3);
    hpcw_i_json_put_f64(j, "level", BENCH_COMPARE_LEVEL);
    hpcw_i_json_put_f64(j, "least_change", BENCH_COMPARE_LEAST);
    hpcw_i_json_put_str(j, "verdict", c->verdict);
    hpcw_i_json_key_array(j, "differences");
    for (size_t i = 0; i < d.count; i++) {
        hpcw_i_json_flat_object(j);
        hpcw_i_json_put_str(j, "what", d.at[i].what);
        hpcw_i_json_put_str(j, "first", d.at[i].a);
        hpcw_i_json_put_str(j, "second", d.at[i].b);
        hpcw_i_json_end_object(j);
    }
    hpcw_i_json_end_array(j);
    hpcw_i_json_key_array(j, "layouts");
    for (size_t i = 0; i < c->groups; i++) {
        hpcw_i_json_flat_object(j);
        hpcw_i_json_put_str(j, "layout", bench_layout_name[c->group[i].layout]);
        hpcw_i_json_put_u64(j, "points", c->group[i].points);
        hpcw_i_json_put_f64(j, "first_ratio", c->group[i].first);
        hpcw_i_json_put_f64(j, "second_ratio", c->group[i].second);
        put_change(j, &c->group[i].change, bench_layout_verdict(c, &c->group[i].change));
        hpcw_i_json_end_object(j);
    }
    hpcw_i_json_end_array(j);
    hpcw_i_json_key(j, "plain_writes");
    hpcw_i_json_flat_object(j);
    put_share(j, "first", c->plain_first);
    put_share(j, "second", c->plain_second);
    put_change(j, &c->plain, bench_change_verdict(&c->plain));
    hpcw_i_json_end_object(j);
    hpcw_i_json_key_array(j, "points");
    for (size_t i = 0; i < c->pairs; i++) {
        const struct bench_pair *p = &c->pair[i];
        hpcw_i_json_flat_object(j);
        hpcw_i_json_put_str(j, "id", p->a->id);
        hpcw_i_json_put_str(j, "rate",
                            bench_fs_is_memory(&r[0].fs)  ? "to memory"
                            : bench_compare_durable(p->a) ? "durable"
                                                          : "cached");
        hpcw_i_json_put_f64(j, "first", rate_of(p->a));
        hpcw_i_json_put_f64(j, "first_ratio", p->first);
        hpcw_i_json_put_f64(j, "second", rate_of(p->b));
        hpcw_i_json_put_f64(j, "second_ratio", p->second);
        put_change(j, &p->change, bench_layout_verdict(c, &p->change));
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
    hpcw_status s = bench_json_create(&io, NULL, NULL, err);
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
    for (int i = 0; s == HPCW_OK && i < 2; i++) {
        if (r[i].metadatas > 0) {
            s = hpcw_i_fail(err, HPCW_ENOTSUP, "%s: expected the results of a sweep, got those of metadata",
                            path[i]);
        }
    }
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
