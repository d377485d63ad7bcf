/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the results of a sweep as a page with charts. All figures are taken from the results; none is computed
 * here. */
#include <stdio.h>
#include <string.h>

#include "bench/report/metadata.h"
#include "bench/report/page_charts.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sys.h"
#include "ui/cli/text.h"

/* ---- Measurement and machine ---- */

static void plain_fact(struct ui_page *page, const char *name, const char *text) {
    ui_page_fact(page, name);
    ui_page_text(page, "%s", text);
    ui_page_end(page);
}

static void file_system_facts(struct ui_page *page, const struct bench_fs *fs) {
    ui_page_fact(page, "File system");
    ui_page_text(page, "%s, ", fs->type);
    ui_page_number(page, UI_PAGE_BYTES, (double)fs->free_bytes);
    ui_page_text(page, " free");
    ui_page_end(page);
    ui_page_fact(page, "File system block");
    if (fs->block_size == 0) {
        ui_page_text(page, "unknown");
    } else {
        ui_page_number(page, UI_PAGE_BYTES, (double)fs->block_size);
        ui_page_text(page, " (source: %s)", fs->block_source);
    }
    ui_page_end(page);
    ui_page_fact(page, "Direct I/O");
    if (fs->direct_known) {
        ui_page_text(page, "memory aligned to ");
        ui_page_number(page, UI_PAGE_BYTES, fs->direct_memory);
        ui_page_text(page, ", offsets to ");
        ui_page_number(page, UI_PAGE_BYTES, fs->direct_offset);
        ui_page_text(page, " (source: %s)", fs->direct_source);
    } else {
        ui_page_text(page, "alignment unknown");
    }
    ui_page_end(page);
    if (fs->stripe_known) {
        ui_page_fact(page, "Stripes of the files");
        ui_page_number(page, UI_PAGE_COUNT, fs->stripe_count);
        ui_page_text(page, " of ");
        ui_page_number(page, UI_PAGE_BYTES, (double)fs->stripe_size);
        ui_page_text(page, " (source: %s)", fs->stripe_source);
        ui_page_end(page);
    } else {
        plain_fact(page, "Stripes", "unknown, or none");
    }
    if (fs->stripes_asked) {
        ui_page_fact(page, "Stripes requested");
        ui_page_number(page, UI_PAGE_COUNT, fs->stripe_count_asked);
        ui_page_text(page, " of ");
        ui_page_number(page, UI_PAGE_BYTES, (double)fs->stripe_size_asked);
        ui_page_end(page);
    }
}

static void facts(struct ui_page *page, const struct bench_results *r) {
    ui_page_heading(page, "How it was measured");
    ui_page_begin(page, UI_PAGE_FACTS);
    plain_fact(page, "Directory", r->directory[0] == '\0' ? "unknown" : r->directory);
    plain_fact(page, "Host", r->host[0] == '\0' ? "unknown" : r->host);
    ui_page_fact(page, "Machine");
    ui_page_text(page, "%s, ", r->machine.processor);
    ui_page_number(page, UI_PAGE_COUNT, r->machine.processors);
    ui_page_text(page, r->machine.processors == 1 ? " processor, " : " processors, ");
    ui_page_number(page, UI_PAGE_BYTES, (double)r->machine.memory);
    ui_page_text(page, ", %s", r->machine.system);
    ui_page_end(page);
    file_system_facts(page, &r->fs);
    ui_page_fact(page, "Processes");
    ui_page_number(page, UI_PAGE_COUNT, r->processes);
    if (r->hosts > 1) {
        ui_page_text(page, " on ");
        ui_page_number(page, UI_PAGE_COUNT, r->hosts);
        ui_page_text(page, " hosts");
    }
    ui_page_text(page, "%s%s", r->mpi[0] == '\0' ? ", without MPI" : ", ", r->mpi);
    if (r->writers != (uint32_t)r->processes) {
        ui_page_text(page, "; of them write ");
        ui_page_number(page, UI_PAGE_COUNT, r->writers);
    }
    if (r->readers != (uint32_t)r->processes) {
        ui_page_text(page, "; of them read ");
        ui_page_number(page, UI_PAGE_COUNT, r->readers);
    }
    ui_page_end(page);
    if (r->left_out_mpi[0] != '\0') {
        plain_fact(page, "MPI-IO layouts", r->left_out_mpi);
    }
    ui_page_fact(page, "Repetitions");
    ui_page_number(page, UI_PAGE_COUNT, r->repeat);
    ui_page_text(page, ", points in random order within each (seed ");
    ui_page_number(page, UI_PAGE_PLAIN, (double)r->seed);
    ui_page_text(page, ")%s", r->verify ? "; every byte read back and compared, after the time is taken" : "");
    ui_page_end(page);
    ui_page_fact(page, "Time");
    ui_page_number(page, UI_PAGE_SECONDS, (double)r->elapsed_ns / 1e9);
    ui_page_text(page, " of a budget of ");
    ui_page_number(page, UI_PAGE_SECONDS, (double)r->limits.budget_ns / 1e9);
    ui_page_text(page, "; at most ");
    ui_page_number(page, UI_PAGE_BYTES, (double)r->limits.max_bytes);
    ui_page_text(page, " at any time");
    if (r->stonewall_ns != 0) {
        ui_page_text(page, "; no write begins after ");
        ui_page_number(page, UI_PAGE_SECONDS, (double)r->stonewall_ns / 1e9);
        ui_page_text(page, " of a run");
    }
    ui_page_end(page);
    if (r->variables > 0) {
        ui_page_fact(page, "Environment");
        for (size_t i = 0; i < r->variables; i++) {
            ui_page_text(page, "%s%s", i == 0 ? "" : ", ", r->variable[i]);
        }
        ui_page_end(page);
    }
    plain_fact(page, "Started", r->time);
    ui_page_fact(page, "Program");
    ui_page_text(page, "hpcw-bench %s (%s, %s) %s", r->version, r->machine.compiler, r->machine.build,
                 r->command);
    ui_page_end(page);
    ui_page_end(page);
}

/* Draws the notes on an interrupted sweep, on memory and on noise. output: directory of the results. */
static void warnings(struct ui_page *page, const struct bench_results *r, const char *output) {
    size_t noisy = 0, small = 0;
    size_t fate[BENCH_FATES] = {0};
    for (size_t i = 0; i < r->points; i++) {
        fate[r->point[i].fate]++;
        noisy += r->point[i].noisy;
        small += r->point[i].fate == BENCH_MEASURED && !bench_results_counts(r, &r->point[i]);
    }
    if (r->stopped[0] != '\0') {
        ui_page_begin(page, UI_PAGE_NOTE);
        const struct bench_runs runs = bench_results_runs(r);
        /* An absolute path does not depend on the current directory. */
        char *path = hpcw_i_sys_real_path(output);
        char command[BENCH_RESUME];
        ui_page_text(page, "The sweep was %s, and the page shows %zu of its %zu runs; %s", r->stopped,
                     runs.made, runs.planned, bench_results_resume(r, path != NULL ? path : output, command));
        hpcw_i_free(path);
        ui_page_end(page);
    }
    if (bench_fs_is_memory(&r->fs)) {
        ui_page_begin(page, UI_PAGE_NOTE);
        ui_page_text(page, "%s is memory: no rate here is that of a disk, and nothing is durable.", r->fs.type);
        ui_page_end(page);
    }
    if (fate[BENCH_FAILED] + fate[BENCH_LEFT_OUT] + noisy + small > 0) {
        ui_page_begin(page, UI_PAGE_NOTE);
        ui_page_text(
            page,
            "Of %zu points, %zu failed, %zu were left out, %zu are too small to be compared and %zu are "
            "noisy. Noisy points are hollow or pale: only large differences from them can be seen. ",
            r->points, fate[BENCH_FAILED], fate[BENCH_LEFT_OUT], small, noisy);
        ui_page_link(page, "point-0", "All points, with reasons");
        ui_page_end(page);
    }
}

static void point_id(size_t index, char text[32]) {
    (void)snprintf(text, 32, "point-%zu", index);
}

/* Draws a sentence and the ids of the points on which it is based. */
static void sentence(struct ui_page *page, const struct bench_results *r, const struct bench_advice *a) {
    size_t n = strlen(a->text);
    ui_page_text(page, "%s%s", a->text, n > 0 && a->text[n - 1] != '.' ? "." : "");
    for (size_t k = 0; k < a->evidences; k++) {
        char id[32];
        point_id(a->evidence[k], id);
        ui_page_text(page, k == 0 ? " Evidence: " : ", ");
        ui_page_link(page, id, r->point[a->evidence[k]].id);
    }
}

/* Writes "the data of 64 ranks from 4 processes". */
static void who_wrote(struct ui_page *page, const struct bench_results *r) {
    ui_page_text(page, "the data of ");
    ui_page_number(page, UI_PAGE_COUNT, r->points > 0 ? r->point[0].ranks : 0);
    ui_page_text(page, " ranks from ");
    ui_page_number(page, UI_PAGE_COUNT, r->writers);
    ui_page_text(page, r->writers == 1 ? " process" : " processes");
}

static void verdict(struct ui_page *page, const struct bench_results *r) {
    ui_page_finding(page);
    sentence(page, r, &r->verdict);
    ui_page_end(page);
    if (r->metadatas == 0) {
        ui_page_finding(page);
        ui_page_text(page, "Measured with ");
        who_wrote(page, r);
        ui_page_text(page, ".");
        ui_page_end(page);
    }
}

/* Explains the terms to a reader who sees such a page for the first time. */
static void what_it_is(struct ui_page *page, const struct bench_results *r) {
    static const char *const word[][2] = {
        {"Point", "a way to write the data: a layout, a mode, and a block size or the size of a write"},
        {"Aligned", "the data of each rank begin at a multiple of the block size; shifted (unaligned): two "
                    "thirds of a block later, at an odd byte"},
        {"Packed",
         "groups of ranks begin at a multiple of the block size, and share no block with other groups"},
        {"Task-local", "a file for each rank; shared-posix, MPI-IO and HDF5: one file for all"},
        {"fsync", "all data are flushed at the end; direct: past the page cache; preallocated: in space "
                  "allocated before"},
        {"With the flush",
         "until all data are flushed; page cache: until the system has taken them into memory"},
        {"Ceiling",
         "a plain loop of large writes of the same bytes at the same offsets, beside each run of a point"},
        {"Noisy",
         "runs differ so much that only large differences would be seen; such points are hollow or pale"},
        {"Too small", "runs write too little, or are too short, to be compared"},
        {"Fastest", "by the mean of its runs without the lowest and the highest fifth; it need not have the "
                    "highest median"},
        {"Interval", "a range that contains the median of very many runs with about 95 %"},
    };
    ui_page_heading(page, "What this is");
    ui_page_begin(page, UI_PAGE_PARAGRAPH);
    ui_page_text(page, "hpcw-bench wrote ");
    who_wrote(page, r);
    ui_page_text(
        page,
        " in several ways, to find which one this file system writes fastest. These words are used here:");
    ui_page_end(page);
    ui_page_begin(page, UI_PAGE_FACTS);
    for (size_t i = 0; i < sizeof word / sizeof word[0]; i++) {
        plain_fact(page, word[i][0], word[i][1]);
    }
    ui_page_end(page);
}

static void advice(struct ui_page *page, const struct bench_results *r) {
    if (r->advices == 0) {
        return;
    }
    ui_page_heading(page, "Recommendation");
    ui_page_begin(page, UI_PAGE_LIST);
    for (size_t i = 0; i < r->advices; i++) {
        ui_page_begin(page, UI_PAGE_ITEM);
        sentence(page, r, &r->advice[i]);
        ui_page_end(page);
    }
    ui_page_end(page);
}

/* ---- Everything ---- */

/* Writes a cell with a number, or an empty cell if there is none. */
static void number_cell(struct ui_page *page, bool there, enum ui_page_unit unit, double value) {
    if (there) {
        ui_page_number_cell(page, unit, value);
    } else {
        ui_page_text_cell(page, "%s", "");
    }
}

static void rate_cells(struct ui_page *page, const struct bench_rate *rate) {
    number_cell(page, rate->there, UI_PAGE_RATE, rate->stats.median);
    if (bench_rate_is_spread(rate)) {
        ui_page_cell(page);
        ui_page_number(page, UI_PAGE_RATE, rate->stats.ci_low);
        ui_page_text(page, " to ");
        ui_page_number(page, UI_PAGE_RATE, rate->stats.ci_high);
        ui_page_end(page);
    } else {
        ui_page_text_cell(page, "%s", "");
    }
}

static void all_points(struct bench_page_drawing *d) {
    struct ui_page *page = d->page;
    ui_page_heading(page, "All points");
    ui_page_table(
        page, "Medians with their confidence intervals. The last four columns are computed from the layout. ",
        UI_PAGE_MEASURED, false);
    ui_page_columns(page, (const char *const[]){"point", "state", "bytes", "a run", "with flush", "interval",
                                                "page cache", "interval", "of the ceiling", "read",
                                                "read, cached", "coverage", "runs", "blocks (counted)",
                                                "shared by ranks (counted)", "by processes", "by hosts", NULL});
    for (size_t i = 0; i < d->r->points; i++) {
        const struct bench_point *p = &d->r->point[i];
        const struct bench_rate *rate = p->durable.there ? &p->durable : &p->cached;
        char id[32];
        point_id(i, id);
        ui_page_row(page, id, p->fate != BENCH_MEASURED || p->noisy);
        ui_page_text_cell(page, "%s", p->id);
        bool measured = p->fate == BENCH_MEASURED;
        ui_page_text_cell(page, "%s%s%s%s%s", bench_fate_name[p->fate], p->reason[0] == '\0' ? "" : ": ",
                          p->reason, measured && !bench_results_counts(d->r, p) ? ", too small" : "",
                          p->noisy ? ", noisy" : "");
        number_cell(page, measured, UI_PAGE_BYTES, (double)bench_results_bytes(p));
        number_cell(page, measured, UI_PAGE_SECONDS, p->seconds);
        rate_cells(page, &p->durable);
        rate_cells(page, &p->cached);
        number_cell(page, p->ratio.there, UI_PAGE_PLAIN, p->ratio.stats.median);
        number_cell(page, p->read.there && !p->read_cached, UI_PAGE_RATE, p->read.stats.median);
        number_cell(page, p->read.there && p->read_cached, UI_PAGE_RATE, p->read.stats.median);
        number_cell(page, rate->there, UI_PAGE_SHARE, rate->stats.ci_coverage);
        ui_page_text_cell(page, "%zu", p->trials);
        number_cell(page, p->blocks.counted, UI_PAGE_COUNT, (double)p->blocks.all);
        number_cell(page, p->blocks.counted, UI_PAGE_COUNT, (double)p->blocks.shared);
        number_cell(page, p->blocks.counted, UI_PAGE_COUNT, (double)p->blocks.by_processes);
        number_cell(page, p->blocks.counted, UI_PAGE_COUNT, (double)p->blocks.by_hosts);
        ui_page_end(page);
    }
    ui_page_end(page);
}

/* ---- The whole ---- */

static void find_ticks(struct bench_page_drawing *d) {
    for (size_t i = 0; i < d->r->points && d->ticks < BENCH_PAGE_TICKS; i++) {
        double size = (double)d->r->point[i].block_size;
        size_t at = 0;
        while (at < d->ticks && d->tick[at] < size) {
            at++;
        }
        if (size > 0 && (at == d->ticks || d->tick[at] != size)) {
            memmove(d->tick + at + 1, d->tick + at, (d->ticks - at) * sizeof *d->tick);
            d->tick[at] = size;
            d->ticks++;
        }
    }
}

hpcw_status bench_report_page(const struct bench_results *r, const char *output, const hpcw_sink_source *source,
                              const char *path, hpcw_error *err) {
    struct bench_page_drawing d = {.r = r, .alike = true};
    /* Limit of the points in a chart: a chart shows each point of the sweep once, or each trial once. */
    size_t most = r->points + 2 * (BENCH_LAYOUTS + 2 * BENCH_MODES);
    for (size_t i = 0; i < r->points; i++) {
        most += r->point[i].trials;
    }
    const char *title =
        r->metadatas > 0 ? "Metadata rates of files and of a container" : "Write throughput and the block size";
    hpcw_status s = ui_page_open(source, path, title, &d.page, err);
    if (s != HPCW_OK) {
        return s;
    }
    d.point = hpcw_i_calloc(most, sizeof *d.point);
    d.series = hpcw_i_calloc(BENCH_LAYOUTS + 2 * BENCH_MODES, sizeof *d.series);
    d.category = hpcw_i_calloc(r->points + 1, sizeof *d.category);
    d.time = hpcw_i_calloc(r->points + 1, 2 * BENCH_STEPS * sizeof *d.time);
    if (d.point == NULL || d.series == NULL || d.category == NULL || d.time == NULL) {
        s = hpcw_i_fail_memory(err, path, most, "points");
        goto done;
    }
    if (r->metadatas > 0) {
        verdict(d.page, r);
        s = bench_metadata_draw(r, d.page, err);
        facts(d.page, r);
        s = s == HPCW_OK ? ui_page_finish(d.page, err) : s;
        goto done;
    }
    find_ticks(&d);
    verdict(d.page, r);
    const bool curves = bench_page_durable(&d);
    if (!curves) {
        bench_page_side_by_side(&d);
    }
    what_it_is(d.page, r);
    warnings(d.page, r, output);
    advice(d.page, r);
    bench_page_modes(&d);
    bench_page_twins(&d);
    if (curves) {
        bench_page_side_by_side(&d);
    }
    bench_page_shared_blocks(&d);
    bench_page_ratios(&d);
    bench_page_cached(&d);
    bench_page_times(&d);
    bench_page_samples(&d);
    all_points(&d);
    facts(d.page, r);
    s = ui_page_finish(d.page, err);
done:
    hpcw_i_free(d.point);
    hpcw_i_free(d.series);
    hpcw_i_free(d.category);
    hpcw_i_free(d.time);
    ui_page_free(d.page);
    return s;
}
