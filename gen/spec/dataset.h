/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The description of a dataset: all that decides its bytes, and nothing else. Runs with equal descriptions write
 * equal files, with any number of processes and parts.
 */
#ifndef HPCW_GEN_SPEC_DATASET_H
#define HPCW_GEN_SPEC_DATASET_H

#include "gen/model/checkpoint/checkpoint.h"
#include "gen/model/linktest/linktest.h"
#include "gen/model/load/load.h"
#include "gen/model/machine/machine.h"
#include "gen/model/network/network.h"
#include "gen/model/particles/particles.h"
#include "gen/spec/clocks.h"
#include "gen/spec/formats.h"
#include "gen/spec/workload.h"
#include "libwriter/io/json.h"

enum gen_scale { GEN_SCALE_TINY, GEN_SCALE_SMALL, GEN_SCALE_MEDIUM, GEN_SCALE_LARGE };

/* Keys "run.*", and those of containers that belong to no model. */
struct gen_dataset_params {
    uint64_t start;      /* of the simulated run, seconds since 1970-01-01 UTC; 0: see gen_dataset_start */
    uint32_t sion_files; /* physical files of sion/particles.sion */
};

/* Keys "vom.*": the files of the load data. */
enum gen_vom_container {
    GEN_VOM_BROTLI_FILES, /* data.<rank>.json.br */
    GEN_VOM_PLAIN_FILES,  /* data.<rank>.json */
    GEN_VOM_LBAF_FILES    /* brotli inside data.<rank>.json */
};
struct gen_vom_params {
    int container; /* enum gen_vom_container */
    uint32_t quality, window;
    bool iterations;    /* "lb_iterations" of the phases after which a balancer runs */
    bool longest_first; /* a file with the placements longest object first */
};

struct gen_checkpoints;

struct gen_dataset {
    uint32_t ranks;
    uint64_t seed;
    uint64_t formats; /* bit i: enum gen_format_id i */
    char preset[32];
    enum gen_scale scale;
    uint32_t block_size;
    uint32_t linktest_files;
    struct gen_dataset_params params;
    struct model_machine_params machine_params;
    struct model_linktest_params linktest_params;
    struct model_particles_params particles_params;
    struct model_load_params load_params;
    struct gen_vom_params vom_params;
    struct gen_clock_params clock_params;
    struct model_checkpoint_params ckpt_params;
    struct sim_noise_params noise_params;
    /* The dataset's own. Set it before gen_dataset_build, which otherwise draws one of the library if formats need it. */
    struct gen_workload *workload;
    bool writes_log; /* set before: gen_workload_run tells the events of the run without another simulation */

    /* What follows from the above; gen_dataset_build makes it. */
    struct model_machine machine;
    struct model_network network;
    struct model_linktest linktest;
    struct model_particles particles;
    /* Only for the formats that need them; the clocks only for a log. */
    struct model_load load;
    struct model_checkpoint checkpoint;
    struct gen_clocks clocks;
    struct gen_checkpoints *checkpoints; /* NULL if not */
    bool built;
};

/* A table of parameters. */
struct gen_dataset_group {
    const struct ui_param *params;
    const size_t *count;
    size_t offset;    /* of the owner in struct gen_dataset */
    uint64_t formats; /* bit i: the group belongs to format i; 0: to all formats */
};

/* Parameter `index` of all tables, for --set, `list` and the manifest, and the table that has it; NULL after the last. */
const struct ui_param *gen_dataset_param(size_t index, const struct gen_dataset_group **group);

/* Its key; `list` is not used. */
const char *gen_dataset_key(const void *list, size_t index);

extern const char *const gen_scale_name[]; /* NULL-terminated */

/* Applies preset and scale. The caller then applies settings, and sets ranks, seed, formats, block size and files. */
hpcw_status gen_dataset_init(struct gen_dataset *d, const char *preset, enum gen_scale scale, hpcw_error *err);

/* Draws the numbers of phases and of checkpoints by seed, unless they are set. The former is that of the scale or up to a quarter
 * less, but not below a set number of checkpoints that the scale allows; the latter is 1 to 3, at most one for each phase. */
void gen_dataset_draw_length(struct gen_dataset *d, bool phases_set, bool checkpoints_set);

/* Builds the machine and the models that the formats need, and measures the workload. Free with gen_dataset_free, also after a
 * failure. */
hpcw_status gen_dataset_build(struct gen_dataset *d, hpcw_error *err);
void gen_dataset_free(struct gen_dataset *d);

/* Whether the dataset has any of these formats, as bits; always for 0. */
bool gen_dataset_wants(const struct gen_dataset *d, uint64_t formats);

/* When the simulated run starts, seconds since 1970-01-01 UTC. */
uint64_t gen_dataset_start(const struct gen_dataset *d);

/* "YYYY-MM-DDThh:mm:ssZ", 20 characters and a NUL, for times up to the year 9999. */
void gen_dataset_time(uint64_t seconds, char text[24]);

#endif
