/* SPDX-License-Identifier: BSD-3-Clause */
/* What the commands of hpcw-bench can be told. Each takes the fields that its options set. */
#ifndef HPCW_BENCH_REPORT_OPTIONS_H
#define HPCW_BENCH_REPORT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/measure/workdir.h"
#include "ui/cli/values.h"

struct bench_options {
    uint32_t ranks;          /* sweep, 0: 64, or one for each process */
    uint64_t layouts, modes; /* bit i: the i-th of its list; 0: the default */
    uint64_t per_rank;       /* bytes; 0: as many as the budget allows, model: 100 MB */
    /* model: of the file system; sweep, empty: 4K to 16M, and that of the file system */
    struct ui_sizes block_sizes;
    /* model: at most one, none: bytes, no records; sweep, empty: 47K, and for plain files 4K and 1M, too */
    struct ui_sizes records;
    /* model: at most one, none: 1; sweep, empty: 1, and 4 at the block size of the file system */
    struct ui_sizes files;
    struct ui_sizes tasks; /* metadata, empty: 64 to 16384 */
    bool metadata;         /* metadata rates instead of a sweep */
    uint32_t repeat;       /* 0: as often as the budget allows */
    double stonewall;      /* seconds; 0: none */
    double budget;         /* seconds */
    uint64_t least_bytes;  /* of a run that counts, and its seconds; 0: what the budget has time for */
    double least_time;
    uint64_t max_bytes;
    uint64_t fs_block; /* 0: as detected */
    uint64_t seed;
    uint32_t stripe_count; /* 0: as it is */
    uint64_t stripe_size;
    bool verify, read;
    uint32_t writers, readers;      /* 0: all processes */
    uint32_t nodes, tasks_per_node; /* site */
    int file_system;                /* site: a word of bench_site_file_system */
    uint64_t container_block;       /* model, 0: that of the file system */
    uint32_t ranks_per_host;        /* model, 0: hosts are not counted */
    uint64_t chunk_bytes;           /* model, 0: per_rank */
    bool quiet;                     /* no table, no progress */
    char output[BENCH_PATH];        /* "": sweep, a name made from the time; report, beside the results */
    bool json;                      /* JSON instead of the table */
    bool dry_run;                   /* sweep: only say what would be measured */
    bool resume;                    /* sweep: go on with the one whose results are in `output` */
};

#endif
