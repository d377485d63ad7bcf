/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The figures of doc/realism.md, from the files alone: by the strict readers, and by gen/waits, which is made of
 * them. Each format has a file that reads it once and puts its figures; what two formats must agree on stays in struct
 * dataset, for the one that is read later.
 */
#ifndef HPCW_TESTS_REALISM_FIGURES_H
#define HPCW_TESTS_REALISM_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>
#include <hpcw/status.h>

#include "libwriter/base/table.h"
#include "tests/realism/stats.h"

enum { DATASET_CHECKPOINTS = 64, DATASET_PATH = 4096 + 64 };

/* A checkpoint of the log. */
struct dataset_checkpoint {
    double begin;      /* seconds, of rank 0, whose time SCR records */
    double end;        /* seconds, of the last rank */
    double last_begin; /* seconds, of the last rank */
    double bytes;      /* of all ranks, by the cargo */
};

/* A phase in which the system interrupts a rank, as truth.json lists it. */
struct dataset_interruption {
    uint32_t rank, phase;
    double sd; /* standard deviations of what ranks compute from phase to phase; NAN: not known */
};

/* What is known of a dataset, or of the files that were given in place of one. NULL and 0: not known. */
struct dataset {
    uint32_t ranks;
    cJSON *truth; /* truth.json, for the place of faults and of switches only */

    /* From the LinkTest result. */
    uint32_t *host; /* [ranks] number of its host */
    uint32_t hosts;
    double *rank_time;                        /* [ranks] median of ln(seconds) to other hosts */
    uint32_t *switch_of, *group_of, switches; /* [ranks] each; by truth.json */
    bool *in_sample;        /* [switches] visibilities of cables are computed from these ... */
    uint32_t samples;       /* ... this many */
    uint32_t *switch_first; /* [switches + 1] first rank of each, in ascending order */
    double *switch_time;    /* [switches][switches] sums of medians of ln(seconds) of ranks in the sample ... */
    double *switch_ranks;   /* ... and their number */

    /* From the load data. */
    uint64_t phases;
    double *rank_load;         /* [ranks] mean over the phases, seconds */
    double *phase_load;        /* [phases][ranks], seconds */
    double *fixed_load;        /* [ranks] mean of ln(seconds) of tasks that cannot migrate */
    struct hpcw_i_table flows; /* phase, sender << 32 | receiver -> struct dataset_flow */

    /* From the log. */
    struct dataset_checkpoint checkpoint[DATASET_CHECKPOINTS];
    uint32_t checkpoints;
    double *checkpoint_bytes; /* [ranks] of the last one */
    double
        *clock_offset; /* [ranks] seconds from the median rank when they leave a call of all; NULL: too few */
    double *
        clock_change; /* [ranks] seconds by which that changes from the first half of the calls to the second */
    double clock_noise;                 /* standard deviation of the offsets, seconds */
    double clock_middle, clock_between; /* seconds, of the call in the middle and between those of the halves */
    struct dataset_interruption *interrupted; /* [interruptions] */
    size_t interruptions;
};

/* Bytes from a rank to another one in a phase. */
struct dataset_flow {
    double load, log;
};

static inline bool dataset_same_host(const struct dataset *d, uint32_t a, uint32_t b) {
    return d->host != NULL && d->host[a] == d->host[b];
}

/* Puts a figure: a name as in doc/realism.md, a value, and a sentence for whoever reads that it is wrong. */
void figure(const char *name, double value, const char *says, ...) HPCW_PRINTF(3, 4);
/* The same; `of` replaces the '*' of the name. */
void figure_of(const char *name, const char *of, double value, const char *says, ...) HPCW_PRINTF(4, 5);

/* By how many standard deviations a timing stands out of those of the same rank with partners as far away. */
hpcw_status figures_timing(const char *path, const struct dataset *d, uint32_t rank, uint32_t partner,
                           uint32_t permutation, double *sd, hpcw_error *err);

/* One per format. They fail as the strict readers do. */
hpcw_status figures_links(const char *path, struct dataset *d, hpcw_error *err);
hpcw_status figures_load(const char *directory, struct dataset *d, hpcw_error *err);
hpcw_status figures_log(const char *path, struct dataset *d, hpcw_error *err);
hpcw_status figures_checkpoints(const char *prefix, struct dataset *d, hpcw_error *err);
hpcw_status figures_particles(const char *path, struct dataset *d, hpcw_error *err);

/* Several LinkTest results of one machine, in the order of their message sizes. */
hpcw_status figures_curve(const char *name, const char *const *path, size_t count, hpcw_error *err);
/* A LinkTest result of the bisection test: what the steps carry together. */
hpcw_status figures_bisection(const char *path, hpcw_error *err);
/* Event logs of wave.lua, of noise.lua and of across.lua. */
hpcw_status figures_wave(const char *path, hpcw_error *err);
hpcw_status figures_noise(const char *path, hpcw_error *err);
hpcw_status figures_across(const char *path, hpcw_error *err);

/* What truth.json says against what the other files show. After all others. */
void figures_truth(const char *directory, struct dataset *d);

#endif
