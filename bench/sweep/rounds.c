/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the points, each beside its ceiling (plain writes of the same bytes), until all have their repetitions or
 * the budget is used up. */
#include <math.h>
#include <stdio.h>

#include "bench/measure/random.h"
#include "bench/measure/timer.h"
#include "bench/sweep/state.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "ui/cli/progress.h"
#include "ui/cli/text.h"

/* Share of the budget that is planned, percent. The rest is a reserve for disks that become slower. */
enum { AIM_PERCENT = 85 };

int bench_sweep_signalled(const struct bench_sweep_state *w) {
    uint64_t word = (uint64_t)bench_timer_stopped();
    struct hpcw_i_words words = {.maxs = 1, .word = &word};
    return hpcw_i_comm_allreduce(w->processes->comm, &words, NULL) == HPCW_OK ? (int)word
                                                                              : bench_timer_stopped();
}

/* ---- a point and its ceiling ---- */

/* Sets the fate and the reason of a point after a run of this point failed. Collective. */
static hpcw_status note_failure(struct bench_sweep_state *w, size_t index, hpcw_status s, const hpcw_error *e) {
    struct bench_point *p = &w->r->point[index];
    if (bench_sweep_signalled(w) != 0) {
        return HPCW_OK; /* the sweep ends, and the point keeps its runs */
    }
    if (s == HPCW_ECOMM) {
        return s;
    }
    w->planned[index].active = false;
    p->fate = s == HPCW_ENOTSUP ? BENCH_LEFT_OUT : BENCH_FAILED;
    (void)snprintf(p->reason, sizeof p->reason, "%s", e->message);
    if (p->fate == BENCH_FAILED) {
        p->failed_errno = e->sys_errno;
        p->failed_process = e->process;
    }
    return HPCW_OK;
}

/* Replaces run_pair in a dry run: counts a run of the point and its ceiling, and advances the clock of the sweep by
 * their estimated time. */
static void assume_pair(struct bench_sweep_state *w, size_t index) {
    const uint64_t time_ns = bench_sweep_pair_ns(w->guess_ns);
    w->planned[index].runs++;
    w->planned[index].spent_ns += time_ns;
    w->planned[index].run_ns = w->guess_ns / 2;
    w->begin_ns -= time_ns;
}

/* Runs one repetition of a point and its ceiling; repetition 0 warms up. A failure of the point is stored in
 * the point, not returned. Collective. */
static hpcw_status run_pair(struct bench_sweep_state *w, size_t index, uint32_t repetition, hpcw_error *err) {
    struct bench_point *p = &w->r->point[index];
    struct bench_trial trial[2]; /* [0]: layout, [1]: ceiling */
    hpcw_error e;
    uint64_t begin = bench_timer_now();
    uint64_t ceiling_first = bench_random(&w->random) & 1;
    if (w->o->dry_run) {
        assume_pair(w, index);
        return HPCW_OK;
    }
    ui_progress_label(w->progress, p->id);
    hpcw_status s = hpcw_i_agree(w->processes->comm, bench_sweep_room(w, w->directory, p, &e), NULL, &e);
    for (uint64_t i = 0; s == HPCW_OK && i < 2; i++) {
        uint64_t side = i ^ ceiling_first;
        s = bench_sweep_run(w, p, side == 1, &trial[side], &e);
        trial[side].repetition = repetition;
        trial[side].order = repetition == 0 ? 0 : ++w->order;
    }
    ui_progress_add(w->progress, p->bytes);
    if (s != HPCW_OK) {
        s = note_failure(w, index, s, &e);
        if (s != HPCW_OK) {
            *err = e;
        }
        return s;
    }
    w->planned[index].runs++;
    w->planned[index].spent_ns += bench_timer_now() - begin;
    w->planned[index].run_ns = p->mode == BENCH_BUFFERED ? trial[0].written_ns : trial[0].total_ns;
    if (repetition > 0) {
        p->trial[p->trials++] = trial[0];
        p->ceiling[p->ceiling_trials++] = trial[1];
    }
    p->verified = w->o->verify;
    return HPCW_OK;
}

/* ---- rounds ---- */

hpcw_status bench_sweep_allocate(struct bench_sweep_state *w, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    const size_t most = bench_sweep_most_runs(w);
    for (size_t i = 0; i < w->r->points; i++) {
        struct bench_point *p = &w->r->point[i];
        p->trial = hpcw_i_calloc(most, sizeof *p->trial);
        p->ceiling = hpcw_i_calloc(most, sizeof *p->ceiling);
        if (p->trial == NULL || p->ceiling == NULL) {
            s = hpcw_i_fail_memory(err, NULL, most, "repetitions");
        }
    }
    return hpcw_i_agree(w->processes->comm, s, NULL, err);
}

static uint64_t left_ns(const struct bench_sweep_state *w, unsigned percent) {
    uint64_t budget = w->r->limits.budget_ns / 100 * percent, used = bench_sweep_elapsed(w);
    return used < budget ? budget - used : 0;
}

/* Process 0 decides by the remaining budget. In the warm-up round, it decides whether the point `index` is
 * measured. In later rounds, it decides which points are left out. *on: false ends the sweep. Collective. */
static hpcw_status decide(struct bench_sweep_state *w, uint32_t repetition, size_t index, bool *on,
                          hpcw_error *err) {
    size_t n = w->r->points;
    unsigned char *active = hpcw_i_malloc(n + 1);
    hpcw_status s = active == NULL ? hpcw_i_fail_memory(err, NULL, n, "points") : HPCW_OK;
    s = hpcw_i_agree(w->processes->comm, s, NULL, err);
    if (s == HPCW_OK) {
        if (repetition == 0) {
            active[n] = 1;
            /* A resumed sweep keeps the decision of the interrupted sweep. */
            if (!w->resumed) {
                (void)bench_sweep_admit(w->o, w->r, w->planned, index, w->r->repeat + 1,
                                        left_ns(w, AIM_PERCENT), w->guess_ns);
            }
        } else {
            const uint32_t rounds = w->o->repeat != 0 ? w->r->repeat : BENCH_LEAST_REPEAT;
            active[n] = bench_sweep_fit(w->o, w->r, w->planned, rounds + 1, left_ns(w, 98));
        }
        for (size_t i = 0; i < n; i++) {
            active[i] = w->planned[i].active;
        }
        s = hpcw_i_comm_bcast(w->processes->comm, active, n + 1, 0, err);
    }
    for (size_t i = 0; s == HPCW_OK && i < n; i++) {
        w->planned[i].active = active[i] != 0;
    }
    *on = s == HPCW_OK && active[n] != 0 && bench_sweep_signalled(w) == 0;
    hpcw_i_free(active);
    return s;
}

/* Sets the order of the points in a round. The warm-up round has the order of priorities, so that the budget
 * goes to the most important points. Other rounds have a random order. */
static void order_of(struct bench_sweep_state *w, uint32_t repetition, size_t *order) {
    size_t n = w->r->points;
    for (size_t i = 0; i < n; i++) {
        size_t at = i;
        for (; repetition == 0 && at > 0 && w->planned[order[at - 1]].priority > w->planned[i].priority; at--) {
            order[at] = order[at - 1];
        }
        order[at] = i;
    }
    for (size_t i = n; repetition > 0 && i > 1; i--) {
        size_t k = (size_t)(bench_random(&w->random) % i);
        size_t swap = order[i - 1];
        order[i - 1] = order[k];
        order[k] = swap;
    }
}

/* Computes the number of rounds again, unless --repeat gives it. done: number of finished rounds. Collective. */
static hpcw_status count_rounds(struct bench_sweep_state *w, uint32_t done, hpcw_error *err) {
    if (w->o->repeat == 0) {
        const uint32_t least = done < BENCH_FEWEST_REPEAT ? BENCH_FEWEST_REPEAT - done : 0;
        w->r->repeat = done + bench_sweep_repeat(w->r, w->planned, left_ns(w, AIM_PERCENT), least,
                                                 BENCH_MOST_REPEAT - done);
    }
    return hpcw_i_comm_bcast(w->processes->comm, &w->r->repeat, sizeof w->r->repeat, 0, err);
}

/* Enlarges the runs if some warm-up runs were too short to count, and sets the number of repetitions.
 * Collective. */
static hpcw_status resize(struct bench_sweep_state *w, hpcw_error *err) {
    double scale = 1;
    for (size_t i = 0; i < w->r->points; i++) {
        if (w->planned[i].active) {
            scale = fmax(scale, w->aim_ns / (double)w->planned[i].run_ns);
        }
    }
    /* Runs become at most four times as large. Larger runs may meet limits that the warm-up runs did not meet. */
    scale = fmin(fmin(scale, 4), (double)w->most_bytes / (double)w->bytes);
    if (w->o->per_rank == 0 && scale > 1) {
        bench_sweep_sizes(w->o, w->r, (uint64_t)(scale * (double)w->bytes));
        for (size_t i = 0; i < w->r->points; i++) {
            w->planned[i].spent_ns = (uint64_t)((double)w->planned[i].spent_ns * scale);
        }
    }
    return count_rounds(w, 0, err);
}

/* Process 0 starts the display of the progress of `repetitions` repetitions, unless --quiet is given. prefix:
 * begin of the line. */
static hpcw_status show(struct bench_sweep_state *w, uint32_t repetitions, const char *prefix,
                        hpcw_error *err) {
    struct ui_progress_options shown = {.prefix = prefix, .share = true};
    ui_progress_stop(w->progress);
    w->progress = NULL;
    if (w->processes->process != 0 || w->o->quiet || w->o->dry_run) {
        return HPCW_OK;
    }
    for (size_t i = 0; i < w->r->points; i++) {
        const struct bench_point *p = &w->r->point[i];
        const uint64_t runs = repetitions > p->trials ? repetitions - p->trials : 0;
        shown.total += w->planned[i].active ? p->bytes * runs : 0;
    }
    return ui_progress_start(&shown, &w->progress, err);
}

/* Process 0 prints the number of points and rounds, and the smallest difference that they will show, unless
 * --quiet is given. */
static void tell_plan(struct bench_sweep_state *w) {
    size_t points = 0;
    uint64_t round_ns = 0;
    for (size_t i = 0; i < w->r->points; i++) {
        const struct bench_planned *p = &w->planned[i];
        points += p->active;
        round_ns += p->active && p->runs > 0 ? p->spent_ns / p->runs : 0;
    }
    w->plan_points = points;
    w->plan_rounds = w->r->repeat;
    if (w->processes->process == 0 && !w->o->quiet && points > 0) {
        char time[UI_TEXT_SIZE];
        const double seen = bench_sweep_seen(points, w->r->repeat, 0.05);
        (void)fprintf(stderr, "hpcw-bench: plan: %zu points, %u rounds of %s", points, w->r->repeat,
                      ui_text_duration(time, (double)round_ns / 1e9));
        (void)fprintf(stderr,
                      isfinite(seen) && points > 1
                          ? "; if runs scatter by 5 %%, differences above %.0f %% show\n"
                          : "; too little for a difference to show\n",
                      ceil(100 * seen));
    }
}

/* Process 0 prints the numbers of measured points and rounds if they differ from the plan, and a lowered limit
 * of the bytes of a run. With --quiet, prints nothing. */
static void tell_measured(const struct bench_sweep_state *w) {
    size_t points = 0;
    for (size_t i = 0; i < w->r->points; i++) {
        points += w->planned[i].active;
    }
    if (w->processes->process == 0 && !w->o->quiet && w->plan_points > 0 &&
        (points != w->plan_points || w->r->repeat != w->plan_rounds)) {
        (void)fprintf(stderr, "hpcw-bench: measured: %zu points, %u rounds; planned: %zu points, %u rounds\n",
                      points, w->r->repeat, w->plan_points, w->plan_rounds);
    }
    if (w->processes->process == 0 && !w->o->quiet && w->o->per_rank == 0 && w->o->least_bytes == 0 &&
        w->r->limits.least_bytes < BENCH_USUAL_BYTES) {
        char least[UI_TEXT_SIZE], usual[UI_TEXT_SIZE];
        (void)fprintf(
            stderr,
            "hpcw-bench: measured: runs of %s or more count, not of %s, as the budget is short; a cache "
            "of the storage may hold them\n",
            ui_text_bytes_binary(least, w->r->limits.least_bytes),
            ui_text_bytes_binary(usual, BENCH_USUAL_BYTES));
    }
}

/* After each run process 0 writes the results so far, in case the job is killed or MPI ends it. */
static hpcw_status keep(struct bench_sweep_state *w, hpcw_error *err) {
    hpcw_status s = w->processes->process == 0 ? bench_sweep_conclude(w, "not ended", err) : HPCW_OK;
    if (s == HPCW_OK && w->processes->process == 0) {
        s = bench_output_write(w->r, &w->output, err);
        for (size_t i = 0; i < w->r->points; i++) {
            struct bench_point *p = &w->r->point[i];
            if (w->planned[i].active && p->trials == 0) { /* the rounds will measure the point */
                p->fate = BENCH_MEASURED;
                p->reason[0] = '\0';
            }
        }
    }
    return hpcw_i_agree(w->processes->comm, s, NULL, err);
}

/* Returns whether the interrupted sweep has made this repetition of the point. The warm-up run, repetition 0,
 * is not needed if it has made all repetitions. */
static bool is_done(const struct bench_sweep_state *w, const struct bench_point *p, uint32_t repetition) {
    return w->resumed && p->trials >= (repetition == 0 ? w->r->repeat : repetition);
}

hpcw_status bench_sweep_rounds(struct bench_sweep_state *w, hpcw_error *err) {
    size_t *order = hpcw_i_malloc((w->r->points + 1) * sizeof *order);
    hpcw_status s = order == NULL ? hpcw_i_fail_memory(err, NULL, w->r->points, "points") : HPCW_OK;
    s = hpcw_i_agree(w->processes->comm, s, NULL, err);
    bool on = s == HPCW_OK;
    for (uint32_t repetition = 0; on && repetition <= w->r->repeat; repetition++) {
        if (repetition == 1) {
            s = w->resumed ? HPCW_OK : resize(w, err);
            if (w->o->dry_run) {
                break; /* the points and the number of rounds are known */
            }
            tell_plan(w);
        }
        if (repetition <= 1) {
            s = s == HPCW_OK ? show(w, repetition == 0 ? 1 : w->r->repeat,
                                    repetition == 0 ? "hpcw-bench: warm-up runs" : "hpcw-bench", err)
                             : s;
            s = hpcw_i_agree(w->processes->comm, s, NULL, err);
            on = s == HPCW_OK;
        }
        order_of(w, repetition, order);
        bool ran = false;
        for (size_t i = 0; on && i < w->r->points; i++) {
            if (is_done(w, &w->r->point[order[i]], repetition)) {
                continue;
            }
            s = decide(w, repetition, order[i], &on, err);
            if (on && w->planned[order[i]].active) {
                s = run_pair(w, order[i], repetition, err);
                s = s == HPCW_OK && repetition > 0 ? keep(w, err) : s;
                on = s == HPCW_OK;
                ran = true;
            }
        }
        if (on && repetition > 0 && ran) {
            s = count_rounds(w, repetition, err);
            on = s == HPCW_OK;
        }
    }
    ui_progress_stop(w->progress);
    w->progress = NULL;
    if (s == HPCW_OK && bench_sweep_signalled(w) == 0 && !w->o->dry_run) {
        tell_measured(w);
    }
    hpcw_i_free(order);
    return s;
}
