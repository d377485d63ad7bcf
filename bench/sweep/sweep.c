/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the points of the plan, each beside its ceiling, until all have their repetitions or the budget is used up. */
#include "bench/sweep/sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <hpcw/version.h>

#include "bench/count/sharing.h"
#include "bench/layout/layout.h"
#include "bench/measure/json.h"
#include "bench/measure/machine.h"
#include "bench/measure/random.h"
#include "bench/measure/timer.h"
#include "bench/report/metadata.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/shown.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/io/fsinfo.h"
#include "libwriter/io/sys.h"
#include "ui/cli/progress.h"
#include "ui/cli/text.h"

#define NS_PER_S UINT64_C(1000000000)

/* Factor by which runs are planned longer than they must be, so that faster ones still count. */
#define ENOUGH 1.25

/* Share of the budget that is planned, percent. The rest is a reserve for disks that become slower. */
enum { AIM_PERCENT = 85 };

/* Repetitions of metadata rates without --repeat. */
enum { METADATA_REPEAT = 5 };

/* Without --least-time, runs are planned for this time. Many short rounds tell more than few long ones. */
#define USUAL_SECONDS 0.25

/* The default of --least-bytes. No cache of a disk holds as many. */
#define USUAL_BYTES (UINT64_C(256) << 20)

struct sweep {
    const struct bench_options *o;
    const struct bench_processes *processes;
    struct bench_results *r;
    struct bench_planned *planned;
    struct bench_data data;
    char directory[BENCH_WORKDIR];
    char output[BENCH_PATH];    /* directory of the results, on process 0 */
    char no_direct[BENCH_NAME]; /* why O_DIRECT does not work, "" if it does */
    uint64_t begin_ns;
    double aim_ns;              /* planned time of a run */
    uint64_t guess_ns;          /* estimated time of a run with its ceiling */
    uint64_t bytes, most_bytes; /* planned bytes of a run, and the limit */
    uint64_t random;
    uint32_t order;
    bool resumed;                 /* points have runs of an earlier sweep */
    struct ui_progress *progress; /* NULL where nothing is shown */
};

static uint64_t elapsed_ns(const struct sweep *w) {
    return bench_timer_now() - w->begin_ns;
}

/* Returns the signal that any process received, or 0. Collective. */
static int signalled(const struct sweep *w) {
    uint64_t word = (uint64_t)bench_timer_stopped();
    struct hpcw_i_words words = {.maxs = 1, .word = &word};
    return hpcw_i_comm_allreduce(w->processes->comm, &words, NULL) == HPCW_OK ? (int)word
                                                                              : bench_timer_stopped();
}

/* ---- one run ---- */

/* Removes the files of a run. Collective. */
static hpcw_status clear(struct sweep *w, hpcw_error *err) {
    hpcw_error e;
    hpcw_status s =
        hpcw_i_agree(w->processes->comm, HPCW_OK, NULL, &e); /* no process uses the files any more */
    if (s == HPCW_OK && w->processes->process == 0) {
        s = bench_workdir_clear(w->directory, &e);
    }
    s = hpcw_i_agree(w->processes->comm, s, NULL, &e);
    if (s != HPCW_OK) {
        *err = e;
    }
    return s;
}

/* Touches as much memory as the page cache will take for the files. Without this, plain writes were up to seven
 * times as slow under a hypervisor. Touching more made runs less even. */
static void warm(const struct sweep *w, const struct bench_point *p) {
    const uint64_t processes = (uint64_t)w->processes->count;
    bench_machine_warm(p->bytes / processes, (unsigned)w->processes->count / (unsigned)w->processes->hosts);
}

static hpcw_status run(struct sweep *w, const struct bench_point *p, bool ceiling, struct bench_trial *t,
                       hpcw_error *err) {
    struct bench_shape shape = {.layout = p->layout,
                                .mode = p->mode,
                                .block_size = p->block_size,
                                .record_size = p->record_size,
                                .rank_size = p->rank_size,
                                .ranks = p->ranks,
                                .files = p->files,
                                .writers = w->o->writers,
                                .readers = w->o->readers,
                                .stonewall_ns = w->r->stonewall_ns,
                                .seed = w->o->seed};
    struct bench_work work;
    struct bench_sample sample;
    hpcw_status s = bench_work_init(&work, &shape, ceiling, w->processes, w->directory, &w->data, err);
    s = hpcw_i_agree(w->processes->comm, s, NULL, err);
    if (s == HPCW_OK) {
        warm(w, p);
        s = bench_timer_run(&bench_work_side, &work, w->processes, &sample, err);
    }
    if (s == HPCW_OK && !ceiling && w->o->verify) {
        s = bench_work_check(&work, err);
        s = hpcw_i_agree(w->processes->comm, s, NULL, err);
    }
    struct bench_sample reading = {0};
    if (s == HPCW_OK && !ceiling && w->o->read) {
        s = bench_timer_run(&bench_work_read_side, &work, w->processes, &reading, err);
    }
    bench_work_free(&work);
    hpcw_error e;
    s = bench_first_failure(s, clear(w, &e), err, &e);
    if (s == HPCW_OK) {
        *t = (struct bench_trial){.total_ns = sample.reached_ns[BENCH_CLOSE],
                                  .written_ns = sample.reached_ns[BENCH_WRITE],
                                  .read_ns = reading.total_ns,
                                  .read_bytes = reading.size_bytes,
                                  .others = sample.others};
        memcpy(t->first_ns, sample.first_ns, sizeof t->first_ns);
        memcpy(t->last_ns, sample.phase_ns, sizeof t->last_ns);
        memcpy(t->quartile_ns, sample.quartile_ns, sizeof t->quartile_ns);
        t->bytes = w->r->stonewall_ns == 0 ? 0 : sample.size_bytes;
        t->slowest_process = sample.slowest;
        if (w->processes->hosts > 1) {
            memcpy(t->slowest_host, w->processes->name[bench_processes_host(w->processes, sample.slowest)],
                   sizeof t->slowest_host);
        }
    }
    return s;
}

/* ---- a point and its ceiling ---- */

/* Checks whether the disk of `directory` and --max-bytes have room for a run of the point. */
static hpcw_status room_for(const struct sweep *w, const char *directory, const struct bench_point *p,
                            hpcw_error *err) {
    uint64_t space = 0;
    hpcw_status s = hpcw_i_fs_space(directory, &space, NULL, err);
    /* Holes take no space. The data, the last block of each rank and a container's tables do. */
    const uint64_t needed = p->bytes + p->ranks * (2 * w->r->fs.block_size + 64) + (UINT64_C(1) << 16);
    const bool full = needed > space;
    const uint64_t most = full ? space : w->o->max_bytes;
    char needed_text[UI_TEXT_SIZE], most_text[UI_TEXT_SIZE];
    return s != HPCW_OK || needed <= most
               ? s
               : hpcw_i_fail(err, HPCW_ENOTSUP,
                             "%s: expected %" PRIu64 " bytes of %s for a run, got %" PRIu64
                             " (%s, got %s); use a smaller --per-rank or %s",
                             w->r->directory, needed, full ? "free space" : "--max-bytes", most,
                             ui_text_bytes(needed_text, needed), ui_text_bytes(most_text, most),
                             full ? "a directory with more free space" : "a larger --max-bytes");
}

/* Checks whether runs may be as large as they must be to count. */
static hpcw_status check_limit(const struct sweep *w, hpcw_error *err) {
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

/* Says that the runs of --per-rank are too small to count. Without --per-rank, check_limit decides. */
static void warn_small(const struct sweep *w, const char *before, FILE *stream) {
    char size[UI_TEXT_SIZE], least[UI_TEXT_SIZE];
    if (w->o->per_rank != 0 && w->bytes < w->r->limits.least_bytes) {
        (void)fprintf(
            stream,
            "%s--per-rank: runs of %s are below --least-bytes, %s, and no point will be compared; use a "
            "larger --per-rank or a smaller --least-bytes\n",
            before, ui_text_bytes_binary(size, w->bytes),
            ui_text_bytes_binary(least, w->r->limits.least_bytes));
    }
}

/* Records in a point of the sweep that a run of it failed. Collective. */
static hpcw_status note_failure(struct sweep *w, size_t index, hpcw_status s, const hpcw_error *e) {
    struct bench_point *p = &w->r->point[index];
    if (signalled(w) != 0) {
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

/* Runs one repetition of a point and its ceiling; repetition 0 warms up. A failure of the point is noted, not
 * returned. Collective. */
static hpcw_status run_pair(struct sweep *w, size_t index, uint32_t repetition, hpcw_error *err) {
    struct bench_point *p = &w->r->point[index];
    struct bench_trial trial[2]; /* the layout's, the ceiling's */
    hpcw_error e;
    uint64_t begin = bench_timer_now();
    uint64_t ceiling_first = bench_random(&w->random) & 1;
    ui_progress_label(w->progress, p->id);
    hpcw_status s = hpcw_i_agree(w->processes->comm, room_for(w, w->directory, p, &e), NULL, &e);
    for (uint64_t i = 0; s == HPCW_OK && i < 2; i++) {
        uint64_t side = i ^ ceiling_first;
        s = run(w, p, side == 1, &trial[side], &e);
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

/* ---- the whole ---- */

static uint64_t left_ns(const struct sweep *w, unsigned percent) {
    uint64_t budget = w->r->limits.budget_ns / 100 * percent, used = elapsed_ns(w);
    return used < budget ? budget - used : 0;
}

/* Process 0 decides what the budget still allows. In the warm-up round, this is whether the point `index` is
 * measured. In later rounds, it is which points are left out. *on: whether to go on. Collective. */
static hpcw_status decide(struct sweep *w, uint32_t repetition, size_t index, bool *on, hpcw_error *err) {
    size_t n = w->r->points;
    unsigned char *active = hpcw_i_malloc(n + 1);
    hpcw_status s = active == NULL ? hpcw_i_fail_memory(err, NULL, n, "points") : HPCW_OK;
    s = hpcw_i_agree(w->processes->comm, s, NULL, err);
    if (s == HPCW_OK) {
        if (repetition == 0) {
            active[n] = 1;
            /* A sweep that goes on has decided this before. */
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
    *on = s == HPCW_OK && active[n] != 0 && signalled(w) == 0;
    hpcw_i_free(active);
    return s;
}

/* Sets the order of the points in a round. The warm-up round goes by priority, so that points without a share of
 * the budget do not begin. Other rounds have a random order. */
static void order_of(struct sweep *w, uint32_t repetition, size_t *order) {
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

/* Sets the number of rounds after `done` of them, unless --repeat gives it. Collective. */
static hpcw_status count_rounds(struct sweep *w, uint32_t done, hpcw_error *err) {
    if (w->o->repeat == 0) {
        const uint32_t least = done < BENCH_FEWEST_REPEAT ? BENCH_FEWEST_REPEAT - done : 0;
        w->r->repeat = done + bench_sweep_repeat(w->r, w->planned, left_ns(w, AIM_PERCENT), least,
                                                 BENCH_MOST_REPEAT - done);
    }
    return hpcw_i_comm_bcast(w->processes->comm, &w->r->repeat, sizeof w->r->repeat, 0, err);
}

/* Enlarges the runs if some warm-up runs were too short to count, and sets the number of repetitions.
 * Collective. */
static hpcw_status resize(struct sweep *w, hpcw_error *err) {
    double scale = 1;
    for (size_t i = 0; i < w->r->points; i++) {
        if (w->planned[i].active) {
            scale = fmax(scale, w->aim_ns / (double)w->planned[i].run_ns);
        }
    }
    /* Runs of more than four times the size may meet other limits. */
    scale = fmin(fmin(scale, 4), (double)w->most_bytes / (double)w->bytes);
    if (w->o->per_rank == 0 && scale > 1) {
        bench_sweep_sizes(w->o, w->r, (uint64_t)(scale * (double)w->bytes));
        for (size_t i = 0; i < w->r->points; i++) {
            w->planned[i].spent_ns = (uint64_t)((double)w->planned[i].spent_ns * scale);
        }
    }
    return count_rounds(w, 0, err);
}

/* Shows the progress of these repetitions, after the prefix. On process 0, unless it is to be quiet. */
static hpcw_status show(struct sweep *w, uint32_t repetitions, const char *prefix, hpcw_error *err) {
    struct ui_progress_options shown = {.prefix = prefix};
    ui_progress_stop(w->progress);
    w->progress = NULL;
    if (w->processes->process != 0 || w->o->quiet) {
        return HPCW_OK;
    }
    for (size_t i = 0; i < w->r->points; i++) {
        const struct bench_point *p = &w->r->point[i];
        const uint64_t runs = repetitions > p->trials ? repetitions - p->trials : 0;
        shown.total += w->planned[i].active ? p->bytes * runs : 0;
    }
    return ui_progress_start(&shown, &w->progress, err);
}

/* Tells the points, the rounds, and how small a difference will show. On process 0, unless it is to be quiet. */
static void tell_plan(const struct sweep *w) {
    size_t points = 0;
    uint64_t round_ns = 0;
    for (size_t i = 0; i < w->r->points; i++) {
        const struct bench_planned *p = &w->planned[i];
        points += p->active;
        round_ns += p->active && p->runs > 0 ? p->spent_ns / p->runs : 0;
    }
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

/* Counts the blocks that several processes share or, if `hosts`, several hosts. */
static hpcw_status count_owners(const struct bench_processes *processes, uint32_t writers,
                                struct bench_geometry *g, bool hosts, uint64_t *blocks, hpcw_error *err) {
    uint32_t *owner = hpcw_i_malloc((size_t)g->ranks * sizeof *owner);
    struct bench_sharing c = {0};
    if (owner == NULL) {
        return hpcw_i_fail_memory(err, NULL, g->ranks, "ranks");
    }
    for (int p = 0; p < processes->count; p++) {
        uint32_t end = bench_work_first(g->ranks, writers, p + 1);
        for (uint32_t r = bench_work_first(g->ranks, writers, p); r < end; r++) {
            owner[r] = (uint32_t)(hosts ? bench_processes_host(processes, p) : p);
        }
    }
    g->owner = owner;
    hpcw_status s = bench_sharing_count(g, &c, err);
    g->owner = NULL;
    hpcw_i_free(owner);
    *blocks = c.owner_blocks;
    return s;
}

/* Counts the shared blocks of all points. */
static hpcw_status count_shared(const struct bench_processes *processes, struct bench_results *r,
                                hpcw_error *err) {
    for (size_t i = 0; i < r->points; i++) {
        struct bench_point *p = &r->point[i];
        struct bench_geometry g = {.layout = p->layout,
                                   .ranks = p->ranks,
                                   .fs_block = r->fs.block_size,
                                   .rank_bytes = p->rank_size,
                                   .record_bytes = p->record_size,
                                   .container_block = p->block_size,
                                   .files = p->files};
        struct bench_sharing c;
        if (p->blocks.counted) {
            continue;
        }
        hpcw_status s = bench_sharing_count(&g, &c, err);
        s = s == HPCW_OK ? count_owners(processes, r->writers, &g, false, &p->blocks.by_processes, err) : s;
        s = s == HPCW_OK ? count_owners(processes, r->writers, &g, true, &p->blocks.by_hosts, err) : s;
        if (s != HPCW_OK) {
            return s;
        }
        p->blocks.counted = true;
        p->blocks.all = c.blocks;
        p->blocks.shared = c.shared_blocks;
    }
    return HPCW_OK;
}

/* Computes all figures from the runs so far. */
static hpcw_status compute(const struct bench_processes *processes, struct bench_results *r, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (size_t i = 0; s == HPCW_OK && i < r->points; i++) {
        s = bench_results_rate(&r->point[i], err);
    }
    s = s == HPCW_OK ? count_shared(processes, r, err) : s;
    return s != HPCW_OK ? s : r->metadatas > 0 ? bench_metadata_conclude(r, err) : bench_results_advise(r, err);
}

/* Computes the results so far. `why`: why the sweep ended early, "" if it did not. */
static hpcw_status conclude(struct sweep *w, const char *why, hpcw_error *err) {
    struct bench_results *r = w->r;
    r->complete = true;
    for (size_t i = 0; i < r->points; i++) {
        struct bench_point *p = &r->point[i];
        if (p->fate == BENCH_MEASURED && p->trials < r->repeat) {
            r->complete = false;
            if (p->trials == 0) {
                p->fate = BENCH_LEFT_OUT;
                (void)snprintf(p->reason, sizeof p->reason, "%s", bench_sweep_ended);
            }
        }
    }
    (void)snprintf(r->stopped, sizeof r->stopped, "%s", why);
    r->elapsed_ns = elapsed_ns(w);
    return compute(w->processes, r, err);
}

/* After each run process 0 writes the results so far, in case the job is killed or MPI ends it. */
static hpcw_status keep(struct sweep *w, hpcw_error *err) {
    hpcw_status s = w->processes->process == 0 ? conclude(w, "not ended", err) : HPCW_OK;
    if (s == HPCW_OK && w->processes->process == 0) {
        s = bench_output_write(w->r, w->output, err);
        for (size_t i = 0; i < w->r->points; i++) {
            struct bench_point *p = &w->r->point[i];
            if (w->planned[i].active && p->trials == 0) { /* it is measured later */
                p->fate = BENCH_MEASURED;
                p->reason[0] = '\0';
            }
        }
    }
    return hpcw_i_agree(w->processes->comm, s, NULL, err);
}

/* Returns whether an earlier sweep has this repetition of the point. The warm-up run, 0, is done if the earlier
 * sweep has all repetitions. */
static bool is_done(const struct sweep *w, const struct bench_point *p, uint32_t repetition) {
    return w->resumed && p->trials >= (repetition == 0 ? w->r->repeat : repetition);
}

static hpcw_status run_all(struct sweep *w, hpcw_error *err) {
    size_t *order = hpcw_i_malloc((w->r->points + 1) * sizeof *order);
    hpcw_status s = order == NULL ? hpcw_i_fail_memory(err, NULL, w->r->points, "points") : HPCW_OK;
    s = hpcw_i_agree(w->processes->comm, s, NULL, err);
    bool on = s == HPCW_OK;
    for (uint32_t repetition = 0; on && repetition <= w->r->repeat; repetition++) {
        if (repetition == 1) {
            s = w->resumed ? HPCW_OK : resize(w, err);
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
    hpcw_i_free(order);
    return s;
}

#define NO_DISK "%.26s is memory, with no disk for O_DIRECT"

/* Sets `why` to the reason why O_DIRECT reaches no disk with the alignment of the layouts, or to "" if it does. An
 * open and a write do not show that on tmpfs: both succeed, and its files are the page cache. */
static void try_direct(const struct sweep *w, char why[BENCH_NAME]) {
    const struct bench_fs *fs = &w->r->fs;
    char path[BENCH_PATH];
    int fd, e = EINVAL;
    if (bench_fs_is_memory(fs)) {
        (void)snprintf(why, BENCH_NAME, NO_DISK, fs->type);
        return;
    }
    if (!fs->direct_known || fs->direct_memory != 0) {
        (void)snprintf(path, sizeof path, "%s/direct", w->directory);
        e = hpcw_i_sys_open(path, O_RDWR | O_CREAT | O_DIRECT, 0600, &fd);
        if (e == 0) {
            e = hpcw_i_sys_pwrite(fd, w->data.source, BENCH_MEMORY_ALIGN, 0);
            (void)hpcw_i_sys_close(fd);
        }
        (void)hpcw_i_sys_unlink(path);
    }
    (void)snprintf(why, BENCH_NAME, "%s",
                   e == 0        ? ""
                   : e == EINVAL ? "the file system has no O_DIRECT"
                                 : "O_DIRECT could not be tried");
}

/* Notes the facts of the file system. */
static void note_file_system(struct sweep *w, const struct hpcw_i_fsinfo *found) {
    struct bench_fs *fs = &w->r->fs;
    const bool known = found->block_bytes != 0;
    memcpy(fs->type, found->type, sizeof fs->type);
    fs->magic = found->magic;
    fs->block_size = known ? found->block_bytes : w->r->machine.block_size;
    fs->free_bytes = w->r->machine.space;
    (void)snprintf(fs->block_source, sizeof fs->block_source, "%s", known ? found->block_source : "assumed");
    fs->direct_known = found->direct_known;
    fs->direct_memory = found->direct_memory;
    fs->direct_offset = found->direct_offset;
    (void)snprintf(fs->direct_source, sizeof fs->direct_source, "%s", found->direct_source);
    fs->stripe_known = found->stripe_known;
    fs->stripe_count = found->stripe.stripes;
    fs->stripe_size = found->stripe.stripe_bytes;
    (void)snprintf(fs->stripe_source, sizeof fs->stripe_source, "%s", found->stripe_source);
}

/* Asks the file system about a new file in the directory of the data. On process 0 only. */
static hpcw_status look(struct sweep *w, hpcw_error *err) {
    const struct hpcw_i_stripes stripes = {.count = w->o->stripe_count, .bytes = w->o->stripe_size};
    struct bench_fs *fs = &w->r->fs;
    struct hpcw_i_fsinfo found;
    char path[BENCH_PATH];
    int fd;
    hpcw_status s = HPCW_OK;
    if (stripes.count != 0 || stripes.bytes != 0) {
        s = hpcw_i_fs_set_stripe(NULL, w->directory, &stripes, err);
        fs->stripes_asked = true;
        fs->stripe_count_asked = stripes.count;
        fs->stripe_size_asked = stripes.bytes;
    }
    (void)snprintf(path, sizeof path, "%s/data", w->directory);
    int e = s == HPCW_OK ? hpcw_i_sys_open(path, O_RDWR | O_CREAT, 0600, &fd) : 0;
    if (s != HPCW_OK || e != 0) {
        return s != HPCW_OK ? s : hpcw_i_fail_sys(err, e, "%s: cannot create", path);
    }
    (void)hpcw_i_sys_close(fd);
    s = hpcw_i_fsinfo_look(NULL, path, w->o->fs_block, &found, err);
    (void)hpcw_i_sys_unlink(path);
    if (s != HPCW_OK) {
        return s;
    }
    note_file_system(w, &found);
    return HPCW_OK;
}

/* Sets how much a run writes at first, and how much it may write. Collective. */
static hpcw_status limit_sizes(struct sweep *w, hpcw_error *err) {
    const struct bench_limit limit = bench_results_limit(w->r);
    uint64_t most = limit.there / limit.parts;
    hpcw_status s = hpcw_i_comm_bcast(w->processes->comm, &most, sizeof most, 0, err);
    w->most_bytes = most;
    w->bytes = w->o->per_rank != 0               ? w->o->per_rank * bench_sweep_ranks(w->o, w->r)
               : w->r->limits.least_bytes < most ? w->r->limits.least_bytes
                                                 : most;
    return s;
}

/* Finds how many bytes a run must write to count. The plain loop runs with more and more bytes, until a run takes
 * at least half of the time. Collective. */
static hpcw_status probe(struct sweep *w, hpcw_error *err) {
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
        s = run(w, &p, true, &t, &e);
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
    if (!given) {
        /* A slow disk gets smaller runs, so that the budget has time for the points that come first. */
        const double most = bench_sweep_run_seconds(w->o->budget, w->o->budget) / ns * 1e9 * (double)size;
        if (w->o->least_bytes == 0 && most < (double)w->r->limits.least_bytes) {
            w->r->limits.least_bytes = (uint64_t)most + 1;
        }
        s = hpcw_i_agree(w->processes->comm, check_limit(w, err), NULL, err);
        if (s != HPCW_OK) {
            return s;
        }
        w->bytes = (uint64_t)fmin(fmax(w->aim_ns / ns * (double)size, (double)w->r->limits.least_bytes),
                                  (double)w->most_bytes);
    }
    w->guess_ns = (uint64_t)(2 * ns / (double)size * (double)w->bytes);
    bench_sweep_sizes(w->o, w->r, w->bytes);
    return HPCW_OK;
}

/* Returns the largest number of runs of a point, without the warm-up run. */
static size_t most_runs(const struct sweep *w) {
    return w->o->repeat == 0 ? BENCH_MOST_REPEAT : w->o->repeat;
}

static hpcw_status allocate_trials(struct sweep *w, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    const size_t most = most_runs(w);
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

/* Says how many runs an earlier sweep has made and how many are to do. On process 0, unless it is to be quiet. */
static void tell_resumed(const struct sweep *w) {
    size_t kept = 0, left = 0;
    for (size_t i = 0; i < w->r->points; i++) {
        const struct bench_point *p = &w->r->point[i];
        kept += p->trials;
        left += w->planned[i].active && p->trials < w->r->repeat ? w->r->repeat - p->trials : 0;
    }
    if (w->processes->process != 0 || w->o->quiet) {
        return;
    }
    if (w->resumed) {
        (void)fprintf(stderr, "hpcw-bench: %s: %zu runs kept, %zu to do, each with its ceiling\n", w->output,
                      kept, left);
    } else {
        (void)fprintf(stderr, "hpcw-bench: %s: no results to go on with: the sweep begins\n", w->output);
    }
}

/* Takes over the results of the interrupted sweep in the directory for the results, if there are any.
 * Collective. */
static hpcw_status resume(struct sweep *w, hpcw_error *err) {
    struct bench_results earlier;
    hpcw_status s = bench_sweep_earlier(w->processes, w->output, &earlier, &w->resumed, err);
    if (s == HPCW_OK && w->resumed) {
        s = bench_sweep_take_over(w->r, w->planned, most_runs(w), &earlier, w->output, &w->order, err);
        s = hpcw_i_agree(w->processes->comm, s, NULL, err);
        w->begin_ns -= w->r->elapsed_ns; /* both sweeps share one budget */
    }
    bench_results_free(&earlier);
    if (s == HPCW_OK) {
        tell_resumed(w);
    }
    return s;
}

/* Notes the facts that are known before planning. */
static hpcw_status describe(struct sweep *w, const char *directory, const char *command, hpcw_error *err) {
    struct bench_results *r = w->r;
    const struct bench_options *o = w->o;
    if (o->readers > (uint32_t)w->processes->count || o->writers > (uint32_t)w->processes->count) {
        bool writers = o->writers > (uint32_t)w->processes->count;
        return hpcw_i_fail(err, HPCW_EINVAL, "--%s: expected at most the number of processes, %d, got %u",
                           writers ? "writers" : "readers", w->processes->count,
                           writers ? o->writers : o->readers);
    }
    if (o->stonewall > 0 && (o->read || o->verify)) {
        return hpcw_i_fail(
            err, HPCW_EINVAL,
            "--stonewall: expected neither --read nor --verify, since not everything is written");
    }
    hpcw_status s = bench_machine_describe(&r->machine, directory, err);
    if (s != HPCW_OK) {
        return s;
    }
    if (o->stripe_count != 0 || o->stripe_size != 0) {
        const struct hpcw_i_stripes stripes = {.count = o->stripe_count, .bytes = o->stripe_size};
        s = hpcw_i_fs_can_stripe(NULL, directory, &stripes, err);
        if (s != HPCW_OK) {
            return s;
        }
    }
    bench_json_now(r->time);
    char *plain = hpcw_i_sys_real_path(directory);
    (void)snprintf(r->directory, sizeof r->directory, "%s", plain != NULL ? plain : directory);
    hpcw_i_free(plain);
    hpcw_i_shown(r->directory);
    (void)gethostname(r->host, sizeof r->host - 1);
    (void)snprintf(r->version, sizeof r->version, "%s", hpcw_version());
    (void)snprintf(r->mpi, sizeof r->mpi, "%s", w->processes->library);
    (void)snprintf(r->command, sizeof r->command, "%s", command);
    if (r->mpi[0] == '\0') {
#ifdef HPCW_BENCH_MPI
        const char *why = "MPI-IO needs processes that were started by mpirun";
#else
        const char *why = "this build has no MPI";
#endif
        (void)snprintf(r->left_out_mpi, sizeof r->left_out_mpi, "%s", why);
    }
    r->processes = w->processes->count;
    r->hosts = w->processes->hosts;
    r->stonewall_ns = (uint64_t)(o->stonewall * (double)NS_PER_S);
    r->writers = o->writers != 0 ? o->writers : (uint32_t)r->processes;
    r->readers = o->readers != 0 ? o->readers : (uint32_t)r->processes;
    r->variables = bench_environment(r->variable);
    r->seed = o->seed;
    r->repeat = o->repeat != 0 ? o->repeat : o->metadata ? METADATA_REPEAT : BENCH_LEAST_REPEAT;
    r->limits.least_bytes = o->least_bytes != 0 ? o->least_bytes : USUAL_BYTES;
    /* The default limit is far below the planned time: the disk may become faster after the probe. */
    const double least = o->least_time > 0 ? o->least_time : BENCH_LEAST_SECONDS / ENOUGH;
    w->aim_ns = (double)NS_PER_S *
                (o->least_time > 0 ? ENOUGH * least : bench_sweep_run_seconds(o->budget, USUAL_SECONDS));
    r->limits.least_ns = (uint64_t)(least * (double)NS_PER_S);
    r->limits.budget_ns = (uint64_t)(o->budget * (double)NS_PER_S);
    r->limits.max_bytes = o->max_bytes;
    r->verify = o->verify;
    return HPCW_OK;
}

/* Makes the directory of the data and asks its file system. Collective. */
static hpcw_status settle_in(struct sweep *w, const char *directory, hpcw_error *err) {
    hpcw_status s = bench_workdir_make(w->processes, directory, w->directory, err);
    if (s != HPCW_OK) {
        return s;
    }
    s = hpcw_i_agree(w->processes->comm, w->processes->process == 0 ? look(w, err) : HPCW_OK, NULL, err);
    return s == HPCW_OK ? hpcw_i_comm_bcast(w->processes->comm, &w->r->fs, sizeof w->r->fs, 0, err) : s;
}

static hpcw_status measure(struct sweep *w, const char *directory, hpcw_error *err) {
    uint64_t largest = 1;
    for (size_t i = 0; i < w->o->records.count; i++) {
        largest = w->o->records.at[i] > largest ? w->o->records.at[i] : largest;
    }
    if (w->o->per_rank != 0 && largest > w->o->per_rank) {
        largest = w->o->per_rank;
    }
    hpcw_status s = bench_data_init(&w->data, w->o->seed, largest, err);
    s = hpcw_i_agree(w->processes->comm, s, NULL, err);
    if (s == HPCW_OK) {
        s = settle_in(w, directory, err);
    }
    if (s == HPCW_OK) {
        if (w->processes->process == 0) {
            try_direct(w, w->no_direct);
        }
        s = hpcw_i_comm_bcast(w->processes->comm, w->no_direct, sizeof w->no_direct, 0, err);
    }
    if (s == HPCW_OK) {
        s = limit_sizes(w, err);
    }
    if (s == HPCW_OK) {
        s = bench_sweep_plan(w->o, w->no_direct, w->bytes, w->r, &w->planned, err);
        s = hpcw_i_agree(w->processes->comm, s, NULL, err);
    }
    if (s == HPCW_OK) {
        s = allocate_trials(w, err);
    }
    if (s == HPCW_OK && w->o->resume) {
        s = resume(w, err);
    }
    if (s == HPCW_OK && w->processes->process == 0 && !w->o->quiet) {
        warn_small(w, "hpcw-bench: ", stderr);
    }
    if (s == HPCW_OK && !w->resumed) {
        s = hpcw_i_agree(w->processes->comm, room_for(w, w->directory, &w->r->point[0], err), NULL, err);
        s = s == HPCW_OK ? probe(w, err) : s;
    }
    if (s == HPCW_OK) {
        s = run_all(w, err);
    }
    ui_progress_stop(w->progress);
    return s;
}

/* Prints what a sweep would fail for. A slow file system gets smaller runs, which the probe of a sweep finds: so the
 * limit that check_limit knows is one from a rate of plain writes on. */
static void print_warnings(const struct sweep *w, const char *directory) {
    hpcw_error e;
    if (room_for(w, directory, &w->r->point[0], &e) != HPCW_OK ||
        (w->o->least_bytes != 0 && check_limit(w, &e) != HPCW_OK)) {
        (void)printf("warning: %s\n", e.message);
    } else if (check_limit(w, &e) != HPCW_OK) {
        char rate[UI_TEXT_SIZE];
        const double seconds = bench_sweep_run_seconds(w->o->budget, w->o->budget);
        (void)printf("warning: if plain writes are faster than %s: %s\n",
                     ui_text_rate(rate, (double)w->most_bytes / seconds), e.message);
    }
    warn_small(w, "warning: ", stdout);
}

/* Prints the plan, by facts that are known without writing a file. Collective. */
static hpcw_status plan_only(struct sweep *w, const char *directory, hpcw_error *err) {
    struct hpcw_i_fsinfo found;
    hpcw_status s = hpcw_i_fsinfo_look(NULL, directory, w->o->fs_block, &found, err);
    s = hpcw_i_agree(w->processes->comm, s, NULL, err);
    if (s == HPCW_OK) {
        note_file_system(w, &found);
        if (bench_fs_is_memory(&w->r->fs)) {
            (void)snprintf(w->no_direct, sizeof w->no_direct, NO_DISK, w->r->fs.type);
        }
        s = limit_sizes(w, err);
    }
    if (s == HPCW_OK) {
        s = bench_sweep_plan(w->o, w->no_direct, w->bytes, w->r, &w->planned, err);
        s = s == HPCW_OK && w->processes->process == 0 ? bench_output_plan(w->o, w->r, w->planned, stdout, err)
                                                       : s;
        if (s == HPCW_OK && w->processes->process == 0) {
            print_warnings(w, directory);
        }
        s = hpcw_i_agree(w->processes->comm, s, NULL, err);
    }
    return s;
}

/* A sweep that has points but measured none of them failed. */
static hpcw_status expect_some(const struct bench_results *r, const char *directory, hpcw_error *err) {
    for (size_t i = 0; i < r->points; i++) {
        if (r->point[i].fate == BENCH_MEASURED) {
            return HPCW_OK;
        }
    }
    return r->points == 0 ? HPCW_OK
                          : hpcw_i_fail(err, HPCW_ENOTSUP, "%s: nothing was measured: %s: %s", directory,
                                        r->point[0].id, r->point[0].reason);
}

hpcw_status bench_sweep(const struct bench_options *options, const char *directory, const char *command,
                        const struct bench_processes *processes, bool *failed, hpcw_error *err) {
    struct bench_results results = {0};
    struct bench_options own = *options; /* all processes use the options of process 0 */
    struct sweep w = {.o = &own, .processes = processes, .r = &results, .begin_ns = bench_timer_now()};
    *failed = false;
    hpcw_status s = hpcw_i_comm_bcast(processes->comm, &own, sizeof own, 0, err);
    w.random = own.seed;
    if (s == HPCW_OK) {
        s = describe(&w, directory, command, err);
        s = hpcw_i_agree(processes->comm, s, NULL, err);
    }
    if (s == HPCW_OK && own.dry_run) {
        s = plan_only(&w, directory, err);
        goto done;
    }
    if (s == HPCW_OK && processes->process == 0) {
        s = own.resume && own.output[0] == '\0'
                ? hpcw_i_fail(err, HPCW_EINVAL,
                              "--resume: expected --out DIR, where the interrupted sweep has its results")
                : bench_output_make(&own, &results, w.output, err);
    }
    s = hpcw_i_agree(processes->comm, s, NULL, err);
    if (s != HPCW_OK) {
        goto done;
    }
    if (own.metadata) {
        s = settle_in(&w, directory, err);
        s = s == HPCW_OK ? bench_sweep_metadata(&own, w.directory, w.begin_ns, processes, &results, err) : s;
    } else {
        s = measure(&w, directory, err);
    }
    bench_workdir_remove(processes, w.directory);
    int signal = signalled(&w);
    char why[sizeof results.stopped] = "";
    if (signal != 0) {
        (void)snprintf(why, sizeof why, "interrupted (signal %d)", signal);
    }
    if (s == HPCW_OK) {
        s = conclude(&w, why, err);
    }
    for (size_t i = 0; i < results.points; i++) {
        *failed = *failed || results.point[i].fate == BENCH_FAILED;
    }
    for (size_t i = 0; i < results.metadatas; i++) {
        *failed = *failed || results.metadata[i].reason[0] != '\0';
    }
    if (s == HPCW_OK && processes->process == 0) {
        s = bench_output_write(&results, w.output, err);
        s = s == HPCW_OK ? bench_output_draw(&results, w.output, err) : s;
        if (s == HPCW_OK && own.json) {
            s = bench_results_write_json(&results, NULL, err);
        } else if (s == HPCW_OK && !own.quiet) {
            (void)printf("results: %s\n\n", w.output);
            s = bench_output_print(&results, stdout, err);
        }
        if (s == HPCW_OK && signal != 0 && !own.metadata && !own.quiet) {
            (void)fprintf(stderr, "hpcw-bench: interrupted: the same command with --out %s --resume goes on\n",
                          w.output);
        }
        s = s == HPCW_OK && signal == 0 && !*failed ? expect_some(&results, directory, err) : s;
    }
    s = hpcw_i_agree(processes->comm, s, NULL, err);
    if (s != HPCW_OK && w.output[0] != '\0') {
        (void)hpcw_i_sys_rmdir(w.output); /* only if it is empty */
    }
done:
    bench_data_free(&w.data);
    hpcw_i_free(w.planned);
    bench_results_free(&results);
    return s;
}
