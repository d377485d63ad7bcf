/* SPDX-License-Identifier: BSD-3-Clause */
/* F6: `hpcw-bench model`: the shared blocks of any machine, counted and not measured. */
#ifndef HPCW_BENCH_COUNT_COMMAND_H
#define HPCW_BENCH_COUNT_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "ui/cli/values.h"

struct bench_model_options {
    uint32_t ranks;
    uint64_t layouts;    /* bit i: the i-th of enum bench_layout; 0: all that can be counted */
    uint64_t rank_bytes; /* 0: 100 MB */
    struct ui_sizes fs_blocks;
    struct ui_sizes records;  /* of containers, at most one; none: bytes, no records */
    struct ui_sizes files;    /* of containers, at most one; none: 1 */
    uint64_t container_block; /* 0: that of the file system */
    uint64_t chunk_bytes;     /* 0: rank_bytes */
    bool quiet;               /* no table */
    const char *json;         /* file to write, "": none */
};

/* Counts, prints a table to stdout, writes the JSON file. HPCW_EINVAL or HPCW_ERANGE where the numbers make no layout. */
HPCW_MUST_CHECK hpcw_status bench_model(const struct bench_model_options *o, hpcw_error *err);

#endif
