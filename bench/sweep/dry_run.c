/* SPDX-License-Identifier: BSD-3-Clause */
/* What a sweep would do, by facts that are known without writing a file. */
#include <inttypes.h>
#include <stdio.h>

#include "bench/sweep/state.h"
#include "libwriter/comm/agree.h"
#include "ui/cli/text.h"

static hpcw_status print_plan(const struct bench_options *o, const struct bench_results *r,
                              const struct bench_planned *planned, FILE *stream, hpcw_error *err) {
    const uint32_t least = o->repeat != 0 ? o->repeat : BENCH_LEAST_REPEAT;
    const uint32_t most = o->repeat != 0 ? o->repeat : BENCH_MOST_REPEAT;
    struct ui_table t = {0};
    size_t points = 0;
    uint64_t round = 0, largest = 0;
    uint32_t files = 0;
    ui_table_column(&t, "point", UI_LEFT);
    ui_table_column(&t, "bytes a run", UI_RIGHT);
    ui_table_column(&t, "files", UI_RIGHT);
    for (size_t i = 0; i < r->points; i++) {
        const struct bench_point *p = &r->point[i];
        char bytes[UI_TEXT_SIZE];
        if (planned[i].active) {
            ui_table_cell(&t, "%s", p->id);
            ui_table_cell(&t, "%s", ui_text_bytes(bytes, p->bytes));
            ui_table_cell(&t, "%" PRIu32, p->files);
            round += 2 * p->bytes;
            files = p->files > files ? p->files : files;
            largest = p->bytes > largest ? p->bytes : largest;
            points++;
        }
    }
    hpcw_status s = points == 0 ? HPCW_OK : ui_table_print(&t, stream, 0, err);
    ui_table_free(&t);
    bench_output_unmeasured(r, stream);
    char runs[2 * UI_TEXT_SIZE], text[UI_TEXT_SIZE], budget[UI_TEXT_SIZE];
    (void)ui_text_duration(budget, o->budget);
    (void)snprintf(runs, sizeof runs, least == most ? "%" PRIu32 : "%" PRIu32 " to %" PRIu32, least, most);
    (void)fprintf(stream,
                  "\nwhere: %s (%s, blocks of %" PRIu64 " B), from %d process%s on %d host%s\n"
                  "runs: %s of each of %zu points and of its ceiling, after a warm-up run\n",
                  r->directory, r->fs.type, r->fs.block_size, r->processes, r->processes == 1 ? "" : "es",
                  r->hosts, r->hosts == 1 ? "" : "s", runs, points);
    if (o->per_rank != 0) {
        (void)fprintf(stream, "writes: at most %s in all, less where the budget ends the sweep",
                      ui_text_bytes(text, round * (most + 1)));
    } else {
        (void)fprintf(stream, "writes: as much as the file system takes in %s; a probe sets the bytes of a run",
                      budget);
    }
    (void)fprintf(stream, "; at most %s in %" PRIu32 " files at any time\n",
                  ui_text_bytes(text, o->per_rank != 0 ? largest : o->max_bytes), files);
    (void)fprintf(stream, "time: at most %s (--budget); points and runs that do not fit are left out\n",
                  budget);
    bench_output_memory(r, stream);
    return s;
}

/* Prints what a sweep would fail for. A slow file system gets smaller runs, which the probe of a sweep finds: so the
 * limit that check_limit knows is one from a rate of plain writes on. */
static void print_warnings(const struct bench_sweep_state *w, const char *directory) {
    hpcw_error e;
    if (bench_sweep_room(w, directory, &w->r->point[0], &e) != HPCW_OK ||
        (w->o->least_bytes != 0 && bench_sweep_check_limit(w, &e) != HPCW_OK)) {
        (void)printf("warning: %s\n", e.message);
    } else if (bench_sweep_check_limit(w, &e) != HPCW_OK) {
        char rate[UI_TEXT_SIZE];
        const double seconds = bench_sweep_run_seconds(w->o->budget, w->o->budget);
        (void)printf("warning: if plain writes are faster than %s: %s\n",
                     ui_text_rate(rate, (double)w->most_bytes / seconds), e.message);
    }
    bench_sweep_warn_small(w, "warning: ", stdout);
}

hpcw_status bench_sweep_dry_run(struct bench_sweep_state *w, const char *directory, hpcw_error *err) {
    hpcw_status s = bench_sweep_look(w, directory, err);
    s = s == HPCW_OK ? bench_sweep_limit_sizes(w, err) : s;
    if (s == HPCW_OK) {
        s = bench_sweep_plan(w->o, w->no_direct, w->bytes, w->r, &w->planned, err);
        s = s == HPCW_OK && w->processes->process == 0 ? print_plan(w->o, w->r, w->planned, stdout, err) : s;
        if (s == HPCW_OK && w->processes->process == 0) {
            print_warnings(w, directory);
        }
        s = hpcw_i_agree(w->processes->comm, s, NULL, err);
    }
    return s;
}
