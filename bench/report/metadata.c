/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/report/metadata.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "ui/cli/text.h"

const char *const bench_operation_name[BENCH_OPERATIONS] = {
    [BENCH_CREATE] = "create",
    [BENCH_REOPEN] = "open",
    [BENCH_STAT] = "stat",
    [BENCH_UNLINK] = "unlink",
};

double bench_metadata_rate_of(const struct bench_metadata *m, const struct bench_metadata_trial *t,
                              enum bench_operation k) {
    return (double)m->tasks * 1e9 / (double)(t->ns[k] == 0 ? 1 : t->ns[k]);
}

hpcw_status bench_metadata_rate(struct bench_metadata *m, hpcw_error *err) {
    double *x = hpcw_i_malloc((m->trials + 1) * sizeof *x);
    memset(m->rate, 0, sizeof m->rate);
    hpcw_status s = x == NULL ? hpcw_i_fail_memory(err, NULL, m->trials, "rates") : HPCW_OK;
    for (enum bench_operation k = 0; s == HPCW_OK && k < BENCH_OPERATIONS && m->trials > 0; k++) {
        for (size_t i = 0; i < m->trials; i++) {
            x[i] = bench_metadata_rate_of(m, &m->trial[i], k);
        }
        m->rate[k].there = true;
        s = bench_stats_of(x, m->trials, 0.95, &m->rate[k].stats, err);
    }
    hpcw_i_free(x);
    return s;
}

/* Applies the rule for differences (bench_log_spread) to the rates of files and of a container. found[0]: files,
 * found[1]: container. */
static hpcw_status compare(const struct bench_metadata *files, size_t runs, enum bench_operation k,
                           struct bench_log found[2], hpcw_error *err) {
    double *x = hpcw_i_calloc(2 * runs, sizeof *x);
    if (x == NULL) {
        return hpcw_i_fail_memory(err, NULL, runs, "repetitions");
    }
    for (size_t i = 0; i < 2 * runs; i++) {
        const struct bench_metadata *m = &files[i / runs];
        x[i] = log(bench_metadata_rate_of(m, &m->trial[i % runs], k));
    }
    hpcw_status s = bench_log_spread(x, 2, runs, found, err);
    hpcw_i_free(x);
    return s;
}

/* Says a number with two significant digits: "0.62", "1.8", "2900". */
static void say_two_digits(struct bench_advice *a, double v) {
    char text[UI_TEXT_SIZE];
    (void)snprintf(text, sizeof text, "%.1e", v); /* rounds; 9.96 becomes 10 */
    v = strtod(text, NULL);
    const int digits = 1 - (int)floor(log10(v));
    bench_advice_say(a, "%.*f", digits > 0 ? digits : 0, v);
}

/* Says "created 53 times as fast (48 to 59)", or only the range if no difference is shown. The factor comes
 * from the means of bench_log, as the range does; the ratio of the medians could lie outside the range. Returns
 * true if the range is too wide to show a difference. */
static bool say_factor(struct bench_advice *a, const char *done, const struct bench_log log[2]) {
    const double low = exp(-bench_log_most(&log[0], &log[1])), high = exp(bench_log_most(&log[1], &log[0]));
    const bool shown = bench_log_differ(&log[1], &log[0]) != 0;
    const bool noisy = !shown && bench_log_is_noisy(&log[0]);
    if (shown || noisy) {
        bench_advice_say(a, "%s ", done);
        if (shown) {
            say_two_digits(a, exp(log[1].mean - log[0].mean));
            bench_advice_say(a, " times as fast (");
        }
        say_two_digits(a, low);
        bench_advice_say(a, " to ");
        say_two_digits(a, high);
        bench_advice_say(a, shown ? ")" : " times as fast (noisy)");
    } else {
        bench_advice_say(a, "%s as fast, within the noise", done);
    }
    return noisy;
}

/* Makes the verdict for the largest number of tasks. r->metadata has two rows for each number of tasks: files, then
 * container. */
static hpcw_status give_verdict(struct bench_results *r, hpcw_error *err) {
    struct bench_advice *a = &r->verdict;
    *a = (struct bench_advice){0};
    bench_advice_where(a, r);
    for (size_t i = r->metadatas / 2 * 2; i > 0; i -= 2) {
        const struct bench_metadata *files = &r->metadata[i - 2], *container = &r->metadata[i - 1];
        const size_t runs = files->trials < container->trials ? files->trials : container->trials;
        struct bench_log create[2], open[2];
        if (runs == 0) {
            continue;
        }
        if (runs < BENCH_FEWEST_REPEAT) {
            bench_advice_say(a, "nothing can be said: expected %d runs or more, got %zu; use a larger --repeat",
                             BENCH_FEWEST_REPEAT, runs);
            return HPCW_OK;
        }
        hpcw_status s = compare(files, runs, BENCH_CREATE, create, err);
        s = s == HPCW_OK ? compare(files, runs, BENCH_REOPEN, open, err) : s;
        if (s == HPCW_OK) {
            bench_advice_say(a, "with %u tasks, and compared with a file for each, one container is ",
                             files->tasks);
            bool noisy = say_factor(a, "created", create);
            noisy = say_factor(a, " and opened", open) || noisy;
            bench_advice_say(a, "%s", noisy ? "; use a larger --repeat" : "");
        }
        return s;
    }
    bench_advice_say(a, "nothing can be said: no number of tasks was measured; use a larger --budget");
    return HPCW_OK;
}

hpcw_status bench_metadata_conclude(struct bench_results *r, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (size_t i = 0; s == HPCW_OK && i < r->metadatas; i++) {
        s = bench_metadata_rate(&r->metadata[i], err);
    }
    return s == HPCW_OK ? give_verdict(r, err) : s;
}

void bench_metadata_free(struct bench_results *r) {
    for (size_t i = 0; i < r->metadatas; i++) {
        hpcw_i_free(r->metadata[i].trial);
    }
    hpcw_i_free(r->metadata);
}

/* ---- for people ---- */

/* Writes tasks per second as "12.3k". */
static void rate_text(char text[UI_TEXT_SIZE], double rate) {
    static const char *const unit[] = {"", "k", "M", "G"};
    size_t k = 0;
    for (; rate >= 1000 && k + 1 < sizeof unit / sizeof unit[0]; k++) {
        rate /= 1000;
    }
    (void)snprintf(text, UI_TEXT_SIZE, "%.*f%s", rate < 100 ? 1 : 0, rate, unit[k]);
}

hpcw_status bench_metadata_print(const struct bench_results *r, FILE *stream, hpcw_error *err) {
    struct ui_table t = {0};
    ui_table_column(&t, "tasks/s", UI_LEFT);
    ui_table_column(&t, "tasks", UI_RIGHT);
    for (enum bench_operation k = 0; k < BENCH_OPERATIONS; k++) {
        ui_table_column(&t, bench_operation_name[k], UI_RIGHT);
    }
    for (size_t i = 0; i < r->metadatas; i++) {
        const struct bench_metadata *m = &r->metadata[i];
        ui_table_cell(&t, "%s", m->layout == BENCH_TASK_LOCAL ? "task-local files" : "one container");
        ui_table_cell(&t, "%u", m->tasks);
        for (enum bench_operation k = 0; k < BENCH_OPERATIONS; k++) {
            char text[UI_TEXT_SIZE];
            rate_text(text, m->rate[k].stats.median);
            ui_table_cell(&t, "%s", m->rate[k].there ? text : m->reason[0] != '\0' ? "failed" : "no time");
        }
    }
    hpcw_status s = ui_table_print(&t, stream, 0, err);
    ui_table_free(&t);
    for (size_t i = 0; i < r->metadatas; i += 2) {
        if (r->metadata[i].reason[0] != '\0') {
            (void)fprintf(stream, "failed, %u tasks: %s\n", r->metadata[i].tasks, r->metadata[i].reason);
        }
    }
    if (s == HPCW_OK) {
        (void)fprintf(stream, "\n%s\n", r->verdict.text);
    }
    return s;
}

static void draw_table(const struct bench_results *r, struct ui_page *page) {
    ui_page_heading(page, "All rates");
    ui_page_table(page, "Tasks a second: medians with their confidence intervals.", UI_PAGE_MEASURED, false);
    ui_page_columns(page,
                    (const char *const[]){"layout", "tasks", "state", "runs", "create", "interval", "open",
                                          "interval", "stat", "interval", "unlink", "interval", NULL});
    for (size_t i = 0; i < r->metadatas; i++) {
        const struct bench_metadata *m = &r->metadata[i];
        ui_page_row(page, NULL, false);
        ui_page_text_cell(page, "%s", m->layout == BENCH_TASK_LOCAL ? "task-local files" : "one container");
        ui_page_number_cell(page, UI_PAGE_COUNT, m->tasks);
        ui_page_text_cell(page, "%s%s",
                          m->reason[0] != '\0' ? "failed: "
                          : m->trials == 0     ? "no time"
                                               : "measured",
                          m->reason);
        ui_page_text_cell(page, "%zu", m->trials);
        for (enum bench_operation k = 0; k < BENCH_OPERATIONS; k++) {
            const struct bench_rate *rate = &m->rate[k];
            ui_page_number_cell(page, UI_PAGE_COUNT, rate->there ? rate->stats.median : (double)NAN);
            if (bench_rate_is_spread(rate)) {
                ui_page_cell(page);
                ui_page_number(page, UI_PAGE_COUNT, rate->stats.ci_low);
                ui_page_text(page, " to ");
                ui_page_number(page, UI_PAGE_COUNT, rate->stats.ci_high);
                ui_page_end(page);
            } else {
                ui_page_text_cell(page, "%s", "");
            }
        }
        ui_page_end(page);
    }
    ui_page_end(page);
}

hpcw_status bench_metadata_draw(const struct bench_results *r, struct ui_page *page, hpcw_error *err) {
    enum { CURVES = 2 * BENCH_OPERATIONS };
    struct ui_page_point *point = hpcw_i_calloc(BENCH_OPERATIONS * r->metadatas + 1, sizeof *point);
    double *tick = hpcw_i_calloc(r->metadatas + 1, sizeof *tick);
    struct ui_page_series series[CURVES];
    char name[CURVES][BENCH_NAME];
    hpcw_status s =
        point == NULL || tick == NULL ? hpcw_i_fail_memory(err, NULL, r->metadatas, "rates") : HPCW_OK;
    size_t points = 0, ticks = 0;
    for (unsigned c = 0; s == HPCW_OK && c < CURVES; c++) {
        const enum bench_operation k = c / 2;
        const bool container = c % 2 != 0;
        (void)snprintf(name[c], sizeof name[c], "%s, %s", bench_operation_name[k],
                       container ? "one container" : "task-local files");
        series[c] = (struct ui_page_series){
            .name = name[c], .colour = k, .line = true, .dashed = !container, .point = point + points};
        for (size_t i = 0; i < r->metadatas; i++) {
            const struct bench_metadata *m = &r->metadata[i];
            if (c == 0 && i % 2 == 0) {
                tick[ticks++] = m->tasks;
            }
            if ((m->layout != BENCH_TASK_LOCAL) == container && m->rate[k].there) {
                const struct bench_stats *x = &m->rate[k].stats;
                const bool spread = bench_rate_is_spread(&m->rate[k]);
                point[points++] = (struct ui_page_point){.x = m->tasks,
                                                         .y = x->median,
                                                         .low = spread ? x->ci_low : (double)NAN,
                                                         .high = spread ? x->ci_high : (double)NAN};
                series[c].points++;
            }
        }
    }
    if (s == HPCW_OK) {
        ui_page_heading(page, "Metadata rates");
        ui_page_xy(
            page,
            &(struct ui_page_xy){
                .title = "A file for each task, and one container for all of them",
                .caption =
                    "Number of tasks divided by the time until the last process is done. Files: each "
                    "process creates its share, and opens, looks up and removes that of another process. "
                    "Container: all processes create and open it together; one call looks it up, one "
                    "removes it. Nothing is flushed. Median of the repetitions and its confidence interval.",
                .origin = UI_PAGE_MEASURED,
                .x = {.label = "tasks", .unit = UI_PAGE_COUNT, .log = true, .tick = tick, .ticks = ticks},
                .y = {.label = "tasks a second", .unit = UI_PAGE_COUNT, .log = true},
                .series = series,
                .count = CURVES});
        draw_table(r, page);
    }
    hpcw_i_free(point);
    hpcw_i_free(tick);
    return s;
}
