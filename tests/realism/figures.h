/* SPDX-License-Identifier: BSD-3-Clause */
/* Figures of doc/realism.md, computed from the files of a dataset alone. The files are read by the strict readers,
 * and by gen/waits, which uses these readers. Each format has a source file that reads its data once and prints its
 * figures. Values that two formats must agree on are kept in struct dataset for the format that is read later. */
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

/* A checkpoint in the log. */
struct dataset_checkpoint {
    double begin;      /* begin on rank 0, seconds; SCR records the same time */
    double end;        /* latest end of a rank, seconds */
    double last_begin; /* latest begin of a rank, seconds */
    double bytes;      /* bytes of all ranks, from the cargo of the events */
};

/* A phase in which the system interrupts a rank, according to truth.json. */
struct dataset_interruption {
    uint32_t rank, phase;
    /* number of standard deviations by which the rank's compute time differs from the phases around; NAN:
     * unknown */
    double sd;
};

/* Known values of a dataset, or of the files given instead. NULL and 0: unknown. */
struct dataset {
    uint32_t ranks;
    cJSON *truth; /* truth.json; used only to locate faults and switches */

    /* From the LinkTest result: */
    uint32_t *host; /* [ranks] number of each rank's host */
    uint32_t hosts;
    /* [ranks] median of ln(seconds) of timings with other hosts */
    double *rank_time;
    /* [ranks] switch of each rank, [ranks] group of each rank, and number of switches; from truth.json */
    uint32_t *switch_of, *group_of, switches;
    /* [switches] whether a switch is in the sample for slow cables */
    bool *in_sample;
    uint32_t samples; /* number of switches in the sample */
    /* [switches + 1] first rank of each switch, ascending */
    uint32_t *switch_first;
    /* [a][b] sum over the sampled ranks of switch a: median of ln(seconds) of timings with switch b */
    double *switch_time;
    double *switch_ranks; /* [switches][switches] number of terms in the sums of switch_time */

    /* From the load data: */
    uint64_t phases;
    double *rank_load;  /* [ranks] mean load over the phases, seconds */
    double *phase_load; /* [phases][ranks], seconds */
    /* [ranks] mean of ln(seconds) of unmigratable tasks */
    double *fixed_load;
    /* (phase, sender << 32 | receiver) -> struct dataset_flow */
    struct hpcw_i_table flows;

    /* From the log: */
    struct dataset_checkpoint checkpoint[DATASET_CHECKPOINTS];
    uint32_t checkpoints;
    double *checkpoint_bytes; /* [ranks] bytes of the last checkpoint */
    /* [ranks] offset of a rank's clock, seconds: the rank's time at the end of a collective call of all ranks,
     * minus the time of the median rank; NULL: the log has too few such calls */
    double *clock_offset;
    /* [ranks] change of clock_offset from the first half of the calls to the second half, seconds */
    double *clock_change;
    double clock_noise; /* standard deviation of the values of clock_offset, seconds */
    /* time of the middle call; time between the middles of the halves, seconds */
    double clock_middle, clock_between;
    struct dataset_interruption *interrupted; /* [interruptions] */
    size_t interruptions;
};

/* Bytes from one rank to another in a phase. */
struct dataset_flow {
    double load, log;
};

static inline bool dataset_same_host(const struct dataset *d, uint32_t a, uint32_t b) {
    return d->host != NULL && d->host[a] == d->host[b];
}

/* Prints a figure: its name in doc/realism.md, its value, and a sentence that explains a wrong value. */
void figure(const char *name, double value, const char *says, ...) HPCW_PRINTF(3, 4);
/* Prints a figure like figure(); `of` replaces the '*' in `name`. */
void figure_of(const char *name, const char *of, double value, const char *says, ...) HPCW_PRINTF(4, 5);

/* Computes by how many standard deviations a timing exceeds those of the same rank with partners at the same
 * distance. */
hpcw_status figures_timing(const char *path, const struct dataset *d, uint32_t rank, uint32_t partner,
                           uint32_t permutation, double *sd, hpcw_error *err);

/* One function per format. Each prints the figures of a file, and fails if the strict reader refuses the file. */
hpcw_status figures_links(const char *path, struct dataset *d, hpcw_error *err);
hpcw_status figures_load(const char *directory, struct dataset *d, hpcw_error *err);
hpcw_status figures_log(const char *path, struct dataset *d, hpcw_error *err);
hpcw_status figures_checkpoints(const char *prefix, struct dataset *d, hpcw_error *err);
hpcw_status figures_particles(const char *path, struct dataset *d, hpcw_error *err);

/* Figures of several LinkTest results of one machine, in the order of their message sizes. */
hpcw_status figures_curve(const char *name, const char *const *path, size_t count, hpcw_error *err);
/* Figures of a bisection test: the total bandwidth of its steps. */
hpcw_status figures_bisection(const char *path, hpcw_error *err);
/* Figures of the event logs of wave.lua, noise.lua and across.lua. */
hpcw_status figures_wave(const char *path, hpcw_error *err);
hpcw_status figures_noise(const char *path, hpcw_error *err);
hpcw_status figures_across(const char *path, hpcw_error *err);

/* Compares truth.json with what the other files show. Call it last. */
void figures_truth(const char *directory, struct dataset *d);

#endif
