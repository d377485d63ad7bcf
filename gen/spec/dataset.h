/* SPDX-License-Identifier: BSD-3-Clause */
/* Description of a dataset: everything that decides its bytes, and nothing else. Runs with equal descriptions
 * write equal files, for any number of processes and parts. */
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

/* Parameters with the keys "run.*", and the number of files of a container. */
struct gen_dataset_params {
    /* start of the simulated run, seconds since 1970-01-01 UTC; 0: see gen_dataset_start */
    uint64_t start;
    uint32_t sion_files; /* number of physical files of sion/particles.sion */
};

/* Parameters with the keys "vom.*": the files of the load data. */
enum gen_vom_container {
    GEN_VOM_BROTLI_FILES, /* data.<rank>.json.br */
    GEN_VOM_PLAIN_FILES,  /* data.<rank>.json */
    /* plain names data.<rank>.json, but compressed with brotli, as LBAF writes them */
    GEN_VOM_LBAF_FILES
};
struct gen_vom_params {
    int container; /* enum gen_vom_container */
    uint32_t quality, window;
    /* true: "lb_iterations" are written for phases after which a balancer runs */
    bool iterations;
    bool longest_first; /* true: a file with the longest-first placements is written */
};

struct gen_checkpoints;

struct gen_dataset {
    uint32_t ranks;
    uint64_t seed;
    uint64_t formats; /* bit i: the format enum gen_format_id i */
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
    /* Workload of the dataset, owned. Set it before gen_dataset_build. If it is NULL and the formats need a
     * workload, one from the library is drawn. */
    struct gen_workload *workload;
    /* Set it before gen_dataset_build. true: the events are recorded, so gen_workload_run needs no second
     * simulation. */
    bool writes_log;

    /* The members below are derived by gen_dataset_build. */
    struct model_machine machine;
    struct model_network network;
    struct model_linktest linktest;
    struct model_particles particles;
    /* Set only if the formats need them. `clocks` is set only for a log. */
    struct model_load load;
    struct model_checkpoint checkpoint;
    struct gen_clocks clocks;
    struct gen_checkpoints *checkpoints; /* NULL: no format needs checkpoints */
    bool built;
};

/* A table of parameters. */
struct gen_dataset_group {
    const struct ui_param *params;
    const size_t *count;
    size_t offset; /* offset of the values in struct gen_dataset */
    /* bit i: the group belongs to format i; 0: to all formats */
    uint64_t formats;
};

/* Returns parameter `index` of all tables, for --set, `list` and the manifest; NULL after the last one. *group:
 * the table that has the parameter. */
const struct ui_param *gen_dataset_param(size_t index, const struct gen_dataset_group **group);

/* Returns the key of parameter `index` of all tables; NULL after the last one. `list` is unused. */
const char *gen_dataset_key(const void *list, size_t index);

extern const char *const gen_scale_name[]; /* NULL-terminated */

/* Applies the preset and the scale. Afterwards the caller applies settings and sets ranks, seed, formats, block
 * size and files. */
hpcw_status gen_dataset_init(struct gen_dataset *d, const char *preset, enum gen_scale scale, hpcw_error *err);

/* Draws the numbers of phases and checkpoints by seed, unless they are set. Phases: the number of the scale, or
 * up to a quarter fewer; not below a set number of checkpoints, if the scale allows that. Checkpoints: 1 to 3,
 * at most one for each phase. */
void gen_dataset_draw_length(struct gen_dataset *d, bool phases_set, bool checkpoints_set);

/* Builds the machine and the models that the formats need, and measures the workload. Free with
 * gen_dataset_free, also after a failure. */
hpcw_status gen_dataset_build(struct gen_dataset *d, hpcw_error *err);
void gen_dataset_free(struct gen_dataset *d);

/* Returns whether the dataset has any of the formats in a set of bits; true for an empty set. */
bool gen_dataset_wants(const struct gen_dataset *d, uint64_t formats);

/* Returns the start of the simulated run, seconds since 1970-01-01 UTC. */
uint64_t gen_dataset_start(const struct gen_dataset *d);

/* Writes "YYYY-MM-DDThh:mm:ssZ": 20 characters and a NUL, for times up to the year 9999. */
void gen_dataset_time(uint64_t seconds, char text[24]);

#endif
