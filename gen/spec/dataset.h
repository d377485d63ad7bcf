/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * F4: one dataset, completely described: everything that decides its bytes and nothing else. Two runs with
 * equal descriptions write equal files, whoever runs them and in however many parts.
 */
#ifndef HPCW_GEN_SPEC_DATASET_H
#define HPCW_GEN_SPEC_DATASET_H

#include "gen/model/checkpoint/checkpoint.h"
#include "gen/model/linktest/linktest.h"
#include "gen/model/load/load.h"
#include "gen/model/machine/machine.h"
#include "gen/model/particles/particles.h"
#include "gen/model/trace/trace.h"
#include "libwriter/io/json.h"

/* The formats in the order of the table (format.h): LinkTest results are SION containers, too, so the reader of a file
 * asks for LinkTest first. */
enum hpcw_i_format_id {
    HPCW_I_FORMAT_LINKTEST,
    HPCW_I_FORMAT_SION,
    HPCW_I_FORMAT_VOM,
    HPCW_I_FORMAT_CLOG2,
    HPCW_I_FORMAT_RANK2FILE,
};

enum hpcw_i_scale { HPCW_I_SCALE_TINY, HPCW_I_SCALE_SMALL, HPCW_I_SCALE_MEDIUM, HPCW_I_SCALE_LARGE };

/* Keys "run.*" and those of containers, which are no model's. */
struct hpcw_i_dataset_params {
    uint64_t start;      /* of the simulated run, seconds since 1970-01-01 UTC */
    uint32_t sion_files; /* physical files of sion/particles.sion */
};

/* Keys "vom.*": how the load data stands in files. */
enum hpcw_i_vom_container {
    HPCW_I_VOM_BROTLI_FILES, /* data.<rank>.json.br */
    HPCW_I_VOM_PLAIN_FILES,  /* data.<rank>.json */
    HPCW_I_VOM_LBAF_FILES    /* brotli inside data.<rank>.json */
};
struct hpcw_i_vom_params {
    int container; /* enum hpcw_i_vom_container */
    uint32_t quality, window;
};

struct hpcw_i_checkpoints;

struct hpcw_i_dataset {
    uint32_t ranks;
    uint64_t seed;
    uint64_t formats; /* bit i: enum hpcw_i_format_id i */
    char preset[32];
    enum hpcw_i_scale scale;
    uint32_t block_size;
    uint32_t linktest_files;
    struct hpcw_i_dataset_params params;
    struct hpcw_i_machine_params machine_params;
    struct hpcw_i_linktest_params linktest_params;
    struct hpcw_i_particles_params particles_params;
    struct hpcw_i_load_params load_params;
    struct hpcw_i_vom_params vom_params;
    struct hpcw_i_trace_params trace_params;
    struct hpcw_i_ckpt_params ckpt_params;

    /* What follows from the above; made by hpcw_i_dataset_build. */
    struct hpcw_i_machine machine;
    struct hpcw_i_linktest_model linktest;
    struct hpcw_i_particles particles;
    /* If a format that needs them is asked for. */
    struct hpcw_i_load_model load;
    struct hpcw_i_trace_model trace;
    struct hpcw_i_checkpoints *checkpoints; /* NULL if not */
    bool built;
};

/* Tables of parameters by group, for --set, list and the manifest. */
struct hpcw_i_dataset_group {
    const char *name; /* "machine" */
    const struct hpcw_i_param *params;
    size_t count;     /* 0: ask hpcw_i_dataset_group_size, which knows all */
    size_t offset;    /* of the owner in struct hpcw_i_dataset */
    uint64_t formats; /* bit i: the group belongs to format i; 0: to all formats */
};
extern const struct hpcw_i_dataset_group hpcw_i_dataset_group[];
extern const size_t hpcw_i_dataset_group_count;
size_t hpcw_i_dataset_group_size(const struct hpcw_i_dataset_group *group);

extern const char *const hpcw_i_scale_name[]; /* NULL-terminated */

/* Preset, then scale. The caller then applies settings and fills in ranks, seed, formats, block size and files.
 */
hpcw_status hpcw_i_dataset_init(struct hpcw_i_dataset *d, const char *preset, enum hpcw_i_scale scale,
                                hpcw_error *err);

/* Builds machine and models. Models that belong to formats that are not asked for are built where they can be:
 * they cost nothing. Free with hpcw_i_dataset_free, also after a failure. */
hpcw_status hpcw_i_dataset_build(struct hpcw_i_dataset *d, hpcw_error *err);
void hpcw_i_dataset_free(struct hpcw_i_dataset *d);

/* Whether any of these formats (bits) is asked for; 0 stands for all. */
bool hpcw_i_dataset_wants(const struct hpcw_i_dataset *d, uint64_t formats);

/* "YYYY-MM-DDThh:mm:ssZ", 20 characters and a NUL, for times up to the year 9999. */
void hpcw_i_dataset_time(uint64_t seconds, char text[24]);

#endif
