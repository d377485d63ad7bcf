/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of the options of hpcw-bench. A command uses the fields of its own options. */
#ifndef HPCW_BENCH_REPORT_OPTIONS_H
#define HPCW_BENCH_REPORT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/measure/workdir.h"
#include "ui/cli/values.h"

struct bench_options {
    uint32_t ranks; /* number of ranks; 0: a sweep takes 64, or one per process if there are more processes */
    uint64_t layouts, modes; /* bit i: layout i or mode i; 0: the default */
    /* bytes of a rank; 0: a sweep takes as many as the budget allows, a model takes 100 MB */
    uint64_t per_rank;
    /* For a sweep, block sizes of containers; if none is given, 4K to 16M and the block size of the file
     * system. For a model, block sizes of the file system. */
    struct ui_sizes block_sizes;
    /* Bytes of a record. If none is given, a sweep takes 47K, and for plain files also 4K and 1M. A model takes
     * at most one size; if none is given, records may be split. */
    struct ui_sizes records;
    /* Physical files of a container. If none is given, a sweep takes 1, and at the block size of the file
     * system also 4. A model takes at most one number; if none is given, 1. */
    struct ui_sizes files;
    struct ui_sizes tasks; /* metadata: numbers of tasks; none: 64 to 16384 */
    bool metadata;         /* measure metadata rates, not a sweep */
    uint32_t repeat;       /* runs of a point; 0: as many as the budget allows */
    double stonewall;      /* seconds; 0: none */
    double budget;         /* seconds */
    uint64_t least_bytes;  /* smallest bytes of a run that counts; 0: as the budget allows */
    double least_time;     /* shortest time of a run that counts, seconds; 0: 0.04 */
    uint64_t max_bytes;
    uint64_t fs_block; /* 0: as detected */
    uint64_t seed;
    uint32_t stripe_count; /* 0: not changed */
    uint64_t stripe_size;
    bool verify, read;
    uint32_t writers, readers; /* 0: all processes */
    struct {
        uint32_t nodes, tasks_per_node;
        int file_system; /* index in bench_site_file_system */
    } site;
    struct {
        uint64_t container_block; /* block size of the container; 0: block size of the file system */
        uint32_t ranks_per_host;  /* 0: hosts are not counted */
        uint64_t chunk_bytes;     /* 0: per_rank */
    } model;
    bool quiet; /* print no table and no progress */
    /* Output path. If "", a sweep makes a name with the time, and a report goes to the directory of the results. */
    char output[BENCH_PATH];
    bool json;    /* print JSON instead of the table */
    bool dry_run; /* sweep: measure nothing, only print the plan */
    bool resume;  /* sweep: continue the sweep whose results are in `output` */
};

#endif
