/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints what a sweep would do, without writing files. The plan follows the rules of the sweep, at an assumed
 * speed of the file system. */
#include <inttypes.h>
#include <stdio.h>

#include <hpcw/version.h>

#include "bench/measure/json.h"
#include "bench/sweep/state.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/io/sys.h"
#include "ui/cli/text.h"

/* Assumed rate of plain writes, bytes per second. */
#define ASSUMED_RATE ((double)BENCH_USUAL_BYTES / BENCH_USUAL_SECONDS)

enum { WARNINGS = 2 };

struct dry_run {
    const struct bench_sweep_state *w;
    char warning[WARNINGS][BENCH_REASON];
    size_t warnings;
    bool refused; /* the first warning is an error that would end a sweep at once */
    /* The next members are for the points that fit into the budget. */
    size_t points;
    uint64_t bytes, largest_bytes; /* bytes of all remaining runs; bytes of the largest run */
    uint32_t most_files;
    uint64_t needed; /* largest number of bytes that a run takes on the disk */
};

/* Collects the errors that a sweep would report. A sweep makes runs smaller if its probe finds a slow file
 * system. So the error of bench_sweep_check_limit would occur only above a certain rate, which the warning
 * names. */
static void find_warnings(struct dry_run *d, const char *directory) {
    const struct bench_sweep_state *w = d->w;
    hpcw_error e;
    if (bench_sweep_room(w, directory, &w->r->point[0], &e) != HPCW_OK ||
        (w->o->least_bytes != 0 && bench_sweep_check_limit(w, &e) != HPCW_OK)) {
        (void)snprintf(d->warning[d->warnings++], BENCH_REASON, "%s", e.message);
        d->refused = true;
    } else if (!w->resumed && bench_sweep_check_limit(w, &e) != HPCW_OK) {
        char rate[UI_TEXT_SIZE];
        const double seconds = bench_sweep_run_seconds(w->o->budget, w->o->budget);
        (void)snprintf(d->warning[d->warnings++], BENCH_REASON, "if plain writes are faster than %s: %.900s",
                       ui_text_rate(rate, (double)w->most_bytes / seconds), e.message);
    }
    d->warnings += bench_sweep_is_small(w, d->warning[d->warnings]);
}

static void sum_up(struct dry_run *d) {
    for (size_t i = 0; i < d->w->r->points; i++) {
        const struct bench_point *p = &d->w->r->point[i];
        if (d->w->planned[i].active) {
            d->points++;
            /* With each run goes one of plain writes (its ceiling). A warm-up run comes first. */
            const uint64_t runs = d->w->r->repeat > p->trials ? d->w->r->repeat - p->trials + 1 : 0;
            d->bytes += 2 * p->bytes * runs;
            d->largest_bytes = p->bytes > d->largest_bytes ? p->bytes : d->largest_bytes;
            d->most_files = p->files > d->most_files ? p->files : d->most_files;
            const uint64_t needed = bench_sweep_needed(d->w, p);
            d->needed = needed > d->needed ? needed : d->needed;
        }
    }
}

/* Returns the name of a limit that the largest run exceeds; NULL: there is none. */
static const char *too_small(const struct dry_run *d) {
    return d->needed > d->w->r->fs.free_bytes ? "the free space"
           : d->needed > d->w->o->max_bytes   ? "--max-bytes"
                                              : NULL;
}

/* Fails if no point is planned, as the sweep would fail. Too little space is reported first, since a larger
 * budget does not help against it. */
static hpcw_status expect_some(const struct dry_run *d, hpcw_error *err) {
    const struct bench_results *r = d->w->r;
    if (d->points > 0) {
        return HPCW_OK;
    }
    return d->refused ? hpcw_i_fail(err, HPCW_ENOTSUP, "%s", d->warning[0])
                      : hpcw_i_fail(err, HPCW_ENOTSUP, "%s: nothing would be measured: %s: %s", r->directory,
                                    r->point[0].id, r->point[0].reason);
}

static hpcw_status print_plan(const struct dry_run *d, hpcw_error *err) {
    const struct bench_results *r = d->w->r;
    struct ui_table t = {0};
    ui_table_column(&t, "point", UI_LEFT);
    ui_table_column(&t, "bytes a run", UI_RIGHT);
    ui_table_column(&t, "files", UI_RIGHT);
    char text[UI_TEXT_SIZE], most[UI_TEXT_SIZE];
    for (size_t i = 0; i < r->points; i++) {
        const struct bench_point *p = &r->point[i];
        if (d->w->planned[i].active) {
            ui_table_cell(&t, "%s", p->id);
            ui_table_cell(&t, "%s", ui_text_bytes_binary(text, p->bytes));
            ui_table_cell(&t, "%" PRIu32, p->files);
        }
    }
    hpcw_status s = ui_table_print(&t, stdout, 0, err);
    ui_table_free(&t);
    bench_output_unmeasured(r, stdout);
    (void)printf(
        "\nwhere: %s (%s, blocks of %" PRIu64 " B), from %d process%s on %d host%s\n"
        "assumed: plain writes of %s, and runs that take %.1f times as long; a slower file system gets "
        "smaller runs, fewer runs or fewer points\n",
        r->directory, r->fs.type, r->fs.block_size, r->processes, r->processes == 1 ? "" : "es", r->hosts,
        r->hosts == 1 ? "" : "s", ui_text_rate(text, ASSUMED_RATE),
        (double)bench_sweep_pair_ns(1000000000) / 1e9);
    (void)printf("runs: %" PRIu32 " of each of %zu points and of its ceiling, after a warm-up run\n"
                 "writes: about %s in all, and about %s in %" PRIu32 " file%s at any time\n",
                 r->repeat, d->points, ui_text_bytes_binary(text, d->bytes),
                 ui_text_bytes_binary(most, d->largest_bytes), d->most_files, d->most_files == 1 ? "" : "s");
    (void)printf("space: %s free; a run %s%s\n", ui_text_bytes_binary(text, r->fs.free_bytes),
                 too_small(d) == NULL ? "fits" : "does not fit into ",
                 too_small(d) == NULL ? "" : too_small(d));
    (void)printf("time: at most %s (--budget)\n", ui_text_duration(text, d->w->o->budget));
    bench_output_memory(r, stdout);
    for (size_t i = 0; i < d->warnings; i++) {
        (void)printf("warning: %s\n", d->warning[i]);
    }
    return s;
}

static void put_plan(struct hpcw_i_json *j, const struct dry_run *d) {
    const struct bench_results *r = d->w->r;
    hpcw_i_json_put_str(j, "format", "hpcw-bench plan");
    hpcw_i_json_put_u64(j, "version", 1);
    hpcw_i_json_put_str(j, "hpcw", hpcw_version());
    hpcw_i_json_put_str(j, "directory", r->directory);
    hpcw_i_json_put_str(j, "file_system", r->fs.type);
    hpcw_i_json_put_u64(j, "block_bytes", r->fs.block_size);
    hpcw_i_json_put_u64(j, "processes", (uint64_t)r->processes);
    hpcw_i_json_put_u64(j, "hosts", (uint64_t)r->hosts);
    hpcw_i_json_put_f64(j, "assumed_bytes_per_s", ASSUMED_RATE);
    hpcw_i_json_key(j, "budget_s");
    hpcw_i_json_seconds(j, r->limits.budget_ns);
    hpcw_i_json_put_u64(j, "repeat", r->repeat);
    hpcw_i_json_put_u64(j, "bytes", d->bytes);
    hpcw_i_json_put_u64(j, "most_bytes", d->largest_bytes);
    hpcw_i_json_put_u64(j, "most_files", d->most_files);
    hpcw_i_json_put_u64(j, "free_bytes", r->fs.free_bytes);
    hpcw_i_json_put_bool(j, "fits", too_small(d) == NULL);
    hpcw_i_json_key_array(j, "points");
    for (size_t i = 0; i < r->points; i++) {
        if (d->w->planned[i].active) {
            hpcw_i_json_flat_object(j);
            hpcw_i_json_put_str(j, "id", r->point[i].id);
            hpcw_i_json_put_u64(j, "bytes", r->point[i].bytes);
            hpcw_i_json_put_u64(j, "files", r->point[i].files);
            hpcw_i_json_end_object(j);
        }
    }
    hpcw_i_json_end_array(j);
    hpcw_i_json_key_array(j, "left_out");
    for (size_t i = 0; i < r->points; i++) {
        if (!d->w->planned[i].active) {
            hpcw_i_json_flat_object(j);
            hpcw_i_json_put_str(j, "id", r->point[i].id);
            hpcw_i_json_put_str(j, "why", r->point[i].reason);
            hpcw_i_json_end_object(j);
        }
    }
    hpcw_i_json_end_array(j);
    hpcw_i_json_key_array(j, "warnings");
    for (size_t i = 0; i < d->warnings; i++) {
        hpcw_i_json_str(j, d->warning[i]);
    }
    hpcw_i_json_end_array(j);
}

static hpcw_status write_json(const struct dry_run *d, hpcw_error *err) {
    struct bench_json io;
    hpcw_status s = bench_json_create(&io, NULL, NULL, err);
    if (s == HPCW_OK) {
        put_plan(&io.out, d);
    }
    return bench_json_close(&io, s, err);
}

/* Takes over the results of an earlier sweep, which --resume would continue. The directory of the results may
 * not exist yet. Collective. */
static hpcw_status take_earlier(struct bench_sweep_state *w, hpcw_error *err) {
    struct hpcw_i_entry entry;
    hpcw_status s = HPCW_OK;
    (void)snprintf(w->output.path, sizeof w->output.path, "%s", w->o->output);
    if (w->processes->process == 0 &&
        (hpcw_i_sys_look(w->output.path, false, &entry) != 0 || entry.kind != HPCW_I_NOTHING)) {
        s = bench_output_hold(&w->output, err);
    }
    s = hpcw_i_agree(w->processes->comm, s, NULL, err);
    s = s == HPCW_OK ? bench_sweep_allocate(w, err) : s;
    return s == HPCW_OK ? bench_sweep_resume(w, err) : s;
}

hpcw_status bench_sweep_dry_run(struct bench_sweep_state *w, const char *directory, hpcw_error *err) {
    struct dry_run d = {.w = w};
    hpcw_status s = bench_sweep_look(w, directory, err);
    s = s == HPCW_OK ? bench_sweep_limit_sizes(w, err) : s;
    if (s == HPCW_OK) {
        s = bench_sweep_plan(w->o, w->no_direct, w->bytes, w->r, &w->planned, err);
        s = hpcw_i_agree(w->processes->comm, s, NULL, err);
    }
    if (s == HPCW_OK && w->o->resume) {
        s = take_earlier(w, err);
    }
    if (s == HPCW_OK) {
        find_warnings(&d, directory);
        if (!w->resumed) {
            bench_sweep_choose_bytes(w, ASSUMED_RATE);
        }
        s = bench_sweep_rounds(w, err);
    }
    if (s == HPCW_OK && w->processes->process == 0) {
        sum_up(&d);
        s = expect_some(&d, err);
        s = s != HPCW_OK ? s : w->o->json ? write_json(&d, err) : print_plan(&d, err);
    }
    return hpcw_i_agree(w->processes->comm, s, NULL, err);
}
