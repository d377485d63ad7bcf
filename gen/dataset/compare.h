/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sinks that write nothing: they compare what is written with the file that exists. What was written last counts, and bytes
 * that nobody writes must be zero.
 */
#ifndef HPCW_GEN_DATASET_COMPARE_H
#define HPCW_GEN_DATASET_COMPARE_H

#include <hpcw/sink.h>

#include "gen/dataset/faults.h"

struct gen_compare {
    const char *directory;
    struct gen_faults *faults; /* a differing or missing file is a fault here, not of the calls */
    /* Where a fault of this path stands; false: do not compare it. */
    bool (*order)(void *context, const char *name, uint64_t *order);
    void *context;
};

/* `compare` must outlive the sinks. Threads may open at the same time. */
hpcw_sink_source gen_compare_source(const struct gen_compare *compare);

#endif
