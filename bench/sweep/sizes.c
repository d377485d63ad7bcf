/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the bytes of a run by the limits of space and memory, and by a probe of the speed of the file system. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/layout/layout.h"
#include "bench/sweep/state.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/io/fsinfo.h"
#include "ui/cli/text.h"

uint64_t bench_sweep_needed(const struct bench_sweep_state *w, const struct bench_point *p) {
    /* The data, the last blocks of each rank and the tables of a container take space. Holes take none. */
    return p->bytes + p->ranks * (2 * w->r->fs.block_size + 64) + (UINT64_C(1) << 16);
}

hpcw_status bench_sweep_room(const struct bench_sweep_state *w, const char *directory,
                             const struct bench_point *p, hpcw_error *err) {
    uint64_t space = 0;
    hpcw_status s = hpcw_i_fs_space(directory, &space, NULL, err);
    const uint64_t needed = bench_sweep_needed(w, p);
    const bool full = needed > space;
    const uint64_t most = full ? space : w->o->max_bytes;
    if (s != HPCW_OK || needed <= most) {
        return s;
    }
    char needed_text[UI_TEXT_SIZE], most_text[UI_TEXT_SIZE], rounded[2 * UI_TEXT_SIZE + 16] = "";
    (void)ui_text_bytes_binary(needed_text, needed);
    (void)ui_text_bytes_binary(most_text, most);
    if (strcmp(needed_text, most_text) != 0) {
        (void)snprintf(rounded, sizeof rounded, " (%s, got %s)", needed_text, most_text);
    }
    return hpcw_i_fail(err, HPCW_ENOTSUP,
                       "%s: expected %" PRIu64 " bytes of %s for a run, got %" PRIu64
                       "%s; use a smaller --per-rank or %s",
                       w->r->directory, needed, full ? "free space" : "--max-bytes", most, rounded,
                       full ? "a directory with more free space" : "a larger --max-bytes");
}

hpcw_status bench_sweep_check_limit(const struct bench_sweep_state *w, hpcw_error *err) {
    const struct bench_limit limit = bench_results_limit(w->r);
    char needed[UI_TEXT_SIZE], least[UI_TEXT_SIZE], there[UI_TEXT_SIZE];
    return w->o->per_rank != 0 || w->r->limits.least_bytes <= w->most_bytes
               ? HPCW_OK
               : hpcw_i_fail(
                     err, HPCW_ENOTSUP,
                     "%s: expected %s of %s for runs of %s (--least-bytes), got %s; use %s or a smaller "
                     "--least-bytes",
                     w->r->directory, ui_text_bytes_binary(needed, w->r->limits.least_bytes * limit.parts),
                     limit.what, ui_text_bytes_binary(least, w->r->limits.least_bytes),
                     ui_text_bytes_binary(there, limit.there), limit.more);
}

bool bench_sweep_is_small(const struct bench_sweep_state *w, char text[BENCH_REASON]) {
    char size[UI_TEXT_SIZE], least[UI_TEXT_SIZE];
    (void)snprintf(text, BENCH_REASON,
                   "--per-rank: runs of %s are below --least-bytes, %s, and no point will be compared; use a "
                   "larger --per-rank or a smaller --least-bytes",
                   ui_text_bytes_binary(size, w->bytes), ui_text_bytes_binary(least, w->r->limits.least_bytes));
    return w->o->per_rank != 0 && w->bytes < w->r->limits.least_bytes;
}

hpcw_status bench_sweep_limit_sizes(struct bench_sweep_state *w, hpcw_error *err) {
    const struct bench_limit limit = bench_results_limit(w->r);
    uint64_t most = limit.there / limit.parts;
    hpcw_status s = hpcw_i_comm_bcast(w->processes->comm, &most, sizeof most, 0, err);
    w->most_bytes = most;
    w->bytes = w->o->per_rank != 0               ? w->o->per_rank * bench_sweep_ranks(w->o, w->r)
               : w->r->limits.least_bytes < most ? w->r->limits.least_bytes
                                                 : most;
    return s;
}

void bench_sweep_choose_bytes(struct bench_sweep_state *w, double rate) {
    if (w->o->per_rank == 0) {
        /* A slow disk gets smaller runs, so that the budget has time for the points that come first. */
        const double most = bench_sweep_run_seconds(w->o->budget, w->o->budget) * rate;
        if (w->o->least_bytes == 0 && most < (double)w->r->limits.least_bytes) {
            w->r->limits.least_bytes = (uint64_t)most + 1;
        }
        w->bytes = (uint64_t)fmin(fmax(w->aim_ns / 1e9 * rate, (double)w->r->limits.least_bytes),
                                  (double)w->most_bytes);
    }
    w->guess_ns = (uint64_t)(2e9 * (double)w->bytes / rate);
    bench_sweep_sizes(w->o, w->r, w->bytes);
}

hpcw_status bench_sweep_probe(struct bench_sweep_state *w, hpcw_error *err) {
    const bool given = w->o->per_rank != 0;
    uint64_t size = given ? w->bytes : w->bytes / 4 + 1;
    size = size < w->most_bytes ? size : w->most_bytes;
    double ns = 0;
    hpcw_error e;
    hpcw_status s = HPCW_OK;
    for (bool on = true; on;) {
        struct bench_point p = {.layout = BENCH_SHARED_POSIX,
                                .mode = BENCH_FSYNC,
                                .record_size = BENCH_PIECE,
                                .rank_size = size / (uint64_t)w->processes->count + 1,
                                .ranks = (uint32_t)w->processes->count,
                                .files = 1};
        struct bench_trial t;
        s = bench_sweep_run(w, &p, true, &t, &e);
        ns = s == HPCW_OK ? fmax((double)t.total_ns, 1) : 0;
        on = s == HPCW_OK && !given && ns < w->aim_ns / 2 && size <= w->most_bytes / 4;
        size *= on ? 4 : 1;
    }
    if (s == HPCW_ECOMM) {
        *err = e;
    }
    if (s != HPCW_OK) {
        return s == HPCW_ECOMM ? s : HPCW_OK; /* each point reports its own failure */
    }
    bench_sweep_choose_bytes(w, (double)size / ns * 1e9);
    return hpcw_i_agree(w->processes->comm, bench_sweep_check_limit(w, err), NULL, err);
}
