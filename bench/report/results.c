/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/report/results.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/report/metadata.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

const char *const bench_layout_name[BENCH_LAYOUTS] = {
    [BENCH_SION_ALIGNED] = "sion-aligned",         [BENCH_SION_PACKED] = "sion-packed",
    [BENCH_SION_SHIFTED] = "sion-shifted",         [BENCH_TASK_LOCAL] = "task-local",
    [BENCH_SHARED_POSIX] = "shared-posix",         [BENCH_MPIIO_INDEPENDENT] = "mpiio-independent",
    [BENCH_MPIIO_COLLECTIVE] = "mpiio-collective", [BENCH_HDF5_INDEPENDENT] = "hdf5-independent",
    [BENCH_HDF5_COLLECTIVE] = "hdf5-collective",
};

const char *const bench_mode_name[BENCH_MODES] = {
    [BENCH_BUFFERED] = "buffered",
    [BENCH_FSYNC] = "fsync",
    [BENCH_DIRECT] = "direct",
    [BENCH_PREALLOCATED] = "preallocated",
};

const char *const bench_step_name[BENCH_STEPS] = {
    [BENCH_OPEN] = "open",
    [BENCH_WRITE] = "write",
    [BENCH_FLUSH] = "flush",
    [BENCH_CLOSE] = "close",
};

const char *const bench_fate_name[BENCH_FATES] = {
    [BENCH_MEASURED] = "measured",
    [BENCH_FAILED] = "failed",
    [BENCH_LEFT_OUT] = "left out",
};

/* The offsets of sion-shifted are later by two thirds of a block, made odd, in binary 1010...1. This shift is also
 * about a third or two thirds above a multiple of each smaller power of two. So the data are unaligned even if the
 * real block is smaller. Half a block would be a multiple of smaller blocks. */
uint64_t bench_layout_shift(enum bench_layout layout, uint64_t block) {
    bool hdf5 = layout == BENCH_HDF5_INDEPENDENT || layout == BENCH_HDF5_COLLECTIVE;
    return layout == BENCH_SION_SHIFTED ? (block - block / 3) | 1 : hdf5 ? BENCH_HDF5_START : 0;
}

bool bench_fs_is_memory(const struct bench_fs *fs) {
    return strcmp(fs->type, "tmpfs") == 0 || strcmp(fs->type, "ramfs") == 0;
}

/* ---- rates ---- */

static bool is_durable(enum bench_mode mode) {
    return mode != BENCH_BUFFERED;
}

static bool is_cached(enum bench_mode mode) {
    return mode != BENCH_DIRECT;
}

uint64_t bench_results_bytes_of(const struct bench_point *p, const struct bench_trial *t) {
    return t->bytes == 0 ? p->bytes : t->bytes;
}

uint64_t bench_results_bytes(const struct bench_point *p) {
    uint64_t least = p->bytes;
    for (size_t i = 0; i < p->trials; i++) {
        uint64_t bytes = bench_results_bytes_of(p, &p->trial[i]);
        least = bytes < least ? bytes : least;
    }
    return least;
}

double bench_results_rate_of(const struct bench_point *p, const struct bench_trial *t, bool durable) {
    uint64_t ns = durable ? t->total_ns : t->written_ns;
    return (double)bench_results_bytes_of(p, t) * 1e9 / (double)(ns == 0 ? 1 : ns);
}

static double time_of(const struct bench_point *p, const struct bench_trial *t) {
    return (double)(is_durable(p->mode) ? t->total_ns : t->written_ns) / 1e9;
}

bool bench_results_counts(const struct bench_results *r, const struct bench_point *p) {
    return p->fate == BENCH_MEASURED && p->trials > 0 && bench_results_bytes(p) >= r->limits.least_bytes &&
           p->seconds * 1e9 >= (double)r->limits.least_ns;
}

struct bench_limit bench_results_limit(const struct bench_results *r) {
    /* The last member, `parts`: a run takes one of so many parts of what is there. It is above 1, so that a run
     * neither fills the disk nor takes the whole page cache. */
    const struct bench_limit limit[] = {
        {"--max-bytes", "a larger --max-bytes", r->limits.max_bytes, 2},
        {"free space", "a directory with more free space", r->fs.free_bytes, 4},
        {"memory", "a machine with more memory", r->machine.memory, 8},
    };
    size_t least = 0;
    for (size_t i = 1; i < sizeof limit / sizeof limit[0]; i++) {
        const uint64_t most = limit[i].there / limit[i].parts;
        least = limit[i].there > 0 && most < limit[least].there / limit[least].parts ? i : least;
    }
    return limit[least];
}

static hpcw_status stats_of(const double *x, size_t n, struct bench_rate *rate, hpcw_error *err) {
    rate->there = n > 0;
    return n == 0 ? HPCW_OK : bench_stats_of(x, n, 0.95, &rate->stats, err);
}

static hpcw_status rate_side(const struct bench_point *p, const struct bench_trial *t, size_t n, bool durable,
                             double *x, struct bench_rate *rate, hpcw_error *err) {
    for (size_t i = 0; i < n; i++) {
        x[i] = bench_results_rate_of(p, &t[i], durable);
    }
    return stats_of(x, n, rate, err);
}

/* Computes rate of the layout / rate of the ceiling in each repetition. Either run may come first. */
static hpcw_status rate_ratio(const struct bench_point *p, double *x, struct bench_rate *rate,
                              hpcw_error *err) {
    bool durable = is_durable(p->mode);
    size_t n = 0;
    for (size_t i = 0; i < p->trials; i++) {
        for (size_t k = 0; k < p->ceiling_trials; k++) {
            if (p->ceiling[k].repetition == p->trial[i].repetition) {
                x[n++] = bench_results_rate_of(p, &p->trial[i], durable) /
                         bench_results_rate_of(p, &p->ceiling[k], durable);
                break;
            }
        }
    }
    return stats_of(x, n, rate, err);
}

static hpcw_status rate_reading(struct bench_point *p, double *x, hpcw_error *err) {
    size_t n = 0;
    for (size_t i = 0; i < p->trials; i++) {
        const struct bench_trial *t = &p->trial[i];
        if (t->read_ns > 0) {
            x[n++] = (double)p->bytes * 1e9 / (double)t->read_ns;
            p->read_cached = p->read_cached || (double)t->read_bytes < BENCH_COLD * (double)p->bytes;
        }
    }
    return stats_of(x, n, &p->read, err);
}

hpcw_status bench_results_rate(struct bench_point *p, hpcw_error *err) {
    p->durable = p->cached = p->ceiling_durable = p->ceiling_cached = p->ratio = p->read =
        (struct bench_rate){0};
    p->read_cached = false;
    p->seconds = 0;
    size_t most = p->trials > p->ceiling_trials ? p->trials : p->ceiling_trials;
    if (p->fate != BENCH_MEASURED || most == 0) {
        return HPCW_OK;
    }
    double *x = hpcw_i_malloc(most * sizeof *x);
    if (x == NULL) {
        return hpcw_i_fail_memory(err, p->id, most, "rates");
    }
    bool has_durable = is_durable(p->mode), has_cached = is_cached(p->mode);
    const struct {
        bool there, durable;
        const struct bench_trial *trial;
        size_t trials;
        struct bench_rate *rate;
    } side[] = {{has_durable, true, p->trial, p->trials, &p->durable},
                {has_durable, true, p->ceiling, p->ceiling_trials, &p->ceiling_durable},
                {has_cached, false, p->trial, p->trials, &p->cached},
                {has_cached, false, p->ceiling, p->ceiling_trials, &p->ceiling_cached}};
    hpcw_status s = HPCW_OK;
    for (size_t i = 0; s == HPCW_OK && i < sizeof side / sizeof side[0]; i++) {
        if (side[i].there) {
            s = rate_side(p, side[i].trial, side[i].trials, side[i].durable, x, side[i].rate, err);
        }
    }
    if (s == HPCW_OK) {
        s = rate_ratio(p, x, &p->ratio, err);
    }
    if (s == HPCW_OK) {
        s = rate_reading(p, x, err);
    }
    if (s == HPCW_OK && p->trials > 0) {
        struct bench_stats seconds;
        for (size_t i = 0; i < p->trials; i++) {
            x[i] = time_of(p, &p->trial[i]);
        }
        s = bench_stats_of(x, p->trials, 0.95, &seconds, err);
        p->seconds = s == HPCW_OK ? seconds.median : 0;
    }
    hpcw_i_free(x);
    return s;
}

/* ---- a sweep that did not end ---- */

const char bench_results_ended[] = "the sweep ended before it was measured";

const char bench_results_budget[] = "the budget of ";

bool bench_results_lacks_time(const struct bench_point *p) {
    return p->fate == BENCH_LEFT_OUT &&
           strncmp(p->reason, bench_results_budget, strlen(bench_results_budget)) == 0;
}

double bench_results_larger_budget(const struct bench_results *r) {
    return fmax(20, ceil(4 * (double)r->limits.budget_ns / 60e9));
}

struct bench_runs bench_results_runs(const struct bench_results *r) {
    struct bench_runs done = {0, 0};
    for (size_t i = 0; i < r->points; i++) {
        const struct bench_point *p = &r->point[i];
        if (p->fate == BENCH_MEASURED || strcmp(p->reason, bench_results_ended) == 0) {
            done.made += p->trials;
            done.planned += p->trials > r->repeat ? p->trials : r->repeat;
        }
    }
    return done;
}

char *bench_results_resume(const struct bench_results *r, const char *output, char text[BENCH_RESUME]) {
    char processes[32] = "";
    if (r->mpi[0] != '\0') {
        (void)snprintf(processes, sizeof processes, " with %d process%s", r->processes,
                       r->processes == 1 ? "" : "es");
    }
    (void)snprintf(text, BENCH_RESUME, "to go on%s: hpcw-bench %s%s%s --out %s --resume", processes, r->command,
                   r->command[0] == '\0' ? "" : " ", r->directory, output);
    return text;
}

const struct bench_point *bench_results_find(const struct bench_results *r, const char *id) {
    for (size_t i = 0; i < r->points; i++) {
        if (strcmp(r->point[i].id, id) == 0) {
            return &r->point[i];
        }
    }
    return NULL;
}

void bench_results_free(struct bench_results *r) {
    for (size_t i = 0; i < r->points; i++) {
        hpcw_i_free(r->point[i].trial);
        hpcw_i_free(r->point[i].ceiling);
    }
    hpcw_i_free(r->point);
    bench_metadata_free(r);
    *r = (struct bench_results){0};
}
