/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes over the results of a sweep that was interrupted. */
#include <stdio.h>
#include <string.h>

#include "bench/sweep/state.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/io/dir.h"

enum { MOST_BYTES = 256 << 20 };

/* ---- reading ---- */

/* Reads the text of results.json, whose path is for messages. *text is NULL if there is no such file. On process 0
 * only. */
static hpcw_status read_text(struct hpcw_i_dir *dir, const char *path, unsigned char **text, size_t *size,
                             hpcw_error *err) {
    struct hpcw_i_entry entry = {.kind = HPCW_I_NOTHING};
    int at = -1;
    *text = NULL;
    *size = 0;
    int e = dir == NULL ? 0 : hpcw_i_dir_fd(dir, &at);
    e = e == 0 && dir != NULL ? hpcw_i_sys_look_at(at, "results.json", &entry) : e;
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s: cannot look at it", path);
    }
    if (entry.kind == HPCW_I_NOTHING) {
        return HPCW_OK;
    }
    hpcw_status s = bench_read_file_at(at, "results.json", path, MOST_BYTES, text, size, err);
    return s == HPCW_OK && *size == 0
               ? hpcw_i_fail(err, HPCW_EFORMAT,
                             "%s: expected the results of a sweep, got an empty file: choose another --out",
                             path)
               : s;
}

/* Process 0 reads the results in the directory and gives them to all processes. *there: whether there are results.
 * Collective. */
static hpcw_status earlier_of(const struct bench_processes *processes, const struct bench_output *output,
                              struct bench_results *earlier, bool *there, hpcw_error *err) {
    char path[BENCH_PATH + 16];
    unsigned char *text = NULL;
    size_t size = 0;
    *earlier = (struct bench_results){0};
    (void)snprintf(path, sizeof path, "%s/results.json", output->path);
    hpcw_status s = processes->process == 0 ? read_text(output->dir, path, &text, &size, err) : HPCW_OK;
    s = hpcw_i_agree(processes->comm, s, NULL, err);
    s = s == HPCW_OK ? hpcw_i_comm_bcast(processes->comm, &size, sizeof size, 0, err) : s;
    *there = size > 0;
    if (s == HPCW_OK && size > 0) {
        if (processes->process != 0) {
            text = hpcw_i_malloc(size);
            s = text == NULL ? hpcw_i_fail_memory(err, path, size, "bytes") : HPCW_OK;
        }
        s = hpcw_i_agree(processes->comm, s, NULL, err);
        s = s == HPCW_OK ? hpcw_i_comm_bcast(processes->comm, text, size, 0, err) : s;
        if (s == HPCW_OK) {
            s = bench_results_parse(earlier, path, (const char *)text, size, err);
            s = hpcw_i_agree(processes->comm, s, NULL, err);
        }
    }
    hpcw_i_free(text);
    return s;
}

/* ---- taking over ---- */

static hpcw_status check_same(const struct bench_results *r, const struct bench_results *earlier,
                              const char *output, hpcw_error *err) {
    char ours[2][96], theirs[2][96];
    const struct bench_results *const sweep[] = {r, earlier};
    for (size_t i = 0; i < 2; i++) {
        (void)snprintf(i == 0 ? ours[0] : theirs[0], sizeof ours[0], "%d on %d host%s", sweep[i]->processes,
                       sweep[i]->hosts, sweep[i]->hosts == 1 ? "" : "s");
        (void)snprintf(i == 0 ? ours[1] : theirs[1], sizeof ours[1], "%u and %.30s",
                       sweep[i]->machine.processors, sweep[i]->fs.type);
    }
    const struct {
        const char *what, *ours, *theirs;
    } row[] = {
        {"directory", r->directory, earlier->directory},
        {"options", r->command, earlier->command},
        {"processes", ours[0], theirs[0]},
        {"processors and file system", ours[1], theirs[1]},
        {"processor", r->machine.processor, earlier->machine.processor},
        {"MPI", r->mpi, earlier->mpi},
        {"version of hpcw", r->version, earlier->version},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        if (strcmp(row[i].ours, row[i].theirs) != 0) {
            return hpcw_i_fail(err, HPCW_EMISMATCH,
                               "%s: %s: expected \"%.300s\" as in the interrupted sweep, got \"%.300s\"",
                               output, row[i].what, row[i].theirs, row[i].ours);
        }
    }
    return HPCW_OK;
}

static void take_point(struct bench_point *p, struct bench_planned *planned, const struct bench_point *before) {
    const bool ended = before->fate == BENCH_LEFT_OUT && strcmp(before->reason, bench_results_ended) == 0;
    p->rank_size = before->rank_size;
    p->bytes = before->bytes;
    p->fate = ended ? BENCH_MEASURED : before->fate;
    (void)snprintf(p->reason, sizeof p->reason, "%s", ended ? "" : before->reason);
    p->failed_errno = before->failed_errno;
    p->failed_process = before->failed_process;
    p->verified = before->verified;
    p->trials = before->trials;
    p->ceiling_trials = before->ceiling_trials;
    planned->active = p->fate == BENCH_MEASURED;
    planned->runs = (uint32_t)before->trials;
    for (size_t k = 0; k < before->trials; k++) {
        p->trial[k] = before->trial[k];
        p->ceiling[k] = before->ceiling[k];
        planned->spent_ns += before->trial[k].total_ns + before->trial[k].read_ns + before->ceiling[k].total_ns;
    }
}

/* Takes over the runs and decisions of an earlier sweep. `r` has the facts and the plan of this sweep, with memory
 * for `most` runs of each point. Sets *order to the number of the last run. HPCW_EMISMATCH: the earlier sweep had
 * other options, or ran elsewhere. */
static hpcw_status take_over(struct bench_results *r, struct bench_planned *planned, size_t most,
                             const struct bench_results *earlier, const char *output, uint32_t *order,
                             hpcw_error *err) {
    hpcw_status s = check_same(r, earlier, output, err);
    bool same = r->points == earlier->points && earlier->repeat <= most;
    for (size_t i = 0; s == HPCW_OK && same && i < r->points; i++) {
        const struct bench_point *p = &earlier->point[i];
        same = strcmp(r->point[i].id, p->id) == 0 && p->trials <= most && p->ceiling_trials == p->trials;
    }
    if (s != HPCW_OK || !same) {
        return s != HPCW_OK
                   ? s
                   : hpcw_i_fail(err, HPCW_EMISMATCH,
                                 "%s: expected the points and repetitions of this sweep, got others", output);
    }
    for (size_t i = 0; i < r->points; i++) {
        const struct bench_point *p = &earlier->point[i];
        take_point(&r->point[i], &planned[i], p);
        for (size_t k = 0; k < p->trials; k++) {
            const uint32_t last =
                p->trial[k].order > p->ceiling[k].order ? p->trial[k].order : p->ceiling[k].order;
            *order = last > *order ? last : *order;
        }
    }
    (void)snprintf(r->time, sizeof r->time, "%s", earlier->time);
    if (strstr(earlier->host, r->host) == NULL) {
        char now[sizeof r->host];
        (void)snprintf(now, sizeof now, "%s", r->host);
        (void)snprintf(r->host, sizeof r->host, "%.127s, %.120s", earlier->host, now);
    } else {
        (void)snprintf(r->host, sizeof r->host, "%s", earlier->host);
    }
    r->repeat = earlier->repeat;
    r->limits.least_bytes = earlier->limits.least_bytes;
    r->limits.least_ns = earlier->limits.least_ns;
    r->elapsed_ns = earlier->elapsed_ns;
    return HPCW_OK;
}

/* Process 0 prints how many runs an earlier sweep has made and how many remain, unless --quiet is given. */
static void tell_resumed(const struct bench_sweep_state *w) {
    const struct bench_runs runs = bench_results_runs(w->r);
    if (w->processes->process != 0 || w->o->quiet) {
        return;
    }
    if (w->resumed) {
        (void)fprintf(stderr, "hpcw-bench: %s: %zu of %zu runs kept, %zu to do, each with its ceiling\n",
                      w->output.path, runs.made, runs.planned, runs.planned - runs.made);
    } else {
        (void)fprintf(stderr, "hpcw-bench: %s: no results to go on with: the sweep begins\n", w->output.path);
    }
}

hpcw_status bench_sweep_resume(struct bench_sweep_state *w, hpcw_error *err) {
    struct bench_results earlier;
    hpcw_status s = earlier_of(w->processes, &w->output, &earlier, &w->resumed, err);
    if (s == HPCW_OK && w->resumed) {
        s = take_over(w->r, w->planned, bench_sweep_most_runs(w), &earlier, w->output.path, &w->order, err);
        s = hpcw_i_agree(w->processes->comm, s, NULL, err);
        w->begin_ns -= w->r->elapsed_ns; /* both sweeps share one budget */
    }
    bench_results_free(&earlier);
    if (s == HPCW_OK) {
        tell_resumed(w);
    }
    return s;
}
