/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/kernels/report.h"

#include <string.h>

#include <hpcw/version.h>

#include "bench/measure/stats.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "ui/cli/text.h"

#define POLICY "none: data are in the page cache when a run ends"

static double seconds(const struct bench_samples *samples, struct bench_time t, size_t run) {
    if (t.side == 0) {
        return 0;
    }
    const struct bench_sample *s = &samples->sample[t.side - 1][run];
    return (double)(t.phase == 0 ? s->total_ns : s->phase_ns[t.phase - 1]) * 1e-9;
}

static double peak(const struct bench_samples *samples, struct bench_time t, size_t run) {
    return t.side == 0 ? 0 : (double)samples->sample[t.side - 1][run].peak_bytes;
}

static double size(const struct bench_samples *samples, struct bench_time t, size_t run) {
    return t.side == 0 ? 1 : (double)samples->sample[t.side - 1][run].size_bytes;
}

/* Returns the figure of repetition `run`. */
static double figure_of(const struct bench_figure *f, const struct bench_samples *samples,
                        const struct bench_amount *amount, size_t run) {
    double of = seconds(samples, f->of, run) - seconds(samples, f->less, run);
    switch (f->kind) {
    case BENCH_RATIO:
        return of / (seconds(samples, f->against, run) - seconds(samples, f->against_less, run));
    case BENCH_PER_ITEM:
        return of * 1e9 / (double)amount->items;
    case BENCH_CPU:
        return (double)samples->sample[f->of.side - 1][run].cpu_ns[f->of.phase - 1] / (double)amount->items;
    case BENCH_MEMORY:
        return peak(samples, f->of, run) - peak(samples, f->less, run);
    case BENCH_SIZES:
        return size(samples, f->of, run) / size(samples, f->against, run);
    case BENCH_RATE:
        return (double)amount->bytes / of;
    default:
        return of;
    }
}

/* Computes statistics of a figure over all repetitions. Does nothing if *s is a failure; otherwise sets it. */
static struct bench_stats stats_of(const struct bench_result *r, const struct bench_figure *f, hpcw_status *s,
                                   hpcw_error *err) {
    struct bench_stats stats = {0};
    double *x = *s == HPCW_OK ? hpcw_i_malloc(r->samples.runs * sizeof *x) : NULL;
    if (*s == HPCW_OK && x == NULL) {
        *s = hpcw_i_fail_memory(err, NULL, 0, "a report");
    }
    for (size_t i = 0; *s == HPCW_OK && i < r->samples.runs; i++) {
        x[i] = figure_of(f, &r->samples, &r->amount, i);
    }
    if (*s == HPCW_OK) {
        *s = bench_stats_of(x, r->samples.runs, 0.95, &stats, err);
    }
    hpcw_i_free(x);
    return stats;
}

/* Computes statistics of the time, memory or output size of a side. side, phase: numbers from 1; phase 0: all
 * timed phases. */
static struct bench_stats side_stats(const struct bench_result *r, enum bench_figure_kind kind, size_t side,
                                     size_t phase, hpcw_status *s, hpcw_error *err) {
    struct bench_figure f = {.kind = kind, .of = {(unsigned)side, (unsigned)phase}};
    return stats_of(r, &f, s, err);
}

static bool more_is_better(const struct bench_figure *f) {
    return f->kind == BENCH_RATE;
}

/* Returns "ok", "over", "under" or "in spread"; "" if there is no target. */
static const char *verdict(const struct bench_result *r, const struct bench_figure *f, double median) {
    if (f->reach == 0) {
        return "";
    }
    if (more_is_better(f)) {
        return median >= f->reach ? "ok" : "under";
    }
    if (median <= f->reach) {
        return "ok";
    }
    hpcw_status s = HPCW_OK;
    struct bench_stats of = side_stats(r, BENCH_SECONDS, f->of.side, 0, &s, NULL);
    struct bench_stats against = side_stats(r, BENCH_SECONDS, f->against.side, 0, &s, NULL);
    return f->or_spread && s == HPCW_OK && of.median <= against.q75 ? "in spread" : "over";
}

static size_t disturbed(const struct bench_result *r) {
    size_t n = 0;
    for (size_t i = 0; i < r->kernel->subject.sides; i++) {
        for (size_t k = 0; k < r->samples.runs; k++) {
            n += r->samples.sample[i][k].others > BENCH_NOISE;
        }
    }
    return n;
}

static char *figure_text(char text[UI_TEXT_SIZE], enum bench_figure_kind kind, double v) {
    switch (kind) {
    case BENCH_RATIO:
    case BENCH_SIZES:
        (void)snprintf(text, UI_TEXT_SIZE, "%.3f", v);
        return text;
    case BENCH_PER_ITEM:
    case BENCH_CPU:
        (void)snprintf(text, UI_TEXT_SIZE, "%.2f ns", v);
        return text;
    case BENCH_MEMORY:
        return ui_text_bytes_binary(text, v < 0 ? 0 : (uint64_t)v);
    case BENCH_RATE:
        return ui_text_rate(text, v);
    default:
        /* A difference of two times can be negative. */
        text[0] = '-';
        (void)ui_text_duration(text + (v < 0), v < 0 ? -v : v);
        return text;
    }
}

hpcw_status bench_report_head(FILE *stream, const struct bench_site *run, hpcw_error *err) {
    const struct bench_machine *m = &run->machine;
    char memory[UI_TEXT_SIZE], block[UI_TEXT_SIZE];
    struct ui_table t = {0};
    ui_table_column(&t, NULL, UI_LEFT);
    ui_table_column(&t, NULL, UI_LEFT);
    ui_table_cell(&t, "hpcw");
    ui_table_cell(&t, "%s, %s, %s", hpcw_version(), m->compiler, m->build);
    ui_table_cell(&t, "machine");
    ui_table_cell(&t, "%s, %u processor%s, %s, %s", m->processor, m->processors, m->processors == 1 ? "" : "s",
                  ui_text_bytes_binary(memory, m->memory), m->system);
    ui_table_cell(&t, "file system");
    ui_table_cell(&t, "%s, blocks of %s", m->file_system, ui_text_size(block, m->block_size));
    ui_table_cell(&t, "processes");
    ui_table_cell(&t, "%d%s%s", run->processes->count, run->processes->library[0] == '\0' ? "" : ", ",
                  run->processes->library);
    ui_table_cell(&t, "durability");
    ui_table_cell(&t, "%s", POLICY);
    ui_table_cell(&t, "runs");
    ui_table_cell(&t, "%zu of each side%s%s", run->repeat, run->warm ? ", memory touched before each" : "",
                  run->scale < 1 ? ", REDUCED SIZE" : "");
    hpcw_status s = ui_table_print(&t, stream, 0, err);
    ui_table_free(&t);
    return s;
}

static hpcw_status print_sides(FILE *stream, const struct bench_result *r, hpcw_error *err) {
    struct ui_table t = {0};
    static const char *const title[] = {"side", "median", "min", "max", "rate", "memory"};
    for (size_t i = 0; i < sizeof title / sizeof title[0]; i++) {
        ui_table_column(&t, title[i], i == 0 ? UI_LEFT : UI_RIGHT);
    }
    bool sized = false;
    for (size_t i = 0; i < r->kernel->subject.sides; i++) {
        sized = sized || r->kernel->subject.side[i].size != NULL;
    }
    if (sized) {
        ui_table_column(&t, "bytes", UI_RIGHT);
    }
    for (size_t k = 0; k < BENCH_PHASES; k++) {
        ui_table_column(&t, k == 0 ? "phases" : "", UI_LEFT);
    }
    ui_table_column(&t, "what", UI_LEFT);
    hpcw_status s = HPCW_OK;
    for (size_t i = 0; i < r->kernel->subject.sides; i++) {
        const struct bench_side *side = &r->kernel->subject.side[i];
        char text[3][UI_TEXT_SIZE];
        struct bench_stats total = side_stats(r, BENCH_SECONDS, i + 1, 0, &s, err);
        struct bench_stats peak = side_stats(r, BENCH_MEMORY, i + 1, 0, &s, err);
        struct bench_stats size = side_stats(r, BENCH_SIZES, i + 1, 0, &s, err);
        ui_table_cell(&t, "%s", side->name);
        ui_table_cell(&t, "%s", ui_text_duration(text[0], total.median));
        ui_table_cell(&t, "%s", ui_text_duration(text[1], total.min));
        ui_table_cell(&t, "%s", ui_text_duration(text[2], total.max));
        ui_table_cell(&t, "%s",
                      r->amount.bytes == 0 || total.median == 0
                          ? ""
                          : ui_text_rate(text[0], (double)r->amount.bytes / total.median));
        ui_table_cell(&t, "%s", ui_text_bytes_binary(text[1], (uint64_t)peak.max));
        if (sized) {
            char bytes[UI_TEXT_SIZE] = "";
            if (side->size != NULL) {
                (void)snprintf(bytes, sizeof bytes, "%.0f", size.median);
            }
            ui_table_cell(&t, "%s", bytes);
        }
        for (size_t k = 0; k < BENCH_PHASES; k++) {
            if (side->phase[k].name == NULL || side->phase[k].untimed) {
                ui_table_cell(&t, "%s", "");
            } else {
                struct bench_stats phase = side_stats(r, BENCH_SECONDS, i + 1, k + 1, &s, err);
                ui_table_cell(&t, "%s %s", side->phase[k].name, ui_text_duration(text[2], phase.median));
            }
        }
        ui_table_cell(&t, "%s", side->what);
    }
    if (s == HPCW_OK) {
        s = ui_table_print(&t, stream, 2, err);
    }
    ui_table_free(&t);
    return s;
}

static hpcw_status print_figures(FILE *stream, const struct bench_result *r, hpcw_error *err) {
    struct ui_table t = {0};
    static const char *const title[] = {"figure, by repetition", "median", "min", "max", "expected", ""};
    for (size_t i = 0; i < sizeof title / sizeof title[0]; i++) {
        ui_table_column(&t, title[i], i == 0 || i == 5 ? UI_LEFT : UI_RIGHT);
    }
    hpcw_status s = HPCW_OK;
    for (size_t i = 0; i < r->kernel->figures; i++) {
        const struct bench_figure *f = &r->kernel->figure[i];
        struct bench_stats x = stats_of(r, f, &s, err);
        char text[4][UI_TEXT_SIZE];
        ui_table_cell(&t, "%s", f->name);
        ui_table_cell(&t, "%s", figure_text(text[0], f->kind, x.median));
        ui_table_cell(&t, "%s", figure_text(text[1], f->kind, x.min));
        ui_table_cell(&t, "%s", figure_text(text[2], f->kind, x.max));
        ui_table_cell(&t, "%s%s",
                      f->reach == 0       ? ""
                      : more_is_better(f) ? ">= "
                                          : "<= ",
                      f->reach == 0 ? "" : figure_text(text[3], f->kind, f->reach));
        ui_table_cell(&t, "%s", verdict(r, f, x.median));
    }
    if (s == HPCW_OK) {
        s = ui_table_print(&t, stream, 2, err);
    }
    ui_table_free(&t);
    return s;
}

hpcw_status bench_report_result(FILE *stream, const struct bench_result *r, hpcw_error *err) {
    (void)fprintf(stream, "\n%s: %s\n", r->kernel->name, r->kernel->what);
    if (r->skipped[0] != '\0') {
        (void)fprintf(stream, "  skipped: %s\n", r->skipped);
        return HPCW_OK;
    }
    hpcw_status s = print_sides(stream, r, err);
    if (s == HPCW_OK && r->kernel->figures > 0) {
        s = print_figures(stream, r, err);
    }
    size_t n = disturbed(r);
    if (s == HPCW_OK && n > 0) {
        (void)fprintf(stream,
                      "  %zu of %zu runs were disturbed: others used more than %.0f %% of a processor\n", n,
                      r->samples.runs * r->kernel->subject.sides, 100 * BENCH_NOISE);
    }
    return s;
}
